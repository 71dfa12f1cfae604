#include "actions/group_index.hpp"

#include <algorithm>
#include <iterator>

namespace kaisched::actions {

using framework::session_state;

namespace {

/// Members that were ordered anew are merged with the others once they are more than these, and than one in so many.
constexpr std::size_t most_moved = 256;
constexpr std::size_t moved_part = 8;

}  // namespace

bool has_shared_order(const session_state& c) {
  return std::any_of(c.parts.begin(), c.parts.end(),
                     [](const auto& part) { return (part->capabilities() & part_order_is_shared) != 0; });
}

result<std::size_t> keys_of_group(const session_state& c, group_row group, std::vector<order_key>& to) {
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
  return what_ == serving::groups ? group_is_before(c_->state(), a, keys_of(a), b, keys_of(b))
                                  : group_is_before(c_->state(), b, keys_of(b), a, keys_of(a));
}

std::span<const order_key> group_index::keys_of(group_row g) const {
  if (versions_[g].last > 1) return std::span(later_keys_).subspan(std::size_t{later_at_[g] - 1} * orders_, orders_);
  return std::span(*keys_).subspan(g * orders_, orders_);
}

/// Of many groups: every part is asked once.
result<void> group_index::set_keys(std::span<const group_row> groups) {
  std::vector<policy_part*> parts;
  for (const auto& part : c_->parts) {
    if ((part->capabilities() & part_orders_groups) != 0) parts.push_back(part.get());
  }
  orders_ = parts.size();
  auto keys = std::make_shared<std::vector<order_key>>(orders_ * c_->state().group_slots);
  std::vector<order_key> some(groups.size());
  for (std::size_t k = 0; k < orders_ && !groups.empty(); ++k) {
    if (auto done = parts[k]->order_groups(c_->view(), groups, some); !done) return done;
    for (std::size_t i = 0; i < groups.size(); ++i) (*keys)[groups[i] * orders_ + k] = some[i];
  }
  keys_ = std::move(keys);
  later_keys_.clear();
  later_at_.clear();
  return {};
}

void group_index::set_later_keys(group_row g, std::span<const order_key> keys) {
  if (later_at_.empty()) later_at_.assign(versions_.size(), 0);
  if (later_at_[g] == 0) {
    later_keys_.resize(later_keys_.size() + orders_);
    later_at_[g] = static_cast<std::uint32_t>(later_keys_.size() / std::max<std::size_t>(orders_, 1));
  }
  std::copy(keys.begin(), keys.end(), later_keys_.begin() + static_cast<std::ptrdiff_t>((later_at_[g] - 1) * orders_));
}

result<void> group_index::fill(std::span<const group_row> members) {
  const model::cluster_state& s = c_->state();
  order_ = &c_->groups.order();
  versions_.assign(s.group_slots, {});
  lists_.assign(s.queues->size(), {});
  leaves_.clear();
  if (auto done = set_keys(members); !done) return done;
  std::vector<std::vector<item>> sorted(lists_.size());
  for (std::size_t i = 0; i < members.size(); ++i) {
    // Members come in the order of groups, and victims are offered from its end: often nothing is left to sort.
    const group_row g = members[what_ == serving::groups ? i : members.size() - 1 - i];
    versions_[g] = {1, 1};
    sorted[s.groups[g].queue].push_back({g, 1});
  }
  for (queue_row q = 0; q < lists_.size(); ++q) {
    if (!order_->of_leaf[q].empty()) leaves_.push_back(q);
    const auto in_order = [&](const item& a, const item& b) { return before(a.group, b.group); };
    if (!std::is_sorted(sorted[q].begin(), sorted[q].end(), in_order)) {
      std::sort(sorted[q].begin(), sorted[q].end(), in_order);
    }
    if (!sorted[q].empty()) lists_[q].sorted = std::make_shared<const std::vector<item>>(std::move(sorted[q]));
    skip_dead(q);
  }
  return {};
}

void group_index::skip_dead(queue_row leaf) {
  leaf_list& list = lists_[leaf];
  while (list.first < list.sorted->size() && !is_live((*list.sorted)[list.first])) ++list.first;
  const std::vector<std::uint32_t>& ranks = order_->of_leaf[leaf];
  while (list.first_rank < ranks.size() && versions_[group_at(ranks[list.first_rank])].now == 0) ++list.first_rank;
}

result<void> group_index::update(group_row group, bool is_member) {
  const queue_row leaf = c_->state().groups[group].queue;
  if (leaf == no_row) return {};
  leaf_list& list = lists_[leaf];
  const auto place = [&] {
    return std::lower_bound(list.moved.begin(), list.moved.end(), group,
                            [&](const item& one, group_row g) { return before(one.group, g); });
  };
  if (const auto old = place(); old != list.moved.end() && old->group == group) list.moved.erase(old);
  versions_[group].now = 0;
  skip_dead(leaf);
  if (!is_member) return {};
  fresh_keys_.clear();
  if (auto done = keys_of_group(*c_, group, fresh_keys_); !done) return done.failure();
  // Version 1 is that of the filling, be the group in it or not.
  versions_[group].last = std::max(versions_[group].last, 1U) + 1;
  versions_[group].now = versions_[group].last;
  set_later_keys(group, fresh_keys_);
  list.moved.insert(place(), {group, versions_[group].now});
  const std::vector<std::uint32_t>& ranks = order_->of_leaf[leaf];
  const auto rank = std::lower_bound(ranks.begin(), ranks.end(), rank_of(group));
  list.first_rank = std::min(list.first_rank, static_cast<std::size_t>(rank - ranks.begin()));
  if (list.moved.size() > std::max(most_moved, list.sorted->size() / moved_part)) merge(list);
  return {};
}

void group_index::merge(leaf_list& list) {
  std::vector<item> all;
  std::copy_if(list.sorted->begin() + static_cast<std::ptrdiff_t>(list.first), list.sorted->end(),
               std::back_inserter(all), [&](const item& one) { return is_live(one); });
  const auto middle = static_cast<std::ptrdiff_t>(all.size());
  all.insert(all.end(), list.moved.begin(), list.moved.end());
  std::inplace_merge(all.begin(), all.begin() + middle, all.end(),
                     [&](const item& a, const item& b) { return before(a.group, b.group); });
  list.sorted = std::make_shared<const std::vector<item>>(std::move(all));
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
  const std::vector<item>& sorted = *list.sorted;
  while (sorted_ < sorted.size() && !index_->is_live(sorted[sorted_])) ++sorted_;
  const bool any_sorted = sorted_ < sorted.size();
  const bool any_moved = moved_ < list.moved.size();
  if (!any_sorted && !any_moved) return no_row;
  if (any_sorted && (!any_moved || index_->before(sorted[sorted_].group, list.moved[moved_].group))) {
    return sorted[sorted_++].group;
  }
  return list.moved[moved_++].group;
}

}  // namespace kaisched::actions
