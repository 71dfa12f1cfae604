// Decisions from their two texts, and the digest that they must give.
#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <kaisched/decisions.hpp>
#include <kaisched/quantity.hpp>
#include <kaisched/schema.hpp>

#include "base/sha256.hpp"
#include "io/column_form.hpp"
#include "io/csv_rows.hpp"
#include "io/decisions_text.hpp"
#include "io/fault_log.hpp"
#include "io/files.hpp"
#include "io/json_document.hpp"
#include "io/row_reader.hpp"

namespace kaisched::io {

namespace {

const table_info& info_of(table_kind kind) { return *schema_of(static_cast<std::uint32_t>(kind)); }

/// Columns that came after version 1 of the format may be absent.
bool is_of_version_1(const column_info& column) { return column.id <= col::decision_group_name; }
bool is_never_required(const column_info& /*column*/) { return false; }

/// What the schema does not say of decisions.
void check_indices(const read_table& read, fault_log& faults) {
  const table_view rows = read.rows.view();
  for (const auto& [column, name, what] :
       {std::tuple{std::uint32_t{col::decision_devices}, "devices", "devices"},
        std::tuple{std::uint32_t{col::decision_numa_zones}, "numa_zones", "zones"}}) {
    const column_view* indices = rows.find(column);
    for (std::uint64_t row = 0; indices != nullptr && row < rows.rows; ++row) {
      for (const std::int64_t index : indices->list(row)) {
        if (index >= 0 && index < max_devices_per_node) continue;
        faults.add(read.lines[row], fmt::format("decision[{}].{}", row, name),
                   fmt::format("expected indices of {} from 0 to {}, found {}", what, max_devices_per_node - 1, index));
      }
    }
  }
}

table read_decision_rows(json_value rows, fault_log& faults) {
  read_table read = read_rows(rows, info_of(table_kind::decision), built_in_dimension_names(), faults, is_of_version_1);
  if (!faults.failed()) check_indices(read, faults);
  return std::move(read.rows);
}

/// One member of the JSON form.
struct text_member {
  std::string_view name;
  std::string decisions_input::* to;
};
struct rows_member {
  table_kind kind;
  table decisions_input::* to;
};
constexpr std::array text_members{text_member{"preset", &decisions_input::preset},
                                  text_member{"mode", &decisions_input::mode},
                                  text_member{"digest", &decisions_input::digest}};
constexpr std::array rows_members{rows_member{table_kind::reason, &decisions_input::reasons},
                                  rows_member{table_kind::queue_share, &decisions_input::queue_shares},
                                  rows_member{table_kind::statistic, &decisions_input::statistics}};

std::vector<std::string_view> member_names() {
  std::vector<std::string_view> names{"schema"};
  for (const text_member& member : text_members) names.push_back(member.name);
  names.push_back(info_of(table_kind::decision).name);
  for (const rows_member& member : rows_members) names.push_back(info_of(member.kind).name);
  return names;
}

/// False if the member is none of a text with decisions.
bool read_member(json_value member, decisions_input& to, fault_log& faults) {
  const std::string_view key = member.key();
  for (const text_member& known : text_members) {
    if (key != known.name) continue;
    if (!member.is(json_kind::string)) {
      faults.add(member.line(), key, fmt::format("expected a string, found {}", member.shown()));
    }
    to.*known.to = member.text();
    return true;
  }
  for (const rows_member& known : rows_members) {
    if (key != info_of(known.kind).name) continue;
    to.*known.to = read_rows(member, info_of(known.kind), built_in_dimension_names(), faults, is_never_required).rows;
    return true;
  }
  if (key != info_of(table_kind::decision).name) return key == "schema";
  to.decisions = read_decision_rows(member, faults);
  return true;
}

void read_members(json_value root, decisions_input& to, fault_log& faults) {
  if (!root.is(json_kind::object)) {
    return faults.add(
        root.line(), "",
        fmt::format("expected an object with \"schema\": \"{}\", found {}", decisions_schema, root.shown()));
  }
  const auto find = [&](std::string_view key) {
    return std::find_if(root.begin(), root.end(), [&](json_value m) { return m.key() == key; });
  };
  for (const std::string_view needed : {"schema", "preset", "mode", "digest", "decision"}) {
    if (find(needed) != root.end()) continue;
    faults.add(root.line(), "",
               fmt::format("\"{}\" is missing: decisions have \"schema\": \"{}\", \"preset\", \"mode\", \"digest\" and "
                           "\"decision\"",
                           needed, decisions_schema));
    return;
  }
  if (const json_value schema = *find("schema"); !schema.is(json_kind::string) || schema.text() != decisions_schema) {
    return faults.add(schema.line(), "schema",
                      fmt::format("expected \"{}\", found {}", decisions_schema, schema.shown()));
  }
  for (const json_value member : root) {
    if (faults.failed()) return;
    if (read_member(member, to, faults)) continue;
    const std::vector<std::string_view> known = member_names();
    faults.add(member.line(), member.key(),
               fmt::format("decisions have no such member; {}", suggestion(member.key(), known)));
  }
}

}  // namespace

result<decisions_input> parse_decisions_json(std::string_view text, std::string_view source) {
  const result<json_document> document = json_document::parse(text, source);
  if (!document) return document.failure();
  fault_log faults(source);
  decisions_input input;
  input.source = source;
  read_members(document->root(), input, faults);
  if (faults.failed()) return faults.take();
  return input;
}

result<decisions_input> parse_decisions_csv(std::string_view text, std::string_view source) {
  const result<json_document> document = parse_csv_rows({source, text}, info_of(table_kind::decision), is_of_version_1);
  if (!document) return document.failure();
  fault_log faults(source);
  decisions_input input;
  input.source = source;
  input.decisions = read_decision_rows(document->root(), faults);
  if (faults.failed()) return faults.take();
  return input;
}

std::string decisions_digest(const table_view& decisions, std::string_view preset, std::string_view mode) {
  std::string text = fmt::format("{}\n{}\n{}\n", decisions_schema, preset, mode);
  const auto name_or_dash = [&](std::uint32_t column, std::uint64_t row) {
    const std::string_view name = decisions.find(column)->string(row);
    return name.empty() ? std::string_view("-") : name;
  };
  for (std::uint64_t row = 0; row < decisions.rows; ++row) {
    std::uint64_t devices = 0;
    for (const std::int64_t device : decisions.find(col::decision_devices)->list(row)) {
      devices |= std::uint64_t{1} << static_cast<std::uint64_t>(device);
    }
    std::uint64_t zones = 0;
    if (const column_view* column = decisions.find(col::decision_numa_zones); column != nullptr) {
      for (const std::int64_t zone : column->list(row)) zones |= std::uint64_t{1} << static_cast<std::uint64_t>(zone);
    }
    const auto kind = decisions.find(col::decision_kind)->values<std::uint8_t>(decisions.rows)[row];
    const std::int64_t share = decisions.find(col::decision_device_share)->values<std::int64_t>(decisions.rows)[row];
    text +=
        fmt::format("{} {} {} {} {} {} {:x} {}", decision_kind_name(static_cast<decision_kind>(kind)),
                    decisions.find(col::decision_action)->string(row),
                    decisions.find(col::decision_commit)->values<std::uint32_t>(decisions.rows)[row],
                    name_or_dash(col::decision_pod_name, row), decisions.find(col::decision_group_name)->string(row),
                    name_or_dash(col::decision_node_name, row), devices, devices == 0 ? 0 : share);
    if (zones != 0) text += fmt::format(" zones {:x}", zones);
    if (const column_view* column = decisions.find(col::decision_claim_devices); column != nullptr) {
      for (const std::string_view device : split_list(column->string(row))) text.append(" ").append(device);
    }
    if (const column_view* column = decisions.find(col::decision_device_grants); column != nullptr) {
      for (const std::string_view grant : split_list(column->string(row))) text.append(" ").append(grant);
    }
    for (const auto& [id, word] : {std::pair{std::uint32_t{col::decision_layout}, std::string_view(" has ")},
                                   std::pair{std::uint32_t{col::decision_gone}, std::string_view(" loses ")}}) {
      const column_view* column = decisions.find(id);
      if (column == nullptr) continue;
      for (const std::string_view one : split_list(column->string(row))) text.append(word).append(one);
    }
    text += '\n';
  }
  base::sha256 hash;
  hash.update(text);
  return base::sha256::hex(hash.finish());
}

result<void> check_digest(const decisions_input& input) {
  if (input.digest.empty()) return {};
  const std::string computed = decisions_digest(input.decisions.view(), input.preset, input.mode);
  if (computed == input.digest) return {};
  return error{
      status::conflict,
      fmt::format("{}: the decisions give the digest {}, but the file says {}: preset, mode or a decision is not "
                  "what the session wrote",
                  input.source, computed, input.digest),
      {}};
}

result<decisions_input> read_decisions(const std::string& path) {
  const result<std::string> text = read_file(path);
  if (!text) return text.failure();
  const std::string_view source = path == "-" ? std::string_view("standard input") : std::string_view(path);
  result<decisions_input> input =
      path.ends_with(".csv") ? parse_decisions_csv(*text, source) : parse_decisions_json(*text, source);
  if (!input) return input;
  if (auto checked = check_digest(*input); !checked) return checked.take_failure();
  return input;
}

}  // namespace kaisched::io
