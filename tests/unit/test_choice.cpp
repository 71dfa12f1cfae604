// Why here: scores done by hand, and what would have turned the choice.
#include <algorithm>
#include <string>
#include <vector>

#include "rows.hpp"
#include "support.hpp"

namespace of_test_choice {

using namespace kaisched;
using test::add;
using test::builder;
using test::must;
using test::numbers;
using test::texts;
using strings = std::vector<std::string>;

namespace {

template <class Table>
snapshot taken(const Table& b) {
  cluster c;
  b.apply_to(c);
  return c.take_snapshot();
}

pod_row pod_of(const session& s, std::string_view name) {
  pod_row p = 0;
  while (s.base().pod_name(p) != name) ++p;
  return p;
}

session ran(const snapshot& over, std::string_view actions = "allocate") {
  engine e;
  must(e.set("actions", actions));
  return must(e.run(over, 1000 * test::second));
}

choice_account account_of(const session& s, std::string_view pod) { return must(s.choice(pod_of(s, pod))); }

strings flips_of(const session& s, const choice_account& of) {
  strings all;
  for (const choice_flip& one : of.flips) all.push_back(s.text(of, one));
  return all;
}

}  // namespace

TEST_CASE("binpack by hand: who came second, and what would have turned it") {
  builder b;
  b << builder::queue{"q"} << builder::node{"a", 4} << builder::node{"b", 2}
    << builder::node{"c", 4, 64, {}, {"away:NoSchedule"}} << builder::group{"old", "q"}
    << builder::pod{"old-0", "old", 1000, "a"} << builder::group{"new", "q"} << builder::pod{"new-0", "new"};
  const session s = ran(taken(b));
  // Free are 3, 2 and 4: the fullest node gets 9, the emptiest 0, a half of it.
  const choice_account why = account_of(s, "new-0");
  CHECK(s.base().node_name(why.chosen) == "b");
  CHECK(s.base().node_name(why.runner_up) == "a");
  CHECK(why.rule == choice_rule::score);
  CHECK(why.plan == choice_plan::none);
  CHECK(why.fitting == 2);
  CHECK(why.rank == 1);
  CHECK(why.margin == 4.5);
  CHECK(why.differences == std::vector<score_difference>{{"nodeplacement", 9, 4.5}});
  CHECK(s.text(why) == "b is ahead of a: nodeplacement gives 9 against 4.5.");
  // A tie goes to a, so 4.5 is enough; without the part that tells them apart there is such a tie.
  REQUIRE(why.flips.size() == 3);
  CHECK(why.flips[1].score == 4.5);
  CHECK(flips_of(s, why) == strings{"Without the score of part nodeplacement it would have been a.",
                                    "a would have needed 4.5 more.", "If b were closed it would be a."});
}

TEST_CASE("a node where the pod starts now comes before a fuller one that is about to be free") {
  builder b;
  b << builder::queue{"q"} << builder::node{"a", 4} << builder::node{"b", 2} << builder::group{"old", "q"}
    << builder::pod{"old-0", "old", 1000, "b"} << builder::group{"gone", "q"};
  builder::pod leaving{"gone-0", "gone", 1000, "b"};
  leaving.status = pod_status::releasing;
  b << leaving << builder::group{"new", "q"} << builder::pod{"new-0", "new"};
  const session s = ran(taken(b));
  const choice_account why = account_of(s, "new-0");
  CHECK(s.base().node_name(why.chosen) == "a");
  CHECK(why.margin == 991);  // 1000 against 9
  REQUIRE(why.flips.size() == 3);
  CHECK(why.flips[0].part == "nodeavailability");
  CHECK(s.base().node_name(why.flips[0].node) == "b");
  CHECK(why.flips[1].score > 991);  // a wins ties
  CHECK(why.flips[1].score == doctest::Approx(991));
  CHECK(s.base().node_name(why.flips[2].node) == "b");
}

TEST_CASE("the only node, and equal nodes") {
  builder one;
  one << builder::queue{"q"} << builder::node{"a", 4} << builder::group{"g", "q"} << builder::pod{"g-0", "g"};
  const session alone = ran(taken(one));
  const choice_account only = account_of(alone, "g-0");
  CHECK(only.rule == choice_rule::only_node);
  CHECK(only.runner_up == no_row);
  CHECK(alone.text(only) == "a is the only node that can take it.");
  CHECK(flips_of(alone, only) == strings{"If a were closed it would wait."});

  one << builder::node{"b", 4};
  const session s = ran(taken(one));
  const choice_account tie = account_of(s, "g-0");
  CHECK(tie.rule == choice_rule::name);
  CHECK(tie.margin == 0);
  CHECK(tie.differences.empty());
  CHECK(s.text(tie) == "a and b have the same score; the name that sorts first decides.");
  REQUIRE(tie.flips.size() == 2);
  CHECK(tie.flips[0].what == choice_flip_kind::more_score);
  CHECK(tie.flips[0].score > 0);
  CHECK(tie.flips[0].score < 1e-9);
  CHECK(tie.flips[1].what == choice_flip_kind::closed_node);
}

TEST_CASE("what was decided before counts as decided, also where the node is closed") {
  builder b;
  b << builder::queue{"q"} << builder::node{"a", 2} << builder::node{"b", 2} << builder::node{"c", 3};
  b.gang("first", "q", 2).gang("second", "q", 1);
  const session s = ran(taken(b));
  const choice_account last = account_of(s, "first-1");
  CHECK(s.base().node_name(last.chosen) == "a");  // first-0 is there
  CHECK(last.flips.back().what == choice_flip_kind::closed_node);
  CHECK(s.base().node_name(last.flips.back().node) == "b");
  CHECK(s.base().node_name(account_of(s, "second-0").chosen) == "b");
}

TEST_CASE("a domain that was chosen before is said, and nothing is claimed about scores") {
  cluster c;
  must(c.apply(add(table_kind::topology, {"name", "levels"}).add({"tree", texts{"rack"}})));
  must(c.apply(add(table_kind::queue, {"name"}).add({"q"})));
  must(c.apply(add(table_kind::node, {"name", "capacity", "labels"})
                   .add({"a1", numbers{0, 0, 1000, 9}, texts{"rack", "r1"}})
                   .add({"b1", numbers{0, 0, 4000, 9}, texts{"rack", "r2"}})
                   .add({"b2", numbers{0, 0, 4000, 9}, texts{"rack", "r2"}})));
  must(c.apply(add(table_kind::pod_group, {"name", "queue", "min_member", "topology", "required_level"})
                   .add({"g", "q", 2, "tree", "rack"})));
  for (const char* name : {"g-0", "g-1"})
    must(c.apply(add(table_kind::pod, {"name", "group", "request"}).add({name, "g", numbers{0, 0, 1000, 1}})));
  const session s = ran(c.take_snapshot());
  const choice_account why = account_of(s, "g-0");
  CHECK(s.base().node_name(why.chosen) == "b1");
  CHECK(why.rule == choice_rule::not_by_score);
  CHECK(why.plan == choice_plan::topology);
  CHECK(why.rank == 2);
  CHECK(why.margin < 0);
  CHECK(s.base().node_name(why.runner_up) == "a1");
  CHECK(why.flips.empty());
  CHECK(s.text(why) ==
        "The score did not decide: its group is kept together, and the domain was chosen first. By itself the pod "
        "would have gone to a1.");
}

TEST_CASE("places that an action made, and places of those who had to move") {
  builder b;
  b << builder::queue{"q"} << builder::node{"n1", 2} << builder::node{"n2", 2};
  b << builder::group{"older", "q", 1, 50, 1 * test::second} << builder::pod{"older-0", "older", 1000, "n1"}
    << builder::group{"younger", "q", 1, 50, 2 * test::second} << builder::pod{"younger-0", "younger", 1000, "n2"}
    << builder::group{"train", "q", 1, 50, 3 * test::second} << builder::pod{"train-0", "train", 2000};
  const session s = ran(taken(b), "allocate,consolidation");
  const choice_account train = account_of(s, "train-0");
  CHECK(train.plan == choice_plan::eviction);
  CHECK(train.flips.empty());
  CHECK(account_of(s, "younger-0").plan == choice_plan::move);
  CHECK(s.choice(pod_of(s, "older-0")).failure().code == status::state);
  CHECK(s.choice(99).failure().code == status::argument);
  const session waits = ran(taken(b));
  CHECK(waits.choice(pod_of(waits, "train-0")).failure().message == "pod 'train-0' was not placed by this session");
}

}  // namespace of_test_choice
