/* Entry points of CUDA 2 that the driver still exports: 32 bits for addresses and sizes, launches of a shape that was
 * set before. What lies above 4 GiB does not exist for them. */
#include "fake.h"

static unsigned int narrow(size_t value) { return value > UINT32_MAX ? UINT32_MAX : (unsigned int)value; }

static CUresult reachable(CUresult result, CUdeviceptr address, uint64_t size, CUdeviceptr_v1* out) {
  if (result != CUDA_SUCCESS) return result;
  if (address + size > UINT32_MAX) {
    cuMemFree_v2(address);
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  *out = (CUdeviceptr_v1)address;
  return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuMemAlloc(CUdeviceptr_v1* out, unsigned int size) {
  ENTER(cuMemAlloc);
  CUdeviceptr address = 0;
  if (out == NULL) return CUDA_ERROR_INVALID_VALUE;
  CUresult result = cuMemAlloc_v2(&address, size);
  return reachable(result, address, size, out);
}

FAKE_EXPORT CUresult cuMemAllocPitch(CUdeviceptr_v1* out, unsigned int* pitch, unsigned int width, unsigned int height,
                                     unsigned int element) {
  ENTER(cuMemAllocPitch);
  CUdeviceptr address = 0;
  size_t row = 0;
  if (out == NULL || pitch == NULL) return CUDA_ERROR_INVALID_VALUE;
  CUresult result = cuMemAllocPitch_v2(&address, &row, width, height, element);
  result = reachable(result, address, (uint64_t)row * height, out);
  if (result == CUDA_SUCCESS) *pitch = narrow(row);
  return result;
}

FAKE_EXPORT CUresult cuMemFree(CUdeviceptr_v1 address) {
  ENTER(cuMemFree);
  return cuMemFree_v2(address);
}

FAKE_EXPORT CUresult cuMemGetInfo(unsigned int* available, unsigned int* total) {
  ENTER(cuMemGetInfo);
  size_t wide[2] = {0, 0};
  if (available == NULL || total == NULL) return CUDA_ERROR_INVALID_VALUE;
  CUresult result = cuMemGetInfo_v2(&wide[0], &wide[1]);
  if (result == CUDA_SUCCESS) {
    *available = narrow(wide[0]);
    *total = narrow(wide[1]);
  }
  return result;
}

FAKE_EXPORT CUresult cuDeviceTotalMem(unsigned int* out, CUdevice device) {
  ENTER(cuDeviceTotalMem);
  size_t wide = 0;
  if (out == NULL) return CUDA_ERROR_INVALID_VALUE;
  CUresult result = cuDeviceTotalMem_v2(&wide, device);
  if (result == CUDA_SUCCESS) *out = narrow(wide);
  return result;
}

FAKE_EXPORT CUresult cuArray3DCreate(CUarray* out, const CUDA_ARRAY3D_DESCRIPTOR_v1* description) {
  ENTER(cuArray3DCreate);
  if (description == NULL) return CUDA_ERROR_INVALID_VALUE;
  CUDA_ARRAY3D_DESCRIPTOR wide = {description->Width,  description->Height,      description->Depth,
                                  description->Format, description->NumChannels, description->Flags};
  return cuArray3DCreate_v2(out, &wide);
}

FAKE_EXPORT CUresult cuArrayCreate(CUarray* out, const CUDA_ARRAY_DESCRIPTOR_v1* description) {
  ENTER(cuArrayCreate);
  if (description == NULL) return CUDA_ERROR_INVALID_VALUE;
  CUDA_ARRAY3D_DESCRIPTOR wide = {description->Width,  description->Height,      0,
                                  description->Format, description->NumChannels, 0};
  return cuArray3DCreate_v2(out, &wide);
}

FAKE_EXPORT CUresult cuCtxCreate(CUcontext* out, unsigned int flags, CUdevice device) {
  return cuCtxCreate_v2(out, flags, device);
}

FAKE_EXPORT CUresult cuGraphInstantiate(CUgraphExec* out, CUgraph graph, CUgraphNode* error, char* log, size_t size) {
  return cuGraphInstantiate_v2(out, graph, error, log, size);
}

FAKE_EXPORT CUresult cuFuncSetBlockShape(CUfunction function, int x, int y, int z) {
  ENTER(cuFuncSetBlockShape);
  return function == NULL || x < 1 || y < 1 || z < 1 ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuLaunchGridAsync(CUfunction function, int width, int height, CUstream stream) {
  ENTER(cuLaunchGridAsync);
  if (width < 1 || height < 1) return CUDA_ERROR_INVALID_VALUE;
  return fake_launch(function, (uint64_t)width * (uint64_t)height, stream);
}

FAKE_EXPORT CUresult cuLaunchGrid(CUfunction function, int width, int height) {
  return cuLaunchGridAsync(function, width, height, NULL);
}

FAKE_EXPORT CUresult cuLaunch(CUfunction function) { return cuLaunchGridAsync(function, 1, 1, NULL); }

FAKE_EXPORT CUresult cuLaunchCooperativeKernelMultiDevice(CUDA_LAUNCH_PARAMS* list, unsigned int count,
                                                          unsigned int flags) {
  ENTER(cuLaunchCooperativeKernelMultiDevice);
  if (list == NULL || count == 0 || flags > 3) return CUDA_ERROR_INVALID_VALUE;
  for (unsigned int i = 0; i < count; i++) {
    CUcontext context = NULL;
    CUresult result = cuStreamGetCtx(list[i].hStream, &context);
    if (result == CUDA_SUCCESS) result = cuCtxPushCurrent_v2(context);
    if (result != CUDA_SUCCESS) return result;
    result = cuLaunchCooperativeKernel(list[i].function, list[i].gridDimX, list[i].gridDimY, list[i].gridDimZ,
                                       list[i].blockDimX, list[i].blockDimY, list[i].blockDimZ, list[i].sharedMemBytes,
                                       list[i].hStream, list[i].kernelParams);
    cuCtxPopCurrent_v2(&context);
    if (result != CUDA_SUCCESS) return result;
  }
  return CUDA_SUCCESS;
}
