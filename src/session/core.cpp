#include "session/core.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "model/nominations.hpp"
#include "model/snapshot_access.hpp"
#include "session/members.hpp"
#include "session/remaining_group.hpp"
#include "session/topologies.hpp"

namespace kaisched::work {

using model::bit;
using model::cluster_state;
using model::group_core;
using model::pod_class;
using model::quota_vector;

double bound_to_native(std::uint32_t resource, std::int64_t bound) {
  return bound == unlimited ? -1 : to_native(resource, bound);
}

std::int64_t to_fixed(std::uint32_t resource, double amount) {
  return std::llround(resource == 2 ? amount * static_cast<double>(whole_device) : amount);
}

core::core(snapshot b, std::shared_ptr<const policy_setup> by, std::int64_t t)
    : base(std::move(b)),
      setup(std::move(by)),
      options(setup->options),
      now(t),
      live(model::state_of(base).live),
      search_effort(options),
      state_(&model::state_of(base)) {
  gate_dependent_groups();
  take_up_nominations();
  connect();
}

std::vector<std::pair<group_row, std::int64_t>> core::searched_changes() const {
  std::map<group_row, std::int64_t> bits_of = searched;
  for (const decision& d : decisions) {
    if (d.group != no_row && searched_of(d.group) != 0 && count_pods(*this, d.group, &model::sub_counts::pending) == 0)
      bits_of[d.group] = 0;
  }
  std::vector<std::pair<group_row, std::int64_t>> changed;
  for (const auto& [group, bits] : bits_of) {
    if (bits != state().group_extras[group].searched) changed.emplace_back(group, bits);
  }
  return changed;
}

/// Pods that are pipelined wait for the nodes where their places are.
void core::take_up_nominations() {
  if (!keeps_nominations() || state().nominated_pods == 0) return;
  extended_ = std::make_shared<const cluster_state>(model::with_pods_nominated(state()));
  state_ = extended_.get();
  live = state_->live;
}

void core::gate_dependent_groups() {
  model::open_dependencies waiting = model::find_open_dependencies(model::state_of(base));
  if (waiting.empty()) return;
  extended_ = std::make_shared<const cluster_state>(model::with_gates(model::state_of(base), waiting));
  dependencies_ = std::make_shared<const model::open_dependencies>(std::move(waiting));
  state_ = extended_.get();
  live = state_->live;
}

core::core(const core& other)
    : threads(other.threads),
      base(other.base),
      setup(other.setup),
      options(setup->options),
      now(other.now),
      live(other.live),
      choice(other.choice),
      zones(other.zones),
      claims(other.claims),
      loads(other.loads),
      vendors(other.vendors),
      saved_claims(other.saved_claims),
      budgets(other.budgets),
      reservations(other.reservations),
      affinity(other.affinity),
      neighbours(other.neighbours),
      power(other.power),
      has_proportion(other.has_proportion),
      has_predicates(other.has_predicates),
      topologies(other.topologies),
      kai_queues(other.kai_queues),
      exact_queues(other.exact_queues),
      is_limited(other.is_limited),
      kai_total(other.kai_total),
      total(other.total),
      fair_share(other.fair_share),
      keeps_chunks(other.keeps_chunks),
      chunk_changes(other.chunk_changes),
      chunks(other.chunks),
      signatures(other.signatures),
      core_charges(other.core_charges),
      started_groups(other.started_groups),
      evicted_groups(other.evicted_groups),
      looked_at_nominations(other.looked_at_nominations),
      lapsed(other.lapsed),
      passed_over(other.passed_over),
      held_groups(other.held_groups),
      evicted_here(other.evicted_here),
      placed_here(other.placed_here),
      abandoned(other.abandoned),
      evicted_twice(other.evicted_twice),
      groups(other.groups),
      smallest_gpu(other.smallest_gpu),
      largest_gpu(other.largest_gpu),
      log(other.log),
      divisions(other.divisions),
      leaving(other.leaving),
      times_leaving(other.times_leaving),
      decisions(other.decisions),
      failures(other.failures),
      attempts(other.attempts),
      sets_tried(other.sets_tried),
      search_effort(other.search_effort),
      searched(other.searched),
      withdrawn_starts(other.withdrawn_starts),
      statistics(other.statistics),
      action(other.action),
      commits(other.commits),
      frees(other.frees),
      order_(other.order_),
      ledger_(other.ledger_),
      state_(other.extended_ == nullptr ? &model::state_of(base) : other.extended_.get()),
      extended_(other.extended_),
      dependencies_(other.dependencies_),
      cell_places_(other.cell_places_),
      missing_cells_(other.missing_cells_),
      refusing_plugins_(other.refusing_plugins_),
      budget_refusals_(other.budget_refusals_),
      history_(other.history_),
      history_claims_(other.history_claims_),
      took_back_(other.took_back_),
      lost_places_(other.lost_places_) {
  connect();
  if (other.changes() == other.surveyed_at_) survey_ = other.survey_;
  surveyed_at_ = changes();
  for (const auto& [name, make] : setup->parts) {
    add_part(make(options));
    (void)parts.back()->session_open(view());  // opened once already with the same snapshot and options
  }
}

core::~core() {
  for (const auto& part : parts) part->session_close();
}

void core::add_part(std::unique_ptr<policy_part> part) {
  capabilities |= part->capabilities();
  parts.push_back(std::move(part));
}

void core::tell_parts(pod_row pod, std::uint32_t node, pod_status before) {
  const session_change one{pod, node == no_row ? no_row : row_of_slot(node), before,
                           static_cast<pod_status>(live.pod_state[pod])};
  for (const auto& part : parts) {
    if ((part->capabilities() & part_hears_changes) != 0) part->changed(view(), {&one, 1});
  }
}

void core::connect() {
  counts_instances_ = compat() && state().has_mig_resources();
  access.state = state_;
  access.live = &live;
  access.options = &options;
  access.now = now;
  access.fair_share = fair_share;
  access.leaving = &leaving;
  access.groups = &groups;
  access.predicates = has_predicates;
  access.zones = zones.used() ? &zones : nullptr;
  access.claims = claims.used() ? &claims : nullptr;
  access.vendors = vendors.used() ? &vendors : nullptr;
  access.loads = loads.used() ? &loads : nullptr;
  access.affinity = affinity.is_open() ? &affinity : nullptr;
  access.neighbours = neighbours.is_open() ? &neighbours : nullptr;
  access.power = power.used() ? &power : nullptr;
  access.node_changed_at = choice.changed_at();
}

bool core::has(std::string_view part) const {
  return std::any_of(setup->parts.begin(), setup->parts.end(), [&](const auto& f) { return f.first == part; });
}

result<void> core::open() {
  has_proportion = has("proportion");
  has_predicates = has("predicates");
  find_gpu_memories();
  if (compat()) groups.open(state(), live);
  count_in_queues_anew();
  if (state().topology_asks > 0 && has("topology")) topologies = build_topologies(state(), compat());
  divide_shares();
  for (group_row g = 0; state().semi_preemptible_groups > 0 && g < state().group_slots; ++g) {
    if (state().groups[g].live && state().groups[g].semi_preemptible) charge_core(g);
  }
  if (has("numa")) zones.open(state(), options);
  open_claims();
  if (auto done = vendors.open(state(), options, setup->catalog); !done) return done;
  if (options.respect_disruption_budgets) budgets.open(state());
  reservations.open(state(), now);
  if (has_predicates) affinity.open(access);
  neighbours.open(access, has("topologyspread"), has("interpodaffinity"));
  if (has("colocation") && !compat()) loads.open(access, options.colocation_most);
  if (has("powercap")) power.open(state(), live);
  connect();
  for (const auto& [name, make] : setup->parts) {
    std::unique_ptr<policy_part> part = make(options);
    if (part == nullptr) return error{status::plugin, "part '" + name + "' cannot be made with these options", {}};
    if (auto done = part->session_open(view()); !done) return done.failure();
    add_part(std::move(part));
  }
  if (auto done = ask_for_shares(); !done) return done;
  statistics.push_back({});
  choice.open(*this);
  access.node_changed_at = choice.changed_at();
  if (options.invariants != invariant_level::off || counts_again()) ledger_.open(live);
  return {};
}

/// Devices that pods share are charged once per node: the model has charged each pod.
void core::open_claims() {
  claims.open(state(), options, has("dynamicresources"));
  for (pod_row p = 0; claims.used() && p < state().pod_slots; ++p) {
    const auto status = static_cast<pod_status>(live.pod_state[p]);
    if (!claims.has_claims(p) || live.pod_node[p] == no_row || !model::is_in(status, model::active_used)) continue;
    const node_row row = node_of(p);
    model::charge_gpus(state(), live, row, status, -claims.enter(p, row, state().class_of(p).requests(dim_gpu)));
  }
}

// ---- statement ---------------------------------------------------------------------------------------------------

void core::forget_chunk(pod_row pod) {
  const group_row group = state().pods[pod].group;
  if (!keeps_chunks || group == no_row) return;
  chunk_memory& kept = chunks.at(group);
  kept.has_chunk = false;
  kept.has_request = false;
  ++kept.changes;
  ++chunk_changes;
}

void core::mark_evicted(pod_row pod, std::uint32_t mark) {
  if (evicted_here.empty()) evicted_here.resize(state().pod_slots, 0);
  evicted_here[pod] = mark;
}

void core::note_placed(pod_row pod, bool placed) {
  if (!compat() || (placed_here.empty() && !placed)) return;
  if (placed_here.empty()) placed_here.resize(state().pod_slots, false);
  placed_here[pod] = placed;
}

void core::set_status(pod_row pod, pod_status status) {
  forget_chunk(pod);
  const auto old = static_cast<pod_status>(live.pod_state[pod]);
  if (old == status) return;
  ++access.changes;
  const sub_group_row sub = state().pods[pod].sub;
  model::recount_pod(live, sub, old, status);
  live.pod_state.write(pod) = static_cast<std::uint8_t>(status);
}

/// What the node has free has changed.
void core::note_node(node_row row) {
  choice.node_changed(*this, row);
  books.note(row);
  if (power.used()) power.node_changed(state(), live, row);
}

void core::charge_node(pod_row pod, node_row row, pod_status status, const device_set& devices, std::int64_t sign) {
  const pod_class& c = state().class_of(pod);
  if (access.in_groups(c)) {
    model::charge_amounts(state(), live, c, row, status, sign, model::gpu_charge::none);
    model::charge_devices(state(), live, c, row, status, devices, sign);
  } else {
    model::charge_node(state(), live, c, row, status, devices, sign);
    if (groups.is_open()) groups.count_whole(row, c, sign);
  }
  if (claims.has_claims(pod)) {
    const std::int64_t gpus = c.requests(dim_gpu);
    const std::int64_t shared = sign > 0 ? claims.enter(pod, row, gpus) : claims.leave(pod, row, gpus);
    model::charge_gpus(state(), live, row, status, -sign * shared);
  }
  if (sign < 0 || status == pod_status::releasing) ++frees;
  note_node(row);
}

void core::charge_node_anew(pod_row pod, node_row row, pod_status from, pod_status to, const device_set& devices) {
  const pod_class& c = state().class_of(pod);
  if (access.in_groups(c)) {
    model::charge_amounts(state(), live, c, row, from, -1, model::gpu_charge::none);
    model::charge_amounts(state(), live, c, row, to, 1, model::gpu_charge::none);
    model::charge_devices(state(), live, c, row, from, devices, -1);
    model::charge_devices(state(), live, c, row, to, devices, 1);
    groups.restate(state(), live, pod, to);
  } else {
    model::charge_node_anew(state(), live, c, row, from, to, devices);
  }
  if (claims.has_claims(pod)) {
    const std::int64_t gpus = c.requests(dim_gpu);
    model::charge_gpus(state(), live, row, from, claims.leave(pod, row, gpus));
    model::charge_gpus(state(), live, row, to, -claims.enter(pod, row, gpus));
  }
  ++frees;
  note_node(row);
}

void core::charge_queues(pod_row pod, std::int64_t sign) {
  if (state().pods[pod].sub == no_row) return;  // bystanders, and strays, which are no part of their group
  const group_core& group = state().groups[state().pods[pod].group];
  if (group.queue == no_row) return;
  const quota_vector amount = held(pod);
  model::charge_queues(state(), live, group, amount, sign);
  if (adds_parts_up()) {
    add_part(group.queue, static_cast<double>(sign) * to_native(dim_gpu, amount[dim_gpu]), true,
             !group.preemptible && !group.semi_preemptible);
  }
  for (queue_row q = group.queue; q != no_row; q = (*state().queues)[q].parent) sync_queue(q);
}

/// What is left of a group without its surplus, with more pods than it has.
quota_vector core::core_request(group_row group, std::span<const pod_row> more) const {
  const group_core& g = state().groups[group];
  remaining_group left(*this, group);
  for (sub_group_row sub = g.first_sub; sub < g.first_sub + g.sub_count; ++sub) {
    for (pod_row p = state().subs[sub].first_pod; p != no_row; p = state().pods[p].next) {
      const auto status = static_cast<pod_status>(live.pod_state[p]);
      const bool holds = model::is_in(status, model::active_allocated) && is_charged(p, status);
      if (holds || std::find(more.begin(), more.end(), p) != more.end()) left.add(p);
    }
  }
  for (std::vector<pod_row> unit = left.surplus(); !unit.empty(); unit = left.surplus()) left.remove(unit);
  return request_of(*this, left.all());
}

quota_vector core::core_growth(group_row group, std::span<const pod_row> pods) const {
  const auto known = core_charges.find(group);
  quota_vector growth = core_request(group, pods);
  for (std::uint32_t r = 0; r < quota_dimensions && known != core_charges.end(); ++r) growth[r] -= known->second[r];
  return growth;
}

/// Queues count the core of a group as it is now.
void core::charge_core(group_row group) {
  const quota_vector growth = core_growth(group, {});
  if (growth == quota_vector{}) return;
  quota_vector& charged = core_charges[group];
  for (std::uint32_t r = 0; r < quota_dimensions; ++r) charged[r] += growth[r];
  if (adds_parts_up()) add_part(state().groups[group].queue, to_native(dim_gpu, growth[dim_gpu]), false, true);
  for (queue_row q = state().groups[group].queue; q != no_row; q = (*state().queues)[q].parent) {
    quota_vector& sum = live.queue_nonpreemptible.write()[q];
    for (std::uint32_t r = 0; r < quota_dimensions; ++r) sum[r] += growth[r];
    sync_queue(q);
  }
}

void core::charge_core_of(pod_row pod) {
  const group_row group = state().pods[pod].group;
  if (state().pods[pod].sub != no_row && state().groups[group].semi_preemptible) charge_core(group);
}

void core::put(pod_row pod, node_row node, pod_status status, const device_set& devices,
               const policy::group_ids& chosen, std::uint32_t placed, operation_kind kind) {
  const auto old = static_cast<pod_status>(live.pod_state[pod]);
  log.push_back({kind, false, false, false, old, pod, live.pod_node[pod], live.pod_devices[pod], zones.number_of(pod),
                 save_claims(pod), 0});
  if (old == pod_status::releasing) {
    // KAI's nodes know a pod once: a claim on the node that it is leaving takes the place of what it holds there, which
    // would be given to others while the pod still has it.
    const bool same_node = live.pod_node[pod] == (*state().nodes)[node]->slot;
    log.back().replaces = compat() && same_node && !state().class_of(pod).is_shared();
    if (log.back().replaces) {
      charge_node(pod, node, old, live.pod_devices[pod], -1);
    } else {
      leaving.push_back({pod, live.pod_node[pod], live.pod_devices[pod]});
      ++times_leaving.at(pod);
    }
    if (in_groups(pod)) same_node ? groups.forget(pod) : groups.leave_behind(pod);
  }
  set_status(pod, status);
  live.pod_node.write(pod) = (*state().nodes)[node]->slot;
  live.pod_devices.write(pod) = devices;
  if (in_groups(pod)) {
    groups.put(state(), live, pod, node, status,
               chosen.empty() ? groups.on_devices(node, state().class_of(pod), devices.mask).groups : chosen);
  }
  // KAI counts a pod on its node before it gets the devices of its claims.
  const bool gets_devices = claims.has_claims(pod) && claims.decides();
  if (gets_devices && !compat()) claims.allocate(pod, node, status == pod_status::allocated);
  charge_node(pod, node, status, devices, 1);
  charge_queues(pod, 1);
  charge_core_of(pod);
  if (vendors.used()) vendors.put(state(), pod, node, status == pod_status::allocated);
  if (gets_devices && compat()) claims.allocate(pod, node, status == pod_status::allocated);
  if (zones.used()) {
    zones.set(pod, placed);
    zones.charge(pod, node, 1);
    if (status == pod_status::allocated) zones.occupy(pod, node, 1);
  }
  tell(pod, live.pod_node[pod], old);
}

void core::allocate(pod_row pod, node_row node, const device_set& devices, const policy::group_ids& chosen) {
  const std::uint32_t placed = zones.place(state(), state().class_of(pod), node, policy::zone_ledger::amount::free_now);
  put(pod, node, pod_status::allocated, devices, chosen, placed, operation_kind::allocate);
}

void core::pipeline(pod_row pod, node_row node, const device_set& devices, const policy::group_ids& chosen) {
  const std::uint32_t placed =
      zones.place(state(), state().class_of(pod), node, policy::zone_ledger::amount::free_or_releasing);
  put(pod, node, pod_status::pipelined, devices, chosen, placed, operation_kind::pipeline);
}

bool core::changes_zones(pod_row pod, node_row node) {
  if (!zones.used()) return false;
  const std::uint32_t had = zones.number_of(pod);
  if (!compat()) return !zones.has_room(node, had);
  const std::uint32_t now_gets =
      zones.place(state(), state().class_of(pod), node, policy::zone_ledger::amount::free_or_releasing);
  return now_gets != 0 && now_gets != had;
}

std::uint32_t core::save_claims(pod_row pod) {
  if (!claims.has_claims(pod)) return no_row;
  saved_claims.push_back(claims.save(pod));
  return static_cast<std::uint32_t>(saved_claims.size() - 1);
}

bool core::changes_claims(pod_row pod, std::uint32_t eviction) const {
  return !compat() && claims.has_claims(pod) && !claims.can_rejoin(pod, saved_claims[log[eviction].old_claims]);
}

/// An evicted pod is back: it has what it had.
void core::rejoin_claims(const operation& op) {
  if (op.old_claims != no_row) claims.rejoin(op.pod, saved_claims[op.old_claims]);
}

void core::evict(pod_row pod) {
  log.push_back({operation_kind::evict, false, false, false, static_cast<pod_status>(live.pod_state[pod]), pod,
                 live.pod_node[pod], live.pod_devices[pod], zones.number_of(pod), save_claims(pod), 0});
  release_in_place(pod, depth());
}

void core::evict_again(pod_row pod) {
  operation op = log[eviction_of(pod)];
  op.again = true;
  log.push_back(op);
  forget_chunk(pod);
  charge_queues(pod, -1);
  zones.charge(pod, node_of(pod), -1);
  if (!claims.has_claims(pod)) return;
  charge_node_anew(pod, node_of(pod), pod_status::releasing, pod_status::releasing, live.pod_devices[pod]);
  if (claims.decides()) claims.deallocate(pod);
}

/// Queues do not count claims of earlier sessions.
bool core::is_charged(pod_row pod, pod_status status) const {
  return status != pod_status::pipelined ||
         static_cast<pod_status>(state().live.pod_state[pod]) != pod_status::pipelined;
}

void core::finish(pod_row pod) {
  const auto old = static_cast<pod_status>(live.pod_state[pod]);
  log.push_back({operation_kind::finish, false, false, false, old, pod, live.pod_node[pod], live.pod_devices[pod],
                 zones.number_of(pod), save_claims(pod), 0});
  if (in_groups(pod)) groups.shelve(state(), live, pod);
  charge_node(pod, node_of(pod), old, live.pod_devices[pod], -1);
  finish_in_zones(pod, old, -1);
  if (claims.has_claims(pod) && claims.decides()) claims.deallocate(pod);
  if (vendors.used()) vendors.end(pod, node_of(pod));
  if (is_charged(pod, old)) charge_queues(pod, -1);
  set_status(pod, pod_status::succeeded);
  charge_core_of(pod);
  tell(pod, live.pod_node[pod], old);
}

/// Who has ended is no longer in zones, neither as one that stays nor as one that leaves.
void core::finish_in_zones(pod_row pod, pod_status was, std::int64_t sign) {
  if (model::is_in(was, model::active_allocated)) zones.charge(pod, node_of(pod), sign);
  if (was != pod_status::pipelined) zones.occupy(pod, node_of(pod), sign);
}

void core::release_in_place(pod_row pod, std::uint32_t mark) {
  const node_row row = node_of(pod);
  const auto old = static_cast<pod_status>(live.pod_state[pod]);
  charge_node_anew(pod, row, old, pod_status::releasing, live.pod_devices[pod]);
  set_status(pod, pod_status::releasing);
  charge_queues(pod, -1);
  zones.charge(pod, row, -1);
  if (vendors.used()) vendors.release(pod, row);
  if (claims.has_claims(pod) && claims.decides()) {
    claims.deallocate(pod);
    claims.leave_behind(pod, saved_claims[log[mark - 1].old_claims]);
  }
  charge_core_of(pod);
  budgets.charge(pod);
  mark_evicted(pod, mark);
  tell(pod, live.pod_node[pod], old);
}

void core::restore_evicted(const operation& op) {
  const node_row row = (*state().node_row_of_slot)[op.old_node];
  rejoin_claims(op);
  if (in_groups(op.pod) && !groups.is_booked(op.pod)) {
    const pod_class& c = state().class_of(op.pod);
    model::charge_amounts(state(), live, c, row, op.old_status, 1, model::gpu_charge::none);
    model::charge_devices(state(), live, c, row, pod_status::releasing, op.old_devices, -1);
    model::charge_devices(state(), live, c, row, op.old_status, op.old_devices, 1);
    groups.recall(state(), live, op.pod, op.old_status);
    ++frees;
    note_node(row);
  } else {
    charge_node_anew(op.pod, row, pod_status::releasing, op.old_status, op.old_devices);
  }
  set_status(op.pod, op.old_status);
  charge_queues(op.pod, 1);
  if (vendors.used()) vendors.hold_again(op.pod, row, op.old_status != pod_status::pipelined);
  zones.charge(op.pod, row, 1);
  if (compat() && claims.has_claims(op.pod) && claims.decides()) claims.allocate(op.pod, row, false);
  charge_core_of(op.pod);
  budgets.restore(op.pod);
  mark_evicted(op.pod, 0);
  tell(op.pod, op.old_node, pod_status::releasing);
}

bool core::keeps_budgets(group_row waiting) {
  if (budgets.holds()) return true;
  if (waiting != no_row) note_budget(waiting, budgets.overdraft());
  rollback(0);
  return false;
}

std::uint32_t core::eviction_of(pod_row pod) const {
  const std::uint32_t mark = evicted_here.empty() ? 0 : evicted_here[pod];
  return mark == 0 || mark > depth() || log[mark - 1].old_node != live.pod_node[pod] ? no_row : mark - 1;
}

void core::unevict(std::uint32_t eviction) {
  restore_evicted(log[eviction]);
  log[eviction].undone = true;
  operation op;
  op.kind = operation_kind::unevict;
  op.pod = log[eviction].pod;
  op.undoes = eviction;
  log.push_back(op);
}

void core::undo_put(const operation& op, bool restores_claims) {
  const node_row row = node_of(op.pod);
  const std::uint32_t left = live.pod_node[op.pod];
  const auto was = static_cast<pod_status>(live.pod_state[op.pod]);
  const bool grouped = in_groups(op.pod);
  if (grouped) groups.take(state(), live, op.pod);
  charge_node(op.pod, row, was, live.pod_devices[op.pod], -1);
  charge_queues(op.pod, -1);
  if (vendors.used()) vendors.take(op.pod, row);
  if (claims.has_claims(op.pod)) {
    if (claims.decides()) claims.deallocate(op.pod);
    if (restores_claims) claims.restore(op.pod, saved_claims[op.old_claims]);
  }
  zones.charge(op.pod, row, -1);
  if (op.kind == operation_kind::allocate) zones.occupy(op.pod, row, -1);
  if (zones.used()) zones.set(op.pod, op.old_zones);
  set_status(op.pod, op.old_status);
  live.pod_node.write(op.pod) = op.old_node;
  live.pod_devices.write(op.pod) = op.old_devices;
  if (op.replaces) {
    charge_node(op.pod, row, op.old_status, op.old_devices, 1);
  } else if (op.old_status == pod_status::releasing) {
    const auto it =
        std::find_if(leaving.rbegin(), leaving.rend(), [&](const leaving_pod& g) { return g.pod == op.pod; });
    leaving.erase(std::next(it).base());
    --times_leaving.at(op.pod);
    if (grouped && row_of_slot(op.old_node) != row) groups.come_back(op.pod, row_of_slot(op.old_node));
  }
  charge_core_of(op.pod);
  tell(op.pod, op.old_node == no_row ? left : op.old_node, was);
}

void core::undo(std::uint32_t position) {
  const operation op = log[position];
  if (op.undone) return;
  ++statistics.back().rollbacks;
  switch (op.kind) {
    case operation_kind::allocate:
    case operation_kind::pipeline:
      if (groups.is_open()) {
        const node_row row = row_of_slot(live.pod_node[op.pod]);
        undo_put(op);
        groups.drop_empty(row);
      } else {
        undo_put(op);
      }
      break;
    case operation_kind::evict:
      if (op.again) {
        charge_queues(op.pod, 1);
        zones.charge(op.pod, node_of(op.pod), 1);
      } else {
        restore_evicted(op);
      }
      break;
    case operation_kind::finish:
      set_status(op.pod, op.old_status);
      if (in_groups(op.pod)) groups.unshelve(state(), live, op.pod, row_of_slot(op.old_node), op.old_status);
      rejoin_claims(op);
      if (vendors.used()) vendors.revive(op.pod);
      charge_node(op.pod, (*state().node_row_of_slot)[op.old_node], op.old_status, op.old_devices, 1);
      finish_in_zones(op.pod, op.old_status, 1);
      if (is_charged(op.pod, op.old_status)) charge_queues(op.pod, 1);
      charge_core_of(op.pod);
      tell(op.pod, op.old_node, pod_status::succeeded);
      break;
    case operation_kind::unevict:
      log[op.undoes].undone = false;
      release_in_place(op.pod, op.undoes + 1);
      break;
    case operation_kind::divide:
      undo_division();
      break;
    case operation_kind::withdraw:
      put(op.pod, row_of_slot(op.old_node), pod_status::pipelined, op.old_devices, {}, op.old_zones,
          operation_kind::pipeline);
      log.pop_back();
      break;
  }
}

void core::withdraw(pod_row pod) {
  log.push_back({operation_kind::withdraw, false, false, false, pod_status::pipelined, pod, live.pod_node[pod],
                 live.pod_devices[pod], zones.number_of(pod), save_claims(pod), 0});
  const auto made = std::find_if(history_.rbegin(), history_.rend(), [&](const operation& op) {
    return op.pod == pod && op.kind == operation_kind::pipeline;
  });
  operation held = *made;
  if (held.old_claims != no_row) {
    saved_claims.push_back(history_claims_[held.old_claims]);
    held.old_claims = static_cast<std::uint32_t>(saved_claims.size() - 1);
  }
  undo_put(held);
}

void core::commit_silently() {
  ledger_.note(log);
  close_statement();
}

void core::rollback(std::uint32_t to) {
  for (std::uint32_t i = depth(); i > to; --i) undo(i - 1);
  log.resize(to);
  if (to == 0) saved_claims.clear();
}

void core::convert_to_pipelined(group_row group) {
  std::vector<operation> kept;
  std::vector<operation> mine;
  for (const operation& op : log) {
    const bool converts = op.kind == operation_kind::allocate && state().pods[op.pod].group == group;
    (converts ? mine : kept).push_back(op);
  }
  log = std::move(kept);
  for (std::uint32_t i = 0; i < depth(); ++i) {
    if (log[i].kind == operation_kind::evict && !log[i].undone && !log[i].again) mark_evicted(log[i].pod, i + 1);
  }
  for (const operation& op : mine) {
    const node_row row = node_of(op.pod);
    const std::uint32_t placed = zones.number_of(op.pod);
    device_set chosen = live.pod_devices[op.pod];
    policy::group_ids same;
    if (in_groups(op.pod)) same = *groups.groups_of(op.pod, row);
    undo_put(op, !compat());  // KAI forgets here what it had known of claims
    if (same.empty()) {
      (void)model::choose_devices(
          state(), live, state().class_of(op.pod), row, model::device_amount::free_or_releasing, !compat(), chosen,
          choice.device_order(), nullptr,
          loads.devices_for(state(), state().class_of(op.pod), row, policy::load_book::amount::later));
    }
    put(op.pod, row, pod_status::pipelined, chosen, same, placed, operation_kind::pipeline);
  }
}

void core::commit() {
  if (log.empty()) return;
  ++commits;
  ledger_.note(log);
  boost::container::small_vector<pod_row, 64> moved;     // one decision each instead of an eviction and a claim
  boost::container::small_vector<pod_row, 64> migrated;  // or a start
  for (const operation& op : log) {
    if (evicted_here.empty()) break;
    if (op.kind == operation_kind::divide || !is_evicted_here(op.pod) || evicted_here[op.pod] == no_row) continue;
    if (op.kind == operation_kind::pipeline) moved.push_back(op.pod);
    if (op.kind == operation_kind::allocate) migrated.push_back(op.pod);
  }
  std::sort(moved.begin(), moved.end());
  std::sort(migrated.begin(), migrated.end());
  boost::container::small_vector<std::uint8_t, 64> announced(moved.size(), 0);
  for (const operation& op : log) {
    if (op.undone || op.kind == operation_kind::unevict || op.kind == operation_kind::withdraw) continue;
    decision d;
    d.action = action;
    d.commit = commits;
    if (op.kind == operation_kind::divide) {
      describe_division(divisions[op.undoes], d);
      decisions.push_back(std::move(d));
      continue;
    }
    d.pod = op.pod;
    d.group = state().pods[op.pod].group;
    const bool migrates = std::binary_search(migrated.begin(), migrated.end(), op.pod);
    if (op.kind == operation_kind::evict && migrates) {
      mark_evicted(op.pod, 0);
      continue;
    }
    if (op.kind == operation_kind::evict) {
      took_back_ = took_back_ || (decides_net() && was_placed_here(op));
      if (nominated_node(op.pod) != no_row) lost_places_.mark(op.pod, state().pod_slots);
      if (op.again) evicted_twice.push_back(op.pod);
      if (action == action_kind::stale_gang_eviction) {
        mark_evicted(op.pod, !placed_here.empty() && placed_here[op.pod] ? no_row : 0);
      } else {
        mark_evicted(op.pod, 0);
        note_placed(op.pod, false);
        evicted_groups.mark(d.group, state().group_slots);
      }
      const auto at = static_cast<std::size_t>(std::lower_bound(moved.begin(), moved.end(), op.pod) - moved.begin());
      if (at < moved.size() && moved[at] == op.pod && announced[at] == 0) {
        announced[at] = 1;
        continue;
      }
      describe_leave(op, d);
    } else {
      const bool moves = op.kind == operation_kind::pipeline && std::binary_search(moved.begin(), moved.end(), op.pod);
      d.kind = migrates                              ? decision_kind::migrate
               : op.kind == operation_kind::allocate ? decision_kind::bind
               : moves                               ? decision_kind::move
                                                     : decision_kind::pipeline;
      if (!moves) note_placed(op.pod, true);
      // It has another place again: what it lost is no decision of its own.
      took_back_ = took_back_ || (decides_net() && lost_places_.has(op.pod));
      describe_place(d);
      if (op.kind == operation_kind::allocate) begin_binding(op.pod);
    }
    decisions.push_back(std::move(d));
  }
  close_statement();
}

/// The pod was put where it is by this session, which takes that back.
bool core::was_placed_here(const operation& eviction) const {
  return static_cast<pod_status>(state().live.pod_state[eviction.pod]) != eviction.old_status ||
         state().live.pod_node[eviction.pod] != eviction.old_node;
}

void core::describe_leave(const operation& op, decision& d) const {
  d.kind = decision_kind::evict;
  d.node = (*state().node_row_of_slot)[op.old_node];
  d.devices = op.old_devices;
  d.numa_zones = zones.zones_at(op.old_zones);
}

void core::describe_place(decision& d) const {
  d.node = (*state().node_row_of_slot)[live.pod_node[d.pod]];
  d.devices = live.pod_devices[d.pod];
  d.numa_zones = zones.zones_of_pod(d.pod);
  if (claims.used()) d.claim_devices = claims.devices_of(state(), d.pod);
  if (vendors.used()) d.device_grants = vendors.grants_of(d.pod, d.node);
  if (const auto cell = cell_places_.find(d.pod); cell != cell_places_.end()) d.device_grants.push_back(cell->second);
}

void core::begin_binding(pod_row pod) {
  set_status(pod, pod_status::binding);
  tell(pod, live.pod_node[pod], pod_status::allocated);
}

/// Ends a statement whose decisions have been told. Where decisions are net it is kept, so that it can be taken back.
void core::close_statement() {
  if (decides_net()) {
    for (operation op : log) {
      if (op.undone || op.kind == operation_kind::unevict || op.kind == operation_kind::divide) continue;
      if (op.old_claims != no_row) {
        history_claims_.push_back(saved_claims[op.old_claims]);
        op.old_claims = static_cast<std::uint32_t>(history_claims_.size() - 1);
      }
      history_.push_back(op);
    }
  }
  log.clear();
  saved_claims.clear();
}

void core::abandon() {
  abandoned = true;
  ledger_.note(log);
  for (const operation& op : log) {
    if (op.undone || op.kind == operation_kind::unevict || op.kind == operation_kind::divide) continue;
    note_placed(op.pod, true);
    if (op.kind != operation_kind::evict) continue;
    if (op.again) evicted_twice.push_back(op.pod);
    mark_evicted(op.pod, no_row);  // of no statement
  }
  log.clear();
  saved_claims.clear();
}

// ---- groups ------------------------------------------------------------------------------------------------------

const group_order& core::order_of_groups() const {
  const group_order* const made = order_->get();
  return made != nullptr ? *made : order_->offer(std::make_unique<const group_order>(order_groups(state())));
}

void core::prepare_classes() {
  if (!threads.is_used()) return;
  std::vector<class_row> kinds;
  for (const group_row g : waiting_groups()) {
    const group_core& group = state().groups[g];
    for (sub_group_row sub = group.first_sub; sub < group.first_sub + group.sub_count; ++sub) {
      const model::sub_info& set = state().subs[sub];
      if (set.is_set || live.counts[sub].pending == 0) continue;
      if (set.is_uniform) kinds.push_back(set.only_class);
      for (pod_row p = set.is_uniform ? no_row : set.first_pod; p != no_row; p = state().pods[p].next) {
        if (static_cast<pod_status>(live.pod_state[p]) == pod_status::pending)
          kinds.push_back(state().pods[p].pod_class);
      }
    }
  }
  std::sort(kinds.begin(), kinds.end());
  kinds.erase(std::unique(kinds.begin(), kinds.end()), kinds.end());
  choice.prepare(*this, kinds);
}

bool core::is_leaving(pod_row pod, std::uint32_t node) const {
  return is_leaving(pod) && std::any_of(leaving.begin(), leaving.end(),
                                        [&](const leaving_pod& one) { return one.pod == pod && one.node == node; });
}

void core::renew_survey() {
  if (changes() == surveyed_at_) return;
  survey_ = std::make_shared<base::first_made<survey>>();
  surveyed_at_ = changes();
}

void core::note_start(group_row group) { started_groups.mark(group, state().group_slots); }

std::int64_t core::last_start(group_row group) const {
  const bool now_started = started_groups.has(group);
  return now_started ? now : state().group_extras[group].last_start;
}

std::int64_t core::last_eviction(group_row group) const {
  const bool now_evicted = evicted_groups.has(group);
  return now_evicted ? now : state().group_extras[group].last_eviction;
}

bool core::evicted_enough(group_row group) const {
  if (options.most_evictions == 0) return false;
  return state().group_extras[group].evictions + (evicted_groups.has(group) ? 1 : 0) >= options.most_evictions;
}

bool core::waits_after_eviction(group_row group) const {
  if (!options.evicted_groups_wait || compat()) return false;
  const std::int64_t evicted = last_eviction(group);
  return evicted != unset && newest_creation() <= evicted;
}

bool core::comes_last_after_eviction(group_row group) const {
  constexpr std::int64_t two_minutes = 120'000'000'000;
  if (!options.evicted_groups_wait || compat()) return false;
  const std::int64_t evicted = last_eviction(group);
  return evicted != unset && evicted > now - two_minutes;
}

/// Of the groups that are there.
std::int64_t core::newest_creation() const {
  std::int64_t newest = std::numeric_limits<std::int64_t>::min();
  for (group_row g = 0; g < state().group_slots; ++g) {
    if (state().groups[g].live) newest = std::max(newest, state().groups[g].created);
  }
  return newest;
}

std::span<const model::open_dependency> core::open_dependencies(group_row group) const {
  if (dependencies_ == nullptr) return {};
  const auto found = dependencies_->find(group);
  return found == dependencies_->end() ? std::span<const model::open_dependency>() : found->second;
}

}  // namespace kaisched::work
