#include "io/json_schema.hpp"

#include <cstdint>
#include <limits>
#include <string_view>

#include <nlohmann/json.hpp>

#include <kaisched/schema.hpp>

#include "io/cluster_reader.hpp"
#include "io/column_form.hpp"
#include "io/decisions_text.hpp"

namespace kaisched::io {

namespace {

using json = nlohmann::ordered_json;

json reference(std::string_view name) { return {{"$ref", "#/$defs/" + std::string(name)}}; }

/// The values that columns share.
json shared_definitions() {
  json defs;
  defs["text"] = {{"type", "string"}, {"pattern", "^[^\\u0000]*$"}};
  defs["integer"] = {{"type", "integer"},
                     {"minimum", std::numeric_limits<std::int64_t>::min()},
                     {"maximum", std::numeric_limits<std::int64_t>::max()}};
  defs["flag"] = {{"enum", {false, true, 0, 1}}};
  defs["texts"] = {{"type", "array"}, {"items", reference("text")}};
  defs["pairs"] = {{"type", "object"}, {"additionalProperties", reference("text")}};
  defs["integers"] = {{"type", "array"}, {"items", reference("integer")}};
  return defs;
}

json range(std::int64_t least, std::int64_t most) {
  return {{"type", "integer"}, {"minimum", least}, {"maximum", most}};
}

json one_of_names(column_form form) {
  json names = json::array();
  std::int64_t least = -1;
  std::int64_t number = 0;
  for (const std::string_view name : value_names(form)) {
    if (!name.empty()) {
      names.push_back(name);
      if (least < 0) least = number;
    }
    ++number;
  }
  return {{"anyOf", {{{"enum", names}}, range(least, number - 1)}}};
}

json scalar(const column_info& column) {
  const column_form form = form_of(column);
  if (form == column_form::id) return reference("text");
  if (form == column_form::flag) return reference("flag");
  if (!value_names(form).empty()) return one_of_names(form);
  if (column.type == column_type::f64) return {{"type", "number"}};
  if (column.type == column_type::u8) return range(0, std::numeric_limits<std::uint8_t>::max());
  if (column.type == column_type::u32) return range(0, std::numeric_limits<std::uint32_t>::max());
  if (column.fallback == "unset") return {{"anyOf", {reference("integer"), {{"type", "null"}}}}};
  return reference("integer");
}

json value_of(const column_info& column) {
  switch (column.shape) {
    case column_shape::one:
      return scalar(column);
    case column_shape::dimensions: {
      json properties;
      for (const std::string_view dimension : built_in_dimension_names()) properties[dimension] = scalar(column);
      return {{"type", "object"}, {"properties", properties}, {"additionalProperties", scalar(column)}};
    }
    case column_shape::quotas: {
      json properties;
      for (const std::string_view dimension : quota_names()) properties[dimension] = scalar(column);
      return {{"anyOf",
               {{{"type", "object"}, {"properties", properties}, {"additionalProperties", false}}, scalar(column)}}};
    }
    case column_shape::ragged:
      break;
  }
  if (column.type == column_type::string) return reference("text");
  if (column.type == column_type::i64_list) return reference("integers");
  return reference(form_of(column) == column_form::pairs ? "pairs" : "texts");
}

/// The default as JSON; null for columns without one and for lists.
json default_of(const column_info& column) {
  if (column.type == column_type::string) return column.fallback;
  if (column.shape == column_shape::ragged || column.fallback.empty() || column.fallback == "unset") return nullptr;
  const column_form form = form_of(column);
  if (column.type == column_type::f64) return fallback_number(column);
  const std::int64_t number = fallback_integer(column);
  if (form == column_form::flag) return number != 0;
  if (!value_names(form).empty()) return value_names(form)[static_cast<std::size_t>(number)];
  return number;
}

json row_of(const table_info& info) {
  json required = json::array();
  json properties;
  for (const column_info& column : info.columns) {
    if (!is_written(info, column)) continue;
    json& property = properties[column.name];
    property["description"] = column.doc;
    if (!column.unit.empty()) property["$comment"] = column.unit;
    property.update(value_of(column));
    if (column.required) {
      required.push_back(column.name);
    } else if (json fallback = default_of(column); !fallback.is_null()) {
      property["default"] = std::move(fallback);
    }
  }
  return {{"type", "object"}, {"required", required}, {"properties", properties}, {"additionalProperties", false}};
}

json document(std::string_view schema, std::string_view description) {
  return {{"$schema", "https://json-schema.org/draft/2020-12/schema"},
          {"title", schema},
          {"description", description},
          {"type", "object"},
          {"required", json::array({"schema"})},
          {"properties", {{"schema", {{"const", schema}}}}},
          {"additionalProperties", false},
          {"$defs", shared_definitions()}};
}

void add_table(json& to, const table_info& info) {
  to["properties"][info.name] = {{"description", info.doc}, {"type", "array"}, {"items", reference(info.name)}};
  to["$defs"][info.name] = row_of(info);
}

}  // namespace

std::string json_schema_of_cluster() {
  json made = document(cluster_schema, "A cluster as kaisched reads and writes it. YAML files are the same document.");
  made["properties"]["now"] = {{"description", "Time at which the cluster was looked at, in nanoseconds."}};
  made["properties"]["now"].update(reference("integer"));
  made["properties"]["now"]["default"] = 0;
  made["properties"]["description"] = {{"description", "For people."}};
  for (const table_info& info : schema()) {
    if (info.input) add_table(made, info);
  }
  return made.dump(2) + "\n";
}

std::string json_schema_of_decisions() {
  json made = document(decisions_schema, "What a session of kaisched decided.");
  made["required"] = {"schema", "preset", "mode", "digest", "decision"};
  json& properties = made["properties"];
  properties["preset"] = {{"description", "Preset of the policy, with its version."}, {"type", "string"}};
  properties["mode"] = {{"description", "Arithmetic."}, {"enum", {"strict", "compat"}}};
  properties["digest"] = {
      {"description", "SHA-256 over preset, mode and decisions."}, {"type", "string"}, {"pattern", "^[0-9a-f]{64}$"}};
  for (const table_kind kind : decisions_tables) {
    add_table(made, *schema_of(static_cast<std::uint32_t>(kind)));
  }
  return made.dump(2) + "\n";
}

}  // namespace kaisched::io
