#include "actions/timetable.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "actions/actions.hpp"
#include "actions/runtime.hpp"
#include "base/unwinding.hpp"
#include "framework/members.hpp"

namespace kaisched::actions {

namespace {

using framework::failure;
using framework::session_state;

void finish(session_state& c, group_row group) {
  const model::group_core& g = c.state().groups[group];
  for (sub_group_row sub = g.first_sub; sub < g.first_sub + g.sub_count; ++sub) {
    for (pod_row p = c.state().subs[sub].first_pod; p != no_row; p = c.state().pods[p].next) {
      if (model::is_in(static_cast<pod_status>(c.live.pod_state[p]), model::active_allocated)) c.statement.finish(p);
    }
  }
}

/// Places the group in the statement. Nodes may be reserved for others: the time counts.
result<bool> place(session_state& c, group_row group, std::int64_t when) {
  if (when != unset) c.constraints.look_at(group, when);
  failure why;
  return place_group(c, group, {}, why);
}

std::int64_t devices_of(const session_state& c, pod_row pod) { return c.state().class_of(pod).whole_devices; }

/// Whole devices that pods of the group hold or have claims on.
std::int64_t devices_held(const session_state& c, group_row group) {
  const model::group_core& g = c.state().groups[group];
  std::int64_t sum = 0;
  for (sub_group_row sub = g.first_sub; sub < g.first_sub + g.sub_count; ++sub) {
    for (pod_row p = c.state().subs[sub].first_pod; p != no_row; p = c.state().pods[p].next) {
      if (model::is_in(static_cast<pod_status>(c.live.pod_state[p]), model::active_allocated)) sum += devices_of(c, p);
    }
  }
  return sum;
}

/// Of all nodes; where one holds more than it has, as after a loss, what it holds.
std::int64_t devices_there(const session_state& c) {
  const model::cluster_state& s = c.state();
  std::vector<std::int64_t> held(s.node_row_of_slot->size());
  for (pod_row p = 0; p < s.pod_slots; ++p) {
    const bool holds = s.pods[p].live && c.live.pod_node[p] != no_row &&
                       model::is_in(static_cast<pod_status>(c.live.pod_state[p]), model::active_allocated);
    if (holds) held[c.live.pod_node[p]] += devices_of(c, p);
  }
  std::int64_t sum = 0;
  for (node_row row = 0; row < s.node_count(); ++row) {
    const std::int64_t has = (*s.capacity)[std::size_t{row} * s.dims() + dim_gpu] / whole_device;
    sum += std::max(has, held[(*s.nodes)[row]->slot]);
  }
  return sum;
}

/// Time goes on in the statement: groups end, those with reservations begin, nodes are reserved for others or are not
/// any more.
class course {
 public:
  /// @param apart a group that neither ends nor begins, or `no_row`
  course(session_state& c, const std::vector<reservation>& made, group_row apart)
      : c_(c), start_(c.statement.depth()), apart_(apart) {
    for (const group_row g : c_.groups.in_order()) {
      if (g != apart && framework::count_pods(c_, g, &model::sub_counts::active_allocated) > 0)
        steps_.push_back({expected_end(c_, g), g, false, 0});
    }
    for (const reservation& one : made) {
      if (one.start == unset) continue;
      steps_.push_back({one.start, one.group, true, one.devices});
      steps_.push_back({one.end, one.group, false, one.devices});
    }
    std::int64_t change = c_.constraints.next_change(c_.now);
    for (std::size_t i = 0; i < most_reservation_changes && change != unset; ++i) {
      steps_.push_back({change, no_row, false, 0});
      change = c_.constraints.next_change(change);
    }
    std::stable_sort(steps_.begin(), steps_.end(), comes_before);
  }
  course(const course&) = delete;
  course& operator=(const course&) = delete;
  ~course() noexcept(false) {
    if (!unwinding_.is_under_way()) end();
  }
  /// It is now again, as for the statement. Objects whose destructors may not throw are ended in this way.
  void end() {
    if (std::exchange(is_over_, true)) return;
    c_.statement.rollback(start_);
    c_.constraints.look_at_now();
  }

  /// The earliest time at which the group has a place and delays no reservation. `start` is unset where nobody knows
  /// when that is; `group` is `no_row` where it has no place even when all others are gone.
  result<reservation> find(group_row group) {
    count_devices();
    std::int64_t asked = 0;
    for (const pod_row p : c_.chunks.chunk_of(group, false)) asked += devices_of(c_, p);
    for (std::size_t i = next_worth(0, group, asked); i < steps_.size(); i = next_worth(i + 1, group, asked)) {
      if (auto done = go_to(i + 1); !done) return done.failure();
      const std::uint32_t before = c_.statement.depth();
      result<bool> placed = place(c_, group, steps_[i].when);
      if (!placed) return placed.failure();
      reservation found{group, steps_[i].when, end_after(group, steps_[i].when), 0};
      for (std::uint32_t op = before; op < c_.statement.depth(); ++op)
        found.devices += devices_of(c_, c_.statement.log[op].pod);
      result<group_row> delayed = *placed ? go_on(i + 1, group, found.end) : result<group_row>(group);
      c_.statement.rollback(before);
      if (!delayed || *delayed == no_row) return delayed ? result<reservation>(found) : delayed.failure();
    }
    return reservation{};
  }

  /// From now on the group that was found begins and ends.
  void add(const reservation& one) {
    if (one.start == unset) return;
    const auto insert = [&](const step& s) {
      const auto at = std::upper_bound(steps_.begin(), steps_.end(), s, comes_before);
      const std::ptrdiff_t index = at - steps_.begin();
      free_.insert(free_.begin() + index, index == 0 ? at_first_ : free_[static_cast<std::size_t>(index) - 1]);
      steps_.insert(at, s);
      return static_cast<std::size_t>(index);
    };
    const std::size_t begin = insert({one.start, one.group, true, one.devices});
    const std::size_t end = insert({one.end, one.group, false, one.devices});
    for (std::size_t i = begin; i < end; ++i) free_[i] -= one.devices;
  }

  /// Carries steps out and ends the group, which has a place, at its time. Who has no place at its time, or `no_row`.
  result<group_row> go_on(std::size_t from, group_row group, std::int64_t end) {
    const auto last = std::find_if(steps_.rbegin(), steps_.rend(), [](const step& s) { return s.begins; });
    const auto count = static_cast<std::size_t>(steps_.rend() - last);
    bool is_there = true;
    for (std::size_t i = from; i < count; ++i) {
      if (is_there && end != unset && end <= steps_[i].when) {
        finish(c_, group);
        is_there = false;
      }
      result<bool> placed = carry_out(steps_[i]);
      if (!placed) return placed.failure();
      if (!*placed) return steps_[i].group;
    }
    return group_row{no_row};
  }

 private:
  struct step {
    std::int64_t when;     ///< unset: unknown, which is last
    group_row group;       ///< `no_row`: what is reserved for whom changes
    bool begins;           ///< after those that end at the same time
    std::int64_t devices;  ///< that it holds as a whole
  };

  static bool comes_before(const step& a, const step& b) {
    if (a.when != b.when) return a.when != unset && (b.when == unset || a.when < b.when);
    return !a.begins && b.begins;
  }

  /// Who takes no time is told to begin before it ends.
  [[nodiscard]] std::int64_t end_after(group_row group, std::int64_t when) const {
    const std::int64_t end = when == unset ? unset : expected_end(c_, group, when);
    return end == unset || end > when ? end : later_by(when, 1);
  }

  result<bool> carry_out(const step& s) {
    if (s.begins) return place(c_, s.group, s.when);
    if (s.group != no_row) finish(c_, s.group);
    return true;
  }

  /// The statement is as after so many steps.
  result<void> go_to(std::size_t steps) {
    if (steps < depth_.size()) {
      c_.statement.rollback(depth_[steps]);
      depth_.resize(steps);
    }
    while (depth_.size() < steps) {
      depth_.push_back(c_.statement.depth());
      if (result<bool> done = carry_out(steps_[depth_.size() - 1]); !done) return done.failure();
    }
    return {};
  }

  /// Whole devices that are free after each step, at most. More than these nobody gets, wherever they are.
  void count_devices() {
    if (!free_.empty()) return;
    at_first_ = devices_there(c_) - (apart_ == no_row ? 0 : devices_held(c_, apart_));
    std::vector<bool> has_begun(c_.state().group_slots, false);
    for (const step& s : steps_) {
      if (s.begins) has_begun[s.group] = true;
    }
    for (step& s : steps_) {
      if (s.begins || s.group == no_row || has_begun[s.group]) continue;
      s.devices = devices_held(c_, s.group);
      at_first_ -= s.devices;
    }
    std::int64_t left = at_first_;
    for (const step& s : steps_) free_.push_back(left += s.begins ? -s.devices : s.devices);
  }

  /// The next step, the last of its time, after which a group may have a place; the number of steps if there is none.
  [[nodiscard]] std::size_t next_worth(std::size_t from, group_row group, std::int64_t asked) const {
    for (std::size_t i = from; i < steps_.size(); ++i) {
      if ((i + 1 < steps_.size() && steps_[i + 1].when == steps_[i].when) || free_[i] < asked) continue;
      const std::int64_t end = end_after(group, steps_[i].when);
      std::size_t k = i + 1;
      while (k < steps_.size() && (end == unset || steps_[k].when < end) &&
             (steps_[k].when == unset || !steps_[k].begins || free_[k] >= asked)) {
        ++k;
      }
      if (k == steps_.size() || (end != unset && steps_[k].when >= end) || steps_[k].when == unset) return i;
      i = k - 1;  // whoever starts before this step is still there
    }
    return steps_.size();
  }

  session_state& c_;
  std::uint32_t start_;
  group_row apart_;
  bool is_over_ = false;
  base::unwinding unwinding_;
  std::vector<step> steps_;
  std::vector<std::uint32_t> depth_;  ///< of the statement before each step that has been carried out
  std::vector<std::int64_t> free_;    ///< by step; empty: not counted yet
  std::int64_t at_first_ = 0;
};

}  // namespace

bool lacks_room(session_state& c, const failure& of) {
  return of.what == constraint::none && of.pod != no_row &&
         !framework::is_satisfied(c, c.state().groups[of.group].first_sub) &&
         (!c.has_predicates || policy::judge_cluster(c.access, c.state().class_of(of.pod)).what == constraint::none);
}

void timetable::add(group_row group) {
  failure of;
  of.group = group;
  waiting_.push_back({of, false});
}

bool timetable::is_to_wait(const candidate& one) const {
  if (one.is_judged) return lacks_room(c_, one.why);
  return !framework::is_satisfied(c_, c_.state().groups[one.why.group].first_sub);
}

result<void> timetable::make_more() {
  const bool all = made_.size() > promised_;
  std::optional<course> time;
  const auto make = [&]() -> result<void> {
    while (has_more() && (all || made_.size() == promised_)) {
      const candidate& one = waiting_[next_++];
      if (!is_to_wait(one)) continue;
      const group_row group = one.why.group;
      const bool is_apart = framework::count_pods(c_, group, &model::sub_counts::active_allocated) > 0;
      if (is_apart || !time) {
        if (time) time->end();
        time.emplace(c_, made_, is_apart ? group : no_row);
      }
      const result<reservation> found = time->find(group);
      if (!found) return found.failure();
      const std::int64_t window = c_.options.backfill_window;
      const bool is_near = window == 0 || (found->start != unset && found->start <= later_by(c_.now, window));
      if (found->group != no_row && is_near) {
        made_.push_back(*found);
        time->add(*found);
      }
      if (is_apart) {
        time->end();
        time.reset();
      }
    }
    return {};
  };
  result<void> done = make();
  if (time) time->end();
  return done;
}

result<reservation> timetable::promise(group_row group, std::int64_t deadline) {
  const bool is_apart = framework::count_pods(c_, group, &model::sub_counts::active_allocated) > 0;
  result<reservation> found = course(c_, made_, is_apart ? group : no_row).find(group);
  if (!found || found->start == unset || found->end == unset || found->end > deadline) return found;
  made_.push_back(*found);
  ++promised_;
  return found;
}

/// Whatever the other needs can be taken from the group that the statement has placed.
bool timetable::yields(group_row group, group_row to) const {
  const model::group_core& mine = c_.state().groups[group];
  const model::group_core& first = c_.state().groups[to];
  if (mine.preemptible && (mine.queue != first.queue || mine.priority < first.priority)) return true;
  return std::all_of(c_.statement.log.begin(), c_.statement.log.end(), [&](const framework::operation& op) {
    const model::quota_vector asks = c_.queues.asked(c_.state().class_of(op.pod));
    return std::all_of(asks.begin(), asks.end(), [](std::int64_t amount) { return amount == 0; });
  });
}

result<group_row> timetable::delayed_by(group_row group, bool had_started) {
  std::int64_t first = unset;
  for (const reservation& one : made_) {
    if (one.start == unset && !yields(group, one.group)) return one.group;
    if (one.start != unset && (first == unset || one.start < first)) first = one.start;
  }
  if (first == unset) return group_row{no_row};
  const bool starts_now =
      std::all_of(c_.statement.log.begin(), c_.statement.log.end(),
                  [](const framework::operation& op) { return op.kind == framework::operation_kind::allocate; });
  const std::int64_t end =
      starts_now ? expected_end(c_, group, had_started ? c_.groups.last_start(group) : c_.now) : unset;
  if (end != unset && end <= first) return group_row{no_row};
  return course(c_, made_, group).go_on(0, group, end);
}

result<bool> is_head(session_state& c, const failure& of) {
  if (!lacks_room(c, of)) return false;
  const result<reservation> found = course(c, {}, of.group).find(of.group);
  if (!found) return found.failure();
  return found->group != no_row;
}

result<std::int64_t> earliest_start(session_state& c, group_row group) {
  c.prepare_classes();
  const std::uint32_t start = c.statement.depth();
  result<bool> at_once = place(c, group, unset);
  c.statement.rollback(start);
  if (!at_once) return at_once.failure();
  if (*at_once) return c.now;
  const result<reservation> found = course(c, {}, group).find(group);
  if (!found) return found.failure();
  return found->start;
}

}  // namespace kaisched::actions
