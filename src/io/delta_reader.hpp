#pragma once
/// @file
/// Changes of a cluster as JSON, in rows as those of `kaisched-cluster/1`: what is added, changed and removed.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <kaisched/result.hpp>
#include <kaisched/table.hpp>

#include "io/fault_log.hpp"
#include "io/json_document.hpp"

namespace kaisched::io {

/// Tables for `cluster::apply`, all in one call.
struct delta_input {
  std::vector<table> tables;
  /// Where each row of each table stands in the text: `body:3: deltas[1].pod[0]`.
  std::vector<std::vector<std::string>> places;
  std::optional<std::int64_t> now;  ///< the clock from then on, nanoseconds

  /// The error of a call that was given these tables, with the place of the row instead of its number.
  [[nodiscard]] error placed(error why) const;
};

/// Reads `{"deltas": [{"op": "add", "pod_group": [...], "pod": [...]}, {"op": "change", ...}, {"op": "remove", ...}],
/// "now": 5}`. Deltas count in their order; the tables of one in the order of the schema, those that remove in the
/// opposite one, so that pods go before their group. Rows that change or remove have only the columns that they
/// mention. `dimensions` are the names of the resource dimensions of the cluster; deltas may add others.
/// Errors name the line and the place.
[[nodiscard]] result<delta_input> read_deltas(json_value document, std::span<const std::string_view> dimensions,
                                              std::string_view source);

/// Reads an object of arrays of rows that are added, `{"pod_group": [...], "pod": [...]}`. `place` is where it stands.
[[nodiscard]] std::vector<table> read_added(json_value rows, std::span<const std::string_view> dimensions,
                                            std::string_view place, fault_log& faults);

}  // namespace kaisched::io
