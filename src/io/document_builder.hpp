#pragma once
/// @file
/// Builds a `json_document` from the events of a parser.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "io/json_document.hpp"

namespace kaisched::io {

/// Receives values in the order of the text. A function that can fail returns false and keeps the message; a parser
/// stops then. Every value carries its line.
class document_builder {
 public:
  document_builder(json_document& document, std::string_view source) : document_(document), source_(source) {}

  void null(std::uint32_t line) { add(json_kind::null, line); }
  void boolean(bool value, std::uint32_t line) { add(json_kind::boolean, line).integer = value ? 1 : 0; }
  void integer(std::int64_t value, std::uint32_t line) { add(json_kind::integer, line).integer = value; }
  void number(double value, std::uint32_t line) { add(json_kind::number, line).number = value; }
  void string(std::string_view value, std::uint32_t line);
  /// The key of the value that comes next.
  void key(std::string_view value, std::uint32_t line);
  /// Starts an array or object. False if it lies too deep.
  bool open(json_kind kind, std::uint32_t line);
  /// Ends the innermost array or object. False if an object has a key twice.
  bool close();

  /// True while the innermost container is an object.
  [[nodiscard]] bool in_object() const {
    return !open_.empty() && document_.nodes_[open_.back().container].kind == json_kind::object;
  }
  [[nodiscard]] bool has_root() const { return !document_.nodes_.empty(); }

  /// Keeps `source:line: place: what`, the place being where the next value would stand.
  void fail(std::uint32_t line, std::string_view what);
  /// Keeps `source:line:column: what`.
  void fail_at(std::size_t line, std::size_t column, std::string_view what);
  [[nodiscard]] bool failed() const { return !failure_.empty(); }
  [[nodiscard]] std::string take_failure() { return std::move(failure_); }

 private:
  struct level {
    std::uint32_t container;
    std::uint32_t last;
  };

  json_document::text_range keep(std::string_view text);
  json_document::node& add(json_kind kind, std::uint32_t line);
  [[nodiscard]] std::string place() const;
  bool check_keys(std::uint32_t object);

  json_document& document_;
  std::string_view source_;
  json_document::text_range key_{};
  std::uint32_t key_line_ = 0;
  std::vector<level> open_;
  std::vector<json_value> members_;
  std::string failure_;
};

}  // namespace kaisched::io
