#include "io/kubernetes/checks.hpp"

#include <algorithm>

namespace kaisched::io::kubernetes {

std::vector<std::string> names_in(std::string_view list) {
  constexpr std::string_view blanks = " \t\r\n";
  std::vector<std::string> names;
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    std::string_view name = list.substr(0, comma);
    list.remove_prefix(std::min(comma + 1, list.size()));
    name.remove_prefix(std::min(name.find_first_not_of(blanks), name.size()));
    name = name.substr(0, name.find_last_not_of(blanks) + 1);
    if (!name.empty()) names.emplace_back(name);
  }
  return names;
}

}  // namespace kaisched::io::kubernetes
