#pragma once
/// @file
/// Why a group cannot start, as a proof that can be checked without the engine.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <kaisched/decisions.hpp>
#include <kaisched/ids.hpp>
#include <kaisched/quantity.hpp>

namespace kaisched {

/// Under which assumption a certificate holds, the weakest statement first.
enum class certificate_assumption : std::uint8_t {
  none = 0,
  as_is = 1,                ///< every pod on a node keeps its place, those that are leaving too
  without_preemptible = 2,  ///< even if all preemptible pods and all that are leaving were gone
  empty = 3,                ///< even if no pod were on any node: nodes, queues or the group have to change
};
inline constexpr std::uint8_t certificate_assumption_count = 4;
[[nodiscard]] std::string_view certificate_assumption_name(certificate_assumption a) noexcept;

/// What a proof is made of.
enum class certificate_kind : std::uint8_t {
  none = 0,            ///< no proof was found, which does not mean that the group can start
  structure = 1,       ///< of the group alone: too few pods, gated pods, no queue
  queue_bound = 2,     ///< a queue on the path may not hold the least that the gang asks for
  counting_bound = 3,  ///< all nodes together take fewer pods than have to start together
  sum_bound = 4,       ///< all nodes that could take some pod have less of a dimension than the gang asks for
  matching_cut = 5,    ///< a counting bound for some of the pods, found as a minimum cut
  domain_bound = 6,    ///< no domain of a level has room for the pods that must be together
};
inline constexpr std::uint8_t certificate_kind_count = 7;
[[nodiscard]] std::string_view certificate_kind_name(certificate_kind k) noexcept;

/// Nodes that can have at most so many of the pods in question, each of them, for one reason.
struct node_bound {
  /// Of every pod in question: `node_unschedulable`, `node_not_ready`, `taint`, `node_selector`, `obstacle`. Of those
  /// that the node could take alone: `resource` (the smallest request of `dim`), `resource_busy` (free whole devices).
  /// `none`: the sum of what it takes of pods that ask for the same, counted for each such kind alone.
  constraint why = constraint::none;
  dimension dim = no_row;  ///< of `resource`
  std::int64_t most = 0;   ///< pods; of a sum bound the amount that is free
  std::vector<node_row> nodes;

  friend bool operator==(const node_bound&, const node_bound&) = default;
};

/// A bound over some nodes: `need` is more than `have`, the sum over all of them.
struct placement_bound {
  certificate_kind kind = certificate_kind::none;  ///< counting_bound, sum_bound or matching_cut
  std::vector<pod_row> pods;      ///< in question: those that wait and ask for the same as one of these
  dimension dim = no_row;         ///< of sum bounds
  std::int64_t need = 0;          ///< pods, or the amount, that must have a place at least
  std::int64_t have = 0;          ///< pods, or the amount, that the nodes can give at most
  std::vector<node_bound> nodes;  ///< every node is in one of them

  friend bool operator==(const placement_bound&, const placement_bound&) = default;
};

/// The same for the nodes of one domain.
struct domain_bound {
  std::string domain;  ///< the label values from the widest level down, joined by dots
  placement_bound bound;

  friend bool operator==(const domain_bound&, const domain_bound&) = default;
};

/// Why no scheduler can start the group, see `session::certify`. Requests whose room depends on more than amounts
/// (memory of GPUs, instances of divided ones, claims, devices of vendors) count as if they fitted, and so do host
/// ports and pod affinity: what is proven is proven without them.
struct certificate {
  group_row group = no_row;
  certificate_kind kind = certificate_kind::none;
  certificate_assumption assumption = certificate_assumption::none;
  constraint what = constraint::none;  ///< structure: gang_incomplete, gated, queue_missing, sub_group_missing;
                                       ///< queues: queue_limit, queue_quota
  queue_row queue = no_row;            ///< of queue bounds
  sub_group_row sub_group = no_row;    ///< that lacks pods, or has to be in one domain
  dimension dim = no_row;              ///< of queue bounds
  std::int64_t need = 0;               ///< pods of structures; the amount that queues are asked for
  std::int64_t have = 0;               ///< pods of structures; the amount that the queue has left
  placement_bound bound{};             ///< of the kinds counting_bound, sum_bound, matching_cut
  std::string topology;                ///< of domain bounds
  std::string level;                   ///< likewise
  std::vector<domain_bound> domains;   ///< all of the level, by name
  std::vector<node_row> outside;       ///< nodes that are in no domain of the level

  friend bool operator==(const certificate&, const certificate&) = default;
};

}  // namespace kaisched
