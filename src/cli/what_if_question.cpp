// What would become of groups that do not exist yet: the question as rows, the answer as JSON.
#include <algorithm>
#include <cmath>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/nearest.hpp"
#include "cli/what_if.hpp"
#include "model/snapshot_access.hpp"
#include "model/state.hpp"

namespace kaisched::cli {

namespace {

constexpr std::string_view what_if_schema = "kaisched-what-if/1";

std::int64_t scaled(double amount, double by) { return static_cast<std::int64_t>(std::llround(amount * by)); }

/// The group that the options describe.
std::vector<table> described(const what_if_question& told, std::size_t dims, std::int64_t now) {
  constexpr double giga = 1e9;
  std::vector<table> all;
  table& group = all.emplace_back(table_kind::pod_group, table_op::add);
  group.add(col::pod_group_name, column_type::string).push(std::string_view(told.name));
  group.add(col::pod_group_queue, column_type::string).push(std::string_view(told.queue));
  group.add(col::pod_group_priority, column_type::i64).push(told.priority);
  group.add(col::pod_group_created, column_type::i64).push(now);
  group.add(col::pod_group_min_member, column_type::i64).push(told.gang > 0 ? told.gang : told.pods);
  group.add(col::pod_group_preemptible, column_type::u8).push(static_cast<std::uint8_t>(told.stays ? 0 : 1));
  if (told.runtime > 0) group.add(col::pod_group_runtime_estimate, column_type::i64).push(scaled(told.runtime, giga));
  table& pods = all.emplace_back(table_kind::pod, table_op::add);
  table::column& name = pods.add(col::pod_name, column_type::string);
  table::column& of = pods.add(col::pod_group_ref, column_type::string);
  table::column& request = pods.add(col::pod_request, column_type::i64, static_cast<std::uint32_t>(dims));
  for (std::int64_t i = 0; i < told.pods; ++i) {
    name.push(std::string_view(fmt::format("{}-{}", told.name, i)));
    of.push(std::string_view(told.name));
    for (std::size_t d = 0; d < dims; ++d) {
      request.push(d == dim_cpu      ? scaled(told.cpu, 1000)
                   : d == dim_memory ? scaled(told.memory, giga)
                   : d == dim_gpu    ? scaled(told.gpus, whole_device)
                   : d == dim_pods   ? std::int64_t{1}
                                     : std::int64_t{0});
    }
  }
  return all;
}

json forecast_json(const what_if_report& of, const forecast& one, const std::string& text) {
  json decisions = json::array();
  for (const decision& d : one.decisions) {
    json row{{"kind", decision_kind_name(d.kind)}, {"group", of.over.group_name(d.group)}};
    if (d.pod != no_row) row["pod"] = of.over.pod_name(d.pod);
    if (d.node != no_row) row["node"] = of.over.node_name(d.node);
    decisions.push_back(std::move(row));
  }
  json object{{"group", of.over.group_name(one.group)},
              {"way", start_way_name(one.way)},
              {"starts", one.starts},
              {"decisions", std::move(decisions)},
              {"reasons", one.texts},
              {"knowledge", start_knowledge_name(one.knowledge)},
              {"text", text}};
  if (one.action != action_kind::none) object["action"] = action_name(one.action);
  if (one.earliest >= 0) object["earliest"] = one.earliest;
  if (one.expected >= 0) object["expected"] = one.expected;
  if (one.expected >= 0) object["ends_before"] = one.ends_before;
  if (one.expected >= 0) object["starts_before"] = one.starts_before;
  return object;
}

}  // namespace

std::string unknown_queue(const what_if_question& asked, const snapshot& in) {
  if (asked.queue.empty() || !asked.added.empty()) return {};
  std::vector<std::string_view> names;
  for (const model::queue_info& one : *model::state_of(in).queues) {
    if (one.live && one.name == asked.queue) return {};
    if (one.live) names.push_back(one.name);
  }
  std::string text = "no such queue";
  if (const std::string_view nearest = base::nearest_name(asked.queue, names); !nearest.empty())
    text += fmt::format("; did you mean {}?", nearest);
  return text;
}

result<what_if_answers> ask_what_if(const session& over, std::int64_t now, const what_if_question& asked) {
  std::vector<table> made;
  if (!asked.queue.empty()) made = described(asked, over.base().dimension_names().size(), now);
  std::vector<table_view> views;
  for (const table& one : asked.added) views.push_back(one.view());
  for (const table& one : made) views.push_back(one.view());
  const std::vector<std::string_view> names(asked.groups.begin(), asked.groups.end());
  what_if_limits limits;
  limits.ends = static_cast<std::uint32_t>(asked.ends);
  limits.policy_actions = asked.policy_actions;
  result<what_if_report> report = over.what_if(views, names, limits);
  if (!report) return report.take_failure();
  what_if_answers answers{std::move(report).value(), {}};
  for (const forecast& one : answers.report.groups) answers.texts.push_back(over.text(answers.report, one));
  return answers;
}

json what_if_json(const outcome& by, std::int64_t now, const what_if_answers& answers) {
  json list = json::array();
  for (std::size_t i = 0; i < answers.texts.size(); ++i)
    list.push_back(forecast_json(answers.report, answers.report.groups[i], answers.texts[i]));
  return {{"schema", what_if_schema}, {"preset", by.preset}, {"mode", by.mode},
          {"digest", by.digest},      {"now", now},          {"forecasts", std::move(list)}};
}

}  // namespace kaisched::cli
