#pragma once
/// @file
/// Templates of vendors: how their devices are asked for, shared and chosen (docs/vendors.md). A session needs them for
/// nodes with `vendor_devices`. The files of the library are read by the io library, not by the core.
///
/// Threads: a catalog never changes once it is made, and may be used by many engines at once.

#include <memory>
#include <string_view>

#include <kaisched/result.hpp>

namespace kaisched {

/// Templates of vendors and tables of models that are divided in hardware.
class device_catalog;

/// The catalog that the library comes with (data/vendors). It is read once per process.
[[nodiscard]] result<std::shared_ptr<const device_catalog>> shipped_device_catalog();

/// A catalog with the vendors or the divided models of one JSON file added; a vendor with a key that is there already
/// is replaced, models of divided devices come before those that are there.
/// `source` names the text in messages. Errors name line, object and field.
[[nodiscard]] result<std::shared_ptr<const device_catalog>> extended_device_catalog(const device_catalog& of,
                                                                                    std::string_view json,
                                                                                    std::string_view source);

}  // namespace kaisched
