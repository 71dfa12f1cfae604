#include "model/cel_lexer.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "base/text.hpp"

namespace kaisched::model::cel {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

int hex_value(char c) {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

void append_utf8(std::string& to, std::uint32_t point) {
  const auto tail = [&](std::uint32_t bits) { to += static_cast<char>(0x80U | (bits & 0x3FU)); };
  if (point < 0x80) {
    to += static_cast<char>(point);
  } else if (point < 0x800) {
    to += static_cast<char>(0xC0U | point >> 6U);
    tail(point);
  } else if (point < 0x10000) {
    to += static_cast<char>(0xE0U | point >> 12U);
    tail(point >> 6U);
    tail(point);
  } else {
    to += static_cast<char>(0xF0U | point >> 18U);
    tail(point >> 12U);
    tail(point >> 6U);
    tail(point);
  }
}

class lexer {
 public:
  explicit lexer(std::string_view text) : text_(text) {}

  result<std::vector<token>> run() {
    std::vector<token> found;
    for (;;) {
      skip_space();
      token next{token_kind::end, position()};
      if (at_ < text_.size()) take(next);
      if (failure_) return *std::move(failure_);
      found.push_back(std::move(next));
      if (found.back().kind == token_kind::end) return found;
    }
  }

 private:
  [[nodiscard]] std::uint32_t position() const { return static_cast<std::uint32_t>(at_ + 1); }
  [[nodiscard]] char peek(std::size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }
  void fail(std::uint32_t position, std::string_view message, status code = status::argument) {
    if (!failure_) failure_ = fault_at(position, message, code);
  }

  void skip_space() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '/' && peek(1) == '/') {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f') {
        ++at_;
      } else {
        return;
      }
    }
  }

  void take(token& to) {
    const char c = peek();
    if (is_digit(c) || (c == '.' && is_digit(peek(1)))) return take_number(to);
    const std::size_t prefix = string_prefix();
    if (prefix != std::string_view::npos) return take_string(to, prefix);
    if (is_letter(c)) {
      to.kind = token_kind::name;
      while (is_letter(peek()) || is_digit(peek())) to.text += text_[at_++];
      return;
    }
    take_sign(to);
  }

  void take_sign(token& to) {
    constexpr std::array<std::string_view, 6> pairs{"&&", "||", "==", "!=", "<=", ">="};
    constexpr std::string_view single = "!<>+-*/%?:.,()[]{}";
    to.kind = token_kind::sign;
    for (const std::string_view pair : pairs) {
      if (!text_.substr(at_).starts_with(pair)) continue;
      to.text = pair;
      at_ += 2;
      return;
    }
    if (single.find(peek()) == std::string_view::npos || at_ >= text_.size() || peek() == '\0') {
      return fail(position(), "a character that begins nothing: " + base::character_name(text_, at_));
    }
    to.text = text_[at_++];
  }

  void take_number(token& to) {
    to.kind = token_kind::integer;
    const auto digits = [&] {
      while (is_digit(peek())) to.text += text_[at_++];
    };
    if (peek() == '0' && (peek(1) == 'x' || peek(1) == 'X')) {
      at_ += 2;
      to.text = "0x";
      while (hex_value(peek()) >= 0) to.text += text_[at_++];
      if (to.text.size() == 2) fail(to.position, "a hexadecimal number needs digits");
    } else {
      digits();
      if (peek() == '.' && is_digit(peek(1))) {
        to.kind = token_kind::real;
        to.text += text_[at_++];
        digits();
      }
      const std::size_t sign = peek(1) == '+' || peek(1) == '-' ? 2 : 1;
      if ((peek() == 'e' || peek() == 'E') && is_digit(peek(sign))) {
        to.kind = token_kind::real;
        to.text += 'e';
        if (peek(1) == '-') to.text += '-';
        at_ += sign;
        digits();
      }
    }
    if (to.kind == token_kind::integer && (peek() == 'u' || peek() == 'U')) {
      to.kind = token_kind::natural;
      ++at_;
    }
    if (is_letter(peek()) || is_digit(peek())) fail(position(), "a number ends in letters");
  }

  /// Letters before the quotes of a string; npos: no string begins here.
  [[nodiscard]] std::size_t string_prefix() const {
    std::size_t length = 0;
    while (length < 3 && std::string_view("rRbB").find(peek(length)) != std::string_view::npos && peek(length) != '\0')
      ++length;
    const char quote = peek(length);
    return length < 3 && (quote == '"' || quote == '\'') ? length : std::string_view::npos;
  }

  void take_string(token& to, std::size_t prefix) {
    const std::string_view letters = text_.substr(at_, prefix);
    const bool raw = letters.find_first_of("rR") != std::string_view::npos;
    if (letters.find_first_of("bB") != std::string_view::npos) {
      return fail(to.position, "bytes are not supported", status::unsupported);
    }
    if (prefix > 1) return fail(to.position, "a string has one letter in front of it at most");
    at_ += prefix;
    const char quote = peek();
    const bool triple = peek(1) == quote && peek(2) == quote;
    const std::string closing(triple ? 3U : 1U, quote);
    at_ += closing.size();
    to.kind = token_kind::text;
    while (!text_.substr(at_).starts_with(closing)) {
      if (at_ >= text_.size() || (!triple && (peek() == '\n' || peek() == '\r'))) {
        return fail(to.position, "a string without an end");
      }
      if (peek() != '\\' || raw) {
        to.text += text_[at_++];
        continue;
      }
      take_escape(to);
      if (failure_) return;
    }
    at_ += closing.size();
  }

  void take_escape(token& to) {
    constexpr std::string_view names = "abfnrtv\\?\"'`";
    constexpr std::string_view means = "\a\b\f\n\r\t\v\\?\"'`";
    const std::uint32_t position_of = position();
    ++at_;
    const char c = peek();
    const std::size_t known = c == '\0' ? std::string_view::npos : names.find(c);
    if (known != std::string_view::npos) {
      to.text += means[known];
      ++at_;
      return;
    }
    std::size_t digits = 0;
    std::uint32_t base = 16;
    if (c == 'x' || c == 'X') digits = 2;
    if (c == 'u') digits = 4;
    if (c == 'U') digits = 8;
    if (digits > 0) {
      ++at_;
    } else if (c >= '0' && c <= '3') {
      digits = 3;
      base = 8;
    }
    std::uint64_t point = 0;
    for (std::size_t i = 0; i < digits; ++i, ++at_) {
      const int digit = hex_value(peek());
      if (digit < 0 || static_cast<std::uint32_t>(digit) >= base) digits = 0;
      point = point * base + static_cast<std::uint64_t>(std::max(digit, 0));
    }
    if (digits == 0 || point > 0x10FFFF || (point >= 0xD800 && point <= 0xDFFF)) {
      return fail(position_of, "a string has no such escape");
    }
    append_utf8(to.text, static_cast<std::uint32_t>(point));
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::optional<error> failure_;
};

}  // namespace

error fault_at(std::uint32_t position, std::string_view message, status code) {
  return {code, "at " + std::to_string(position) + ": " + std::string(message)};
}

result<std::vector<token>> split(std::string_view text) { return lexer(text).run(); }

}  // namespace kaisched::model::cel
