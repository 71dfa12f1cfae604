#pragma once
/// @file
/// Which of the devices that would do a container gets: the rules of sets of a vendor's template.

#include <cstdint>
#include <span>
#include <vector>

#include "policy/devices/fit/fit.hpp"

namespace kaisched::devices {

/// The first rule of the template that applies to a request at a node; null: the first devices that would do.
[[nodiscard]] const set_rule* applicable_rule(const fit_question& question);

/// Chooses among all devices that would do, which `answer` has in the order in which they were tried.
void choose_among(const fit_question& question, const set_rule& rule, fit_answer& answer);

/// Rules that look at positions: islands and runs. Candidates are asked by their place in the list.
[[nodiscard]] fit_answer choose_positions(const fit_question& question, const set_rule& rule);

/// True if the rules of a vendor allow devices together, by position in the node: whole groups, islands or sets across
/// them, runs, one NUMA node. What they only prefer is not asked.
[[nodiscard]] bool is_legal_set(const vendor_template& vendor, const wishes& wanted, const node& where,
                                std::span<const std::size_t> candidates, std::span<const std::size_t> set);

/// Those of the grants that are in the largest groups by an attribute, largest group first.
[[nodiscard]] container_grants from_largest_groups(const container_grants& among, const set_rule& rule,
                                                   std::size_t count, std::span<const device> devices);
/// Grants of the smallest zone that has enough, else of zones from the smallest on, those without a zone last.
[[nodiscard]] container_grants from_zones(const container_grants& among, const set_rule& rule, std::size_t count,
                                          std::span<const device> devices);
/// Grants on devices where fewest pods of the first class run; those with pods of the second class alone come last.
[[nodiscard]] container_grants from_calm_devices(const container_grants& among, const tenant_classes& classes,
                                                 std::size_t count, std::span<const device> devices);

/// True if a healthy device has room for memory, and its sharers, if it has any, have as much each.
[[nodiscard]] bool serves_equal_slices(const device& of, std::int64_t memory);

/// Pods of a class on a device.
[[nodiscard]] std::int64_t tenants_of(const device& of, const std::string& name);

}  // namespace kaisched::devices
