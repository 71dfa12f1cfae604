#include "policy/topology/pieces.hpp"

#include <algorithm>
#include <bit>
#include <functional>
#include <limits>
#include <numeric>
#include <tuple>

namespace kaisched::policy::topology {

namespace {

using model::extents;
using model::level_shape;
using model::max_axes;

bool is_closed(const level_shape& shape) { return shape.kind == model::shape_kind::torus; }

std::int64_t volume(const extents& size) {
  return std::accumulate(size.begin(), size.end(), std::int64_t{1},
                         [](std::int64_t product, std::uint32_t one) { return product * one; });
}

std::int64_t sum_of(const extents& size) { return std::accumulate(size.begin(), size.end(), std::int64_t{0}); }

}  // namespace

// ---- sums ----------------------------------------------------------------------------------------------------------

grid_sums::grid_sums(const level_shape& shape, const std::vector<std::int64_t>& values) : axes_(shape.axes) {
  // Closed axes are laid out twice; index 0 of each axis is the empty sum.
  std::array<std::size_t, max_axes> length{};
  std::array<std::vector<std::size_t>, max_axes> cell;  // what an index adds to the number of the position
  std::size_t total = 1;
  std::size_t cells = 1;
  for (std::uint32_t axis = max_axes; axis-- > 0;) {
    length[axis] = axis < axes_ ? std::size_t{shape.size[axis]} * (is_closed(shape) ? 2 : 1) + 1 : 1;
    stride_[axis] = total;
    total *= length[axis];
    cell[axis].assign(length[axis], 0);
    for (std::size_t at = 1; at < length[axis]; ++at) cell[axis][at] = (at - 1) % shape.size[axis] * cells;
    cells *= axis < axes_ ? shape.size[axis] : 1;
  }
  sums_.assign(total, 0);
  const auto first = [&](std::uint32_t axis) { return axis < axes_ ? std::size_t{1} : std::size_t{0}; };
  for (std::size_t a = first(0); a < length[0]; ++a) {
    for (std::size_t b = first(1); b < length[1]; ++b) {
      for (std::size_t c = first(2); c < length[2]; ++c) {
        for (std::size_t d = first(3); d < length[3]; ++d) {
          sums_[a * stride_[0] + b * stride_[1] + c * stride_[2] + d] =
              values[cell[0][a] + cell[1][b] + cell[2][c] + cell[3][d]];
        }
      }
    }
  }
  for (std::uint32_t axis = 0; axis < axes_; ++axis) {
    const std::size_t rows = length[axis] * stride_[axis];
    for (std::size_t from = 0; from < total; from += rows) {
      for (std::size_t i = from + stride_[axis]; i < from + rows; ++i) sums_[i] += sums_[i - stride_[axis]];
    }
  }
}

std::int64_t grid_sums::of(const model::extents& from, const model::extents& size) const {
  std::int64_t sum = 0;
  for (std::uint32_t corner = 0; corner < (1U << axes_); ++corner) {
    std::size_t at = 0;
    bool minus = false;
    for (std::uint32_t axis = 0; axis < axes_; ++axis) {
      const bool far = (corner >> axis & 1U) != 0;
      at += stride_[axis] * (std::size_t{from[axis]} + (far ? size[axis] : 0));
      minus = minus != !far;
    }
    sum += minus ? -sums_[at] : sums_[at];
  }
  return sum;
}

/// The base blocks of a domain.
struct piece_search::block_set {
  static constexpr std::size_t most_room = 0;  ///< preferences after what is used: the most room
  static constexpr std::size_t least_cost = 1;
  struct block {
    std::array<std::vector<std::uint32_t>, 2> open;  ///< positions, by preference
    std::int64_t used = 0;                           ///< positions
    bool whole = false;
    std::vector<std::int64_t> room;  ///< by kind, of all open positions
    std::int64_t total = 0;          ///< of all kinds
    std::int64_t cost = 0;
  };
  std::vector<block> blocks;
  std::int64_t used_blocks = 0;
  std::int64_t cost = 0;

  block_set(const piece_domain& in, std::size_t base, const std::vector<std::int64_t>& need) {
    const std::size_t kinds = need.size();
    const auto room_of = [&](std::size_t cell, std::size_t kind) {
      return std::min(in.room[cell * kinds + kind], need[kind]);
    };
    const auto total_of = [&](std::size_t cell) {
      std::int64_t sum = 0;
      for (std::size_t kind = 0; kind < kinds; ++kind) sum += room_of(cell, kind);
      return sum;
    };
    blocks.resize((in.cells.size() + base - 1) / base);
    for (std::size_t b = 0; b < blocks.size(); ++b) {
      block& one = blocks[b];
      one.room.assign(kinds, 0);
      for (std::size_t cell = b * base; cell < std::min((b + 1) * base, in.cells.size()); ++cell) {
        if (!in.cells[cell].open) continue;
        one.open[most_room].push_back(static_cast<std::uint32_t>(cell));
        one.cost += in.cells[cell].cost;
        one.used += in.cells[cell].used ? 1 : 0;
        for (std::size_t kind = 0; kind < kinds; ++kind) one.room[kind] += room_of(cell, kind);
        one.total += total_of(cell);
      }
      one.whole = one.open[most_room].size() == base;
      used_blocks += one.used > 0 ? 1 : 0;
      cost += one.cost;
      one.open[least_cost] = one.open[most_room];
      for (const std::size_t preference : {most_room, least_cost}) {
        std::vector<std::uint32_t>& open = one.open[preference];
        std::stable_sort(open.begin(), open.end(), [&](std::uint32_t x, std::uint32_t y) {
          const piece_cell& first = in.cells[x];
          const piece_cell& second = in.cells[y];
          if (first.used != second.used) return first.used;
          if (preference == least_cost && first.cost != second.cost) return first.cost < second.cost;
          return total_of(x) > total_of(y);
        });
      }
    }
  }
};

// ---- all shapes ----------------------------------------------------------------------------------------------------

piece_search::piece_search(piece_search&&) noexcept = default;
piece_search::~piece_search() = default;

piece_search::piece_search(const level_shape& shape, std::vector<piece_domain> domains, domain_need need,
                           placement_strategy order)
    : shape_(shape), domains_(std::move(domains)), need_(std::move(need)), order_(order), kinds_(need_.pods.size()) {
  next_count_ = std::numeric_limits<std::int64_t>::max();
  for (const piece_domain& one : domains_) {
    fewest_.push_back(fewest_nodes(one));
    next_count_ = std::min(next_count_, fewest_.back());
    const auto used = std::count_if(one.cells.begin(), one.cells.end(), [](const piece_cell& x) { return x.used; });
    const auto open = std::count_if(one.cells.begin(), one.cells.end(), [](const piece_cell& x) { return x.open; });
    // Nodes that must be there can ask for more of them than there are pods.
    last_count_ = std::max(last_count_, used > 0 ? open : std::min<std::int64_t>(open, need_.count));
    most_open_ = std::max<std::int64_t>(most_open_, open);
    if (is_block())
      blocks_.emplace_back(one, shape_.size[0], need_.pods);
    else
      grids_.push_back(make_grid(one));
  }
  if (is_block() || domains_.empty()) return;
  list_sizes();
  next_size_ = static_cast<std::size_t>(
      std::partition_point(sizes_.begin(), sizes_.end(), [&](const extents& x) { return volume(x) < next_count_; }) -
      sizes_.begin());
}

/// No piece with fewer nodes can hold the pods.
std::int64_t piece_search::fewest_nodes(const piece_domain& in) const {
  std::int64_t fewest = std::max<std::int64_t>(
      1, std::count_if(in.cells.begin(), in.cells.end(), [](const piece_cell& one) { return one.used; }));
  std::vector<std::int64_t> rooms;
  for (std::size_t kind = 0; kind < kinds_; ++kind) {
    rooms.clear();
    for (std::size_t i = 0; i < in.cells.size(); ++i) {
      if (in.cells[i].open) rooms.push_back(in.room[i * kinds_ + kind]);
    }
    std::sort(rooms.begin(), rooms.end(), std::greater<>());
    std::int64_t left = need_.pods[kind];
    std::int64_t nodes = 0;
    for (std::size_t i = 0; i < rooms.size() && left > 0; ++i, ++nodes) left -= rooms[i];
    fewest = std::max(fewest, left > 0 ? std::numeric_limits<std::int64_t>::max() : nodes);
  }
  return fewest;
}

bool piece_search::next(piece& found) {
  while (ready_.empty()) {
    if (!advance()) return false;
  }
  const candidate one = std::move(ready_.back());
  ready_.pop_back();
  const piece_domain& in = domains_[one.domain];
  found.domain = in.domain;
  found.nodes.clear();
  for (const std::uint32_t cell : cells_of(one)) found.nodes.push_back(in.cells[cell].node);
  return true;
}

bool piece_search::advance() { return is_block() ? advance_blocks() : advance_boxes(); }

void piece_search::sort_ready() {
  const std::int64_t sign = order_ == placement_strategy::binpack ? 1 : -1;
  const auto key = [&](const candidate& x) {
    return std::tuple(-x.used, sign * x.slack, sign * x.slack2, x.domain, x.size, x.first);
  };
  std::sort(ready_.begin(), ready_.end(), [&](const candidate& a, const candidate& b) { return key(b) < key(a); });
}

std::int64_t piece_search::most_in(std::size_t domain) const {
  return is_block() ? most_in_blocks(domain) : most_in_boxes(domain);
}

// ---- boxes ---------------------------------------------------------------------------------------------------------

void piece_search::list_sizes() {
  extents size{1, 1, 1, 1};
  for (size[0] = 1; size[0] <= shape_.size[0]; ++size[0]) {
    for (size[1] = 1; size[1] <= shape_.size[1]; ++size[1]) {
      for (size[2] = 1; size[2] <= shape_.size[2]; ++size[2]) {
        for (size[3] = 1; size[3] <= shape_.size[3]; ++size[3]) sizes_.push_back(size);
      }
    }
  }
  std::sort(sizes_.begin(), sizes_.end(), [](const extents& a, const extents& b) {
    return std::tuple(volume(a), sum_of(a), a) < std::tuple(volume(b), sum_of(b), b);
  });
}

piece_search::grid piece_search::make_grid(const piece_domain& in) const {
  const std::size_t cells = in.cells.size();
  std::vector<std::int64_t> values(cells);
  for (std::size_t i = 0; i < cells; ++i) values[i] = in.cells[i].open ? 1 : 0;
  grid made{grid_sums(shape_, values), std::nullopt, {}, {}, {}, 0};
  if (shape_.axes == 1) {
    // Runs: from each start to its end, around the end of a ring.
    made.run.assign(cells, 0);
    const auto all = static_cast<std::int64_t>(std::accumulate(values.begin(), values.end(), std::int64_t{0}));
    if (all == static_cast<std::int64_t>(cells)) {
      made.run.assign(cells, all);
    } else {
      for (std::size_t i = 0; i < cells; ++i) {
        const bool starts = values[i] != 0 && ((i == 0 && !is_closed(shape_)) || values[(i + cells - 1) % cells] == 0);
        if (!starts) continue;
        std::size_t length = 0;
        while ((is_closed(shape_) || i + length < cells) && values[(i + length) % cells] != 0) ++length;
        for (std::size_t k = 0; k < length; ++k) made.run[(i + k) % cells] = static_cast<std::int64_t>(length);
      }
    }
  }
  for (std::size_t i = 0; i < cells; ++i) {
    values[i] = in.cells[i].used ? 1 : 0;
    made.used_cells += values[i];
  }
  if (made.used_cells > 0) made.used.emplace(shape_, values);
  for (std::size_t kind = 0; kind < kinds_; ++kind) {
    for (std::size_t i = 0; i < cells; ++i) {
      values[i] = in.cells[i].open ? std::min(in.room[i * kinds_ + kind], need_.pods[kind]) : 0;
    }
    made.room.emplace_back(shape_, values);
  }
  made.without.assign(cells, false);
  return made;
}

extents piece_search::position(std::uint32_t cell) const {
  extents at{};
  for (std::uint32_t axis = max_axes; axis-- > 0;) {
    at[axis] = cell % shape_.size[axis];
    cell /= shape_.size[axis];
  }
  return at;
}

std::uint32_t piece_search::size_index(const extents& size) const {
  std::uint32_t index = 0;
  for (std::uint32_t axis = 0; axis < max_axes; ++axis) index = index * shape_.size[axis] + size[axis] - 1;
  return index;
}

/// A box that is one shorter along an axis is nowhere open.
bool piece_search::is_ruled_out(const grid& in, const extents& size) const {
  for (std::uint32_t axis = 0; axis < shape_.axes; ++axis) {
    if (size[axis] == 1) continue;
    extents smaller = size;
    --smaller[axis];
    if (in.without[size_index(smaller)]) return true;
  }
  return false;
}

/// Calls `visit` for the first position of every box of a size all of whose nodes are open. False: there is none.
template <class Visit>
bool piece_search::each_open_box(const grid& in, const extents& size, Visit visit) const {
  const std::int64_t nodes = volume(size);
  bool any = false;
  extents last{};
  for (std::uint32_t axis = 0; axis < max_axes; ++axis) {
    // All around a closed axis is one box, whatever it begins with.
    const bool turns = is_closed(shape_) && size[axis] < shape_.size[axis];
    last[axis] = turns ? shape_.size[axis] - 1 : shape_.size[axis] - size[axis];
  }
  extents at{};
  for (at[0] = 0; at[0] <= last[0]; ++at[0]) {
    for (at[1] = 0; at[1] <= last[1]; ++at[1]) {
      for (at[2] = 0; at[2] <= last[2]; ++at[2]) {
        for (at[3] = 0; at[3] <= last[3]; ++at[3]) {
          if (in.open.of(at, size) != nodes) continue;
          any = true;
          visit(at);
        }
      }
    }
  }
  return any;
}

/// Open nodes that touch a side of the box; on a line or ring all that are in a row with it.
std::int64_t piece_search::slack_of(const grid& in, const extents& first, const extents& size) const {
  std::int64_t beside = 0;
  for (std::uint32_t axis = 0; axis < shape_.axes; ++axis) {
    const std::uint32_t length = shape_.size[axis];
    if (size[axis] == length) continue;
    extents side = size;
    side[axis] = 1;
    extents before = first;
    extents after = first;
    before[axis] = (first[axis] + length - 1) % length;
    after[axis] = (first[axis] + size[axis]) % length;
    const bool has_before = is_closed(shape_) || first[axis] > 0;
    const bool has_after = is_closed(shape_) || first[axis] + size[axis] < length;
    if (has_before) beside += in.open.of(before, side);
    if (has_after && !(has_before && before[axis] == after[axis])) beside += in.open.of(after, side);
  }
  if (shape_.axes > 1) return beside;
  constexpr std::int64_t most_beside = 2;
  return in.run[first[0]] * (most_beside + 1) + beside;
}

/// All boxes of the next number of nodes and the next compactness.
bool piece_search::advance_boxes() {
  if (next_size_ >= sizes_.size()) return false;
  const std::int64_t nodes = volume(sizes_[next_size_]);
  const std::int64_t width = sum_of(sizes_[next_size_]);
  for (; next_size_ < sizes_.size(); ++next_size_) {
    const extents& size = sizes_[next_size_];
    if (volume(size) != nodes || sum_of(size) != width) break;
    for (std::uint32_t d = 0; d < domains_.size(); ++d) {
      grid& in = grids_[d];
      if (nodes < fewest_[d]) continue;
      if (is_ruled_out(in, size)) {
        in.without[size_index(size)] = true;
        continue;
      }
      const bool any = each_open_box(in, size, [&](const extents& at) {
        if (in.used && in.used->of(at, size) != in.used_cells) return;
        for (std::size_t kind = 0; kind < kinds_; ++kind) {
          if (in.room[kind].of(at, size) < need_.pods[kind]) return;
        }
        candidate made;
        made.used = domains_[d].used;
        made.slack = slack_of(in, at, size);
        made.domain = d;
        made.size = static_cast<std::uint32_t>(next_size_);
        for (std::uint32_t axis = 0; axis < max_axes; ++axis) made.first = made.first * shape_.size[axis] + at[axis];
        ready_.push_back(std::move(made));
      });
      if (!any) in.without[size_index(size)] = true;
    }
  }
  sort_ready();
  return true;
}

std::vector<std::uint32_t> piece_search::cells_of(const candidate& one) const {
  if (is_block()) return one.cells;
  const extents first = position(one.first);
  const extents& size = sizes_[one.size];
  std::vector<std::uint32_t> cells;
  extents by{};
  for (by[0] = 0; by[0] < size[0]; ++by[0]) {
    for (by[1] = 0; by[1] < size[1]; ++by[1]) {
      for (by[2] = 0; by[2] < size[2]; ++by[2]) {
        for (by[3] = 0; by[3] < size[3]; ++by[3]) {
          std::uint32_t cell = 0;
          for (std::uint32_t axis = 0; axis < max_axes; ++axis) {
            cell = cell * shape_.size[axis] + (first[axis] + by[axis]) % shape_.size[axis];
          }
          cells.push_back(cell);
        }
      }
    }
  }
  return cells;
}

std::int64_t piece_search::most_in_boxes(std::size_t domain) const {
  grid one = make_grid(domains_[domain]);
  std::int64_t most = 0;
  for (const extents& size : sizes_) {
    const bool any = !is_ruled_out(one, size) && each_open_box(one, size, [&](const extents& at) {
      if (one.used && one.used->of(at, size) != one.used_cells) return;
      most = std::max(most, one.room[0].of(at, size));
    });
    if (!any) one.without[size_index(size)] = true;
  }
  return most;
}

// ---- blocks --------------------------------------------------------------------------------------------------------

bool piece_search::advance_blocks() {
  if (next_count_ > last_count_) return false;
  for (std::uint32_t d = 0; d < domains_.size(); ++d) {
    if (next_count_ < fewest_[d]) continue;
    add_blocks(d, next_count_, block_set::most_room);
    if (blocks_[d].cost > 0) add_blocks(d, next_count_, block_set::least_cost);
  }
  sort_ready();
  if (next_count_ < last_count_) {
    ++next_count_;
    return true;
  }
  // So many nodes have room for certain: more of them only help where a run must be longer.
  const auto base = std::int64_t{shape_.size[0]};
  const auto blocks = static_cast<std::uint64_t>((next_count_ + base - 1) / base);
  next_count_ = static_cast<std::int64_t>(std::bit_ceil(blocks)) * base + 1;
  last_count_ = std::min(next_count_, most_open_);
  return true;
}

/// For each aligned run of base blocks that is just large enough, and each block of it that is taken in part: the
/// others are those that are preferred.
void piece_search::add_blocks(std::uint32_t domain, std::int64_t nodes, std::size_t preference) {
  const piece_domain& in = domains_[domain];
  const auto base = std::int64_t{shape_.size[0]};
  const block_set& all = blocks_[domain];
  const auto count = static_cast<std::size_t>((nodes + base - 1) / base);
  const auto rest = static_cast<std::size_t>(nodes - static_cast<std::int64_t>(count - 1) * base);
  const std::size_t length = std::bit_ceil(count);
  for (std::size_t start = 0; start < all.blocks.size(); start += length) {
    const std::size_t end = std::min(start + length, all.blocks.size());
    std::vector<std::size_t> whole;
    std::int64_t open = 0;
    std::int64_t used_blocks = 0;
    for (std::size_t b = start; b < end; ++b) {
      open += static_cast<std::int64_t>(all.blocks[b].open[preference].size());
      used_blocks += all.blocks[b].used > 0 ? 1 : 0;
      if (all.blocks[b].whole) whole.push_back(b);
    }
    if (open < nodes || used_blocks < all.used_blocks) continue;
    std::stable_sort(whole.begin(), whole.end(), [&](std::size_t a, std::size_t b) {
      const block_set::block& x = all.blocks[a];
      const block_set::block& y = all.blocks[b];
      if ((x.used > 0) != (y.used > 0)) return x.used > 0;
      if (preference == block_set::least_cost && x.cost != y.cost) return x.cost < y.cost;
      return x.total > y.total;
    });
    // Sums of the first 0, 1, 2, ... whole blocks by kind, and how many of them are used.
    std::vector<std::vector<std::int64_t>> sums(whole.size() + 1, std::vector<std::int64_t>(kinds_, 0));
    std::vector<std::int64_t> used(whole.size() + 1, 0);
    for (std::size_t i = 0; i < whole.size(); ++i) {
      used[i + 1] = used[i] + (all.blocks[whole[i]].used > 0 ? 1 : 0);
      const block_set::block& one = all.blocks[whole[i]];
      for (std::size_t kind = 0; kind < kinds_; ++kind) sums[i + 1][kind] = sums[i][kind] + one.room[kind];
    }
    for (std::size_t part = start; part < end; ++part) {
      const block_set::block& last = all.blocks[part];
      const std::vector<std::uint32_t>& in_part = last.open[preference];
      if (in_part.size() < rest || last.used > static_cast<std::int64_t>(rest)) continue;
      const auto rank = static_cast<std::size_t>(std::find(whole.begin(), whole.end(), part) - whole.begin());
      // The others are the first whole blocks without this one.
      const std::size_t others = count - 1;
      const std::size_t until = rank < others ? others + 1 : others;
      if (until > whole.size()) continue;
      const std::int64_t used_others = used[until] - (rank < until && last.used > 0 ? 1 : 0);
      if (used_others + (last.used > 0 ? 1 : 0) < all.used_blocks) continue;
      bool enough = true;
      for (std::size_t kind = 0; kind < kinds_ && enough; ++kind) {
        std::int64_t room = sums[until][kind] - (rank < until ? last.room[kind] : 0);
        for (std::size_t i = 0; i < rest; ++i) {
          room += std::min(in.room[in_part[i] * kinds_ + kind], need_.pods[kind]);
        }
        enough = room >= need_.pods[kind];
      }
      if (!enough) continue;
      candidate made;
      made.used = in.used;
      made.slack = open - nodes;
      made.slack2 = static_cast<std::int64_t>(in_part.size() - rest);
      made.domain = domain;
      made.first = static_cast<std::uint32_t>(start + (end - 1 - part));  // the last one in part
      for (std::size_t i = 0; i < until; ++i) {
        if (whole[i] == part) continue;
        const std::vector<std::uint32_t>& open_there = all.blocks[whole[i]].open[preference];
        made.cells.insert(made.cells.end(), open_there.begin(), open_there.end());
      }
      made.cells.insert(made.cells.end(), in_part.begin(), in_part.begin() + static_cast<std::ptrdiff_t>(rest));
      std::sort(made.cells.begin(), made.cells.end());
      const bool is_there = std::any_of(ready_.begin(), ready_.end(), [&](const candidate& one) {
        return one.domain == made.domain && one.cells == made.cells;
      });
      if (preference == block_set::most_room || !is_there) ready_.push_back(std::move(made));
    }
  }
}

/// All whole blocks of an aligned run, and the fullest part of another one.
std::int64_t piece_search::most_in_blocks(std::size_t domain) const {
  const block_set& all = blocks_[domain];
  std::int64_t most = 0;
  for (std::size_t length = 1; length / 2 < all.blocks.size(); length *= 2) {
    for (std::size_t start = 0; start < all.blocks.size(); start += length) {
      std::int64_t room = 0;
      std::int64_t in_part = 0;
      std::size_t blocks = 0;
      std::int64_t used = 0;
      std::int64_t used_in_parts = 0;
      bool part = false;
      for (std::size_t b = start; b < std::min(start + length, all.blocks.size()); ++b) {
        const block_set::block& one = all.blocks[b];
        used += one.used > 0 ? 1 : 0;
        if (one.whole) {
          room += one.room[0];
          ++blocks;
          continue;
        }
        // A part that is used is the part of the piece.
        used_in_parts += one.used > 0 ? 1 : 0;
        if (one.used > 0)
          in_part = one.room[0];
        else if (used_in_parts == 0)
          in_part = std::max(in_part, one.room[0]);
        part = part || !one.open[block_set::most_room].empty();
      }
      blocks += part ? 1 : 0;
      if (used < all.used_blocks || used_in_parts > 1 || blocks * 2 <= length) continue;
      most = std::max(most, room + in_part);
    }
  }
  return most;
}

}  // namespace kaisched::policy::topology
