#pragma once
/// @file
/// The order in which groups of nodes are tried.

#include <cstddef>
#include <deque>
#include <functional>
#include <utility>
#include <vector>

#include <kaisched/ids.hpp>

namespace kaisched::framework {

/// Nodes that are tried before others, whatever their scores.
using node_band = std::vector<node_row>;

/// Bands, the best one first. Those that nobody asks for are not made.
class node_bands {
 public:
  /// Fills the next band, which is empty; false: there is none.
  using maker = std::function<bool(node_band&)>;

  explicit node_bands(maker next) : next_(std::move(next)) {}
  explicit node_bands(const std::vector<node_band>& bands) : made_(bands.begin(), bands.end()) {}
  /// One band.
  explicit node_bands(node_band band) { made_.push_back(std::move(band)); }

  /// Null: there are fewer. Stays valid.
  [[nodiscard]] const node_band* at(std::size_t number) {
    while (number >= made_.size()) {
      node_band fresh;
      if (!next_ || !next_(fresh)) return nullptr;
      made_.push_back(std::move(fresh));
    }
    return &made_[number];
  }

 private:
  maker next_;
  std::deque<node_band> made_;
};

}  // namespace kaisched::framework
