// Actions for one group alone: what-if questions.
#include "model/snapshot_access.hpp"
#include "model/state.hpp"
#include "support.hpp"

namespace of_test_one_group {

using namespace kaisched;
using test::builder;
using test::lines;
using test::make_engine;
using test::must;
using strings = std::vector<std::string>;

namespace {

group_row group_of(const snapshot& s, std::string_view pod) {
  return model::state_of(s).pods[test::pod_by_name(s, pod)].group;
}

/// Four GPUs on two nodes, three of them in use by `idler`; two gangs and a pod wait.
builder busy() {
  builder b;
  b << builder::queue{"poor", "", 3} << builder::queue{"rich", "", 1};
  b << builder::node{"n1", 2} << builder::node{"n2", 2};
  b << builder::group{"r0", "rich"} << builder::pod{"r0-0", "r0", 1000, "n1"};
  b << builder::group{"r1", "rich"} << builder::pod{"r1-0", "r1", 1000, "n1"};
  b << builder::group{"r2", "rich"} << builder::pod{"r2-0", "r2", 1000, "n2"};
  b.gang("first", "poor", 1).gang("second", "poor", 1).gang("pair", "poor", 2);
  return b;
}

}  // namespace

TEST_CASE("an action for one group leaves the others waiting") {
  const snapshot base = busy().take();
  session s = must(engine().open(base, 0));
  const std::string start = s.state_digest();
  for (const char* name : {"first", "second"}) {
    session question = s.fork();
    must(question.run("allocate", group_of(base, std::string(name) + "-0")));
    CHECK(lines(question) == strings{"bind " + std::string(name) + "-0 n2"});
    must(question.check());
  }
  session question = s.fork();
  must(question.run("allocate", group_of(base, "pair-0")));
  CHECK(question.decisions().empty());
  CHECK(question.statistics().back().groups_tried == 1);
  CHECK(s.state_digest() == start);
  // All of them: the older one.
  must(s.run("allocate"));
  CHECK(lines(s) == strings{"bind first-0 n2"});
}

TEST_CASE("others make room for one group") {
  const snapshot base = busy().take();
  for (const char* mode : {"compat", "strict"}) {
    session s = must(make_engine({"mode", mode}).open(base, 0));
    session question = s.fork();
    must(question.run("reclaim", group_of(base, "pair-0")));
    CHECK(question.attempts().size() == 1);
    CHECK(lines(question) == strings{"evict r2-0 n2", "pipeline pair-0 n2", "pipeline pair-1 n2"});
    must(question.check());
  }
}

TEST_CASE("a group that has nothing to start is passed over") {
  const snapshot base = busy().take();
  session s = must(engine().open(base, 0));
  for (const char* action : {"allocate", "consolidation", "reclaim", "preempt", "repartition"}) {
    must(s.run(action, group_of(base, "r0-0")));
  }
  CHECK(s.decisions().empty());
  CHECK(s.attempts().empty());
}

TEST_CASE("what cannot be run for a group is an error") {
  const snapshot base = busy().take();
  session s = must(engine().open(base, 0));
  const group_row first = group_of(base, "first-0");
  CHECK(s.run("allocate", no_row).failure().code == status::argument);
  CHECK(s.run("allocate", 99).failure().message == "there is no pod group in this row");
  CHECK(s.run("stalegangeviction", first).failure().message ==
        "action 'stalegangeviction' is not for groups that wait");
  CHECK(s.run("alocate", first).failure().message == "there is no action 'alocate'; did you mean 'allocate'?");
  // Nothing of a question that failed is left: the next action is for all.
  must(s.run("allocate"));
  CHECK(lines(s) == strings{"bind first-0 n2"});
}

}  // namespace of_test_one_group
