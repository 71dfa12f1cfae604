/* Nodes with more GPUs free come first: the score GPUPriority of schedulers that know nodes by their number of GPUs. */
#include <kaisched/loader.h>

static int64_t free_gpus(const kaisched_view* view, uint32_t node) {
  const int64_t idle = view->node_idle[(size_t)node * view->dimension_count + KAISCHED_DIM_GPU];
  return idle < 0 ? 0 : idle;
}

static kaisched_status score_nodes(void* state, const kaisched_view* view, uint32_t pod, const uint32_t* nodes,
                                   size_t count, int64_t* scores, kaisched_error* err) {
  int64_t most = 0;
  (void)state, (void)pod, (void)err;
  for (size_t i = 0; i < count; ++i) {
    const int64_t gpus = free_gpus(view, nodes[i]);
    if (gpus > most) most = gpus;
  }
  for (size_t i = 0; i < count && most > 0; ++i) scores[i] = free_gpus(view, nodes[i]) * KAISCHED_MAX_SCORE / most;
  return KAISCHED_OK;
}

KAISCHED_API const kaisched_part* kaisched_plugin_part(uint32_t abi, size_t index);
const kaisched_part* kaisched_plugin_part(uint32_t abi, size_t index) {
  static const kaisched_part part = {
      .struct_size = sizeof part, .abi = KAISCHED_ABI_VERSION, .name = "gpu-priority", .score_nodes = score_nodes};
  (void)abi;
  return index == 0 ? &part : NULL;
}
