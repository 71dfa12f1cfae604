// The command that tells how far decisions are from the best possible.
#include "cli/gaps.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <kaisched/gaps.hpp>

#include "cli/explain.hpp"
#include "cli/input.hpp"
#include "cli/policy_arguments.hpp"
#include "cli/progress.hpp"

namespace kaisched::cli {

namespace {

constexpr std::string_view gaps_schema = "kaisched-gaps/1";

struct gaps_arguments {
  input_arguments input;
  policy_arguments policy;
  bool all = false;
  std::int64_t listed = 20;
};

json domain_json(const victim_bound& of) {
  json made{{"domain", of.domain}, {"too_small", of.is_too_small}};
  if (of.is_too_small) return made;
  made["price"] = of.price;
  made["per_victim"] = of.per_victim;
  made["bound"] = of.bound;
  return made;
}

json gap_json(const session& over, const optimality_gap& of) {
  json made{{"kind", gap_kind_name(of.kind)},
            {"group", of.group == no_row ? std::string_view{} : over.base().group_name(of.group)},
            {"pod", over.base().pod_name(of.pod)},
            {"pods", of.pods},
            {"achieved", of.achieved},
            {"bound", of.bound},
            {"distance", of.distance()}};
  if (of.kind != gap_kind::fragmentation) {
    made["commit"] = of.commit;
    made["action"] = action_name(of.action);
    made["level"] = of.level;
  }
  switch (of.kind) {
    case gap_kind::victims:
      made["domains"] = json::array();
      for (const victim_bound& one : of.domains) made["domains"].push_back(domain_json(one));
      break;
    case gap_kind::domains:
      made["largest"] = of.largest;
      break;
    case gap_kind::fragmentation:
      made["dimension"] = of.dim == no_row ? json(nullptr) : json(over.base().dimension_names()[of.dim]);
      break;
    case gap_kind::none:
      break;
  }
  return made;
}

/// What the checker needs to know of the decisions.
json decisions_json(const session& over) {
  json list = json::array();
  for (const decision& d : over.decisions()) {
    if (d.pod == no_row) continue;
    list.push_back({{"commit", d.commit},
                    {"kind", decision_kind_name(d.kind)},
                    {"pod", over.base().pod_name(d.pod)},
                    {"node", d.node == no_row ? std::string_view{} : over.base().node_name(d.node)},
                    {"devices", devices_json(d.devices)}});
  }
  return list;
}

std::string sentence(const session& over, const optimality_gap& of) {
  const auto pods = [](std::int64_t n) { return fmt::format("{} {}", grouped(n), n == 1 ? "pod" : "pods"); };
  const std::string best = of.distance() == 0 ? std::string("no way does better")
                                              : fmt::format("none does with fewer than {}", grouped(of.bound));
  const std::string_view group = of.group == no_row ? std::string_view{} : over.base().group_name(of.group);
  switch (of.kind) {
    case gap_kind::victims:
      return fmt::format("{} of {} started for {} that had to leave or move; {}", pods(of.pods), group,
                         pods(of.achieved), best);
    case gap_kind::domains:
      return fmt::format("{} of {} are in {} {} of {}; {}", pods(of.pods), group, grouped(of.achieved),
                         of.achieved == 1 ? "domain" : "domains", of.level, best);
    default:
      return fmt::format("{} like {} fit beside what is there{}", pods(of.achieved), over.base().pod_name(of.pod),
                         of.distance() == 0
                             ? std::string("; no other placement leaves room for more")
                             : fmt::format(", and at most {} if all that is free lay together", grouped(of.bound)));
  }
}

void print_gaps(const terminal& out, const session& over, const std::vector<optimality_gap>& all, bool every,
                std::size_t most) {
  for (const auto& [kind, title] : {std::pair{gap_kind::victims, "Victims"}, std::pair{gap_kind::domains, "Domains"},
                                    std::pair{gap_kind::fragmentation, "Fragmentation"}}) {
    std::vector<const optimality_gap*> mine;
    std::int64_t achieved = 0;
    std::int64_t bound = 0;
    std::int64_t count = 0;
    for (const optimality_gap& one : all) {
      if (one.kind != kind) continue;
      ++count;
      achieved += one.achieved;
      bound += one.bound;
      if (every || one.distance() > 0) mine.push_back(&one);
    }
    std::stable_sort(mine.begin(), mine.end(),
                     [](const auto* a, const auto* b) { return a->distance() > b->distance(); });
    if (kind != gap_kind::victims) out.line();
    out.line(out.paint(style::bold, title));
    if (count == 0) {
      out.line(kind == gap_kind::victims   ? "  nobody started for whom others had to leave"
               : kind == gap_kind::domains ? "  nobody started who prefers to be in one domain"
                                           : "  nothing waits for whole devices");
      continue;
    }
    print_fact(out, "sum",
               fmt::format("{}, bound {}, over {} {}", grouped(achieved), grouped(bound), grouped(count),
                           kind == gap_kind::fragmentation ? (count == 1 ? "kind of pods" : "kinds of pods")
                                                           : (count == 1 ? "start" : "starts")));
    for (std::size_t i = 0; i < std::min(most, mine.size()); ++i) print_item(out, sentence(over, *mine[i]));
    if (const auto more = std::ssize(mine) - static_cast<std::int64_t>(most); more > 0)
      out.line(out.paint(style::dim, fmt::format("  and {} more", grouped(more))));
  }
}

int run_gaps(const gaps_arguments& told, const console& to) {
  if (auto sound = check_input(told.input); !sound) return to.fail(sound.failure(), exit_usage);
  const result<engine> with = make_engine(told.policy);
  if (!with) return to.fail(with.failure(), exit_usage);
  progress shown(to, load_steps + decide_steps(*with) + 1);
  const result<loaded_cluster> loaded = load_cluster(told.input, shown);
  if (!loaded) return to.fail(loaded.failure());
  const result<decided> ran = decide(*with, loaded->state, loaded->now, shown);
  if (!ran) return to.fail(about_input(told.input, ran.failure()));
  const session& over = ran->over;
  const result<std::vector<optimality_gap>> found = over.gaps();
  if (!found) return to.fail(about_input(told.input, found.failure()));
  shown.finish();
  if (to.shows_report()) print_gaps(to.out(), over, *found, told.all, static_cast<std::size_t>(told.listed));
  return to.finish(gaps_json(*ran, *found));
}

}  // namespace

json gaps_json(const decided& ran, std::span<const optimality_gap> found) {
  json list = json::array();
  for (const optimality_gap& one : found) list.push_back(gap_json(ran.over, one));
  return {{"schema", gaps_schema},        {"preset", ran.figures.preset}, {"mode", ran.figures.mode},
          {"digest", ran.figures.digest}, {"gaps", std::move(list)},      {"decisions", decisions_json(ran.over)}};
}

void add_gaps(command_list& to) {
  command& c = to.add("gaps", group::decide, "How far decisions are from the best that anybody could have made");
  auto& told = c.keep<gaps_arguments>();
  c.explain(
      "Decides the cluster and compares what was decided with bounds that no scheduler can pass: victims, domains of "
      "gangs that prefer to be together, and room that fragmentation wastes. tools/check_gaps.py checks the bounds "
      "without the engine. Nothing is written and nothing changes.");
  add_input_arguments(c, told.input);
  add_policy_arguments(c, told.policy);
  c.heading("Output");
  c.flag("--all", told.all, "List decisions that nothing could improve as well");
  c.option("--most", &told.listed, any_value("N"), "Lines of each list in the report").between(1, 1e6);
  c.add_example("kaisched gaps cluster.json");
  c.add_example("kaisched gaps cluster.json --json=gaps.json", "for tools/check_gaps.py cluster.json gaps.json");
  c.runs([&told](console& out) { return run_gaps(told, out); });
}

}  // namespace kaisched::cli
