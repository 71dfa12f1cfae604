#pragma once
/// @file
/// Bounds from above on what nodes can take of a group that waits: the arithmetic of certificates. Everything here errs
/// on the side of "it may fit".

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include <kaisched/certificates.hpp>

#include "framework/session_state.hpp"

namespace kaisched::session_detail {

/// Pods of the group that wait and ask for the same.
struct pod_kind {
  const model::pod_class* ask = nullptr;
  pod_row example = no_row;  ///< the first one in task order
  std::int64_t count = 0;
  std::vector<std::int64_t> request;  ///< per dimension; 0 where amounts do not tell what fits
  std::int64_t whole_devices = 0;     ///< likewise
};

/// How many pods a group, or a member of its tree, must start at least. Members that have what they need are left out.
struct pod_need {
  sub_group_row sub = no_row;
  bool is_set = false;
  bool needs_all = false;   ///< sets: every member
  std::int64_t needed = 0;  ///< pods, or members
  std::vector<pod_need> members;
  std::vector<std::pair<std::uint32_t, std::int64_t>> pods;  ///< that wait: kind, number
};

/// A group that waits: kinds of pods, and how many of them it needs.
struct waiting_need {
  std::vector<pod_kind> kinds;
  pod_need root;
};
[[nodiscard]] waiting_need need_of(const framework::session_state& c, group_row group);

/// A set of kinds: bit i is kind i of `waiting_need`. Kinds beyond the bits are in no set but the full one.
using kind_set = std::vector<bool>;

/// Pods of these kinds that start at least, whichever pods do.
[[nodiscard]] std::int64_t least_pods(const pod_need& need, const kind_set& kinds);
/// What the pods that start ask for of a dimension at least.
[[nodiscard]] std::int64_t least_amount(const waiting_need& all, const pod_need& need, dimension d);

/// What nodes have for the group under an assumption.
struct open_amounts {
  std::vector<std::int64_t> free;           ///< [nodes x dimensions]
  std::vector<std::int64_t> whole_devices;  ///< by node: devices of which nothing is taken; -1: not known
};
[[nodiscard]] open_amounts amounts_under(const framework::session_state& c, group_row group,
                                         certificate_assumption assumed);

/// A pod asks for GPUs in a way that amounts alone do not tell: memory, instances, claims, vendors.
[[nodiscard]] bool is_beyond_amounts(const model::cluster_state& s, const model::pod_class& ask);

/// Pods of a class as kinds are: what amounts do not tell is 0.
[[nodiscard]] pod_kind make_kind(const model::cluster_state& s, class_row of, pod_row example);
/// What pods hold of the GPUs of the node is no matter of amounts.
[[nodiscard]] bool is_opaque(const model::node_info& node);
/// Devices are told apart, and each is offered as a whole or not at all: parts of several may count as a whole one.
[[nodiscard]] bool has_whole_devices(const model::node_info& node);
/// Devices that are offered, as bits.
[[nodiscard]] std::uint64_t whole_devices_of(const model::node_info& node);
/// What keeps every pod of the kind from the node, whatever else is there. Rules of one policy are left out.
[[nodiscard]] constraint verdict_of(const framework::session_state& c, const model::pod_class& ask,
                                    const model::node_info& node);

/// Looks for proofs over sets of nodes.
class bound_search {
 public:
  bound_search(const framework::session_state& c, const waiting_need& all);

  /// A bound that says that the pods of `need` have no place on these nodes; in the order counting bound, sum bound,
  /// cut.
  [[nodiscard]] std::optional<placement_bound> find(const open_amounts& open, const pod_need& need,
                                                    std::span<const node_row> nodes) const;

 private:
  /// Reason, dimension, amount.
  using bound_key = std::tuple<constraint, dimension, std::int64_t>;

  [[nodiscard]] constraint verdict(std::uint32_t kind, node_row row) const {
    return verdicts_[static_cast<std::size_t>(row) * all_.kinds.size() + kind];
  }
  [[nodiscard]] std::int64_t takes(const open_amounts& open, std::uint32_t kind, node_row row) const;
  [[nodiscard]] bound_key bound_of(const open_amounts& open, const kind_set& kinds, node_row row) const;
  [[nodiscard]] std::optional<placement_bound> count(const open_amounts& open, const pod_need& need,
                                                     const kind_set& kinds, std::span<const node_row> nodes,
                                                     certificate_kind what) const;
  [[nodiscard]] std::optional<placement_bound> sum(const open_amounts& open, const pod_need& need,
                                                   std::span<const node_row> nodes) const;
  [[nodiscard]] std::optional<placement_bound> cut(const open_amounts& open, const pod_need& need,
                                                   std::span<const node_row> nodes) const;
  [[nodiscard]] std::vector<pod_row> examples(const kind_set& kinds) const;

  const framework::session_state& c_;
  const waiting_need& all_;
  std::vector<constraint> verdicts_;  ///< [nodes x kinds]
};

/// Pods that must find a place, so many of some kinds.
struct flow_demand {
  std::int64_t pods = 0;
  std::vector<std::pair<std::uint32_t, std::int64_t>> kinds;  ///< kind, number that waits
};
/// Equal nodes: how many, what each takes of every kind and in all.
struct flow_supply {
  std::int64_t nodes = 0;
  std::vector<std::int64_t> takes;
  std::int64_t in_all = 0;
};
/// The kinds on the side of the demand in a minimum cut; nothing if all demands can be met.
[[nodiscard]] std::optional<kind_set> violating_kinds(std::span<const flow_demand> demands,
                                                      std::span<const flow_supply> supplies, std::uint32_t kinds);

}  // namespace kaisched::session_detail
