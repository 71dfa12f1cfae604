#pragma once
/// @file
/// Which columns of a cluster a policy looks at. Systems differ: kube-scheduler has no quotas, HAMi has no topologies.
/// A comparison of policies has to say what one of them cannot use. This file lists columns of queues and pod groups
/// that some policies look at and others do not.

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

#include <kaisched/options.hpp>
#include <kaisched/schema.hpp>

#include "model/state.hpp"

namespace kaisched::policy {

struct table_column {
  table_kind table{};
  std::uint32_t id = 0;  ///< `col::...`, which is of its table
  friend auto operator<=>(const table_column&, const table_column&) = default;
};

/// The columns listed here that say something in this cluster, in ascending order: a value other than that by which
/// nothing changes, or, for priorities of groups, different values.
[[nodiscard]] std::vector<table_column> told_columns(const model::cluster_state& s);

/// Whether a part, plug-in or action of the policy looks at the column. True in doubt: a policy that does not look at a
/// column decides the same without it, whatever the cluster.
[[nodiscard]] bool reads_column(const policy_options& o, const table_column& column);

/// Of these columns those that the policy does not look at, as `table.column`, in their order.
[[nodiscard]] std::vector<std::string> unread_columns(const policy_options& o, const std::vector<table_column>& told);

}  // namespace kaisched::policy
