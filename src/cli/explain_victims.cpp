// Who made room, for whom, and why nobody did.
#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/explain.hpp"

namespace kaisched::cli {

namespace {

std::int64_t pods_of(const std::vector<group_pods>& groups) {
  std::int64_t sum = 0;
  for (const group_pods& one : groups) sum += one.pods;
  return sum;
}

std::string names_of(const session& over, const std::vector<group_pods>& groups) {
  constexpr std::size_t most_names = 5;
  std::string text;
  for (std::size_t i = 0; i < std::min(groups.size(), most_names); ++i) {
    const queue_row queue = over.view().group_queue(groups[i].group);
    text += fmt::format("{}{} of queue {}", text.empty() ? "" : ", ", over.view().group_name(groups[i].group),
                        queue == no_row ? "none" : over.base().queue_name(queue));
  }
  if (groups.size() > most_names) text += fmt::format(" and {} more", grouped(std::ssize(groups) - 5));
  return text;
}

json names_json(const session& over, const std::vector<group_pods>& groups) {
  json list = json::array();
  for (const group_pods& one : groups) list.push_back(over.view().group_name(one.group));
  return list;
}

}  // namespace

void print_attempts(const explanation& of, group_row group) {
  bool first = true;
  for (const eviction_attempt& one : of.ran.over.attempts()) {
    if (one.group != group) continue;
    if (first) print_section(of.to.out(), "Why nobody makes room");
    first = false;
    print_item(of.to.out(), fmt::format("{}: {}", action_name(one.action), of.ran.over.text(one)));
  }
}

json attempts_json(const decided& ran, group_row group) {
  json list = json::array();
  for (const eviction_attempt& one : ran.over.attempts()) {
    if (one.group != group) continue;
    list.push_back({{"action", action_name(one.action)},
                    {"outcome", attempt_outcome_name(one.outcome)},
                    {"sets", one.sets},
                    {"steps", one.steps},
                    {"cut", one.cut},
                    {"refused", one.refused},
                    {"spared", one.spared},
                    {"budget", one.budget},
                    {"text", ran.over.text(one)}});
  }
  return list;
}

void print_eviction(const explanation& of, const victim_account& why) {
  const terminal& out = of.to.out();
  const session& over = of.ran.over;
  print_section(out, why.kind == decision_kind::evict ? "Why it leaves" : "Why it moves");
  if (why.placed.empty()) {
    for (const victim_rule rule : why.rules)
      print_item(out, fmt::format("{}: {}", action_name(why.action), over.text(why, rule)));
    return;
  }
  print_item(out, fmt::format("{} makes room for {}: {} placed in commit {}", action_name(why.action),
                              names_of(over, why.placed), counted(pods_of(why.placed), "pod"), why.commit));
  const std::int64_t lost = pods_of(why.victims);
  if (lost > 1)
    print_item(out, fmt::format("{} leave or move for that, of {}", counted(lost, "pod"), names_of(over, why.victims)));
  for (const victim_rule rule : why.rules) print_item(out, over.text(why, rule));
  std::array<std::int64_t, spared_reason_count> counts{};
  for (const spared_group& one : why.spared) ++counts[static_cast<std::size_t>(one.why)];
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] == 0) continue;
    print_item(out, fmt::format("{} with running pods {}: {}", counted(counts[i], "other group"),
                                counts[i] == 1 ? "stays" : "stay", over.text(static_cast<spared_reason>(i))));
  }
  if (!why.if_protected.tried) return;
  out.line();
  for (const std::string& line : wrap(over.text(why, why.if_protected), out.width() - 2)) out.line("  " + line);
}

json passed_over_json(const session& over, const std::vector<passed_over>& commits) {
  json list = json::array();
  for (const passed_over& one : commits) {
    list.push_back(
        {{"action", action_name(one.action)},
         {"commit", one.commit},
         {"for", names_of(over, one.placed)},
         {"code", one.gave_pods ? "gave_pods" : spared_reason_name(one.why)},
         {"text", one.gave_pods ? "among those that gave pods, and this one was not needed" : over.text(one.why)}});
  }
  return list;
}

void print_why_it_stays(const explanation& of, const std::vector<passed_over>& commits) {
  const json list = passed_over_json(of.ran.over, commits);
  if (list.empty()) return;
  print_section(of.to.out(), "Why others left and it stays");
  for (const json& one : list) {
    print_item(of.to.out(), fmt::format("{} made room for {} in commit {}: its group is {}",
                                        one["action"].get<std::string>(), one["for"].get<std::string>(),
                                        one["commit"].get<std::uint32_t>(), one["text"].get<std::string>()));
  }
}

json eviction_json(const session& over, const victim_account& why) {
  json rules = json::array();
  for (const victim_rule rule : why.rules) {
    rules.push_back({{"rule", victim_rule_name(rule)}, {"text", over.text(why, rule)}});
  }
  json spared = json::array();
  for (const spared_group& one : why.spared) {
    spared.push_back({{"group", over.view().group_name(one.group)}, {"why", spared_reason_name(one.why)}});
  }
  json all{{"for", names_json(over, why.placed)},
           {"pods_placed", pods_of(why.placed)},
           {"victims", names_json(over, why.victims)},
           {"pods_lost", pods_of(why.victims)},
           {"rules", std::move(rules)},
           {"spared", std::move(spared)}};
  if (why.if_protected.tried) {
    all["if_protected"] = {{"pods_placed", why.if_protected.pods},
                           {"victims", names_json(over, why.if_protected.victims)},
                           {"pods_lost", pods_of(why.if_protected.victims)},
                           {"text", over.text(why, why.if_protected)}};
  }
  return all;
}

}  // namespace kaisched::cli
