// Migration and rolling updates: columns, what a session holds while copies run, and the table of attempts.
#include "rows.hpp"
#include "service_cluster.hpp"
#include "support.hpp"

namespace of_test_migration {

using namespace kaisched;
using kind = table_kind;
using test::add;
using test::change;
using test::must;
using test::numbers;
using test::service;

namespace {

session consolidated(const snapshot& of) {
  engine e;
  must(e.set("actions", "consolidation"));
  return must(e.run(of, 0));
}

}  // namespace

TEST_CASE("a migration holds the new place, gives back the old one, and is no eviction") {
  cluster c = service();
  const snapshot before = c.take_snapshot();
  const session s = consolidated(before);
  must(s.check());
  REQUIRE(s.decisions().size() == 2);
  const decision& first = s.decisions()[0];
  CHECK(first.kind == decision_kind::migrate);
  CHECK(decision_kind_name(first.kind) == "migrate");
  CHECK(before.group_name(first.group) == "serve");
  CHECK(first.node == 1);
  CHECK(s.decisions()[1].kind == decision_kind::pipeline);
  const session_view view = s.view();
  CHECK(view.status_of(first.pod) == pod_status::binding);
  CHECK(view.node_of(first.pod) == 1);
  CHECK(view.node_idle()[2] == 3000);        // the old copy is still there
  CHECK(view.node_releasing()[2] == -3000);  // 1 comes free, 4 are claimed
  CHECK(view.node_idle()[6] == 2000);
  const table shares = must(s.to_table(kind::queue_share));
  CHECK(shares.view().find(col::share_evicted_pods)->values<std::int64_t>(1)[0] == 0);
  CHECK(shares.view().find(col::share_allocated)->values<std::int64_t>(1)[dim_gpu] == 6000);
  const candidate_table why = must(s.candidates(first.pod));
  CHECK(why.nodes.size() == 2);
}

TEST_CASE("nothing is left of an attempt that fails") {
  cluster c = service();
  must(c.apply(change(kind::pod_group, {"name", "min_member"}).add({"train", 2})));
  must(c.apply(add(kind::pod, {"name", "group", "request"}).add({"train-1", "train", numbers{0, 0, 4000, 1}})));
  engine e;
  must(e.set("actions", "consolidation"));
  session s = must(e.open(c.take_snapshot(), 0));
  const std::string before = s.state_digest();
  must(s.run());
  CHECK(s.decisions().empty());
  CHECK(s.state_digest() == before);
  must(s.check());
}

TEST_CASE("attempts are a table") {
  cluster c = service();
  const auto outcomes = [&] {
    const session s = consolidated(c.take_snapshot());
    const table t = must(s.to_table(kind::attempt));
    const table_view rows = t.view();
    REQUIRE(rows.rows == s.attempts().size());
    std::vector<std::string> all;
    for (std::uint64_t row = 0; row < rows.rows; ++row) {
      CHECK(rows.find(col::attempt_sets)->values<std::uint64_t>(rows.rows)[row] == s.attempts()[row].sets);
      CHECK(rows.find(col::attempt_refused)->values<std::uint64_t>(rows.rows)[row] == s.attempts()[row].refused);
      CHECK(rows.find(col::attempt_spared)->values<std::uint8_t>(rows.rows)[row] == 0);
      all.push_back(std::string(rows.find(col::attempt_action)->string(row)) + " " +
                    std::string(rows.find(col::attempt_group_name)->string(row)) + " " +
                    std::string(rows.find(col::attempt_outcome)->string(row)));
    }
    return all;
  };
  CHECK(outcomes() == std::vector<std::string>{"consolidation train placed"});
  must(c.apply(change(kind::pod_group, {"name", "disruption_budget"}).add({"serve", unset})));
  CHECK(outcomes() == std::vector<std::string>{"consolidation train no_victims"});
  must(c.apply(change(kind::pod_group, {"name", "preemptible"}).add({"train", 0})));
  CHECK(outcomes() == std::vector<std::string>{"consolidation train not_preemptible"});
}

TEST_CASE("budgets, surges and outdated pods are kept, and wrong ones refused") {
  cluster c = service();
  must(c.apply(change(kind::pod_group, {"name", "disruption_budget", "max_surge"}).add({"serve", 3, 2})));
  must(c.apply(change(kind::pod, {"name", "outdated"}).add({"serve-1", 1})));
  const snapshot s = c.take_snapshot();
  const table groups = must(s.to_table(kind::pod_group));
  CHECK(groups.view().find(col::pod_group_disruption_budget)->values<std::int64_t>(2)[0] == 3);
  CHECK(groups.view().find(col::pod_group_disruption_budget)->values<std::int64_t>(2)[1] == unset);
  CHECK(groups.view().find(col::pod_group_max_surge)->values<std::int64_t>(2)[0] == 2);
  const table pods = must(s.to_table(kind::pod));
  CHECK(pods.view().find(col::pod_outdated)->values<std::uint8_t>(3)[0] == 0);
  CHECK(pods.view().find(col::pod_outdated)->values<std::uint8_t>(3)[1] == 1);
  CHECK(must(snapshot::load(s.save())).digest() == s.digest());
  CHECK_FALSE(c.apply(change(kind::pod_group, {"name", "disruption_budget"}).add({"serve", -1})).ok());
  CHECK_FALSE(c.apply(change(kind::pod_group, {"name", "max_surge"}).add({"serve", -1})).ok());
  CHECK_FALSE(c.apply(change(kind::pod, {"name", "outdated"}).add({"serve-1", 2})).ok());
  CHECK(c.take_snapshot().digest() == s.digest());
}

}  // namespace of_test_migration
