// Groups get the cells that their queues own; others use what is idle and leave when a cell is needed.
#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "actions/placement.hpp"
#include "framework/members.hpp"
#include "schedulers/common/cycle/attempts.hpp"
#include "schedulers/common/cycle/session_reader.hpp"
#include "schedulers/hived/cycle/cluster_view.hpp"
#include "schedulers/schedulers.hpp"

namespace kaisched::hived {

namespace {

/// So many nodes that refused pods of a group are left out, one after the other; then the group waits.
constexpr int most_refusals = 64;

class decider {
 public:
  decider(framework::session_state& c, cluster_view world) : c_(c), world_(std::move(world)) {}

  result<void> run() {
    for (const group_row group : actions::groups_to_start(c_)) {
      for (bool more = true; more;) {
        if (auto on = c_.run.go_on(); !on) return on;
        const result<bool> placed = try_group(group);
        if (!placed) return placed.failure();
        more =
            *placed && framework::count_pods(c_, group, &model::sub_counts::pending) > 0;  // elastic pods, one by one
      }
    }
    return {};
  }

 private:
  using nodes = std::vector<std::uint8_t>;

  result<bool> try_group(group_row group) {
    const framework::pod_list chunk = c_.chunks.chunk_of(group, false);
    std::vector<pod_row> own;  // pods that need GPUs for themselves
    std::vector<pod_row> others;
    for (const pod_row pod : chunk) (gpus_of(c_.state().class_of(pod)) > 0 ? own : others).push_back(pod);
    const bool had_started = schedulers::begin_attempt(c_, group);
    // Pods that need no GPU for themselves have nothing to do with cells.
    if (own.empty()) return actions::place_and_start(c_, group, had_started);
    nodes open = open_nodes(own);
    for (int refusals = 0; refusals < most_refusals; ++refusals) {
      framework::failure why;
      why.group = group;
      const std::optional<placement> found = find_place(group, own, open, why);
      if (!found) {
        c_.results.failures.push_back(why);
        return false;
      }
      const node_row refused = perform(group, own, others, *found);
      if (refused == no_row) return finish(group, own, *found, had_started);
      if (refused == c_.state().node_count()) break;
      if (open.empty()) open.assign(c_.state().node_count(), 1);
      open[refused] = 0;
    }
    schedulers::note_failure(c_, group, own.front());
    return false;
  }

  /// Nodes that let in every pod, amounts and other pods aside; empty: all of them.
  nodes open_nodes(std::span<const pod_row> pods) {
    nodes open(c_.state().node_count(), 1);
    std::set<class_row> seen;
    for (const pod_row pod : pods) {
      const class_row row = c_.state().pods[pod].pod_class;
      if (!seen.insert(row).second) continue;
      const nodes& accepted = accepted_by(row, c_.state().pods[pod].group);
      for (std::size_t node = 0; node < accepted.size(); ++node) open[node] &= accepted[node];
    }
    if (std::ranges::find(open, 0) == open.end()) open.clear();
    return open;
  }

  /// Likewise for the pods of a class in a group.
  const nodes& accepted_by(class_row row, group_row group) {
    const auto [at, is_new] = accepted_.try_emplace({row, c_.constraints.kind_of(group)});
    for (node_row node = 0; is_new && node < c_.state().node_count(); ++node)
      at->second.push_back(schedulers::is_closed(c_, node, row, group) ? 0 : 1);
    return at->second;
  }

  /// All in one domain of the preferred level, or the required one, where the group asks for one of the topology.
  [[nodiscard]] std::vector<std::string_view> levels_of(group_row group) const {
    const model::topology_ask* const ask = c_.state().subs[c_.state().groups[group].first_sub].together.get();
    std::vector<std::string_view> levels;
    if (ask != nullptr && !ask->preferred_level.empty()) levels.emplace_back(ask->preferred_level);
    levels.emplace_back(ask == nullptr ? std::string_view() : std::string_view(ask->required_level));
    return levels;
  }

  std::optional<placement> find_place(group_row group, std::span<const pod_row> pods, const nodes& open,
                                      framework::failure& why) {
    const group_facts facts = facts_of(c_, world_, group);
    request asked;
    asked.cluster = facts.cluster;
    asked.guaranteed = is_guaranteed(c_, group) && !world_.clusters.is_guest(group);
    asked.priority = facts.priority;
    for (const pod_row pod : pods) asked.pods.push_back(gpus_of(c_.state().class_of(pod)));
    asked.nodes = open.empty() ? nullptr : &open;
    refusal said = refusal::none;
    for (const std::string_view within : levels_of(group)) {
      asked.within = within;
      if (auto found = world_.clusters.place(asked, said)) return prefer_lazy(asked, std::move(*found));
    }
    if (said == refusal::cells) {
      const cell_shortage shortage = world_.clusters.shortage_of(asked);
      why.what = constraint::cell;
      why.queue = c_.state().groups[group].queue;
      c_.results.note_missing_cell(group, shortage.level);
      why.need = shortage.need;
      why.have = shortage.have;
    } else {
      why.pod = pods.front();
    }
    return std::nullopt;
  }

  /// Groups of the same queue that would have to leave only lose their cells, if the option says so.
  placement prefer_lazy(const request& asked, placement found) {
    if (!c_.options.hived_lazy_preemption || !asked.guaranteed) return found;
    const std::vector<std::uint32_t> losers = world_.clusters.own_victims(found, asked.cluster);
    if (losers.empty()) return found;
    virtual_clusters before = world_.clusters;
    for (const std::uint32_t loser : losers) world_.clusters.downgrade(loser);
    refusal said = refusal::none;
    if (auto again = world_.clusters.place(asked, said)) return std::move(*again);
    world_.clusters = std::move(before);
    return found;
  }

  /// Does it in the statement. The node that refused a pod, or `no_row`; the number of nodes if it was no single one.
  node_row perform(group_row group, std::span<const pod_row> own, std::span<const pod_row> others,
                   const placement& at) {
    const bool waits = world_.clusters.must_wait(at);
    for (const std::uint32_t victim : world_.clusters.victims(at)) schedulers::evict_group(c_, victim);
    if (!c_.statement.keeps_budgets(group)) return c_.state().node_count();
    const chain& of = world_.clusters.chains()[at.chain];
    for (std::size_t i = 0; i < own.size(); ++i) {
      const node_row node = of.gpus[at.pods[i].gpus.front()].node;
      std::uint64_t mask = 0;
      for (const std::uint32_t gpu : at.pods[i].gpus) mask |= std::uint64_t{1} << of.gpus[gpu].device;
      if (put(own[i], node, mask, waits)) continue;
      c_.statement.rollback(0);
      return node;
    }
    for (const pod_row pod : others) {
      const result<framework::place> found = c_.choice.best(c_, pod, false);
      if (!found || found->row == no_row) {
        c_.statement.rollback(0);
        return c_.state().node_count();
      }
      if (waits || found->must_wait) {
        c_.statement.pipeline(pod, found->row, found->devices, found->groups);
      } else {
        c_.statement.allocate(pod, found->row, found->devices, found->groups);
      }
    }
    if (framework::must_wait_as_a_whole(c_, group)) c_.statement.convert_to_pipelined(group);
    return no_row;
  }

  bool put(pod_row pod, node_row node, std::uint64_t mask, bool waits) {
    const model::pod_class& ask = c_.state().class_of(pod);
    if (!actions::others_allow(c_, pod, node)) return false;
    const policy::free_amount amount = waits ? policy::free_amount::idle_or_releasing : policy::free_amount::idle;
    const std::optional<framework::place> found = framework::place_on(c_, pod, node, amount);
    if (!found || (!waits && found->must_wait)) return false;
    const device_set devices = model::devices_of(c_.state(), ask, node, mask);
    const model::device_amount free = waits ? model::device_amount::free_or_releasing : model::device_amount::free_now;
    if (!model::can_take(c_.state(), c_.live, ask, node, devices, free)) return false;
    if (!framework::fits_with_devices(c_, pod, {node, waits, devices, {}}))
      return false;  // these may draw more than those found
    if (waits) {
      c_.statement.pipeline(pod, node, devices);
    } else {
      c_.statement.allocate(pod, node, devices);
    }
    return true;
  }

  result<bool> finish(group_row group, std::span<const pod_row> own, const placement& at, bool had_started) {
    const bool waits = std::ranges::none_of(c_.statement.log, [](const framework::operation& one) {
      return one.kind == framework::operation_kind::allocate;
    });
    const group_facts facts = facts_of(c_, world_, group);
    for (std::size_t i = 0; i < own.size(); ++i) {
      if (const auto place = world_.clusters.told(at, i, facts.cluster))
        c_.results.note_cell_place(own[i], model::text_of(*place));
    }
    result<bool> starts = actions::start_placed(c_, group, waits, had_started);
    if (!starts || !*starts) return starts;
    for (const std::uint32_t victim : world_.clusters.victims(at)) world_.clusters.release(victim);
    world_.clusters.take(group, facts, at);
    return true;
  }

  framework::session_state& c_;
  cluster_view world_;
  std::map<std::pair<class_row, std::uint32_t>, nodes> accepted_;  ///< by class and kind of group
};

}  // namespace

result<void> schedule(framework::session_state& c) {
  result<cluster_view> world = view_of(c);
  if (!world) return world.failure();
  return decider(c, std::move(*world)).run();
}

}  // namespace kaisched::hived
