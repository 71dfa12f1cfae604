#include "io/kubernetes/known_pods.hpp"

#include <optional>
#include <utility>

namespace kaisched::io::kubernetes {

namespace {

/// What the row of a plain pod depends on is as it was, but for its group.
bool is_same_place(const pod_memory& memory, const pod_context& context) {
  return context.nodes.contains(memory.node) == memory.has_place &&
         context.nodes.contains(memory.nominated) == memory.has_nominated &&
         (context.bindings.empty() || !context.bindings.contains(memory.full_name));
}

/// Whether the row of a pod follows from the pod, its group and the names of nodes alone.
bool is_plain(object& of, const pod_memory& memory, const pod_context& context) {
  const member spec = of.section(of.root(), "spec");
  const member metadata = of.section(of.root(), "metadata");
  const bool releasing = of.text(of.section(of.root(), "status"), "phase") == "Running" &&
                         find(metadata, "deletionTimestamp").has_value();  // stuck after a while
  const member claims = find(spec, "resourceClaims");
  return !releasing && (!claims || claims->is(json_kind::null)) && !context.bindings.contains(memory.full_name) &&
         of.label("app").value_or("") != context.chosen.reservation_app && !of.failed();
}

/// Whether nothing in the cluster makes rows of pods depend on more than that.
bool allows_memory(const pod_context& context) { return context.shared.is_idle() && context.zones.empty(); }

}  // namespace

void read_known_pod(object& of, pod_memory* memory, bool remembers, pod_context& context, cluster_records& to) {
  std::optional<membership> group;
  if (memory != nullptr) memory->is_kept = false;
  if (memory != nullptr && !remembers) memory->is_plain = false;
  if (memory == nullptr || !remembers) return read_pod(of, group, context, to);
  if (memory->is_plain && allows_memory(context) && is_same_place(*memory, context)) {
    group = context.groups.of(of, memory->finished);
    const bool same_volumes = !memory->has_row || context.volumes.of(of) == memory->volumes;
    const bool same_budget = !memory->has_row || context.budgets.of(of) == memory->budget;
    if (*group == memory->group && same_volumes && same_budget && !of.failed()) {
      context.asks_node_names = context.asks_node_names || memory->asks_node_names;
      memory->is_kept = true;
      return;
    }
  }
  const bool asked = std::exchange(context.asks_node_names, false);
  context.asks_namespaces = false;
  const std::size_t shared = context.gpu_groups.size();
  const std::size_t rows = to.pods.size();
  read_pod(of, group, context, to);
  memory->group = std::move(*group);  // NOLINT(bugprone-unchecked-optional-access): reading asks for it
  memory->has_row = to.pods.size() > rows;
  memory->volumes = memory->has_row ? context.volumes.of(of) : volume_needs{};
  memory->budget = memory->has_row ? context.budgets.of(of) : std::string{};
  const std::string_view phase = of.text(of.section(of.root(), "status"), "phase");
  memory->finished = phase == "Succeeded" || phase == "Failed";
  memory->asks_node_names = context.asks_node_names;
  context.asks_node_names = context.asks_node_names || asked;
  memory->full_name = of.full_name();
  memory->node = of.text(of.section(of.root(), "spec"), "nodeName");
  memory->has_place = context.nodes.contains(memory->node);
  memory->nominated = text_if_any(find(find(of.root(), "status"), "nominatedNodeName"));
  memory->has_nominated = context.nodes.contains(memory->nominated);
  memory->is_plain = allows_memory(context) && !context.asks_namespaces && shared == context.gpu_groups.size() &&
                     is_plain(of, *memory, context);
}

}  // namespace kaisched::io::kubernetes
