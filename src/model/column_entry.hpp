#pragma once
/// @file
/// Entries of the schema: one for each column of each kind of table. All else that is said of a column is made from its
/// entry: the numbers in kaisched/columns.hpp and kaisched.h, the checks of input tables, JSON, CSV, scenarios, Python,
/// the documentation, and what is left of its texts when a cluster is made anonymous.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <kaisched/schema.hpp>

namespace kaisched::model {

/// What the texts of an input column are: what may be read from them by others.
enum class text_role : std::uint8_t {
  kept,              ///< words of the schema, numbers and names of hardware: they say nothing of a site
  name,              ///< a name, or a list of names
  label_key,         ///< a key of a label, or a list of keys
  labels,            ///< key, value, key, value, ...
  by_level,          ///< label key, anything, ...
  selectors,         ///< each a label selector
  affinities,        ///< topology key: label selector
  preferences,       ///< weight: label selector
  pod_preferences,   ///< weight topology key: label selector
  spreads,           ///< skew topology key ...: label selector
  dependencies,      ///< kind:name
  amounts,           ///< name:amount
  taints,            ///< taints and tolerations
  devices,           ///< driver/pool/device, perhaps behind a request and =
  devices_of_class,  ///< class=driver/pool/device
  expressions,       ///< with names in quotes
  words,             ///< of vendors, with identifiers of devices between other words
  prose,             ///< sentences
};

/// A column, and what its texts are.
struct column_entry {
  column_info info;
  text_role role = text_role::prose;

  /// `add` must have it.
  [[nodiscard]] constexpr column_entry required() const {
    column_entry made = *this;
    made.info.required = true;
    return made;
  }
  /// An output table may lack it.
  [[nodiscard]] constexpr column_entry optional() const {
    column_entry made = *this;
    made.info.required = false;
    return made;
  }
  /// Its values name entities of a kind.
  [[nodiscard]] constexpr column_entry refers_to(entity_kind kind) const {
    column_entry made = *this;
    made.info.refers_to = kind;
    return made;
  }
  /// What stands for an empty text.
  [[nodiscard]] constexpr column_entry otherwise(std::string_view fallback) const {
    column_entry made = *this;
    made.info.fallback = fallback;
    return made;
  }
  /// A value for each dimension.
  [[nodiscard]] constexpr column_entry per_dimension() const {
    column_entry made = *this;
    made.info.shape = column_shape::dimensions;
    return made;
  }
  /// A value for each dimension that quotas have.
  [[nodiscard]] constexpr column_entry per_quota() const {
    column_entry made = *this;
    made.info.shape = column_shape::quotas;
    return made;
  }
};

/// What the texts of a column of an input table are.
[[nodiscard]] text_role text_role_of(table_kind kind, std::uint32_t column) noexcept;

namespace columns {

/// One number in each row, of the type; required.
constexpr column_entry number(column_type type, std::uint32_t id, std::string_view name, std::string_view unit,
                              std::string_view doc) {
  return {{id, name, type, column_shape::one, true, entity_kind::none, unit, "", doc}};
}
/// One number in each row; the default if it is absent.
constexpr column_entry number(column_type type, std::uint32_t id, std::string_view name, std::string_view unit,
                              std::string_view fallback, std::string_view doc) {
  return {{id, name, type, column_shape::one, false, entity_kind::none, unit, fallback, doc}};
}
template <class... Rest>
constexpr column_entry i64(std::uint32_t id, std::string_view name, Rest... rest) {
  return number(column_type::i64, id, name, rest...);
}
template <class... Rest>
constexpr column_entry u32(std::uint32_t id, std::string_view name, Rest... rest) {
  return number(column_type::u32, id, name, rest...);
}
template <class... Rest>
constexpr column_entry u64(std::uint32_t id, std::string_view name, Rest... rest) {
  return number(column_type::u64, id, name, rest...);
}
template <class... Rest>
constexpr column_entry u8(std::uint32_t id, std::string_view name, Rest... rest) {
  return number(column_type::u8, id, name, rest...);
}
template <class... Rest>
constexpr column_entry f64(std::uint32_t id, std::string_view name, Rest... rest) {
  return number(column_type::f64, id, name, rest...);
}
/// 0 or 1.
template <class... Rest>
constexpr column_entry flag(std::uint32_t id, std::string_view name, Rest... rest) {
  return number(column_type::u8, id, name, "0 or 1", rest...);
}
/// A list of numbers in each row.
constexpr column_entry integers(std::uint32_t id, std::string_view name, std::string_view unit, std::string_view doc) {
  return {{id, name, column_type::i64_list, column_shape::ragged, false, entity_kind::none, unit, "", doc}};
}
/// A text of an input table, empty if it is absent.
constexpr column_entry text(std::uint32_t id, std::string_view name, text_role role, std::string_view form,
                            std::string_view doc) {
  return {{id, name, column_type::string, column_shape::ragged, false, entity_kind::none, form, "", doc}, role};
}
/// A list of texts of an input table.
constexpr column_entry texts(std::uint32_t id, std::string_view name, text_role role, std::string_view form,
                             std::string_view doc) {
  return {{id, name, column_type::string_list, column_shape::ragged, false, entity_kind::none, form, "", doc}, role};
}
/// A text of an output table.
constexpr column_entry text(std::uint32_t id, std::string_view name, std::string_view form, std::string_view doc) {
  return text(id, name, text_role::prose, form, doc).required();
}
/// A list of texts of an output table.
constexpr column_entry texts(std::uint32_t id, std::string_view name, std::string_view form, std::string_view doc) {
  return texts(id, name, text_role::prose, form, doc).required();
}

}  // namespace columns

}  // namespace kaisched::model
