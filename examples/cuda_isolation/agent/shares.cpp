#include "shares.hpp"

#include <algorithm>
#include <cstddef>
#include <kaisched_ledger/ledger.h>
#include <map>

namespace cuda_agent {

namespace {

constexpr std::int64_t whole = KL_WHOLE_CARD;

std::int64_t weight_of(const share_wish& w) {
  return std::max<std::int64_t>(w.weight > 0 ? w.weight : w.cap_permille, 1);
}

std::int64_t cap_of(const share_wish& w) { return std::min(w.cap_permille, most_shared_permille); }

/// What a tenant is expected to want until the next look. Who took nearly all that it might have, or more than before,
/// wants more; others get a little on top of what they took.
std::int64_t demand_of(const share_wish& w) {
  if (!w.active && w.used_permille <= 0) return 0;
  if (w.used_permille < 0 || w.present_permille < 0 || w.present_permille >= whole) return cap_of(w);
  const std::int64_t before = std::max<std::int64_t>(w.before_permille, 0), used = w.used_permille;
  const bool grows = used > before + before / 16 + 2 * least_permille;
  if (grows || used * 10 >= w.present_permille * 9) return cap_of(w);
  return std::min(cap_of(w), used + used / 8 + 2 * least_permille);
}

/// Divides `room` among those of one priority by weight, nobody getting more than it wants. What it gives is in
/// `taken`; returns what of it is left.
std::int64_t fill(const std::vector<share_wish>& wishes, std::vector<std::size_t> open, std::int64_t room,
                  std::vector<std::int64_t>& taken) {
  while (!open.empty()) {
    std::int64_t weights = 0, given = 0;
    for (const std::size_t i : open) weights += weight_of(wishes[i]);
    const auto content = [&](std::size_t i) { return demand_of(wishes[i]) <= room * weight_of(wishes[i]) / weights; };
    std::vector<std::size_t> rest;
    for (const std::size_t i : open) {
      if (!content(i)) {
        rest.push_back(i);
        continue;
      }
      taken[i] = demand_of(wishes[i]);
      given += taken[i];
    }
    if (given == 0 && rest.size() == open.size()) {
      for (const std::size_t i : rest) {
        taken[i] = room * weight_of(wishes[i]) / weights;
        given += taken[i];
      }
      return room - given;
    }
    room -= given;
    open = std::move(rest);
  }
  return room;
}

bool ordered(const std::vector<share_wish>& wishes) {
  return std::any_of(wishes.begin(), wishes.end(), [&](const share_wish& w) {
    return w.priority != wishes.front().priority || (w.weight > 0 && w.weight != w.cap_permille);
  });
}

}  // namespace

std::vector<std::int64_t> share_out(const std::vector<share_wish>& wishes) {
  std::vector<std::int64_t> out, taken(wishes.size(), 0);
  for (const share_wish& w : wishes) out.push_back(w.cap_permille);
  if (wishes.size() < 2 || !ordered(wishes)) return out;
  std::map<std::int32_t, std::vector<std::size_t>, std::greater<>> classes;
  for (std::size_t i = 0; i < wishes.size(); ++i) classes[wishes[i].priority].push_back(i);
  std::int64_t room = whole;
  for (const auto& [priority, members] : classes) {
    const std::int64_t before = room;
    std::int64_t busy = 0;  // weights of those who want something
    for (const std::size_t i : members)
      if (demand_of(wishes[i]) > 0) busy += weight_of(wishes[i]);
    room = fill(wishes, members, room, taken);
    for (const std::size_t i : members) {
      // Also who wants less now, or nothing, may begin with what is its own.
      const share_wish& w = wishes[i];
      const std::int64_t weights = busy + (demand_of(w) > 0 ? 0 : weight_of(w));
      const std::int64_t own = std::min(cap_of(w), before * weight_of(w) / weights);
      out[i] = std::max({own, taken[i], std::min(w.cap_permille, least_permille)});
    }
  }
  return out;
}

}  // namespace cuda_agent
