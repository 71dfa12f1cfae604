// The command that asks about groups that do not exist yet.
#include "cli/what_if.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/explain.hpp"
#include "cli/input.hpp"
#include "cli/policy_arguments.hpp"
#include "cli/progress.hpp"

namespace kaisched::cli {

namespace {

struct what_if_arguments {
  input_arguments input;
  policy_arguments policy;
  std::string add;
  what_if_question asked;
};

/// Reads the rows that are to be added.
result<void> read_added(what_if_arguments& told) {
  if (told.add.empty()) return {};
  input_arguments file;
  file.file = told.add;
  result<io::cluster_input> read = read_tables(file);
  if (!read) return read.take_failure();
  told.asked.added = std::move(read->tables);
  return {};
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

result<void> check(const what_if_arguments& told) {
  if (auto sound = check_input(told.input); !sound) return sound;
  if (told.asked.queue.empty() && told.add.empty() && told.asked.groups.empty())
    return error{status::argument, "nothing is asked: give --queue, --add or --group", {}};
  if (const vanishing_amount none = find_vanishing(told.asked); none.name != nullptr)
    return error{
        status::argument, fmt::format("--{}: expected {}, found {}", none.name, none.expected, none.value), {}};
  if (told.asked.gang > told.asked.pods) return error{status::argument, "--gang is larger than --pods", {}};
  return {};
}

int what_if(what_if_arguments& told, const console& to) {
  if (auto sound = check(told); !sound) return to.fail(sound.failure(), exit_usage);
  const result<engine> with = make_engine(told.policy);
  if (!with) return to.fail(with.failure(), exit_usage);
  progress shown(to, load_steps + decide_steps(*with) + 1);
  const result<loaded_cluster> loaded = load_cluster(told.input, shown);
  if (!loaded) return to.fail(loaded.failure());
  if (const std::string unknown = told.add.empty() ? unknown_queue(told.asked, loaded->state) : ""; !unknown.empty()) {
    const std::string text = fmt::format("--queue {}: {} has {}", told.asked.queue, input_name(told.input), unknown);
    return to.fail({status::not_found, text, {}}, exit_usage);
  }
  const result<decided> ran = decide(*with, loaded->state, loaded->now, shown);
  if (!ran) return to.fail(about_input(told.input, ran.failure()));
  if (auto read = read_added(told); !read) return to.fail(read.failure());
  const result<what_if_answers> answers = ask_what_if(ran->over, loaded->now, told.asked);
  if (!answers) return to.fail(answers.failure());
  shown.finish();
  for (std::size_t i = 0; i < answers->texts.size() && to.shows_report(); ++i) {
    if (i > 0) to.out().line();
    print_forecast(to.out(), answers->report, answers->report.groups[i], answers->texts[i]);
  }
  return to.finish(what_if_json(ran->figures, loaded->now, *answers));
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
  c.option("--queue", &told.asked.queue, any_value("NAME"), "Ask about a new group in this queue");
  c.option("--pods", &told.asked.pods, any_value("N"), "Its pods").between(what_if_pods.least, what_if_pods.most);
  c.option("--gang", &told.asked.gang, any_value("N"), "So many of them start together; 0 is all")
      .between(what_if_gang.least, what_if_gang.most);
  c.option("--gpus", &told.asked.gpus, any_value("X"), "GPUs of each pod; below 1 is a part of one")
      .between(what_if_gpus.least, what_if_gpus.most);
  c.option("--cpu", &told.asked.cpu, any_value("X"), "Cores of each pod").between(what_if_cpu.least, what_if_cpu.most);
  c.option("--memory", &told.asked.memory, any_value("GB"), "Memory of each pod, in units of 10^9 bytes")
      .between(what_if_memory.least, what_if_memory.most);
  c.option("--priority", &told.asked.priority, any_value("N"), "Its priority")
      .between(what_if_priority.least, what_if_priority.most);
  c.option("--runtime", &told.asked.runtime, any_value("SECONDS"), "How long it would run; 0 is not known")
      .between(what_if_runtime.least, what_if_runtime.most);
  c.flag("--non-preemptible", told.asked.stays, "It would keep its places against everybody");
  c.option("--name", &told.asked.name, any_value("NAME"), "What it is called in the answer");
  c.option("--add", &told.add, cluster_file(), "A cluster file with what is added: groups and pods, nodes, queues");
  c.option("--group", &told.asked.groups, any_value("NAME"), "Ask about these groups, which may be there already");
  c.heading("Effort");
  c.option("--ends", &told.asked.ends, any_value("N"), "Points in time at which groups end; 0 does not ask when")
      .between(what_if_ends.least, what_if_ends.most);
  c.flag("--policy-actions", told.asked.policy_actions,
         "Then the allocate and backfill of the policy decide, not allocate alone");
  c.add_example("kaisched what-if cluster.json --queue speech --pods 4 --gpus 8");
  c.add_example("kaisched what-if cluster.json --group vision-wants-h200", "when would this one start");
  c.runs([&told](console& out) { return what_if(told, out); });
}

}  // namespace kaisched::cli
