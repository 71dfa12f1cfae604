#include "policy/devices/fit/order.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>
#include <system_error>

#include "policy/devices/vendor/words.hpp"

namespace kaisched::devices {

namespace {

error bad_weights(std::string_view text, std::string_view what) {
  return {status::argument, "device scoring weights \"" + std::string(text) + "\": " + std::string(what), {}};
}

/// What exact requests for this model add.
struct asked {
  std::int64_t slots = 0;
  std::int64_t cores = 0;
  std::int64_t memory = 0;
};
asked asked_of(const device& of, std::span<const request> requests) {
  asked sum;
  for (const request& one : requests) {
    if (one.vendor != of.type) continue;
    ++sum.slots;
    sum.cores += one.cores;
    // A share counts even where an amount is stated as well.
    const bool share = one.memory_permille.value_or(0) != 0;
    sum.memory += share ? of.memory / mebibyte * *one.memory_permille / 1000 * mebibyte : one.memory;
  }
  return sum;
}

float part(std::int64_t used, std::int64_t all) { return static_cast<float>(used) / static_cast<float>(all); }

}  // namespace

result<score_weights> parse_score_weights(std::string_view text) {
  const std::vector<std::string_view> parts = split(text, ',');
  if (parts.size() != 3) return bad_weights(text, "expected slot, core and memory");
  constexpr std::array<std::string_view, 3> names{"slot", "core", "memory"};
  std::array<std::int64_t, 3> values{};
  std::array<bool, 3> seen{};
  for (const std::string_view part : parts) {
    const std::size_t equals = part.find('=');
    if (equals == std::string_view::npos) return bad_weights(text, "expected name=number");
    const std::string_view name = trimmed(part.substr(0, equals));
    const auto at = static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin());
    if (at == names.size()) return bad_weights(text, "no weight \"" + std::string(name) + "\"");
    if (seen[at]) return bad_weights(text, "\"" + std::string(name) + "\" stands there twice");
    seen[at] = true;
    std::string_view digits = trimmed(part.substr(equals + 1));
    if (digits.starts_with('+')) digits.remove_prefix(1);
    const auto [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), values[at]);
    if (failure != std::errc{} || end != digits.data() + digits.size() || values[at] < 0) {
      return bad_weights(text, "expected integers of at least 0");
    }
  }
  if (values[0] == 0 && values[1] == 0 && values[2] == 0) return bad_weights(text, "all are 0");
  return score_weights{values[0], values[1], values[2]};
}

float device_score(const device& of, std::span<const request> requests, const score_weights& weights) {
  if (of.slots == 0 || of.cores == 0 || of.memory == 0) return 0;
  const asked more = asked_of(of, requests);
  const float slots = part(more.slots + of.used_slots, of.slots);
  const float cores = part(more.cores + of.used_cores, of.cores);
  const float memory = part(more.memory + of.used_memory, of.memory);
  return 10.0F * (static_cast<float>(weights.slot) * slots + static_cast<float>(weights.core) * cores +
                  static_cast<float>(weights.memory) * memory);
}

bool policy_names(std::string_view policy, std::string_view word) {
  const std::vector<std::string_view> words = split(policy, ',');
  return std::any_of(words.begin(), words.end(), [&](std::string_view one) { return trimmed(one) == word; });
}

device_order::device_order(std::string_view policy, bool bind_numa) {
  const sort_key numa{field::numa, false};
  if (policy.find(',') != std::string_view::npos || policy == "numa") {
    read_list(policy, bind_numa);
  } else if (policy == "mutex") {
    keys_ = {{field::used, true}, numa};
  } else if (policy == "binpack") {
    keys_ = bind_numa ? std::vector<sort_key>{{field::numa, true}, {field::score, false}}
                      : std::vector<sort_key>{{field::score, false}, numa};
  } else {
    keys_ = bind_numa ? std::vector<sort_key>{numa, {field::score, true}}
                      : std::vector<sort_key>{{field::score, true}, numa};
  }
}

void device_order::read_list(std::string_view policy, bool bind_numa) {
  std::vector<std::string_view> seen;
  for (const std::string_view part : split(policy, ',')) {
    const std::string_view word = trimmed(part);
    if (word != "binpack" && word != "spread" && word != "numa") continue;
    if (std::find(seen.begin(), seen.end(), word) == seen.end()) seen.push_back(word);
  }
  if (seen.empty()) seen = {"spread"};
  if (bind_numa && seen.front() != "numa") {
    std::erase(seen, "numa");
    seen.insert(seen.begin(), "numa");
  }
  for (const std::string_view word : seen) {
    keys_.push_back({word == "numa" ? field::numa : field::score, word == "spread"});
  }
  keys_.push_back({field::index, false});
}

bool device_order::before(const device& a, float score_of_a, const device& b, float score_of_b) const {
  for (const sort_key& key : keys_) {
    const auto [ascending, descending] = [&] {
      switch (key.what) {
        case field::score:
          return std::pair(score_of_a < score_of_b, score_of_b < score_of_a);
        case field::numa:
          return std::pair(a.numa < b.numa, b.numa < a.numa);
        case field::used:
          return std::pair(a.used_slots < b.used_slots, b.used_slots < a.used_slots);
        case field::index:
          break;
      }
      return std::pair(a.index < b.index, b.index < a.index);
    }();
    if (ascending || descending) return key.descending ? descending : ascending;
  }
  return false;
}

void sort_devices(const device_order& order, std::span<const device> devices, std::span<const float> scores,
                  std::vector<std::size_t>& positions) {
  const auto before = [&](std::size_t a, std::size_t b) {
    return order.before(devices[a], scores[a], devices[b], scores[b]);
  };
  // An insertion sort: a node has few devices, which mostly stand in order already, and nothing is allocated.
  for (std::size_t i = 1; i < positions.size(); ++i) {
    const std::size_t moved = positions[i];
    std::size_t to = i;
    for (; to > 0 && before(moved, positions[to - 1]); --to) positions[to] = positions[to - 1];
    positions[to] = moved;
  }
}

}  // namespace kaisched::devices
