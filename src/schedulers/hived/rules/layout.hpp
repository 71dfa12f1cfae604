#pragma once
/// @file
/// Cells: GPUs, pairs, sockets, nodes, racks and whatever is wider, as trees in which all cells of a level are equal.
///
/// Source: microsoft/hivedscheduler, pkg/algorithm, and "HiveD: Sharing a GPU Cluster for Deep Learning with
/// Guarantees" (OSDI '20). A chain is all trees of one shape and one product. Since its cells are equal, a cell is a
/// level and a number: the children of number i are the numbers from i * fan on, and its GPUs those from i * size on.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <kaisched/ids.hpp>

namespace kaisched::hived {

using level = std::uint32_t;   ///< 0 is the GPU
using number = std::uint32_t;  ///< of a cell among those of its level, or of a GPU
inline constexpr number nothing = kaisched::no_row;

inline constexpr std::string_view gpu_level = "gpu";
inline constexpr std::string_view pair_level = "pair";
inline constexpr std::string_view socket_level = "socket";
inline constexpr std::string_view node_level = "node";

/// One device of a node, and with which others it is together there. Below 0: not known.
struct device_facts {
  std::uint32_t device = 0;
  std::int64_t socket = -1;
  std::int64_t pair = -1;
};

struct node_facts {
  node_row node = no_row;
  std::string product;
  std::vector<std::uint32_t> domains;  ///< of the topology, widest first; empty: the node is in none
  std::vector<device_facts> devices;
};

struct gpu_place {
  node_row node = no_row;
  std::uint32_t device = 0;
};

/// Trees of one shape.
struct chain {
  std::string product;
  std::vector<std::string> levels;  ///< names, the GPU first
  std::vector<std::uint32_t> fan;   ///< by level, the cells of the level below in one; 1 for the GPU
  std::vector<std::uint32_t> size;  ///< by level, GPUs in a cell
  level node = 0;                   ///< the level of nodes
  std::vector<gpu_place> gpus;      ///< by number

  [[nodiscard]] level top() const { return static_cast<level>(levels.size() - 1); }
  [[nodiscard]] number cells_at(level l) const { return static_cast<number>(gpus.size()) / size[l]; }
  /// Number of a level by its name, or `nothing`.
  [[nodiscard]] level level_named(std::string_view name) const;
  /// The lowest level whose cells have so many GPUs, or `nothing`.
  [[nodiscard]] level level_for(std::uint32_t count) const;
};

/// The chains of a cluster, those with the largest trees first. A domain whose parts are not all equal is no cell: its
/// parts are. Sockets and pairs are levels of a node where all of them are equal.
/// @param levels of the topology, widest first. @param nodes those of a domain beside each other, in order.
[[nodiscard]] std::vector<chain> make_chains(std::span<const std::string> levels, std::span<const node_facts> nodes);

}  // namespace kaisched::hived
