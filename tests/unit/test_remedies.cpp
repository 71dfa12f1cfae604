/// What would let a group start: situations that people have, and random small clusters against trying everything.
#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <kaisched/remedies.hpp>

#include "rows.hpp"
#include "support.hpp"

namespace of_test_remedies {

using namespace kaisched;
using test::builder;
using test::must;
using test::rows;

namespace {

using strings = std::vector<std::string>;

group_row group_of(const snapshot& s, std::string_view name) {
  const session all = must(engine().open(s, 0));
  for (group_row g = 0;; ++g) {
    if (all.view().group_name(g) == name) return g;
  }
}

session ran(const snapshot& s, std::string_view actions = "allocate") {
  engine e;
  must(e.set("actions", actions));
  return must(e.run(s, 1000 * test::second));
}

/// The remedies of a group as sentences.
strings said(const session& s, std::string_view group, const remedy_limits& limits = {}) {
  const remedy_report found = must(s.remedies(group_of(s.base(), group), limits));
  strings all;
  for (const remedy& one : found.remedies) all.push_back(s.text(one));
  if (!found.complete) all.emplace_back("incomplete");
  return all;
}

bool says(const strings& all, const std::string& wanted) {
  const bool found = std::find(all.begin(), all.end(), wanted) != all.end();
  if (!found) {
    for (const std::string& one : all) MESSAGE(one);
  }
  return found;
}

/// Pods of the group that start if a cluster of this snapshot gets a delta.
std::uint32_t starts_with(const snapshot& base, const std::vector<table>& delta, group_row group) {
  cluster c(base);
  must(c.apply(delta));
  session s = must(engine().open(c.take_snapshot(), 1000 * test::second));
  must(s.run("allocate", group));
  return static_cast<std::uint32_t>(std::count_if(s.decisions().begin(), s.decisions().end(), [&](const decision& d) {
    return d.kind == decision_kind::bind && d.group == group;
  }));
}

const remedy_change* change_of(const remedy_report& of, change_kind what) {
  for (const remedy& one : of.remedies) {
    if (one.changes.size() == 1 && one.changes.front().what == what) return &one.changes.front();
  }
  return nullptr;
}

}  // namespace

TEST_CASE("a limit is reached although GPUs are idle: the queues that have to be raised, by what is missing") {
  builder b;
  b << builder::node{"n", 8} << builder::queue{"dept", "", unlimited, 3}
    << builder::queue{"team", "dept", unlimited, 2};
  b.gang("g", "team", 4);
  const session s = ran(b.take());
  const strings all = said(s, "g");
  CHECK(says(all,
             "if queue 'team' may hold 4 GPU instead of 2 GPU and queue 'dept' may hold 4 GPU instead of 3 GPU; 4 pods "
             "start"));
  CHECK(says(all, "if 2 pods of the gang of 4 start without the others; 2 pods start"));
}

TEST_CASE("free GPUs are in pieces: fewer for each, one more node, or a move") {
  builder b;
  b << builder::node{"n1", 4} << builder::node{"n2", 4} << builder::queue{"q"};
  b << builder::group{"old", "q", 1, 50, 0} << builder::pod{"old-1", "old", 2000, "n1"};
  b << builder::group{"old2", "q", 1, 50, 0} << builder::pod{"old-2", "old2", 2000, "n2"};
  b.gang("g", "q", 1, 4000);
  const session s = ran(b.take());
  const strings all = said(s, "g");
  CHECK(says(all, "if each pod asks for 2 GPU instead of 4 GPU; 1 pod starts"));
  CHECK(says(all, "if there is one more node like 'n1'; 1 pod starts"));
  CHECK(says(all, "if consolidation makes room and 1 pod of 'old2' of queue 'q' moves; 1 pod starts"));
}

TEST_CASE("all pods have to be in one rack: a wider level") {
  builder b;
  for (const char* name : {"a1", "a2", "b1", "b2"}) {
    b << builder::node{name, 2, 64, {"zone", "z", "rack", std::string(1, name[0])}};
  }
  b << builder::queue{"q"};
  b.gang("g", "q", 4, 2000);
  cluster c;
  must(c.apply(rows(table_kind::topology, table_op::add, {"name", "levels", "primary"})
                   .add({"t", test::texts{"zone", "rack"}, 1})));
  b.apply_to(c);
  must(c.apply(
      rows(table_kind::pod_group, table_op::change, {"name", "topology", "required_level"}).add({"g", "t", "rack"})));
  const session s = ran(c.take_snapshot());
  const strings all = said(s, "g");
  CHECK(says(all, "if its pods are together in one 'zone' instead of one 'rack'; 4 pods start"));
  CHECK(says(all, "if 2 pods of the gang of 4 start without the others; 2 pods start"));
  CHECK(says(all, "if each pod asks for 1 GPU instead of 2 GPU; 4 pods start"));
  CHECK(says(all, "if there are 2 more nodes like 'a1'; 4 pods start"));
}

TEST_CASE("labels, taints and closed nodes") {
  builder b;
  b << builder::node{"cpu", 0} << builder::node{"tainted", 4, 64, {"disk", "ssd"}, {"team=x:NoSchedule"}};
  b << builder::node{"plain", 4} << builder::node{"down", 4, 64, {"disk", "ssd"}, {}, false};
  b << builder::queue{"q"} << builder::group{"g", "q"};
  b << builder::pod{"g-0", "g", 4000, "", 1000, "", {"disk", "ssd"}};
  const session s = ran(b.take());
  const strings all = said(s, "g");
  CHECK(says(all, "if node 'down' is ready and not cordoned; 1 pod starts"));
  CHECK(says(all, "if its pods tolerate the taint 'team=x:NoSchedule'; 1 pod starts"));
  CHECK(says(all, "if its pods do without the label 'disk=ssd'; 1 pod starts"));
  CHECK(says(all, "if node 'plain' has the label 'disk=ssd'; 1 pod starts"));
  CHECK(says(all, "if node 'tainted' is without the taint 'team=x:NoSchedule'; 1 pod starts"));
  CHECK(all.size() == 5);  // nodes like 'plain' lack the label, those like 'tainted' are tainted
}

TEST_CASE("who would have to leave: those that the rules let go, and nobody else") {
  builder b;
  b << builder::node{"n", 4} << builder::queue{"rich", "", 4} << builder::queue{"poor", "", 0};
  b << builder::group{"old", "poor", 1, 50, 0};
  for (const char* name : {"old-0", "old-1", "old-2", "old-3"}) b << builder::pod{name, "old", 1000, "n"};
  b.gang("g", "rich", 2);
  CHECK(says(said(ran(b.take()), "g"), "if reclaim makes room and 2 pods of 'old' of queue 'poor' stop; 2 pods start"));
  b.groups[0].preemptible = false;
  b.groups[0].priority = 150;
  const strings all = said(ran(b.take()), "g");
  CHECK(all == strings{"if there is one more node like 'n'; 2 pods start"});
}

TEST_CASE("nothing has to change where nobody has tried, and what waits for nothing has no remedies") {
  builder b;
  b << builder::node{"n", 4} << builder::queue{"q"};
  b.gang("g", "q", 2);
  b.gang("large", "q", 1, 64000);
  const snapshot base = b.take();
  const session open = must(engine().open(base, 0));
  CHECK(said(open, "g") == strings{"as it is: an action has to try; 2 pods start"});
  const session s = ran(base);
  CHECK(said(s, "g").empty());
  CHECK(says(said(s, "large"), "if each pod asks for 2 GPU instead of 64 GPU; 1 pod starts"));  // two are taken
  CHECK(said(s, "large", {.trials = 2}).back() == "incomplete");
  const std::string before = s.state_digest();
  (void)said(s, "large");
  CHECK(s.state_digest() == before);
  CHECK_FALSE(s.remedies(99).ok());
  session by_hand = must(engine().open(base, 0));
  CHECK(must(by_hand.allocate(test::pod_by_name(base, "g-0"), 0)));
  CHECK(by_hand.remedies(0).failure().code == status::state);
}

TEST_CASE("random small clusters: the smallest change of a kind is what trying everything finds") {
  std::mt19937_64 random(20261123);
  const auto below = [&](std::uint64_t count) { return static_cast<std::int64_t>(random() % count); };
  int compared = 0;
  for (int round = 0; round < 300; ++round) {
    builder b;
    const std::int64_t nodes = 1 + below(3);
    for (std::int64_t n = 0; n < nodes; ++n) b << builder::node{"n" + std::to_string(n), 1 + below(4)};
    b << builder::queue{"q", "", unlimited, below(3) == 0 ? 2 + below(4) : unlimited};
    for (std::int64_t g = 0; g < 3; ++g) b.gang("g" + std::to_string(g), "q", 1 + below(4), (1 + below(3)) * 1000);
    const snapshot base = b.take();
    const session s = ran(base);
    for (const builder::group& one : b.groups) {
      const group_row group = group_of(base, one.name);
      const remedy_report found = must(s.remedies(group));
      REQUIRE(found.complete);
      // The cluster as the session leaves it, of which trying everything begins.
      cluster after(base);
      REQUIRE(must(after.assume(s)).empty());
      const snapshot now = after.take_snapshot();
      std::int64_t waiting = 0;
      for (const builder::pod& p : b.pods) {
        const auto* last = &p;
        const bool placed = std::any_of(s.decisions().begin(), s.decisions().end(), [&](const decision& d) {
          return d.kind == decision_kind::bind && base.pod_name(d.pod) == last->name;
        });
        waiting += p.group == one.name && !placed ? 1 : 0;
      }
      if (waiting == 0) {
        CHECK(found.remedies.empty());
        continue;
      }
      std::int64_t largest = 0;
      for (std::int64_t size = 1; size < one.min_member; ++size) {
        std::vector<table> delta;
        delta.push_back(rows(table_kind::pod_group, table_op::change, {"name", "min_member"}).add({one.name, size}));
        if (starts_with(now, delta, group) > 0) largest = size;
      }
      const remedy_change* gang = change_of(found, change_kind::gang_size);
      CHECK((gang == nullptr ? 0 : gang->after) == largest);
      std::int64_t fewest = 0;
      for (std::int64_t count = waiting; count >= 1; --count) {
        rows more(table_kind::node, table_op::add, {"name", "capacity"});
        for (std::int64_t i = 0; i < count; ++i) {
          more.add({"more" + std::to_string(i), test::numbers{b.nodes[0].cpus * 1000, std::int64_t{1'000'000'000'000},
                                                              b.nodes[0].gpus * 1000, 110}});
        }
        std::vector<table> delta;
        delta.push_back(more);
        if (starts_with(now, delta, group) > 0) fewest = count;
      }
      const remedy_change* node = nullptr;
      for (const remedy& r : found.remedies) {
        if (r.changes.size() == 1 && r.changes[0].what == change_kind::new_nodes &&
            base.name(r.changes[0].subject) == "n0") {
          node = &r.changes[0];
        }
      }
      CHECK((node == nullptr ? 0 : node->after) == fewest);
      ++compared;
    }
  }
  CHECK(compared > 200);
}

TEST_CASE("what was asked before changes no answer: after another commit, in a fork, in a session that has moved") {
  builder b;
  b << builder::node{"n", 4} << builder::queue{"q"};
  b.gang("a", "q", 2);
  b.gang("large", "q", 1, 64000);
  const snapshot base = b.take();
  session s = must(engine().open(base, 0));
  const std::string four = "if each pod asks for 4 GPU instead of 64 GPU; 1 pod starts";
  const std::string two = "if each pod asks for 2 GPU instead of 64 GPU; 1 pod starts";
  CHECK(says(said(s, "large"), four));
  CHECK(says(said(s, "large"), four));
  session fork = s.fork();
  must(fork.run("allocate"));
  CHECK(says(said(fork, "large"), two));
  CHECK(says(said(s, "large"), four));
  session moved = std::move(s);
  CHECK(says(said(moved, "large"), four));
  must(moved.run("allocate"));
  CHECK(says(said(moved, "large"), two));
  std::vector<group_row> often(300, group_of(base, "large"));
  const std::vector<remedy_report> all = must(moved.remedies(often));
  CHECK(std::all_of(all.begin(), all.end(), [&](const remedy_report& one) { return one.remedies == all[0].remedies; }));
  CHECK(says(said(moved, "large"), two));
}

}  // namespace of_test_remedies
