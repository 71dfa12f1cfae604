#pragma once
/// @file
/// What a pod that shares GPUs needs before it is bound, as KAI's binder does it: devices that are reserved for its
/// groups, labels that say which groups, and config maps from which its container learns its devices.

#include <functional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "binding/binder.hpp"
#include "sharing/reservations.hpp"
#include "sharing/sharing_fields.hpp"
#include "watch/object_store.hpp"

namespace shim {

class gpu_sharing final : public preparation {
 public:
  gpu_sharing(const sharing_settings& by, reservations& from, object_store& store, send_function send, log_function log)
      : by_(by), from_(from), store_(store), send_(std::move(send)), log_(std::move(log)) {}

  [[nodiscard]] bool takes(const nlohmann::json& object) const override;
  step prepare(const binding& of) override;
  void undo(const binding& of) override;

 private:
  struct devices {
    step state;
    std::vector<std::string> names;
  };
  [[nodiscard]] devices reserve(const binding& of, const std::vector<std::string>& groups, const nlohmann::json& pod);
  step label(const binding& of, const nlohmann::json& decided, const nlohmann::json& pod);
  /// Labels and annotations of the pod, as it was decided about.
  response patch_metadata(const binding& of, nlohmann::json metadata);
  step tell_container(const binding& of, const nlohmann::json& decided, const nlohmann::json& pod,
                      const std::vector<std::string>& names);
  /// Keys of the config map with the limits of the container. Errors: bad_input if nobody knows them.
  [[nodiscard]] nlohmann::json limits(const binding& of, const nlohmann::json& pod, const nlohmann::json& container,
                                      const std::string& portion) const;
  step write_map(const binding& of, const std::string& name, const nlohmann::json& data);
  void drop_map(const binding& of, const std::string& name);

  const sharing_settings& by_;
  reservations& from_;
  object_store& store_;
  send_function send_;
  log_function log_;
};

}  // namespace shim
