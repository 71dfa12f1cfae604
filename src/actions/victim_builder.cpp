#include "actions/victim_builder.hpp"

#include <iterator>
#include <numeric>
#include <set>
#include <utility>

#include "actions/step_cost.hpp"
#include "actions/victim_stream.hpp"
#include "actions/victims_by_node.hpp"
#include "framework/members.hpp"
#include "model/account.hpp"

namespace kaisched::actions {

namespace {

using framework::is_active;
using framework::node_set;
using framework::session_state;

/// How many pods of one size the nodes have places for.
std::int64_t places_for(session_state& c, std::int64_t request) {
  std::int64_t places = 0;
  if (c.gpus.count_parts()) {  // which the order of nodes does not know
    for (node_row row = 0; row < c.state().node_count(); ++row)
      places += std::max<std::int64_t>(0, c.gpus.free(row)) / request;
    return places;
  }
  c.nodes_by_gpu().each_key_from(request, [&](std::int64_t free, std::size_t nodes) {
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
      recorded_pods_(&kept.memory),
      feasible_(feasible),
      queue_(kept.victim_queue),
      requests_(&kept.memory),
      may_end_with_less_(&kept.memory),
      freed_by_recorded_(&kept.memory),
      choosy_(&kept.memory),
      freed_rows_(&kept.memory),
      touched_(&kept.memory),
      by_freed_(&kept.memory),
      moved_(&kept.memory),
      seen_traces_(kept.traces),
      domains_(kept.c, waiting) {
  queue_.clear();
  append_pods(recorded, recorded_pods_);
  for (const pod_row p : c_.chunks.partial.chunk) requests_.push_back(gpus_wanted(c_, p));
  if (requests_.empty()) return;
  smallest_ = *std::min_element(requests_.begin(), requests_.end());
  largest_ = *std::max_element(requests_.begin(), requests_.end());
  same_size_ = smallest_ > 0 && smallest_ == largest_ && !kept_.plays_all;
  needed_ = std::accumulate(requests_.begin(), requests_.end(), std::int64_t{0}) - free_of_feasible;
  if (same_size_) places_ = places_for(c_, smallest_);
  for (const pod_row p : recorded_pods_) {
    const node_row row = node_of(c_, p);
    if (feasible_[row] != 0) needed_ -= gpus_of(c_, p);
    freed_by_recorded_[row] += gpus_of(c_, p);
    free_more(row, gpus_of(c_, p));
    places_before_ -= places_taken_back(c_.state().groups[c_.state().pods[p].group].queue, gpus_of(c_, p));
  }
  places_before_ += places_;
  std::sort(recorded_pods_.begin(), recorded_pods_.end());
  for (const pod_row p : c_.chunks.partial.chunk) {
    const model::pod_class& ask = c_.state().class_of(p);
    if (!ask.node_selector.empty() || !ask.node_affinity.empty()) choosy_.push_back(p);
  }
  for (node_row row = 0; !choosy_.empty() && row < feasible_.size(); ++row) {
    if (feasible_[row] != 0) satisfy(row);
  }
  if (!c_.compat() && c_.has_predicates && !is_limited()) find_usable_nodes();
}

/// With the chunk some queue would hold more than its limit.
bool victim_builder::is_limited() const {
  if (!c_.has_proportion) return false;
  const model::quota_vector asked = c_.chunks.chunk_request(waiting_);
  for (queue_row q = c_.state().groups[waiting_].queue; q != no_row; q = (*c_.state().queues)[q].parent) {
    for (std::uint32_t r = 0; r < quota_dimensions; ++r) {
      const std::int64_t limit = (*c_.state().queues)[q].limit[r];
      if (asked[r] > 0 && limit != unlimited && (*c_.live.queue_allocated)[q][r] + asked[r] > limit) return true;
    }
  }
  return false;
}

void victim_builder::find_usable_nodes() {
  usable_.assign(c_.state().node_count(), 0);
  std::set<class_row> classes;
  for (const pod_row p : c_.chunks.partial.chunk) classes.insert(c_.state().pods[p].pod_class);
  for (const class_row one : classes) {
    for (node_row row = 0; row < c_.state().node_count(); ++row) {
      if (usable_[row] == 0 && c_.choice.accepts(c_, one, row)) usable_[row] = 1;
    }
  }
}

bool victim_builder::frees_nothing_usable(std::span<const pod_row> unit) const {
  return !usable_.empty() &&
         std::none_of(unit.begin(), unit.end(), [this](pod_row p) { return usable_[node_of(c_, p)] != 0; });
}

victim_builder::~victim_builder() {
  for (const node_row row : freed_rows_) kept_.marks[row].freed = 0;
  for (const node_row row : touched_) kept_.marks[row] = {};
  for (const offered_unit& one : kept_.units) kept_.last_unit_of[one.group] = no_row;
  kept_.units.clear();
  kept_.pods.clear();
}

/// What simulations have left on nodes counts from then on.
void victim_builder::recount() {
  if (!kept_.plays_all || seen_traces_ == kept_.traces) return;
  seen_traces_ = kept_.traces;
  needed_ = std::accumulate(requests_.begin(), requests_.end(), std::int64_t{0});
  for (node_row row = 0; row < feasible_.size(); ++row) {
    if (feasible_[row] != 0 && kept_.marks[row].position == no_row) needed_ -= kept_.known_free[row];
  }
  for (const auto& [row, gpus] : freed_by_recorded_) {
    if (feasible_[row] != 0 && kept_.marks[row].position == no_row) needed_ -= gpus;
  }
  if (!domains_.is_trivial()) {
    domains_ = domain_filter(c_, waiting_);
    for (const node_row row : freed_rows_) domains_.free_more(row, kept_.marks[row].freed);
  }
  if (!orders_nodes_) return;
  by_freed_.clear();
  moved_ = touched_;
  freed_of_touched_ = 0;
  for (const node_row row : touched_) {
    kept_.marks[row].order = node_marks::moved;
    freed_of_touched_ += counted(freed(row));
  }
}

result<bool> victim_builder::each_state(const std::function<result<bool>()>& visit) {
  if (requests_.empty()) return false;
  if (plausible()) {
    result<bool> ends = visit();
    if (!ends || *ends) return ends;
  }
  std::function<bool(group_row)> helps;
  if (!usable_.empty()) helps = [this](group_row g) { return has_pods_among(c_, g, usable_); };
  if (auto done = offer_victims(queue_, kept_, rules_, waiting_, rules_.queue_may_lose, helps); !done)
    return done.failure();
  while (!queue_.empty()) {
    if (!c_.run.search_effort.goes_on()) return true;
    c_.run.search_effort.draw(1);
    recount();
    result<bool> added = advance();
    if (!added) return added;
    if (!*added || !plausible()) continue;
    result<bool> ends = visit();
    if (!ends || *ends) return ends;
  }
  return false;
}

void victim_builder::note_set(std::size_t units) {
  units_of_sets_ += units;
  c_.run.search_effort.draw(static_cast<std::int64_t>(units_of_sets_ / units_per_step));
  units_of_sets_ %= units_per_step;
}

queue_row victim_builder::only_leaf() const {
  queue_row only = no_row;
  for (const queue_row leaf : kept_.victims.leaves()) {
    if (kept_.victims.members_of(leaf).next() == no_row) continue;
    if (only != no_row) return no_row;
    only = leaf;
  }
  return only;
}

bool victim_builder::knows_nodes() const {
  // It takes a look at all victims to begin with.
#ifdef KAISCHED_CHECKS
  constexpr std::size_t worth_it = 0;
#else
  const std::size_t worth_it = kept_.lone_pods.size();
#endif
  if (!rules_.all_may_lose || rules_.most > 0 || kept_.offered < worth_it || c_.options.reference_path) return false;
  if (!same_size_ || !recorded_.empty() || !choosy_.empty() || !domains_.is_trivial() || has_shared_order(c_))
    return false;
  const queue_row leaf = only_leaf();
  return leaf != no_row && kept_.larger_victims[leaf] == 0;
}

result<bool> victim_builder::each_large_node(const std::function<result<bool>(node_row)>& visit) {
  if (requests_.empty()) return false;
  const queue_row leaf = only_leaf();
  const auto wanted = static_cast<std::int64_t>(requests_.size());
  const bool return_all = rules_.queue_may_end_with_less && !rules_.queue_may_end_with_less(leaf);
  const victims_by_node::turning_points& points =
      kept_.by_node->of({leaf, smallest_, wanted - places_before_, return_all});
  struct open_node {
    node_row row;
    std::pmr::vector<group_row> victims;
    std::size_t next;
    [[nodiscard]] group_row newest() const { return victims[next]; }
  };
  std::pmr::vector<open_node> open(&kept_.memory);  // a heap: nodes that further victims are on
  const auto comes_later = [&](const open_node& a, const open_node& b) {
    return kept_.victims.before(b.newest(), a.newest());
  };
  for (auto at = points.begin(); at != points.end() || !open.empty();) {
    open_node one{no_row, std::pmr::vector<group_row>(&kept_.memory), 0};
    if (at != points.end() && (open.empty() || kept_.victims.before(at->victim, open.front().newest()))) {
      one.row = at->row;
      kept_.by_node->on(at->row, leaf, one.victims);
      for (; one.newest() != at->victim; ++one.next) offer(one.newest(), kept_.lone_pods[one.newest()]);
      ++at;
    } else {
      std::pop_heap(open.begin(), open.end(), comes_later);
      one = std::move(open.back());
      open.pop_back();
    }
    offer(one.newest(), kept_.lone_pods[one.newest()]);
    result<bool> ends = visit(one.row);
    if (!ends || *ends) return ends;
    if (++one.next == one.victims.size()) continue;
    open.push_back(std::move(one));
    std::push_heap(open.begin(), open.end(), comes_later);
  }
  return false;
}

victim_unit victim_builder::unit_at(std::uint32_t unit) const {
  victim_unit made{group_of(unit), {}};
  for (const offered_pod& one : pods_of_unit(unit)) made.pods.push_back(one.pod);
  return made;
}

/// GPUs that are free on a node once the old victims have left it.
std::int64_t victim_builder::free_before(node_row row) const {
  const auto recorded = freed_by_recorded_.find(row);
  return free_gpus(c_, row) + (recorded == freed_by_recorded_.end() ? 0 : recorded->second);
}

bool victim_builder::too_small(std::span<const std::uint32_t> units) const {
  if (!same_size_) return false;
  const auto wanted = static_cast<std::int64_t>(requests_.size());
  std::int64_t places = places_before_;
  kept_.nodes_of_set.clear();
  for (const std::uint32_t i : units) {
    places -= kept_.units[i].taken_back;
    for (const offered_pod& one : pods_of_unit(i)) {
      if (kept_.freed_by_set[one.row] == 0) kept_.nodes_of_set.push_back(one.row);
      kept_.freed_by_set[one.row] += one.gpus;
    }
  }
  for (const node_row row : kept_.nodes_of_set) {
    const std::int64_t more = std::exchange(kept_.freed_by_set[row], 0);
    if (more == 0) continue;
    const std::int64_t before = free_before(row);
    places += places_on(before + more) - places_on(before);
  }
  return places < wanted;
}

bool victim_builder::node_is_too_small(node_row row) const {
  if (!same_size_ || kept_.plays_all || !alone_on_nodes_) return false;
  return places_before_ + places_on(freed(row)) - places_on(free_before(row)) - kept_.marks[row].taken_back <
         static_cast<std::int64_t>(requests_.size());
}

std::int64_t victim_builder::places_taken_back(queue_row leaf, std::int64_t gpus) {
  const std::int64_t places = same_size_ ? places_on(gpus) : 0;
  if (places == 0 || !rules_.queue_may_end_with_less) return 0;
  if (last_leaf_.first != leaf) {
    const auto [known, fresh] = may_end_with_less_.try_emplace(leaf, true);
    if (fresh) known->second = rules_.queue_may_end_with_less(leaf);
    last_leaf_ = *known;
  }
  return last_leaf_.second ? 0 : places;
}

bool victim_builder::one_node_is_too_small() const {
  return same_size_ && places_before_ + kept_.largest_node / smallest_ < static_cast<std::int64_t>(requests_.size());
}

void victim_builder::free_more(node_row row, std::int64_t gpus) {
  if (gpus == 0) return;
  domains_.free_more(row, gpus);
  const std::int64_t before = freed(row);
  std::int64_t& here = kept_.marks[row].freed;
  if (here == 0) freed_rows_.push_back(row);
  here += gpus;
  largest_nodes_.changed = std::max(largest_nodes_.changed, before + gpus);
  if (same_size_) places_ += places_on(before + gpus) - places_on(before);
}

void victim_builder::touch(const placed_pod& one, std::uint32_t unit, queue_row leaf) {
  const auto [pod, row, gpus] = one;
  node_marks& marks = kept_.marks[row];
  if (marks.position == no_row) {
    marks.position = static_cast<std::uint32_t>(touched_.size());
    touched_.push_back(row);
    if (feasible_[row] != 0) needed_ += freed(row);
    if (!choosy_.empty()) satisfy(row);
  } else if (orders_nodes_) {
    freed_of_touched_ -= counted(freed(row));
  }
  free_more(row, gpus);
  const std::int64_t taken_back = places_taken_back(leaf, gpus);
  marks.taken_back += taken_back;
  kept_.units[unit].taken_back += taken_back;
  if (orders_nodes_) {
    freed_of_touched_ += counted(freed(row));
    if (marks.order != node_marks::moved) moved_.push_back(row);
    if (marks.order == node_marks::in_place) by_freed_.erase({marks.ordered_by, marks.position, row});
    marks.order = node_marks::moved;
  }
  kept_.pods.push_back({pod, row, unit, marks.last_pod, gpus});
  marks.last_pod = static_cast<std::uint32_t>(kept_.pods.size() - 1);
}

const victim_builder::touched_nodes& victim_builder::touched() {
  for (const node_row row : moved_) {
    node_marks& marks = kept_.marks[row];
    marks.order = node_marks::in_place;
    marks.ordered_by = freed(row);
    by_freed_.insert({marks.ordered_by, marks.position, row});
  }
  moved_.clear();
  return by_freed_;
}

result<bool> victim_builder::advance() {
  result<group_row> next = queue_.pop();
  if (!next) return next.failure();
  const group_row group = *next;
  const bool whole = queue_.popped_pods().empty();
  const auto is_recorded = [&](pod_row p) {
    return std::binary_search(recorded_pods_.begin(), recorded_pods_.end(), p);
  };
  if (const placed_pod& lone = kept_.lone_pods[group]; whole && lone.pod != no_row) {
    if (is_recorded(lone.pod) || budgets_refuse(c_, rules_, std::span(&lone.pod, 1))) return false;
    if (frees_nothing_usable(std::span(&lone.pod, 1))) return false;
    offer(group, lone);
    return true;
  }
  const std::vector<pod_row> pods = whole ? pods_of(c_, group) : std::move(queue_.popped_pods());
  const unit_pods unit = next_unit(c_, group, pods);
  if (unit.empty() && c_.state().groups[group].semi_preemptible) return false;  // only its core is left
  if (std::any_of(unit.begin(), unit.end(), is_recorded)) {
    std::vector<pod_row> rest;
    std::copy_if(pods.begin(), pods.end(), std::back_inserter(rest), [&](pod_row p) { return !is_recorded(p); });
    if (!rest.empty()) {
      if (auto done = queue_.push(group, std::move(rest)); !done) return done.failure();
    }
    return false;
  }
  if (budgets_refuse(c_, rules_, unit)) return false;  // nor what comes after it
  if (std::vector<pod_row> rest = left_without(c_, pods, unit); !rest.empty()) {
    if (auto done = queue_.push(group, std::move(rest)); !done) return done.failure();
  }
  if (frees_nothing_usable(unit)) return false;
  offer(group, unit);
  return true;
}

/// A unit without pods yet.
std::uint32_t victim_builder::add_unit(group_row group, std::size_t pods) {
  const auto number = static_cast<std::uint32_t>(kept_.units.size());
  std::uint32_t& last = kept_.last_unit_of[group];
  kept_.units.push_back(
      {group, static_cast<std::uint32_t>(kept_.pods.size()), static_cast<std::uint32_t>(pods), no_row, last, 0});
  last = number;
  alone_on_nodes_ = alone_on_nodes_ && kept_.is_spread[group] == 0;
  return number;
}

void victim_builder::offer(group_row group, std::span<const pod_row> unit) {
  const std::uint32_t number = add_unit(group, unit.size());
  for (const pod_row p : unit) touch({p, node_of(c_, p), gpus_of(c_, p)}, number, c_.state().groups[group].queue);
}

void victim_builder::offer(group_row group, const placed_pod& only) {
  ++kept_.offered;
  const std::uint32_t number = add_unit(group, 1);
  touch(only, number, c_.state().groups[group].queue);
  kept_.units.back().row = only.row;
}

void victim_builder::satisfy(node_row row) {
  std::erase_if(choosy_,
                [&](pod_row p) { return c_.state().class_of(p).matches_labels((*c_.state().nodes)[row]->labels); });
}

bool victim_builder::nodes_large_enough() {
  // With pods of one size the largest nodes hold as many as all nodes do.
  if (requests_.empty() || largest_ == 0) return true;
  if (same_size_) return places_ >= static_cast<std::int64_t>(requests_.size());
  // More is free with every victim, unless simulations leave traces. Smaller nodes than those that were looked at do
  // not matter.
  largest_nodes& last = largest_nodes_;
  const bool is_same = last.known && last.traces == kept_.traces;
  if (is_same && (last.enough || last.changed <= last.least)) return last.enough;
  last.enough = look_at_largest_nodes();
  last.known = true;
  last.traces = kept_.traces;
  last.changed = 0;
  return last.enough;
}

bool victim_builder::look_at_largest_nodes() {
  std::vector<std::int64_t> largest(c_.state().node_count());
  for (node_row row = 0; row < largest.size(); ++row) largest[row] = freed(row);
  const std::size_t count = std::min(requests_.size(), largest.size());
  std::partial_sort(largest.begin(), largest.begin() + static_cast<std::ptrdiff_t>(count), largest.end(),
                    std::greater<>());
  largest.resize(count);
  largest_nodes_.least = count == 0 ? 0 : largest.back();
  std::vector<std::int64_t> requests(requests_.begin(), requests_.end());
  std::sort(requests.begin(), requests.end(), std::greater<>());
  return first_fit(requests, std::move(largest));
}

}  // namespace kaisched::actions
