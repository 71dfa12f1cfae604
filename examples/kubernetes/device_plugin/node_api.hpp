#pragma once
/// @file
/// What a program of one node asks of the API server and writes there.

#include <chrono>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "api_server/client_pool.hpp"
#include "api_server/credentials.hpp"

namespace device_plugin {

/// From any thread. Errors of all calls: shim::no_answer, of those that read after `patience`; shim::cancelled;
/// std::runtime_error with the server's words if it refuses.
class node_api {
 public:
  using steady = std::chrono::steady_clock;

  node_api(const shim::credentials& as, std::string node, std::chrono::milliseconds patience);

  [[nodiscard]] const std::string& node_name() const { return node_; }
  [[nodiscard]] std::chrono::milliseconds patience() const { return patience_; }
  [[nodiscard]] shim::client_pool& client() { return client_; }

  /// Pods that are bound to the node.
  [[nodiscard]] std::vector<nlohmann::json> pods() { return pods(steady::now() + patience_); }
  /// @param until how long to go on asking a server that does not answer.
  [[nodiscard]] std::vector<nlohmann::json> pods(steady::time_point until);
  /// Null if there is none.
  [[nodiscard]] nlohmann::json pod(const std::string& name_space, const std::string& name);
  [[nodiscard]] nlohmann::json node();

  enum class outcome { done, changed };  ///< changed since it was read: nothing is written
  /// Writes annotations, null for those that go. @param object pod or node as it was read; without its
  /// version whatever has changed.
  [[nodiscard]] outcome annotate_pod(const nlohmann::json& object, const nlohmann::json& annotations);
  [[nodiscard]] outcome annotate_node(const nlohmann::json& object, const nlohmann::json& annotations);

  /// Ends what is on its way; nothing is asked any more.
  void cancel() noexcept { client_.cancel(); }

 private:
  [[nodiscard]] nlohmann::json read(const std::string& target, steady::time_point until);
  [[nodiscard]] outcome annotate(const std::string& target, const nlohmann::json& object,
                                 const nlohmann::json& annotations);

  std::string node_;
  std::chrono::milliseconds patience_;
  shim::client_pool client_;
};

}  // namespace device_plugin
