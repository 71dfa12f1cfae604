#pragma once
/// @file
/// Devices that drivers offer in pools and claims that ask for them (Kubernetes' dynamic resource allocation), as rows
/// of tables say them, and the texts of which these rows are made.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <kaisched/result.hpp>

#include "model/cel.hpp"
#include "model/device_facts.hpp"
#include "model/selector.hpp"

namespace kaisched::model {

/// From which nodes a device can be used.
struct device_reach {
  bool all_nodes = false;
  std::string node{};      ///< this one, if not empty
  bool by_labels = false;  ///< those that the selector matches
  selector labels{};
  [[nodiscard]] bool is_given() const { return all_nodes || !node.empty() || by_labels; }
  [[nodiscard]] bool reaches(std::string_view name, const label_list& of_node) const;
};

/// An amount of a counter that several devices share.
struct counter_amount {
  std::string set;
  std::string name;
  exact_quantity amount{};
};

/// A device as its driver offers it.
struct offered_device {
  std::string name;
  device_reach reach{};
  std::vector<device_attribute> attributes{};  ///< sorted by domain and name
  std::vector<device_capacity> capacities{};   ///< sorted by domain and name
  std::vector<counter_amount> consumes{};
  std::vector<taint> taints{};
  bool allow_multiple_allocations = false;
};

/// An amount of a capacity; without a domain it is that of the driver of the device.
struct capacity_ask {
  std::string domain{};
  std::string name;
  exact_quantity amount{};
};

/// What a request asks for, or one of its alternatives.
struct device_ask {
  std::string name{};                       ///< of an alternative
  std::vector<cel_expression> selectors{};  ///< those of the class first
  bool all = false;                         ///< every device that matches; else `count` of them
  std::int64_t count = 1;
  bool admin = false;  ///< access beside all others
  std::vector<toleration> tolerations{};
  std::vector<capacity_ask> capacities{};
};

/// All devices of some requests have the same value of an attribute, or no two of them have.
struct attribute_constraint {
  std::vector<std::string> requests{};  ///< `request` or `request/alternative`; empty: all of the claim
  std::string domain;
  std::string name;
  bool distinct = false;
};

/// A device that a claim has been given for a request.
struct claim_result {
  std::string request;
  std::string alternative{};
  std::string device;  ///< driver/pool/device
  bool admin = false;
  std::vector<capacity_ask> consumed{};
};

// ---- rows ---------------------------------------------------------------------------------------------------------

/// A row of `device_class`.
struct device_class_info {
  std::string selectors_text;  ///< rows of string lists, as given
  std::vector<cel_expression> selectors;
};

/// A row of `resource_slice`.
struct resource_slice_info {
  std::string driver;
  std::string pool;
  std::int64_t generation = 0;
  std::int64_t slices = 1;
  std::string node_selector;
  device_reach reach;
  std::string counters_text;
  std::vector<counter_amount> counters;
};

/// A row of `slice_device`.
struct slice_device_info {
  std::string slice;
  std::int64_t position = 0;
  std::string node_selector;
  std::string attributes_text;
  std::string capacities_text;
  std::string consumes_text;
  std::string taints_text;
  offered_device offered;  ///< its reach is not given: that of the slice
};

/// A row of `claim_request`.
struct claim_request_info {
  std::string claim;
  std::string request;
  std::int64_t position = 0;
  std::string device_class;
  std::string selectors_text;
  std::string tolerations_text;
  std::string capacities_text;
  device_ask ask;  ///< without the selectors of the class
};

// ---- texts --------------------------------------------------------------------------------------------------------

/// `domain/name=type:value`, type one of int, bool, string, version; those of a list ints, bools, strings, versions,
/// one entry for each value.
[[nodiscard]] result<std::vector<device_attribute>> parse_attributes(std::string_view list);
/// `domain/name=amount` and, for devices that several requests share, `;default=amount`, `;value=amount` (several) or
/// `;min=amount`, `;max=amount`, `;step=amount`.
[[nodiscard]] result<std::vector<device_capacity>> parse_capacities(std::string_view list);
/// `set/counter=amount`.
[[nodiscard]] result<std::vector<counter_amount>> parse_counters(std::string_view list);
/// `[domain/]name=amount`.
[[nodiscard]] result<std::vector<capacity_ask>> parse_capacity_asks(std::string_view list);
/// `match domain/name` or `distinct domain/name`, and `: request, request/alternative` if not for all.
[[nodiscard]] result<std::vector<attribute_constraint>> parse_constraints(std::string_view list);
/// `request[/alternative]=driver/pool/device`, `;admin` and `;domain/name=amount` for what it consumes.
[[nodiscard]] result<std::vector<claim_result>> parse_results(std::string_view list);
[[nodiscard]] std::string text_of(const claim_result& one);

/// Whether KAI takes what is named so for GPUs: a class, or a driver.
[[nodiscard]] bool names_gpus(std::string_view name);

}  // namespace kaisched::model
