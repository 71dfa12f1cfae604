#include "determinism/rows_of_tables.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>
#include <utility>

#include <kaisched/quantity.hpp>
#include <kaisched/schema.hpp>

namespace kaisched::determinism {

namespace {

std::string_view raw_row(const column_view& c, std::uint64_t row) {
  const auto* data = static_cast<const char*>(c.data);
  const std::size_t width = value_size(c.type);
  if (is_ragged(c.type)) return {data + c.offsets[row] * width, (c.offsets[row + 1] - c.offsets[row]) * width};
  return {data + row * c.width * width, c.width * width};
}

template <class T>
void push_values(table::column& to, std::string_view row, std::span<const std::uint32_t> order) {
  for (std::size_t i = 0; i < row.size() / sizeof(T); ++i) {
    T value{};
    const std::size_t from = order.empty() ? i : order[i];
    std::memcpy(&value, row.data() + from * sizeof(T), sizeof(T));
    to.push(value);
  }
}

void push_row(table::column& to, const column_view& from, std::uint64_t row, std::span<const std::uint32_t> order) {
  switch (from.type) {
    case column_type::u8:
      push_values<std::uint8_t>(to, raw_row(from, row), {});
      break;
    case column_type::u32:
      push_values<std::uint32_t>(to, raw_row(from, row), {});
      break;
    case column_type::i64:
      push_values<std::int64_t>(to, raw_row(from, row), order);
      break;
    case column_type::u64:
      push_values<std::uint64_t>(to, raw_row(from, row), {});
      break;
    case column_type::f64:
      push_values<double>(to, raw_row(from, row), {});
      break;
    default:
      to.push_raw(raw_row(from, row));
  }
}

std::vector<std::uint64_t> random_order(std::uint64_t size, std::mt19937_64& engine) {
  std::vector<std::uint64_t> order(size);
  std::iota(order.begin(), order.end(), std::uint64_t{0});
  for (std::uint64_t i = size; i > 1; --i)
    std::swap(order[i - 1], order[engine() % i]);  // no distribution: they differ
  return order;
}

}  // namespace

table pick_rows(const table_view& from, std::span<const std::uint64_t> rows,
                std::span<const std::uint32_t> dimensions) {
  table to(from.kind, from.op);
  const table_info* info = schema_of(from.kind);
  for (std::uint32_t i = 0; i < from.column_count; ++i) {
    const column_view& c = from.columns[i];
    const auto described = std::find_if(info->columns.begin(), info->columns.end(),
                                        [&](const column_info& one) { return one.id == c.id; });
    const bool by_dimension = described != info->columns.end() && described->shape == column_shape::dimensions;
    table::column& column = to.add(c.id, c.type, c.width);
    for (const std::uint64_t row : rows) {
      push_row(column, c, row, by_dimension ? dimensions : std::span<const std::uint32_t>{});
    }
  }
  return to;
}

std::vector<table> shuffled(const std::vector<table>& tables, std::uint64_t seed) {
  std::mt19937_64 engine(seed);
  std::vector<std::uint32_t> dimensions;
  std::vector<table> result;
  for (const table& one : tables) {
    const table_view view = one.view();
    const std::vector<std::uint64_t> order = random_order(view.rows, engine);
    if (view.kind == static_cast<std::uint32_t>(table_kind::resource)) {
      dimensions.resize(built_in_dimensions);
      std::iota(dimensions.begin(), dimensions.end(), 0U);
      for (const std::uint64_t row : order) dimensions.push_back(built_in_dimensions + static_cast<std::uint32_t>(row));
    }
    result.push_back(pick_rows(view, order, dimensions));
  }
  return result;
}

std::string bytes_without_ids(const table_view& from) {
  std::string bytes = std::to_string(from.kind) + ":" + std::to_string(from.rows);
  const bool has_ids = from.kind != static_cast<std::uint32_t>(table_kind::statistic);
  for (std::uint32_t i = 0; i < from.column_count; ++i) {
    const column_view& c = from.columns[i];
    if (has_ids && c.type == column_type::u64) continue;
    bytes += "/" + std::to_string(c.id);
    for (std::uint64_t row = 0; row < from.rows; ++row) {
      const std::string_view raw = raw_row(c, row);
      bytes += std::to_string(raw.size()) + ":";
      bytes += raw;
    }
  }
  return bytes;
}

}  // namespace kaisched::determinism
