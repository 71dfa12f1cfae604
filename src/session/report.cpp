// Why groups wait.
#include <algorithm>
#include <map>
#include <optional>

#include "actions/runtime.hpp"
#include "base/int128.hpp"
#include "framework/members.hpp"
#include "model/account.hpp"
#include "model/snapshot_access.hpp"
#include "policy/predicates/power_caps.hpp"
#include "policy/predicates/reservations.hpp"
#include "session/row_names.hpp"
#include "session/session_impl.hpp"

namespace kaisched::session_detail {

namespace {

using framework::session_state;

bool is_own_filter(const policy_part& part) {
  return (part.capabilities() & part_filters_nodes) != 0 && !policy::is_built_in_filter(part.name());
}

/// Verdicts of the parts that are not built in about nodes that nothing else refuses. One that fails refuses nothing:
/// its session has failed with its name before.
void ask_own_filters(session_state& own, pod_row pod, std::span<const node_row> rows, std::span<constraint> verdicts) {
  const session_view view = own.view();
  for (const auto& part : own.parts) {
    if (!is_own_filter(*part)) continue;
    std::vector<constraint> judged(verdicts.begin(), verdicts.end());
    if (!part->filter_nodes(view, pod, rows, judged).ok()) continue;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (verdicts[i] == constraint::none) verdicts[i] = judged[i];
    }
  }
}

/// Verdicts of nodes: one reason per constraint and dimension.
class merged_reasons {
 public:
  void add(const reason& one) {
    const auto [it, fresh] = all_.try_emplace({one.what, one.dim}, one);
    if (fresh) return;
    reason& sum = it->second;
    ++sum.nodes;
    if (one.have > sum.have) {
      sum.need = one.need;
      sum.have = one.have;
      sum.nearest = one.nearest;
    }
  }

  /// Most nodes first.
  [[nodiscard]] std::vector<reason> of(group_row group, pod_row pod) const {
    std::vector<reason> all;
    for (const auto& [key, one] : all_) {
      all.push_back(one);
      all.back().group = group;
      all.back().pod = pod;
    }
    std::stable_sort(all.begin(), all.end(), [](const reason& a, const reason& b) { return a.nodes > b.nodes; });
    return all;
  }

 private:
  std::map<std::pair<constraint, dimension>, reason> all_;
};

/// What nodes say to every pod of a class, of groups that the same nodes are open to, and those that say nothing
/// against it.
struct class_verdicts {
  merged_reasons refused;
  std::vector<node_row> open;
};

class_verdicts judge_class(const session_state& c, group_row group, const model::pod_class& ask) {
  class_verdicts found;
  for (node_row row = 0; row < c.state().node_count(); ++row) {
    const reason one = judge_node(c, group, ask, row);
    if (one.what == constraint::none) {
      found.open.push_back(row);
    } else {
      found.refused.add(one);
    }
  }
  return found;
}

/// Of nodes that are open to the class of a pod. `own`: whom to ask about parts that are not built in, or null.
std::vector<constraint> judge_pod(const session_state& c, session_state* own, pod_row pod,
                                  std::span<const node_row> open) {
  std::vector<constraint> verdicts(open.size(), constraint::none);
  c.constraints.judge_by_rules(c.access, pod, open, verdicts);
  if (own != nullptr) ask_own_filters(*own, pod, open, verdicts);
  c.constraints.judge(c.access, pod, policy::free_amount::idle_or_releasing, open, verdicts);
  return verdicts;
}

/// Milliwatts that the pod needs of the feed of the node that lacks most, and what that has.
void measure_power(const session_state& c, pod_row pod, reason& why) {
  const auto missing = policy::power_missing(c.access, pod, why.nearest, policy::free_amount::idle_or_releasing);
  if (!missing) return;
  why.need = missing->need;
  why.have = missing->have;
}

/// How long a group is expected to run; -1: nobody knows.
std::int64_t expected_time(const session_state& c, group_row group) {
  return std::max<std::int64_t>(-1, c.state().group_extras[group].runtime_estimate);
}

/// What the class of a pod decides is asked once.
class node_reasons {
 public:
  explicit node_reasons(const session_state& c) : c_(c) {
    const bool asks =
        std::any_of(c.parts.begin(), c.parts.end(), [](const auto& part) { return is_own_filter(*part); });
    if (asks) own_.emplace(c);  // parts may keep state between calls: those of the session are not asked
  }
  std::vector<reason> of(group_row group, pod_row pod) {
    std::vector<reason> found = on_nodes(group, pod);
    for (reason& one : found) {
      if (one.what == constraint::node_reserved) one.need = expected_time(c_, group);
    }
    return found;
  }

 private:
  std::vector<reason> on_nodes(group_row group, pod_row pod) {
    const std::pair of(c_.state().pods[pod].pod_class, c_.constraints.kind_of(group));
    auto it = known_.find(of);
    if (it == known_.end()) it = known_.emplace(of, judge_class(c_, group, c_.state().class_of(pod))).first;
    const class_verdicts& of_class = it->second;
    const bool by_class =
        policy::ignores_other_pods(c_.access, c_.state().class_of(pod)) && !c_.constraints.concerns(c_.access, pod);
    if (of_class.open.empty() || (!own_ && by_class)) return of_class.refused.of(group, pod);
    const std::vector<constraint> verdicts = judge_pod(c_, own_ ? &*own_ : nullptr, pod, of_class.open);
    merged_reasons all = of_class.refused;
    for (std::size_t i = 0; i < verdicts.size(); ++i) {
      if (verdicts[i] == constraint::none) continue;
      reason one;
      one.what = verdicts[i];
      one.scope = reason_scope::node;
      one.nodes = 1;
      one.nearest = of_class.open[i];
      if (one.what == constraint::power) measure_power(c_, pod, one);
      all.add(one);
    }
    return all.of(group, pod);
  }

  const session_state& c_;
  std::optional<session_state> own_;
  std::map<std::pair<class_row, std::uint32_t>, class_verdicts> known_;
};

reason group_reason(group_row group, constraint what, reason_scope scope) {
  reason why;
  why.group = group;
  why.what = what;
  why.scope = scope;
  return why;
}

/// The role with the fewest pods that wait for what a whole unit needs of it; none if no set of a group lacks any.
std::optional<reason> unit_incomplete(const session_state& c, group_row group) {
  const model::group_core& g = c.state().groups[group];
  for (sub_group_row set = g.first_sub; set < g.first_sub + g.sub_count; ++set) {
    if (!c.state().subs[set].is_set) continue;
    const auto pods_of = [&](sub_group_row role) { return std::int64_t{c.counts(role).active_allocated}; };
    const std::optional<framework::unit_state> units = framework::units_of(c, set, pods_of);
    if (!units || units->lacks_gang) continue;
    reason why = group_reason(group, constraint::gang_incomplete, reason_scope::group);
    for (sub_group_row role = c.state().subs[set].first_child; role != no_row;
         role = c.state().subs[role].next_sibling) {
      if (!framework::comes_in_units(c, role)) continue;
      const std::int64_t need =
          framework::pods_of_units(c, role, units->begun + (units->is_broken ? 0 : 1)) - pods_of(role);
      const std::int64_t have = c.counts(role).pending;
      if (need - have <= why.need - why.have) continue;
      why.need = need;
      why.have = have;
    }
    if (why.need > why.have) return why;
  }
  return std::nullopt;
}

/// Pods that the gang needs and that do not exist, or are gated.
reason incomplete(const session_state& c, group_row group) {
  const model::group_core& g = c.state().groups[group];
  std::int64_t need = 0;
  std::int64_t have = 0;
  for (sub_group_row sub = g.first_sub; sub < g.first_sub + g.sub_count; ++sub) {
    const model::sub_info& info = c.state().subs[sub];
    if (info.is_set) continue;
    need += info.min;
    have += static_cast<std::int64_t>(c.counts(sub).alive) - c.counts(sub).gated;
  }
  const bool gated = framework::count_pods(c, group, &model::sub_counts::gated) > 0;
  reason why = group_reason(group, gated ? constraint::gated : constraint::gang_incomplete, reason_scope::group);
  why.need = need;
  why.have = have;
  return why;
}

reason queue_reason(const session_state& c, const framework::failure& f) {
  reason why = group_reason(f.group, f.what, reason_scope::queue);
  why.pod = f.pod;
  why.subject = id_of_queue(c, f.queue);
  why.dim = f.resource;
  why.need = f.need;
  why.have = f.have;
  return why;
}

bool has_pending(const session_state& c, group_row group) {
  return framework::count_pods(c, group, &model::sub_counts::pending) > 0;
}

/// Pods of it want to start, be it after other groups.
bool is_waiting(const session_state& c, group_row group) {
  return has_pending(c, group) || !c.groups.open_dependencies(group).empty();
}

pod_row first_pending(const session_state& c, group_row group) {
  const model::group_core& g = c.state().groups[group];
  for (sub_group_row sub = g.first_sub; sub < g.first_sub + g.sub_count; ++sub) {
    for (pod_row p = c.state().subs[sub].first_pod; p != no_row; p = c.state().pods[p].next) {
      if (static_cast<pod_status>(c.live.pod_state[p]) == pod_status::pending) return p;
    }
  }
  return no_row;
}

/// Pending pods of a group that belong to none of its pod sets.
struct strays {
  std::int64_t count = 0;
  pod_row first = no_row;  ///< by name
};

strays pending_strays(const session_state& c, group_row group) {
  const model::cluster_state& s = c.state();
  strays found;
  for (pod_row p = s.group_extras[group].first_stray; p != no_row; p = s.pods[p].next) {
    if (static_cast<pod_status>(c.live.pod_state[p]) != pod_status::pending) continue;
    ++found.count;
    if (found.first == no_row || s.pod_names[p] < s.pod_names[found.first]) found.first = p;
  }
  return found;
}

void add_stray_reason(const session_state& c, group_row group, std::vector<reason>& all) {
  const strays found = pending_strays(c, group);
  if (found.count == 0) return;
  all.push_back(group_reason(group, constraint::sub_group_missing, reason_scope::group));
  all.back().pod = found.first;
  all.back().need = found.count;
}

/// Who is waited for first; counts are of the entries of the group.
reason dependency_reason(const session_state& c, group_row group, std::span<const model::open_dependency> open) {
  reason why = group_reason(group, constraint::dependency, reason_scope::group);
  if (open.front().group != no_row) why.subject = id_of_group(c, open.front().group);
  why.need = std::ssize(split_list(c.state().group_extras[group].after));
  why.have = why.need - std::ssize(open);
  return why;
}

/// Domains that miss equally much are one reason, those that miss the least first.
void add_domain_reasons(const framework::failure& f, std::vector<reason>& all) {
  for (const framework::domain_shortage& one : f.domains) {
    reason why = group_reason(f.group, constraint::topology, reason_scope::domain);
    why.need = one.need;
    why.have = one.have;
    why.nodes = one.domains;
    all.push_back(why);
  }
}

void add_reasons(const session_state& c, group_row group, const framework::failure* f, node_reasons& nodes,
                 std::vector<reason>& all) {
  if (!c.queues.is_schedulable_queue(c.state().groups[group].queue)) {
    all.push_back(group_reason(group, constraint::queue_missing, reason_scope::queue));
    all.back().subject = id_of_queue(c, c.state().groups[group].queue);
    return;
  }
  if (const auto open = c.groups.open_dependencies(group); !open.empty()) {
    all.push_back(dependency_reason(c, group, open));
    return;
  }
  if (const actions::requeue_delay delay = actions::requeue_delay_of(c, group); delay.left() > 0) {
    all.push_back(group_reason(group, constraint::requeue_delay, reason_scope::group));
    all.back().need = delay.delay;
    all.back().have = delay.waited;
    return;
  }
  const bool nothing_to_start = f != nullptr && f->what == constraint::gang_incomplete;
  if (nothing_to_start && framework::is_ready(c, c.state().groups[group].first_sub)) {
    if (const std::optional<reason> lacking = unit_incomplete(c, group)) {
      all.push_back(*lacking);
      return;
    }
  }
  if (nothing_to_start || !framework::is_ready(c, c.state().groups[group].first_sub)) {
    all.push_back(incomplete(c, group));
    return;
  }
  if (f != nullptr &&
      (f->what == constraint::queue_limit || f->what == constraint::queue_quota || f->what == constraint::cell)) {
    all.push_back(queue_reason(c, *f));
    return;
  }
  if (f != nullptr && f->what == constraint::reservation) {
    all.push_back(group_reason(group, f->what, reason_scope::group));
    all.back().subject = id_of_group(c, f->head);
    return;
  }
  if (f != nullptr && f->what == constraint::deadline) {
    all.push_back(group_reason(group, f->what, reason_scope::group));
    all.back().need = f->need;
    all.back().have = f->have;
    return;
  }
  if (f != nullptr && f->what == constraint::plugin && f->pod == no_row) {  // there are places
    all.push_back(group_reason(group, f->what, reason_scope::group));
    return;
  }
  if (f != nullptr) add_domain_reasons(*f, all);
  if (f != nullptr && f->pieces_tried > 0) {
    all.push_back(group_reason(group, constraint::topology, reason_scope::group));
    all.back().need = f->pieces_tried;
    all.back().have = -1;
  }
  if (f != nullptr && !f->domains.empty()) return;
  const pod_row pod = f != nullptr && f->pod != no_row ? f->pod : first_pending(c, group);
  if (pod == no_row) return;
  const policy::cluster_verdict verdict =
      c.has_predicates ? policy::judge_cluster(c.access, c.state().class_of(pod)) : policy::cluster_verdict{};
  if (verdict.what != constraint::none) {
    reason why = group_reason(group, verdict.what, reason_scope::cluster);
    why.pod = pod;
    why.dim = verdict.dim;
    if (verdict.dim != no_row) why.need = c.state().class_of(pod).requests(verdict.dim);
    why.have = verdict.have;
    all.push_back(why);
    return;
  }
  const std::vector<reason> found = nodes.of(group, pod);
  std::uint32_t refusing = 0;
  for (const reason& why : found) refusing += why.nodes;
  if (refusing < c.state().node_count() || found.empty()) {
    // The pod fits somewhere: the gang as a whole does not, or nobody has looked.
    const constraint what = f == nullptr ? constraint::not_tried : constraint::resource_busy;
    reason why = group_reason(group, what, reason_scope::group);
    why.pod = pod;
    all.push_back(why);
  }
  all.insert(all.end(), found.begin(), found.end());
}

}  // namespace

reason judge_node(const session_state& c, group_row group, const model::pod_class& ask, node_row row) {
  reason why;
  why.scope = reason_scope::node;
  why.nodes = 1;
  why.nearest = row;
  if (c.has_predicates) why.what = policy::node_verdict(c.access, ask, row);
  if (why.what != constraint::none) return why;
  if (const std::optional<policy::reservation_refusal> by = c.access.reservations->why(group, row)) {
    why.what = constraint::node_reserved;
    why.need = expected_time(c, group);
    why.have = actions::time_until(c, by->when.start);
    return why;
  }
  const model::cluster_state& s = c.state();
  const std::size_t at = static_cast<std::size_t>(row) * s.dims();
  for (std::uint32_t d = 0; d < s.dims(); ++d) {
    const std::int64_t free = (*c.live.idle)[at + d] + (*c.live.releasing)[at + d];
    const std::int64_t need = ask.requests(d);
    if (need <= free || (need == 0 && !c.compat()) || (d == dim_gpu && c.access.in_groups(ask))) continue;
    // Of several short dimensions the one that is shortest for its need: a full node lacks GPUs, not a bit of CPU.
    const bool shorter = static_cast<base::int128>(std::max<std::int64_t>(0, free)) * why.need <
                         static_cast<base::int128>(std::max<std::int64_t>(0, why.have)) * need;
    const bool as_short = static_cast<base::int128>(std::max<std::int64_t>(0, free)) * why.need ==
                          static_cast<base::int128>(std::max<std::int64_t>(0, why.have)) * need;
    if (why.what == constraint::resource && !shorter && !(as_short && d == dim_gpu)) continue;
    why.what = constraint::resource;
    why.dim = d;
    why.need = need;
    why.have = free;
  }
  if (why.what != constraint::none) return why;
  const auto aside = policy::set_aside_missing(c.access, ask, row, policy::free_amount::idle_or_releasing);
  if (aside.dim != no_row) {
    why.what = constraint::set_aside;
    why.dim = aside.dim;
    why.need = aside.need;
    why.have = aside.have;
    return why;
  }
  if (!policy::fits(c.access, ask, row, policy::free_amount::idle_or_releasing)) {
    why.what = constraint::resource_busy;
    why.dim = dim_gpu;
    why.need = model::quota_request_on(s, ask, row)[dim_gpu];
    why.have = (*c.live.idle)[at + dim_gpu] + (*c.live.releasing)[at + dim_gpu];
  }
  return why;
}

std::vector<decision> waiting_groups(const session_state& c) {
  std::vector<group_row> rows;
  for (const group_row g : *model::state_of(c.base).pending_groups) {
    if (is_waiting(c, g)) rows.push_back(g);
  }
  const auto strays_begin = static_cast<std::ptrdiff_t>(rows.size());
  for (const group_row g : *c.state().stray_groups) {
    if (!is_waiting(c, g) && pending_strays(c, g).count > 0) rows.push_back(g);
  }
  std::inplace_merge(rows.begin(), rows.begin() + strays_begin, rows.end(),
                     [&](group_row a, group_row b) { return model::group_before(c.state(), a, b); });
  std::vector<decision> waiting;
  waiting.reserve(rows.size());
  for (const group_row g : rows) {
    decision d;
    d.kind = decision_kind::unschedulable;
    d.group = g;
    waiting.push_back(d);
  }
  return waiting;
}

/// A budget that was in the way when room was to be made.
void add_budget_reason(const session_state& c, group_row group, std::vector<reason>& all) {
  const policy::budget_refusal* const why = c.results.budget_in_the_way(group);
  if (why == nullptr) return;
  const pod_row pod = first_pending(c, group);
  all.push_back(group_reason(group, constraint::disruption_budget, reason_scope::cluster));
  all.back().pod = pod;
  all.back().need = why->need;
  all.back().have = why->have;
}

std::vector<reason> reasons_of(const session_state& c, std::span<const decision> waiting) {
  std::vector<const framework::failure*> last(c.state().group_slots, nullptr);
  for (const framework::failure& f : c.results.failures) last[f.group] = &f;
  node_reasons nodes(c);
  std::vector<reason> all;
  for (const decision& d : waiting) {
    if (is_waiting(c, d.group)) add_reasons(c, d.group, last[d.group], nodes, all);
    add_budget_reason(c, d.group, all);
    add_stray_reason(c, d.group, all);
  }
  return all;
}

}  // namespace kaisched::session_detail
