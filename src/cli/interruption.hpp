#pragma once
/// @file
/// Signals that ask the program to end.

#include <array>
#include <csignal>
#include <functional>
#include <thread>

namespace kaisched::cli {

/// While it lives, SIGINT and SIGTERM call a function on a thread of their own. A second signal of the same kind ends
/// the program, as it does by default. There is one at a time.
class interruption {
 public:
  explicit interruption(std::function<void()> told);
  ~interruption();
  interruption(const interruption&) = delete;
  interruption& operator=(const interruption&) = delete;

 private:
  void listen() const;

  std::function<void()> told_;
  std::array<int, 2> pipe_{-1, -1};
  std::array<struct sigaction, 2> before_{};
  std::thread listener_;
};

}  // namespace kaisched::cli
