#pragma once
/// @file
/// Nodes by the number of GPUs that they have free, as sets of bits in name order: the first node with exactly or at
/// least so many is found in a few steps.

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <kaisched/ids.hpp>

namespace kaisched::actions {

class gpu_bins {
 public:
  static constexpr std::uint32_t most = 63;  ///< GPUs of a node

  void reset(std::size_t nodes) {
    words_ = (nodes + 63) / 64;
    summary_words_ = (words_ + 63) / 64;
    bits_.assign(words_ * (most + 1), 0);
    summary_.assign(summary_words_ * (most + 1), 0);
    counts_.fill(0);
    used_ = 0;
  }

  void add(std::uint32_t gpus, std::uint32_t node) {
    bits_[gpus * words_ + node / 64] |= std::uint64_t{1} << (node % 64);
    summary_[gpus * summary_words_ + node / 4096] |= std::uint64_t{1} << (node / 64 % 64);
    ++counts_[gpus];
    used_ |= std::uint64_t{1} << gpus;
  }

  void remove(std::uint32_t gpus, std::uint32_t node) {
    std::uint64_t& word = bits_[gpus * words_ + node / 64];
    word &= ~(std::uint64_t{1} << (node % 64));
    if (word == 0) summary_[gpus * summary_words_ + node / 4096] &= ~(std::uint64_t{1} << (node / 64 % 64));
    if (--counts_[gpus] == 0) used_ &= ~(std::uint64_t{1} << gpus);
  }

  /// Smallest number of free GPUs of any node that is at least this one, or no_row.
  [[nodiscard]] std::uint32_t level_from(std::uint32_t gpus) const {
    const std::uint64_t left = used_ >> gpus << gpus;
    return left == 0 ? no_row : static_cast<std::uint32_t>(std::countr_zero(left));
  }
  /// First node with this number of free GPUs; there must be one.
  [[nodiscard]] std::uint32_t first(std::uint32_t gpus) const {
    std::size_t s = gpus * summary_words_;
    while (summary_[s] == 0) ++s;
    const std::size_t word = (s - gpus * summary_words_) * 64 + static_cast<std::size_t>(std::countr_zero(summary_[s]));
    return static_cast<std::uint32_t>(word * 64) +
           static_cast<std::uint32_t>(std::countr_zero(bits_[gpus * words_ + word]));
  }
  [[nodiscard]] std::uint32_t count(std::uint32_t gpus) const { return counts_[gpus]; }

 private:
  std::size_t words_ = 0;
  std::size_t summary_words_ = 0;
  std::vector<std::uint64_t> bits_;     ///< by number of GPUs
  std::vector<std::uint64_t> summary_;  ///< the same: words that are not empty
  std::array<std::uint32_t, most + 1> counts_{};
  std::uint64_t used_ = 0;  ///< numbers of GPUs that some node has
};

}  // namespace kaisched::actions
