#include "io/cluster_input.hpp"

#include <cstddef>
#include <span>
#include <string_view>

#include <fmt/format.h>

#include <kaisched/schema.hpp>

#include "base/utf8.hpp"
#include "io/fault_log.hpp"

namespace kaisched::io {

namespace {

/// `table 2 (pod, add), row 17, column node: what` as `c.json:93: pod[17].node: what`. `given` are the numbers of the
/// tables that the call got. False if nothing is known of the row.
bool place_error(error& failure, const cluster_input& input, std::span<const std::size_t> given) {
  if (failure.input_table < 0 || failure.input_row < 0) return false;
  const std::size_t table = given[static_cast<std::size_t>(failure.input_table)];
  const auto row = static_cast<std::size_t>(failure.input_row);
  if (table >= input.origins.size() || row >= input.origins[table].lines.size()) return false;
  const std::string_view kind = schema_of(input.tables[table].kind())->name;
  std::string_view what = failure.message;
  const std::string known = fmt::format("table {} ({}, add), row {}", failure.input_table, kind, row);
  if (!what.starts_with(known)) return false;
  what.remove_prefix(known.size());
  if (constexpr std::string_view column = ", column "; what.starts_with(column)) {
    what.remove_prefix(column.size());
    failure.message = fmt::format("{}[{}].{}", kind, row, what);
  } else {
    failure.message = fmt::format("{}[{}]{}", kind, row, what);
  }
  failure.message =
      fmt::format("{}:{}: {}", input.origins[table].source, input.origins[table].lines[row], failure.message);
  return true;
}

}  // namespace

result<cluster> build_cluster(const cluster_input& input, std::string_view on_invalid) {
  std::vector<table_view> views;
  std::vector<std::size_t> given;
  for (std::size_t i = 0; i < input.tables.size(); ++i) {
    if (input.tables[i].rows() == 0) continue;
    views.push_back(input.tables[i].view());
    given.push_back(i);
  }
  cluster built;
  if (on_invalid.empty()) on_invalid = input.on_invalid;
  if (!on_invalid.empty()) {
    if (auto done = built.set("on_invalid", on_invalid); !done) return done.take_failure();
  }
  if (!input.faults.empty() && on_invalid != "quarantine") return input.faults.front();
  auto applied = built.apply(std::span<const table_view>(views));
  if (applied) return built;
  error failure = applied.take_failure();
  failure.message = base::printable(failure.message, longest_message);
  if (!place_error(failure, input, given) && !input.source.empty()) {
    failure.message = fmt::format("{}: {}", input.source, failure.message);
  }
  return failure;
}

}  // namespace kaisched::io
