#pragma once
/// @file
/// Templates of vendors and tables of divided devices from JSON (docs/vendors.md).

#include <string_view>
#include <vector>

#include <kaisched/result.hpp>

#include "policy/devices/partition/mig.hpp"
#include "policy/devices/vendor/vendor.hpp"

namespace kaisched::io {

inline constexpr std::string_view vendor_schema = "kaisched-vendor/1";
inline constexpr std::string_view divided_schema = "kaisched-divided-devices/1";

/// The vendors of one file, in its order. Errors start with `source` and the line, and name the field.
[[nodiscard]] result<devices::vendor_catalog> read_vendors(std::string_view text, std::string_view source);
/// The models of a file of divided devices, in its order.
[[nodiscard]] result<std::vector<devices::divided_model>> read_divided_models(std::string_view text,
                                                                              std::string_view source);

/// What the library comes with: every file of data/vendors.
struct shipped_file {
  std::string_view name;
  std::string_view text;
};
[[nodiscard]] const std::vector<shipped_file>& shipped_vendor_files();
/// All vendors of these files by key, and all models.
struct shipped_devices {
  devices::vendor_catalog vendors;
  std::vector<devices::divided_model> divided;
};
[[nodiscard]] result<shipped_devices> read_shipped_devices();
/// Adds vendors to a catalog; one with a key that is there already replaces it.
void add_vendors(devices::vendor_catalog& to, devices::vendor_catalog more);

}  // namespace kaisched::io
