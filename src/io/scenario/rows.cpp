#include "io/scenario/rows.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "io/column_form.hpp"

namespace kaisched::io::scenario_text {

namespace {

/// Most names that one word may stand for.
constexpr std::size_t most_rows = 1'000'000;
/// Most values that ranges may make of a text, beyond those that stand in it.
constexpr std::size_t most_values = 4'000'000;

constexpr std::string_view too_much = "the ranges of this scenario make too many rows";

const column_info* find_column(const table_info& kind, std::string_view name) {
  const auto found = std::find_if(kind.columns.begin(), kind.columns.end(),
                                  [&](const column_info& column) { return column.name == name; });
  return found == kind.columns.end() ? nullptr : &*found;
}

std::size_t index_of(const table_info& kind, const column_info& column) {
  return static_cast<std::size_t>(&column - kind.columns.data());
}

/// Kinds whose names are their own only inside their owner: a statement gives each of several owners a row.
bool is_local(const table_info& kind) {
  return kind.kind != table_kind::pod && kind.kind != table_kind::pod_group && owner_column(kind) != nullptr;
}

}  // namespace

const column_info& name_column(const table_info& kind) {
  for (const column_info& column : kind.columns) {
    if (column.name == "name" || column.name == "index") return column;
  }
  return kind.columns.front();
}

const column_info* owner_column(const table_info& kind) {
  switch (kind.kind) {
    case table_kind::pod_group:
      return find_column(kind, "queue");
    case table_kind::sub_group:
    case table_kind::pod:
      return find_column(kind, "group");
    default:
      break;
  }
  for (const column_info& column : kind.columns) {
    if (column.required && column.refers_to == entity_kind::node) return &column;
  }
  return nullptr;
}

const column_info* amounts_column(const table_info& kind) {
  for (const column_info& column : kind.columns) {
    if (column.shape == column_shape::dimensions && column.required) return &column;
  }
  return nullptr;
}

const cell* delta_rows::parsed_row::find(std::size_t column) const {
  const auto found = std::find_if(cells.begin(), cells.end(), [&](const auto& one) { return one.first == column; });
  return found == cells.end() ? nullptr : &found->second;
}

cell& delta_rows::parsed_row::at(std::size_t column) {
  const auto place = std::find_if(cells.begin(), cells.end(), [&](const auto& one) { return one.first >= column; });
  if (place != cells.end() && place->first == column) return place->second;
  return cells.emplace(place, column, cell{})->second;
}

delta_rows::delta_rows(std::string_view source, std::size_t text_size)
    : source_(source), budget_(most_values + text_size) {
  for (const std::string_view name : built_in_dimension_names()) dimensions_.emplace_back(name);
  dimensions_before_ = dimensions_;
}

error delta_rows::fail(place at, std::string_view what) const { return failure_at(source_, at, what); }

result<void> delta_rows::add(const statement& from, std::size_t first, table_op op, std::int64_t now) {
  if (batches_.empty()) dimensions_before_ = dimensions_;
  const word& kind_name = from.items[first].name;
  const table_info* kind = schema_of(kind_name.text);
  if (kind == nullptr || !kind->input || from.items[first].is_field()) {
    std::vector<std::string_view> known;
    for (const table_info& one : schema()) {
      if (one.input) known.push_back(one.name);
    }
    return fail(kind_name.at, fmt::format("there is no kind of entity \"{}\"; {}", kind_name.text,
                                          suggestion(kind_name.text, known)));
  }
  std::size_t names = first + 1;
  while (names < from.items.size() && !from.items[names].is_field() && (names == first + 1 || op == table_op::remove)) {
    ++names;
  }
  if (names == first + 1)
    return fail(kind_name.at, fmt::format("expected the {} of the {}", name_column(*kind).name, kind->name));
  for (std::size_t i = first + 1; i < names; ++i) {
    if (auto done = add_rows(from, *kind, from.items[i], names, op, now); !done) return done;
  }
  return {};
}

result<void> delta_rows::add_rows(const statement& from, const table_info& kind, const item& named,
                                  std::size_t first_field, table_op op, std::int64_t now) {
  const column_info& naming = name_column(kind);
  const result<name_pattern> names = name_pattern::parse_name(named.name, most_rows);
  if (!names) return fail(named.name.at, names.failure().message);
  std::vector<prepared_field> fields;
  for (std::size_t i = first_field; i < from.items.size(); ++i) {
    result<prepared_field> field = prepare(kind, from.items[i], *names);
    if (!field) return field.take_failure();
    fields.push_back(std::move(*field));
  }
  if (auto done = refuse_repeated(fields); !done) return done;
  std::vector<parsed_row> rows;
  for (std::size_t n = 0; n < names->count(); ++n) {
    const std::vector<std::size_t> positions = names->positions(n);
    parsed_row row;
    row.line = from.first_line;
    value given;
    given.kind = value_kind::text;
    given.items = {{names->name(positions), true, named.name.at}};
    result<cell> name = parse_cell(naming, given, {dimensions_, now, {}});
    if (!name) return fail(named.name.at, fmt::format("{}: {}", naming.name, name.failure().message));
    row.at(index_of(kind, naming)) = std::move(*name);
    for (const prepared_field& field : fields) {
      if (auto done = set_field(kind, field, positions, now, row); !done) return done;
    }
    if (n == 0 && !affords(row, names->count())) return fail(named.name.at, too_much);
    rows.push_back(std::move(row));
  }
  if (op == table_op::add) {
    if (auto done = give_owners(kind, from, rows); !done) return done;
    if (auto done = check_required(kind, named, rows); !done) return done;
    remember(kind, rows);
  }
  append(kind, op, std::move(rows));
  return {};
}

result<void> delta_rows::check_required(const table_info& kind, const item& named,
                                        std::vector<parsed_row>& rows) const {
  for (const column_info& column : kind.columns) {
    if (!column.required || rows.front().find(index_of(kind, column)) != nullptr) continue;
    if (column.shape != column_shape::dimensions) {
      return fail(named.name.at,
                  fmt::format("{} \"{}\" needs {}=...: {}", kind.name, named.name.text, column.name, column.doc));
    }
    // Nothing is an amount as well.
    for (parsed_row& row : rows) row.at(index_of(kind, column)) = default_cell(column, dimensions_.size());
  }
  return {};
}

result<delta_rows::prepared_field> delta_rows::prepare(const table_info& kind, const item& field,
                                                       const name_pattern& names) const {
  const std::string& key = field.name.text;
  prepared_field made;
  made.from = &field;
  made.column = find_column(kind, key);
  if (made.column == nullptr) {
    const std::size_t dot = key.find('.');
    if (dot != std::string::npos) made.column = find_column(kind, std::string_view(key).substr(0, dot));
    const bool has_entries = made.column != nullptr && !entries_of(*made.column, {dimensions_, 0, {}}).empty();
    if (!has_entries || dot + 1 == key.size()) made.column = nullptr;
    if (made.column != nullptr) made.entry = key.substr(dot + 1);
  }
  const column_info* amounts = amounts_column(kind);
  const bool is_dimension = std::find(dimensions_.begin(), dimensions_.end(), key) != dimensions_.end();
  if (made.column == nullptr && amounts != nullptr && is_dimension) {
    made.column = amounts;
    made.entry = key;
  }
  if (made.column == nullptr) {
    std::vector<std::string_view> known;
    for (const column_info& one : kind.columns) known.push_back(one.name);
    if (amounts != nullptr) known.insert(known.end(), dimensions_.begin(), dimensions_.end());
    return fail(field.name.at, fmt::format("{} has no column \"{}\"; {}", kind.name, key, suggestion(key, known)));
  }
  if (made.column == &name_column(kind)) {
    return fail(field.name.at, fmt::format("the {} is given as a word, without \"{}=\"", key, key));
  }
  if (field.given.kind != value_kind::text) return made;
  const word& value_word = field.given.front();
  result<name_pattern> moving = name_pattern::parse(value_word, most_rows);
  if (!moving) return fail(value_word.at, moving.failure().message);
  if (moving->ranges() == 0) return made;
  if (!moving->moves_with(names)) {
    return fail(value_word.at,
                fmt::format("the ranges of \"{}\" are not as long as those of the name", value_word.text));
  }
  made.moving = std::move(*moving);
  return made;
}

result<void> delta_rows::refuse_repeated(const std::vector<prepared_field>& fields) const {
  std::set<std::pair<const column_info*, std::string_view>> given;  // a whole column is the entry without a name
  for (const prepared_field& field : fields) {
    const auto first = given.lower_bound({field.column, {}});
    const bool any = first != given.end() && first->first == field.column;
    if (field.entry.empty() ? any : given.contains({field.column, field.entry})) {
      return fail(field.from->name.at, fmt::format("{} is given twice", field.from->name.text));
    }
    given.emplace(field.column, field.entry);
    for (const word& key : field.from->given.keys) given.emplace(field.column, key.text);
  }
  return {};
}

result<void> delta_rows::set_field(const table_info& kind, const prepared_field& field,
                                   const std::vector<std::size_t>& positions, std::int64_t now, parsed_row& row) const {
  const cell_context context{dimensions_, now, {}};
  const item& written = *field.from;
  const std::string& key = written.name.text;
  value given = written.given;
  if (field.moving) given.items.front().text = field.moving->name(positions);
  const std::size_t index = index_of(kind, *field.column);
  const bool given_before = row.find(index) != nullptr;
  const place where = given.kind == value_kind::none ? written.name.at : given.at;
  if (field.entry.empty()) {
    result<cell> parsed = parse_cell(*field.column, given, context);
    if (!parsed) return fail(where, fmt::format("{}: {}", key, parsed.failure().message));
    row.at(index) = std::move(*parsed);
    return {};
  }
  cell& to = row.at(index);
  if (!given_before) to = default_cell(*field.column, dimensions_.size());
  if (auto done = parse_entry(*field.column, field.entry, given, context, to); !done) {
    return fail(where, fmt::format("{}: {}", key, done.failure().message));
  }
  return {};
}

result<void> delta_rows::give_owners(const table_info& kind, const statement& from, std::vector<parsed_row>& rows) {
  const column_info* column = owner_column(kind);
  if (column == nullptr || rows.front().find(index_of(kind, *column)) != nullptr) return {};
  const auto found =
      std::find_if(owners_.begin(), owners_.end(), [&](const owner& one) { return one.kind == column->refers_to; });
  if (found == owners_.end()) {
    return fail(from.items.front().name.at,
                fmt::format("{}=... is missing, and no {} has been added above", column->name, column->name));
  }
  if (found->names.size() > 1 && !is_local(kind)) {
    return fail(from.items.front().name.at,
                fmt::format("{}=... is missing, and the statement above added several", column->name));
  }
  if (found->names.size() > 1 && !affords(rows.front(), found->names.size() * rows.size())) {
    return fail(from.items.front().name.at, too_much);
  }
  std::vector<parsed_row> owned;
  for (const std::string& name : found->names) {
    for (const parsed_row& row : rows) {
      owned.push_back(row);
      owned.back().at(index_of(kind, *column)) = cell{{}, {}, {name}};
    }
  }
  rows = std::move(owned);
  return {};
}

bool delta_rows::affords(const parsed_row& row, std::size_t rows) {
  std::size_t cost = 1;
  for (const auto& [column, one] : row.cells) cost += 1 + one.integers.size() + one.numbers.size() + one.texts.size();
  if (rows > budget_ / cost) return false;
  budget_ -= rows * cost;
  return true;
}

void delta_rows::remember(const table_info& kind, const std::vector<parsed_row>& rows) {
  const auto texts_of = [&](const parsed_row& row) { return row.find(index_of(kind, name_column(kind)))->texts; };
  if (kind.kind == table_kind::resource) {
    for (const parsed_row& row : rows) {
      const std::string name = texts_of(row).front();
      if (std::find(dimensions_.begin(), dimensions_.end(), name) == dimensions_.end()) dimensions_.push_back(name);
    }
    return;
  }
  const auto entity = static_cast<entity_kind>(kind.kind);
  if (entity != entity_kind::queue && entity != entity_kind::node && entity != entity_kind::pod_group) return;
  auto found = std::find_if(owners_.begin(), owners_.end(), [&](const owner& one) { return one.kind == entity; });
  if (found == owners_.end()) found = owners_.insert(owners_.end(), {entity, {}});
  found->names.clear();
  for (const parsed_row& row : rows) found->names.push_back(texts_of(row).front());
}

void delta_rows::append(const table_info& kind, table_op op, std::vector<parsed_row> rows) {
  const auto same_columns = [&](const parsed_row& a, const parsed_row& b) {
    return std::equal(a.cells.begin(), a.cells.end(), b.cells.begin(), b.cells.end(),
                      [](const auto& x, const auto& y) { return x.first == y.first; });
  };
  // Absent columns of new entities have defaults; changes must have the same columns to share a table.
  const bool joins = !batches_.empty() && batches_.back().kind == &kind && batches_.back().op == op &&
                     (op == table_op::add || same_columns(batches_.back().rows.back(), rows.front()));
  if (!joins) batches_.push_back({&kind, op, {}, 0});
  batch& to = batches_.back();
  std::move(rows.begin(), rows.end(), std::back_inserter(to.rows));
  to.dimensions = dimensions_.size();
}

table delta_rows::make_table(const batch& from) {
  table made(static_cast<std::uint32_t>(from.kind->kind), static_cast<std::uint32_t>(from.op));
  for (std::size_t i = 0; i < from.kind->columns.size(); ++i) {
    const column_info& column = from.kind->columns[i];
    const bool present =
        std::any_of(from.rows.begin(), from.rows.end(), [&](const parsed_row& row) { return row.find(i) != nullptr; });
    if (!present) continue;
    std::uint32_t width = column.shape == column_shape::ragged ? 0 : 1;
    if (column.shape == column_shape::dimensions) width = static_cast<std::uint32_t>(from.dimensions);
    if (column.shape == column_shape::quotas) width = quota_dimensions;
    table::column& to = made.add(column.id, column.type, width);
    const cell absent = default_cell(column, from.dimensions);
    for (const parsed_row& row : from.rows) {
      const cell* given = row.find(i);
      push_cell(to, column, given == nullptr ? absent : *given, from.dimensions);
    }
  }
  return made;
}

scenario_delta delta_rows::take() {
  scenario_delta made;
  for (const batch& one : batches_) {
    made.tables.push_back(make_table(one));
    std::vector<std::uint32_t>& lines = made.lines.emplace_back();
    for (const parsed_row& row : one.rows) lines.push_back(static_cast<std::uint32_t>(row.line));
  }
  made.dimensions = dimensions_;
  batches_.clear();
  return made;
}

void delta_rows::forget_last() { dimensions_ = dimensions_before_; }

}  // namespace kaisched::io::scenario_text
