#pragma once
/// @file
/// Commands of the user that are run and may be ended.

#include <mutex>
#include <string>
#include <string_view>
#include <sys/types.h>

#include <kaisched/result.hpp>

namespace kaisched::cli {

/// A text as one word of a command line of the shell, whatever is in it.
[[nodiscard]] std::string shell_word(std::string_view text);

/// How a command ended.
struct command_end {
  int status = 0;  ///< as the shell counts: 128 and more for signals
  [[nodiscard]] bool succeeded() const { return status == 0; }
};

/// Runs commands of the shell one after the other, each in a process group of its own, with nothing to read. A key that
/// interrupts the program does not reach them.
class shell_process {
 public:
  /// Starts a command; what it prints goes to the file. Error: it cannot be started, or `end` was called.
  result<void> start(const std::string& command, const std::string& output);
  /// Waits for the end of the command that was started. What is left of its process group is ended too.
  command_end wait();
  /// Ends the command, and one that starts later at once, until `renew`. Any thread may call it.
  void end();
  /// Commands may be started again.
  void renew();

 private:
  std::mutex mutex_;
  pid_t running_ = 0;  ///< also the number of its group; 0: none
  bool ended_ = false;
};

}  // namespace kaisched::cli
