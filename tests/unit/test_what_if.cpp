/// Groups that do not exist yet: would they start, whom would they displace, when would they start.
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <kaisched/what_if.hpp>

#include "rows.hpp"
#include "support.hpp"

namespace of_test_what_if {

using namespace kaisched;
using test::builder;
using test::must;
using test::rows;
using test::second;

namespace {

constexpr std::int64_t now = 1000 * second;

session ran(const snapshot& s) { return must(engine().run(s, now)); }

/// A pod group and its pods, as the tables that add them.
std::vector<table> submission(const std::string& name, const std::string& queue, std::int64_t pods,
                              std::int64_t gpu_milli = 1000) {
  builder b;
  b.gang(name, queue, pods, gpu_milli);
  b.groups.front().created = now;
  std::vector<table> made;
  for (table& one : b.tables()) {
    if (one.rows() > 0) made.push_back(std::move(one));
  }
  return made;
}

what_if_report asked(const session& s, const std::vector<table>& change, const what_if_limits& limits = {}) {
  std::vector<table_view> views;
  for (const table& one : change) views.push_back(one.view());
  return must(s.what_if(views, {}, limits));
}

/// A group whose pods run, one for each GPU that it holds.
void runs(builder& b, const std::string& name, const std::string& queue, std::int64_t gpus, const std::string& node) {
  b << builder::group{name, queue};
  for (std::int64_t i = 0; i < gpus; ++i) b << builder::pod{name + "-" + std::to_string(i), name, 1000, node};
}

table times(std::initializer_list<std::tuple<std::string, std::int64_t, std::int64_t>> groups) {
  rows t(table_kind::pod_group, table_op::change, {"name", "last_start", "runtime_estimate"});
  for (const auto& [name, start, estimate] : groups) t.add({name, start, estimate});
  return t;
}

}  // namespace

TEST_CASE("what is free is enough: it starts now, and nothing has changed") {
  builder b;
  b << builder::node{"n", 4} << builder::queue{"q"};
  b.gang("first", "q", 2);
  const snapshot base = b.take();
  const session s = ran(base);
  const std::string before = s.state_digest();
  const what_if_report report = asked(s, submission("new", "q", 2));
  REQUIRE(report.groups.size() == 1);
  const forecast& one = report.groups.front();
  CHECK(report.over.group_name(one.group) == "new");
  CHECK(one.way == start_way::now);
  CHECK(one.action == action_kind::allocate);
  CHECK(one.starts == 2);
  CHECK(one.earliest == now);
  CHECK(one.expected == now);
  REQUIRE(one.decisions.size() == 2);
  CHECK(report.over.pod_name(one.decisions[0].pod) == "new-0");
  CHECK(report.over.node_name(one.decisions[0].node) == "n");
  CHECK(s.state_digest() == before);
  CHECK(base.count(entity_kind::pod_group) == 1);
  // What this session has started holds its place.
  CHECK(asked(s, submission("new", "q", 3)).groups.front().way == start_way::unknown);
}

TEST_CASE("others would have to leave: who, by which action") {
  builder b;
  b << builder::node{"n", 4} << builder::queue{"rich", "", 4} << builder::queue{"poor", "", 0};
  runs(b, "old", "poor", 4, "n");
  const session s = ran(b.take());
  const forecast one = asked(s, submission("new", "rich", 2)).groups.front();
  CHECK(one.way == start_way::displaces);
  CHECK(one.action == action_kind::reclaim);
  CHECK(one.starts == 2);
  std::vector<std::string> victims;
  for (const decision& d : one.decisions) {
    if (d.kind == decision_kind::evict) victims.emplace_back(s.base().pod_name(d.pod));
  }
  CHECK(victims == std::vector<std::string>{"old-3", "old-2"});
  CHECK_FALSE(one.reasons.empty());
  CHECK(one.knowledge == start_knowledge::no_estimate);  // by itself it waits for a group without estimate
  what_if_limits peaceful;
  peaceful.displace = false;
  CHECK(asked(s, submission("new", "rich", 2), peaceful).groups.front().way == start_way::unknown);
}

TEST_CASE("by the actions of the policy who delays nobody does not stand in the line") {
  builder b;
  b << builder::node{"n", 4} << builder::queue{"q"};
  runs(b, "short", "q", 2, "n");
  runs(b, "long", "q", 2, "n");
  b.gang("head", "q", 4);
  cluster c;
  for (const table& one : b.tables()) must(c.apply(one));
  must(c.apply(times({{"short", now, 100 * second}, {"long", now, 300 * second}, {"head", unset, 50 * second}})));
  engine easy;
  must(easy.set("actions", "backfill"));
  const session s = must(easy.run(c.take_snapshot(), now));
  std::vector<table> change = submission("new", "q", 1);
  change.push_back(times({{"new", unset, 150 * second}}));
  what_if_limits limits;
  CHECK(asked(s, change, limits).groups.front().expected == now + 350 * second);
  limits.policy_actions = true;
  const forecast one = asked(s, change, limits).groups.front();
  CHECK(one.expected == now + 100 * second);
  CHECK(one.starts_before == 0);
  change.back() = times({{"new", unset, 250 * second}});  // too long to be done before
  CHECK(asked(s, change, limits).groups.front().expected == now + 350 * second);
}

TEST_CASE("when: those that run end, those that wait come first") {
  builder b;
  b << builder::node{"n", 4} << builder::queue{"q"};
  runs(b, "running", "q", 4, "n");
  b.gang("waiting", "q", 4);
  cluster c;
  b.apply_to(c);
  must(c.apply(times({{"running", now - 60 * second, 160 * second}, {"waiting", unset, 50 * second}})));
  const session s = ran(c.take_snapshot());
  const forecast one = asked(s, submission("new", "q", 3)).groups.front();
  CHECK(one.way == start_way::later);
  CHECK(one.earliest == now + 100 * second);
  CHECK(one.expected == now + 150 * second);
  CHECK(one.knowledge == start_knowledge::known);
  CHECK(one.ends_before == 2);
  CHECK(one.starts_before == 1);
  // What fits beside those that wait does not wait for them to end.
  const forecast small = asked(s, submission("new", "q", 5)).groups.front();
  CHECK(small.way == start_way::unknown);
  CHECK(small.earliest == -1);
  CHECK(small.knowledge == start_knowledge::never);
  what_if_limits short_sighted;
  short_sighted.ends = 1;
  const forecast far = asked(s, submission("new", "q", 3), short_sighted).groups.front();
  CHECK(far.knowledge == start_knowledge::horizon);
  CHECK(far.earliest == now + 100 * second);
}

TEST_CASE("a group that exists can be asked about by name, with no change or another one") {
  builder b;
  b << builder::node{"n", 4} << builder::queue{"q", "", unlimited, 2};
  b.gang("g", "q", 4);
  const session s = ran(b.take());
  const std::string_view name = "g";
  const what_if_report as_is = must(s.what_if({}, {&name, 1}));
  CHECK(as_is.groups.front().way == start_way::unknown);
  CHECK(as_is.groups.front().knowledge == start_knowledge::never);
  table more = rows(table_kind::queue, table_op::change, {"name", "limit"})
                   .add({"q", test::numbers{unlimited, unlimited, 4000}});
  const table_view view = more.view();
  const what_if_report raised = must(s.what_if({&view, 1}, {&name, 1}));
  CHECK(raised.groups.front().way == start_way::now);
  CHECK(raised.groups.front().starts == 4);
}

TEST_CASE("questions that make no sense are refused by name") {
  builder b;
  b << builder::node{"n", 4} << builder::queue{"q"};
  b.gang("g", "q", 2);
  const session s = ran(b.take());
  const auto views = [](const std::vector<table>& change) {
    std::vector<table_view> all;
    for (const table& one : change) all.push_back(one.view());
    return all;
  };
  const std::vector<table> lost = submission("new", "no-such-queue", 1);
  CHECK(s.what_if(views(lost)).failure().message.find("no-such-queue") != std::string::npos);
  CHECK(s.what_if({}).failure().message.find("no pod group is named") != std::string::npos);
  const std::string_view unknown = "nobody";
  CHECK(s.what_if({}, {&unknown, 1}).failure().message.find("nobody") != std::string::npos);
  const std::vector<table> again = submission("g", "q", 1);
  CHECK(s.what_if(views(again)).failure().code == status::duplicate);
  session by_hand = must(engine().open(b.take(), 0));
  CHECK(must(by_hand.allocate(test::pod_by_name(by_hand.base(), "g-0"), 0)));
  const std::vector<table> good = submission("new", "q", 1);
  CHECK(by_hand.what_if(views(good)).failure().code == status::state);
  // A group whose pods all run has nothing to start.
  const std::string_view started = "g";
  CHECK(must(s.what_if({}, {&started, 1})).groups.front().way == start_way::none);
}

TEST_CASE("what no empty cluster would start is never started, whoever runs without an estimate") {
  builder b;
  b << builder::node{"n", 4} << builder::queue{"top"} << builder::queue{"q", "top"};
  runs(b, "old", "q", 4, "n");
  const session s = ran(b.take());
  const forecast large = asked(s, submission("new", "q", 1, 8000)).groups.front();
  CHECK(large.way == start_way::unknown);
  CHECK(large.knowledge == start_knowledge::never);
  CHECK(asked(s, submission("new", "top", 1)).groups.front().knowledge == start_knowledge::never);
  CHECK(asked(s, submission("new", "q", 1)).groups.front().knowledge == start_knowledge::no_estimate);
}

TEST_CASE("an answer does not depend on what was asked before") {
  builder b;
  b << builder::node{"n", 4} << builder::queue{"q"};
  b.gang("first", "q", 2);
  const snapshot base = b.take();
  const session s = ran(base);
  const auto told = [](const what_if_report& of) {
    std::string text;
    for (const decision& d : of.groups.front().decisions)
      text += std::string(of.over.pod_name(d.pod)) + " " + std::string(of.over.node_name(d.node)) + ";";
    return text + of.over.digest() + std::string(start_way_name(of.groups.front().way));
  };
  const std::string alone = told(asked(ran(base), submission("new", "q", 2)));
  for (int i = 0; i < 300; ++i) {  // more than one world serves
    static_cast<void>(asked(s, submission("other-" + std::to_string(i), "q", 1 + i % 6)));
    if (i % 50 == 0) CHECK_FALSE(s.what_if({}, std::vector<std::string_view>{"nobody"}, {}).ok());
    if (i % 50 == 1)
      CHECK_FALSE(s.what_if(std::vector<table_view>{submission("first", "q", 1).front().view()}, {}, {}).ok());
    if (i % 50 == 2) CHECK(s.remedies(0).ok());
    REQUIRE(told(asked(s, submission("new", "q", 2))) == alone);
  }
}

TEST_CASE("a question ends when its session is told to, and so do the sessions that it tries things on") {
  builder b;
  b << builder::node{"n", 2} << builder::queue{"q"};
  b.gang("first", "q", 2);
  b.gang("waits", "q", 2);
  cluster c;
  b.apply_to(c);
  session s = ran(c.take_snapshot());
  const group_row waits = must(c.find(entity_kind::pod_group, "waits")).slot();
  const std::vector<group_row> groups{waits};
  s.cancel();
  const auto is_cancelled = [](const auto& answer) {
    return !answer.ok() && answer.failure().code == status::cancelled;
  };
  CHECK(is_cancelled(s.what_if({}, std::vector<std::string_view>{"waits"}, {})));
  CHECK(is_cancelled(s.ask("allocate", groups)));
  CHECK(is_cancelled(s.remedies(waits)));
  CHECK(s.fork().what_if({}, std::vector<std::string_view>{"waits"}, {}).ok());
  CHECK(is_cancelled(s.run("allocate")));
  CHECK(s.what_if({}, std::vector<std::string_view>{"waits"}, {}).ok());
  CHECK(s.ask("allocate", groups).ok());
}

}  // namespace of_test_what_if
