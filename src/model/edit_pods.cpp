// Deltas of pods, and the order of pods inside their pod sets.
#include <algorithm>

#include "model/account.hpp"
#include "model/edit.hpp"

namespace kaisched::model {

// ---- pods --------------------------------------------------------------------------------------------------------

result<void> edit::pods(const table_reader& t) {
  settle_nodes();
  if (recount_) {  // devices are chosen by what is free
    recount(s_);
    recount_ = false;
  }
  const auto one = [&](std::uint64_t row) {
    return t.op() == table_op::add      ? add_pod(t, row)
           : t.op() == table_op::change ? change_pod(t, row)
                                        : remove_pod(t, row);
  };
  if (auto done = each_row(t, one, [&](std::uint64_t row) { keep_place(t, row); }); !done) return done;
  settle_devices();
  settle_links();
  return {};
}

/// Pods that came without devices choose after those whose devices are given, and by name: the order of rows says
/// nothing.
void edit::settle_devices() {
  const auto claims = [&](pod_row p) { return static_cast<pod_status>(s_.live.pod_state[p]) == pod_status::pipelined; };
  std::vector<pod_row> rows(choosing_.begin(), choosing_.end());
  choosing_.clear();
  std::sort(rows.begin(), rows.end(), [&](pod_row a, pod_row b) {
    return claims(a) != claims(b) ? claims(b) : s_.pod_names[a] < s_.pod_names[b];
  });
  for (const pod_row p : rows) {
    const node_row at = (*s_.node_row_of_slot)[s_.live.pod_node[p]];
    leave(p);
    device_set chosen;
    // An overcommitted node may have no device left: then only the amounts are charged.
    const bool found =
        choose_devices(s_, s_.live, s_.class_of(p), at, device_amount::free_now, false, chosen) ||
        (claims(p) && choose_devices(s_, s_.live, s_.class_of(p), at, device_amount::free_or_releasing, false, chosen));
    if (found) s_.live.pod_devices.write(p) = chosen;
    enter(p);
  }
}

result<void> edit::add_pod(const table_reader& t, std::uint64_t row) {
  const pod_row stand_in = stand_in_of(t.text(col::pod_name, row));
  auto good =
      stand_in == no_row ? check_new_name(t, row, col::pod_name, names_.pods) : check_name(t, row, col::pod_name);
  if (!good) return good;
  result<pod_plan> plan = plan_pod(t, row, no_row);
  if (!plan) return plan.failure();
  if (stand_in != no_row) {
    erase_pod(stand_in);
    plan = plan_pod(t, row, no_row);  // the class that was chosen may have gone with it
    if (!plan) return plan.failure();
  }
  const pod_row p = new_pod(t.text(col::pod_name, row));
  put_pod(std::move(*plan), p);
  relink(no_row, p);
  return {};
}

pod_row edit::new_pod(std::string_view name) {
  pod_row p = s_.pod_slots;
  if (w_.free_pods->empty()) {
    ++s_.pod_slots;
    s_.pods.grow(s_.pod_slots);
    s_.pod_extras.grow(s_.pod_slots);
    s_.pod_names.grow(s_.pod_slots);
    s_.live.pod_state.grow(s_.pod_slots);
    s_.live.pod_node.grow(s_.pod_slots);
    s_.live.pod_devices.grow(s_.pod_slots);
  } else {
    p = w_.free_pods->back();
    w_.free_pods.write().pop_back();
  }
  const std::uint32_t generation = s_.pods[p].generation;
  s_.pods.write(p) = {};
  s_.pods.write(p).generation = generation;
  s_.pods.write(p).live = true;
  s_.pod_extras.write(p) = {};
  s_.pod_extras.write(p).sub_name = implied_pod_set;
  s_.pod_names.write(p) = s_.names->add(name);
  ++s_.live_pods;
  add_name(&name_maps::pods, s_.pod_names[p], p);
  return p;
}

result<void> edit::change_pod(const table_reader& t, std::uint64_t row) {
  result<std::uint32_t> found = slot_of(t, row, col::pod_name, entity_kind::pod);
  if (!found) return found.failure();
  const pod_row p = *found;
  if (stand_in_of(t.text(col::pod_name, row)) != no_row) {
    change_stand_in(t, row, p);
    return {};
  }
  result<pod_plan> plan = plan_pod(t, row, p);
  if (!plan) return plan.failure();
  const bool reorders = t.has(col::pod_sub_group) || t.has(col::pod_priority) || t.has(col::pod_leader) ||
                        t.has(col::pod_created) || t.has(col::pod_group_ref);
  leave(p);
  const sub_group_row old_sub = s_.pods[p].sub;
  if (reorders && old_sub == no_row) unlink_stray(p);
  put_pod(std::move(*plan), p);
  if (reorders) relink(old_sub, p);
  return {};
}

result<void> edit::remove_pod(const table_reader& t, std::uint64_t row) {
  if (const pod_row p = stand_in_of(t.text(col::pod_name, row)); p != no_row) {
    erase_pod(p);
    return {};
  }
  result<std::uint32_t> found = slot_of(t, row, col::pod_name, entity_kind::pod);
  if (!found) return found.failure();
  erase_pod(*found);
  return {};
}

void edit::erase_pod(pod_row p) {
  choosing_.erase(p);
  if (const group_row g = s_.pods[p].group; g != no_row)
    lost_pods_.push_back({s_.group_names[g], static_cast<pod_status>(s_.live.pod_state[p])});
  leave(p);
  leave_class(p);
  if (const sub_group_row sub = s_.pods[p].sub; sub == no_row) {
    unlink_stray(p);
  } else {
    relink(sub, p);
  }
  pod_core& pod = s_.pods.write(p);  // not before others of the column are written
  pod.live = false;
  ++pod.generation;
  --s_.live_pods;
  discard(s_.pod_extras[p].labels);
  put_told(p, {});
  if (s_.pod_extras[p].sub_name != implied_pod_set) discard(s_.pod_extras[p].sub_name);
  drop_name(&name_maps::pods, s_.pod_names[p], p);
  w_.free_pods.write().push_back(p);
}

/// Keeps a row for what there is to tell.
void edit::put_told(pod_row p, const pod_told& what) {
  std::uint32_t row = s_.pod_extras[p].told;
  if (row == no_row && what.says_nothing()) return;
  if (row == no_row && s_.free_told != no_row) {
    row = s_.free_told;
    s_.free_told = s_.told[row].next_free;
  } else if (row == no_row) {
    row = s_.told_slots++;
    s_.told.grow(s_.told_slots);
  }
  pod_told& own = s_.told.write(row);
  own.numa_zones = what.numa_zones;
  own.nominated_since = what.nominated_since;
  for (const auto field : {&pod_told::device_grants, &pod_told::mig_instances, &pod_told::budget}) {
    if (own.*field == what.*field) continue;
    discard(own.*field);
    own.*field = s_.names->add(what.*field);
  }
  if (what.says_nothing()) {
    own.next_free = s_.free_told;
    s_.free_told = row;
    row = no_row;
  }
  s_.pod_extras.write(p).told = row;
}

/// Makes a pod what the plan says and counts it in; it has been counted out, or is new.
void edit::put_pod(pod_plan plan, pod_row p) {
  pod_extra& extra = s_.pod_extras.write(p);
  if (extra.sub_name != plan.sub_name) {
    if (extra.sub_name != implied_pod_set) discard(extra.sub_name);
    extra.sub_name = plan.sub_name == implied_pod_set ? implied_pod_set : s_.names->add(plan.sub_name);
  }
  if (extra.labels != plan.labels) {
    discard(extra.labels);
    extra.labels = s_.names->add(plan.labels);
  }
  extra.created = plan.created;
  extra.priority = plan.priority;
  extra.nominated = plan.nominated;
  put_told(p, {plan.zones, plan.device_grants, plan.instances, plan.budget,
               plan.nominated == no_row ? unset : plan.nominated_since});
  pod_core& pod = s_.pods.write(p);
  pod.group = plan.group;
  pod.leader = plan.leader;
  pod.outdated = plan.outdated;
  const sub_group_row sub = plan.group == no_row ? no_row : find_sub(plan.group, extra.sub_name);
  pod.sub = sub != no_row && !s_.subs[sub].is_set ? sub : no_row;
  if (plan.fresh_class || plan.known_class != pod.pod_class) {
    if (pod.pod_class != no_row) leave_class(p);
    join_class(p, plan);
  }
  s_.live.pod_state.write(p) = static_cast<std::uint8_t>(plan.status);
  s_.live.pod_node.write(p) = plan.node;
  s_.live.pod_devices.write(p) = plan.devices;
  if (plan.chooses_devices && s_.class_of(p).wants_gpu()) {
    choosing_.insert(p);
  } else {
    choosing_.erase(p);  // a later row of the same table may have named them
  }
  enter(p);
}

/// What a class asks of divided GPUs. Its dimensions exist, and what they are never changes.
void edit::count_mig(pod_class& c) const {
  for (std::uint32_t d = built_in_dimensions; d < std::min<std::size_t>(s_.dims(), c.ask.request.size()); ++d) {
    const mig_profile& profile = (*s_.dimensions)[d].mig;
    if (!profile || c.ask.request[d] == 0) continue;
    c.mig_share += c.ask.request[d] * profile.share;
    c.mig_slices += c.ask.request[d] * profile.slices;
    c.mig_memory_gb += c.ask.request[d] * profile.memory_gb;
  }
}

void edit::join_class(pod_row p, pod_plan& plan) {
  class_row c = plan.known_class;
  if (plan.fresh_class) {
    if (w_.free_classes->empty()) {
      c = s_.class_slots++;
      s_.classes.grow(s_.class_slots);
      w_.class_users.grow(s_.class_slots);
      w_.class_keys.grow(s_.class_slots);
    } else {
      c = w_.free_classes->back();
      w_.free_classes.write().pop_back();
    }
    count_mig(*plan.fresh_class);
    w_.class_keys.write(c) = s_.names->add(plan.fresh_class->ask.key());
    s_.classes.write(c) = std::make_shared<const pod_class>(std::move(*plan.fresh_class));
    w_.class_users.write(c) = 0;
    add_name(&name_maps::classes, w_.class_keys[c], c);
  }
  ++w_.class_users.write(c);
  s_.pods.write(p).pod_class = c;
  const pod_class& joined = *s_.classes[c];
  s_.pods_with_affinity += joined.has_pod_affinity() ? 1U : 0U;
  s_.pods_with_preferences += joined.preferences.empty() ? 0U : 1U;
  s_.pods_with_spread += joined.spread.empty() ? 0U : 1U;
  s_.pods_with_ports += joined.host_ports.empty() ? 0U : 1U;
  s_.pods_with_gpu_memory += joined.ask.gpu_memory == 0 ? 0U : 1U;
  s_.pods_with_shares += joined.is_shared() ? 1U : 0U;
  s_.pods_with_mig += joined.mig_slices == 0 ? 0U : 1U;
  s_.pods_with_claims += joined.ask.claims.empty() ? 0U : 1U;
  s_.pods_asking_vendors += joined.asks_vendors() ? 1U : 0U;
  std::vector<std::int64_t>& sums = w_.total_request.write();
  sums.resize(std::max<std::size_t>(sums.size(), s_.dims()), 0);
  for (std::size_t d = 0; d < joined.ask.request.size(); ++d) sums[d] += joined.ask.request[d];
}

void edit::leave_class(pod_row p) {
  const class_row c = s_.pods[p].pod_class;
  const pod_class& left = *s_.classes[c];
  s_.pods_with_affinity -= left.has_pod_affinity() ? 1U : 0U;
  s_.pods_with_preferences -= left.preferences.empty() ? 0U : 1U;
  s_.pods_with_spread -= left.spread.empty() ? 0U : 1U;
  s_.pods_with_ports -= left.host_ports.empty() ? 0U : 1U;
  s_.pods_with_gpu_memory -= left.ask.gpu_memory == 0 ? 0U : 1U;
  s_.pods_with_shares -= left.is_shared() ? 1U : 0U;
  s_.pods_with_mig -= left.mig_slices == 0 ? 0U : 1U;
  s_.pods_with_claims -= left.ask.claims.empty() ? 0U : 1U;
  s_.pods_asking_vendors -= left.asks_vendors() ? 1U : 0U;
  std::vector<std::int64_t>& sums = w_.total_request.write();
  for (std::size_t d = 0; d < left.ask.request.size(); ++d) sums[d] -= left.ask.request[d];
  s_.pods.write(p).pod_class = no_row;
  if (--w_.class_users.write(c) > 0) return;
  drop_name(&name_maps::classes, w_.class_keys[c], c);
  s_.classes.write(c) = nullptr;
  w_.free_classes.write().push_back(c);
}

bool edit::is_on_node(pod_row p) const {
  return s_.live.pod_node[p] != no_row && is_in(static_cast<pod_status>(s_.live.pod_state[p]), active_used);
}

void edit::enter(pod_row p) {
  account_pod(s_, s_.live, p, 1);
  if (is_on_node(p)) ++w_.pods_on_node.write()[s_.live.pod_node[p]];
  if (s_.pods[p].group == no_row) ++s_.bystanders;
  if (s_.is_nominated(p)) ++s_.nominated_pods;
  note_class(p);
  touch(s_.pods[p].group);
}

void edit::leave(pod_row p) {
  account_pod(s_, s_.live, p, -1);
  if (is_on_node(p)) --w_.pods_on_node.write()[s_.live.pod_node[p]];
  if (s_.pods[p].group == no_row) --s_.bystanders;
  if (s_.is_nominated(p)) --s_.nominated_pods;
  forget_class(s_.pods[p].sub);
  touch(s_.pods[p].group);
}

/// The pod has been counted in its pod set.
void edit::note_class(pod_row p) {
  const sub_group_row sub = s_.pods[p].sub;
  if (sub == no_row || !s_.subs[sub].is_uniform || s_.subs[sub].only_class == s_.pods[p].pod_class) return;
  sub_info& info = s_.subs.write(sub);
  info.is_uniform = s_.live.counts[sub].total == 1;
  info.only_class = info.is_uniform ? s_.pods[p].pod_class : no_row;
}

/// A pod has been counted out. What is left of several classes is taken for several until nothing is left.
void edit::forget_class(sub_group_row sub) {
  if (sub == no_row || s_.live.counts[sub].total > 0) return;
  sub_info& info = s_.subs.write(sub);
  info.is_uniform = true;
  info.only_class = no_row;
}

// ---- pods of a pod set, in task order ----------------------------------------------------------------------------

bool edit::task_before(pod_row a, pod_row b) const {
  const bool a_leads = s_.pods[a].leader;
  const bool b_leads = s_.pods[b].leader;
  if (a_leads != b_leads) return a_leads;
  const std::int64_t x = s_.pod_extras[a].priority;  // unset is the smallest
  const std::int64_t y = s_.pod_extras[b].priority;
  if (x != y) return x > y;
  if (s_.pod_extras[a].created != s_.pod_extras[b].created) return s_.pod_extras[a].created < s_.pod_extras[b].created;
  return s_.pod_names[a] < s_.pod_names[b];
}

void edit::settle_links() {
  if (relinks_.empty()) return;
  std::vector<std::pair<sub_group_row, pod_row>> changes = std::move(relinks_);
  relinks_.clear();
  std::sort(changes.begin(), changes.end());
  changes.erase(std::unique(changes.begin(), changes.end()), changes.end());
  std::vector<pod_row> all;
  for (std::size_t i = 0; i < changes.size();) {
    const sub_group_row sub = changes[i].first;
    std::vector<pod_row> gone;
    for (; i < changes.size() && changes[i].first == sub; ++i) gone.push_back(changes[i].second);
    all.insert(all.end(), gone.begin(), gone.end());
    if (sub != no_row) unlink_all(sub, gone);
  }
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  std::erase_if(all, [&](pod_row p) { return !s_.pods[p].live || s_.pods[p].group == no_row; });
  std::sort(all.begin(), all.end(), [&](pod_row a, pod_row b) {
    const auto place = [&](pod_row p) {
      return std::pair(s_.pods[p].sub, s_.pods[p].sub == no_row ? s_.pods[p].group : 0);
    };
    if (place(a) != place(b)) return place(a) < place(b);
    return task_before(a, b);
  });
  for (std::size_t i = 0; i < all.size();) {
    std::size_t end = i + 1;
    while (end < all.size() && s_.pods[all[end]].sub == s_.pods[all[i]].sub &&
           (s_.pods[all[i]].sub != no_row || s_.pods[all[end]].group == s_.pods[all[i]].group)) {
      ++end;
    }
    link_all(s_.pods[all[i]].sub, std::span(all).subspan(i, end - i));
    i = end;
  }
}

/// Takes a pod that belongs to no pod set off the list of its group.
void edit::unlink_stray(pod_row p) {
  if (s_.pods[p].group == no_row) return;
  settle_links();
  unlink_all(no_row, {p});
}

void edit::unlink_all(sub_group_row sub, const std::vector<pod_row>& gone) {
  // Strays (no_row) hang on the group of the pod; `gone` is sorted.
  const group_row stray_group = sub == no_row ? s_.pods[gone.front()].group : no_row;
  pod_row previous = no_row;
  pod_row p = sub == no_row ? s_.group_extras[stray_group].first_stray : s_.subs[sub].first_pod;
  const auto set_first = [&](pod_row first) {
    (sub == no_row ? s_.group_extras.write(stray_group).first_stray : s_.subs.write(sub).first_pod) = first;
  };
  while (p != no_row) {
    const pod_row next = s_.pods[p].next;
    if (std::binary_search(gone.begin(), gone.end(), p)) {
      if (previous == no_row)
        set_first(next);
      else
        s_.pods.write(previous).next = next;
      s_.pods.write(p).next = no_row;
    } else {
      previous = p;
    }
    p = next;
  }
  if (sub != no_row) s_.subs.write(sub).last_pod = previous;
}

void edit::link_all(sub_group_row sub, std::span<const pod_row> added) {
  if (sub == no_row) {
    const group_row g = s_.pods[added.front()].group;
    for (const pod_row p : added) {
      s_.pods.write(p).next = s_.group_extras[g].first_stray;
      s_.group_extras.write(g).first_stray = p;
    }
    return;
  }
  const pod_row last = s_.subs[sub].last_pod;
  // The usual case appends; else both sorted runs are merged from the start.
  pod_row previous = last != no_row && task_before(last, added.front()) ? last : no_row;
  pod_row next = previous == last && last != no_row ? no_row : s_.subs[sub].first_pod;
  for (const pod_row p : added) {
    while (next != no_row && task_before(next, p)) {
      previous = next;
      next = s_.pods[next].next;
    }
    if (previous == no_row)
      s_.subs.write(sub).first_pod = p;
    else
      s_.pods.write(previous).next = p;
    s_.pods.write(p).next = next;
    if (next == no_row) s_.subs.write(sub).last_pod = p;
    previous = p;
  }
}

std::vector<pod_row> edit::pods_of(group_row g) const {
  std::vector<pod_row> all;
  const group_core& group = s_.groups[g];
  for (sub_group_row sub = group.first_sub; sub < group.first_sub + group.sub_count; ++sub) {
    for (pod_row p = s_.subs[sub].first_pod; p != no_row; p = s_.pods[p].next) all.push_back(p);
  }
  for (pod_row p = s_.group_extras[g].first_stray; p != no_row; p = s_.pods[p].next) all.push_back(p);
  return all;
}

}  // namespace kaisched::model
