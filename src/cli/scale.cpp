// The command that asks which nodes to add for what waits, and which to give back.
#include "cli/scale.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <kaisched/scaling.hpp>

#include "cli/explain.hpp"
#include "cli/input.hpp"
#include "cli/policy_arguments.hpp"
#include "cli/progress.hpp"
#include "files/node_types.hpp"
#include "model/snapshot_access.hpp"
#include "model/state.hpp"

namespace kaisched::cli {

namespace {

constexpr std::string_view scale_schema = "kaisched-scale/1";

struct scale_arguments {
  input_arguments input;
  policy_arguments policy;
  std::string types;
  bool up = false;
  bool down = false;
  std::string strategy = "search";
  std::int64_t verifications = scale_question{}.verifications;
  std::int64_t listed = 20;
  scale_question question;
};

// ---- as JSON

json places_json(const scale_up_answer& of, const scaled_group& one) {
  json places = json::array();
  for (const decision& d : one.decisions)
    places.push_back({{"pod", of.over.pod_name(d.pod)},
                      {"node", of.over.node_name(d.node)},
                      {"now", d.kind == decision_kind::bind}});
  return places;
}

json up_json(const scale_up_answer& of) {
  json added = json::array();
  for (const node_addition& one : of.added)
    added.push_back({{"type", one.type}, {"count", one.nodes.size()}, {"price", one.price}, {"nodes", one.nodes}});
  json groups = json::array();
  for (const scaled_group& one : of.groups) {
    json reasons = json::array();
    for (std::size_t i = 0; i < one.reasons.size(); ++i)
      reasons.push_back({{"constraint", constraint_name(one.reasons[i].what)}, {"text", one.texts[i]}});
    const queue_row queue = model::state_of(of.over).groups[one.group].queue;
    groups.push_back({{"group", of.over.group_name(one.group)},
                      {"queue", queue == no_row ? std::string_view{} : of.over.queue_name(queue)},
                      {"waited", one.waited},
                      {"placed", one.placed},
                      {"helped", one.helped},
                      {"places", places_json(of, one)},
                      {"reasons", std::move(reasons)}});
  }
  return {{"add", std::move(added)},       {"cost", of.cost},
          {"lower_bound", of.lower_bound}, {"cheapest", of.cheapest},
          {"minimal", of.minimal},         {"groups", std::move(groups)},
          {"other_pods", of.others},       {"verifications", of.verifications}};
}

json down_json(const scale_down_answer& of) {
  json nodes = json::array();
  for (const returned_node& one : of.nodes) {
    json moves = json::array();
    for (const scale_move& m : one.moves)
      moves.push_back({{"pod", m.pod}, {"group", m.group}, {"from", m.from}, {"to", m.to}});
    json row{{"name", one.name}, {"returned", one.returned}, {"empty", one.empty}, {"moves", std::move(moves)}};
    if (one.price >= 0) row["type"] = one.type;
    if (one.price >= 0) row["price"] = one.price;
    if (!one.keeps.empty()) row["keeps"] = one.keeps;
    nodes.push_back(std::move(row));
  }
  return {
      {"nodes", std::move(nodes)}, {"saved", of.saved}, {"complete", of.complete}, {"verifications", of.verifications}};
}

// ---- for people

/// `n1 (8), n2 (8)`: nodes with the pods on them.
std::string nodes_text(const scale_up_answer& of, const scaled_group& one, std::size_t most) {
  std::map<std::string_view, std::int64_t> pods;
  for (const decision& d : one.decisions) ++pods[of.over.node_name(d.node)];
  std::string text;
  std::size_t shown = 0;
  for (const auto& [node, count] : pods) {
    if (shown == most)
      return text + fmt::format(", and {} more", grouped(static_cast<std::int64_t>(pods.size() - shown)));
    text += fmt::format("{}{}{}", shown++ == 0 ? "" : ", ", node, count == 1 ? "" : fmt::format(" ({})", count));
  }
  return text;
}

void print_more(const terminal& out, std::size_t more) {
  if (more > 0) out.line(out.paint(style::dim, fmt::format("  and {} more", grouped(static_cast<std::int64_t>(more)))));
}

std::string proof_text(const scale_up_answer& of) {
  if (of.cost == of.lower_bound) return "no set of these types that lets as much start costs less";
  if (of.cheapest) return "no cheaper set lets as much start: all were tried";
  return fmt::format("no set costs less than {}", grouped(of.lower_bound));
}

void print_up(const terminal& out, const scale_up_answer& of, std::size_t most) {
  out.line(out.paint(style::bold, "Add"));
  for (const node_addition& one : of.added)
    out.line(fmt::format("  {} x {}  at {}", grouped(std::ssize(one.nodes)), one.type, grouped(one.price)));
  if (of.added.empty()) out.line("  nothing");
  if (!of.added.empty()) print_fact(out, "cost", fmt::format("{} an hour; {}", grouped(of.cost), proof_text(of)));
  if (of.groups.empty()) return out.line("  nothing waits that nodes are asked for");
  std::vector<const scaled_group*> start;
  std::vector<const scaled_group*> wait;
  for (const scaled_group& one : of.groups) {
    if (one.placed > 0) start.push_back(&one);
    if (one.placed < one.waited) wait.push_back(&one);
  }
  if (!start.empty()) print_section(out, fmt::format("Start then: {}", counted(std::ssize(start), "group")));
  for (std::size_t i = 0; i < std::min(most, start.size()); ++i) {
    const scaled_group& one = *start[i];
    print_item(out, fmt::format("{}: {} of {} on {}", of.over.group_name(one.group), one.placed,
                                counted(one.waited, "pod"), nodes_text(of, one, 4)));
  }
  print_more(out, start.size() - std::min(most, start.size()));
  if (!wait.empty()) print_section(out, fmt::format("Wait all the same: {}", counted(std::ssize(wait), "group")));
  for (std::size_t i = 0; i < std::min(most, wait.size()); ++i) {
    const scaled_group& one = *wait[i];
    print_item(out, fmt::format("{}: {}", of.over.group_name(one.group),
                                one.texts.empty() ? "not with the nodes that were found" : one.texts.front()));
  }
  print_more(out, wait.size() - std::min(most, wait.size()));
}

void print_down(const terminal& out, const scale_down_answer& of, std::size_t most) {
  std::vector<const returned_node*> go;
  std::vector<const returned_node*> stay;
  for (const returned_node& one : of.nodes) (one.returned ? go : stay).push_back(&one);
  out.line(out.paint(style::bold, "Give back"));
  for (std::size_t i = 0; i < std::min(most, go.size()); ++i) {
    const returned_node& one = *go[i];
    std::string text = one.name + (one.empty ? ": nothing runs there" : "");
    for (std::size_t m = 0; m < one.moves.size(); ++m) {
      const scale_move& move = one.moves[m];
      const std::string what = move.from == move.to ? "starts again" : "to " + move.to;
      text += fmt::format("{}{} {}", m == 0 ? ": " : ", ", move.pod, what);
    }
    print_item(out, text);
  }
  print_more(out, go.size() - std::min(most, go.size()));
  if (go.empty()) out.line("  nothing");
  if (of.saved > 0) print_fact(out, "saves", fmt::format("{} an hour", grouped(of.saved)));
  if (!stay.empty()) print_section(out, fmt::format("Stay: {}", counted(std::ssize(stay), "node")));
  for (std::size_t i = 0; i < std::min(most, stay.size()); ++i)
    print_item(out, fmt::format("{}: {}", stay[i]->name, stay[i]->keeps));
  print_more(out, stay.size() - std::min(most, stay.size()));
}

result<void> check(scale_arguments& told) {
  if (auto sound = check_input(told.input); !sound) return sound;
  told.question.up = told.up;
  told.question.down = told.down;
  if (asks_what_to_add(told.question) && told.types.empty())
    return error{status::argument, "--types is missing: which nodes can be had? --down alone does without", {}};
  told.question.strategy = scale_strategy_of(told.strategy);
  told.question.verifications = static_cast<std::uint32_t>(told.verifications);
  return {};
}

int run_scale(scale_arguments told, const console& to) {
  if (auto sound = check(told); !sound) return to.fail(sound.failure(), exit_usage);
  const result<engine> with = make_engine(told.policy);
  if (!with) return to.fail(with.failure(), exit_usage);
  progress shown(to, load_steps + 1);
  const result<loaded_cluster> loaded = load_cluster(told.input, shown);
  if (!loaded) return to.fail(loaded.failure());
  node_offers offers;
  if (!told.types.empty()) {
    result<node_offers> read = io::read_node_types(told.types, loaded->state);
    if (!read) return to.fail(read.failure());
    offers = std::move(*read);
  }
  shown.next("trying sets of nodes");
  const result<scale_report> report = scale(*with, loaded->state, loaded->now, offers, told.question);
  if (!report) return to.fail(about_input(told.input, report.failure()));
  shown.finish();
  const auto most = static_cast<std::size_t>(told.listed);
  if (to.shows_report() && told.question.up) print_up(to.out(), report->up, most);
  if (to.shows_report() && told.question.up && told.question.down) to.out().line();
  if (to.shows_report() && told.question.down) print_down(to.out(), report->down, most);
  return to.finish(scale_json(*with, loaded->now, told.question, *report));
}

}  // namespace

json scale_json(const engine& with, std::int64_t now, const scale_question& asked, const scale_report& found) {
  json all{{"schema", scale_schema},
           {"preset", with.options().preset},
           {"mode", with.get("mode").ok() ? *with.get("mode") : std::string()},
           {"now", now},
           {"strategy", scale_strategy_name(asked.strategy)}};
  if (asked.up) all["up"] = up_json(found.up);
  if (asked.down) all["down"] = down_json(found.down);
  return all;
}

void add_scale(command_list& to) {
  command& c = to.add("scale", group::decide, "Which nodes to add for what waits, and which to give back");
  auto& told = c.keep<scale_arguments>();
  c.explain(
      "Decides the cluster without making anybody leave, and then finds the cheapest set of nodes with which what "
      "waits "
      "starts, and nodes without which all that runs still has a place. Every answer has been decided on a cluster "
      "that "
      "is so changed. Nothing is written and nothing changes. Without --up and --down both are asked.");
  add_input_arguments(c, told.input);
  add_policy_arguments(c, told.policy);
  c.heading("Question");
  c.option("--types", &told.types, file_name({"json", "yaml", "yml"}), "Nodes that can be had, with their prices");
  c.flag("--up", told.up, "Ask which nodes to add");
  c.flag("--down", told.down, "Ask which nodes to give back");
  c.option("--queue", &told.question.queues, any_value("NAME"), "Add nodes for groups of this queue and those below");
  c.option("--group", &told.question.groups, any_value("NAME"), "Add nodes for this group");
  c.option("--type-label", &told.question.type_label, any_value("KEY"), "Label of nodes that names their type");
  c.heading("Effort");
  c.option("--strategy", &told.strategy, one_of("NAME", {"search", "first_fit"}),
           "How nodes are found; first_fit goes pod by pod, for comparison");
  c.option("--verifications", &told.verifications, any_value("N"), "Clusters that are decided for each question")
      .between(scale_verifications.least, scale_verifications.most);
  c.heading("Output");
  c.option("--most", &told.listed, any_value("N"), "Lines of each list in the report").between(1, 1e6);
  c.add_example("kaisched scale cluster.json --types types.yaml");
  c.add_example("kaisched scale cluster.json --types types.yaml --up --queue speech", "only for one queue");
  c.add_example("kaisched scale cluster.json --down", "what can be given back");
  c.runs([&told](console& out) { return run_scale(told, out); });
}

}  // namespace kaisched::cli
