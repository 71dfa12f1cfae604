#pragma once
/// @file
/// Rows of pod groups as they were told, to be told to the cluster of a member.

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <kaisched/cluster.hpp>
#include <kaisched/table.hpp>

namespace kaisched::federation_detail {

/// Tables of groups that were told together.
struct row_store {
  std::vector<table> tables;      ///< in the order in which a cluster wants them
  std::vector<table_view> views;  ///< of these; several threads read them
};

/// The rows of one group.
struct group_rows {
  std::shared_ptr<const row_store> store;
  std::vector<std::vector<std::uint32_t>> rows;  ///< by table of the store
};

/// True for the tables that make up a group.
[[nodiscard]] bool is_group_table(std::uint32_t kind);

/// Copies the tables of groups among these; the rows of each group by its name. Columns must hold names where they
/// refer to something. Errors name table and column.
[[nodiscard]] result<std::map<std::string, group_rows>> rows_by_group(std::span<const table_view> tables);

/// `add` tables with the rows of some groups.
/// @param dimension of the cluster that they are for, by dimension of the rows
[[nodiscard]] std::vector<table> gather(std::span<const group_rows* const> groups,
                                        std::span<const std::uint32_t> dimension);

/// Removes groups that a cluster has, with all their pods. Groups that it does not have are passed over.
result<void> remove_groups(cluster& from, std::span<const std::string_view> names);

}  // namespace kaisched::federation_detail
