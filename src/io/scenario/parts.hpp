#pragma once
/// @file
/// A scenario as statements that can be left out, merged or made smaller one by one.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <kaisched/schema.hpp>

#include "io/scenario/minimise.hpp"
#include "io/scenario/scenario.hpp"
#include "io/scenario/write.hpp"

namespace kaisched::io::scenario_text {

/// An entity by its name.
using reference = std::pair<entity_kind, std::string>;

/// A statement: a row, or a step.
struct part {
  std::optional<row_text> row;
  std::string text;  ///< of a step
  std::optional<scenario_settle> settle;
  std::set<reference> names;  ///< what a row adds
  std::set<reference> needs;  ///< what it refers to

  /// True for rows that add entities of this kind.
  [[nodiscard]] bool adds(entity_kind kind) const { return row && !names.empty() && names.begin()->first == kind; }
  /// The value of a field as it is written, or nullptr.
  [[nodiscard]] const std::string* find(std::string_view key) const;
  /// Finds out anew what the row adds and refers to.
  void refer();
};
using part_list = std::vector<part>;

/// Title, source and rules of a scenario, which stay.
struct part_frame {
  std::string title;
  std::string source;
  std::string rules;
};

/// The statements of a scenario without its expectations.
[[nodiscard]] part_list parts_of(const scenario& from);
[[nodiscard]] part_frame frame_of(const scenario& from);
[[nodiscard]] std::string text_of(const part_frame& frame, const part_list& parts);
[[nodiscard]] scenario_size size_of(const part_list& parts);

/// Without these a row would be another one's, or none.
[[nodiscard]] bool is_required(const row_text& row, std::string_view key);

/// What else goes when parts are left out.
enum class with_them : std::uint8_t {
  dependents,  ///< what refers to them
  emptied,     ///< also groups that lose all their pods
  share,       ///< also what their pods held: nodes that stay and quotas get as much smaller
};
/// What is left without some parts, whose places are given in ascending order. None if that makes no difference to
/// leaving out dependents alone.
[[nodiscard]] std::optional<part_list> without(const part_list& from, std::span<const std::size_t> removed,
                                               with_them also);

/// Entities that could be one: sets of places of rows, the first of each set stays.
using merge_sets = std::vector<std::vector<std::size_t>>;
/// Nodes that differ in their amounts alone; groups of one queue of which all pods are on nodes, or none; pods of one
/// group on one node that differ in their amounts alone.
[[nodiscard]] merge_sets mergeable(const part_list& from, entity_kind kind);
/// Merges each of the sets. Amounts of nodes and pods are added up; groups get the pods of the others.
[[nodiscard]] part_list merged(const part_list& from, entity_kind kind, const merge_sets& sets);

/// A number in a field.
struct number_place {
  std::size_t part = 0;
  std::size_t field = 0;
  std::size_t entry = 0;  ///< of a map
  std::string dimension;  ///< of an amount, or empty
  std::string column;     ///< kind, column and entry: equal for places that mean the same
};
/// How a number gets smaller.
enum class smaller_by : std::uint8_t {
  all_but_one,  ///< to one
  half,
  quarter,
  one,  ///< by one, where it is small
};
/// All numbers but times, by what they mean.
[[nodiscard]] std::vector<number_place> numbers_of(const part_list& from);
/// Makes the numbers smaller that can be. None if no number can.
[[nodiscard]] std::optional<part_list> with_smaller(const part_list& from, std::span<const number_place> at,
                                                    smaller_by by);
/// Times of creation become whole seconds from 1 on, in the same order.
[[nodiscard]] part_list with_plain_times(const part_list& from);

}  // namespace kaisched::io::scenario_text
