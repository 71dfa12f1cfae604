// Decisions that are being carried out: taken in, reported on, taken back, refused where the cluster has moved.
#include <algorithm>
#include <string>
#include <vector>

#include "io/kubernetes/actions.hpp"
#include "model/snapshot_access.hpp"
#include "model/state.hpp"
#include "rows.hpp"
#include "service_cluster.hpp"
#include "support.hpp"

namespace of_test_assume {

using namespace kaisched;
using kind = table_kind;
using test::add;
using test::builder;
using test::change;
using test::must;
using test::numbers;
using test::service;
using test::texts;

namespace {

using strings = std::vector<std::string>;

session decided(cluster& c, std::string_view actions = "allocate,consolidation,reclaim,preempt,stalegangeviction") {
  engine e;
  must(e.set("actions", actions));
  return must(e.run(c.take_snapshot(), 1000 * test::second));
}

std::string status_of(cluster& c, std::string_view pod) {
  const session s = must(engine().open(c.take_snapshot(), 0));
  const pod_row row = test::pod_by_name(s.base(), pod);
  const node_row at = s.view().node_of(row);
  return std::string(pod_status_name(s.view().status_of(row))) +
         (at == no_row ? "" : " " + std::string(s.view().node_name(at)));
}

std::vector<entity_id> ids(const cluster& c, const strings& pods) {
  std::vector<entity_id> all;
  for (const std::string& pod : pods) all.push_back(must(c.find(entity_kind::pod, pod)));
  return all;
}

std::string joined(const strings& lines) {
  std::string all;
  for (const std::string& line : lines) all += (all.empty() ? "" : "; ") + line;
  return all;
}

std::string said(const std::vector<conflict>& all) {
  strings lines;
  for (const conflict& one : all) lines.push_back(std::to_string(one.commit) + " " + one.name + ": " + one.text);
  return joined(lines);
}

/// Open decisions as text, with the names that the cluster gives.
strings open_in(const cluster& c) {
  const table t = must(c.to_table(kind::assumption));
  const table_view v = t.view();
  strings lines;
  for (std::uint64_t row = 0; row < v.rows; ++row) {
    const auto what = static_cast<decision_kind>(v.find(col::assumption_kind)->values<std::uint8_t>(v.rows)[row]);
    lines.push_back(std::string(decision_kind_name(what)) + " " +
                    std::string(v.find(col::assumption_pod_name)->string(row)) + " " +
                    std::string(v.find(col::assumption_node_name)->string(row)) +
                    (v.find(col::assumption_lost)->values<std::uint8_t>(v.rows)[row] != 0 ? " lost" : ""));
  }
  std::sort(lines.begin(), lines.end());
  return lines;
}

/// One node full of a group that anybody of a higher priority may preempt, and one that wants it.
cluster full() {
  cluster c;
  builder b;
  b << builder::queue{"q"} << builder::node{"n", 4} << builder::group{"low", "q", 1, 25};
  for (int i = 0; i < 4; ++i) b << builder::pod{"low-" + std::to_string(i), "low", 1000, "n"};
  b << builder::group{"high", "q", 2, 75, test::second};
  b << builder::pod{"high-0", "high"} << builder::pod{"high-1", "high"};
  b.apply_to(c);
  return c;
}

}  // namespace

TEST_CASE("what starts holds its place until the host reports") {
  cluster c;
  builder b;
  b << builder::queue{"q"} << builder::node{"n", 4};
  b.gang("a", "q", 2).gang("b", "q", 2);
  b.apply_to(c);
  const std::string before = c.take_snapshot().digest();
  const session s = decided(c);
  CHECK(c.assumed().empty());
  REQUIRE(must(c.assume(s)).empty());
  CHECK(open_in(c) == strings{"bind a-0 n", "bind a-1 n", "bind b-0 n", "bind b-1 n"});
  CHECK(status_of(c, "a-0") == "binding n");
  CHECK(decided(c).decisions().empty());  // nothing is left to decide
  const snapshot taken = c.take_snapshot();
  for (const decision& d : s.decisions()) CHECK(model::state_of(taken).live.pod_devices[d.pod] == d.devices);

  must(c.confirm(ids(c, {"a-0"})));
  CHECK(status_of(c, "a-0") == "bound n");
  must(c.forget(ids(c, {"b-0", "b-1"}), forget_reason::failed));
  CHECK(status_of(c, "b-0") == "pending");
  CHECK(open_in(c) == strings{"bind a-1 n"});
  must(c.forget(ids(c, {"a-1"}), forget_reason::lost));
  CHECK(open_in(c) == strings{"bind a-1 n lost"});
  CHECK(status_of(c, "a-1") == "binding n");
  must(c.forget(ids(c, {"a-0"}), forget_reason::failed));  // has been reported on: passed over
  CHECK(status_of(c, "a-0") == "bound n");
  must(c.forget(ids(c, {"a-1"}), forget_reason::failed));  // the host has found out
  CHECK(open_in(c).empty());
  CHECK(test::lines(decided(c)) == strings{"bind a-1 n", "bind b-0 n", "bind b-1 n"});
  must(c.apply(change(kind::pod, {"name", "status"}).add({"a-0", pod_status::pending})));
  must(c.apply(change(kind::pod_group, {"name", "last_start"}).add({"a", unset})));
  CHECK(c.take_snapshot().digest() == before);
}

TEST_CASE("all that is taken back leaves no trace") {
  cluster c = full();
  const std::string before = c.take_snapshot().digest();
  const session s = decided(c);
  CHECK(s.decisions().size() == 4);
  REQUIRE(must(c.assume(s)).empty());
  CHECK(open_in(c) == strings{"evict low-2 n", "evict low-3 n"});
  CHECK(status_of(c, "low-3") == "releasing n");
  CHECK(status_of(c, "high-0") == "pipelined n");  // the place is kept
  const session next = decided(c);
  CHECK(test::lines(next).empty());
  CHECK(model::state_of(next.base()).group_extras[0].evictions == 1);
  must(c.forget(ids(c, {"low-2"}), forget_reason::failed));
  CHECK(model::state_of(next.base()).group_extras[0].evictions == 1);
  must(c.forget(ids(c, {"low-3"}), forget_reason::failed));
  CHECK(c.take_snapshot().digest() == before);
}

TEST_CASE("an eviction that is lost is one that may not have happened") {
  cluster c = full();
  REQUIRE(must(c.assume(decided(c))).empty());
  must(c.forget(ids(c, {"low-2"}), forget_reason::lost));
  CHECK(status_of(c, "low-2") == "running n");
  CHECK(open_in(c) == strings{"evict low-3 n"});
  must(c.confirm(ids(c, {"low-3"})));
  CHECK(open_in(c).empty());
  CHECK(status_of(c, "low-3") == "releasing n");
  CHECK(model::state_of(c.take_snapshot()).group_extras[0].evictions == 1);  // some of it happened
}

TEST_CASE("what the host tells of a pod ends its decision") {
  cluster c = full();
  must(c.apply(change(kind::pod, {"name", "status", "node"})
                   .add({"low-0", pod_status::pending, ""})
                   .add({"low-1", pod_status::pending, ""})));
  REQUIRE(must(c.assume(decided(c))).empty());
  CHECK(open_in(c) == strings{"bind high-0 n", "bind high-1 n"});
  const std::vector<entity_id> both = ids(c, {"high-0", "high-1"});
  must(c.apply(change(kind::pod, {"name", "status"}).add({"high-0", pod_status::running})));
  table gone(static_cast<std::uint32_t>(kind::pod), static_cast<std::uint32_t>(table_op::remove));
  gone.add(col::pod_name, column_type::string, 0).push(std::string_view("high-1"));
  must(c.apply(gone));
  CHECK(c.assumed().empty());
  must(c.forget(both, forget_reason::failed));
  CHECK(status_of(c, "high-0") == "running n");
  must(c.forget(both, forget_reason::lost));
  must(c.confirm(both));
  CHECK(status_of(c, "high-0") == "running n");
}

TEST_CASE("reports about what is no pod are refused as a whole") {
  cluster c = full();
  REQUIRE(must(c.assume(decided(c))).empty());
  std::vector<entity_id> some = ids(c, {"low-2"});
  some.push_back(must(c.find(entity_kind::node, "n")));
  const std::uint64_t version = c.take_snapshot().version();
  for (const result<void>& done : {c.confirm(some), c.forget(some, forget_reason::failed)}) {
    REQUIRE_FALSE(done.ok());
    CHECK(done.failure().code == status::wrong_kind);
    CHECK(done.failure().subject == some[1]);
  }
  CHECK(c.take_snapshot().version() == version);
  CHECK(open_in(c).size() == 2);
  CHECK(c.to_table(kind::pod).failure().code == status::unsupported);
}

TEST_CASE("of two sessions over one snapshot the second gets what is left") {
  cluster c;
  builder b;
  b << builder::queue{"q"} << builder::queue{"r"} << builder::node{"m", 4} << builder::node{"n", 4};
  b.gang("a", "q", 3).gang("b", "r", 3);
  b.apply_to(c);
  const snapshot base = c.take_snapshot();
  const engine e;
  const auto decides = [&](std::string_view group) {
    session s = must(e.open(base, 0));
    must(s.run("allocate", must(base.row_of(must(c.find(entity_kind::pod_group, group)), entity_kind::pod_group))));
    return s;
  };
  const session first = decides("a");
  const session second = decides("b");
  const session both = must(e.run(base, 0));
  REQUIRE(joined(test::lines(first)) == "bind a-0 m; bind a-1 m; bind a-2 m");
  REQUIRE(joined(test::lines(second)) == "bind b-0 m; bind b-1 m; bind b-2 m");
  REQUIRE(must(c.assume(first)).empty());
  CHECK(said(must(c.assume(second))) == "1 m: pod 'b-0' does not fit any more");  // its device has gone
  CHECK(must(c.to_table(kind::conflict)).rows() == 1);
  CHECK(open_in(c).size() == 3);
  // Of the session that knew of both groups the commit for the other one is good.
  CHECK(said(must(c.assume(both))) ==
        "1 a: it has gained or lost pods, or some of them have moved on; "
        "1 a-0: an earlier decision about it has not been reported on; "
        "1 a-1: an earlier decision about it has not been reported on; "
        "1 a-2: an earlier decision about it has not been reported on");
  CHECK(open_in(c).size() == 6);
  must(must(engine().open(c.take_snapshot(), 0)).check());
}

TEST_CASE("a limit that others have used up since stands in the way") {
  cluster c;
  builder b;
  b << builder::node{"m", 4, 64, {"zone", "m"}} << builder::node{"n", 4, 64, {"zone", "n"}};
  b << builder::queue{"top", "", unlimited, 4} << builder::queue{"left", "top"} << builder::queue{"right", "top"};
  b.gang("a", "left", 3).gang("b", "right", 3);
  for (builder::pod& pod : b.pods) pod.node_selector = {"zone", pod.group == "a" ? "m" : "n"};
  b.apply_to(c);
  const snapshot base = c.take_snapshot();
  session first = must(engine().open(base, 0));
  must(first.run("allocate", 0));
  session second = must(engine().open(base, 0));
  must(second.run("allocate", 1));
  REQUIRE(must(c.assume(first)).empty());
  CHECK(said(must(c.assume(second))) == "1 top: pod 'b-1' would take it over its limit or quota");
}

namespace {

/// Two nodes; a gang of two that starts on n1, whose pod g-0 has a claim.
cluster waiting_gang() {
  cluster c;
  must(c.apply(add(kind::queue, {"name", "parent"}).add({"top", ""}).add({"q", "top"}).add({"r", "top"})));
  must(c.apply(add(kind::node, {"name", "capacity", "claimable"})
                   .add({"n1", numbers{64'000, 1 << 30, 4000, 20}, texts{"nic=a"}})
                   .add({"n2", numbers{64'000, 1 << 30, 1000, 20}, texts{}})));
  must(c.apply(add(kind::resource_claim, {"name", "device_class", "count"}).add({"net", "nic", 1})));
  must(c.apply(
      add(kind::pod_group, {"name", "queue", "min_member", "created"}).add({"g", "q", 2, 1}).add({"h", "r", 1, 2})));
  must(c.apply(add(kind::pod, {"name", "group", "request", "claims"})
                   .add({"g-0", "g", numbers{1000, 0, 2000, 1}, texts{"net"}})
                   .add({"g-1", "g", numbers{1000, 0, 2000, 1}, texts{}})
                   .add({"h-0", "h", numbers{1000, 0, 1000, 1}, texts{}})));
  return c;
}

table removal(kind of, std::uint32_t column, std::string_view name) {
  table t(static_cast<std::uint32_t>(of), static_cast<std::uint32_t>(table_op::remove));
  t.add(column, column_type::string, 0).push(name);
  return t;
}

}  // namespace

TEST_CASE("each kind of object can stand in the way, and what has nothing to do with it goes on") {
  const auto after = [](auto&&... deltas) {
    cluster c = waiting_gang();
    const session s = decided(c);
    REQUIRE(joined(test::lines(s)) == "bind h-0 n2; bind g-0 n1; bind g-1 n1");
    (must(c.apply(table(std::forward<decltype(deltas)>(deltas)))), ...);
    const std::string why = said(must(c.assume(s)));
    CHECK(open_in(c) == (why.empty() ? strings{"bind g-0 n1", "bind g-1 n1", "bind h-0 n2"} : strings{"bind h-0 n2"}));
    must(must(engine().open(c.take_snapshot(), 0)).check());
    return why;
  };
  CHECK(after().empty());
  // Changes that leave what was decided right.
  CHECK(after(add(kind::queue, {"name"}).add({"new"})).empty());
  CHECK(after(change(kind::node, {"name", "capacity"}).add({"n1", numbers{64'000, 1 << 30, 8000, 20}})).empty());
  CHECK(after(change(kind::pod, {"name", "priority"}).add({"g-0", 3})).empty());
  // Pods.
  CHECK(after(change(kind::pod, {"name", "request"}).add({"g-1", numbers{2000, 0, 2000, 1}})) ==
        "2 g-1: it asks for something else");
  CHECK(after(change(kind::pod, {"name", "status", "node"}).add({"g-1", pod_status::running, "n1"})) ==
        "2 g: it has gained or lost pods, or some of them have moved on; "
        "2 g-1: it was pending and is running");
  CHECK(after(removal(kind::pod, col::pod_name, "g-1")) ==
        "2 g: it has gained or lost pods, or some of them have moved on; "
        "2 g-1: it has been removed");
  CHECK(after(removal(kind::pod, col::pod_name, "g-1"),
              add(kind::pod, {"name", "group", "request"}).add({"g-1", "g", numbers{1000, 0, 2000, 1}})) ==
        "2 g-1: it has been removed");
  // Groups.
  CHECK(after(change(kind::pod_group, {"name", "queue"}).add({"g", "r"})) == "2 g: it is in another queue");
  CHECK(after(change(kind::pod_group, {"name", "priority"}).add({"g", 7})) == "2 g: its priority has changed");
  CHECK(after(change(kind::pod_group, {"name", "min_member"}).add({"g", 1})) == "2 g: its gang has changed");
  CHECK(after(add(kind::pod, {"name", "group", "request"}).add({"g-2", "g", numbers{1000, 0, 2000, 1}})) ==
        "2 g: it has gained or lost pods, or some of them have moved on");
  // Queues.
  CHECK(after(change(kind::queue, {"name", "parent"}).add({"q", ""})) == "2 q: it has another parent");
  CHECK(after(change(kind::queue, {"name", "limit"}).add({"q", numbers{-1, -1, 3000}})) ==
        "2 q: pod 'g-1' would take it over its limit or quota");
  CHECK(after(change(kind::pod_group, {"name", "queue"}).add({"g", "r"}), removal(kind::queue, col::queue_name, "q")) ==
        "2 g: it is in another queue");
  // Nodes.
  CHECK(after(removal(kind::node, col::node_name, "n1")) == "2 n1: it has been removed");
  CHECK(after(change(kind::node, {"name", "unschedulable"}).add({"n1", 1})) ==
        "2 n1: it refuses pod 'g-0': node_unschedulable");
  CHECK(after(change(kind::node, {"name", "labels"}).add({"n1", texts{"zone", "b"}})) ==
        "2 n1: its labels or its place in a topology have changed");
  CHECK(after(add(kind::pod, {"name", "request", "status", "node"})
                  .add({"alien", numbers{1000, 0, 1000, 1}, pod_status::running, "n1"})) ==
        "2 n1: pod 'g-0' does not fit any more");
  // Claims.
  CHECK(after(change(kind::resource_claim, {"name", "reserved_for"}).add({"net", texts{"somebody"}})) ==
        "2 net: it has changed");
  CHECK(after(removal(kind::resource_claim, col::resource_claim_name, "net")) == "2 net: it has been removed");
}

TEST_CASE("claims of what starts are given and given back") {
  cluster c = waiting_gang();
  const std::string before = c.take_snapshot().digest();
  REQUIRE(must(c.assume(decided(c))).empty());
  const auto claim = [&](std::uint32_t column) {
    const table t = must(c.take_snapshot().to_table(kind::resource_claim));
    return strings(1, std::string(t.view().find(column)->string(0)).c_str())[0];
  };
  CHECK(claim(col::resource_claim_reserved_for) == "g-0");
  CHECK(claim(col::resource_claim_devices) == "a");
  must(c.forget(ids(c, {"g-0", "g-1", "h-0"}), forget_reason::failed));
  CHECK(c.take_snapshot().digest() == before);

  REQUIRE(must(c.assume(decided(c))).empty());
  must(c.confirm(ids(c, {"g-0"})));
  CHECK(claim(col::resource_claim_reserved_for) == "g-0");
}

TEST_CASE("evictions for others are taken in only if the shares are what the session saw") {
  cluster c = full();
  must(c.apply(add(kind::queue, {"name"}).add({"elsewhere"})));
  must(c.apply(add(kind::node, {"name", "capacity"}).add({"m", numbers{64'000, 0, 0, 20}})));
  must(c.apply(add(kind::pod_group, {"name", "queue"}).add({"cpu", "q"})));
  const session s = decided(c);
  REQUIRE(s.decisions().size() == 4);
  const auto refused_after = [&](const table& delta) {
    must(c.apply(delta));
    return said(must(c.assume(s)));
  };
  CHECK(refused_after(add(kind::pod, {"name", "group", "request", "status", "node"})
                          .add({"cpu-0", "cpu", numbers{1000, 0, 0, 1}, pod_status::running, "m"})) ==
        "1 q: it holds another amount");
  must(c.apply(removal(kind::pod, col::pod_name, "cpu-0")));
  CHECK(refused_after(change(kind::queue, {"name", "over_quota_weight"}).add({"q", test::reals{2, 2, 2}})) ==
        "1 q: its quota, limit, weight, priority, usage or minimum runtime has changed");
  CHECK(c.assumed().empty());
  must(c.apply(change(kind::queue, {"name", "over_quota_weight"}).add({"q", test::reals{1, 1, 1}})));
  CHECK(said(must(c.assume(s))).empty());
  CHECK(open_in(c).size() == 2);
}

TEST_CASE("a migrating pod holds both places until the host reports") {
  const auto idle = [](cluster& c, node_row n) {
    return must(engine().open(c.take_snapshot(), 0)).view().node_idle()[n * 4 + dim_gpu];
  };
  cluster c = service();
  const std::string before = c.take_snapshot().digest();
  const session s = decided(c, "consolidation");
  REQUIRE(test::lines(s)[0] == "migrate serve-0 n2");
  REQUIRE(must(c.assume(s)).empty());
  CHECK(open_in(c) == strings{"migrate serve-0 n2"});
  CHECK(status_of(c, "serve-0") == "running n1");
  CHECK(status_of(c, "serve-0~copy") == "binding n2");
  CHECK(idle(c, 0) == 3000);
  CHECK(idle(c, 1) == 2000);
  must(c.forget(ids(c, {"serve-0"}), forget_reason::lost));
  CHECK(open_in(c) == strings{"migrate serve-0 n2 lost"});
  CHECK(idle(c, 1) == 2000);
  must(c.forget(ids(c, {"serve-0"}), forget_reason::failed));
  CHECK(c.take_snapshot().digest() == before);

  const session again = decided(c, "consolidation");
  REQUIRE(must(c.assume(again)).empty());
  must(c.confirm(ids(c, {"serve-0"})));
  CHECK(c.take_snapshot().count(entity_kind::pod) == 3);
  CHECK(status_of(c, "serve-0") == "bound n2");
  CHECK(idle(c, 0) == 4000);
  CHECK(test::lines(decided(c)) == strings{"bind train-0 n1"});
}

TEST_CASE("a stand-in never takes the name of another pod") {
  for (const char* on_invalid : {"reject", "quarantine"}) {
    cluster c = service();
    must(c.set("on_invalid", on_invalid));
    must(c.apply(add(kind::pod, {"name", "request", "status", "node"})
                     .add({"serve-0~copy", numbers{1000, 0, 0, 1}, pod_status::running, "n1"})));
    const session s = decided(c, "consolidation");
    CHECK(said(must(c.assume(s))) ==
          "1 serve-0: its stand-in 'serve-0~copy' cannot be named so: the name is taken or too long");
    CHECK(c.assumed().empty());
    must(c.forget(ids(c, {"serve-0"}), forget_reason::failed));
    CHECK(status_of(c, "serve-0~copy") == "running n1");
  }
}

TEST_CASE("a pod does not migrate to a node that has been closed, nor twice, nor beyond its budget") {
  const auto after = [](const table& delta) {
    cluster c = service();
    const session s = decided(c, "consolidation");
    must(c.apply(delta));
    return said(must(c.assume(s)));
  };
  CHECK(after(change(kind::node, {"name", "unschedulable"}).add({"n2", 1})) ==
        "1 n2: it refuses pod 'serve-0': node_unschedulable");
  CHECK(after(change(kind::node, {"name", "ready"}).add({"n2", 0})) ==
        "1 n2: it refuses pod 'serve-0': node_not_ready");
  CHECK(after(change(kind::pod_group, {"name", "disruption_budget"}).add({"serve", 0})) ==
        "1 serve: its disruption budget has changed");
  cluster c = service();
  must(c.apply(add(kind::node, {"name", "capacity"}).add({"n3", numbers{64'000, 0, 4000, 20}})));
  must(c.apply(add(kind::pod, {"name", "group", "request", "status", "node"})
                   .add({"serve-2", "serve", numbers{0, 0, 1000, 1}, pod_status::running, "n3"})));
  const session first = decided(c, "consolidation");
  REQUIRE(test::lines(first)[0].starts_with("migrate serve-0"));
  REQUIRE(must(c.assume(first)).empty());
  must(c.apply(add(kind::pod_group, {"name", "queue"}).add({"more", "q"})));
  must(c.apply(add(kind::pod, {"name", "group", "request"}).add({"more-0", "more", numbers{0, 0, 4000, 1}})));
  const session second = decided(c, "consolidation");
  for (const conflict& one : must(c.assume(second))) CHECK(one.name.starts_with("serve"));
  CHECK(c.assumed().size() == 1);
}

TEST_CASE("a stand-in goes with the migration that the host has ended") {
  cluster c = service();
  REQUIRE(must(c.assume(decided(c, "consolidation"))).empty());
  must(c.apply(removal(kind::pod, col::pod_name, "serve-0")));
  CHECK(c.assumed().empty());
  CHECK(c.take_snapshot().count(entity_kind::pod) == 2);
  REQUIRE_FALSE(c.find(entity_kind::pod, "serve-0~copy").ok());
  cluster moved = service();
  REQUIRE(must(moved.assume(decided(moved, "consolidation"))).empty());
  must(moved.apply(change(kind::pod, {"name", "status", "node"}).add({"serve-0", pod_status::running, "n2"})));
  CHECK_FALSE(moved.find(entity_kind::pod, "serve-0~copy").ok());
  must(moved.confirm(ids(moved, {"serve-0"})));
  CHECK(status_of(moved, "serve-0") == "running n2");
}

TEST_CASE("a node that has lost devices is in the way of those who were to get them") {
  cluster c;
  builder b;
  b << builder::queue{"q"} << builder::node{"n", 4} << builder::node{"z", 4, 64, {"zone", "z"}};
  b << builder::group{"a", "q"} << builder::pod{"a-0", "a", 4000};
  b << builder::group{"b", "q", 1, 50, 1} << builder::pod{"b-0", "b", 4000};
  b.pods[1].node_selector = {"zone", "z"};
  b.apply_to(c);
  const session s = decided(c, "allocate");
  REQUIRE(joined(test::lines(s)) == "bind a-0 n; bind b-0 z");
  must(c.apply(change(kind::node, {"name", "capacity"}).add({"n", numbers{64'000, 1 << 30, 2000, 110}})));
  CHECK(said(must(c.assume(s))) == "1 n: its devices have changed");
  CHECK(open_in(c) == strings{"bind b-0 z"});
}

TEST_CASE("a claim that a pod had already is its own afterwards") {
  cluster c = waiting_gang();
  must(c.apply(change(kind::resource_claim, {"name", "reserved_for"}).add({"net", texts{"g-0"}})));
  const std::string before = c.take_snapshot().digest();
  REQUIRE(said(must(c.assume(decided(c)))).empty());
  CHECK(c.assumed().size() == 3);
  must(c.forget(ids(c, {"g-0", "g-1", "h-0"}), forget_reason::failed));
  CHECK(c.take_snapshot().digest() == before);
}

TEST_CASE("a decision that the host has ended stands in nobody's way") {
  cluster c = full();
  must(c.apply(
      change(kind::pod, {"name", "status"}).add({"low-0", pod_status::pending}).add({"low-1", pod_status::pending})));
  REQUIRE(must(c.assume(decided(c))).empty());
  must(c.apply(
      change(kind::pod, {"name", "status"}).add({"high-0", pod_status::pending}).add({"high-1", pod_status::pending})));
  CHECK(c.assumed().empty());
  must(c.apply(change(kind::pod_group, {"name", "last_start"}).add({"high", unset})));
  const std::string before = c.take_snapshot().digest();
  CHECK(said(must(c.assume(decided(c)))).empty());
  CHECK(open_in(c) == strings{"bind high-0 n", "bind high-1 n"});
  must(c.forget(ids(c, {"high-0", "high-1"}), forget_reason::failed));
  CHECK(c.take_snapshot().digest() == before);  // what happened before says nothing about these decisions
}

TEST_CASE("an eviction rests on shares that depend on all queues") {
  cluster c;
  builder b;
  b << builder::queue{"x", "", 0} << builder::queue{"y", "", 4} << builder::queue{"z", "", 0};
  b << builder::node{"n", 8} << builder::group{"old", "x"};
  for (int i = 0; i < 8; ++i) b << builder::pod{"old-" + std::to_string(i), "old", 1000, "n"};
  b << builder::group{"new", "y", 1, 50, 1} << builder::pod{"new-0", "new"};
  b.apply_to(c);
  const session s = decided(c, "reclaim");
  REQUIRE(test::lines(s)[0] == "evict old-7 n");
  must(c.apply(change(kind::queue, {"name", "quota"}).add({"z", numbers{-1, -1, 8000}})));
  must(c.apply(add(kind::pod_group, {"name", "queue"}).add({"third", "z"})));
  must(c.apply(add(kind::pod, {"name", "group", "request"}).add({"third-0", "third", numbers{1000, 0, 8000, 1}})));
  const std::string why = said(must(c.assume(s)));
  CHECK(why.find("its fair share has changed") != std::string::npos);
  CHECK(c.assumed().empty());
}

TEST_CASE("devices that nobody knows stay unknown") {
  cluster c = full();
  must(c.apply(change(kind::pod, {"name", "devices"})
                   .add({"low-2", numbers{unknown_devices}})
                   .add({"low-3", numbers{unknown_devices}})));
  const std::string before = c.take_snapshot().digest();
  const session s = decided(c);
  REQUIRE(must(c.assume(s)).empty());
  std::vector<entity_id> open;
  for (const assumption& one : c.assumed()) open.push_back(one.pod);
  must(c.forget(open, forget_reason::failed));
  CHECK(c.take_snapshot().digest() == before);
}

TEST_CASE("a claim that the same session holds elsewhere in the end is one claim") {
  // Consolidation finds a better place for pods that allocate has only promised one.
  cluster c;
  must(c.apply(add(kind::queue, {"name"}).add({"p"}).add({"q"})));
  must(c.apply(add(kind::node, {"name", "capacity"})
                   .add({"n0", numbers{64'000, 0, 3000, 20}})
                   .add({"n1", numbers{64'000, 0, 2000, 20}})
                   .add({"n2", numbers{64'000, 0, 3000, 20}})));
  must(c.apply(add(kind::pod_group, {"name", "queue", "min_member", "priority", "created"})
                   .add({"r0", "p", 1, 75, 4})
                   .add({"r1", "p", 1, 25, 1})
                   .add({"r3", "q", 1, 25, 1})
                   .add({"w0", "q", 2, 75, 0})
                   .add({"w2", "q", 2, 50, 2})));
  must(c.apply(add(kind::pod, {"name", "group", "request", "status", "node"})
                   .add({"r0-0", "r0", numbers{1000, 0, 3000, 1}, pod_status::releasing, "n0"})
                   .add({"r1-0", "r1", numbers{1000, 0, 2000, 1}, pod_status::releasing, "n1"})
                   .add({"r3-0", "r3", numbers{1000, 0, 2000, 1}, pod_status::running, "n2"})
                   .add({"w0-0", "w0", numbers{1000, 0, 1000, 1}, pod_status::pending, ""})
                   .add({"w0-1", "w0", numbers{1000, 0, 1000, 1}, pod_status::pending, ""})
                   .add({"w2-0", "w2", numbers{1000, 0, 2000, 1}, pod_status::pending, ""})
                   .add({"w2-1", "w2", numbers{1000, 0, 2000, 1}, pod_status::pending, ""})));
  const std::string before = c.take_snapshot().digest();
  const session s = decided(c, "allocate,consolidation");
  const auto moves = std::count_if(s.decisions().begin(), s.decisions().end(),
                                   [](const decision& d) { return d.kind == decision_kind::move; });
  CHECK(moves == 0);  // w0-0 and w0-1 run nowhere
  const std::string told = must(io::kubernetes::format_actions(s, {}, io::kubernetes::binding_form::kubernetes));
  CHECK(told.find("Eviction") == std::string::npos);  // which would delete pods that wait
  CHECK(told.find("\"nominatedNodeName\": \"n0\"") != std::string::npos);
  CHECK(must(c.assume(s)).empty());
  CHECK(c.assumed().empty());  // there is nothing to report on places that are kept
  CHECK(c.take_snapshot().digest() != before);
  CHECK(decided(c, "allocate,consolidation").decisions().empty());
}

TEST_CASE("a pod that is leaving gives up the place that is kept for it") {
  cluster c;
  builder b;
  b << builder::queue{"q"} << builder::node{"n1", 2} << builder::node{"n2", 1} << builder::node{"n3", 1}
    << builder::group{"small", "q", 2, 25} << builder::pod{"small-0", "small", 1000, "n1"}
    << builder::pod{"small-1", "small", 1000, "n3"} << builder::group{"train", "q", 1, 50}
    << builder::pod{"train-0", "train", 2000};
  b.apply_to(c);
  CHECK(said(must(c.assume(decided(c)))) == "");
  CHECK(open_in(c) == strings{"move small-0 n1"});  // to n2
  must(c.apply(add(kind::pod_group, {"name", "queue", "min_member", "priority"}).add({"high", "q", 1, 90})));
  must(c.apply(add(kind::pod, {"name", "group", "request"}).add({"high-0", "high", numbers{1000, 0, 1000, 1}})));
  const session s = decided(c);
  const auto evicts = [&](std::string_view pod) {
    return std::any_of(s.decisions().begin(), s.decisions().end(), [&](const decision& d) {
      return d.kind == decision_kind::evict && d.pod == test::pod_by_name(s.base(), pod);
    });
  };
  CHECK(evicts("small-1"));
  REQUIRE(evicts("small-0"));  // whose place on n2 is given up
  CHECK(said(must(c.assume(s))) == "");
  CHECK(open_in(c) == strings{"bind high-0 n2", "evict small-1 n3", "move small-0 n1"});
  must(c.forget(ids(c, {"small-1"}), forget_reason::failed));
  CHECK(status_of(c, "small-1") == "running n3");
}

TEST_CASE("a claim is nothing to stop by hand either") {
  cluster c = service();
  must(c.apply(change(kind::pod, {"name", "status"}).add({"serve-0", pod_status::releasing})));
  session s = must(engine().open(c.take_snapshot(), 0));
  const pod_row train = test::pod_by_name(s.base(), "train-0");
  CHECK(must(s.pipeline(train, test::node_by_name(s.base(), "n1"))));
  const result<void> refused = s.evict(train);
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.failure().code == status::state);
  must(s.commit());
  CHECK_FALSE(s.evict(train).ok());
  must(s.check());
}

TEST_CASE("a session over a preview is no session over what the cluster became instead") {
  builder b;
  b << builder::node{"n", 4} << builder::queue{"q"};
  cluster c;
  b.apply_to(c);
  builder seen;
  seen.gang("seen", "q", 2);
  const snapshot preview = must(c.preview(seen.tables()));
  session s = must(engine().open(preview, 0));
  must(s.run("allocate"));
  REQUIRE(s.decisions().size() == 2);
  builder instead;
  instead.gang("instead", "q", 2);
  must(c.apply(instead.tables()));
  CHECK(c.take_snapshot().version() != preview.version());
  const std::vector<conflict> found = must(c.assume(s));
  CHECK_FALSE(found.empty());
  CHECK(c.assumed().empty());
}

TEST_CASE("a cluster that goes on from a snapshot trusts a session over it, and nobody else's") {
  builder b;
  b << builder::node{"n", 4} << builder::queue{"q"};
  b.gang("g", "q", 2);
  cluster first;
  b.apply_to(first);
  const snapshot base = first.take_snapshot();
  session s = must(engine().open(base, 0));
  must(s.run("allocate"));
  cluster second(base);
  CHECK(must(second.assume(s)).empty());
  CHECK(second.assumed().size() == 2);
  // Both go on by one delta each: what the first one became is not what the second one is.
  cluster third(base);
  builder other;
  other.gang("other", "q", 1);
  must(first.apply(other.tables()));
  must(third.apply(test::rows(table_kind::pod, table_op::remove, {"name"}).add({"g-0"})));
  session later = must(engine().open(first.take_snapshot(), 0));
  must(later.run("allocate"));
  CHECK_FALSE(must(third.assume(later)).empty());
}

}  // namespace of_test_assume
