#pragma once
/// @file
/// Where a pod is in the cells of its virtual cluster, as decisions tell it and hosts give it back.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kaisched::model {

/// In the cell `cell` of those that the virtual cluster owns at a level, the GPUs at these positions.
struct cell_place {
  std::string level;
  std::uint32_t cell = 0;
  std::vector<std::uint32_t> positions;
  friend bool operator==(const cell_place&, const cell_place&) = default;
};
/// `cell=rack,number=0,gpus=8+9`.
[[nodiscard]] std::string text_of(const cell_place& place);
/// Nothing if the text is another one.
[[nodiscard]] std::optional<cell_place> parse_cell_place(std::string_view text);

}  // namespace kaisched::model
