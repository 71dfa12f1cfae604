#pragma once
/// @file
/// Sorting by names, which mostly begin alike and are not where the sorted things are.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

namespace kaisched::base {

/// Sorts by the bytes of `text_of(item)`, which stays where it is until the end. Compared are the eight bytes behind
/// what all texts begin with; the rest only where these are equal.
template <class Item, class TextOf>
void sort_by_text(std::vector<Item>& items, TextOf text_of) {
  if (items.size() < 2) return;
  const std::string_view first = text_of(items.front());
  std::size_t common = first.size();
  for (const Item& one : items) {
    const std::string_view text = text_of(one);
    common = std::min(common, text.size());
    common = static_cast<std::size_t>(
        std::mismatch(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(common), first.begin()).first -
        text.begin());
  }
  struct keyed {
    std::uint64_t key;
    std::string_view text;
    Item item;
  };
  std::vector<keyed> order;
  order.reserve(items.size());
  for (const Item& one : items) {
    const std::string_view text = text_of(one);
    unsigned char head[sizeof(std::uint64_t)] = {};
    std::memcpy(head, text.data() + common, std::min(sizeof head, text.size() - common));
    std::uint64_t key = 0;
    for (const unsigned char byte : head) key = key << 8U | byte;
    order.push_back({key, text, one});
  }
  std::sort(order.begin(), order.end(),
            [](const keyed& a, const keyed& b) { return a.key != b.key ? a.key < b.key : a.text < b.text; });
  for (std::size_t i = 0; i < items.size(); ++i) items[i] = order[i].item;
}

}  // namespace kaisched::base
