/* Graphs. Memory of their nodes is a pool of its own per device, whose reserved size the driver tells: it is settled
 * like that of a pool, around what may change it. What the kernels of a graph take is what one launch of it costs. */
#include <stdlib.h>

#include "guard.h"

static uint64_t plus(uint64_t a, uint64_t b) { return a > UINT64_MAX - b ? UINT64_MAX : a + b; }

/* What a graph may take: memory nodes of a step of growth and more each have steps of their own, smaller ones share
 * some; and the time of its kernels. Children included. */
struct weight {
  uint64_t large, small;
  int64_t time;
};

static void weigh(CUgraph graph, unsigned depth, struct weight* sum) {
  size_t count = 0;
  if (depth > 16 || guard_real.cuGraphGetNodes(graph, NULL, &count) != CUDA_SUCCESS || count == 0) return;
  CUgraphNode* nodes = calloc(count, sizeof *nodes);
  if (nodes == NULL || guard_real.cuGraphGetNodes(graph, nodes, &count) != CUDA_SUCCESS) count = 0;
  for (size_t i = 0; i < count; i++) {
    CUgraphNodeType type = -1;
    CUgraph child = NULL;
    CUDA_MEM_ALLOC_NODE_PARAMS memory = {.bytesize = 0};
    CUDA_KERNEL_NODE_PARAMS kernel = {.func = NULL};
    guard_real.cuGraphNodeGetType(nodes[i], &type);
    if (type == CU_GRAPH_NODE_TYPE_MEM_ALLOC &&
        guard_real.cuGraphMemAllocNodeGetParams(nodes[i], &memory) == CUDA_SUCCESS) {
      if (memory.bytesize >= GUARD_GROWTH) {
        sum->large = plus(sum->large, guard_round(memory.bytesize, GUARD_GROWTH));
      } else {
        sum->small = plus(sum->small, guard_round(memory.bytesize, GUARD_GRANULE));
      }
    } else if (type == CU_GRAPH_NODE_TYPE_KERNEL && guard_real.cuGraphKernelNodeGetParams_v2 != NULL &&
               guard_real.cuGraphKernelNodeGetParams_v2(nodes[i], &kernel) == CUDA_SUCCESS) {
      sum->time += guard_expected((uint64_t)(uintptr_t)(kernel.func != NULL ? (void*)kernel.func : (void*)kernel.kern),
                                  (uint64_t)kernel.gridDimX * kernel.gridDimY * kernel.gridDimZ);
    } else if (type == CU_GRAPH_NODE_TYPE_GRAPH &&
               guard_real.cuGraphChildGraphNodeGetGraph(nodes[i], &child) == CUDA_SUCCESS) {
      weigh(child, depth + 1, sum);
    }
  }
  free(nodes);
}

/* An executable graph is remembered as something to allocate and something to launch. */
static CUresult instantiated(CUresult result, CUgraphExec* out, CUgraph graph) {
  if (result != CUDA_SUCCESS || !guard_on() || out == NULL || guard_real.cuGraphGetNodes == NULL) return result;
  struct weight sum = {0, 0, 0};
  weigh(graph, 0, &sum);
  struct guard_record record = {.bytes = plus(sum.large, guard_round(sum.small, GUARD_GROWTH)), .card = -1};
  guard_put(GUARD_GRAPH, (uint64_t)(uintptr_t)*out, &record);
  guard_learn((uint64_t)(uintptr_t)*out, sum.time);
  return result;
}

GUARD_EXPORT CUresult cuGraphInstantiate(CUgraphExec* out, CUgraph graph, CUgraphNode* error, char* log, size_t size) {
  if (!guard_load_driver()) return CUDA_ERROR_NOT_INITIALIZED;
  return instantiated(guard_real.cuGraphInstantiate(out, graph, error, log, size), out, graph);
}

GUARD_EXPORT CUresult cuGraphInstantiate_v2(CUgraphExec* out, CUgraph graph, CUgraphNode* error, char* log,
                                            size_t size) {
  if (!guard_load_driver()) return CUDA_ERROR_NOT_INITIALIZED;
  return instantiated(guard_real.cuGraphInstantiate_v2(out, graph, error, log, size), out, graph);
}

GUARD_EXPORT CUresult cuGraphInstantiateWithFlags(CUgraphExec* out, CUgraph graph, unsigned long long flags) {
  if (!guard_load_driver()) return CUDA_ERROR_NOT_INITIALIZED;
  return instantiated(guard_real.cuGraphInstantiateWithFlags(out, graph, flags), out, graph);
}

GUARD_EXPORT CUresult cuGraphInstantiateWithParams(CUgraphExec* out, CUgraph graph,
                                                   CUDA_GRAPH_INSTANTIATE_PARAMS* parameters) {
  if (!guard_load_driver()) return CUDA_ERROR_NOT_INITIALIZED;
  return instantiated(guard_real.cuGraphInstantiateWithParams(out, graph, parameters), out, graph);
}

GUARD_EXPORT CUresult cuGraphInstantiateWithParams_ptsz(CUgraphExec* out, CUgraph graph,
                                                        CUDA_GRAPH_INSTANTIATE_PARAMS* parameters) {
  if (!guard_load_driver()) return CUDA_ERROR_NOT_INITIALIZED;
  return instantiated(guard_real.cuGraphInstantiateWithParams_ptsz(out, graph, parameters), out, graph);
}

static uint64_t shrunk(CUdevice device) {
  struct guard_shard* shard = guard_lock_shard(GUARD_POOL, GUARD_GRAPH_POOL + (uint64_t)device);
  const struct guard_record* pool = guard_find(shard, GUARD_POOL, GUARD_GRAPH_POOL + (uint64_t)device);
  uint64_t times = pool == NULL ? 0 : pool->mappings;
  guard_unlock_shard(shard);
  return times + 1;
}

/* Admits what the memory nodes may take, asks the driver, settles what they took. What a graph has once reserved it
 * keeps until somebody trims: another launch needs no more. */
static CUresult with_memory(CUgraphExec exec, CUstream stream, __typeof__(cuGraphLaunch)* real) {
  CUdevice device = 0;
  uint64_t key = (uint64_t)(uintptr_t)exec;
  struct guard_shard* shard = guard_lock_shard(GUARD_GRAPH, key);
  const struct guard_record* record = guard_find(shard, GUARD_GRAPH, key);
  uint64_t bytes = record == NULL ? 0 : record->bytes, reserved_since = record == NULL ? 0 : record->other;
  guard_unlock_shard(shard);
  if (bytes == 0 || !guard_device(&device)) return real(exec, stream);
  struct guard_claim claim;
  CUresult result = guard_claim(&claim, device, reserved_since == shrunk(device) ? 0 : bytes);
  if (result != CUDA_SUCCESS) return result;
  uint64_t before = shrunk(device);
  result = real(exec, stream);
  if (claim.card >= 0) guard_settle(GUARD_GRAPH_POOL + (uint64_t)device, device, &claim);
  shard = guard_lock_shard(GUARD_GRAPH, key);
  struct guard_record* same = guard_find(shard, GUARD_GRAPH, key);
  if (same != NULL && result == CUDA_SUCCESS) same->other = before;
  guard_unlock_shard(shard);
  return result;
}

static CUresult launch(CUgraphExec exec, CUstream stream, bool per_thread, __typeof__(cuGraphLaunch)* real) {
  if (!guard_on()) return real(exec, stream);
  struct guard_launch compute;
  guard_before_launch(&compute, (uint64_t)(uintptr_t)exec, 0, stream, per_thread, GUARD_WAIT);
  CUresult result = with_memory(exec, stream, real);
  guard_after_launch(&compute, result);
  return result;
}

GUARD_EXPORT CUresult cuGraphLaunch(CUgraphExec exec, CUstream stream) {
  return guard_load_driver() ? launch(exec, stream, false, guard_real.cuGraphLaunch) : CUDA_ERROR_NOT_INITIALIZED;
}

GUARD_EXPORT CUresult cuGraphLaunch_ptsz(CUgraphExec exec, CUstream stream) {
  return guard_load_driver() ? launch(exec, stream, true, guard_real.cuGraphLaunch_ptsz) : CUDA_ERROR_NOT_INITIALIZED;
}

GUARD_EXPORT CUresult cuGraphUpload(CUgraphExec exec, CUstream stream) {
  if (!guard_load_driver()) return CUDA_ERROR_NOT_INITIALIZED;
  return guard_on() ? with_memory(exec, stream, guard_real.cuGraphUpload) : guard_real.cuGraphUpload(exec, stream);
}

GUARD_EXPORT CUresult cuGraphUpload_ptsz(CUgraphExec exec, CUstream stream) {
  if (!guard_load_driver()) return CUDA_ERROR_NOT_INITIALIZED;
  return guard_on() ? with_memory(exec, stream, guard_real.cuGraphUpload_ptsz)
                    : guard_real.cuGraphUpload_ptsz(exec, stream);
}

GUARD_EXPORT CUresult cuGraphExecDestroy(CUgraphExec exec) {
  if (!guard_load_driver()) return CUDA_ERROR_NOT_INITIALIZED;
  struct guard_record record;
  CUdevice device = 0;
  if (guard_on()) guard_take(GUARD_GRAPH, (uint64_t)(uintptr_t)exec, &record);
  CUresult result = guard_real.cuGraphExecDestroy(exec);
  if (result == CUDA_SUCCESS && guard_on() && guard_device(&device))
    guard_settle(GUARD_GRAPH_POOL + (uint64_t)device, device, NULL);
  return result;
}

GUARD_EXPORT CUresult cuDeviceGraphMemTrim(CUdevice device) {
  if (!guard_load_driver()) return CUDA_ERROR_NOT_INITIALIZED;
  CUresult result = guard_real.cuDeviceGraphMemTrim(device);
  if (result == CUDA_SUCCESS && guard_on()) guard_settle(GUARD_GRAPH_POOL + (uint64_t)device, device, NULL);
  return result;
}
