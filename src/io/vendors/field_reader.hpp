#pragma once
/// @file
/// Objects whose members are known by name: reads them one by one, and says which ones are not known.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "io/fault_log.hpp"
#include "io/json_document.hpp"

namespace kaisched::io {

/// Members of one object, or of two: what the first does not have is looked for in the second.
class field_reader {
 public:
  /// `place` is how messages name the object; `{key}` in texts becomes `key`.
  field_reader(json_value object, std::string place, std::string key, fault_log& faults);

  /// Looks for members that the object does not have there too.
  void add_defaults(json_value object) { defaults_ = object; }

  [[nodiscard]] std::string text(std::string_view name, std::string_view otherwise = {});
  [[nodiscard]] std::int64_t integer(std::string_view name, std::int64_t otherwise = 0);
  [[nodiscard]] std::optional<std::int64_t> optional_integer(std::string_view name);
  [[nodiscard]] bool boolean(std::string_view name, bool otherwise = false);
  [[nodiscard]] std::vector<std::string> texts(std::string_view name);
  [[nodiscard]] std::vector<std::int64_t> integers(std::string_view name);
  [[nodiscard]] std::vector<std::vector<std::int64_t>> integer_lists(std::string_view name);
  /// Bytes from mebibytes.
  [[nodiscard]] std::int64_t mebibytes(std::string_view name, std::int64_t otherwise = 0);
  /// Elements of an array; none if it is missing.
  [[nodiscard]] std::vector<json_value> elements(std::string_view name);
  [[nodiscard]] std::optional<json_value> object(std::string_view name);
  /// A member of any kind.
  [[nodiscard]] std::optional<json_value> value(std::string_view name) { return find(name); }
  /// A reader of an element or member.
  [[nodiscard]] field_reader inside(json_value of, std::string_view name, std::optional<std::size_t> at = {}) const;

  /// One of the listed words; the first if the member is missing.
  template <class Enum>
  [[nodiscard]] Enum word(std::string_view name, std::span<const std::pair<std::string_view, Enum>> words) {
    const std::optional<json_value> found = find(name);
    if (!found) return words.front().second;
    const std::string_view written = found->is(json_kind::string) ? found->text() : std::string_view{};
    for (const auto& [known, value] : words) {
      if (known == written) return value;
    }
    std::vector<std::string_view> known;
    for (const auto& [one, value] : words) known.push_back(one);
    fail_word(*found, name, known);
    return words.front().second;
  }

  /// Says that a member that must be there is missing.
  void require(std::string_view name);
  /// Says that the object has a member that nobody has asked for.
  void finish();
  void fail(json_value at, std::string_view name, std::string_view what);

 private:
  [[nodiscard]] std::optional<json_value> find(std::string_view name);
  [[nodiscard]] std::optional<json_value> of_kind(std::string_view name, json_kind kind);
  [[nodiscard]] std::string with_key(std::string_view text) const;
  void fail_word(json_value at, std::string_view name, std::span<const std::string_view> known);

  json_value object_;
  std::optional<json_value> defaults_;
  std::string place_;
  std::string key_;
  fault_log* faults_;
  std::vector<std::string> asked_;
};

}  // namespace kaisched::io
