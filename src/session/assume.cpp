// Taking decisions into a cluster that may have changed since they were made.
#include <algorithm>
#include <map>
#include <memory>
#include <new>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/mask.hpp"
#include "model/cell_place.hpp"
#include "model/cluster_impl.hpp"
#include "model/snapshot_access.hpp"
#include "session/row_names.hpp"
#include "session/session_impl.hpp"

namespace kaisched {

namespace {

using framework::session_state;
using model::cluster_state;

bool starts(decision_kind kind) { return kind == decision_kind::bind || kind == decision_kind::migrate; }
bool claims_place(decision_kind kind) { return kind == decision_kind::pipeline || kind == decision_kind::move; }
bool leaves(decision_kind kind) {
  return kind == decision_kind::evict || kind == decision_kind::move || kind == decision_kind::migrate;
}

/// Without what decisions say of cells.
std::vector<std::string> vendor_grants_of(const decision& d) {
  std::vector<std::string> grants = d.device_grants;
  std::erase_if(grants, [](const std::string& one) { return model::parse_cell_place(one).has_value(); });
  return grants;
}

std::string quoted(std::string_view name) { return "'" + std::string(name) + "'"; }

/// Compares what a session has seen with what there is now, commit by commit. What of a session is still good is
/// repeated on a session over the present version, so that what fits is told by the rules of the policy.
class referee {
 public:
  referee(const session_state& decided, const cluster_state& now, const model::name_maps& names,
          const model::assumptions& open, std::optional<std::uint64_t> resumed_at)
      : c_(decided),
        was_(model::state_of(decided.base)),
        is_(now),
        names_(names),
        open_(open),
        resumed_at_(resumed_at) {}

  /// Nothing has changed since the snapshot, and what the session saw of its pods is what the host has reported.
  [[nodiscard]] bool nothing_moved() const {
    const auto is_open = [&](const decision& d) { return d.pod != no_row && open_.is_open(is_, id_of_pod(d.pod)); };
    const bool resumed_from_it = is_.version == resumed_at_ && is_.names->continues(*was_.names);
    return (was_.names == is_.names || resumed_from_it) && was_.version == is_.version &&
           std::none_of(c_.results.decisions.begin(), c_.results.decisions.end(), is_open);
  }

  result<void> open(const snapshot& present) {
    again_ = std::make_unique<session_state>(present, c_.setup, c_.now);
    return again_->open();
  }

  /// What stands in the way of a commit; it is repeated if nothing does.
  result<std::vector<conflict>> judge(std::span<const decision> commit) {
    found_.clear();
    commit_ = commit.front().commit;
    for (const decision& d : commit) {
      compare_group(d.group, rests_on_shares(d));
      if (d.pod != no_row) compare_pod(d);
      if (leaves(d.kind)) compare_budget(d);
      if (d.node != no_row) compare_node(d);
      if (d.pod != no_row) compare_claims(d.pod);
    }
    if (found_.empty()) {
      if (auto done = repeat(commit); !done) return done.failure();
    }
    if (!found_.empty()) {
      for (const decision& d : commit) {
        refused_groups_.insert(d.group);
        for (queue_row q = was_.groups[d.group].queue; q != no_row; q = (*was_.queues)[q].parent)
          refused_queues_.insert(q);
      }
      again_->statement.rollback(0);
    } else {
      again_->statement.commit();
    }
    return std::move(found_);
  }

 private:
  /// Evictions for others are fair only for the shares that the session has seen.
  static bool rests_on_shares(const decision& d) {
    return d.action == action_kind::reclaim || d.action == action_kind::preempt;
  }

  void blame(entity_kind kind, entity_id subject, std::string_view name, std::string text) {
    const auto same = [&](const conflict& one) {
      return one.kind == kind && one.subject == subject && one.name == name;
    };
    if (std::none_of(found_.begin(), found_.end(), same))
      found_.push_back({commit_, kind, subject, std::string(name), std::move(text)});
  }
  [[nodiscard]] entity_id id_of_pod(pod_row p) const { return {entity_kind::pod, was_.pods[p].generation, p}; }
  void blame_pod(pod_row p, std::string text) {
    blame(entity_kind::pod, id_of_pod(p), was_.pod_names[p], std::move(text));
  }
  void blame_node(node_row row, std::string text) {
    const std::uint32_t slot = (*was_.nodes)[row]->slot;
    blame(entity_kind::node, entity_id(entity_kind::node, (*was_.node_generation)[slot], slot),
          (*was_.nodes)[row]->name, std::move(text));
  }
  void blame_group(group_row g, std::string text) {
    blame(entity_kind::pod_group, entity_id(entity_kind::pod_group, was_.groups[g].generation, g), was_.group_names[g],
          std::move(text));
  }
  void blame_queue(queue_row q, std::string text) {
    blame(entity_kind::queue, entity_id(entity_kind::queue, (*was_.queues)[q].generation, q), (*was_.queues)[q].name,
          std::move(text));
  }

  void compare_pod(const decision& d) {
    const pod_row p = d.pod;
    const model::pod_core& had = was_.pods[p];
    if (p >= is_.pod_slots || !is_.pods[p].live || is_.pods[p].generation != had.generation ||
        is_.pod_names[p] != was_.pod_names[p])
      return blame_pod(p, "it has been removed");
    const model::pod_core& has = is_.pods[p];
    const auto status_was = static_cast<pod_status>(was_.live.pod_state[p]);
    const auto status_is = static_cast<pod_status>(is_.live.pod_state[p]);
    // A pod that leaves already can give up the place that is kept for it, or get another one.
    const bool concerns_place = leaves(d.kind) && !model::is_in(status_was, model::stoppable);
    if (open_.is_open(is_, id_of_pod(p)) && !concerns_place)
      return blame_pod(p, "an earlier decision about it has not been reported on");
    if (status_was != status_is) {
      return blame_pod(p, "it was " + std::string(pod_status_name(status_was)) + " and is " +
                              std::string(pod_status_name(status_is)));
    }
    if (was_.live.pod_node[p] != is_.live.pod_node[p]) return blame_pod(p, "it is on another node");
    if (!(was_.live.pod_devices[p] == is_.live.pod_devices[p])) return blame_pod(p, "it has other devices");
    if (had.group != has.group || was_.pod_extras[p].sub_name != is_.pod_extras[p].sub_name)
      return blame_pod(p, "it belongs to another group");
    const auto& asked = was_.classes[had.pod_class];
    const auto& asks = is_.classes[has.pod_class];
    if (asked != asks && asked->ask.key() != asks->ask.key()) blame_pod(p, "it asks for something else");
  }

  void compare_group(group_row g, bool by_shares) {
    if (refused_groups_.contains(g)) return blame_group(g, "an earlier commit of the session for it is refused");
    const model::group_core& had = was_.groups[g];
    if (g >= is_.group_slots || !is_.groups[g].live || is_.groups[g].generation != had.generation ||
        is_.group_names[g] != was_.group_names[g])
      return blame_group(g, "it has been removed");
    const model::group_core& has = is_.groups[g];
    if (had.queue != has.queue) return blame_group(g, "it is in another queue");
    if (had.priority != has.priority || had.preemptible != has.preemptible ||
        had.semi_preemptible != has.semi_preemptible)
      return blame_group(g, "its priority has changed");
    compare_members(g, had, has);
    for (queue_row q = had.queue; q != no_row; q = (*was_.queues)[q].parent) {
      if (!compare_queue(q, by_shares)) return;
    }
  }

  /// Pods that migrate spend the budget of their group until the host has reported.
  void compare_budget(const decision& d) {
    if (d.group >= is_.group_slots || !is_.groups[d.group].live) return;
    if (was_.group_extras[d.group].disruption_budget != is_.group_extras[d.group].disruption_budget) {
      blame_group(d.group, "its disruption budget has changed");
    } else if (open_.migrates(is_, entity_id(entity_kind::pod_group, was_.groups[d.group].generation, d.group))) {
      blame_group(d.group, "another pod of it is migrating");
    }
  }

  void compare_members(group_row g, const model::group_core& had, const model::group_core& has) {
    bool same = had.sub_count == has.sub_count;
    bool same_pods = true;
    for (std::uint16_t i = 0; same && i < had.sub_count; ++i) {
      const model::sub_info& one = was_.subs[had.first_sub + i];
      const model::sub_info& other = is_.subs[has.first_sub + i];
      same = one.name == other.name && one.is_set == other.is_set && one.min == other.min &&
             parent_in(had, one) == parent_in(has, other) && same_place(one, other);
      same_pods = same_pods && was_.live.counts[had.first_sub + i] == is_.live.counts[has.first_sub + i];
    }
    if (!same) return blame_group(g, "its gang has changed");
    if (!same_pods) blame_group(g, "it has gained or lost pods, or some of them have moved on");
  }
  static sub_group_row parent_in(const model::group_core& group, const model::sub_info& sub) {
    return sub.parent == no_row ? no_row : sub.parent - group.first_sub;
  }
  static bool same_place(const model::sub_info& one, const model::sub_info& other) {
    if (one.together == other.together) return true;
    if (one.together == nullptr || other.together == nullptr) return false;
    return one.together->topology == other.together->topology &&
           one.together->required_level == other.together->required_level &&
           one.together->preferred_level == other.together->preferred_level;
  }

  /// False: those above it are not worth a look.
  bool compare_queue(queue_row q, bool by_shares) {
    const model::queue_info& had = (*was_.queues)[q];
    if (q >= is_.queues->size() || !(*is_.queues)[q].live || (*is_.queues)[q].generation != had.generation ||
        (*is_.queues)[q].name != had.name) {
      blame_queue(q, "it has been removed");
      return false;
    }
    const model::queue_info& has = (*is_.queues)[q];
    if (had.parent != has.parent) {
      blame_queue(q, "it has another parent");
      return false;
    }
    if (!by_shares) return true;
    if (had.quota != has.quota || had.limit != has.limit || had.weight != has.weight || had.priority != has.priority ||
        had.usage != has.usage || had.reclaim_min_runtime != has.reclaim_min_runtime ||
        had.preempt_min_runtime != has.preempt_min_runtime) {
      blame_queue(q, "its quota, limit, weight, priority, usage or minimum runtime has changed");
    } else if ((*was_.live.queue_allocated)[q] != (*is_.live.queue_allocated)[q]) {
      blame_queue(q, "it holds another amount");
    } else if (c_.queues.fair_share[q] != again_->queues.fair_share[q]) {
      blame_queue(q, "its fair share has changed");
    } else if (refused_queues_.contains(q)) {
      blame_queue(q, "an earlier commit of the session that concerns it is refused");
    }
    return true;
  }

  void compare_node(const decision& d) {
    const model::node_info& had = *(*was_.nodes)[d.node];
    const node_row row = row_now(d.node);
    if (row == no_row || (*is_.nodes)[row]->name != had.name) return blame_node(d.node, "it has been removed");
    const model::node_info& has = *(*is_.nodes)[row];
    if (&had == &has) {
      if (d.kind == decision_kind::repartition && !same_amounts(d.node, row))
        blame_node(d.node, "it has other amounts free");
      return;
    }
    if (had.labels_text != has.labels_text || had.positions != has.positions)
      return blame_node(d.node, "its labels or its place in a topology have changed");
    if (d.kind == decision_kind::repartition) return blame_node(d.node, "it has changed");
    bool same = had.vendor_devices_text == has.vendor_devices_text &&
                had.device_settings_text == has.device_settings_text && had.zones.size() == has.zones.size();
    for (const std::int64_t i : base::indices_of(d.devices.mask)) {
      const auto device = static_cast<std::uint32_t>(i);
      same = same && device < has.device_count() && had.device_units(device) == has.device_units(device) &&
             had.sharing_of(device) == has.sharing_of(device);
    }
    if (!same) blame_node(d.node, "its devices have changed");
  }
  [[nodiscard]] node_row row_now(node_row row) const {
    const std::uint32_t slot = (*was_.nodes)[row]->slot;
    if (slot >= is_.node_row_of_slot->size() || (*was_.node_generation)[slot] != (*is_.node_generation)[slot])
      return no_row;
    return (*is_.node_row_of_slot)[slot];
  }
  [[nodiscard]] bool same_amounts(node_row before, node_row now) const {
    const std::size_t dims = was_.dims();
    if (dims != is_.dims()) return false;
    const auto same = [&](const std::vector<std::int64_t>& had, const std::vector<std::int64_t>& has) {
      const auto first = had.begin() + static_cast<std::ptrdiff_t>(before * dims);
      return std::equal(first, first + static_cast<std::ptrdiff_t>(dims),
                        has.begin() + static_cast<std::ptrdiff_t>(now * dims));
    };
    return same(*was_.live.idle, *is_.live.idle) && same(*was_.live.releasing, *is_.live.releasing);
  }

  void compare_claims(pod_row p) {
    const std::string_view named = was_.class_of(p).ask.claims;
    if (named.empty()) return;
    for (const std::string_view name : split_list(named)) {
      const std::uint32_t slot = names_.claims.find(name);
      const model::claim_info* const has = slot == base::name_map::none ? nullptr : is_.claims[slot].get();
      const model::claim_info* const had = claim_before(name, slot);
      if (had == has) continue;
      if (had == nullptr || has == nullptr || had->devices != has->devices || had->reserved_for != has->reserved_for ||
          had->node != has->node || had->count != has->count || had->device_class != has->device_class ||
          had->constraints_text != has->constraints_text || had->results_text != has->results_text)
        blame(entity_kind::resource_claim, {}, name, has == nullptr ? "it has been removed" : "it has changed");
    }
  }
  /// What the session knew by the name: in the slot that it has now, or anywhere if it has gone.
  [[nodiscard]] const model::claim_info* claim_before(std::string_view name, std::uint32_t slot) const {
    const auto is_in = [&](std::uint32_t i) { return was_.claims[i] != nullptr && was_.claims[i]->name == name; };
    if (slot < was_.claim_slots && is_in(slot)) return was_.claims[slot].get();
    for (std::uint32_t i = 0; i < was_.claim_slots; ++i) {
      if (is_in(i)) return was_.claims[i].get();
    }
    return nullptr;
  }

  // ---- once more, on the present version

  result<void> repeat(std::span<const decision> commit) {
    const bool divides = std::any_of(commit.begin(), commit.end(),
                                     [](const decision& d) { return d.kind == decision_kind::repartition; });
    for (const decision& d : commit) {
      if (!leaves(d.kind) || again_->live.pod_node[d.pod] == no_row) continue;  // else a place is given up
      if (again_->access.budgets->refuses(d.pod)) {
        blame_group(d.group, "disruption budget '" + std::string(is_.told_of(d.pod).budget) + "' allows less now");
        return {};
      }
      again_->statement.evict(d.pod);
    }
    for (const decision& d : commit) {
      if (!starts(d.kind) && !claims_place(d.kind)) continue;
      if (divides && claims_place(d.kind)) continue;  // claims instances that nobody has made yet
      if (auto done = repeat_place(d); !done) return done;
      if (!found_.empty()) return {};
    }
    return {};
  }

  result<void> repeat_place(const decision& d) {
    const node_row row = row_now(d.node);
    const std::string pod = quoted(was_.pod_names[d.pod]);
    result<reason> why = session_detail::refusal_of(*again_, d.pod, row);
    if (!why) return why.failure();
    if (why->what != constraint::none) {
      blame_node(d.node, "it refuses pod " + pod + ": " + std::string(constraint_name(why->what)));
      return {};
    }
    framework::failure limit;
    const model::quota_vector more = again_->queues.asked_on(is_.class_of(d.pod), row);
    if (!leaves(d.kind) && again_->has_proportion &&
        again_->queues.refuse(d.group, more, std::span(&d.pod, 1), limit)) {
      blame_queue(limit.queue, "pod " + pod + " would take it over its limit or quota");
      return {};
    }
    const policy::free_amount amount =
        starts(d.kind) ? policy::free_amount::idle : policy::free_amount::idle_or_releasing;
    const std::optional<framework::place> place = framework::place_on(*again_, d.pod, row, amount);
    const model::device_amount of_device =
        starts(d.kind) ? model::device_amount::free_now : model::device_amount::free_or_releasing;
    if (!place || (starts(d.kind) && place->must_wait) ||
        !model::can_take(is_, again_->live, is_.class_of(d.pod), row, d.devices, of_device) ||
        (d.devices.mask & ~again_->constraints.devices_for(again_->access, is_.class_of(d.pod), row, amount)) != 0) {
      blame_node(d.node, "pod " + pod + " does not fit any more");
      return {};
    }
    const bool same_devices = place->devices == d.devices;
    const policy::group_ids groups = same_devices ? place->groups : policy::group_ids{};
    if (starts(d.kind)) {
      again_->statement.allocate(d.pod, row, d.devices, groups);
    } else {
      again_->statement.pipeline(d.pod, row, d.devices, groups);
    }
    decision now;
    again_->constraints.describe(again_->access, d.pod, row, now);
    const bool same = now.numa_zones == d.numa_zones &&
                      (again_->access.claims == nullptr || now.claim_devices == d.claim_devices) &&
                      (again_->access.vendors == nullptr || now.device_grants == vendor_grants_of(d));
    if (!same) blame_node(d.node, "pod " + pod + " would get other zones or devices than were decided");
    return {};
  }

  const session_state& c_;
  const cluster_state& was_;
  const cluster_state& is_;
  const model::name_maps& names_;  ///< of the present version
  const model::assumptions& open_;
  const std::optional<std::uint64_t> resumed_at_;
  std::unique_ptr<session_state> again_;
  std::uint32_t commit_ = 0;
  std::vector<conflict> found_;
  std::set<group_row> refused_groups_;
  std::set<queue_row> refused_queues_;  ///< of these groups, with those above
};

/// What becomes of the pods, groups and claims of decisions that are taken in.
class intake {
 public:
  explicit intake(const session_state& decided) : c_(decided), s_(model::state_of(decided.base)) {
    made_.now = decided.now;
  }

  void add(const decision& d) {
    if (d.pod == no_row || d.kind == decision_kind::unschedulable) return;
    nominate(d);
    if (d.kind == decision_kind::pipeline) return;
    const auto known = place_of_.find(d.pod);
    if (known != place_of_.end()) {  // it was to start and has to go: it stays
      if (made_.pods[known->second].kind == decision_kind::bind) made_.pods[known->second].pod = no_row;
      return;
    }
    const auto was = static_cast<pod_status>(s_.live.pod_state[d.pod]);
    if (leaves(d.kind) && !model::is_in(was, model::stoppable))
      return;  // a place that was kept is given up, and that is all
    model::tentative one{d.pod,           d.kind,  (*s_.nodes)[d.node]->slot, d.devices.mask, d.numa_zones,
                         d.device_grants, d.commit};
    if (d.kind == decision_kind::move) one.node = s_.live.pod_node[d.pod];
    place_of_.emplace(d.pod, made_.pods.size());
    made_.pods.push_back(std::move(one));
  }

  result<model::tentative_set> take() {
    std::erase_if(made_.pods, [](const model::tentative& one) { return one.pod == no_row; });
    for (const model::tentative& one : made_.pods) note_group(s_.pods[one.pod].group, one.kind);
    for (const auto& [group, what] : groups_) made_.groups.push_back({group, what.first, what.second});
    for (const auto& [pod, place] : nominated_) made_.nominations.push_back({pod, place.first, place.second});
    if (auto done = add_claims(); !done) return done.failure();
    return std::move(made_);
  }

 private:
  /// Places that are held from now on, and pods that had one and have it no more.
  void nominate(const decision& d) {
    if (!c_.keeps_nominations()) return;
    if (claims_place(d.kind))
      nominated_[d.pod] = {(*s_.nodes)[d.node]->slot, d.commit};
    else if (nominated_.contains(d.pod) || s_.pod_extras[d.pod].nominated != no_row || s_.is_nominated(d.pod))
      nominated_[d.pod] = {no_row, d.commit};
  }

  void note_group(group_row g, decision_kind kind) {
    auto& [starts_now, is_evicted] = groups_[g];
    starts_now = starts_now || (kind == decision_kind::bind && c_.groups.was_started(g));
    is_evicted = is_evicted || kind == decision_kind::evict || kind == decision_kind::move;
  }

  /// Claims of the pods that start, as the session leaves them.
  result<void> add_claims() {
    for (const model::tentative& one : made_.pods) {
      if (one.kind != decision_kind::bind || s_.class_of(one.pod).ask.claims.empty()) continue;
      for (const std::string_view claim : split_list(s_.class_of(one.pod).ask.claims)) users_[claim].push_back(one.pod);
    }
    if (users_.empty()) return {};
    const result<table> after = session_detail::output_table(c_, c_.results.decisions, {}, table_kind::resource_claim);
    if (!after) return after.failure();
    const table_view view = after->view();
    const auto list = [&](std::uint32_t column, std::uint64_t row) {
      const std::vector<std::string_view> parts = split_list(view.find(column)->string(row));
      return std::vector<std::string>(parts.begin(), parts.end());
    };
    for (std::uint64_t row = 0; row < view.rows; ++row) {
      const auto users = users_.find(view.find(col::resource_claim_name)->string(row));
      if (users == users_.end()) continue;
      made_.claims.push_back({std::string(users->first), list(col::resource_claim_devices, row),
                              list(col::resource_claim_results, row),
                              std::string(view.find(col::resource_claim_node)->string(row)), users->second});
    }
    return {};
  }

  const session_state& c_;
  const cluster_state& s_;
  model::tentative_set made_;
  std::map<pod_row, std::size_t> place_of_;
  std::map<pod_row, std::pair<std::uint32_t, std::uint32_t>> nominated_;  ///< slots of nodes, commits
  std::map<group_row, std::pair<bool, bool>> groups_;                     ///< starts, is evicted
  std::map<std::string_view, std::vector<pod_row>> users_;
};

}  // namespace

result<std::vector<conflict>> cluster::assume(const session& decided) {
  try {
    return impl_->assume(*decided.impl_->state, *this);
  } catch (const std::bad_alloc&) {
    return error{status::no_memory, "out of memory; no decision was taken in", {}};
  }
}

result<std::vector<conflict>> cluster::impl::assume(const session_state& c, cluster& self) {
  const std::span<const decision> all = c.results.decisions;
  referee judge(c, state, names, assumed, resumed_at);
  const bool trusted = judge.nothing_moved();
  if (!trusted) {
    if (auto done = judge.open(self.take_snapshot()); !done) return done.failure();
  }
  intake good(c);
  std::vector<conflict> found;
  for (std::size_t first = 0, next = 0; first < all.size(); first = next) {
    while (next < all.size() && all[next].commit == all[first].commit) ++next;
    const std::span<const decision> commit = all.subspan(first, next - first);
    if (!trusted) {
      result<std::vector<conflict>> refused = judge.judge(commit);
      if (!refused) return refused;
      found.insert(found.end(), refused->begin(), refused->end());
      if (!refused->empty()) continue;
    }
    const std::size_t before = found.size();
    for (const decision& d : commit) {
      if (d.kind == decision_kind::migrate) check_stand_in(c.base, d, found);
    }
    if (found.size() > before) continue;
    for (const decision& d : commit) good.add(d);
  }
  result<model::tentative_set> what = good.take();
  if (!what) return what.failure();
  for (const auto& [group, bits] : c.searched_changes()) {
    const std::uint32_t slot = names.groups.find(c.state().group_names[group]);
    if (slot != base::name_map::none) what->searched.emplace_back(slot, bits);
  }
  std::vector<conflict> told = found;
  if (auto done = carry_out(assumed.take(state, names, *what)); !done) return done.failure();
  conflicts.swap(found);
  return told;
}

void cluster::impl::check_stand_in(const snapshot& of, const decision& d, std::vector<conflict>& to) const {
  const std::string stand_in = model::stand_in_name(of.pod_name(d.pod));
  if (stand_in.size() <= max_name_size && names.pods.find(stand_in) == base::name_map::none) return;
  to.push_back({d.commit, entity_kind::pod,
                entity_id(entity_kind::pod, model::state_of(of).pods[d.pod].generation, d.pod),
                std::string(of.pod_name(d.pod)),
                "its stand-in '" + stand_in + "' cannot be named so: the name is taken or too long"});
}

}  // namespace kaisched
