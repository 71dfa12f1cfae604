#pragma once
/// @file
/// Shapes of the levels of a topology: where nodes are in a domain, and which of them form a piece that pods can get.

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include <kaisched/result.hpp>

namespace kaisched::model {

/// Most axes of a shape.
inline constexpr std::uint32_t max_axes = 4;
/// Most positions in a line, ring, mesh or torus.
inline constexpr std::uint32_t max_grid_positions = 4096;
/// Most positions in a domain of base blocks.
inline constexpr std::uint32_t max_block_positions = 65536;

/// What a piece of a domain is. A line is a mesh with one axis, a ring a torus with one.
enum class shape_kind : std::uint8_t {
  none,   ///< any nodes
  block,  ///< whole base blocks, and a part of one, in an aligned run of 2^n base blocks
  mesh,   ///< boxes along the axes
  torus,  ///< the same, and every axis is closed
};

/// Number of positions along each axis; axes that are not there have one.
using extents = std::array<std::uint32_t, max_axes>;

/// The shape of a level.
struct level_shape {
  shape_kind kind = shape_kind::none;
  std::uint32_t axes = 1;
  extents size{1, 1, 1, 1};  ///< `block`: the base block first

  [[nodiscard]] bool is_given() const { return kind != shape_kind::none; }
  /// Positions in a domain; for blocks the most that there can be.
  [[nodiscard]] std::uint32_t positions() const;
  friend bool operator==(const level_shape&, const level_shape&) = default;
};

/// `block:18`, `line:16`, `ring:16`, `mesh:4x4`, `torus:4x4x8`.
[[nodiscard]] result<level_shape> parse_shape(std::string_view text);
[[nodiscard]] std::string shape_text(const level_shape& shape);

/// Where a node is in a domain.
struct node_position {
  std::uint32_t axes = 1;
  extents at{0, 0, 0, 0};
  friend bool operator==(const node_position&, const node_position&) = default;
};

/// Coordinates from 0, joined by x: `3`, `1x0x2`.
[[nodiscard]] result<node_position> parse_position(std::string_view text);
[[nodiscard]] std::string position_text(const node_position& position);

/// No position of the shape.
inline constexpr std::uint32_t no_cell = 0xffffffff;
/// Number of a position, the last axis being the fastest; `no_cell` if the shape has no such position.
[[nodiscard]] std::uint32_t cell_of(const level_shape& shape, const node_position& position);

}  // namespace kaisched::model
