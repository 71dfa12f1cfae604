#pragma once
/// @file
/// How far a long task is.

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "cli/console.hpp"

namespace kaisched::cli {

/// A bar on the error stream: how many steps are done, which one runs, for how long already. It appears after a moment,
/// so that what is quick stays quiet, and is wiped at the end. Nothing is shown unless the error stream is a terminal
/// that can move its cursor, and nothing with --quiet.
class progress {
 public:
  /// How often a line says it where there is no such terminal; never if zero.
  using line_interval = std::chrono::seconds;
  progress(const console& to, std::size_t steps, line_interval every = line_interval::zero());
  ~progress();
  progress(const progress&) = delete;
  progress& operator=(const progress&) = delete;

  /// The step before is done, the next one begins.
  void next(std::string_view what);
  /// The step is still the same; there is something else to say about it.
  void now(std::string what);
  /// Steps that are not needed any more.
  void skip(std::size_t steps);
  /// Wipes the bar: the program is about to print.
  void finish();

 private:
  using clock = std::chrono::steady_clock;
  void tick();
  void draw();
  void tell_lines();

  const terminal& to_;
  std::size_t steps_;
  line_interval every_;
  std::size_t begun_ = 0;
  std::string what_;
  clock::time_point start_ = clock::now();
  bool drawn_ = false;
  bool stop_ = false;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::thread ticker_;  ///< not running if nothing is shown
};

}  // namespace kaisched::cli
