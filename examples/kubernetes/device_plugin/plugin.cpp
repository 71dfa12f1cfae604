#include "plugin.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace device_plugin {

namespace {

/// How soon a kubelet that has gone is noticed by a watch on which nothing happens.
constexpr std::chrono::seconds watch_pulse{1};

template <class Ids>
std::vector<std::string> texts(const Ids& ids) {
  return {ids.begin(), ids.end()};
}

void add_node(const std::filesystem::path& file, v1beta1::ContainerAllocateResponse& to) {
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored)) return;
  v1beta1::DeviceNode& node = *to.add_devices();
  node.set_container_path("/dev/" + file.filename().string());
  node.set_host_path(file.string());
  node.set_permissions("rw");
}

}  // namespace

void plugin::set_cards(std::vector<card> cards) {
  const std::lock_guard lock(mutex_);
  if (version_ > 0 && cards == cards_) return;
  cards_ = std::move(cards);
  ++version_;
  changed_.notify_all();
}

void plugin::stop() {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  changed_.notify_all();
}

v1beta1::DevicePluginOptions plugin::options() const {
  v1beta1::DevicePluginOptions made;
  made.set_get_preferred_allocation_available(true);
  return made;
}

grpc::Status plugin::GetDevicePluginOptions(grpc::ServerContext*, const v1beta1::Empty*,
                                            v1beta1::DevicePluginOptions* to) {
  *to = options();
  return grpc::Status::OK;
}

v1beta1::ListAndWatchResponse plugin::list() const {
  v1beta1::ListAndWatchResponse made;
  for (const card& one : cards_) {
    for (std::uint32_t number = 0; number < by_.slices; ++number) {
      v1beta1::Device& device = *made.add_devices();
      device.set_id(slice_id(one.uuid, number, by_.slices));
      device.set_health(one.healthy ? "Healthy" : "Unhealthy");
      if (one.numa >= 0) device.mutable_topology()->add_nodes()->set_id(one.numa);
    }
  }
  return made;
}

grpc::Status plugin::ListAndWatch(grpc::ServerContext* context, const v1beta1::Empty*,
                                  grpc::ServerWriter<v1beta1::ListAndWatchResponse>* to) {
  std::uint64_t sent = 0;
  for (;;) {
    v1beta1::ListAndWatchResponse now;
    {
      std::unique_lock lock(mutex_);
      changed_.wait_for(lock, watch_pulse, [&] { return stopped_ || version_ != sent; });
      if (stopped_ || context->IsCancelled()) return grpc::Status::OK;
      if (version_ == sent) continue;
      sent = version_;
      now = list();
    }
    if (!to->Write(now)) return grpc::Status::OK;  // nobody listens any more
  }
}

grpc::Status plugin::GetPreferredAllocation(grpc::ServerContext*, const v1beta1::PreferredAllocationRequest* of,
                                            v1beta1::PreferredAllocationResponse* to) {
  for (const v1beta1::ContainerPreferredAllocationRequest& one : of->containers()) {
    if (one.allocation_size() < 0)
      return {grpc::StatusCode::INVALID_ARGUMENT, fmt::format("allocation_size {} is negative", one.allocation_size())};
    v1beta1::ContainerPreferredAllocationResponse& chosen = *to->add_containers();
    for (const std::string& slice : preferred_slices(texts(one.available_ids()), texts(one.must_include_ids()),
                                                     static_cast<std::size_t>(one.allocation_size()), by_.how)) {
      chosen.add_ids(slice);
    }
  }
  return grpc::Status::OK;
}

grpc::Status plugin::Allocate(grpc::ServerContext*, const v1beta1::AllocateRequest* of, v1beta1::AllocateResponse* to) {
  const std::lock_guard lock(mutex_);
  for (const v1beta1::ContainerAllocateRequest& one : of->containers()) {
    if (grpc::Status done = allocate(one, *to->add_containers()); !done.ok()) return done;
  }
  return grpc::Status::OK;
}

grpc::Status plugin::allocate(const v1beta1::ContainerAllocateRequest& of,
                              v1beta1::ContainerAllocateResponse& to) const {
  std::vector<const card*> cards;
  for (const std::string& id : of.ids()) {
    const std::string_view uuid = card_of(id);
    const auto known = std::find_if(cards_.begin(), cards_.end(), [&](const card& one) { return one.uuid == uuid; });
    const std::string_view number = std::string_view(id).substr(uuid.size());
    std::uint32_t slice = 0;
    if (number.size() > 2) (void)std::from_chars(number.data() + 2, number.data() + number.size(), slice);
    if (known == cards_.end() || slice >= by_.slices || id != slice_id(uuid, slice, by_.slices))
      return {grpc::StatusCode::NOT_FOUND, fmt::format("there is no '{}' here", id)};
    if (!known->healthy) return {grpc::StatusCode::UNAVAILABLE, fmt::format("card '{}' is not healthy", uuid)};
    if (std::find(cards.begin(), cards.end(), &*known) == cards.end()) cards.push_back(&*known);
  }
  std::sort(cards.begin(), cards.end());  // in the order of the list
  std::vector<std::string_view> uuids;
  for (const card* one : cards) uuids.push_back(one->uuid);
  const std::string visible = fmt::format("{}", fmt::join(uuids, ","));
  auto& variables = *to.mutable_envs();
  variables["NVIDIA_VISIBLE_DEVICES"] = visible;
  variables["CUDA_VISIBLE_DEVICES"] = visible;
  for (const auto& [name, value] : by_.extras.variables) variables[name] = value;
  for (const container_extras::mount& one : by_.extras.mounts) {
    v1beta1::Mount& mount = *to.add_mounts();
    mount.set_host_path(one.host);
    mount.set_container_path(one.container);
    mount.set_read_only(one.read_only);
  }
  if (by_.extras.nodes) add_nodes(cards, to);
  return grpc::Status::OK;
}

void plugin::add_nodes(const std::vector<const card*>& cards, v1beta1::ContainerAllocateResponse& to) const {
  const std::filesystem::path dev = by_.dev;
  for (const card* one : cards) {
    if (one->minor >= 0) add_node(dev / fmt::format("nvidia{}", one->minor), to);
  }
  for (const char* name : {"nvidiactl", "nvidia-uvm", "nvidia-uvm-tools", "nvidia-modeset"}) add_node(dev / name, to);
}

grpc::Status plugin::PreStartContainer(grpc::ServerContext*, const v1beta1::PreStartContainerRequest*,
                                       v1beta1::PreStartContainerResponse*) {
  return grpc::Status::OK;
}

}  // namespace device_plugin
