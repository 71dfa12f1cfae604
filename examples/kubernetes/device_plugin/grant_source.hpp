#pragma once
/// @file
/// Where a plugin asks what a container gets, if that is not for the kubelet to choose.

#include <grpcpp/grpcpp.h>
#include <stdexcept>
#include <string>
#include <vector>

#include "device_plugin.pb.h"
#include "inventory.hpp"

namespace device_plugin {

/// Why a container gets nothing.
class refused : public std::runtime_error {
 public:
  refused(grpc::StatusCode code, const std::string& why) : std::runtime_error(why), code_(code) {}
  [[nodiscard]] grpc::StatusCode code() const { return code_; }

 private:
  grpc::StatusCode code_;
};

class grant_source {
 public:
  grant_source() = default;
  grant_source(const grant_source&) = delete;
  grant_source& operator=(const grant_source&) = delete;
  virtual ~grant_source() = default;

  /// Gives the container that is next what it was granted. @param ids that the kubelet knows the devices by: how many
  /// they are counts. @param cards those of the node. @param to gets variables and mounts that limit the container.
  /// @return UUIDs of its cards, in its order. Errors: refused.
  [[nodiscard]] virtual std::vector<std::string> give(const std::vector<std::string>& ids,
                                                      const std::vector<card>& cards,
                                                      v1beta1::ContainerAllocateResponse& to) = 0;
  /// Cards of the container that is next, if it gets so many; none: nobody can say. No exceptions.
  [[nodiscard]] virtual std::vector<std::string> next_cards(std::size_t count) noexcept = 0;
};

}  // namespace device_plugin
