#include "policy/devices/partition/mig.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>

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

bool place_all(std::span<const slice_profile* const> wanted, std::vector<slice_range>& occupied) {
  if (wanted.empty()) return true;
  for (const slice_range& place : ordered_placements(*wanted.front())) {
    if (!is_free(place, occupied)) continue;
    occupied.push_back(place);
    if (place_all(wanted.subspan(1), occupied)) return true;
    occupied.pop_back();
  }
  return false;
}

struct layout_walk {
  std::span<const slice_profile> profiles;
  const std::function<void(const slice_layout&)>& visit;
  slice_layout layout{};

  /// All layouts whose further instances start at `from` or later: every set has one order by start.
  void go_on(std::int64_t from, std::int64_t end) {
    visit(layout);
    for (std::int64_t start = from; start < end; ++start) {
      for (std::size_t p = 0; p < profiles.size(); ++p) {
        for (const slice_range& place : profiles[p].placements) {
          if (place.start != start) continue;
          layout.emplace_back(p, place);
          go_on(place.start + place.size, end);
          layout.pop_back();
        }
      }
    }
  }
};

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

const slice_profile* find_profile(std::span<const slice_profile> among, std::string_view name) {
  const auto found = std::find_if(among.begin(), among.end(), [&](const slice_profile& p) { return p.name == name; });
  return found == among.end() ? nullptr : &*found;
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

bool can_place(std::span<const slice_profile> profiles, std::span<const slice_range> occupied,
               std::span<const std::string_view> wanted) {
  std::vector<const slice_profile*> found;
  for (const std::string_view name : wanted) {
    found.push_back(find_profile(profiles, name));
    if (found.back() == nullptr) return false;
  }
  // Those with the fewest places first: dead ends show early.
  std::stable_sort(found.begin(), found.end(), [](const slice_profile* a, const slice_profile* b) {
    return a->placements.size() < b->placements.size();
  });
  std::vector<slice_range> taken(occupied.begin(), occupied.end());
  return place_all(found, taken);
}

void for_each_layout(std::span<const slice_profile> profiles, const std::function<void(const slice_layout&)>& visit) {
  std::int64_t end = 0;
  for (const slice_profile& one : profiles) {
    for (const slice_range& place : one.placements) end = std::max(end, place.start + 1);
  }
  layout_walk{profiles, visit}.go_on(0, end);
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

std::optional<division_change> cheapest_change(const device& divided, const slice_profile& wanted,
                                               std::span<const std::int64_t> costs) {
  std::optional<division_change> best;
  for (const slice_range& place : ordered_placements(wanted)) {
    division_change tried{{&wanted, place}, {}, 0};
    bool possible = true;
    for (std::size_t i = 0; i < divided.instances.size(); ++i) {
      if (!divided.instances[i].placement.overlaps(place)) continue;
      possible = possible && costs[i] >= 0;
      tried.drained.push_back(i);
      tried.cost += costs[i];
    }
    if (!possible) continue;
    if (!best || std::pair(tried.cost, tried.drained.size()) < std::pair(best->cost, best->drained.size())) {
      best = std::move(tried);
    }
  }
  return best;
}

}  // namespace kaisched::devices
