#include "base/utf8.hpp"

#include <array>
#include <iterator>

#include <fmt/format.h>

#include "base/bidi.hpp"

namespace kaisched::base {

utf8_character first_utf8_character(std::string_view text) noexcept {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80U) return {lead, 1};
  const std::size_t length = lead >= 0xF0U ? 4 : lead >= 0xE0U ? 3 : 2;
  if (lead < 0xC2U || lead > 0xF4U || text.size() < length) return {};
  char32_t code = lead & (0x7FU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0U) != 0x80U) return {};
    code = code << 6U | (byte(i) & 0x3FU);
  }
  constexpr std::array<char32_t, 5> least{0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
  if (code < least[length] || surrogate || code > 0x10FFFF) return {};
  return {code, length};
}

std::size_t find_invalid_utf8(std::string_view text) noexcept {
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = first_utf8_character(text.substr(i)).length;
    if (length == 0) return i;
    i += length;
  }
  return std::string_view::npos;
}

std::size_t utf8_length_below(std::string_view text, std::size_t most) noexcept {
  if (text.size() <= most) return text.size();
  while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xC0U) == 0x80U) --most;
  return most;
}

std::string printable(std::string_view text, std::size_t longest) {
  std::string shown;
  while (!text.empty()) {
    const utf8_character c = first_utf8_character(text);
    const bool is_control = c.code < 0x20 || (c.code >= 0x7F && c.code < 0xA0) || reorders_text(c.code);
    const bool is_shown = c.length > 0 && !is_control;
    const std::size_t length = c.length > 0 ? c.length : 1;
    if (shown.size() + (is_shown ? length : 4) > longest) return shown + "...";
    if (is_shown) {
      shown += text.substr(0, length);
    } else {
      for (const char byte : text.substr(0, length)) {
        shown += fmt::format("\\x{:02X}", static_cast<unsigned>(static_cast<unsigned char>(byte)));
      }
    }
    text.remove_prefix(length);
  }
  return shown;
}

}  // namespace kaisched::base
