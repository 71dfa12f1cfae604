// Objects of Kueue -> settings of the action kueue, queues and topologies.
#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "io/importers/readers.hpp"

namespace kaisched::io::importers {

namespace {

struct renamed {
  std::string_view from;
  std::string_view to;
};
constexpr std::array victim_words{renamed{"Never", "never"}, renamed{"LowerPriority", "lower_priority"},
                                  renamed{"LowerOrNewerEqualPriority", "lower_or_newer_equal_priority"},
                                  renamed{"Any", "any"}};
constexpr std::array search_words{renamed{"MayStopSearch", "stop"}, renamed{"TryNextFlavor", "next"},
                                  renamed{"Borrow", "stop"}, renamed{"Preempt", "stop"}};
constexpr std::array preference_words{renamed{"BorrowingOverPreemption", "borrowing"},
                                      renamed{"PreemptionOverBorrowing", "preemption"}};
constexpr std::array order_words{renamed{"BestEffortFIFO", "best_effort"}, renamed{"StrictFIFO", "strict"}};
constexpr std::array strategy_words{renamed{"LessThanOrEqualToFinalShare", "at_most_final_share"},
                                    renamed{"LessThanInitialShare", "below_initial_share"}};

/// A flavor as its object says.
struct kueue_flavor {
  std::vector<std::pair<std::string, std::string>> labels;
  std::string topology;
};

class kueue_import {
 public:
  imported_policy read(const std::vector<json_value>& objects) {
    made_.of = "Kueue";
    for (const json_value one : objects) read_flavor(one);
    for (const json_value one : objects) collect_flavors(one);
    name_flavors();
    for (const json_value one : objects) read_object(one);
    for (const std::string& cohort : cohorts_) give_nothing(cohort);
    made_.set("preset", by_shares_ ? "kueue-fair" : "kueue-classical");
    if (drains_) made_.set("actions", "overlimit,kueue");
    if (by_shares_) settings_.insert(settings_.begin(), "fair_sharing=true");
    made_.set("kueue.settings", joined(settings_));
    for (const std::string& cohort : cohorts_) {
      if (!cohort_rows_.contains(cohort)) cohort_rows_[cohort] = fmt::format("queue {}", cohort);
    }
    for (const std::string& one : topology_rows_) made_.rows.push_back(one);
    for (const auto& [name, row] : cohort_rows_) made_.rows.push_back(row);
    for (const std::string& one : queue_rows_) made_.rows.push_back(one);
    return std::move(made_);
  }

 private:
  [[nodiscard]] static std::string text_at(json_value of, std::string_view key) {
    json_value kept = of;
    const json_value* const found = find_member(of, key, kept);
    return found == nullptr ? std::string{} : scalar_text(*found);
  }
  [[nodiscard]] static std::optional<json_value> at(json_value of, std::string_view key) {
    json_value kept = of;
    const json_value* const found = find_member(of, key, kept);
    return found == nullptr ? std::nullopt : std::optional(*found);
  }
  [[nodiscard]] static std::string name_of(json_value of) {
    const std::optional<json_value> meta = at(of, "metadata");
    return meta ? text_at(*meta, "name") : std::string{};
  }

  void read_flavor(json_value of) {
    if (text_at(of, "kind") != "ResourceFlavor") return;
    kueue_flavor& made = objects_[name_of(of)];
    const std::optional<json_value> spec = at(of, "spec");
    if (!spec) return;
    for (const json_value one : *spec) {
      if (one.key() == "nodeLabels") {
        for (const json_value label : one) made.labels.emplace_back(label.key(), scalar_text(label));
      } else if (one.key() == "topologyName") {
        made.topology = scalar_text(one);
      } else {
        made_.leave_out(one, "taints of nodes say it");
      }
    }
  }

  /// In the order in which queues name them first.
  void collect_flavors(json_value of) {
    const std::optional<json_value> spec = at(of, "spec");
    if (!spec) return;
    const std::optional<json_value> groups = at(*spec, "resourceGroups");
    if (!groups || !groups->is(json_kind::array)) return;
    for (const json_value group : *groups) {
      const std::optional<json_value> flavors = at(group, "flavors");
      if (!flavors) continue;
      for (const json_value flavor : *flavors) {
        const std::string name = text_at(flavor, "name");
        if (std::ranges::find(flavors_, name) == flavors_.end()) flavors_.push_back(name);
      }
    }
  }

  /// A label that all flavors have, each with a value of its own.
  void name_flavors() {
    std::set<std::string> topologies;
    for (const std::string& name : flavors_) {
      if (const auto found = objects_.find(name); found != objects_.end() && !found->second.topology.empty())
        topologies.insert(found->second.topology);
    }
    if (topologies.size() == 1) settings_.push_back("topology=" + *topologies.begin());
    if (topologies.size() > 1) made_.unmapped.emplace_back("flavors of several topologies: pods are placed in none");
    if (flavors_.empty()) return;
    const auto first = objects_.find(flavors_.front());
    if (first == objects_.end() || first->second.labels.empty()) {
      if (flavors_.size() > 1) told_apart_by_none();
      return;
    }
    for (const auto& [label, value] : first->second.labels) {
      std::map<std::string, std::string> values;
      std::set<std::string> all;
      for (const std::string& name : flavors_) {
        const auto of = objects_.find(name);
        if (of == objects_.end()) continue;
        for (const auto& [key, text] : of->second.labels) {
          if (key == label && all.insert(text).second) values[name] = text;
        }
      }
      if (values.size() != flavors_.size()) continue;
      value_of_ = values;
      std::vector<std::string> order;
      for (const std::string& name : flavors_) order.push_back(values.at(name));
      settings_.push_back("flavor_label=" + label);
      settings_.push_back("flavors=" + joined(order, "+"));
      return;
    }
    told_apart_by_none();
  }

  void told_apart_by_none() {
    made_.unmapped.emplace_back("no label tells all flavors apart: those of a queue are one, with the first quota");
  }

  void read_object(json_value of) {
    const std::string kind = text_at(of, "kind");
    const std::optional<json_value> spec = at(of, "spec");
    if (kind == "Configuration") return read_configuration(of);
    if (kind == "ResourceFlavor") return;
    if (kind == "ClusterQueue" || kind == "Cohort") {
      if (spec) read_queue(name_of(of), *spec, kind == "Cohort");
    } else if (kind == "Topology") {
      if (spec) read_topology(name_of(of), *spec);
    } else if (kind == "LocalQueue" && spec) {
      made_.leave_out(
          of, fmt::format("LocalQueue {}: groups name the queue {}", name_of(of), text_at(*spec, "clusterQueue")));
    } else {
      made_.leave_out(of, fmt::format("{} {}: nothing here does this", kind, name_of(of)));
    }
  }

  void read_configuration(json_value of) {
    for (const json_value one : of) {
      if (one.key() == "apiVersion" || one.key() == "kind") continue;
      if (one.key() != "fairSharing") {
        made_.leave_out(one, "nothing here does this");
        continue;
      }
      by_shares_ = text_at(one, "enable") != "false";
      const std::optional<json_value> strategies = at(one, "preemptionStrategies");
      if (!strategies || !strategies->is(json_kind::array)) continue;
      std::vector<std::string> names;
      for (const json_value name : *strategies) {
        if (const std::string word = word_of(strategy_words, name); !word.empty()) names.push_back(word);
      }
      settings_.push_back("share_strategies=" + joined(names, "+"));
    }
  }

  void read_topology(const std::string& name, json_value spec) {
    std::vector<std::string> levels;
    if (const std::optional<json_value> all = at(spec, "levels"); all && all->is(json_kind::array)) {
      for (const json_value one : *all) levels.push_back(text_at(one, "nodeLabel"));
    }
    topology_rows_.push_back(fmt::format("topology {} levels=[{}]", name, joined(levels)));
  }

  void read_queue(const std::string& name, json_value spec, bool is_cohort) {
    std::string row = "queue " + name;
    std::string above;
    const std::string stops = text_at(spec, "stopPolicy");
    const bool drains = stops == "HoldAndDrain";
    const bool holds = drains || stops == "Hold";
    // Who has no quota and may borrow none lets nobody in; over a limit of nothing everybody leaves.
    if (drains) {
      row += " limit=0";
      drains_ = true;
    }
    for (const json_value one : spec) {
      const std::string_view key = one.key();
      if (key == "cohortName" || key == "cohort" || key == "parentName" || key == "parent") {
        above = scalar_text(one);
      } else if (key == "fairSharing") {
        if (const std::string weight = text_at(one, "weight"); !weight.empty())
          row += " over_quota_weight.gpu=" + weight;
      } else if (key == "preemption") {
        read_preemption(name, one);
      } else if (key == "flavorFungibility") {
        for (const json_value rule : one) {
          if (rule.key() == "whenCanBorrow")
            put(name, "when_can_borrow", search_words, rule);
          else if (rule.key() == "whenCanPreempt")
            put(name, "when_can_preempt", search_words, rule);
          else if (rule.key() == "preference")
            put(name, "prefers", preference_words, rule);
          else
            made_.leave_out(rule, "nothing here does this");
        }
      } else if (key == "queueingStrategy") {
        put(name, "order", order_words, one);
      } else if (key == "resourceGroups") {
        if (one.is(json_kind::array)) read_quotas(name, one, is_cohort, holds);
      } else if (!(key == "stopPolicy" && (holds || scalar_text(one) == "None")) &&
                 !(key == "namespaceSelector" && one.size() == 0)) {
        made_.leave_out(one, fmt::format("nothing here does this for {}", name));
      }
    }
    if (!above.empty()) {
      cohorts_.insert(above);
      row += " parent=" + above;
    }
    if (is_cohort) {
      cohorts_.insert(name);
      cohort_rows_[name] = row;
    } else {
      queue_rows_.push_back(row);
    }
  }

  void read_preemption(const std::string& queue, json_value of) {
    for (const json_value one : of) {
      if (one.key() == "withinClusterQueue") {
        put(queue, "within_queue", victim_words, one);
      } else if (one.key() == "reclaimWithinCohort") {
        put(queue, "reclaim_within_cohort", victim_words, one);
      } else if (one.key() == "borrowWithinCohort") {
        const std::string policy = text_at(one, "policy");
        if (policy.empty() || policy == "Never") continue;
        settings_.push_back(fmt::format("queue.{}.borrow_within_cohort=lower_priority", queue));
        if (const std::string most = text_at(one, "maxPriorityThreshold"); !most.empty())
          settings_.push_back(fmt::format("queue.{}.borrow_highest_priority={}", queue, most));
      } else {
        made_.leave_out(one, "nothing here does this");
      }
    }
  }

  /// Empty for resources that have no quotas here.
  [[nodiscard]] static std::string_view resource_of(std::string_view name) {
    if (name == "cpu" || name == "memory") return name;
    return name.ends_with("/gpu") ? "gpu" : "";
  }

  void read_quotas(const std::string& queue, json_value groups, bool is_cohort, bool holds) {
    cells& said = said_[queue];
    std::set<std::string> resources;
    for (const json_value group : groups) {
      const std::optional<json_value> flavors = at(group, "flavors");
      if (!flavors || !flavors->is(json_kind::array)) continue;
      for (const json_value flavor : *flavors) {
        const std::string name = text_at(flavor, "name");
        const std::optional<json_value> amounts = at(flavor, "resources");
        if (!amounts || !amounts->is(json_kind::array)) continue;
        for (const json_value one : *amounts) {
          const std::string resource(resource_of(text_at(one, "name")));
          if (resource.empty()) {
            made_.leave_out(one, fmt::format("{} of {} has no quota here", text_at(one, "name"), queue));
            continue;
          }
          if (!said.emplace(value_of_.empty() ? std::string{} : name, resource).second) continue;
          resources.insert(resource);
          resources_.insert(resource);
          if (holds) {
            put_quota(queue, "nominal", resource, name, "0");
            put_quota(queue, "borrowing", resource, name, "0");
            continue;
          }
          for (const renamed& kind : {renamed{"nominalQuota", "nominal"}, renamed{"borrowingLimit", "borrowing"},
                                      renamed{"lendingLimit", "lending"}}) {
            if (const std::string amount = text_at(one, kind.from); !amount.empty())
              put_quota(queue, kind.to, resource, name, amount);
          }
        }
      }
    }
    if (is_cohort) return;
    // A queue has nothing of flavors that it does not name, not even borrowed.
    for (const auto& [flavor, value] : value_of_) {
      for (const std::string& resource : resources) {
        if (said.contains({flavor, resource})) continue;
        put_quota(queue, "nominal", resource, flavor, "0");
        put_quota(queue, "borrowing", resource, flavor, "0");
      }
    }
  }

  /// A cohort has nothing of its own but what it says.
  void give_nothing(const std::string& cohort) {
    std::vector<std::string> flavors = flavors_;
    if (value_of_.empty()) flavors = {""};
    for (const std::string& flavor : flavors) {
      for (const std::string& resource : resources_) {
        if (!said_[cohort].contains({flavor, resource})) put_quota(cohort, "nominal", resource, flavor, "0");
      }
    }
  }

  void put_quota(const std::string& queue, std::string_view kind, const std::string& resource,
                 const std::string& flavor, const std::string& amount) {
    const std::string at = value_of_.empty() ? std::string{} : "." + value_of_.at(flavor);
    settings_.push_back(fmt::format("queue.{}.{}.{}{}={}", queue, kind, resource, at, amount));
  }

  template <std::size_t Size>
  [[nodiscard]] std::string word_of(const std::array<renamed, Size>& words, json_value of) {
    const std::string text = scalar_text(of);
    const auto found = std::ranges::find(words, text, &renamed::from);
    if (found != words.end()) return std::string(found->to);
    made_.leave_out(of, fmt::format("nothing here is {}", text));
    return {};
  }

  template <std::size_t Size>
  void put(const std::string& queue, std::string_view key, const std::array<renamed, Size>& words, json_value of) {
    if (const std::string word = word_of(words, of); !word.empty())
      settings_.push_back(fmt::format("queue.{}.{}={}", queue, key, word));
  }

  using cells = std::set<std::pair<std::string, std::string>>;  ///< flavor and resource

  imported_policy made_;
  std::map<std::string, kueue_flavor> objects_;
  std::map<std::string, cells> said_;  ///< by queue
  std::set<std::string> resources_;
  std::vector<std::string> flavors_;
  std::map<std::string, std::string> value_of_;  ///< of the label; empty: all nodes are one flavor
  std::vector<std::string> settings_;
  std::set<std::string> cohorts_;
  std::map<std::string, std::string> cohort_rows_;
  std::vector<std::string> queue_rows_;
  std::vector<std::string> topology_rows_;
  bool by_shares_ = false;
  bool drains_ = false;  ///< a queue is to lose what it has
};

}  // namespace

result<imported_policy> import_kueue(const std::vector<json_value>& objects) { return kueue_import().read(objects); }

}  // namespace kaisched::io::importers
