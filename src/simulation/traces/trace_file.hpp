#pragma once
/// @file
/// Traces from files.

#include <string>

#include "simulation/traces/traces.hpp"

namespace kaisched::simulation {

/// Reads a trace in one of its forms.
/// @param file `-` is the standard input
/// @param profile the file or folder beside it, for forms that have one; empty: none is told
/// Errors: what the form and the files fail with; a profile that is needed or that says nothing.
[[nodiscard]] result<workload> read_trace_file(const std::string& file, const trace_form& form,
                                               const std::string& profile, const trace_options& options);

}  // namespace kaisched::simulation
