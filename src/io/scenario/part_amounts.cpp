// What statements say in numbers, and how it gets less.
#include "io/scenario/part_amounts.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "io/scenario/cells.hpp"
#include "io/scenario/rows.hpp"
#include "io/scenario/text.hpp"

namespace kaisched::io::scenario_text {

namespace {

const column_info* column_called(const table_info& kind, std::string_view name) {
  const auto found = std::find_if(kind.columns.begin(), kind.columns.end(),
                                  [&](const column_info& column) { return column.name == name; });
  return found == kind.columns.end() ? nullptr : &*found;
}

/// The entries of a map of amounts, or the one value.
struct written_value {
  std::vector<std::string> keys;  ///< none if it is no map
  std::vector<std::string> texts;

  [[nodiscard]] std::string text() const {
    if (keys.empty()) return texts.front();
    std::string out;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (i > 0) out += ',';
      out += fmt::format("{}={}", quoted_if_needed(keys[i], text_place::key), texts[i]);
    }
    return "{" + out + "}";
  }
};

/// Empty if the value is neither.
written_value take_apart(const std::string& written) {
  written_value made;
  const auto parsed = split("x y=" + written, "");
  if (!parsed || parsed->size() != 1) return made;
  const value& given = parsed->front().items.back().given;
  if (given.kind != value_kind::text && given.kind != value_kind::map) return made;
  for (const word& one : given.items) made.texts.push_back(one.text);
  for (const word& one : given.keys) made.keys.push_back(one.text);
  return made;
}

/// How a number is written.
struct number_form {
  std::int64_t unit = 0;  ///< how much one is; 0 for what is no number, or a time
  bool plain = false;     ///< without suffixes
};

number_form form_at(const row_text& row, std::string_view key, std::string_view entry) {
  if (is_amount(row, key)) return {unit_of_dimension(key), false};
  const column_info* column = column_called(*row.kind, key);
  if (column == nullptr || column->unit == "ns" || column->refers_to != entity_kind::none) return {};
  if (column->shape == column_shape::dimensions || column->shape == column_shape::quotas) {
    if (entry.empty() || column->type == column_type::f64) return {};
    return {unit_of_dimension(entry), false};
  }
  if (column->shape != column_shape::one || column->type == column_type::f64) return {};
  if (column->unit == "milli-GPU") return {unit_of_dimension("gpu"), false};
  return {1, column->unit != "bytes"};
}

/// The number, or none if it cannot get smaller in this way. None gets less than one.
std::optional<std::int64_t> smaller_number(const std::string& text, std::int64_t unit, smaller_by by) {
  constexpr std::int64_t most_single_steps = 64;
  const result<std::int64_t> number = parse_quantity(text, unit);
  if (!number || *number <= unit) return std::nullopt;
  const std::int64_t whole = (*number + unit - 1) / unit;
  std::int64_t less = 1;
  if (by == smaller_by::half) less = whole / 2;
  if (by == smaller_by::quarter) less = whole - (whole / 4);
  if (by == smaller_by::one) less = whole - 1;
  if (less < 1 || less >= whole || (by == smaller_by::one && whole > most_single_steps)) return std::nullopt;
  return less * unit;
}

using held_amounts = std::map<std::string, std::int64_t>;

/// The first name in a field, or nothing.
std::string first_name(const part& one, std::string_view key) {
  const std::string* written = one.find(key);
  const std::vector<std::string> names = written == nullptr ? std::vector<std::string>{} : names_in(*written);
  return names.empty() ? std::string() : names.front();
}

/// What marked pods that are on nodes hold, by a name that they have in a field.
std::map<std::string, held_amounts> held_by(const part_list& parts, const std::vector<bool>& marked,
                                            std::string_view field) {
  std::map<std::string, held_amounts> held;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (!marked[i] || !parts[i].adds(entity_kind::pod) || first_name(parts[i], "node").empty()) continue;
    held_amounts& sum = held[first_name(parts[i], field)];
    for (const auto& [key, value] : parts[i].row->fields) {
      if (is_amount(*parts[i].row, key)) sum[key] += amount_of(parts[i], key);
    }
  }
  return held;
}

/// The same by queues, with those above them.
std::map<std::string, held_amounts> held_by_queues(const part_list& parts, const std::vector<bool>& marked) {
  const std::map<std::string, held_amounts> by_group = held_by(parts, marked, "group");
  std::map<std::string, std::string> above;
  for (const part& one : parts) {
    if (one.adds(entity_kind::queue)) above[one.row->name] = first_name(one, "parent");
  }
  std::map<std::string, held_amounts> held;
  for (const part& one : parts) {
    const auto found = one.adds(entity_kind::pod_group) ? by_group.find(one.row->name) : by_group.end();
    if (found == by_group.end()) continue;
    std::string queue = first_name(one, "queue");
    for (std::size_t depth = 0; !queue.empty() && depth <= above.size(); ++depth, queue = above[queue]) {
      for (const auto& [key, amount] : found->second) held[queue][key] += amount;
    }
  }
  return held;
}

/// Quotas, limits and guarantees get smaller; entries of which nothing is left go.
void lower_quotas(part& queue, const held_amounts& by) {
  std::vector<std::string> empty;
  for (auto& [key, value] : queue.row->fields) {
    if (key != "quota" && key != "limit" && key != "guarantee") continue;
    written_value apart = take_apart(value);
    for (std::size_t i = apart.keys.size(); i-- > 0;) {
      const auto found = by.find(apart.keys[i]);
      const std::int64_t unit = unit_of_dimension(apart.keys[i]);
      const result<std::int64_t> has = parse_quantity(apart.texts[i], unit);
      if (found == by.end() || !has) continue;
      const std::int64_t left = std::max<std::int64_t>(0, *has - found->second);
      apart.texts[i] = format_quantity(left, unit);
      if (left > 0 || key == "limit") continue;
      apart.keys.erase(apart.keys.begin() + static_cast<std::ptrdiff_t>(i));
      apart.texts.erase(apart.texts.begin() + static_cast<std::ptrdiff_t>(i));
    }
    if (apart.texts.empty()) {
      empty.push_back(key);
    } else if (!apart.keys.empty()) {
      value = apart.text();
    }
  }
  for (const std::string& key : empty) drop_field(queue, key);
}

}  // namespace

std::vector<std::string> names_in(const std::string& written) {
  const auto parsed = split("x y=" + written, "");
  std::vector<std::string> names;
  if (!parsed || parsed->size() != 1) return names;
  for (const word& one : parsed->front().items.back().given.items) names.push_back(one.text);
  return names;
}

bool is_amount(const row_text& row, std::string_view key) {
  return row.op == table_op::add && amounts_column(*row.kind) != nullptr && column_called(*row.kind, key) == nullptr &&
         key.find('.') == std::string_view::npos;
}

std::int64_t amount_of(const part& one, std::string_view key) {
  const std::string* written = one.find(key);
  if (written == nullptr) return 0;
  const result<std::int64_t> amount = parse_quantity(*written, unit_of_dimension(key));
  return amount ? *amount : 0;
}

void set_amount(part& one, std::string_view key, std::int64_t amount) {
  if (amount <= 0) return drop_field(one, key);
  const std::string text = format_quantity(amount, unit_of_dimension(key));
  for (auto& [name, value] : one.row->fields) {
    if (name != key) continue;
    value = text;
    return;
  }
  one.row->fields.emplace_back(key, text);
}

void drop_field(part& one, std::string_view key) {
  std::erase_if(one.row->fields, [&](const auto& field) { return field.first == key; });
}

bool take_shares(part_list& parts, const std::vector<bool>& marked) {
  const std::map<std::string, held_amounts> by_node = held_by(parts, marked, "node");
  if (by_node.empty()) return false;
  const std::map<std::string, held_amounts> by_queue = held_by_queues(parts, marked);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (marked[i]) continue;
    if (parts[i].adds(entity_kind::node)) {
      const auto found = by_node.find(parts[i].row->name);
      if (found == by_node.end()) continue;
      for (const auto& [key, amount] : found->second) {
        if (parts[i].find(key) != nullptr) set_amount(parts[i], key, amount_of(parts[i], key) - amount);
      }
    } else if (parts[i].adds(entity_kind::queue)) {
      const auto found = by_queue.find(parts[i].row->name);
      if (found != by_queue.end()) lower_quotas(parts[i], found->second);
    } else if (parts[i].adds(entity_kind::pod) && by_node.contains(first_name(parts[i], "node"))) {
      drop_field(parts[i], "devices");
    }
  }
  return true;
}

std::vector<number_place> numbers_of(const part_list& from) {
  std::vector<number_place> found;
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (!from[i].row || from[i].row->op == table_op::remove) continue;
    const row_text& row = *from[i].row;
    for (std::size_t f = 0; f < row.fields.size(); ++f) {
      const auto& [key, value] = row.fields[f];
      const written_value apart = take_apart(value);
      for (std::size_t e = 0; e < apart.texts.size(); ++e) {
        const std::string entry = apart.keys.empty() ? std::string() : apart.keys[e];
        const std::int64_t unit = form_at(row, key, entry).unit;
        if (unit == 0 || !smaller_number(apart.texts[e], unit, smaller_by::all_but_one)) continue;
        const std::string dimension = !entry.empty() ? entry : is_amount(row, key) ? key : std::string();
        found.push_back({i, f, e, dimension, fmt::format("{}.{}.{}", row.kind->name, key, entry)});
      }
    }
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const number_place& a, const number_place& b) { return a.column < b.column; });
  return found;
}

std::optional<part_list> with_smaller(const part_list& from, std::span<const number_place> at, smaller_by by) {
  part_list made = from;
  bool any = false;
  for (const number_place& place : at) {
    part& one = made[place.part];
    auto& [key, value] = one.row->fields[place.field];
    written_value apart = take_apart(value);
    const std::string entry = apart.keys.empty() ? std::string() : apart.keys[place.entry];
    const number_form form = form_at(*one.row, key, entry);
    const std::optional<std::int64_t> less = smaller_number(apart.texts[place.entry], form.unit, by);
    if (!less) continue;
    apart.texts[place.entry] = form.plain ? std::to_string(*less) : format_quantity(*less, form.unit);
    value = apart.text();
    any = true;
  }
  if (!any) return std::nullopt;
  return made;
}

part_list with_plain_times(const part_list& from) {
  constexpr std::string_view column = "created";
  std::map<std::int64_t, std::int64_t> ranks;
  for (const part& one : from) {
    const std::string* written = one.row && one.row->op == table_op::add ? one.find(column) : nullptr;
    const result<std::int64_t> time = written == nullptr ? 0 : parse_time(*written, 0);
    if (time && *time > 0) ranks.emplace(*time, 0);
  }
  std::int64_t rank = 0;
  for (auto& [time, plain] : ranks) plain = ++rank * 1'000'000'000;
  part_list made = from;
  for (part& one : made) {
    if (!one.row || one.row->op != table_op::add) continue;
    for (auto& [key, value] : one.row->fields) {
      const result<std::int64_t> time = key == column ? parse_time(value, 0) : 0;
      if (time && *time > 0) value = format_time(ranks.at(*time));
    }
  }
  return made;
}

}  // namespace kaisched::io::scenario_text
