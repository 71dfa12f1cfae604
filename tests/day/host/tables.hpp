#pragma once
/// @file
/// Handles and tables of the C interface, as far as the host of a day needs them. The host includes kaisched.h alone.

#include <cstdint>
#include <deque>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <kaisched/kaisched.h>

namespace day_host {

struct give_back {
  void operator()(kaisched_engine* one) const noexcept { kaisched_engine_destroy(one); }
  void operator()(kaisched_cluster* one) const noexcept { kaisched_cluster_destroy(one); }
  void operator()(kaisched_snapshot* one) const noexcept { kaisched_snapshot_release(one); }
  void operator()(kaisched_session* one) const noexcept { kaisched_session_close(one); }
};
using engine_handle = std::unique_ptr<kaisched_engine, give_back>;
using cluster_handle = std::unique_ptr<kaisched_cluster, give_back>;
using snapshot_handle = std::unique_ptr<kaisched_snapshot, give_back>;
using session_handle = std::unique_ptr<kaisched_session, give_back>;

/// Throws the message of a call that failed.
inline void demand(kaisched_status status, const kaisched_error& err) {
  if (status != KAISCHED_OK) throw std::runtime_error(std::string(kaisched_status_name(status)) + ": " + err.message);
}

/// An input table that is filled column by column.
class input_table {
 public:
  input_table(std::uint32_t kind, std::uint32_t op, std::size_t rows) {
    table_.struct_size = sizeof table_;
    table_.kind = kind;
    table_.op = op;
    table_.rows = rows;
  }
  input_table(const input_table&) = delete;  // columns point into the table
  input_table& operator=(const input_table&) = delete;
  input_table(input_table&&) = default;
  input_table& operator=(input_table&&) = delete;
  ~input_table() = default;

  void texts(std::uint32_t column, const std::vector<std::string>& values) {
    std::string& bytes = bytes_.emplace_back();
    std::vector<std::uint32_t>& offsets = offsets_.emplace_back(1, 0U);
    for (const std::string& value : values) {
      bytes += value;
      offsets.push_back(static_cast<std::uint32_t>(bytes.size()));
    }
    columns_.push_back({column, KAISCHED_TYPE_STRING, 0, 0, bytes.data(), offsets.data()});
  }
  /// Lists of texts.
  void text_lists(std::uint32_t column, const std::vector<std::vector<std::string>>& values) {
    std::string& bytes = bytes_.emplace_back();
    std::vector<std::uint32_t>& offsets = offsets_.emplace_back(1, 0U);
    for (const std::vector<std::string>& list : values) {
      for (const std::string& value : list) bytes.append(value).push_back('\0');
      offsets.push_back(static_cast<std::uint32_t>(bytes.size()));
    }
    columns_.push_back({column, KAISCHED_TYPE_STRING_LIST, 0, 0, bytes.data(), offsets.data()});
  }
  void numbers(std::uint32_t column, std::vector<std::int64_t> values, std::uint32_t width = 1) {
    const std::vector<std::int64_t>& kept = numbers_.emplace_back(std::move(values));
    columns_.push_back({column, KAISCHED_TYPE_I64, width, 0, kept.data(), nullptr});
  }
  void number_lists(std::uint32_t column, const std::vector<std::vector<std::int64_t>>& values) {
    std::vector<std::int64_t>& flat = numbers_.emplace_back();
    std::vector<std::uint32_t>& offsets = offsets_.emplace_back(1, 0U);
    for (const std::vector<std::int64_t>& list : values) {
      flat.insert(flat.end(), list.begin(), list.end());
      offsets.push_back(static_cast<std::uint32_t>(flat.size()));
    }
    columns_.push_back({column, KAISCHED_TYPE_I64_LIST, 0, 0, flat.data(), offsets.data()});
  }
  void bytes(std::uint32_t column, std::vector<std::uint8_t> values) {
    const std::vector<std::uint8_t>& kept = small_.emplace_back(std::move(values));
    columns_.push_back({column, KAISCHED_TYPE_U8, 1, 0, kept.data(), nullptr});
  }
  void reals(std::uint32_t column, std::vector<double> values, std::uint32_t width) {
    const std::vector<double>& kept = reals_.emplace_back(std::move(values));
    columns_.push_back({column, KAISCHED_TYPE_F64, width, 0, kept.data(), nullptr});
  }

  [[nodiscard]] const kaisched_table* get() {
    table_.columns = columns_.data();
    table_.column_count = static_cast<std::uint32_t>(columns_.size());
    return &table_;
  }

 private:
  kaisched_table table_{};
  std::vector<kaisched_col> columns_;
  std::deque<std::string> bytes_;
  std::deque<std::vector<std::uint32_t>> offsets_;
  std::deque<std::vector<std::int64_t>> numbers_;
  std::deque<std::vector<std::uint8_t>> small_;
  std::deque<std::vector<double>> reals_;
};

/// One column of a result.
class output_column {
 public:
  output_column(const kaisched_table* of, std::uint32_t column) : column_(kaisched_table_column(of, column)) {
    if (column_ == nullptr) throw std::runtime_error("a column of a result is missing");
  }
  [[nodiscard]] std::string text(std::uint64_t row) const {
    const char* data = static_cast<const char*>(column_->data);
    return {data + column_->offsets[row], column_->offsets[row + 1] - column_->offsets[row]};
  }
  [[nodiscard]] std::vector<std::int64_t> list(std::uint64_t row) const {
    const auto* data = static_cast<const std::int64_t*>(column_->data);
    if (column_->offsets[row] == column_->offsets[row + 1]) return {};
    return {data + column_->offsets[row], data + column_->offsets[row + 1]};
  }
  [[nodiscard]] std::vector<std::string> texts(std::uint64_t row) const {
    const std::string all = text(row);
    std::vector<std::string> found;
    for (std::size_t from = 0; from < all.size(); from = all.find('\0', from) + 1)
      found.emplace_back(all.c_str() + from);
    return found;
  }
  template <class T>
  [[nodiscard]] T value(std::uint64_t row, std::uint32_t at = 0) const {
    return static_cast<const T*>(column_->data)[row * column_->width + at];
  }

 private:
  const kaisched_col* column_;
};

}  // namespace day_host
