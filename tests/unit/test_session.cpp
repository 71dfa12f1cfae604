// Statements, forks, allocate, reasons.
#include "support.hpp"

namespace of_test_session {

using namespace kaisched;
using test::builder;
using test::lines;
using test::must;
using strings = std::vector<std::string>;

namespace {

builder two_nodes() {
  builder b;
  b << builder::queue{"q"} << builder::node{"n1", 4} << builder::node{"n2", 4};
  b << builder::group{"old", "q"} << builder::pod{"old-0", "old", 3000, "n1"};
  return b;
}

}  // namespace

TEST_CASE("undo restores the state to the byte, through nested checkpoints") {
  builder b = two_nodes();
  b.gang("g", "q", 4);
  const snapshot base = b.take();
  session s = must(engine().open(base, 0));
  const auto pod = [&](const char* name) { return test::pod_by_name(base, name); };
  const node_row n1 = test::node_by_name(base, "n1");
  const node_row n2 = test::node_by_name(base, "n2");
  const std::string start = s.state_digest();
  const checkpoint outer = s.mark();
  CHECK(must(s.allocate(pod("g-0"), n1)));
  CHECK_FALSE(must(s.allocate(pod("g-1"), n1)));
  const std::string middle = s.state_digest();
  CHECK(middle != start);
  const checkpoint inner = s.mark();
  must(s.evict(pod("old-0")));
  CHECK(must(s.pipeline(pod("g-1"), n1)));
  CHECK(must(s.pipeline(pod("old-0"), n2)));
  must(s.check());
  must(s.rollback(inner));
  CHECK(s.state_digest() == middle);
  must(s.rollback(outer));
  CHECK(s.state_digest() == start);
  CHECK_FALSE(s.rollback(inner).ok());
}

TEST_CASE("the line of those who wait is the order in which allocate would try them") {
  builder b = two_nodes();
  b << builder::queue{"r"};
  for (const char* name : {"q-low", "q-high", "r-late", "r-early", "starts"}) {
    const bool is_q = name[0] == 'q';
    b.gang(name, is_q || name[0] == 's' ? "q" : "r", name[0] == 's' ? 1 : 8);
    if (name == std::string("q-high")) b.groups.back().priority = 80;
  }
  const snapshot base = b.take();
  const engine with = engine();
  session s = must(with.open(base, 0));
  const auto names = [&](const session& of) {
    strings all;
    for (const group_row g : must(of.line())) all.emplace_back(base.group_name(g));
    return all;
  };
  const std::string before = s.state_digest();
  CHECK(names(s).size() == 5);
  must(s.run("allocate"));
  // One that has started stands in no line; queue r holds nothing, so it is served first, then the higher priority.
  const strings waiting = names(s);
  REQUIRE(waiting.size() == 4);
  CHECK(waiting[0].front() == 'r');
  CHECK(std::ranges::find(waiting, "q-high") < std::ranges::find(waiting, "q-low"));
  CHECK(names(s) == waiting);
  CHECK(names(s.fork()) == waiting);
  CHECK(s.decisions().size() == 1);
  const checkpoint start = s.mark();
  must(s.evict(test::pod_by_name(base, "old-0")));
  CHECK(s.line().failure().code == status::state);
  must(s.rollback(start));
  engine other;
  must(other.set("actions", "reclaim"));
  CHECK(must(other.open(base, 0)).line().failure().message.find("'allocate'") != std::string::npos);
  CHECK(before == must(with.open(base, 0)).state_digest());
}

TEST_CASE("an evicted pod that comes back to its place was never touched") {
  const snapshot base = two_nodes().take();
  session s = must(engine().open(base, 0));
  const pod_row old = test::pod_by_name(base, "old-0");
  const std::string start = s.state_digest();
  must(s.evict(old));
  CHECK(must(s.pipeline(old, test::node_by_name(base, "n1"))));
  CHECK(s.state_digest() == start);
  must(s.commit());
  CHECK(s.decisions().empty());
}

TEST_CASE("an evicted pod with a claim elsewhere is a move") {
  const snapshot base = two_nodes().take();
  session s = must(engine().open(base, 0));
  const pod_row old = test::pod_by_name(base, "old-0");
  must(s.evict(old));
  CHECK(must(s.pipeline(old, test::node_by_name(base, "n2"))));
  must(s.commit());
  must(s.check());
  CHECK(lines(s) == strings{"move old-0 n2"});
}

TEST_CASE("what a statement has placed is taken back by going back, once it is committed by an eviction") {
  builder b = two_nodes();
  b.gang("g", "q", 1);
  const snapshot base = b.take();
  session s = must(engine().open(base, 0));
  const pod_row fresh = test::pod_by_name(base, "g-0");
  const node_row n1 = test::node_by_name(base, "n1");
  const checkpoint before = s.mark();
  CHECK(must(s.allocate(fresh, n1)));
  const result<void> refused = s.evict(fresh);
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.failure().code == status::state);
  CHECK(refused.failure().message == "pod 'g-0' has been placed by this statement: roll it back");
  must(s.rollback(before));
  CHECK(must(s.allocate(fresh, n1)));
  must(s.commit());
  must(s.evict(fresh));
  must(s.commit());
  must(s.check());
  CHECK(lines(s).empty());  // decisions are net
}

TEST_CASE("a fork decides for itself") {
  builder b = two_nodes();
  b.gang("g", "q", 1);
  const snapshot base = b.take();
  session s = must(engine().open(base, 0));
  session what_if = s.fork();
  must(what_if.evict(test::pod_by_name(base, "old-0")));
  must(what_if.commit());
  CHECK(s.decisions().empty());
  CHECK(what_if.state_digest() != s.state_digest());
  must(s.run());
  CHECK(lines(s) == strings{"bind g-0 n1"});
  must(what_if.run());
  CHECK(lines(what_if) == strings{"evict old-0 n1", "bind g-0 n1"});
}

TEST_CASE("binpack fills, spread spreads") {
  builder b = two_nodes();
  b.gang("g", "q", 1);
  CHECK(lines(must(engine().run(b.take(), 0))) == strings{"bind g-0 n1"});
  const engine spread = test::make_engine({"placement.gpu", "spread"});
  CHECK(lines(must(spread.run(b.take(), 0))) == strings{"bind g-0 n2"});
}

TEST_CASE("a gang starts as a whole or not at all") {
  builder b = two_nodes();
  b.gang("big", "q", 6).gang("fits", "q", 5);
  const session s = must(engine().run(b.take(), 0));
  CHECK(s.decisions().size() == 5);
  for (const std::string& line : lines(s)) CHECK(line.starts_with("bind fits-"));
  const std::vector<reason> why = s.reasons();
  REQUIRE_FALSE(why.empty());
  CHECK(s.base().group_name(why.front().group) == "big");
}

TEST_CASE("pods that no sub-group takes are a reason of their group") {
  builder b = two_nodes();
  b << builder::group{"g", "q", 1} << builder::group{"h", "q", 1};
  b << builder::pod{"g-b", "g", 1000, "", 1000, "wrokers"} << builder::pod{"g-a", "g", 1000, "", 1000, "nowhere"};
  b << builder::pod{"h-0", "h"} << builder::pod{"h-1", "h", 1000, "", 1000, "wrokers"};
  b << builder::pod{"h-2", "h", 9000};
  session s = must(engine().run(b.take(), 0));
  const auto texts_of = [](const session& of) {
    strings all;
    for (const reason& why : of.reasons()) all.push_back(std::string(constraint_name(why.what)) + ": " + of.text(why));
    return all;
  };
  CHECK(texts_of(s) == strings{"sub_group_missing: pod 'g-a' names sub-group 'nowhere', which does not exist or has "
                               "children; 2 pods of the group wait for such a reason",
                               "larger_than_any_node: needs 9 GPU, the largest node has 4 GPU",
                               "sub_group_missing: pod 'h-1' names sub-group 'wrokers', which does not exist or has "
                               "children"});
  CHECK(must(s.to_table(table_kind::reason)).rows() == 3);
  CHECK(must(s.to_table(table_kind::decision)).rows() == 3);  // h-0 starts, g and h wait
  // Nothing of that where every pod is part of its group.
  builder good = two_nodes();
  good.gang("g", "q", 1);
  CHECK(must(engine().run(good.take(), 0)).reasons().empty());
}

TEST_CASE("nobody is said to have found no place before anything has tried") {
  builder b = two_nodes();
  b.gang("one", "q", 1).gang("wide", "q", 1, 9000);
  session s = must(engine().open(b.take(), 0));
  REQUIRE(s.reasons().size() == 2);
  CHECK(s.reasons()[0].what == constraint::not_tried);
  CHECK(s.text(s.reasons()[0]) == "a node would take its first pod, but no action has tried to start the group");
  CHECK(s.reasons()[1].what == constraint::larger_than_any_node);
  must(s.run());
  REQUIRE(s.reasons().size() == 1);
  CHECK(s.reasons()[0].what == constraint::larger_than_any_node);
}

TEST_CASE("a pod waits for resources that are being released, and its gang waits with it") {
  builder b;
  b << builder::queue{"q"} << builder::node{"n1", 2};
  b << builder::group{"old", "q"};
  b << builder::pod{"old-0", "old", 1000, "n1", 1000, "", {}, {}, {}, {}, {}, pod_status::releasing};
  b.gang("g", "q", 2);
  const session s = must(engine().run(b.take(), 0));
  CHECK(lines(s) == strings{"pipeline g-1 n1", "pipeline g-0 n1"});  // what started first is turned into a claim last
  must(s.check());
}

TEST_CASE("quota, limit and preemptibility") {
  builder b;
  b << builder::queue{"q", "", 1, 2} << builder::node{"n1", 8};
  for (const char* name : {"a", "b", "c"}) b.gang(name, "q", 1);
  const session s = must(engine().run(b.take(), 0));
  CHECK(lines(s) == strings{"bind a-0 n1", "bind b-0 n1"});
  REQUIRE(s.reasons().size() == 1);
  CHECK(s.reasons().front().what == constraint::queue_limit);
  CHECK(s.text(s.reasons().front()) == "queue 'q' would pass its limit: asks for 1 GPU, 0 GPU left");
  for (builder::group& g : b.groups) g.preemptible = false;
  const session strict = must(engine().run(b.take(), 0));
  CHECK(lines(strict) == strings{"bind a-0 n1"});
  CHECK(strict.reasons().front().what == constraint::queue_quota);
}

TEST_CASE("shares of devices go to the device with the least room that is enough") {
  builder b;
  b << builder::queue{"q"} << builder::node{"n1", 2};
  b.gang("a", "q", 1, 700).gang("b", "q", 1, 600).gang("c", "q", 1, 300).gang("d", "q", 1, 400);
  b.gang("whole", "q", 1, 1000);
  const session s = must(engine().run(b.take(), 0));
  must(s.check());
  std::vector<std::uint64_t> masks;
  for (const decision& d : s.decisions()) masks.push_back(d.devices.mask);
  CHECK(masks == std::vector<std::uint64_t>{1, 2, 1, 2});
  REQUIRE(s.reasons().size() == 1);
  CHECK(s.reasons().front().what == constraint::resource);
}

TEST_CASE("nodes refuse for their own reasons") {
  builder b;
  b << builder::queue{"q"};
  b << builder::node{"labelled", 8, 64, {"zone", "a"}}
    << builder::node{"tainted", 8, 64, {"zone", "b"}, {"dedicated=x:NoSchedule"}};
  b << builder::node{"down", 8, 64, {"zone", "b"}, {}, false};
  b << builder::group{"g", "q"} << builder::pod{"g-0", "g", 1000, "", 1000, "", {"zone", "b"}};
  const session s = must(engine().run(b.take(), 0));
  CHECK(s.decisions().empty());
  std::vector<constraint> found;
  for (const reason& why : s.reasons()) found.push_back(why.what);
  std::sort(found.begin(), found.end());
  CHECK(found == std::vector<constraint>{constraint::node_not_ready, constraint::node_selector, constraint::taint});
}

TEST_CASE("pods keep together and apart, and ports are exclusive") {
  builder b;
  b << builder::queue{"q"};
  for (const char* name : {"n1", "n2"}) b << builder::node{name, 8, 64, {"host", name}};
  b << builder::group{"db", "q"} << builder::pod{"db-0", "db", 0, "n2", 1000, "", {}, {}, {}, {"app", "db"}};
  b << builder::group{"web", "q", 1, 50, 1}
    << builder::pod{"web-0", "web", 0, "", 1000, "", {}, {"host: app=db"}, {}, {"app", "web"}};
  b << builder::group{"far", "q", 1, 50, 2} << builder::pod{"far-0", "far", 0, "", 1000, "", {}, {}, {"host: app=web"}};
  b << builder::group{"p1", "q", 1, 50, 3}
    << builder::pod{"p1-0", "p1", 0, "", 1000, "", {"host", "n1"}, {}, {}, {}, {"80"}};
  b << builder::group{"p2", "q", 1, 50, 4}
    << builder::pod{"p2-0", "p2", 0, "", 1000, "", {"host", "n1"}, {}, {}, {}, {"10.0.0.1:80/TCP"}};
  const session s = must(engine().run(b.take(), 0));
  CHECK(lines(s) == strings{"bind web-0 n2", "bind far-0 n1", "bind p1-0 n1"});
  std::vector<constraint> found;
  for (const reason& why : s.reasons()) found.push_back(why.what);
  std::sort(found.begin(), found.end());
  CHECK(found == std::vector<constraint>{constraint::node_selector, constraint::host_port});
}

TEST_CASE("unknown names in options are refused with a hint") {
  engine e;
  CHECK(e.set("placement.gpo", "spread").failure().message ==
        "there is no option 'placement.gpo'; did you mean 'placement.gpu'?");
  CHECK_FALSE(e.set("placement.gpu", "sideways").ok());
  CHECK_FALSE(e.set("queue_depth.allocate", "1.5").ok());
  CHECK_FALSE(e.set("queue_depth.allocate", "-1").ok());
  CHECK_FALSE(e.set("reference_path", "yes").ok());
  must(e.set("parts", "predicates, propotion"));
  CHECK(e.open(snapshot(), 0).failure().message == "there is no part 'propotion'; did you mean 'proportion'?");
  must(e.set("preset", "kai"));
  must(e.set("actions", "alocate"));
  CHECK(e.run(snapshot(), 0).failure().message == "there is no action 'alocate'; did you mean 'allocate'?");
  for (const option_info& o : option_list()) {
    if (o.applies_to != option_target::engine) continue;
    must(e.set("preset", "kai"));
    CHECK(must(e.get(o.name)) == o.fallback);
  }
}

TEST_CASE("an empty cluster is a cluster") {
  const session s = must(engine().run(snapshot(), 0));
  CHECK(s.decisions().empty());
  must(s.check());
  for (const table_kind kind : {table_kind::decision, table_kind::reason, table_kind::queue_share,
                                table_kind::placement, table_kind::statistic, table_kind::attempt}) {
    CHECK(must(s.to_table(kind)).rows() == (kind == table_kind::statistic ? 5 : 0));
  }
  CHECK_FALSE(s.to_table(table_kind::pod).ok());
}

TEST_CASE("a checkpoint dies with its statement") {
  builder b = two_nodes();
  b.gang("g", "q", 2);
  const snapshot base = b.take();
  session s = must(engine().open(base, 0));
  const checkpoint start = s.mark();
  CHECK(must(s.allocate(test::pod_by_name(base, "g-0"), test::node_by_name(base, "n2"))));
  must(s.commit());
  CHECK(must(s.allocate(test::pod_by_name(base, "g-1"), test::node_by_name(base, "n2"))));
  CHECK(s.rollback(start).failure().code == status::state);
}

TEST_CASE("of several short dimensions the reason names the one that is shortest for its need") {
  builder b;
  b << builder::queue{"q"} << builder::node{"n", 8, 8} << builder::group{"old", "q"}
    << builder::pod{"old-0", "old", 8000, "n", 1000};
  b << builder::group{"g", "q"} << builder::pod{"g-0", "g", 1000, "", 8000};
  const session s = must(engine().run(b.take(), 0));
  REQUIRE(s.reasons().size() == 1);
  CHECK(s.reasons().front().dim == dim_gpu);
  CHECK(s.text(s.reasons().front()) == "1 node short of gpu: need 1 GPU, at most 0 GPU free (on n)");
}

TEST_CASE("of optional sub-groups strict tries one that has its pods, compat the first as the reference does") {
  cluster c;
  builder b;
  b << builder::queue{"q"} << builder::node{"n"} << builder::group{"g", "q"};
  b << builder::pod{"g-0", "g", 1000, "", 1000, "full"} << builder::pod{"g-1", "g", 1000, "", 1000, "full"};
  b.apply_to(c);
  table subs(table_kind::sub_group, table_op::add);
  auto& group = subs.add(col::sub_group_group, column_type::string);
  auto& name = subs.add(col::sub_group_name, column_type::string);
  auto& min = subs.add(col::sub_group_min_member, column_type::i64);
  for (const auto& [sub, needed] : {std::pair<std::string_view, std::int64_t>{"empty", 1}, {"full", 2}}) {
    group.push(std::string_view("g"));
    name.push(sub);
    min.push(needed);
  }
  must(c.apply(subs));
  table one(table_kind::pod_group, table_op::change);
  one.add(col::pod_group_name, column_type::string).push(std::string_view("g"));
  one.add(col::pod_group_min_sub_group, column_type::i64).push(std::int64_t{1});
  must(c.apply(one));
  CHECK(lines(must(engine().run(c.take_snapshot(), 0))) == strings{"bind g-0 n", "bind g-1 n"});
  CHECK(lines(must(test::make_engine({"mode", "compat"}).run(c.take_snapshot(), 0))).empty());
}

TEST_CASE("a promised node is taken before a better one") {
  cluster c;
  builder b = two_nodes();
  b.gang("g", "q", 1);
  b.apply_to(c);
  table t(table_kind::pod, table_op::change);
  t.add(col::pod_name, column_type::string).push(std::string_view("g-0"));
  t.add(col::pod_nominated_node, column_type::string).push(std::string_view("n2"));
  must(c.apply(t));
  for (const char* reference : {"false", "true"}) {
    const engine e = test::make_engine({"reference_path", reference});
    CHECK(lines(must(e.run(c.take_snapshot(), 0))) == strings{"bind g-0 n2"});
  }
}

}  // namespace of_test_session
