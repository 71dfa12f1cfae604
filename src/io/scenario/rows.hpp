#pragma once
/// @file
/// Statements about entities as input tables.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <kaisched/result.hpp>
#include <kaisched/schema.hpp>
#include <kaisched/table.hpp>

#include "io/scenario/cells.hpp"
#include "io/scenario/scenario.hpp"
#include "io/scenario/text.hpp"

namespace kaisched::io::scenario_text {

/// The column that names a row of a kind, given as a word: `name`, `index` for devices.
[[nodiscard]] const column_info& name_column(const table_info& kind);
/// The column that says to what a row belongs (queue, group, node), or nullptr.
[[nodiscard]] const column_info* owner_column(const table_info& kind);
/// The column of amounts whose dimensions stand for themselves, or nullptr.
[[nodiscard]] const column_info* amounts_column(const table_info& kind);

/// Collects the rows of one delta. The names of dimensions and the owners of rows are remembered from delta to delta.
class delta_rows {
 public:
  /// `text_size`: bytes of the scenario. What stands there in words is never too much; what ranges make of it can be.
  delta_rows(std::string_view source, std::size_t text_size);

  /// Adds the rows of a statement whose words from `first` on are a kind, names and fields.
  /// Errors carry the place.
  result<void> add(const statement& from, std::size_t first, table_op op, std::int64_t now);

  [[nodiscard]] bool empty() const { return batches_.empty(); }
  /// The tables so far; what follows is another delta.
  [[nodiscard]] scenario_delta take();
  /// Forgets the dimensions that the last delta has registered, because it is expected to fail.
  void forget_last();

 private:
  struct parsed_row {
    std::size_t line = 0;
    std::vector<std::pair<std::size_t, cell>> cells;  // those that are given, by column of the schema, ascending

    [[nodiscard]] const cell* find(std::size_t column) const;
    /// The cell of a column; a new one is empty.
    cell& at(std::size_t column);
  };
  struct batch {
    const table_info* kind = nullptr;
    table_op op = table_op::none;
    std::vector<parsed_row> rows;
    std::size_t dimensions = 0;
  };
  struct owner {
    entity_kind kind = entity_kind::none;
    std::vector<std::string> names;
  };

  result<void> add_rows(const statement& from, const table_info& kind, const item& named, std::size_t first_field,
                        table_op op, std::int64_t now);
  /// A field of a statement, taken apart once for all rows.
  struct prepared_field {
    const item* from = nullptr;
    const column_info* column = nullptr;
    std::string entry;                   ///< of a map of amounts; empty: the whole column
    std::optional<name_pattern> moving;  ///< the value has ranges
  };
  result<prepared_field> prepare(const table_info& kind, const item& field, const name_pattern& names) const;
  /// Error: a column, or an entry of a map, that several fields of a statement give. An amount for all entries may be
  /// followed by single ones.
  [[nodiscard]] result<void> refuse_repeated(const std::vector<prepared_field>& fields) const;
  result<void> set_field(const table_info& kind, const prepared_field& field, const std::vector<std::size_t>& positions,
                         std::int64_t now, parsed_row& row) const;
  result<void> check_required(const table_info& kind, const item& named, std::vector<parsed_row>& rows) const;
  result<void> give_owners(const table_info& kind, const statement& from, std::vector<parsed_row>& rows);
  void remember(const table_info& kind, const std::vector<parsed_row>& rows);
  void append(const table_info& kind, table_op op, std::vector<parsed_row> rows);
  [[nodiscard]] static table make_table(const batch& from);
  /// Takes so many rows like this one out of the budget.
  [[nodiscard]] bool affords(const parsed_row& row, std::size_t rows);
  [[nodiscard]] error fail(place at, std::string_view what) const;

  std::string source_;
  std::size_t budget_;  ///< values that may still be made
  std::vector<std::string> dimensions_;
  std::vector<std::string> dimensions_before_;
  std::vector<batch> batches_;
  std::vector<owner> owners_;
};

}  // namespace kaisched::io::scenario_text
