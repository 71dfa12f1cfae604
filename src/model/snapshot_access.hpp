#pragma once
/// @file
/// The state in a snapshot, for the library itself: the public header shows none of it.

#include <memory>
#include <utility>

#include <kaisched/snapshot.hpp>

#include "model/state.hpp"

namespace kaisched {

struct snapshot::body {
  model::cluster_state state;
};

class snapshot_access {
 public:
  [[nodiscard]] static snapshot make(model::cluster_state state) {
    return snapshot(std::make_shared<const snapshot::body>(snapshot::body{std::move(state)}));
  }
  [[nodiscard]] static const model::cluster_state& state(const snapshot& of) { return of.body_->state; }
};

namespace model {

[[nodiscard]] inline snapshot snapshot_of(cluster_state state) { return snapshot_access::make(std::move(state)); }
/// Lives as long as the snapshot, or a copy of it.
[[nodiscard]] inline const cluster_state& state_of(const snapshot& s) { return snapshot_access::state(s); }

}  // namespace model

}  // namespace kaisched
