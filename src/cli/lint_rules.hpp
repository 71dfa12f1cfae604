#pragma once
/// @file
/// The rules of `lint`, by what they look at. Each has the name that findings bear.

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <kaisched/session.hpp>

#include "cli/lint.hpp"
#include "model/state.hpp"

namespace kaisched::cli {

/// Labels of all nodes: values by key.
using label_index = std::map<std::string_view, std::set<std::string_view>>;

/// What rules look at, and where they write.
struct lint_input {
  const model::cluster_state& state;
  const snapshot& of;
  const policy_options& options;
  const session* empty;  ///< the cluster without the pods that are on nodes; null if it cannot be decided
  const label_index& labels;
  std::int64_t now;
  std::string_view rule;  ///< the one that runs
  severity how;
  std::vector<finding>& found;

  /// Some node has the label; with a value, this value.
  [[nodiscard]] bool has_label(std::string_view key, const std::string* value = nullptr) const {
    const auto values = labels.find(key);
    return values != labels.end() && (value == nullptr || values->second.contains(*value));
  }
  void add(std::string_view kind, std::string_view name, std::string text) const {
    found.push_back({how, rule, std::string(kind), std::string(name), std::move(text)});
  }
};

// Queues.
void lint_quota_above_capacity(const lint_input& in);
void lint_quota_above_parent(const lint_input& in);
void lint_quota_above_limit(const lint_input& in);
void lint_empty_queue(const lint_input& in);
// Pod groups.
void lint_inner_queue(const lint_input& in);
void lint_empty_group(const lint_input& in);
void lint_gang_too_large(const lint_input& in);
void lint_gang_above_limit(const lint_input& in);
void lint_gang_above_quota(const lint_input& in);
void lint_unknown_sub_group(const lint_input& in);
void lint_dependency_circle(const lint_input& in);
void lint_unknown_dependency(const lint_input& in);
// Pods.
void lint_unknown_label(const lint_input& in);
void lint_fits_no_node(const lint_input& in);
// Nodes and the rest.
void lint_node_overcommitted(const lint_input& in);
void lint_unused_level(const lint_input& in);
void lint_no_position(const lint_input& in);
void lint_clock_behind(const lint_input& in);
void lint_closed_nodes(const lint_input& in);
void lint_empty_reservation(const lint_input& in);
void lint_reservation_over(const lint_input& in);
void lint_unread_column(const lint_input& in);

/// `12 GPUs`, `4 cores`, `1 TiB`: an amount of a quota dimension.
[[nodiscard]] std::string quota_text(std::uint32_t resource, std::int64_t amount);

}  // namespace kaisched::cli
