/* A program that uses the driver as programs do, and knows nothing of limits: takes memory in steps, then computes.
     tenant NAME TAKE_MIB STEP_MIB KERNEL_US PAUSE_US
   Each SIGUSR1 makes it try one more step. What happens is printed line by line; SIGTERM ends it. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "cuda_abi.h"

static volatile sig_atomic_t ending, asked;
static const char* name;

static void end(int number) {
  (void)number;
  ending = 1;
}
static void ask(int number) {
  (void)number;
  asked = 1;
}

static void check(CUresult result, const char* call) {
  const char* text = "?";
  if (result == CUDA_SUCCESS) return;
  cuGetErrorName(result, &text);
  printf("%s: failed: %s: %s\n", name, call, text);
  exit(1);
}

/* Whether it got it; to be refused is nothing to die of. */
static int take(unsigned long long mib, unsigned long long* taken) {
  CUdeviceptr memory = 0;
  const char* text = "?";
  const CUresult result = cuMemAlloc_v2(&memory, (size_t)mib << 20);
  if (result == CUDA_SUCCESS) {
    *taken += mib;
    return 1;
  }
  cuGetErrorName(result, &text);
  printf("%s: refused: %llu MiB more than %llu: %s\n", name, mib, *taken, text);
  return 0;
}

int main(int argc, char** argv) {
  if (argc != 6) {
    fprintf(stderr, "usage: tenant NAME TAKE_MIB STEP_MIB KERNEL_US PAUSE_US\n");
    return 2;
  }
  name = argv[1];
  const unsigned long long wanted = strtoull(argv[2], NULL, 10), step = strtoull(argv[3], NULL, 10);
  const long pause_us = strtol(argv[5], NULL, 10);
  unsigned long long taken = 0, launches = 0;
  size_t free_bytes = 0, total_bytes = 0;
  CUcontext context = NULL;
  CUmodule module = NULL;
  CUfunction kernel = NULL;
  char kernel_name[64];
  setvbuf(stdout, NULL, _IOLBF, 0);
  signal(SIGTERM, end);
  signal(SIGUSR1, ask);
  check(cuInit(0), "cuInit");
  check(cuDevicePrimaryCtxRetain(&context, 0), "cuDevicePrimaryCtxRetain");
  check(cuCtxSetCurrent(context), "cuCtxSetCurrent");
  check(cuMemGetInfo_v2(&free_bytes, &total_bytes), "cuMemGetInfo");
  printf("%s: sees %zu MiB\n", name, total_bytes >> 20);
  while (taken < wanted && take(step, &taken)) {
  }
  printf("%s: ready with %llu MiB\n", name, taken);

  snprintf(kernel_name, sizeof kernel_name, "spin_%sus", argv[4]);
  check(cuModuleLoadData(&module, "a module"), "cuModuleLoadData");
  check(cuModuleGetFunction(&kernel, module, kernel_name), "cuModuleGetFunction");
  while (!ending) {
    if (asked) {
      asked = 0;
      if (take(step, &taken)) printf("%s: grew to %llu MiB\n", name, taken);
    }
    check(cuLaunchKernel(kernel, 64, 1, 1, 256, 1, 1, 0, NULL, NULL, NULL), "cuLaunchKernel");
    check(cuCtxSynchronize(), "cuCtxSynchronize");
    ++launches;
    const struct timespec pause = {pause_us / 1000000, pause_us % 1000000 * 1000};
    if (pause_us > 0) nanosleep(&pause, NULL);
  }
  printf("%s: done after %llu launches\n", name, launches);
  return 0;
}
