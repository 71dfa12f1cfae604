#pragma once
/// @file
/// What NVML tells of errors of cards (XID), as they happen.

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <set>
#include <string>
#include <thread>

namespace device_plugin {

using nvml_device = void*;

/// XIDs that programs cause and that say nothing about the card: 13, 31, 43, 45, 68, 109, as in NVIDIA's device plugin.
/// https://docs.nvidia.com/deploy/xid-errors/
[[nodiscard]] const std::set<std::uint64_t>& xids_of_programs();

struct event_options {
  std::set<std::uint64_t> ignored = xids_of_programs();
  bool none = false;  ///< nobody listens
  std::function<void(const std::string&)> log = [](const std::string&) {};
};

/// A card of which such an event has come stays broken as long as this lives. May be called from any thread.
class nvml_events {
 public:
  /// Listens, if the library knows events. @param library as dlopen returned it; NVML has been started.
  nvml_events(void* library, event_options by);
  ~nvml_events();
  nvml_events(const nvml_events&) = delete;
  nvml_events& operator=(const nvml_events&) = delete;

  /// From now on also to this card.
  void listen_to(nvml_device device, const std::string& uuid);
  [[nodiscard]] bool is_broken(const std::string& uuid) const;
  /// Whether a card has broken since this was asked last.
  [[nodiscard]] bool has_news() noexcept { return news_.exchange(false); }

 private:
  /// As nvmlEventData_t is laid out.
  struct event {
    nvml_device device;
    unsigned long long kind, data;
    unsigned int instance, compute_instance;
  };

  void run();
  void take(const event& what);

  event_options by_;
  int (*create_)(void**) = nullptr;
  int (*free_)(void*) = nullptr;
  int (*kinds_)(nvml_device, unsigned long long*) = nullptr;
  int (*register_)(nvml_device, unsigned long long, void*) = nullptr;
  int (*wait_)(void*, event*, unsigned int) = nullptr;
  int (*uuid_)(nvml_device, char*, unsigned int) = nullptr;
  void* all_ = nullptr;  ///< the set; null: nobody listens
  mutable std::mutex mutex_;
  std::set<std::string> known_;
  std::set<std::string> broken_;
  std::atomic<bool> news_ = false;
  std::atomic<bool> over_ = false;
  std::thread thread_;
};

}  // namespace device_plugin
