#pragma once
/// @file
/// Tables of the C interface to and from tables of the library, and the cache behind borrowed tables.

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include <kaisched/kaisched.h>
#include <kaisched/result.hpp>
#include <kaisched/schema.hpp>
#include <kaisched/table.hpp>

namespace kaisched::capi {

/// Tables of a caller, as the library reads them. Borrows the columns' data, owns the rest.
class input_tables {
 public:
  /// Reads `count` tables under the rules for `struct_size`. Errors name the position of the table.
  [[nodiscard]] static result<input_tables> read(const kaisched_table* const* tables, std::size_t count);
  [[nodiscard]] std::span<const table_view> views() const { return views_; }

 private:
  std::vector<std::vector<column_view>> columns_;
  std::vector<table_view> views_;
};

/// A table of the library in the form of the C interface.
class output_table {
 public:
  explicit output_table(table body);
  output_table(const output_table&) = delete;
  output_table& operator=(const output_table&) = delete;
  [[nodiscard]] const kaisched_table* view() const { return &view_; }

 private:
  table body_;
  std::vector<kaisched_col> columns_;
  kaisched_table view_;
};

/// The tables that a handle has lent. They live as long as the handle, because nobody tells when a borrower is done, or
/// until it drops them.
/// Threads: all functions may run concurrently.
class lent_tables {
 public:
  /// The present table of a kind; `make` gives a `result<table>` if there is none yet.
  template <class Make>
  [[nodiscard]] result<const kaisched_table*> borrow(std::uint32_t kind, Make&& make) {
    const std::lock_guard lock(mutex_);
    for (const auto& [present_kind, present] : present_) {
      if (present_kind == kind) return present;
    }
    result<table> fresh = std::forward<Make>(make)(static_cast<table_kind>(kind));
    if (!fresh.ok()) return fresh.take_failure();
    all_.push_back(std::make_unique<output_table>(std::move(*fresh)));
    present_.emplace_back(kind, all_.back()->view());
    return all_.back()->view();
  }
  /// What was lent stays valid; the next question gets a fresh table.
  void retire() {
    const std::lock_guard lock(mutex_);
    present_.clear();
  }
  /// What was lent is gone.
  void drop() {
    const std::lock_guard lock(mutex_);
    present_.clear();
    all_.clear();
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<output_table>> all_;
  std::vector<std::pair<std::uint32_t, const kaisched_table*>> present_;
};

}  // namespace kaisched::capi
