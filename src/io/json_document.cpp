#include "io/json_document.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace kaisched::io {

/// Receives the events of the parser.
class json_builder {
 public:
  json_builder(json_document& document, std::string_view source) : document_(document), source_(source) {}

  bool null() {
    add(json_kind::null);
    return true;
  }
  bool boolean(bool value) {
    add(json_kind::boolean).integer = value ? 1 : 0;
    return true;
  }
  bool number_integer(std::int64_t value) {
    add(json_kind::integer).integer = value;
    return true;
  }
  bool number_unsigned(std::uint64_t value) {
    if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
      return number_float(static_cast<double>(value), {});
    }
    return number_integer(static_cast<std::int64_t>(value));
  }
  bool number_float(double value, const std::string& /*text*/) {
    add(json_kind::number).number = value;
    return true;
  }
  bool string(const std::string& value) {
    const json_document::text_range text = keep(value);
    add(json_kind::string).text = text;
    return true;
  }
  bool binary(const nlohmann::json::binary_t& /*value*/) { return false; }
  bool start_object(std::size_t /*size*/) { return open(json_kind::object); }
  bool start_array(std::size_t /*size*/) { return open(json_kind::array); }
  bool key(const std::string& value) {
    key_ = keep(value);
    return true;
  }
  bool end_array() {
    open_.pop_back();
    return true;
  }
  bool end_object() {
    const std::uint32_t object = open_.back().container;
    open_.pop_back();
    return check_keys(object);
  }
  bool parse_error(std::size_t /*position*/, const std::string& /*token*/, const nlohmann::json::exception& failure) {
    std::string_view what = failure.what();
    if (const std::size_t end = what.find("] "); end != std::string_view::npos) what.remove_prefix(end + 2);
    if (constexpr std::string_view lead = "parse error at "; what.starts_with(lead)) what.remove_prefix(lead.size());
    failure_ = fmt::format("{}: {}", source_, what);
    return false;
  }

  [[nodiscard]] std::string take_failure() { return std::move(failure_); }

 private:
  struct level {
    std::uint32_t container;
    std::uint32_t last;
  };

  json_document::text_range keep(std::string_view text) {
    const json_document::text_range range{document_.characters_.size(), text.size()};
    document_.characters_ += text;
    return range;
  }

  json_document::node& add(json_kind kind) {
    const auto index = static_cast<std::uint32_t>(document_.nodes_.size());
    json_document::node& node = document_.nodes_.emplace_back();
    node.kind = kind;
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

  bool open(json_kind kind) {
    add(kind);
    open_.push_back({static_cast<std::uint32_t>(document_.nodes_.size() - 1), json_document::none});
    return true;
  }

  bool check_keys(std::uint32_t object) {
    keys_.clear();
    for (const json_value member : json_value(&document_, object)) keys_.push_back(member.key());
    std::sort(keys_.begin(), keys_.end());
    const auto twice = std::adjacent_find(keys_.begin(), keys_.end());
    if (twice == keys_.end()) return true;
    failure_ = fmt::format("{}: the key \"{}\" appears twice in one object", source_, *twice);
    return false;
  }

  json_document& document_;
  std::string_view source_;
  json_document::text_range key_{};
  std::vector<level> open_;
  std::vector<std::string_view> keys_;
  std::string failure_;
};

std::string_view json_kind_name(json_kind kind) noexcept {
  constexpr std::array<std::string_view, 7> names{"null",     "true or false", "an integer", "a number",
                                                  "a string", "an array",      "an object"};
  return names[static_cast<std::size_t>(kind)];
}

result<json_document> json_document::parse(std::string_view text, std::string_view source) {
  json_document document;
  json_builder builder(document, source);
  if (!nlohmann::json::sax_parse(text, &builder)) return error{status::argument, builder.take_failure(), {}};
  return document;
}

json_value json_document::root() const { return {this, 0}; }

std::string json_value::shown() const {
  constexpr std::size_t longest = 40;
  switch (kind()) {
    case json_kind::boolean:
      return boolean() ? "true" : "false";
    case json_kind::integer:
      return std::to_string(integer());
    case json_kind::number:
      return fmt::format("{}", number());
    case json_kind::string: {
      std::string quoted;
      append_json_string(quoted, text().substr(0, longest));
      return text().size() > longest ? quoted + "..." : quoted;
    }
    case json_kind::null:
    case json_kind::array:
    case json_kind::object:
      break;
  }
  return std::string(json_kind_name(kind()));
}

void append_json_string(std::string& out, std::string_view text) {
  out += '"';
  for (const char c : text) {
    switch (c) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\t':
        out += "\\t";
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20U) {
          fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<unsigned>(c));
        } else {
          out += c;
        }
    }
  }
  out += '"';
}

}  // namespace kaisched::io
