#include <cstring>
#include <limits>
#include <stdexcept>

#include <kaisched/table.hpp>

namespace kaisched {

namespace {

std::uint32_t checked_offset(std::size_t values) {
  if (values > std::numeric_limits<std::uint32_t>::max()) {
    throw std::length_error("a ragged column holds more than 2^32 - 1 values; split the table");
  }
  return static_cast<std::uint32_t>(values);
}

}  // namespace

std::string_view column_type_name(column_type type) noexcept {
  switch (type) {
    case column_type::u8:
      return "u8";
    case column_type::u32:
      return "u32";
    case column_type::i64:
      return "i64";
    case column_type::u64:
      return "u64";
    case column_type::f64:
      return "f64";
    case column_type::string:
      return "string";
    case column_type::string_list:
      return "string_list";
    case column_type::i64_list:
      return "i64_list";
  }
  return "unknown";
}

std::vector<std::string_view> split_list(std::string_view row) {
  std::vector<std::string_view> elements;
  while (!row.empty()) {
    const std::size_t end = row.find('\0');
    elements.push_back(row.substr(0, end));
    if (end == std::string_view::npos) break;
    row.remove_prefix(end + 1);
  }
  return elements;
}

namespace {

template <class Text>
std::string joined(std::span<const Text> elements) {
  std::string row;
  for (const Text& element : elements) {
    row += element;
    row += '\0';
  }
  return row;
}

}  // namespace

std::string join_list(std::span<const std::string_view> elements) { return joined(elements); }
std::string join_list(std::span<const std::string> elements) { return joined(elements); }

table::column::column(std::uint32_t id, column_type type, std::uint32_t width) : id_(id), type_(type), width_(width) {
  if (is_ragged(type)) {
    width_ = 0;
    offsets_.push_back(0);
  } else if (width == 0) {
    throw std::invalid_argument("a column of fixed width needs at least one value per row");
  }
}

void table::column::append(const void* bytes, std::size_t n) {
  const auto* first = static_cast<const std::byte*>(bytes);
  data_.insert(data_.end(), first, first + n);
}

void table::column::push(std::string_view text) { push_raw(text); }

void table::column::push_raw(std::string_view bytes) {
  if (bytes.size() % value_size(type_) != 0) throw std::invalid_argument("the bytes are not a whole number of values");
  append(bytes.data(), bytes.size());
  offsets_.push_back(checked_offset(data_.size() / value_size(type_)));
}

void table::column::push_list(std::span<const std::string_view> elements) {
  for (const std::string_view element : elements) {
    append(element.data(), element.size());
    append("", 1);
  }
  offsets_.push_back(checked_offset(data_.size()));
}

void table::column::push_list(std::span<const std::int64_t> values) {
  append(values.data(), values.size_bytes());
  offsets_.push_back(checked_offset(data_.size() / sizeof(std::int64_t)));
}

std::uint64_t table::column::rows() const {
  if (is_ragged(type_)) return offsets_.size() - 1;
  return data_.size() / value_size(type_) / width_;
}

table::column& table::add(std::uint32_t id, column_type type, std::uint32_t width) {
  if (find(id) != nullptr) throw std::invalid_argument("the table has this column already");
  columns_.push_back(std::make_unique<column>(id, type, width));
  return *columns_.back();
}

table::column* table::find(std::uint32_t id) {
  for (const auto& c : columns_) {
    if (c->id() == id) return c.get();
  }
  return nullptr;
}

void table::clear_rows() {
  for (const auto& one : columns_) {
    one->data_.clear();
    if (!one->offsets_.empty()) one->offsets_.resize(1);
  }
}

table_view table::view() const {
  views_.clear();
  const std::uint64_t row_count = rows();
  for (const auto& c : columns_) {
    if (c->rows() != row_count) throw std::length_error("the columns of the table differ in length");
    views_.push_back(
        {c->id_, c->type_, c->width_, 0, c->data_.data(), c->offsets_.empty() ? nullptr : c->offsets_.data()});
  }
  table_view v;
  v.kind = kind_;
  v.op = op_;
  v.column_count = static_cast<std::uint32_t>(views_.size());
  v.rows = row_count;
  v.columns = views_.data();
  return v;
}

}  // namespace kaisched
