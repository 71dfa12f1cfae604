#pragma once
/// @file
/// Text for people: colours where they help and are wanted, columns that line up, bars.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

namespace kaisched::cli {

/// Width of a report that does not go to a terminal.
inline constexpr std::size_t line_width = 100;
/// Between these a report takes the width of the terminal.
inline constexpr std::size_t least_width = 60;
inline constexpr std::size_t most_width = 120;

enum class style : std::uint8_t { plain, bold, dim, green, yellow, red, blue, cyan };

/// What --color says. `automatic`: on a terminal, unless NO_COLOR is set or TERM is dumb.
enum class color_wish : std::uint8_t { automatic, always, never };

/// Where a report goes.
class terminal {
 public:
  explicit terminal(std::FILE* file, color_wish wish = color_wish::automatic);

  [[nodiscard]] bool colours() const { return colours_; }
  /// A person looks at it, and it can move its cursor.
  [[nodiscard]] bool is_screen() const { return screen_; }
  /// Columns of a line.
  [[nodiscard]] std::size_t width() const { return width_; }
  [[nodiscard]] std::string paint(style as, std::string_view text) const;
  /// Text for people. Names come from files and may hold anything: of what controls a terminal only line ends and the
  /// colours of `paint` get through, the rest is written as `\x1b`.
  void print(std::string_view text) const;
  /// The bytes as they are.
  void print_raw(std::string_view bytes) const;
  void line(std::string_view text = {}) const;
  void flush() const;

 private:
  std::FILE* file_;
  bool screen_;
  bool colours_;
  std::size_t width_;
};

/// Text without anything that controls a terminal but line ends; with `colours` also those of `paint`.
[[nodiscard]] std::string harmless(std::string_view text, bool colours);
/// Number of columns that a text takes: two for wide characters, none for combining ones and for switching colours.
[[nodiscard]] std::size_t columns_of(std::string_view text);
/// Fills up with blanks on the right, or on the left.
[[nodiscard]] std::string pad_right(std::string_view text, std::size_t columns);
[[nodiscard]] std::string pad_left(std::string_view text, std::size_t columns);
/// The text in so many columns; one that is cut ends with an ellipsis.
[[nodiscard]] std::string cut(std::string_view text, std::size_t columns);
/// The text in lines of at most so many columns, broken at blanks. The first line has less room if something stands
/// in front of it.
[[nodiscard]] std::vector<std::string> wrap(std::string_view text, std::size_t columns, std::size_t in_front = 0);
[[nodiscard]] std::string repeat(std::string_view glyph, std::size_t times);

/// 1234567 as 1,234,567.
[[nodiscard]] std::string grouped(std::int64_t number);
/// A number of GPUs from thousandths: 12, 12.5, or 1,234.
[[nodiscard]] std::string gpus(std::int64_t milli);
/// An amount of memory in the unit that leaves a few digits: `96 GiB`, `1.5 TiB`.
[[nodiscard]] std::string bytes(std::int64_t amount);
/// `1 job`, `2 jobs`.
[[nodiscard]] std::string counted(std::int64_t number, std::string_view noun);
/// A part of a whole in per cent with one decimal: `97.3 %`.
[[nodiscard]] std::string percent(std::int64_t part, std::int64_t whole);
/// Seconds with a fitting number of digits: `21.4 ms`, `1.30 s`.
[[nodiscard]] std::string seconds(double value);

/// A number of hours: `12.5`, `1,234`.
[[nodiscard]] std::string hours_words(double hours);

/// One line on the error stream: `kaisched: ...`.
void print_error(std::string_view message);
/// One line on the error stream: `kaisched: warning: ...`. The same text is printed once in a run of the program.
void print_warning(std::string_view message);

}  // namespace kaisched::cli
