#include "simulation/player.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "model/snapshot_access.hpp"
#include "policy/predicates/reservations.hpp"
#include "simulation/input_check.hpp"

namespace kaisched::simulation {

// ---- record ---------------------------------------------------------------------------------------------------------

void record::add(std::int64_t time, std::uint8_t what, std::uint32_t subject, std::uint32_t other) {
  constexpr std::size_t enough = 4096;
  const std::array<std::uint64_t, 3> words{static_cast<std::uint64_t>(time), what,
                                           (static_cast<std::uint64_t>(subject) << 32U) | other};
  const std::size_t from = bytes_.size();
  bytes_.resize(from + sizeof words);
  std::byte* to = bytes_.data() + from;
  for (const std::uint64_t word : words) {
    for (unsigned shift = 0; shift < 64; shift += 8) *to++ = static_cast<std::byte>(word >> shift & 0xFFU);
  }
  if (bytes_.size() >= enough) flush();
}

std::string record::finish() {
  flush();
  return base::sha256::hex(hash_.finish());
}

void record::flush() {
  hash_.update(bytes_);
  bytes_.clear();
}

// ---- before the start -----------------------------------------------------------------------------------------------

namespace {

/// Sessions that place all jobs anew keep no places: where a job was is only where it would rather be.
engine decider(const engine& with, const simulation_options& options) {
  engine made = with.clone();
  if (options.replan) (void)made.set("nominations.timeout", "0");
  return made;
}

}  // namespace

player::player(cluster& over, const play& what, const engine& with, const simulation_options& options,
               const session_watcher& watcher)
    : cluster_(over),
      play_(what),
      jobs_(what.jobs.jobs),
      engine_(decider(with, options)),
      options_(options),
      watcher_(watcher),
      book_(what, options) {}

result<run_result> player::run() {
  if (auto fine = prepare(); !fine) return fine.take_failure();
  for (;;) {
    const std::int64_t next = next_moment();
    if (next == never || next >= last_moment()) break;
    now_ = next;
    happen();
    settle_jobs();
    if (auto done = decide(); !done) return done.take_failure();
    ask_pools();
    take_sample();
  }
  result_.end = next_moment() == never ? last_change_ : last_moment();
  for (std::uint32_t p = 0; p < pods_.size(); ++p) {
    if (pods_[p].where == whereabouts::on_node) note_stay(p, never);
  }
  book_.close(result_.end);
  result_.jobs = std::move(book_.outcomes());
  result_.quota_claims = quotas_->until(result_.end);
  result_.idle_refusals = idle_.until(result_.end);
  result_.digest = record_.finish();
  result_.levels = distances_->levels();
  result_.power = power_->until(result_.end);
  return std::move(result_);
}

result<void> player::prepare() {
  if (auto fine = check_play(cluster_, play_, options_); !fine) return fine;
  if (auto named = name_devices(cluster_.take_snapshot()); !named) return named;
  const snapshot first = cluster_.take_snapshot();
  prepare_jobs(model::state_of(first));
  if (auto done = prepare_nodes(first); !done) return done;
  std::vector<policy::table_column> told = policy::told_columns(model::state_of(first));
  for (const policy::table_column& column : columns_of_jobs(model::state_of(first))) told.push_back(column);
  std::sort(told.begin(), told.end());
  result_.unread = policy::unread_columns(engine_.options(), told);
  return {};
}

std::vector<policy::table_column> player::columns_of_jobs(const model::cluster_state& s) const {
  std::vector<policy::table_column> columns;
  const auto note = [&](std::uint32_t column, auto&& says) {
    if (std::any_of(jobs_.begin(), jobs_.end(), says)) columns.push_back({table_kind::pod_group, column});
  };
  note(col::pod_group_priority, [&](const job& j) { return j.priority != jobs_.front().priority; });
  note(col::pod_group_preemptible, [](const job& j) { return !j.preemptible; });
  note(col::pod_group_deadline, [](const job& j) { return j.deadline != unknown_time; });
  note(col::pod_group_min_member, [](const job& j) {
    std::uint64_t pods = 0;
    for (const pod_shape& shape : j.pods) pods += shape.count;
    return j.min_pods == 0 ? pods > 1 : j.min_pods > 1;
  });
  note(col::pod_group_runtime_estimate, [&](const job& j) {  // with reservations of nodes all policies look at it
    return s.reservations->empty() && options_.estimates != told_times::none &&
           (options_.estimates != told_times::given || j.estimate != unknown_time);
  });
  if (!level_.empty()) columns.push_back({table_kind::pod_group, col::pod_group_preferred_level});
  if (options_.usage_half_life > 0) columns.push_back({table_kind::queue, col::queue_usage});
  return columns;
}

void player::prepare_jobs(const model::cluster_state& s) {
  std::uint64_t pods = 0;
  first_pod_.reserve(jobs_.size() + 1);
  for (std::uint32_t j = 0; j < jobs_.size(); ++j) {
    first_pod_.push_back(static_cast<std::uint32_t>(pods));
    pods += book_[j].pods;
  }
  first_pod_.push_back(static_cast<std::uint32_t>(pods));
  pods_.reserve(pods);
  std::map<std::string_view, std::uint32_t> queues;
  for (std::uint32_t j = 0; j < jobs_.size(); ++j) {
    queues.emplace(jobs_[j].queue.empty() ? std::string_view(options_.queue) : std::string_view(jobs_[j].queue), 0U);
    for (const pod_shape& shape : jobs_[j].pods) {
      for (std::uint32_t k = 0; k < shape.count; ++k) {
        pod_entry& p = pods_.emplace_back();
        p.job = j;
        p.number = static_cast<std::uint32_t>(pods_.size() - 1) - first_pod_[j];
        p.gpus = shape.gpus;
        p.cpu = shape.cpu;
      }
    }
  }
  for (const job& one : jobs_) {
    for (const std::string& entry : one.after) {
      if (const result<model::after_entry> read = model::parse_after(entry)) named_.insert(read->group);
    }
  }
  std::vector<std::string_view> names;
  for (auto& [name, number] : queues) {
    number = static_cast<std::uint32_t>(names.size());
    names.push_back(name);
  }
  for (const job& one : jobs_) {
    queue_of_job_.push_back(
        queues.at(one.queue.empty() ? std::string_view(options_.queue) : std::string_view(one.queue)));
  }
  const std::vector<queue_share> shares = play_.shares.empty() ? shares_of(cluster_) : play_.shares;
  shares_.emplace(shares, names);
  quotas_.emplace(shares, names);
  claim_of_job_.resize(jobs_.size(), 0);
  if (options_.notes_changes) result_.queues = share_meter::queues_with(shares, names);
  if (options_.usage_half_life > 0 && !options_.one_queue) {
    usage_.emplace(s, names, options_.usage_half_life, std::int64_t{0});
  }
  reservations_ = *s.reservations;
  only_starts_ = can_only_start();
  const std::vector<std::string>& parts = engine_.options().parts;
  tells_checkpoints_ = std::find(parts.begin(), parts.end(), "lost_work") != parts.end();
  for (std::uint32_t j = 0; j < jobs_.size() && only_starts_; ++j) need_of_job_.push_back(need_of(j));
  touched_job_.resize(jobs_.size(), false);
  times_.resize(jobs_.size());
}

/// Devices of which nothing is said cannot fail: nodes that lose some get rows for all of theirs.
result<void> player::name_devices(const snapshot& first) {
  const model::cluster_state& s = model::state_of(first);
  table rows(table_kind::device, table_op::add);
  table::column& of = rows.add(col::device_node, column_type::string);
  table::column& index = rows.add(col::device_index, column_type::u32);
  std::set<std::string_view> done;
  for (const outage& o : play_.outages) {
    if (o.devices.empty() || !done.insert(o.node).second) continue;
    const node_row row = *first.row_of(*cluster_.find(entity_kind::node, o.node), entity_kind::node);
    const model::node_info& node = *(*s.nodes)[row];
    if (!node.devices.empty()) continue;
    for (std::uint32_t d = 0; d < node.device_count(); ++d) {
      of.push(std::string_view(o.node));
      index.push(d);
    }
  }
  if (rows.rows() == 0) return {};
  const table_view view = rows.view();
  return cluster_.apply(std::span(&view, 1));
}

result<void> player::prepare_nodes(const snapshot& first) {
  const model::cluster_state& s = model::state_of(first);
  gpus_.emplace(s, play_.jobs);
  power_.emplace(s);
  distances_.emplace(s);
  const model::topology_info* const by = distances::topology_of(s);
  if (options_.preferred_level.empty() && options_.near && by != nullptr) {
    level_ = distances_->lowest_shared(*by);
    if (!level_.empty()) topology_ = by->name;
  }
  if (!options_.preferred_level.empty()) {
    level_ = options_.preferred_level;
    const bool known =
        by != nullptr && std::find(by->levels.begin(), by->levels.end(), options_.preferred_level) != by->levels.end();
    if (!known)
      return error{status::argument,
                   fmt::format("option preferred_level: the topology of the cluster has no level '{}'",
                               options_.preferred_level),
                   {}};
    topology_ = by->name;
  }
  nodes_.resize(s.node_row_of_slot->size());
  std::vector<std::string> gpu_models(nodes_.size());
  for (node_row row = 0; row < s.node_count(); ++row) {
    const model::node_info& told = *(*s.nodes)[row];
    node_entry& made = nodes_[told.slot];
    made.name = told.name;
    made.was_ready = told.ready;
    made.was_cordoned = told.unschedulable;
    made.gpus = (*s.capacity)[std::size_t{row} * s.dims() + dim_gpu];
    if (told.ready) gpus_there_ += made.gpus;
    for (const auto& [key, value] : told.labels) {
      if (key == options_.model_label) gpu_models[told.slot] = value;
    }
  }
  book_.learn_gpu_models(gpu_models);
  const auto slot_of = [&](const std::string& name) { return cluster_.find(entity_kind::node, name)->slot(); };
  for (std::uint32_t i = 0; i < play_.outages.size(); ++i) {
    const outage& o = play_.outages[i];
    outages_.push_back(slot_of(o.node));
    node_entry& node = nodes_[outages_.back()];
    node.can_fail = true;
    if (!o.devices.empty()) {
      const node_row row = (*s.node_row_of_slot)[outages_.back()];
      const auto from = s.capacity->begin() + static_cast<std::ptrdiff_t>(std::size_t{row} * s.dims());
      node.capacity.assign(from, from + s.dims());
    }
    if (o.notice > 0) events_.add(std::max<std::int64_t>(0, o.from - o.notice), event_kind::node_is_cordoned, i, 0, 0);
    events_.add(o.from, event_kind::node_goes, i, 0, 0);
    if (o.to != never) events_.add(o.to, event_kind::node_comes, i, 0, 0);
  }
  for (std::uint32_t i = 0; i < play_.pools.size(); ++i) {
    const node_pool& told = play_.pools[i];
    pool_entry& made = pools_.emplace_back();
    made.stamps.resize(told.nodes.size());
    made.comes.resize(told.nodes.size());
    for (std::uint32_t k = 0; k < told.nodes.size(); ++k) {
      const std::uint32_t slot = slot_of(told.nodes[k]);
      made.slots.push_back(slot);
      nodes_[slot].pool = i;
      if (k < told.least) {
        ++made.on;
        continue;
      }
      nodes_[slot].is_off = true;
      count_node(slot, -1);
      tell_node(slot);
    }
  }
  return {};
}

// ---- time -----------------------------------------------------------------------------------------------------------

std::int64_t player::last_moment() const {
  const std::int64_t most = latest_time - options_.begin;
  return options_.horizon == never ? most : std::min(options_.horizon, most);
}

/// An event of a plan that has been given up does not happen, and is no moment.
bool player::is_outdated(const event& e) const {
  switch (e.kind) {
    case event_kind::job_ends:
      return !book_[e.subject].live || book_[e.subject].stamp != e.stamp;
    case event_kind::pod_has_left:
      return pods_[e.subject].where != whereabouts::leaves || pods_[e.subject].stamp != e.stamp;
    case event_kind::node_is_on:
    case event_kind::node_is_idle:
      return pools_[e.subject].stamps[e.other] != e.stamp;
    case event_kind::node_comes:
    case event_kind::node_is_cordoned:
    case event_kind::node_goes:
      return false;
  }
  return false;
}

std::int64_t player::next_moment() {
  while (!events_.empty() && is_outdated(events_.next())) events_.take();
  std::int64_t next = never;
  const auto earlier = [&](std::int64_t t) {
    if (t != never && (next == never || t < next)) next = t;
  };
  if (!events_.empty()) earlier(events_.next().time);
  if (next_job_ < jobs_.size()) earlier(jobs_[next_job_].submit);
  earlier(session_due_);
  reserved_due_ = is_over() ? never : next_reserved_time();
  earlier(reserved_due_);
  return next;
}

/// The next time at which nodes are reserved, or are not any more, while somebody waits, or at which others leave them.
std::int64_t player::next_reserved_time() const {
  const std::int64_t after = options_.begin + now_;
  std::int64_t next = never;
  for (const model::reservation_info& one : reservations_) {
    const std::optional<policy::reserved_time> when = policy::reserved_at(one, after);
    if (!when) continue;
    const auto note = [&](std::int64_t time) {
      const bool counts = time != unset && time > after && time - options_.begin <= last_moment();
      if (counts && (next == never || time - options_.begin < next)) next = time - options_.begin;
    };
    const bool others_leave = one.evict_before != unset && jobs_running_ > 0;
    if (pods_waiting_ > 0 || others_leave) {
      note(when->start);
      note(when->end);  // the next time may be near by then
    }
    if (others_leave && when->start >= std::numeric_limits<std::int64_t>::min() + one.evict_before)
      note(when->start - one.evict_before);
  }
  return next;
}

void player::happen() {
  changed_ = changed_ || now_ == reserved_due_;
  while (!events_.empty() && events_.next().time == now_) {
    const event next = events_.take();
    if (!is_outdated(next)) happens(next);
  }
  for (; next_job_ < jobs_.size() && jobs_[next_job_].submit == now_; ++next_job_) arrive(next_job_);
}

void player::happens(const event& e) {
  switch (e.kind) {
    case event_kind::job_ends:
      end_job(e.subject);
      return;
    case event_kind::pod_has_left:
      has_left(e.subject);
      return;
    case event_kind::node_is_cordoned:
      node_is_cordoned(e.subject);
      return;
    case event_kind::node_goes:
      node_goes(e.subject);
      return;
    case event_kind::node_comes:
      node_comes(e.subject);
      return;
    case event_kind::node_is_on:
      node_is_on(e.subject, e.other);
      return;
    case event_kind::node_is_idle:
      node_is_idle(e.subject, e.other);
      return;
  }
}

void player::note_change(std::uint8_t what, std::uint32_t subject, std::uint32_t other) {
  record_.add(now_, what, subject, other);
  if (options_.notes_changes && (what == 's' || what == 'x' || what == 'm')) {
    const change next{now_, static_cast<char>(what), pods_[subject].job, other};
    if (result_.changes.empty() || result_.changes.back() != next) result_.changes.push_back(next);
  }
  last_change_ = now_;
  idle_sessions_ = 0;
}

void player::take_sample() {
  power_->note_peaks();
  quotas_->note(now_);
  if (options_.notes_changes) shares_->note(now_, result_.queue_timeline);
  const sample made{now_,          gpus_held_,    gpus_wanted_,        gpus_there_,
                    jobs_running_, jobs_waiting_, gpus_->fragmented(), shares_->misplaced()};
  if (!result_.timeline.empty()) {
    sample same = result_.timeline.back();
    same.time = now_;
    if (same == made) return;
    if (result_.timeline.back().time == now_) result_.timeline.pop_back();
  }
  result_.timeline.push_back(made);
}

}  // namespace kaisched::simulation
