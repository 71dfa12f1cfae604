#include "actions/victim_search.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "actions/group_index.hpp"
#include "actions/job_queue.hpp"
#include "actions/placement.hpp"
#include "model/account.hpp"
#include "session/members.hpp"

namespace kaisched::actions {

namespace {

using work::core;
using work::is_active;
using work::node_set;

node_row row_of(const core& c, pod_row p) { return (*c.state().node_row_of_slot)[c.live.pod_node[p]]; }

std::int64_t gpus_of(const core& c, pod_row p) { return c.state().class_of(p).requests(dim_gpu); }

void append(std::vector<pod_row>& to, const std::vector<pod_row>& more) {
  to.insert(to.end(), more.begin(), more.end());
}

std::vector<pod_row> pods_in(std::span<const victim_unit> units) {
  std::vector<pod_row> all;
  for (const victim_unit& one : units) append(all, one.pods);
  return all;
}

/// Units of one group joined, in the order of first appearance.
std::vector<victim_unit> joined(std::vector<victim_unit> units) {
  std::vector<victim_unit> made;
  std::map<group_row, std::size_t> place;
  for (victim_unit& one : units) {
    const auto [at, fresh] = place.try_emplace(one.group, made.size());
    if (fresh)
      made.push_back(std::move(one));
    else
      append(made[at->second].pods, one.pods);
  }
  return made;
}

/// Preemptible, with pods on nodes.
bool has_pods_to_lose(const core& c, group_row group) {
  const model::group_core& g = c.state().groups[group];
  return g.live && g.preemptible && work::count_pods(c, group, &model::sub_counts::active_allocated) > 0;
}

// ---- what a group can lose ---------------------------------------------------------------------------------------

/// A group of which some pods are left.
class remaining_group {
 public:
  remaining_group(const core& c, group_row group, std::span<const pod_row> pods)
      : c_(c), first_(c.state().groups[group].first_sub) {
    active_.resize(c.state().groups[group].sub_count);
    for (const pod_row p : pods) {
      if (is_active(c, p)) active_[c.state().pods[p].sub - first_].push_back(p);
    }
  }

  [[nodiscard]] std::vector<pod_row> unit() const {
    std::vector<pod_row> found = surplus(first_);
    return found.empty() ? all_active(first_) : found;
  }

 private:
  [[nodiscard]] const model::sub_info& info(sub_group_row sub) const { return c_.state().subs[sub]; }
  [[nodiscard]] std::int64_t active(sub_group_row member) const {
    if (!info(member).is_set) return static_cast<std::int64_t>(active_[member - first_].size());
    std::int64_t satisfied = 0;
    for (sub_group_row child = info(member).first_child; child != no_row; child = info(child).next_sibling) {
      satisfied += active(child) >= work::members_needed(c_, child) ? 1 : 0;
    }
    return satisfied;
  }

  /// Last in task order first.
  [[nodiscard]] std::vector<pod_row> all_active(sub_group_row member) const {
    std::vector<pod_row> pods;
    if (!info(member).is_set) {
      const std::vector<pod_row>& mine = active_[member - first_];
      pods.assign(mine.rbegin(), mine.rend());
      return pods;
    }
    // Member order of the reference: sets before pod sets.
    for (const bool sets : {true, false}) {
      for (sub_group_row child = info(member).first_child; child != no_row; child = info(child).next_sibling) {
        if (info(child).is_set == sets) append(pods, all_active(child));
      }
    }
    return pods;
  }

  [[nodiscard]] std::vector<pod_row> surplus(sub_group_row member) const {
    if (!info(member).is_set) {
      if (active(member) <= work::members_needed(c_, member)) return {};
      return {active_[member - first_].back()};
    }
    const std::int64_t satisfied = active(member);
    if (satisfied == 0) return {};
    const std::vector<sub_group_row> members = in_reverse_order(member);
    for (const sub_group_row child : members) {
      std::vector<pod_row> found = surplus(child);
      if (!found.empty()) return found;
    }
    if (satisfied <= work::members_needed(c_, member)) return {};
    for (const sub_group_row child : members) {
      std::vector<pod_row> found = all_active(child);
      if (!found.empty()) return found;
    }
    return {};
  }

  [[nodiscard]] std::vector<sub_group_row> in_reverse_order(sub_group_row set) const {
    std::vector<sub_group_row> members;
    for (sub_group_row child = info(set).first_child; child != no_row; child = info(child).next_sibling) {
      members.push_back(child);  // by name
    }
    std::stable_sort(members.begin(), members.end(), [&](sub_group_row a, sub_group_row b) {
      return work::member_before(c_, {a, active(a)}, {b, active(b)});
    });
    std::reverse(members.begin(), members.end());
    return members;
  }

  const core& c_;
  sub_group_row first_;
  std::vector<std::vector<pod_row>> active_;  ///< by sub-group, in task order
};

// ---- cheap reasons why a scenario cannot work --------------------------------------------------------------------

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

/// 128-bit sums of mixed numbers: equal for equal multisets.
struct set_hash {
  std::uint64_t a = 0;
  std::uint64_t b = 0;

  void add(std::uint64_t value) {
    a += mixed(value + 0x9E3779B97F4A7C15U);
    b += mixed(value ^ 0xD1B54A32D192ED03U);
  }
  void add(const std::vector<pod_row>& pods) {
    for (const pod_row p : pods) add(p);
  }
  auto operator<=>(const set_hash&) const = default;

 private:
  static std::uint64_t mixed(std::uint64_t x) {
    x ^= x >> 30U;
    x *= 0xBF58476D1CE4E5B9U;
    x ^= x >> 27U;
    x *= 0x94D049BB133111EBU;
    return x ^ (x >> 31U);
  }
};

// ---- what is kept between searches
// -----------------------------------------------------------------------------------

}  // namespace

/// Amounts and marks by node or group that one search leaves as it found them.
struct victim_search_state {
  explicit victim_search_state(core& of) : c(of), pending(of, serving::groups), victims(of, serving::victims) {}

  result<void> open() {
    const model::cluster_state& s = c.state();
    if (auto done = fill_indexes(); !done) return done;
    for (const group_row g : c.groups_in_order()) note_group(g);
    for (node_row row = 0; row < s.node_count(); ++row) {
      largest_node = std::max(largest_node, (*s.capacity)[static_cast<std::size_t>(row) * s.dims() + dim_gpu]);
    }
    with_gpus.assign(s.node_count(), 0);
    every_node.assign(s.node_count(), 1);
    for (node_row row = 0; row < s.node_count(); ++row) note_node(row);
    freed_here.assign(s.node_count(), 0);
    touched_at.assign(s.node_count(), no_row);
    units_on.resize(s.node_count());
    units_of.resize(s.group_slots);
    return {};
  }

  result<void> fill_indexes() {
    std::vector<group_row> waiting;
    for (const group_row g : *c.state().pending_groups) {
      if (waits(g)) waiting.push_back(g);
    }
    std::vector<group_row> losing;
    for (const group_row g : c.groups_in_order()) {
      if (can_lose(c, g)) losing.push_back(g);
    }
    if (auto done = pending.fill(waiting); !done) return done;
    return victims.fill(losing);
  }

  /// Groups have got or lost pods.
  result<void> update_indexes(std::span<const group_row> groups) {
    for (const group_row g : groups) {
      if (g != no_row) note_group(g);
    }
    if (has_shared_order(c)) return fill_indexes();
    for (const group_row g : groups) {
      if (g == no_row) continue;
      if (auto done = pending.update(g, waits(g)); !done) return done;
      if (auto done = victims.update(g, can_lose(c, g)); !done) return done;
    }
    return {};
  }

  [[nodiscard]] bool waits(group_row g) const {
    return c.is_schedulable_queue(c.state().groups[g].queue) && work::count_pods(c, g, &model::sub_counts::pending) > 0;
  }

  /// Looks at a group again after it has changed.
  void note_group(group_row g) {
    bool spread = false;
    bool old_chunk = false;
    if (can_lose(c, g)) {
      std::uint32_t node = no_row;
      const model::group_core& group = c.state().groups[g];
      for (sub_group_row sub = group.first_sub; sub < group.first_sub + group.sub_count; ++sub) {
        for (pod_row p = c.state().subs[sub].first_pod; p != no_row; p = c.state().pods[p].next) {
          if (c.live.pod_node[p] == no_row) continue;
          spread = spread || (node != no_row && c.live.pod_node[p] != node);
          node = c.live.pod_node[p];
        }
      }
      old_chunk = c.has_old_chunk(g);
    }
    if (spread)
      spread_groups.insert(g);
    else
      spread_groups.erase(g);
    has_old_chunks = has_old_chunks || old_chunk;
  }

  /// Adds what a node has free to the sums, again after it has changed.
  void note_node(node_row row) {
    const std::size_t at = static_cast<std::size_t>(row) * c.state().dims() + dim_gpu;
    if (known_free.size() < with_gpus.size()) known_free.resize(with_gpus.size(), 0);
    free_everywhere -= known_free[row];
    if (with_gpus[row] != 0) free_with_gpus -= known_free[row];
    known_free[row] = free_gpus(c, row);
    with_gpus[row] = (*c.live.idle)[at] > 0 || (*c.live.releasing)[at] > 0 ? 1 : 0;
    free_everywhere += known_free[row];
    if (with_gpus[row] != 0) free_with_gpus += known_free[row];
  }

  core& c;
  group_index pending;
  group_index victims;
  node_set with_gpus;  ///< nodes with GPUs that are free or coming free
  node_set every_node;
  std::vector<std::int64_t> known_free;  ///< by node, as it is in the sums
  std::int64_t largest_node = 0;         ///< GPUs of the largest node
  std::set<group_row> spread_groups;     ///< that may lose pods and have some on several nodes
  /// Some group that may lose pods remembers a chunk that it could not start any more. KAI forgets it when the group is
  /// simulated to leave, so that simulations cannot be left out.
  bool has_old_chunks = false;
  std::int64_t free_everywhere = 0;
  std::int64_t free_with_gpus = 0;

  // Of one search.
  std::vector<std::int64_t> freed_here;              ///< by node: GPUs of victims
  std::vector<std::uint32_t> touched_at;             ///< by node: position among the nodes of victims
  std::vector<std::vector<std::uint32_t>> units_on;  ///< by node: new units with pods there
  std::vector<std::vector<std::uint32_t>> units_of;  ///< by group: its new units
};

namespace {

/// How many pods of one size the nodes have places for.
std::int64_t places_for(const core& c, std::int64_t request) {
  std::int64_t places = 0;
  c.live.by_gpu->each_key_from(request, [&](std::int64_t free, std::size_t nodes) {
    places += free / request * static_cast<std::int64_t>(nodes);
  });
  return places;
}

/// Collects victims in victim order; they only accumulate.
class builder {
 public:
  builder(victim_search_state& kept, const victim_rules& rules, group_row waiting,
          const std::vector<victim_unit>& recorded, const node_set& feasible, std::int64_t free_of_feasible)
      : kept_(kept),
        c_(kept.c),
        rules_(rules),
        waiting_(waiting),
        recorded_(recorded),
        recorded_pods_(pods_in(recorded)),
        feasible_(feasible),
        queue_(kept.c, 0, serving::victims) {
    for (const pod_row p : c_.partial.chunk) requests_.push_back(gpus_of(c_, p));
    if (requests_.empty()) return;
    smallest_ = *std::min_element(requests_.begin(), requests_.end());
    largest_ = *std::max_element(requests_.begin(), requests_.end());
    same_size_ = smallest_ > 0 && smallest_ == largest_;
    needed_ = std::accumulate(requests_.begin(), requests_.end(), std::int64_t{0}) - free_of_feasible;
    if (same_size_) places_ = places_for(c_, smallest_);
    for (const pod_row p : recorded_pods_) {
      const node_row row = row_of(c_, p);
      if (feasible_[row] != 0) needed_ -= gpus_of(c_, p);
      freed_by_recorded_[row] += gpus_of(c_, p);
      free_more(p);
    }
    places_before_ = places_;
    std::sort(recorded_pods_.begin(), recorded_pods_.end());
    for (const pod_row p : c_.partial.chunk) {
      const model::pod_class& ask = c_.state().class_of(p);
      if (!ask.node_selector.empty() || !ask.node_affinity.empty()) choosy_.push_back(p);
    }
    for (node_row row = 0; !choosy_.empty() && row < feasible_.size(); ++row) {
      if (feasible_[row] != 0) satisfy(row);
    }
  }

  ~builder() {
    for (const node_row row : freed_rows_) kept_.freed_here[row] = 0;
    for (const node_row row : touched_) {
      kept_.touched_at[row] = no_row;
      kept_.units_on[row].clear();
    }
    for (const victim_unit& one : potential_) kept_.units_of[one.group].clear();
  }
  builder(const builder&) = delete;
  builder& operator=(const builder&) = delete;

  /// Calls `visit` for the scenario without new victims and then for ever more, those that may work. It returns true to
  /// end the search.
  template <class Visit>
  result<bool> each_state(Visit visit) {
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

  [[nodiscard]] const std::vector<victim_unit>& recorded() const { return recorded_; }
  [[nodiscard]] const std::vector<victim_unit>& potential() const { return potential_; }
  /// New units with pods on a node, and of a group, by their positions.
  [[nodiscard]] const std::vector<std::uint32_t>& units_on(node_row row) const { return kept_.units_on[row]; }
  [[nodiscard]] const std::vector<std::uint32_t>& units_of(group_row group) const { return kept_.units_of[group]; }
  /// GPUs that the pending pods need beyond what nodes without new victims have free.
  [[nodiscard]] std::int64_t needed() const { return needed_; }
  /// Nodes of new victims: by GPUs that are free, coming free or held by victims, then by first victim.
  struct touched_node {
    std::int64_t freed;
    std::uint32_t position;
    node_row row;
    auto operator<=>(const touched_node&) const = default;
  };
  [[nodiscard]] const std::set<touched_node>& touched() const { return by_freed_; }
  [[nodiscard]] std::int64_t smallest_request() const { return smallest_; }

  /// The pending pods need more places than all nodes have when these new victims leave: no simulation could end well.
  [[nodiscard]] bool too_small(const std::vector<victim_unit>& chosen) const {
    if (!same_size_) return false;
    const auto wanted = static_cast<std::int64_t>(requests_.size());
    std::int64_t places = places_before_;
    std::vector<std::pair<node_row, std::int64_t>> more;
    for (const victim_unit& one : chosen) {
      for (const pod_row p : one.pods) {
        if (std::binary_search(recorded_pods_.begin(), recorded_pods_.end(), p)) continue;
        const node_row row = row_of(c_, p);
        if (more.empty() || more.back().first != row) more.emplace_back(row, 0);
        more.back().second += gpus_of(c_, p);
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
  /// The same for the new victims of a node, where none of their groups reaches over several nodes.
  [[nodiscard]] bool node_is_too_small(node_row row) const {
    if (!same_size_ || kept_.has_old_chunks || !alone_on_nodes_) return false;
    const auto recorded = freed_by_recorded_.find(row);
    const std::int64_t before = free_gpus(c_, row) + (recorded == freed_by_recorded_.end() ? 0 : recorded->second);
    return places_before_ + places_on(freed(row)) - places_on(before) < static_cast<std::int64_t>(requests_.size());
  }
  /// Even the largest node, emptied beside what recorded victims leave, has not places enough.
  [[nodiscard]] bool one_node_is_too_small() const {
    return same_size_ && places_before_ + kept_.largest_node / smallest_ < static_cast<std::int64_t>(requests_.size());
  }

 private:
  [[nodiscard]] std::int64_t places_on(std::int64_t free) const { return std::max<std::int64_t>(0, free) / smallest_; }

  [[nodiscard]] std::int64_t freed(node_row row) const { return free_gpus(c_, row) + kept_.freed_here[row]; }

  result<void> fill() {
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

  /// The pod's GPUs count as free on its node.
  void free_more(pod_row p) {
    const node_row row = row_of(c_, p);
    const std::int64_t before = freed(row);
    if (kept_.freed_here[row] == 0) freed_rows_.push_back(row);
    kept_.freed_here[row] += gpus_of(c_, p);
    if (same_size_) places_ += places_on(freed(row)) - places_on(before);
  }

  void touch(pod_row p, std::uint32_t unit) {
    const node_row row = row_of(c_, p);
    std::uint32_t& position = kept_.touched_at[row];
    if (position == no_row) {
      position = static_cast<std::uint32_t>(touched_.size());
      touched_.push_back(row);
      if (feasible_[row] != 0) needed_ += freed(row);
      if (!choosy_.empty()) satisfy(row);
    } else {
      by_freed_.erase({freed(row), position, row});
    }
    free_more(p);
    by_freed_.insert({freed(row), position, row});
    if (kept_.units_on[row].empty() || kept_.units_on[row].back() != unit) kept_.units_on[row].push_back(unit);
  }

  result<bool> advance() {
    result<group_row> next = queue_.pop();
    if (!next) return next.failure();
    const group_row group = *next;
    const bool whole = queue_.popped_pods().empty();
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
    const auto number = static_cast<std::uint32_t>(potential_.size());
    for (const pod_row p : unit) touch(p, number);
    kept_.units_of[group].push_back(number);
    alone_on_nodes_ = alone_on_nodes_ && !kept_.spread_groups.contains(group);
    potential_.push_back({group, std::move(unit)});
    return true;
  }

  /// Pending pods that ask for certain nodes and have seen none yet.
  void satisfy(node_row row) {
    std::erase_if(choosy_,
                  [&](pod_row p) { return c_.state().class_of(p).matches_labels((*c_.state().nodes)[row]->labels); });
  }

  [[nodiscard]] bool plausible() const { return choosy_.empty() && nodes_large_enough(); }

  [[nodiscard]] bool nodes_large_enough() const {
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

  victim_search_state& kept_;
  core& c_;
  const victim_rules& rules_;
  group_row waiting_;
  const std::vector<victim_unit>& recorded_;
  std::vector<pod_row> recorded_pods_;  ///< sorted
  const node_set& feasible_;
  job_queue queue_;
  std::vector<victim_unit> potential_;
  std::vector<std::int64_t> requests_;
  std::int64_t smallest_ = 0;
  std::int64_t largest_ = 0;
  bool same_size_ = false;
  std::int64_t places_ = 0;         ///< for pods of that size
  std::int64_t places_before_ = 0;  ///< the same without new victims
  std::map<node_row, std::int64_t> freed_by_recorded_;
  bool alone_on_nodes_ = true;  ///< no group of new victims is on several nodes
  std::int64_t needed_ = 0;
  std::vector<pod_row> choosy_;
  std::vector<node_row> freed_rows_;
  std::vector<node_row> touched_;
  std::set<touched_node> by_freed_;
};

// ---- generators --------------------------------------------------------------------------------------------------

/// Nodes of the pods of a group, in name order.
std::vector<node_row> nodes_of_group(const core& c, group_row group) {
  std::vector<node_row> rows;
  for (const pod_row p : pods_of(c, group)) {
    if (c.live.pod_node[p] == no_row) continue;
    const node_row row = row_of(c, p);
    if (row != no_row) rows.push_back(row);
  }
  const std::vector<std::uint32_t>& rank = *c.state().name_rank;
  std::sort(rows.begin(), rows.end(), [&](node_row a, node_row b) { return rank[a] < rank[b]; });
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  return rows;
}

std::vector<victim_unit> units_at(const std::vector<victim_unit>& all, std::vector<std::uint32_t> positions) {
  std::sort(positions.begin(), positions.end());
  positions.erase(std::unique(positions.begin(), positions.end()), positions.end());
  std::vector<victim_unit> chosen;
  for (const std::uint32_t i : positions) chosen.push_back(all[i]);
  return chosen;
}

/// One node of the newest victim at a time: all victims so far that touch it.
template <class Try>
result<bool> node_local(const core& c, builder& from, Try attempt) {
  return from.each_state([&]() -> result<bool> {
    const std::vector<victim_unit>& potential = from.potential();
    if (potential.empty()) {
      if (from.recorded().empty()) return false;
      return attempt(from.recorded(), std::vector<victim_unit>{});
    }
    std::vector<std::vector<pod_row>> seen;
    for (const node_row row : nodes_of_group(c, potential.back().group)) {
      if (from.node_is_too_small(row)) continue;
      std::set<group_row> groups;
      std::vector<std::uint32_t> positions;
      for (const std::uint32_t i : from.units_on(row)) {
        if (!groups.insert(potential[i].group).second) continue;
        const std::vector<std::uint32_t>& own = from.units_of(potential[i].group);
        positions.insert(positions.end(), own.begin(), own.end());
      }
      std::vector<victim_unit> chosen;
      // In `compat` recorded units of these groups come along again, so that their pods are victims twice.
      if (c.compat() && !groups.empty()) {
        for (const victim_unit& one : from.recorded()) {
          if (groups.contains(one.group)) chosen.push_back(one);
        }
      }
      for (victim_unit& one : units_at(potential, std::move(positions))) chosen.push_back(std::move(one));
      chosen = joined(std::move(chosen));
      std::vector<pod_row> pods = pods_in(chosen);
      std::sort(pods.begin(), pods.end());
      if (pods.empty() || std::find(seen.begin(), seen.end(), pods) != seen.end()) continue;
      seen.push_back(std::move(pods));
      result<bool> ends = attempt(from.recorded(), std::move(chosen));
      if (!ends || *ends) return ends;
    }
    return false;
  });
}

/// The smallest nodes that together free enough for all pending pods, then ever more nodes.
template <class Try>
result<bool> multi_node(builder& from, Try attempt) {
  return from.each_state([&]() -> result<bool> {
    const std::vector<victim_unit>& potential = from.potential();
    if (potential.empty()) return attempt(from.recorded(), std::vector<victim_unit>{});
    auto next = from.smallest_request() > 0 ? from.touched().lower_bound({from.smallest_request(), 0, 0})
                                            : from.touched().begin();
    std::int64_t needed = from.needed();
    std::vector<std::uint32_t> positions;
    const auto take = [&] {
      needed -= next->freed;
      positions.insert(positions.end(), from.units_on(next->row).begin(), from.units_on(next->row).end());
      ++next;
    };
    while (needed > 0 && next != from.touched().end()) take();
    if (needed > 0) return false;
    for (std::size_t step = 1;; step *= 2) {
      result<bool> ends = attempt(from.recorded(), units_at(potential, positions));
      if (!ends || *ends) return ends;
      if (next == from.touched().end()) return false;
      for (std::size_t i = 0; i < step && next != from.touched().end(); ++i) take();
    }
  });
}

// ---- the search --------------------------------------------------------------------------------------------------

class search {
 public:
  search(victim_search_state& kept, group_row group, const victim_rules& rules)
      : kept_(kept), c_(kept.c), group_(group), rules_(rules) {}

  result<search_outcome> run() {
    const std::vector<pod_row> chunk = c_.chunk_of(group_, true);
    if (chunk.empty()) return search_outcome::failed;
    const std::uint32_t before = work::count_pods(c_, group_, &model::sub_counts::active_used);
    find_feasible();
    for (const bool gang : {false, true}) {
      if (!c_.has(gang ? "sg-multinodegang" : "sg-nodelocalgreedy")) continue;
      gang_ = gang;
      recorded_.clear();
      result<std::size_t> most = largest_solvable(chunk);
      if (!most) return most.failure();
      if (*most == 0) continue;
      result<bool> solved = probe(chunk);
      if (!solved) return solved.failure();
      if (!*solved) continue;
      // What the reference asks here forgets `min_sub_group`. `strict` has placed a whole chunk, and that is enough.
      const bool counts =
          !c_.compat() || (whole_gang() && work::count_pods(c_, group_, &model::sub_counts::active_used) > before);
      return counts ? search_outcome::solved : search_outcome::abandoned;
    }
    return search_outcome::failed;
  }

 private:
  /// For a group that needs GPUs everywhere: nodes with GPUs that are free or coming free.
  void find_feasible() {
    const std::vector<pod_row> pods = pods_of(c_, group_);
    gpus_only_ = std::all_of(pods.begin(), pods.end(), [&](pod_row p) { return gpus_of(c_, p) > 0; });
  }

  /// All pod sets have their gangs; leaving pods count.
  [[nodiscard]] bool whole_gang() const {
    const model::group_core& g = c_.state().groups[group_];
    for (sub_group_row sub = g.first_sub; sub < g.first_sub + g.sub_count; ++sub) {
      const model::sub_info& info = c_.state().subs[sub];
      if (!info.is_set && static_cast<std::int64_t>(c_.counts(sub).active_used) < info.min) return false;
    }
    return true;
  }

  /// Doubles the number of pending pods until one number fails, then bisects.
  result<std::size_t> largest_solvable(const std::vector<pod_row>& chunk) {
    std::size_t solvable = 0;
    std::size_t failing = 0;
    for (std::size_t count = 1; failing == 0;) {
      result<bool> solved = try_and_undo(std::span(chunk).first(count));
      if (!solved) return solved.failure();
      if (!*solved) {
        failing = count;
      } else {
        solvable = count;
        if (count == chunk.size()) return count;
        count = std::min(2 * count, chunk.size());
      }
    }
    while (failing - solvable > 1) {
      const std::size_t middle = (solvable + failing) / 2;
      result<bool> solved = try_and_undo(std::span(chunk).first(middle));
      if (!solved) return solved.failure();
      (*solved ? solvable : failing) = middle;
    }
    return solvable;
  }

  /// Victims found are the start of the next, larger problem.
  result<bool> try_and_undo(std::span<const pod_row> pods) {
    const std::uint32_t start = c_.depth();
    result<bool> solved = probe(pods);
    if (!solved || !*solved) return solved;
    c_.rollback(start);
    recorded_ = std::move(found_);
    return true;
  }

  /// True: the statement holds a solution, and `found_` its victims.
  result<bool> probe(std::span<const pod_row> pods) {
    c_.take_part(group_, pods);
    node_set nodes = gpus_only_ ? kept_.with_gpus : kept_.every_node;
    std::int64_t free_gpus_there = gpus_only_ ? kept_.free_with_gpus : kept_.free_everywhere;
    for (const pod_row p : pods_in(recorded_)) {
      if (nodes[row_of(c_, p)] == 0) free_gpus_there += free_gpus(c_, row_of(c_, p));
      nodes[row_of(c_, p)] = 1;
    }
    builder from(kept_, rules_, group_, recorded_, nodes, free_gpus_there);
    const auto attempt = [&](const std::vector<victim_unit>& recorded,
                             std::vector<victim_unit> potential) -> result<bool> {
      scenario what{group_, recorded, std::move(potential)};
      std::array<set_hash, 3> key;
      key[0].add(c_.partial.chunk);
      for (const victim_unit& one : what.recorded) key[1].add(one.pods);
      for (const victim_unit& one : what.potential) key[2].add(one.pods);
      if (hopeless_.contains(key)) return false;
      if (!kept_.has_old_chunks && from.too_small(what.potential)) return false;
      result<bool> solved = simulate(what, nodes);
      if (solved && !*solved) hopeless_.insert(key);
      return solved;
    };
    // No group reaches over several nodes, so each set that is tried frees one node beside the recorded ones.
    const bool hopeless = !gang_ && !kept_.has_old_chunks && from.one_node_is_too_small() && !any_spread();
    result<bool> solved = hopeless ? false : gang_ ? multi_node(from, attempt) : node_local(c_, from, attempt);
    c_.drop_part();
    return solved;
  }

  /// Some group that may be taken from has pods on several nodes.
  [[nodiscard]] bool any_spread() const {
    return std::any_of(kept_.spread_groups.begin(), kept_.spread_groups.end(), [&](group_row g) {
      return g != group_ && rules_.queue_may_lose(c_.state().groups[g].queue) && rules_.may_lose(g);
    });
  }

  /// Evicts all victims, then lets the group and the victims be placed in queue order.
  result<bool> simulate(const scenario& what, const node_set& feasible) {
    const std::vector<pod_row> victims = what.pods();
    if (victims.empty()) return false;
    const std::uint32_t start = c_.depth();
    ++c_.statistics.back().candidates;
    ++c_.sets_tried;
    node_set nodes = feasible;
    std::vector<pod_row> twice;
    for (const pod_row p : victims) {
      nodes[row_of(c_, p)] = 1;
      if (c_.eviction_of(p) != no_row) {
        twice.push_back(p);
        c_.evict_again(p);
      } else {
        c_.evict(p);
      }
    }
    result<bool> placed = place_all(what, nodes);
    if (!placed) return placed;
    if (!*placed || !rules_.accepts(what)) {
      c_.rollback(start);
      return false;
    }
    std::sort(twice.begin(), twice.end());
    std::vector<pod_row> lost;
    std::vector<pod_row> moved;
    for (const pod_row p : victims) {
      const auto status = static_cast<pod_status>(c_.live.pod_state[p]);
      if (status == pod_status::pipelined)
        moved.push_back(p);
      else if (status == pod_status::releasing || std::binary_search(twice.begin(), twice.end(), p))
        lost.push_back(p);
    }
    append(lost, moved);
    found_ = units_containing(what, lost);
    return true;
  }

  /// The units in which victims were offered, whole, in the order of the victims.
  static std::vector<victim_unit> units_containing(const scenario& what, const std::vector<pod_row>& pods) {
    std::vector<const victim_unit*> units;
    for (const victim_unit& one : what.recorded) units.push_back(&one);
    for (const victim_unit& one : what.potential) units.push_back(&one);
    std::map<pod_row, std::size_t> first;
    for (std::size_t i = 0; i < units.size(); ++i) {
      for (const pod_row p : units[i]->pods) first.try_emplace(p, i);
    }
    std::vector<bool> taken(units.size(), false);
    std::vector<victim_unit> found;
    for (const pod_row p : pods) {
      const std::size_t i = first.at(p);
      if (taken[i]) continue;
      taken[i] = true;
      found.push_back({units[i]->group, {}});
      std::set<pod_row> seen;
      for (const pod_row member : units[i]->pods) {
        if (seen.insert(member).second) found.back().pods.push_back(member);
      }
    }
    return found;
  }

  /// A victim that finds no place stays evicted; the pending group must find one.
  result<bool> place_all(const scenario& what, const node_set& nodes) {
    std::set<group_row> victims;
    std::vector<group_row> waiting{group_};
    std::vector<group_row> late;  // that did not wait before
    for (const auto* units : {&what.recorded, &what.potential}) {
      for (const victim_unit& one : *units) {
        if (one.group == group_ || !victims.insert(one.group).second ||
            !c_.is_schedulable_queue(c_.state().groups[one.group].queue)) {
          continue;
        }
        (work::count_pods(c_, one.group, &model::sub_counts::pending) > 0 ? waiting : late).push_back(one.group);
      }
    }
    waiting.insert(waiting.end(), late.begin(), late.end());
    std::map<queue_row, std::size_t> open;  // groups that are still to be served, by leaf queue
    for (const group_row g : waiting) ++open[c_.state().groups[g].queue];
    const std::size_t late_from = waiting.size() - late.size();
    job_queue queue(c_, 0);
    // In `compat` what the group asks for is remembered when its queue is first compared with others, and the verdict
    // of reclaim is by that.
    bool to_be_asked = c_.compat() && c_.has_proportion && c_.action == action_kind::reclaim && !c_.partial.asked;
    if (open.size() > 1 || to_be_asked) {
      const auto others = [&](group_row g) { return g != group_ && !victims.contains(g); };
      const std::span<const group_row> all(waiting);
      if (auto done = queue.fill_from(kept_.pending, kept_.pending.leaves(), others, all.first(late_from),
                                      all.subspan(late_from));
          !done)
        return done.failure();
    }
    while (open.size() > 1 || (to_be_asked && !open.empty())) {
      result<group_row> next = queue.pop();
      if (!next) return next.failure();
      to_be_asked = to_be_asked && *next != group_;
      if (*next != group_ && !victims.contains(*next)) continue;
      const auto leaf = open.find(c_.state().groups[*next].queue);
      if (--leaf->second == 0) open.erase(leaf);
      std::erase(waiting, *next);
      result<bool> done = place_one(*next, nodes);
      if (!done) return done;
      if (!*done) return false;
    }
    // Groups of one leaf are served in their order whatever the other queues hold.
    result<void> sorted = sort_groups(waiting);
    if (!sorted) return sorted.failure();
    for (const group_row g : waiting) {
      result<bool> done = place_one(g, nodes);
      if (!done) return done;
      if (!*done) return false;
    }
    return true;
  }

  result<void> sort_groups(std::vector<group_row>& groups) const {
    if (groups.size() < 2) return {};
    std::vector<std::vector<order_key>> keys(groups.size());
    std::vector<std::size_t> order(groups.size());
    for (std::size_t i = 0; i < groups.size(); ++i) {
      order[i] = i;
      if (auto done = keys_of_group(c_, groups[i], keys[i]); !done) return done.failure();
    }
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return group_is_before(c_.state(), groups[a], keys[a], groups[b], keys[b]);
    });
    std::vector<group_row> sorted;
    for (const std::size_t i : order) sorted.push_back(groups[i]);
    groups = std::move(sorted);
    return {};
  }

  /// False: the group that waits found no place.
  result<bool> place_one(group_row group, const node_set& nodes) {
    work::failure why;
    result<bool> placed = place_group(c_, group, {true, &nodes}, why);
    if (!placed || group == group_) return placed;
    if (!*placed) (void)c_.chunk_of(group, true);  // so KAI keeps this chunk, victims included
    return true;
  }

  victim_search_state& kept_;
  core& c_;
  group_row group_;
  const victim_rules& rules_;
  bool gang_ = false;  ///< the second generator
  bool gpus_only_ = false;
  std::vector<victim_unit> recorded_;
  std::vector<victim_unit> found_;
  std::set<std::array<set_hash, 3>> hopeless_;  ///< scenarios that failed
};

}  // namespace

std::vector<pod_row> scenario::pods() const {
  std::vector<pod_row> all = pods_in(recorded);
  append(all, pods_in(potential));
  return all;
}

std::vector<victim_unit> victims_by_group(const scenario& of) {
  std::vector<victim_unit> units = of.recorded;
  units.insert(units.end(), of.potential.begin(), of.potential.end());
  return joined(std::move(units));
}

std::vector<pod_row> pods_of(const core& c, group_row group) {
  const model::group_core& g = c.state().groups[group];
  std::vector<pod_row> pods;
  for (sub_group_row sub = g.first_sub; sub < g.first_sub + g.sub_count; ++sub) {
    for (pod_row p = c.state().subs[sub].first_pod; p != no_row; p = c.state().pods[p].next) pods.push_back(p);
  }
  return pods;
}

std::vector<pod_row> next_unit(const core& c, group_row group, std::span<const pod_row> pods) {
  if (pods.size() == 1) return is_active(c, pods.front()) ? std::vector<pod_row>{pods.front()} : std::vector<pod_row>{};
  return remaining_group(c, group, pods).unit();
}

std::int64_t free_gpus(const core& c, node_row row) {
  const std::size_t at = static_cast<std::size_t>(row) * c.state().dims() + dim_gpu;
  return (*c.live.idle)[at] + (*c.live.releasing)[at];
}

bool can_lose(const core& c, group_row group) {
  return c.is_schedulable_queue(c.state().groups[group].queue) && has_pods_to_lose(c, group);
}

victim_search::victim_search(core& c) : state_(std::make_unique<victim_search_state>(c)) {}
victim_search::~victim_search() = default;

result<void> victim_search::open() { return state_->open(); }
std::int64_t victim_search::free_gpus() const { return state_->free_everywhere; }

result<search_outcome> victim_search::find(group_row group, const victim_rules& rules) {
  return search(*state_, group, rules).run();
}

result<void> victim_search::finish(search_outcome outcome) {
  core& c = state_->c;
  std::vector<group_row> groups;
  std::vector<node_row> rows;
  const std::vector<std::uint32_t>& row_of_slot = *c.state().node_row_of_slot;
  for (const work::operation& op : c.log) {
    groups.push_back(c.state().pods[op.pod].group);
    for (const std::uint32_t slot : {op.old_node, c.live.pod_node[op.pod]}) {
      if (slot != no_row) rows.push_back(row_of_slot[slot]);
    }
  }
  if (outcome == search_outcome::abandoned)
    c.abandon();
  else
    c.commit();
  for (std::vector<std::uint32_t>* one : {&groups, &rows}) {
    std::sort(one->begin(), one->end());
    one->erase(std::unique(one->begin(), one->end()), one->end());
  }
  for (const node_row row : rows) state_->note_node(row);
  return state_->update_indexes(groups);
}

}  // namespace kaisched::actions
