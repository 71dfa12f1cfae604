/// A cluster that goes on from a version.
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <kaisched/engine.hpp>

#include "rows.hpp"
#include "support.hpp"

namespace of_test_resume {

using namespace kaisched;
using test::must;
using test::rows;

namespace {

/// Queues, nodes, groups with and without trees, pods that run and that wait; some of each have gone.
void build(cluster& c) {
  const std::vector<table> tables = [] {
    std::vector<table> all;
    all.push_back(rows(table_kind::queue, table_op::add, {"name"}).add({"q"}).add({"gone"}));
    all.push_back(rows(table_kind::node, table_op::add, {"name", "capacity"})
                      .add({"n0", test::numbers{8000, 1 << 30, 4000, 20}})
                      .add({"gone", test::numbers{8000, 1 << 30, 4000, 20}})
                      .add({"n2", test::numbers{8000, 1 << 30, 4000, 20}}));
    all.push_back(rows(table_kind::pod_group, table_op::add, {"name", "queue", "created"})
                      .add({"flat", "q", 1})
                      .add({"gone", "q", 2})
                      .add({"tree", "q", 3}));
    all.push_back(rows(table_kind::sub_group, table_op::add, {"group", "name", "min_member"})
                      .add({"gone", "a", 1})
                      .add({"gone", "b", 1})
                      .add({"tree", "a", 1})
                      .add({"tree", "b", 1}));
    all.push_back(rows(table_kind::pod, table_op::add, {"name", "group", "sub_group", "request", "status", "node"})
                      .add({"flat-0", "flat", "", test::numbers{1000, 0, 1000}, pod_status::running, "n0"})
                      .add({"flat-1", "flat", "", test::numbers{1000, 0, 1000}, pod_status::pending, ""})
                      .add({"gone-0", "gone", "a", test::numbers{2000, 0, 1000}, pod_status::running, "n2"})
                      .add({"tree-0", "tree", "a", test::numbers{1000, 0, 2000}, pod_status::pending, ""})
                      .add({"tree-1", "tree", "b", test::numbers{1000, 0, 2000}, pod_status::pending, ""}));
    return all;
  }();
  must(c.apply(tables));
  for (const auto& [kind, name] : {std::pair{table_kind::pod, "gone-0"}, std::pair{table_kind::pod_group, "gone"},
                                   std::pair{table_kind::node, "gone"}, std::pair{table_kind::queue, "gone"}}) {
    must(c.apply(rows(kind, table_op::remove, {"name"}).add({name})));
  }
}

/// New entities of every kind, in places that have become vacant; a tree of the size of the one that has gone.
std::vector<table> more() {
  std::vector<table> all;
  all.push_back(rows(table_kind::queue, table_op::add, {"name"}).add({"q2"}));
  all.push_back(
      rows(table_kind::node, table_op::add, {"name", "capacity"}).add({"n3", test::numbers{8000, 1 << 30, 4000, 20}}));
  all.push_back(rows(table_kind::pod_group, table_op::add, {"name", "queue", "created"}).add({"new", "q2", 4}));
  all.push_back(rows(table_kind::sub_group, table_op::add, {"group", "name", "min_member"})
                    .add({"new", "x", 1})
                    .add({"new", "y", 1}));
  all.push_back(rows(table_kind::pod, table_op::add, {"name", "group", "sub_group", "request"})
                    .add({"new-0", "new", "x", test::numbers{1000, 0, 1000}})
                    .add({"new-1", "new", "y", test::numbers{1000, 0, 3000}}));
  all.push_back(rows(table_kind::pod, table_op::change, {"name", "status"}).add({"flat-0", pod_status::succeeded}));
  return all;
}

}  // namespace

TEST_CASE("a cluster that goes on from a version takes the same deltas to the same version") {
  cluster c;
  build(c);
  const snapshot before = c.take_snapshot();
  const std::string digest = before.digest();
  cluster again(before);
  CHECK(again.take_snapshot().digest() == digest);
  must(again.apply(more()));
  CHECK(before.digest() == digest);
  CHECK(c.take_snapshot().digest() == digest);  // they do not know each other
  must(c.apply(more()));
  const snapshot one = c.take_snapshot();
  const snapshot other = again.take_snapshot();
  CHECK(one.digest() == other.digest());
  const session s = must(engine().run(other, 10));
  must(s.check());
  CHECK(s.digest() == must(engine().run(one, 10)).digest());
  // The names of what the first cluster had are there when it has gone.
  c = cluster();
  CHECK(other.name(must(again.find(entity_kind::pod, "tree-1"))) == "tree-1");
}

TEST_CASE("identifiers stay, those of what has gone stay stale, none is given twice") {
  cluster c;
  build(c);
  const entity_id tree = must(c.find(entity_kind::pod_group, "tree"));
  cluster again(c.take_snapshot());
  CHECK(must(again.find(entity_kind::pod_group, "tree")) == tree);
  CHECK_FALSE(again.find(entity_kind::pod_group, "gone").ok());
  CHECK(again.apply(rows(table_kind::pod_group, table_op::add, {"name", "queue"}).add({"tree", "q"})).failure().code ==
        status::duplicate);
  must(again.apply(more()));
  for (const char* name : {"flat-0", "flat-1", "tree-0", "tree-1"}) {
    CHECK(must(again.find(entity_kind::pod, name)) == must(c.find(entity_kind::pod, name)));
    CHECK(must(again.find(entity_kind::pod, "new-0")) != must(c.find(entity_kind::pod, name)));
  }
  CHECK(again.apply(rows(table_kind::node, table_op::remove, {"name"}).add({"n0"})).ok());  // flat-0 has ended
  CHECK_FALSE(c.apply(rows(table_kind::node, table_op::remove, {"name"}).add({"n0"})).ok());
}

TEST_CASE("sums of requests go on where they were: what is too much for one is too much for the other") {
  cluster c;
  build(c);
  rows many(table_kind::pod, table_op::add, {"name", "group", "request"});  // 2^62 bytes of memory, and that is the end
  for (int i = 0; i < 1024; ++i) many.add({"m" + std::to_string(i), "flat", test::numbers{0, max_amount, 0}});
  must(c.apply(many));
  cluster again(c.take_snapshot());
  cluster loaded(must(snapshot::load(c.take_snapshot().save())));
  for (cluster* one : {&c, &again, &loaded}) {
    const result<void> refused = one->apply(
        rows(table_kind::pod, table_op::add, {"name", "group", "request"}).add({"x", "flat", test::numbers{0, 1, 0}}));
    REQUIRE_FALSE(refused.ok());
    CHECK(refused.failure().code == status::limit);
  }
}

TEST_CASE("a preview is the version that a delta would make, and the cluster stays as it is") {
  cluster c;
  build(c);
  const std::string before = c.take_snapshot().digest();
  const snapshot would_be = must(c.preview(more()));
  CHECK(would_be.digest() != before);
  CHECK(c.take_snapshot().digest() == before);
  CHECK_FALSE(c.find(entity_kind::pod, "new-0").ok());
  must(must(engine().run(would_be, 10)).check());
  const table again = rows(table_kind::queue, table_op::add, {"name"}).add({"q"});
  const std::vector<table_view> bad{again.view()};
  CHECK(c.preview(bad).failure().code == status::duplicate);
  must(c.apply(more()));
  CHECK(c.take_snapshot().digest() == would_be.digest());
}

TEST_CASE("names survive previews that would leave most of them behind") {
  cluster c;
  must(c.apply(rows(table_kind::queue, table_op::add, {"name"}).add({"q"})));
  const auto name = [](int i) { return std::string(200, 'g') + std::to_string(i); };
  constexpr int groups = 40'000;  // 8 MB of names: more than what is waited for before names move together
  rows all(table_kind::pod_group, table_op::add, {"name", "queue"});
  rows most(table_kind::pod_group, table_op::remove, {"name"});
  for (int i = 0; i < groups; ++i) {
    all.add({name(i), "q"});
    if (i > 0) most.add({name(i)});
  }
  must(c.apply(all));
  const std::string before = c.take_snapshot().digest();
  const std::vector<table> gone = [&] {
    std::vector<table> one;
    one.push_back(most);
    return one;
  }();
  for (int i = 0; i < 3; ++i) CHECK(must(c.preview(gone)).digest() != before);
  CHECK(c.take_snapshot().digest() == before);
  CHECK(c.find(entity_kind::pod_group, name(0)).ok());
  CHECK(c.find(entity_kind::pod_group, name(groups - 1)).ok());
  must(c.apply(gone));
  CHECK(c.find(entity_kind::pod_group, name(0)).ok());
  CHECK_FALSE(c.find(entity_kind::pod_group, name(1)).ok());
}

}  // namespace of_test_resume
