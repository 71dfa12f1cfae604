#include "io/column_form.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>

#include <fmt/format.h>

#include <kaisched/decisions.hpp>
#include <kaisched/quantity.hpp>

#include "base/nearest.hpp"

namespace kaisched::io {

namespace {

constexpr std::array<std::string_view, built_in_dimensions> built_in_names{"cpu", "memory", "gpu", "pods"};

constexpr std::size_t decision_kind_count = 8;

std::array<std::string_view, pod_status_count> make_status_names() {
  std::array<std::string_view, pod_status_count> names;
  for (std::uint8_t i = 0; i < pod_status_count; ++i) names[i] = pod_status_name(static_cast<pod_status>(i));
  return names;
}

std::array<std::string_view, decision_kind_count> make_decision_names() {
  std::array<std::string_view, decision_kind_count> names;
  for (std::uint8_t i = 1; i < decision_kind_count; ++i) names[i] = decision_kind_name(static_cast<decision_kind>(i));
  return names;
}

template <class T>
T parse_fallback(const column_info& column) noexcept {
  T value{};
  std::from_chars(column.fallback.data(), column.fallback.data() + column.fallback.size(), value);
  return value;
}

}  // namespace

column_form form_of(const column_info& column) noexcept {
  if (column.type == column_type::u8) {
    if (column.unit == "0 or 1") return column_form::flag;
    if (column.unit == "pod status") return column_form::pod_status;
    if (column.unit == "decision kind") return column_form::decision_kind;
  }
  if (column.type == column_type::u64 && column.unit == "id") return column_form::id;
  if (column.type == column_type::string_list && column.unit.starts_with("key, value")) return column_form::pairs;
  return column_form::plain;
}

bool is_written(const table_info& table, const column_info& column) noexcept {
  constexpr std::string_view ending = "_name";
  return form_of(column) != column_form::id ||
         std::none_of(table.columns.begin(), table.columns.end(), [&](const column_info& other) {
           return other.name.size() == column.name.size() + ending.size() && other.name.starts_with(column.name) &&
                  other.name.ends_with(ending);
         });
}

std::span<const std::string_view> value_names(column_form form) noexcept {
  static const std::array status_names = make_status_names();
  static const std::array decision_names = make_decision_names();
  if (form == column_form::pod_status) return status_names;
  if (form == column_form::decision_kind) return decision_names;
  return {};
}

std::span<const std::string_view> quota_names() noexcept {
  return std::span<const std::string_view>(built_in_names).first(quota_dimensions);
}

std::span<const std::string_view> built_in_dimension_names() noexcept { return built_in_names; }

std::int64_t fallback_integer(const column_info& column) noexcept {
  return column.fallback == "unset" ? unset : parse_fallback<std::int64_t>(column);
}

double fallback_number(const column_info& column) noexcept { return parse_fallback<double>(column); }

std::string suggestion(std::string_view word, std::span<const std::string_view> candidates) {
  if (const std::string_view nearest = base::nearest_name(word, candidates); !nearest.empty()) {
    return fmt::format("did you mean \"{}\"?", nearest);
  }
  std::string known = "known: ";
  for (const std::string_view candidate : candidates) {
    if (candidate.empty()) continue;  // a number of an enumeration that has no name
    if (!known.ends_with(' ')) known += ", ";
    known += candidate;
  }
  return known;
}

}  // namespace kaisched::io
