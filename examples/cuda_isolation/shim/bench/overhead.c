/* What a call costs: ns per allocation, free and launch, by threads.   overhead [SECONDS] [THREADS...]
 *
 * Run it alone, and with a guard preloaded: the difference is the guard's. The program opens the driver as the CUDA run
 * time does. */
#include <dlfcn.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cuda_abi.h"

static __typeof__(cuInit)* init;
static __typeof__(cuDevicePrimaryCtxRetain)* retain;
static __typeof__(cuCtxSetCurrent)* set_current;
static __typeof__(cuMemAlloc_v2)* allocate;
static __typeof__(cuMemFree_v2)* release;
static __typeof__(cuModuleLoadData)* load;
static __typeof__(cuModuleGetFunction)* get_function;
static __typeof__(cuLaunchKernel)* launch;
static __typeof__(cuCtxSynchronize)* synchronize;

static CUcontext context;
static CUfunction function;
static pthread_barrier_t barrier;

struct job {
  pthread_t thread;
  uint64_t allocations, launches, alloc_ns, free_ns, launch_ns;
  double seconds;
};

static uint64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void must(CUresult result, const char* what) {
  if (result == CUDA_SUCCESS) return;
  fprintf(stderr, "%s: %d\n", what, result);
  exit(1);
}

static void* work(void* argument) {
  enum { BATCH = 100 };
  struct job* job = argument;
  CUdeviceptr pointers[BATCH];
  must(set_current(context), "cuCtxSetCurrent");
  pthread_barrier_wait(&barrier);
  for (uint64_t end = now_ns() + (uint64_t)(job->seconds * 5e8); now_ns() < end; job->allocations += BATCH) {
    uint64_t start = now_ns();
    for (int i = 0; i < BATCH; i++) must(allocate(&pointers[i], 4096), "cuMemAlloc");
    uint64_t middle = now_ns();
    for (int i = 0; i < BATCH; i++) must(release(pointers[i]), "cuMemFree");
    job->alloc_ns += middle - start;
    job->free_ns += now_ns() - middle;
  }
  pthread_barrier_wait(&barrier);
  for (uint64_t end = now_ns() + (uint64_t)(job->seconds * 5e8); now_ns() < end; job->launches += BATCH) {
    uint64_t start = now_ns();
    for (int i = 0; i < BATCH; i++) must(launch(function, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL), "cuLaunchKernel");
    job->launch_ns += now_ns() - start;
    must(synchronize(), "cuCtxSynchronize");
  }
  return NULL;
}

static void find(void* handle, void* place, const char* name) {
  void* found = dlsym(handle, name);
  if (found == NULL) {
    fprintf(stderr, "%s was not found\n", name);
    exit(1);
  }
  memcpy(place, &found, sizeof found);
}

static void measure(double seconds, unsigned int threads) {
  static struct job jobs[256];
  if (threads < 1 || threads > 256) exit(2);
  pthread_barrier_init(&barrier, NULL, threads);
  for (unsigned int i = 0; i < threads; i++) {
    jobs[i] = (struct job){.seconds = seconds};
    if (pthread_create(&jobs[i].thread, NULL, work, &jobs[i]) != 0) exit(1);
  }
  struct job sum = {.seconds = 0};
  for (unsigned int i = 0; i < threads; i++) {
    pthread_join(jobs[i].thread, NULL);
    sum.allocations += jobs[i].allocations;
    sum.launches += jobs[i].launches;
    sum.alloc_ns += jobs[i].alloc_ns;
    sum.free_ns += jobs[i].free_ns;
    sum.launch_ns += jobs[i].launch_ns;
  }
  printf("%u %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", threads, sum.alloc_ns / sum.allocations,
         sum.free_ns / sum.allocations, sum.launch_ns / sum.launches);
  fflush(stdout);
  pthread_barrier_destroy(&barrier);
}

int main(int count, char** arguments) {
  void* driver = dlopen("libcuda.so.1", RTLD_NOW);
  CUmodule module = NULL;
  if (driver == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  find(driver, &init, "cuInit");
  find(driver, &retain, "cuDevicePrimaryCtxRetain");
  find(driver, &set_current, "cuCtxSetCurrent");
  find(driver, &allocate, "cuMemAlloc_v2");
  find(driver, &release, "cuMemFree_v2");
  find(driver, &load, "cuModuleLoadData");
  find(driver, &get_function, "cuModuleGetFunction");
  find(driver, &launch, "cuLaunchKernel");
  find(driver, &synchronize, "cuCtxSynchronize");
  /* The smallest kernel there is; the fake driver takes any text for one, and this one for one that takes no time. */
  static const char image[] =
      ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry spin_0us()\n{\n  ret;\n}\n";
  must(init(0), "cuInit");
  must(retain(&context, 0), "cuDevicePrimaryCtxRetain");
  must(set_current(context), "cuCtxSetCurrent");
  must(load(&module, image), "cuModuleLoadData");
  must(get_function(&function, module, "spin_0us"), "cuModuleGetFunction");
  double seconds = count > 1 ? strtod(arguments[1], NULL) : 1;
  puts("threads alloc_ns free_ns launch_ns");
  if (count < 3) {
    for (unsigned int threads = 1; threads <= 64; threads *= 4) measure(seconds, threads);
  }
  for (int i = 2; i < count; i++) measure(seconds, (unsigned int)strtoul(arguments[i], NULL, 10));
  return 0;
}
