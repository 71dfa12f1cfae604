#pragma once
/// @file
/// Bars of characters.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cli/terminal.hpp"

namespace kaisched::cli {

/// The characters of all charts.
namespace glyph {
inline constexpr std::string_view held = "█";
inline constexpr std::string_view started = "▒";
inline constexpr std::string_view free = "·";
inline constexpr std::string_view fair = "◆";
inline constexpr std::string_view quota = "┃";
}  // namespace glyph

/// A row of cells in which later layers cover earlier ones.
class bar {
 public:
  /// `scale` is the amount that fills all cells.
  bar(std::size_t cells, std::int64_t scale);

  /// Fills the cells from one amount to another. A bar from zero has at least one cell.
  void fill(std::int64_t from, std::int64_t to, std::string_view glyph, style as);
  /// One mark, in the cell where a bar of that length ends.
  void mark(std::int64_t at, std::string_view glyph, style as);

  [[nodiscard]] std::string drawn(const terminal& out) const;

 private:
  struct cell {
    std::string_view glyph;
    style as;
  };
  [[nodiscard]] std::size_t cell_of(std::int64_t amount) const;

  std::int64_t scale_;
  std::vector<cell> cells_;
};

}  // namespace kaisched::cli
