#pragma once
/// @file
/// C++17 over the C interface: errors and tables. Include kaisched/abi.hpp, which has the rest.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <kaisched/kaisched.h>

namespace kaisched::abi {

/// What a call that failed throws. `what()` is the name of the status and the sentence of its kaisched_error.
class failure : public std::runtime_error {
 public:
  explicit failure(const kaisched_error& error) : failure(error.code, error.message, error.subject) {}
  failure(kaisched_status code, const std::string& message, kaisched_id subject = 0)
      : std::runtime_error(std::string(kaisched_status_name(code)) + ": " + message), code_(code), subject_(subject) {}

  /// kaisched_status_code.
  [[nodiscard]] kaisched_status code() const noexcept { return code_; }
  /// The entity concerned, or 0.
  [[nodiscard]] kaisched_id subject() const noexcept { return subject_; }

 private:
  kaisched_status code_;
  kaisched_id subject_;
};

namespace detail {

/// Calls a function of the C interface whose last parameter is the error.
template <class Function, class... Arguments>
void call(Function function, Arguments... arguments) {
  kaisched_error error = KAISCHED_ERROR_INIT;
  if (function(arguments..., &error) != KAISCHED_OK) throw failure(error);
}

/// A text for a function that wants a final NUL; one with a NUL inside would be cut there.
[[nodiscard]] inline const char* c_text(const std::string& text) {
  if (text.find('\0') != std::string::npos) throw failure(KAISCHED_E_ARGUMENT, "a text has a NUL inside");
  return text.c_str();
}

/// Calls a function whose last parameter before the error receives a value.
template <class Value, class Function, class... Arguments>
[[nodiscard]] Value made(Function function, Arguments... arguments) {
  Value value{};
  detail::call(function, arguments..., &value);
  return value;
}

/// Calls a function that writes bytes into a buffer.
template <class Function, class... Arguments>
[[nodiscard]] std::string bytes(Function function, Arguments... arguments) {
  std::size_t needed = 0;
  detail::call(function, arguments..., nullptr, std::size_t{0}, &needed);
  std::string written(needed, '\0');
  detail::call(function, arguments..., written.data(), written.size(), &needed);
  return written;
}
/// Calls a function that writes a text, which ends with a NUL.
template <class Function, class... Arguments>
[[nodiscard]] std::string text(Function function, Arguments... arguments) {
  std::string written = detail::bytes(function, arguments...);
  written.resize(written.size() - 1);
  return written;
}

/// kaisched_column_type of a type of C++; 0 for one that no column has.
template <class T>
constexpr std::uint32_t column_type = std::is_same_v<T, std::uint8_t>    ? std::uint32_t{KAISCHED_TYPE_U8}
                                      : std::is_same_v<T, std::uint32_t> ? std::uint32_t{KAISCHED_TYPE_U32}
                                      : std::is_same_v<T, std::int64_t>  ? std::uint32_t{KAISCHED_TYPE_I64}
                                      : std::is_same_v<T, std::uint64_t> ? std::uint32_t{KAISCHED_TYPE_U64}
                                      : std::is_same_v<T, double>        ? std::uint32_t{KAISCHED_TYPE_F64}
                                                                         : std::uint32_t{0};

}  // namespace detail

/// A piece of an array that somebody else owns.
template <class T>
class array_view {
 public:
  array_view() = default;
  array_view(T* data, std::size_t size) noexcept : data_(data), size_(size) {}
  [[nodiscard]] T* data() const noexcept { return data_; }
  [[nodiscard]] T* begin() const noexcept { return data_; }
  [[nodiscard]] T* end() const noexcept { return data_ + size_; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  [[nodiscard]] T& operator[](std::size_t i) const noexcept { return data_[i]; }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

/// A column whose rows differ in length. Row is what one row is read as.
template <class Row>
class ragged_column {
 public:
  ragged_column(const kaisched_col* borrowed, std::uint64_t rows) noexcept : column_(borrowed), rows_(rows) {}
  [[nodiscard]] std::size_t size() const noexcept { return static_cast<std::size_t>(rows_); }
  /// Row `i`, which is less than size().
  [[nodiscard]] Row operator[](std::size_t i) const {
    const std::size_t first = column_->offsets[i];
    const std::size_t count = column_->offsets[i + 1] - first;
    if (count == 0) return {};
    if constexpr (std::is_same_v<Row, array_view<const std::int64_t>>) {
      return {static_cast<const std::int64_t*>(column_->data) + first, count};
    } else {
      const std::string_view all(static_cast<const char*>(column_->data) + first, count);
      if constexpr (std::is_same_v<Row, std::string_view>) {
        return all;
      } else {
        std::vector<std::string_view> elements;
        for (std::size_t from = 0; from < all.size();) {
          const std::size_t end = std::min(all.find('\0', from), all.size());
          elements.push_back(all.substr(from, end - from));
          from = end + 1;
        }
        return elements;
      }
    }
  }

 private:
  const kaisched_col* column_;
  std::uint64_t rows_;
};
using text_column = ragged_column<std::string_view>;
using text_list_column = ragged_column<std::vector<std::string_view>>;
using list_column = ragged_column<array_view<const std::int64_t>>;

/// A table that is borrowed: it lives as long as what it was asked of.
class table {
 public:
  explicit table(const kaisched_table* borrowed) noexcept : table_(borrowed) {}

  [[nodiscard]] const kaisched_table* get() const noexcept { return table_; }
  [[nodiscard]] std::uint32_t kind() const noexcept { return table_->kind; }
  [[nodiscard]] std::size_t rows() const noexcept { return static_cast<std::size_t>(table_->rows); }
  [[nodiscard]] bool has(std::uint32_t column) const noexcept {
    return kaisched_table_column(table_, column) != nullptr;
  }
  /// Values per row of a column of numbers.
  [[nodiscard]] std::uint32_t width(std::uint32_t column) const { return find(column, 0)->width; }

  /// The numbers of a column, row by row. Throws for a column that is missing (KAISCHED_E_UNSUPPORTED) or has values of
  /// another type (KAISCHED_E_ARGUMENT), and so do those below.
  template <class T>
  [[nodiscard]] array_view<const T> numbers(std::uint32_t column) const {
    static_assert(detail::column_type<T> != 0, "columns hold std::uint8_t, uint32_t, int64_t, uint64_t or double");
    const kaisched_col* const found = find(column, detail::column_type<T>);
    return {static_cast<const T*>(found->data), rows() * found->width};
  }
  [[nodiscard]] text_column texts(std::uint32_t column) const {
    return {find(column, KAISCHED_TYPE_STRING), table_->rows};
  }
  [[nodiscard]] text_list_column text_lists(std::uint32_t column) const {
    return {find(column, KAISCHED_TYPE_STRING_LIST), table_->rows};
  }
  [[nodiscard]] list_column lists(std::uint32_t column) const {
    return {find(column, KAISCHED_TYPE_I64_LIST), table_->rows};
  }
  /// The name of a value of a column of decision kinds or statuses, such as "bind"; empty if it has none.
  [[nodiscard]] std::string_view name(std::uint32_t column, std::size_t row) const {
    const array_view<const std::uint8_t> values = numbers<std::uint8_t>(column);
    const char* const found = row < values.size() ? kaisched_value_name(kind(), column, values[row]) : nullptr;
    return found != nullptr ? found : std::string_view();
  }

 private:
  /// @param type 0: any.
  [[nodiscard]] const kaisched_col* find(std::uint32_t column, std::uint32_t type) const {
    const kaisched_col* const found = kaisched_table_column(table_, column);
    const std::string name = "column " + std::to_string(column) + " of a table of kind " + std::to_string(kind());
    if (found == nullptr) throw failure(KAISCHED_E_UNSUPPORTED, "there is no " + name);
    if (type != 0 && found->type != type) {
      throw failure(KAISCHED_E_ARGUMENT,
                    name + " has the type " + std::to_string(found->type) + ", not " + std::to_string(type));
    }
    return found;
  }

  const kaisched_table* table_;
};

/// An input table that is being filled, in memory of the library (kaisched_staging). It has to have a name: a temporary
/// one cannot be filled, because what is borrowed of it would go with it.
class staging {
 public:
  /// @param kind kaisched_table_kind. @param op kaisched_table_op. @param rows of every column.
  staging(std::uint32_t kind, std::uint32_t op, std::size_t rows)
      : owned_(detail::made<kaisched_staging*>(kaisched_staging_create, kind, op, std::uint64_t{rows})), rows_(rows) {}

  [[nodiscard]] kaisched_staging* get() noexcept { return owned_.get(); }
  [[nodiscard]] std::size_t rows() const noexcept { return rows_; }
  /// Starts anew with so many rows and no columns; what was borrowed is gone.
  void clear(std::size_t rows) {
    detail::call(kaisched_staging_clear, get(), std::uint64_t{rows});
    rows_ = rows;
  }

  /// Memory for the numbers of a column, all 0, row by row: lives until the table is cleared or given back.
  template <class T>
  [[nodiscard]] array_view<T> room(std::uint32_t column, std::uint32_t width = 1) & {
    static_assert(detail::column_type<T> != 0, "columns hold std::uint8_t, uint32_t, int64_t, uint64_t or double");
    void* const memory = detail::made<void*>(kaisched_staging_numbers, get(), column, detail::column_type<T>, width);
    return {static_cast<T*>(memory), rows_ * width};
  }
  /// The numbers of a column, row by row: as many for each row as there are in all by rows.
  template <class T>
  staging& numbers(std::uint32_t column, const std::vector<T>& values) & {
    if (rows_ == 0 ? !values.empty() : values.empty() || values.size() % rows_ != 0)
      throw failure(KAISCHED_E_ARGUMENT,
                    std::to_string(values.size()) + " values for " + std::to_string(rows_) + " rows");
    if (rows_ == 0) return *this;
    const std::size_t width = values.size() / rows_;
    if (width > UINT32_MAX) throw failure(KAISCHED_E_LIMIT, std::to_string(width) + " values for each row");
    const array_view<T> to = room<T>(column, static_cast<std::uint32_t>(width));
    std::memcpy(to.data(), values.data(), values.size() * sizeof(T));
    return *this;
  }

  /// Adds the text of the next row.
  staging& text(std::uint32_t column, std::string_view next) & {
    detail::call(kaisched_staging_text, get(), column, next.data(), next.size());
    return *this;
  }
  /// All texts of a column. A text must not contain a NUL.
  template <class Text = std::string>
  staging& texts(std::uint32_t column, const std::vector<Text>& all) & {
    std::string joined;
    for (const Text& one : all) joined.append(one).push_back('\0');
    detail::call(kaisched_staging_texts, get(), column, joined.data(), joined.size());
    return *this;
  }
  /// One list of texts for each row. A text must not contain a NUL.
  template <class Text = std::string>
  staging& text_lists(std::uint32_t column, const std::vector<std::vector<Text>>& all) & {
    std::string joined;
    std::vector<std::size_t> ends;
    for (const std::vector<Text>& row : all) {
      for (const Text& one : row) joined.append(one).push_back('\0');
      ends.push_back(joined.size());
    }
    return ragged(column, joined.data(), ends);
  }
  /// One list of numbers for each row.
  staging& lists(std::uint32_t column, const std::vector<std::vector<std::int64_t>>& all) & {
    std::vector<std::int64_t> joined;
    std::vector<std::size_t> ends;
    for (const std::vector<std::int64_t>& row : all) {
      joined.insert(joined.end(), row.begin(), row.end());
      ends.push_back(joined.size());
    }
    return ragged(column, joined.data(), ends);
  }

  /// The table as cluster::apply takes it, borrowed until the next call on this.
  [[nodiscard]] table view() & { return table(detail::made<const kaisched_table*>(kaisched_staging_table, get())); }
  table view() && = delete;

 private:
  struct giver {
    void operator()(kaisched_staging* owned) const noexcept { kaisched_staging_destroy(owned); }
  };

  staging& ragged(std::uint32_t column, const void* data, const std::vector<std::size_t>& ends) {
    if (ends.size() != rows_)
      throw failure(KAISCHED_E_ARGUMENT, std::to_string(ends.size()) + " lists for " + std::to_string(rows_) + " rows");
    std::vector<std::uint32_t> offsets{0};
    for (const std::size_t end : ends) {
      if (end > UINT32_MAX) throw failure(KAISCHED_E_LIMIT, "a column would have more than 4 GiB");
      offsets.push_back(static_cast<std::uint32_t>(end));
    }
    detail::call(kaisched_staging_ragged, get(), column, data, offsets.data());
    return *this;
  }

  std::unique_ptr<kaisched_staging, giver> owned_;
  std::size_t rows_;
};

}  // namespace kaisched::abi
