// What of the recorded sessions the engine decides. As the engine grows, entries leave the lists of this file.

#include <algorithm>
#include <array>
#include <set>

#include "conformance/json_values.hpp"
#include "conformance/kai_cluster.hpp"
#include "conformance/schemas.hpp"
#include "conformance/unsupported.hpp"

namespace kaisched::conformance {

namespace {

using nlohmann::json;

constexpr std::array<std::string_view, 5> known_actions{"allocate", "consolidation", "reclaim", "preempt",
                                                        "stalegangeviction"};

// Plug-ins that decide nothing by themselves: they order sub-groups and tasks by rules that always hold, or serve
// actions and formats.
constexpr std::array<std::string_view, 10> plugins_without_meaning{
    "kubeflow",           "minruntime", "nominatednode", "ray",       "sg-multinodegang",
    "sg-nodelocalgreedy", "snapshot",   "subgrouporder", "taskorder", "podaffinity"};

template <class Names>
bool contains(const Names& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

void require(bool holds, const std::string& feature) {
  if (!holds) throw unsupported(feature);
}

void require_actions(const json& session_case) {
  for (const json& action : items(session_case, "actions")) {
    require(contains(known_actions, action.get<std::string>()), "action " + action.get<std::string>());
  }
  require(!value_or(member(session_case, "special"), "bind_fails", false), "binds that fail");
}

std::set<std::string> plugins_of(const json& session_case) {
  std::set<std::string> names;
  for (const json& plugin : items(session_case.at("resolved"), "plugins")) {
    names.insert(name_of(plugin));
  }
  if (!opens_predicates(session_case)) names.erase("predicates");
  return names;
}

/// The parts in the order in which the case lists its plug-ins.
std::string parts_of(const json& session_case, const std::vector<std::string>& known_parts) {
  const std::set<std::string> opened = plugins_of(session_case);
  std::vector<std::string> parts;
  for (const json& plugin : items(session_case.at("resolved"), "plugins")) {
    const std::string name = name_of(plugin);
    if (!opened.contains(name)) continue;
    if (contains(known_parts, name)) {
      parts.push_back(name);
    } else {
      require(contains(plugins_without_meaning, name), "plug-in " + name);
    }
  }
  return joined(parts);
}

const json& arguments_of(const json& session_case, std::string_view plugin) {
  for (const json& one : items(session_case.at("resolved"), "plugins")) {
    if (name_of(one) == plugin) return items(one, "arguments");
  }
  static const json none = json::object();
  return none;
}

}  // namespace

void require_supported(const json& session_case) { require_actions(session_case); }

bool opens_predicates(const json& session_case) {
  return value_or(session_case, "predicates_enabled", true) ||
         !text_or_empty(member(session_case, "special"), "victim_invariant_failure_for").empty();
}

std::vector<std::pair<std::string, std::string>> kai_options(const json& session_case,
                                                             const std::vector<std::string>& known_parts) {
  std::vector<std::pair<std::string, std::string>> options{{"preset", "kai-0.17-r2"}, {"mode", "compat"}};
  const json& params = member(session_case.at("resolved"), "params");
  std::vector<std::string> actions;
  for (const json& action : items(session_case, "actions")) actions.push_back(action.get<std::string>());
  if (!actions.empty()) options.emplace_back("actions", joined(actions));
  options.emplace_back("parts", parts_of(session_case, known_parts));
  const json& placement = arguments_of(session_case, "nodeplacement");
  options.emplace_back("placement.gpu", value_or(placement, "gpu", std::string("binpack")));
  options.emplace_back("placement.cpu", value_or(placement, "cpu", std::string("binpack")));
  const json& weight = member(arguments_of(session_case, "proportion"), "kValue");
  if (!weight.is_null())
    options.emplace_back("proportion.k", weight.is_string() ? weight.get<std::string>() : weight.dump());
  // The records were made without the reference's limits of time.
  for (const char* steps : {"search_steps", "action_steps", "session_steps"}) options.emplace_back(steps, "-1");
  const json& depth = member(member(params, "queue_depth_per_action"), "allocate");
  if (!depth.is_null()) options.emplace_back("queue_depth.allocate", depth.dump());
  for (const std::string_view action : {"consolidation", "reclaim", "preempt"}) {
    const json& limit = member(member(params, "queue_depth_per_action"), action);
    if (!limit.is_null()) options.emplace_back("queue_depth." + std::string(action), limit.dump());
  }
  const auto copy = [&](const json& from, std::string_view name, const std::string& option) {
    const json& value = member(from, name);
    if (!value.is_null()) options.emplace_back(option, value.is_string() ? value.get<std::string>() : value.dump());
  };
  copy(params, "max_consolidation_preemptees", "consolidation.max_victims");
  copy(params, "allow_consolidating_reclaim", "reclaim.moves");
  copy(params, "use_scheduling_signatures", "signatures");
  copy(params, "staleness_grace_period_s", "staleness_grace");
  const json& multiplier = member(arguments_of(session_case, "proportion"), "relcaimerSaturationMultiplier");
  if (!multiplier.is_null()) {  // the reference takes less than 1 for 1
    const double asked = multiplier.is_string() ? std::stod(multiplier.get<std::string>()) : multiplier.get<double>();
    options.emplace_back("reclaim.saturation_multiplier", json(std::max(1.0, asked)).dump());
  }
  copy(arguments_of(session_case, "numa"), "ignoreList", "numa.ignore");
  copy(arguments_of(session_case, "numa"), "reconstructAvailable", "numa.reconstruct");
  copy(arguments_of(session_case, "minruntime"), "reclaimResolveMethod", "min_runtime.from");
  copy(arguments_of(session_case, "minruntime"), "defaultReclaimMinRuntime", "min_runtime.reclaim");
  copy(arguments_of(session_case, "minruntime"), "defaultPreemptMinRuntime", "min_runtime.preempt");
  if (value_or(params, "restrict_scheduling_nodes", false)) options.emplace_back("restrict_node_scheduling", "true");
  return options;
}

bool kai_session_in_reach(const json& one) {
  const json& actions = items(one, "actions");
  return !actions.empty() && std::all_of(actions.begin(), actions.end(), [](const json& action) {
    return contains(known_actions, action.get<std::string>());
  });
}

}  // namespace kaisched::conformance
