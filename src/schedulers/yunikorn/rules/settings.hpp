#pragma once
/// @file
/// What the option `yunikorn.settings` says, as text and as rules of queues.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <kaisched/result.hpp>

#include "schedulers/yunikorn/rules/state.hpp"

namespace kaisched::yunikorn {

/// `key=value` or `key@queue=value`; a setting without a queue is that of all.
struct turn_setting {
  std::string text;  ///< as written
  std::string key;
  std::string queue;  ///< empty: all
  std::string value;
};

/// Settings of one session. Nothing of them is known to be wrong, but for names of queues and resources.
struct scheduler_setup {
  std::vector<turn_setting> settings;
  bool preempts = true;
  bool protects = true;  ///< pods of groups that are not preemptible never leave
  bool packs = false;
  double reservation_delay = 2;  ///< seconds; negative: nobody keeps a node
};
/// The error names the setting.
[[nodiscard]] result<scheduler_setup> make_setup(const std::vector<std::string>& settings);

/// An amount of a resource as a setting has it: the dimension, and how many of its units one is.
struct resource_unit {
  std::size_t dimension = 0;
  double unit = 1;
};
using find_resource = std::function<std::optional<resource_unit>(std::string_view name)>;
/// Rules of the queues of a cluster, those above before those below, and weights of dimensions. The error names a
/// resource that nobody knows. Settings of queues that the cluster has not got wait for them.
[[nodiscard]] result<void> apply(const scheduler_setup& plan, const find_resource& resource, cluster_state& to);

}  // namespace kaisched::yunikorn
