#include "engine/undecided.hpp"

#include <string>
#include <string_view>

namespace kaisched::engine_detail {

namespace {

using model::cluster_state;

error undecided(std::string_view object, std::string_view column, std::string_view what, entity_id subject) {
  std::string text(object);
  text.append(".").append(column).append(": ").append(what).append(" not decided by this version");
  return {status::unsupported, std::move(text), subject};
}

/// A pod whose needs matter: it may be placed, or what it holds is not free.
bool counts(const cluster_state& s, pod_row p) {
  constexpr std::uint32_t wants = model::bit(pod_status::pending) | model::bit(pod_status::gated);
  return s.pods[p].live && model::is_in(static_cast<pod_status>(s.live.pod_state[p]), wants | model::active_used);
}

result<void> decided_pods(const cluster_state& s) {
  for (pod_row p = 0; p < s.pod_slots; ++p) {
    if (!counts(s, p)) continue;
    const model::pod_ask& ask = s.class_of(p).ask;
    const std::string name = "pod " + std::string(s.pod_names[p]);
    const entity_id id(entity_kind::pod, s.pods[p].generation, p);
    if (!ask.claims.empty()) return undecided(name, "claims", "resource claims are", id);
  }
  return {};
}

result<void> decided_topology(const cluster_state& s) {
  for (group_row g = 0; g < s.group_slots; ++g) {
    const model::group_core& group = s.groups[g];
    if (!group.live) continue;
    bool waits = false;
    const model::sub_info* asks = nullptr;
    for (sub_group_row sub = group.first_sub; sub < group.first_sub + group.sub_count; ++sub) {
      waits = waits || s.live.counts[sub].pending > 0 || s.live.counts[sub].gated > 0;
      const model::topology_ask* ask = s.subs[sub].together.get();
      const bool names_level = ask != nullptr && (!ask->required_level.empty() || !ask->preferred_level.empty());
      if (asks == nullptr && names_level) asks = &s.subs[sub];
    }
    if (!waits || asks == nullptr) continue;
    std::string name = "pod_group " + std::string(s.group_names[g]);
    if (asks != &s.subs[group.first_sub]) {
      name = "sub_group " + std::string(s.group_names[g]) + "/" + std::string(asks->name);
    }
    const bool required = !asks->together->required_level.empty();
    return undecided(name, required ? "required_level" : "preferred_level", "topology constraints are",
                     entity_id(entity_kind::pod_group, group.generation, g));
  }
  return {};
}

result<void> decided_nodes(const cluster_state& s) {
  for (const auto& node : *s.nodes) {
    if (!node->aligns()) continue;
    return undecided("node " + node->name, "numa_policy",
                     "the alignment of NUMA zones (" + std::string(model::numa_policy_name(node->align)) + ") is",
                     entity_id(entity_kind::node, (*s.node_generation)[node->slot], node->slot));
  }
  return {};
}

}  // namespace

result<void> require_decided(const cluster_state& s) {
  if (s.nodes_with_alignment > 0) {
    if (auto done = decided_nodes(s); !done) return done;
  }
  if (s.topology_asks > 0) {
    if (auto done = decided_topology(s); !done) return done;
  }
  if (s.pods_with_gpu_memory + s.pods_with_claims > 0) return decided_pods(s);
  return {};
}

}  // namespace kaisched::engine_detail
