#include "policy/devices/vendor/words.hpp"

#include <algorithm>
#include <array>

namespace kaisched::devices {

namespace {

char upper(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; }

template <std::size_t N>
bool is_one_of(std::string_view text, const std::array<std::string_view, N>& words) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

}  // namespace

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view space = " \t\n\v\f\r";
  const std::size_t begin = text.find_first_not_of(space);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(space) - begin + 1);
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

std::string upper(std::string_view text) {
  std::string made(text);
  std::transform(made.begin(), made.end(), made.begin(), [](char c) { return upper(c); });
  return made;
}

bool contains_any_case(std::string_view text, std::string_view part) {
  const auto found = std::search(text.begin(), text.end(), part.begin(), part.end(),
                                 [](char a, char b) { return upper(a) == upper(b); });
  return found != text.end() || part.empty();
}

bool is_true(std::string_view text) {
  return is_one_of(text, std::array<std::string_view, 6>{"1", "t", "T", "true", "TRUE", "True"});
}
bool is_false(std::string_view text) {
  return is_one_of(text, std::array<std::string_view, 6>{"0", "f", "F", "false", "FALSE", "False"});
}

}  // namespace kaisched::devices
