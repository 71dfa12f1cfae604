#pragma once
/// @file
/// What becomes of a group in a random cluster, and if others are gone.

#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include <kaisched/certificates.hpp>
#include <kaisched/cluster.hpp>
#include <kaisched/engine.hpp>

#include "accountability/random_gangs.hpp"
#include "model/snapshot_access.hpp"
#include "model/state.hpp"
#include "support.hpp"

namespace kaisched::test {

inline snapshot snapshot_of(const std::vector<table>& tables) {
  cluster c;
  must(c.apply(std::span<const table>(tables)));
  return c.take_snapshot();
}

inline std::vector<group_row> all_groups(const snapshot& s) {
  std::vector<group_row> groups;
  for (group_row g = 0; g < model::state_of(s).group_slots; ++g) {
    if (model::state_of(s).groups[g].live) groups.push_back(g);
  }
  return groups;
}

inline group_row group_by_name(const snapshot& s, std::string_view name) {
  for (const group_row g : all_groups(s)) {
    if (s.group_name(g) == name) return g;
  }
  return no_row;
}

/// Pods on the node ask for more GPUs than it has. Mode `compat` follows the reference into such places where pods
/// share devices (by a label that tells another number of GPUs, or beside claims): no certificate allows for that.
inline bool is_beyond_capacity(const session& over, node_row node) {
  const model::cluster_state& s = model::state_of(over.base());
  std::int64_t asked = 0;
  for (pod_row p = 0; p < s.pod_slots; ++p) {
    const bool is_there =
        s.pods[p].live && over.view().node_of(p) == node && model::is_in(over.view().status_of(p), model::active_used);
    if (is_there) asked += s.class_of(p).requests(dim_gpu);
  }
  return asked > (*s.capacity)[static_cast<std::size_t>(node) * s.dims() + dim_gpu];
}

/// From a decision on the group gets places that it can have: binds, or claims as well.
inline bool gets_places(const session& over, std::string_view mode, group_row group, std::size_t from, bool claims) {
  bool found = false;
  for (const decision& d : over.decisions().subspan(from)) {
    const bool is_place = d.kind == decision_kind::bind || (claims && d.kind == decision_kind::pipeline);
    if (!is_place || d.group != group) continue;
    if (mode == "compat" && is_beyond_capacity(over, d.node)) return false;
    found = true;
  }
  return found;
}

/// `allocate` for the group alone starts some pod of it.
inline bool starts(session over, std::string_view mode, group_row group) {
  const std::size_t before = over.decisions().size();
  must(over.run("allocate", group));
  return gets_places(over, mode, group, before, false);
}

/// The snapshot without the pods on nodes that an assumption takes away, those of the group excepted.
inline snapshot without_others(const snapshot& s, group_row group, certificate_assumption assumed) {
  const model::cluster_state& state = model::state_of(s);
  table gone(table_kind::pod, table_op::remove);
  table::column& name = gone.add(col::pod_name, column_type::string);
  for (pod_row p = 0; p < state.pod_slots; ++p) {
    if (!state.pods[p].live || state.pods[p].group == group) continue;
    const auto status = static_cast<pod_status>(state.live.pod_state[p]);
    const group_row g = state.pods[p].group;
    const bool is_fixed = g == no_row || (!state.groups[g].preemptible && !state.groups[g].semi_preemptible);
    const bool stays = model::is_in(status, model::holding) || state.is_nominated(p);
    if (assumed == certificate_assumption::empty || !is_fixed || !stays) name.push(state.pod_names[p]);
  }
  cluster c(s);
  must(c.apply(gone));
  return c.take_snapshot();
}

}  // namespace kaisched::test
