/* What run_on_gpu.sh runs, on a card or on the fake driver.
 *
 *   check fill CLASS STEP MOST      allocates STEP bytes at a time until it is refused or has MOST, in CLASS: alloc,
 *                                   managed, async, pool, vmm, graph or array; says so, holds all of it until its
 *                                   input ends, frees it, and takes one step again
 *   check work MICROSECONDS SECONDS HOW   kernels of that length for that time; HOW: stream or graph
 *   check hold BYTES SECONDS        one allocation, and a message once it is there
 *
 * Prints one line of JSON at the end. */
#include <dlfcn.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cuda_abi.h"
#include "nvml_abi.h"

#define CALLS(X)                  \
  X(cuInit)                       \
  X(cuDevicePrimaryCtxRetain)     \
  X(cuDevicePrimaryCtxRelease_v2) \
  X(cuCtxSetCurrent)              \
  X(cuCtxSynchronize)             \
  X(cuMemGetInfo_v2)              \
  X(cuMemAlloc_v2)                \
  X(cuMemFree_v2)                 \
  X(cuMemAllocManaged)            \
  X(cuMemAllocAsync)              \
  X(cuMemFreeAsync)               \
  X(cuMemAllocFromPoolAsync)      \
  X(cuMemPoolCreate)              \
  X(cuMemAddressReserve)          \
  X(cuMemCreate)                  \
  X(cuMemMap)                     \
  X(cuMemUnmap)                   \
  X(cuMemRelease)                 \
  X(cuGraphCreate)                \
  X(cuGraphAddMemAllocNode)       \
  X(cuGraphAddKernelNode_v2)      \
  X(cuGraphInstantiateWithFlags)  \
  X(cuGraphLaunch)                \
  X(cuGraphExecDestroy)           \
  X(cuArrayCreate_v2)             \
  X(cuArrayDestroy)               \
  X(cuModuleLoadData)             \
  X(cuModuleGetFunction)          \
  X(cuLaunchKernel)               \
  X(cuStreamSynchronize)

static struct {
#define X(name) __typeof__(name)* name;
  CALLS(X)
#undef X
} cuda;

enum { MOST = 1 << 16 };
static uint64_t held[MOST], graph_memory[MOST]; /* of graphs: executable, and address */
static CUmemoryPool pool;

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static void must(CUresult result, const char* what) {
  if (result == CUDA_SUCCESS) return;
  fprintf(stderr, "%s: %d\n", what, result);
  exit(1);
}

static void open_driver(void) {
  void* handle = dlopen("libcuda.so.1", RTLD_NOW);
  if (handle == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    exit(1);
  }
#define X(name)                                   \
  {                                               \
    void* found = dlsym(handle, #name);           \
    memcpy(&cuda.name, &found, sizeof cuda.name); \
  }
  CALLS(X)
#undef X
  must(cuda.cuInit(0), "cuInit");
}

/* What NVML says this process holds, contexts and all. A guard lets a tenant see its own processes. */
static uint64_t used(void) {
  void* handle = dlopen("libnvidia-ml.so.1", RTLD_NOW);
  __typeof__(nvmlInit_v2)* init = NULL;
  __typeof__(nvmlDeviceGetHandleByIndex_v2)* get = NULL;
  __typeof__(nvmlDeviceGetComputeRunningProcesses_v3)* list = NULL;
  static nvmlProcessInfo_t processes[1024];
  unsigned int count = 1024;
  nvmlDevice_t device = NULL;
  if (handle == NULL) return 0;
  void* found[] = {dlsym(handle, "nvmlInit_v2"), dlsym(handle, "nvmlDeviceGetHandleByIndex_v2"),
                   dlsym(handle, "nvmlDeviceGetComputeRunningProcesses_v3")};
  memcpy(&init, &found[0], sizeof init);
  memcpy(&get, &found[1], sizeof get);
  memcpy(&list, &found[2], sizeof list);
  if (init == NULL || get == NULL || list == NULL || init() != 0 || get(0, &device) != 0) return 0;
  if (list(device, &count, processes) != 0) return 0;
  for (unsigned int i = 0; i < count; i++) {
    if (processes[i].pid == (unsigned int)getpid()) return processes[i].usedGpuMemory;
  }
  return 0;
}

static CUresult take_mapped(uint64_t* out, size_t size) {
  CUmemAllocationProp properties = {.type = 1, .location = {1, 0}};
  CUmemGenericAllocationHandle handle = 0;
  CUdeviceptr address = 0;
  CUresult result = cuda.cuMemCreate(&handle, size, &properties, 0);
  if (result != CUDA_SUCCESS) return result;
  must(cuda.cuMemAddressReserve(&address, size, 0, 0, 0), "cuMemAddressReserve");
  must(cuda.cuMemMap(address, size, 0, handle, 0), "cuMemMap");
  must(cuda.cuMemRelease(handle), "cuMemRelease");
  *out = address;
  return result;
}

/* A graph that allocates and frees nothing: what it has taken stays until it is freed by address. */
static CUresult take_graph(uint64_t* out, uint64_t* address, size_t size) {
  CUDA_MEM_ALLOC_NODE_PARAMS memory = {.poolProps = {.allocType = 1, .location = {1, 0}}, .bytesize = size};
  CUgraph graph = NULL;
  CUgraphNode node = NULL;
  CUgraphExec exec = NULL;
  must(cuda.cuGraphCreate(&graph, 0), "cuGraphCreate");
  CUresult result = cuda.cuGraphAddMemAllocNode(&node, graph, NULL, 0, &memory);
  if (result == CUDA_SUCCESS) result = cuda.cuGraphInstantiateWithFlags(&exec, graph, 0);
  if (result == CUDA_SUCCESS) result = cuda.cuGraphLaunch(exec, NULL);
  *out = (uint64_t)(uintptr_t)exec;
  *address = memory.dptr;
  return result;
}

static CUresult take(const char* class, size_t at, size_t size) {
  uint64_t* out = &held[at];
  CUdeviceptr address = 0;
  CUarray array = NULL;
  CUDA_ARRAY_DESCRIPTOR flat = {16384, size / 65536, 0x20, 1};
  CUresult result;
  if (strcmp(class, "vmm") == 0) return take_mapped(out, size);
  if (strcmp(class, "graph") == 0) return take_graph(out, &graph_memory[at], size);
  if (strcmp(class, "array") == 0) {
    result = cuda.cuArrayCreate_v2(&array, &flat);
    *out = (uint64_t)(uintptr_t)array;
    return result;
  }
  if (strcmp(class, "managed") == 0) {
    result = cuda.cuMemAllocManaged(&address, size, 1);
  } else if (strcmp(class, "async") == 0) {
    result = cuda.cuMemAllocAsync(&address, size, NULL);
  } else if (strcmp(class, "pool") == 0) {
    result = cuda.cuMemAllocFromPoolAsync(&address, size, pool, NULL);
  } else {
    result = cuda.cuMemAlloc_v2(&address, size);
  }
  *out = address;
  return result;
}

static void give(const char* class, size_t at, size_t size) {
  uint64_t value = held[at];
  if (strcmp(class, "vmm") == 0) {
    must(cuda.cuMemUnmap(value, size), "cuMemUnmap");
  } else if (strcmp(class, "graph") == 0) {
    must(cuda.cuMemFreeAsync(graph_memory[at], NULL), "cuMemFreeAsync");
    must(cuda.cuGraphExecDestroy((CUgraphExec)(uintptr_t)value), "cuGraphExecDestroy");
  } else if (strcmp(class, "array") == 0) {
    must(cuda.cuArrayDestroy((CUarray)(uintptr_t)value), "cuArrayDestroy");
  } else if (strcmp(class, "async") == 0 || strcmp(class, "pool") == 0) {
    must(cuda.cuMemFreeAsync(value, NULL), "cuMemFreeAsync");
  } else {
    must(cuda.cuMemFree_v2(value), "cuMemFree");
  }
}

/* Never beyond `most`: a card that is asked for more managed memory than it has may hang, so a limit that does not hold
 * must show without that. */
static int fill(const char* class, size_t step, size_t most) {
  CUmemPoolProps properties = {.allocType = 1, .location = {1, 0}};
  size_t count = 0, available = 0, total = 0;
  CUresult result = CUDA_SUCCESS;
  must(cuda.cuMemPoolCreate(&pool, &properties), "cuMemPoolCreate");
  must(cuda.cuMemGetInfo_v2(&available, &total), "cuMemGetInfo");
  while (count < MOST && (count + 1) * step <= most && (result = take(class, count, step)) == CUDA_SUCCESS) count++;
  puts("filled");
  fflush(stdout);
  while (getchar() != EOF) { /* others fill what is left, and whoever started us adds up what all hold */
  }
  uint64_t all = used();
  for (size_t i = 0; i < count; i++) give(class, i, step);
  must(cuda.cuCtxSynchronize(), "cuCtxSynchronize");
  CUresult again = count > 0 ? take(class, 0, step) : CUDA_SUCCESS;
  printf("{\"class\": \"%s\", \"granted\": %zu, \"refused_with\": %d, \"nvml\": %" PRIu64
         ", \"total\": %zu, \"again\": %d}\n",
         class, count * step, result, all, total, again);
  return 0;
}

/* A kernel that waits for a time by the card's own clock. */
static CUfunction spin(const char* microseconds) {
  static char image[2048];
  char name[48];
  CUmodule module = NULL;
  CUfunction function = NULL;
  snprintf(name, sizeof name, "spin_%sus", microseconds);
  snprintf(image, sizeof image,
           ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry %s()\n{\n"
           "  .reg .u64 %%start, %%now, %%past;\n  .reg .pred %%more;\n  mov.u64 %%start, %%globaltimer;\n"
           "again:\n  mov.u64 %%now, %%globaltimer;\n  sub.u64 %%past, %%now, %%start;\n"
           "  setp.lt.u64 %%more, %%past, %s000;\n  @%%more bra again;\n  ret;\n}\n",
           name, microseconds);
  must(cuda.cuModuleLoadData(&module, image), "cuModuleLoadData");
  must(cuda.cuModuleGetFunction(&function, module, name), "cuModuleGetFunction");
  return function;
}

static int work(const char* microseconds, double seconds, bool graph) {
  CUfunction function = spin(microseconds);
  CUgraph made = NULL;
  CUgraphNode node = NULL;
  CUgraphExec exec = NULL;
  uint64_t kernels = 0;
  must(cuda.cuGraphCreate(&made, 0), "cuGraphCreate");
  for (int i = 0; i < 10; i++) {
    CUgraphNode before = node;
    CUDA_KERNEL_NODE_PARAMS kernel = {
        .func = function, .gridDimX = 1, .gridDimY = 1, .gridDimZ = 1, .blockDimX = 32, .blockDimY = 1, .blockDimZ = 1};
    must(cuda.cuGraphAddKernelNode_v2(&node, made, &before, i > 0, &kernel), "cuGraphAddKernelNode");
  }
  must(cuda.cuGraphInstantiateWithFlags(&exec, made, 0), "cuGraphInstantiate");
  double start = now(), warm = start + 2, measured_from = 0;
  for (double at = start; at < start + seconds + 2; at = now()) {
    if (measured_from == 0 && at >= warm) { /* a limiter may have two seconds to learn */
      measured_from = at;
      kernels = 0;
    }
    for (int i = 0; i < 10 && !graph; i++) {
      must(cuda.cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL), "cuLaunchKernel");
    }
    if (graph) must(cuda.cuGraphLaunch(exec, NULL), "cuGraphLaunch");
    must(cuda.cuStreamSynchronize(NULL), "cuStreamSynchronize");
    kernels += 10;
  }
  double length = now() - measured_from;
  printf("{\"kernels\": %" PRIu64 ", \"seconds\": %.3f, \"permille\": %.0f}\n", kernels, length,
         (double)kernels * strtod(microseconds, NULL) / length / 1000);
  return 0;
}

int main(int count, char** arguments) {
  CUcontext context = NULL;
  if (count < 4) return 2;
  open_driver();
  must(cuda.cuDevicePrimaryCtxRetain(&context, 0), "cuDevicePrimaryCtxRetain");
  must(cuda.cuCtxSetCurrent(context), "cuCtxSetCurrent");
  if (strcmp(arguments[1], "fill") == 0 && count == 5) {
    return fill(arguments[2], strtoull(arguments[3], NULL, 10), strtoull(arguments[4], NULL, 10));
  }
  if (strcmp(arguments[1], "work") == 0 && count == 5) {
    return work(arguments[2], strtod(arguments[3], NULL), strcmp(arguments[4], "graph") == 0);
  }
  if (strcmp(arguments[1], "hold") == 0) {
    must(take("alloc", 0, strtoull(arguments[2], NULL, 10)), "cuMemAlloc");
    puts("{\"held\": true}");
    fflush(stdout);
    usleep((useconds_t)(strtod(arguments[3], NULL) * 1e6));
    return 0;
  }
  return 2;
}
