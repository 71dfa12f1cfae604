/* A tenant that launches kernels for some virtual time.   tenant MICROSECONDS SECONDS HOW
 * HOW: "stream" (waits for each ten), "graph" (of ten kernels), "queue" (never waits before the end), "mixed" (kernels
 * of three lengths), or by other entry points, each waiting as "stream" does: "launch", "grid" and "async" of CUDA 2,
 * "ex", "cooperative", "devices" (cooperative on several cards); "part" (two fifths of the time) */
#include <inttypes.h>

#include "api.h"

static __typeof__(cuLaunch)* launch_old;
static __typeof__(cuLaunchGrid)* launch_grid;
static __typeof__(cuLaunchGridAsync)* launch_grid_async;
static __typeof__(cuLaunchCooperativeKernelMultiDevice)* launch_devices;

static void must(CUresult result, const char* what) {
  if (result == CUDA_SUCCESS) return;
  fprintf(stderr, "%s: %d\n", what, result);
  exit(1);
}

static CUresult by_another(const char* how, struct api* api, CUfunction f, unsigned blocks, CUstream stream) {
  CUlaunchConfig config = {blocks, 1, 1, 32, 1, 1, 0, NULL, NULL, 0};
  CUDA_LAUNCH_PARAMS one = {f, blocks, 1, 1, 32, 1, 1, 0, stream, NULL};
  if (strcmp(how, "launch") == 0) return launch_old(f);
  if (strcmp(how, "grid") == 0) return launch_grid(f, (int)blocks, 1);
  if (strcmp(how, "async") == 0) return launch_grid_async(f, (int)blocks, 1, NULL);
  if (strcmp(how, "ex") == 0) return api->cuLaunchKernelEx(&config, f, NULL, NULL);
  if (strcmp(how, "cooperative") == 0) return api->cuLaunchCooperativeKernel(f, blocks, 1, 1, 32, 1, 1, 0, NULL, NULL);
  if (strcmp(how, "devices") == 0) return launch_devices(&one, 1, 0);
  return api->cuLaunchKernel(f, blocks, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL);
}

int main(int count, char** arguments) {
  CUcontext context = NULL;
  CUmodule module = NULL;
  CUfunction functions[3];
  CUgraph graph = NULL;
  CUgraphNode node = NULL;
  CUgraphExec exec = NULL;
  if (count != 4) return 2;
  struct api api = find_api("dlsym", NULL);
  uint64_t (*now)(void) = NULL;
  void* handle = dlopen("libcuda.so.1", RTLD_NOW);
  take(&now, dlsym(handle, "kaischedFakeNow"), "kaischedFakeNow");
  void (*sleep_until)(uint64_t) = NULL;
  take(&sleep_until, dlsym(handle, "kaischedFakeSleepUntil"), "kaischedFakeSleepUntil");
  take(&launch_old, dlsym(handle, "cuLaunch"), "cuLaunch");
  take(&launch_grid, dlsym(handle, "cuLaunchGrid"), "cuLaunchGrid");
  take(&launch_grid_async, dlsym(handle, "cuLaunchGridAsync"), "cuLaunchGridAsync");
  take(&launch_devices, dlsym(handle, "cuLaunchCooperativeKernelMultiDevice"), "cuLaunchCooperativeKernelMultiDevice");
  uint64_t length = strtoull(arguments[1], NULL, 10), end = strtoull(arguments[2], NULL, 10) * 1000000000;
  const char* how = arguments[3];
  bool varied = strcmp(how, "varied") == 0;
  must(api.cuInit(0), "init");
  must(api.cuDevicePrimaryCtxRetain(&context, 0), "retain");
  must(api.cuCtxSetCurrent(context), "current");
  must(api.cuModuleLoadData(&module, "image"), "module");
  for (uint64_t i = 0; i < 3; i++) {
    char name[32];
    snprintf(name, sizeof name, "spin_%" PRIu64 "us", strcmp(how, "mixed") == 0 ? length << (2 * i) : length);
    must(api.cuModuleGetFunction(&functions[i], module, varied ? "waves" : name), "function");
  }
  CUstream stream = NULL;
  must(api.cuStreamCreate(&stream, 0), "stream");
  must(api.cuGraphCreate(&graph, 0), "graph");
  for (int i = 0; i < 10; i++) {
    CUDA_KERNEL_NODE_PARAMS kernel = {.func = functions[0], .gridDimX = 1, .gridDimY = 1, .gridDimZ = 1};
    must(api.cuGraphAddKernelNode_v2(&node, graph, NULL, 0, &kernel), "node");
  }
  must(api.cuGraphInstantiateWithFlags(&exec, graph, 0), "instantiate");
  for (uint64_t i = 0; now() < end; i++) {
    if (strcmp(how, "part") == 0 && i % 10 == 0) sleep_until(i * 5 / 2 * length * 1000);
    if (strcmp(how, "graph") == 0) {
      must(api.cuGraphLaunch(exec, NULL), "graph launch");
    } else {
      unsigned blocks = varied ? 1025 + (unsigned)(i * 397 % 1024) : 1 + (unsigned)(i % 4);
      must(by_another(how, &api, functions[i % 3], blocks, stream), "launch");
    }
    if (strcmp(how, "queue") != 0 && (i % 10 == 9 || strcmp(how, "graph") == 0))
      must(strcmp(how, "devices") == 0 ? api.cuStreamSynchronize(stream) : api.cuStreamSynchronize(NULL), "wait");
  }
  printf("%" PRIu64 "\n", now());
  return 0;
}
