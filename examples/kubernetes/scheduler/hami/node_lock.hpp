#pragma once
/// @file
/// Locks of nodes in annotations, as HAMi and its device plugins keep them: between the binding of a pod and the moment
/// in which the plugin has given it its devices, no other pod with devices may come to the node.

#include <chrono>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "api_server/client_pool.hpp"
#include "hami/hami_annotations.hpp"

namespace shim {

class node_locks {
 public:
  explicit node_locks(client_pool& client) : client_(client) {}

  /// Takes the lock for the pod, or renews what it has. One that is older than its expiry, or whose pod is gone, is
  /// taken over, but not from a pod that this process is still binding. Waits for others no longer than `until`.
  /// @param go_on asked before each try. @return why not; empty: the pod has it. Errors: no_answer.
  [[nodiscard]] std::string take(const hami::lock_form& form, const std::string& node, const std::string& name_space,
                                 const std::string& pod, std::chrono::steady_clock::time_point until,
                                 const std::function<bool()>& go_on);
  /// Sees to it that the pod still has the lock and has it for some time yet. @return why not; empty: it does. Errors:
  /// no_answer.
  [[nodiscard]] std::string keep(const hami::lock_form& form, const std::string& node, const std::string& name_space,
                                 const std::string& pod);
  /// The pod is no longer being bound: its locks run out, unless they are given back.
  void let_go(const std::string& name_space, const std::string& pod);
  /// Gives back what the pod has. Errors: no_answer.
  void give_back(const hami::lock_form& form, const std::string& node, const std::string& name_space,
                 const std::string& pod);

 private:
  enum class outcome { done, held, again };
  [[nodiscard]] outcome try_once(const hami::lock_form& form, const std::string& node, const std::string& name_space,
                                 const std::string& pod, std::string& why);
  /// Whether somebody may have it still.
  [[nodiscard]] bool is_held(const hami::lock_form& form, const std::string& text, const std::string& node,
                             std::string& why);
  [[nodiscard]] response write(const hami::lock_form& form, const nlohmann::json& node, const nlohmann::json& value);

  /// The pod that is being bound under it.
  [[nodiscard]] std::optional<std::string> in_use_by(const hami::lock_form& form, const std::string& node) const;

  client_pool& client_;
  mutable std::mutex mutex_;
  std::map<std::pair<std::string, std::string>, std::string> in_use_;  ///< by key and node: the pod that is being bound
};

}  // namespace shim
