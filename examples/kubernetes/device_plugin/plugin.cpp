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

/// Of each card the first slice that is free.
std::vector<std::string> slices_of(const std::vector<std::string>& cards, const std::vector<std::string>& available) {
  std::vector<std::string> made;
  for (const std::string& uuid : cards) {
    const auto found = std::find_if(available.begin(), available.end(), [&](const std::string& id) {
      return card_of(id) == uuid && std::find(made.begin(), made.end(), id) == made.end();
    });
    if (found != available.end()) made.push_back(*found);
  }
  return made;
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

std::vector<card> plugin::cards() const {
  const std::lock_guard lock(mutex_);
  return cards_;
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
    const auto size = static_cast<std::size_t>(one.allocation_size());
    std::vector<std::string> must = texts(one.must_include_ids());
    // The kubelet's books name the cards that the container will really have, as far as they can.
    const std::vector<std::string> granted = from_ == nullptr ? std::vector<std::string>() : from_->next_cards(size);
    if (must.empty()) must = slices_of(granted, texts(one.available_ids()));
    for (const std::string& slice : preferred_slices(texts(one.available_ids()), must, size, by_.how)) {
      chosen.add_ids(slice);
    }
  }
  return grpc::Status::OK;
}

grpc::Status plugin::Allocate(grpc::ServerContext*, const v1beta1::AllocateRequest* of, v1beta1::AllocateResponse* to) {
  const std::vector<card> now = cards();
  for (const v1beta1::ContainerAllocateRequest& one : of->containers()) {
    if (grpc::Status done = allocate(one, now, *to->add_containers()); !done.ok()) return done;
  }
  return grpc::Status::OK;
}

grpc::Status plugin::allocate(const v1beta1::ContainerAllocateRequest& of, const std::vector<card>& cards,
                              v1beta1::ContainerAllocateResponse& to) const {
  std::vector<const card*> chosen;
  if (from_ != nullptr) {
    try {
      for (const std::string& uuid : from_->give(texts(of.ids()), cards, to)) {
        chosen.push_back(
            &*std::find_if(cards.begin(), cards.end(), [&](const card& known) { return known.uuid == uuid; }));
      }
    } catch (const refused& why) {
      return {why.code(), why.what()};
    } catch (const std::exception& why) {
      return {grpc::StatusCode::INTERNAL, why.what()};
    }
    add_extras(chosen, to);
    return grpc::Status::OK;
  }
  for (const std::string& id : of.ids()) {
    const std::string_view uuid = card_of(id);
    const auto known = std::find_if(cards.begin(), cards.end(), [&](const card& one) { return one.uuid == uuid; });
    const std::string_view number = std::string_view(id).substr(uuid.size());
    std::uint32_t slice = 0;
    if (number.size() > 2) (void)std::from_chars(number.data() + 2, number.data() + number.size(), slice);
    if (known == cards.end() || slice >= by_.slices || id != slice_id(uuid, slice, by_.slices))
      return {grpc::StatusCode::NOT_FOUND, fmt::format("there is no '{}' here", id)};
    if (!known->healthy) return {grpc::StatusCode::UNAVAILABLE, fmt::format("card '{}' is not healthy", uuid)};
    if (std::find(chosen.begin(), chosen.end(), &*known) == chosen.end()) chosen.push_back(&*known);
  }
  std::sort(chosen.begin(), chosen.end());  // in the order of the list
  add_extras(chosen, to);
  return grpc::Status::OK;
}

void plugin::add_extras(const std::vector<const card*>& cards, v1beta1::ContainerAllocateResponse& to) const {
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
