#pragma once
/// @file
/// Parts of policies that ask Python once a session which group is to start, and let nobody else.

#include <memory>
#include <string>

#include <pybind11/pybind11.h>

#include <kaisched/policy.hpp>

#include "policies.hpp"

namespace kaisched::python {

/// Whether an object is asked so: it has a method `choose_group`.
[[nodiscard]] bool is_chooser(const pybind11::object& policy);

/// `policy.choose_group(now, idle)`, nanoseconds and float64 GPUs by node, gives the name of a group or None;
/// `policy.group_starts()` is called when that group has places.
[[nodiscard]] std::unique_ptr<policy_part> make_chooser(std::string name, pybind11::object policy,
                                                        std::shared_ptr<policy_faults> faults);

}  // namespace kaisched::python
