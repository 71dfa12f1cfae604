#include "io/scenario/text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include <fmt/format.h>

#include "base/utf8.hpp"
#include "io/fault_log.hpp"

namespace kaisched::io::scenario_text {

namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

/// Appends a code point as UTF-8.
void append_code_point(std::string& out, std::uint32_t code) {
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xC0U | (code >> 6U));
    out += static_cast<char>(0x80U | (code & 0x3FU));
  } else if (code < 0x10000) {
    out += static_cast<char>(0xE0U | (code >> 12U));
    out += static_cast<char>(0x80U | ((code >> 6U) & 0x3FU));
    out += static_cast<char>(0x80U | (code & 0x3FU));
  } else {
    out += static_cast<char>(0xF0U | (code >> 18U));
    out += static_cast<char>(0x80U | ((code >> 12U) & 0x3FU));
    out += static_cast<char>(0x80U | ((code >> 6U) & 0x3FU));
    out += static_cast<char>(0x80U | (code & 0x3FU));
  }
}

/// Walks over the characters; a backslash at the end of a line joins it with the next one.
class reader {
 public:
  reader(std::string_view text, std::string_view source) : text_(text), source_(source) {
    if (text.starts_with(byte_order_mark)) at_ = line_start_ = byte_order_mark.size();
  }

  result<std::vector<statement>> read() {
    std::vector<statement> all;
    while (at_ < text_.size() && !failed_) {
      statement one;
      one.first_line = line_;
      read_statement(one);
      one.last_line = line_;
      if (!one.items.empty()) all.push_back(std::move(one));
      if (at_ < text_.size()) next_line();
    }
    if (failed_) return std::move(failure_);
    return all;
  }

 private:
  [[nodiscard]] char peek() const { return at_ < text_.size() ? text_[at_] : '\n'; }
  [[nodiscard]] place here() const { return {line_, static_cast<std::uint32_t>(at_ - line_start_ + 1)}; }

  void next_line() {
    ++at_;
    ++line_;
    line_start_ = at_;
  }

  void fail(place at, std::string_view what) {
    if (failed_) return;
    failed_ = true;
    failure_ = failure_at(source_, at, what);
  }

  /// True if a backslash ends the line: it has been skipped then.
  bool joins_next_line() {
    if (peek() != '\\') return false;
    std::size_t end = at_ + 1;
    while (end < text_.size() && is_blank(text_[end])) ++end;
    if (end < text_.size() && text_[end] != '\n') return false;
    at_ = end;
    if (at_ < text_.size()) next_line();
    return true;
  }

  void skip_blanks() {
    while (true) {
      if (is_blank(peek())) {
        ++at_;
      } else if (!joins_next_line()) {
        return;
      }
    }
  }

  void read_statement(statement& to) {
    while (!failed_) {
      skip_blanks();
      if (peek() == '#') to.comment = read_comment();
      if (peek() == '\n') return;
      to.items.push_back(read_item());
    }
  }

  std::string read_comment() {
    std::size_t from = at_;
    while (from > line_start_ && is_blank(text_[from - 1])) --from;
    while (peek() != '\n') ++at_;
    std::size_t end = at_;
    while (is_blank(text_[end - 1])) --end;
    return std::string(from == line_start_ ? " " : "").append(text_.substr(from, end - from));
  }

  item read_item() {
    item one;
    if (peek() == '"') {
      one.name = read_quoted();
      if (!failed_ && peek() != '\n' && peek() != '#' && !is_blank(peek()))
        fail(here(), "expected a blank after the quotes");
      return one;
    }
    one.name = read_word("=", "a word");
    if (peek() != '=') return one;
    if (one.name.text.empty()) fail(here(), "expected a name before '='");
    ++at_;
    one.given = read_value();
    return one;
  }

  value read_value() {
    value given;
    given.at = here();
    if (peek() == '[' || peek() == '{') {
      given.kind = peek() == '[' ? value_kind::list : value_kind::map;
      read_elements(given);
    } else {
      given.kind = value_kind::text;
      given.items.push_back(peek() == '"' ? read_quoted() : read_word("", "a value"));
    }
    if (!failed_ && peek() != '\n' && peek() != '#' && peek() != '\\' && !is_blank(peek())) {
      fail(here(), "expected a blank after the value");
    }
    return given;
  }

  void read_elements(value& to) {
    const bool map = to.kind == value_kind::map;
    const char close = map ? '}' : ']';
    ++at_;
    skip_blanks();
    if (peek() == close) {
      ++at_;
      return;
    }
    while (!failed_) {
      skip_blanks();
      if (map) {
        to.keys.push_back(peek() == '"' ? read_quoted() : read_word("=,]}", "a key"));
        skip_blanks();
        if (peek() != '=') return fail(here(), "expected '=' after the key");
        ++at_;
        skip_blanks();
      }
      to.items.push_back(peek() == '"' ? read_quoted() : read_word(",]}", "a value"));
      skip_blanks();
      if (peek() == close) {
        ++at_;
        return;
      }
      if (peek() != ',') return fail(here(), fmt::format("expected ',' or '{}'", close));
      ++at_;
    }
  }

  /// Up to a blank, a quote, a comment, or one of the characters that end it here.
  word read_word(std::string_view ends, std::string_view expected) {
    word one;
    one.at = here();
    while (peek() != '\n' && !is_blank(peek()) && peek() != '#' && ends.find(peek()) == std::string_view::npos) {
      if (peek() == '"') {
        fail(here(), "a quote inside a word: quote the whole text");
        return one;
      }
      if (static_cast<unsigned char>(peek()) < 0x20 || peek() == 0x7F) {
        fail(here(), "a control character");
        return one;
      }
      if (peek() == '\\') {
        std::size_t end = at_ + 1;
        while (end < text_.size() && is_blank(text_[end])) ++end;
        if (end >= text_.size() || text_[end] == '\n') break;
      }
      one.text += peek();
      ++at_;
    }
    if (one.text.empty() && expected != "a word") fail(one.at, fmt::format("expected {}", expected));
    return one;
  }

  word read_quoted() {
    word one;
    one.quoted = true;
    one.at = here();
    ++at_;
    while (!failed_ && peek() != '"') {
      if (peek() == '\n') {
        fail(one.at, "the quotes are not closed");
      } else if (peek() == '\\') {
        read_escape(one.text);
      } else {
        one.text += peek();
        ++at_;
      }
    }
    ++at_;
    return one;
  }

  void read_escape(std::string& to) {
    constexpr std::string_view plain = "\"\\/";
    const place start = here();
    ++at_;
    const char c = peek();
    ++at_;
    if (plain.find(c) != std::string_view::npos) {
      to += c;
    } else if (c == 'n') {
      to += '\n';
    } else if (c == 'r') {
      to += '\r';
    } else if (c == 't') {
      to += '\t';
    } else if (c == 'u') {
      read_code_point(to, start);
    } else {
      --at_;
      fail(start, R"(expected one of \" \\ \/ \n \r \t \u)");
    }
  }

  std::uint32_t read_hexadecimal(place start) {
    std::uint32_t code = 0;
    const std::string_view digits = text_.substr(std::min(at_, text_.size()), 4);
    const auto [end, fault] = std::from_chars(digits.data(), digits.data() + digits.size(), code, 16);
    if (digits.size() < 4 || fault != std::errc{} || end != digits.data() + 4) {
      fail(start, "expected four hexadecimal digits");
      return 0;
    }
    at_ += 4;
    return code;
  }

  void read_code_point(std::string& to, place start) {
    std::uint32_t code = read_hexadecimal(start);
    if (code >= 0xD800 && code < 0xDC00 && text_.substr(std::min(at_, text_.size()), 2) == "\\u") {
      at_ += 2;
      const std::uint32_t low = read_hexadecimal(start);
      if (low < 0xDC00 || low > 0xDFFF) return fail(start, "half of a surrogate pair");
      code = 0x10000 + ((code - 0xD800) << 10U) + (low - 0xDC00);
    }
    if (code >= 0xD800 && code < 0xE000) return fail(start, "half of a surrogate pair");
    if (!failed_) append_code_point(to, code);
  }

  std::string_view text_;
  std::string_view source_;
  std::size_t at_ = 0;
  std::size_t line_ = 1;
  std::size_t line_start_ = 0;
  bool failed_ = false;
  error failure_;
};

bool read_number(std::string_view text, std::size_t& at, std::uint64_t& number) {
  const auto [end, fault] = std::from_chars(text.data() + at, text.data() + text.size(), number);
  if (fault != std::errc{}) return false;
  at = static_cast<std::size_t>(end - text.data());
  return true;
}

}  // namespace

error failure_at(std::string_view source, place at, std::string_view what) {
  return {status::argument,
          fmt::format("{}:{}:{}: {}", source, at.line, at.column, base::printable(what, longest_message)),
          {}};
}

result<std::vector<statement>> split(std::string_view text, std::string_view source) {
  if (const std::size_t bad = base::find_invalid_utf8(text); bad != std::string_view::npos) {
    const std::string_view before = text.substr(0, bad);
    const auto line = static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n')) + 1;
    const std::size_t start = before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
    return failure_at(source, {line, static_cast<std::uint32_t>(bad - start + 1)}, "the text is not valid UTF-8");
  }
  return reader(text, source).read();
}

std::string quoted_if_needed(std::string_view text, text_place place) {
  constexpr std::array<std::string_view, 4> ends{" \"#\\=[", " \"#\\", " \"#\\,]}", " \"#\\,]}="};
  const std::string_view special = ends[static_cast<std::size_t>(place)];
  name_pattern::range unused;
  std::uint64_t last = 0;
  const bool control =
      std::any_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; });
  const bool starts_as_value = !text.empty() && (text.front() == '[' || text.front() == '{');
  if (!text.empty() && !control && !starts_as_value && text.find_first_of(special) == std::string_view::npos &&
      !name_pattern::find_range(text, 0, unused, last)) {
    return std::string(text);
  }
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(static_cast<unsigned char>(c)));
    } else {
      out += c;
    }
  }
  return out + '"';
}

/// The next range `[` digits `-` digits `]` at or behind a position; false if there is none.
bool name_pattern::find_range(std::string_view text, std::size_t from, range& found, std::uint64_t& last) {
  for (std::size_t open = text.find('[', from); open != std::string_view::npos; open = text.find('[', open + 1)) {
    std::size_t at = open + 1;
    range one;
    one.begin = open;
    if (!read_number(text, at, one.first)) continue;
    one.digits = text[open + 1] == '0' ? at - open - 1 : 1;
    if (at >= text.size() || text[at] != '-') continue;
    ++at;
    if (!read_number(text, at, last) || at >= text.size() || text[at] != ']') continue;
    one.end = at + 1;
    found = one;
    return true;
  }
  return false;
}

result<name_pattern> name_pattern::parse(const word& from, std::size_t most) {
  name_pattern made;
  made.text_ = from.text;
  range one;
  std::uint64_t last = 0;
  for (std::size_t at = 0; !from.quoted && find_range(from.text, at, one, last); at = one.end) {
    if (last < one.first) return error{status::argument, fmt::format("the range in \"{}\" descends", from.text), {}};
    if (last - one.first >= most / made.count_) {
      return error{status::limit, fmt::format("\"{}\" stands for more than {} names", from.text, most), {}};
    }
    one.length = static_cast<std::size_t>(last - one.first + 1);
    made.count_ *= one.length;
    made.ranges_.push_back(one);
  }
  return made;
}

result<name_pattern> name_pattern::parse_name(const word& from, std::size_t most) {
  result<name_pattern> made = parse(from, most);
  if (!made || from.quoted) return made;
  const auto brackets = std::count(from.text.begin(), from.text.end(), '[');
  if (static_cast<std::size_t>(brackets) == made->ranges()) return made;
  return error{
      status::argument,
      fmt::format("a bracket in \"{}\" starts no range such as n[1-4]; a name that has it is quoted", from.text),
      {}};
}

bool name_pattern::moves_with(const name_pattern& other) const {
  return ranges_.size() <= other.ranges_.size() &&
         std::equal(ranges_.begin(), ranges_.end(), other.ranges_.begin(),
                    [](const range& a, const range& b) { return a.length == b.length; });
}

std::vector<std::size_t> name_pattern::positions(std::size_t n) const {
  std::vector<std::size_t> at(ranges_.size());
  for (std::size_t i = ranges_.size(); i-- > 0;) {
    at[i] = n % ranges_[i].length;
    n /= ranges_[i].length;
  }
  return at;
}

std::string name_pattern::name(const std::vector<std::size_t>& positions) const {
  std::string made;
  std::size_t at = 0;
  for (std::size_t i = 0; i < ranges_.size(); ++i) {
    made.append(text_, at, ranges_[i].begin - at);
    made += fmt::format("{:0{}}", ranges_[i].first + positions[i], ranges_[i].digits);
    at = ranges_[i].end;
  }
  return made.append(text_, at);
}

}  // namespace kaisched::io::scenario_text
