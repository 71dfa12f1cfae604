#pragma once
/// @file
/// What queues have held of the cluster over time, as parts of its capacity: of CPU, memory and GPUs the integral of
/// what a queue held, by that of the capacity, over a window of the past, of which older parts may count less. Time is
/// an argument, and what is kept is as large as the queues are many.
///
/// With a half-life, a moment of age a counts 2^(-a / half_life). That is the query that KAI asks Prometheus
/// (prometheus_usage.hpp), in closed form: what was held all through the last d seconds adds
/// half_life / ln 2 * (1 - 2^(-d / half_life)) times the amount, and what was there before is multiplied by
/// 2^(-d / half_life). The simulator decays in integer steps instead, and Kueue averages: neither gives these numbers.

#include <array>
#include <chrono>
#include <cstddef>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "usage/usage_window.hpp"

namespace shim {

/// CPU, memory, GPUs.
using quota_amounts = std::array<double, 3>;

/// Parts of the capacity by queue.
using queue_parts = std::map<std::string, quota_amounts, std::less<>>;

class usage_ledger {
 public:
  /// @param half_life after which something counts half; 0: all of the window counts the same.
  usage_ledger(usage_window window, std::chrono::milliseconds half_life);

  struct holding {
    std::string_view queue;
    quota_amounts held;
  };
  /// Charges the time since the last call with what was held then, and takes note of what is held from now on. Time of
  /// which nobody knows what was held, such as that before the first call, counts for nobody; a clock that goes back
  /// charges nothing for that once.
  void note(milli_time now, const std::vector<holding>& queues, const quota_amounts& capacity);

  /// As of the last call. A queue that is not named has used nothing.
  [[nodiscard]] queue_parts parts() const;

  /// All that is needed to go on later, in at most so many bytes: what does not fit is told in larger steps of time,
  /// and beyond that without the queues that have used least. @param left_out how many these are.
  [[nodiscard]] std::string text(std::size_t most_bytes, std::size_t& left_out) const;
  /// Starts from such a text, as far as it can be read. @return what cannot, line by line.
  [[nodiscard]] std::vector<std::string> read(std::string_view text);

 private:
  /// A part of the window. A sliding one is made of several, of which the oldest counts as far as it is inside.
  struct slot {
    milli_time from = 0;
    milli_time to = 0;
    quota_amounts capacity{};             ///< times seconds
    std::vector<quota_amounts> queues{};  ///< by row
  };

  void charge(milli_time from, milli_time to);
  [[nodiscard]] slot& slot_at(milli_time from, milli_time width);
  void drop_old(milli_time now);
  void drop_rows();
  [[nodiscard]] std::size_t row_of(std::string_view queue);
  void halve_slots();
  [[nodiscard]] std::string all_lines() const;
  [[nodiscard]] double share_inside(const slot& one) const;
  void read_line(std::string_view line);
  void read_queue_line(std::string_view rest);

  usage_window window_;
  double half_life_;  ///< seconds
  milli_time last_ = 0;
  bool has_begun_ = false;  ///< `last_` is a time
  std::deque<slot> slots_;  ///< oldest first
  std::map<std::string, std::size_t, std::less<>> rows_;
  std::vector<quota_amounts> held_;  ///< by row, since `last_`
  quota_amounts capacity_{};
};

}  // namespace shim
