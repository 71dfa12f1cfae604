#include "io/kubernetes/extender_answers.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/utf8.hpp"
#include "io/fault_log.hpp"
#include "io/kubernetes/constraints.hpp"
#include "io/kubernetes/pod.hpp"

namespace kaisched::io::kubernetes {

namespace {

/// As Kubernetes names nodes: nothing that means something in a selector.
bool is_node_name(std::string_view name) {
  return !name.empty() && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.' ||
           c == '_';
  });
}

/// Names in an array; nothing if one is none.
std::optional<std::vector<std::string_view>> node_names(json_value list) {
  if (!list.is(json_kind::array)) return std::nullopt;
  std::vector<std::string_view> names;
  for (const json_value one : list) {
    if (!one.is(json_kind::string) || !is_node_name(one.text())) return std::nullopt;
    names.push_back(one.text());
  }
  return names;
}

void add_to_terms(std::string_view requirement, std::vector<std::string>& terms) {
  if (terms.empty()) terms.emplace_back();
  for (std::string& term : terms) term += fmt::format("{}{}", term.empty() ? "" : ",", requirement);
}

/// Nodes of the same weight are one preference. @return whether the member is what it has to be.
bool add_preferences(json_value told, std::vector<std::string>& to) {
  std::map<std::int64_t, std::vector<std::string_view>> nodes;
  if (!told.is(json_kind::object)) return false;
  for (const json_value one : told) {
    if (!is_node_name(one.key()) || !one.is(json_kind::integer) || one.integer() < 1 || one.integer() > 100)
      return false;
    nodes[one.integer()].push_back(one.key());
  }
  for (const auto& [weight, names] : nodes)
    to.push_back(fmt::format("{}: {} in ({})", weight, node_name_label, fmt::join(names, ",")));
  return true;
}

}  // namespace

void read_extender_answers(object& of, pod_record& row, bool& asks_names) {
  const member at = find(of.annotations(), extender_key);
  if (!at) return;
  const std::string_view text = of.text(of.annotations(), extender_key);
  const result<json_document> read = json_document::parse(text, extender_key);
  bool is_right = read.ok() && read->root().is(json_kind::object);
  if (is_right) {
    for (const json_value one : read->root()) {
      const std::string_view key = one.key();
      if (key == "nodes" || key == "except") {
        const std::optional<std::vector<std::string_view>> names = node_names(one);
        is_right = is_right && names;
        if (!names) continue;
        if (!names->empty()) {
          asks_names = true;
          const std::string_view word = key == "nodes" ? "in" : "notin";
          add_to_terms(fmt::format("{} {} ({})", node_name_label, word, fmt::join(*names, ",")), row.node_affinity);
        } else if (key == "nodes") {
          row.node_affinity = {std::string(no_match)};
        }
      } else if (key == "preferences") {
        asks_names = true;
        is_right = add_preferences(one, row.node_preferences) && is_right;
      } else if (key == "obstacle" && one.is(json_kind::string)) {
        if (row.obstacle.empty()) row.obstacle = base::printable(one.text(), longest_message);
      } else {
        is_right = false;
      }
    }
  }
  if (!is_right) of.fail(*at, "expected nodes, except, preferences or obstacle in JSON");
}

}  // namespace kaisched::io::kubernetes
