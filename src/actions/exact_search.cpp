#include "actions/exact_search.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <optional>

#include "actions/domain_walk.hpp"
#include "actions/piece_sets.hpp"
#include "actions/step_cost.hpp"
#include "actions/victim_stream.hpp"

namespace kaisched::actions {

namespace {

using framework::session_state;

constexpr std::size_t small_nodes = 6;
constexpr std::size_t small_units = 10;
constexpr std::size_t small_set = 4;
constexpr std::size_t pods_per_step = 32;     ///< that are looked at and not tried
constexpr std::size_t groups_per_step = 128;  ///< likewise, by amounts alone
constexpr std::size_t most_kept = 8;          ///< sets of leaf queues
constexpr std::size_t every_unit = std::numeric_limits<std::size_t>::max();

std::int64_t gpus_in(const session_state& c, const victim_unit& unit) {
  std::int64_t sum = 0;
  for (const pod_row p : unit.pods) sum += gpus_of(c, p);
  return sum;
}

}  // namespace

exact_search::exact_search(victim_search_state& kept, group_row waiting, const victim_rules& rules, domain_plan* plan)
    : kept_(kept),
      c_(kept.c),
      waiting_(waiting),
      rules_(rules),
      plan_(plan),
      trial_(kept.c, waiting, rules, plan),
      bound_(kept.c, kept.rooms, waiting, rules),
      chains_(kept.c) {}

bool exact_search::lacks_room(std::span<const victim_unit> set) { return bound_.lacks_room(set); }

/// The list of a search that may take from all groups of some leaf queues is that of all such searches, until something
/// is committed.
std::shared_ptr<const candidate_list> exact_search::known_list(const taken_leaves& taken, std::uint32_t scope) {
  if (kept_.candidates_at != c_.statement.commits) kept_.candidates.clear();
  kept_.candidates_at = c_.statement.commits;
  for (const victim_search_state::shared_list& one : kept_.candidates) {
    if (one.scope == scope && one.leaves == taken.leaves) return one.list;
  }
  return nullptr;
}

/// Collecting would take more steps than are left: one for each group.
bool exact_search::is_too_much_to_collect(const taken_leaves& taken) {
  std::int64_t groups = 0;
  for (const queue_row leaf : taken.leaves) {
    group_index::cursor members = kept_.victims.members_of(leaf);
    for (group_row g = members.next(); g != no_row; g = members.next()) groups += bound_.frees_usable_node(g) ? 1 : 0;
  }
  return groups > c_.run.search_effort.left();
}

result<void> exact_search::collect(std::size_t most, candidate_groups which) {
  measure();
  bool is_shared = most == every_unit && !c_.access.budgets->used();
  taken_leaves taken;
  if (is_shared) taken = leaves_taken_from();
  is_shared = is_shared && taken.all;
  const std::uint32_t scope = which == candidate_groups::all ? no_row : bound_.usable_nodes();
  if (is_shared) {
    if (auto known = known_list(taken, scope)) {
      all_ = std::move(known);
      if (scope != no_row) c_.run.search_effort.draw(static_cast<std::int64_t>(all_->units.size()));
      return {};
    }
    if (scope != no_row && is_too_much_to_collect(taken)) {
      c_.run.search_effort.draw(c_.run.search_effort.left());
      return {};
    }
  }
  auto made = std::make_shared<candidate_list>();
  all_ = made;
  victim_stream stream(kept_);
  const auto& from_queue = rules_.queue_may_move ? rules_.queue_may_move : rules_.queue_may_lose;
  std::function<bool(group_row)> helps;
  if (which == candidate_groups::on_usable_nodes) helps = [this](group_row g) { return bound_.frees_usable_node(g); };
  if (auto done = stream.open(kept_, rules_, waiting_, from_queue, helps); !done) return done;
  std::map<group_row, std::uint32_t> last;
  while (!stream.empty() && made->units.size() < most) {
    if (most == every_unit) {
      if (!c_.run.search_effort.goes_on()) break;
      c_.run.search_effort.draw(1);
    }
    result<victim_unit> unit = stream.next();
    if (!unit) return unit.failure();
    if (unit->pods.empty()) continue;
    const auto position = static_cast<std::uint32_t>(made->units.size());
    const auto [at, first] = last.try_emplace(unit->group, position);
    made->before.push_back(first ? no_row : std::exchange(at->second, position));
    for (const pod_row p : unit->pods) made->by_node.emplace_back(node_of(c_, p), position);
    made->units.push_back(std::move(*unit));
  }
  std::sort(made->by_node.begin(), made->by_node.end());
  made->by_node.erase(std::unique(made->by_node.begin(), made->by_node.end()), made->by_node.end());
  if (is_shared && stream.empty()) {
    if (kept_.candidates.size() == most_kept) kept_.candidates.clear();
    kept_.candidates.push_back({std::move(taken.leaves), scope, std::move(made)});
  }
  return {};
}

std::vector<victim_unit> exact_search::units_at(const positions& at) const {
  std::vector<victim_unit> units;
  units.reserve(at.size());
  for (const std::uint32_t i : at) units.push_back(all_->units[i]);
  return units;
}

exact_search::positions exact_search::closure_of(const positions& at) const {
  positions all;
  for (std::uint32_t i : at) {
    for (; i != no_row; i = all_->before[i]) all.push_back(i);
  }
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

/// GPUs that the chunk needs beyond what is free: at least so many are lost.
std::int64_t exact_search::gpus_missing() const {
  std::int64_t missing = 0;
  for (const pod_row p : c_.chunks.partial.chunk) missing += gpus_wanted(c_, p);
  c_.nodes_by_gpu().each_key_from(
      1, [&](std::int64_t free, std::size_t nodes) { missing -= free * static_cast<std::int64_t>(nodes); });
  return std::max<std::int64_t>(0, missing);
}

/// Some pod of the chunk has no node, whoever leaves.
bool exact_search::has_pod_without_node() const {
  std::map<node_row, positions> on_node;
  for (const auto& [row, unit] : all_->by_node) on_node[row].push_back(unit);
  std::set<class_row> known;
  const positions nobody;
  return std::any_of(c_.chunks.partial.chunk.begin(), c_.chunks.partial.chunk.end(), [&](pod_row p) {
    if (!known.insert(c_.state().pods[p].pod_class).second) return false;
    for (node_row row = 0; row < c_.state().node_count(); ++row) {
      const auto at = on_node.find(row);
      if (may_use(row, p) && makes_room_on(row, p, at == on_node.end() ? nobody : at->second)) return false;
    }
    return true;
  });
}

bool exact_search::may_use(node_row row, pod_row pod) const {
  if (c_.constraints.closes(c_.state().pods[pod].group, row)) return false;
  return c_.choice.accepts(c_, c_.state().pods[pod].pod_class, row);
}

result<bool> exact_search::attempt(const positions& at) {
  if (tried_.contains(at)) return false;
  const std::vector<victim_unit> set = units_at(at);
  if (lacks_room(set)) {
    // What has to have a place again may find it once others have left as well.
    was_placed_ = was_placed_ || bound_.had_room_for_chunk();
    if (auto done = trial_.leave_out(set); !done) return done.failure();
    return false;
  }
  result<bool> helps = trial_.run(set);
  was_placed_ = was_placed_ || trial_.was_placed();
  if (helps && !*helps) tried_.insert(at);
  if (helps && *helps) found_ = set;
  return helps;
}

// ---- small clusters ------------------------------------------------------------------------------------------------

result<bool> exact_search::is_small() {
  if (c_.state().node_count() > small_nodes) return false;
  if (auto done = collect(small_units + 1); !done) return done.failure();
  return all_->units.size() <= small_units;
}

result<bool> exact_search::needs_nobody() {
  if (lacks_room({})) return false;
  if (auto done = collect(1); !done) return done.failure();
  found_.clear();
  return all_->units.empty() ? false : trial_.run({});
}

result<bool> exact_search::find_smallest() {
  if (all_->units.empty() || has_pod_without_node()) return false;
  const auto count = static_cast<std::uint32_t>(all_->units.size());
  std::vector<sized_set> sets;
  for (std::uint32_t bits = 0; bits < (1U << count); ++bits) {
    positions set;
    for (std::uint32_t i = 0; i < count; ++i) {
      if ((bits >> i & 1U) != 0) set.push_back(i);
    }
    if (closure_of(set) == set) sets.push_back({set.size(), std::move(set)});
  }
  std::sort(sets.begin(), sets.end());
  const victim_cost least = least_possible(sets);
  std::optional<victim_cost> best;
  std::vector<victim_unit> cheapest;
  const std::uint32_t start = c_.statement.depth();
  for (const sized_set& one : sets) {
    result<bool> helps = attempt(one.set);
    if (!helps) return helps;
    if (!*helps) continue;
    victim_cost cost = victim_cost::of_lost(c_, found_, how_);
    const bool ends = cost.is_nothing() || !least.is_less_than(cost);
    if (!best || cost.is_less_than(*best)) {
      best = std::move(cost);
      cheapest = found_;
      if (ends) return true;
    }
    c_.statement.rollback(start);
  }
  if (!best) return false;
  found_ = std::move(cheapest);
  return trial_.run(found_);
}

/// No set that helps loses less: what is lost is one of these sets, and leaves at least the GPUs that are missing.
victim_cost exact_search::least_possible(std::span<const sized_set> sets) const {
  const std::int64_t missing = gpus_missing();
  std::optional<victim_cost> least;
  for (const sized_set& one : sets) {
    const std::vector<victim_unit> units = units_at(one.set);
    std::int64_t gpus = 0;
    for (const victim_unit& unit : units) gpus += gpus_in(c_, unit);
    if (gpus < missing) continue;
    victim_cost cost = victim_cost::of_all(c_, units, how_);
    if (!least || cost.is_less_than(*least)) least = std::move(cost);
  }
  return least.value_or(victim_cost{});
}

// ---- sets of up to four units --------------------------------------------------------------------------------------

template <class Visit>
void exact_search::each_victim(Visit visit) const {
  const auto& from_queue = rules_.queue_may_move ? rules_.queue_may_move : rules_.queue_may_lose;
  for (const queue_row leaf : kept_.victims.leaves()) {
    if (!from_queue(leaf)) continue;
    group_index::cursor members = kept_.victims.members_of(leaf);
    for (group_row g = members.next(); g != no_row; g = members.next())
      visit(leaf, g, g != waiting_ && rules_.may_lose(g));
  }
}

/// How losses of the candidates are counted: by time only if there are candidates, and all have a checkpoint.
void exact_search::measure() {
  if (is_measured_) return;
  is_measured_ = true;
  bool is_empty = true;
  const auto& from_queue = rules_.queue_may_move ? rules_.queue_may_move : rules_.queue_may_lose;
  for (const queue_row leaf : kept_.victims.leaves()) {
    if (!from_queue(leaf)) continue;
    group_index::cursor members = kept_.victims.members_of(leaf);
    for (group_row g = members.next(); g != no_row; g = members.next()) {
      if (g == waiting_ || !rules_.may_lose(g)) continue;
      is_empty = false;
      if (c_.state().group_extras[g].last_checkpoint != unset) continue;
      how_ = measure_of(c_, false);
      return;
    }
  }
  how_ = measure_of(c_, !is_empty);
}

/// The leaf queues that groups leave from. Groups are looked at only where some of them may not lose pods.
exact_search::taken_leaves exact_search::leaves_taken_from() const {
  taken_leaves found;
  const auto& from_queue = rules_.queue_may_move ? rules_.queue_may_move : rules_.queue_may_lose;
  found.all = rules_.most == 0;
  const bool is_victim = kept_.victims.is_member(waiting_) && from_queue(c_.state().groups[waiting_].queue);
  found.is_listed = !rules_.every_group_may_lose || is_victim;
  if (!found.is_listed) {
    for (const queue_row leaf : kept_.victims.leaves()) {
      if (from_queue(leaf) && kept_.victims.members_of(leaf).next() != no_row) found.leaves.push_back(leaf);
    }
    return found;
  }
  each_victim([&](queue_row leaf, group_row g, bool may_lose) {
    if (found.leaves.empty() || found.leaves.back() != leaf) found.leaves.push_back(leaf);
    found.all = found.all && may_lose;
    if (may_lose) found.groups.push_back(g);
  });
  return found;
}

bool exact_search::is_hopeless() {
  // For all groups that may take from the same leaf queues, and from all groups there, the same pods leave.
  if (kept_.all_left_at != c_.statement.commits) kept_.all_left.clear();
  kept_.all_left_at = c_.statement.commits;
  taken_leaves taken = leaves_taken_from();
  if (taken.leaves.empty()) return true;
  const bool is_shared = taken.all && !c_.constraints.has(policy::trait_closes_nodes);
  std::vector<std::pair<queue_row, bool>> leaves;
  for (const queue_row leaf : taken.leaves) leaves.emplace_back(leaf, bound_.returns(leaf));
  const auto known = std::find_if(kept_.all_left.begin(), kept_.all_left.end(),
                                  [&](const auto& one) { return one->leaves == leaves; });
  if (is_shared && known != kept_.all_left.end()) {
    look_ = static_cast<std::int64_t>((*known)->groups / groups_per_step);
    c_.run.search_effort.draw(look_);
    bound_.ask_again((*known)->pods);
    const bool lacks = bound_.lacks_room();
    bound_.rest();
    return lacks;
  }
  std::vector<group_row>& groups = taken.groups;
  if (!taken.is_listed) each_victim([&](queue_row, group_row g, bool) { groups.push_back(g); });
  if (groups.empty()) return true;
  if (kept_.all_left.size() == most_kept) kept_.all_left.clear();
  auto made = std::make_unique<victim_search_state::emptied_leaves>();
  made->leaves = std::move(leaves);
  made->groups = groups.size();
  bound_.begin(made->pods);
  for (const group_row g : groups) bound_.leave(g);
  look_ = static_cast<std::int64_t>(groups.size() / groups_per_step);
  c_.run.search_effort.draw(look_);
  const bool lacks = bound_.lacks_room();
  bound_.rest();
  if (is_shared) kept_.all_left.push_back(std::move(made));
  return lacks;
}

result<bool> exact_search::find_small_set() {
  const std::vector<excess> limits = excesses();
  // Where amounts do not tell which units open a node all of them may.
  const framework::pod_list& chunk = c_.chunks.partial.chunk;
  const bool by_amount = std::none_of(chunk.begin(), chunk.end(),
                                      [this](pod_row p) { return c_.constraints.is_not_by_amount(c_.access, p); });
  const candidate_groups which =
      by_amount && limits.empty() ? candidate_groups::on_usable_nodes : candidate_groups::all;
  c_.run.search_effort.draw(look_);
  if (!c_.run.search_effort.goes_on()) return false;
  if (auto done = collect(every_unit, which); !done) return done.failure();
  if (!c_.run.search_effort.goes_on()) return false;
  if (all_->units.empty() || lacks_room(all_->units) || has_pod_without_node()) return false;
  const bool some_may_be_lost =
      !rules_.may_be_lost || std::any_of(all_->units.begin(), all_->units.end(), rules_.may_be_lost);
  if (!some_may_be_lost && gpus_missing() > 0) return false;
  if (cannot_end(limits)) return false;
  if (!by_amount) return try_sets_of(every_position());
  result<bool> helps = !limits.empty()                       ? try_sets_of(units_that_open_nodes_or_end(limits))
                       : c_.chunks.partial.chunk.size() == 1 ? try_sets_by_node()
                                                             : try_sets_of(units_that_open_nodes());
  if (!helps || *helps) return helps;
  // Where the chunk has no place, or is refused whoever else leaves, larger sets are no better.
  if (!was_placed_ || !rules_.more_may_help) return false;
  if (which != candidate_groups::all) {
    tried_.clear();
    if (auto done = collect(every_unit, candidate_groups::all); !done) return done.failure();
  }
  return try_sets_of(every_position());
}

exact_search::positions exact_search::every_position() const {
  positions all(all_->units.size());
  std::iota(all.begin(), all.end(), 0U);
  return all;
}

result<bool> exact_search::try_sets_by_node() {
  std::set<sized_set> sets{{0, {}}};
  for (std::size_t i = 0; i < all_->by_node.size();) {
    const node_row row = all_->by_node[i].first;
    positions on_node;
    for (; i < all_->by_node.size() && all_->by_node[i].first == row; ++i) on_node.push_back(all_->by_node[i].second);
    const pod_row pod = c_.chunks.partial.chunk.front();
    if (may_use(row, pod) && makes_room_on(row, pod, closure_of(on_node))) add_sets_of(row, on_node, sets);
  }
  for (const sized_set& one : sets) {
    if (!c_.run.search_effort.goes_on()) return false;
    result<bool> helps = attempt(one.set);
    if (!helps || *helps) return helps;
  }
  return false;
}

/// Sets that make room on the node, and of which no unit there is needless for that.
void exact_search::add_sets_of(node_row row, const positions& on_node, std::set<sized_set>& to) {
  positions chosen;
  const std::function<void(std::size_t)> grow = [&](std::size_t from) {
    for (std::size_t i = from; i < on_node.size() && c_.run.search_effort.goes_on(); ++i) {
      chosen.push_back(on_node[i]);
      positions set = closure_of(chosen);
      c_.run.search_effort.draw(1);
      if (set.size() <= small_set) {
        if (makes_room_on(row, c_.chunks.partial.chunk.front(), set))
          to.insert({set.size(), std::move(set)});
        else
          grow(i + 1);
      }
      chosen.pop_back();
    }
  };
  grow(0);
}

/// By amounts alone.
bool exact_search::makes_room_on(node_row row, pod_row pod, const positions& at) const {
  const std::vector<std::int64_t>& asked = c_.state().class_of(pod).ask.request;
  const std::size_t first = static_cast<std::size_t>(row) * c_.state().dims();
  for (std::uint32_t d = 0; d < std::min<std::size_t>(asked.size(), c_.state().dims()); ++d) {
    if (asked[d] <= 0) continue;
    std::int64_t free = (*c_.live.idle)[first + d] + (*c_.live.releasing)[first + d];
    for (const std::uint32_t i : at) {
      for (const pod_row p : all_->units[i].pods) {
        if (node_of(c_, p) == row) free += c_.state().class_of(p).requests(static_cast<dimension>(d));
      }
    }
    if (free < asked[d]) return false;
  }
  return true;
}

/// Units of nodes that have more places for pods of the chunk when four units leave, and what leaves before them.
exact_search::positions exact_search::units_that_open_nodes() {
  const std::size_t dims = c_.state().dims();
  positions found;
  std::vector<std::int64_t> freed(dims);
  std::vector<std::vector<std::int64_t>> amounts(dims);
  for (std::size_t i = 0; i < all_->by_node.size();) {
    const node_row row = all_->by_node[i].first;
    positions on_node;
    for (std::vector<std::int64_t>& of : amounts) of.clear();
    for (; i < all_->by_node.size() && all_->by_node[i].first == row; ++i) {
      on_node.push_back(all_->by_node[i].second);
      std::fill(freed.begin(), freed.end(), 0);
      for (const pod_row p : all_->units[all_->by_node[i].second].pods) {
        if (node_of(c_, p) == row) bound_.add_freed(p, freed);
      }
      for (std::size_t d = 0; d < dims; ++d) amounts[d].push_back(freed[d]);
    }
    for (std::size_t d = 0; d < dims; ++d) {
      const std::size_t most = std::min(small_set, amounts[d].size());
      std::partial_sort(amounts[d].begin(), amounts[d].begin() + static_cast<std::ptrdiff_t>(most), amounts[d].end(),
                        std::greater<>());
      freed[d] =
          std::accumulate(amounts[d].begin(), amounts[d].begin() + static_cast<std::ptrdiff_t>(most), std::int64_t{0});
    }
    if (bound_.opens(row, freed)) found.insert(found.end(), on_node.begin(), on_node.end());
  }
  return closure_of(found);
}

std::vector<exact_search::excess> exact_search::excesses() const {
  std::vector<excess> found;
  if (!c_.has_proportion) return found;
  const model::quota_vector asked = c_.chunks.chunk_request(waiting_);
  for (queue_row q = c_.state().groups[waiting_].queue; q != no_row; q = (*c_.state().queues)[q].parent) {
    const model::queue_info& info = (*c_.state().queues)[q];
    for (std::uint32_t r = 0; r < quota_dimensions; ++r) {
      const std::int64_t over = (*c_.live.queue_allocated)[q][r] + asked[r] - info.limit[r];
      if (asked[r] != 0 && info.limit[r] != unlimited && over > 0) found.push_back({q, r, over});
    }
  }
  return found;
}

std::int64_t exact_search::freed_of(const victim_unit& unit, const excess& one) const {
  queue_row q = c_.state().groups[unit.group].queue;
  while (q != no_row && q != one.queue) q = (*c_.state().queues)[q].parent;
  if (q == no_row) return 0;
  std::int64_t sum = 0;
  for (const pod_row p : unit.pods) sum += c_.queues.held(p)[one.resource];
  return sum;
}

bool exact_search::cannot_end(std::span<const excess> limits) const {
  return std::any_of(limits.begin(), limits.end(), [&](const excess& one) {
    std::vector<std::int64_t> amounts;
    amounts.reserve(all_->units.size());
    for (const victim_unit& unit : all_->units) amounts.push_back(freed_of(unit, one));
    std::sort(amounts.begin(), amounts.end(), std::greater<>());
    amounts.resize(std::min(small_set, amounts.size()));
    return std::accumulate(amounts.begin(), amounts.end(), std::int64_t{0}) < one.over;
  });
}

/// What has to leave for a limit can be on other nodes than what has to leave for the room.
exact_search::positions exact_search::units_that_open_nodes_or_end(std::span<const excess> limits) {
  positions found = units_that_open_nodes();
  for (std::uint32_t i = 0; i < all_->units.size(); ++i) {
    const bool frees =
        std::any_of(limits.begin(), limits.end(), [&](const excess& one) { return freed_of(all_->units[i], one) > 0; });
    if (frees) found.push_back(i);
  }
  return closure_of(found);
}

result<bool> exact_search::try_sets_of(const positions& candidates) {
  for (std::size_t size = 0; size <= std::min(small_set, candidates.size()); ++size) {
    positions set;
    result<bool> helps = extend(candidates, 0, size, set);
    if (!helps || *helps) return helps;
  }
  return false;
}

result<bool> exact_search::extend(const positions& candidates, std::size_t from, std::size_t size, positions& set) {
  if (set.size() == size) return attempt(set);
  for (std::size_t i = from; i < candidates.size() && c_.run.search_effort.goes_on(); ++i) {
    const std::uint32_t before = all_->before[candidates[i]];
    if (before != no_row && !std::binary_search(set.begin(), set.end(), before)) continue;
    set.push_back(candidates[i]);
    result<bool> helps = extend(candidates, i + 1, size, set);
    set.pop_back();
    if (!helps || *helps) return helps;
  }
  return false;
}

// ---- pieces of domains ---------------------------------------------------------------------------------------------

result<bool> exact_search::find_in_pieces() {
  const model::cluster_state& s = c_.state();
  if (plan_ == nullptr) return false;
  if (auto done = collect(every_unit); !done) return done.failure();
  if (all_->units.empty() || lacks_room(all_->units)) return false;
  std::vector<std::int64_t> more(static_cast<std::size_t>(s.node_count()) * s.dims(), 0);
  std::vector<positions> on_node(s.node_count());
  for (std::uint32_t i = 0; i < all_->units.size(); ++i) {
    for (const pod_row p : all_->units[i].pods) {
      const std::size_t at = static_cast<std::size_t>(node_of(c_, p)) * s.dims();
      for (dimension d = 0; d < s.dims(); ++d) more[at + d] += s.class_of(p).requests(d);
    }
  }
  std::vector<std::uint32_t> victims(s.node_count(), 0);
  for (const auto& [row, unit] : all_->by_node) {
    on_node[row].push_back(unit);
    ++victims[row];
  }
  framework::failure why;
  const placing how{true, nullptr, nullptr};
  domain_walk walk(c_, waiting_, how, why);
  // Each set is a number of steps; more pieces than that are not tried anyway.
  const std::int64_t most = c_.run.search_effort.left() / steps_of_trial + 1;
  const auto victims_on = [&](std::span<const node_row> rows) {
    positions there;
    for (const node_row row : rows) there.insert(there.end(), on_node[row].begin(), on_node[row].end());
    return closure_of(there);
  };
  const offered_pieces offered =
      walk.pieces_with(c_.chunks.partial.chunk, more, victims, static_cast<std::size_t>(most));
  piece_sets pieces(c_, offered.kinds, more, victims_on);
  const bool all = c_.options.topology_steps == unlimited;
  const std::size_t most_sets =
      all ? std::numeric_limits<std::size_t>::max() : static_cast<std::size_t>(c_.options.topology_steps);
  const std::int64_t left = c_.run.search_effort.left();
  const std::int64_t looks = all ? left : std::min(left, steps_of_trial * c_.options.topology_steps);
  const std::vector<piece_set> sets = pieces.find(most_sets, looks);
  std::size_t tried = 0;
  for (; tried < sets.size() && c_.run.search_effort.goes_on(); ++tried) {
    plan_pieces(sets[tried], offered);
    result<bool> helps = attempt(sets[tried].victims);
    if (!helps || *helps) return helps;
  }
  plan_->first.clear();
  if (pieces.is_cut() || tried < sets.size()) pieces_tried_ = static_cast<std::int64_t>(tried);
  return false;
}

/// Each member tries its piece of the set first, those above it the domains that these are in.
void exact_search::plan_pieces(const piece_set& set, const offered_pieces& offered) {
  const std::size_t node_count = c_.state().node_count();
  plan_->first.clear();
  for (const piece_set::part& part : set.parts) {
    plan_->first.emplace(part.member, one_by_one(part.nodes, node_count));
    for (std::size_t i = 0; i < offered.holders.size(); ++i) {
      if (part.piece->homes[i] == no_row) continue;
      const auto& [holder, tree] = offered.holders[i];
      const std::vector<node_row>& nodes = tree->domains[part.piece->homes[i]].nodes;
      const auto [at, is_new] =
          plan_->first.try_emplace(holder, nodes_offered{framework::node_set(node_count, 0), nodes, {}});
      for (auto row = nodes.begin(); is_new && row != nodes.end(); ++row) at->second.among[*row] = 1;
    }
  }
}

// ---- what can be left out, or exchanged ----------------------------------------------------------------------------

result<bool> exact_search::improve(std::vector<victim_unit> set) {
  found_ = std::move(set);
  measure();
  result<bool> helps = trial_.run(found_);
  if (!helps || !*helps) return helps;
  cost_ = victim_cost::of_lost(c_, found_, how_);
  c_.statement.rollback(0);
  in_vain_.clear();
  for (bool again = true; again;) {
    if (result<bool> smaller = leave_out(); !smaller) return smaller;
    result<bool> cheaper = exchange();
    if (!cheaper) return cheaper;
    again = *cheaper;
  }
  return trial_.decide(found_);
}

/// The last unit of its group in the set.
bool exact_search::can_leave(std::size_t i) const {
  return std::none_of(found_.begin() + static_cast<std::ptrdiff_t>(i) + 1, found_.end(),
                      [&](const victim_unit& u) { return u.group == found_[i].group; });
}

/// Until nothing can be left out: what is lost must not become more.
result<bool> exact_search::leave_out() {
  bool changed = false;
  for (bool again = true; again;) {
    again = false;
    room_bound::checked_amounts surplus = bound_.surplus(found_);
    for (std::size_t i = found_.size(); i-- > 0;) {
      if (!can_leave(i)) continue;
      if (!c_.run.search_effort.goes_on()) return changed;
      const room_bound::checked_amounts without = bound_.least_freed(std::span(&found_[i], 1));
      if (surplus[0] < without[0] || surplus[1] < without[1]) continue;
      std::vector<victim_unit> rest = found_;
      rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(i));
      if (lacks_room(rest)) continue;
      std::vector<pod_row> key = pods_in(rest);
      std::sort(key.begin(), key.end());
      if (in_vain_.contains(key)) continue;
      result<bool> helps = trial_.run(rest);
      if (!helps) return helps;
      victim_cost cost = *helps ? victim_cost::of_lost(c_, rest, how_) : victim_cost{};
      if (*helps && !cost_.is_less_than(cost)) {
        cost_ = std::move(cost);
        found_ = std::move(rest);
        again = true;
        changed = true;
      } else {
        in_vain_.insert(std::move(key));
      }
      c_.statement.rollback(0);
      if (*helps) surplus = bound_.surplus(found_);
    }
  }
  return changed;
}

/// One victim, with what its group loses after it, for one that costs less, with what its group loses before it.
result<bool> exact_search::exchange() {
  if (cost_.is_nothing()) return false;
  const std::vector<offer> offers = cheaper_units();
  const room_bound::checked_amounts surplus = bound_.surplus(found_);
  std::size_t seen = 0;
  for (std::size_t out = 0; out < found_.size() && !offers.empty(); ++out) {
    if (!can_leave(out)) continue;
    const victim_cost without = victim_cost::of_all(c_, std::span(&found_[out], 1), how_);
    const room_bound::checked_amounts lost = bound_.least_freed(std::span(&found_[out], 1));
    const auto is_too_little = [&](const room_bound::checked_amounts& gained) {
      return surplus[0] - lost[0] + gained[0] < 0 || surplus[1] - lost[1] + gained[1] < 0;
    };
    for (const offer& one : offers) {
      if (!one.cost.is_less_than(without)) break;
      if (++seen % groups_per_step == 0) c_.run.search_effort.draw(1);
      if (is_too_little(one.freed)) continue;
      if (!c_.run.search_effort.goes_on()) return false;
      result<bool> cheaper = try_instead(out, one);
      if (!cheaper || *cheaper) return cheaper;
    }
  }
  return false;
}

/// Units that cost less than the set, with what their groups lose before them; of equal ones that of the group that is
/// served last.
std::vector<exact_search::offer> exact_search::cheaper_units() {
  std::vector<offer> offers;
  std::size_t seen = 0;
  std::set<pod_row> first_of_found;  // units have no pods in common
  for (const victim_unit& one : found_) first_of_found.insert(one.pods.front());
  each_victim([&](queue_row, group_row g, bool may_lose) {
    if (!may_lose) return;
    const std::vector<victim_unit>& chain = chains_.of(g);
    for (std::size_t i = 0; i < chain.size(); ++i) {
      const victim_unit& unit = chain[i];
      seen += unit.pods.size();
      if (c_.access.budgets->used() && budgets_refuse(c_, rules_, unit.pods)) break;
      if (first_of_found.contains(unit.pods.front()) || (rules_.may_be_lost && !rules_.may_be_lost(unit)) ||
          !frees_a_usable_node(unit))
        continue;
      victim_cost cost = victim_cost::of_all(c_, std::span(chain).first(i + 1), how_);
      if (cost.is_less_than(cost_))
        offers.push_back({std::move(cost), g, i + 1, bound_.most_freed(std::span(chain).first(i + 1))});
    }
  });
  c_.run.search_effort.draw(static_cast<std::int64_t>(seen / pods_per_step));
  std::sort(offers.begin(), offers.end(), [this](const offer& a, const offer& b) {
    if (a.cost.is_less_than(b.cost) || b.cost.is_less_than(a.cost)) return a.cost.is_less_than(b.cost);
    if (a.group != b.group) return kept_.victims.rank_of(a.group) > kept_.victims.rank_of(b.group);
    return a.units < b.units;
  });
  return offers;
}

result<bool> exact_search::try_instead(std::size_t out, const offer& in) {
  std::vector<victim_unit> other = found_;
  other.erase(other.begin() + static_cast<std::ptrdiff_t>(out));
  for (const victim_unit& unit : std::span(chains_.of(in.group)).first(in.units)) {
    const bool is_in = std::any_of(other.begin(), other.end(),
                                   [&](const victim_unit& u) { return u.group == unit.group && u.pods == unit.pods; });
    if (!is_in) other.push_back(unit);
  }
  std::vector<pod_row> key = pods_in(other);
  std::sort(key.begin(), key.end());
  if (in_vain_.contains(key) || lacks_room(other)) {
    c_.run.search_effort.draw(1);
    return false;
  }
  result<bool> helps = trial_.run(other);
  if (!helps) return helps;
  victim_cost cost = *helps ? victim_cost::of_lost(c_, other, how_) : victim_cost{};
  c_.statement.rollback(0);
  if (!*helps || !cost.is_less_than(cost_)) {
    in_vain_.insert(std::move(key));
    return false;
  }
  cost_ = std::move(cost);
  found_ = std::move(other);
  return true;
}

/// Some pod of the chunk may use a node of the unit.
bool exact_search::frees_a_usable_node(const victim_unit& unit) const {
  return std::any_of(unit.pods.begin(), unit.pods.end(), [&](pod_row victim) {
    return std::any_of(c_.chunks.partial.chunk.begin(), c_.chunks.partial.chunk.end(),
                       [&](pod_row p) { return may_use(node_of(c_, victim), p); });
  });
}

}  // namespace kaisched::actions
