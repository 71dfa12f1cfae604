#pragma once
/// @file
/// What became of one cycle, for those who look on. It does not change any more once it is published.

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "binding/executor.hpp"
#include "cycle/decision.hpp"

namespace shim {

struct cycle_report {
  std::string trace;  ///< of all its lines in the log
  std::chrono::system_clock::time_point when;
  std::chrono::nanoseconds gathering{};  ///< what has changed since the last cycle
  std::chrono::nanoseconds deciding{};
  std::chrono::nanoseconds acting{};
  std::chrono::nanoseconds whole{};
  std::shared_ptr<const evidence> seen;         ///< null: nothing was decided
  std::shared_ptr<const object_texts> objects;  ///< as the engine saw them
  std::map<std::string, std::string> refused;   ///< pods that the program cannot start, and why
  std::vector<std::string> faults;              ///< objects that were left out, and why
  tally done;
};

/// The last report. From any thread; nobody waits for who reads it.
class board {
 public:
  void publish(std::shared_ptr<const cycle_report> next) {
    const std::scoped_lock lock(mutex_);
    latest_ = std::move(next);
  }
  /// Null before the first cycle.
  [[nodiscard]] std::shared_ptr<const cycle_report> latest() const {
    const std::scoped_lock lock(mutex_);
    return latest_;
  }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const cycle_report> latest_;
};

}  // namespace shim
