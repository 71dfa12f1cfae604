#include "hami/hami_grants.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "api_server/text_parts.hpp"
#include "hami/hami_annotations.hpp"

namespace shim::hami {

namespace {

/// Larger ones are no number of bytes any more when they are MiB.
constexpr std::int64_t most_amount = std::numeric_limits<std::int64_t>::max() >> 20U;

std::optional<std::int64_t> read_amount(std::string_view text) {
  const auto amount = read_number<std::int64_t>(text);
  return amount && *amount >= 0 && *amount <= most_amount ? amount : std::nullopt;
}

/// Fields behind the fourth belong to modes that say more.
std::optional<device_grant> read_grant(std::string_view text) {
  const std::string_view id = take_part(text, ',');
  const std::string_view type = take_part(text, ',');
  const auto memory = read_amount(take_part(text, ','));
  const auto cores = read_amount(take_part(text, ','));
  if (id.empty() || !memory || !cores) return std::nullopt;
  return device_grant{std::string(id), std::string(type), *memory, *cores};
}

}  // namespace

std::optional<container_grants> read_grants(std::string_view text) {
  container_grants made;
  while (!text.empty()) {
    std::string_view container = take_part(text, ';');
    std::vector<device_grant>& of = made.emplace_back();
    while (!container.empty()) {
      const std::string_view device = take_part(container, ':');
      if (device.empty()) continue;
      std::optional<device_grant> one = read_grant(device);
      if (!one) return std::nullopt;
      of.push_back(std::move(*one));
    }
  }
  return made;
}

std::string without_container(std::string_view text, std::size_t place) {
  std::string made;
  for (std::size_t at = 0; !text.empty(); ++at) {
    const std::string_view container = take_part(text, ';');
    if (at != place) made += container;
    made += ';';
  }
  return made;
}

bool has_devices_left(const nlohmann::json& annotations) {
  for (const auto& [key, value] : annotations.items()) {
    if (locks_for({{key, value}}).empty() || !value.is_string()) continue;
    if (value.get_ref<const std::string&>().find(',') != std::string::npos) return true;
  }
  return false;
}

}  // namespace shim::hami
