#pragma once
/// @file
/// What the scheduler has granted, as annotations of pods say it: which container the kubelet asks for is found, and
/// that it has its devices is written, as HAMi's device plugin does.

#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "container_setup.hpp"
#include "grant_source.hpp"
#include "hami/node_lock.hpp"
#include "node_api.hpp"

namespace device_plugin {

/// May be called from any thread; containers are served one after the other.
class granted final : public grant_source {
 public:
  using log_function = std::function<void(const std::string&)>;
  granted(node_api& api, setup_options by, log_function log)
      : api_(api), by_(std::move(by)), log_(std::move(log)), locks_(api.client()) {}

  [[nodiscard]] std::vector<std::string> give(const std::vector<std::string>& ids, const std::vector<card>& cards,
                                              v1beta1::ContainerAllocateResponse& to) override;
  [[nodiscard]] std::vector<std::string> next_cards(std::size_t count) noexcept override;

 private:
  struct found {
    granted_container what;
    bool again = false;  ///< it has its devices already: the kubelet did not hear so
  };

  [[nodiscard]] found find(const std::vector<std::string>& ids);
  /// Writes that the container has its devices, and with the last one that the pod has.
  void take_out(granted_container& what, const std::string& ids);
  void give_back_lock(const nlohmann::json& pod);
  /// The pod gets no devices.
  void fail(nlohmann::json pod, const std::string& why);

  node_api& api_;
  setup_options by_;
  log_function log_;
  shim::node_locks locks_;
  std::mutex mutex_;
};

}  // namespace device_plugin
