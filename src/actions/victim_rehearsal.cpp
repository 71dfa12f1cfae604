#include "actions/victim_rehearsal.hpp"

#include <algorithm>
#include <bit>

#include "framework/members.hpp"
#include "model/account.hpp"

namespace kaisched::actions {

namespace {

using framework::session_state;

constexpr std::size_t least_units = 4;      ///< fewer are simulated as fast
constexpr std::size_t nodes_per_set = 256;  ///< looking at so many nodes takes as long as a simulation
constexpr std::uint8_t unknown = 0;
constexpr std::uint8_t no = 1;
constexpr std::uint8_t yes = 2;
constexpr std::size_t most_idle_nodes = 64;  ///< with more, a rehearsal is no cheaper than the simulation

/// Devices of a node that are free, and those that are free or coming free.
std::pair<std::int64_t, std::int64_t> whole_devices_of(const session_state& c, node_row row) {
  std::int64_t now = 0;
  std::int64_t soon = 0;
  for (device_row d = (*c.state().first_device)[row]; d < (*c.state().first_device)[row + 1]; ++d) {
    const std::int64_t whole = (*c.state().device_units)[d];
    const std::int64_t both = (*c.live.device_free)[d] + (*c.live.device_releasing)[d];
    soon += both >= whole ? 1 : 0;
    now += both >= whole && (*c.live.device_free)[d] >= whole ? 1 : 0;
  }
  return {now, soon};
}

bool has_devices(const session_state& c, node_row row) {
  return (*c.state().first_device)[row] != (*c.state().first_device)[row + 1];
}

/// Groups of one leaf are served by priority, age and name once they have lost all pods.
bool groups_have_plain_order(const session_state& c) {
  return std::all_of(c.parts.begin(), c.parts.end(), [](const auto& part) {
    return (part->capabilities() & part_orders_groups) == 0 || part->name() == "priority" || part->name() == "elastic";
  });
}

/// Most of each resource that a pod asks for per GPU.
std::vector<std::int64_t> largest_ask_per_gpu(const session_state& c) {
  const model::cluster_state& s = c.state();
  std::vector<std::int64_t> most(s.dims(), 0);
  for (class_row row = 0; row < s.class_slots; ++row) {
    if (s.classes[row] == nullptr || s.classes[row]->whole_devices == 0) continue;
    const model::pod_class& ask = *s.classes[row];
    for (std::uint32_t d = 0; d < s.dims(); ++d) {
      most[d] = std::max(most[d], (ask.requests(d) + ask.whole_devices - 1) / ask.whole_devices);
    }
  }
  return most;
}

}  // namespace

/// Nothing but GPUs can be scarce on nodes that have room.
bool victim_rehearsal::nodes_are_simple() const {
  const model::cluster_state& s = c_.state();
  if (s.pods_with_shares + s.pods_with_mig > 0 || c_.constraints.has(policy::trait_closes_nodes)) return false;
  const std::vector<std::int64_t> per_gpu = largest_ask_per_gpu(c_);
  for (node_row row = 0; row < s.node_count(); ++row) {
    const std::size_t at = static_cast<std::size_t>(row) * s.dims();
    const std::int64_t capacity = (*s.capacity)[at + dim_gpu];
    if (capacity == 0) continue;
    const std::int64_t gpus = free_gpus(c_, row);
    const std::int64_t idle = (*c_.live.idle)[at + dim_gpu];
    if (capacity > std::int64_t{gpu_bins::most} * whole_device || gpus % whole_device != 0 || idle % whole_device != 0)
      return false;
    for (std::uint32_t d = 0; d < s.dims(); ++d) {
      if (d == dim_gpu) continue;
      const std::int64_t least =
          std::min((*c_.live.idle)[at + d], (*c_.live.idle)[at + d] + (*c_.live.releasing)[at + d]);
      if (least < 0 || least / (capacity / whole_device + 1) < per_gpu[d]) return false;
    }
    if (!has_devices(c_, row)) continue;
    const auto [now, soon] = whole_devices_of(c_, row);
    if (now * whole_device < idle || soon * whole_device < gpus) return false;
  }
  return true;
}

/// The two leaves have one parent, and no other child of it has groups that wait.
bool victim_rehearsal::only_siblings(queue_row a, queue_row b) const {
  const std::vector<model::queue_info>& all = *c_.state().queues;
  const queue_row parent = all[a].parent;
  if (all[b].parent != parent) return false;
  for (const queue_row leaf : kept_.pending.leaves()) {
    if (leaf == a || leaf == b) continue;
    if (kept_.pending.members_of(leaf).next() == no_row) continue;
    if (parent == no_row) return false;
    for (queue_row q = all[leaf].parent; q != no_row; q = all[q].parent) {
      if (q == parent) return false;
    }
  }
  return true;
}

/// What a leaf holds now is within the limits, so that it may hold it again.
bool victim_rehearsal::keeps_limits(queue_row leaf) const {
  for (queue_row q = leaf; q != no_row; q = (*c_.state().queues)[q].parent) {
    for (const policy::kai_share& s : c_.queues.kai_queues[q].shares) {
      if (s.limit != -1 && s.limit < s.allocated) return false;
    }
  }
  return true;
}

/// As long as a victim is left its leaf is served before that of the group that waits. The more a leaf holds the later
/// it is served, so that it is enough to ask with all victims back, and for each group that waits between them.
bool victim_rehearsal::serves_victims_first(queue_row leaf) {
  const model::cluster_state& s = c_.state();
  const queue_row mine = s.groups[waiting_].queue;
  group_index::cursor ahead = kept_.pending.members_of(mine);
  group_row head = ahead.next();
  while (head == waiting_) head = ahead.next();
  if (head != no_row) {
    std::vector<order_key> keys_of_head;
    std::vector<order_key> keys_of_mine;
    if (!keys_of_group(c_, head, keys_of_head) || !keys_of_group(c_, waiting_, keys_of_mine)) return false;
    if (group_is_before(s, waiting_, keys_of_mine, head, keys_of_head)) head = no_row;
  }
  other_ = {&c_.queues.kai_queues[mine], c_.chunks.chunk_ask(head == no_row ? waiting_ : head), {}};
  policy::kai_side victims{&c_.queues.kai_queues[leaf], {}, {}};
  if (policy::kai_compare_queues(victims, other_, c_.queues.kai_total) >= 0) return false;
  (void)kept_.pending.first_by_rank(leaf, no_row, [&](group_row g) {
    victims.job = c_.chunks.chunk_ask(g);
    if (policy::kai_compare_queues(victims, other_, c_.queues.kai_total) >= 0) {
      late_groups_.push_back({kept_.pending.rank_of(g), victims.job});
    }
    return false;
  });
  return true;
}

/// The same for groups between the victims of a set that would be served late if all victims were back.
bool victim_rehearsal::passes_late_groups(std::span<const std::uint32_t> units) const {
  model::quota_vector behind{};
  auto unit = units.begin();
  for (auto late = late_groups_.rbegin(); late != late_groups_.rend(); ++late) {
    for (; unit != units.end() && kept_.pending.rank_of(from_.group_of(*unit)) > late->rank; ++unit) {
      for (const offered_pod& one : from_.pods_of_unit(*unit)) {
        const model::quota_vector amount = c_.queues.held(one.pod);
        for (std::uint32_t r = 0; r < quota_dimensions; ++r) behind[r] += amount[r];
      }
    }
    if (unit == units.begin()) continue;  // served after all victims
    policy::kai_queue queue = c_.queues.kai_queues[leaf_];
    const policy::kai_amounts less = framework::in_native(behind);
    for (std::uint32_t r = 0; r < quota_dimensions; ++r) queue.shares[r].allocated -= less[r];
    if (policy::kai_compare_queues({&queue, late->job, {}}, other_, c_.queues.kai_total) >= 0) return false;
  }
  return true;
}

bool victim_rehearsal::can_count() {
  if (counts_) return *counts_;
  if (!c_.chunks.partial.asked) return false;  // the first simulation finds out what the group asks for, as KAI sees it
  counts_ = c_.compat() && !c_.options.reference_path && !c_.options.one_order && c_.has_proportion &&
            c_.has_predicates && !kept_.plays_all && from_.recorded().empty() && from_.requests_are_equal() &&
            c_.choice.packs_gpus() && groups_have_plain_order(c_) && nodes_are_simple();
  if (*counts_) fill_bins();
  return *counts_;
}

bool victim_rehearsal::may_speak(queue_row leaf) {
  if (!can_count()) return false;
  if (speaks_) return *speaks_ && leaf == leaf_;
  leaf_ = leaf;
  speaks_ = leaf != c_.state().groups[waiting_].queue && only_siblings(leaf, c_.state().groups[waiting_].queue) &&
            keeps_limits(leaf) && serves_victims_first(leaf);
  return *speaks_;
}

/// A whole gang that holds whole GPUs and may go to every node.
bool victim_rehearsal::is_simple(std::uint32_t unit) {
  const model::cluster_state& s = c_.state();
  const std::span<const offered_pod> pods = from_.pods_of_unit(unit);
  const model::group_core& group = s.groups[from_.group_of(unit)];
  if (group.sub_count != 2 || s.subs[group.first_sub].together != nullptr) return false;
  const model::sub_info& set = s.subs[group.first_sub + 1];
  const auto count = static_cast<std::int64_t>(pods.size());
  if (set.min != count || static_cast<std::int64_t>(c_.counts(group.first_sub + 1).total) != count ||
      set.together != nullptr) {
    return false;
  }
  return std::all_of(pods.begin(), pods.end(), [&](const offered_pod& one) {
    const model::pod_class& ask = s.class_of(one.pod);
    const auto status = static_cast<pod_status>(c_.live.pod_state[one.pod]);
    const auto devices = static_cast<std::int64_t>(std::popcount(c_.live.pod_devices[one.pod].mask));
    return status != pod_status::pipelined && ask.whole_devices > 0 && ask.whole_devices * whole_device == one.gpus &&
           (!has_devices(c_, one.row) || devices == ask.whole_devices) && c_.choice.may_go_anywhere(c_, one.pod);
  });
}

void victim_rehearsal::fill_bins() {
  const model::cluster_state& s = c_.state();
  kept_.bins.reset(s.node_count());
  kept_.levels.assign(s.node_count(), 0);
  kept_.idle_nodes.clear();
  for (node_row row = 0; row < s.node_count(); ++row) {
    const std::uint32_t rank = (*s.name_rank)[row];
    const std::int64_t gpus = free_gpus(c_, row) / whole_device;
    kept_.levels[rank] = static_cast<std::int32_t>(gpus);
    if (feasible_[row] == 0) continue;
    if (gpus > 0) kept_.bins.add(static_cast<std::uint32_t>(gpus), rank);
    const std::int64_t idle = (*c_.live.idle)[static_cast<std::size_t>(row) * s.dims() + dim_gpu] / whole_device;
    if (idle > 0) kept_.idle_nodes.emplace_back(rank, static_cast<std::int32_t>(idle));
  }
  kept_.base_levels = kept_.levels;
  if (kept_.idle_nodes.size() > most_idle_nodes) counts_ = false;
}

/// By name rank: the fullest node that can start the pod now, else the fullest that it may claim.
std::uint32_t victim_rehearsal::best_node(std::uint32_t gpus) const {
  std::uint32_t best = no_row;
  const auto wanted = static_cast<std::int32_t>(gpus);
  for (const auto& [rank, idle] : kept_.idle_nodes) {
    if (idle < wanted || kept_.levels[rank] < wanted) continue;
    if (best == no_row || kept_.levels[rank] < kept_.levels[best] ||
        (kept_.levels[rank] == kept_.levels[best] && rank < best)) {
      best = rank;
    }
  }
  if (best != no_row) return best;
  const std::uint32_t level = kept_.bins.level_from(gpus);
  return level == no_row ? no_row : kept_.bins.first(level);
}

void victim_rehearsal::move(std::uint32_t rank, std::int32_t to) {
  std::int32_t& level = kept_.levels[rank];
  if (level == to) return;
  if (level > 0) kept_.bins.remove(static_cast<std::uint32_t>(level), rank);
  level = to;
  if (to > 0) kept_.bins.add(static_cast<std::uint32_t>(to), rank);
}

/// In the order of its tasks, the reverse of that in which they were offered. False: a pod finds no place.
bool victim_rehearsal::place_unit(std::uint32_t unit) {
  const std::span<const offered_pod> pods = from_.pods_of_unit(unit);
  for (auto one = pods.rbegin(); one != pods.rend(); ++one) {
    const auto gpus = static_cast<std::uint32_t>(one->gpus / whole_device);
    const std::uint32_t rank = best_node(gpus);
    if (rank == no_row) return false;
    move(rank, kept_.levels[rank] - static_cast<std::int32_t>(gpus));
    moved_.push_back(rank);
  }
  return true;
}

void victim_rehearsal::leave(std::span<const std::uint32_t> units) {
  moved_.clear();
  for (const std::uint32_t i : units) {
    for (const offered_pod& one : from_.pods_of_unit(i)) {
      const std::uint32_t rank = (*c_.state().name_rank)[one.row];
      move(rank, kept_.levels[rank] + static_cast<std::int32_t>(one.gpus / whole_device));
      moved_.push_back(rank);
    }
  }
}

void victim_rehearsal::undo() {
  for (const std::uint32_t rank : moved_) move(rank, kept_.base_levels[rank]);
}

/// For the chunk of the group that waits.
bool victim_rehearsal::has_room() const {
  const auto size = static_cast<std::uint32_t>(from_.smallest_request() / whole_device);
  std::uint64_t places = 0;
  for (std::uint32_t level = kept_.bins.level_from(size); level != no_row;
       level = level < gpu_bins::most ? kept_.bins.level_from(level + 1) : no_row) {
    places += std::uint64_t{kept_.bins.count(level)} * (level / size);
  }
  return places >= c_.chunks.partial.chunk.size();
}

bool victim_rehearsal::all_return(std::span<const std::uint32_t> units) {
  if (units.empty() || (!speaks_ && units.size() < least_units) ||
      !may_speak(c_.state().groups[from_.group_of(units.front())].queue)) {
    return false;
  }
  simple_.resize(from_.size(), unknown);
  std::uint32_t rank_before = no_row;
  for (const std::uint32_t i : units) {
    if (simple_[i] == unknown) simple_[i] = is_simple(i) ? yes : no;
    const std::uint32_t rank = kept_.pending.rank_of(from_.group_of(i));
    if (simple_[i] == no || c_.state().groups[from_.group_of(i)].queue != leaf_ || rank >= rank_before) return false;
    rank_before = rank;
  }
  if (!passes_late_groups(units)) return false;
  leave(units);
  // Groups of one leaf are served in the reverse of the order in which they were offered.
  const bool returns =
      std::all_of(units.rbegin(), units.rend(), [this](std::uint32_t i) { return place_unit(i); }) && !has_room();
  undo();
  return returns;
}

/// What the group asks for is remembered when queues are first compared by it, which happens if victims are of another
/// queue. False: that is left to a simulation.
bool victim_rehearsal::ask_first(std::span<const std::uint32_t> units) {
  if (c_.chunks.partial.asked) return true;
  const model::cluster_state& s = c_.state();
  const queue_row mine = s.groups[waiting_].queue;
  const bool compares = c_.has_proportion && std::any_of(units.begin(), units.end(), [&](std::uint32_t i) {
                          const queue_row theirs = s.groups[from_.group_of(i)].queue;
                          return theirs != mine && (*s.queues)[theirs].parent == (*s.queues)[mine].parent &&
                                 c_.queues.is_schedulable_queue(theirs);
                        });
  if (compares) (void)c_.chunks.chunk_request(waiting_);
  return compares;
}

bool victim_rehearsal::leaves_no_room(std::span<const std::uint32_t> units) {
  if (units.empty()) return false;
  if (!counts_ && units.size() < least_units && small_sets_++ * nodes_per_set < c_.state().node_count()) return false;
  if (!ask_first(units) || !can_count()) return false;
  if (framework::count_pods(c_, waiting_, &model::sub_counts::active_used) > 0) return false;
  simple_.resize(from_.size(), unknown);
  victims_.clear();
  for (const std::uint32_t i : units) {
    if (simple_[i] == unknown) simple_[i] = is_simple(i) ? yes : no;
    const group_row group = from_.group_of(i);
    const queue_row queue = c_.state().groups[group].queue;
    const auto [limits, fresh] = keeps_limits_.try_emplace(queue, false);
    if (fresh) limits->second = keeps_limits(queue);
    if (simple_[i] == no || !limits->second) return false;
    victims_.push_back({group, {}});
    for (const offered_pod& one : from_.pods_of_unit(i)) {
      const model::quota_vector held = c_.queues.held(one.pod);
      for (std::uint32_t r = 0; r < quota_dimensions; ++r) victims_.back().held[r] += held[r];
    }
  }
  if (!order_.begin(victims_)) return false;
  leave(units);
  bool returns = true;
  for (std::uint32_t next = order_.next(); next != no_row && returns; next = order_.next()) {
    returns = place_unit(units[next]);
    order_.take_back(next);
  }
  returns = returns && order_.is_certain() && !has_room();
  undo();
  return returns;
}

}  // namespace kaisched::actions
