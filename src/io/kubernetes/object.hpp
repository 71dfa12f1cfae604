#pragma once
/// @file
/// One object of Kubernetes: its kind, its metadata, and its members with types checked. Faults name the object and the
/// path of the member.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <kaisched/result.hpp>

#include "io/json_document.hpp"
#include "io/kubernetes/quantity.hpp"

namespace kaisched::io::kubernetes {

/// A member that may be missing; null counts as missing.
using member = std::optional<json_value>;

/// The member of an object; missing if `of` is no object.
[[nodiscard]] member find(member of, std::string_view key);

/// The text that a member is; empty if it is missing or something else, without a fault.
[[nodiscard]] std::string_view text_if_any(member of);
[[nodiscard]] inline std::string_view text_if_any(member of, std::string_view key) {
  return text_if_any(find(of, key));
}

/// Labels or other pairs of texts, by key.
using text_pairs = std::vector<std::pair<std::string, std::string>>;

/// An object and the first fault that was found in it. Reading goes on with harmless values after a fault.
class object {
 public:
  /// `kind` is that of the object, or of the list that it stands in. `source` is the name of the text.
  object(json_value root, std::string_view kind, std::string_view source);

  [[nodiscard]] json_value root() const { return root_; }
  [[nodiscard]] std::string_view kind() const { return kind_; }
  /// The part of `apiVersion` before the slash; empty for the core.
  [[nodiscard]] std::string_view group() const;
  [[nodiscard]] std::string_view name() const { return name_; }
  [[nodiscard]] std::string_view name_space() const { return name_space_; }
  [[nodiscard]] std::string_view uid() const { return uid_; }
  /// `namespace/name`, or the name alone of objects outside of namespaces.
  [[nodiscard]] std::string full_name() const { return in_space(name_); }
  /// The same of another object in its namespace.
  [[nodiscard]] std::string in_space(std::string_view name) const;
  /// Nanoseconds since 1970; 0 if the object does not say.
  [[nodiscard]] std::int64_t created() const { return created_; }
  [[nodiscard]] std::uint32_t line() const { return root_.line(); }

  [[nodiscard]] std::optional<std::string_view> label(std::string_view key) const;
  [[nodiscard]] std::optional<std::string_view> annotation(std::string_view key) const;
  [[nodiscard]] member labels() const { return labels_; }
  [[nodiscard]] member annotations() const { return annotations_; }

  /// The member, which must be an object.
  [[nodiscard]] member section(member of, std::string_view key);
  /// The elements of a list; none if it is missing.
  [[nodiscard]] std::vector<json_value> items(member of, std::string_view key);
  /// A text; empty if it is missing.
  [[nodiscard]] std::string_view text(member of, std::string_view key);
  /// A list of texts.
  [[nodiscard]] std::vector<std::string_view> texts(member of, std::string_view key);
  [[nodiscard]] std::optional<std::int64_t> integer(member of, std::string_view key);
  [[nodiscard]] std::optional<double> number(member of, std::string_view key);
  [[nodiscard]] bool flag(member of, std::string_view key);
  /// RFC 3339 -> nanoseconds since 1970.
  [[nodiscard]] std::optional<std::int64_t> time(member of, std::string_view key);
  /// A duration of Go -> nanoseconds.
  [[nodiscard]] std::optional<std::int64_t> duration(member of, std::string_view key);
  /// An object of texts, such as labels.
  [[nodiscard]] text_pairs pairs(member of, std::string_view key);
  /// A quantity (text or number) in units with so many decimal places; 0 after a fault, and for negative amounts.
  [[nodiscard]] std::int64_t amount(json_value of, int decimals);

  /// Notes a fault at a member, or below it where it should be.
  void fail(json_value at, std::string_view below, std::string_view what);
  void fail(json_value at, std::string_view what) { fail(at, {}, what); }
  [[nodiscard]] bool failed() const { return fault_.has_value(); }
  /// After a failure: what is wrong with which object, wherever in the text that stands.
  [[nodiscard]] std::string fault_text() const { return fault().message.substr(place_size_); }
  /// After a failure.
  [[nodiscard]] const error& fault() const { return *fault_; }  // NOLINT(bugprone-unchecked-optional-access)

 private:
  [[nodiscard]] member typed(member of, std::string_view key, json_kind wanted, std::string_view expected);
  [[nodiscard]] std::string_view checked_text(json_value of);

  json_value root_;
  std::string_view kind_;
  std::string_view source_;
  std::string_view name_;
  std::string_view name_space_;
  std::string_view uid_;
  std::int64_t created_ = 0;
  member labels_;
  member annotations_;
  std::optional<error> fault_;
  std::size_t place_size_ = 0;  ///< of source and line at the beginning of its message
};

/// The path from one value down to another: `spec.containers[0].image`; keys with dots or slashes as `["a.b/c"]`.
[[nodiscard]] std::string path_of(json_value root, json_value at);

/// The elements of all texts and lists, each as an object. The error is of what is no object, or has no kind or name.
[[nodiscard]] result<std::vector<object>> collect_objects(const json_document& texts, std::string_view source);

}  // namespace kaisched::io::kubernetes
