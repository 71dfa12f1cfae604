#pragma once
/// @file
/// Processes that the demonstration starts, and ends with itself.

#include <cstdint>
#include <filesystem>
#include <string>
#include <sys/types.h>
#include <vector>

namespace demo {

class child {
 public:
  /// @param log file for what it prints; empty: the terminal of this program.
  child(const std::vector<std::string>& command, const std::vector<std::string>& environment,
        std::filesystem::path log);
  child(child&& other) noexcept;
  child& operator=(child&&) = delete;
  ~child();

  void send(int number) const;
  /// Waits; the exit status, or 128 and the number of the signal that ended it.
  int wait();
  /// What it has printed so far.
  [[nodiscard]] std::string printed() const;

 private:
  pid_t pid_ = -1;
  std::filesystem::path log_;
};

}  // namespace demo
