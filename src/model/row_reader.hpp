#pragma once
/// @file
/// What rows of input tables and rows of exported ones have in common: columns that a member of an object holds as they
/// are. `visit_columns` in object_columns.hpp names both once; a reader fills the object from a row, a writer appends a
/// row from the object.

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

#include <kaisched/quantity.hpp>
#include <kaisched/result.hpp>

#include "model/schema_writer.hpp"
#include "model/table_reader.hpp"

namespace kaisched::model {

/// Reads columns of one row. Absent columns leave their targets alone; after a fault nothing more is read.
class row_reader {
 public:
  /// `subject` stands in front of what is wrong, such as "node 'n1'"; without one the message says where alone.
  row_reader(const table_reader& t, std::uint64_t row, std::string subject = {})
      : t_(t), row_(row), subject_(std::move(subject)) {}

  void any(std::uint32_t column, std::int64_t& target) {
    if (reads(column)) target = t_.i64(column, row_);
  }
  void number(std::uint32_t column, std::int64_t& target, std::int64_t least, std::int64_t most = max_amount) {
    if (!reads(column)) return;
    const std::int64_t value = t_.i64(column, row_);
    if (value >= least && value <= most) {
      target = value;
      return;
    }
    const std::string bound = most == max_amount && !subject_.empty() ? "2^52" : std::to_string(most);
    fail(column, value > most ? status::limit : status::argument,
         std::to_string(value) + " is not in " + std::to_string(least) + " .. " + bound);
  }
  /// A number from 0 on, or `unset`.
  void optional_count(std::uint32_t column, std::int64_t& target) {
    if (reads(column) && t_.i64(column, row_) == unset) {
      target = unset;
    } else {
      number(column, target, 0);
    }
  }
  /// A length of time, or `unset`.
  void duration(std::uint32_t column, std::int64_t& target) {
    if (!reads(column)) return;
    const std::int64_t value = t_.i64(column, row_);
    if (value < 0 && value != unset) {
      return fail(column, status::argument, std::to_string(value) + " is no length of time");
    }
    target = value;
  }
  void flag(std::uint32_t column, bool& target) {
    if (!reads(column)) return;
    if (t_.u8(column, row_) > 1) return fail(column, status::argument, "must be 0 or 1");
    target = t_.u8(column, row_) != 0;
  }
  template <class Text>
  void text(std::uint32_t column, Text& target) {
    if (reads(column)) target = t_.text(column, row_);
  }
  /// A text or a list as it is given, and what a parser makes of it.
  template <class Parse, class Text, class Target>
  void parsed(std::uint32_t column, Parse parse, Text& raw, Target& target) {
    if (!reads(column)) return;
    auto made = parse(t_.text(column, row_));
    if (!made) return fail(column, made.failure().code, made.failure().message);
    raw = t_.text(column, row_);
    target = std::move(*made);
  }

  [[nodiscard]] bool reads(std::uint32_t column) const { return !failed_ && t_.has(column); }
  void fail(std::uint32_t column, status code, std::string_view what) {
    failed_ = true;
    failure_ = t_.fail(code, row_, column, subject_.empty() ? std::string(what) : subject_ + ": " + std::string(what));
  }
  /// The first fault, if any.
  [[nodiscard]] result<void> done() {
    if (failed_) return std::move(failure_);
    return {};
  }

 private:
  const table_reader& t_;
  std::uint64_t row_;
  std::string subject_;
  bool failed_ = false;
  error failure_{};
};

/// Appends columns of one row; its functions have the names of those of `row_reader`.
class row_writer {
 public:
  explicit row_writer(schema_writer& w) : w_(w) {}

  void any(std::uint32_t column, std::int64_t value) { w_.put(column, value); }
  void number(std::uint32_t column, std::int64_t value, std::int64_t /*least*/, std::int64_t /*most*/ = 0) {
    w_.put(column, value);
  }
  void optional_count(std::uint32_t column, std::int64_t value) { w_.put(column, value); }
  void duration(std::uint32_t column, std::int64_t value) { w_.put(column, value); }
  void flag(std::uint32_t column, bool value) { w_.put_flag(column, value); }
  void text(std::uint32_t column, std::string_view value) { w_.put_raw(column, value); }
  template <class Parse, class Target>
  void parsed(std::uint32_t column, Parse /*parse*/, std::string_view raw, const Target& /*target*/) {
    w_.put_raw(column, raw);
  }

 private:
  schema_writer& w_;
};

}  // namespace kaisched::model
