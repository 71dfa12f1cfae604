#include "policy/topology/strict_domains.hpp"

#include <algorithm>

namespace kaisched::policy::topology {

namespace {

bool comes_first(const domain_tree& tree, const std::vector<domain_room>& rooms, std::uint32_t a, std::uint32_t b,
                 placement_strategy order) {
  if (rooms[a].used != rooms[b].used) return rooms[a].used > rooms[b].used;
  if (rooms[a].free != rooms[b].free) {
    return (rooms[a].free < rooms[b].free) == (order == placement_strategy::binpack);
  }
  return tree.name_rank[a] < tree.name_rank[b];
}

/// Goes down from one domain and lists those of a level.
class filling {
 public:
  filling(const domain_tree& tree, const std::vector<domain_room>& rooms, std::uint32_t level, placement_strategy order)
      : tree_(tree), rooms_(rooms), level_(level), order_(order) {}

  void fill(std::uint32_t from, std::int64_t pods) {
    if (tree_.domains[from].level == level_) {
      found_.push_back(from);
      return;
    }
    std::vector<std::uint32_t> left = tree_.children[from];
    std::sort(left.begin(), left.end(), [&](std::uint32_t a, std::uint32_t b) { return largest_first(a, b); });
    // Those with pods of the group, then the largest ones as long as none holds all that is left.
    auto next = left.begin();
    while (next != left.end() && (rooms_[*next].used > 0 || rooms_[*next].largest < pods)) {
      pods -= fill_one(*next, pods);
      ++next;
    }
    const auto too_small =
        std::partition_point(next, left.end(), [&](std::uint32_t one) { return rooms_[one].largest >= pods; });
    std::sort(next, too_small,
              [&](std::uint32_t a, std::uint32_t b) { return comes_first(tree_, rooms_, a, b, order_); });
    for (; next != left.end(); ++next) pods -= fill_one(*next, pods);
  }

  [[nodiscard]] std::vector<std::uint32_t> take() { return std::move(found_); }

 private:
  std::int64_t fill_one(std::uint32_t child, std::int64_t pods) {
    const std::int64_t there = std::min(pods, rooms_[child].largest);
    fill(child, there);
    return there;
  }

  [[nodiscard]] bool largest_first(std::uint32_t a, std::uint32_t b) const {
    if (rooms_[a].used != rooms_[b].used) return rooms_[a].used > rooms_[b].used;
    if (rooms_[a].largest != rooms_[b].largest) return rooms_[a].largest > rooms_[b].largest;
    return comes_first(tree_, rooms_, a, b, order_);
  }

  const domain_tree& tree_;
  const std::vector<domain_room>& rooms_;
  std::uint32_t level_;
  placement_strategy order_;
  std::vector<std::uint32_t> found_;
};

/// The domain may have room for all pods: it has for those of each kind, and for their sum.
bool may_hold(const domain_room& room, const domain_need& need) {
  if (room.free < need.amount) return false;
  for (std::size_t kind = 0; kind < need.pods.size(); ++kind) {
    if (room.pods[kind] < need.pods[kind]) return false;
  }
  return true;
}

}  // namespace

void add_up(const domain_tree& tree, std::vector<domain_room>& rooms) {
  for (std::size_t i = tree.domains.size(); i-- > 1;) {
    const domain_room& own = rooms[i];
    domain_room& above = rooms[tree.domains[i].parent];
    for (std::size_t kind = 0; kind < own.pods.size(); ++kind) above.pods[kind] += own.pods[kind];
    above.largest += own.largest;
    above.free += own.free;
    above.used += own.used;
  }
}

std::vector<std::uint32_t> domains_to_try(const domain_tree& tree, const std::vector<domain_room>& rooms,
                                          const level_range& levels, const domain_need& need,
                                          placement_strategy order) {
  const bool sticks = rooms[root_domain].used > 0;
  std::vector<std::uint32_t> found;
  for (std::uint32_t level = levels.narrowest() + 1; level-- > levels.required;) {
    const auto first = static_cast<std::ptrdiff_t>(found.size());
    for (const std::uint32_t one : tree.by_level[level]) {
      if (may_hold(rooms[one], need) && (!sticks || rooms[one].used > 0)) found.push_back(one);
    }
    std::sort(found.begin() + first, found.end(),
              [&](std::uint32_t a, std::uint32_t b) { return comes_first(tree, rooms, a, b, order); });
  }
  return found;
}

std::vector<std::uint32_t> domains_to_fill(const domain_tree& tree, const std::vector<domain_room>& rooms,
                                           std::uint32_t from, std::uint32_t level, std::int64_t pods,
                                           placement_strategy order) {
  filling one(tree, rooms, level, order);
  one.fill(from, pods);
  return one.take();
}

std::int64_t slices_in(const domain_tree& tree, const std::vector<domain_room>& rooms, std::uint32_t from,
                       std::uint32_t level, std::size_t kind, std::int64_t pods) {
  std::int64_t slices = 0;
  for (const std::uint32_t one : domains_of_level(tree, tree.children, from, level)) {
    slices += std::max<std::int64_t>(0, rooms[one].pods[kind]) / pods;
  }
  return slices;
}

}  // namespace kaisched::policy::topology
