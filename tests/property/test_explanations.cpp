// Explanations of random clusters: what they say adds up, and what they claim happens.
#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <rapidcheck.h>

#include "draws.hpp"
#include "model/snapshot_access.hpp"
#include "model/state.hpp"
#include "rows.hpp"
#include "support.hpp"

namespace of_test_explanations {

using namespace kaisched;
using kind = table_kind;
using test::add;
using test::draw;
using test::got;
using test::numbers;
using test::reals;
using test::texts;

namespace {

std::string name_of(char what, int number) { return std::string(1, what).append(std::to_string(number)); }

/// A tree of queues with quotas, limits, weights, priorities and history, and groups that wait in it or run.
cluster random_queues() {
  cluster c;
  const int queues = draw(1, 9);
  std::vector<int> parent(static_cast<std::size_t>(queues), -1);
  std::vector<bool> is_inner(static_cast<std::size_t>(queues), false);
  const auto bound = [](int most) { return draw(0, 2) == 0 ? unlimited : std::int64_t{500} * draw(0, most); };
  for (int q = 0; q < queues; ++q) {
    if (q > 0 && draw(0, 2) > 0) parent[static_cast<std::size_t>(q)] = draw(0, q - 1);
    const int up = parent[static_cast<std::size_t>(q)];
    if (up >= 0) is_inner[static_cast<std::size_t>(up)] = true;
    const auto third = [] { return draw(0, 6) / 3.0; };
    got(c.apply(
        add(kind::queue, {"name", "parent", "priority", "created", "quota", "limit", "over_quota_weight", "usage"})
            .add({name_of('q', q), up < 0 ? std::string() : name_of('q', up), draw(1, 2) * 100, draw(0, 2),
                  numbers{bound(30), bound(8), bound(16)}, numbers{bound(60), unlimited, bound(30)},
                  reals{third(), third(), third()}, reals{draw(0, 10) / 7.0, draw(0, 1) / 3.0, draw(0, 10) / 9.0}})));
  }
  for (int n = 0; n < draw(0, 4); ++n) {
    got(c.apply(
        add(kind::node, {"name", "capacity"})
            .add({name_of('n', n), numbers{std::int64_t{500} * draw(0, 40), draw(0, 40), 1000 * draw(0, 8), 99}})));
  }
  for (int g = 0; g < 12; ++g) {
    const int q = draw(0, queues - 1);
    if (is_inner[static_cast<std::size_t>(q)]) continue;
    got(c.apply(add(kind::pod_group, {"name", "queue"}).add({name_of('g', g), name_of('q', q)})));
    for (int p = 0; p < draw(1, 4); ++p) {
      const std::int64_t gpu = draw(0, 3) == 0 ? std::int64_t{300} : std::int64_t{1000} * draw(0, 4);
      got(c.apply(add(kind::pod, {"name", "group", "request"})
                      .add({name_of('g', g) + name_of('p', p), name_of('g', g),
                            numbers{std::int64_t{250} * draw(0, 9), draw(0, 5), gpu, 1}})));
    }
  }
  return c;
}

/// One pod that waits, and nodes of all kinds.
cluster one_that_waits() {
  cluster c;
  got(c.apply(add(kind::queue, {"name"}).add({"q"})));
  const int nodes = draw(1, 5);
  for (int n = 0; n < nodes; ++n) {
    const bool is_away = draw(0, 5) == 0;
    got(c.apply(add(kind::node, {"name", "capacity", "taints", "unschedulable"})
                    .add({name_of('n', n), numbers{1000 * draw(0, 8), 8, 1000 * draw(0, 4), draw(1, 9)},
                          is_away ? texts{"away:NoSchedule"} : texts{}, draw(0, 7) == 0 ? 1 : 0})));
  }
  const auto put = [&](const std::string& name, pod_status status, const std::string& node) {
    const std::int64_t gpu = draw(0, 3) == 0 ? std::int64_t{500} : std::int64_t{1000} * draw(0, 2);
    got(c.apply(add(kind::pod_group, {"name", "queue"}).add({"g" + name, "q"})));
    const std::string promised = node.empty() && draw(0, 2) == 0 ? name_of('n', draw(0, nodes - 1)) : std::string();
    table t = add(kind::pod, {"name", "group", "request", "status", "node", "nominated_node"})
                  .add({name, "g" + name, numbers{500 * draw(0, 3), draw(0, 2), gpu, 1}, status, node, promised});
    static_cast<void>(c.apply(t));  // pods that do not fit where they are said to be are refused, and left out
  };
  for (int p = 0; p < draw(0, 8); ++p) {
    put(name_of('p', p), draw(0, 2) == 0 ? pod_status::releasing : pod_status::running,
        name_of('n', draw(0, nodes - 1)));
  }
  put("new", pod_status::pending, "");
  return c;
}

node_row landing(const engine& e, const snapshot& over, pod_row pod) {
  const session s = got(e.run(over, 0));
  return s.view().node_of(pod);
}

/// Gives one node a score of its own.
class favour final : public policy_part {
 public:
  favour(node_row node, double score) : node_(node), score_(score) {}
  [[nodiscard]] std::string_view name() const noexcept override { return "favour"; }
  [[nodiscard]] std::uint32_t capabilities() const noexcept override { return part_scores_nodes; }
  result<void> score_nodes(const session_view&, pod_row, std::span<const node_row> nodes,
                           std::span<double> scores) override {
    for (std::size_t i = 0; i < nodes.size(); ++i) scores[i] += nodes[i] == node_ ? score_ : 0;
    return {};
  }

 private:
  node_row node_;
  double score_;
};

std::string without(const std::string& parts, const std::string& one) {
  std::string rest;
  for (std::size_t first = 0; first < parts.size();) {
    const std::size_t end = std::min(parts.find(',', first), parts.size());
    const std::string part = parts.substr(first, end - first);
    if (part != one) rest += (rest.empty() ? "" : ",") + part;
    first = end + 1;
  }
  return rest;
}

/// Full nodes, and groups of several queues that wait.
cluster contended() {
  cluster c;
  const int queues = draw(2, 3);
  for (int q = 0; q < queues; ++q) {
    got(c.apply(add(kind::queue, {"name", "quota"}).add({name_of('q', q), numbers{-1, -1, 1000 * draw(0, 3)}})));
  }
  const int nodes = draw(1, 3);
  for (int n = 0; n < nodes; ++n) {
    got(c.apply(add(kind::node, {"name", "capacity"}).add({name_of('n', n), numbers{0, 0, 1000 * draw(1, 4), 20}})));
  }
  for (int g = 0; g < 7; ++g) {
    const std::string name = name_of('g', g);
    const int pods = draw(1, 3);
    got(c.apply(add(kind::pod_group, {"name", "queue", "min_member", "priority", "created", "preemptible"})
                    .add({name, name_of('q', draw(0, queues - 1)), draw(1, pods), draw(1, 3) * 10, draw(0, 3),
                          draw(0, 5) == 0 ? 0 : 1})));
    const bool is_on = draw(0, 2) > 0;
    const std::int64_t gpu = std::int64_t{1000} * draw(1, 2);
    for (int p = 0; p < pods; ++p) {
      got(c.apply(add(kind::pod, {"name", "group", "request", "status", "node"})
                      .add({name + name_of('p', p), name, numbers{0, 0, gpu, 1},
                            is_on ? pod_status::running : pod_status::pending,
                            is_on ? name_of('n', draw(0, nodes - 1)) : std::string()})));
    }
  }
  return c;
}

/// Spares one group.
class shield final : public policy_part {
 public:
  explicit shield(group_row group) : group_(group) {}
  [[nodiscard]] std::string_view name() const noexcept override { return "shield"; }
  [[nodiscard]] std::uint32_t capabilities() const noexcept override { return part_judges_victims; }
  result<void> judge_victims(const session_view&, action_kind, group_row, std::span<const group_row> groups,
                             std::span<std::uint8_t> spared) override {
    for (std::size_t i = 0; i < groups.size(); ++i) spared[i] = groups[i] == group_ ? 1 : 0;
    return {};
  }

 private:
  group_row group_;
};

bool leaves(const decision& d) { return d.kind == decision_kind::evict || d.kind == decision_kind::move; }

/// A group that lost pods, or might have, to another one by an action.
void check_may_lose(const session_view& view, action_kind action, group_row waiting, group_row victim) {
  RC_ASSERT(victim != waiting);
  RC_ASSERT(view.group_preemptible(victim));
  const bool same = view.group_queue(victim) == view.group_queue(waiting);
  if (action == action_kind::reclaim) RC_ASSERT(!same);
  if (action == action_kind::preempt) RC_ASSERT(same && view.group_priority(victim) < view.group_priority(waiting));
}

}  // namespace

TEST_CASE("who would have gone instead might have, and for the first commit did") {
  std::size_t instead = 0;
  std::size_t in_vain = 0;
  const bool good = rc::check("victims", [&] {
    cluster c = contended();
    const snapshot over = c.take_snapshot();
    engine e;
    got(e.set("mode", draw(0, 3) == 0 ? "compat" : "strict"));
    const bool is_strict = got(e.get("mode")) == "strict";
    got(e.set("actions", "allocate,consolidation,reclaim,preempt"));
    const session s = got(e.run(over, 0));
    const session_view view = s.view();
    for (const decision& d : s.decisions()) {
      if (!leaves(d)) continue;
      const victim_account why = got(s.victim(d.pod));
      RC_ASSERT(!why.rules.empty());
      for (const victim_rule rule : why.rules) RC_ASSERT(!s.text(why, rule).empty());
      std::size_t lost = 0;
      for (const decision& other : s.decisions()) lost += other.commit == why.commit && leaves(other) ? 1U : 0U;
      std::size_t told = 0;
      for (const group_pods& one : why.victims) told += one.pods;
      RC_ASSERT(lost == told);
      if (why.placed.empty()) continue;
      const group_row waiting = why.placed.front().group;
      for (const spared_group& one : why.spared) {
        RC_ASSERT(!s.text(one.why).empty());
        if (one.why == spared_reason::not_needed) check_may_lose(view, why.action, waiting, one.group);
      }
      const protected_outcome& then = why.if_protected;
      RC_ASSERT(then.tried);
      RC_ASSERT(!s.text(why, then).empty());
      if (is_strict) RC_ASSERT(then.victims.empty() || then.pods > 0);  // nobody goes for nothing
      for (const group_pods& one : then.victims) {
        RC_ASSERT(one.group != why.group);
        check_may_lose(view, why.action, waiting, one.group);
      }
      (then.pods > 0 ? instead : in_vain) += 1;
      if (why.commit != 1) continue;
      // Without decisions before, anybody can ask the same with a part of his own.
      engine shielded(e.options());
      got(shielded.register_part("shield", [&](const policy_options&) { return std::make_unique<shield>(why.group); }));
      got(shielded.set("parts", got(e.get("parts")) + ",shield"));
      session again = got(shielded.open(over, 0));
      got(again.run(action_name(why.action), waiting));
      std::uint32_t pods = 0;
      std::map<group_row, std::uint32_t> gone;
      for (const decision& other : again.decisions()) {
        if (leaves(other)) ++gone[other.group];
        if (!leaves(other) && other.group == waiting) ++pods;
      }
      RC_ASSERT(pods == then.pods);
      RC_ASSERT(gone.size() == then.victims.size());
      for (const group_pods& one : then.victims) RC_ASSERT(gone[one.group] == one.pods);
    }
  });
  CHECK(good);
  CHECK(instead > 0);
  CHECK(in_vain > 0);
}

TEST_CASE("what would have turned a choice turns it") {
  std::size_t turned = 0;
  const bool good = rc::check("choices", [&] {
    cluster c = one_that_waits();
    const snapshot over = c.take_snapshot();
    engine e;
    got(e.set("actions", "allocate"));       // so that no pod moves to make room
    got(e.set("nominations.timeout", "0"));  // so that scores decide about nominated nodes as well
    got(e.set("mode", draw(0, 1) == 0 ? "strict" : "compat"));
    got(e.set("placement.gpu", draw(0, 1) == 0 ? "binpack" : "spread"));
    got(e.set("placement.cpu", draw(0, 1) == 0 ? "binpack" : "spread"));
    const session s = got(e.run(over, 0));
    pod_row pod = 0;
    while (over.pod_name(pod) != "new") ++pod;
    if (s.decisions().empty()) return;
    const choice_account why = got(s.choice(pod));
    const candidate_table table = got(s.candidates(pod));
    RC_ASSERT(!s.text(why).empty());
    RC_ASSERT(why.plan == choice_plan::none);  // a pod alone
    RC_ASSERT(why.rule != choice_rule::not_by_score);
    RC_ASSERT(why.margin >= 0);
    const std::string all = got(e.get("parts"));
    // Also the parts that are said to change nothing.
    for (const std::string& part : table.parts) {
      const auto flip = std::find_if(why.flips.begin(), why.flips.end(), [&](const choice_flip& one) {
        return one.what == choice_flip_kind::without_part && one.part == part;
      });
      engine fewer(e.options());
      got(fewer.set("parts", without(all, part)));
      RC_ASSERT(landing(fewer, over, pod) == (flip == why.flips.end() ? why.chosen : flip->node));
      if (flip != why.flips.end()) ++turned;
    }
    for (const choice_flip& one : why.flips) {
      RC_ASSERT(!s.text(why, one).empty());
      if (one.what == choice_flip_kind::more_score) {
        const auto with = [&](double score) {
          engine more(e.options());
          got(more.register_part("favour",
                                 [&](const policy_options&) { return std::make_unique<favour>(one.node, score); }));
          got(more.set("parts", all + ",favour"));
          return landing(more, over, pod);
        };
        RC_ASSERT(with(one.score) == one.node);
        // A hair less than the rounding of scores is not enough.
        if (one.score > 0) RC_ASSERT(with(one.score - 1e-9) == why.chosen);
        RC_ASSERT(one.node == why.runner_up);
      } else if (one.what == choice_flip_kind::closed_node) {
        cluster closed(over);
        got(closed.apply(
            test::change(kind::node, {"name", "unschedulable"}).add({std::string(over.node_name(why.chosen)), 1})));
        RC_ASSERT(landing(e, closed.take_snapshot(), pod) == one.node);
      }
    }
  });
  CHECK(good);
  CHECK(turned > 0);
}

TEST_CASE("the steps of a division add up to the fair shares, and to what there was to divide") {
  const bool good = rc::check("share steps", [] {
    const snapshot over = random_queues().take_snapshot();
    engine e;
    got(e.set("mode", draw(0, 1) == 0 ? "strict" : "compat"));
    got(e.set("proportion.k", std::to_string(draw(0, 8) / 3.0)));
    const session s = got(e.open(over, 0));
    const auto& queues = *model::state_of(over).queues;
    for (queue_row q = 0; q < queues.size(); ++q) {
      if (!queues[q].live) continue;
      std::map<std::pair<queue_row, dimension>, std::int64_t> given;
      std::map<std::pair<queue_row, dimension>, std::int64_t> open;  // of a parent: the total less what was given
      for (const share_step& one : got(s.share_steps(q))) {
        RC_ASSERT(one.before + one.given == one.after);
        RC_ASSERT(one.dim < quota_dimensions);
        RC_ASSERT(!s.text(one).empty());
        const std::pair key{one.parent, one.dim};
        if (one.what == share_step_kind::total) {
          RC_ASSERT(open.count(key) == 0);
          open[key] = one.given;
          if (one.parent != no_row) RC_ASSERT(one.given == s.view().queue_fair_share(one.parent)[one.dim]);
        } else if (one.what == share_step_kind::left) {
          RC_ASSERT(one.given == open[key]);
        } else {
          RC_ASSERT(open.count(key) == 1);
          RC_ASSERT(queues[one.queue].parent == one.parent);
          std::int64_t& sum = given[{one.queue, one.dim}];
          RC_ASSERT(one.before == sum);
          sum = one.after;
          open[key] -= one.given;
        }
      }
      // Every queue that took part in the divisions is told completely.
      for (const auto& [of, sum] : given) RC_ASSERT(sum == s.view().queue_fair_share(of.first)[of.second]);
      for (dimension d = 0; d < quota_dimensions; ++d) RC_ASSERT(given.count({q, d}) == 1);
    }
  });
  CHECK(good);
}

}  // namespace of_test_explanations
