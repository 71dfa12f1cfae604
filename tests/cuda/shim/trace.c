/* Calls of a drawn sequence, and what came of each, one line per call. The same seed gives the same calls as long as
 * the driver gives the same answers, so what a guard without limits changes is a difference between two outputs.
 *
 *   trace WAY SEED CALLS [valid]
 *
 * valid: without handles that are none, at which a driver of a card may end the program; the fake one says so. */
#include <inttypes.h>

#include "api.h"

enum { MOST = 64 };
static struct api api;
static uint64_t state;
static bool careful; /* valid */

static uint64_t draw(uint64_t below) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state % below;
}

/* Sizes at the edges of what drivers tell apart, and anything between. */
static size_t draw_size(void) {
  static const size_t edges[] = {
      0, 1, 511, 512, 513, 1 << 20, (1 << 20) + 1, 2 << 20, (2 << 20) + 1, 32 << 20, (size_t)1 << 45};
  if (draw(3) == 0) return edges[draw(sizeof edges / sizeof edges[0])];
  return (size_t)draw(UINT64_C(1) << (1 + draw(27)));
}

struct slots {
  uint64_t value[MOST];
  size_t count;
};
static struct slots pointers, pooled, arrays, mipmaps, pools, executables, streams;

static void keep(struct slots* slots, CUresult result, uint64_t value) {
  if (result == CUDA_SUCCESS && slots->count < MOST) slots->value[slots->count++] = value;
}

/* One of them, mostly; now and then one that is none. */
static uint64_t pick(struct slots* slots, bool take, uint64_t none) {
  if (slots->count == 0 || draw(20) == 0) return none;
  size_t at = draw(slots->count);
  uint64_t value = slots->value[at];
  if (take) slots->value[at] = slots->value[--slots->count];
  return value;
}

/* For the fake driver the name says all. */
static const char kernel_image[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry spin_5us()\n{\n"
    "  .reg .u64 %start, %now, %past;\n  .reg .pred %more;\n  mov.u64 %start, %globaltimer;\n"
    "again:\n  mov.u64 %now, %globaltimer;\n  sub.u64 %past, %now, %start;\n"
    "  setp.lt.u64 %more, %past, 5000;\n  @%more bra again;\n  ret;\n}\n";

static void say(const char* call, CUresult result, uint64_t value) {
  printf("%s %d %" PRIx64 "\n", call, result, result == CUDA_SUCCESS ? value : 0);
}

#define POINTER(type, value) ((type)(uintptr_t)(value))

static CUstream stream(void) { return POINTER(CUstream, pick(&streams, false, 0)); }

static void plain(void) {
  CUdeviceptr address = 0;
  size_t pitch = 0, size = draw_size(), height = draw(2000);
  CUresult result;
  switch (draw(8)) {
    case 0:
      result = api.cuMemAllocManaged(&address, size, 1 + (unsigned)draw(3));
      say("managed", result, address);
      keep(&pointers, result, address);
      break;
    case 1:
      result = api.cuMemAllocPitch_v2(&address, &pitch, draw(100000), height, 4u << draw(4));
      say("pitch", result, address + pitch);
      keep(&pointers, result, address);
      break;
    case 2:
    case 3:
    case 4:
      address = pick(&pointers, true, draw(2) ? 0 : 0x1234);
      say("free", api.cuMemFree_v2(address), 0);
      break;
    default:
      result = api.cuMemAlloc_v2(&address, size);
      say("alloc", result, address);
      keep(&pointers, result, address);
  }
}

static void stream_ordered(void) {
  CUdeviceptr address = 0;
  CUmemoryPool pool = POINTER(CUmemoryPool, pick(&pools, false, 0));
  CUmemPoolProps properties = {.allocType = 1, .location = {1, 0}};
  uint64_t threshold = draw(2) ? UINT64_MAX : 0;
  CUresult result;
  switch (draw(9)) {
    case 0:
      result = api.cuMemAllocAsync(&address, draw_size(), stream());
      break;
    case 1:
    case 2:
      result = api.cuMemAllocFromPoolAsync(&address, draw_size(), pool, stream());
      break;
    case 3:
      result = api.cuMemPoolCreate(&pool, &properties);
      say("pool", result, 0);
      keep(&pools, result, (uint64_t)(uintptr_t)pool);
      return;
    case 4:
      say("trim", api.cuMemPoolTrimTo(pool, draw_size()), 0);
      return;
    case 5:
      say("threshold", api.cuMemPoolSetAttribute(pool, 4, &threshold), 0);
      return;
    case 6:
      say("synchronize", api.cuStreamSynchronize(stream()), 0);
      return;
    default:
      say("free async", api.cuMemFreeAsync(pick(draw(4) ? &pooled : &pointers, true, 0x1234), stream()), 0);
      return;
  }
  say("alloc async", result, address);
  keep(&pooled, result, address);
}

static void by_handle(void) {
  const size_t granule = 2 << 20;
  CUmemAllocationProp properties = {.type = 1, .location = {1 + (int)draw(2), 0}};
  CUmemGenericAllocationHandle handle = 0;
  CUdeviceptr address = 0;
  size_t size = granule * (1 + draw(3));
  CUresult result = api.cuMemCreate(&handle, draw(10) ? size : size + 1, &properties, 0);
  say("create", result, handle);
  if (result != CUDA_SUCCESS) return;
  say("reserve", api.cuMemAddressReserve(&address, size * 2, 0, 0, 0), address);
  say("map", api.cuMemMap(address, size, 0, handle, 0), 0);
  bool right = draw(4) != 0 || careful;
  say("map", api.cuMemMap(address + size, size, 0, right ? handle : 77, 0), 0);
  if (draw(2)) {
    CUmemGenericAllocationHandle again = 0;
    say("retain", api.cuMemRetainAllocationHandle(&again, POINTER(void*, address)), again);
    say("release", api.cuMemRelease(again), 0);
  }
  say("release", api.cuMemRelease(handle), 0);
  say("unmap", api.cuMemUnmap(address, size * 2), 0);
  say("unmap", api.cuMemUnmap(address, size), 0);
  say("unreserve", api.cuMemAddressFree(address, size * 2), 0);
  if (!careful) say("release", api.cuMemRelease(handle), 0);
}

static void array(void) {
  CUDA_ARRAY_DESCRIPTOR flat = {draw(5000), draw(3000), draw(2) ? 0x20 : 0x01, 1u << draw(3)};
  CUDA_ARRAY3D_DESCRIPTOR solid = {draw(300), draw(300), draw(20), 0x10, 2, 0};
  CUarray made = NULL;
  CUmipmappedArray levels = NULL;
  CUresult result;
  switch (draw(5)) {
    case 0:
      result = api.cuArrayCreate_v2(&made, &flat);
      say("array", result, 0);
      keep(&arrays, result, (uint64_t)(uintptr_t)made);
      break;
    case 1:
      result = api.cuArray3DCreate_v2(&made, &solid);
      say("array 3d", result, 0);
      keep(&arrays, result, (uint64_t)(uintptr_t)made);
      break;
    case 2:
      result = api.cuMipmappedArrayCreate(&levels, &solid, (unsigned)draw(9));
      say("mipmap", result, 0);
      keep(&mipmaps, result, (uint64_t)(uintptr_t)levels);
      break;
    case 3:
      say("array destroy", api.cuArrayDestroy(POINTER(CUarray, pick(&arrays, true, 0))), 0);
      break;
    default:
      say("mipmap destroy", api.cuMipmappedArrayDestroy(POINTER(CUmipmappedArray, pick(&mipmaps, true, 0))), 0);
  }
}

static void graph(CUfunction function) {
  CUgraph made = NULL;
  CUgraphNode node = NULL;
  CUgraphExec exec = NULL;
  CUDA_MEM_ALLOC_NODE_PARAMS memory = {.poolProps = {.allocType = 1, .location = {1, 0}}, .bytesize = draw_size()};
  CUDA_KERNEL_NODE_PARAMS kernel = {
      .func = function, .gridDimX = 1 + (unsigned)draw(100), .gridDimY = 1, .gridDimZ = 1};
  switch (draw(4)) {
    case 0:
      say("graph", api.cuGraphCreate(&made, 0), 0);
      say("kernel node", api.cuGraphAddKernelNode_v2(&node, made, NULL, 0, &kernel), 0);
      say("alloc node", api.cuGraphAddMemAllocNode(&node, made, NULL, 0, &memory), memory.dptr);
      say("free node", api.cuGraphAddMemFreeNode(&node, made, NULL, 0, memory.dptr), 0);
      say("instantiate", api.cuGraphInstantiateWithFlags(&exec, made, 0), 0);
      keep(&executables, CUDA_SUCCESS, (uint64_t)(uintptr_t)exec);
      say("graph destroy", api.cuGraphDestroy(made), 0);
      break;
    case 1:
      say("graph trim", api.cuDeviceGraphMemTrim((int)draw(3)), 0);
      break;
    case 2:
      say("exec destroy", api.cuGraphExecDestroy(POINTER(CUgraphExec, pick(&executables, true, 0))), 0);
      break;
    default:
      say("graph launch", api.cuGraphLaunch(POINTER(CUgraphExec, pick(&executables, false, 0)), stream()), 0);
  }
}

static void compute(CUfunction function) {
  CUlaunchConfig config = {1 + (unsigned)draw(9), 1, 1, 32, 1, 1, 0, stream(), NULL, 0};
  CUstream made = NULL;
  CUresult result;
  CUfunction which = draw(10) ? function : NULL;
  switch (draw(5)) {
    case 0:
      say("launch ex", api.cuLaunchKernelEx(&config, which, NULL, NULL), 0);
      break;
    case 1:
      say("cooperative", api.cuLaunchCooperativeKernel(which, 1, 1, 1, 32, 1, 1, 0, stream(), NULL), 0);
      break;
    case 2:
      result = api.cuStreamCreate(&made, (unsigned)draw(3));
      say("stream", result, 0);
      keep(&streams, result, (uint64_t)(uintptr_t)made);
      break;
    case 3:
      say("limit", api.cuCtxSetLimit((int)draw(4), draw(64) << 20), 0);
      break;
    default:
      say("launch", api.cuLaunchKernel(which, (unsigned)draw(9), 1, 1, 32, 1, 1, 0, stream(), NULL, NULL), 0);
  }
}

static void info(void) {
  size_t available = 0, total = 0;
  CUresult result = api.cuMemGetInfo_v2(&available, &total);
  say("info", result, available);
  say("total", result, total);
  result = api.cuDeviceTotalMem_v2(&total, (int)draw(3));
  say("total of device", result, total);
}

int main(int count, char** arguments) {
  CUcontext context = NULL, second = NULL;
  CUmodule module = NULL;
  CUfunction function = NULL;
  if (count != 4 && count != 5) return 2;
  careful = count == 5 && strcmp(arguments[4], "valid") == 0;
  setvbuf(stdout, NULL, _IOLBF,
          0); /* where a driver ends the program the last line says which call was the one before */
  api = find_api(arguments[1], NULL);
  state = strtoull(arguments[2], NULL, 10) * 2 + 1;
  size_t available = 0, total = 0;
  say("info", api.cuMemGetInfo_v2(&available, &total), 0);
  say("init", api.cuInit(0), 0);
  say("retain", api.cuDevicePrimaryCtxRetain(&context, 0), 0);
  CUdeviceptr address = 0;
  say("alloc", api.cuMemAlloc_v2(&address, 16), 0);
  say("current", api.cuCtxSetCurrent(context), 0);
  say("module", api.cuModuleLoadData(&module, kernel_image), 0);
  say("function", api.cuModuleGetFunction(&function, module, "spin_5us"), 0);
  for (long calls = strtol(arguments[3], NULL, 10); calls > 0; calls--) {
    switch (draw(9)) {
      case 0:
      case 1:
      case 2:
        plain();
        break;
      case 3:
      case 4:
        stream_ordered();
        break;
      case 5:
        by_handle();
        break;
      case 6:
        array();
        break;
      case 7:
        graph(function);
        break;
      default:
        compute(function);
    }
    if (calls % 16 == 0) info();
  }
  say("context", api.cuCtxCreate_v2(&second, 0, 0), 0);
  say("alloc", api.cuMemAlloc_v2(&address, 100), address);
  say("alloc", api.cuMemAlloc_v2(&address, 100 << 20), address);
  info();
  say("destroy", api.cuCtxDestroy_v2(second), 0);
  say("current", api.cuCtxSetCurrent(context), 0);
  info();
  say("unload", api.cuModuleUnload(module), 0);
  say("release", api.cuDevicePrimaryCtxRelease_v2(0), 0);
  say("info", api.cuMemGetInfo_v2(&available, &total), 0);
  return 0;
}
