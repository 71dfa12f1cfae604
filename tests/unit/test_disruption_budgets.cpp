// Disruption budgets: the table, what a session counts, what it says, and those of Kubernetes.
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "grouped_text.hpp"
#include "model/snapshot_access.hpp"
#include "model/state.hpp"
#include "rows.hpp"
#include "support.hpp"

namespace of_test_disruption_budgets {

using namespace kaisched;
using grouping_test::grouped;
using kind = table_kind;
using test::add;
using test::change;
using test::must;
using test::numbers;
using test::remove;

namespace {

/// A node of three GPUs: two pods of one budget, one of none, and a group of a higher priority that waits for one GPU.
cluster guarded(std::int64_t allowed) {
  cluster c;
  must(c.apply(add(kind::queue, {"name"}).add({"q"})));
  must(c.apply(add(kind::node, {"name", "capacity"}).add({"n", numbers{64'000, 0, 3000, 20}})));
  must(c.apply(add(kind::disruption_budget, {"name", "allowed"}).add({"team/web", allowed})));
  must(c.apply(add(kind::pod_group, {"name", "queue", "priority"})
                   .add({"web-0", "q", 1})
                   .add({"web-1", "q", 2})
                   .add({"batch", "q", 3})
                   .add({"high", "q", 9})));
  must(c.apply(add(kind::pod, {"name", "group", "request", "status", "node", "disruption_budget"})
                   .add({"web-0", "web-0", numbers{0, 0, 1000, 1}, pod_status::running, "n", "team/web"})
                   .add({"web-1", "web-1", numbers{0, 0, 1000, 1}, pod_status::running, "n", "team/web"})
                   .add({"batch", "batch", numbers{0, 0, 1000, 1}, pod_status::running, "n", ""})
                   .add({"high", "high", numbers{0, 0, 1000, 1}, pod_status::pending, "", ""})));
  return c;
}

engine preempting(bool respects = true) {
  engine e;
  must(e.set("actions", "preempt"));
  must(e.set("respect_disruption_budgets", respects ? "true" : "false"));
  return e;
}

std::vector<std::string> evicted(const session& s) {
  std::vector<std::string> names;
  for (const decision& d : s.decisions()) {
    if (d.kind == decision_kind::evict) names.emplace_back(s.base().pod_name(d.pod));
  }
  return names;
}

std::string budget_of(cluster& c, std::string_view pod) {
  const snapshot s = c.take_snapshot();
  for (pod_row p = 0; p < model::state_of(s).pod_slots; ++p) {
    if (model::state_of(s).pods[p].live && s.pod_name(p) == pod)
      return std::string(model::state_of(s).told_of(p).budget);
  }
  return "(no pod)";
}

using names = std::vector<std::string>;

}  // namespace

TEST_CASE("rows of budgets") {
  cluster c = guarded(1);
  CHECK(budget_of(c, "web-0") == "team/web");
  CHECK(budget_of(c, "batch").empty());
  const auto fails = [&](const test::rows& rows, status code, std::string_view text) {
    const result<void> done = c.apply(rows);
    REQUIRE(!done.ok());
    CHECK(done.failure().code == code);
    CHECK_MESSAGE(done.failure().message.find(text) != std::string::npos, done.failure().message);
  };
  fails(add(kind::disruption_budget, {"name"}).add({"team/web"}), status::duplicate, "'team/web' exists already");
  fails(change(kind::disruption_budget, {"name", "allowed"}).add({"other", 1}), status::not_found,
        "there is no disruption budget 'other'");
  fails(remove(kind::disruption_budget, {"name"}).add({"other"}), status::not_found, "'other'");
  fails(change(kind::disruption_budget, {"name", "allowed"}).add({"team/web", -1}), status::argument, "-1 is not in 0");
  fails(add(kind::disruption_budget, {"name"}).add({""}), status::argument, "must not be empty");
  fails(change(kind::pod, {"name", "disruption_budget"}).add({"web-0", "a\nb"}), status::argument,
        "control characters");
  must(c.apply(add(kind::disruption_budget, {"name", "allowed"}).add({"a", 7})));
  const table rows = must(c.take_snapshot().to_table(kind::disruption_budget));
  REQUIRE(rows.rows() == 2);  // by name
  CHECK(rows.view().find(col::disruption_budget_name)->string(0) == "a");
  CHECK(rows.view().find(col::disruption_budget_allowed)->values<std::int64_t>(2)[1] == 1);
  const snapshot loaded = must(snapshot::load(c.take_snapshot().save()));
  CHECK(loaded.digest() == c.take_snapshot().digest());
  must(c.apply(remove(kind::disruption_budget, {"name"}).add({"a"})));
  CHECK(loaded.digest() != c.take_snapshot().digest());
  // A pod keeps its budget whatever else of it changes, also where nothing else is told of it.
  must(c.apply(change(kind::pod, {"name", "priority"}).add({"web-0", 3})));
  CHECK(budget_of(c, "web-0") == "team/web");
  must(c.apply(change(kind::pod, {"name", "disruption_budget"}).add({"web-0", ""})));
  CHECK(budget_of(c, "web-0").empty());
}

TEST_CASE("a bad budget is left out and its pods stay") {
  cluster c = guarded(0);
  must(c.set("on_invalid", "quarantine"));
  must(c.apply(add(kind::disruption_budget, {"name", "allowed"}).add({"bad", -4})));
  const table left_out = must(c.take_snapshot().to_table(kind::quarantine));
  REQUIRE(left_out.rows() == 1);
  must(c.apply(change(kind::pod, {"name", "disruption_budget"}).add({"web-0", "bad"})));
  CHECK(evicted(must(preempting().run(c.take_snapshot(), 0))) == names{"web-0"});
  must(c.apply(add(kind::disruption_budget, {"name", "allowed"}).add({"bad", 0})));
  CHECK(must(c.take_snapshot().to_table(kind::quarantine)).rows() == 0);
  CHECK(evicted(must(preempting().run(c.take_snapshot(), 0))) == names{"batch"});
}

TEST_CASE("what a session says of budgets") {
  cluster c = guarded(0);
  CHECK(evicted(must(preempting(false).run(c.take_snapshot(), 0))) == names{"web-0"});
  const session s = must(preempting().run(c.take_snapshot(), 0));
  CHECK(evicted(s) == names{"batch"});
  CHECK(s.reasons().empty());
  const victim_account why = must(s.victim(s.decisions()[0].pod));
  REQUIRE(why.spared.size() == 2);
  CHECK(why.spared[0].why == spared_reason::disruption_budget);
  CHECK(spared_reason_name(why.spared[0].why) == "disruption_budget");
  CHECK(s.text(why.spared[0].why) == "its disruption budget allows no more of its pods to leave or move");

  must(c.apply(change(kind::pod, {"name", "disruption_budget"}).add({"batch", "team/web"})));
  for (const char* mode : {"strict", "compat"}) {
    engine e = preempting();
    must(e.set("mode", mode));
    const session waits = must(e.run(c.take_snapshot(), 0));
    CHECK(evicted(waits).empty());
    REQUIRE(waits.reasons().size() == 2);
    const pod_row first = waits.reasons()[0].pod;
    const reason budget = waits.reasons()[1];
    CHECK(budget.what == constraint::disruption_budget);
    CHECK(budget.pod == first);
    CHECK(constraint_name(budget.what) == "disruption_budget");
    CHECK(waits.text(budget) == "1 pod would have to leave or move of which disruption budget 'team/web' allows 0");
    REQUIRE(waits.attempts().size() == 1);
    CHECK(waits.attempts()[0].budget == "team/web");
    CHECK(waits.text(waits.attempts()[0]).find("; disruption budget 'team/web' protects pods") != std::string::npos);
    const table attempts = must(waits.to_table(kind::attempt));
    CHECK(attempts.view().find(col::attempt_budget)->string(0) == "team/web");
    // A fork knows it as well.
    CHECK(waits.fork().reasons().size() == 2);
  }
}

TEST_CASE("evictions by the host count, and what is taken back does not") {
  cluster c = guarded(1);
  must(c.apply(change(kind::pod, {"name", "request"}).add({"high", numbers{0, 0, 2000, 1}})));
  const engine e = preempting();
  session s = must(e.open(c.take_snapshot(), 0));
  const std::string before = s.state_digest();
  pod_row web = no_row;
  for (pod_row p = 0; p < model::state_of(s.base()).pod_slots; ++p) {
    if (s.base().pod_name(p) == "web-1") web = p;
  }
  const checkpoint start = s.mark();
  must(s.evict(web));
  CHECK(s.state_digest() != before);
  must(s.rollback(start));
  CHECK(s.state_digest() == before);
  must(s.evict(web));
  must(s.commit());
  must(s.run());
  CHECK(evicted(s) == names{"web-1", "batch"});
}

TEST_CASE("decisions are not taken in that a budget has stopped allowing") {
  cluster c = guarded(1);
  const session s = must(preempting().run(c.take_snapshot(), 0));
  CHECK(evicted(s) == names{"web-0"});
  must(c.apply(change(kind::disruption_budget, {"name", "allowed"}).add({"team/web", 0})));
  const std::vector<conflict> found = must(c.assume(s));
  REQUIRE(found.size() == 1);
  CHECK(found[0].text == "disruption budget 'team/web' allows less now");
}

// ---- PodDisruptionBudgets
// --------------------------------------------------------------------------------------------

namespace {

constexpr std::string_view ready = R"(, "conditions": [{"type": "Ready", "status": "True"}])";

grouped& add_budget(grouped& to, std::string_view name, std::string_view selector, std::string_view status,
                    std::string_view more = "") {
  return to.object("policy/v1", "PodDisruptionBudget", name,
                   R"(, "spec": {"selector": )" + std::string(selector) + std::string(more) + R"(}, "status": {)" +
                       std::string(status) + "}");
}

grouped& add_pod(grouped& to, std::string_view name, std::string_view labels, std::string_view phase = "Running",
                 std::string_view more = ready, std::string_view metadata = "") {
  return to.object(
      "v1", "Pod", name,
      R"(, "spec": {"schedulerName": "kai-scheduler", "nodeName": "n", "containers": []}, "status": {"phase": ")" +
          std::string(phase) + "\"" + std::string(more) + "}",
      R"(, "labels": {)" + std::string(labels) + "}" + std::string(metadata));
}

grouped on_a_node() {
  grouped text;
  text.cluster_object("v1", "Node", "n", R"(, "status": {"allocatable": {"cpu": "8", "pods": "110"}})");
  return text;
}

std::string allowed_by(const grouped& text, std::string_view budget) {
  const std::string row = text.row(R"("name": "team/)" + std::string(budget) + "\"");
  const std::size_t at = row.find("\"allowed\": ");
  return at == std::string::npos ? "0" : row.substr(at + 11, row.find_first_of(",}", at) - at - 11);
}
std::string counts_in(const grouped& text, std::string_view pod) { return text.of_pod(pod, "disruption_budget"); }

}  // namespace

TEST_CASE("a budget selects pods of its namespace by labels") {
  grouped text = on_a_node();
  add_pod(text, "a", R"("app": "web", "tier": "front")");
  add_pod(text, "b", R"("app": "web")");
  add_pod(text, "c", "");
  const auto of = [&](std::string_view selector) {
    grouped with = text;
    add_budget(with, "pdb", selector, R"("disruptionsAllowed": 2)");
    std::string found;
    for (const char* pod : {"a", "b", "c"}) found += counts_in(with, pod) == "team/pdb" ? pod : "";
    return found;
  };
  CHECK(of(R"({"matchLabels": {"app": "web"}})") == "ab");
  CHECK(of(R"({"matchLabels": {"app": "web", "tier": "front"}})") == "a");
  CHECK(of(R"({"matchExpressions": [{"key": "tier", "operator": "Exists"}]})") == "a");
  CHECK(of(R"({"matchExpressions": [{"key": "tier", "operator": "DoesNotExist"}]})") == "bc");
  CHECK(of(R"({"matchExpressions": [{"key": "app", "operator": "NotIn", "values": ["web"]}]})") == "c");
  CHECK(of(R"({"matchLabels": {"app": "web"},
               "matchExpressions": [{"key": "tier", "operator": "In", "values": ["back", "front"]}]})") == "a");
  CHECK(of("{}") == "abc");
  CHECK(of("null").empty());
  grouped elsewhere = text;
  elsewhere.cluster_object("policy/v1", "PodDisruptionBudget", "pdb",
                           R"(, "spec": {"selector": {}}, "status": {"disruptionsAllowed": 2})",
                           R"(, "namespace": "other")");
  CHECK(counts_in(elsewhere, "a").empty());
  grouped wrong = text;
  add_budget(wrong, "pdb", R"({"matchExpressions": [{"key": "a", "operator": "About"}]})", "");
  CHECK(wrong.fault().find("PodDisruptionBudget team/pdb") != std::string::npos);
  CHECK(wrong.fault().find("expected In, NotIn") != std::string::npos);
  grouped negative = text;
  add_budget(negative, "pdb", "{}", R"("disruptionsAllowed": -1)");
  CHECK(negative.fault().find("disruptionsAllowed is negative") != std::string::npos);
}

TEST_CASE("of several budgets the one counts that allows the fewest pods") {
  grouped text = on_a_node();
  add_pod(text, "p", R"("app": "web")");
  add_budget(text, "b", "{}", R"("disruptionsAllowed": 1)");
  add_budget(text, "c", "{}", R"("disruptionsAllowed": 2)");
  CHECK(counts_in(text, "p") == "team/b");
  add_budget(text, "a", "{}", R"("disruptionsAllowed": 1)");
  CHECK(counts_in(text, "p") == "team/a");
  add_budget(text, "c", "{}", R"("disruptionsAllowed": 0)");  // the newest counts
  CHECK(counts_in(text, "p") == "team/c");
}

TEST_CASE("what has begun to leave is taken off what a budget allows") {
  const auto with = [](std::string_view status) {
    grouped text = on_a_node();
    add_pod(text, "a", "");
    add_pod(text, "b", "");
    add_pod(text, "c", "", "Running", ready, R"(, "deletionTimestamp": "2026-01-01T20:39:00Z")");
    add_budget(text, "pdb", "{}", status);
    return text;
  };
  CHECK(allowed_by(with(R"("disruptionsAllowed": 2)"), "pdb") == "2");
  CHECK(allowed_by(with(R"("disruptionsAllowed": 2, "desiredHealthy": 1)"), "pdb") == "1");
  CHECK(allowed_by(with(R"("disruptionsAllowed": 2, "desiredHealthy": 3)"), "pdb") == "0");
  CHECK(allowed_by(with(R"("disruptionsAllowed": 1, "desiredHealthy": 0)"), "pdb") == "1");
  CHECK(allowed_by(with(""), "pdb") == "0");
  CHECK(counts_in(with(""), "a") == "team/pdb");
  CHECK(counts_in(with(""), "c").empty());
}

TEST_CASE("pods that are not ready go where enough others are, and those that do not run always") {
  const auto with = [](std::string_view status, std::string_view more = "") {
    grouped text = on_a_node();
    add_pod(text, "well", "");
    add_pod(text, "sick", "", "Running", "");
    add_pod(text, "new", "", "Pending", "");
    add_budget(text, "pdb", "{}", status, more);
    return text;
  };
  CHECK(counts_in(with(R"("desiredHealthy": 2)"), "sick") == "team/pdb");
  CHECK(counts_in(with(R"("desiredHealthy": 1)"), "sick").empty());
  CHECK(counts_in(with(R"("desiredHealthy": 0)"), "sick") == "team/pdb");
  CHECK(counts_in(with(R"("desiredHealthy": 2)", R"(, "unhealthyPodEvictionPolicy": "AlwaysAllow")"), "sick").empty());
  CHECK(counts_in(with(R"("desiredHealthy": 2)"), "new").empty());
  CHECK(counts_in(with(R"("desiredHealthy": 1)"), "well") == "team/pdb");
}

}  // namespace of_test_disruption_budgets
