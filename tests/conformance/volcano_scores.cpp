// Tables of Volcano about nodes: scores, sampling, shards, hints of NUMA zones.

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <set>
#include <utility>

#include "conformance/json_values.hpp"
#include "conformance/rules/hints.hpp"
#include "conformance/rules/limits.hpp"
#include "conformance/rules/node_sampling.hpp"
#include "conformance/unsupported.hpp"
#include "conformance/volcano_records.hpp"
#include "conformance/volcano_settings.hpp"
#include "policy/placement/strategy_fit.hpp"
#include "policy/placement/utilisation.hpp"

namespace kaisched::conformance {

namespace {

using nlohmann::json;

volcano_difference check_strategy_fit(const json& one) {
  const json& input = volcano_input(one);
  const json& node = member(input, "node");
  const json& weight = member(input, "weight");
  const policy::strategy_fit_settings settings{value_or<std::int64_t>(weight, "weight", 0),
                                               volcano_strategies(items(weight, "resources"))};
  const std::optional<policy::resource_strategies> own =
      volcano_strategies_of_pod(member(member(input, "task"), "pod"));
  const double score = policy::strategy_fit_score(
      volcano_resources(member(member(input, "task"), "resreq")), volcano_resources(member(node, "allocatable")),
      volcano_resources(member(node, "used")), settings, own ? &*own : nullptr);
  return compare_number(one.at("expected").at("result"), score);
}

volcano_difference compare_strategies(const json& expected, const policy::resource_strategies& found) {
  const policy::resource_strategies wanted = volcano_strategies(expected);
  if (wanted == found) return std::nullopt;
  return "strategies differ: " + std::to_string(found.size()) + ", recorded are " + std::to_string(wanted.size());
}

volcano_difference check_strategy_settings(const json& one) {
  const json& input = volcano_input(one);
  const json& written = has(input, "args") ? member(input, "args") : input;
  policy::strategy_fit_settings settings{value_or<std::int64_t>(written, "resourceStrategyFitWeight", -1),
                                         volcano_strategies(items(written, "resources"))};
  settings = policy::usable_settings(std::move(settings));
  const json& wanted = one.at("expected").at("result");
  if (volcano_difference why = compare_number(member(wanted, "weight"), static_cast<double>(settings.weight)))
    return why;
  return compare_strategies(items(wanted, "resources"), settings.resources);
}

volcano_difference check_strategy_lookup(const json& one) {
  const json& input = volcano_input(one);
  const policy::resource_strategies all = volcano_strategies(items(input, "resources"));
  const std::optional<policy::resource_strategy> found =
      policy::strategy_of(all, text_or_empty(input, "resource_name"));
  const json& expected = one.at("expected");
  if (volcano_difference why = compare_flag(expected.at("found"), found.has_value())) return why;
  if (!found || volcano_strategy(expected.at("config")) == *found) return std::nullopt;
  return "another strategy is found";
}

template <policy::fit_strategy Strategy>
volcano_difference check_strategy_score(const json& one) {
  const json& input = volcano_input(one);
  const policy::resource_strategy by{Strategy, value_or<std::int64_t>(input, "weight", 0)};
  const std::optional<double> score = policy::strategy_score(
      by, value_or(input, "requested", 0.0), value_or(input, "used", 0.0), value_or(input, "capacity", 0.0));
  const json& expected = one.at("expected");
  if (volcano_difference why = compare_flag(expected.at("err"), !score.has_value())) return why;
  return compare_number(expected.at("result"), score.value_or(0));
}

volcano_difference check_proportion(const json& one) {
  const json& input = volcano_input(one);
  std::map<std::string, policy::reserved_share, std::less<>> reserved;
  for (const auto& [name, share] : items(input, "proportional").items()) {
    reserved[name] = {value_or(share, "cpu", 0.0), value_or(share, "memory", 0.0)};
  }
  const bool left = policy::leaves_proportion(volcano_resources(member(member(input, "task"), "resreq")),
                                              volcano_resources(member(member(input, "node"), "idle")), reserved);
  constexpr int unresolvable = 3;
  const json& expected = one.at("expected");
  if (volcano_difference why = compare_flag(expected.at("err"), !left)) return why;
  return compare_number(expected.at("result"), left ? 0 : unresolvable);
}

double amount_of(const json& one, std::string_view key) { return value_or(volcano_input(one), key, 0.0); }

policy::load_weights load_weights_of(const json& one) {
  return {value_or<std::int64_t>(volcano_input(one), "cpu_weight", 0),
          value_or<std::int64_t>(volcano_input(one), "mem_weight", 0)};
}

volcano_difference compare_result(const json& one, double found) {
  return compare_number(one.at("expected").at("result"), found);
}

volcano_difference check_combined_load(const json& one) {
  return compare_result(one, policy::combined_load(amount_of(one, "cpu_composite"), amount_of(one, "mem_composite"),
                                                   load_weights_of(one)));
}

volcano_difference check_risk(const json& one) {
  return compare_result(one, policy::risk_factor(amount_of(one, "load_composite_percentage"),
                                                 amount_of(one, "risk_threshold"), amount_of(one, "risk_factor")));
}

volcano_difference check_estimate(const json& one) {
  return compare_result(
      one, policy::estimated_use(amount_of(one, "request"), amount_of(one, "limit"), amount_of(one, "request_weight"),
                                 amount_of(one, "burst_weight"), amount_of(one, "applied_risk_factor")));
}

volcano_difference check_best_effort_estimate(const json& one) {
  return compare_result(one, policy::estimated_best_effort_use(amount_of(one, "configured_value"),
                                                               amount_of(one, "applied_risk_factor")));
}

volcano_difference check_composite(const json& one) {
  const json& input = volcano_input(one);
  double estimated = 0;
  for (const std::string_view key : {"shadow_est_abs", "shadow_est", "shadow"}) estimated += value_or(input, key, 0.0);
  return compare_result(
      one, policy::composite_load(amount_of(one, "real_load_percent"), estimated, amount_of(one, "capacity")));
}

volcano_difference check_load_score(const json& one) {
  return compare_result(one,
                        policy::load_score(amount_of(one, "cpu_comp"), amount_of(one, "mem_comp"), load_weights_of(one),
                                           value_or<std::int64_t>(volcano_input(one), "usage_weight", 0)));
}

std::optional<policy::zone_mask> zones_record(const json& hint) {
  if (!has(hint, "numa_node_affinity")) return std::nullopt;
  return hint.at("numa_node_affinity").get<policy::zone_mask>();
}

template <policy::hint_policy Policy>
volcano_difference check_hints(const json& one) {
  policy::zone_mask all = 3;  // the tests have two zones, which their rows do not repeat
  std::vector<policy::resource_hints> resources;
  for (const json& provider : items(volcano_input(one), "providers_hints")) {
    if (!provider.is_object() || provider.empty()) resources.push_back({true, {}});
    for (const auto& [resource, hints] : provider.items()) {
      policy::resource_hints& made = resources.emplace_back();
      made.any = hints.is_null();
      for (const json& hint : hints.is_null() ? json::array() : hints) {
        made.hints.push_back({zones_record(hint), value_or(hint, "preferred", false)});
        all |= made.hints.back().zones.value_or(0);
      }
    }
  }
  const policy::merged_hint found = policy::merge_hints(Policy, all, resources);
  const json& expected = one.at("expected");
  const json& wanted = member(expected, "result");
  if (policy::zone_hint{zones_record(wanted), value_or(wanted, "preferred", false)} != found.best) {
    return "hint is " + std::to_string(found.best.zones.value_or(0)) + ", recorded is " + wanted.dump();
  }
  return has(expected, "admit") ? compare_flag(member(expected, "admit"), found.admitted) : std::nullopt;
}

volcano_difference check_nodes_to_find(const json& one) {
  const json& input = volcano_input(one);
  policy::sampling_settings settings;
  settings.percentage = value_or<std::int64_t>(input, "percentage_of_nodes_to_score", 0);
  const std::int64_t found = policy::nodes_to_find(value_or<std::int64_t>(input, "num_all_nodes", 0), settings);
  return compare_number(one.at("expected").at("num_nodes"), static_cast<double>(found));
}

std::string node_name(const json& node) {
  return node.is_string() ? node.get<std::string>() : text_or_empty(node, "name");
}

struct scored_names {
  std::vector<std::string> names;
  std::vector<policy::scored_node> nodes;
};

scored_names names_with_scores(const json& scores, const json& binding) {
  scored_names made;
  for (const auto& [score, nodes] : scores.items()) {
    for (const json& node : nodes) {
      made.names.push_back(node_name(node));
      made.nodes.push_back({std::strtod(score.c_str(), nullptr), value_or(binding, made.names.back(), 0) > 0});
    }
  }
  return made;
}

/// One of the recorded nodes, since one of those with the highest score is taken at random.
volcano_difference check_best(const json& one) {
  const json& input = volcano_input(one);
  const scored_names from =
      names_with_scores(items(input, has(input, "hyper_node_scores") ? "hyper_node_scores" : "node_scores"), {});
  const std::uint32_t best = policy::best_node(from.nodes);
  const json& expected = one.at("expected");
  const bool found = best < from.names.size();
  if (volcano_difference why = compare_number(expected.at("score"), found ? from.nodes[best].score : 0)) return why;
  std::set<std::string> wanted;
  for (const json& node : items(expected, "nodes")) {
    if (!node.is_null() && !node_name(node).empty()) wanted.insert(node_name(node));
  }
  if (!found) return wanted.empty() ? std::nullopt : volcano_difference("there is no node");
  if (wanted.contains(from.names[best])) return std::nullopt;
  return "the best is " + from.names[best];
}

volcano_difference check_best_several(const json& one) {
  const json& input = volcano_input(one);
  const scored_names from = names_with_scores(items(input, "node_scores"), items(input, "nodes_in_binder"));
  const std::vector<std::uint32_t> best = policy::best_nodes(from.nodes, value_or<std::size_t>(input, "count", 0));
  if (!has(one.at("expected"), "result")) throw unsupported("any of several results");
  std::vector<std::string> found;
  for (const std::uint32_t node : best) found.push_back(from.names[node]);
  std::vector<std::string> wanted;
  for (const json& node : items(one.at("expected"), "result")) wanted.push_back(node_name(node));
  if (found == wanted) return std::nullopt;
  return "nodes are [" + joined(found) + "], recorded are [" + joined(wanted) + "]";
}

policy::shard_mode shard_mode_of(const json& input) {
  const std::string mode = text_or_empty(input, "sharding_mode");
  if (mode == "hard") return policy::shard_mode::hard;
  return mode == "soft" ? policy::shard_mode::soft : policy::shard_mode::none;
}

/// Nodes in order, and which of them are in the shard. Without a shard all of them are.
std::pair<std::vector<std::string>, std::vector<std::uint8_t>> sharded_nodes(const json& input, std::string_view key) {
  std::pair<std::vector<std::string>, std::vector<std::uint8_t>> made;
  std::set<std::string> shard;
  for (const json& node : items(input, "nodes_in_shard")) shard.insert(node.get<std::string>());
  for (const json& node : items(input, key)) {
    made.first.push_back(node_name(node));
    made.second.push_back(!has(input, "nodes_in_shard") || shard.contains(made.first.back()) ? 1 : 0);
  }
  return made;
}

volcano_difference check_shards(const json& one) {
  const json& input = volcano_input(one);
  const auto [names, in_shard] = sharded_nodes(input, "predicate_nodes");
  const policy::shard_split split = policy::split_by_shard(shard_mode_of(input), in_shard);
  const auto compare = [&, &all = names](const char* key, const std::vector<std::uint32_t>& nodes) {
    std::vector<std::string> found;
    for (const std::uint32_t node : nodes) found.push_back(all[node]);
    return compare_names(member(one.at("expected"), key), std::move(found));
  };
  if (volcano_difference why = compare("in_shard", split.first)) return why;
  return compare("in_other_shard", split.then);
}

/// What predicates say is not recorded: rows are in reach where the shard alone refuses nodes.
volcano_difference check_tried_nodes(const json& one) {
  const json& input = volcano_input(one);
  const json& expected = one.at("expected");
  const auto [names, in_shard] = sharded_nodes(input, "nodes");
  std::vector<std::string> tried;
  std::vector<std::string> refused;
  for (std::size_t i = 0; i < names.size(); ++i) {
    (policy::may_try(shard_mode_of(input), in_shard[i] != 0) ? tried : refused).push_back(names[i]);
  }
  std::vector<std::string> wanted;
  for (const auto& [task, nodes] : items(expected, "err_cache").items()) {
    for (const auto& [name, why] : nodes.items()) {
      if (why.get<std::string>() != "node isn't in scheduler node shard") throw unsupported("predicates of a test");
      wanted.push_back(name);
    }
  }
  if (has(input, "task_predicate_error_cache") || value_or(input, "enable_error_cache", false))
    throw unsupported("predicates of a test");
  if (volcano_difference why = compare_names(wanted, refused)) return "refused: " + *why;
  return compare_names(member(expected, "nodes"), tried);
}

constexpr std::array score_tables{
    volcano_table{"TestScore", check_strategy_fit},
    volcano_table{"Test_calculateWeight", check_strategy_settings},
    volcano_table{"Test_findResourceConfigWithPrefix", check_strategy_lookup},
    volcano_table{"Test_leastRequestedScore", check_strategy_score<policy::fit_strategy::least_allocated>},
    volcano_table{"Test_mostRequestedScore", check_strategy_score<policy::fit_strategy::most_allocated>},
    volcano_table{"Test_checkNodeResourceIsProportional", check_proportion},
    volcano_table{"TestCalcLoadCompositePercentage", check_combined_load},
    volcano_table{"TestCalcAppliedRiskFactor", check_risk},
    volcano_table{"TestEstimatePodResource", check_estimate},
    volcano_table{"TestEstimateBestEffortResource", check_best_effort_estimate},
    volcano_table{"TestCalcCompositeUtilization", check_composite},
    volcano_table{"TestCalcNodeScore", check_load_score},
    volcano_table{"Test_best_effort_predicate", check_hints<policy::hint_policy::best_effort>},
    volcano_table{"Test_restricted_predicate", check_hints<policy::hint_policy::restricted>},
    volcano_table{"Test_single_numa_node_predicate", check_hints<policy::hint_policy::single_numa_node>},
    volcano_table{"TestNumFeasibleNodesToFind", check_nodes_to_find},
    volcano_table{"TestSelectBestNode", check_best},
    volcano_table{"TestSelectBestHyperNodeAndScore", check_best},
    volcano_table{"TestSelectBestNodes", check_best_several},
    volcano_table{"TestGetPredicatedNodeByShard", check_shards},
    volcano_table{"TestPredicateNodes", check_tried_nodes},
};

}  // namespace

std::span<const volcano_table> volcano_score_tables() { return score_tables; }

}  // namespace kaisched::conformance
