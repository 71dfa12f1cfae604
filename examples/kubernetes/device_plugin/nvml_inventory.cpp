// NVML, found at run time: a node without a driver can still say so. Types and numbers are those of NVML's interface.
#include <algorithm>
#include <array>
#include <cstddef>
#include <dlfcn.h>
#include <fstream>
#include <map>
#include <memory>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "inventory.hpp"
#include "nvml_events.hpp"

namespace device_plugin {

namespace {

struct nvml_memory {
  unsigned long long total, free, used;
};

struct nvml_pci {
  std::array<char, 16> bus_id_legacy;
  unsigned int domain, bus, device, pci_device_id, pci_subsystem_id;
  std::array<char, 32> bus_id;
};

/// NUMA node of a device of the PCI bus as Linux tells it; -1: it does not.
std::int64_t numa_of(const nvml_pci& at) {
  std::ifstream in(fmt::format("/sys/bus/pci/devices/{:04x}:{:02x}:{:02x}.0/numa_node", at.domain, at.bus, at.device));
  std::int64_t node = -1;
  return in >> node ? node : -1;
}

class nvml_inventory final : public inventory {
 public:
  nvml_inventory(const std::string& library, event_options events)
      : library_(dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    if (library_ == nullptr) throw bad_inventory(fmt::format("{}: cannot be loaded: {}", library, dlerror()));
    find("nvmlInit_v2", init_);
    find("nvmlShutdown", shutdown_);
    find("nvmlDeviceGetCount_v2", count_);
    find("nvmlDeviceGetHandleByIndex_v2", handle_);
    find("nvmlDeviceGetUUID", uuid_);
    find("nvmlDeviceGetMemoryInfo", memory_);
    find("nvmlDeviceGetMinorNumber", minor_);
    find("nvmlDeviceGetPciInfo_v3", pci_);
    find("nvmlDeviceGetName", name_);
    if (const int code = init_(); code != 0) throw bad_inventory(fmt::format("nvmlInit_v2: error {}", code));
    events_ = std::make_unique<nvml_events>(library_, std::move(events));
  }
  nvml_inventory(const nvml_inventory&) = delete;
  nvml_inventory& operator=(const nvml_inventory&) = delete;
  ~nvml_inventory() override {
    events_.reset();
    (void)shutdown_();  // the library stays: what it has started may still run
  }

  bool has_news() noexcept override { return events_->has_news(); }

  std::vector<card> look() override {
    unsigned int count = 0;
    const int code = count_(&count);
    if (code != 0 && known_.empty()) throw bad_inventory(fmt::format("nvmlDeviceGetCount_v2: error {}", code));
    if (code != 0) count = 0;                                  // the driver has gone: none of the cards can be used
    for (auto& [uuid, known] : known_) known.healthy = false;  // until it is seen
    for (unsigned int i = 0; i < count; ++i) look_at(i);
    std::vector<card> made;
    for (const auto& [uuid, known] : known_) made.push_back(known);
    std::sort(made.begin(), made.end(),
              [](const card& a, const card& b) { return std::tie(a.minor, a.uuid) < std::tie(b.minor, b.uuid); });
    return made;
  }

 private:
  template <class Function>
  void find(const char* name, Function& to) {
    to = reinterpret_cast<Function>(dlsym(library_, name));
    if (to == nullptr) throw bad_inventory(fmt::format("NVML has no {}", name));
  }

  void look_at(unsigned int index) {
    nvml_device device = nullptr;
    std::array<char, 96> uuid{};
    // A card that is lost keeps its place in the list and answers nothing.
    if (handle_(index, &device) != 0 || uuid_(device, uuid.data(), static_cast<unsigned int>(uuid.size())) != 0) return;
    uuid.back() = '\0';
    card& one = known_[uuid.data()];
    one.uuid = uuid.data();
    nvml_memory memory{};
    const bool answers = memory_(device, &memory) == 0;
    if (answers) one.memory_bytes = memory.total;
    events_->listen_to(device, one.uuid);
    one.healthy = answers && !events_->is_broken(one.uuid);
    std::array<char, 96> name{};
    if (name_(device, name.data(), static_cast<unsigned int>(name.size() - 1)) == 0) one.model = name.data();
    unsigned int minor = 0;
    if (minor_(device, &minor) == 0) one.minor = minor;
    nvml_pci pci{};
    if (one.numa < 0 && pci_(device, &pci) == 0) one.numa = numa_of(pci);
  }

  void* library_;
  int (*init_)() = nullptr;
  int (*shutdown_)() = nullptr;
  int (*count_)(unsigned int*) = nullptr;
  int (*handle_)(unsigned int, nvml_device*) = nullptr;
  int (*uuid_)(nvml_device, char*, unsigned int) = nullptr;
  int (*memory_)(nvml_device, nvml_memory*) = nullptr;
  int (*minor_)(nvml_device, unsigned int*) = nullptr;
  int (*pci_)(nvml_device, nvml_pci*) = nullptr;
  int (*name_)(nvml_device, char*, unsigned int) = nullptr;
  std::unique_ptr<nvml_events> events_;
  std::map<std::string, card> known_;
};

}  // namespace

std::unique_ptr<inventory> cards_of_nvml(const std::string& library, event_options events) {
  return std::make_unique<nvml_inventory>(library, std::move(events));
}

}  // namespace device_plugin
