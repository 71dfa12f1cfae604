#pragma once
/// @file
/// Decisions between the session that made them and the host that carries them out: tentative until it reports.

#include <cstdint>
#include <string>

#include <kaisched/decisions.hpp>
#include <kaisched/ids.hpp>

namespace kaisched {

/// A decision that a cluster has taken in and nobody has reported on, see `cluster::assume`.
struct assumption {
  entity_id pod{};
  entity_id group{};
  decision_kind kind = decision_kind::bind;  ///< bind, evict, move or migrate
  entity_id node{};                          ///< target; for evict and move the node that the pod leaves
  bool lost = false;                         ///< nobody knows whether it happened; the place stays taken

  friend bool operator==(const assumption&, const assumption&) = default;
};

/// What stood in the way of a commit of a session, see `cluster::assume`.
struct conflict {
  std::uint32_t commit = 0;              ///< of the session
  entity_kind kind = entity_kind::none;  ///< queue, node, pod_group, pod or resource_claim
  entity_id subject{};                   ///< as the session knew it; none for a resource claim
  std::string name;
  std::string text;  ///< what has changed, as a sentence

  friend bool operator==(const conflict&, const conflict&) = default;
};

/// Why a decision is taken back.
enum class forget_reason : std::uint8_t {
  failed = 0,  ///< it did not happen: everything is as it was before the decision
  lost = 1,    ///< nobody knows: what may be taken stays taken, what may not have come free is not free
};

}  // namespace kaisched
