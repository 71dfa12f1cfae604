#pragma once
/// @file
/// What the driver of a device says of it (Kubernetes' dynamic resource allocation).

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/exact_quantity.hpp"

namespace kaisched::model {

/// Type of an attribute.
enum class attribute_kind : std::uint8_t { boolean, integer, text, version };

/// One attribute: a value or a list of values of one type.
struct device_attribute {
  std::string domain;
  std::string name;
  attribute_kind kind = attribute_kind::text;
  bool is_list = false;
  std::vector<std::int64_t> numbers;  ///< of integers and booleans (0, 1)
  std::vector<std::string> texts;     ///< of texts and versions
};

/// How a request takes from a capacity of a device that several share.
struct capacity_policy {
  std::optional<exact_quantity> otherwise;     ///< for requests that do not name the capacity; else all of it
  std::vector<exact_quantity> valid_values{};  ///< ascending; empty: any
  std::optional<exact_quantity> least{};       ///< of a range
  std::optional<exact_quantity> most{};
  std::optional<exact_quantity> step{};
};

/// One capacity.
struct device_capacity {
  std::string domain;
  std::string name;
  exact_quantity value;
  capacity_policy policy{};
};

/// What selectors see of a device. Lists are sorted by domain and name.
struct device_facts {
  std::string_view driver;
  std::span<const device_attribute> attributes{};
  std::span<const device_capacity> capacities{};
  bool allow_multiple_allocations = false;
};

}  // namespace kaisched::model
