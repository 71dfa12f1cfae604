// Requests that a profile of the devices serves: by its number of slices, or by memory and cores.

#include <algorithm>
#include <tuple>

#include "policy/devices/fit/fit.hpp"

namespace kaisched::devices {

namespace {

constexpr std::int64_t gibibyte = std::int64_t{1} << 30;

std::vector<const slice_profile*> profiles_of(const fit_question& question) {
  std::vector<const slice_profile*> found;
  for (const std::size_t position : question.candidates) {
    for (const slice_profile& one : question.where.devices[position].profiles) {
      if (one.slices <= 0 || one.memory <= 0) continue;
      const auto same = [&](const slice_profile* known) { return known->name == one.name; };
      if (std::none_of(found.begin(), found.end(), same)) found.push_back(&one);
    }
  }
  std::stable_sort(found.begin(), found.end(), [](const slice_profile* a, const slice_profile* b) {
    return std::tie(a->slices, a->memory) < std::tie(b->slices, b->memory);
  });
  return found;
}

/// Slices of a whole device: the largest that any device states, else those of the largest profile.
std::int64_t whole_slices(const fit_question& question, const std::vector<const slice_profile*>& profiles) {
  std::int64_t most = 0;
  for (const std::size_t position : question.candidates) {
    most = std::max(most, question.where.devices[position].slices);
  }
  return most > 0 ? most : profiles.back()->slices;
}

/// Numbers far above those of profiles are mebibytes, the others gibibytes.
std::int64_t asked_memory(std::int64_t amount, std::int64_t largest) {
  if (amount <= 0) return 0;
  const bool mebibytes = amount > largest / gibibyte * 2;
  return (mebibytes ? (amount + 1023) / 1024 : amount) * gibibyte;
}

}  // namespace

std::optional<slice_choice> choose_slices(const fit_question& question) {
  const std::vector<const slice_profile*> profiles = profiles_of(question);
  if (profiles.empty()) return std::nullopt;
  const std::int64_t whole = whole_slices(question, profiles);
  const std::int64_t memory = asked_memory(question.asked.amount, profiles.back()->memory);
  for (const slice_profile* one : profiles) {
    const std::int64_t percent = (one->slices * 100 + whole - 1) / whole;
    const bool serves = question.asked.slices > 0 ? one->slices == question.asked.slices
                                                  : one->memory >= memory && percent >= question.asked.cores;
    if (serves) return slice_choice{*one, percent};
  }
  return std::nullopt;
}

}  // namespace kaisched::devices
