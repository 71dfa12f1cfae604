// Files of queue rules.
#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "io/fault_log.hpp"
#include "io/kubernetes/quantity.hpp"
#include "io/kubernetes/queue_rules.hpp"
#include "io/vendors/field_reader.hpp"

namespace kaisched::io::kubernetes {

namespace {

constexpr std::array<std::pair<std::string_view, queue_source>, 8> source_words{
    {{"provided", queue_source::provided},
     {"user", queue_source::user},
     {"namespace", queue_source::name_space},
     {"label", queue_source::label},
     {"annotation", queue_source::annotation},
     {"namespace_label", queue_source::name_space_label},
     {"namespace_annotation", queue_source::name_space_annotation},
     {"fixed", queue_source::fixed}}};
constexpr std::array<std::pair<std::string_view, bool>, 2> filter_words{{{"allow", true}, {"deny", false}}};

/// What a column of a queue is called, and its unit.
struct queue_amount {
  std::string_view name;
  int decimals;
};
constexpr std::array<queue_amount, quota_dimensions> queue_amounts{{{"cpu", 3}, {"memory", 0}, {"gpu", 3}}};

queue_filter read_filter(field_reader& rule) {
  queue_filter made;
  const std::optional<json_value> told = rule.object("filter");
  if (!told) return made;
  field_reader from = rule.inside(*told, "filter");
  made.allow = from.word<bool>("type", filter_words);
  made.users = from.texts("users");
  made.groups = from.texts("groups");
  made.names = from.texts("names");
  from.finish();
  return made;
}

queue_rule read_rule(field_reader& from) {
  queue_rule made;
  from.require("rule");
  made.source = from.word<queue_source>("rule", source_words);
  const bool is_fixed = made.source == queue_source::fixed;
  const bool has_key = made.source >= queue_source::label && !is_fixed;
  if (is_fixed || has_key) {
    const std::string_view field = is_fixed ? "queue" : "key";
    from.require(field);
    made.text = from.text(field);
    if (const auto told = from.value(field); told && made.text.empty()) from.fail(*told, field, "is empty");
  }
  made.create = from.boolean("create");
  made.filter = read_filter(from);
  if (const std::optional<json_value> above = from.object("parent")) {
    if (is_fixed && made.text.starts_with(root_prefix)) from.fail(*above, "parent", "the name says the whole way down");
    field_reader parent = from.inside(*above, "parent");
    made.parent = std::make_shared<const queue_rule>(read_rule(parent));
  }
  from.finish();
  return made;
}

std::array<std::int64_t, quota_dimensions> read_amounts(field_reader& of, std::string_view field,
                                                        std::array<std::int64_t, quota_dimensions> made) {
  const std::optional<json_value> told = of.object(field);
  if (!told) return made;
  field_reader from = of.inside(*told, field);
  for (std::size_t i = 0; i < queue_amounts.size(); ++i) {
    const auto& [name, decimals] = queue_amounts[i];
    const std::optional<json_value> given = from.value(name);
    if (!given) continue;
    const bool is_text = given->is(json_kind::string);
    const quantity read = parse_quantity(is_text ? std::string(given->text()) : json_text(*given), decimals);
    if (read.fault == quantity_fault::malformed) {
      from.fail(*given, name, fmt::format("expected a quantity such as 4 or 2Gi, found {}", given->shown()));
    } else if (read.fault == quantity_fault::overflow || read.amount > max_amount) {
      from.fail(*given, name, fmt::format("{} is too large", given->shown()));
    }
    made[i] = read.amount < 0 ? unlimited : std::min(read.amount, max_amount);
  }
  from.finish();
  return made;
}

queue_template read_template(field_reader& from) {
  queue_template made;
  made.priority = from.integer("priority", made.priority);
  made.quota = read_amounts(from, "quota", made.quota);
  made.limit = read_amounts(from, "limit", made.limit);
  if (const std::optional<json_value> told = from.object("over_quota_weight")) {
    field_reader weights = from.inside(*told, "over_quota_weight");
    for (std::size_t i = 0; i < queue_amounts.size(); ++i) {
      const std::optional<json_value> given = weights.value(queue_amounts[i].name);
      if (!given) continue;
      const bool is_number = given->is(json_kind::integer) || given->is(json_kind::number);
      if (!is_number || given->number() < 0)
        weights.fail(*given, queue_amounts[i].name, fmt::format("expected 0 or more, found {}", given->shown()));
      made.weight[i] = is_number ? given->number() : 0;
    }
    weights.finish();
  }
  from.finish();
  return made;
}

}  // namespace

result<std::shared_ptr<const queue_rules>> read_queue_rules(const json_document& text, std::string_view source) {
  fault_log faults(source);
  auto made = std::make_shared<queue_rules>();
  field_reader from(text.root(), {}, "{key}", faults);
  from.require("schema");
  const std::string schema = from.text("schema", queue_rules_schema);
  if (const auto told = from.value("schema"); told && schema != queue_rules_schema)
    from.fail(*told, "schema", fmt::format("expected \"{}\", found {}", queue_rules_schema, told->shown()));
  from.require("rules");
  const std::vector<json_value> rules = from.elements("rules");
  if (const auto told = from.value("rules"); told && rules.empty()) from.fail(*told, "rules", "there is no rule");
  for (std::size_t i = 0; i < rules.size(); ++i) {
    field_reader rule = from.inside(rules[i], "rules", i);
    made->rules.push_back(read_rule(rule));
  }
  if (const std::optional<json_value> told = from.object("templates")) {
    for (const json_value one : *told) {
      field_reader of = from.inside(one, fmt::format("templates.{}", one.key()));
      made->templates.emplace(one.key(), read_template(of));
    }
  }
  if (const std::optional<json_value> told = from.object("user_groups")) {
    field_reader groups = from.inside(*told, "user_groups");
    for (const json_value one : *told) {
      for (std::string& user : groups.texts(one.key()))
        made->user_groups[std::string(one.key())].insert(std::move(user));
    }
  }
  from.finish();
  if (faults.failed()) return faults.take();
  return std::shared_ptr<const queue_rules>(std::move(made));
}

result<std::shared_ptr<const queue_rules>> parse_queue_rules(std::string_view text, std::string_view source) {
  const result<json_document> parsed = json_document::parse(text, source);
  if (!parsed) return parsed.failure();
  return read_queue_rules(*parsed, source);
}

}  // namespace kaisched::io::kubernetes
