#pragma once
/// @file
/// Lines of the log, for people or for machines. All lines of one cycle have the same trace id.

#include <cstdio>
#include <mutex>
#include <string>

#include <nlohmann/json.hpp>

namespace shim {

enum class log_form { text, json };

class journal {
 public:
  journal(std::FILE* out, log_form form) : out_(out), form_(form) {}

  /// A sentence. From any thread.
  void say(const std::string& words) { write(words, {}); }
  /// A sentence with the numbers behind it, which only the JSON form shows.
  void say(const std::string& words, const nlohmann::json& details) { write(words, details); }

 private:
  void write(const std::string& words, const nlohmann::json& details);

  std::mutex mutex_;
  std::FILE* out_;
  log_form form_;
};

/// Lines that this thread writes meanwhile belong together.
class trace_scope {
 public:
  explicit trace_scope(std::string id);
  ~trace_scope();
  trace_scope(const trace_scope&) = delete;
  trace_scope& operator=(const trace_scope&) = delete;
};

/// 32 hexadecimal digits, as W3C trace context has them.
[[nodiscard]] std::string new_trace();
/// That of the scope that this thread is in; empty outside.
[[nodiscard]] const std::string& current_trace();

}  // namespace shim
