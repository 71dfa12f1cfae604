#include "io/scenario/output.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "io/column_form.hpp"

namespace kaisched::io::scenario_text {

namespace {

constexpr std::string_view name_suffix = "_name";

bool is_id(const column_info& column) { return form_of(column) == column_form::id; }

}  // namespace

output_rows::output_rows(table rows, std::vector<std::string> dimensions)
    : rows_(std::move(rows)), view_(rows_.view()), info_(schema_of(rows_.kind())), dimensions_(std::move(dimensions)) {}

const column_info* output_rows::column(std::string_view name) const {
  const column_info* found = nullptr;
  for (const column_info& one : info_->columns) {
    if (view_.find(one.id) == nullptr || is_id(one)) continue;
    const bool twin =
        one.name.ends_with(name_suffix) && one.name.substr(0, one.name.size() - name_suffix.size()) == name;
    if (one.name == name || twin) found = &one;
  }
  return found;
}

std::vector<std::string_view> output_rows::column_names() const {
  std::vector<std::string_view> names;
  for (const column_info& one : info_->columns) {
    if (is_id(one) || view_.find(one.id) == nullptr) continue;
    const bool twin = one.name.ends_with(name_suffix);
    names.push_back(twin ? one.name.substr(0, one.name.size() - name_suffix.size()) : one.name);
  }
  return names;
}

cell output_rows::at(const column_info& column, std::size_t row) const { return cell_at(*view_.find(column.id), row); }

std::string output_rows::text(std::string_view name, std::size_t row) const {
  const column_info* found = column(name);
  return found == nullptr ? std::string() : at(*found, row).texts.front();
}

std::int64_t output_rows::integer(std::string_view name, std::size_t row) const {
  const column_info* found = column(name);
  return found == nullptr ? 0 : at(*found, row).integers.front();
}

std::vector<std::size_t> output_rows::find(std::string_view name, std::string_view value) const {
  std::vector<std::size_t> found;
  for (std::size_t row = 0; row < size(); ++row) {
    if (text(name, row) == value) found.push_back(row);
  }
  return found;
}

output_rows::named output_rows::resolve(std::string_view name) const {
  if (const column_info* whole = column(name); whole != nullptr) return {whole, {}};
  const std::size_t dot = name.find('.');
  if (dot == std::string_view::npos) return {};
  const column_info* map = column(name.substr(0, dot));
  if (map == nullptr || (map->shape != column_shape::quotas && map->shape != column_shape::dimensions)) return {};
  return {map, std::string(name.substr(dot + 1))};
}

cell_context output_rows::context(std::size_t row) const {
  row_dimension_ = info_->kind == table_kind::reason ? text("dimension", row) : std::string();
  return {dimensions_, 0, row_dimension_};
}

result<cell> output_rows::with_field(const item& field, const cell_context& about, cell has) const {
  const std::string& name = field.name.text;
  const named which = resolve(name);
  result<cell> given = std::move(has);
  if (which.entry.empty()) {
    given = parse_cell(*which.column, field.given, about);
  } else if (auto done = parse_entry(*which.column, which.entry, field.given, about, *given); !done) {
    given = done.take_failure();
  }
  if (!given) return error{status::argument, fmt::format("{}: {}", name, given.failure().message), {}};
  return given;
}

result<void> output_rows::check(const item& field) const {
  const std::string& name = field.name.text;
  const named which = resolve(name);
  if (which.column == nullptr) {
    return error{status::argument,
                 fmt::format("{} has no column \"{}\"; {}", info_->name, name, suggestion(name, column_names())),
                 {}};
  }
  // Thousandths of cores are the finest unit that an amount of some row can have.
  const auto given =
      with_field(field, {dimensions_, 0, quota_names().front()}, default_cell(*which.column, dimensions_.size()));
  return given ? result<void>{} : result<void>(given.failure());
}

result<std::string> output_rows::difference(const item& wanted, std::size_t row) const {
  if (auto good = check(wanted); !good) return good.failure();
  const cell has = at(*resolve(wanted.name.text).column, row);
  const result<cell> given = with_field(wanted, context(row), has);
  if (!given) return given.failure();
  return *given == has ? std::string() : field(wanted.name.text, row);
}

std::string output_rows::field(std::string_view name, std::size_t row) const {
  const named which = resolve(name);
  const cell_context about = context(row);
  const cell has = at(*which.column, row);
  if (which.entry.empty()) return fmt::format("{}={}", name, format_cell(*which.column, has, about));
  const std::vector<std::string_view> entries = entries_of(*which.column, about);
  const auto entry = std::find(entries.begin(), entries.end(), which.entry);
  if (entry == entries.end()) return std::string(name);
  column_info single = *which.column;
  single.shape = column_shape::one;
  const auto i = static_cast<std::size_t>(entry - entries.begin());
  if (single.type == column_type::f64) return fmt::format("{}={}", name, has.numbers[i]);
  if (has.integers[i] == unlimited) return fmt::format("{}=unlimited", name);
  return fmt::format("{}={}", name, format_quantity(has.integers[i], unit_of_dimension(*entry)));
}

result<void> check_fields(table_kind kind, const statement& from, std::size_t first) {
  table none(static_cast<std::uint32_t>(kind), 0);
  for (const column_info& column : schema_of(static_cast<std::uint32_t>(kind))->columns)
    none.add(column.id, column.type);
  const output_rows rows(std::move(none), {});
  for (std::size_t i = first; i < from.items.size(); ++i) {
    if (!from.items[i].is_field()) continue;
    if (auto good = rows.check(from.items[i]); !good) return good;
  }
  return {};
}

}  // namespace kaisched::io::scenario_text
