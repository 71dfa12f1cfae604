// volcano-scheduler.conf -> tiers of plug-ins.
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <system_error>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "base/text.hpp"
#include "io/importers/readers.hpp"
#include "io/kubernetes/quantity.hpp"
#include "schedulers/volcano/rules/catalog.hpp"

namespace kaisched::io::importers {

namespace {

/// Arguments of plug-ins and actions, and the settings that do the same.
const std::map<std::string, std::string, std::less<>>& settings_by_argument() {
  static const std::map<std::string, std::string, std::less<>> known{
      {"binpack/binpack.weight", "weight"},
      {"binpack/binpack.cpu", "cpu"},
      {"binpack/binpack.memory", "memory"},
      {"capacity/ancestorReclaimLevel", "ancestor_levels"},
      {"gangpreempt/allowWholeBundle", "whole_jobs"},
      {"gangpreempt/maxDomains", "most_domains"},
      {"gangreclaim/allowWholeBundle", "whole_jobs"},
      {"gangreclaim/maxDomains", "most_domains"},
      {"network-topology-aware/hypernode.gradient.evict.max-hypernodes", "evict_domains"},
      {"network-topology-aware/weight", "weight"},
      {"network-topology-aware/hypernode.binpack.cpu", "cpu"},
      {"network-topology-aware/hypernode.binpack.memory", "memory"},
      {"network-topology-aware/hypernode.binpack.normal-pod.enable", "packs_other_pods"},
      {"network-topology-aware/hypernode.binpack.normal-pod.fading", "fading"},
      {"nodegroup/strict", "strict"},
      {"nodegroup/enablePreferredOrder", "preferred_in_order"},
      {"nodeorder/leastrequested.weight", "least"},
      {"nodeorder/mostrequested.weight", "most"},
      {"nodeorder/balancedresource.weight", "balanced"},
      {"nodeorder/nodeaffinity.weight", "affinity"},
      {"nodeorder/tainttoleration.weight", "taints"},
      {"nodeorder/podaffinity.weight", "pods"},
      {"nodeorder/podtopologyspread.weight", "spread"},
      {"overcommit/overcommit-factor", "factor"},
      {"preempt/enableTopologyAwarePreemption", "trials"},
      {"preempt/minCandidateNodesPercentage", "percent_of_nodes"},
      {"preempt/minCandidateNodesAbsolute", "fewest_nodes"},
      {"preempt/maxCandidateNodesAbsolute", "most_nodes"},
      {"resource-strategy-fit/resourceStrategyFitWeight", "weight"},
      {"task-topology/task-topology.weight", "weight"},
      {"usage/usage.weight", "weight"},
      {"usage/cpu.weight", "cpu"},
      {"usage/memory.weight", "memory"},
  };
  return known;
}

/// What does the same as plug-ins that are no part of tiers.
std::string instead_of_plugin(std::string_view name) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 5> known{{
      {"deviceshare", "devices and parts of them are given by the session itself"},
      {"extender", "kaisched-kubernetes asks other programs before a session"},
      {"numaaware", "NUMA zones are looked at by the session itself"},
      {"resourcequota", "the API server holds quotas of namespaces"},
      {"tdm", "nodes that are lent for hours are reservations"},
  }};
  const auto* const found = std::ranges::find(known, name, &std::pair<std::string_view, std::string_view>::first);
  const std::string text = fmt::format("there is no plug-in {}", name);
  return found == known.end() ? text : fmt::format("{}: {}", text, found->second);
}

/// Volcano's switches name the points behind `enable` or `enabled` in letters of both cases: JobOrder, HyperNodeOrder.
std::string point_of_switch(std::string_view name) {
  for (const std::string_view prefix : {"enabled", "enable"}) {
    if (!name.starts_with(prefix)) continue;
    name.remove_prefix(prefix.size());
    break;
  }
  std::string point;
  for (const char letter : name) {
    const bool capital = letter >= 'A' && letter <= 'Z';
    if (capital && !point.empty()) point += '_';
    point += capital ? static_cast<char>(letter - 'A' + 'a') : letter;
  }
  constexpr std::string_view there = "hyper_node_";
  return point.starts_with(there) ? "domain_" + point.substr(there.size()) : point;
}

bool holds(std::span<const std::string_view> names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

class volcano_import {
 public:
  imported_policy read(json_value root) {
    made_.of = "Volcano";
    made_.set("preset", "volcano-default");
    json_value kept = root;
    for (const json_value one : root) {
      if (one.key() == "actions") {
        actions(one);
      } else if (one.key() == "tiers" && one.is(json_kind::array)) {
        for (const json_value tier : one) add_tier(tier);
      } else if (one.key() == "configurations" && one.is(json_kind::array)) {
        for (const json_value action : one) {
          const json_value* const name = find_member(action, "name", kept);
          const std::string owner = name == nullptr ? "" : scalar_text(*name);
          if (const json_value* const told = find_member(action, "arguments", kept)) arguments(owner, *told);
        }
      } else {
        made_.leave_out(one, "nothing here does this");
      }
    }
    if (!tiers_.empty()) made_.set("volcano.tiers", joined(tiers_));
    if (!actions_.empty()) made_.set("volcano.actions", joined(actions_));
    if (!settings_.empty()) made_.set("volcano.settings", joined(settings_));
    return std::move(made_);
  }

 private:
  void actions(json_value told) {
    for (const std::string& name : base::split_names(scalar_text(told))) {
      if (holds(volcano::action_names(), name)) {
        actions_.push_back(name);
      } else {
        made_.leave_out(told, fmt::format("there is no action {}", name));
      }
    }
  }

  void add_tier(json_value tier) {
    std::vector<std::string> names;
    json_value kept = tier;
    const json_value* const plugins = find_member(tier, "plugins", kept);
    if (plugins == nullptr || !plugins->is(json_kind::array)) return;
    for (const json_value plugin : *plugins) {
      if (const std::string name = add_plugin(plugin); !name.empty()) names.push_back(name);
    }
    if (!names.empty()) tiers_.push_back(joined(names, "+"));
  }

  std::string add_plugin(json_value plugin) {
    json_value kept = plugin;
    const json_value* const named = find_member(plugin, "name", kept);
    const std::string name = named == nullptr ? "" : scalar_text(*named);
    if (!holds(volcano::plugin_names(), name)) {
      made_.leave_out(plugin, instead_of_plugin(name));
      return {};
    }
    for (const json_value one : plugin) {
      if (one.key() == "name") continue;
      if (one.key() == "arguments") {
        arguments(name, one);
      } else {
        add_switch(name, one);
      }
    }
    return name;
  }

  void add_switch(const std::string& plugin, json_value told) {
    const std::string point = point_of_switch(told.key());
    if (!holds(volcano::point_names(), point) || !told.is(json_kind::boolean)) {
      made_.leave_out(told, fmt::format("nothing is asked of {} there", plugin));
      return;
    }
    const bool usual = point != "hierarchy";
    if (told.boolean() != usual)
      settings_.push_back(fmt::format("{}.at.{}={}", plugin, point, told.boolean() ? "true" : "false"));
  }

  void arguments(const std::string& owner, json_value told) {
    if (!told.is(json_kind::object)) return;
    for (const json_value one : told) {
      const auto setting = settings_by_argument().find(owner + "/" + std::string(one.key()));
      if (setting != settings_by_argument().end()) {
        settings_.push_back(fmt::format("{}.{}={}", owner, setting->second, scalar_text(one)));
      } else if (owner == "sla" && one.key() == "sla-waiting-time") {
        const std::optional<double> time = seconds_of(scalar_text(one));
        if (time && *time > 0)
          settings_.push_back(fmt::format("sla.waiting_time={:g}", *time));
        else
          made_.leave_out(one, "this is no time to wait");
      } else if (!weight_of_resource(owner, one, told) && !strategy(owner, one) && !set_aside(owner, one, told) &&
                 !load(owner, one)) {
        made_.leave_out(one, fmt::format("{} does not read it", owner));
      }
    }
  }

  /// `binpack.resources` lists names, `binpack.resources.NAME` says their weight; a name without one weighs 1.
  bool weight_of_resource(const std::string& owner, json_value one, json_value all) {
    const std::string prefix = owner == "binpack"                  ? "binpack.resources"
                               : owner == "network-topology-aware" ? "hypernode.binpack.resources"
                                                                   : "";
    if (prefix.empty() || !one.key().starts_with(prefix)) return false;
    if (one.key() != prefix) return true;  // told with the list
    json_value kept = one;
    for (const std::string& name : base::split_names(scalar_text(one))) {
      const json_value* const weight = find_member(all, prefix + "." + name, kept);
      settings_.push_back(
          fmt::format("{}.resources.{}={}", owner, name, weight == nullptr ? "1" : scalar_text(*weight)));
    }
    return true;
  }

  /// predicates: `predicate.ProportionalEnable`, `predicate.resources` with a list of names, and for each of them how
  /// many cores and gigabytes stay free for one of it, 1 where nothing is said.
  bool set_aside(const std::string& owner, json_value one, json_value all) {
    constexpr std::string_view list = "predicate.resources";
    constexpr std::string_view gpu = "nvidia.com/gpu";
    if (owner != "predicates") return false;
    if (one.key() == "predicate.ProportionalEnable") return true;
    if (!one.key().starts_with(list)) return false;
    if (one.key() != list) return one.key().starts_with(fmt::format("{}.{}.", list, gpu));  // told with the list
    json_value kept = one;
    const json_value* const enabled = find_member(all, "predicate.ProportionalEnable", kept);
    if (enabled == nullptr || scalar_text(*enabled) != "true") return true;
    for (const std::string& name : base::split_names(scalar_text(one))) {
      if (name != gpu) {
        made_.leave_out(one, fmt::format("nothing is set aside for {}", name));
        continue;
      }
      for (const auto& [resource, option, unit] :
           {std::tuple{"cpu", "set_aside.cpu", 1e3}, std::tuple{"memory", "set_aside.memory", 1e9}}) {
        const json_value* const told = find_member(all, fmt::format("{}.{}.{}", list, gpu, resource), kept);
        const std::string text = told == nullptr ? "1" : scalar_text(*told);
        double rate = 1;
        const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), rate);
        if (fault != std::errc{} || end != text.data() + text.size() || !(rate >= 0)) rate = 1;
        made_.set(option, fmt::format("{:.0f}", std::min(std::ceil(rate * unit), 1e12)));
      }
    }
    return true;
  }

  /// resource-strategy-fit: `resources: {NAME: {type, weight}}`, `sra: {enable, resources, weight, resourceWeight}`.
  bool strategy(const std::string& owner, json_value told) {
    if (owner != "resource-strategy-fit" || !told.is(json_kind::object)) return false;
    json_value kept = told;
    const auto text = [&](json_value of, std::string_view key, std::string fallback) {
      const json_value* const found = find_member(of, key, kept);
      return found == nullptr ? std::move(fallback) : scalar_text(*found);
    };
    if (told.key() == "resources") {
      for (const json_value one : told) {
        const bool most = text(one, "type", "LeastAllocated") == "MostAllocated";
        settings_.push_back(
            fmt::format("{}.resources.{}={}:{}", owner, one.key(), most ? "most" : "least", text(one, "weight", "1")));
      }
      return true;
    }
    if (told.key() != "sra") return false;
    if (text(told, "enable", "false") != "true") return true;
    settings_.push_back(fmt::format("{}.scarce.weight={}", owner, text(told, "weight", "0")));
    for (const std::string& name : base::split_names(text(told, "resources", ""))) {
      json_value weights = told;
      const json_value* const found = find_member(told, "resourceWeight", weights);
      const std::string weight = found == nullptr ? "1" : text(*found, name, "1");
      settings_.push_back(fmt::format("{}.scarce.resources.{}={}", owner, name, weight));
    }
    return true;
  }

  /// usage: `thresholds: {cpu, mem}`, `estimator: {request_ratio, ...}`.
  bool load(const std::string& owner, json_value told) {
    static const std::map<std::string, std::string, std::less<>> known{
        {"thresholds/cpu", "most_cpu"},
        {"thresholds/mem", "most_memory"},
        {"estimator/request_ratio", "request_ratio"},
        {"estimator/risk_threshold", "risk_threshold"},
        {"estimator/risk_factor", "risk_factor"},
        {"estimator/be_cpu", "cpu_of_none"},
        {"estimator/be_mem", "memory_of_none"},
    };
    const bool is_section = told.key() == "thresholds" || told.key() == "estimator";
    if (owner != "usage" || !is_section || !told.is(json_kind::object)) return false;
    for (const json_value one : told) {
      const auto setting = known.find(fmt::format("{}/{}", told.key(), one.key()));
      const std::optional<std::string> value =
          setting == known.end() ? std::nullopt : figure(setting->second, scalar_text(one));
      if (value) {
        settings_.push_back(fmt::format("usage.{}={}", setting->second, *value));
      } else {
        made_.leave_out(
            one, setting == known.end() ? "what pods may use beyond their requests is not known" : "this is no amount");
      }
    }
    return true;
  }

  /// Plain numbers of what pods use that ask for nothing are milli-cores and MiB; there are quantities as well.
  static std::optional<std::string> figure(std::string_view setting, std::string text) {
    const bool of_cpu = setting == "cpu_of_none";
    if (!of_cpu && setting != "memory_of_none") return text;
    if (!text.empty() && text.find_first_not_of("0123456789") == std::string::npos) return text;
    constexpr double mebibyte = 1048576;
    const kubernetes::quantity read = kubernetes::parse_quantity(text, of_cpu ? 3 : 0);
    if (read.fault != kubernetes::quantity_fault::none || read.amount < 0) return std::nullopt;
    const auto amount = static_cast<double>(read.amount);
    return fmt::format("{}", of_cpu ? amount : amount / mebibyte);
  }

  imported_policy made_;
  std::vector<std::string> tiers_;
  std::vector<std::string> actions_;
  std::vector<std::string> settings_;
};

}  // namespace

result<imported_policy> import_volcano(json_value root) { return volcano_import().read(root); }

}  // namespace kaisched::io::importers
