#pragma once
/// @file
/// Keeps the first fault of a text.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include <kaisched/result.hpp>

#include "base/utf8.hpp"

namespace kaisched::io {

/// Keys and names of a text can be of any length and hold anything; messages do not.
inline constexpr std::size_t longest_place = 200;
inline constexpr std::size_t longest_message = 1000;

/// Reading goes on with harmless values after a fault, until a loop looks at `failed`.
class fault_log {
 public:
  explicit fault_log(std::string_view source) : source_(source) {}

  [[nodiscard]] bool failed() const { return !first_.empty(); }
  /// Places that follow lie within this one, `deltas[2]`; empty: within nothing.
  void within(std::string place) { within_ = std::move(place); }
  /// `source:line: place: what`; the place may be empty.
  void add(std::uint32_t line, std::string_view place, std::string_view what) {
    if (failed()) return;
    if (!within_.empty()) {
      const std::string outer = std::exchange(within_, {});
      return add(line, place.empty() ? outer : outer + "." + std::string(place), what);
    }
    first_ = fmt::format("{}:{}: {}{}{}", source_, line, base::printable(place, longest_place),
                         place.empty() ? "" : ": ", base::printable(what, longest_message));
  }
  [[nodiscard]] error take() { return {status::argument, std::move(first_), {}}; }

 private:
  std::string_view source_;
  std::string within_;
  std::string first_;
};

}  // namespace kaisched::io
