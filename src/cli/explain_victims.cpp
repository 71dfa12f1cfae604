// Who made room, for whom, and why nobody did.
#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/explain.hpp"
#include "model/state.hpp"

namespace kaisched::cli {

namespace {

struct groups_of_commit {
  std::vector<group_row> placed;   ///< got places that they claim
  std::vector<group_row> victims;  ///< lost pods, or had them moved
  std::int64_t pods_placed = 0;
  std::int64_t pods_lost = 0;
};

void insert_once(std::vector<group_row>& list, group_row group) {
  if (std::find(list.begin(), list.end(), group) == list.end()) list.push_back(group);
}

groups_of_commit groups_in(const session& over, std::uint32_t commit) {
  groups_of_commit all;
  for (const decision& d : over.decisions()) {
    if (d.commit != commit || d.kind == decision_kind::repartition) continue;
    if (leaves_its_node(d)) {
      insert_once(all.victims, d.group);
      ++all.pods_lost;
    } else {
      insert_once(all.placed, d.group);
      ++all.pods_placed;
    }
  }
  return all;
}

std::string names_of(const session& over, const std::vector<group_row>& groups) {
  constexpr std::size_t most_names = 5;
  std::string text;
  for (std::size_t i = 0; i < std::min(groups.size(), most_names); ++i) {
    const queue_row queue = over.view().group_queue(groups[i]);
    text += fmt::format("{}{} of queue {}", text.empty() ? "" : ", ", over.view().group_name(groups[i]),
                        queue == no_row ? "none" : over.base().queue_name(queue));
  }
  if (groups.size() > most_names) text += fmt::format(" and {} more", grouped(std::ssize(groups) - 5));
  return text;
}

/// Whose pods an action takes first.
std::string_view order_text(action_kind action) {
  switch (action) {
    case action_kind::reclaim:
      return "Victims come from the queue that holds most for its share, there from the group of the lowest priority, "
             "the "
             "youngest first; a group loses what is beyond its gang before its gang.";
    case action_kind::preempt:
      return "Victims come from the group of the lowest priority, the youngest first; a group loses what is beyond its "
             "gang before its gang.";
    default:
      return "Those move first that would be served last.";
  }
}

std::string_view no_victims_text(action_kind action) {
  switch (action) {
    case action_kind::reclaim:
      return "no other queue has pods that may be taken and would be enough";
    case action_kind::preempt:
      return "no group of its queue with a lower priority has pods that may be taken and would be enough";
    default:
      return "no pods that may move would free enough in the right places";
  }
}

/// Why an action that evicted for one group left another one alone.
enum class stays : std::uint8_t { not_preemptible, other_queue, own_queue, priority, not_needed, count };

stays why_it_stays(const session_view& view, action_kind action, group_row winner, group_row group) {
  if (!view.group_preemptible(group) && !view.group_semi_preemptible(group)) return stays::not_preemptible;
  const bool same_queue = view.group_queue(group) == view.group_queue(winner);
  if (action == action_kind::reclaim && same_queue) return stays::own_queue;
  if (action == action_kind::preempt && !same_queue) return stays::other_queue;
  if (action == action_kind::preempt && view.group_priority(group) >= view.group_priority(winner))
    return stays::priority;
  return stays::not_needed;
}

std::string_view stays_text(stays why) {
  switch (why) {
    case stays::not_preemptible:
      return "not preemptible";
    case stays::other_queue:
      return "of another queue, and preempt takes from its own";
    case stays::own_queue:
      return "of the queue that reclaims";
    case stays::priority:
      return "of no lower priority";
    default:
      return "not needed where it stands in the order of victims, or kept by a rule";
  }
}

/// Groups with running pods that a commit did not touch, by why.
std::array<std::int64_t, static_cast<std::size_t>(stays::count)> count_others(const session& over, const decision& d,
                                                                              const groups_of_commit& of) {
  std::array<std::int64_t, static_cast<std::size_t>(stays::count)> counts{};
  const model::cluster_state& s = over.base().state();
  std::vector<bool> runs(s.group_slots, false);
  for (pod_row p = 0; p < s.pod_slots; ++p) {
    if (s.pods[p].live && s.pods[p].group != no_row && over.view().status_of(p) == pod_status::running)
      runs[s.pods[p].group] = true;
  }
  for (group_row g = 0; g < s.group_slots; ++g) {
    const bool touched = std::find(of.victims.begin(), of.victims.end(), g) != of.victims.end() ||
                         std::find(of.placed.begin(), of.placed.end(), g) != of.placed.end();
    if (runs[g] && !touched)
      ++counts[static_cast<std::size_t>(why_it_stays(over.view(), d.action, of.placed.front(), g))];
  }
  return counts;
}

std::string tried_text(const eviction_attempt& one) {
  const std::string text = fmt::format("{} of victims {} tried", counted(static_cast<std::int64_t>(one.sets), "set"),
                                       one.sets == 1 ? "was" : "were");
  if (one.refused == 0) return text + " without making room";
  const std::string_view fault = one.action == action_kind::consolidation ? "left a pod without a place"
                                 : one.action == action_kind::reclaim     ? "took more than may be taken"
                                                                          : "took more than minimum runtimes allow";
  return text + fmt::format("; {} made room but {}",
                            one.refused == one.sets ? "all" : grouped(static_cast<std::int64_t>(one.refused)), fault);
}

}  // namespace

std::string attempt_text(const decided& ran, const eviction_attempt& one) {
  const session_view view = ran.over.view();
  const queue_row queue = view.group_queue(one.group);
  const std::string_view spared = one.spared ? "; a minimum runtime protects others" : "";
  switch (one.outcome) {
    case attempt_outcome::placed:
      return "made room for some of its pods; the rest waits for another session";
    case attempt_outcome::delayed:
      return "its preemption delay is not over";
    case attempt_outcome::not_preemptible:
      return "room is made for preemptible groups only";
    case attempt_outcome::over_share:
      return fmt::format("with its next pods queue {} would hold more than its fair share{}",
                         ran.over.base().queue_name(queue),
                         view.group_preemptible(one.group) ? "" : ", or its non-preemptible pods more than its quota");
    case attempt_outcome::over_quota:
      return "a queue on its path would hold more than its quota in pods that are not preemptible";
    case attempt_outcome::like_failed:
      return "not searched for: a group like it had just failed";
    case attempt_outcome::obstacle:
      return "an eviction would not remove what is in its way";
    case attempt_outcome::too_few_gpus:
      return "all nodes together have fewer GPUs free than it asks for";
    case attempt_outcome::no_victims:
      return fmt::format("{}{}", no_victims_text(one.action), spared);
    case attempt_outcome::no_solution:
      break;
  }
  return fmt::format("{}{}", tried_text(one), spared);
}

void print_attempts(const explanation& of, group_row group) {
  bool first = true;
  for (const eviction_attempt& one : of.ran.over.attempts()) {
    if (one.group != group) continue;
    if (first) print_section(of.to.out(), "Why nobody makes room");
    first = false;
    print_item(of.to.out(), fmt::format("{}: {}", action_name(one.action), attempt_text(of.ran, one)));
  }
}

json attempts_json(const decided& ran, group_row group) {
  json list = json::array();
  for (const eviction_attempt& one : ran.over.attempts()) {
    if (one.group != group) continue;
    list.push_back({{"action", action_name(one.action)},
                    {"outcome", attempt_outcome_name(one.outcome)},
                    {"sets", one.sets},
                    {"refused", one.refused},
                    {"spared", one.spared},
                    {"text", attempt_text(ran, one)}});
  }
  return list;
}

void print_eviction(const explanation& of, const decision& d) {
  const terminal& out = of.to.out();
  const session& over = of.ran.over;
  if (d.action == action_kind::stale_gang_eviction) {
    print_section(out, "Why it leaves");
    print_item(
        out, "stalegangeviction: its gang runs with fewer pods than it needs, and its grace is over; all of it leaves");
    return;
  }
  const groups_of_commit all = groups_in(over, d.commit);
  print_section(out, d.kind == decision_kind::evict ? "Why it leaves" : "Why it moves");
  print_item(out, all.placed.empty()
                      ? fmt::format("{}: commit {} places nobody", action_name(d.action), d.commit)
                      : fmt::format("{} makes room for {}: {} placed in commit {}", action_name(d.action),
                                    names_of(over, all.placed), counted(all.pods_placed, "pod"), d.commit));
  if (all.pods_lost > 1)
    print_item(out, fmt::format("{} leave or move for that, of {}", counted(all.pods_lost, "pod"),
                                names_of(over, all.victims)));
  if (!all.placed.empty()) {
    const auto counts = count_others(over, d, all);
    for (std::size_t i = 0; i < counts.size(); ++i) {
      if (counts[i] == 0) continue;
      print_item(out, fmt::format("{} with running pods {}: {}", counted(counts[i], "other group"),
                                  counts[i] == 1 ? "stays" : "stay", stays_text(static_cast<stays>(i))));
    }
  }
  out.line();
  const std::string_view order = d.kind == decision_kind::migrate
                                     ? "A copy starts before the pod leaves; the node is freed that takes the fewest "
                                       "migrations."
                                     : order_text(d.action);
  for (const std::string& line : wrap(order, out.width() - 2)) out.line("  " + out.paint(style::dim, line));
}

json passed_over_json(const decided& ran, group_row group) {
  constexpr std::size_t most = 3;
  const session& over = ran.over;
  json list = json::array();
  std::uint32_t last = 0;
  for (const decision& d : over.decisions()) {
    if (list.size() == most) break;
    if (!leaves_its_node(d) || d.action == action_kind::stale_gang_eviction || d.commit == last) continue;
    last = d.commit;
    const groups_of_commit all = groups_in(over, d.commit);
    if (all.placed.empty()) continue;
    const bool gave = std::find(all.victims.begin(), all.victims.end(), group) != all.victims.end();
    list.push_back({{"action", action_name(d.action)},
                    {"commit", d.commit},
                    {"for", names_of(over, all.placed)},
                    {"text", gave ? "among those that gave pods, and this one was not needed"
                                  : stays_text(why_it_stays(over.view(), d.action, all.placed.front(), group))}});
  }
  return list;
}

void print_why_it_stays(const explanation& of, group_row group) {
  const json list = passed_over_json(of.ran, group);
  if (list.empty()) return;
  print_section(of.to.out(), "Why others left and it stays");
  for (const json& one : list) {
    print_item(of.to.out(), fmt::format("{} made room for {} in commit {}: its group is {}",
                                        one["action"].get<std::string>(), one["for"].get<std::string>(),
                                        one["commit"].get<std::uint32_t>(), one["text"].get<std::string>()));
  }
}

json eviction_json(const decided& ran, const decision& d) {
  const groups_of_commit all = groups_in(ran.over, d.commit);
  const auto names = [&](const std::vector<group_row>& groups) {
    json list = json::array();
    for (const group_row g : groups) list.push_back(ran.over.view().group_name(g));
    return list;
  };
  return {{"for", names(all.placed)},
          {"pods_placed", all.pods_placed},
          {"victims", names(all.victims)},
          {"pods_lost", all.pods_lost}};
}

}  // namespace kaisched::cli
