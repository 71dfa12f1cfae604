#include "cli/terminal.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <sys/ioctl.h>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

#include "base/bidi.hpp"

namespace kaisched::cli {

namespace {

constexpr std::array<std::string_view, 8> style_codes{"", "1", "2", "32", "33", "31", "94", "36"};

/// The code point at the front of a text, and how many bytes it has; bytes that are no UTF-8 count one by one.
struct code_point {
  char32_t value = 0;
  std::size_t bytes = 1;
};
code_point front_of(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned lead = byte(0);
  const std::size_t size = lead < 0xC0 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  if (size == 1 || size > text.size()) return {lead, 1};
  char32_t value = lead & (0xFFU >> (size + 1));
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xC0U) != 0x80U) return {lead, 1};
    value = value << 6U | (byte(i) & 0x3FU);
  }
  return {value, size};
}

struct code_range {
  char32_t first;
  char32_t last;
};
bool is_in(char32_t value, std::span<const code_range> ranges) {
  return std::any_of(ranges.begin(), ranges.end(),
                     [&](const code_range& one) { return value >= one.first && value <= one.last; });
}

std::size_t columns_of(char32_t value) {
  constexpr std::array wide{code_range{0x1100, 0x115F},   code_range{0x2E80, 0x303E},   code_range{0x3041, 0xA4CF},
                            code_range{0xAC00, 0xD7A3},   code_range{0xF900, 0xFAFF},   code_range{0xFE30, 0xFE6F},
                            code_range{0xFF00, 0xFF60},   code_range{0xFFE0, 0xFFE6},   code_range{0x1F300, 0x1F64F},
                            code_range{0x1F680, 0x1F6FF}, code_range{0x1F900, 0x1F9FF}, code_range{0x20000, 0x3FFFD}};
  constexpr std::array combining{code_range{0x0300, 0x036F}, code_range{0x200B, 0x200F}, code_range{0xFE00, 0xFE0F}};
  return is_in(value, wide) ? 2 : is_in(value, combining) ? 0 : 1;
}

/// Number of bytes of the sequence for a style at the front of a text; 0 if there is none.
std::size_t style_at(std::string_view text) {
  if (!text.starts_with("\x1b[")) return 0;
  const std::size_t end = text.substr(0, 6).find('m');
  if (end == std::string_view::npos) return 0;
  const std::string_view code = text.substr(2, end - 2);
  const bool known =
      code == "0" || (!code.empty() && std::find(style_codes.begin(), style_codes.end(), code) != style_codes.end());
  return known ? end + 1 : 0;
}

std::string_view variable(const char* name) {
  const char* const value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): nobody sets variables
  return value == nullptr ? std::string_view{} : std::string_view(value);
}

bool is_screen(std::FILE* file) {
  const std::string_view term = variable("TERM");
  return isatty(fileno(file)) != 0 && !term.empty() && term != "dumb";
}

bool wants_colours(bool screen, color_wish wish) {
  if (wish != color_wish::automatic) return wish == color_wish::always;
  return screen && variable("NO_COLOR").empty();
}

std::size_t width_of(std::FILE* file) {
  winsize size{};
  if (isatty(fileno(file)) == 0 || ioctl(fileno(file), TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return line_width;
  return std::clamp<std::size_t>(size.ws_col, least_width, most_width);
}

}  // namespace

terminal::terminal(std::FILE* file, color_wish wish)
    : file_(file), screen_(cli::is_screen(file)), colours_(wants_colours(screen_, wish)), width_(width_of(file)) {}

std::string terminal::paint(style as, std::string_view text) const {
  if (!colours_ || as == style::plain || text.empty()) return std::string(text);
  return fmt::format("\x1b[{}m{}\x1b[0m", style_codes[static_cast<std::size_t>(as)], text);
}

void terminal::print_raw(std::string_view bytes) const {
  static_cast<void>(std::fwrite(bytes.data(), 1, bytes.size(), file_));
}

void terminal::print(std::string_view text) const { print_raw(harmless(text, colours_)); }

void terminal::line(std::string_view text) const {
  print(text);
  print("\n");
}

void terminal::flush() const { static_cast<void>(std::fflush(file_)); }

std::string harmless(std::string_view text, bool colours) {
  std::string safe;
  safe.reserve(text.size());
  while (!text.empty()) {
    if (const std::size_t painted = colours ? style_at(text) : 0; painted > 0) {
      safe += text.substr(0, painted);
      text.remove_prefix(painted);
      continue;
    }
    const code_point next = front_of(text);
    const bool controls = (next.value < 0x20 && next.value != '\n') || (next.value >= 0x7F && next.value < 0xA0);
    if (controls) {
      safe += fmt::format("\\x{:02x}", static_cast<unsigned>(next.value));
    } else if (base::reorders_text(next.value)) {
      safe += fmt::format("\\u{:04x}", static_cast<unsigned>(next.value));
    } else {
      safe += text.substr(0, next.bytes);
    }
    text.remove_prefix(next.bytes);
  }
  return safe;
}

std::size_t columns_of(std::string_view text) {
  std::size_t columns = 0;
  while (!text.empty()) {
    if (const std::size_t painted = style_at(text); painted > 0) {
      text.remove_prefix(painted);
      continue;
    }
    const code_point next = front_of(text);
    columns += columns_of(next.value);
    text.remove_prefix(next.bytes);
  }
  return columns;
}

std::string pad_right(std::string_view text, std::size_t columns) {
  const std::size_t used = columns_of(text);
  return std::string(text) + std::string(columns > used ? columns - used : 0, ' ');
}

std::string pad_left(std::string_view text, std::size_t columns) {
  const std::size_t used = columns_of(text);
  return std::string(columns > used ? columns - used : 0, ' ') + std::string(text);
}

std::string cut(std::string_view text, std::size_t columns) {
  if (columns_of(text) <= columns || columns == 0) return std::string(text);
  std::size_t kept = 0;
  std::size_t used = 0;
  while (kept < text.size()) {
    const code_point next = front_of(text.substr(kept));
    if (used + columns_of(next.value) + 1 > columns) break;  // the ellipsis needs a column
    used += columns_of(next.value);
    kept += next.bytes;
  }
  return std::string(text.substr(0, kept)) + "…";
}

std::vector<std::string> wrap(std::string_view text, std::size_t columns, std::size_t in_front) {
  std::vector<std::string> lines;
  std::string line;
  while (!text.empty()) {
    const std::size_t end = text.find(' ');
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    const std::size_t room = lines.empty() ? columns - std::min(columns, in_front) : columns;
    if (!line.empty() && columns_of(line) + 1 + columns_of(word) > room) {
      lines.push_back(std::exchange(line, {}));
    }
    if (!line.empty()) line += ' ';
    line += word;
  }
  if (!line.empty()) lines.push_back(line);
  return lines;
}

std::string repeat(std::string_view glyph, std::size_t times) {
  std::string text;
  for (std::size_t i = 0; i < times; ++i) text += glyph;
  return text;
}

std::string grouped(std::int64_t number) {
  std::string digits = std::to_string(number < 0 ? -number : number);
  for (std::size_t i = digits.size(); i > 3; i -= 3) digits.insert(i - 3, ",");
  return number < 0 ? "-" + digits : digits;
}

std::string gpus(std::int64_t milli) {
  if (milli < 0) return "-" + gpus(-milli);
  constexpr std::int64_t without_decimals = 1'000'000;
  if (milli >= without_decimals) return grouped((milli + 500) / 1000);
  const std::int64_t tenths = (milli + 50) / 100;
  return tenths % 10 == 0 ? grouped(tenths / 10) : fmt::format("{}.{}", tenths / 10, tenths % 10);
}

std::string bytes(std::int64_t amount) {
  constexpr std::array<std::string_view, 6> units{"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  std::size_t unit = 0;
  auto value = static_cast<double>(amount);
  for (; unit + 1 < units.size() && std::abs(value) >= 1024; ++unit) value /= 1024;
  return fmt::format("{:.4g} {}", value, units[unit]);
}

std::string counted(std::int64_t number, std::string_view noun) {
  return fmt::format("{} {}{}", grouped(number), noun, number == 1 ? "" : "s");
}

std::string percent(std::int64_t part, std::int64_t whole) {
  if (whole == 0) return "-";
  return fmt::format("{:.1f} %", 100.0 * static_cast<double>(part) / static_cast<double>(whole));
}

std::string seconds(double value) {
  if (value < 1e-3) return fmt::format("{:.0f} µs", value * 1e6);
  return value < 1.0 ? fmt::format("{:.1f} ms", value * 1e3) : fmt::format("{:.2f} s", value);
}

std::string hours_words(double hours) {
  return hours < 100 ? fmt::format("{:.1f}", hours) : grouped(static_cast<std::int64_t>(hours + 0.5));
}

void print_error(std::string_view message) {
  // Where nobody can be told there is nothing to do about it, and the exit status still says it.
  const std::string line = fmt::format("kaisched: {}\n", harmless(message, false));
  static_cast<void>(std::fwrite(line.data(), 1, line.size(), stderr));
}

void print_warning(std::string_view message) {
  static std::mutex mutex;
  static std::set<std::string> printed;
  const std::lock_guard lock(mutex);
  if (printed.emplace(message).second) print_error(fmt::format("warning: {}", message));
}

}  // namespace kaisched::cli
