// Pods without a group: they use their node and nothing else.
#include "model/account.hpp"
#include "model/snapshot_access.hpp"
#include "model/state.hpp"
#include "rows.hpp"
#include "support.hpp"

namespace of_test_cluster_bystanders {

using namespace kaisched;
using test::add;
using test::builder;
using test::change;
using test::must;
using test::numbers;
using test::remove;
using test::texts;
using kind = table_kind;

namespace {

/// A node of 8 GPUs, a daemon without a group on it, a running and a waiting pod.
cluster with_bystander() {
  cluster c;
  builder b;
  b << builder::queue{"team"} << builder::node{"n1"} << builder::node{"n2"};
  b << builder::group{"run", "team"} << builder::pod{"run-0", "run", 2000, "n1"};
  b.apply_to(c);
  must(
      c.apply(add(kind::pod, {"name", "group", "request", "status", "node", "labels", "anti_affinity"})
                  .add({"daemon", "", numbers{4000, 0, 3000}, pod_status::running, "n1", texts{"app", "d"}, texts{}})));
  return c;
}

std::int64_t idle_of(const snapshot& s, std::string_view node, dimension d) {
  return (*model::state_of(s)
               .live.idle)[static_cast<std::size_t>(test::node_by_name(s, node)) * model::state_of(s).dims() + d];
}

void agrees_with_recount(const snapshot& s) {
  model::cluster_state copy = model::state_of(s);
  model::recount(copy);
  CHECK(*copy.live.idle == *model::state_of(s).live.idle);
  CHECK(*copy.live.releasing == *model::state_of(s).live.releasing);
  CHECK(*copy.live.device_free == *model::state_of(s).live.device_free);
  CHECK(*copy.live.queue_allocated == *model::state_of(s).live.queue_allocated);
  CHECK(*copy.live.queue_request == *model::state_of(s).live.queue_request);
  CHECK(must(snapshot::load(s.save())).digest() == s.digest());
}

std::string refused(cluster& c, const table& t) {
  const std::string before = c.take_snapshot().digest();
  const auto applied = c.apply(t);
  REQUIRE_FALSE(applied.ok());
  CHECK(c.take_snapshot().digest() == before);
  return applied.failure().message;
}

}  // namespace

TEST_CASE("a pod without a group uses its node and is charged to no queue") {
  cluster c = with_bystander();
  const snapshot s = c.take_snapshot();
  CHECK(idle_of(s, "n1", dim_gpu) == 3000);
  CHECK(idle_of(s, "n1", dim_pods) == 108);
  CHECK((*model::state_of(s).live.queue_allocated)[0][2] == 2000);
  CHECK((*model::state_of(s).live.device_free)[(*model::state_of(s).first_device)[test::node_by_name(s, "n1")] + 4] ==
        0);
  agrees_with_recount(s);
  // It comes back from its table without a group.
  const table pods = must(s.to_table(kind::pod));
  CHECK(pods.view().find(col::pod_group_ref)->string(0).empty());
  for (const pod_status state :
       {pod_status::releasing, pod_status::bound, pod_status::succeeded, pod_status::pipelined, pod_status::running}) {
    must(c.apply(change(kind::pod, {"name", "status"}).add({"daemon", state})));
    agrees_with_recount(c.take_snapshot());
  }
  CHECK(idle_of(c.take_snapshot(), "n1", dim_gpu) == 3000);
  must(c.apply(remove(kind::pod, {"name"}).add({"daemon"})));
  CHECK(idle_of(c.take_snapshot(), "n1", dim_gpu) == 6000);
}

TEST_CASE("a pod without a group cannot wait") {
  cluster c = with_bystander();
  CHECK(refused(c, add(kind::pod, {"name", "request"}).add({"x", numbers{1}})) ==
        "table 0 (pod, add), row 0, column group: pod 'x': status pending needs a pod group");
  CHECK(refused(c, change(kind::pod, {"name", "status"}).add({"daemon", pod_status::gated})) ==
        "table 0 (pod, change), row 0, column group: pod 'daemon': status gated needs a pod group");
  CHECK(refused(c, remove(kind::node, {"name"}).add({"n1"})).find("2 pods are on it") != std::string::npos);
}

TEST_CASE("pods join and leave groups") {
  cluster c = with_bystander();
  const std::string before = c.take_snapshot().digest();
  must(c.apply(change(kind::pod, {"name", "group"}).add({"daemon", "run"})));
  snapshot s = c.take_snapshot();
  CHECK((*model::state_of(s).live.queue_allocated)[0][2] == 5000);
  agrees_with_recount(s);
  must(c.apply(change(kind::pod, {"name", "group"}).add({"daemon", ""}).add({"run-0", ""})));
  s = c.take_snapshot();
  CHECK((*model::state_of(s).live.queue_allocated)[0][2] == 0);
  agrees_with_recount(s);
  must(c.apply(remove(kind::pod_group, {"name"}).add({"run"})));  // nobody is left in it
  must(c.apply(add(kind::pod_group, {"name", "queue"}).add({"run", "team"})));
  must(c.apply(change(kind::pod, {"name", "group"}).add({"run-0", "run"})));
  CHECK(c.take_snapshot().digest() == before);
  // By way of a sub-group that does not exist: such a pod is on the list of its group.
  must(c.apply(change(kind::pod, {"name", "sub_group"}).add({"run-0", "nowhere"})));
  must(c.apply(change(kind::pod, {"name", "group"}).add({"run-0", ""})));
  agrees_with_recount(c.take_snapshot());
  must(c.apply(remove(kind::pod_group, {"name"}).add({"run"})));
}

TEST_CASE("sessions place around pods without a group and never evict them") {
  cluster c = with_bystander();
  builder b;
  b.gang("wait", "team", 1, 4000);
  for (const table& t : b.tables()) must(c.apply(t));
  const snapshot s = c.take_snapshot();
  for (const char* mode : {"strict", "compat"}) {
    session run = must(test::make_engine({"mode", mode}).run(s, 0));
    CHECK(test::lines(run) == std::vector<std::string>{"bind wait-0 n2"});
    must(run.check());
    const auto refused = run.evict(test::pod_by_name(s, "daemon"));
    REQUIRE_FALSE(refused.ok());
    CHECK(refused.failure().message == "pod 'daemon' has no pod group: it stays");
    CHECK(must(run.to_table(kind::placement)).rows() == 3);
  }
  CHECK(must(engine().open(s, 0)).view().pod_group(test::pod_by_name(s, "daemon")) == no_row);
}

TEST_CASE("labels of a pod without a group count in the namespace without a name") {
  cluster c = with_bystander();
  for (const bool same : {false, true}) {
    must(c.apply(add(kind::pod_group, {"name", "queue", "namespace"})
                     .add({same ? "here" : "there", "team", same ? "" : "other"})));
    must(c.apply(add(kind::pod, {"name", "group", "request", "anti_affinity"})
                     .add({same ? "here-0" : "there-0", same ? "here" : "there", numbers{1000, 0, 1000},
                           texts{"kubernetes.io/hostname: app=d"}})));
  }
  must(c.apply(change(kind::node, {"name", "labels"})
                   .add({"n1", texts{"kubernetes.io/hostname", "n1"}})
                   .add({"n2", texts{"kubernetes.io/hostname", "n2"}})));
  const session run = must(engine().run(c.take_snapshot(), 0));
  CHECK(test::lines(run) == std::vector<std::string>{"bind here-0 n2", "bind there-0 n1"});
}

}  // namespace of_test_cluster_bystanders
