#include "observability/log_text.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace shim {

namespace {

/// Messages name what users have written, however long that is.
constexpr std::size_t most_words = 4096;

/// Characters in UTF-8 that change the direction of the text around them, or begin another line.
constexpr std::array<std::string_view, 14> reordering{
    "\xD8\x9C",     "\xE2\x80\x8E", "\xE2\x80\x8F", "\xE2\x80\xA8", "\xE2\x80\xA9", "\xE2\x80\xAA", "\xE2\x80\xAB",
    "\xE2\x80\xAC", "\xE2\x80\xAD", "\xE2\x80\xAE", "\xE2\x81\xA6", "\xE2\x81\xA7", "\xE2\x81\xA8", "\xE2\x81\xA9"};

/// Bytes at the beginning that must not be written as they are.
std::size_t hidden_bytes(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  if (byte(0) < 0x20 || byte(0) == 0x7F) return 1;
  if (text.size() > 1 && byte(0) == 0xC2 && byte(1) >= 0x80 && byte(1) < 0xA0) return 2;  // controls of 8 bits
  const auto* const found =
      std::find_if(reordering.begin(), reordering.end(), [&](std::string_view one) { return text.starts_with(one); });
  return found == reordering.end() ? 0 : found->size();
}

}  // namespace

std::string bounded(std::string_view words) {
  if (words.size() <= most_words) return std::string(words);
  return fmt::format("{}... ({} bytes)", words.substr(0, most_words), words.size());
}

std::string printable(std::string_view words) {
  const std::string all = bounded(words);
  std::string line;
  for (std::string_view left = all; !left.empty();) {
    const std::size_t hidden = hidden_bytes(left);
    for (const char c : left.substr(0, hidden)) line += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    if (hidden == 0) line += left.front();
    left.remove_prefix(std::max<std::size_t>(hidden, 1));
  }
  return line;
}

}  // namespace shim
