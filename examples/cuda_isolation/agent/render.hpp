#pragma once
/// @file
/// A report as people and programs want it.

#include <string>

#include "keeper.hpp"

namespace cuda_agent {

/// Per card what was granted and what is used, with a line per tenant. Plain text, 100 columns.
std::string render_table(const report& of);

/// `kaisched-cuda-usage/1`; `cards` has the engine's columns `node`, `index`, `utilization`, `deviation` by these
/// names.
std::string render_json(const report& of);

/// Text format 0.0.4 of Prometheus.
std::string render_prometheus(const report& of);

}  // namespace cuda_agent
