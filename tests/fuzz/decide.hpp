#pragma once
/// @file
/// What a reader of untrusted bytes has accepted is a cluster like any other: it can be decided.

#include <cstddef>
#include <cstdint>

#include <kaisched/engine.hpp>
#include <kaisched/snapshot.hpp>

namespace kaisched::fuzz {

/// Holds a session, or has an error that says why there is none. No invariant breaks, and the cluster that takes the
/// decisions in can be saved and loaded.
void check_session(const engine& with, const snapshot& over, std::int64_t now);

/// The same by one of the presets.
void check_decidable(const snapshot& over, std::int64_t now, std::size_t preset);

}  // namespace kaisched::fuzz
