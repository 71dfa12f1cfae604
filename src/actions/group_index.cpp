#include "actions/group_index.hpp"

#include <algorithm>

namespace kaisched::actions {

using work::core;

namespace {

constexpr std::size_t most_moved = 256;  ///< beyond, members that were ordered anew are merged with the others

}  // namespace

bool has_shared_order(const core& c) {
  return std::any_of(c.parts.begin(), c.parts.end(),
                     [](const auto& part) { return (part->capabilities() & part_order_is_shared) != 0; });
}

result<std::size_t> keys_of_group(const core& c, group_row group, std::vector<order_key>& to) {
  std::size_t count = 0;
  for (const auto& part : c.parts) {
    if ((part->capabilities() & part_orders_groups) == 0) continue;
    order_key key;
    if (auto done = part->order_groups(c.view(), std::span(&group, 1), std::span(&key, 1)); !done)
      return done.failure();
    to.push_back(key);
    ++count;
  }
  return count;
}

bool group_is_before(const model::cluster_state& s, group_row a, std::span<const order_key> keys_of_a, group_row b,
                     std::span<const order_key> keys_of_b) {
  for (std::size_t i = 0; i < keys_of_a.size(); ++i) {
    const order_key& p = keys_of_a[i];
    const order_key& q = keys_of_b[i];
    if (p.first != q.first) return p.first < q.first;
    if (p.second != q.second) return p.second < q.second;
  }
  const std::int64_t p = s.groups[a].created;
  const std::int64_t q = s.groups[b].created;
  return p != q ? p < q : s.group_names[a] < s.group_names[b];
}

bool group_index::before(group_row a, group_row b) const {
  return what_ == serving::groups ? group_is_before(c_.state(), a, keys_of(a), b, keys_of(b))
                                  : group_is_before(c_.state(), b, keys_of(b), a, keys_of(a));
}

result<void> group_index::set_keys(group_row group) {
  scratch_.clear();
  result<std::size_t> count = keys_of_group(c_, group, scratch_);
  if (!count) return count.failure();
  if (keys_.empty() && *count > 0) {
    orders_ = *count;
    keys_.resize(orders_ * c_.state().group_slots);
  }
  std::copy(scratch_.begin(), scratch_.end(), keys_.begin() + static_cast<std::ptrdiff_t>(group * orders_));
  return {};
}

/// Of many groups: every part is asked once.
result<void> group_index::set_keys(std::span<const group_row> groups) {
  if (groups.empty()) return {};
  std::vector<policy_part*> parts;
  for (const auto& part : c_.parts) {
    if ((part->capabilities() & part_orders_groups) != 0) parts.push_back(part.get());
  }
  orders_ = parts.size();
  keys_.assign(orders_ * c_.state().group_slots, {});
  scratch_.resize(groups.size());
  for (std::size_t k = 0; k < orders_; ++k) {
    if (auto done = parts[k]->order_groups(c_.view(), groups, scratch_); !done) return done;
    for (std::size_t i = 0; i < groups.size(); ++i) keys_[groups[i] * orders_ + k] = scratch_[i];
  }
  return {};
}

result<void> group_index::fill(std::span<const group_row> members) {
  const model::cluster_state& s = c_.state();
  by_rank_ = c_.groups_in_order();
  ranks_.assign(s.group_slots, no_row);
  versions_.assign(s.group_slots, 0);
  last_version_.assign(s.group_slots, 0);
  lists_.assign(s.queues->size(), {});
  leaves_.clear();
  for (std::uint32_t rank = 0; rank < by_rank_.size(); ++rank) {
    ranks_[by_rank_[rank]] = rank;
    const queue_row leaf = s.groups[by_rank_[rank]].queue;
    if (leaf != no_row) lists_[leaf].by_rank.push_back(rank);
  }
  if (auto done = set_keys(members); !done) return done;
  for (std::size_t i = 0; i < members.size(); ++i) {
    // Members come in the order of groups, and victims are offered from its end: often nothing is left to sort.
    const group_row g = members[what_ == serving::groups ? i : members.size() - 1 - i];
    versions_[g] = last_version_[g] = 1;
    lists_[s.groups[g].queue].sorted.push_back({g, 1});
  }
  for (queue_row q = 0; q < lists_.size(); ++q) {
    leaf_list& list = lists_[q];
    if (!list.by_rank.empty()) leaves_.push_back(q);
    const auto in_order = [&](const item& a, const item& b) { return before(a.group, b.group); };
    if (!std::is_sorted(list.sorted.begin(), list.sorted.end(), in_order)) {
      std::sort(list.sorted.begin(), list.sorted.end(), in_order);
    }
    skip_dead(list);
  }
  return {};
}

void group_index::skip_dead(leaf_list& list) const {
  while (list.first < list.sorted.size() &&
         versions_[list.sorted[list.first].group] != list.sorted[list.first].version) {
    ++list.first;
  }
  while (list.first_rank < list.by_rank.size() && versions_[group_at(list.by_rank[list.first_rank])] == 0)
    ++list.first_rank;
}

result<void> group_index::update(group_row group, bool is_member) {
  if (c_.state().groups[group].queue == no_row) return {};
  leaf_list& list = lists_[c_.state().groups[group].queue];
  versions_[group] = 0;
  std::erase_if(list.moved, [&](const item& one) { return one.group == group; });
  skip_dead(list);
  if (!is_member) return {};
  if (auto done = set_keys(group); !done) return done;
  versions_[group] = ++last_version_[group];
  const auto at = std::lower_bound(list.moved.begin(), list.moved.end(), group,
                                   [&](const item& one, group_row g) { return before(one.group, g); });
  list.moved.insert(at, {group, versions_[group]});
  const auto rank = std::lower_bound(list.by_rank.begin(), list.by_rank.end(), ranks_[group]);
  list.first_rank = std::min(list.first_rank, static_cast<std::size_t>(rank - list.by_rank.begin()));
  if (list.moved.size() > most_moved) merge(list);
  return {};
}

void group_index::merge(leaf_list& list) {
  std::vector<item> all;
  for (std::size_t i = list.first; i < list.sorted.size(); ++i) {
    if (versions_[list.sorted[i].group] == list.sorted[i].version) all.push_back(list.sorted[i]);
  }
  const auto middle = static_cast<std::ptrdiff_t>(all.size());
  all.insert(all.end(), list.moved.begin(), list.moved.end());
  std::inplace_merge(all.begin(), all.begin() + middle, all.end(),
                     [&](const item& a, const item& b) { return before(a.group, b.group); });
  list.sorted = std::move(all);
  list.first = 0;
  list.moved.clear();
}

group_index::cursor group_index::members_of(queue_row leaf) const {
  cursor made;
  made.index_ = this;
  made.leaf_ = leaf;
  made.sorted_ = lists_[leaf].first;
  return made;
}

group_row group_index::cursor::next() {
  if (index_ == nullptr) return no_row;
  const leaf_list& list = index_->lists_[leaf_];
  while (sorted_ < list.sorted.size() && index_->versions_[list.sorted[sorted_].group] != list.sorted[sorted_].version)
    ++sorted_;
  const bool any_sorted = sorted_ < list.sorted.size();
  const bool any_moved = moved_ < list.moved.size();
  if (!any_sorted && !any_moved) return no_row;
  if (any_sorted && (!any_moved || index_->before(list.sorted[sorted_].group, list.moved[moved_].group))) {
    return list.sorted[sorted_++].group;
  }
  return list.moved[moved_++].group;
}

}  // namespace kaisched::actions
