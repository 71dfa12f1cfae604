#pragma once
/// @file
/// Reads the columns of one row of an input table into members, as far as the table has them.

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <kaisched/quantity.hpp>
#include <kaisched/result.hpp>

#include "model/selector.hpp"
#include "model/table_reader.hpp"

namespace kaisched::model {

/// What messages about the columns of a row start with: `node 'a': `.
struct row_subject {
  std::string_view kind{};  ///< empty: the name alone
  std::string_view name{};
  bool everywhere = false;   ///< also about numbers and flags, and not only about texts that cannot be read
  std::int64_t device = -1;  ///< number of one of its devices: `node 'a', device 1: `
};

/// After a fault nothing more is read; `done` tells it.
class row_reader {
 public:
  row_reader(const table_reader& t, std::uint64_t row, row_subject of) : t_(t), row_(row), of_(of) {}

  template <class Text>
  row_reader& text(std::uint32_t column, Text& target) {
    if (reads(column)) target = t_.text(column, row_);
    return *this;
  }
  row_reader& i64(std::uint32_t column, std::int64_t& target);
  row_reader& u32(std::uint32_t column, std::uint32_t& target);
  row_reader& flag(std::uint32_t column, bool& target);
  row_reader& number(std::uint32_t column, std::int64_t least, std::int64_t most, std::int64_t& target);
  /// An amount, or `unset`.
  row_reader& amount_or_unset(std::uint32_t column, std::int64_t& target);
  /// A length of time, or `unset`.
  row_reader& duration(std::uint32_t column, std::int64_t& target);
  /// Amounts of all dimensions, which have these names.
  template <class Dimensions>
  row_reader& amounts(std::uint32_t column, const Dimensions& dimensions, std::vector<std::int64_t>& target) {
    if (!reads(column)) return *this;
    const auto values = t_.row_values<std::int64_t>(column, row_);
    for (std::size_t d = 0; d < values.size(); ++d) {
      if (values[d] >= 0 && values[d] <= max_amount) continue;
      return fail(column, values[d] < 0 ? status::argument : status::limit,
                  dimensions[d].name + " " + std::to_string(values[d]) + " is not in 0 .. 2^52");
    }
    target.assign(values.begin(), values.end());
    return *this;
  }
  /// What a parser makes of a text.
  template <class Parse, class Target>
  row_reader& parsed(std::uint32_t column, Parse parse, Target& target) {
    if (!reads(column)) return *this;
    auto read = parse(t_.text(column, row_));
    if (!read) return fail(column, read.failure().code, read.failure().message);
    target = std::move(*read);
    return *this;
  }
  /// The same, and the text as it is given.
  template <class Parse, class Text, class Target>
  row_reader& list(std::uint32_t column, Parse parse, Text& raw, Target& target) {
    return parsed(column, parse, target).text(column, raw);
  }
  /// Where devices can be used from.
  template <class Reach>
  row_reader& reach(std::uint32_t node, std::uint32_t selector, std::uint32_t all, std::string& raw, Reach& target) {
    text(node, target.node).flag(all, target.all_nodes).list(selector, parse_selector, raw, target.labels);
    if (reads(selector)) target.by_labels = !raw.empty();
    return *this;
  }
  /// The value whose name a text column holds; the error names the nearest one.
  template <class Enum, std::size_t N>
  row_reader& one_of(std::uint32_t column, const std::array<Enum, N>& values, std::string_view (*name)(Enum) noexcept,
                     Enum& target) {
    if (!reads(column)) return *this;
    std::array<std::string_view, N> names;
    for (std::size_t i = 0; i < N; ++i) {
      names[i] = name(values[i]);
      if (names[i] != t_.text(column, row_)) continue;
      target = values[i];
      return *this;
    }
    return not_among(column, names);
  }
  row_reader& not_among(std::uint32_t column, std::span<const std::string_view> names);
  /// A fault with the subject in front.
  row_reader& fail(std::uint32_t column, status code, std::string_view what);

  [[nodiscard]] bool failed() const { return failed_; }
  [[nodiscard]] result<void> done() {
    if (failed_) return std::move(failure_);
    return {};
  }

 private:
  [[nodiscard]] bool reads(std::uint32_t column) const { return !failed_ && t_.has(column); }
  /// A fault of a number or a flag.
  row_reader& fail_value(std::uint32_t column, status code, std::string_view what);

  const table_reader& t_;
  std::uint64_t row_;
  row_subject of_;
  bool failed_ = false;
  error failure_{};
};

/// A parser of lists made of one of elements.
template <class Parse>
auto each_of(Parse parse) {
  return [parse](std::string_view list) {
    using element = std::remove_cvref_t<decltype(*parse(list))>;
    std::vector<element> all;
    for (const std::string_view text : split_list(list)) {
      auto one = parse(text);
      if (!one) return result<std::vector<element>>(one.failure());
      all.push_back(std::move(*one));
    }
    return result<std::vector<element>>(std::move(all));
  };
}

}  // namespace kaisched::model
