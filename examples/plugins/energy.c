/* Pods go where a GPU costs the least power: the label of the option `label` (default power/watts-per-gpu) says what
   one draws. Nodes without the label, or where it is no number, come last. */
#include <stdlib.h>
#include <string.h>

#include <kaisched/loader.h>

typedef struct energy {
  char label[256];
} energy;

static kaisched_status create(void* context, const kaisched_kv* options, size_t count, void** state,
                              kaisched_error* err) {
  energy* made = calloc(1, sizeof *made);
  (void)context, (void)err;
  if (made == NULL) return KAISCHED_E_NO_MEMORY;
  strcpy(made->label, "power/watts-per-gpu");
  for (size_t i = 0; i < count; ++i) {
    if (strcmp(options[i].key, "label") == 0) strncpy(made->label, options[i].value, sizeof made->label - 1);
  }
  *state = made;
  return KAISCHED_OK;
}

/* Watts of one GPU, or 0: nobody knows. */
static int64_t watts_of(const energy* e, const kaisched_view* view, uint32_t node) {
  const kaisched_text text = view->node_label(view, node, e->label);
  int64_t watts = 0;
  if (text.size > 6) return 0;
  for (size_t i = 0; i < text.size; ++i) {
    if (text.data[i] < '0' || text.data[i] > '9') return 0;
    watts = watts * 10 + (text.data[i] - '0');
  }
  return watts;
}

static kaisched_status score_nodes(void* state, const kaisched_view* view, uint32_t pod, const uint32_t* nodes,
                                   size_t count, int64_t* scores, kaisched_error* err) {
  int64_t least = INT64_MAX;
  (void)pod, (void)err;
  for (size_t i = 0; i < count; ++i) {
    const int64_t watts = watts_of(state, view, nodes[i]);
    if (watts > 0 && watts < least) least = watts;
  }
  for (size_t i = 0; i < count; ++i) {
    const int64_t watts = watts_of(state, view, nodes[i]);
    scores[i] = watts > 0 ? least * KAISCHED_MAX_SCORE / watts : 0;
  }
  return KAISCHED_OK;
}

KAISCHED_API const kaisched_part* kaisched_plugin_part(uint32_t abi, size_t index);
const kaisched_part* kaisched_plugin_part(uint32_t abi, size_t index) {
  static const kaisched_part part = {.struct_size = sizeof part,
                                     .abi = KAISCHED_ABI_VERSION,
                                     .name = "energy-score",
                                     .create = create,
                                     .destroy = free,
                                     .score_nodes = score_nodes};
  (void)abi;
  return index == 0 ? &part : NULL;
}
