// Entities of a scenario that become one.
#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "io/scenario/part_amounts.hpp"
#include "io/scenario/parts.hpp"
#include "io/scenario/rows.hpp"
#include "io/scenario/text.hpp"

namespace kaisched::io::scenario_text {

namespace {

/// All that a row says but its amounts, its devices and its name.
std::string nature_of(const part& one) {
  std::string made;
  for (const auto& [key, value] : one.row->fields) {
    if (key != "devices" && !is_amount(*one.row, key)) made += fmt::format(" {}={}", key, value);
  }
  return made;
}

/// Names of groups by whether their pods are on nodes; of groups of which some are, nothing.
std::map<std::string, std::string> where_groups_are(const part_list& from) {
  std::map<std::string, std::string> found;
  for (const part& one : from) {
    if (!one.adds(entity_kind::pod)) continue;
    const std::string* group = one.find("group");
    if (group == nullptr) continue;
    const std::string here = one.find("node") == nullptr ? "waits" : "placed";
    for (const std::string& name : names_in(*group)) {
      const auto [known, made] = found.emplace(name, here);
      if (!made && known->second != here) known->second.clear();
    }
  }
  return found;
}

/// Entities that something other than a pod that is added refers to stay as they are.
std::set<reference> referred_to_by_others(const part_list& from) {
  std::set<reference> found;
  for (const part& one : from) {
    if (!one.adds(entity_kind::pod)) found.insert(one.needs.begin(), one.needs.end());
    if (!one.settle) continue;
    for (const std::string& group : one.settle->groups) found.emplace(entity_kind::pod_group, group);
  }
  return found;
}

/// Rows with the same key could be one; an empty key stands for no others.
std::string merge_key(const part& one, entity_kind kind, const std::map<std::string, std::string>& where) {
  if (kind == entity_kind::node) return "node" + nature_of(one);
  if (kind == entity_kind::pod) return one.find("node") == nullptr ? std::string() : "pod" + nature_of(one);
  const std::string* queue = one.find("queue");
  const auto found = where.find(one.row->name);
  if (queue == nullptr || found == where.end() || found->second.empty()) return {};
  return fmt::format("{} {}", found->second, *queue);
}

/// Pods refer to another entity from now on.
void refer_to(part_list& parts, entity_kind kind, const std::map<std::string, std::string>& renamed) {
  const std::string_view key = kind == entity_kind::node ? "node" : "group";
  for (part& one : parts) {
    if (!one.adds(entity_kind::pod)) continue;
    bool moves = false;
    for (auto& [name, value] : one.row->fields) {
      if (name != key) continue;
      const std::vector<std::string> names = names_in(value);
      const auto found = names.empty() ? renamed.end() : renamed.find(names.front());
      if (found == renamed.end()) continue;
      value = quoted_if_needed(found->second, text_place::value);
      moves = true;
    }
    if (!moves) continue;
    if (kind == entity_kind::node) drop_field(one, "devices");
    one.refer();
  }
}

}  // namespace

merge_sets mergeable(const part_list& from, entity_kind kind) {
  const std::map<std::string, std::string> where = where_groups_are(from);
  const std::set<reference> others = referred_to_by_others(from);
  std::map<std::string, std::size_t> places;
  merge_sets found;
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (!from[i].adds(kind) || others.contains(*from[i].names.begin())) continue;
    const std::string key = merge_key(from[i], kind, where);
    if (key.empty()) continue;
    const auto [known, made] = places.emplace(key, found.size());
    if (made) found.emplace_back();
    found[known->second].push_back(i);
  }
  std::erase_if(found, [](const auto& set) { return set.size() < 2; });
  return found;
}

part_list merged(const part_list& from, entity_kind kind, const merge_sets& sets) {
  part_list made = from;
  std::vector<bool> out(from.size(), false);
  std::map<std::string, std::string> renamed;
  for (const auto& set : sets) {
    part& first = made[set.front()];
    for (const std::size_t other : std::span(set).subspan(1)) {
      out[other] = true;
      renamed.emplace(from[other].row->name, first.row->name);
      if (kind == entity_kind::pod_group) continue;
      for (const auto& [key, value] : from[other].row->fields) {
        if (is_amount(*from[other].row, key))
          set_amount(first, key, amount_of(first, key) + amount_of(from[other], key));
      }
    }
    if (kind == entity_kind::pod) drop_field(first, "devices");
  }
  if (kind != entity_kind::pod) refer_to(made, kind, renamed);
  part_list left;
  for (std::size_t i = 0; i < made.size(); ++i) {
    if (!out[i]) left.push_back(std::move(made[i]));
  }
  return left;
}

}  // namespace kaisched::io::scenario_text
