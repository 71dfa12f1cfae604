// Why me: small clusters in which it is known who has to go, and who would have gone instead.
#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "rows.hpp"
#include "support.hpp"

namespace of_test_victim_account {

using namespace kaisched;
using test::add;
using test::builder;
using test::change;
using test::must;
using strings = std::vector<std::string>;
using kind = table_kind;

namespace {

constexpr std::int64_t now = 3600 * test::second;

pod_row pod_of(const session& s, std::string_view name) {
  pod_row p = 0;
  while (s.base().pod_name(p) != name) ++p;
  return p;
}

group_row group_of(const session& s, std::string_view name) {
  group_row g = 0;
  while (s.base().group_name(g) != name) ++g;
  return g;
}

session ran(const snapshot& over, std::string_view actions,
            std::initializer_list<std::pair<const char*, const char*>> set = {}) {
  engine e;
  must(e.set("actions", actions));
  for (const auto& [option, value] : set) must(e.set(option, value));
  return must(e.run(over, now));
}

cluster made(const builder& b) {
  cluster c;
  b.apply_to(c);
  return c;
}

/// A group with one running pod of one GPU.
void runs(builder& b, std::string name, std::string queue, std::string node, std::int64_t priority = 50,
          std::int64_t created = 0, bool preemptible = true) {
  b << builder::group{name, std::move(queue), 1, priority, created * test::second, preemptible};
  b << builder::pod{name + "-0", name, 1000, std::move(node)};
}
void waits(builder& b, std::string name, std::string queue, std::int64_t priority = 50, std::int64_t gpus = 1) {
  b << builder::group{name, std::move(queue), 1, priority, 100 * test::second};
  b << builder::pod{name + "-0", name, gpus * 1000};
}

using rules = std::vector<victim_rule>;

strings named(const session& s, const std::vector<group_pods>& groups) {
  strings all;
  for (const group_pods& one : groups)
    all.push_back(std::string(s.base().group_name(one.group)) + " " + std::to_string(one.pods));
  return all;
}
strings named(const session& s, const std::vector<spared_group>& groups) {
  strings all;
  for (const spared_group& one : groups)
    all.push_back(std::string(s.base().group_name(one.group)) + " " + std::string(spared_reason_name(one.why)));
  return all;
}

std::string outcome_text(const session& s, const victim_account& of) { return s.text(of, of.if_protected); }

}  // namespace

TEST_CASE("reclaim: the youngest of the lowest priority of the queue that holds too much") {
  builder b;
  b << builder::node{"n", 4} << builder::queue{"a", "", 2} << builder::queue{"b", "", 2};
  b << builder::node{"m", 1} << builder::queue{"c", "", 1};
  runs(b, "calm", "c", "m", 1, 9);
  runs(b, "firm", "a", "n", 10, 1, false);
  runs(b, "old", "a", "n", 50, 1);
  runs(b, "young", "a", "n", 50, 2);
  runs(b, "high", "a", "n", 60, 3);
  waits(b, "new", "b");
  for (const char* mode : {"strict", "compat"}) {
    const session s = ran(made(b).take_snapshot(), "allocate,reclaim", {{"mode", mode}});
    const victim_account why = must(s.victim(pod_of(s, "young-0")));
    CHECK(why.kind == decision_kind::evict);
    CHECK(why.action == action_kind::reclaim);
    CHECK(why.commit == 1);
    CHECK(why.rules == rules{victim_rule::queue_over_share, victim_rule::lowest_priority, victim_rule::youngest});
    CHECK(named(s, why.placed) == strings{"new 1"});
    CHECK(named(s, why.victims) == strings{"young 1"});
    CHECK(named(s, why.spared) ==
          strings{"calm queue_within_share", "firm not_preemptible", "old not_needed", "high not_needed"});
    CHECK(why.if_protected.tried);
    CHECK(why.if_protected.pods == 1);
    CHECK(named(s, why.if_protected.victims) == strings{"old 1"});
    CHECK(outcome_text(s, why) ==
          "Had young been protected, new would have got a place for 1 pod all the same, from old (1 pod).");
    CHECK(s.text(why, victim_rule::queue_over_share) == "queue a, or one above it, held more than its fair share");
  }
}

TEST_CASE("reclaim: pods beyond a gang, and nobody else who could give") {
  builder b;
  b << builder::node{"n", 4} << builder::queue{"a", "", 2} << builder::queue{"b", "", 2};
  b << builder::group{"firm", "a", 1, 50, 0, false} << builder::pod{"firm-0", "firm", 2000, "n"};
  b << builder::group{"wide", "a", 1} << builder::pod{"wide-0", "wide", 1000, "n"}
    << builder::pod{"wide-1", "wide", 1000, "n"};
  waits(b, "new", "b");
  const session s = ran(made(b).take_snapshot(), "allocate,reclaim");
  const victim_account why = must(s.victim(pod_of(s, "wide-1")));
  CHECK(why.rules == rules{victim_rule::beyond_gang, victim_rule::queue_over_share});
  CHECK(why.if_protected.tried);
  CHECK(why.if_protected.pods == 0);
  CHECK(why.if_protected.victims.empty());
  CHECK(why.if_protected.attempt.outcome == attempt_outcome::no_victims);
  CHECK(outcome_text(s, why) ==
        "Had wide been protected, new would have got no room: no other queue has pods that may be taken and would be "
        "enough.");
  // The pod that stays: its group gave the other one. And the one that may not be taken.
  const std::vector<passed_over> wide = must(s.passes(group_of(s, "wide"), 3));
  REQUIRE(wide.size() == 1);
  CHECK(wide[0].gave_pods);
  CHECK(named(s, wide[0].placed) == strings{"new 1"});
  const std::vector<passed_over> firm = must(s.passes(group_of(s, "firm"), 3));
  REQUIRE(firm.size() == 1);
  CHECK(!firm[0].gave_pods);
  CHECK(firm[0].why == spared_reason::not_preemptible);
  CHECK(must(s.passes(group_of(s, "firm"), 0)).empty());
  CHECK(s.passes(77, 3).failure().code == status::argument);
}

TEST_CASE("preempt: lower priorities of the same queue, those that have run for as long as promised") {
  builder b;
  b << builder::node{"n", 6} << builder::queue{"q"} << builder::queue{"other"};
  runs(b, "fresh", "q", "n", 10, 1);
  runs(b, "low", "q", "n", 20, 2);
  runs(b, "mid", "q", "n", 30, 3);
  runs(b, "same", "q", "n", 90, 4);
  runs(b, "else", "other", "n", 1, 5);
  runs(b, "mine", "q", "n", 25, 6);
  waits(b, "urgent", "q", 90);
  cluster c = made(b);
  must(c.apply(change(kind::pod_group, {"name", "last_start"}).add({"fresh", now - 60 * test::second})));
  class keeper final : public policy_part {
   public:
    [[nodiscard]] std::string_view name() const noexcept override { return "keeper"; }
    [[nodiscard]] std::uint32_t capabilities() const noexcept override { return part_judges_victims; }
    result<void> judge_victims(const session_view& view, action_kind, group_row, std::span<const group_row> groups,
                               std::span<std::uint8_t> spared) override {
      for (std::size_t i = 0; i < groups.size(); ++i) spared[i] = view.group_name(groups[i]) == "mine" ? 1 : 0;
      return {};
    }
  };
  engine e;
  must(e.set("actions", "allocate,preempt"));
  must(e.set("min_runtime.preempt", "600"));
  must(e.register_part("keeper", [](const policy_options&) { return std::make_unique<keeper>(); }));
  must(e.set("parts", must(e.get("parts")) + ",keeper"));
  const session s = must(e.run(c.take_snapshot(), now));
  const victim_account why = must(s.victim(pod_of(s, "low-0")));
  CHECK(why.rules == rules{victim_rule::lowest_priority});
  CHECK(named(s, why.spared) ==
        strings{"fresh minimum_runtime", "mid not_needed", "same priority", "else other_queue", "mine part"});
  CHECK(named(s, why.if_protected.victims) == strings{"mid 1"});
  CHECK(why.if_protected.pods == 1);
}

TEST_CASE("consolidation: who stands in the way moves, and another one would have") {
  builder b;
  b << builder::queue{"q"} << builder::node{"n1", 2} << builder::node{"n2", 2};
  runs(b, "older", "q", "n1", 50, 1);
  runs(b, "younger", "q", "n2", 50, 2);
  waits(b, "train", "q", 50, 2);
  const session s = ran(made(b).take_snapshot(), "allocate,consolidation");
  const victim_account why = must(s.victim(pod_of(s, "younger-0")));
  CHECK(why.kind == decision_kind::move);
  CHECK(why.rules == rules{victim_rule::has_to_move});
  CHECK(named(s, why.spared) == strings{"older not_needed"});
  CHECK(named(s, why.if_protected.victims) == strings{"older 1"});
  CHECK(s.victim(pod_of(s, "older-0")).failure().message == "no decision made pod 'older-0' leave or move");
  CHECK(s.victim(77).failure().code == status::argument);

  // Where the other one may not be touched there is no room.
  cluster firm = made(b);
  must(firm.apply(change(kind::pod_group, {"name", "preemptible"}).add({"older", 0})));
  const session alone = ran(firm.take_snapshot(), "allocate,consolidation");
  const victim_account only = must(alone.victim(pod_of(alone, "younger-0")));
  CHECK(only.if_protected.tried);
  CHECK(only.if_protected.pods == 0);
  CHECK(outcome_text(alone, only).starts_with("Had younger been protected, train would have got no room"));
}

TEST_CASE("what was decided before is there when the question is asked again") {
  // The first commit takes the free GPU of the second one: without it nobody would have to go.
  builder b;
  b << builder::node{"n", 4} << builder::queue{"a", "", 1} << builder::queue{"b", "", 3};
  runs(b, "one", "a", "n", 50, 1);
  runs(b, "two", "a", "n", 50, 2);
  runs(b, "three", "a", "n", 50, 3);
  b << builder::group{"first", "b", 1, 90, 100 * test::second} << builder::pod{"first-0", "first"};
  waits(b, "second", "b", 50);
  waits(b, "third", "b", 40);
  const session s = ran(made(b).take_snapshot(), "allocate,reclaim");
  const victim_account three = must(s.victim(pod_of(s, "three-0")));
  const victim_account two = must(s.victim(pod_of(s, "two-0")));
  CHECK(named(s, three.placed) == strings{"second 1"});
  CHECK(named(s, three.if_protected.victims) == strings{"two 1"});
  CHECK(named(s, two.placed) == strings{"third 1"});
  CHECK(two.rules == rules{victim_rule::queue_over_share, victim_rule::youngest});
  // `three` has left already, so `one` would have been the last.
  CHECK(named(s, two.if_protected.victims) == strings{"one 1"});
  CHECK(named(s, two.spared) == strings{"one not_needed", "first own_queue"});
}

TEST_CASE("stale gangs and runtime limits take whole groups, for nobody") {
  builder b;
  b << builder::node{"n", 4} << builder::queue{"q"};
  b << builder::group{"gang", "q", 2} << builder::pod{"gang-0", "gang", 1000, "n"};
  runs(b, "long", "q", "n");
  cluster c = made(b);
  must(c.apply(change(kind::pod_group, {"name", "stale_since"}).add({"gang", now - 600 * test::second})));
  must(c.apply(change(kind::pod_group, {"name", "last_start", "max_runtime"})
                   .add({"long", now - 600 * test::second, 60 * test::second})));
  const session s = ran(c.take_snapshot(), "stalegangeviction,runtimelimit");
  for (const auto& [pod, rule] :
       {std::pair{"gang-0", victim_rule::stale_gang}, {"long-0", victim_rule::runtime_limit}}) {
    const victim_account why = must(s.victim(pod_of(s, pod)));
    CHECK(why.rules == rules{rule});
    CHECK(why.placed.empty());
    CHECK(why.spared.empty());
    CHECK(!why.if_protected.tried);
    CHECK(outcome_text(s, why).empty());
    CHECK(s.text(why, rule).find("all of it leaves") != std::string::npos);
  }
  CHECK(must(s.passes(group_of(s, "long"), 3)).empty());
}

}  // namespace of_test_victim_account
