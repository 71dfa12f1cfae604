#pragma once
/// @file
/// What a session has decided, and what it tells about that.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <kaisched/decisions.hpp>
#include <kaisched/ids.hpp>
#include <kaisched/session.hpp>

#include "policy/constraints/disruption_ledger.hpp"

namespace kaisched::framework {

/// Domains of a topology without room for the pods that must be together.
struct domain_shortage {
  std::int64_t need = 0;      ///< pods
  std::int64_t have = 0;      ///< pods that one of these domains has room for; -1: not counted one by one
  std::uint32_t domains = 0;  ///< how many have room for so many
};

/// Why a group found no place when it was last tried.
struct failure {
  group_row group = no_row;
  pod_row pod = no_row;  ///< the pod that found no node, or no_row
  constraint what = constraint::none;
  queue_row queue = no_row;
  group_row head = no_row;          ///< the group that would start later
  std::uint32_t resource = no_row;  ///< index among the quota dimensions
  std::int64_t need = 0;
  std::int64_t have = 0;
  std::vector<domain_shortage> domains;  ///< the most room first; empty: these are not what is missing
  std::int64_t pieces_tried = 0;         ///< not 0: after so many pieces of domains no further ones were tried
};

struct session_results {
  std::vector<decision> decisions;
  std::vector<failure> failures;           ///< one per group that was tried in vain, last one counts
  std::vector<eviction_attempt> attempts;  ///< of the actions that evict, as they ended
  std::vector<action_statistics> statistics;
  std::uint64_t withdrawn_starts = 0;  ///< that commits decided and later ones took back, where decisions are net

  // ---- what actions have found out about groups
  /// Where a pod that is placed is in cells of HiveD: decisions say it.
  void note_cell_place(pod_row pod, std::string place) { cell_places_[pod] = std::move(place); }
  [[nodiscard]] const std::string* cell_place(pod_row pod) const { return find(cell_places_, pod); }
  /// The level of cells that the queue of a group has too few of; empty: these are not what is missing.
  void note_missing_cell(group_row group, std::string level) { missing_cells_[group] = std::move(level); }
  [[nodiscard]] std::string_view missing_cell(group_row group) const {
    const std::string* const known = find(missing_cells_, group);
    return known == nullptr ? std::string_view() : std::string_view(*known);
  }
  /// A plug-in refused the group when it was looked at last, whatever nodes say.
  void note_refusing_plugin(group_row group, std::string_view name) { refusing_plugins_[group] = name; }
  /// Its name; empty: none did, or the action does not tell.
  [[nodiscard]] std::string_view refusing_plugin(group_row group) const {
    const std::string* const known = find(refusing_plugins_, group);
    return known == nullptr ? std::string_view() : std::string_view(*known);
  }
  /// A disruption budget was in the way when room was to be made for the group.
  void note_budget(group_row group, const policy::budget_refusal& why) { budget_refusals_[group] = why; }
  void forget_budget(group_row group) { budget_refusals_.erase(group); }
  /// The one that was last; null: none was.
  [[nodiscard]] const policy::budget_refusal* budget_in_the_way(group_row group) const {
    return find(budget_refusals_, group);
  }

 private:
  template <class Row, class Value>
  static const Value* find(const std::map<Row, Value>& in, Row row) {
    const auto known = in.find(row);
    return known == in.end() ? nullptr : &known->second;
  }

  std::map<pod_row, std::string> cell_places_;
  std::map<group_row, std::string> missing_cells_;
  std::map<group_row, std::string> refusing_plugins_;
  std::map<group_row, policy::budget_refusal> budget_refusals_;
};

}  // namespace kaisched::framework
