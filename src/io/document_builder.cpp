#include "io/document_builder.hpp"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "base/utf8.hpp"
#include "io/fault_log.hpp"

namespace kaisched::io {

void document_builder::string(std::string_view value, std::uint32_t line) {
  const json_document::text_range text = keep(value);
  add(json_kind::string, line).text = text;
}

void document_builder::key(std::string_view value, std::uint32_t line) {
  key_ = keep(value);
  key_line_ = line;
}

bool document_builder::open(json_kind kind, std::uint32_t line) {
  if (open_.size() == json_depth_limit) {
    fail(line, fmt::format("arrays and objects nest deeper than {} levels", json_depth_limit));
    return false;
  }
  add(kind, line);
  open_.push_back({static_cast<std::uint32_t>(document_.nodes_.size() - 1), json_document::none});
  return true;
}

bool document_builder::close() {
  const std::uint32_t container = open_.back().container;
  const bool unique = document_.nodes_[container].kind != json_kind::object || check_keys(container);
  open_.pop_back();
  return unique;
}

void document_builder::fail(std::uint32_t line, std::string_view what) {
  if (failed()) return;
  const std::string where = base::printable(place(), longest_place);
  failure_ = fmt::format("{}:{}: {}{}{}", source_, line, where, where.empty() ? "" : ": ",
                         base::printable(what, longest_message));
}

void document_builder::fail_at(std::size_t line, std::size_t column, std::string_view what) {
  if (!failed()) failure_ = fmt::format("{}:{}:{}: {}", source_, line, column, base::printable(what, longest_message));
}

json_document::text_range document_builder::keep(std::string_view text) {
  const json_document::text_range range{document_.characters_.size(), text.size()};
  document_.characters_ += text;
  return range;
}

json_document::node& document_builder::add(json_kind kind, std::uint32_t line) {
  const auto index = static_cast<std::uint32_t>(document_.nodes_.size());
  json_document::node& node = document_.nodes_.emplace_back();
  node.kind = kind;
  node.line = in_object() ? key_line_ : line;
  node.key = std::exchange(key_, {});
  if (!open_.empty()) {
    level& parent = open_.back();
    json_document::node& container = document_.nodes_[parent.container];
    (parent.last == json_document::none ? container.first : document_.nodes_[parent.last].next) = index;
    ++container.count;
    parent.last = index;
  }
  return node;
}

/// The open containers as a path: `pod[3].request`.
std::string document_builder::place() const {
  std::string path;
  for (std::size_t i = 1; i < open_.size(); ++i) {
    const json_document::node& parent = document_.nodes_[open_[i - 1].container];
    if (parent.kind == json_kind::array) {
      path += fmt::format("[{}]", parent.count - 1);
    } else {
      if (!path.empty()) path += '.';
      path += document_.view(document_.nodes_[open_[i].container].key);
    }
  }
  return path;
}

bool document_builder::check_keys(std::uint32_t object) {
  members_.clear();
  for (const json_value member : json_value(&document_, object)) members_.push_back(member);
  std::stable_sort(members_.begin(), members_.end(), [](json_value a, json_value b) { return a.key() < b.key(); });
  const auto twice = std::adjacent_find(members_.begin(), members_.end(),
                                        [](json_value a, json_value b) { return a.key() == b.key(); });
  if (twice == members_.end()) return true;
  const json_value second = *std::next(twice);
  fail(second.line(),
       fmt::format("the key \"{}\" appears twice in one object (first in line {})", second.key(), (*twice).line()));
  return false;
}

}  // namespace kaisched::io
