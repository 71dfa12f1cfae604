#pragma once
/// @file
/// What can be changed so that a group starts, one kind of change by one: each has a most generous setting, with which
/// it helps if it helps at all, and finds the smallest one that is enough.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <kaisched/remedies.hpp>
#include <kaisched/table.hpp>

#include "framework/session_state.hpp"

namespace kaisched::session_detail {

/// How far a lever is pulled; what the numbers mean is its own business. Empty: not at all.
using setting = std::vector<std::int64_t>;

/// Why a group does not start with a setting; nothing if it does.
struct verdict {
  bool starts = false;
  std::vector<reason> reasons;
};
/// Tries a setting. The search ends with `status::limit` when too much has been tried.
using try_setting = std::function<result<verdict>(const setting&)>;

/// Rows of several levers. What pods of a class ask for is one value for all of them.
struct change_set {
  std::vector<table> tables;
  std::map<class_row, std::vector<std::int64_t>> requests;
};

class lever {
 public:
  lever() = default;
  lever(const lever&) = delete;
  lever& operator=(const lever&) = delete;
  virtual ~lever() = default;

  /// The most generous setting; empty if there is nothing to change.
  [[nodiscard]] virtual setting most() const = 0;
  /// Rows that make the change.
  virtual void add_rows(const setting& to, change_set& delta) const = 0;
  virtual void describe(const setting& of, std::vector<remedy_change>& to) const = 0;
  /// Smallest settings with which the group starts, given that it does with `most`.
  [[nodiscard]] virtual result<std::vector<setting>> smallest(const try_setting& works) const = 0;
};

/// What the levers look at.
struct lever_subject {
  const framework::session_state& c;  ///< the session that decided
  const model::cluster_state& now;    ///< the cluster as it leaves it; rows of the session are rows of it
  group_row group = no_row;
  std::vector<pod_row> waiting;    ///< its pods, in task order
  std::vector<class_row> classes;  ///< of these, ascending
  const remedy_limits& limits;
};

/// The whole node would do for a pod, if it were empty: as far as can be told from amounts and labels.
struct node_demand {
  bool amounts = true;
  bool labels = true;
  bool taints = true;
};
[[nodiscard]] node_demand missing(const model::pod_class& ask, const model::node_info& node, std::uint32_t dims);

/// All levers for a group, in the order in which they are told. They refer to the subject.
[[nodiscard]] std::vector<std::unique_ptr<lever>> levers_of(const lever_subject& of);
/// Rows of all changes of a set.
[[nodiscard]] std::vector<table> tables_of(const lever_subject& of, change_set changes);

}  // namespace kaisched::session_detail
