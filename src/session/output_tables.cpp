// What a session tells as tables, and its digest.
#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/sha256.hpp"
#include "framework/members.hpp"
#include "model/account.hpp"
#include "model/schema_writer.hpp"
#include "policy/claims/ledger.hpp"
#include "policy/numa/ledger.hpp"
#include "session/row_names.hpp"
#include "session/session_impl.hpp"

namespace kaisched::session_detail {

namespace {

using framework::session_state;

/// Bytes of each device that a decision names; 0 where nobody knows, nothing if nobody knows any.
std::vector<std::int64_t> memory_of_devices(const session_state& c, const decision& d) {
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

std::vector<std::string_view> sharing_of_devices(const session_state& c, const decision& d) {
  std::vector<std::string_view> modes;
  if (d.pod == no_row || d.devices.mask == 0 || !(*c.state().nodes)[d.node]->has_sharing_modes()) return modes;
  for (const std::int64_t device : indices_of(d.devices.mask)) {
    const model::sharing_mode mode = (*c.state().nodes)[d.node]->sharing_of(static_cast<std::uint32_t>(device));
    modes.push_back(mode == model::sharing_mode::unknown ? "unknown" : model::sharing_name(mode));
  }
  return modes;
}

/// Who has to agree before the pod may start.
std::vector<std::string_view> checks_before_start(const session_state& c, const decision& d) {
  const bool starts = d.kind == decision_kind::bind || d.kind == decision_kind::pipeline;
  if (!starts) return {};
  return split_list(c.state().group_extras[d.group].checks);
}

table decision_table(const session_state& c, table_kind kind, std::span<const decision> decided,
                     std::span<const decision> waiting) {
  model::schema_writer w(kind);
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
      w[col::decision_checks].push_list(checks_before_start(c, d));
    }
  }
  return w.take();
}

table reason_table(const session_state& c, std::span<const reason> all) {
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

losses losses_of_queues(const session_state& c) {
  const std::vector<model::queue_info>& queues = *c.state().queues;
  losses found{std::vector<std::int64_t>(queues.size(), 0), std::vector<std::int64_t>(queues.size(), 0)};
  std::vector<std::int64_t> pods(c.state().group_slots, 0);
  for (const decision& d : c.results.decisions) {
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

table share_table(const session_state& c) {
  const std::vector<model::queue_info>& queues = *c.state().queues;
  std::vector<std::int64_t> pending(queues.size(), 0);
  for (const group_row g : *c.state().pending_groups) {
    const std::int64_t pods = framework::count_pods(c, g, &model::sub_counts::pending);
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
      w[col::share_fair_share].push(c.queues.fair_share[q][r]);
      w[col::share_request].push((*c.state().live.queue_request)[q][r]);
      w[col::share_allocated].push((*c.live.queue_allocated)[q][r]);
    }
    w[col::share_pending_pods].push(pending[q]);
    w[col::share_evictions].push(lost.evictions[q]);
    w[col::share_evicted_pods].push(lost.pods[q]);
  }
  return w.take();
}

table placement_table(const session_state& c) {
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
    w[col::placement_numa_zones].push_list(indices_of(c.access.zones == nullptr ? 0 : c.access.zones->zones_of_pod(p)));
  }
  return w.take();
}

table statistic_table(const session_state& c) {
  model::schema_writer w(table_kind::statistic);
  for (std::size_t i = 1; i < c.results.statistics.size(); ++i) {
    const action_statistics& one = c.results.statistics[i];
    w[col::statistic_action].push(action_name(one.action));
    w[col::statistic_steps].push(one.steps);
    w[col::statistic_groups_tried].push(one.groups_tried);
    w[col::statistic_groups_placed].push(one.groups_placed);
    w[col::statistic_candidates].push(one.candidates);
    w[col::statistic_filtered].push(one.filtered);
    w[col::statistic_rollbacks].push(one.rollbacks);
    w[col::statistic_simulations].push(one.simulations);
  }
  return w.take();
}

table attempt_table(const session_state& c) {
  model::schema_writer w(table_kind::attempt);
  for (const eviction_attempt& one : c.results.attempts) {
    w[col::attempt_action].push(action_name(one.action));
    w[col::attempt_group].push(id_of_group(c, one.group).value);
    w[col::attempt_group_name].push(c.state().group_names[one.group]);
    w[col::attempt_outcome].push(attempt_outcome_name(one.outcome));
    w[col::attempt_sets].push(one.sets);
    w[col::attempt_refused].push(one.refused);
    w[col::attempt_spared].push(static_cast<std::uint8_t>(one.spared ? 1 : 0));
    w[col::attempt_budget].push(std::string_view(one.budget));
    w[col::attempt_steps].push(one.steps);
    w[col::attempt_cut].push(static_cast<std::uint8_t>(one.cut ? 1 : 0));
  }
  return w.take();
}

/// What groups are told for the next session's searches, in the form in which a cluster takes it.
table group_table(const session_state& c) {
  table made(static_cast<std::uint32_t>(table_kind::pod_group), static_cast<std::uint32_t>(table_op::change));
  table::column& name = made.add(col::pod_group_name, column_type::string, 0);
  table::column& searched = made.add(col::pod_group_searched, column_type::i64);
  for (const auto& [group, bits] : c.searched_changes()) {
    name.push(c.state().group_names[group]);
    searched.push(bits);
  }
  return made;
}

/// Claims as the session leaves them, in the form in which a cluster takes them.
table claim_table(const session_state& c) {
  model::schema_writer w(table_kind::resource_claim, table_op::change);
  const model::cluster_state& s = c.state();
  if (c.access.claims == nullptr) return w.take();
  const policy::claim_ledger& claims = *c.access.claims;
  std::map<std::string_view, std::uint32_t> by_name;
  for (std::uint32_t i = 0; i < claims.claim_count(); ++i) by_name.emplace(s.claims[claims.slot_of(i)]->name, i);
  for (const auto& [name, i] : by_name) {
    const model::claim_info& claim = *s.claims[claims.slot_of(i)];
    const policy::claim_state& now = claims.claim(i);
    std::vector<std::string_view> devices;
    devices.reserve(now.allocation.devices.size());
    for (const policy::claim_device d : now.allocation.devices) devices.push_back(claims.device_name(d));
    std::vector<std::string_view> users;
    users.reserve(now.users.size());
    for (const std::uint32_t user : now.users) users.push_back(claims.user_name(user));
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
      const std::vector<std::string> results = claims.results_of(i);
      w[col::resource_claim_results].push_list(views_of(results));
    }
  }
  return w.take();
}

}  // namespace

result<table> output_table(const session_state& c, std::span<const decision> all, std::span<const decision> waiting,
                           table_kind kind) {
  switch (kind) {
    case table_kind::decision:
      return decision_table(c, kind, all, waiting);
    case table_kind::outcome:
      return decision_table(c, kind, net_decisions_of(c), {});
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
    case table_kind::sharing_group:
      return sharing_group_table(c);
    case table_kind::resource_claim:
      return claim_table(c);
    case table_kind::pod_group:
      return group_table(c);
    default:
      return error{status::unsupported, "a session has no table of this kind", {}};
  }
}

table candidate_rows(const session_state& c, const candidate_table& all) {
  model::schema_writer w(table_kind::candidate);
  for (std::size_t row = 0; row < all.nodes.size(); ++row) {
    const candidate& one = all.nodes[row];
    const bool fits = one.refusal.what == constraint::none;
    const std::span<const double> given = all.scores_of(row);
    std::vector<std::string> scores;
    for (std::size_t i = 0; i < given.size(); ++i) scores.push_back(fmt::format("{}={}", all.parts[i], given[i]));
    w[col::candidate_node].push(id_of_node(c, one.node).value);
    w[col::candidate_node_name].push(name_of_node(c, one.node));
    w.put_flag(col::candidate_fits, fits);
    w.put_flag(col::candidate_starts_now, one.starts_now);
    w.put_flag(col::candidate_chosen, one.node == all.chosen);
    w[col::candidate_score].push(one.score);
    w[col::candidate_scores].push_list(views_of(scores));
    w[col::candidate_devices].push_list(indices_of(one.devices.mask));
    w[col::candidate_device_share].push(one.devices.mask == 0 ? std::int64_t{0} : one.devices.share);
    w[col::candidate_constraint].push(constraint_name(one.refusal.what));
    w[col::candidate_text].push(fits ? std::string_view{} : std::string_view(reason_text(c, one.refusal)));
  }
  return w.take();
}

std::string decision_digest(const session_state& c, std::span<const decision> all) {
  base::sha256 hash;
  std::string text = "kaisched-decisions/1\n";
  text += c.options.preset;
  text += c.compat() ? "\ncompat\n" : "\nstrict\n";
  const auto line = [&](const decision& d) {
    text +=
        fmt::format("{} {} {} {} {} {} {:x} {}", decision_kind_name(d.kind), action_name(d.action), d.commit,
                    d.pod == no_row ? std::string_view("-") : c.state().pod_names[d.pod],
                    c.state().group_names[d.group], d.node == no_row ? std::string_view("-") : name_of_node(c, d.node),
                    d.devices.mask, d.devices.mask == 0 ? 0 : d.devices.share);
    if (d.numa_zones != 0) text += fmt::format(" zones {:x}", d.numa_zones);
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

}  // namespace kaisched::session_detail
