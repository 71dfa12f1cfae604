// Why a pod is where it is, or why it is nowhere.
#include <algorithm>
#include <cmath>
#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/explain.hpp"
#include "cli/tables.hpp"
#include "model/snapshot_access.hpp"
#include "model/state.hpp"

namespace kaisched::cli {

namespace {

std::size_t shown_nodes(const explanation& of, const candidate_table& table) {
  return of.most_nodes == 0 ? table.fitting : std::min<std::size_t>(of.most_nodes, table.fitting);
}

std::vector<reason> refusals(const candidate_table& table) {
  std::vector<reason> all;
  for (const candidate& one : table.nodes) {
    if (one.refusal.what != constraint::none) all.push_back(one.refusal);
  }
  return merged(all);
}

/// Parts that tell nodes apart, or at least give something.
std::vector<std::size_t> telling_parts(const candidate_table& table) {
  std::vector<std::size_t> parts;
  for (std::size_t p = 0; p < table.parts.size(); ++p) {
    for (std::size_t row = 0; row < table.fitting; ++row) {
      if (table.scores_of(row)[p] == 0) continue;
      parts.push_back(p);
      break;
    }
  }
  return parts;
}

std::string score_text(double score) {
  std::string text = fmt::format("{:.3f}", score);
  while (text.ends_with('0')) text.pop_back();
  if (text.ends_with('.')) text.pop_back();
  return text == "-0" ? "0" : text;
}

void print_table(const explanation& of, const candidate_table& table) {
  const terminal& out = of.to.out();
  const session& over = of.ran.over;
  const std::size_t shown = shown_nodes(of, table);
  const std::vector<std::size_t> parts = telling_parts(table);
  std::size_t widest = 4;
  for (std::size_t row = 0; row < shown; ++row) {
    widest = std::max(widest, columns_of(over.base().node_name(table.nodes[row].node)));
  }
  widest = std::min<std::size_t>(widest, 32);
  std::string head = pad_right("", widest + 6) + pad_left("score", 11);
  for (const std::size_t p : parts) head += pad_left(table.parts[p], table.parts[p].size() + 2);
  out.line(out.paint(style::dim, head));
  for (std::size_t row = 0; row < shown; ++row) {
    const candidate& one = table.nodes[row];
    const bool is_chosen = one.node == table.chosen;
    const std::string name = pad_right(cut(over.base().node_name(one.node), widest), widest);
    std::string line = fmt::format("  {} {}{}", is_chosen ? out.paint(style::green, "▸") : " ",
                                   is_chosen ? out.paint(style::bold, name) : name, "  ");
    line += pad_left(score_text(one.score), 11);
    for (const std::size_t p : parts) {
      line += pad_left(score_text(table.scores_of(row)[p]), table.parts[p].size() + 2);
    }
    out.line(line + (one.starts_now ? "" : out.paint(style::yellow, "  when others have left")));
  }
  if (shown < table.fitting)
    out.line(out.paint(style::dim, fmt::format("    and {} more", grouped(std::int64_t{table.fitting} -
                                                                          static_cast<std::int64_t>(shown)))));
}

void print_refusals(const explanation& of, const candidate_table& table) {
  const std::vector<reason> list = refusals(table);
  if (list.empty()) return;
  const auto refused = static_cast<std::int64_t>(table.nodes.size()) - std::int64_t{table.fitting};
  print_section(of.to.out(), fmt::format("{} cannot take it", counted(refused, "node")));
  for (const reason& why : list) print_item(of.to.out(), of.ran.over.text(why));
}

void print_choice(const explanation& of, const candidate_table& table, const choice_account& why) {
  const terminal& out = of.to.out();
  const std::string chosen(of.ran.over.base().node_name(table.chosen));
  print_section(out, fmt::format("Why {}: {} of {} can take the pod", chosen, grouped(table.fitting),
                                 counted(std::ssize(table.nodes), "node")));
  print_table(of, table);
  const auto print_sentence = [&](const std::string& text) {
    for (const std::string& line : wrap(text, out.width() - 2)) out.line("  " + line);
  };
  print_sentence(of.ran.over.text(why));
  for (const choice_flip& one : why.flips) print_sentence(of.ran.over.text(why, one));
  print_refusals(of, table);
  out.line();
  const std::string state =
      table.decisions_before == 0
          ? std::string("This is the cluster of the file; no other decision had been made.")
          : fmt::format("This is the state in which it was decided: the cluster of the file and the {} before it.",
                        counted(table.decisions_before, "decision"));
  for (const std::string& line : wrap(state, out.width() - 2)) out.line("  " + out.paint(style::dim, line));
}

void print_waiting(const explanation& of, pod_row pod, const waiting_group* group, const candidate_table& table) {
  const terminal& out = of.to.out();
  const session& over = of.ran.over;
  print_section(out, "Why it waits");
  const bool is_alone =
      group != nullptr && std::any_of(group->reasons.begin(), group->reasons.end(), [&](const reason& why) {
        return why.pod == pod || why.scope == reason_scope::node;
      });
  if (group != nullptr) {
    print_item(out, group->headline);
    const bool same = is_alone && group->reasons.front().scope == reason_scope::node;
    for (const reason& why : group->reasons) {
      if (!same) print_item(out, over.text(why));
    }
  }
  if (static_cast<pod_status>(model::state_of(over.base()).live.pod_state[pod]) == pod_status::gated)
    print_item(out, "the pod is gated: it asks for nothing before something outside has opened it");
  if (group != nullptr) print_attempts(of, group->group);
  if (table.fitting > 0) {
    print_section(out, fmt::format("At the end of the session {} of {} could take this pod alone",
                                   grouped(table.fitting), counted(std::ssize(table.nodes), "node")));
    print_table(of, table);
  }
  print_refusals(of, table);
  out.line();
  out.line("  " + out.paint(style::dim, "Nodes are shown as they are at the end of the session."));
}

json table_json(const explanation& of, const candidate_table& table) {
  const session& over = of.ran.over;
  json nodes = json::array();
  for (std::size_t row = 0; row < shown_nodes(of, table); ++row) {
    const candidate& one = table.nodes[row];
    json scores = json::object();
    for (std::size_t p = 0; p < table.parts.size(); ++p) scores[table.parts[p]] = table.scores_of(row)[p];
    nodes.push_back({{"node", over.base().node_name(one.node)},
                     {"score", one.score},
                     {"scores", std::move(scores)},
                     {"starts_now", one.starts_now},
                     {"devices", devices_json(one.devices)}});
  }
  json refused = json::array();
  for (const reason& why : refusals(table)) refused.push_back(reason_json(over, why));
  return {{"decisions_before", table.decisions_before},
          {"nodes", table.nodes.size()},
          {"fitting", table.fitting},
          {"best", std::move(nodes)},
          {"refused", std::move(refused)}};
}

json choice_json(const session& over, const choice_account& why) {
  json differences = json::array();
  for (const score_difference& one : why.differences) {
    differences.push_back({{"part", one.part}, {"chosen", one.chosen}, {"runner_up", one.runner_up}});
  }
  json flips = json::array();
  for (const choice_flip& one : why.flips) {
    json row{{"kind", choice_flip_kind_name(one.what)}, {"text", over.text(why, one)}};
    if (one.node != no_row) row["node"] = over.base().node_name(one.node);
    if (!one.part.empty()) row["part"] = one.part;
    if (one.what == choice_flip_kind::more_score) row["score"] = one.score;
    flips.push_back(std::move(row));
  }
  json all{{"rule", choice_rule_name(why.rule)},
           {"plan", choice_plan_name(why.plan)},
           {"rank", why.rank},
           {"margin", why.margin},
           {"differences", std::move(differences)},
           {"flips", std::move(flips)},
           {"text", over.text(why)}};
  if (why.runner_up != no_row) all["runner_up"] = over.base().node_name(why.runner_up);
  return all;
}

void print_facts(const explanation& of, pod_row pod) {
  const terminal& out = of.to.out();
  const session& over = of.ran.over;
  const session_view view = over.view();
  const group_row group = view.pod_group(pod);
  out.line(
      fmt::format("{}  {}", out.paint(style::bold, "pod " + std::string(view.pod_name(pod))), fate_text(of.ran, pod)));
  if (group == no_row) {
    print_fact(out, "group", "none: the pod only uses its node");
  } else {
    const queue_row queue = view.group_queue(group);
    print_fact(out, "group",
               fmt::format("{}, priority {}, {}", view.group_name(group), view.group_priority(group),
                           preemptibility_text(view, group)));
    print_fact(out, "queue", fmt::format("{}; {}", path_text(over, queue), share_text(of.ran, queue)));
  }
  print_fact(out, "asks for", amounts_text(over, view.pod_request(pod)));
}

json facts_json(const explanation& of, pod_row pod) {
  const session& over = of.ran.over;
  const session_view view = over.view();
  const group_row group = view.pod_group(pod);
  json one{{"kind", "pod"},
           {"name", view.pod_name(pod)},
           {"group", group == no_row ? std::string_view{} : view.group_name(group)},
           {"queue", path_json(over, group == no_row ? no_row : view.group_queue(group))},
           {"request", amounts_json(over, view.pod_request(pod))},
           {"status", pod_status_name(view.status_of(pod))}};
  if (view.node_of(pod) != no_row) one["node"] = view.node_name(view.node_of(pod));
  if (const decision* last = decision_about(of.ran, pod); last != nullptr) {
    one["decision"] = {{"kind", decision_kind_name(last->kind)},
                       {"action", action_name(last->action)},
                       {"commit", last->commit},
                       {"node", view.node_name(last->node)},
                       {"devices", devices_json(last->devices)}};
  }
  return one;
}

}  // namespace

result<json> explain_pod(const explanation& of, pod_row pod) {
  const session& over = of.ran.over;
  json one = facts_json(of, pod);
  if (of.to.shows_report()) print_facts(of, pod);
  const bool pending = waits(over.view().status_of(pod));
  const waiting_group* group = pending ? waiting_of(of.ran, over.view().pod_group(pod)) : nullptr;
  const decision* last = decision_about(of.ran, pod);
  const bool leaves = last != nullptr && leaves_its_node(*last);
  if (leaves) {
    const result<victim_account> why = over.victim(pod);
    if (!why) return why.failure();
    one["eviction"] = eviction_json(over, *why);
    if (of.to.shows_report()) print_eviction(of, *why);
  }
  if (leaves && last->kind == decision_kind::evict) return one;
  const result<candidate_table> table = over.candidates(pod);
  if (!table && table.failure().code != status::state) return table.failure();
  if (!table) {
    const group_row mine = over.view().pod_group(pod);
    std::vector<passed_over> commits;
    if (mine != no_row) {
      constexpr std::size_t most_commits = 3;
      result<std::vector<passed_over>> found = over.passes(mine, most_commits);
      if (!found) return found.failure();
      commits = *std::move(found);
      one["passed_over"] = passed_over_json(over, commits);
    }
    if (of.to.shows_report()) {
      of.to.out().line();
      of.to.out().line("  It was there before the session, and this session has not touched it.");
      if (mine != no_row && over.view().group_semi_preemptible(mine))
        of.to.out().line("  Its group is semi-preemptible: only pods beyond its gangs give up their places.");
      else if (mine != no_row && !over.view().group_preemptible(mine))
        of.to.out().line("  Its group is not preemptible: its place is given to nobody.");
      print_why_it_stays(of, commits);
    }
    return one;
  }
  if (group != nullptr) {
    one["reasons"] = json::array();
    for (const reason& why : group->reasons) one["reasons"].push_back(reason_json(over, why));
    one["attempts"] = attempts_json(of.ran, group->group);
  }
  one["candidates"] = table_json(of, *table);
  if (pending) {
    if (of.to.shows_report()) print_waiting(of, pod, group, *table);
    return one;
  }
  const result<choice_account> why = over.choice(pod);
  if (!why) return why.failure();
  one["choice"] = choice_json(over, *why);
  if (of.to.shows_report()) print_choice(of, *table, *why);
  return one;
}

}  // namespace kaisched::cli
