#pragma once
/// @file
/// A scheduler extender: a plain kube-scheduler asks which of its nodes has devices for a pod, and leaves the binding
/// of such pods to this. Protocol: k8s.io/kube-scheduler/extender/v1, with nodes by name or as a whole. What is written
/// about devices is what HAMi writes, so its device plugins go on as they are.

#include <chrono>
#include <functional>
#include <mutex>
#include <string>

#include <nlohmann/json.hpp>

#include "api_server/client_pool.hpp"
#include "configuration/configuration.hpp"
#include "hami/device_choice.hpp"
#include "hami/node_lock.hpp"
#include "server/http_server.hpp"
#include "watch/object_store.hpp"

namespace shim {

class extender {
 public:
  /// @param obstacle why this process may decide nothing now; empty: it may. Asked before everything that is written.
  extender(const configuration& by, const credentials& as, object_store& store, std::function<std::string()> obstacle,
           log_function log);

  /// Adds `/filter`, `/prioritize` and `/bind`. Before the server starts.
  void serve(http_server& on);
  /// Ends requests to the API server that are on their way. From any thread.
  void cancel() noexcept { client_.cancel(); }

  // What the paths answer: bodies in, bodies out. From any thread; no exceptions.
  [[nodiscard]] nlohmann::json filter(const std::string& body);
  [[nodiscard]] nlohmann::json prioritize(const std::string& body);
  [[nodiscard]] nlohmann::json bind(const std::string& body);

 private:
  struct question;
  struct bind_order;
  struct grant;

  [[nodiscard]] question read_question(const std::string& body) const;
  [[nodiscard]] nlohmann::json answer(const question& asked);
  /// Nothing is written.
  [[nodiscard]] device_choice decide(const question& asked, std::uint64_t& seen);
  /// The devices are assumed to be the pod's.
  [[nodiscard]] grant decide_and_assume(const question& asked);
  /// @return why not; empty: it is written.
  [[nodiscard]] std::string write(const question& asked, const nlohmann::json& metadata);
  void take_back(const question& asked);
  /// Whether devices have to be chosen for it before it may be bound.
  [[nodiscard]] bool needs_devices(const nlohmann::json& pod) const;

  [[nodiscard]] std::string carry_out(const bind_order& what);
  /// @param last when the binding has to be on its way.
  [[nodiscard]] std::string bind_with_devices(const bind_order& what, const nlohmann::json& annotations,
                                              std::chrono::system_clock::time_point last);
  [[nodiscard]] std::string send_binding(const bind_order& what);
  [[nodiscard]] std::string why_not_done(const bind_order& what, const request& asked);
  [[nodiscard]] std::string patch_phase(const bind_order& what, const nlohmann::json& annotations);
  [[nodiscard]] bool may_go_on() const { return obstacle_().empty(); }

  const configuration& by_;
  object_store& store_;
  std::function<std::string()> obstacle_;
  log_function log_;
  client_pool client_;
  node_locks locks_;
  device_chooser chooser_;
  std::mutex deciding_;  ///< one after the other: each sees what the ones before it gave away
};

}  // namespace shim
