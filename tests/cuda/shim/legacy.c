/* Memory through the entry points of CUDA 2, whose sizes have 32 bits.   legacy WAY
 * Allocates in every class until it is refused, and says what it got: "class pieces result". */
#include "api.h"

#define OLD(X)        \
  X(cuMemAlloc)       \
  X(cuMemAllocPitch)  \
  X(cuMemFree)        \
  X(cuMemGetInfo)     \
  X(cuDeviceTotalMem) \
  X(cuArrayCreate)    \
  X(cuArray3DCreate)  \
  X(cuCtxCreate)

struct old {
#define X(symbol) __typeof__(symbol)* symbol;
  OLD(X)
#undef X
};

static struct old find_old(const char* way) {
  struct old old = {0};
  if (strcmp(way, "link") == 0) {
#define X(symbol) old.symbol = symbol;
    OLD(X)
#undef X
    return old;
  }
  void* handle = dlopen("libcuda.so.1", RTLD_NOW);
  if (strcmp(way, "dlsym") == 0) {
#define X(symbol) take(&old.symbol, dlsym(handle, #symbol), #symbol);
    OLD(X)
#undef X
    return old;
  }
  /* By name and version: the functions of CUDA 2. */
  __typeof__(cuGetProcAddress_v2)* lookup = NULL;
  take(&lookup, dlsym(handle, "cuGetProcAddress_v2"), "cuGetProcAddress_v2");
  void* function = NULL;
  CUdriverProcAddressQueryResult status = 0;
#define X(symbol)                               \
  function = NULL;                              \
  lookup(#symbol, &function, 2000, 0, &status); \
  take(&old.symbol, function, #symbol);
  OLD(X)
#undef X
  return old;
}

enum { MOST = 24, MIB = 1 << 20 };

int main(int count, char** arguments) {
  if (count != 2) return 2;
  const char* way = arguments[1];
  struct api api = find_api(way, NULL);
  struct old old = find_old(way);
  CUcontext context = NULL;
  unsigned int available = 0, total = 0, pitch = 0;
  int result = api.cuInit(0);
  if (result == CUDA_SUCCESS) result = old.cuCtxCreate(&context, 0, 0);
  printf("start %d\n", result);
  if (result != CUDA_SUCCESS) return 1;
  for (int kind = 0; kind < 4; kind++) {
    static const char* const names[] = {"plain", "pitch", "array", "volume"};
    CUdeviceptr_v1 addresses[MOST] = {0};
    CUarray arrays[MOST] = {0};
    CUDA_ARRAY_DESCRIPTOR_v1 flat = {4096, 1024, 0x20, 4};
    CUDA_ARRAY3D_DESCRIPTOR_v1 deep = {1024, 256, 16, 0x20, 4, 0};
    int got = 0;
    for (result = CUDA_SUCCESS; got < MOST && result == CUDA_SUCCESS; got += result == CUDA_SUCCESS) {
      result = kind == 0   ? old.cuMemAlloc(&addresses[got], 64 * MIB)
               : kind == 1 ? old.cuMemAllocPitch(&addresses[got], &pitch, 65000, 1024, 4)
               : kind == 2 ? old.cuArrayCreate(&arrays[got], &flat)
                           : old.cuArray3DCreate(&arrays[got], &deep);
    }
    printf("%s %d %d\n", names[kind], got, result);
    result = old.cuMemGetInfo(&available, &total);
    printf("info %d %u %u\n", result, available / MIB, total / MIB);
    for (int i = 1; i < got && kind < 2; i++) {
      if (addresses[i] == addresses[i - 1]) printf("the same address twice\n");
    }
    for (int i = 0; i < got; i++) {
      result = kind < 2 ? old.cuMemFree(addresses[i]) : api.cuArrayDestroy(arrays[i]);
      if (result != CUDA_SUCCESS) printf("free %d\n", result);
    }
  }
  result = old.cuDeviceTotalMem(&total, 0);
  printf("total %d %u\n", result, total / MIB);
  result = old.cuMemGetInfo(&available, &total);
  printf("info %d %u %u\n", result, available / MIB, total / MIB);
  return 0;
}
