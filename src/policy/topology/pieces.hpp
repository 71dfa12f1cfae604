#pragma once
/// @file
/// Pieces of domains whose level has a shape: runs of a line or ring, boxes of a mesh or torus, base blocks.

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include <kaisched/ids.hpp>
#include <kaisched/options.hpp>

#include "model/shape.hpp"
#include "policy/topology/strict_domains.hpp"

namespace kaisched::policy::topology {

/// A position of a domain.
struct piece_cell {
  node_row node = no_row;  ///< no_row: none is there
  bool open = false;       ///< the node may be part of a piece: it has room for a pod, or pods of the member
  bool used = false;       ///< pods of the member are there, so that it must be part of every piece
  std::uint32_t cost = 0;  ///< victims there, where it is asked who has to leave
};

/// A domain in which pieces are looked for.
struct piece_domain {
  std::uint32_t domain = root_domain;
  std::int64_t used = 0;           ///< pods of the member that are there
  std::vector<piece_cell> cells;   ///< by position
  std::vector<std::int64_t> room;  ///< [cells x kinds]: pods of each kind that the node has room for
};

/// Nodes that form the shape.
struct piece {
  std::uint32_t domain = root_domain;
  std::vector<node_row> nodes;  ///< by position, from the first one of the piece on
};

/// Sums over boxes of a grid, in a number of steps that does not depend on their size. Boxes may reach over the end of
/// a closed axis.
class grid_sums {
 public:
  grid_sums(const model::level_shape& shape, const std::vector<std::int64_t>& values);
  [[nodiscard]] std::int64_t of(const model::extents& from, const model::extents& size) const;

 private:
  std::uint32_t axes_;
  std::array<std::size_t, model::max_axes> stride_{};
  std::vector<std::int64_t> sums_;
};

/// Enumerates the pieces that may hold the pods, best first: fewest nodes; most compact (boxes); tightest; then the
/// order of the domains, and the first position. All of them, if it is asked long enough.
class piece_search {
 public:
  /// `domains`: in the order in which they are preferred where everything else is equal.
  piece_search(const model::level_shape& shape, std::vector<piece_domain> domains, domain_need need,
               placement_strategy order);
  piece_search(piece_search&&) noexcept;
  ~piece_search();

  /// False: there are no more.
  bool next(piece& found);
  /// The most pods of the first kind that one piece of a domain has room for. By domain.
  [[nodiscard]] std::int64_t most_in(std::size_t domain) const;
  [[nodiscard]] const std::vector<piece_domain>& domains() const { return domains_; }

 private:
  struct candidate {
    std::int64_t used = 0;
    std::int64_t slack = 0;   ///< free nodes that it leaves beside it
    std::int64_t slack2 = 0;  ///< the same in its last base block
    std::uint32_t domain = 0;
    std::uint32_t size = 0;  ///< position in `sizes_`
    std::uint32_t first = 0;
    std::vector<std::uint32_t> cells;  ///< of blocks
  };
  struct grid {
    grid_sums open;
    std::optional<grid_sums> used;
    std::vector<grid_sums> room;    ///< by kind
    std::vector<bool> without;      ///< by size: no box of this size, or of a larger one, is open
    std::vector<std::int64_t> run;  ///< one axis: open positions in a row around this one
    std::int64_t used_cells = 0;
  };
  struct block_set;

  [[nodiscard]] bool is_block() const { return shape_.kind == model::shape_kind::block; }
  [[nodiscard]] std::int64_t fewest_nodes(const piece_domain& in) const;
  void list_sizes();
  grid make_grid(const piece_domain& in) const;
  [[nodiscard]] model::extents position(std::uint32_t cell) const;
  [[nodiscard]] std::uint32_t size_index(const model::extents& size) const;
  [[nodiscard]] bool is_ruled_out(const grid& in, const model::extents& size) const;
  template <class Visit>
  bool each_open_box(const grid& in, const model::extents& size, Visit visit) const;
  [[nodiscard]] std::int64_t slack_of(const grid& in, const model::extents& first, const model::extents& size) const;
  bool advance();
  bool advance_boxes();
  bool advance_blocks();
  void add_blocks(std::uint32_t domain, std::int64_t nodes, std::size_t preference);
  void sort_ready();
  [[nodiscard]] std::vector<std::uint32_t> cells_of(const candidate& one) const;
  [[nodiscard]] std::int64_t most_in_boxes(std::size_t domain) const;
  [[nodiscard]] std::int64_t most_in_blocks(std::size_t domain) const;

  model::level_shape shape_;
  std::vector<piece_domain> domains_;
  domain_need need_;
  placement_strategy order_;
  std::size_t kinds_;
  std::vector<std::int64_t> fewest_;   ///< nodes, by domain
  std::vector<grid> grids_;            ///< by domain, of boxes
  std::vector<block_set> blocks_;      ///< by domain, of blocks
  std::vector<model::extents> sizes_;  ///< of boxes, by number of nodes, then compactness
  std::size_t next_size_ = 0;
  std::int64_t next_count_ = 0;   ///< nodes of pieces of blocks
  std::int64_t last_count_ = 0;   ///< up to here every number is tried
  std::int64_t most_open_ = 0;    ///< nodes of a domain
  std::vector<candidate> ready_;  ///< the next one last
};

}  // namespace kaisched::policy::topology
