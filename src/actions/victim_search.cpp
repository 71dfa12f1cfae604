#include "actions/victim_search.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <map>
#include <memory_resource>
#include <set>
#include <utility>

#include "actions/domain_filter.hpp"
#include "actions/exact_search.hpp"
#include "actions/job_queue.hpp"
#include "actions/placement.hpp"
#include "actions/room_bound.hpp"
#include "actions/step_cost.hpp"
#include "actions/victim_builder.hpp"
#include "actions/victim_generators.hpp"
#include "actions/victim_rehearsal.hpp"
#include "actions/victim_search_state.hpp"
#include "actions/victim_trial.hpp"
#include "base/set_hash.hpp"
#include "framework/members.hpp"
#include "framework/repeated_checks.hpp"

namespace kaisched::actions {

namespace {

using framework::node_set;
using framework::session_state;

/// While a simulation of `compat` is played the nodes are noted that it changes, as its undo may leave traces there.
class noting_touches {
 public:
  explicit noting_touches(victim_search_state& kept) : kept_(kept) {
    if (!kept.plays_all) return;
    kept.touched.clear();
    kept.c.statement.touches = &kept.touched;
  }
  ~noting_touches() { kept_.c.statement.touches = nullptr; }
  noting_touches(const noting_touches&) = delete;
  noting_touches& operator=(const noting_touches&) = delete;

 private:
  victim_search_state& kept_;
};

class search {
 public:
  search(victim_search_state& kept, group_row group, const victim_rules& rules)
      : kept_(kept),
        c_(kept.c),
        group_(group),
        rules_(rules),
        recorded_(kept.recorded),
        found_(kept.found),
        hopeless_(&kept.memory),
        chains_(kept.c),
        plan_{{}, domain_steps(kept.c.options)},
        trial_(kept.c, group, rules, plan()) {
    recorded_.clear();
    found_.clear();
  }

  result<search_outcome> run() {
    const framework::pod_list chunk = c_.chunks.chunk_of(group_, true);
    if (chunk.empty()) return search_outcome::failed;
    const std::uint32_t before = framework::count_pods(c_, group_, &model::sub_counts::active_used);
    find_feasible();
    if (!c_.compat()) return run_strict(chunk);
    for (const bool gang : {false, true}) {
      if (!c_.has(generator(gang))) continue;
      result<bool> solved = solve(chunk, gang);
      if (!solved) return solved.failure();
      if (!*solved) continue;
      // What the reference asks here forgets `min_sub_group`.
      const bool counts = whole_gang() && framework::count_pods(c_, group_, &model::sub_counts::active_used) > before;
      return counts ? search_outcome::solved : search_outcome::abandoned;
    }
    return search_outcome::failed;
  }

  bool is_hopeless() {
    if (!c_.compat() || kept_.plays_all || c_.adds_parts_up() || c_.constraints.has(policy::trait_pays_gpus))
      return false;
    const framework::pod_list chunk = c_.chunks.chunk_of(group_, true);
    if (chunk.empty()) return false;
    c_.chunks.take_part(group_, chunk);
    const bool hopeless = has_no_room_at_all(c_.chunks.partial.chunk);
    c_.chunks.drop_part();
    return hopeless;
  }

 private:
  [[nodiscard]] domain_plan* plan() { return asks_for_shapes(c_, group_) ? &plan_ : nullptr; }

  static std::string_view generator(bool gang) { return gang ? "sg-multinodegang" : "sg-nodelocalgreedy"; }

  /// Small clusters exactly, larger ones with the generators, and where these fail all small sets. What can be left out
  /// of a solution is left out.
  result<search_outcome> run_strict(std::span<const pod_row> chunk) {
    if (!c_.has(generator(false)) && !c_.has(generator(true))) return search_outcome::failed;
    c_.chunks.take_part(group_, chunk);
    if (has_no_room_at_all(chunk)) {
      c_.chunks.drop_part();
      return search_outcome::failed;
    }
    exact_search exact(kept_, group_, rules_, plan());
    result<bool> small = exact.is_small();
    if (!small) return small.failure();
    if (!*small) {
      result<bool> alone = exact.needs_nobody();
      if (!alone) return alone.failure();
      if (*alone) {
        c_.chunks.drop_part();
        return search_outcome::solved;
      }
      result<bool> generated = exact.find_in_pieces();
      if (!generated) return generated.failure();
      if (*generated) {
        c_.statement.rollback(0);
        if (auto done = exact.improve(exact.found()); !done) return done.failure();
        c_.chunks.drop_part();
        return search_outcome::solved;
      }
      if (exact.is_hopeless()) {
        c_.chunks.drop_part();
        if (exact.pieces_tried() > 0) note_pieces(exact.pieces_tried());
        return search_outcome::failed;
      }
      generated = generate(chunk);
      if (!generated) return generated.failure();
      c_.statement.rollback(0);
      c_.chunks.take_part(group_, chunk);
      if (*generated) {
        result<bool> done = exact.improve(chains_.closed(found_));
        if (done && !*done) done = exact.improve(whole_);
        if (!done) return done.failure();
        c_.chunks.drop_part();
        return search_outcome::solved;
      }
    }
    result<bool> solved = *small ? exact.find_smallest() : exact.find_small_set();
    if (!solved) return solved.failure();
    if (*solved) {
      c_.statement.rollback(0);
      if (auto done = exact.improve(exact.found()); !done) return done.failure();
    }
    c_.chunks.drop_part();
    if (!*solved && exact.pieces_tried() > 0) note_pieces(exact.pieces_tried());
    return *solved ? search_outcome::solved : search_outcome::failed;
  }

  /// Why the group waits is known already, but for that not all has been tried.
  void note_pieces(std::int64_t tried) {
    const auto last = std::find_if(c_.results.failures.rbegin(), c_.results.failures.rend(),
                                   [this](const framework::failure& one) { return one.group == group_; });
    framework::failure& why = last == c_.results.failures.rend() ? c_.results.failures.emplace_back() : *last;
    why.group = group_;
    why.pieces_tried = std::max(why.pieces_tried, tried);
  }

  /// Too many GPUs are asked for even if everything had left that can be lost: by all nodes together, by pods of one
  /// size node for node, or by the domains of a required level.
  [[nodiscard]] bool has_no_room_at_all(std::span<const pod_row> chunk) {
    std::int64_t asked = 0;
    std::int64_t smallest = std::numeric_limits<std::int64_t>::max();
    for (const pod_row p : chunk) {
      asked += gpus_wanted(c_, p);
      smallest = std::min(smallest, gpus_wanted(c_, p));
    }
    std::int64_t room = 0;
    std::int64_t places = 0;
    const auto is_enough = [&] {
      return room >= asked && (smallest == 0 || places >= static_cast<std::int64_t>(chunk.size()));
    };
    for (node_row row = 0; row < c_.state().node_count() && !is_enough(); ++row) {
      room += kept_.most_free(row);
      if (smallest > 0) places += kept_.most_free(row) / smallest;
    }
    if (!is_enough()) return true;
    if (c_.topologies == nullptr) return false;
    std::vector<std::int64_t> free;
    free.reserve(c_.state().node_count());
    for (node_row row = 0; row < c_.state().node_count(); ++row) free.push_back(kept_.most_free(row));
    return !domain_filter(c_, group_, free).plausible();
  }

  /// True: the statement holds a solution for the whole chunk, and `found_` its victims.
  result<bool> generate(std::span<const pod_row> chunk) {
    for (const bool gang : {false, true}) {
      if (!c_.has(generator(gang))) continue;
      result<bool> solved = solve(chunk, gang);
      if (!solved || *solved) return solved;
      if (chunk.size() == 1) continue;
      // What was found for fewer pods can be in the way of more.
      recorded_.clear();
      solved = probe(chunk);
      if (!solved || *solved) return solved;
    }
    return false;
  }

  /// The whole chunk with one generator, after ever larger parts of it.
  result<bool> solve(std::span<const pod_row> chunk, bool gang) {
    gang_ = gang;
    recorded_.clear();
    result<std::size_t> most = largest_solvable(chunk);
    if (!most) return most.failure();
    return *most == 0 ? false : probe(chunk);
  }

  /// For a group that needs GPUs everywhere: nodes with GPUs that are free or coming free.
  void find_feasible() {
    const model::group_core& g = c_.state().groups[group_];
    gpus_only_ = true;
    for (sub_group_row sub = g.first_sub; sub < g.first_sub + g.sub_count; ++sub) {
      for (pod_row p = c_.state().subs[sub].first_pod; p != no_row; p = c_.state().pods[p].next)
        gpus_only_ = gpus_only_ && c_.gpus.are_wanted(p);
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
  result<std::size_t> largest_solvable(std::span<const pod_row> chunk) {
    std::size_t solvable = 0;
    std::size_t failing = 0;
    for (std::size_t count = 1; failing == 0;) {
      result<bool> solved = try_and_undo(chunk.first(count));
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
      result<bool> solved = try_and_undo(chunk.first(middle));
      if (!solved) return solved.failure();
      (*solved ? solvable : failing) = middle;
    }
    return solvable;
  }

  /// Victims found are the start of the next, larger problem.
  result<bool> try_and_undo(std::span<const pod_row> pods) {
    const std::uint32_t start = c_.statement.depth();
    result<bool> solved = probe(pods);
    if (!solved || !*solved) return solved;
    c_.statement.rollback(start);
    recorded_.swap(found_);
    return true;
  }

  /// True: the statement holds a solution, and `found_` its victims.
  result<bool> probe(std::span<const pod_row> pods) {
    c_.chunks.take_part(group_, pods);
    node_set& nodes = kept_.nodes_of_part;
    nodes = gpus_only_ ? kept_.with_gpus : kept_.every_node;
    std::int64_t free_gpus_there = gpus_only_ ? kept_.free_with_gpus : kept_.free_everywhere;
    for (const victim_unit& one : recorded_) {
      for (const pod_row p : one.pods) {
        if (nodes[node_of(c_, p)] == 0) free_gpus_there += free_gpus(c_, node_of(c_, p));
        nodes[node_of(c_, p)] = 1;
      }
    }
    victim_builder from(kept_, rules_, group_, recorded_, nodes, free_gpus_there);
    victim_rehearsal rehearsal(kept_, from, nodes, group_);
    room_bound bound(c_, kept_.rooms, group_, rules_);
    victim_set allowed;
    const auto attempt = [&](const victim_set& offered) -> result<bool> {
      if (auto on = c_.run.go_on(); !on) return on.failure();
      if (!c_.run.search_effort.goes_on()) return true;  // the search is over
      if (c_.access.budgets->used() && !leave_to_budgets(from, offered, allowed)) return false;
      const victim_set& chosen = c_.access.budgets->used() ? allowed : offered;
      if (!kept_.plays_all && from.too_small(chosen.units)) return false;
      if (chosen.again.empty() && rehearsal.all_return(chosen.units)) {
        count_set();
        c_.run.search_effort.draw(1);
#ifdef KAISCHED_CHECKS
        if (framework::is_repeated(c_.run.sets_tried)) {
          scenario ruled_out{group_, recorded_, {}};
          chosen.make(from, ruled_out.potential);
          return verify_hopeless(ruled_out, nodes);
        }
#endif
        return false;
      }
      scenario& what = kept_.simulated;
      what.group = group_;
      what.recorded.assign(recorded_.begin(), recorded_.end());
      chosen.make(from, what.potential);
      std::array<base::set_hash, 3> key;
      key[0].add(c_.chunks.partial.chunk);
      for (const victim_unit& one : what.recorded) key[1].add(one.pods);
      for (const victim_unit& one : what.potential) key[2].add(one.pods);
      if (hopeless_.contains(key)) return false;
      if (!c_.compat()) {
        victims_of_set_.assign(what.recorded.begin(), what.recorded.end());
        victims_of_set_.insert(victims_of_set_.end(), what.potential.begin(), what.potential.end());
        victims_of_set_ = chains_.closed(victims_of_set_);
        if (bound.lacks_room(victims_of_set_)) {
          if (auto done = trial_.leave_out(victims_of_set_); !done) return done.failure();
          hopeless_.insert(key);
          return false;
        }
      }
      result<bool> solved = chosen.again.empty() && rehearsal.leaves_no_room(chosen.units) ? leave_out(what, nodes)
                                                                                           : simulate(what, nodes);
      if (solved && !*solved) hopeless_.insert(key);
      return solved;
    };
    // No group reaches over several nodes, so each set that is tried frees one node beside the recorded ones.
    const bool hopeless = !gang_ && !kept_.plays_all && from.one_node_is_too_small() && !any_spread();
    const victim_attempt tries = std::cref(attempt);
    result<bool> solved = hopeless ? false : gang_ ? multi_node(from, tries) : node_local(c_, from, tries);
    c_.chunks.drop_part();
    if (solved && *solved && c_.run.search_effort.was_cut()) return false;
    return solved;
  }

  /// What budgets let go of a set beside the recorded victims, in the order in which it was offered. False: nothing.
  bool leave_to_budgets(const victim_builder& from, const victim_set& offered, victim_set& to) const {
    policy::disruption_draft draft(*c_.access.budgets);
    for (const victim_unit& one : recorded_) (void)draft.take(one.pods);
    to = offered;
    std::set<group_row> ended;  // groups that lose nothing more
    std::erase_if(to.units, [&](std::uint32_t i) {
      const victim_unit one = from.unit_at(i);
      if (!ended.contains(one.group) && draft.take(one.pods)) return false;
      if (ended.insert(one.group).second) tell_budget(rules_, draft.refusal());
      return true;
    });
    return !to.units.empty() || offered.units.empty() || !offered.again.empty();
  }

  /// Some group that may be taken from has pods on several nodes.
  [[nodiscard]] bool any_spread() const {
    return std::any_of(kept_.spread_groups.begin(), kept_.spread_groups.end(), [&](group_row g) {
      return g != group_ && rules_.queue_may_lose(c_.state().groups[g].queue) && rules_.may_lose(g);
    });
  }

#ifdef KAISCHED_CHECKS
  /// False, if the simulation that a rehearsal spares ends as it said.
  result<bool> verify_hopeless(const scenario& what, const node_set& nodes) {
    const action_statistics statistics = c_.results.statistics.back();
    const std::uint64_t sets = c_.run.sets_tried;
    const framework::effort effort = c_.run.search_effort;
    result<bool> solved = simulate(what, nodes);
    c_.run.search_effort = effort;
    c_.results.statistics.back() = statistics;
    c_.run.sets_tried = sets;
    if (!solved) return solved;
    if (*solved) return error{status::internal, "invariant violated: a rehearsal ruled out a set that helps", {}};
    return false;
  }
#endif

  /// In place of a simulation that fails: it counts as if it had been played.
  result<bool> leave_out(const scenario& what, [[maybe_unused]] const node_set& nodes) {
    count_set();
    draw_steps(what);
#ifdef KAISCHED_CHECKS
    if (framework::is_repeated(c_.run.sets_tried)) return verify_hopeless(what, nodes);
#endif
    return false;
  }

  /// Of a simulation in `compat`.
  void draw_steps(const scenario& what) {
    std::int64_t steps = steps_of_trial + (c_.compat() ? steps_of_queues(kept_.pending.leaves().size()) : 0);
    what.each_pod([&](pod_row p) { steps += steps_of_pod(c_, p); });
    for (const pod_row p : c_.chunks.partial.chunk) steps += steps_of_pod(c_, p);
    c_.run.search_effort.draw(steps);
  }

  void count_set() {
    ++c_.results.statistics.back().candidates;
    ++c_.run.sets_tried;
  }

  /// As `simulate`, by the rules of `strict`.
  result<bool> simulate_strict() {
    std::vector<victim_unit> units = victims_of_set_;
    result<bool> helps = trial_.run(units);
    if (!helps || !*helps) return helps;
    whole_ = units;
    const auto is_left_alone = [this](const victim_unit& one) {
      return std::all_of(one.pods.begin(), one.pods.end(),
                         [this](pod_row p) { return !c_.statement.is_evicted_here(p); });
    };
    std::erase_if(units, is_left_alone);
    std::stable_partition(units.begin(), units.end(), [this](const victim_unit& one) { return is_lost(c_, one); });
    found_ = std::move(units);
    return true;
  }

  /// Evicts all victims, then lets the group and the victims be placed in queue order.
  result<bool> simulate(const scenario& what, const node_set& feasible) {
    std::pmr::vector<pod_row> victims(&kept_.memory);
    what.each_pod([&](pod_row p) { victims.push_back(p); });
    if (victims.empty()) return false;
    if (!c_.compat()) return simulate_strict();
    const std::uint32_t start = c_.statement.depth();
    const noting_touches touches(kept_);
    count_set();
    draw_steps(what);
    node_set& nodes = kept_.nodes_of_simulation;
    nodes = feasible;
    std::pmr::vector<pod_row> twice(&kept_.memory);
    evict_all(victims, nodes, twice);
    result<bool> placed = place_all(what, nodes);
    if (!placed) return placed;
    if (!*placed || !accepted(c_, rules_, what)) {
      c_.statement.rollback(start);
      if (!kept_.plays_all) return false;
      for (const node_row row : kept_.touched.rows) kept_.note_node(c_, row);
      ++kept_.traces;
      return false;
    }
    std::sort(twice.begin(), twice.end());
    std::pmr::vector<pod_row> lost(&kept_.memory);
    std::pmr::vector<pod_row> moved(&kept_.memory);
    for (const pod_row p : victims) {
      const auto status = static_cast<pod_status>(c_.live.pod_state[p]);
      if (status == pod_status::pipelined)
        moved.push_back(p);
      else if (status == pod_status::releasing || std::binary_search(twice.begin(), twice.end(), p))
        lost.push_back(p);
    }
    lost.insert(lost.end(), moved.begin(), moved.end());
    note_found(what, lost);
    return true;
  }

  /// KAI takes the victims of a set in any order. Where pods share devices that order counts: if the last pod of a
  /// device leaves before pods that only have claims, the undo keeps a device of the node that is claimed too often.
  /// KAI tries many sets and comes to that sooner or later, so claims are last here.
  void evict_all(std::span<const pod_row> victims, node_set& nodes, std::pmr::vector<pod_row>& twice) {
    const auto evict = [&](pod_row p) {
      nodes[node_of(c_, p)] = 1;
      if (c_.statement.eviction_of(p) != no_row) {
        twice.push_back(p);
        c_.statement.evict_again(p);
      } else {
        c_.statement.evict(p);
      }
    };
    const bool claims_last = c_.access.groups->is_open();
    std::pmr::vector<pod_row> claims(&kept_.memory);
    for (const pod_row p : victims) {
      if (claims_last && static_cast<pod_status>(c_.live.pod_state[p]) == pod_status::pipelined)
        claims.push_back(p);
      else
        evict(p);
    }
    std::for_each(claims.begin(), claims.end(), evict);
  }

  /// Keeps the units in which victims were offered, whole, in the order of the victims.
  void note_found(const scenario& what, std::span<const pod_row> pods) {
    const auto unit_at = [&](std::size_t i) -> const victim_unit& {
      return i < what.recorded.size() ? what.recorded[i] : what.potential[i - what.recorded.size()];
    };
    std::pmr::vector<std::pair<pod_row, std::size_t>> unit_of(&kept_.memory);
    for (std::size_t i = 0; i < what.recorded.size() + what.potential.size(); ++i) {
      for (const pod_row p : unit_at(i).pods) unit_of.emplace_back(p, i);
    }
    std::sort(unit_of.begin(), unit_of.end());  // the first unit of a pod comes first
    std::pmr::vector<std::uint8_t> taken(what.recorded.size() + what.potential.size(), 0, &kept_.memory);
    found_.clear();
    for (const pod_row p : pods) {
      const std::size_t i = std::lower_bound(unit_of.begin(), unit_of.end(), std::pair(p, std::size_t{0}))->second;
      if (std::exchange(taken[i], 1) != 0) continue;
      found_.push_back({unit_at(i).group, {}});
      unit_pods& made = found_.back().pods;
      if (unit_at(i).pods.size() == 1) {
        made.push_back(p);
        continue;
      }
      std::pmr::set<pod_row> seen(&kept_.memory);
      for (const pod_row member : unit_at(i).pods) {
        if (seen.insert(member).second) made.push_back(member);
      }
    }
  }

  /// A victim that finds no place stays evicted; the pending group must find one.
  result<bool> place_all(const scenario& what, const node_set& nodes) {
    std::pmr::vector<group_row> victims(&kept_.memory);
    std::pmr::vector<group_row> waiting({group_}, &kept_.memory);
    std::pmr::vector<group_row> late(&kept_.memory);  // that did not wait before
    for (const auto* units : {&what.recorded, &what.potential}) {
      for (const victim_unit& one : *units) {
        if (one.group == group_ || std::exchange(kept_.is_in_set[one.group], 1) != 0) continue;
        victims.push_back(one.group);
        if (!c_.queues.is_schedulable_queue(c_.state().groups[one.group].queue)) continue;
        (framework::count_pods(c_, one.group, &model::sub_counts::pending) > 0 ? waiting : late).push_back(one.group);
      }
    }
    const std::size_t late_from = waiting.size();
    waiting.insert(waiting.end(), late.begin(), late.end());
    result<bool> placed = serve(waiting, late_from, nodes);
    for (const group_row g : victims) kept_.is_in_set[g] = 0;
    return placed;
  }

  /// In queue order. Victims that did not wait before stand from a position on.
  result<bool> serve(std::pmr::vector<group_row>& waiting, std::size_t late_from, const node_set& nodes) {
    std::pmr::map<queue_row, std::size_t> open(&kept_.memory);  // groups that are still to be served, by leaf queue
    for (const group_row g : waiting) ++open[c_.state().groups[g].queue];
    job_queue& queue = kept_.service_queue;
    queue.clear();
    // What the group asks for is remembered when its queue is first compared with others, and the verdict of reclaim is
    // by that.
    bool to_be_asked = c_.has_proportion && c_.run.action == action_kind::reclaim && !c_.chunks.partial.asked;
    if (open.size() > 1 || to_be_asked) {
      const auto others = [this](group_row g) { return g != group_ && kept_.is_in_set[g] == 0; };
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
      if (*next != group_ && kept_.is_in_set[*next] == 0) continue;
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

  result<void> sort_groups(std::pmr::vector<group_row>& groups) const {
    if (groups.size() < 2) return {};
    struct keyed_group {
      group_row group;
      std::size_t first_key;
    };
    kept_.keys.clear();
    std::pmr::vector<keyed_group> order(&kept_.memory);
    for (const group_row g : groups) {
      order.push_back({g, kept_.keys.size()});
      if (auto done = keys_of_group(c_, g, kept_.keys); !done) return done.failure();
    }
    const std::size_t count = kept_.keys.size() / groups.size();
    const auto keys_of = [&](const keyed_group& one) { return std::span(kept_.keys).subspan(one.first_key, count); };
    std::sort(order.begin(), order.end(), [&](const keyed_group& a, const keyed_group& b) {
      return group_is_before(c_.state(), a.group, keys_of(a), b.group, keys_of(b));
    });
    for (std::size_t i = 0; i < order.size(); ++i) groups[i] = order[i].group;
    return {};
  }

  /// False: the group that waits found no place.
  result<bool> place_one(group_row group, const node_set& nodes) {
    framework::failure why;
    result<bool> placed = place_group(c_, group, {true, &nodes, nullptr}, why);
    if (!placed || group == group_) return placed;
    if (!*placed) (void)c_.chunks.chunk_of(group, true);  // so KAI keeps this chunk, victims included
    return true;
  }

  victim_search_state& kept_;
  session_state& c_;
  group_row group_;
  const victim_rules& rules_;
  bool gang_ = false;  ///< the second generator
  bool gpus_only_ = false;
  std::vector<victim_unit>& recorded_;  ///< of the state, as the next one
  std::vector<victim_unit>& found_;
  std::pmr::set<std::array<base::set_hash, 3>> hopeless_;  ///< scenarios that failed
  std::vector<victim_unit> victims_of_set_;                ///< in `strict`: all that leave
  std::vector<victim_unit> whole_;                         ///< in `strict`: the set that `found_` is of
  victim_chains chains_;
  domain_plan plan_;
  victim_trial trial_;  ///< in `strict`
};

}  // namespace

victim_search::victim_search(session_state& c) : state_(std::make_unique<victim_search_state>(c)) {}
victim_search::~victim_search() = default;

std::int64_t victim_search::free_gpus() {
  session_state& c = state_->c;
  std::int64_t sum = 0;
  for (const node_row row : state_->closed_nodes) sum -= actions::free_gpus(c, row);
  if (c.gpus.count_parts()) {  // which the order of nodes does not know
    state_->open_nodes();
    return sum + state_->free_everywhere;
  }
  c.nodes_by_gpu().each_key_from(std::numeric_limits<std::int64_t>::min(), [&](std::int64_t free, std::size_t nodes) {
    sum += free * static_cast<std::int64_t>(nodes);
  });
  return sum;
}

result<bool> victim_search::is_hopeless(group_row group, const victim_rules& rules) {
  if (auto done = state_->open(); !done) return done.failure();
  return search(*state_, group, rules).is_hopeless();
}

result<search_outcome> victim_search::find(group_row group, const victim_rules& rules) {
  if (auto done = state_->open(); !done) return done.failure();
  return search(*state_, group, rules).run();
}

result<void> victim_search::finish(search_outcome outcome) {
  session_state& c = state_->c;
  std::vector<group_row>& groups = state_->changed_groups;
  std::vector<node_row>& rows = state_->changed_nodes;
  groups.clear();
  rows.clear();
  const std::vector<std::uint32_t>& row_of_slot = *c.state().node_row_of_slot;
  for (const framework::operation& op : c.statement.log) {
    const group_row group = c.state().pods[op.pod].group;
    if (group != no_row) groups.push_back(group);
    for (const std::uint32_t slot : {op.old_node, c.live.pod_node[op.pod]}) {
      if (slot != no_row) rows.push_back(row_of_slot[slot]);
    }
  }
  if (outcome == search_outcome::abandoned)
    c.statement.abandon();
  else
    c.statement.commit();
  for (std::vector<std::uint32_t>* one : {&groups, &rows}) {
    std::sort(one->begin(), one->end());
    one->erase(std::unique(one->begin(), one->end()), one->end());
  }
  return state_->note_changes(groups, rows);
}

}  // namespace kaisched::actions
