#pragma once
/// @file
/// Locks of nodes in annotations, as HAMi and its device plugins keep them: between the binding of a pod and the moment
/// in which the plugin has given it its devices, no other pod with devices may come to the node.

#include <chrono>
#include <functional>
#include <string>

#include "client_pool.hpp"
#include "hami_annotations.hpp"

namespace shim {

class node_locks {
 public:
  explicit node_locks(client_pool& client) : client_(client) {}

  /// Takes the lock for the pod, or finds that it has it. One that is older than its expiry, or whose pod is gone, is
  /// taken over. Waits for others no longer than `until`.
  /// @param go_on asked before each try. @return why not; empty: the pod has it. Errors: no_answer.
  [[nodiscard]] std::string take(const hami::lock_form& form, const std::string& node, const std::string& name_space,
                                 const std::string& pod, std::chrono::steady_clock::time_point until,
                                 const std::function<bool()>& go_on);
  /// Gives back what the pod has. Errors: no_answer.
  void give_back(const hami::lock_form& form, const std::string& node, const std::string& name_space,
                 const std::string& pod);

 private:
  enum class outcome { done, held, again };
  [[nodiscard]] outcome try_once(const hami::lock_form& form, const std::string& node, const std::string& name_space,
                                 const std::string& pod, std::string& why);
  /// Whether somebody may have it still. @param own whether that is the pod.
  [[nodiscard]] bool is_held(const hami::lock_form& form, const std::string& text, const std::string& node,
                             std::string& why);
  [[nodiscard]] response write(const hami::lock_form& form, const nlohmann::json& node, const nlohmann::json& value);

  client_pool& client_;
};

}  // namespace shim
