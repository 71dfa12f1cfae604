/* Somebody takes a living process for dead and gives its slot back: with its next allocation all it holds is charged
 * again. The guard is linked into this program. */
#include "api.h"
#include "guard.h"

static void must(CUresult result, const char* what) {
  if (result == CUDA_SUCCESS) return;
  fprintf(stderr, "%s: %d\n", what, result);
  exit(1);
}

static uint64_t held(void) {
  kl_device_state state = {.struct_size = sizeof state};
  if (kl_device_get(guard.ledger, 0, &state) != KL_OK) exit(1);
  return state.held_bytes;
}

int main(void) {
  CUcontext context = NULL;
  CUdeviceptr large = 0, small = 0, pooled = 0, last = 0;
  CUmemGenericAllocationHandle handle = 0;
  CUmemAllocationProp properties = {.type = 1, .location = {1, 0}};
  CUarray array = NULL;
  CUDA_ARRAY_DESCRIPTOR flat = {1000, 1000, 0x20, 1};
  must(cuInit(0), "init");
  must(cuDevicePrimaryCtxRetain(&context, 0), "retain");
  must(cuCtxSetCurrent(context), "current");
  must(cuMemAlloc_v2(&large, 5 << 20), "large");
  must(cuMemAlloc_v2(&small, 100), "small");
  must(cuMemAllocManaged(&last, 3 << 20, 1), "managed");
  must(cuMemCreate(&handle, 8 << 20, &properties, 0), "create");
  must(cuMemAllocAsync(&pooled, 1 << 20, NULL), "pooled");
  must(cuArrayCreate_v2(&array, &flat), "array");
  uint64_t before = held();
  if (kl_detach(guard.ledger) != KL_OK || held() != 0) return 1;
  must(cuMemAlloc_v2(&small, 10 << 20), "after");
  if (held() != before + (10 << 20)) {
    printf("held %llu, expected %llu\n", (unsigned long long)held(), (unsigned long long)(before + (10 << 20)));
    return 1;
  }
  return before == (64 + 6 + 2 + 4 + 8 + 32 + 4) << 20 ? 0 : 1;
}
