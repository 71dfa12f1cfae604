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

}  // namespace

result<void> require_decided(const cluster_state& s) {
  if (s.topology_asks > 0) return decided_topology(s);
  return {};
}

}  // namespace kaisched::engine_detail
