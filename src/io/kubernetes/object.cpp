#include "io/kubernetes/object.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/utf8.hpp"
#include "io/fault_log.hpp"
#include "io/kubernetes/clock_text.hpp"
#include "io/kubernetes/kai_snapshot.hpp"

namespace kaisched::io::kubernetes {

namespace {

/// A message names an object and a place, so less is left for the rest.
constexpr std::size_t longest_fault = longest_message - longest_place;

bool append_path(std::string& path, json_value from, json_value to) {
  if (from == to) return true;
  const std::size_t size = path.size();
  std::size_t number = 0;
  for (const json_value below : from) {
    if (from.is(json_kind::array)) {
      path += fmt::format("[{}]", number++);
    } else if (below.key().find_first_of("./[") != std::string_view::npos) {
      path += fmt::format("[\"{}\"]", below.key());
    } else {
      if (!path.empty()) path += '.';
      path += below.key();
    }
    if (append_path(path, below, to)) return true;
    path.resize(size);
  }
  return false;
}

std::optional<std::string_view> text_of(member pairs, std::string_view key) {
  const member found = find(pairs, key);
  if (!found || !found->is(json_kind::string)) return std::nullopt;
  return found->text();
}

}  // namespace

member find(member of, std::string_view key) {
  if (!of || !of->is(json_kind::object)) return std::nullopt;
  for (const json_value one : *of) {
    if (one.key() == key) return one.is(json_kind::null) ? member{} : member{one};
  }
  return std::nullopt;
}

std::string_view text_if_any(member of) { return of && of->is(json_kind::string) ? of->text() : std::string_view{}; }

std::string path_of(json_value root, json_value at) {
  std::string path;
  append_path(path, root, at);
  return path;
}

object::object(json_value root, std::string_view kind, std::string_view source)
    : root_(root), kind_(kind), source_(source) {
  const member metadata = section(root_, "metadata");
  name_ = text(metadata, "name");
  name_space_ = text(metadata, "namespace");
  uid_ = text(metadata, "uid");
  created_ = time(metadata, "creationTimestamp").value_or(0);
  labels_ = section(metadata, "labels");
  annotations_ = section(metadata, "annotations");
}

std::string_view object::group() const {
  const std::string_view version = text_of(root_, "apiVersion").value_or("");
  const std::size_t slash = version.find('/');
  return slash == std::string_view::npos ? std::string_view{} : version.substr(0, slash);
}

std::string object::in_space(std::string_view name) const {
  return name_space_.empty() ? std::string(name) : fmt::format("{}/{}", name_space_, name);
}

std::optional<std::string_view> object::label(std::string_view key) const { return text_of(labels_, key); }
std::optional<std::string_view> object::annotation(std::string_view key) const { return text_of(annotations_, key); }

member object::typed(member of, std::string_view key, json_kind wanted, std::string_view expected) {
  const member found = find(of, key);
  if (!found || found->is(wanted)) return found;
  fail(*found, fmt::format("expected {}, found {}", expected, found->shown()));
  return std::nullopt;
}

member object::section(member of, std::string_view key) { return typed(of, key, json_kind::object, "an object"); }

std::vector<json_value> object::items(member of, std::string_view key) {
  const member list = typed(of, key, json_kind::array, "a list");
  if (!list) return {};
  return {list->begin(), list->end()};
}

std::string_view object::checked_text(json_value of) {
  if (!of.is(json_kind::string)) {
    fail(of, fmt::format("expected a string, found {}", of.shown()));
    return {};
  }
  if (of.text().find('\0') == std::string_view::npos) return of.text();
  fail(of, "the character U+0000 is not allowed");
  return {};
}

std::string_view object::text(member of, std::string_view key) {
  const member found = find(of, key);
  return found ? checked_text(*found) : std::string_view{};
}

std::vector<std::string_view> object::texts(member of, std::string_view key) {
  std::vector<std::string_view> read;
  for (const json_value one : items(of, key)) read.push_back(checked_text(one));
  return read;
}

std::optional<std::int64_t> object::integer(member of, std::string_view key) {
  const member found = typed(of, key, json_kind::integer, "an integer");
  if (!found) return std::nullopt;
  return found->integer();
}

std::optional<double> object::number(member of, std::string_view key) {
  const member found = find(of, key);
  if (!found) return std::nullopt;
  if (found->is(json_kind::integer) || found->is(json_kind::number)) return found->number();
  fail(*found, fmt::format("expected a number, found {}", found->shown()));
  return std::nullopt;
}

bool object::flag(member of, std::string_view key) {
  const member found = typed(of, key, json_kind::boolean, "true or false");
  return found && found->boolean();
}

std::optional<std::int64_t> object::time(member of, std::string_view key) {
  const member found = find(of, key);
  if (!found) return std::nullopt;
  const std::optional<std::int64_t> read = parse_time(checked_text(*found));
  if (!read) fail(*found, fmt::format("expected a time such as 2026-01-31T12:00:00Z, found {}", found->shown()));
  return read;
}

std::optional<std::int64_t> object::duration(member of, std::string_view key) {
  const member found = find(of, key);
  if (!found) return std::nullopt;
  const std::optional<std::int64_t> read = parse_duration(checked_text(*found));
  if (!read) fail(*found, fmt::format("expected a duration such as 1m30s, found {}", found->shown()));
  return read;
}

text_pairs object::pairs(member of, std::string_view key) {
  const member found = section(of, key);
  if (!found) return {};
  text_pairs read;
  for (const json_value one : *found) {
    if (one.key().find('\0') != std::string_view::npos) fail(one, "the character U+0000 is not allowed");
    read.emplace_back(one.key(), checked_text(one));
  }
  std::sort(read.begin(), read.end());  // members of an object have no order
  return read;
}

std::int64_t object::amount(json_value of, int decimals) {
  quantity read{0, quantity_fault::malformed};
  if (of.is(json_kind::string)) read = parse_quantity(of.text(), decimals);
  if (of.is(json_kind::integer)) read = parse_quantity(std::to_string(of.integer()), decimals);
  if (of.is(json_kind::number)) read = parse_quantity(fmt::format("{}", of.number()), decimals);
  if (read.fault == quantity_fault::malformed) {
    fail(of, fmt::format("expected a quantity such as 500m or 2Gi, found {}", of.shown()));
  } else if (read.fault == quantity_fault::overflow) {
    fail(of, fmt::format("the quantity {} exceeds 63 bits", of.shown()));
  } else if (read.amount < 0) {
    fail(of, fmt::format("the quantity {} is negative", of.shown()));
  } else {
    return read.amount;
  }
  return 0;
}

void object::fail(json_value at, std::string_view below, std::string_view what) {
  if (failed()) return;
  std::string place = path_of(root_, at);
  if (!below.empty()) place += (place.empty() ? "" : ".") + std::string(below);
  const std::string of = name_.empty() ? std::string(kind_) : fmt::format("{} {}", kind_, full_name());
  std::string message = fmt::format("{}:{}: ", source_, at.line());
  place_size_ = message.size();
  message += fmt::format("{}: {}: {}", base::printable(of, longest_place), base::printable(place, longest_place),
                         base::printable(what, longest_fault));
  fault_ = error{status::argument, std::move(message), {}};
}

namespace {

class collector {
 public:
  explicit collector(std::string_view source) : source_(source), faults_(source) {}

  /// `kind` is what the list around says of its elements.
  void add(json_value one, std::string_view kind) {
    if (one.is(json_kind::array)) {
      for (const json_value below : one) add(below, kind);
      return;
    }
    if (one.is(json_kind::null)) return;  // an empty document
    if (!one.is(json_kind::object)) {
      faults_.add(one.line(), "", fmt::format("expected an object of Kubernetes, found {}", one.shown()));
      return;
    }
    if (const member lists = find(one, snapshot_objects); lists && lists->is(json_kind::object)) {
      for (const json_value below : *lists) {
        if (const std::string_view of = kind_of_list(below.key()); !of.empty()) add(below, of);
      }
      return;
    }
    constexpr std::string_view list = "List";
    const std::string_view own = text_of(one, "kind").value_or(kind);
    const member items = find(one, "items");
    if (own.ends_with(list) && items) {
      add(*items, own.substr(0, own.size() - list.size()));
      return;
    }
    if (own.empty()) {
      faults_.add(one.line(), "", "the object has no kind");
      return;
    }
    objects_.emplace_back(one, own, source_);
    if (objects_.back().name().empty() && !objects_.back().failed()) {
      faults_.add(one.line(), own, "metadata.name is missing");
    }
  }

  result<std::vector<object>> take() {
    if (faults_.failed()) return faults_.take();
    return std::move(objects_);
  }

 private:
  std::string_view source_;
  fault_log faults_;
  std::vector<object> objects_;
};

}  // namespace

result<std::vector<object>> collect_objects(const json_document& texts, std::string_view source) {
  collector found(source);
  found.add(texts.root(), {});
  return found.take();
}

}  // namespace kaisched::io::kubernetes
