#include "actions/node_promises.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <tuple>
#include <utility>

#include "actions/placement.hpp"
#include "actions/runtime.hpp"
#include "framework/members.hpp"

namespace kaisched::actions {

namespace {

using framework::node_set;
using framework::session_state;

constexpr std::int64_t for_ever = std::numeric_limits<std::int64_t>::max();

bool is_subset(const node_set& of, const node_set& all) {
  for (std::size_t i = 0; i < of.size(); ++i) {
    if (of[i] != 0 && all[i] == 0) return false;
  }
  return true;
}

void intersect(node_set& nodes, const node_set& with) {
  for (std::size_t i = 0; i < nodes.size(); ++i) nodes[i] = nodes[i] != 0 && with[i] != 0 ? 1 : 0;
}

/// Calls with each pod of the group that is on a node or has a claim on one.
template <class Call>
void for_each_placed(const session_state& c, group_row group, Call&& call) {
  const model::group_core& g = c.state().groups[group];
  for (sub_group_row sub = g.first_sub; sub < g.first_sub + g.sub_count; ++sub) {
    for (pod_row p = c.state().subs[sub].first_pod; p != no_row; p = c.state().pods[p].next) {
      if (model::is_in(static_cast<pod_status>(c.live.pod_state[p]), model::active_allocated)) call(p);
    }
  }
}

bool holds_any(const session_state& c, group_row group, const node_set& nodes) {
  bool found = false;
  for_each_placed(c, group, [&](pod_row p) {
    const node_row row = c.view().node_of(p);
    found = found || (row != no_row && nodes[row] != 0);
  });
  return found;
}

/// Whole devices that are free on some nodes at most: parts that others hold are not looked at.
class device_bound {
 public:
  /// @param free by node
  device_bound(const session_state& c, const node_set& among, std::vector<std::int64_t> free)
      : c_(c), left_(std::move(free)) {
    for (node_row row = 0; row < among.size(); ++row) {
      if (among[row] == 0) left_[row] = outside;
      most_ += std::max<std::int64_t>(0, left_[row]);
    }
  }
  /// The pod is about to end.
  void add(pod_row pod) {
    const node_row row = c_.view().node_of(pod);
    if (row == no_row) return;
    const std::int64_t before = std::max<std::int64_t>(0, left_[row]);
    left_[row] += c_.state().class_of(pod).whole_devices;
    most_ += std::max<std::int64_t>(0, left_[row]) - before;
  }
  [[nodiscard]] std::int64_t most() const { return most_; }

 private:
  static constexpr std::int64_t outside = std::numeric_limits<std::int64_t>::min() / 2;  ///< never counts

  const session_state& c_;
  std::vector<std::int64_t> left_;  ///< by node; negative where one holds more than it has, as after a loss
  std::int64_t most_ = 0;
};

/// Ends that are looked at together: those up to a step after the first end, and the step doubles until the next one is
/// within it. Without a step those of one moment.
class end_steps {
 public:
  /// @param ends the first at first
  end_steps(const std::vector<group_end>& ends, std::int64_t step) : ends_(ends), step_(step) {
    if (!ends.empty() && step > 0) from_ = later_by(ends.front().when, step - ends.front().when % step);
  }
  /// How many ends there are up to the next step, `done` of which have been looked at.
  [[nodiscard]] std::size_t next(std::size_t done) {
    std::size_t count = done + 1;
    const std::int64_t last = step_ == 0 ? ends_[done].when : reach();
    while (count < ends_.size() && ends_[count].when <= last) ++count;
    if (step_ == 0 || count == ends_.size()) return count;
    do {
      step_ = later_by(step_, step_);
    } while (ends_[count].when > reach());
    return count;
  }

 private:
  [[nodiscard]] std::int64_t reach() const { return later_by(from_, step_); }

  const std::vector<group_end>& ends_;
  std::int64_t step_;
  std::int64_t from_ = 0;
};

}  // namespace

node_promises::node_promises(session_state& c, std::size_t most) : c_(c), most_(most) {
  slots_.push_back({rounded(c.now), for_ever, node_set(c.state().node_count(), 1)});
}

/// For ever, where nobody knows.
std::int64_t node_promises::end_of(group_row group, std::int64_t start) const {
  const std::int64_t estimate = c_.state().group_extras[group].runtime_estimate;
  return estimate < 0 ? for_ever : later_by(start, estimate);
}

std::int64_t node_promises::rounded(std::int64_t time) const {
  const std::int64_t step = c_.options.backfill_resolution;
  if (step == 0 || time == for_ever) return time;
  const std::int64_t rest = time % step;
  if (rest == 0) return time;
  return time > std::numeric_limits<std::int64_t>::min() + step ? time - (rest < 0 ? rest + step : rest) : time;
}

node_set node_promises::open_between(std::int64_t begin, std::int64_t end) const {
  node_set open(c_.state().node_count(), 1);
  for (const slot& one : slots_) {
    if (one.begin > end) break;
    if (one.end > begin) intersect(open, one.open);
  }
  return open;
}

std::optional<node_set> node_promises::open_to(group_row group) const {
  if (made_.empty()) return std::nullopt;
  node_set open = open_between(c_.now, end_of(group, c_.now));
  if (std::find(open.begin(), open.end(), 0) == open.end()) return std::nullopt;
  return open;
}

group_row node_promises::in_the_way_of(group_row group) const {
  const std::int64_t end = end_of(group, c_.now);
  const auto found = std::find_if(made_.begin(), made_.end(), [&](const promise& p) { return p.begin <= end; });
  return found == made_.end() ? group_row{no_row} : found->group;
}

/// When nodes become open to a group that would run from one time to another: until then the answer for it is the same.
/// Only what is promised until it ends is looked at. `unset` if there is no such time.
std::int64_t node_promises::next_change(std::int64_t after, std::int64_t end) const {
  node_set open(c_.state().node_count(), 1);
  for (std::size_t i = 0; i + 1 < slots_.size(); ++i) {
    if (slots_[i].end <= after) continue;
    intersect(open, slots_[i].open);
    if (!is_subset(slots_[i + 1].open, open)) return slots_[i].end;
    if (slots_[i].begin > end) break;
  }
  return unset;
}

/// Once for all groups that are looked at until the next commit.
void node_promises::look_at_holders() {
  if (looked_at_ == c_.statement.commits) return;
  looked_at_ = c_.statement.commits;
  const model::cluster_state& s = c_.state();
  ends_.clear();
  free_devices_.resize(s.node_count());
  for (node_row row = 0; row < s.node_count(); ++row)
    free_devices_[row] = (*s.capacity)[std::size_t{row} * s.dims() + dim_gpu] / whole_device;
  for (const group_row g : c_.groups.in_order()) {
    if (framework::count_pods(c_, g, &model::sub_counts::active_allocated) == 0) continue;
    for_each_placed(c_, g, [&](pod_row p) {
      const node_row row = c_.view().node_of(p);
      if (row != no_row) free_devices_[row] -= s.class_of(p).whole_devices;
    });
    if (const std::int64_t end = expected_end(c_, g); end != unset) ends_.push_back({end, g});
  }
  std::ranges::stable_sort(ends_, {}, &group_end::when);
}

/// Who holds one of these nodes and is expected to end.
std::vector<group_end> node_promises::ends_on(const node_set& nodes, group_row but) const {
  std::vector<group_end> ends;
  std::ranges::copy_if(ends_, std::back_inserter(ends),
                       [&](const group_end& one) { return one.group != but && holds_any(c_, one.group, nodes); });
  return ends;
}

/// The earliest place on some nodes from a time on, if nobody else begins.
result<std::optional<node_promises::place_found>> node_promises::first_place(group_row group, const node_set& among,
                                                                             std::int64_t start) {
  look_at_holders();
  const std::vector<group_end> ends = ends_on(among, group);
  end_steps steps(ends, c_.options.backfill_end_window);
  std::int64_t wanted = 0;  // not counted where pods share the devices of a claim
  for (const pod_row p :
       c_.constraints.has(policy::trait_pays_gpus) ? framework::pod_list() : c_.chunks.chunk_of(group, false))
    wanted += c_.state().class_of(p).whole_devices;
  device_bound free(c_, among, free_devices_);
  placing how;
  how.among = &among;
  std::size_t done = 0;
  std::int64_t when = c_.now;
  for (;;) {
    if (free.most() >= wanted) {
      const std::uint32_t before = c_.statement.depth();
      framework::failure why;
      c_.constraints.look_at(group, std::max(when, start));
      result<bool> placed = place_group(c_, group, how, why);
      c_.constraints.look_at_now();
      if (!placed) return placed.failure();
      if (*placed) {
        place_found found{when, node_set(among.size(), 0)};
        for (std::uint32_t op = before; op < c_.statement.depth(); ++op)
          found.nodes[c_.view().node_of(c_.statement.log[op].pod)] = 1;
        c_.statement.rollback(0);
        return std::optional(std::move(found));
      }
    }
    if (done == ends.size()) break;
    for (const std::size_t until = steps.next(done); done < until; ++done) {
      for_each_placed(c_, ends[done].group, [&](pod_row p) {
        free.add(p);
        c_.statement.finish(p);
      });
      when = ends[done].when;
    }
  }
  c_.statement.rollback(0);
  return std::optional<place_found>();
}

bool node_promises::overlaps(const node_set& nodes, std::int64_t begin, std::int64_t end) const {
  return std::any_of(slots_.begin(), slots_.end(), [&](const slot& one) {
    return one.end > begin && one.begin < end && !is_subset(nodes, one.open);
  });
}

/// A slot begins at this time.
void node_promises::split(std::int64_t time) {
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    if (time <= slots_[i].begin || time >= slots_[i].end) continue;
    slot rest{time, slots_[i].end, slots_[i].open};
    slots_[i].end = time;
    slots_.insert(slots_.begin() + static_cast<std::ptrdiff_t>(i) + 1, std::move(rest));
    return;
  }
}

result<void> node_promises::add(group_row group) {
  if (most_ != 0 && made_.size() >= most_) return {};
  const std::int64_t window = c_.options.backfill_window;
  std::int64_t start = c_.now;
  for (std::size_t changes = 0;; ++changes) {
    std::int64_t change = next_change(start, end_of(group, start));
    if (changes < most_reservation_changes) {
      const std::int64_t reserved = c_.constraints.next_change(start);
      if (reserved != unset && (change == unset || reserved < change)) change = reserved;
    }
    const node_set among = open_between(start, end_of(group, start));
    result<std::optional<place_found>> found = first_place(group, among, start);
    if (!found) return found.failure();
    if (!*found) {
      if (change == unset) return {};
      start = change;
      continue;
    }
    const std::int64_t when = std::max((*found)->when, start);
    if (change != unset && when > change) {
      start = change;
      continue;
    }
    if (window != 0 && when > later_by(c_.now, window)) return {};
    const std::int64_t begin = std::max(rounded(when), slots_.front().begin);
    std::int64_t end = rounded(end_of(group, when));
    if (overlaps((*found)->nodes, begin, end)) {
      if (when <= start) return {};
      start = when;
      continue;
    }
    // Nothing is promised for less than a step, or for no time.
    end = std::max(end, later_by(begin, std::max<std::int64_t>(1, c_.options.backfill_resolution)));
    split(begin);
    split(end);
    for (slot& one : slots_) {
      if (one.begin < begin || one.end > end) continue;
      for (std::size_t i = 0; i < one.open.size(); ++i) {
        if ((*found)->nodes[i] != 0) one.open[i] = 0;
      }
    }
    made_.push_back({group, begin, end});
    return {};
  }
}

}  // namespace kaisched::actions
