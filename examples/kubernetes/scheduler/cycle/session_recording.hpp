#pragma once
/// @file
/// The section `recording` of the configuration: a file with every session, for `kaisched replay` and `kaisched
/// bisect`.

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <string>

#include <kaisched/abi.hpp>

namespace shim {

/// Without a file nothing is recorded.
struct recording_settings {
  std::filesystem::path file;
  unsigned most_mib = 1024;  ///< of one file; then it becomes FILE.1, whose place it takes, and a new one begins
  [[nodiscard]] bool enabled() const { return !file.empty(); }
};

/// Appends sessions. A file that cannot be written ends the recording, with a line in the log, and nothing else.
/// Threads: exclusive use.
class session_recording {
 public:
  /// What is there already becomes FILE.1.
  session_recording(recording_settings by, std::function<void(const std::string&)> log);
  void add(const kaisched::abi::engine& with, const kaisched::abi::session& of, std::int64_t now);

 private:
  void begin();

  recording_settings by_;
  std::function<void(const std::string&)> log_;
  std::optional<kaisched::abi::recorder> recorder_;  ///< none: the recording has ended
  std::ofstream file_;
  std::uint64_t bytes_ = 0;
};

}  // namespace shim
