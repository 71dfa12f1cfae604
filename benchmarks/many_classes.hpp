#pragma once
/// @file
/// A cluster in which pods differ in the labels that they ask for.

#include <cstdint>

#include <kaisched/cluster.hpp>

namespace kaisched::bench {

/// Nodes with labels, and pods that wait: each asks for other values of them.
[[nodiscard]] cluster many_classes(std::int32_t nodes, std::int32_t classes);

}  // namespace kaisched::bench
