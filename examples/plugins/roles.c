/* Inference in two roles: pods with the label `role` = `prefill` go where the label `tflops` of the node is highest;
   those with `decode` go into the racks (label `rack`) where the prefill pods of their group are, since the caches of
   keys and values cross the wire between them. */
#include <stdlib.h>
#include <string.h>

#include <kaisched/loader.h>

enum { rack_size = 64 };

/* Prefill pods of one group in one rack. */
typedef struct placed {
  uint32_t group;
  char rack[rack_size];
  int64_t pods;
} placed;

typedef struct roles {
  placed* all;
  size_t count, room;
} roles;

static int is(kaisched_text text, const char* word) {
  return text.size == strlen(word) && memcmp(text.data, word, text.size) == 0;
}

static void rack_of(const kaisched_view* view, uint32_t node, char* out) {
  const kaisched_text text = view->node_label(view, node, "rack");
  const size_t size = text.size < rack_size ? text.size : rack_size - 1;
  memset(out, 0, rack_size);
  if (size > 0) memcpy(out, text.data, size);
}

static placed* entry(roles* r, uint32_t group, const char* rack) {
  for (size_t i = 0; i < r->count; ++i) {
    if (r->all[i].group == group && strcmp(r->all[i].rack, rack) == 0) return &r->all[i];
  }
  return NULL;
}

static kaisched_status create(void* context, const kaisched_kv* options, size_t count, void** state,
                              kaisched_error* err) {
  (void)context, (void)options, (void)count, (void)err;
  *state = calloc(1, sizeof(roles));
  return *state == NULL ? KAISCHED_E_NO_MEMORY : KAISCHED_OK;
}

static void destroy(void* state) {
  free(((roles*)state)->all);
  free(state);
}

/* Follows starts and their undoing. A pod that memory is missing for only loses its pull. */
static void changed(void* state, const kaisched_view* view, const kaisched_change* changes, size_t count) {
  roles* r = state;
  for (size_t i = 0; i < count; ++i) {
    const int comes = changes[i].now == KAISCHED_POD_STATUS_ALLOCATED;
    const int goes =
        changes[i].before == KAISCHED_POD_STATUS_ALLOCATED && changes[i].now == KAISCHED_POD_STATUS_PENDING;
    kaisched_pod_facts pod = {.struct_size = sizeof pod};
    char rack[rack_size];
    if (!(comes || goes) || !is(view->pod_label(view, changes[i].pod, "role"), "prefill")) continue;
    view->pod(view, changes[i].pod, &pod);
    rack_of(view, changes[i].node, rack);
    placed* at = entry(r, pod.group, rack);
    if (at == NULL && comes) {
      if (r->count == r->room) {
        const size_t room = r->room == 0 ? 16 : 2 * r->room;
        placed* more = realloc(r->all, room * sizeof *more);
        if (more == NULL) continue;
        r->all = more;
        r->room = room;
      }
      at = &r->all[r->count++];
      memset(at, 0, sizeof *at);
      at->group = pod.group;
      memcpy(at->rack, rack, sizeof rack);
    }
    if (at != NULL) at->pods += comes ? 1 : -1;
  }
}

static int64_t tflops_of(const kaisched_view* view, uint32_t node) {
  const kaisched_text text = view->node_label(view, node, "tflops");
  int64_t value = 0;
  for (size_t i = 0; i < text.size && i < 9; ++i) {
    if (text.data[i] < '0' || text.data[i] > '9') return 0;
    value = value * 10 + (text.data[i] - '0');
  }
  return value;
}

static kaisched_status score_nodes(void* state, const kaisched_view* view, uint32_t pod, const uint32_t* nodes,
                                   size_t count, int64_t* scores, kaisched_error* err) {
  const kaisched_text role = view->pod_label(view, pod, "role");
  kaisched_pod_facts facts = {.struct_size = sizeof facts};
  int64_t most = 0;
  (void)err;
  view->pod(view, pod, &facts);
  for (size_t i = 0; i < count && is(role, "prefill"); ++i) {
    const int64_t tflops = tflops_of(view, nodes[i]);
    if (tflops > most) most = tflops;
  }
  for (size_t i = 0; i < count; ++i) {
    char rack[rack_size];
    if (most > 0) scores[i] = tflops_of(view, nodes[i]) * KAISCHED_MAX_SCORE / most;
    if (!is(role, "decode")) continue;
    rack_of(view, nodes[i], rack);
    const placed* at = entry(state, facts.group, rack);
    if (at != NULL && at->pods > 0) scores[i] = KAISCHED_MAX_SCORE;
  }
  return KAISCHED_OK;
}

KAISCHED_API const kaisched_part* kaisched_plugin_part(uint32_t abi, size_t index);
const kaisched_part* kaisched_plugin_part(uint32_t abi, size_t index) {
  static const kaisched_part part = {.struct_size = sizeof part,
                                     .abi = KAISCHED_ABI_VERSION,
                                     .name = "roles",
                                     .create = create,
                                     .destroy = destroy,
                                     .score_nodes = score_nodes,
                                     .changed = changed};
  (void)abi;
  return index == 0 ? &part : NULL;
}
