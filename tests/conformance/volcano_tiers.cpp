// Tiers of a recorded session of Volcano -> plug-ins of the library.

#include <map>
#include <set>
#include <string>

#include "conformance/json_values.hpp"
#include "conformance/unsupported.hpp"
#include "conformance/volcano_settings.hpp"
#include "conformance/volcano_state.hpp"
#include "schedulers/volcano/rules/plugins.hpp"

namespace kaisched::conformance {

namespace {

using kaisched::volcano::plugin;
using kaisched::volcano::point;
using nlohmann::json;

const std::map<std::string, point>& points_by_key() {
  static const std::map<std::string, point> keys{
      {"allocatable", point::allocatable},
      {"hierarchy", point::hierarchy},
      {"hyper_node_gradient", point::domain_gradient},
      {"hyper_node_order", point::domain_order},
      {"job_enqueued", point::job_enqueued},
      {"job_order", point::job_order},
      {"job_pipelined", point::job_pipelined},
      {"job_ready", point::job_ready},
      {"job_starving", point::job_starving},
      {"node_order", point::node_order},
      {"overused", point::overused},
      {"predicate", point::predicate},
      {"preemptable", point::preemptable},
      {"preemptive", point::preemptive},
      {"queue_order", point::queue_order},
      {"reclaimable", point::reclaimable},
      {"sub_job_order", point::sub_job_order},
      {"sub_job_ready", point::sub_job_ready},
      {"task_order", point::task_order},
  };
  return keys;
}

kaisched::volcano::points points_of(const json& record) {
  kaisched::volcano::points on;
  for (const auto& [key, value] : items(record, "enabled").items()) {
    const auto found = points_by_key().find(key);
    if (!value.get<bool>()) continue;
    if (found == points_by_key().end()) throw unsupported("point " + key);
    on.set(static_cast<std::size_t>(found->second));
  }
  return on;
}

std::unique_ptr<plugin> network_of(const json& arguments) {
  kaisched::volcano::network_settings settings;
  settings.weights = volcano_packing_weights(arguments, "hypernode.binpack");
  const std::int64_t weight = value_or<std::int64_t>(arguments, "weight", 1);
  settings.weight = static_cast<double>(weight < 0 ? 1 : weight);
  settings.packs_other_tasks = value_or(arguments, "hypernode.binpack.normal-pod.enable", true);
  const double fading = value_or(arguments, "hypernode.binpack.normal-pod.fading", 0.8);
  settings.fading = fading < 0 ? 0.8 : fading;
  return kaisched::volcano::make_network(settings);
}

std::unique_ptr<plugin> node_order_of(const json& arguments) {
  kaisched::volcano::node_order_weights weights;
  weights.least_requested = value_or<std::int64_t>(arguments, "leastrequested.weight", 1);
  weights.most_requested = value_or<std::int64_t>(arguments, "mostrequested.weight", 0);
  weights.balanced = value_or<std::int64_t>(arguments, "balancedresource.weight", 1);
  weights.taints = value_or<std::int64_t>(arguments, "tainttoleration.weight", 3);
  weights.affinity = value_or<std::int64_t>(arguments, "nodeaffinity.weight", 2);
  weights.pods = value_or<std::int64_t>(arguments, "podaffinity.weight", 2);
  return kaisched::volcano::make_node_order(weights);
}

std::unique_ptr<plugin> strategy_fit_of(const json& one, const json& arguments) {
  if (has(arguments, "proportional")) throw unsupported("what is kept beside scarce resources");
  kaisched::volcano::strategies_by_task own;
  for (const json& pod : items(one.at("input"), "pods")) {
    const json& about = member(pod, "metadata");
    if (const auto of_pod = volcano_strategies_of_pod(pod)) {
      own[text_or_empty(about, "namespace") + "/" + text_or_empty(about, "name")] = *of_pod;
    }
  }
  return kaisched::volcano::make_strategy_fit(volcano_strategy_settings(arguments),
                                              volcano_scarcity_settings(member(arguments, "sra")), std::move(own));
}

std::unique_ptr<plugin> plugin_of(const json& one, const std::string& name, const json& arguments) {
  if (name == "gang") return kaisched::volcano::make_gang();
  if (name == "priority") return kaisched::volcano::make_priority();
  if (name == "conformance") return kaisched::volcano::make_conformance();
  if (name == "proportion") return kaisched::volcano::make_proportion();
  if (name == "predicates") return kaisched::volcano::make_predicates();
  if (name == "resource-strategy-fit") return strategy_fit_of(one, arguments);
  if (name == "nodeorder") return node_order_of(arguments);
  if (name == "network-topology-aware") return network_of(arguments);
  if (name == "binpack") {
    const std::int64_t weight = value_or<std::int64_t>(arguments, "binpack.weight", 1);
    return kaisched::volcano::make_binpack(volcano_packing_weights(arguments, "binpack"), weight);
  }
  if (name == "capacity") {
    return kaisched::volcano::make_capacity(value_or<std::int64_t>(arguments, "ancestorReclaimLevel", 0));
  }
  if (name == "drf") return kaisched::volcano::make_drf();
  if (name == "overcommit") {
    const double factor = value_or(arguments, "overcommit-factor", 1.2);
    return kaisched::volcano::make_overcommit(factor < 1 ? 1.2 : factor);
  }
  if (name == "nodegroup") {
    return kaisched::volcano::make_node_group(value_or(arguments, "strict", true),
                                              value_or(arguments, "enablePreferredOrder", false));
  }
  throw unsupported("sessions with plug-in " + name);
}

}  // namespace

std::vector<kaisched::volcano::tier> volcano_tiers(const json& one) {
  const auto registered = items(one, "registered_plugins").get<std::set<std::string>>();
  std::set<std::string> seen;
  std::vector<kaisched::volcano::tier> made;
  for (const json& tier : items(one, "tiers")) {
    kaisched::volcano::tier& of = made.emplace_back();
    for (const json& record : items(tier, "plugins")) {
      const std::string& name = name_of(record);
      if (!registered.contains(name)) continue;
      if (!seen.insert(name).second) throw unsupported("a plug-in in two places");
      const kaisched::volcano::points on = points_of(record);
      of.push_back({plugin_of(one, name, member(record, "arguments")), on});
    }
  }
  return made;
}

}  // namespace kaisched::conformance
