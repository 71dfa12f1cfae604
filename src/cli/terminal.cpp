#include "cli/terminal.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <sys/ioctl.h>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

namespace kaisched::cli {

namespace {

bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; }

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
  constexpr std::array<std::string_view, 8> codes{"", "1", "2", "32", "33", "31", "94", "36"};
  if (!colours_ || as == style::plain || text.empty()) return std::string(text);
  return fmt::format("\x1b[{}m{}\x1b[0m", codes[static_cast<std::size_t>(as)], text);
}

void terminal::print(std::string_view text) const {
  static_cast<void>(std::fwrite(text.data(), 1, text.size(), file_));
}

void terminal::line(std::string_view text) const {
  print(text);
  print("\n");
}

void terminal::flush() const { static_cast<void>(std::fflush(file_)); }

std::size_t columns_of(std::string_view text) {
  std::size_t columns = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\x1b') {
      while (i < text.size() && text[i] != 'm') ++i;
    } else if (!is_continuation(text[i])) {
      ++columns;
    }
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
  std::size_t bytes = 0;
  for (std::size_t kept = 0; bytes < text.size(); ++bytes) {
    if (!is_continuation(text[bytes]) && ++kept == columns) break;
  }
  return std::string(text.substr(0, bytes)) + "…";
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

void print_error(std::string_view message) { fmt::print(stderr, "kaisched: {}\n", message); }

}  // namespace kaisched::cli
