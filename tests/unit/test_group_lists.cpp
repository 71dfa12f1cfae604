// What a snapshot keeps about groups so that sessions need not look at all of them: pod sets of one class, gangs in
// part, groups with a disruption budget, priorities by queue.
#include "model/snapshot_access.hpp"
#include "model/state.hpp"
#include "rows.hpp"
#include "support.hpp"

namespace of_test_group_lists {

using namespace kaisched;
using kind = table_kind;
using test::add;
using test::change;
using test::must;
using test::numbers;
using test::remove;

namespace {

cluster two_queues() {
  cluster c;
  must(c.apply(add(kind::queue, {"name"}).add({"a"}).add({"b"})));
  must(c.apply(add(kind::node, {"name", "capacity"}).add({"n", numbers{64'000, 0, 8000, 20}})));
  must(c.apply(add(kind::pod_group, {"name", "queue", "min_member", "priority"}).add({"g", "a", 2, 10})));
  return c;
}

void add_pod(cluster& c, const char* name, std::int64_t gpus, const char* node = "") {
  const auto status = *node == '\0' ? pod_status::pending : pod_status::running;
  must(c.apply(add(kind::pod, {"name", "group", "request", "status", "node"})
                   .add({name, "g", numbers{0, 0, gpus * whole_device, 1}, status, node})));
}

void remove_pod(cluster& c, const char* name) { must(c.apply(remove(kind::pod, {"name"}).add({name}))); }

/// The lists are what the rows say, and a session can be run.
const model::sub_info& checked(cluster& c, snapshot& taken) {
  taken = c.take_snapshot();
  session s = must(engine().open(taken, 0));
  must(s.check());
  must(s.run());
  must(s.check());
  return model::state_of(taken).subs[model::state_of(taken).groups[0].first_sub + 1];
}

}  // namespace

TEST_CASE("a pod set knows that its pods are of one class until one differs, and again once it was empty") {
  cluster c = two_queues();
  snapshot taken = c.take_snapshot();
  CHECK(checked(c, taken).only_class == no_row);
  add_pod(c, "p0", 1);
  add_pod(c, "p1", 1);
  CHECK(checked(c, taken).is_uniform);
  const class_row kept = checked(c, taken).only_class;
  CHECK(kept == model::state_of(taken).pods[test::pod_by_name(taken, "p0")].pod_class);
  add_pod(c, "p2", 2);
  CHECK_FALSE(checked(c, taken).is_uniform);
  remove_pod(c, "p2");
  CHECK_FALSE(checked(c, taken).is_uniform);  // nobody has looked at those that are left
  remove_pod(c, "p1");
  remove_pod(c, "p0");
  CHECK(checked(c, taken).is_uniform);
  CHECK(checked(c, taken).only_class == no_row);
  add_pod(c, "p3", 2);
  const class_row now = checked(c, taken).only_class;
  CHECK(now == model::state_of(taken).pods[test::pod_by_name(taken, "p3")].pod_class);
  remove_pod(c, "p3");  // the only pod of its class
  CHECK(checked(c, taken).only_class == no_row);
}

TEST_CASE("gangs in part, budgets and priorities follow every change") {
  cluster c = two_queues();
  snapshot taken = c.take_snapshot();
  using groups = std::vector<group_row>;
  add_pod(c, "p0", 1, "n");
  (void)checked(c, taken);
  CHECK(*model::state_of(taken).partial_groups == groups{0});
  add_pod(c, "p1", 1, "n");
  (void)checked(c, taken);
  CHECK(model::state_of(taken).partial_groups->empty());
  must(c.apply(change(kind::pod_group, {"name", "queue", "priority", "disruption_budget"}).add({"g", "b", 20, 1})));
  (void)checked(c, taken);
  CHECK(*model::state_of(taken).budget_groups == groups{0});
  CHECK(model::state_of(taken).preemptible_priorities[0].empty());
  CHECK(model::state_of(taken).preemptible_priorities[1].front().first == 20);
  must(c.apply(change(kind::pod_group, {"name", "preemptible", "disruption_budget"}).add({"g", 0, unset})));
  (void)checked(c, taken);
  CHECK(model::state_of(taken).budget_groups->empty());
  CHECK(model::state_of(taken).preemptible_priorities[1].empty());
}

}  // namespace of_test_group_lists
