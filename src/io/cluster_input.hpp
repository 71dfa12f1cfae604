#pragma once
/// @file
/// What every reader of this folder makes: the tables of a cluster, and the time at which it was looked at.

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <kaisched/cluster.hpp>
#include <kaisched/result.hpp>
#include <kaisched/table.hpp>

namespace kaisched::io {

/// Where the rows of a table come from.
struct table_origin {
  std::string source;                ///< name of the file
  std::vector<std::uint32_t> lines;  ///< from 1, per row
};

/// Tables in the order in which `cluster::apply` wants them, all of them `add`.
struct cluster_input {
  std::vector<table> tables;
  std::vector<table_origin> origins;  ///< of the tables, by index; shorter or empty where nothing is known
  std::string source;                 ///< what messages about the whole start with; may be empty
  std::int64_t now = 0;               ///< nanoseconds, the clock of the file
  std::string on_invalid;             ///< what the file says becomes of bad rows; empty: nothing
  std::vector<error> faults;          ///< objects that could not be read and have no row; bad rows as well

  void add(table rows, table_origin origin) {
    tables.push_back(std::move(rows));
    origins.resize(tables.size() - 1);
    origins.push_back(std::move(origin));
  }
};

/// A cluster that holds what the tables say. The error is the one of `cluster::apply`, which names entity and column;
/// in front stand file, line and place of the row (`c.json:17: pod[3].node: ...`), or the source alone.
/// `on_invalid` is the option of this name of the cluster: with `quarantine` bad rows are left out instead. If it is
/// empty, what the file says counts, else the default of the option. Objects without a row are an error unless bad rows
/// are left out.
[[nodiscard]] result<cluster> build_cluster(const cluster_input& input, std::string_view on_invalid = {});

}  // namespace kaisched::io
