/* Contexts that come and go, and how much of the limit is left then, in MiB: "what result left".   contexts */
#include "api.h"

static void say(const struct api* api, const char* what, int result) {
  size_t available = 0, total = 0;
  int asked = api->cuMemGetInfo_v2(&available, &total);
  printf("%s %d %d\n", what, result, asked == CUDA_SUCCESS ? (int)(available >> 20) : -1);
}

int main(void) {
  struct api api = find_api("dlsym", NULL);
  CUcontext primary = NULL, second = NULL;
  int result = api.cuInit(0);
  if (result == CUDA_SUCCESS) result = api.cuDevicePrimaryCtxRetain(&primary, 0);
  if (result == CUDA_SUCCESS) result = api.cuCtxSetCurrent(primary);
  say(&api, "first", result);
  if (result != CUDA_SUCCESS) return 0;
  result = api.cuCtxCreate_v2(&second, 0, 0);
  say(&api, "second", result);
  if (result == CUDA_SUCCESS) result = api.cuCtxDestroy_v2(second);
  api.cuCtxSetCurrent(primary);
  say(&api, "destroyed", result);
  result = api.cuDevicePrimaryCtxRelease_v2(0);
  if (result == CUDA_SUCCESS) result = api.cuDevicePrimaryCtxRetain(&primary, 0);
  if (result == CUDA_SUCCESS) result = api.cuCtxSetCurrent(primary);
  say(&api, "again", result);
  return 0;
}
