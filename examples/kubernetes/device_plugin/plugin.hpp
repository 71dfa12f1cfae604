#pragma once
/// @file
/// The service that a kubelet calls (device plugin API v1beta1).

#include <condition_variable>
#include <cstdint>
#include <grpcpp/grpcpp.h>
#include <mutex>
#include <string>
#include <vector>

#include "device_plugin.grpc.pb.h"
#include "grant_source.hpp"
#include "inventory.hpp"
#include "slices.hpp"

namespace device_plugin {

/// What containers get beside the variables that name their cards.
struct container_extras {
  struct mount {
    std::string host;
    std::string container;
    bool read_only = true;
  };
  std::vector<mount> mounts;
  std::vector<std::pair<std::string, std::string>> variables;
  bool nodes = true;  ///< /dev/nvidia<minor> and what every container with a card needs, where they exist
};

struct plugin_options {
  std::uint32_t slices = 1;  ///< of each card, 1 to max_slices
  preference how = preference::spread;
  container_extras extras;
  std::string dev = "/dev";  ///< folder of device files
};

/// May be called from any thread; the kubelet calls from several.
class plugin final : public v1beta1::DevicePlugin::Service {
 public:
  /// @param from who says what containers get; null: the kubelet, by the devices that it chooses.
  explicit plugin(plugin_options by, grant_source* from = nullptr) : by_(std::move(by)), from_(from) {}

  /// The cards as they are from now on; who watches is told if something is different.
  void set_cards(std::vector<card> cards);
  [[nodiscard]] std::vector<card> cards() const;
  /// Ends all watches, so that the server can be shut down; new ones end at once.
  void stop();

  [[nodiscard]] v1beta1::DevicePluginOptions options() const;

  grpc::Status GetDevicePluginOptions(grpc::ServerContext*, const v1beta1::Empty*,
                                      v1beta1::DevicePluginOptions* to) override;
  grpc::Status ListAndWatch(grpc::ServerContext* context, const v1beta1::Empty*,
                            grpc::ServerWriter<v1beta1::ListAndWatchResponse>* to) override;
  grpc::Status GetPreferredAllocation(grpc::ServerContext*, const v1beta1::PreferredAllocationRequest* of,
                                      v1beta1::PreferredAllocationResponse* to) override;
  /// All containers of the request get what they ask for, or it fails. Errors: NOT_FOUND for slices that do not exist,
  /// UNAVAILABLE for those of cards that are not healthy; what the source of grants says.
  grpc::Status Allocate(grpc::ServerContext*, const v1beta1::AllocateRequest* of,
                        v1beta1::AllocateResponse* to) override;
  grpc::Status PreStartContainer(grpc::ServerContext*, const v1beta1::PreStartContainerRequest*,
                                 v1beta1::PreStartContainerResponse*) override;

 private:
  [[nodiscard]] v1beta1::ListAndWatchResponse list() const;
  grpc::Status allocate(const v1beta1::ContainerAllocateRequest& of, const std::vector<card>& cards,
                        v1beta1::ContainerAllocateResponse& to) const;
  /// Adds what every container with these cards gets.
  void add_extras(const std::vector<const card*>& cards, v1beta1::ContainerAllocateResponse& to) const;
  void add_nodes(const std::vector<const card*>& cards, v1beta1::ContainerAllocateResponse& to) const;

  plugin_options by_;
  grant_source* from_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<card> cards_;
  std::uint64_t version_ = 0;
  bool stopped_ = false;
};

}  // namespace device_plugin
