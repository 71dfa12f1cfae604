#include "nvml_events.hpp"

#include <array>
#include <chrono>
#include <dlfcn.h>
#include <utility>

#include <fmt/format.h>

namespace device_plugin {

namespace {

// Numbers of NVML's interface.
constexpr unsigned long long double_bit_error = 0x2;
constexpr unsigned long long critical_xid = 0x8;
constexpr int timed_out = 10;

/// How soon a thread that waits notices that it is over.
constexpr std::chrono::milliseconds longest_wait{200};

template <class Function>
bool find_function(void* library, const char* name, Function& to) {
  to = reinterpret_cast<Function>(dlsym(library, name));
  return to != nullptr;
}

}  // namespace

const std::set<std::uint64_t>& xids_of_programs() {
  static const std::set<std::uint64_t> all{13, 31, 43, 45, 68, 109};
  return all;
}

nvml_events::nvml_events(void* library, event_options by) : by_(std::move(by)) {
  if (by_.none) return;
  const bool known =
      find_function(library, "nvmlEventSetCreate", create_) && find_function(library, "nvmlEventSetFree", free_) &&
      find_function(library, "nvmlDeviceGetSupportedEventTypes", kinds_) &&
      find_function(library, "nvmlDeviceRegisterEvents", register_) &&
      find_function(library, "nvmlEventSetWait_v2", wait_) && find_function(library, "nvmlDeviceGetUUID", uuid_);
  const int code = known ? create_(&all_) : 0;
  if (!known || code != 0) {
    all_ = nullptr;
    by_.log(known ? fmt::format("nvmlEventSetCreate: error {}: XID errors are not heard of", code)
                  : "this NVML knows no events: XID errors are not heard of");
    return;
  }
  thread_ = std::thread([this] { run(); });
}

nvml_events::~nvml_events() {
  over_ = true;
  if (thread_.joinable()) thread_.join();
  if (all_ != nullptr) (void)free_(all_);
}

void nvml_events::listen_to(nvml_device device, const std::string& uuid) {
  const std::scoped_lock lock(mutex_);
  if (all_ == nullptr || !known_.insert(uuid).second) return;
  unsigned long long kinds = 0;
  int code = kinds_(device, &kinds);
  if (code == 0) code = register_(device, kinds & (critical_xid | double_bit_error), all_);
  if (code != 0) by_.log(fmt::format("card '{}': events: error {}: its XID errors are not heard of", uuid, code));
}

bool nvml_events::is_broken(const std::string& uuid) const {
  const std::scoped_lock lock(mutex_);
  return broken_.contains(uuid);
}

void nvml_events::run() {
  int before = 0;
  while (!over_) {
    event what{};
    const int code = wait_(all_, &what, static_cast<unsigned int>(longest_wait.count()));
    if (code == 0) {
      take(what);
    } else if (code != timed_out) {  // whether a card is lost the next look finds
      if (code != before) by_.log(fmt::format("nvmlEventSetWait_v2: error {}", code));
      std::this_thread::sleep_for(longest_wait);
    }
    before = code;
  }
}

void nvml_events::take(const event& what) {
  if (what.kind == critical_xid && by_.ignored.contains(what.data)) return;
  const std::string words = what.kind == critical_xid ? fmt::format("XID {}", what.data) : "double bit error of memory";
  std::array<char, 96> uuid{};
  const bool named = uuid_(what.device, uuid.data(), static_cast<unsigned int>(uuid.size() - 1)) == 0;
  {
    const std::scoped_lock lock(mutex_);
    if (named) {
      broken_.insert(uuid.data());
    } else {  // it may be any of them
      broken_ = known_;
    }
  }
  news_ = true;
  by_.log(fmt::format("card '{}': {}: it is not healthy any more", named ? uuid.data() : "unknown", words));
}

}  // namespace device_plugin
