#pragma once
/// @file
/// Who has to agree before the pods of a group may start.

#include <string>
#include <string_view>
#include <vector>

namespace kaisched::io::kubernetes {

/// Of a pod group, or of what owns the pods of a group that is made for them: names, separated by commas.
inline constexpr std::string_view checks_annotation = "kaisched.io/checks";

/// The names in such a list, in its order and without blanks around them.
[[nodiscard]] std::vector<std::string> names_in(std::string_view list);

}  // namespace kaisched::io::kubernetes
