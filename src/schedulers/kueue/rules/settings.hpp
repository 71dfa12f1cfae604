#pragma once
/// @file
/// How queues admit, from settings as text.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <kaisched/result.hpp>

#include "schedulers/kueue/rules/flavor_assignment.hpp"
#include "schedulers/kueue/rules/quota_victims.hpp"

namespace kaisched::kueue {

/// What one queue does.
struct queue_policy {
  preemption_rules preemption;
  fungibility rules;
  bool strict_order = false;  ///< whoever is first waits, and all behind it; else others are tried in the meantime
};

/// An amount of a queue that its row in the cluster cannot carry, or carries for all flavors together.
struct quota_setting {
  enum class kind : std::uint8_t { nominal, borrowing, lending };
  std::string queue;
  kind what = kind::nominal;
  std::uint32_t resource = 0;         ///< quota dimension
  std::optional<std::string> flavor;  ///< none: every flavor
  amount value;                       ///< in the unit of the dimension
};

/// What the option `kueue.settings` says.
struct scheduler_setup {
  bool by_shares = false;
  fair_rules fair;
  bool fewer_pods = true;            ///< groups that can run with fewer pods may
  std::string flavor_label;          ///< of nodes; empty: all nodes are one flavor
  std::vector<std::string> flavors;  ///< values of the label, in the order in which they are tried; empty: all, by name
  std::string topology;              ///< of all flavors; empty: the one that groups ask for
  queue_policy usual;
  std::map<std::string, queue_policy, std::less<>> own;  ///< of queues that say something else
  std::vector<quota_setting> quotas;                     ///< the last word on a cell counts

  [[nodiscard]] const queue_policy& policy_of(std::string_view queue) const {
    const auto found = own.find(queue);
    return found == own.end() ? usual : found->second;
  }
};

/// From `key=value` and `queue.NAME.key=value`. The error names the setting that makes no sense.
[[nodiscard]] result<scheduler_setup> make_setup(const std::vector<std::string>& settings);

}  // namespace kaisched::kueue
