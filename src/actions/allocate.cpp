#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "actions/actions.hpp"
#include "actions/group_index.hpp"
#include "actions/job_queue.hpp"
#include "actions/placement.hpp"
#include "actions/runtime.hpp"
#include "base/row_marks.hpp"
#include "framework/members.hpp"
#include "policy/reclaim/reclaim_rules.hpp"

namespace kaisched::actions {

namespace {

using framework::failure;
using framework::session_state;

/// One attempt; the statement is committed or empty afterwards.
result<bool> try_group(session_state& c, group_row group) {
  ++c.results.statistics.back().groups_tried;
  return place_and_start(c, group, framework::count_pods(c, group, &model::sub_counts::holding) > 0);
}

/// Whether a group takes its leaf queue beyond the fair share with what it starts next. In `strict` groups that do not
/// go first, whatever stands before them: what reclaim would take back is not given while others are entitled to it.
class share_gate {
 public:
  share_gate(session_state& c, bool is_used) : c_(c), is_used_(is_used && c.has_proportion && !c.compat()) {
    if (!is_used_) return;
    for (const policy::exact_queue& q : c.queues.exact_queues) {
      bool within = true;
      for (const policy::exact_share& s : q.shares)
        within = within && policy::reclaim::at_most(s.request, s.fair_share);
      has_its_demand_.push_back(within);
    }
  }

  [[nodiscard]] bool is_used() const { return is_used_; }
  [[nodiscard]] bool passes(group_row group) {
    if (!is_used_) return true;
    const queue_row leaf = c_.state().groups[group].queue;
    if (has_its_demand_[leaf]) return true;
    const policy::exact_queue& queue = c_.queues.exact_queues[leaf];
    return policy::reclaim::stays_within_share(queue, policy::reclaim::allocated(queue),
                                               c_.chunks.chunk_request(group));
  }

 private:
  session_state& c_;
  bool is_used_;
  std::vector<bool> has_its_demand_;  ///< by queue: its share is all that it asks for
};

/// Groups that still wait for their turn, and whether none of them can start. Within the action nothing comes free, so
/// a group that has too few places has too few until the end.
class groups_left {
 public:
  /// `may_leave_order`: false, if the order of groups that cannot start counts as well.
  groups_left(session_state& c, std::span<const group_row> groups, bool may_leave_order) : c_(c) {
    if (!may_leave_order) return;
    groups_.assign(groups.begin(), groups.end());
    for (const group_row g : groups_) waits_.mark(g, c_.state().group_slots);
  }

  void take(group_row group) { waits_.unmark(group); }
  void put_back(group_row group) {
    if (groups_.empty()) return;
    waits_.mark(group, c_.state().group_slots);
    first_ = 0;
  }
  /// Their order says nothing then.
  [[nodiscard]] bool cannot_start() {
    while (first_ < groups_.size() && (!waits_.has(groups_[first_]) || has_too_few_places(c_, groups_[first_])))
      ++first_;
    return !groups_.empty() && first_ == groups_.size();
  }
  [[nodiscard]] std::vector<group_row> groups() const {
    std::vector<group_row> left;
    std::copy_if(groups_.begin(), groups_.end(), std::back_inserter(left),
                 [this](group_row g) { return waits_.has(g); });
    return left;
  }

 private:
  session_state& c_;
  std::vector<group_row> groups_;  ///< all; empty where their order counts
  base::row_marks waits_;
  std::size_t first_ = 0;  ///< groups before it have had their turn or cannot start
};

/// Serves groups in queue order.
class allocation {
 public:
  explicit allocation(session_state& c)
      : c_(c),
        backfills_(std::find(c.options.actions.begin(), c.options.actions.end(), "backfill") !=
                   c.options.actions.end()),
        gate_(c, !backfills_),  // else what stands behind the head is left to backfill
        shared_order_(has_shared_order(c)),
        depth_(static_cast<std::size_t>(c.options.allocate_queue_depth)) {}

  result<void> run() {
    result<std::vector<group_row>> found = groups_to_serve();
    if (!found) return found.failure();
    std::vector<group_row> groups = *std::move(found);
    if (gate_.is_used()) split(groups);
    result<void> done = serve(std::move(groups), gate_.is_used());
    if (done && !is_over_ && !later_.empty()) done = serve(std::move(later_), false);
    c_.groups.passed_over = {};
    return done;
  }

  result<std::vector<group_row>> order() {
    result<std::vector<group_row>> found = groups_to_serve();
    if (!found) return found;
    std::vector<group_row> groups = *std::move(found);
    if (gate_.is_used()) split(groups);
    std::vector<group_row> all;
    for (const std::vector<group_row>* some : {&groups, &later_}) {
      job_queue queue(c_, depth_);
      if (auto done = fill(queue, *some); !done) return done.failure();
      while (!queue.empty()) {
        result<group_row> next = queue.pop();
        if (!next) return next.failure();
        all.push_back(*next);
      }
    }
    return all;
  }

 private:
  /// The first groups of each queue, as many as the depth says.
  result<std::vector<group_row>> groups_to_serve() {
    std::vector<group_row> groups = groups_to_start(c_);
    if (depth_ == 0 || !gate_.is_used()) return groups;
    job_queue queue(c_, depth_);
    if (auto done = queue.fill(groups); !done) return done.failure();
    groups.clear();
    while (!queue.empty()) {
      result<group_row> next = queue.pop();
      if (!next) return next.failure();
      groups.push_back(*next);
    }
    std::sort(groups.begin(), groups.end(),
              [this](group_row a, group_row b) { return model::group_before(c_.state(), a, b); });
    return groups;
  }

  /// Leaves those that stay within the shares of their queues.
  void split(std::vector<group_row>& groups) {
    std::erase_if(groups, [this](group_row g) {
      if (gate_.passes(g)) return false;
      later_.push_back(g);
      return true;
    });
  }

  /// Pods of the group are left that may be tried.
  [[nodiscard]] bool has_more(group_row group) {
    return framework::count_pods(c_, group, &model::sub_counts::pending) > 0 &&
           (!passes_over_ || !c_.chunks.chunk_of(group, false).empty());
  }

  /// The next pod beyond the gangs of a group has no node. True: in `strict` one that asks for something else is tried.
  [[nodiscard]] bool pass_over(group_row group) {
    const model::cluster_state& s = c_.state();
    if (c_.compat() || !framework::is_satisfied(c_, s.groups[group].first_sub)) return false;
    const framework::pod_list chunk = c_.chunks.chunk_of(group, false);
    if (chunk.size() != 1) return false;
    const model::sub_info& set = s.subs[s.pods[chunk.front()].sub];
    if (set.is_uniform && s.groups[group].has_one_pod_set) return false;  // all others ask for the same
    for (pod_row p = set.first_pod; p != no_row; p = s.pods[p].next) {
      if (s.pods[p].pod_class == s.pods[chunk.front()].pod_class) c_.groups.passed_over.mark(p, s.pod_slots);
    }
    passes_over_ = true;
    return !c_.chunks.chunk_of(group, false).empty();
  }

  result<void> fill(job_queue& queue, const std::vector<group_row>& groups) const {
    return depth_ == 0 ? queue.fill_in_order(groups) : queue.fill(groups);  // only the group that is tried changes
  }

  result<void> serve(std::vector<group_row> groups, bool gated) {
    groups_left left(c_, groups, depth_ == 0 && !shared_order_ && !backfills_);
    if (left.cannot_start()) return fail_all(left, gated);
    std::optional<job_queue> queue(std::in_place, c_, depth_);
    if (auto done = fill(*queue, groups); !done) return done;
    bool has_failed = false;  // the last one
    while (!queue->empty()) {
      if (auto on = c_.run.go_on(); !on) return on;
      if (has_failed && left.cannot_start()) return fail_all(left, gated);
      result<group_row> next = queue->pop();
      if (!next) return next.failure();
      const group_row group = *next;
      left.take(group);
      result<turn> had = serve_one(group, gated);
      if (!had) return had.failure();
      if (is_over_) return {};  // the rest is left to backfill
      has_failed = !had->placed;
      if (shared_order_ && !had->competes) std::erase(groups, group);
      if (shared_order_ && had->placed) {  // the key of a group depends on what others hold
        queue.emplace(c_, depth_);
        if (auto done = fill(*queue, groups); !done) return done;
      } else if (had->competes) {
        if (auto done = queue->push(group); !done) return done;  // the next elastic pod competes again
        left.put_back(group);
      }
    }
    return {};
  }

  /// What has become of a group that had its turn.
  struct turn {
    bool placed = false;
    bool competes = false;  ///< it wants another turn
  };

  result<turn> serve_one(group_row group, bool gated) {
    turn had;
    const bool waits_for_others = gated && !gate_.passes(group);
    if (!waits_for_others) {
      result<bool> placed = try_group(c_, group);
      if (!placed) return placed.failure();
      had.placed = *placed;
    }
    if (!waits_for_others && !had.placed && backfills_) {
      result<bool> head = is_head(c_, c_.results.failures.back());
      if (!head) return head.failure();
      is_over_ = *head;
      if (is_over_) return had;
    }
    had.competes = had.placed ? has_more(group) : !waits_for_others && pass_over(group);
    if (waits_for_others || (had.competes && gated && !gate_.passes(group))) {
      later_.push_back(group);
      had.competes = false;
    }
    return had;
  }

  /// Turns of groups that cannot start, in any order.
  result<void> fail_all(const groups_left& left, bool gated) {
    for (const group_row group : left.groups()) {
      if (auto on = c_.run.go_on(); !on) return on;
      result<turn> had = serve_one(group, gated);
      if (!had) return had.failure();
      if (had->placed) return error{status::internal, "invariant violated: a group without places starts", {}};
    }
    return {};
  }

  session_state& c_;
  bool backfills_;
  share_gate gate_;
  bool shared_order_;
  std::size_t depth_;
  bool is_over_ = false;
  bool passes_over_ = false;
  std::vector<group_row> later_;  ///< groups that take their queues beyond their shares
};

}  // namespace

result<void> allocate(session_state& c) {
  const bool backfills =
      std::find(c.options.actions.begin(), c.options.actions.end(), "backfill") != c.options.actions.end();
  if (backfills && c.options.backfill_deadlines) return {};  // what is promised comes first
  return allocation(c).run();
}

result<std::vector<group_row>> allocation_order(session_state& c) { return allocation(c).order(); }

}  // namespace kaisched::actions
