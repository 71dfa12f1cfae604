#pragma once
/// @file
/// The cards of a node, from a file or from NVML.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "nvml_events.hpp"

namespace device_plugin {

struct card {
  std::string uuid;
  std::int64_t minor = -1;         ///< of /dev/nvidia<minor>; -1: unknown
  std::uint64_t memory_bytes = 0;  ///< 0: unknown
  std::int64_t numa = -1;          ///< NUMA node; -1: unknown
  bool healthy = true;
  std::string model{};  ///< empty: unknown
  friend bool operator==(const card&, const card&) = default;
};

/// Says which file and which field is wrong, or what NVML said.
class bad_inventory : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// {"cards": [{"uuid": "GPU-1", "minor": 0, "memory": 85899345920, "numa": 0, "healthy": true,
/// "model": "H100"}]}; all but `uuid` may be missing, nothing else may be there. @param source what messages call the
/// text. Throws bad_inventory.
[[nodiscard]] std::vector<card> read_cards(const std::string& text, const std::string& source);

class inventory {
 public:
  inventory() = default;
  inventory(const inventory&) = delete;
  inventory& operator=(const inventory&) = delete;
  virtual ~inventory() = default;
  /// The cards as they are now, by minor and UUID. Throws bad_inventory.
  [[nodiscard]] virtual std::vector<card> look() = 0;
  /// Whether something has happened since this was asked last that a look would show.
  [[nodiscard]] virtual bool has_news() noexcept { return false; }
};

/// A file that is read at every look.
[[nodiscard]] std::unique_ptr<inventory> cards_of_file(std::filesystem::path file);

/// What NVML says. A card that is lost, or does not answer, is not healthy; one that has gone from NVML's list is what
/// it was, and not healthy. Throws bad_inventory where there is no NVML.
/// @param library its file, found as the dynamic linker finds it.
[[nodiscard]] std::unique_ptr<inventory> cards_of_nvml(const std::string& library = "libnvidia-ml.so.1",
                                                       event_options events = {});

}  // namespace device_plugin
