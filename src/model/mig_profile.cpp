#include "model/mig_profile.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include <kaisched/quantity.hpp>

namespace kaisched::model {

namespace {

constexpr std::string_view prefix = "nvidia.com/mig-";
constexpr std::int64_t most_slices = 7;
constexpr std::int64_t most_slices_of_small = 4;
/// Gigabytes per slice of the GPUs that have four slices instead of seven: A30, RTX PRO 6000.
constexpr std::int64_t four_slices_gb[] = {6, 24};
constexpr std::int64_t largest = 1'000'000;
constexpr std::int64_t most_starts = 64;

/// A number without sign or leading zero before `unit`, both taken off the text; 0 if there is none.
std::int64_t take_number(std::string_view& text, std::string_view unit) {
  std::int64_t value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc{} || text.front() == '-' || value > largest) return 0;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  if (!text.starts_with(unit)) return 0;
  text.remove_prefix(unit.size());
  return value;
}

std::int64_t slices_of_gpu(const mig_profile& p) {
  for (const std::int64_t gb : four_slices_gb) {
    if (p.slices <= most_slices_of_small && p.memory_gb == p.slices * gb) return most_slices_of_small;
  }
  return most_slices;
}

}  // namespace

std::string_view profile_name_of(std::string_view resource) {
  return is_mig_resource(resource) ? resource.substr(prefix.size()) : std::string_view{};
}

std::optional<mig_instance> parse_mig_instance(std::string_view text) {
  const std::size_t at = text.rfind('@');
  if (at == std::string_view::npos || at == 0) return std::nullopt;
  std::string_view number = text.substr(at + 1);
  const std::string_view profile = text.substr(0, at);
  if (number.empty() || (number.size() > 1 && number.front() == '0')) return std::nullopt;
  if (profile.find_first_of("@/") != std::string_view::npos) return std::nullopt;
  const std::int64_t start = take_number(number, "");
  if (!number.empty() || start >= most_starts || (start == 0 && text.substr(at + 1) != "0")) return std::nullopt;
  return mig_instance{std::string(profile), start};
}

std::string text_of(const mig_instance& one) { return one.profile + "@" + std::to_string(one.start); }

std::optional<placed_instance> parse_placed_instance(std::string_view text) {
  const std::size_t at = text.find('/');
  if (at == std::string_view::npos || at == 0) return std::nullopt;
  const std::string_view number = text.substr(0, at);
  std::uint32_t device = 0;
  const auto [end, failure] = std::from_chars(number.data(), number.data() + number.size(), device);
  if (failure != std::errc{} || end != number.data() + number.size() || device >= max_devices_per_node ||
      (number.size() > 1 && number.front() == '0')) {
    return std::nullopt;
  }
  std::optional<mig_instance> what = parse_mig_instance(text.substr(at + 1));
  if (!what) return std::nullopt;
  return placed_instance{device, std::move(*what)};
}

bool is_mig_resource(std::string_view name) { return name.starts_with(prefix); }

mig_profile mig_profile_of(std::string_view name) {
  if (!is_mig_resource(name)) return {};
  name.remove_prefix(prefix.size());
  if (name.empty()) return {};
  mig_profile p;
  p.slices = take_number(name, "g.");
  if (p.slices == 0 || name.empty()) return {};
  p.memory_gb = take_number(name, "gb");
  if (p.memory_gb == 0 || !name.empty()) return {};
  const std::int64_t all = slices_of_gpu(p);
  // Half of the memory of a device is 3 of its 7 slices: two such instances fill it.
  const bool half = all == most_slices && p.slices == 3;
  p.share = half ? whole_device / 2 : std::min(whole_device, p.slices * whole_device / all);
  return p;
}

}  // namespace kaisched::model
