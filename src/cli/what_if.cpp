// The command that asks about groups that do not exist yet.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <kaisched/what_if.hpp>

#include "base/nearest.hpp"
#include "cli/explain.hpp"
#include "cli/input.hpp"
#include "cli/policy_arguments.hpp"
#include "cli/progress.hpp"
#include "model/state.hpp"

namespace kaisched::cli {

namespace {

constexpr std::string_view what_if_schema = "kaisched-what-if/1";

struct what_if_arguments {
  input_arguments input;
  policy_arguments policy;
  std::string add;
  std::vector<std::string> groups;
  std::string name = "what-if";
  std::string queue;
  std::int64_t pods = 1;
  std::int64_t gang = 0;
  double gpus = 1;
  double cpu = 1;
  double memory = 0;
  std::int64_t priority = 50;
  double runtime = 0;
  bool stays = false;
  what_if_limits limits;
  std::int64_t ends = 256;
};

std::int64_t scaled(double amount, double by) { return static_cast<std::int64_t>(std::llround(amount * by)); }

/// The group that the options describe.
std::vector<table> described(const what_if_arguments& told, std::size_t dims, std::int64_t now) {
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

result<std::vector<table>> change_of(const what_if_arguments& told, const loaded_cluster& in) {
  std::vector<table> all;
  if (!told.add.empty()) {
    input_arguments file;
    file.file = told.add;
    result<io::cluster_input> read = read_tables(file);
    if (!read) return read.failure();
    all = std::move(read->tables);
  }
  if (!told.queue.empty()) {
    for (table& one : described(told, in.state.dimension_names().size(), in.now)) all.push_back(std::move(one));
  }
  return all;
}

/// A queue that an added file may bring is not looked for.
result<void> check_queue(const what_if_arguments& told, const snapshot& in) {
  if (told.queue.empty() || !told.add.empty()) return {};
  std::vector<std::string_view> names;
  for (const model::queue_info& one : *in.state().queues) {
    if (one.live) names.push_back(one.name);
  }
  if (std::find(names.begin(), names.end(), told.queue) != names.end()) return {};
  std::string text = fmt::format("--queue {}: {} has no such queue", told.queue, input_name(told.input));
  if (const std::string_view nearest = base::nearest_name(told.queue, names); !nearest.empty())
    text += fmt::format("; did you mean {}?", nearest);
  return error{status::not_found, std::move(text), {}};
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

void print_forecast(const terminal& out, const what_if_report& of, const forecast& one, const std::string& text) {
  constexpr std::size_t most_places = 8;
  out.line(fmt::format("{}  {}", out.paint(style::bold, "pod group " + std::string(of.over.group_name(one.group))),
                       start_way_name(one.way)));
  print_item(out, text);
  std::vector<const decision*> places;
  for (const decision& d : one.decisions) {
    if (d.group == one.group && d.pod != no_row && d.node != no_row) places.push_back(&d);
  }
  if (!places.empty()) {
    print_section(out, "Places");
    for (std::size_t i = 0; i < std::min(places.size(), most_places); ++i) {
      const decision& d = *places[i];
      out.line(fmt::format("  {} on {}{}", of.over.pod_name(d.pod), of.over.node_name(d.node),
                           d.devices.mask == 0 ? "" : ", devices " + devices_text(d.devices)));
    }
    if (places.size() > most_places)
      out.line(out.paint(style::dim, fmt::format("  and {} more", grouped(std::ssize(places) - 8))));
  }
  if (one.texts.empty()) return;
  print_section(out, "Why it does not start on what is free");
  for (const std::string& why : one.texts) print_item(out, why);
}

result<void> check(what_if_arguments& told) {
  if (auto sound = check_input(told.input); !sound) return sound;
  if (told.queue.empty() && told.add.empty() && told.groups.empty())
    return error{status::argument, "nothing is asked: give --queue, --add or --group", {}};
  if (told.gang > told.pods) return error{status::argument, "--gang is larger than --pods", {}};
  told.limits.ends = static_cast<std::uint32_t>(told.ends);
  return {};
}

int what_if(what_if_arguments told, const console& to) {
  if (auto sound = check(told); !sound) return to.fail(sound.failure(), exit_usage);
  const result<engine> with = make_engine(told.policy);
  if (!with) return to.fail(with.failure(), exit_usage);
  progress shown(to, load_steps + decide_steps(*with) + 1);
  const result<loaded_cluster> loaded = load_cluster(told.input, shown);
  if (!loaded) return to.fail(loaded.failure());
  if (auto known = check_queue(told, loaded->state); !known) return to.fail(known.failure(), exit_usage);
  const result<decided> ran = decide(*with, loaded->state, loaded->now, shown);
  if (!ran) return to.fail(about_input(told.input, ran.failure()));
  const result<std::vector<table>> change = change_of(told, *loaded);
  if (!change) return to.fail(change.failure());
  std::vector<table_view> views;
  for (const table& one : *change) views.push_back(one.view());
  const std::vector<std::string_view> names(told.groups.begin(), told.groups.end());
  const result<what_if_report> report = ran->over.what_if(views, names, told.limits);
  if (!report) return to.fail(report.failure());
  shown.finish();
  json list = json::array();
  for (const forecast& one : report->groups) {
    const std::string text = ran->over.text(*report, one);
    if (!list.empty() && to.shows_report()) to.out().line();
    if (to.shows_report()) print_forecast(to.out(), *report, one, text);
    list.push_back(forecast_json(*report, one, text));
  }
  return to.finish({{"schema", what_if_schema},
                    {"preset", ran->figures.preset},
                    {"mode", ran->figures.mode},
                    {"digest", ran->figures.digest},
                    {"now", loaded->now},
                    {"forecasts", std::move(list)}});
}

}  // namespace

void add_what_if(command_list& to) {
  command& c = to.add("what-if", group::decide, "Would a job start now, whom would it displace, when would it start");
  auto& told = c.keep<what_if_arguments>();
  c.explain(
      "Decides as `run` does, and then asks about groups that are not there: those of a file, or one that the options "
      "describe. Nothing is written and nothing changes. Each group is asked about alone. Times follow the "
      "runtime_estimate of the groups that run.");
  add_input_arguments(c, told.input);
  add_policy_arguments(c, told.policy);
  c.heading("Question");
  c.option("--queue", &told.queue, any_value("NAME"), "Ask about a new group in this queue");
  c.option("--pods", &told.pods, any_value("N"), "Its pods").between(1, 1e6);
  c.option("--gang", &told.gang, any_value("N"), "So many of them start together; 0 is all").between(0, 1e6);
  c.option("--gpus", &told.gpus, any_value("X"), "GPUs of each pod; below 1 is a part of one").between(0, 4096);
  c.option("--cpu", &told.cpu, any_value("X"), "Cores of each pod").between(0, 1e6);
  c.option("--memory", &told.memory, any_value("GB"), "Memory of each pod, in units of 10^9 bytes").between(0, 1e6);
  c.option("--priority", &told.priority, any_value("N"), "Its priority").between(-1e9, 1e9);
  c.option("--runtime", &told.runtime, any_value("SECONDS"), "How long it would run; 0 is not known").between(0, 1e9);
  c.flag("--non-preemptible", told.stays, "It would keep its places against everybody");
  c.option("--name", &told.name, any_value("NAME"), "What it is called in the answer");
  c.option("--add", &told.add, cluster_file(), "A cluster file with what is added: groups and pods, nodes, queues");
  c.option("--group", &told.groups, any_value("NAME"), "Ask about these groups, which may be there already");
  c.heading("Effort");
  c.option("--ends", &told.ends, any_value("N"), "Points in time at which groups end; 0 does not ask when")
      .between(0, 1e6);
  c.add_example("kaisched what-if cluster.json --queue speech --pods 4 --gpus 8");
  c.add_example("kaisched what-if cluster.json --group vision-wants-h200", "when would this one start");
  c.runs([&told](console& out) { return what_if(told, out); });
}

}  // namespace kaisched::cli
