#include "policy/devices/partition/mig.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <utility>

#include "policy/devices/vendor/words.hpp"

namespace kaisched::devices {

namespace {

bool is_free(const slice_range& place, std::span<const slice_range> occupied) {
  return std::none_of(occupied.begin(), occupied.end(),
                      [&](const slice_range& taken) { return taken.overlaps(place); });
}

std::vector<slice_range> ordered_placements(const slice_profile& profile) {
  std::vector<slice_range> ordered = profile.placements;
  const bool behind = starts_behind(profile);
  std::stable_sort(ordered.begin(), ordered.end(), [&](const slice_range& a, const slice_range& b) {
    return behind ? a.start > b.start : a.start < b.start;
  });
  return ordered;
}

bool is_named(const divided_model& one, std::string_view model) {
  return std::any_of(one.models.begin(), one.models.end(),
                     [&](const std::string& part) { return contains_any_case(model, part); });
}

/// The number before "GB" in a name such as NVIDIA-A100-SXM4-80GB, in bytes; 0 if there is none. What is sold as so
/// many gigabytes has about so many gibibytes.
std::int64_t memory_in_name(std::string_view model) {
  for (std::size_t i = 0; i < model.size(); ++i) {
    std::int64_t number = 0;
    const auto [end, failure] = std::from_chars(model.data() + i, model.data() + model.size(), number);
    if (failure != std::errc{} || number <= 0 || number > 10000) continue;
    const std::string_view rest = model.substr(static_cast<std::size_t>(end - model.data()));
    if (rest.size() >= 2 && contains_any_case(rest.substr(0, 2), "gb")) return number * 1024 * mebibyte;
    i = static_cast<std::size_t>(end - model.data()) - 1;
  }
  return 0;
}

}  // namespace

bool starts_behind(const slice_profile& profile) {
  return profile.name.starts_with("1g.") || profile.name.starts_with("3g.");
}

std::optional<slice_range> find_placement(const slice_profile& profile, std::span<const slice_range> occupied) {
  for (const slice_range& place : ordered_placements(profile)) {
    if (is_free(place, occupied)) return place;
  }
  return std::nullopt;
}

std::optional<profile_choice> smallest_profile(std::span<const slice_profile> profiles,
                                               std::span<const slice_range> occupied, std::int64_t memory) {
  std::vector<const slice_profile*> ordered;
  for (const slice_profile& one : profiles) {
    if (one.memory >= memory) ordered.push_back(&one);
  }
  std::stable_sort(ordered.begin(), ordered.end(), [](const slice_profile* a, const slice_profile* b) {
    return std::pair(a->memory, a->slices) < std::pair(b->memory, b->slices);
  });
  for (const slice_profile* one : ordered) {
    if (const std::optional<slice_range> place = find_placement(*one, occupied)) return profile_choice{one, *place};
  }
  return std::nullopt;
}

std::vector<slice_range> occupied_slices(const device& divided) {
  std::vector<slice_range> occupied;
  occupied.reserve(divided.instances.size());
  for (const slice_instance& one : divided.instances) occupied.push_back(one.placement);
  return occupied;
}

const divided_model* find_divided_model(std::span<const divided_model> among, std::string_view model,
                                        std::int64_t memory) {
  const divided_model* best = nullptr;
  const auto distance = [&](const divided_model& one) { return std::abs(one.memory - memory); };
  for (const divided_model& one : among) {
    if (is_named(one, model) && (best == nullptr || distance(one) < distance(*best))) best = &one;
  }
  return best;
}

const divided_model* told_divided_model(std::span<const divided_model> among, std::string_view model,
                                        std::int64_t memory) {
  if (memory <= 0) memory = memory_in_name(model);
  if (memory > 0) return find_divided_model(among, model, memory);
  const divided_model* found = nullptr;
  for (const divided_model& one : among) {
    if (!is_named(one, model)) continue;
    if (found != nullptr) return nullptr;  // of several sizes, and nobody says which
    found = &one;
  }
  return found;
}

}  // namespace kaisched::devices
