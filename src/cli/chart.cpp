#include "cli/chart.hpp"

#include <algorithm>

namespace kaisched::cli {

bar::bar(std::size_t cells, std::int64_t scale)
    : scale_(std::max<std::int64_t>(scale, 1)), cells_(cells, {" ", style::plain}) {}

void bar::fill(std::int64_t from, std::int64_t to, std::string_view glyph, style as) {
  if (to <= from) return;
  const std::size_t first = cell_of(from);
  const std::size_t last = std::max(cell_of(to), from == 0 ? first + 1 : first);
  for (std::size_t i = first; i < std::min(last, cells_.size()); ++i) cells_[i] = {glyph, as};
}

void bar::mark(std::int64_t at, std::string_view glyph, style as) {
  const std::size_t end = cell_of(at);
  cells_[end == 0 ? 0 : end - 1] = {glyph, as};
}

std::string bar::drawn(const terminal& out) const {
  std::string text;
  for (std::size_t i = 0; i < cells_.size();) {
    std::string same;
    const style as = cells_[i].as;
    for (; i < cells_.size() && cells_[i].as == as; ++i) same += cells_[i].glyph;
    text += out.paint(as, same);
  }
  return text;
}

std::size_t bar::cell_of(std::int64_t amount) const {
  const auto cells = static_cast<double>(cells_.size());
  const double exact = static_cast<double>(amount) * cells / static_cast<double>(scale_) + 0.5;
  return static_cast<std::size_t>(std::clamp(exact, 0.0, cells));
}

}  // namespace kaisched::cli
