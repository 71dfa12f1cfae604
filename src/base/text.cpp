#include "base/text.hpp"

#include "base/utf8.hpp"

namespace kaisched::base {

namespace {

constexpr std::string_view replacement = "\xEF\xBF\xBD";

bool is_control(char32_t code) { return code < 0x20U || (code >= 0x7FU && code < 0xA0U); }

}  // namespace

std::size_t find_control(std::string_view text) noexcept {
  for (std::size_t i = 0; i < text.size();) {
    const utf8_character c = first_utf8_character(text.substr(i));
    if (c.length == 0 || is_control(c.code)) return i;
    i += c.length;
  }
  return std::string_view::npos;
}

std::string character_name(std::string_view text, std::size_t at) {
  const char32_t code = first_utf8_character(text.substr(at)).code;
  std::string name = "U+";
  for (unsigned shift = code > 0xFFFFU ? 24 : 16; shift > 0;) {
    shift -= 4;
    const unsigned digit = static_cast<unsigned>(code >> shift) & 0xFU;
    if (shift < 16 || digit != 0) name += "0123456789ABCDEF"[digit];
  }
  return name;
}

std::string shown(std::string_view text) {
  constexpr std::size_t longest = 64;
  constexpr std::size_t one_more = 8;
  std::string cut = printable(text, longest);
  if (cut != printable(text, longest + one_more)) cut += " (" + std::to_string(text.size()) + " bytes)";
  return cut;
}

std::string cleaned(std::string_view text) {
  std::string good;
  for (std::size_t i = 0; i < text.size();) {
    const utf8_character c = first_utf8_character(text.substr(i));
    const bool stays = c.length != 0 && !is_control(c.code);
    good += stays ? text.substr(i, c.length) : replacement;
    i += c.length == 0 ? 1 : c.length;
  }
  return good;
}

std::vector<std::string> split_names(std::string_view text) {
  std::vector<std::string> names;
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    std::string_view name = text.substr(0, comma);
    while (!name.empty() && name.front() == ' ') name.remove_prefix(1);
    while (!name.empty() && name.back() == ' ') name.remove_suffix(1);
    if (!name.empty()) names.emplace_back(name);
    if (comma == std::string_view::npos) break;
    text.remove_prefix(comma + 1);
  }
  return names;
}

}  // namespace kaisched::base
