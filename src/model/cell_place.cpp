#include "model/cell_place.hpp"

#include <charconv>
#include <cstddef>
#include <system_error>

namespace kaisched::model {

namespace {

constexpr std::string_view cell_key = "cell=";
constexpr std::string_view number_key = ",number=";
constexpr std::string_view gpus_key = ",gpus=";

std::optional<std::uint32_t> whole_in(std::string_view text) {
  std::uint32_t value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

std::string text_of(const cell_place& place) {
  std::string text(cell_key);
  text.append(place.level).append(number_key).append(std::to_string(place.cell)).append(gpus_key);
  for (std::size_t i = 0; i < place.positions.size(); ++i)
    text.append(i == 0 ? "" : "+").append(std::to_string(place.positions[i]));
  return text;
}

std::optional<cell_place> parse_cell_place(std::string_view text) {
  const std::size_t gpus = text.rfind(gpus_key);
  const std::size_t cell = gpus == std::string_view::npos ? gpus : text.rfind(number_key, gpus);
  if (!text.starts_with(cell_key) || cell == std::string_view::npos || cell < cell_key.size()) return std::nullopt;
  cell_place made;
  made.level = text.substr(cell_key.size(), cell - cell_key.size());
  const auto at = whole_in(text.substr(cell + number_key.size(), gpus - cell - number_key.size()));
  if (!at || made.level.empty()) return std::nullopt;
  made.cell = *at;
  std::string_view rest = text.substr(gpus + gpus_key.size());
  for (bool more = true; more;) {
    const std::size_t plus = rest.find('+');
    const auto position = whole_in(rest.substr(0, plus));
    if (!position) return std::nullopt;
    made.positions.push_back(*position);
    more = plus != std::string_view::npos;
    if (more) rest.remove_prefix(plus + 1);
  }
  return made;
}

}  // namespace kaisched::model
