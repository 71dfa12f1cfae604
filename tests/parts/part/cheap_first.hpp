#pragma once

#include <memory>

#include <kaisched/policy.hpp>

/// Prefers nodes by their label "price", refuses nodes without one, and serves groups with short names first.
std::unique_ptr<kaisched::policy_part> make_cheap_first(const kaisched::policy_options&);
/// Gives scores that are not numbers.
std::unique_ptr<kaisched::policy_part> make_broken(const kaisched::policy_options&);
