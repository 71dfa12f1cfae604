#pragma once
/// @file
/// Keeps the first fault of a text.

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include <kaisched/result.hpp>

namespace kaisched::io {

/// Reading goes on with harmless values after a fault, until a loop looks at `failed`.
class fault_log {
 public:
  explicit fault_log(std::string_view source) : source_(source) {}

  [[nodiscard]] bool failed() const { return !first_.empty(); }
  /// `source:line: place: what`; the place may be empty.
  void add(std::uint32_t line, std::string_view place, std::string_view what) {
    if (failed()) return;
    first_ = fmt::format("{}:{}: {}{}{}", source_, line, place, place.empty() ? "" : ": ", what);
  }
  [[nodiscard]] error take() { return {status::argument, std::move(first_), {}}; }

 private:
  std::string_view source_;
  std::string first_;
};

}  // namespace kaisched::io
