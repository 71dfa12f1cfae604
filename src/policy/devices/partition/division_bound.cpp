#include "policy/devices/partition/division_bound.hpp"

#include <algorithm>
#include <utility>

namespace kaisched::devices {

namespace {

constexpr std::size_t most_amounts = 2048;  ///< that are told apart

}  // namespace

division_bound::division_bound(division_memory& memory, std::span<const std::size_t> kinds,
                               const std::vector<std::int64_t>& most)
    : memory_(memory) {
  choose_dimensions(most);
  division_memory::dimension_set wanted;
  for (const std::size_t i : counted_) wanted.push_back(memory_.dimensions()[i]);
  const std::size_t set = memory.set_of(wanted);
  std::vector<std::int64_t> free(counted_.size(), 0);
  std::vector<std::int64_t> count;  // devices and nodes by offer
  for (const std::size_t kind : kinds) {
    const std::size_t form = memory.form_of(kind);
    const auto note = [&](std::size_t offer) {
      if (offer >= count.size()) count.resize(offer + 1, 0);
      ++count[offer];
    };
    if (const std::optional<std::size_t> whole = memory.offer_of_node(form, set)) {
      note(*whole);
      continue;
    }
    for (std::size_t t = 0; t < counted_.size(); ++t) {
      const std::int64_t there = std::clamp<std::int64_t>(memory.free_of(form)[counted_[t]], 0, most_[t]);
      free[t] = std::min(most_[t], free[t] + there);
    }
    for (const std::size_t device : memory.devices_of(form)) note(memory.offer_of(device, set));
  }
  std::size_t amounts = 1;
  for (const std::int64_t one : most_) {
    stride_.push_back(amounts);
    amounts *= static_cast<std::size_t>(one) + 1;
  }
  least_.assign(amounts, {});
  known_.assign(amounts, 0);
  for (std::size_t i = 0; i < amounts; ++i) {
    bool is_free = true;
    for (std::size_t t = 0; t < counted_.size(); ++t) {
      is_free = is_free && static_cast<std::int64_t>(i / stride_[t]) % (most_[t] + 1) <= free[t];
    }
    known_[i] = is_free ? 1 : 0;
  }
  // The cheapest first: the others then change nothing.
  std::vector<std::pair<division_cost, std::size_t>> order;
  for (std::size_t i = 0; i < count.size(); ++i) {
    if (count[i] > 0 && !memory.offer(i).empty()) order.emplace_back(memory.offer(i).front().cost, i);
  }
  std::sort(order.begin(), order.end());
  for (const auto& [cost, i] : order) {
    for (std::int64_t copies = count[i]; copies > 0 && add(memory.offer(i)); --copies) {
    }
  }
}

/// As many dimensions as can be told apart; those of which most is asked.
void division_bound::choose_dimensions(const std::vector<std::int64_t>& most) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < most.size(); ++i) {
    if (most[i] > 0 && memory_.dimensions()[i] != memory_.gpu()) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return most[a] > most[b]; });
  std::size_t amounts = 1;
  for (const std::size_t i : order) {
    const auto values = static_cast<std::size_t>(std::min<std::int64_t>(most[i], most_amounts - 1)) + 1;
    if (amounts * values > most_amounts) continue;
    amounts *= values;
    counted_.push_back(i);
  }
  std::sort(counted_.begin(), counted_.end());
  for (const std::size_t i : counted_) most_.push_back(std::min<std::int64_t>(most[i], most_amounts - 1));
}

/// One more device with an offer. False: nothing is cheaper with it, nor would it be with another one like it.
bool division_bound::add(const std::vector<device_offer>& offer) {
  bool better = false;
  std::vector<std::int64_t> value(most_);
  for (std::size_t i = least_.size(); i-- > 0;) {
    for (const device_offer& one : offer) {
      std::size_t from = 0;
      for (std::size_t t = 0; t < value.size(); ++t) {
        from += static_cast<std::size_t>(std::max<std::int64_t>(0, value[t] - one.gives[t])) * stride_[t];
      }
      if (from == i || known_[from] == 0) continue;
      division_cost cost = least_[from];
      cost += one.cost;
      if (known_[i] != 0 && !(cost < least_[i])) continue;
      known_[i] = 1;
      least_[i] = cost;
      better = true;
    }
    for (std::size_t t = 0; t < value.size(); ++t) {
      if (--value[t] >= 0) break;
      value[t] = most_[t];
    }
  }
  return better;
}

std::optional<division_cost> division_bound::least(const std::vector<std::int64_t>& asked) const {
  std::size_t at = 0;
  for (std::size_t t = 0; t < counted_.size(); ++t) {
    at += static_cast<std::size_t>(std::clamp<std::int64_t>(asked[counted_[t]], 0, most_[t])) * stride_[t];
  }
  return known_[at] == 0 ? std::nullopt : std::optional(least_[at]);
}

}  // namespace kaisched::devices
