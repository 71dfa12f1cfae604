// The slow truth about a session: everything counted again from the pods.
#include <algorithm>
#include <map>
#include <optional>

#include "base/sha256.hpp"
#include "framework/change_ledger.hpp"
#include "framework/members.hpp"
#include "framework/repeated_checks.hpp"
#include "framework/session_state.hpp"

namespace kaisched::framework {

using model::quota_vector;

namespace {

constexpr std::uint32_t small_cluster = 1024;  ///< pods and nodes up to which everything is counted after every step

template <class T>
void add_bytes(base::sha256& hash, const std::vector<T>& values) {
  hash.update(std::as_bytes(std::span(values)));
}

/// Sums of queues as a session keeps them: claims made in the session count, pods evicted in it do not, and those that
/// KAI evicts twice have given twice.
std::vector<quota_vector> expected_allocation(const session_state& c, const model::live_state& recounted) {
  const model::cluster_state& s = c.state();
  std::vector<quota_vector> sums = *recounted.queue_allocated;
  const bool counts_otherwise = c.compat() && s.pods_with_shares + s.pods_with_mig > 0;
  if (counts_otherwise) sums.assign(sums.size(), {});
  const auto add = [&](pod_row p, std::int64_t sign) {
    const quota_vector amount = c.queues.held(p);
    for (queue_row q = s.groups[s.pods[p].group].queue; q != no_row; q = (*s.queues)[q].parent) {
      for (std::uint32_t r = 0; r < quota_dimensions; ++r) sums[q][r] += sign * amount[r];
    }
  };
  for (pod_row p = 0; p < s.pod_slots; ++p) {
    if (!s.pods[p].live || s.pods[p].sub == no_row) continue;
    const auto now = static_cast<pod_status>(c.live.pod_state[p]);
    const std::int64_t held = model::is_in(now, model::holding) ? 1 : 0;
    const std::int64_t sign = times_counted(c, p, now) - (counts_otherwise ? 0 : held);
    if (sign != 0) add(p, sign);
  }
  for (const pod_row p : c.statement.evicted_twice) add(p, -1);
  return sums;
}

/// Nodes that may be promised twice. A pod that was evicted while it only had a claim counts as leaving, as in KAI, so
/// it is charged to what is idle without ever having been there; and a pod that was moved and sent back to the node
/// that it is still leaving keeps its claim on the other one.
std::vector<bool> nodes_promised_twice(const session_state& c) {
  const model::cluster_state& s = c.state();
  std::vector<bool> nodes(s.node_count(), false);
  const auto mark = [&](pod_row p, std::uint32_t slot) {
    if (leaves_without_having_been_there(c, p, slot)) nodes[(*s.node_row_of_slot)[slot]] = true;
  };
  for (pod_row p = 0; p < s.pod_slots; ++p) {
    if (s.pods[p].live && static_cast<pod_status>(c.live.pod_state[p]) == pod_status::releasing)
      mark(p, c.live.pod_node[p]);
  }
  for (const leaving_pod& g : c.statement.leaving) {
    mark(g.pod, g.node);
    if (c.compat()) mark(g.pod, c.live.pod_node[g.pod]);
  }
  return nodes;
}

result<void> check_capacity(const session_state& c) {
  const std::vector<bool> exempt = nodes_promised_twice(c);
  for (node_row row = 0; row < c.state().node_count(); ++row) {
    if (exempt[row]) continue;
    if (auto done = check_capacity_of(c, row); !done) return done;
  }
  return {};
}

/// A group that got something must have its gangs complete, unless it lost something too: who has lost pods may get
/// some back, and a gang that was broken may be moved.
result<void> check_gangs(const session_state& c) {
  if (!c.setup->keeps_gangs) return {};
  std::vector<bool> lost(c.state().group_slots, false);
  for (const decision& d : c.results.decisions) {
    if (d.kind == decision_kind::evict || d.kind == decision_kind::move) lost[d.group] = true;
  }
  for (const decision& d : c.results.decisions) {
    if (d.action == action_kind::none) continue;  // the host's own operations may start a part of a gang
    if ((d.kind != decision_kind::bind && d.kind != decision_kind::pipeline) || lost[d.group]) continue;
    if (has_broken_gang(c, d.group))
      return violated("gang of pod group '" + std::string(c.state().group_names[d.group]) + "' is broken");
  }
  return {};
}

/// What the snapshot tells of groups is what their rows say.
result<void> check_lists(const model::cluster_state& s) {
  std::vector<group_row> partial;
  std::vector<group_row> with_budget;
  std::vector<std::map<std::int64_t, std::uint32_t>> priorities(s.queues->size());
  for (group_row g = 0; g < s.group_slots; ++g) {
    const model::group_core& group = s.groups[g];
    if (!group.live) continue;
    if (model::lacks_pods_of_gang(s, s.live, g)) partial.push_back(g);
    if (s.group_extras[g].disruption_budget != unset) with_budget.push_back(g);
    if (group.preemptible || group.semi_preemptible) ++priorities[group.queue][group.priority];
  }
  const auto in_order = [&](std::vector<group_row>& groups) {
    std::sort(groups.begin(), groups.end(), [&](group_row a, group_row b) { return model::group_before(s, a, b); });
  };
  in_order(partial);
  in_order(with_budget);
  if (partial != *s.partial_groups || with_budget != *s.budget_groups) return violated("a list of groups is wrong");
  for (queue_row q = 0; q < priorities.size(); ++q) {
    const bool known = q < s.preemptible_priorities.size();
    if (known ? !std::ranges::equal(
                    priorities[q], s.preemptible_priorities[q],
                    [](const auto& a, const auto& b) { return a.first == b.first && a.second == b.second; })
              : !priorities[q].empty())
      return violated("priorities of a queue differ from its groups");
  }
  for (sub_group_row sub = 0; sub < s.sub_slots; ++sub) {
    const model::sub_info& info = s.subs[sub];
    if (info.is_set || !info.is_uniform) continue;
    bool same = (info.first_pod == no_row) == (info.only_class == no_row);
    for (pod_row p = info.first_pod; p != no_row; p = s.pods[p].next)
      same = same && s.pods[p].pod_class == info.only_class;
    if (!same) return violated("pods of a pod set are not of the class that they are said to be of");
  }
  return {};
}

/// Chunks that are known without looking at pods are those that are collected.
result<void> check_chunks(const session_state& c) {
  for (group_row g = 0; g < c.state().group_slots; ++g) {
    if (!c.state().groups[g].live) continue;
    const std::optional<equal_chunk> equal = equal_chunk_of(c, g);
    if (!equal) continue;
    for (const startable which : {startable::pending, startable::pending_or_evicted}) {
      pod_list chunk;
      next_chunk(c, g, which, chunk);
      const bool same =
          std::ranges::all_of(chunk, [&](pod_row p) { return c.state().pods[p].pod_class == equal->kind; });
      if (!same || static_cast<std::int64_t>(chunk.size()) != equal->count ||
          request_of(c, chunk) != times(c.queues.asked(*c.state().classes[equal->kind]), equal->count))
        return violated("the chunk of a group differs from what its counts say");
    }
  }
  return {};
}

/// The first element in which two columns differ, or -1.
std::ptrdiff_t first_difference(const std::vector<std::int64_t>& a, const std::vector<std::int64_t>& b) {
  const auto [at, other] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  return at == a.end() && other == b.end() ? -1 : at - a.begin();
}

result<void> compare_nodes(const session_state& c, const std::vector<std::int64_t>& counted,
                           const std::vector<std::int64_t>& kept, std::string_view what) {
  const std::ptrdiff_t at = first_difference(counted, kept);
  if (at < 0) return {};
  const auto dims = static_cast<std::ptrdiff_t>(c.state().dims());
  return violated(text_of_node(c, static_cast<node_row>(at / dims)) + ", " +
                  (*c.state().dimensions)[static_cast<std::size_t>(at % dims)].name + ": " + std::string(what) +
                  " amounts differ from its pods");
}

result<void> compare_devices(const session_state& c, const std::vector<std::int64_t>& counted,
                             const std::vector<std::int64_t>& kept) {
  const std::ptrdiff_t at = first_difference(counted, kept);
  if (at < 0) return {};
  return violated(text_of_device(c, static_cast<device_row>(at)) + ": amounts differ from its pods");
}

}  // namespace

error violated(const std::string& what) { return {status::internal, "invariant violated: " + what, {}}; }

std::string text_of_node(const session_state& c, node_row row) {
  return "node '" + (*c.state().nodes)[row]->name + "'";
}

std::string text_of_device(const session_state& c, device_row device) {
  const std::vector<device_row>& first = *c.state().first_device;
  const auto row = static_cast<node_row>(std::upper_bound(first.begin(), first.end(), device) - first.begin() - 1);
  return "device " + std::to_string(device - first[row]) + " of " + text_of_node(c, row);
}

bool leaves_without_having_been_there(const session_state& c, pod_row p, std::uint32_t slot) {
  const model::live_state& before = c.state().live;
  const auto status = static_cast<pod_status>(before.pod_state[p]);
  const bool was_there =
      before.pod_node[p] == slot && model::is_in(status, model::active_used) && status != pod_status::pipelined;
  // Who moves may claim other devices of the node that it leaves.
  const bool had_claim = static_cast<pod_status>(c.live.pod_state[p]) == pod_status::releasing &&
                         c.live.pod_node[p] == slot && c.statement.is_leaving(p);
  const auto from_here = [&](const leaving_pod& one) { return one.pod == p && one.node == slot; };
  const auto leaves_twice = [&] {  // the node, and its claim on it
    return c.statement.is_leaving(p) &&
           std::count_if(c.statement.leaving.begin(), c.statement.leaving.end(), from_here) > 1;
  };
  return slot != no_row && (had_claim || !was_there || leaves_twice());
}

/// Claims made in the session count, those of earlier ones do not, and who had one and has lost it has given it back.
std::int64_t times_counted(const session_state& c, pod_row p, pod_status now) {
  const auto before = static_cast<pod_status>(c.state().live.pod_state[p]);
  const std::int64_t holds = model::is_in(now, model::holding) ? 1 : 0;
  if (now == before) return holds;
  return now == pod_status::pipelined ? holds + 1 : before == pod_status::pipelined ? holds - 1 : holds;
}

result<void> check_capacity_of(const session_state& c, node_row row) {
  const model::cluster_state& s = c.state();
  const std::size_t first = static_cast<std::size_t>(row) * s.dims();
  for (std::size_t i = first; i < first + s.dims(); ++i) {
    const std::int64_t idle = (*c.live.idle)[i];
    const std::int64_t free = idle + (*c.live.releasing)[i];
    const std::int64_t idle_before = (*s.live.idle)[i];
    const std::int64_t free_before = idle_before + (*s.live.releasing)[i];
    const auto where = [&] { return text_of_node(c, row) + ", " + (*s.dimensions)[i - first].name; };
    if (idle < std::min<std::int64_t>(0, idle_before)) return violated(where() + " is newly over capacity");
    if (free < std::min<std::int64_t>(0, free_before)) return violated(where() + " is newly promised twice");
  }
  for (device_row d = (*s.first_device)[row]; d < (*s.first_device)[row + 1]; ++d) {
    const std::int64_t free = (*c.live.device_free)[d];
    const std::int64_t later = free + (*c.live.device_releasing)[d];
    const std::int64_t free_before = (*s.live.device_free)[d];
    const std::int64_t later_before = free_before + (*s.live.device_releasing)[d];
    if (free < std::min<std::int64_t>(0, free_before) || later < std::min<std::int64_t>(0, later_before))
      return violated(text_of_device(c, d) + " is newly over capacity");
  }
  return {};
}

bool has_broken_gang(const session_state& c, group_row group) {
  const model::group_core& g = c.state().groups[group];
  bool optional_members = false;
  bool incomplete_before = false;
  bool active_before = false;
  for (sub_group_row sub = g.first_sub; sub < g.first_sub + g.sub_count; ++sub) {
    const model::sub_info& info = c.state().subs[sub];
    const std::uint32_t before = c.state().live.counts[sub].active_allocated;
    optional_members = optional_members || (info.is_set && info.min != unset);
    incomplete_before = incomplete_before || (!info.is_set && static_cast<std::int64_t>(before) < info.min);
    active_before = active_before || before > 0;
  }
  if (c.compat() && (optional_members || (incomplete_before && active_before))) return false;
  return !is_satisfied(c, g.first_sub);
}

result<void> session_state::check() const {
  if (auto done = check_lists(state()); !done) return done;
  if (auto done = check_chunks(*this); !done) return done;
  if (!books.are_right(*this)) return violated("domains have not what is kept of them");
  model::cluster_state copy = state();
  copy.live.pod_state = live.pod_state;
  copy.live.pod_node = live.pod_node;
  copy.live.pod_devices = live.pod_devices;
  model::recount(copy);
  for (const leaving_pod& g : statement.leaving) {
    if (!statement.is_leaving(g.pod, g.node)) return violated("a pod that leaves a node is not counted");
    model::charge_node(copy, copy.live, state().class_of(g.pod), (*state().node_row_of_slot)[g.node],
                       pod_status::releasing, g.devices, 1);
  }
  for (const division& one : statement.divisions) {
    statement.charge_division(copy.live, one, 1);
    for (const model::mig_instance& made : one.made) {  // counted as idle, as if they were there
      const dimension d = state().mig_dimension(made.profile);
      if (d != no_row) --copy.live.idle.write()[static_cast<std::size_t>(one.node) * state().dims() + d];
    }
  }
  // KAI's books of shared devices cannot be counted again: what they say depends on what has been tried.
  // Nor can those of devices that several pods have: which of them is charged depends on which came first.
  const bool has_books = constraints.has(policy::trait_amounts_not_of_pods);
  if (!has_books) {
    if (auto done = compare_nodes(*this, *copy.live.idle, *live.idle, "idle"); !done) return done;
    if (auto done = compare_nodes(*this, *copy.live.releasing, *live.releasing, "releasing"); !done) return done;
  }
  if (auto done = compare_devices(*this, *copy.live.device_free, *live.device_free); !done) return done;
  if (auto done = compare_devices(*this, *copy.live.device_releasing, *live.device_releasing); !done) return done;
  if (const std::ptrdiff_t at = first_difference(*copy.live.device_claims, *live.device_claims); at >= 0)
    return violated(text_of_node(*this, static_cast<node_row>(at)) + ": claims on devices differ from its pods");
  model::live_state mine = live;
  mine.settle_orders();
  copy.live.settle_orders();
  if (!has_books && (!(*copy.live.by_gpu == *mine.by_gpu) || !(*copy.live.by_cpu == *mine.by_cpu))) {
    return violated("an order of nodes differs from their amounts");
  }
  for (sub_group_row sub = 0; sub < state().sub_slots; ++sub) {
    if (copy.live.counts[sub] == live.counts[sub]) continue;
    return violated("pod group '" + std::string(state().group_names[state().subs[sub].group]) +
                    "': counts of a pod set differ from its pods");
  }
  const std::vector<quota_vector> expected = expected_allocation(*this, copy.live);
  for (queue_row q = 0; q < expected.size(); ++q) {
    if (expected[q] != (*live.queue_allocated)[q])
      return violated("queue '" + (*state().queues)[q].name + "': its sum differs from its pods");
  }
  const bool only_starts = statement.log.empty() && std::ranges::all_of(results.decisions, [](const decision& d) {
                             return d.kind == decision_kind::bind;
                           });
  if (const std::string fault = constraints.fault(access, {only_starts, !statement.evicted_twice.empty()});
      !fault.empty())
    return violated(fault);
  for (group_row g = 0; state().semi_preemptible_groups > 0 && g < state().group_slots; ++g) {
    if (!state().groups[g].live || !state().groups[g].semi_preemptible) continue;
    if (queues.core_growth(g, {}) != quota_vector{})
      return violated("the core of a group differs from what queues count");
  }
  if (auto done = has_books ? result<void>{} : check_capacity(*this); !done) return done;
  return statement.log.empty() && !statement.abandoned ? check_gangs(*this) : result<void>{};
}

bool session_state::counts_again() const {
#ifdef KAISCHED_CHECKS
  return true;
#else
  return options.invariants == invariant_level::full;
#endif
}

result<void> session_state::verify() {
  if (auto done = ledger_.verify(*this); !done || !counts_again()) return done;
  if (state().pod_slots + state().node_count() <= small_cluster || statement.commits % 64 == 0) return check();
  return {};
}

std::string session_state::digest_for_checks() const {
  if (!counts_again() || !is_repeated(run.sets_tried)) return {};
  // An undo in KAI's books of shared devices and of claims is not always exact.
  if (!constraints.has(policy::trait_undo_is_inexact) && state().pod_slots + state().node_count() <= small_cluster)
    return state_digest();
  return {};
}

std::string session_state::state_digest() const {
  base::sha256 hash;
  for (pod_row p = 0; p < state().pod_slots; ++p) {
    const std::uint64_t words[] = {live.pod_state[p], live.pod_node[p], live.pod_devices[p].mask,
                                   static_cast<std::uint64_t>(live.pod_devices[p].share)};
    hash.update(std::as_bytes(std::span(words)));
  }
  for (sub_group_row sub = 0; sub < state().sub_slots; ++sub) {
    const model::sub_counts& n = live.counts[sub];
    const std::uint32_t words[] = {n.total,       n.pending,   n.gated,   n.alive,    n.active_allocated,
                                   n.active_used, n.pipelined, n.holding, n.succeeded};
    hash.update(std::as_bytes(std::span(words)));
  }
  add_bytes(hash, *live.idle);
  add_bytes(hash, *live.releasing);
  add_bytes(hash, *live.device_free);
  add_bytes(hash, *live.device_releasing);
  add_bytes(hash, *live.device_claims);
  add_bytes(hash, *live.queue_allocated);
  add_bytes(hash, *live.queue_nonpreemptible);
  constraints.digest(hash);
  for (const division& one : statement.divisions) {
    const std::uint64_t words[] = {one.node, one.device, one.layout.size()};
    hash.update(std::as_bytes(std::span(words)));
  }
  model::live_state settled = live;
  settled.settle_orders();
  for (const model::node_index* index : {&*settled.by_gpu, &*settled.by_cpu}) {
    for (const model::node_index::entry& e : *index) {
      const std::int64_t words[] = {e.key, e.rank, e.row};
      hash.update(std::as_bytes(std::span(words)));
    }
  }
  return base::sha256::hex(hash.finish());
}

}  // namespace kaisched::framework
