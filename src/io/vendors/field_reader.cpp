#include "io/vendors/field_reader.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace kaisched::io {

namespace {

std::optional<json_value> member(json_value object, std::string_view name) {
  if (!object.is(json_kind::object)) return std::nullopt;
  for (const json_value one : object) {
    if (one.key() == name) return one;
  }
  return std::nullopt;
}

}  // namespace

field_reader::field_reader(json_value object, std::string place, std::string key, fault_log& faults)
    : object_(object), place_(std::move(place)), key_(std::move(key)), faults_(&faults) {
  if (!object.is(json_kind::object)) {
    faults_->add(object.line(), place_, fmt::format("expected an object, found {}", object.shown()));
  }
}

std::optional<json_value> field_reader::find(std::string_view name) {
  if (std::find(asked_.begin(), asked_.end(), name) == asked_.end()) asked_.emplace_back(name);
  if (std::optional<json_value> own = member(object_, name)) return own;
  return defaults_ ? member(*defaults_, name) : std::nullopt;
}

std::optional<json_value> field_reader::of_kind(std::string_view name, json_kind kind) {
  const std::optional<json_value> found = find(name);
  if (!found || found->is(kind)) return found;
  fail(*found, name, fmt::format("expected {}, found {}", json_kind_name(kind), found->shown()));
  return std::nullopt;
}

std::string field_reader::with_key(std::string_view text) const {
  constexpr std::string_view mark = "{key}";
  std::string made(text);
  for (std::size_t at = made.find(mark); at != std::string::npos; at = made.find(mark, at + key_.size())) {
    made.replace(at, mark.size(), key_);
  }
  return made;
}

std::string field_reader::text(std::string_view name, std::string_view otherwise) {
  const std::optional<json_value> found = of_kind(name, json_kind::string);
  return found ? with_key(found->text()) : std::string(otherwise);
}

std::optional<std::int64_t> field_reader::optional_integer(std::string_view name) {
  const std::optional<json_value> found = of_kind(name, json_kind::integer);
  return found ? std::optional(found->integer()) : std::nullopt;
}

std::int64_t field_reader::integer(std::string_view name, std::int64_t otherwise) {
  return optional_integer(name).value_or(otherwise);
}

std::int64_t field_reader::mebibytes(std::string_view name, std::int64_t otherwise) {
  constexpr std::int64_t mebibyte = std::int64_t{1} << 20;
  constexpr std::int64_t most = INT64_MAX / mebibyte;
  const std::optional<json_value> found = of_kind(name, json_kind::integer);
  if (!found) return otherwise;
  if (found->integer() < 0 || found->integer() > most) {
    fail(*found, name, fmt::format("expected mebibytes from 0 to {}, found {}", most, found->integer()));
    return otherwise;
  }
  return found->integer() * mebibyte;
}

bool field_reader::boolean(std::string_view name, bool otherwise) {
  const std::optional<json_value> found = of_kind(name, json_kind::boolean);
  return found ? found->boolean() : otherwise;
}

std::vector<json_value> field_reader::elements(std::string_view name) {
  const std::optional<json_value> found = of_kind(name, json_kind::array);
  return found ? std::vector<json_value>(found->begin(), found->end()) : std::vector<json_value>{};
}

std::optional<json_value> field_reader::object(std::string_view name) { return of_kind(name, json_kind::object); }

std::vector<std::string> field_reader::texts(std::string_view name) {
  std::vector<std::string> made;
  for (const json_value one : elements(name)) {
    if (!one.is(json_kind::string)) fail(one, name, fmt::format("expected strings, found {}", one.shown()));
    if (one.is(json_kind::string)) made.push_back(with_key(one.text()));
  }
  return made;
}

std::vector<std::int64_t> field_reader::integers(std::string_view name) {
  std::vector<std::int64_t> made;
  for (const json_value one : elements(name)) {
    if (!one.is(json_kind::integer)) fail(one, name, fmt::format("expected integers, found {}", one.shown()));
    if (one.is(json_kind::integer)) made.push_back(one.integer());
  }
  return made;
}

std::vector<std::vector<std::int64_t>> field_reader::integer_lists(std::string_view name) {
  std::vector<std::vector<std::int64_t>> made;
  for (const json_value list : elements(name)) {
    made.emplace_back();
    if (!list.is(json_kind::array)) {
      fail(list, name, fmt::format("expected lists of integers, found {}", list.shown()));
      continue;
    }
    for (const json_value one : list) {
      if (!one.is(json_kind::integer)) fail(one, name, fmt::format("expected integers, found {}", one.shown()));
      if (one.is(json_kind::integer)) made.back().push_back(one.integer());
    }
  }
  return made;
}

field_reader field_reader::inside(json_value of, std::string_view name, std::optional<std::size_t> at) const {
  std::string place = place_.empty() ? std::string(name) : fmt::format("{}.{}", place_, name);
  if (at) place += fmt::format("[{}]", *at);
  return {of, std::move(place), key_, *faults_};
}

void field_reader::require(std::string_view name) {
  if (!find(name)) faults_->add(object_.line(), place_, fmt::format("\"{}\" is missing", name));
}

void field_reader::finish() {
  if (!object_.is(json_kind::object)) return;
  for (const json_value one : object_) {
    if (std::find(asked_.begin(), asked_.end(), one.key()) != asked_.end()) continue;
    fail(one, one.key(), fmt::format("no such field; known are {}", fmt::join(asked_, ", ")));
  }
}

void field_reader::fail(json_value at, std::string_view name, std::string_view what) {
  faults_->add(at.line(), place_.empty() ? std::string(name) : fmt::format("{}.{}", place_, name), what);
}

void field_reader::fail_word(json_value at, std::string_view name, std::span<const std::string_view> known) {
  fail(at, name, fmt::format("expected one of {}, found {}", fmt::join(known, ", "), at.shown()));
}

}  // namespace kaisched::io
