#include "journal.hpp"

#include <chrono>
#include <random>
#include <utility>

#include <fmt/format.h>

#include "clock_text.hpp"

namespace shim {

namespace {

std::string& trace() {
  thread_local std::string id;
  return id;
}

/// Messages name what users have written, however long that is.
constexpr std::size_t most_words = 4096;

std::string bounded(const std::string& words) {
  if (words.size() <= most_words) return words;
  return fmt::format("{}... ({} bytes)", words.substr(0, most_words), words.size());
}

/// Nothing that a message quotes looks like a line of its own.
std::string printable(const std::string& words) {
  std::string line;
  for (const char c : bounded(words)) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      line += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      line += c;
    }
  }
  return line;
}

}  // namespace

trace_scope::trace_scope(std::string id) { trace() = std::move(id); }
trace_scope::~trace_scope() { trace().clear(); }

const std::string& current_trace() { return trace(); }

std::string new_trace() {
  std::random_device random;
  std::string id;
  while (id.size() < 32) id += fmt::format("{:08x}", static_cast<std::uint32_t>(random()));
  return id;
}

void journal::write(const std::string& words, const nlohmann::json& details) {
  std::string line;
  if (form_ == log_form::text) {
    line = "kaisched-kubernetes: " + printable(words);
  } else {
    nlohmann::ordered_json all{{"time", clock_text(std::chrono::system_clock::now(), true)},
                               {"message", bounded(words)}};
    if (!current_trace().empty()) all["trace"] = current_trace();
    for (const auto& [name, value] : details.items()) all[name] = value;
    line = all.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  }
  const std::scoped_lock lock(mutex_);
  fmt::print(out_, "{}\n", line);
  std::fflush(out_);
}

}  // namespace shim
