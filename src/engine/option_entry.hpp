#pragma once
/// @file
/// Descriptors of options: what an option is called, what values it takes, what it means, and which member of
/// `policy_options` holds it. One function for each kind of value makes a descriptor that reads and writes the member.

#include <charconv>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <kaisched/options.hpp>

#include "base/text.hpp"

namespace kaisched::engine_detail {

/// An option and how its text is read and written. Options of clusters have no functions.
struct option_entry {
  option_info info;
  result<void> (*set)(policy_options& target, const option_info& info, std::string_view value);
  std::string (*get)(const policy_options& from, const option_info& info);
};

/// "option NAME: 'VALUE' is not EXPECTED".
[[nodiscard]] error bad_value(std::string_view name, std::string_view value, std::string_view expected);
/// A finite number between the bounds of the option, a whole one if the option is of type integer.
[[nodiscard]] result<double> parse_number(const option_info& info, std::string_view value);
/// The position of the value among the choices of the option.
[[nodiscard]] result<std::size_t> parse_choice(const option_info& info, std::string_view value);
/// The choice at a position.
[[nodiscard]] std::string choice_at(const option_info& info, std::size_t position);
/// The shortest text that is read as the same number.
[[nodiscard]] std::string number_text(double value);
/// Names separated by commas.
[[nodiscard]] std::string join_names(const std::vector<std::string>& names);

/// What a list of names has to be beside a list of names.
using list_check = result<void> (*)(const std::vector<std::string>& names);

template <auto Member>
constexpr option_entry flag(std::string_view name, std::string_view fallback, std::string_view doc) {
  return {{name, option_type::boolean, fallback, 0, 0, "", doc},
          [](policy_options& target, const option_info& info, std::string_view value) -> result<void> {
            if (value != "true" && value != "false") return bad_value(info.name, value, "true or false");
            target.*Member = value == "true";
            return {};
          },
          [](const policy_options& from, const option_info&) { return std::string(from.*Member ? "true" : "false"); }};
}

template <auto Member>
constexpr option_entry integer(std::string_view name, std::string_view fallback, double least, double most,
                               std::string_view doc) {
  return {{name, option_type::integer, fallback, least, most, "", doc},
          [](policy_options& target, const option_info& info, std::string_view value) -> result<void> {
            const result<double> number = parse_number(info, value);
            if (!number) return number.failure();
            target.*Member = static_cast<std::int64_t>(*number);
            return {};
          },
          [](const policy_options& from, const option_info&) { return std::to_string(from.*Member); }};
}

template <auto Member>
constexpr option_entry real(std::string_view name, std::string_view fallback, double least, double most,
                            std::string_view doc) {
  return {{name, option_type::number, fallback, least, most, "", doc},
          [](policy_options& target, const option_info& info, std::string_view value) -> result<void> {
            const result<double> number = parse_number(info, value);
            if (!number) return number.failure();
            target.*Member = *number;
            return {};
          },
          [](const policy_options& from, const option_info&) { return number_text(from.*Member); }};
}

/// A number of seconds; the member holds nanoseconds.
template <auto Member>
constexpr option_entry seconds(std::string_view name, std::string_view fallback, double least, double most,
                               std::string_view doc) {
  constexpr double nanoseconds = 1e9;
  return {{name, option_type::number, fallback, least, most, "", doc},
          [](policy_options& target, const option_info& info, std::string_view value) -> result<void> {
            const result<double> number = parse_number(info, value);
            if (!number) return number.failure();
            target.*Member = std::llround(*number * nanoseconds);
            return {};
          },
          [](const policy_options& from, const option_info&) {
            return number_text(static_cast<double>(from.*Member) / nanoseconds);
          }};
}

/// One of the choices, separated by blanks; `Values` are those of the member, in the order of the choices.
template <auto Member, auto... Values>
constexpr option_entry choice(std::string_view name, std::string_view fallback, std::string_view choices,
                              std::string_view doc) {
  return {{name, option_type::choice, fallback, 0, 0, choices, doc},
          [](policy_options& target, const option_info& info, std::string_view value) -> result<void> {
            const result<std::size_t> position = parse_choice(info, value);
            if (!position) return position.failure();
            std::size_t at = 0;
            ((at++ == *position ? void(target.*Member = Values) : void()), ...);
            return {};
          },
          [](const policy_options& from, const option_info& info) {
            std::size_t at = 0;
            ((from.*Member != Values && ++at) && ...);
            return choice_at(info, at);
          }};
}

/// Names separated by commas.
template <auto Member, list_check Check = nullptr>
constexpr option_entry names(std::string_view name, std::string_view fallback, std::string_view doc) {
  return {{name, option_type::list, fallback, 0, 0, "", doc},
          [](policy_options& target, const option_info&, std::string_view value) -> result<void> {
            std::vector<std::string> list = base::split_names(value);
            if constexpr (Check != nullptr) {
              if (auto good = Check(list); !good) return good;
            }
            target.*Member = std::move(list);
            return {};
          },
          [](const policy_options& from, const option_info&) { return join_names(from.*Member); }};
}

}  // namespace kaisched::engine_detail
