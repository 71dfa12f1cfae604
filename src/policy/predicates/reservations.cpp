#include "policy/predicates/reservations.hpp"

#include <algorithm>
#include <limits>
#include <string_view>
#include <utility>

#include <kaisched/table.hpp>

#include "base/int128.hpp"
#include "model/selector.hpp"

namespace kaisched::policy {

namespace {

constexpr std::int64_t last_time = std::numeric_limits<std::int64_t>::max();

/// The group is the one that the nodes are kept for, or is in the queue or below.
bool is_for(const model::cluster_state& s, const model::reservation_info& one, group_row group) {
  if (!one.group.empty() && s.group_names[group] == one.group) return true;
  if (one.queue.empty()) return false;
  for (queue_row q = s.groups[group].queue; q != no_row; q = (*s.queues)[q].parent) {
    if ((*s.queues)[q].name == one.queue) return true;
  }
  return false;
}

/// A group that starts then would be in the way of those that the nodes are kept for.
bool is_in_the_way(const model::cluster_state& s, const reserved_time& when, group_row group, std::int64_t start) {
  if (when.start <= start) return true;
  const std::int64_t estimate = s.group_extras[group].runtime_estimate;
  return estimate < 0 || static_cast<base::int128>(start) + estimate > when.start;
}

/// The time that is, or that is so close that others leave for it.
std::optional<reserved_time> evicts_now(const model::reservation_info& one, std::int64_t now) {
  if (one.evict_before == unset) return std::nullopt;
  const std::optional<reserved_time> when = reserved_at(one, now);
  if (!when || static_cast<base::int128>(when->start) - one.evict_before > now) return std::nullopt;
  return when;
}

}  // namespace

node_row find_node(const model::cluster_state& s, std::string_view name) {
  const std::vector<node_row>& rows = *s.rows_by_name;
  const auto at = std::lower_bound(rows.begin(), rows.end(), name,
                                   [&](node_row row, std::string_view key) { return (*s.nodes)[row]->name < key; });
  return at != rows.end() && (*s.nodes)[*at]->name == name ? *at : no_row;
}

std::vector<node_row> reserved_nodes(const model::cluster_state& s, const model::reservation_info& of) {
  std::vector<node_row> rows;
  for (const std::string_view name : split_list(of.nodes)) {
    const node_row row = find_node(s, name);
    if (row != no_row) rows.push_back(row);
  }
  const bool all = of.nodes.empty() && of.selector_text.empty();
  for (node_row row = 0; (all || !of.selector_text.empty()) && row < s.node_count(); ++row) {
    if (all || of.labels.matches((*s.nodes)[row]->labels)) rows.push_back(row);
  }
  std::sort(rows.begin(), rows.end());
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  return rows;
}

std::optional<reserved_time> reserved_at(const model::reservation_info& of, std::int64_t time) {
  reserved_time found{of.start, of.end};
  if (of.end == unset || time < of.end) return found;
  if (of.every == unset) return std::nullopt;
  const base::int128 length = static_cast<base::int128>(of.end) - of.start;
  base::int128 start = time - (static_cast<base::int128>(time) - of.start) % of.every;
  if (time >= start + length) start += of.every;
  if (start > last_time) return std::nullopt;
  found.start = static_cast<std::int64_t>(start);
  found.end = static_cast<std::int64_t>(std::min<base::int128>(last_time, start + length));
  return found;
}

void reservation_book::open(const model::cluster_state& s, std::int64_t now) {
  facts_.reset();
  later_.clear();
  const std::vector<model::reservation_info>& all = *s.reservations;
  if (all.empty()) return;
  auto made = std::make_shared<facts>();
  made->state = &s;
  made->now = now;
  for (std::uint32_t i = 0; i < all.size(); ++i) {
    if (!reserved_at(all[i], now)) continue;
    entry one{i, reserved_nodes(s, all[i])};
    if (!one.nodes.empty()) made->entries.push_back(std::move(one));
  }
  if (made->entries.empty()) return;
  std::map<refusals, std::uint32_t> kinds{{refusals{}, 0}};
  made->closed.emplace_back();
  made->kind_of_group.assign(s.group_slots, 0);
  for (group_row g = 0; g < s.group_slots; ++g) {
    if (!s.groups[g].live) continue;
    const auto [at, is_new] =
        kinds.try_emplace(refusals_of(*made, g, now), static_cast<std::uint32_t>(made->closed.size()));
    if (is_new) made->closed.push_back(closed_by(*made, at->first));
    made->kind_of_group[g] = at->second;
  }
  facts_ = std::move(made);
}

reservation_book::refusals reservation_book::refusals_of(const facts& from, group_row group, std::int64_t time) {
  refusals found;
  for (std::uint32_t i = 0; i < from.entries.size(); ++i) {
    const model::reservation_info& one = (*from.state->reservations)[from.entries[i].reservation];
    const std::optional<reserved_time> when = reserved_at(one, time);
    if (when && is_in_the_way(*from.state, *when, group, time) && !is_for(*from.state, one, group)) found.push_back(i);
  }
  return found;
}

closed_nodes reservation_book::closed_by(const facts& from, const refusals& all) {
  if (all.empty()) return {};
  closed_nodes made(from.state->node_count(), 0);
  for (const std::uint32_t i : all) {
    for (const node_row row : from.entries[i].nodes) made[row] = 1;
  }
  return made;
}

std::uint32_t reservation_book::kind_of(group_row group) const {
  return used() && group != no_row ? facts_->kind_of_group[group] : 0;
}

const closed_nodes* reservation_book::closed_to(group_row group) const {
  if (!used() || group == no_row) return nullptr;
  const auto later = later_.find(group);
  const closed_nodes& closed = later != later_.end() ? later->second : facts_->closed[facts_->kind_of_group[group]];
  return closed.empty() ? nullptr : &closed;
}

std::optional<reservation_refusal> reservation_book::why(group_row group, node_row node) const {
  std::optional<reservation_refusal> found;
  if (!closes(group, node)) return found;
  for (const std::uint32_t i : refusals_of(*facts_, group, facts_->now)) {
    const entry& one = facts_->entries[i];
    if (!std::binary_search(one.nodes.begin(), one.nodes.end(), node)) continue;
    const reserved_time when = *reserved_at((*facts_->state->reservations)[one.reservation], facts_->now);
    if (!found || when.start < found->when.start) found = reservation_refusal{one.reservation, when};
  }
  return found;
}

bool reservation_book::evicts_some() const {
  return used() && std::any_of(facts_->entries.begin(), facts_->entries.end(), [&](const entry& one) {
           return evicts_now((*facts_->state->reservations)[one.reservation], facts_->now).has_value();
         });
}

std::optional<reservation_refusal> reservation_book::evicts(group_row group, node_row node, std::int64_t end) const {
  std::optional<reservation_refusal> found;
  for (std::size_t i = 0; used() && i < facts_->entries.size(); ++i) {
    const entry& one = facts_->entries[i];
    const model::reservation_info& by = (*facts_->state->reservations)[one.reservation];
    const std::optional<reserved_time> when = evicts_now(by, facts_->now);
    if (!when || !std::binary_search(one.nodes.begin(), one.nodes.end(), node)) continue;
    if (is_for(*facts_->state, by, group)) continue;
    if (when->start > facts_->now && end != unset && end <= when->start) continue;
    if (!found || when->start < found->when.start) found = reservation_refusal{one.reservation, *when};
  }
  return found;
}

void reservation_book::look_at(group_row group, std::int64_t time) {
  if (used()) later_[group] = closed_by(*facts_, refusals_of(*facts_, group, time));
}

std::int64_t reservation_book::next_change(std::int64_t after) const {
  std::int64_t first = unset;
  const auto note = [&](std::int64_t time) {
    if (time > after && (first == unset || time < first)) first = time;
  };
  for (const entry& one : facts_->entries) {
    const std::optional<reserved_time> when = reserved_at((*facts_->state->reservations)[one.reservation], after);
    if (!when) continue;
    note(when->start);
    if (when->end != unset) note(when->end);
  }
  return first;
}

}  // namespace kaisched::policy
