#include "io/json_document.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <iterator>
#include <limits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/utf8.hpp"
#include "io/document_builder.hpp"

namespace kaisched::io {

namespace {

/// Walks over a text and tells how far it is, which the parser does not.
class counting_iterator {
 public:
  using iterator_category = std::forward_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  counting_iterator(const char* at, const char** furthest) : at_(at), furthest_(furthest) {}
  reference operator*() const { return *at_; }
  counting_iterator& operator++() {
    *furthest_ = ++at_;
    return *this;
  }
  counting_iterator operator++(int) {
    counting_iterator before = *this;
    ++*this;
    return before;
  }
  friend bool operator==(const counting_iterator& a, const counting_iterator& b) { return a.at_ == b.at_; }

 private:
  const char* at_;
  const char** furthest_;
};

/// Receives the events of the parser.
class json_events {
 public:
  json_events(document_builder& to, std::string_view text)
      : to_(to), counted_(text.data()), begin_(text.data()), furthest_(text.data()) {}

  [[nodiscard]] const char** furthest() { return &furthest_; }

  bool null() {
    to_.null(line());
    return true;
  }
  bool boolean(bool value) {
    to_.boolean(value, line());
    return true;
  }
  bool number_integer(std::int64_t value) {
    to_.integer(value, line());
    return true;
  }
  bool number_unsigned(std::uint64_t value) {
    if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
      return number_float(static_cast<double>(value), {});
    }
    return number_integer(static_cast<std::int64_t>(value));
  }
  bool number_float(double value, const std::string& /*text*/) {
    to_.number(value, line());
    return true;
  }
  bool string(const std::string& value) {
    to_.string(value, line());
    return true;
  }
  bool binary(const nlohmann::json::binary_t& /*value*/) { return false; }
  bool start_object(std::size_t /*size*/) { return to_.open(json_kind::object, line()); }
  bool start_array(std::size_t /*size*/) { return to_.open(json_kind::array, line()); }
  bool key(const std::string& value) {
    to_.key(value, line());
    return true;
  }
  bool end_array() { return to_.close(); }
  bool end_object() { return to_.close(); }
  bool parse_error(std::size_t /*position*/, const std::string& /*token*/, const nlohmann::json::exception& failure) {
    std::string_view what = failure.what();
    if (const std::size_t end = what.find("] "); end != std::string_view::npos) what.remove_prefix(end + 2);
    if (const std::size_t end = what.find(": "); end != std::string_view::npos) what.remove_prefix(end + 2);
    const std::uint32_t at = line();
    const char* const start = line_start_;
    to_.fail_at(at, static_cast<std::size_t>(std::max<std::ptrdiff_t>(1, furthest_ - start)), what);
    return false;
  }

 private:
  /// The line of the last character of the present token. The parser has read at most one character more, and no token
  /// contains a line end, so the last character that was read does not count.
  std::uint32_t line() {
    const char* const last = furthest_ == begin_ ? furthest_ : furthest_ - 1;
    while (const void* end = std::memchr(counted_, '\n', static_cast<std::size_t>(last - counted_))) {
      counted_ = static_cast<const char*>(end) + 1;
      line_start_ = counted_;
      ++line_;
    }
    counted_ = last;
    return line_;
  }

  document_builder& to_;
  const char* counted_;
  const char* begin_;
  const char* line_start_ = begin_;
  const char* furthest_;
  std::uint32_t line_ = 1;
};

}  // namespace

std::string_view json_kind_name(json_kind kind) noexcept {
  constexpr std::array<std::string_view, 7> names{"null",     "true or false", "an integer", "a number",
                                                  "a string", "an array",      "an object"};
  return names[static_cast<std::size_t>(kind)];
}

namespace {

/// The parser takes U+0000 for the end. False if there is one.
bool check_characters(std::string_view text, document_builder& builder) {
  const std::size_t nul = text.find('\0');
  if (nul == std::string_view::npos) return true;
  const std::string_view before = text.substr(0, nul);
  const std::size_t line_start = before.rfind('\n') + 1;  // 0 if there is none
  builder.fail_at(static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n')) + 1, nul - line_start + 1,
                  "the control character U+0000 is not allowed here; write \"\\u0000\"");
  return false;
}

}  // namespace

result<json_document> json_document::parse(std::string_view text, std::string_view source) {
  if (text.data() == nullptr) text = "";
  json_document document;
  document_builder builder(document, source);
  if (!check_characters(text, builder)) return error{status::argument, builder.take_failure(), {}};
  json_events events(builder, text);
  // NOLINTNEXTLINE(bugprone-suspicious-stringview-data-usage): the end is given as well
  const counting_iterator begin(text.data(), events.furthest());
  const counting_iterator end(text.data() + text.size(), nullptr);
  if (!nlohmann::json::sax_parse(begin, end, &events)) return error{status::argument, builder.take_failure(), {}};
  return document;
}

result<json_document> json_document::parse_stream(std::string_view text, std::string_view source) {
  constexpr std::string_view blanks = " \t\r\n";
  if (text.data() == nullptr) text = "";
  json_document document;
  document_builder builder(document, source);
  const auto refused = [&] { return error{status::argument, builder.take_failure(), {}}; };
  if (!check_characters(text, builder)) return refused();
  json_events events(builder, text);
  builder.open(json_kind::array, 1);
  std::size_t at = text.starts_with("\xEF\xBB\xBF") ? 3 : 0;
  while ((at = text.find_first_not_of(blanks, at)) != std::string_view::npos) {
    // Behind other values the parser has to look on to see where they end; nothing may follow them.
    const bool strict = text[at] != '{' && text[at] != '[';
    *events.furthest() = text.data() + at;
    const counting_iterator begin(text.data() + at, events.furthest());
    const counting_iterator end(text.data() + text.size(), nullptr);
    if (!nlohmann::json::sax_parse(begin, end, &events, nlohmann::json::input_format_t::json, strict)) return refused();
    at = static_cast<std::size_t>(*events.furthest() - text.data());
  }
  builder.close();
  return document;
}

json_value json_document::root() const { return {this, 0}; }

namespace {

/// A number that is no integer of 64 bits, so that nobody takes it for one.
std::string shown_number(double value) {
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  return text;
}

}  // namespace

std::string json_value::shown() const {
  constexpr std::size_t longest = 40;
  switch (kind()) {
    case json_kind::boolean:
      return boolean() ? "true" : "false";
    case json_kind::integer:
      return std::to_string(integer());
    case json_kind::number:
      return shown_number(number());
    case json_kind::string: {
      std::string quoted;
      append_json_string(quoted, text().substr(0, base::utf8_length_below(text(), longest)));
      return text().size() > longest ? quoted + "..." : quoted;
    }
    case json_kind::null:
    case json_kind::array:
    case json_kind::object:
      break;
  }
  return std::string(json_kind_name(kind()));
}

std::string json_text(json_value of) {
  std::string text;
  const bool is_object = of.is(json_kind::object);
  if (of.is(json_kind::string)) {
    append_json_string(text, of.text());
  } else if (of.is(json_kind::null)) {
    text = "null";
  } else if (!is_object && !of.is(json_kind::array)) {
    text = of.shown();
  } else {
    for (const json_value one : of) {
      text += text.empty() ? "" : ",";
      if (is_object) append_json_string(text, one.key());
      text += (is_object ? ":" : "") + json_text(one);
    }
    text = (is_object ? "{" : "[") + text + (is_object ? "}" : "]");
  }
  return text;
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
          out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
        } else {
          out += c;
        }
    }
  }
  out += '"';
}

}  // namespace kaisched::io
