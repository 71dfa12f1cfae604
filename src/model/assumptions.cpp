#include "model/assumptions.hpp"

#include <algorithm>
#include <utility>

#include <kaisched/quantity.hpp>
#include <kaisched/schema.hpp>

#include "base/mask.hpp"

namespace kaisched::model {

namespace {

bool is_live_pod(const cluster_state& s, entity_id pod) {
  return pod.slot() < s.pod_slots && s.pods[pod.slot()].live && id_of_pod(s, pod.slot()) == pod;
}
bool is_live_group(const cluster_state& s, entity_id group) {
  return group.slot() < s.group_slots && s.groups[group.slot()].live && id_of_group(s, group.slot()) == group;
}

std::string_view node_name(const cluster_state& s, std::uint32_t slot) {
  return (*s.nodes)[(*s.node_row_of_slot)[slot]]->name;
}

bool leaves(decision_kind kind) { return kind == decision_kind::evict || kind == decision_kind::move; }

table delta(table_kind kind, table_op op) {
  return table(static_cast<std::uint32_t>(kind), static_cast<std::uint32_t>(op));
}
table::column& text_column(table& t, std::uint32_t id) { return t.add(id, column_type::string, 0); }
table::column& list_column(table& t, std::uint32_t id) { return t.add(id, column_type::string_list, 0); }
table::column& index_column(table& t, std::uint32_t id) { return t.add(id, column_type::i64_list, 0); }

/// Pods that only change their status, and keep the devices that they have, known or not.
class status_rows {
 public:
  void add(const cluster_state& s, pod_row p, pod_status to) {
    name_.push(s.pod_names[p]);
    status_.push(static_cast<std::uint8_t>(to));
    const std::uint64_t mask = s.live.pod_devices[p].mask;
    devices_.push_list(mask == 0 ? std::vector<std::int64_t>{unknown_devices} : base::indices_of(mask));
  }
  [[nodiscard]] table take() { return std::move(rows_); }

 private:
  table rows_ = delta(table_kind::pod, table_op::change);
  table::column& name_ = text_column(rows_, col::pod_name);
  table::column& status_ = rows_.add(col::pod_status_column, column_type::u8);
  table::column& devices_ = index_column(rows_, col::pod_devices);
};

/// Pods, or stand-ins for them, that get a place.
class place_rows {
 public:
  explicit place_rows(table_op op) : rows_(delta(table_kind::pod, op)) {}
  void add(const cluster_state& s, std::string_view pod, const tentative& what, pod_status as) {
    name_.push(pod);
    status_.push(static_cast<std::uint8_t>(as));
    node_.push(node_name(s, what.node));
    devices_.push_list(base::indices_of(what.devices));
    zones_.push_list(base::indices_of(what.zones));
    grants_.push_list(std::vector<std::string_view>(what.grants.begin(), what.grants.end()));
  }
  [[nodiscard]] table take() { return std::move(rows_); }

 protected:
  table rows_;

 private:
  table::column& name_ = text_column(rows_, col::pod_name);
  table::column& status_ = rows_.add(col::pod_status_column, column_type::u8);
  table::column& node_ = text_column(rows_, col::pod_node);
  table::column& devices_ = index_column(rows_, col::pod_devices);
  table::column& zones_ = index_column(rows_, col::pod_numa_zones);
  table::column& grants_ = list_column(rows_, col::pod_device_grants);
};

/// Pods without a group that hold what migrating pods are to have.
class stand_in_rows : public place_rows {
 public:
  explicit stand_in_rows(std::uint32_t dims) : place_rows(table_op::add), dims_(dims) {}
  void add(const cluster_state& s, std::string_view name, const tentative& what) {
    const pod_ask& ask = s.class_of(what.pod).ask;
    place_rows::add(s, name, what, pod_status::binding);
    for (std::uint32_t d = 0; d < dims_; ++d) request_.push(s.class_of(what.pod).requests(d));
    device_count_.push(ask.device_count);
    gpu_memory_.push(ask.gpu_memory);
    qos_.push(qos_name(ask.qos));
    sharing_.push(sharing_name(ask.sharing));
    labels_.push_raw(s.pod_extras[what.pod].labels);
    host_ports_.push_raw(ask.host_ports);
    containers_.push_raw(ask.containers);
    device_requests_.push_raw(ask.device_requests);
    annotations_.push_raw(ask.annotations);
  }

 private:
  std::uint32_t dims_;
  table::column& request_ = rows_.add(col::pod_request, column_type::i64, dims_);
  table::column& device_count_ = rows_.add(col::pod_device_count, column_type::u32);
  table::column& gpu_memory_ = rows_.add(col::pod_gpu_memory, column_type::i64);
  table::column& qos_ = text_column(rows_, col::pod_qos);
  table::column& sharing_ = text_column(rows_, col::pod_sharing);
  table::column& labels_ = list_column(rows_, col::pod_labels);
  table::column& host_ports_ = list_column(rows_, col::pod_host_ports);
  table::column& containers_ = list_column(rows_, col::pod_containers);
  table::column& device_requests_ = list_column(rows_, col::pod_device_requests);
  table::column& annotations_ = list_column(rows_, col::pod_annotations);
};

/// Pods for which places are kept, or none any more. The host has nothing to report on them.
class nomination_rows {
 public:
  void add(const cluster_state& s, pod_row pod, std::uint32_t node, std::int64_t since) {
    name_.push(s.pod_names[pod]);
    node_.push(node == no_row ? std::string_view{} : node_name(s, node));
    since_.push(node == no_row ? unset : since);
  }
  void add(const cluster_state& s, const tentative_nomination& what, std::int64_t now) {
    add(s, what.pod, what.node, now);
    if (static_cast<pod_status>(s.live.pod_state[what.pod]) != pod_status::pipelined) return;
    waiting_name_.push(s.pod_names[what.pod]);
    waiting_status_.push(static_cast<std::uint8_t>(pod_status::pending));
    waiting_node_.push(std::string_view{});
  }
  [[nodiscard]] table take_waiting() { return std::move(waiting_); }
  [[nodiscard]] table take() { return std::move(rows_); }

 private:
  table rows_ = delta(table_kind::pod, table_op::change);
  table::column& name_ = text_column(rows_, col::pod_name);
  table::column& node_ = text_column(rows_, col::pod_nominated_node);
  table::column& since_ = rows_.add(col::pod_nominated_since, column_type::i64);
  table waiting_ = delta(table_kind::pod, table_op::change);  ///< those that the host has told to be pipelined
  table::column& waiting_name_ = text_column(waiting_, col::pod_name);
  table::column& waiting_status_ = waiting_.add(col::pod_status_column, column_type::u8);
  table::column& waiting_node_ = text_column(waiting_, col::pod_node);
};

class removed_rows {
 public:
  void add(std::string_view pod) { name_.push(pod); }
  [[nodiscard]] table take() { return std::move(rows_); }

 private:
  table rows_ = delta(table_kind::pod, table_op::remove);
  table::column& name_ = text_column(rows_, col::pod_name);
};

class searched_rows {
 public:
  void add(std::string_view group, std::int64_t bits) {
    name_.push(group);
    bits_.push(bits);
  }
  [[nodiscard]] table take() { return std::move(rows_); }

 private:
  table rows_ = delta(table_kind::pod_group, table_op::change);
  table::column& name_ = text_column(rows_, col::pod_group_name);
  table::column& bits_ = rows_.add(col::pod_group_searched, column_type::i64);
};

class group_rows {
 public:
  void add(std::string_view group, const std::array<std::int64_t, 3>& times) {
    name_.push(group);
    start_.push(times[0]);
    eviction_.push(times[1]);
    evictions_.push(times[2]);
  }
  [[nodiscard]] table take() { return std::move(rows_); }

 private:
  table rows_ = delta(table_kind::pod_group, table_op::change);
  table::column& name_ = text_column(rows_, col::pod_group_name);
  table::column& start_ = rows_.add(col::pod_group_last_start, column_type::i64);
  table::column& eviction_ = rows_.add(col::pod_group_last_eviction, column_type::i64);
  table::column& evictions_ = rows_.add(col::pod_group_evictions, column_type::i64);
};

using texts = std::vector<std::string_view>;

class claim_rows {
 public:
  void add(std::string_view claim, const texts& devices, const texts& users, std::string_view node,
           const texts& results) {
    name_.push(claim);
    devices_.push_list(devices);
    users_.push_list(users);
    node_.push(node);
    results_.push_list(results);
  }
  [[nodiscard]] table take() { return std::move(rows_); }

 private:
  table rows_ = delta(table_kind::resource_claim, table_op::change);
  table::column& name_ = text_column(rows_, col::resource_claim_name);
  table::column& devices_ = list_column(rows_, col::resource_claim_devices);
  table::column& users_ = list_column(rows_, col::resource_claim_reserved_for);
  table::column& node_ = text_column(rows_, col::resource_claim_node);
  table::column& results_ = list_column(rows_, col::resource_claim_results);
};

void keep(std::vector<table>& all, table one) {
  if (one.rows() > 0) all.push_back(std::move(one));
}

/// The tables of a report, as they grow.
struct report_rows {
  removed_rows removed;
  status_rows changed;
  place_rows moved{table_op::change};
  nomination_rows nominated;
  /// By claim the pods that do not use it, and whether they had joined its users.
  std::map<std::string_view, std::map<std::string_view, bool>> leave_claims;

  void end_stand_in(const cluster_state& s, entity_id stand_in) {
    if (stand_in && is_live_pod(s, stand_in)) removed.add(s.pod_names[stand_in.slot()]);
  }
};

std::array<std::int64_t, 3> times_of(const cluster_state& s, group_row g) {
  const group_extra& extra = s.group_extras[g];
  return {extra.last_start, extra.last_eviction, extra.evictions};
}

}  // namespace

std::string stand_in_name(std::string_view pod) { return std::string(pod) + "~copy"; }

bool assumptions::holds(const cluster_state& s, entity_id pod, const entry& e) {
  if (!is_live_pod(s, pod)) return false;
  const auto is = static_cast<pod_status>(s.live.pod_state[pod.slot()]);
  const std::uint32_t at = s.live.pod_node[pod.slot()];
  if (e.what.kind == decision_kind::bind) return is == pod_status::binding && at == e.what.node;
  if (e.what.kind == decision_kind::migrate) return is_in(is, active_allocated) && at == e.node_before;
  return is == pod_status::releasing && at == e.node_before;
}

bool assumptions::is_open(const cluster_state& s, entity_id pod) const {
  const auto found = open_.find(pod);
  return found != open_.end() && holds(s, pod, found->second);
}

bool assumptions::migrates(const cluster_state& s, entity_id group) const {
  return has_stand_ins() && std::any_of(open_.begin(), open_.end(), [&](const auto& one) {
           return one.second.group == group && one.second.what.kind == decision_kind::migrate &&
                  holds(s, one.first, one.second);
         });
}

std::vector<assumption> assumptions::list(const cluster_state& s) const {
  std::vector<assumption> all;
  for (const auto& [pod, e] : open_) {
    if (holds(s, pod, e)) all.push_back({pod, e.group, e.what.kind, e.node, e.lost});
  }
  return all;
}

/// What is known of the group, to be changed by the step.
assumptions::group_entry& assumptions::touch(const cluster_state& s, entity_id group, step& to) const {
  const auto [at, is_new] = to.groups.try_emplace(group);
  if (!is_new) return at->second;
  if (const auto known = groups_.find(group); known != groups_.end()) {
    at->second = known->second;
  } else {
    at->second.before = at->second.now = times_of(s, group.slot());
  }
  return at->second;
}

assumptions::step assumptions::take(const cluster_state& s, const name_maps& names, const tentative_set& what) const {
  step made = follow_host(s);
  status_rows leaving;
  place_rows starting(table_op::change);
  stand_in_rows copies(s.dims());
  for (const tentative& one : what.pods) {
    const entity_id pod = id_of_pod(s, one.pod);
    const entity_id group = id_of_group(s, s.pods[one.pod].group);
    entry& e = made.open[pod];
    e.what = one;
    e.commit = (taken_ << 32U) | one.commit;
    e.group = group;
    e.node = entity_id(entity_kind::node, (*s.node_generation)[one.node], one.node);
    e.before = static_cast<pod_status>(s.live.pod_state[one.pod]);
    e.node_before = s.live.pod_node[one.pod];
    group_entry& known = touch(s, group, made);
    if (known.open == 0)
      known = {times_of(s, group.slot()), times_of(s, group.slot())};  // the host has ended the others
    ++known.open;
    if (leaves(one.kind)) {
      leaving.add(s, one.pod, pod_status::releasing);
    } else if (one.kind == decision_kind::migrate) {
      e.stand_in = stand_in_name(s.pod_names[one.pod]);
      copies.add(s, e.stand_in, one);
    } else {
      starting.add(s, s.pod_names[one.pod], one, pod_status::binding);
    }
  }
  nomination_rows nominated;
  for (const tentative_nomination& one : what.nominations) {
    nominated.add(s, one, what.now);
    made.nominations[(taken_ << 32U) | one.commit].push_back(
        {id_of_pod(s, one.pod), s.pod_extras[one.pod].nominated, s.told_of(one.pod).nominated_since, one.node});
  }
  group_rows timed;
  for (const tentative_group& one : what.groups) {
    group_entry& known = touch(s, id_of_group(s, one.group), made);
    known.now = times_of(s, one.group);
    if (one.starts) known.now[0] = what.now;
    if (one.is_evicted) known.now[1] = what.now;
    if (one.is_evicted) ++known.now[2];
    if (one.starts || one.is_evicted) timed.add(s.group_names[one.group], known.now);
  }
  claim_rows claims;
  for (const tentative_claim& one : what.claims) {
    const claim_info& is = *s.claims[names.claims.find(one.name)];
    texts users = split_list(is.reserved_for);
    for (const pod_row user : one.users) {
      const bool joins = std::find(users.begin(), users.end(), s.pod_names[user]) == users.end();
      if (joins) users.push_back(s.pod_names[user]);
      made.open[id_of_pod(s, user)].claims.emplace_back(one.name, joins);
    }
    if (is.devices.empty() && is.results_text.empty()) made.new_claims.emplace(one.name, join_list(one.devices));
    claims.add(one.name, texts(one.devices.begin(), one.devices.end()), users, one.node,
               texts(one.results.begin(), one.results.end()));
  }
  keep(made.tables, nominated.take_waiting());
  keep(made.tables, leaving.take());
  keep(made.tables, nominated.take());
  keep(made.tables, claims.take());
  keep(made.tables, starting.take());
  keep(made.tables, copies.take());
  keep(made.tables, timed.take());
  searched_rows searched;
  for (const auto& [group, bits] : what.searched) searched.add(s.group_names[group], bits);
  keep(made.tables, searched.take());
  return complete(std::move(made));
}

assumptions::step assumptions::follow_host(const cluster_state& s) const {
  step made;
  report_rows rows;
  for (const auto& [pod, e] : open_) {
    if (holds(s, pod, e)) continue;
    made.closed.push_back(pod);
    group_entry& group = touch(s, e.group, made);
    --group.open;
    group.happened = true;
    rows.end_stand_in(s, e.stand_in_pod);
  }
  close_groups(s, made);
  keep(made.tables, rows.removed.take());
  return complete(std::move(made));
}

/// Groups on which nothing is open any more get their times back if nothing happened.
void assumptions::close_groups(const cluster_state& s, step& to) const {
  group_rows timed;
  for (auto& [group, known] : to.groups) {
    if (known.open > 0) continue;
    to.closed_groups.push_back(group);
    if (known.happened || !is_live_group(s, group) || known.now == known.before) continue;
    if (times_of(s, group.slot()) == known.now) timed.add(s.group_names[group.slot()], known.before);
  }
  keep(to.tables, timed.take());
}

/// What was to leave for these places stays.
std::vector<assumptions::nomination> assumptions::given_up(const cluster_state& s, commit_number commit,
                                                           step& to) const {
  std::vector<nomination> found;
  const auto known = nominations_.find(commit);
  const auto& ended = to.ended_nominations;
  if (known == nominations_.end() || std::find(ended.begin(), ended.end(), commit) != ended.end()) return found;
  to.ended_nominations.push_back(commit);
  for (nomination one : known->second) {
    if (!is_live_pod(s, one.pod) || s.pod_extras[one.pod.slot()].nominated != one.now) continue;
    if (one.before != no_row && (*s.node_row_of_slot)[one.before] == no_row) one.before = no_row;
    found.push_back(one);
  }
  return found;
}

assumptions::step assumptions::report(const cluster_state& s, const name_maps& names, std::span<const entity_id> pods,
                                      report_kind outcome) const {
  step made;
  report_rows rows;
  const std::set<entity_id> all(pods.begin(), pods.end());
  for (const entity_id pod : all) {
    const auto found = open_.find(pod);
    if (found == open_.end()) continue;
    const entry& e = found->second;
    const bool stands = holds(s, pod, e);  // else the host has told otherwise since
    if (stands && outcome == report_kind::lost && !leaves(e.what.kind)) {
      made.open.emplace(pod, e).first->second.lost = true;
      continue;
    }
    made.closed.push_back(pod);
    group_entry& group = touch(s, e.group, made);
    --group.open;
    group.happened = group.happened || !stands || outcome != report_kind::failed;
    rows.end_stand_in(s, e.stand_in_pod);
    if (outcome == report_kind::failed) {
      for (const nomination& one : given_up(s, e.commit, made))
        rows.nominated.add(s, one.pod.slot(), one.before, one.since_before);
    }
    if (!stands) continue;
    const bool happened = outcome == report_kind::done;
    if (leaves(e.what.kind)) {
      if (!happened) rows.changed.add(s, pod.slot(), e.before);
    } else if (e.what.kind == decision_kind::migrate) {
      if (happened) rows.moved.add(s, s.pod_names[pod.slot()], e.what, pod_status::bound);
    } else {
      rows.changed.add(s, pod.slot(), happened ? pod_status::bound : e.before);
      for (const auto& [claim, joined] : e.claims) {
        if (happened) {
          made.closed_claims.push_back(claim);
        } else {
          rows.leave_claims[claim].emplace(s.pod_names[pod.slot()], joined);
        }
      }
    }
  }
  claim_rows claims;
  for (const auto& [claim, who] : rows.leave_claims) {
    const std::uint32_t slot = names.claims.find(claim);
    if (slot == base::name_map::none) continue;
    const claim_info& is = *s.claims[slot];
    texts users = split_list(is.reserved_for);
    const bool unused =
        std::all_of(users.begin(), users.end(), [&](std::string_view user) { return who.contains(user); });
    std::erase_if(users, [&](std::string_view user) { return who.contains(user) && who.at(user); });
    const auto given = new_claims_.find(claim);
    const bool gives_back = unused && given != new_claims_.end() && given->second == is.devices;
    if (unused) made.closed_claims.emplace_back(claim);
    claims.add(claim, gives_back ? texts{} : split_list(is.devices), users, gives_back ? std::string_view{} : is.node,
               gives_back ? texts{} : split_list(is.results_text));
  }
  keep(made.tables, rows.removed.take());
  keep(made.tables, rows.changed.take());
  keep(made.tables, rows.moved.take());
  keep(made.tables, rows.nominated.take());
  keep(made.tables, claims.take());
  close_groups(s, made);
  return complete(std::move(made));
}

assumptions::step assumptions::complete(step made) const {
  made.open_commits.reserve(open_.size() + made.open.size());
  return made;
}

void assumptions::finish(step done, const cluster_state& s, const name_maps& names) noexcept {
  const auto renew = [](auto& kept, auto& fresh) {
    for (const auto& [key, unused] : fresh) kept.erase(key);
    kept.merge(fresh);
  };
  for (auto& [pod, e] : done.open) {
    if (e.stand_in.empty() || e.stand_in_pod) continue;
    const std::uint32_t slot = names.pods.find(e.stand_in);
    if (slot != base::name_map::none) e.stand_in_pod = id_of_pod(s, slot);
  }
  for (const entity_id pod : done.closed) open_.erase(pod);  // before the new ones: a pod may be decided on again
  if (!done.open.empty() || !done.nominations.empty()) ++taken_;
  renew(open_, done.open);
  renew(groups_, done.groups);
  new_claims_.merge(done.new_claims);
  for (const entity_id group : done.closed_groups) {
    if (const auto at = groups_.find(group); at != groups_.end() && at->second.open == 0) groups_.erase(at);
  }
  for (const std::string& claim : done.closed_claims) {
    if (const auto at = new_claims_.find(claim); at != new_claims_.end()) new_claims_.erase(at);
  }
  for (const commit_number commit : done.ended_nominations) nominations_.erase(commit);
  nominations_.merge(done.nominations);
  std::vector<commit_number>& open = done.open_commits;
  for (const auto& [pod, e] : open_) open.push_back(e.commit);
  std::sort(open.begin(), open.end());
  std::erase_if(nominations_,
                [&](const auto& one) { return !std::binary_search(open.begin(), open.end(), one.first); });
  stand_ins_ = static_cast<std::size_t>(
      std::count_if(open_.begin(), open_.end(), [](const auto& one) { return !one.second.stand_in.empty(); }));
}

}  // namespace kaisched::model
