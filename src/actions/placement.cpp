#include "actions/placement.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "actions/chunk_members.hpp"
#include "actions/domain_walk.hpp"
#include "actions/kai_node_sets.hpp"
#include "actions/pod_placer.hpp"
#include "actions/runtime.hpp"
#include "framework/members.hpp"

namespace kaisched::actions {

namespace {

using framework::failure;
using framework::session_state;

/// One pod set, without a topology.
bool is_plain(const session_state& c, group_row group) {
  const model::group_core& g = c.state().groups[group];
  if (g.sub_count != 2) return false;
  const auto asks = [&](sub_group_row sub) {
    return c.topologies != nullptr && c.state().subs[sub].together != nullptr;
  };
  return !asks(g.first_sub) && !asks(g.first_sub + 1);
}

/// Nodes that a member of the tree is offered.
struct offer {
  const framework::node_set* among = nullptr;   ///< null: all
  const framework::node_band* nodes = nullptr;  ///< the same as a list, where a topology has made one
};

/// Goes down the tree of sub-groups; never back to a sibling that has been placed.
class walk {
 public:
  walk(session_state& c, group_row group, const placing& how, failure& why)
      : c_(c), group_(group), how_(how), why_(why), placer_(c, group, how, why), node_sets_(c) {}

  result<bool> run(std::span<const pod_row> chunk) {
    const offer everything{how_.among, nullptr};
    const sub_group_row root = c_.state().groups[group_].first_sub;
    if (is_plain(c_, group_)) return place_pods(root + 1, chunk, false, everything);
    chunk_ = chunk_members(c_, chunk);
    return place(root, everything);
  }

 private:
  [[nodiscard]] const model::topology_ask* ask_of(sub_group_row member) const {
    return c_.topologies == nullptr ? nullptr : c_.state().subs[member].together.get();
  }

  result<bool> place(sub_group_row member, const offer& offered) {
    const model::topology_ask* ask = ask_of(member);
    if (ask == nullptr) return place_on(member, offered);
    const std::vector<pod_row> pods = chunk_.below(c_, member);
    failure here;
    here.group = group_;
    const kai_node_sets::domain_sets sets = node_sets_.sets_of(member, *ask, pods, offered.among, here);
    if (sets.domains.empty()) why_ = here;
    for (const std::uint32_t domain : sets.domains) {
      const framework::node_band& all = sets.tree->domains[domain].nodes;
      framework::node_set among;
      framework::node_band nodes;
      offer below{offered.among, &all};
      if (offered.among != nullptr || all.size() < c_.state().node_count()) {
        among.assign(c_.state().node_count(), 0);
        below.among = &among;
        for (const node_row row : all) among[row] = offered.among == nullptr ? 1 : (*offered.among)[row];
      }
      if (offered.among != nullptr) {
        std::copy_if(all.begin(), all.end(), std::back_inserter(nodes), [&](node_row row) { return among[row] != 0; });
        below.nodes = &nodes;
      }
      const std::uint32_t start = c_.statement.depth();
      result<bool> placed = place_on(member, below);
      if (!placed || *placed) return placed;
      c_.statement.rollback(start);
    }
    return false;
  }

  result<bool> place_on(sub_group_row member, const offer& offered) {
    if (!c_.state().subs[member].is_set) {
      const std::span<const pod_row> pods = chunk_.of(member);
      return place_pods(member, pods, pods.size() < chunk_.size(), offered);
    }
    for (const sub_group_row child : framework::children_in_order(c_, member)) {
      if (!chunk_.has_pods(child)) continue;
      result<bool> placed = place(child, offered);
      if (!placed || !*placed) return placed;
    }
    return true;
  }

  result<bool> place_pods(sub_group_row pod_set, std::span<const pod_row> pods, bool is_part, const offer& offered) {
    framework::node_scope scope{offered.among, nullptr};
    const policy::topology::preferred_domains* preferred = node_sets_.preferred_of(pod_set);
    if (preferred == nullptr && offered.nodes == nullptr) return placer_.place(pods, is_part, scope);
    framework::node_set scored;
    if (preferred != nullptr) {
      scored = nodes_with_scores(*preferred, offered);
      if (!scored.empty()) scope.among = &scored;
    }
    framework::node_bands bands =
        preferred == nullptr ? framework::node_bands(*offered.nodes) : bands_of(*preferred, offered);
    scope.bands = &bands;
    c_.access.preferred = preferred;
    result<bool> placed = placer_.place(pods, is_part, scope);
    c_.access.preferred = nullptr;
    return placed;
  }

  /// Empty, if these are all that are offered.
  [[nodiscard]] framework::node_set nodes_with_scores(const policy::topology::preferred_domains& preferred,
                                                      const offer& offered) const {
    const std::size_t nodes = c_.state().node_count();
    if (offered.among == nullptr && preferred.node_count() == nodes) return {};
    if (offered.nodes != nullptr &&
        std::all_of(offered.nodes->begin(), offered.nodes->end(), [&](node_row row) { return preferred.holds(row); })) {
      return {};
    }
    framework::node_set scored(nodes, 0);
    for (node_row row = 0; row < nodes; ++row) {
      const bool is_open = offered.among == nullptr || (*offered.among)[row] != 0;
      scored[row] = is_open && preferred.holds(row) ? 1 : 0;
    }
    return scored;
  }

  /// Nodes of one score, the highest first. `preferred` and what is offered must outlive the bands.
  static framework::node_bands bands_of(const policy::topology::preferred_domains& preferred, const offer& offered) {
    if (offered.nodes != nullptr && offered.nodes->size() < preferred.size()) {
      std::map<double, framework::node_band, std::greater<>> bands;
      for (const node_row row : *offered.nodes) {
        if (preferred.holds(row)) bands[preferred.score_of(row)].push_back(row);
      }
      std::vector<framework::node_band> made;
      made.reserve(bands.size());
      for (auto& [score, band] : bands) made.push_back(std::move(band));
      return framework::node_bands(made);
    }
    return framework::node_bands(
        [&preferred, among = offered.among, end = preferred.size()](framework::node_band& made) mutable {
          if (end == 0) return false;
          const std::span<const policy::topology::scored_domain> band = preferred.band_before(end);
          end -= band.size();
          for (const policy::topology::scored_domain& one : band) {
            const std::vector<node_row>& nodes = preferred.tree().domains[one.domain].nodes;
            std::copy_if(nodes.begin(), nodes.end(), std::back_inserter(made),
                         [&](node_row row) { return among == nullptr || (*among)[row] != 0; });
          }
          return true;
        });
  }

  session_state& c_;
  group_row group_;
  const placing& how_;
  failure& why_;
  pod_placer placer_;
  kai_node_sets node_sets_;
  chunk_members chunk_;  ///< of a group with a tree
};

/// The group, or a member of its tree, asks for domains that `strict` chooses.
bool looks_for_domains(const session_state& c, group_row group) {
  if (c.compat() || c.topologies == nullptr) return false;
  const model::group_core& g = c.state().groups[group];
  for (sub_group_row sub = g.first_sub; sub < g.first_sub + g.sub_count; ++sub) {
    if (c.state().subs[sub].together != nullptr) return true;
  }
  return false;
}

/// The pod of a group that waits behind `before` others.
pod_row nth_pending(const session_state& c, group_row group, std::size_t before) {
  pod_row p = c.state().subs[c.state().groups[group].first_sub + 1].first_pod;
  while (p != no_row) {
    if (static_cast<pod_status>(c.live.pod_state[p]) == pod_status::pending && before-- == 0) break;
    p = c.state().pods[p].next;
  }
  return p;
}

/// A chunk of equal pods whose places can be counted; nothing of other groups.
std::optional<framework::equal_chunk> countable_chunk_of(const session_state& c, group_row group) {
  const sub_group_row first = c.state().groups[group].first_sub + 1;
  if (c.counts(first).pending == 0 || c.state().subs[first].only_class == no_row || !is_plain(c, group) ||
      c.constraints.has(policy::trait_not_by_amount) || c.state().groups[group].semi_preemptible ||
      !c.constraints.closed_to(group).empty()) {
    return std::nullopt;
  }
  return framework::equal_chunk_of(c, group);
}

/// No way to place the chunk, by what its queues and the nodes have, without a list of pods. False says nothing.
bool is_refused_by_numbers(session_state& c, group_row group, const framework::equal_chunk& chunk, failure& why) {
  const model::pod_class& ask = *c.state().classes[chunk.kind];
  if (c.has_proportion && c.queues.refuse(group, framework::times(c.queues.asked_at_least(ask), chunk.count), {}, why))
    return true;
  const auto count = static_cast<std::size_t>(chunk.count);
  const std::optional<std::size_t> places = c.choice.places_for(c, chunk.kind, count);
  if (!places || *places >= count) return false;
  why.pod = nth_pending(c, group, *places);
  return true;
}

/// The same of a group. One pod whose class has found its places so far is not counted: where it finds one it is found
/// once.
bool is_refused_by_numbers(session_state& c, group_row group, failure& why) {
  const sub_group_row first = c.state().groups[group].first_sub + 1;
  const class_row kind = c.state().subs[first].only_class;
  if (c.counts(first).pending == 1 && kind != no_row && !c.choice.has_failed(kind)) return false;
  const std::optional<framework::equal_chunk> chunk = countable_chunk_of(c, group);
  return chunk && is_refused_by_numbers(c, group, *chunk, why);
}

/// `place_group` with a list of pods.
result<bool> place_chunk(session_state& c, group_row group, const placing& how, failure& why) {
  const framework::pod_list chunk = c.chunks.chunk_of(group, how.only_claims);
  why = {};
  why.group = group;
  if (chunk.empty()) {
    why.what = constraint::gang_incomplete;
    return false;
  }
  if (c.has_proportion && c.queues.refuse(group, framework::least_request_of(c, chunk), chunk, why)) return false;
  const std::uint32_t start = c.statement.depth();
  const std::string before = c.digest_for_checks();
  result<bool> placed =
      looks_for_domains(c, group) ? domain_walk(c, group, how, why).run(chunk) : walk(c, group, how, why).run(chunk);
  if (!placed || !*placed) {
    c.statement.rollback(start);
    if (c.digest_for_checks() != before)
      return error{status::internal, "invariant violated: undo did not restore the state", {}};
  }
  return placed;
}

#ifdef KAISCHED_CHECKS
/// False, if placing the chunk fails for the same reason as by numbers.
result<bool> verify_refusal(session_state& c, group_row group, const failure& counted) {
  const action_statistics statistics = c.results.statistics.back();
  failure why;
  result<bool> placed = place_chunk(c, group, {}, why);
  c.results.statistics.back() = statistics;
  if (!placed) return placed;
  if (*placed || why.pod != counted.pod || why.what != counted.what || why.queue != counted.queue)
    return error{status::internal, "invariant violated: counted places and a placement differ", {}};
  return false;
}
#endif

}  // namespace

result<bool> place_group(session_state& c, group_row group, const placing& how, failure& why) {
  why = {};
  why.group = group;
  if (!how.only_claims && how.among == nullptr && is_refused_by_numbers(c, group, why)) {
#ifdef KAISCHED_CHECKS
    return verify_refusal(c, group, why);
#else
    return false;
#endif
  }
  return place_chunk(c, group, how, why);
}

bool has_too_few_places(session_state& c, group_row group) {
  const std::optional<framework::equal_chunk> chunk = countable_chunk_of(c, group);
  failure why;
  return chunk && is_refused_by_numbers(c, group, *chunk, why);
}

bool asks_for_shapes(const session_state& c, group_row group) {
  if (!looks_for_domains(c, group)) return false;
  const model::group_core& g = c.state().groups[group];
  for (sub_group_row sub = g.first_sub; sub < g.first_sub + g.sub_count; ++sub) {
    const model::topology_ask* const ask = c.state().subs[sub].together.get();
    if (ask == nullptr) continue;
    const bool has_shapes = std::any_of(c.topologies->begin(), c.topologies->end(), [&](const auto& tree) {
      return tree.name == ask->topology && !tree.grids.empty();
    });
    if (has_shapes) return true;
  }
  return false;
}

std::int64_t domain_steps(const policy_options& options) {
  return options.topology_steps == unlimited ? std::numeric_limits<std::int64_t>::max() : options.topology_steps;
}

std::vector<group_row> groups_to_start(const session_state& c) {
  std::vector<group_row> groups;
  groups.reserve(c.waiting_groups().size());
  for (const group_row g : c.waiting_groups()) {
    if (c.queues.is_schedulable_queue(c.state().groups[g].queue) &&
        framework::is_ready(c, c.state().groups[g].first_sub) &&
        framework::count_pods(c, g, &model::sub_counts::pending) > 0 && requeue_delay_of(c, g).left() == 0) {
      groups.push_back(g);
    }
  }
  return groups;
}

result<bool> permit_start(session_state& c, group_row group) {
  if ((c.capabilities & part_permits) == 0) return true;
  std::vector<pod_row> pods;
  for (const framework::operation& op : c.statement.log) {
    if (op.kind == framework::operation_kind::allocate && !op.undone) pods.push_back(op.pod);
  }
  for (const auto& part : c.parts) {
    if ((part->capabilities() & part_permits) == 0) continue;
    result<bool> may = part->permit(c.view(), group, pods);
    if (!may) return may;
    if (*may) continue;
    c.statement.rollback(0);
    c.groups.held.mark(group, c.state().group_slots);
    failure why;
    why.group = group;
    why.what = constraint::plugin;
    c.results.failures.push_back(why);
    return false;
  }
  return true;
}

result<void> commit_group(session_state& c, group_row group, bool waits, bool had_started) {
  c.statement.commit();
  c.groups.held.unmark(group);
  if (!waits && !had_started) c.groups.note_start(group);
  ++c.results.statistics.back().groups_placed;
  return c.verify();
}

result<bool> start_placed(session_state& c, group_row group, bool waits, bool had_started) {
  result<bool> starts = waits ? result<bool>(true) : permit_start(c, group);
  if (!starts || !*starts) return starts;
  if (auto done = commit_group(c, group, waits, had_started); !done) return done.failure();
  return true;
}

result<bool> start_or_keep(session_state& c, group_row group, bool had_started) {
  const bool waits = framework::must_wait_as_a_whole(c, group);
  if (waits) c.statement.convert_to_pipelined(group);
  return start_placed(c, group, waits, had_started);
}

result<bool> place_and_start(session_state& c, group_row group, bool had_started) {
  failure why;
  result<bool> placed = place_group(c, group, {}, why);
  if (!placed) return placed;
  if (*placed) return start_or_keep(c, group, had_started);
  c.results.failures.push_back(why);
  return false;
}

bool others_allow(const framework::session_state& c, pod_row pod, node_row node) {
  return c.constraints.rules_allow(c.access, pod, node);
}

bool put_on(framework::session_state& c, pod_row pod, node_row node, bool starts) {
  if (!others_allow(c, pod, node)) return false;
  const std::optional<framework::place> found =
      framework::place_on(c, pod, node, starts ? policy::free_amount::idle : policy::free_amount::idle_or_releasing);
  if (!found || (starts && found->must_wait)) return false;
  if (starts) {
    c.statement.allocate(pod, node, found->devices, found->groups);
  } else {
    c.statement.pipeline(pod, node, found->devices, found->groups);
  }
  return true;
}

}  // namespace kaisched::actions
