/* The driver as a program finds it: linked, opened and looked up, or asked for by name, version and stream. */
#ifndef KAISCHED_TEST_SHIM_API_H
#define KAISCHED_TEST_SHIM_API_H

#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda_abi.h"

/* X(symbol, name for cuGetProcAddress, symbol with a default stream per thread) */
#define API(X)                                                                             \
  X(cuInit, cuInit, cuInit)                                                                \
  X(cuDriverGetVersion, cuDriverGetVersion, cuDriverGetVersion)                            \
  X(cuDeviceGetCount, cuDeviceGetCount, cuDeviceGetCount)                                  \
  X(cuDeviceTotalMem_v2, cuDeviceTotalMem, cuDeviceTotalMem_v2)                            \
  X(cuDevicePrimaryCtxRetain, cuDevicePrimaryCtxRetain, cuDevicePrimaryCtxRetain)          \
  X(cuDevicePrimaryCtxRelease_v2, cuDevicePrimaryCtxRelease, cuDevicePrimaryCtxRelease_v2) \
  X(cuCtxCreate_v2, cuCtxCreate, cuCtxCreate_v2)                                           \
  X(cuCtxDestroy_v2, cuCtxDestroy, cuCtxDestroy_v2)                                        \
  X(cuCtxSetCurrent, cuCtxSetCurrent, cuCtxSetCurrent)                                     \
  X(cuCtxGetDevice, cuCtxGetDevice, cuCtxGetDevice)                                        \
  X(cuCtxSetLimit, cuCtxSetLimit, cuCtxSetLimit)                                           \
  X(cuCtxSynchronize, cuCtxSynchronize, cuCtxSynchronize)                                  \
  X(cuMemGetInfo_v2, cuMemGetInfo, cuMemGetInfo_v2)                                        \
  X(cuMemAlloc_v2, cuMemAlloc, cuMemAlloc_v2)                                              \
  X(cuMemAllocPitch_v2, cuMemAllocPitch, cuMemAllocPitch_v2)                               \
  X(cuMemAllocManaged, cuMemAllocManaged, cuMemAllocManaged)                               \
  X(cuMemFree_v2, cuMemFree, cuMemFree_v2)                                                 \
  X(cuMemAllocAsync, cuMemAllocAsync, cuMemAllocAsync_ptsz)                                \
  X(cuMemAllocFromPoolAsync, cuMemAllocFromPoolAsync, cuMemAllocFromPoolAsync_ptsz)        \
  X(cuMemFreeAsync, cuMemFreeAsync, cuMemFreeAsync_ptsz)                                   \
  X(cuMemPoolCreate, cuMemPoolCreate, cuMemPoolCreate)                                     \
  X(cuMemPoolDestroy, cuMemPoolDestroy, cuMemPoolDestroy)                                  \
  X(cuMemPoolTrimTo, cuMemPoolTrimTo, cuMemPoolTrimTo)                                     \
  X(cuMemPoolSetAttribute, cuMemPoolSetAttribute, cuMemPoolSetAttribute)                   \
  X(cuMemPoolGetAttribute, cuMemPoolGetAttribute, cuMemPoolGetAttribute)                   \
  X(cuDeviceGetDefaultMemPool, cuDeviceGetDefaultMemPool, cuDeviceGetDefaultMemPool)       \
  X(cuMemAddressReserve, cuMemAddressReserve, cuMemAddressReserve)                         \
  X(cuMemAddressFree, cuMemAddressFree, cuMemAddressFree)                                  \
  X(cuMemCreate, cuMemCreate, cuMemCreate)                                                 \
  X(cuMemRelease, cuMemRelease, cuMemRelease)                                              \
  X(cuMemMap, cuMemMap, cuMemMap)                                                          \
  X(cuMemUnmap, cuMemUnmap, cuMemUnmap)                                                    \
  X(cuMemRetainAllocationHandle, cuMemRetainAllocationHandle, cuMemRetainAllocationHandle) \
  X(cuArrayCreate_v2, cuArrayCreate, cuArrayCreate_v2)                                     \
  X(cuArray3DCreate_v2, cuArray3DCreate, cuArray3DCreate_v2)                               \
  X(cuArrayDestroy, cuArrayDestroy, cuArrayDestroy)                                        \
  X(cuMipmappedArrayCreate, cuMipmappedArrayCreate, cuMipmappedArrayCreate)                \
  X(cuMipmappedArrayDestroy, cuMipmappedArrayDestroy, cuMipmappedArrayDestroy)             \
  X(cuModuleLoadData, cuModuleLoadData, cuModuleLoadData)                                  \
  X(cuModuleUnload, cuModuleUnload, cuModuleUnload)                                        \
  X(cuModuleGetFunction, cuModuleGetFunction, cuModuleGetFunction)                         \
  X(cuLaunchKernel, cuLaunchKernel, cuLaunchKernel_ptsz)                                   \
  X(cuLaunchKernelEx, cuLaunchKernelEx, cuLaunchKernelEx_ptsz)                             \
  X(cuLaunchCooperativeKernel, cuLaunchCooperativeKernel, cuLaunchCooperativeKernel_ptsz)  \
  X(cuStreamCreate, cuStreamCreate, cuStreamCreate)                                        \
  X(cuStreamDestroy_v2, cuStreamDestroy, cuStreamDestroy_v2)                               \
  X(cuStreamSynchronize, cuStreamSynchronize, cuStreamSynchronize_ptsz)                    \
  X(cuStreamBeginCapture_v2, cuStreamBeginCapture, cuStreamBeginCapture_v2_ptsz)           \
  X(cuStreamEndCapture, cuStreamEndCapture, cuStreamEndCapture_ptsz)                       \
  X(cuGraphCreate, cuGraphCreate, cuGraphCreate)                                           \
  X(cuGraphDestroy, cuGraphDestroy, cuGraphDestroy)                                        \
  X(cuGraphAddMemAllocNode, cuGraphAddMemAllocNode, cuGraphAddMemAllocNode)                \
  X(cuGraphAddMemFreeNode, cuGraphAddMemFreeNode, cuGraphAddMemFreeNode)                   \
  X(cuGraphAddKernelNode_v2, cuGraphAddKernelNode, cuGraphAddKernelNode_v2)                \
  X(cuGraphInstantiateWithFlags, cuGraphInstantiateWithFlags, cuGraphInstantiateWithFlags) \
  X(cuGraphLaunch, cuGraphLaunch, cuGraphLaunch_ptsz)                                      \
  X(cuGraphExecDestroy, cuGraphExecDestroy, cuGraphExecDestroy)                            \
  X(cuDeviceGraphMemTrim, cuDeviceGraphMemTrim, cuDeviceGraphMemTrim)                      \
  X(cuMemcpyHtoD_v2, cuMemcpyHtoD, cuMemcpyHtoD_v2_ptds)                                   \
  X(cuMemcpyDtoH_v2, cuMemcpyDtoH, cuMemcpyDtoH_v2_ptds)

struct api {
#define X(symbol, name, stream) __typeof__(symbol)* symbol;
  API(X)
#undef X
};

static inline void take(void* place, const void* function, const char* name) {
  if (function == NULL) {
    fprintf(stderr, "%s was not found\n", name);
    exit(3);
  }
  memcpy(place, &function, sizeof function);
}

/* way: "link", "dlsym", "proc", or "proc-ptsz" for a default stream per thread; path: of the driver, NULL its name */
static inline struct api find_api(const char* way, const char* path) {
  struct api api = {0};
  if (strcmp(way, "link") == 0) {
#define X(symbol, name, stream) api.symbol = symbol;
    API(X)
#undef X
    return api;
  }
  void* handle = dlopen(path == NULL ? "libcuda.so.1" : path, RTLD_NOW);
  if (handle == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    exit(3);
  }
  if (strcmp(way, "dlsym") == 0) {
#define X(symbol, name, stream) take(&api.symbol, dlsym(handle, #symbol), #symbol);
    API(X)
#undef X
    return api;
  }
  cuuint64_t flags = strcmp(way, "proc-ptsz") == 0 ? CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM : 0;
  __typeof__(cuGetProcAddress_v2)* lookup = NULL;
  take(&lookup, dlsym(handle, "cuGetProcAddress_v2"), "cuGetProcAddress_v2");
  void* function = NULL;
  CUdriverProcAddressQueryResult status = 0;
  /* The version of the first header that has the function as it is called here. */
#define X(symbol, name, stream)                                                                     \
  function = NULL;                                                                                  \
  lookup(#name, &function, strcmp(#symbol, "cuCtxCreate_v2") == 0 ? 11030 : 12000, flags, &status); \
  take(&api.symbol, function, #name);
  API(X)
#undef X
  return api;
}

#endif
