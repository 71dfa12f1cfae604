#include "actions/victim_search.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "actions/job_queue.hpp"
#include "actions/placement.hpp"
#include "session/members.hpp"

namespace kaisched::actions {

namespace {

using work::core;
using work::node_set;

bool is_active(const core& c, pod_row p) {
  return model::is_in(static_cast<pod_status>(c.live.pod_state[p]), model::active_allocated);
}

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

/// Collects victims in victim order; they only accumulate.
class builder {
 public:
  builder(core& c, const std::vector<victim_unit>& recorded, const std::vector<group_row>& candidates,
          const node_set& feasible)
      : c_(c),
        recorded_(recorded),
        recorded_pods_(pods_in(recorded)),
        feasible_(feasible),
        queue_(c, 0, serving::victims),
        free_(c.state().node_count()) {
    std::sort(recorded_pods_.begin(), recorded_pods_.end());
    for (node_row n = 0; n < free_.size(); ++n) free_[n] = free_gpus(c, n);
    for (const pod_row p : recorded_pods_) free_[row_of(c, p)] += gpus_of(c, p);
    for (const pod_row p : c.partial.chunk) {
      requests_.push_back(gpus_of(c, p));
      const model::pod_class& ask = c.state().class_of(p);
      if (!ask.node_selector.empty() || !ask.node_affinity.empty()) choosy_.push_back(p);
    }
    candidates_ = &candidates;
  }

  /// Calls `visit` for the scenario without new victims and then for ever more, those that may work. It returns true to
  /// end the search.
  template <class Visit>
  result<bool> each_state(Visit visit) {
    if (c_.partial.chunk.empty()) return false;
    if (auto done = queue_.fill(*candidates_); !done) return done.failure();
    if (plausible()) {
      result<bool> ends = visit();
      if (!ends || *ends) return ends;
    }
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
  [[nodiscard]] const std::vector<std::int64_t>& requests() const { return requests_; }
  /// GPUs of a node that are free, coming free or held by victims of the state.
  [[nodiscard]] std::int64_t freed(node_row row) const { return free_[row]; }
  [[nodiscard]] const node_set& feasible() const { return feasible_; }

 private:
  result<bool> advance() {
    const group_row group = queue_.pop();
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
    for (const pod_row p : unit) free_[row_of(c_, p)] += gpus_of(c_, p);
    potential_.push_back({group, std::move(unit)});
    return true;
  }

  [[nodiscard]] bool plausible() const { return affinities_possible() && nodes_large_enough(); }

  [[nodiscard]] bool affinities_possible() const {
    return std::all_of(choosy_.begin(), choosy_.end(), [&](pod_row p) {
      const model::pod_class& ask = c_.state().class_of(p);
      const auto matches = [&](node_row row) { return ask.matches_labels((*c_.state().nodes)[row]->labels); };
      for (node_row row = 0; row < c_.state().node_count(); ++row) {
        if (feasible_[row] != 0 && matches(row)) return true;
      }
      const auto any_matches = [&](const std::vector<victim_unit>& units) {
        return std::any_of(units.begin(), units.end(), [&](const victim_unit& one) {
          return std::any_of(one.pods.begin(), one.pods.end(), [&](pod_row v) { return matches(row_of(c_, v)); });
        });
      };
      return any_matches(recorded_) || any_matches(potential_);
    });
  }

  [[nodiscard]] bool nodes_large_enough() const {
    std::vector<std::int64_t> largest = free_;
    const std::size_t count = std::min(requests_.size(), largest.size());
    std::partial_sort(largest.begin(), largest.begin() + static_cast<std::ptrdiff_t>(count), largest.end(),
                      std::greater<>());
    largest.resize(count);
    return first_fit(requests_, largest);
  }

  core& c_;
  const std::vector<victim_unit>& recorded_;
  std::vector<pod_row> recorded_pods_;  ///< sorted
  const node_set& feasible_;
  const std::vector<group_row>* candidates_ = nullptr;
  job_queue queue_;
  std::vector<victim_unit> potential_;
  std::vector<std::int64_t> free_;  ///< by node
  std::vector<std::int64_t> requests_;
  std::vector<pod_row> choosy_;  ///< pending pods that ask for certain nodes
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

bool touches(const core& c, const victim_unit& unit, node_row row) {
  return std::any_of(unit.pods.begin(), unit.pods.end(), [&](pod_row p) { return row_of(c, p) == row; });
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
      std::set<group_row> groups;
      for (const victim_unit& one : potential) {
        if (touches(c, one, row)) groups.insert(one.group);
      }
      std::vector<victim_unit> chosen;
      // In `compat` recorded units of these groups come along again, so that their pods are victims twice.
      if (c.compat()) {
        for (const victim_unit& one : from.recorded()) {
          if (groups.contains(one.group)) chosen.push_back(one);
        }
      }
      for (const victim_unit& one : potential) {
        if (groups.contains(one.group)) chosen.push_back(one);
      }
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

/// How many of the smallest nodes free enough together, or no_row.
std::size_t smallest_prefix(const std::vector<std::int64_t>& amounts, std::int64_t needed) {
  if (needed <= 0) return 0;
  for (std::size_t i = 0; i < amounts.size(); ++i) {
    needed -= amounts[i];
    if (needed <= 0) return i + 1;
  }
  return no_row;
}

/// The smallest nodes that together free enough for all pending pods, then ever more nodes.
template <class Try>
result<bool> multi_node(const core& c, builder& from, Try attempt) {
  return from.each_state([&]() -> result<bool> {
    const std::vector<victim_unit>& potential = from.potential();
    if (potential.empty()) return attempt(from.recorded(), std::vector<victim_unit>{});
    std::vector<bool> touched(c.state().node_count(), false);
    std::vector<node_row> rows;  // by first victim
    for (const victim_unit& one : potential) {
      for (const pod_row p : one.pods) {
        if (!touched[row_of(c, p)]) rows.push_back(row_of(c, p));
        touched[row_of(c, p)] = true;
      }
    }
    const std::int64_t smallest = *std::min_element(from.requests().begin(), from.requests().end());
    std::erase_if(rows, [&](node_row row) { return smallest > 0 && from.freed(row) < smallest; });
    std::stable_sort(rows.begin(), rows.end(), [&](node_row a, node_row b) { return from.freed(a) < from.freed(b); });
    std::int64_t needed = std::accumulate(from.requests().begin(), from.requests().end(), std::int64_t{0});
    for (node_row row = 0; row < touched.size(); ++row) {
      if (from.feasible()[row] != 0 && !touched[row]) needed -= from.freed(row);
    }
    std::vector<std::int64_t> amounts;
    for (const node_row row : rows) amounts.push_back(from.freed(row));
    std::size_t size = smallest_prefix(amounts, needed);
    std::vector<bool> chosen_rows(touched.size(), false);
    std::size_t taken = 0;
    for (std::size_t step = 1; size != no_row; step *= 2) {
      for (; taken < size; ++taken) chosen_rows[rows[taken]] = true;
      std::vector<victim_unit> chosen;
      for (const victim_unit& one : potential) {
        const bool touches_one =
            std::any_of(one.pods.begin(), one.pods.end(), [&](pod_row p) { return chosen_rows[row_of(c, p)]; });
        if (touches_one) chosen.push_back(one);
      }
      result<bool> ends = attempt(from.recorded(), std::move(chosen));
      if (!ends || *ends) return ends;
      size = size >= rows.size() ? no_row : std::min(size + step, rows.size());
    }
    return false;
  });
}

// ---- the search --------------------------------------------------------------------------------------------------

class search {
 public:
  search(core& c, group_row group, const victim_rules& rules) : c_(c), group_(group), rules_(rules) {}

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
    const bool gpus_only = std::all_of(pods.begin(), pods.end(), [&](pod_row p) { return gpus_of(c_, p) > 0; });
    feasible_.assign(c_.state().node_count(), 1);
    for (node_row row = 0; gpus_only && row < feasible_.size(); ++row) {
      const std::size_t at = static_cast<std::size_t>(row) * c_.state().dims() + dim_gpu;
      feasible_[row] = (*c_.live.idle)[at] > 0 || (*c_.live.releasing)[at] > 0 ? 1 : 0;
    }
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
    node_set nodes = feasible_;
    for (const pod_row p : pods_in(recorded_)) nodes[row_of(c_, p)] = 1;
    builder from(c_, recorded_, rules_.candidates, nodes);
    const auto attempt = [&](const std::vector<victim_unit>& recorded,
                             std::vector<victim_unit> potential) -> result<bool> {
      scenario what{group_, recorded, std::move(potential)};
      std::array<set_hash, 3> key;
      key[0].add(c_.partial.chunk);
      for (const victim_unit& one : what.recorded) key[1].add(one.pods);
      for (const victim_unit& one : what.potential) key[2].add(one.pods);
      if (hopeless_.contains(key)) return false;
      result<bool> solved = simulate(what, nodes);
      if (solved && !*solved) hopeless_.insert(key);
      return solved;
    };
    result<bool> solved = gang_ ? multi_node(c_, from, attempt) : node_local(c_, from, attempt);
    c_.drop_part();
    return solved;
  }

  /// Evicts all victims, then lets the group and the victims be placed in queue order.
  result<bool> simulate(const scenario& what, const node_set& feasible) {
    const std::vector<pod_row> victims = what.pods();
    if (victims.empty()) return false;
    const std::uint32_t start = c_.depth();
    ++c_.statistics.back().candidates;
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
    std::vector<group_row> groups;
    const auto served = [&](group_row g) { return c_.is_schedulable_queue(c_.state().groups[g].queue); };
    for (const group_row g : *c_.state().pending_groups) {
      if (served(g) && work::count_pods(c_, g, &model::sub_counts::pending) > 0) groups.push_back(g);
    }
    for (const auto* units : {&what.recorded, &what.potential}) {
      for (const victim_unit& one : *units) {
        if (!victims.insert(one.group).second) continue;
        if (served(one.group) && work::count_pods(c_, one.group, &model::sub_counts::pending) == 0)
          groups.push_back(one.group);
      }
    }
    job_queue queue(c_, 0);
    if (auto done = queue.fill(groups); !done) return done.failure();
    std::size_t open = victims.size() + 1;
    bool placed = false;
    const placing how{true, &nodes};
    work::failure why;
    while (!queue.empty() && open > 0) {
      const group_row group = queue.pop();
      const bool waits = group == group_;
      if (!waits && !victims.contains(group)) continue;
      --open;
      result<bool> done = place_group(c_, group, how, why);
      if (!done) return done;
      if (*done) {
        placed = placed || waits;
      } else if (waits) {
        return false;
      } else {
        (void)c_.chunk_of(group, true);  // so KAI keeps this chunk, victims included
      }
    }
    return placed;
  }

  core& c_;
  group_row group_;
  const victim_rules& rules_;
  bool gang_ = false;  ///< the second generator
  node_set feasible_;
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
  return remaining_group(c, group, pods).unit();
}

std::int64_t free_gpus(const core& c, node_row row) {
  const std::size_t at = static_cast<std::size_t>(row) * c.state().dims() + dim_gpu;
  return (*c.live.idle)[at] + (*c.live.releasing)[at];
}

result<search_outcome> find_victims(core& c, group_row group, const victim_rules& rules) {
  return search(c, group, rules).run();
}

}  // namespace kaisched::actions
