/* Streams, events, copies, modules and launches, on the clock of the machine. A kernel takes as long as its name says
 * ("spin_250us" takes 250 us), else 10 us for every wave of blocks that the multiprocessors hold. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake.h"
#include "pools.h"

enum { BLOCKS_PER_SM = 2, LAUNCH_NS = 2000, WAVE_NS = 10000, QUEUE_NS = 1000000000 };

struct CUevent_st {
  uint64_t when;
  bool recorded;
};
struct CUmod_st {
  struct CUfunc_st* functions;
  uint64_t bytes;
  CUdevice device;
};
struct CUfunc_st {
  char name[64];
  uint64_t length; /* ns; 0: by its blocks */
  struct CUfunc_st* next;
};
enum { MODULE_BYTES = 1 << 20 };

static struct CUstream_st legacy[FAKE_MAX_DEVICES];
static __thread struct CUstream_st per_thread[FAKE_MAX_DEVICES];

struct CUstream_st* fake_stream(CUstream handle, struct CUctx_st* context) {
  struct CUstream_st* stream = handle;
  if (handle == NULL || handle == CU_STREAM_LEGACY) stream = &legacy[context->device];
  if (handle == CU_STREAM_PER_THREAD) stream = &per_thread[context->device];
  if (stream->context == NULL) stream->context = context;
  return stream;
}

FAKE_EXPORT CUresult cuStreamCreate(CUstream* out, unsigned int flags) {
  ENTER_CONTEXT(cuStreamCreate);
  if (out == NULL || flags > 1) return CUDA_ERROR_INVALID_VALUE;
  *out = calloc(1, sizeof **out);
  if (*out == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
  (*out)->context = context;
  (*out)->flags = flags;
  return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuStreamCreateWithPriority(CUstream* out, unsigned int flags, int priority) {
  (void)priority;
  return cuStreamCreate(out, flags);
}

FAKE_EXPORT CUresult cuStreamDestroy_v2(CUstream stream) {
  ENTER(cuStreamDestroy_v2);
  if (stream == NULL || stream == CU_STREAM_LEGACY || stream == CU_STREAM_PER_THREAD) return CUDA_ERROR_INVALID_HANDLE;
  free(stream);
  return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuStreamSynchronize(CUstream handle) {
  ENTER_CONTEXT(cuStreamSynchronize);
  struct CUstream_st* stream = fake_stream(handle, context);
  if (stream->capture != NULL) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  if (stream->done != 0) fake_sleep_until(stream->done);
  fake_pools_synchronized(context->device);
  return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuStreamQuery(CUstream handle) {
  ENTER_CONTEXT(cuStreamQuery);
  return fake_stream(handle, context)->done <= fake_now() ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

FAKE_EXPORT CUresult cuStreamGetCtx(CUstream handle, CUcontext* out) {
  ENTER_CONTEXT(cuStreamGetCtx);
  if (out == NULL) return CUDA_ERROR_INVALID_VALUE;
  *out = fake_stream(handle, context)->context;
  return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuStreamGetPriority(CUstream stream, int* out) {
  ENTER(cuStreamGetPriority);
  (void)stream;
  *out = 0;
  return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuStreamGetFlags(CUstream handle, unsigned int* out) {
  ENTER_CONTEXT(cuStreamGetFlags);
  *out = fake_stream(handle, context)->flags;
  return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuStreamIsCapturing(CUstream handle, CUstreamCaptureStatus* out) {
  ENTER_CONTEXT(cuStreamIsCapturing);
  if (out == NULL) return CUDA_ERROR_INVALID_VALUE;
  *out =
      fake_stream(handle, context)->capture != NULL ? CU_STREAM_CAPTURE_STATUS_ACTIVE : CU_STREAM_CAPTURE_STATUS_NONE;
  return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuStreamWaitEvent(CUstream handle, CUevent event, unsigned int flags) {
  ENTER_CONTEXT(cuStreamWaitEvent);
  (void)flags;
  if (event == NULL) return CUDA_ERROR_INVALID_HANDLE;
  struct CUstream_st* stream = fake_stream(handle, context);
  if (event->when > stream->done) stream->done = event->when;
  return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuCtxSynchronize(void) {
  ENTER_CONTEXT(cuCtxSynchronize);
  fake_lock();
  uint64_t until = fake_machine->device[fake_physical(context->device)].busy_until;
  fake_unlock();
  if (until != 0) fake_sleep_until(until);
  fake_pools_synchronized(context->device);
  return CUDA_SUCCESS;
}

/* ---- events ---- */

FAKE_EXPORT CUresult cuEventCreate(CUevent* out, unsigned int flags) {
  ENTER_CONTEXT(cuEventCreate);
  (void)context;
  if (out == NULL || flags > 7) return CUDA_ERROR_INVALID_VALUE;
  *out = calloc(1, sizeof **out);
  return *out == NULL ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuEventDestroy_v2(CUevent event) {
  ENTER(cuEventDestroy_v2);
  if (event == NULL) return CUDA_ERROR_INVALID_HANDLE;
  free(event);
  return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuEventRecord(CUevent event, CUstream handle) {
  ENTER_CONTEXT(cuEventRecord);
  if (event == NULL) return CUDA_ERROR_INVALID_HANDLE;
  struct CUstream_st* stream = fake_stream(handle, context);
  if (stream->capture != NULL) return CUDA_SUCCESS;
  uint64_t now = fake_now();
  event->when = stream->done > now ? stream->done : now;
  event->recorded = true;
  return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuEventQuery(CUevent event) {
  ENTER(cuEventQuery);
  if (event == NULL) return CUDA_ERROR_INVALID_HANDLE;
  return !event->recorded || event->when <= fake_now() ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

FAKE_EXPORT CUresult cuEventSynchronize(CUevent event) {
  ENTER(cuEventSynchronize);
  if (event == NULL) return CUDA_ERROR_INVALID_HANDLE;
  if (event->recorded) fake_sleep_until(event->when);
  return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuEventElapsedTime(float* out, CUevent start, CUevent end) {
  ENTER(cuEventElapsedTime);
  if (start == NULL || end == NULL || !start->recorded || !end->recorded) return CUDA_ERROR_INVALID_HANDLE;
  if (end->when > fake_now()) return CUDA_ERROR_NOT_READY;
  *out = (float)((double)(int64_t)(end->when - start->when) / 1e6);
  return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuEventElapsedTime_v2(float* out, CUevent start, CUevent end) {
  return cuEventElapsedTime(out, start, end);
}

/* ---- copies: memory of devices is memory of the host ---- */

static CUresult copy(uint64_t to, uint64_t from, size_t size) {
  if (size > 0 && (to == 0 || from == 0)) return CUDA_ERROR_INVALID_VALUE;
  memmove((void*)(uintptr_t)to, (const void*)(uintptr_t)from, size);
  return CUDA_SUCCESS;
}
#define COPY(name, first, second, ...)                                        \
  FAKE_EXPORT CUresult name(first to, second from, size_t size __VA_ARGS__) { \
    ENTER_CONTEXT(name);                                                      \
    (void)context;                                                            \
    return copy((uint64_t)(uintptr_t)to, (uint64_t)(uintptr_t)from, size);    \
  }
#define ON_STREAM , CUstream stream __attribute__((unused))
COPY(cuMemcpyHtoD_v2, CUdeviceptr, const void*, )
COPY(cuMemcpyDtoH_v2, void*, CUdeviceptr, )
COPY(cuMemcpyDtoD_v2, CUdeviceptr, CUdeviceptr, )
COPY(cuMemcpy, CUdeviceptr, CUdeviceptr, )
COPY(cuMemcpyHtoDAsync_v2, CUdeviceptr, const void*, ON_STREAM)
COPY(cuMemcpyDtoHAsync_v2, void*, CUdeviceptr, ON_STREAM)
COPY(cuMemcpyDtoDAsync_v2, CUdeviceptr, CUdeviceptr, ON_STREAM)
COPY(cuMemcpyAsync, CUdeviceptr, CUdeviceptr, ON_STREAM)

FAKE_EXPORT CUresult cuMemsetD8_v2(CUdeviceptr to, unsigned char value, size_t count) {
  ENTER_CONTEXT(cuMemsetD8_v2);
  (void)context;
  if (to == 0) return CUDA_ERROR_INVALID_VALUE;
  memset((void*)(uintptr_t)to, value, count);
  return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t count, CUstream stream) {
  (void)stream;
  return cuMemsetD8_v2(to, value, count);
}

FAKE_EXPORT CUresult cuMemsetD32_v2(CUdeviceptr to, unsigned int value, size_t count) {
  ENTER_CONTEXT(cuMemsetD32_v2);
  (void)context;
  if (to == 0 || to % 4 != 0) return CUDA_ERROR_INVALID_VALUE;
  for (size_t i = 0; i < count; i++) memcpy((char*)(uintptr_t)to + i * 4, &value, 4);
  return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuMemsetD32Async(CUdeviceptr to, unsigned int value, size_t count, CUstream stream) {
  (void)stream;
  return cuMemsetD32_v2(to, value, count);
}

/* ---- modules ---- */

FAKE_EXPORT CUresult cuModuleLoadData(CUmodule* out, const void* image) {
  ENTER_CONTEXT(cuModuleLoadData);
  if (out == NULL || image == NULL) return CUDA_ERROR_INVALID_VALUE;
  if (!fake_charge(fake_physical(context->device), MODULE_BYTES * 2)) return CUDA_ERROR_OUT_OF_MEMORY;
  *out = calloc(1, sizeof **out);
  if (*out == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
  (*out)->bytes = MODULE_BYTES * 2;
  (*out)->device = context->device;
  return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuModuleLoadDataEx(CUmodule* out, const void* image, unsigned int count, CUjit_option* options,
                                        void** values) {
  (void)count, (void)options, (void)values;
  return cuModuleLoadData(out, image);
}

FAKE_EXPORT CUresult cuModuleLoadFatBinary(CUmodule* out, const void* image) { return cuModuleLoadData(out, image); }

FAKE_EXPORT CUresult cuModuleGetLoadingMode(int* out);
FAKE_EXPORT CUresult cuModuleGetLoadingMode(int* out) {
  if (out == NULL) return CUDA_ERROR_INVALID_VALUE;
  *out = 2; /* when it is used */
  return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuModuleUnload(CUmodule module) {
  ENTER(cuModuleUnload);
  if (module == NULL) return CUDA_ERROR_INVALID_HANDLE;
  while (module->functions != NULL) {
    struct CUfunc_st* function = module->functions;
    module->functions = function->next;
    free(function);
  }
  fake_discharge(fake_physical(module->device), module->bytes);
  free(module);
  return CUDA_SUCCESS;
}

static uint64_t length_in(const char* name) {
  const char* at = strstr(name, "spin_");
  return at == NULL ? 0 : strtoull(at + 5, NULL, 10) * 1000 + (at[5] == '0'); /* 0: next to nothing */
}

FAKE_EXPORT CUresult cuModuleGetFunction(CUfunction* out, CUmodule module, const char* name) {
  ENTER(cuModuleGetFunction);
  if (out == NULL || module == NULL || name == NULL) return CUDA_ERROR_INVALID_VALUE;
  fake_process_lock();
  struct CUfunc_st* function = module->functions;
  while (function != NULL && strncmp(function->name, name, sizeof function->name - 1) != 0) function = function->next;
  if (function == NULL && (function = calloc(1, sizeof *function)) != NULL) {
    snprintf(function->name, sizeof function->name, "%s", name);
    function->length = length_in(name);
    function->next = module->functions;
    module->functions = function;
  }
  fake_process_unlock();
  *out = function;
  return function == NULL ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuFuncGetAttribute(int* out, CUfunction_attribute attribute, CUfunction function) {
  ENTER(cuFuncGetAttribute);
  if (out == NULL || function == NULL) return CUDA_ERROR_INVALID_VALUE;
  *out = attribute == 0 ? 1024 : 0;
  return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value) {
  ENTER(cuFuncSetAttribute);
  (void)attribute, (void)value;
  return function == NULL ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

/* Libraries are modules that load when they are used, and kernels are functions. */
FAKE_EXPORT CUresult cuLibraryLoadData(CUlibrary* out, const void* code, CUjit_option* options, void** values,
                                       unsigned int count, CUlibraryOption* library_options, void** library_values,
                                       unsigned int library_count) {
  ENTER(cuLibraryLoadData);
  (void)options, (void)values, (void)count, (void)library_options, (void)library_values, (void)library_count;
  if (out == NULL || code == NULL) return CUDA_ERROR_INVALID_VALUE;
  *out = (CUlibrary)calloc(1, sizeof(struct CUmod_st));
  return *out == NULL ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuLibraryUnload(CUlibrary library) {
  ENTER(cuLibraryUnload);
  if (library == NULL) return CUDA_ERROR_INVALID_HANDLE;
  free(library);
  return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuLibraryGetKernel(CUkernel* out, CUlibrary library, const char* name) {
  return cuModuleGetFunction((CUfunction*)out, (CUmodule)library, name);
}

FAKE_EXPORT CUresult cuLibraryGetModule(CUmodule* out, CUlibrary library) {
  ENTER(cuLibraryGetModule);
  *out = (CUmodule)library;
  return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuKernelGetFunction(CUfunction* out, CUkernel kernel) {
  ENTER(cuKernelGetFunction);
  *out = (CUfunction)kernel;
  return CUDA_SUCCESS;
}

/* ---- launches ---- */

uint64_t fake_kernel_ns(CUfunction function, uint64_t blocks) {
  if (function->length != 0) return function->length;
  uint64_t room = (uint64_t)fake_machine->device[0].sms * BLOCKS_PER_SM;
  return (blocks + room - 1) / room * WAVE_NS;
}

CUresult fake_launch(CUfunction function, uint64_t blocks, CUstream handle) {
  struct CUctx_st* context = fake_context();
  if (context == NULL) return CUDA_ERROR_INVALID_CONTEXT;
  if (function == NULL) return CUDA_ERROR_INVALID_HANDLE;
  if (blocks == 0) return CUDA_ERROR_INVALID_VALUE;
  struct CUstream_st* stream = fake_stream(handle, context);
  if (stream->capture != NULL) return fake_capture_kernel(stream->capture, function, blocks);
  fake_step(LAUNCH_NS);
  uint64_t now = fake_now();
  if (stream->done > now + QUEUE_NS) fake_sleep_until(stream->done - QUEUE_NS); /* the queue of a stream has an end */
  uint64_t start = stream->done > now ? stream->done : now;
  stream->done = fake_run(fake_physical(context->device), start, fake_kernel_ns(function, blocks));
  return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuLaunchKernel(CUfunction function, unsigned int x, unsigned int y, unsigned int z,
                                    unsigned int bx, unsigned int by, unsigned int bz, unsigned int shared,
                                    CUstream stream, void** parameters, void** extra) {
  ENTER(cuLaunchKernel);
  (void)shared, (void)parameters, (void)extra;
  if (bx == 0 || by == 0 || bz == 0) return CUDA_ERROR_INVALID_VALUE;
  return fake_launch(function, (uint64_t)x * y * z, stream);
}

FAKE_EXPORT CUresult cuLaunchCooperativeKernel(CUfunction function, unsigned int x, unsigned int y, unsigned int z,
                                               unsigned int bx, unsigned int by, unsigned int bz, unsigned int shared,
                                               CUstream stream, void** parameters) {
  ENTER(cuLaunchCooperativeKernel);
  (void)shared, (void)parameters;
  if (bx == 0 || by == 0 || bz == 0) return CUDA_ERROR_INVALID_VALUE;
  return fake_launch(function, (uint64_t)x * y * z, stream);
}

FAKE_EXPORT CUresult cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction function, void** parameters,
                                      void** extra) {
  ENTER(cuLaunchKernelEx);
  (void)parameters, (void)extra;
  if (config == NULL || config->blockDimX == 0) return CUDA_ERROR_INVALID_VALUE;
  return fake_launch(function, (uint64_t)config->gridDimX * config->gridDimY * config->gridDimZ, config->hStream);
}

FAKE_EXPORT CUresult cuLaunchHostFunc(CUstream stream, CUhostFn function, void* data) {
  ENTER_CONTEXT(cuLaunchHostFunc);
  if (function == NULL) return CUDA_ERROR_INVALID_VALUE;
  (void)fake_stream(stream, context);
  function(data);
  return CUDA_SUCCESS;
}
