/* Graphs of kernels and of memory nodes. Memory of graphs is its own pool per device: an executable graph that is
 * launched reserves what its nodes allocate, and cuDeviceGraphMemTrim gives back what no launch holds. */
#include <stdlib.h>
#include <string.h>

#include "fake.h"

struct CUgraphNode_st {
  CUgraphNodeType type;
  CUDA_KERNEL_NODE_PARAMS kernel;
  CUDA_MEM_ALLOC_NODE_PARAMS memory;
  struct CUgraphNode_st* next;
};
struct CUgraph_st {
  struct CUgraphNode_st *first, **end;
  size_t count;
};
struct exec_node {
  CUfunction function; /* NULL: memory */
  uint64_t blocks;
};
struct CUgraphExec_st {
  size_t count;
  CUdevice device;
  uint64_t bytes; /* of its memory nodes, in the steps that a card takes */
  bool reserved;
  bool keeps; /* allocates what it does not free: a trim leaves that alone */
  struct CUgraphExec_st* next;
  struct exec_node node[];
};

static struct {
  uint64_t used, used_high, reserved, reserved_high;
} graph_memory[FAKE_MAX_DEVICES];
static struct CUgraphExec_st* executables;

static struct CUgraphNode_st* add(struct CUgraph_st* graph, CUgraphNodeType type) {
  struct CUgraphNode_st* node = calloc(1, sizeof *node);
  if (node == NULL) return NULL;
  node->type = type;
  fake_process_lock();
  *graph->end = node;
  graph->end = &node->next;
  graph->count++;
  fake_process_unlock();
  return node;
}

CUresult fake_capture_kernel(struct CUgraph_st* graph, CUfunction function, uint64_t blocks) {
  struct CUgraphNode_st* node = add(graph, CU_GRAPH_NODE_TYPE_KERNEL);
  if (node == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
  node->kernel =
      (CUDA_KERNEL_NODE_PARAMS){.func = function, .gridDimX = (unsigned)blocks, .gridDimY = 1, .gridDimZ = 1};
  return CUDA_SUCCESS;
}

/* Addresses of memory nodes are fixed when the node is made. */
CUresult fake_capture_alloc(struct CUgraph_st* graph, CUdeviceptr* out, uint64_t size) {
  fake_process_lock();
  uint64_t address = fake_arena_take(size, FAKE_MAPPED, 0, NULL);
  fake_process_unlock();
  struct CUgraphNode_st* node = address == 0 ? NULL : add(graph, CU_GRAPH_NODE_TYPE_MEM_ALLOC);
  if (node == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
  node->memory.bytesize = size;
  node->memory.dptr = address;
  *out = address;
  return CUDA_SUCCESS;
}

bool fake_graph_owns(CUdeviceptr address) {
  struct fake_range range;
  fake_process_lock();
  bool owns = fake_arena_find(address, &range) && range.kind == FAKE_MAPPED && range.start == address;
  fake_process_unlock();
  return owns;
}

CUresult fake_capture_free(struct CUgraph_st* graph, CUdeviceptr address) {
  struct CUgraphNode_st* node = add(graph, CU_GRAPH_NODE_TYPE_MEM_FREE);
  if (node == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
  node->memory.dptr = address;
  return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuGraphCreate(CUgraph* out, unsigned int flags) {
  ENTER(cuGraphCreate);
  if (out == NULL || flags != 0) return CUDA_ERROR_INVALID_VALUE;
  *out = calloc(1, sizeof **out);
  if (*out == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
  (*out)->end = &(*out)->first;
  return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuGraphDestroy(CUgraph graph) {
  ENTER(cuGraphDestroy);
  if (graph == NULL) return CUDA_ERROR_INVALID_VALUE;
  while (graph->first != NULL) {
    struct CUgraphNode_st* node = graph->first;
    graph->first = node->next;
    free(node);
  }
  free(graph);
  return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuGraphAddKernelNode_v2(CUgraphNode* out, CUgraph graph, const CUgraphNode* dependencies,
                                             size_t count, const CUDA_KERNEL_NODE_PARAMS* parameters) {
  ENTER(cuGraphAddKernelNode_v2);
  (void)dependencies, (void)count;
  if (out == NULL || graph == NULL || parameters == NULL || parameters->func == NULL) return CUDA_ERROR_INVALID_VALUE;
  *out = add(graph, CU_GRAPH_NODE_TYPE_KERNEL);
  if (*out == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
  (*out)->kernel = *parameters;
  return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuGraphAddEmptyNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* dependencies,
                                         size_t count) {
  ENTER(cuGraphAddEmptyNode);
  (void)dependencies, (void)count;
  if (out == NULL || graph == NULL) return CUDA_ERROR_INVALID_VALUE;
  *out = add(graph, CU_GRAPH_NODE_TYPE_EMPTY);
  return *out == NULL ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuGraphAddMemAllocNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* dependencies,
                                            size_t count, CUDA_MEM_ALLOC_NODE_PARAMS* parameters) {
  ENTER(cuGraphAddMemAllocNode);
  (void)dependencies, (void)count;
  if (out == NULL || graph == NULL || parameters == NULL || parameters->bytesize == 0 ||
      parameters->poolProps.location.type != CU_MEM_LOCATION_TYPE_DEVICE) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  fake_process_lock();
  uint64_t address = fake_arena_take(parameters->bytesize, FAKE_MAPPED, parameters->poolProps.location.id, NULL);
  fake_process_unlock();
  *out = address == 0 ? NULL : add(graph, CU_GRAPH_NODE_TYPE_MEM_ALLOC);
  if (*out == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
  parameters->dptr = address;
  (*out)->memory = *parameters;
  return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuGraphAddMemFreeNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* dependencies,
                                           size_t count, CUdeviceptr address) {
  ENTER(cuGraphAddMemFreeNode);
  (void)dependencies, (void)count;
  if (out == NULL || graph == NULL || !fake_graph_owns(address)) return CUDA_ERROR_INVALID_VALUE;
  *out = add(graph, CU_GRAPH_NODE_TYPE_MEM_FREE);
  if (*out == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
  (*out)->memory.dptr = address;
  return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuGraphGetNodes(CUgraph graph, CUgraphNode* nodes, size_t* count) {
  ENTER(cuGraphGetNodes);
  if (graph == NULL || count == NULL) return CUDA_ERROR_INVALID_VALUE;
  size_t room = *count, written = 0;
  if (nodes != NULL) {
    for (struct CUgraphNode_st* node = graph->first; node != NULL && written < room; node = node->next)
      nodes[written++] = node;
    for (size_t i = written; i < room; i++) nodes[i] = NULL;
  }
  *count = nodes == NULL ? graph->count : written;
  return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuGraphNodeGetType(CUgraphNode node, CUgraphNodeType* out) {
  ENTER(cuGraphNodeGetType);
  if (node == NULL || out == NULL) return CUDA_ERROR_INVALID_VALUE;
  *out = node->type;
  return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuGraphMemAllocNodeGetParams(CUgraphNode node, CUDA_MEM_ALLOC_NODE_PARAMS* out) {
  ENTER(cuGraphMemAllocNodeGetParams);
  if (node == NULL || out == NULL || node->type != CU_GRAPH_NODE_TYPE_MEM_ALLOC) return CUDA_ERROR_INVALID_VALUE;
  *out = node->memory;
  return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuGraphKernelNodeGetParams_v2(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS* out) {
  ENTER(cuGraphKernelNodeGetParams_v2);
  if (node == NULL || out == NULL || node->type != CU_GRAPH_NODE_TYPE_KERNEL) return CUDA_ERROR_INVALID_VALUE;
  *out = node->kernel;
  return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuGraphChildGraphNodeGetGraph(CUgraphNode node, CUgraph* out) {
  ENTER(cuGraphChildGraphNodeGetGraph);
  (void)node, (void)out;
  return CUDA_ERROR_INVALID_VALUE;
}

static uint64_t grown(uint64_t bytes) { return (bytes + FAKE_POOL_GROWTH - 1) / FAKE_POOL_GROWTH * FAKE_POOL_GROWTH; }

static CUresult instantiate(CUgraphExec* out, CUgraph graph) {
  struct CUctx_st* context = fake_context();
  if (context == NULL) return CUDA_ERROR_INVALID_CONTEXT;
  if (out == NULL || graph == NULL) return CUDA_ERROR_INVALID_VALUE;
  struct CUgraphExec_st* exec = calloc(1, sizeof *exec + graph->count * sizeof exec->node[0]);
  if (exec == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
  exec->device = context->device;
  uint64_t small = 0; /* nodes below a step share steps */
  for (const struct CUgraphNode_st* node = graph->first; node != NULL; node = node->next) {
    if (node->type == CU_GRAPH_NODE_TYPE_KERNEL) {
      exec->node[exec->count++] = (struct exec_node){
          node->kernel.func, (uint64_t)node->kernel.gridDimX * node->kernel.gridDimY * node->kernel.gridDimZ};
    } else if (node->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC) {
      uint64_t wanted = (node->memory.bytesize + FAKE_GRANULE - 1) / FAKE_GRANULE * FAKE_GRANULE;
      if (wanted < FAKE_POOL_GROWTH) {
        small += wanted;
      } else {
        exec->bytes += grown(wanted);
      }
      const struct CUgraphNode_st* other = node->next;
      while (other != NULL && (other->type != CU_GRAPH_NODE_TYPE_MEM_FREE || other->memory.dptr != node->memory.dptr)) {
        other = other->next;
      }
      exec->keeps = exec->keeps || other == NULL;
    }
  }
  exec->bytes += grown(small);
  fake_process_lock();
  exec->next = executables;
  executables = exec;
  fake_process_unlock();
  *out = exec;
  return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuGraphInstantiate_v2(CUgraphExec* out, CUgraph graph, CUgraphNode* error, char* log,
                                           size_t size) {
  ENTER(cuGraphInstantiate_v2);
  (void)error, (void)log, (void)size;
  return instantiate(out, graph);
}

FAKE_EXPORT CUresult cuGraphInstantiateWithFlags(CUgraphExec* out, CUgraph graph, unsigned long long flags) {
  ENTER(cuGraphInstantiateWithFlags);
  (void)flags;
  return instantiate(out, graph);
}

FAKE_EXPORT CUresult cuGraphInstantiateWithParams(CUgraphExec* out, CUgraph graph,
                                                  CUDA_GRAPH_INSTANTIATE_PARAMS* parameters) {
  ENTER(cuGraphInstantiateWithParams);
  if (parameters == NULL) return CUDA_ERROR_INVALID_VALUE;
  CUresult result = instantiate(out, graph);
  parameters->result_out = result == CUDA_SUCCESS ? 0 : 1;
  return result;
}

static bool reserve(struct CUgraphExec_st* exec) {
  if (exec->reserved || exec->bytes == 0) return true;
  if (!fake_charge(fake_physical(exec->device), exec->bytes)) return false;
  exec->reserved = true;
  graph_memory[exec->device].reserved += exec->bytes;
  if (graph_memory[exec->device].reserved > graph_memory[exec->device].reserved_high) {
    graph_memory[exec->device].reserved_high = graph_memory[exec->device].reserved;
  }
  return true;
}

FAKE_EXPORT CUresult cuGraphLaunch(CUgraphExec exec, CUstream stream) {
  ENTER(cuGraphLaunch);
  if (exec == NULL) return CUDA_ERROR_INVALID_HANDLE;
  fake_process_lock();
  bool ok = reserve(exec);
  fake_process_unlock();
  CUresult result = ok ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
  for (size_t i = 0; i < exec->count && result == CUDA_SUCCESS; i++) {
    result = fake_launch(exec->node[i].function, exec->node[i].blocks, stream);
  }
  return result;
}

FAKE_EXPORT CUresult cuGraphUpload(CUgraphExec exec, CUstream stream) {
  ENTER(cuGraphUpload);
  (void)stream;
  if (exec == NULL) return CUDA_ERROR_INVALID_HANDLE;
  fake_process_lock();
  bool ok = reserve(exec);
  fake_process_unlock();
  return ok ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

static void unreserve(struct CUgraphExec_st* exec) {
  if (!exec->reserved) return;
  exec->reserved = false;
  graph_memory[exec->device].reserved -= exec->bytes;
  fake_discharge(fake_physical(exec->device), exec->bytes);
}

FAKE_EXPORT CUresult cuGraphExecDestroy(CUgraphExec exec) {
  ENTER(cuGraphExecDestroy);
  if (exec == NULL) return CUDA_ERROR_INVALID_VALUE;
  fake_process_lock();
  unreserve(exec);
  struct CUgraphExec_st** place = &executables;
  while (*place != exec && *place != NULL) place = &(*place)->next;
  if (*place != NULL) *place = exec->next;
  fake_process_unlock();
  free(exec);
  return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuDeviceGraphMemTrim(CUdevice device) {
  ENTER(cuDeviceGraphMemTrim);
  if (fake_physical(device) < 0) return CUDA_ERROR_INVALID_DEVICE;
  fake_process_lock();
  for (struct CUgraphExec_st* exec = executables; exec != NULL; exec = exec->next) {
    if (exec->device == device && !exec->keeps) unreserve(exec);
  }
  fake_process_unlock();
  return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuDeviceGetGraphMemAttribute(CUdevice device, CUgraphMem_attribute attribute, void* value) {
  ENTER(cuDeviceGetGraphMemAttribute);
  if (fake_physical(device) < 0) return CUDA_ERROR_INVALID_DEVICE;
  if (value == NULL || attribute < 0 || attribute > 3) return CUDA_ERROR_INVALID_VALUE;
  fake_process_lock();
  memcpy(value, (const uint64_t*)&graph_memory[device] + attribute, sizeof(uint64_t));
  fake_process_unlock();
  return CUDA_SUCCESS;
}

/* ---- capture ---- */

FAKE_EXPORT CUresult cuStreamBeginCapture_v2(CUstream handle, CUstreamCaptureMode mode) {
  ENTER_CONTEXT(cuStreamBeginCapture_v2);
  struct CUstream_st* stream = fake_stream(handle, context);
  if (mode < 0 || mode > 2) return CUDA_ERROR_INVALID_VALUE;
  if (handle == NULL || handle == CU_STREAM_LEGACY) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  if (stream->capture != NULL) return CUDA_ERROR_STREAM_CAPTURE_UNMATCHED;
  return cuGraphCreate(&stream->capture, 0);
}

FAKE_EXPORT CUresult cuStreamEndCapture(CUstream handle, CUgraph* out) {
  ENTER_CONTEXT(cuStreamEndCapture);
  struct CUstream_st* stream = fake_stream(handle, context);
  if (out == NULL) return CUDA_ERROR_INVALID_VALUE;
  if (stream->capture == NULL) return CUDA_ERROR_STREAM_CAPTURE_UNMATCHED;
  *out = stream->capture;
  stream->capture = NULL;
  return CUDA_SUCCESS;
}
