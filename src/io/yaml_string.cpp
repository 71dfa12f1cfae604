#include "io/yaml_string.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>

#include <fmt/format.h>

#include "base/utf8.hpp"

namespace kaisched::io {

namespace {

/// Words that YAML 1.1 or 1.2 reads as something else than text.
bool is_reserved(std::string_view word) {
  constexpr std::array<std::string_view, 9> reserved{"true", "false", "null", "yes", "no", "on", "off", "y", "n"};
  return std::any_of(reserved.begin(), reserved.end(), [&](std::string_view r) {
    return word.size() == r.size() && std::equal(word.begin(), word.end(), r.begin(), [](char a, char b) {
             return (a >= 'A' && a <= 'Z' ? static_cast<char>(a - 'A' + 'a') : a) == b;
           });
  });
}

bool is_simple_word(std::string_view text) {
  constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
  constexpr std::string_view more = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-";
  return !text.empty() && text.find_first_not_of(more) == std::string_view::npos &&
         letters.find(text.front()) != std::string_view::npos && !is_reserved(text);
}

/// Characters that YAML wants escaped beyond those of JSON.
bool is_unprintable(char32_t code) {
  return code < 0x20 || (code >= 0x7F && code <= 0x9F) || code == 0x2028 || code == 0x2029 || code == 0xFEFF ||
         code == 0xFFFE || code == 0xFFFF;
}

}  // namespace

void append_yaml_string(std::string& out, std::string_view text) {
  if (is_simple_word(text)) {
    out += text;
    return;
  }
  out += '"';
  while (!text.empty()) {
    const base::utf8_character c = base::first_utf8_character(text);
    const std::size_t length = std::max<std::size_t>(c.length, 1);  // bytes that are no UTF-8 stay what they are
    if (c.code == '"' || c.code == '\\') {
      out += '\\';
      out += text.front();
    } else if (c.code == '\n') {
      out += "\\n";
    } else if (c.code == '\t') {
      out += "\\t";
    } else if (c.length > 0 && is_unprintable(c.code)) {
      out += fmt::format("\\u{:04x}", static_cast<std::uint32_t>(c.code));
    } else {
      out += text.substr(0, length);
    }
    text.remove_prefix(length);
  }
  out += '"';
}

}  // namespace kaisched::io
