// What a session tells: waiting groups, reasons, tables, text, digest.
#include <algorithm>
#include <bit>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "actions/runtime.hpp"
#include "base/int128.hpp"
#include "base/sha256.hpp"
#include "engine/session_impl.hpp"
#include "model/account.hpp"
#include "model/pod_plan.hpp"
#include "model/schema_writer.hpp"
#include "session/members.hpp"

namespace kaisched::engine_detail {

namespace {

using work::core;

entity_id id_of_pod(const core& c, pod_row p) {
  return p == no_row ? entity_id{} : entity_id(entity_kind::pod, c.state().pods[p].generation, p);
}
entity_id id_of_group(const core& c, group_row g) {
  return {entity_kind::pod_group, c.state().groups[g].generation, g};
}
entity_id id_of_node(const core& c, node_row row) {
  if (row == no_row) return {};
  const std::uint32_t slot = (*c.state().nodes)[row]->slot;
  return {entity_kind::node, (*c.state().node_generation)[slot], slot};
}
entity_id id_of_queue(const core& c, queue_row q) {
  return q == no_row ? entity_id{} : entity_id(entity_kind::queue, (*c.state().queues)[q].generation, q);
}

std::string_view name_of_node(const core& c, node_row row) {
  return row == no_row ? std::string_view{} : std::string_view((*c.state().nodes)[row]->name);
}

std::vector<std::string_view> views_of(const std::vector<std::string>& texts) { return {texts.begin(), texts.end()}; }

std::vector<std::int64_t> indices_of(std::uint64_t mask) {
  std::vector<std::int64_t> indices;
  for (std::uint64_t left = mask; left != 0; left &= left - 1) indices.push_back(std::countr_zero(left));
  return indices;
}

// ---- why a pod finds no node -------------------------------------------------------------------------------------

bool is_own_filter(const policy_part& part) {
  return (part.capabilities() & part_filters_nodes) != 0 && part.name() != "predicates";
}

/// Verdicts of the parts that are not built in about nodes that nothing else refuses. One that fails refuses nothing:
/// its session has failed with its name before.
void ask_own_filters(core& own, pod_row pod, std::span<const node_row> rows, std::span<constraint> verdicts) {
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

/// Merges the verdicts of all nodes: one reason per constraint and dimension, most nodes first. `own`: whom to ask
/// about parts that are not built in, or null.
std::vector<reason> judge_nodes(const core& c, core* own, group_row group, pod_row pod) {
  const model::pod_class& ask = c.state().class_of(pod);
  std::map<std::pair<constraint, dimension>, reason> merged;
  std::vector<node_row> rest;
  const auto add = [&](const reason& one) {
    const auto [it, fresh] = merged.try_emplace({one.what, one.dim}, one);
    if (fresh) return;
    reason& sum = it->second;
    ++sum.nodes;
    if (one.have > sum.have) {
      sum.have = one.have;
      sum.nearest = one.nearest;
    }
  };
  for (node_row row = 0; row < c.state().node_count(); ++row) {
    const reason one = judge_node(c, ask, row);
    if (one.what == constraint::none)
      rest.push_back(row);
    else
      add(one);
  }
  if (!rest.empty()) {
    std::vector<constraint> verdicts(rest.size(), constraint::none);
    if (c.has_predicates) policy::pod_verdicts(c.access, pod, rest, verdicts);
    if (own != nullptr) ask_own_filters(*own, pod, rest, verdicts);
    for (std::size_t i = 0; i < rest.size(); ++i) {
      if (verdicts[i] == constraint::none &&
          !policy::vendors_fit(c.access, pod, rest[i], policy::free_amount::idle_or_releasing)) {
        verdicts[i] = constraint::vendor_device;
      }
    }
    for (std::size_t i = 0; i < rest.size(); ++i) {
      if (verdicts[i] == constraint::none) continue;
      reason one;
      one.what = verdicts[i];
      one.scope = reason_scope::node;
      one.nodes = 1;
      one.nearest = rest[i];
      add(one);
    }
  }
  std::vector<reason> all;
  for (auto& [key, one] : merged) {
    one.group = group;
    one.pod = pod;
    all.push_back(one);
  }
  std::stable_sort(all.begin(), all.end(), [](const reason& a, const reason& b) { return a.nodes > b.nodes; });
  return all;
}

/// Verdicts of nodes do not depend on the pod where only its class counts.
class node_reasons {
 public:
  explicit node_reasons(const core& c) : c_(c) {
    const bool asks =
        std::any_of(c.parts.begin(), c.parts.end(), [](const auto& part) { return is_own_filter(*part); });
    if (asks) own_.emplace(c);  // parts may keep state between calls: those of the session are not asked
  }
  std::vector<reason> of(group_row group, pod_row pod) {
    const class_row row = c_.state().pods[pod].pod_class;
    const bool by_class =
        policy::ignores_other_pods(c_.access, c_.state().class_of(pod)) && !c_.vendors.concerns(c_.state(), pod);
    if (own_ || !by_class) return judge_nodes(c_, own_ ? &*own_ : nullptr, group, pod);
    auto it = known_.find(row);
    if (it == known_.end()) it = known_.emplace(row, judge_nodes(c_, nullptr, group, pod)).first;
    std::vector<reason> copy = it->second;
    for (reason& one : copy) {
      one.group = group;
      one.pod = pod;
    }
    return copy;
  }

 private:
  const core& c_;
  std::optional<core> own_;
  std::map<class_row, std::vector<reason>> known_;
};

reason group_reason(group_row group, constraint what, reason_scope scope) {
  reason why;
  why.group = group;
  why.what = what;
  why.scope = scope;
  return why;
}

/// Pods that the gang needs and that do not exist, or are gated.
reason incomplete(const core& c, group_row group) {
  const model::group_core& g = c.state().groups[group];
  std::int64_t need = 0;
  std::int64_t have = 0;
  for (sub_group_row sub = g.first_sub; sub < g.first_sub + g.sub_count; ++sub) {
    const model::sub_info& info = c.state().subs[sub];
    if (info.is_set) continue;
    need += info.min;
    have += static_cast<std::int64_t>(c.counts(sub).alive) - c.counts(sub).gated;
  }
  const bool gated = work::count_pods(c, group, &model::sub_counts::gated) > 0;
  reason why = group_reason(group, gated ? constraint::gated : constraint::gang_incomplete, reason_scope::group);
  why.need = need;
  why.have = have;
  return why;
}

reason queue_reason(const core& c, const work::failure& f) {
  reason why = group_reason(f.group, f.what, reason_scope::queue);
  why.pod = f.pod;
  why.subject = id_of_queue(c, f.queue);
  why.dim = f.resource;
  why.need = f.need;
  why.have = f.have;
  return why;
}

bool has_pending(const core& c, group_row group) { return work::count_pods(c, group, &model::sub_counts::pending) > 0; }

pod_row first_pending(const core& c, group_row group) {
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

strays pending_strays(const core& c, group_row group) {
  const model::cluster_state& s = c.state();
  strays found;
  for (pod_row p = s.group_extras[group].first_stray; p != no_row; p = s.pods[p].next) {
    if (static_cast<pod_status>(c.live.pod_state[p]) != pod_status::pending) continue;
    ++found.count;
    if (found.first == no_row || s.pod_names[p] < s.pod_names[found.first]) found.first = p;
  }
  return found;
}

void add_stray_reason(const core& c, group_row group, std::vector<reason>& all) {
  const strays found = pending_strays(c, group);
  if (found.count == 0) return;
  all.push_back(group_reason(group, constraint::sub_group_missing, reason_scope::group));
  all.back().pod = found.first;
  all.back().need = found.count;
}

/// Domains that miss equally much are one reason, those that miss the least first.
void add_domain_reasons(const work::failure& f, std::vector<reason>& all) {
  for (const work::domain_shortage& one : f.domains) {
    reason why = group_reason(f.group, constraint::topology, reason_scope::domain);
    why.need = one.need;
    why.have = one.have;
    why.nodes = one.domains;
    all.push_back(why);
  }
}

void add_reasons(const core& c, group_row group, const work::failure* f, node_reasons& nodes,
                 std::vector<reason>& all) {
  if (!c.is_schedulable_queue(c.state().groups[group].queue)) {
    all.push_back(group_reason(group, constraint::queue_missing, reason_scope::queue));
    all.back().subject = id_of_queue(c, c.state().groups[group].queue);
    return;
  }
  if (const actions::requeue_delay delay = actions::requeue_delay_of(c, group); delay.left() > 0) {
    all.push_back(group_reason(group, constraint::requeue_delay, reason_scope::group));
    all.back().need = delay.delay;
    all.back().have = delay.waited;
    return;
  }
  const bool nothing_to_start = f != nullptr && f->what == constraint::gang_incomplete;
  if (nothing_to_start || !work::is_ready(c, c.state().groups[group].first_sub)) {
    all.push_back(incomplete(c, group));
    return;
  }
  if (f != nullptr && (f->what == constraint::queue_limit || f->what == constraint::queue_quota)) {
    all.push_back(queue_reason(c, *f));
    return;
  }
  if (f != nullptr && f->what == constraint::reservation) {
    all.push_back(group_reason(group, f->what, reason_scope::group));
    all.back().subject = id_of_group(c, f->head);
    return;
  }
  if (f != nullptr && !f->domains.empty()) {
    add_domain_reasons(*f, all);
    return;
  }
  if (f != nullptr && f->pieces_tried > 0) {
    all.push_back(group_reason(group, constraint::topology, reason_scope::group));
    all.back().need = f->pieces_tried;
    all.back().have = -1;
  }
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

// ---- text --------------------------------------------------------------------------------------------------------

std::string amount_text(const core& c, dimension d, std::int64_t amount) {
  if (d == dim_gpu) return fmt::format("{:g} GPU", static_cast<double>(amount) / 1000.0);
  if (d == dim_cpu) return fmt::format("{:g} CPU", static_cast<double>(amount) / 1000.0);
  if (d == dim_memory) return fmt::format("{:.4g} GB", static_cast<double>(amount) / 1e9);
  return fmt::format("{} {}", amount, (*c.state().dimensions)[d].name);
}

std::string stray_text(const core& c, const reason& why) {
  const std::string_view name = c.state().pod_extras[why.pod].sub_name;
  const std::string pod = fmt::format("pod '{}'", c.state().pod_names[why.pod]);
  const std::string rest =
      why.need == 1 ? std::string{} : fmt::format("; {} pods of the group wait for such a reason", why.need);
  if (c.state().group_extras[why.group].has_sub_groups && name == model::implied_pod_set) {
    return fmt::format("{} is in no sub-group, but its group has some{}", pod, rest);
  }
  return fmt::format("{} names sub-group '{}', which does not exist or has children{}", pod, name, rest);
}

std::string domain_text(const reason& why) {
  if (why.scope == reason_scope::group) {
    return fmt::format("pods that must be together found no place in {} pieces of domains; not searched further",
                       why.need);
  }
  const std::string domains = fmt::format("{} domain{}", why.nodes, why.nodes == 1 ? "" : "s");
  if (why.have < 0) return domains + " of the topology with too little room for all pods that must be together";
  return fmt::format("{} of the topology with room for {} of the {} pods that must be together", domains, why.have,
                     why.need);
}

std::string node_count_text(std::uint32_t nodes) { return fmt::format("{} node{}", nodes, nodes == 1 ? "" : "s"); }

/// What vendors' rules say, with the number of nodes.
std::string vendor_text(const core& c, const reason& why, std::string_view nodes) {
  constexpr std::size_t most = 3;
  std::string text = fmt::format("{} where the vendors' rules give the pod no devices", nodes);
  const auto all = c.vendors.reasons(c.state(), why.pod);
  for (std::size_t i = 0; i < std::min(most, all.size()); ++i) {
    fmt::format_to(std::back_inserter(text), "{}{} ({})", i == 0 ? ": " : "; ", all[i].first, all[i].second);
  }
  return text;
}

/// What a person has to know about claims with requests beside that nothing is free, from one of the first nodes.
std::string claims_text(const core& c, const reason& why) {
  constexpr node_row most_nodes = 64;
  if (why.pod == no_row || !c.claims.has_claims(why.pod)) return {};
  const bool one = why.nearest != no_row;
  const node_row last = one ? why.nearest + 1 : std::min(c.state().node_count(), most_nodes);
  for (node_row row = one ? why.nearest : 0; row < last; ++row) {
    const std::string text = c.claims.why_not(why.pod, row);
    if (!text.empty()) return fmt::format(" (on {}: {})", name_of_node(c, row), text);
  }
  return {};
}

std::string node_reason_text(const core& c, const reason& why) {
  const std::string nodes = node_count_text(why.nodes);
  switch (why.what) {
    case constraint::resource:
      return fmt::format("{} short of {}: need {}, at most {} free (on {})", nodes,
                         (*c.state().dimensions)[why.dim].name, amount_text(c, why.dim, why.need),
                         amount_text(c, why.dim, std::max<std::int64_t>(0, why.have)), name_of_node(c, why.nearest));
    case constraint::resource_busy:
      return fmt::format("{} have {} only in pieces: need {}", nodes, amount_text(c, why.dim, why.have),
                         amount_text(c, why.dim, why.need));
    case constraint::node_not_ready:
      return fmt::format("{} not ready", nodes);
    case constraint::node_unschedulable:
      return fmt::format("{} cordoned", nodes);
    case constraint::node_selector:
      return fmt::format("{} without the labels that the pod asks for", nodes);
    case constraint::taint:
      return fmt::format("{} with a taint that the pod does not tolerate", nodes);
    case constraint::host_port:
      return fmt::format("{} where the host port is taken", nodes);
    case constraint::gpu_type_limit:
      return fmt::format("{} with GPUs of a type of which a queue may hold no more", nodes);
    case constraint::device_kind:
      return fmt::format("{} with devices of another kind", nodes);
    case constraint::resource_claim:
      return fmt::format("{} where the resource claims of the pod cannot be used{}", nodes, claims_text(c, why));
    case constraint::vendor_device:
      return vendor_text(c, why, nodes);
    case constraint::numa_alignment:
      return fmt::format("{} whose NUMA zones cannot align the pod", nodes);
    case constraint::pod_affinity:
      return fmt::format("{} without the pods that it must be with", nodes);
    case constraint::pod_anti_affinity:
      return fmt::format("{} with pods that it must not be with", nodes);
    default:
      return fmt::format("{} refused by {}", nodes, constraint_name(why.what));
  }
}

// ---- tables ------------------------------------------------------------------------------------------------------

/// Bytes of each device that a decision names; 0 where nobody knows, nothing if nobody knows any.
std::vector<std::int64_t> memory_of_devices(const core& c, const decision& d) {
  std::vector<std::int64_t> bytes;
  if (d.pod == no_row) return bytes;
  for (const std::int64_t device : indices_of(d.devices.mask)) {
    const std::int64_t units =
        (*c.state().device_units)[(*c.state().first_device)[d.node] + static_cast<std::size_t>(device)];
    const model::pod_class& ask = c.state().class_of(d.pod);
    const std::int64_t part = ask.is_shared() ? model::part_of_device(ask, units) : units;
    bytes.push_back(units == whole_device ? 0 : part);
  }
  if (std::all_of(bytes.begin(), bytes.end(), [](std::int64_t one) { return one == 0; })) bytes.clear();
  return bytes;
}

std::vector<std::string_view> sharing_of_devices(const core& c, const decision& d) {
  std::vector<std::string_view> modes;
  if (d.pod == no_row || d.devices.mask == 0 || !(*c.state().nodes)[d.node]->has_sharing_modes()) return modes;
  for (const std::int64_t device : indices_of(d.devices.mask)) {
    const model::sharing_mode mode = (*c.state().nodes)[d.node]->sharing_of(static_cast<std::uint32_t>(device));
    modes.push_back(mode == model::sharing_mode::unknown ? "unknown" : model::sharing_name(mode));
  }
  return modes;
}

table decision_table(const core& c, std::span<const decision> decided, std::span<const decision> waiting) {
  model::schema_writer w(table_kind::decision);
  for (const std::span<const decision> part : {decided, waiting}) {
    for (const decision& d : part) {
      w[col::decision_kind].push(static_cast<std::uint8_t>(d.kind));
      w[col::decision_pod].push(id_of_pod(c, d.pod).value);
      w[col::decision_group].push(id_of_group(c, d.group).value);
      w[col::decision_node].push(id_of_node(c, d.node).value);
      w[col::decision_devices].push_list(indices_of(d.devices.mask));
      w[col::decision_device_share].push(d.devices.mask == 0 ? std::int64_t{0} : d.devices.share);
      w[col::decision_action].push(action_name(d.action));
      w[col::decision_commit].push(d.commit);
      w[col::decision_pod_name].push(d.pod == no_row ? std::string_view{} : c.state().pod_names[d.pod]);
      w[col::decision_node_name].push(name_of_node(c, d.node));
      w[col::decision_group_name].push(c.state().group_names[d.group]);
      w[col::decision_numa_zones].push_list(indices_of(d.numa_zones));
      w[col::decision_claim_devices].push_list(views_of(d.claim_devices));
      w[col::decision_device_memory].push_list(memory_of_devices(c, d));
      w[col::decision_sharing].push_list(sharing_of_devices(c, d));
      w[col::decision_device_grants].push_list(views_of(d.device_grants));
      w[col::decision_layout].push_list(views_of(d.layout));
      w[col::decision_gone].push_list(views_of(d.gone));
      w[col::decision_drain_cost].push(d.drain_cost);
    }
  }
  return w.take();
}

table reason_table(const core& c, std::span<const reason> all) {
  model::schema_writer w(table_kind::reason);
  for (const reason& why : all) {
    w[col::reason_group].push(id_of_group(c, why.group).value);
    w[col::reason_group_name].push(c.state().group_names[why.group]);
    w[col::reason_pod].push(id_of_pod(c, why.pod).value);
    w[col::reason_constraint].push(constraint_name(why.what));
    w[col::reason_scope].push(reason_scope_name(why.scope));
    w[col::reason_subject].push(why.subject.value);
    w[col::reason_dimension].push(why.dim == no_row ? std::string_view{}
                                                    : std::string_view((*c.state().dimensions)[why.dim].name));
    w[col::reason_need].push(why.need);
    w[col::reason_have].push(why.have);
    w[col::reason_nodes].push(why.nodes);
    w[col::reason_nearest].push(name_of_node(c, why.nearest));
    w[col::reason_text].push(std::string_view(reason_text(c, why)));
  }
  return w.take();
}

/// By queue, those below included.
struct losses {
  std::vector<std::int64_t> evictions;  ///< of groups, in this session and before
  std::vector<std::int64_t> pods;       ///< in this session
};

losses losses_of_queues(const core& c) {
  const std::vector<model::queue_info>& queues = *c.state().queues;
  losses found{std::vector<std::int64_t>(queues.size(), 0), std::vector<std::int64_t>(queues.size(), 0)};
  std::vector<std::int64_t> pods(c.state().group_slots, 0);
  for (const decision& d : c.decisions) {
    if (d.kind == decision_kind::evict || d.kind == decision_kind::move) ++pods[d.group];
  }
  for (group_row g = 0; g < c.state().group_slots; ++g) {
    if (!c.state().groups[g].live) continue;
    const std::int64_t evictions = c.state().group_extras[g].evictions + (pods[g] > 0 ? 1 : 0);
    for (queue_row q = c.state().groups[g].queue; evictions > 0 && q != no_row; q = queues[q].parent) {
      found.evictions[q] += evictions;
      found.pods[q] += pods[g];
    }
  }
  return found;
}

table share_table(const core& c) {
  const std::vector<model::queue_info>& queues = *c.state().queues;
  std::vector<std::int64_t> pending(queues.size(), 0);
  for (const group_row g : *c.state().pending_groups) {
    const std::int64_t pods = work::count_pods(c, g, &model::sub_counts::pending);
    for (queue_row q = c.state().groups[g].queue; q != no_row; q = queues[q].parent) pending[q] += pods;
  }
  const losses lost = losses_of_queues(c);
  std::vector<queue_row> rows;
  for (queue_row q = 0; q < queues.size(); ++q) {
    if (queues[q].live) rows.push_back(q);
  }
  std::sort(rows.begin(), rows.end(), [&](queue_row a, queue_row b) { return queues[a].name < queues[b].name; });
  model::schema_writer w(table_kind::queue_share);
  for (const queue_row q : rows) {
    w[col::share_queue].push(id_of_queue(c, q).value);
    w[col::share_queue_name].push(std::string_view(queues[q].name));
    w[col::share_parent].push(queues[q].parent == no_row ? std::string_view{}
                                                         : std::string_view(queues[queues[q].parent].name));
    for (std::uint32_t r = 0; r < quota_dimensions; ++r) {
      w[col::share_quota].push(queues[q].quota[r]);
      w[col::share_limit].push(queues[q].limit[r]);
      w[col::share_fair_share].push(c.fair_share[q][r]);
      w[col::share_request].push((*c.state().live.queue_request)[q][r]);
      w[col::share_allocated].push((*c.live.queue_allocated)[q][r]);
    }
    w[col::share_pending_pods].push(pending[q]);
    w[col::share_evictions].push(lost.evictions[q]);
    w[col::share_evicted_pods].push(lost.pods[q]);
  }
  return w.take();
}

table placement_table(const core& c) {
  const model::cluster_state& s = c.state();
  std::vector<pod_row> rows;
  for (pod_row p = 0; p < s.pod_slots; ++p) {
    if (s.pods[p].live) rows.push_back(p);
  }
  std::sort(rows.begin(), rows.end(), [&](pod_row a, pod_row b) { return s.pod_names[a] < s.pod_names[b]; });
  model::schema_writer w(table_kind::placement);
  for (const pod_row p : rows) {
    const std::uint32_t slot = c.live.pod_node[p];
    const node_row row = slot == no_row ? no_row : (*s.node_row_of_slot)[slot];
    w[col::placement_pod].push(id_of_pod(c, p).value);
    w[col::placement_pod_name].push(s.pod_names[p]);
    w[col::placement_status].push(c.live.pod_state[p]);
    w[col::placement_node].push(id_of_node(c, row).value);
    w[col::placement_node_name].push(name_of_node(c, row));
    w[col::placement_devices].push_list(indices_of(c.live.pod_devices[p].mask));
    w[col::placement_numa_zones].push_list(indices_of(c.zones.zones_of_pod(p)));
  }
  return w.take();
}

table statistic_table(const core& c) {
  model::schema_writer w(table_kind::statistic);
  for (std::size_t i = 1; i < c.statistics.size(); ++i) {
    const action_statistics& one = c.statistics[i];
    w[col::statistic_action].push(action_name(one.action));
    w[col::statistic_steps].push(one.steps);
    w[col::statistic_groups_tried].push(one.groups_tried);
    w[col::statistic_groups_placed].push(one.groups_placed);
    w[col::statistic_candidates].push(one.candidates);
    w[col::statistic_filtered].push(one.filtered);
    w[col::statistic_rollbacks].push(one.rollbacks);
  }
  return w.take();
}

table attempt_table(const core& c) {
  model::schema_writer w(table_kind::attempt);
  for (const eviction_attempt& one : c.attempts) {
    w[col::attempt_action].push(action_name(one.action));
    w[col::attempt_group].push(id_of_group(c, one.group).value);
    w[col::attempt_group_name].push(c.state().group_names[one.group]);
    w[col::attempt_outcome].push(attempt_outcome_name(one.outcome));
    w[col::attempt_sets].push(one.sets);
    w[col::attempt_refused].push(one.refused);
    w[col::attempt_spared].push(static_cast<std::uint8_t>(one.spared ? 1 : 0));
  }
  return w.take();
}

/// Claims as the session leaves them, in the form in which a cluster takes them.
table claim_table(const core& c) {
  model::schema_writer w(table_kind::resource_claim, table_op::change);
  const model::cluster_state& s = c.state();
  std::map<std::string_view, std::uint32_t> by_name;
  for (std::uint32_t i = 0; i < c.claims.claim_count(); ++i) by_name.emplace(s.claims[c.claims.slot_of(i)]->name, i);
  for (const auto& [name, i] : by_name) {
    const model::claim_info& claim = *s.claims[c.claims.slot_of(i)];
    const policy::claim_state& now = c.claims.claim(i);
    std::vector<std::string_view> devices;
    for (const policy::claim_device d : now.allocation.devices) devices.push_back(c.claims.device_name(d));
    std::vector<std::string_view> users;
    for (const std::uint32_t user : now.users) users.push_back(c.claims.user_name(user));
    w.put(col::resource_claim_name, name);
    w.put(col::resource_claim_device_class, std::string_view(claim.device_class));
    w.put(col::resource_claim_count, claim.count);
    w.put_raw(col::resource_claim_labels, claim.labels);
    w[col::resource_claim_devices].push_list(devices);
    w[col::resource_claim_reserved_for].push_list(users);
    w.put(col::resource_claim_node, name_of_node(c, now.allocation.node));
    w.put_flag(col::resource_claim_from_template, claim.from_template);
    w.put_raw(col::resource_claim_constraints, claim.constraints_text);
    if (now.allocation.given.empty() && !now.allocation.devices.empty()) {
      w.put_raw(col::resource_claim_results, claim.results_text);
    } else {
      const std::vector<std::string> results = c.claims.results_of(i);
      w[col::resource_claim_results].push_list(views_of(results));
    }
  }
  return w.take();
}

}  // namespace

reason judge_node(const core& c, const model::pod_class& ask, node_row row) {
  reason why;
  why.scope = reason_scope::node;
  why.nodes = 1;
  why.nearest = row;
  if (c.has_predicates) why.what = policy::node_verdict(c.access, ask, row);
  if (why.what != constraint::none) return why;
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
  if (!policy::fits(c.access, ask, row, policy::free_amount::idle_or_releasing)) {
    why.what = constraint::resource_busy;
    why.dim = dim_gpu;
    why.need = model::quota_request_on(s, ask, row)[dim_gpu];
    why.have = (*c.live.idle)[at + dim_gpu] + (*c.live.releasing)[at + dim_gpu];
  }
  return why;
}

std::vector<decision> waiting_groups(const core& c) {
  std::vector<group_row> rows;
  for (const group_row g : *c.state().pending_groups) {
    if (has_pending(c, g)) rows.push_back(g);
  }
  const auto strays_begin = static_cast<std::ptrdiff_t>(rows.size());
  for (const group_row g : *c.state().stray_groups) {
    if (!has_pending(c, g) && pending_strays(c, g).count > 0) rows.push_back(g);
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

std::vector<reason> reasons_of(const core& c, std::span<const decision> waiting) {
  std::vector<const work::failure*> last(c.state().group_slots, nullptr);
  for (const work::failure& f : c.failures) last[f.group] = &f;
  node_reasons nodes(c);
  std::vector<reason> all;
  for (const decision& d : waiting) {
    if (has_pending(c, d.group)) add_reasons(c, d.group, last[d.group], nodes, all);
    add_stray_reason(c, d.group, all);
  }
  return all;
}

std::string reason_text(const core& c, const reason& why) {
  if (why.scope == reason_scope::node) return node_reason_text(c, why);
  switch (why.what) {
    case constraint::queue_limit:
    case constraint::queue_quota:
      return fmt::format("queue '{}' would pass its {}: asks for {}, {} left", c.base.name(why.subject),
                         why.what == constraint::queue_limit ? "limit" : "quota for non-preemptible groups",
                         amount_text(c, why.dim, why.need),
                         amount_text(c, why.dim, std::max<std::int64_t>(0, why.have)));
    case constraint::queue_missing:
      return fmt::format("queue '{}' has child queues and holds no groups itself", c.base.name(why.subject));
    case constraint::gang_incomplete:
      return fmt::format("the gang needs {} pods, {} exist", why.need, why.have);
    case constraint::gated:
      return fmt::format("the gang needs {} pods, {} exist and are not gated", why.need, why.have);
    case constraint::obstacle:
      return c.state().class_of(why.pod).ask.obstacle;
    case constraint::larger_than_any_node:
      return fmt::format("needs {}, the largest node has {}", amount_text(c, why.dim, why.need),
                         amount_text(c, why.dim, why.have));
    case constraint::requeue_delay:
      return fmt::format("was evicted and waits for {:g} s, {:g} s have passed", static_cast<double>(why.need) / 1e9,
                         static_cast<double>(why.have) / 1e9);
    case constraint::resource_busy:
      return "every pod fits somewhere, but not all that must start together";
    case constraint::sub_group_missing:
      return stray_text(c, why);
    case constraint::not_tried:
      return "a node would take its first pod, but no action has tried to start the group";
    case constraint::topology:
      return domain_text(why);
    case constraint::reservation:
      return fmt::format("there is a place, but pod group '{}', which waits at the head, would start later",
                         c.base.name(why.subject));
    default:
      return std::string(constraint_name(why.what));
  }
}

result<table> output_table(const core& c, std::span<const decision> all, std::span<const decision> waiting,
                           table_kind kind) {
  switch (kind) {
    case table_kind::decision:
      return decision_table(c, all, waiting);
    case table_kind::reason:
      return reason_table(c, reasons_of(c, waiting));
    case table_kind::queue_share:
      return share_table(c);
    case table_kind::placement:
      return placement_table(c);
    case table_kind::statistic:
      return statistic_table(c);
    case table_kind::attempt:
      return attempt_table(c);
    case table_kind::resource_claim:
      return claim_table(c);
    default:
      return error{status::unsupported, "a session has no table of this kind", {}};
  }
}

std::string decision_digest(const core& c, std::span<const decision> all) {
  base::sha256 hash;
  std::string text = "kaisched-decisions/1\n";
  text += c.options.preset;
  text += c.compat() ? "\ncompat\n" : "\nstrict\n";
  const auto line = [&](const decision& d) {
    fmt::format_to(std::back_inserter(text), "{} {} {} {} {} {} {:x} {}", decision_kind_name(d.kind),
                   action_name(d.action), d.commit,
                   d.pod == no_row ? std::string_view("-") : c.state().pod_names[d.pod], c.state().group_names[d.group],
                   d.node == no_row ? std::string_view("-") : name_of_node(c, d.node), d.devices.mask,
                   d.devices.mask == 0 ? 0 : d.devices.share);
    if (d.numa_zones != 0) fmt::format_to(std::back_inserter(text), " zones {:x}", d.numa_zones);
    for (const std::string& device : d.claim_devices) text.append(" ").append(device);
    for (const std::string& grant : d.device_grants) text.append(" ").append(grant);
    for (const std::string& one : d.layout) text.append(" has ").append(one);
    for (const std::string& one : d.gone) text.append(" loses ").append(one);
    text += '\n';
  };
  for (const decision& d : all) line(d);
  for (const decision& d : waiting_groups(c)) line(d);
  hash.update(text);
  return base::sha256::hex(hash.finish());
}

}  // namespace kaisched::engine_detail
