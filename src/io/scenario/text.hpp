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

/// One text, with or without quotes.
struct word {
  std::string text;
  bool quoted = false;
  std::uint32_t column = 0;  ///< in its line, from 1
};

enum class value_kind : std::uint8_t { none, text, list, map };

/// What stands behind `=`; `none` for a flag.
struct value {
  value_kind kind = value_kind::none;
  std::vector<word> items;  ///< the text, the elements of a list, or the values of a map
  std::vector<word> keys;   ///< of a map
  std::uint32_t column = 0;

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
};

/// An error at a place: `source:line:column: what`.
[[nodiscard]] error failure_at(std::string_view source, std::size_t line, std::uint32_t column, std::string_view what);

/// All statements. Errors name source, line and column.
[[nodiscard]] result<std::vector<statement>> split(std::string_view text, std::string_view source);

/// Where a text stands: that decides what must be quoted.
enum class text_place : std::uint8_t { word, value, element, key };
/// Text as it must be written to be read back: in quotes where that is needed.
[[nodiscard]] std::string quoted_if_needed(std::string_view text, text_place place);

/// Names that a word with ranges stands for; one for a word without. `numbers[i]` has, for every range of the word, the
/// number of the element that name i has taken. Error: more than `most` names, or a range that descends.
struct expansion {
  std::vector<std::string> names;
  std::vector<std::size_t> lengths;                 ///< of the ranges
  std::vector<std::vector<std::size_t>> positions;  ///< per name, per range
};
[[nodiscard]] result<expansion> expand(const word& from, std::size_t most);

}  // namespace kaisched::io::scenario_text
