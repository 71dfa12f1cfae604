#include "slices.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <tuple>

#include <fmt/format.h>

namespace device_plugin {

namespace {

constexpr std::string_view separator = "::";

/// Number 10 comes after number 9.
std::tuple<std::string_view, std::uint64_t, std::string_view> order_of(std::string_view slice) {
  const std::string_view card = card_of(slice);
  std::uint64_t number = 0;
  if (card.size() < slice.size()) {
    const std::string_view digits = slice.substr(card.size() + separator.size());
    (void)std::from_chars(digits.data(), digits.data() + digits.size(), number);
  }
  return {card, number, slice};
}

struct by_number {
  using is_transparent = void;
  bool operator()(std::string_view a, std::string_view b) const { return order_of(a) < order_of(b); }
};

struct free_card {
  std::string_view uuid;
  std::vector<std::string_view> slices;  ///< the next one last
  std::size_t taken = 0;                 ///< by this container
};

/// The card to take the next slice of, or null.
free_card* best_card(std::vector<free_card>& cards, preference how) {
  free_card* best = nullptr;
  for (free_card& one : cards) {
    if (one.slices.empty()) continue;
    const auto is_better = [&] {
      if (one.taken != best->taken) return one.taken < best->taken;
      if (one.slices.size() == best->slices.size()) return false;  // in the order of UUIDs
      return (one.slices.size() > best->slices.size()) == (how == preference::spread);
    };
    if (best == nullptr || is_better()) best = &one;
  }
  return best;
}

}  // namespace

std::string slice_id(std::string_view uuid, std::uint32_t number, std::uint32_t slices) {
  return slices == 1 ? std::string(uuid) : fmt::format("{}{}{}", uuid, separator, number);
}

std::string_view card_of(std::string_view slice) { return slice.substr(0, slice.rfind(separator)); }

std::vector<std::string> preferred_slices(std::span<const std::string> available, std::span<const std::string> must,
                                          std::size_t size, preference how) {
  std::set<std::string_view, by_number> left(available.begin(), available.end());
  std::vector<std::string> chosen;
  std::map<std::string_view, std::size_t> taken;
  for (const std::string& one : must) {
    if (chosen.size() == size || left.erase(one) == 0) continue;
    chosen.push_back(one);
    ++taken[card_of(one)];
  }
  std::vector<free_card> cards;
  for (auto slice = left.rbegin(); slice != left.rend(); ++slice) {
    const std::string_view uuid = card_of(*slice);
    if (cards.empty() || cards.back().uuid != uuid) cards.push_back({uuid, {}, taken[uuid]});
    cards.back().slices.push_back(*slice);
  }
  std::reverse(cards.begin(), cards.end());
  while (chosen.size() < size) {
    free_card* const next = best_card(cards, how);
    if (next == nullptr) break;
    chosen.emplace_back(next->slices.back());
    next->slices.pop_back();
    ++next->taken;
  }
  return chosen;
}

}  // namespace device_plugin
