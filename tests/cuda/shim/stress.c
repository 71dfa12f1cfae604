/* Threads that allocate and free at the edge of a limit, in every class of memory, and count what they get.
 *
 *   stress WAY THREADS OPERATIONS SEED [CLASSES]     CLASSES: letters of "plmvaqg", all without it; "k": kernels
 *
 * Ends with everything freed; prints "granted refused". Anything but success and CUDA_ERROR_OUT_OF_MEMORY is a failure.
 */
#include <inttypes.h>
#include <pthread.h>

#include "api.h"

static struct api api;
static CUcontext context;
static CUfunction function; /* where kernels are asked for */
static const char* classes = "plmvaqg";
static long operations;
static uint64_t granted, refused;

struct held {
  char kind;
  uint64_t value, more;
};

static uint64_t draw(uint64_t* state, uint64_t below) {
  *state ^= *state << 13;
  *state ^= *state >> 7;
  *state ^= *state << 17;
  return *state % below;
}

static void must(CUresult result, const char* what) {
  if (result == CUDA_SUCCESS) return;
  fprintf(stderr, "%s: %d\n", what, result);
  exit(1);
}

static CUresult map_new(struct held* out, size_t size) {
  CUmemAllocationProp properties = {.type = 1, .location = {1, 0}};
  CUmemGenericAllocationHandle handle = 0;
  CUdeviceptr address = 0;
  size = (size + (2 << 20) - 1) / (2 << 20) * (2 << 20);
  CUresult result = api.cuMemCreate(&handle, size, &properties, 0);
  if (result != CUDA_SUCCESS) return result;
  must(api.cuMemAddressReserve(&address, size, 0, 0, 0), "reserve");
  must(api.cuMemMap(address, size, 0, handle, 0), "map");
  must(api.cuMemRelease(handle), "release"); /* it lives as long as it is mapped */
  *out = (struct held){'v', address, size};
  return result;
}

static CUresult graph_new(struct held* out, size_t size) {
  CUDA_MEM_ALLOC_NODE_PARAMS memory = {.poolProps = {.allocType = 1, .location = {1, 0}}, .bytesize = size};
  CUgraph graph = NULL;
  CUgraphNode node = NULL;
  CUgraphExec exec = NULL;
  must(api.cuGraphCreate(&graph, 0), "graph");
  must(api.cuGraphAddMemAllocNode(&node, graph, NULL, 0, &memory), "alloc node");
  must(api.cuGraphAddMemFreeNode(&node, graph, NULL, 0, memory.dptr), "free node");
  must(api.cuGraphInstantiateWithFlags(&exec, graph, 0), "instantiate");
  must(api.cuGraphDestroy(graph), "destroy");
  CUresult result = api.cuGraphLaunch(exec, NULL);
  if (result != CUDA_SUCCESS) must(api.cuGraphExecDestroy(exec), "exec destroy");
  *out = (struct held){'g', (uint64_t)(uintptr_t)exec, 0};
  return result;
}

static CUresult allocate(struct held* out, uint64_t* state) {
  char kind = classes[draw(state, strlen(classes))];
  size_t size = 1 + (size_t)draw(state, kind == 'p' ? 1 << 20 : 24 << 20), pitch = 0;
  CUdeviceptr address = 0;
  CUarray array = NULL;
  CUDA_ARRAY_DESCRIPTOR flat = {1 + draw(state, 2000), 1 + draw(state, 1000), 0x20, 1u << draw(state, 3)};
  CUresult result;
  switch (kind) {
    case 'v':
      return map_new(out, size);
    case 'g':
      return graph_new(out, size);
    case 'a':
      result = api.cuArrayCreate_v2(&array, &flat);
      address = (uint64_t)(uintptr_t)array;
      break;
    case 'm':
      result = api.cuMemAllocManaged(&address, size, 1);
      break;
    case 'q':
      result = api.cuMemAllocAsync(&address, size, NULL);
      break;
    case 'l':
      result = draw(state, 4) ? api.cuMemAlloc_v2(&address, size)
                              : api.cuMemAllocPitch_v2(&address, &pitch, 1 + size / 64, 64, 4);
      break;
    default:
      result = api.cuMemAlloc_v2(&address, size);
  }
  *out = (struct held){kind, address, size};
  return result;
}

static void release(const struct held* held) {
  switch (held->kind) {
    case 'v':
      must(api.cuMemUnmap(held->value, held->more), "unmap");
      must(api.cuMemAddressFree(held->value, held->more), "unreserve");
      break;
    case 'g':
      must(api.cuGraphExecDestroy((CUgraphExec)(uintptr_t)held->value), "exec destroy");
      break;
    case 'a':
      must(api.cuArrayDestroy((CUarray)(uintptr_t)held->value), "array destroy");
      break;
    case 'q':
      must(api.cuMemFreeAsync(held->value, NULL), "free async");
      break;
    default:
      must(api.cuMemFree_v2(held->value), "free");
  }
}

static void* work(void* argument) {
  enum { MOST = 48 };
  uint64_t state = (uint64_t)(uintptr_t)argument;
  struct held held[MOST];
  size_t count = 0;
  must(api.cuCtxSetCurrent(context), "current");
  for (long i = 0; i < operations; i++) {
    bool full = count == MOST;
    if (!full && (count == 0 || draw(&state, 5) < 3)) {
      CUresult result = allocate(&held[count], &state);
      if (result != CUDA_SUCCESS && result != CUDA_ERROR_OUT_OF_MEMORY) must(result, "allocate");
      __atomic_add_fetch(result == CUDA_SUCCESS ? &granted : &refused, 1, __ATOMIC_RELAXED);
      count += result == CUDA_SUCCESS;
    } else if (count > 0) {
      size_t at = draw(&state, count);
      release(&held[at]);
      held[at] = held[--count];
    }
  }
  while (count > 0) release(&held[--count]);
  return NULL;
}

int main(int count, char** arguments) {
  enum { MOST_THREADS = 64 };
  pthread_t threads[MOST_THREADS];
  if (count < 5) return 2;
  api = find_api(arguments[1], NULL);
  long width = strtol(arguments[2], NULL, 10);
  operations = strtol(arguments[3], NULL, 10);
  uint64_t seed = strtoull(arguments[4], NULL, 10);
  if (count > 5) classes = arguments[5];
  if (width < 1 || width > MOST_THREADS) return 2;
  must(api.cuInit(0), "init");
  CUresult result = api.cuDevicePrimaryCtxRetain(&context, 0);
  if (result == CUDA_ERROR_OUT_OF_MEMORY) { /* others have filled the limit: no room for a context */
    printf("granted 0 refused 1 no context\n");
    return 0;
  }
  must(result, "retain");
  CUmodule module = NULL;
  if (strchr(classes, 'k') != NULL) {
    must(api.cuCtxSetCurrent(context), "current");
    must(api.cuModuleLoadData(&module, "image"), "module");
    must(api.cuModuleGetFunction(&function, module, "spin_1us"), "function");
  }
  for (long i = 0; i < width; i++) {
    if (pthread_create(&threads[i], NULL, work, (void*)(uintptr_t)(seed * 1000 + (uint64_t)i * 7 + 1)) != 0) return 1;
  }
  for (long i = 0; i < width; i++) pthread_join(threads[i], NULL);
  must(api.cuCtxSetCurrent(context), "current");
  must(api.cuCtxSynchronize(), "synchronize");
  size_t available = 0, total = 0;
  must(api.cuMemGetInfo_v2(&available, &total), "info");
  printf("granted %" PRIu64 " refused %" PRIu64 " available %zu total %zu\n", granted, refused, available, total);
  if (module != NULL) must(api.cuModuleUnload(module), "unload");
  must(api.cuDevicePrimaryCtxRelease_v2(0), "release");
  return 0;
}
