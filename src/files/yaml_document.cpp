#include "files/yaml_document.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <istream>
#include <iterator>
#include <limits>
#include <optional>
#include <streambuf>
#include <system_error>

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include "base/utf8.hpp"
#include "io/document_builder.hpp"

namespace kaisched::io {

namespace {

/// Ends the parser from inside an event; the message is in the builder.
struct stopped {};

std::uint32_t line_of(const YAML::Mark& mark) { return static_cast<std::uint32_t>(mark.line + 1); }

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

bool are_all(std::string_view text, std::string_view allowed) {
  return !text.empty() && text.find_first_not_of(allowed) == std::string_view::npos;
}

constexpr std::string_view decimal_digits = "0123456789";

/// What a plain scalar means in the core schema, beyond null, true and false.
enum class numeral : std::uint8_t { none, decimal, octal, hexadecimal, fraction, not_finite };

numeral numeral_of(std::string_view text) {
  if (text.starts_with("0o") && are_all(text.substr(2), "01234567")) return numeral::octal;
  if (text.starts_with("0x") && are_all(text.substr(2), "0123456789abcdefABCDEF")) return numeral::hexadecimal;
  if (is_one_of(text, {".nan", ".NaN", ".NAN"})) return numeral::not_finite;
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  if (is_one_of(text, {".inf", ".Inf", ".INF"})) return numeral::not_finite;
  if (are_all(text, decimal_digits)) return numeral::decimal;

  // [0-9]+ ( . [0-9]* )? or . [0-9]+, then maybe an exponent
  const std::size_t whole = std::min(text.find_first_not_of(decimal_digits), text.size());
  text.remove_prefix(whole);
  std::size_t fraction = 0;
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    fraction = std::min(text.find_first_not_of(decimal_digits), text.size());
    text.remove_prefix(fraction);
  }
  if (whole + fraction == 0) return numeral::none;
  if (text.empty()) return numeral::fraction;
  if (!text.starts_with('e') && !text.starts_with('E')) return numeral::none;
  text.remove_prefix(1);
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  return are_all(text, decimal_digits) ? numeral::fraction : numeral::none;
}

/// How many documents a text may have.
enum class documents : bool { one, any };

/// Puts the events of the parser into a document, and refuses those that JSON has no word for.
class yaml_events final : public YAML::EventHandler {
 public:
  yaml_events(document_builder& to, documents expected) : to_(to), expected_(expected) {}

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (expected_ == documents::one && to_.has_root()) refuse(mark, "a second document starts here; expected one");
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    if (anchor != 0) refuse_anchor(mark);
    if (wants_key()) refuse(mark, "a key is missing here");
    value_follows();
    to_.null(line_of(mark));
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t /*anchor*/) override {
    refuse(mark, "aliases (*name) are not supported; write the value out");
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    if (anchor != 0) refuse_anchor(mark);
    if (tag != "?" && tag != "!") refuse(mark, fmt::format("tags ({}) are not supported", tag));
    if (base::find_invalid_utf8(value) != std::string::npos) {  // the library makes single bytes of these two
      refuse(mark, "the escapes \\N and \\_ are not supported; write \\u0085 and \\u00A0");
    }
    last_ = mark;
    if (wants_key()) {
      to_.key(value, line_of(mark));
      key_is_set_ = true;
      return;
    }
    value_follows();
    if (tag == "!") return to_.string(value, line_of(mark));
    plain(mark, value);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value /*style*/) override {
    open(json_kind::array, mark, tag, anchor);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value /*style*/) override {
    open(json_kind::object, mark, tag, anchor);
  }
  void OnMapEnd() override { close(); }

  /// Where the last scalar starts.
  [[nodiscard]] const YAML::Mark& last_scalar() const { return last_; }

 private:
  [[nodiscard]] bool wants_key() const { return to_.in_object() && !key_is_set_; }
  void value_follows() { key_is_set_ = false; }

  [[noreturn]] void refuse(const YAML::Mark& mark, std::string_view what) {
    to_.fail_at(static_cast<std::size_t>(mark.line) + 1, static_cast<std::size_t>(mark.column) + 1, what);
    throw stopped{};
  }
  [[noreturn]] void refuse_anchor(const YAML::Mark& mark) { refuse(mark, "anchors (&name) are not supported"); }

  void open(json_kind kind, const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor) {
    if (anchor != 0) refuse_anchor(mark);
    if (!tag.empty() && tag != "?") refuse(mark, fmt::format("tags ({}) are not supported", tag));
    if (wants_key()) refuse(mark, fmt::format("expected a key, found {}", json_kind_name(kind)));
    value_follows();
    if (!to_.open(kind, line_of(mark))) throw stopped{};
  }
  void close() {
    if (!to_.close()) throw stopped{};
  }

  void plain(const YAML::Mark& mark, std::string_view text) {
    const std::uint32_t line = line_of(mark);
    if (is_one_of(text, {"", "~", "null", "Null", "NULL"})) return to_.null(line);
    if (is_one_of(text, {"true", "True", "TRUE"})) return to_.boolean(true, line);
    if (is_one_of(text, {"false", "False", "FALSE"})) return to_.boolean(false, line);
    const numeral form = numeral_of(text);
    switch (form) {
      case numeral::none:
        return to_.string(text, line);
      case numeral::decimal:
      case numeral::octal:
      case numeral::hexadecimal:
        if (integer(form, text, line)) return;
        break;
      case numeral::fraction:
        break;
      case numeral::not_finite:
        refuse(mark, fmt::format("{} is no finite number", text));
    }
    if (form == numeral::octal || form == numeral::hexadecimal)
      refuse(mark, fmt::format("{} does not fit into an integer of 64 bits", text));
    const std::optional<double> value = number(text);
    if (!value) refuse(mark, fmt::format("{} is no number that a double can hold", text));
    to_.number(*value, line);
  }

  /// False if 64 bits do not hold it; JSON has a number then.
  bool integer(numeral form, std::string_view text, std::uint32_t line) {
    std::int64_t value = 0;
    if (text.starts_with('+')) text.remove_prefix(1);
    if (form != numeral::decimal) text.remove_prefix(2);
    const int base = form == numeral::octal ? 8 : form == numeral::hexadecimal ? 16 : 10;
    const std::from_chars_result read = std::from_chars(text.data(), text.data() + text.size(), value, base);
    if (read.ec != std::errc{} || read.ptr != text.data() + text.size()) return false;
    to_.integer(value, line);
    return true;
  }
  static std::optional<double> number(std::string_view text) {
    double value = 0;
    if (text.starts_with('+')) text.remove_prefix(1);
    const std::from_chars_result read = std::from_chars(text.data(), text.data() + text.size(), value);
    if (read.ec != std::errc{} || read.ptr != text.data() + text.size()) return {};
    return value;
  }

  document_builder& to_;
  documents expected_;
  bool key_is_set_ = false;
  YAML::Mark last_;
};

/// A text as what the parser reads from. Nothing is copied.
class text_buffer final : public std::streambuf {
 public:
  explicit text_buffer(std::string_view text) {
    char* const begin = const_cast<char*>(text.data());  // the interface wants this; a get area is not written to
    setg(begin, begin, begin + text.size());
  }
};

/// The parser takes control characters for ends of the text and does not look at UTF-8, so both are checked before.
bool check_control_characters(std::string_view text, document_builder& to) {
  std::size_t line = 1;
  std::size_t line_start = 0;
  for (std::size_t i = 0; i < text.size();) {
    const base::utf8_character c = base::first_utf8_character(text.substr(i));
    if (c.length == 0) {
      to.fail_at(line, i - line_start + 1, "this byte is not UTF-8");
      return false;
    }
    if (c.code == '\n') {
      ++line;
      line_start = i + 1;
    } else if ((c.code < 0x20 && c.code != '\t' && c.code != '\r') || c.code == 0x7F) {
      to.fail_at(line, i - line_start + 1,
                 fmt::format("the control character U+{:04X} is not allowed here; write \"\\x{:02X}\"",
                             static_cast<std::uint32_t>(c.code), static_cast<std::uint32_t>(c.code)));
      return false;
    }
    i += c.length;
  }
  return true;
}

/// The parser takes the end of a text for the end of a quoted scalar. `at` is where the last scalar starts.
bool is_closed(std::string_view text, const YAML::Mark& at) {
  if (at.is_null()) return true;
  for (int line = 0; line < at.line; ++line) text.remove_prefix(text.find('\n') + 1);
  if (at.line == 0 && text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  text.remove_prefix(std::min(text.size(), static_cast<std::size_t>(at.column)));
  const char quote = text.empty() ? '\0' : text.front();
  if (quote != '"' && quote != '\'') return true;
  for (std::size_t i = 1; i < text.size(); ++i) {
    const bool escapes = quote == '"' ? text[i] == '\\' : text.substr(i, 2) == "''";
    if (escapes)
      ++i;
    else if (text[i] == quote)
      return true;
  }
  return false;
}

void parse_events(std::string_view text, document_builder& to, documents expected) {
  yaml_events events(to, expected);
  try {
    text_buffer buffer(text);
    std::istream stream(&buffer);
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(events)) {
    }
    if (!to.has_root()) to.fail_at(1, 1, "the text is empty");
    if (const YAML::Mark& last = events.last_scalar(); !is_closed(text, last)) {
      to.fail_at(static_cast<std::size_t>(last.line) + 1, static_cast<std::size_t>(last.column) + 1,
                 "the quote that starts here does not end");
    }
  } catch (const stopped&) {  // NOLINT(bugprone-empty-catch): the builder knows why
  } catch (const YAML::Exception& failure) {
    to.fail_at(static_cast<std::size_t>(std::max(failure.mark.line, 0)) + 1,
               static_cast<std::size_t>(std::max(failure.mark.column, 0)) + 1, failure.msg);
  }
}

}  // namespace

result<json_document> parse_yaml(std::string_view text, std::string_view source) {
  json_document document;
  document_builder builder(document, source);
  if (check_control_characters(text, builder)) parse_events(text, builder, documents::one);
  if (builder.failed()) return error{status::argument, builder.take_failure(), {}};
  return document;
}

result<json_document> parse_json_or_yaml(std::string_view text, std::string_view source) {
  const std::size_t first = text.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
  const bool brace = first != std::string_view::npos && text[first] == '{';
  const bool yaml = source.ends_with(".yaml") || source.ends_with(".yml");
  return yaml || (!source.ends_with(".json") && !brace) ? parse_yaml(text, source) : json_document::parse(text, source);
}

result<json_document> parse_yaml_stream(std::string_view text, std::string_view source) {
  json_document document;
  document_builder builder(document, source);
  builder.open(json_kind::array, 1);
  if (check_control_characters(text, builder)) parse_events(text, builder, documents::any);
  if (builder.failed()) return error{status::argument, builder.take_failure(), {}};
  builder.close();
  return document;
}

}  // namespace kaisched::io
