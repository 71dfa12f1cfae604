/* A barrier between decision and start: pods that carry the label `barrier-size` start only if that many pods of their
   group start together, and nobody starts before the time of the option `opens_at` (nanoseconds since 1970) but groups
   of at least the priority `above`. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <kaisched/loader.h>

typedef struct gate {
  int64_t opens_at;
  int64_t above;
} gate;

static kaisched_status create(void* context, const kaisched_kv* options, size_t count, void** state,
                              kaisched_error* err) {
  gate* made = malloc(sizeof *made);
  (void)context;
  if (made == NULL) return KAISCHED_E_NO_MEMORY;
  made->opens_at = INT64_MIN;
  made->above = INT64_MAX;
  *state = made;
  for (size_t i = 0; i < count; ++i) {
    int64_t* to = strcmp(options[i].key, "opens_at") == 0 ? &made->opens_at
                  : strcmp(options[i].key, "above") == 0  ? &made->above
                                                          : NULL;
    char* end = NULL;
    errno = 0;
    const long long value = strtoll(options[i].value, &end, 10);
    if (to == NULL || errno != 0 || end == options[i].value || *end != '\0') {
      if (err != NULL)
        snprintf(err->message, sizeof err->message, "%s=%s is not known here", options[i].key, options[i].value);
      free(made);
      *state = NULL;
      return KAISCHED_E_ARGUMENT;
    }
    *to = value;
  }
  return KAISCHED_OK;
}

static size_t barrier_of(const kaisched_view* view, uint32_t pod) {
  const kaisched_text text = view->pod_label(view, pod, "barrier-size");
  size_t size = 0;
  for (size_t i = 0; i < text.size && i < 6; ++i) size = size * 10 + (size_t)(text.data[i] - '0');
  return size;
}

static kaisched_status permit(void* state, const kaisched_view* view, uint32_t group, const uint32_t* pods,
                              size_t count, int32_t* permitted, kaisched_error* err) {
  const gate* g = state;
  kaisched_group_facts facts = {.struct_size = sizeof facts};
  (void)err;
  view->group(view, group, &facts);
  if (view->now < g->opens_at && facts.priority < g->above) *permitted = 0;
  for (size_t i = 0; i < count; ++i) {
    if (barrier_of(view, pods[i]) > count) *permitted = 0;
  }
  return KAISCHED_OK;
}

KAISCHED_API const kaisched_part* kaisched_plugin_part(uint32_t abi, size_t index);
const kaisched_part* kaisched_plugin_part(uint32_t abi, size_t index) {
  static const kaisched_part part = {.struct_size = sizeof part,
                                     .abi = KAISCHED_ABI_VERSION,
                                     .name = "gate",
                                     .create = create,
                                     .destroy = free,
                                     .permit = permit};
  (void)abi;
  return index == 0 ? &part : NULL;
}
