// KubeSchedulerConfiguration -> options of the presets kube-default and coscheduling.
#include <map>
#include <string>

#include <fmt/format.h>

#include "io/importers/readers.hpp"

namespace kaisched::io::importers {

namespace {

class kube_import {
 public:
  imported_policy read(json_value root) {
    made_.of = "kube-scheduler";
    json_value kept = root;
    if (const json_value* const profiles = find_member(root, "profiles", kept)) {
      bool first = true;
      for (const json_value one : *profiles) {
        if (!first) made_.leave_out(one, "a second profile");
        if (first) profile(one);
        first = false;
      }
    }
    for (const json_value one : root) {
      if (one.key() == "percentageOfNodesToScore") made_.leave_out(one, "all nodes are looked at");
      if (one.key() == "extenders") made_.leave_out(one, "nobody else is asked");
    }
    made_.set("preset", gangs_ ? "coscheduling" : "kube-default");
    if (most_) std::swap(fit_, packed_);
    std::vector<std::string> settings{"jobs.one_queue=true", "nodeorder.balanced_gpus=false"};
    if (!gangs_) {
      settings.insert(settings.end(), {"jobs.by_pod=true", "preempt.trials=true", "preempt.by_start=true",
                                       "preempt.for_nothing=true", "preempt.most_nodes=1000000"});
    }
    settings.push_back("nodeorder.taints=" + taints_);
    settings.push_back("nodeorder.affinity=" + affinity_);
    settings.push_back("nodeorder.pods=" + pods_);
    settings.push_back("nodeorder.required_pods=" + required_pods_);
    settings.push_back("nodeorder.spread=" + spread_);
    settings.push_back("nodeorder.least=" + fit_);
    settings.push_back("nodeorder.most=" + packed_);
    settings.push_back("nodeorder.balanced=" + balanced_);
    if (!gangs_ && !percent_.empty()) settings.push_back("preempt.percent_of_nodes=" + percent_);
    if (!gangs_) settings.push_back("preempt.fewest_nodes=" + fewest_);
    made_.set("volcano.settings", joined(settings));
    return std::move(made_);
  }

 private:
  void profile(json_value of) {
    for (const json_value one : of) {
      if (one.key() == "plugins") {
        for (const json_value point : one) plugins(point);
      } else if (one.key() == "pluginConfig" && one.is(json_kind::array)) {
        for (const json_value plugin : one) configuration(plugin);
      }
    }
  }

  void plugins(json_value point) {
    json_value kept = point;
    if (const json_value* const enabled = find_member(point, "enabled", kept)) {
      for (const json_value one : *enabled) enable(one, point.key());
    }
    if (const json_value* const disabled = find_member(point, "disabled", kept)) {
      json_value name = point;
      for (const json_value one : *disabled) {
        if (find_member(one, "name", name) != nullptr) disable(one, scalar_text(name), point.key());
      }
    }
  }

  void enable(json_value one, std::string_view point) {
    json_value kept = one;
    const json_value* const named = find_member(one, "name", kept);
    const std::string name = named == nullptr ? "" : scalar_text(*named);
    const json_value* const told = find_member(one, "weight", kept);
    const std::string weight = told == nullptr ? "1" : scalar_text(*told);
    const bool scores = point == "score" || point == "multiPoint";
    if (name == "Coscheduling") {
      gangs_ = true;
    } else if (name == "NodeResourcesFit" && scores) {
      fit_ = weight;
    } else if (name == "NodeResourcesBalancedAllocation" && scores) {
      balanced_ = weight;
    } else if (name == "TaintToleration" && scores) {
      taints_ = weight;
    } else if (name == "NodeAffinity" && scores) {
      affinity_ = weight;
    } else if (name == "InterPodAffinity" && scores) {
      pods_ = weight;
    } else if (name == "PodTopologySpread" && scores) {
      spread_ = weight;
    } else {
      made_.leave_out(one, fmt::format("{}: plug-in {}", point, name));
    }
  }

  void disable(json_value one, const std::string& name, std::string_view point) {
    const bool scores = point == "score" || point == "multiPoint";
    if (scores && (name == "NodeResourcesFit" || name == "*")) fit_ = "0";
    if (scores && (name == "NodeResourcesBalancedAllocation" || name == "*")) balanced_ = "0";
    if (scores && (name == "TaintToleration" || name == "*")) taints_ = "0";
    if (scores && (name == "NodeAffinity" || name == "*")) affinity_ = "0";
    if (scores && (name == "InterPodAffinity" || name == "*")) pods_ = "0";
    if (scores && (name == "PodTopologySpread" || name == "*")) spread_ = "0";
    if (!scores) made_.leave_out(one, fmt::format("{}: {} stays", point, name));
  }

  void configuration(json_value plugin) {
    json_value kept = plugin;
    const json_value* const named = find_member(plugin, "name", kept);
    const std::string name = named == nullptr ? "" : scalar_text(*named);
    const json_value* const arguments = find_member(plugin, "args", kept);
    if (arguments == nullptr) return;
    for (const json_value one : *arguments) {
      if (one.key() == "apiVersion" || one.key() == "kind") continue;
      if (!argument(name, one)) made_.leave_out(one, fmt::format("{} does not read it", name));
    }
  }

  bool argument(const std::string& plugin, json_value told) {
    json_value kept = told;
    if (plugin == "NodeResourcesFit" && told.key() == "scoringStrategy") {
      const json_value* const type = find_member(told, "type", kept);
      const std::string name = type == nullptr ? "LeastAllocated" : scalar_text(*type);
      most_ = name == "MostAllocated";
      if (name == "RequestedToCapacityRatio") made_.leave_out(told, "no shape; LeastAllocated is taken");
      if (const json_value* const resources = find_member(told, "resources", kept))
        made_.leave_out(*resources, "CPU and memory count alike");
      return true;
    }
    if (plugin == "InterPodAffinity" && told.key() == "hardPodAffinityWeight") {
      required_pods_ = scalar_text(told);
      return true;
    }
    if (plugin == "DefaultPreemption" && told.key() == "minCandidateNodesPercentage") {
      percent_ = scalar_text(told);
      return true;
    }
    if (plugin == "DefaultPreemption" && told.key() == "minCandidateNodesAbsolute") {
      fewest_ = scalar_text(told);
      return true;
    }
    return false;
  }

  imported_policy made_;
  bool gangs_ = false;
  bool most_ = false;
  std::string fit_ = "1";
  std::string packed_ = "0";
  std::string balanced_ = "1";
  std::string taints_ = "3";
  std::string affinity_ = "2";
  std::string pods_ = "2";
  std::string required_pods_ = "1";
  std::string spread_ = "2";
  std::string percent_;
  std::string fewest_ = "100";
};

}  // namespace

result<imported_policy> import_kube_scheduler(json_value root) { return kube_import().read(root); }

}  // namespace kaisched::io::importers
