#include "model/table_reader.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "base/utf8.hpp"

namespace kaisched::model {

namespace {

constexpr std::array<std::string_view, 4> op_names{"none", "add", "change", "remove"};

/// The largest number of a column. Every table of every delta asks, so it is made once for all kinds.
std::uint32_t largest_column(const table_info& of) {
  static const std::vector<std::uint32_t> largest = [] {
    std::vector<std::uint32_t> made;
    for (const table_info& kind : schema()) {
      made.push_back(0);
      for (const column_info& c : kind.columns) made.back() = std::max(made.back(), c.id);
    }
    return made;
  }();
  return largest[static_cast<std::size_t>(&of - schema().data())];
}

bool type_fits(const column_info& info, column_type given) {
  if (given == info.type) return true;
  return info.refers_to != entity_kind::none && info.type == column_type::string && given == column_type::u64;
}

/// Offsets ascend from zero and elements are well formed; a description of what is wrong, or empty.
std::string_view ragged_defect(const column_view& c, std::uint64_t rows) {
  if (c.offsets == nullptr) return "a ragged column needs offsets";
  if (c.offsets[0] != 0) return "offsets must start at 0";
  for (std::uint64_t row = 0; row < rows; ++row) {
    if (c.offsets[row + 1] < c.offsets[row]) return "offsets must not descend";
  }
  if (c.offsets[rows] == 0) return {};
  if (c.data == nullptr) return "data is null";
  if (c.type == column_type::i64_list) return {};
  if (c.type == column_type::string) return {};
  const auto* text = static_cast<const char*>(c.data);
  for (std::uint64_t row = 0; row < rows; ++row) {
    if (c.offsets[row + 1] > c.offsets[row] && text[c.offsets[row + 1] - 1] != '\0') {
      return "every element of a string list must end with a NUL byte";
    }
  }
  return {};
}

}  // namespace

result<table_reader> table_reader::open(const table_view& view, std::size_t number, std::uint32_t dimensions) {
  table_reader reader;
  reader.view_ = view;
  reader.number_ = number;
  reader.info_ = schema_of(view.kind);
  if (reader.info_ == nullptr || !reader.info_->input) {
    return error{
        status::unsupported,
        "table " + std::to_string(number) + ": kind " + std::to_string(view.kind) + " is no kind of input table",
        {}};
  }
  if (view.op < 1 || view.op > 3) {
    return error{
        status::argument,
        reader.where() + ": operation " + std::to_string(view.op) + " is none of add (1), change (2), remove (3)",
        {}};
  }
  if (view.rows > std::numeric_limits<std::uint32_t>::max() - 1) {
    return error{status::limit, reader.where() + ": more than 2^32 - 2 rows", {}};
  }
  if (view.columns == nullptr && view.column_count != 0) {
    return error{status::argument, reader.where() + ": columns is null", {}};
  }
  if (auto checked = reader.check_columns(dimensions); !checked) return checked.failure();
  // Every row names its entity; kinds that are named by two columns look for the second themselves.
  if (const column_info& c = reader.info_->columns.front(); reader.op() != table_op::add && !reader.has(c.id)) {
    return error{status::argument, reader.where() + ": column " + std::string(c.name) + " is required", {}};
  }
  if (reader.op() != table_op::add) return reader;
  for (const column_info& c : reader.info_->columns) {
    if (c.required && !reader.has(c.id)) {
      return error{status::argument, reader.where() + ": column " + std::string(c.name) + " is required", {}};
    }
  }
  return reader;
}

result<table_reader> table_reader::open_output(const table_view& view) {
  table_reader reader;
  reader.view_ = view;
  reader.info_ = schema_of(view.kind);
  if (auto checked = reader.check_columns(1); !checked) return checked.failure();
  for (const column_info& c : reader.info_->columns) {
    if (!reader.has(c.id)) {
      return error{status::argument, reader.where() + ": column " + std::string(c.name) + " is missing", {}};
    }
  }
  if (!reader.text_defects_.empty()) return reader.text_defects_.front().second;
  return reader;
}

result<void> table_reader::check_columns(std::uint32_t dimensions) {
  by_id_.resize(largest_column(*info_) + 1, nullptr);
  for (std::uint32_t i = 0; i < view_.column_count; ++i) {
    if (auto checked = check_column(view_.columns[i], dimensions); !checked) return checked;
  }
  if (text_defects_.size() < 2) return {};
  std::stable_sort(text_defects_.begin(), text_defects_.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  return {};
}

/// Texts are checked as a whole: only a byte that is no plain letter asks for a look at the rows.
void table_reader::find_text_defects(const column_view& c) {
  const bool list = c.type == column_type::string_list;
  const auto* bytes = static_cast<const char*>(c.data);
  const auto harmless = [&](char one) { return static_cast<signed char>(one) > 0 || (list && one == 0); };
  if (std::all_of(bytes, bytes + c.offsets[view_.rows], harmless)) return;
  for (std::uint64_t row = 0; row < view_.rows; ++row) {
    const std::string_view text = c.string(row);
    const std::size_t nul = list ? std::string_view::npos : text.find('\0');
    const std::size_t bad = base::find_invalid_utf8(text);
    if (nul == std::string_view::npos && bad == std::string_view::npos) continue;
    const std::string what = nul < bad ? "a string holds a NUL byte" : "is not UTF-8 at byte " + std::to_string(bad);
    text_defects_.emplace_back(row, fail(status::argument, row, c.id, what));
  }
}

const error* table_reader::text_defect(std::uint64_t row) const {
  if (text_defects_.empty()) return nullptr;
  const auto it = std::lower_bound(text_defects_.begin(), text_defects_.end(), row,
                                   [](const auto& one, std::uint64_t r) { return one.first < r; });
  return it != text_defects_.end() && it->first == row ? &it->second : nullptr;
}

result<void> table_reader::check_column(const column_view& c, std::uint32_t dimensions) {
  const column_info* info = describe(c.id);
  if (info == nullptr) {
    if ((c.flags & column_optional) != 0) return {};
    return error{status::unsupported, where() + ": column number " + std::to_string(c.id) + " is not known", {}};
  }
  const auto fail_column = [&](status code, std::string_view what) {
    return error{code, where() + ", column " + std::string(info->name) + ": " + std::string(what), {}};
  };
  if (!type_fits(*info, c.type)) {
    return fail_column(status::argument, std::string("expected type ") + std::string(column_type_name(info->type)) +
                                             (info->refers_to != entity_kind::none ? " (a name) or u64 (an id)" : "") +
                                             ", got " + std::string(column_type_name(c.type)));
  }
  if (at(c.id) != nullptr) return fail_column(status::argument, "is given twice");
  if (is_ragged(c.type)) {
    if (view_.rows > 0) {
      const std::string_view defect = ragged_defect(c, view_.rows);
      if (!defect.empty()) return fail_column(status::argument, defect);
      if (c.type != column_type::i64_list && c.offsets[view_.rows] > 0) find_text_defects(c);
    }
  } else {
    const std::uint32_t most = info->shape == column_shape::dimensions ? dimensions
                               : info->shape == column_shape::quotas   ? quota_dimensions
                                                                       : 1;
    if (c.width < 1 || c.width > most) {
      return fail_column(status::argument,
                         "width " + std::to_string(c.width) + ": expected 1 to " + std::to_string(most));
    }
    if (c.data == nullptr && view_.rows > 0) return fail_column(status::argument, "data is null");
  }
  by_id_[c.id] = &c;
  return {};
}

/// Most columns stand in the order of their numbers.
const column_info* table_reader::describe(std::uint32_t column) const {
  if (column - 1 < info_->columns.size() && info_->columns[column - 1].id == column) return &info_->columns[column - 1];
  for (const column_info& c : info_->columns) {
    if (c.id == column) return &c;
  }
  return nullptr;
}

std::string table_reader::where() const {
  std::string text = "table " + std::to_string(number_);
  const std::string_view op = view_.op < op_names.size() ? op_names[view_.op] : "?";
  text.append(" (").append(info_->name).append(", ").append(op).append(")");
  return text;
}

table_reader::parts table_reader::split(const error& e, std::uint64_t row) const {
  parts p{{}, e.message};
  const std::string place = where() + ", row " + std::to_string(row);
  if (!p.what.starts_with(place)) return p;
  p.what.remove_prefix(place.size());
  for (const column_info& c : info_->columns) {
    const std::string named = ", column " + std::string(c.name) + ": ";
    if (!p.what.starts_with(named)) continue;
    return {c.name, p.what.substr(named.size())};
  }
  if (p.what.starts_with(": ")) p.what.remove_prefix(2);
  return p;
}

error table_reader::fail(status code, std::uint64_t row, std::uint32_t column, std::string_view what,
                         entity_id subject) const {
  std::string text = where() + ", row " + std::to_string(row);
  const column_info* info = describe(column);
  if (info != nullptr) text.append(", column ").append(info->name);
  text.append(": ").append(what);
  return {code, std::move(text), subject, static_cast<std::int64_t>(number_), static_cast<std::int64_t>(row)};
}

}  // namespace kaisched::model
