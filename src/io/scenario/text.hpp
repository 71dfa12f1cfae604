#pragma once
/// @file
/// The text of a scenario as statements: words, fields, lists and maps, each with its place. See docs/scenario.md.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <kaisched/result.hpp>

namespace kaisched::io::scenario_text {

/// Where something stands in the file, both from 1.
struct place {
  std::size_t line = 0;
  std::uint32_t column = 0;
};

/// One text, with or without quotes.
struct word {
  std::string text;
  bool quoted = false;
  place at;
};

enum class value_kind : std::uint8_t { none, text, list, map };

/// What stands behind `=`; `none` for a flag.
struct value {
  value_kind kind = value_kind::none;
  std::vector<word> items;  ///< the text, the elements of a list, or the values of a map
  std::vector<word> keys;   ///< of a map
  place at;

  [[nodiscard]] const word& front() const { return items.front(); }
};

/// A word, or a key with a value.
struct item {
  word name;
  value given;
  [[nodiscard]] bool is_field() const { return given.kind != value_kind::none; }
};

/// One statement; its lines are those of the file, from 1.
struct statement {
  std::size_t first_line = 0;
  std::size_t last_line = 0;
  std::vector<item> items;
  std::string comment;  ///< behind it, from the blanks in front of `#` on; empty if there is none
};

/// What editors may put in front of UTF-8.
inline constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

/// An error at a place: `source:line:column: what`.
[[nodiscard]] error failure_at(std::string_view source, place at, std::string_view what);

/// All statements. Errors name source, line and column.
[[nodiscard]] result<std::vector<statement>> split(std::string_view text, std::string_view source);

/// Where a text stands: that decides what must be quoted.
enum class text_place : std::uint8_t { word, value, element, key };
/// Text as it must be written to be read back: in quotes where that is needed.
[[nodiscard]] std::string quoted_if_needed(std::string_view text, text_place place);

/// The names that a word with ranges stands for; one for a word without. Made one at a time.
class name_pattern {
 public:
  /// Error: more than `most` names, or a range that descends.
  [[nodiscard]] static result<name_pattern> parse(const word& from, std::size_t most);
  /// The same for a word that names something: there a bracket that starts no range is an error as well.
  [[nodiscard]] static result<name_pattern> parse_name(const word& from, std::size_t most);

  [[nodiscard]] std::size_t count() const { return count_; }
  [[nodiscard]] std::size_t ranges() const { return ranges_.size(); }
  /// True if the first ranges of the other one are as long as these.
  [[nodiscard]] bool moves_with(const name_pattern& other) const;
  /// For name number `n`, the number of the element of every range; the last one moves fastest.
  [[nodiscard]] std::vector<std::size_t> positions(std::size_t n) const;
  /// The name at such positions; those beyond its own ranges do not matter.
  [[nodiscard]] std::string name(const std::vector<std::size_t>& positions) const;

 private:
  struct range {
    std::size_t begin = 0;  ///< of the bracket in the text
    std::size_t end = 0;    ///< behind the other bracket
    std::uint64_t first = 0;
    std::size_t length = 1;
    std::size_t digits = 1;  ///< least number of digits, for leading zeros
  };
  friend std::string quoted_if_needed(std::string_view text, text_place place);
  static bool find_range(std::string_view text, std::size_t from, range& found, std::uint64_t& last);

  std::string text_;
  std::vector<range> ranges_;
  std::size_t count_ = 1;
};

}  // namespace kaisched::io::scenario_text
