#include "model/shape.hpp"

#include <algorithm>
#include <charconv>
#include <system_error>

#include "base/text.hpp"

namespace kaisched::model {

namespace {

constexpr char between = 'x';

error no_shape(std::string_view text, std::string_view why) {
  return error{status::argument, "'" + base::shown(text) + "' is no shape: " + std::string(why), {}};
}

/// Numbers joined by x; the number of them, or 0 if the text is none or has one that is too large.
std::uint32_t read_numbers(std::string_view text, extents& into, std::uint32_t most) {
  std::uint32_t count = 0;
  while (count < max_axes) {
    const std::size_t end = std::min(text.find(between), text.size());
    const std::string_view one = text.substr(0, end);
    std::uint32_t value = 0;
    const auto [stop, fault] = std::from_chars(one.data(), one.data() + one.size(), value);
    if (fault != std::errc{} || stop != one.data() + one.size() || value > most) return 0;
    into[count++] = value;
    if (end == text.size()) return count;
    text.remove_prefix(end + 1);
  }
  return 0;
}

std::string joined(const extents& numbers, std::uint32_t count) {
  std::string text;
  for (std::uint32_t i = 0; i < count; ++i) {
    if (i > 0) text += between;
    text += std::to_string(numbers[i]);
  }
  return text;
}

}  // namespace

std::uint32_t level_shape::positions() const {
  if (kind == shape_kind::block) return max_block_positions;
  std::uint32_t product = 1;  // at most max_grid_positions
  for (const std::uint32_t one : size) product *= one;
  return product;
}

result<level_shape> parse_shape(std::string_view text) {
  const std::size_t colon = std::min(text.find(':'), text.size());
  const std::string_view name = text.substr(0, colon);
  const bool is_block = name == "block";
  const bool has_one_axis = is_block || name == "line" || name == "ring";
  const bool is_torus = name == "torus" || name == "ring";
  if (!has_one_axis && name != "mesh" && name != "torus") {
    return no_shape(text, "expected block:N, line:N, ring:N, mesh:NxN or torus:NxNxN");
  }
  level_shape made;
  made.kind = is_block ? shape_kind::block : is_torus ? shape_kind::torus : shape_kind::mesh;
  const std::uint32_t most = is_block ? max_block_positions : max_grid_positions;
  made.axes = colon == text.size() ? 0 : read_numbers(text.substr(colon + 1), made.size, most);
  if (made.axes == 0) {
    return no_shape(text, "after the colon come up to " + std::to_string(max_axes) + " numbers up to " +
                              std::to_string(most) + ", joined by x");
  }
  if (has_one_axis && made.axes > 1) return no_shape(text, "it has one number");
  std::uint64_t positions = 1;
  for (const std::uint32_t one : made.size) {
    if (one == 0) return no_shape(text, "it has a number that is 0");
    positions *= one;
    if (positions > most) return no_shape(text, "it has more than " + std::to_string(most) + " positions");
  }
  return made;
}

std::string shape_text(const level_shape& shape) {
  if (!shape.is_given()) return {};
  std::string text = "block";
  if (shape.kind == shape_kind::mesh) text = shape.axes == 1 ? "line" : "mesh";
  if (shape.kind == shape_kind::torus) text = shape.axes == 1 ? "ring" : "torus";
  return text + ":" + joined(shape.size, shape.axes);
}

result<node_position> parse_position(std::string_view text) {
  node_position made;
  made.axes = read_numbers(text, made.at, max_block_positions - 1);
  if (made.axes > 0) return made;
  return error{status::argument,
               "'" + base::shown(text) + "' is no position: expected up to " + std::to_string(max_axes) +
                   " numbers below " + std::to_string(max_block_positions) + ", joined by x",
               {}};
}

std::string position_text(const node_position& position) { return joined(position.at, position.axes); }

std::uint32_t cell_of(const level_shape& shape, const node_position& position) {
  if (!shape.is_given() || position.axes != shape.axes) return no_cell;
  if (shape.kind == shape_kind::block) return position.at[0];
  std::uint32_t cell = 0;
  for (std::uint32_t axis = 0; axis < max_axes; ++axis) {
    if (position.at[axis] >= shape.size[axis]) return no_cell;
    cell = cell * shape.size[axis] + position.at[axis];
  }
  return cell;
}

}  // namespace kaisched::model
