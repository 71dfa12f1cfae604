#pragma once
/// @file
/// Resource claims of a pod (resource.k8s.io/v1) before it is bound: devices that were decided are allocated, and the
/// pod is put among those for whom the claim is reserved, as kube-scheduler does it.

#include <functional>
#include <set>
#include <string>

#include <nlohmann/json.hpp>

#include "api_server/http_client.hpp"
#include "binding/binder.hpp"
#include "watch/object_store.hpp"

namespace shim {

class claim_reservation final : public preparation {
 public:
  claim_reservation(object_store& store, send_function send, log_function log)
      : store_(store), send_(std::move(send)), log_(std::move(log)) {}

  [[nodiscard]] bool takes(const nlohmann::json& object) const override;
  step prepare(const binding& of) override;
  /// Claims that cannot be given back now stay reserved for the pod, which then starts where their devices are.
  void undo(const binding& of) override;

 private:
  /// What has become of a change, in the words of the server; empty: it was made.
  [[nodiscard]] std::string patch(const std::string& claim, std::string_view part, nlohmann::json change);
  [[nodiscard]] std::string reserve(const binding& of, const nlohmann::json& decided);
  void give_back(const binding& of, const nlohmann::json& decided);
  /// The claim as it is, asked of the server if nobody knows what became of the last change; null: it is gone.
  [[nodiscard]] nlohmann::json current(const std::string& claim);

  object_store& store_;
  send_function send_;
  log_function log_;
  std::set<std::string> unsure_;  ///< claims that may have changed without an answer
};

}  // namespace shim
