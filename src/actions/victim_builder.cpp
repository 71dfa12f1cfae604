#include "actions/victim_builder.hpp"

#include <iterator>
#include <numeric>
#include <utility>

#include "model/account.hpp"
#include "session/members.hpp"

namespace kaisched::actions {

namespace {

using work::core;
using work::is_active;
using work::node_set;

/// Largest request first into the first holder with room; a request of 0 ends the test positively.
bool first_fit(std::vector<std::int64_t> requests, const std::vector<std::int64_t>& holders) {
  std::sort(requests.begin(), requests.end(), std::greater<>());
  std::vector<std::int64_t> room = holders;
  std::size_t from = 0;
  for (const std::int64_t request : requests) {
    if (request == 0) return true;
    // Requests descend, so what was too small stays too small only where it is smaller than all that follow: look again
    // from the first holder that still has something.
    while (from < room.size() && room[from] <= 0) ++from;
    const auto at = std::find_if(room.begin() + static_cast<std::ptrdiff_t>(from), room.end(),
                                 [&](std::int64_t r) { return r >= request; });
    if (at == room.end()) return false;
    *at -= request;
  }
  return true;
}

/// How many pods of one size the nodes have places for.
std::int64_t places_for(const core& c, std::int64_t request) {
  std::int64_t places = 0;
  c.live.by_gpu->each_key_from(request, [&](std::int64_t free, std::size_t nodes) {
    places += free / request * static_cast<std::int64_t>(nodes);
  });
  return places;
}

}  // namespace

victim_builder::victim_builder(victim_search_state& kept, const victim_rules& rules, group_row waiting,
                               const std::vector<victim_unit>& recorded, const node_set& feasible,
                               std::int64_t free_of_feasible)
    : kept_(kept),
      c_(kept.c),
      rules_(rules),
      waiting_(waiting),
      recorded_(recorded),
      recorded_pods_(pods_in(recorded)),
      feasible_(feasible),
      queue_(kept.victim_queue) {
  queue_.clear();
  for (const pod_row p : c_.partial.chunk) requests_.push_back(gpus_of(c_, p));
  if (requests_.empty()) return;
  smallest_ = *std::min_element(requests_.begin(), requests_.end());
  largest_ = *std::max_element(requests_.begin(), requests_.end());
  same_size_ = smallest_ > 0 && smallest_ == largest_;
  needed_ = std::accumulate(requests_.begin(), requests_.end(), std::int64_t{0}) - free_of_feasible;
  if (same_size_) places_ = places_for(c_, smallest_);
  for (const pod_row p : recorded_pods_) {
    const node_row row = node_of(c_, p);
    if (feasible_[row] != 0) needed_ -= gpus_of(c_, p);
    freed_by_recorded_[row] += gpus_of(c_, p);
    free_more(row, gpus_of(c_, p));
    places_before_ -= places_taken_back(p);
  }
  places_before_ += places_;
  std::sort(recorded_pods_.begin(), recorded_pods_.end());
  for (const pod_row p : c_.partial.chunk) {
    const model::pod_class& ask = c_.state().class_of(p);
    if (!ask.node_selector.empty() || !ask.node_affinity.empty()) choosy_.push_back(p);
  }
  for (node_row row = 0; !choosy_.empty() && row < feasible_.size(); ++row) {
    if (feasible_[row] != 0) satisfy(row);
  }
}

victim_builder::~victim_builder() {
  for (const node_row row : freed_rows_) kept_.freed_here[row] = 0;
  for (const node_row row : touched_) {
    kept_.touched_at[row] = no_row;
    kept_.taken_back_on[row] = 0;
    kept_.units_on[row].clear();
  }
  for (const victim_unit& one : potential_) kept_.units_of[one.group].clear();
}

result<bool> victim_builder::each_state(const std::function<result<bool>()>& visit) {
  if (requests_.empty()) return false;
  if (plausible()) {
    result<bool> ends = visit();
    if (!ends || *ends) return ends;
  }
  if (auto done = fill(); !done) return done.failure();
  while (!queue_.empty()) {
    result<bool> added = advance();
    if (!added) return added;
    if (!*added || !plausible()) continue;
    result<bool> ends = visit();
    if (!ends || *ends) return ends;
  }
  return false;
}

bool victim_builder::too_small(const std::vector<victim_unit>& chosen) {
  if (!same_size_) return false;
  const auto wanted = static_cast<std::int64_t>(requests_.size());
  std::int64_t places = places_before_;
  std::vector<std::pair<node_row, std::int64_t>> more;
  for (const victim_unit& one : chosen) {
    for (const pod_row p : one.pods) {
      if (std::binary_search(recorded_pods_.begin(), recorded_pods_.end(), p)) continue;
      const node_row row = node_of(c_, p);
      if (more.empty() || more.back().first != row) more.emplace_back(row, 0);
      more.back().second += gpus_of(c_, p);
      places -= places_taken_back(p);
    }
  }
  std::sort(more.begin(), more.end());
  for (std::size_t i = 0; i < more.size();) {
    const node_row row = more[i].first;
    const auto recorded = freed_by_recorded_.find(row);
    const std::int64_t before = free_gpus(c_, row) + (recorded == freed_by_recorded_.end() ? 0 : recorded->second);
    std::int64_t after = before;
    for (; i < more.size() && more[i].first == row; ++i) after += more[i].second;
    places += places_on(after) - places_on(before);
  }
  return places < wanted;
}

std::int64_t victim_builder::places_taken_back(pod_row p) {
  const std::int64_t places = same_size_ ? places_on(gpus_of(c_, p)) : 0;
  if (places == 0 || !rules_.queue_may_end_with_less) return 0;
  const queue_row leaf = c_.state().groups[c_.state().pods[p].group].queue;
  const auto [known, fresh] = may_end_with_less_.try_emplace(leaf, true);
  if (fresh) known->second = rules_.queue_may_end_with_less(leaf);
  return known->second ? 0 : places;
}

bool victim_builder::node_is_too_small(node_row row) {
  if (!same_size_ || kept_.has_old_chunks || !alone_on_nodes_) return false;
  const auto recorded = freed_by_recorded_.find(row);
  const std::int64_t before = free_gpus(c_, row) + (recorded == freed_by_recorded_.end() ? 0 : recorded->second);
  return places_before_ + places_on(freed(row)) - places_on(before) - kept_.taken_back_on[row] <
         static_cast<std::int64_t>(requests_.size());
}

bool victim_builder::one_node_is_too_small() const {
  return same_size_ && places_before_ + kept_.largest_node / smallest_ < static_cast<std::int64_t>(requests_.size());
}

result<void> victim_builder::fill() {
  const auto accepts = [this](group_row g) { return g != waiting_ && rules_.may_lose(g); };
  if (rules_.most == 0) {
    std::vector<queue_row> leaves;
    for (const queue_row q : kept_.victims.leaves()) {
      if (rules_.queue_may_lose(q)) leaves.push_back(q);
    }
    return queue_.fill_from(kept_.victims, leaves, accepts);
  }
  std::vector<group_row> first;
  std::size_t counted = 0;
  for (const group_row g : c_.groups_in_order()) {
    if (!has_pods_to_lose(c_, g) || !accepts(g)) continue;
    // The reference counts groups of queues that are not served as well.
    const queue_row leaf = c_.state().groups[g].queue;
    const bool served = c_.is_schedulable_queue(leaf) && rules_.queue_may_lose(leaf);
    if (served) first.push_back(g);
    if (served || c_.compat()) ++counted;
    if (counted == rules_.most) break;
  }
  return queue_.fill(first);
}

void victim_builder::free_more(node_row row, std::int64_t gpus) {
  if (gpus == 0) return;
  const std::int64_t before = freed(row);
  if (kept_.freed_here[row] == 0) freed_rows_.push_back(row);
  kept_.freed_here[row] += gpus;
  if (same_size_) places_ += places_on(before + gpus) - places_on(before);
}

void victim_builder::touch(pod_row p, std::uint32_t unit) {
  const node_row row = node_of(c_, p);
  std::uint32_t& position = kept_.touched_at[row];
  if (position == no_row) {
    position = static_cast<std::uint32_t>(touched_.size());
    touched_.push_back(row);
    if (feasible_[row] != 0) needed_ += freed(row);
    if (!choosy_.empty()) satisfy(row);
  } else if (orders_nodes_) {
    by_freed_.erase({freed(row), position, row});
  }
  free_more(row, gpus_of(c_, p));
  kept_.taken_back_on[row] += places_taken_back(p);
  if (orders_nodes_) by_freed_.insert({freed(row), position, row});
  if (kept_.units_on[row].empty() || kept_.units_on[row].back() != unit) kept_.units_on[row].push_back(unit);
}

result<bool> victim_builder::advance() {
  result<group_row> next = queue_.pop();
  if (!next) return next.failure();
  const group_row group = *next;
  const bool whole = queue_.popped_pods().empty();
  const pod_row only = whole ? only_pod_of(group) : no_row;
  if (only != no_row && is_active(c_, only) && recorded_pods_.empty()) {
    offer(group, {only});
    return true;
  }
  const std::vector<pod_row> pods = whole ? pods_of(c_, group) : std::move(queue_.popped_pods());
  std::vector<pod_row> unit = next_unit(c_, group, pods);
  const auto is_recorded = [&](pod_row p) {
    return std::binary_search(recorded_pods_.begin(), recorded_pods_.end(), p);
  };
  if (std::any_of(unit.begin(), unit.end(), is_recorded)) {
    std::vector<pod_row> rest;
    std::copy_if(pods.begin(), pods.end(), std::back_inserter(rest), [&](pod_row p) { return !is_recorded(p); });
    if (!rest.empty()) {
      if (auto done = queue_.push(group, std::move(rest)); !done) return done.failure();
    }
    return false;
  }
  const auto active = std::count_if(pods.begin(), pods.end(), [&](pod_row p) { return is_active(c_, p); });
  if (static_cast<std::ptrdiff_t>(unit.size()) < active) {
    std::vector<pod_row> sorted = unit;
    std::sort(sorted.begin(), sorted.end());
    std::vector<pod_row> rest;
    std::copy_if(pods.begin(), pods.end(), std::back_inserter(rest),
                 [&](pod_row p) { return !std::binary_search(sorted.begin(), sorted.end(), p); });
    if (auto done = queue_.push(group, std::move(rest)); !done) return done.failure();
  }
  offer(group, std::move(unit));
  return true;
}

/// The pod of a group that has one, or no_row.
pod_row victim_builder::only_pod_of(group_row group) const {
  const model::group_core& g = c_.state().groups[group];
  if (g.sub_count != 2) return no_row;
  const model::sub_info& set = c_.state().subs[g.first_sub + 1];
  return set.first_pod == set.last_pod ? set.first_pod : no_row;
}

void victim_builder::offer(group_row group, std::vector<pod_row> unit) {
  const auto number = static_cast<std::uint32_t>(potential_.size());
  for (const pod_row p : unit) touch(p, number);
  kept_.units_of[group].push_back(number);
  alone_on_nodes_ = alone_on_nodes_ && !kept_.spread_groups.contains(group);
  potential_.push_back({group, std::move(unit)});
}

void victim_builder::satisfy(node_row row) {
  std::erase_if(choosy_,
                [&](pod_row p) { return c_.state().class_of(p).matches_labels((*c_.state().nodes)[row]->labels); });
}

bool victim_builder::nodes_large_enough() const {
  // With pods of one size the largest nodes hold as many as all nodes do.
  if (requests_.empty() || largest_ == 0) return true;
  if (same_size_) return places_ >= static_cast<std::int64_t>(requests_.size());
  std::vector<std::int64_t> largest(c_.state().node_count());
  for (node_row row = 0; row < largest.size(); ++row) largest[row] = freed(row);
  const std::size_t count = std::min(requests_.size(), largest.size());
  std::partial_sort(largest.begin(), largest.begin() + static_cast<std::ptrdiff_t>(count), largest.end(),
                    std::greater<>());
  largest.resize(count);
  return first_fit(requests_, largest);
}

}  // namespace kaisched::actions
