#include "io/cluster_reader.hpp"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <kaisched/schema.hpp>

#include "io/column_form.hpp"
#include "io/fault_log.hpp"
#include "io/row_reader.hpp"

namespace kaisched::io {

namespace {

using names = std::span<const std::string_view>;

/// Members of the text that are tables, by the order of the schema.
struct cluster_members {
  std::vector<std::pair<const table_info*, json_value>> tables;
  std::int64_t now = 0;
};

bool check_schema(json_value root, fault_log& faults) {
  if (!root.is(json_kind::object)) {
    faults.add(root.line(), "",
               fmt::format("expected an object with \"schema\": \"{}\", found {}", cluster_schema, root.shown()));
    return false;
  }
  const auto found = std::find_if(root.begin(), root.end(), [](json_value m) { return m.key() == "schema"; });
  if (found == root.end()) {
    faults.add(root.line(), "",
               fmt::format("\"schema\" is missing: a cluster starts with \"schema\": \"{}\"", cluster_schema));
    return false;
  }
  if (!(*found).is(json_kind::string) || (*found).text() != cluster_schema) {
    faults.add((*found).line(), "schema", fmt::format("expected \"{}\", found {}", cluster_schema, (*found).shown()));
    return false;
  }
  return true;
}

void fail_unknown_member(json_value member, fault_log& faults) {
  std::vector<std::string_view> known{"schema", "now", "description"};
  for (const table_info& info : schema()) {
    if (info.input) known.push_back(info.name);
  }
  faults.add(member.line(), member.key(), fmt::format("no such kind of table; {}", suggestion(member.key(), known)));
}

cluster_members read_members(json_value root, fault_log& faults) {
  cluster_members members;
  if (!check_schema(root, faults)) return members;
  for (const json_value member : root) {
    const std::string_view key = member.key();
    const table_info* info = schema_of(key);
    if (key == "now") {
      if (!member.is(json_kind::integer)) {
        faults.add(member.line(), key, fmt::format("expected an integer (ns), found {}", member.shown()));
      }
      members.now = member.integer();
    } else if (info != nullptr && info->input) {
      members.tables.emplace_back(info, member);
    } else if (key != "schema" && key != "description") {
      fail_unknown_member(member, faults);
    }
  }
  std::sort(members.tables.begin(), members.tables.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });  // places in the array of the schema
  return members;
}

/// The dimensions of the cluster: the built-in ones and those that the text registers.
std::vector<std::string_view> read_dimensions(const cluster_members& members) {
  const names built_in = built_in_dimension_names();
  std::vector<std::string_view> dimensions(built_in.begin(), built_in.end());
  for (const auto& [info, rows] : members.tables) {
    if (info->kind != table_kind::resource) continue;
    for (const json_value row : rows) {
      for (const json_value member : row) {
        if (member.key() == info->columns.front().name) dimensions.push_back(member.text());
      }
    }
  }
  return dimensions;
}

}  // namespace

result<cluster_input> read_cluster_document(const json_document& document, std::string_view source) {
  fault_log faults(source);
  const cluster_members members = read_members(document.root(), faults);
  const std::vector<std::string_view> dimensions = read_dimensions(members);
  cluster_input input;
  input.now = members.now;
  input.source = source;
  for (const auto& [info, rows] : members.tables) {
    if (faults.failed()) break;
    read_table read = read_rows(rows, *info, dimensions, faults);
    input.add(std::move(read.rows), {std::string(source), std::move(read.lines)});
  }
  if (faults.failed()) return faults.take();
  return input;
}

}  // namespace kaisched::io
