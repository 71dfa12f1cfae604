#include "io/kubernetes/hyper_nodes.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <regex>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "io/kubernetes/constraints.hpp"
#include "io/kubernetes/node.hpp"
#include "model/selector.hpp"

namespace kaisched::io::kubernetes {

namespace {

std::string label_of_tier(std::int64_t tier) { return fmt::format("topology.volcano.sh/tier-{}", tier); }

/// One HyperNode, without its members.
struct hyper_node {
  object* of;
  std::int64_t tier;
  std::string tier_name;
  std::set<std::string, std::less<>> children{};
  std::set<std::size_t> nodes{};  ///< of it and all below
  std::string_view parent{};
};

/// Names by a pattern of Go, of which what both languages have is understood.
class name_pattern {
 public:
  /// Not set after an error.
  static std::optional<name_pattern> of(std::string_view text) {
    constexpr std::size_t most = 1024;
    if (text.size() > most) return std::nullopt;
    try {
      return name_pattern(std::regex(text.begin(), text.end(), flags));
    } catch (const std::regex_error&) {
      return std::nullopt;
    }
  }
  [[nodiscard]] bool matches(std::string_view name) const {
    return std::regex_search(name.begin(), name.end(), known_);
  }

 private:
#ifdef __GLIBCXX__
  // Patterns have no references back, as in Go: the time that one takes is not exponential.
  static constexpr auto flags = std::regex::ECMAScript | std::regex_constants::__polynomial;
#else
  static constexpr auto flags = std::regex::ECMAScript;
#endif
  explicit name_pattern(std::regex known) : known_(std::move(known)) {}

  std::regex known_;
};

class hyper_node_reader {
 public:
  explicit hyper_node_reader(cluster_records& to) : to_(to), paths_(to.nodes.size()) {
    for (std::size_t i = 0; i < to.nodes.size(); ++i) nodes_.emplace(to.nodes[i].name, i);
  }

  network_tiers read(std::span<object* const> objects) {
    std::vector<hyper_node> all;
    for (object* one : objects) {
      const member spec = one->section(one->root(), "spec");
      const std::optional<std::int64_t> tier = one->integer(spec, "tier");
      if (!one->failed() && (!tier || *tier < 0)) one->fail(one->root(), "spec.tier", "expected a number from 0 on");
      hyper_node made{one, tier.value_or(0), std::string(one->text(spec, "tierName"))};
      if (!one->failed()) all.push_back(std::move(made));
    }
    // What is below has been seen when it is looked at.
    std::sort(all.begin(), all.end(), [](const hyper_node& a, const hyper_node& b) {
      return std::tuple(a.tier, a.of->name()) < std::tuple(b.tier, b.of->name());
    });
    for (const hyper_node& one : all) tier_of_.emplace(one.of->name(), one.tier);
    for (hyper_node& one : all) add(one);
    network_tiers tiers;
    for (const auto& [tier, name] : names_) tiers.push_back({tier, name});
    if (!tiers.empty()) write(all.front().of->line(), tiers);
    return tiers;
  }

 private:
  struct step {
    std::int64_t tier;
    std::string_view name;
  };

  /// Names of a kind that a member selects, with the element of the list.
  template <class Names, class Add>
  void select(object& of, json_value at, const Names& names, const Add& add) {
    const member selector = of.section(at, "selector");
    if (const member exact = of.section(selector, "exactMatch")) {
      const std::string_view name = of.text(exact, "name");
      if (names.find(name) != names.end()) add(name);
    } else if (const member regex = of.section(selector, "regexMatch")) {
      const std::optional<name_pattern> pattern = name_pattern::of(of.text(regex, "pattern"));
      if (!pattern) return of.fail(*regex, "pattern", "expected a regular expression");
      for (const auto& [name, known] : names) {
        if (pattern->matches(name)) add(std::string_view(name));
      }
    } else {
      of.fail(at, "selector", "expected exactMatch, regexMatch or labelMatch");
    }
  }

  void select_by_labels(object& of, const json_value& labels, std::set<std::size_t>& to) {
    const result<model::selector> wanted = model::parse_selector(selector_text(of, labels));
    if (!wanted) return of.fail(labels, "expected a selector of labels");
    for (std::size_t i = 0; i < to_.nodes.size(); ++i) {
      model::label_list known;
      const label_texts& texts = to_.nodes[i].labels;
      for (std::size_t k = 0; k + 1 < texts.size(); k += 2) known.emplace_back(texts[k], texts[k + 1]);
      std::sort(known.begin(), known.end());
      if (wanted->matches(known)) to.insert(i);
    }
  }

  void read_members(hyper_node& one, std::set<std::size_t>& direct) {
    object& of = *one.of;
    for (const json_value at : of.items(of.section(of.root(), "spec"), "members")) {
      const std::string_view type = of.text(at, "type");
      const member labels = find(find(at, "selector"), "labelMatch");
      if (type == "Node" && labels) {
        select_by_labels(of, *labels, direct);
      } else if (type == "Node") {
        select(of, at, nodes_, [&](std::string_view name) { direct.insert(nodes_.find(name)->second); });
      } else if (type == "HyperNode") {
        select(of, at, tier_of_, [&](std::string_view name) { add_child(one, at, name); });
      } else if (!of.failed()) {
        of.fail(at, "type", "expected Node or HyperNode");
      }
    }
  }

  void add_child(hyper_node& one, const json_value& at, std::string_view name) {
    const std::int64_t tier = tier_of_.find(name)->second;
    const auto child = added_.find(name);
    if (tier >= one.tier) {
      one.of->fail(at, fmt::format("HyperNode '{}' is of tier {}, which is not below {}", name, tier, one.tier));
    } else if (child != added_.end() && !child->second->parent.empty()) {
      one.of->fail(at, fmt::format("HyperNode '{}' is in '{}' already", name, child->second->parent));
    } else if (child != added_.end()) {
      one.children.emplace(name);
    }
  }

  void add(hyper_node& one) {
    std::set<std::size_t> direct;
    read_members(one, direct);
    for (const std::size_t node : direct) {
      const std::vector<step>& path = paths_[node];
      if (path.empty() || one.children.contains(path.back().name)) continue;
      one.of->fail(
          one.of->root(), "spec.members",
          fmt::format("node '{}' is in HyperNode '{}', which is no member", to_.nodes[node].name, path.back().name));
    }
    if (one.of->failed()) return;
    one.nodes = std::move(direct);
    for (const std::string& name : one.children) {
      hyper_node& child = *added_.find(name)->second;
      child.parent = one.of->name();
      one.nodes.insert(child.nodes.begin(), child.nodes.end());
    }
    for (const std::size_t node : one.nodes) paths_[node].push_back({one.tier, one.of->name()});
    added_.emplace(one.of->name(), &one);
    std::string& name = names_[one.tier];
    if (name.empty()) name = one.tier_name;
  }

  void write(std::uint32_t line, const network_tiers& tiers) {
    topology_record row;
    row.line = line;
    row.name = hyper_node_topology;
    for (auto one = tiers.rbegin(); one != tiers.rend(); ++one) row.levels.push_back(label_of_tier(one->tier));
    to_.topologies.push_back(std::move(row));
    for (std::size_t i = 0; i < paths_.size(); ++i) {
      if (paths_[i].empty()) continue;
      std::string value = fmt::format("node:{}", to_.nodes[i].name);  // no HyperNode is called so
      auto next = paths_[i].begin();
      for (const network_tier& one : tiers) {
        if (next != paths_[i].end() && next->tier == one.tier) value = (next++)->name;
        set_label(to_.nodes[i], label_of_tier(one.tier), value);
      }
    }
  }

  cluster_records& to_;
  std::vector<std::vector<step>> paths_;                           ///< by node, the narrowest first
  std::map<std::string, std::size_t, std::less<>> nodes_;          ///< by name
  std::map<std::string_view, std::int64_t, std::less<>> tier_of_;  ///< of all that can be read
  std::map<std::string_view, hyper_node*, std::less<>> added_;
  std::map<std::int64_t, std::string> names_;  ///< of tiers
};

}  // namespace

network_tiers read_hyper_nodes(std::span<object* const> objects, cluster_records& to) {
  return hyper_node_reader(to).read(objects);
}

constraint_levels network_levels(object& of, member holder, const network_tiers& tiers, std::string& obstacle) {
  const member asked = of.section(holder, "networkTopology");
  if (!asked || tiers.empty()) return {};
  const std::string_view mode = of.text(asked, "mode");
  if (!mode.empty() && mode != "hard" && mode != "soft") of.fail(*asked, "mode", "expected hard or soft");
  std::optional<std::int64_t> highest = of.integer(asked, "highestTierAllowed");
  if (const std::string_view name = of.text(asked, "highestTierName"); !name.empty()) {
    const auto known =
        std::find_if(tiers.begin(), tiers.end(), [&](const network_tier& one) { return one.name == name; });
    if (known == tiers.end()) {
      obstacle = fmt::format("no HyperNode is of tier '{}'", name);
      return {};
    }
    highest = known->tier;
  }
  if (of.failed()) return {};
  constraint_levels levels{std::string(hyper_node_topology), {}, {}};
  const auto above =
      std::find_if(tiers.begin(), tiers.end(), [&](const network_tier& one) { return highest && one.tier > *highest; });
  if (mode == "soft") {
    // As near as can be.
    levels.preferred = label_of_tier(tiers.front().tier);
  } else if (!highest) {
    return {};  // as Volcano: hard, and up to no tier
  } else if (above == tiers.begin()) {
    obstacle = fmt::format("no HyperNode is of tier {} or below", *highest);
    return {};
  } else if (above == tiers.end() && *highest > tiers.back().tier) {
    levels.preferred = label_of_tier(tiers.front().tier);  // anywhere
  } else {
    levels.required = label_of_tier(std::prev(above)->tier);
  }
  return levels;
}

}  // namespace kaisched::io::kubernetes
