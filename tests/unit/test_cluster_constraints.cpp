// Topology constraints, memory of GPUs, claims, NUMA: kept, checked, exported, and refused where they would decide.
#include "model/snapshot_access.hpp"
#include "model/state.hpp"
#include "rows.hpp"
#include "support.hpp"

namespace of_test_cluster_constraints {

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

cluster small() {
  cluster c;
  builder b;
  b << builder::queue{"team"} << builder::node{"n1", 8, 64, {"zone", "a", "rack", "r1"}} << builder::node{"n2"};
  b << builder::group{"train", "team", 1} << builder::pod{"train-0", "train"};
  b << builder::group{"run", "team", 1} << builder::pod{"run-0", "run", 1000, "n1"};
  b.apply_to(c);
  must(
      c.apply(add(kind::topology, {"name", "levels"}).add({"tree", texts{"zone", "rack"}}).add({"other", texts{"x"}})));
  return c;
}

std::string refused(cluster& c, const table& t) {
  const std::string before = c.take_snapshot().digest();
  const auto applied = c.apply(t);
  REQUIRE_FALSE(applied.ok());
  CHECK(c.take_snapshot().digest() == before);
  return applied.failure().message;
}

/// The snapshot is the same after saving and loading, and after being built from its tables.
void survives(cluster& c) {
  const snapshot s = c.take_snapshot();
  CHECK(must(snapshot::load(s.save())).digest() == s.digest());
  cluster fresh;
  for (const table_info& info : schema()) {
    if (info.input) must(fresh.apply(must(s.to_table(info.kind))));
  }
  CHECK(fresh.take_snapshot().digest() == s.digest());
}

std::string opened(cluster& c) {
  const auto session = engine().open(c.take_snapshot(), 0);
  if (session.ok()) return "opens";
  CHECK(session.failure().code == status::unsupported);
  return session.failure().message;
}

table level(std::string_view topology, std::string_view required, std::string_view preferred = "") {
  return change(kind::pod_group, {"name", "topology", "required_level", "preferred_level"})
      .add({"train", std::string(topology), std::string(required), std::string(preferred)});
}

}  // namespace

TEST_CASE("levels of a topology belong to a group and its sub-groups") {
  cluster c = small();
  const std::string before = c.take_snapshot().digest();
  must(c.apply(level("tree", "zone", "rack")));
  CHECK(c.take_snapshot().digest() != before);
  survives(c);
  must(c.apply(change(kind::pod_group, {"name", "required_level"}).add({"train", ""})));
  must(c.apply(change(kind::pod_group, {"name", "preferred_level"}).add({"train", ""})));
  CHECK(opened(c) == "opens");  // a topology without a level asks for nothing
  must(c.apply(level("", "")));
  CHECK(c.take_snapshot().digest() == before);
  must(c.apply(add(kind::sub_group, {"group", "name", "min_member", "topology", "required_level"})
                   .add({"train", "work", 1, "tree", "rack"})
                   .add({"train", "lead", 1, "", ""})));
  must(c.apply(change(kind::pod, {"name", "sub_group"}).add({"train-0", "work"})));
  survives(c);
  // Other columns leave it alone, and so does another tree.
  must(c.apply(change(kind::sub_group, {"group", "name", "min_member"}).add({"train", "work", 0})));
  must(c.apply(level("other", "x")));
  must(c.apply(add(kind::sub_group, {"group", "name"}).add({"train", "more"})));
  CHECK(model::state_of(c.take_snapshot()).topology_asks == 2);
  survives(c);
  must(c.apply(remove(kind::pod, {"name"}).add({"train-0"})));
  CHECK(opened(c) == "opens");  // nobody waits
  must(c.apply(remove(kind::pod_group, {"name"}).add({"train"})));
  CHECK(model::state_of(c.take_snapshot()).topology_asks == 0);
}

TEST_CASE("wrong levels are refused, with the nearest name") {
  cluster c = small();
  CHECK(refused(c, level("tree", "rak")) ==
        "table 0 (pod_group, change), row 0, column required_level: topology 'tree' has no level 'rak'; did you mean "
        "'rack'?");
  CHECK(refused(c, level("tree", "zone", "planet")) ==
        "table 0 (pod_group, change), row 0, column preferred_level: topology 'tree' has no level 'planet'; it has: "
        "zone rack");
  CHECK(refused(c, level("tre", "zone")) ==
        "table 0 (pod_group, change), row 0, column topology: there is no topology 'tre'; did you mean 'tree'?");
  CHECK(refused(c, level("", "zone")) ==
        "table 0 (pod_group, change), row 0, column required_level: level 'zone' needs a topology that it belongs to");
  CHECK(refused(c, add(kind::sub_group, {"group", "name", "preferred_level"}).add({"train", "work", "zone"})) ==
        "table 0 (sub_group, add), row 0, column preferred_level: level 'zone' needs a topology that it belongs to");
  table id(static_cast<std::uint32_t>(kind::pod_group), static_cast<std::uint32_t>(table_op::change));
  id.add(col::pod_group_name, column_type::string).push(std::string_view("train"));
  id.add(col::pod_group_topology, column_type::u64).push(std::uint64_t{7});
  CHECK(refused(c, id) == "table 0 (pod_group, change), row 0, column topology: topologies have no ids: give the name");
}

TEST_CASE("a topology keeps what groups name") {
  cluster c = small();
  must(c.apply(level("tree", "rack")));
  CHECK(refused(c, remove(kind::topology, {"name"}).add({"tree"})) ==
        "table 0 (topology, remove), row 0: topology 'tree' cannot lose what pod group 'train' names: the topology");
  CHECK(refused(c, change(kind::topology, {"name", "levels"}).add({"tree", texts{"zone"}})) ==
        "table 0 (topology, change), row 0, column levels: topology 'tree' cannot lose what pod group 'train' names: a "
        "level of it");
  must(c.apply(change(kind::topology, {"name", "levels"}).add({"tree", texts{"rack", "host"}})));
  must(c.apply(remove(kind::topology, {"name"}).add({"other"})));
  const table gone = remove(kind::topology, {"name"}).add({"tree"});
  const table frees = level("", "");
  must(c.apply({gone.view(), frees.view()}));  // in any order within one delta
}

TEST_CASE("memory of GPUs instead of GPUs") {
  cluster c = small();
  const auto pod = [](std::int64_t gpu, std::int64_t memory, std::int64_t count, const numbers& devices) -> table {
    return add(kind::pod, {"name", "group", "request", "gpu_memory", "device_count", "status", "node", "devices"})
        .add({"m", "run", numbers{1000, 0, gpu}, memory, count,
              devices.empty() ? pod_status::pending : pod_status::running, devices.empty() ? "" : "n1", devices});
  };
  CHECK(refused(c, pod(1000, 1 << 30, 0, {})) ==
        "table 0 (pod, add), row 0, column request: pod 'm': gpu_memory is 1073741824 and request gpu is 1000: a pod "
        "asks "
        "for memory of devices or for devices, not for both");
  CHECK(refused(c, pod(0, -1, 0, {})) ==
        "table 0 (pod, add), row 0, column gpu_memory: -1 is not in 0 .. 4503599627370496");
  CHECK(refused(c, pod(0, 5, 2, {3})) == "table 0 (pod, add), row 0, column devices: pod 'm': it asks for 2 devices");
  must(c.apply(pod(0, 1 << 30, 2, {})));
  survives(c);
  CHECK(opened(c) == "opens");
  must(c.apply(remove(kind::pod, {"name"}).add({"m"})));
  must(c.apply(pod(0, 1 << 30, 2, {3, 5})));
  survives(c);
  CHECK(opened(c) == "opens");
  must(c.apply(change(kind::pod, {"name", "status"}).add({"m", pod_status::succeeded})));
  CHECK(opened(c) == "opens");
  must(c.apply(change(kind::pod, {"name", "gpu_memory", "device_count"}).add({"m", 0, 0})));
  CHECK(model::state_of(c.take_snapshot()).pods_with_gpu_memory == 0);
}

TEST_CASE("claims come and go, and pods name them freely") {
  cluster c = small();
  const std::string before = c.take_snapshot().digest();
  must(c.apply(
      add(kind::resource_claim, {"name", "device_class", "count", "labels", "devices", "reserved_for"})
          .add({"ns/b", "gpu.example.com", 2, texts{"z", "1", "a", "2"}, texts{"d/p/0", "d/p/1"}, texts{"run-0"}})
          .add({"ns/a", "", 1, texts{}, texts{}, texts{}})));
  CHECK(c.take_snapshot().count(entity_kind::resource_claim) == 2);
  survives(c);
  CHECK(opened(c) == "opens");
  must(c.apply(change(kind::resource_claim, {"name", "reserved_for"}).add({"ns/b", texts{"run-0", "elsewhere"}})));
  survives(c);
  CHECK(refused(c, add(kind::resource_claim, {"name"}).add({"ns/a"})) ==
        "table 0 (resource_claim, add), row 0, column name: 'ns/a' exists already");
  CHECK(refused(c, change(kind::resource_claim, {"name", "count"}).add({"ns/c", 1})) ==
        "table 0 (resource_claim, change), row 0, column name: there is no resource_claim 'ns/c'");
  CHECK(refused(c, change(kind::resource_claim, {"name", "count"}).add({"ns/a", -1})) ==
        "table 0 (resource_claim, change), row 0, column count: -1 is not in 0 .. 4503599627370496");
  CHECK(refused(c, change(kind::resource_claim, {"name", "devices"}).add({"ns/a", texts{"d/p/0", "d/p/0"}})) ==
        "table 0 (resource_claim, change), row 0, column devices: resource claim 'ns/a': 'd/p/0' is given twice");
  must(c.apply(change(kind::pod, {"name", "claims"}).add({"train-0", texts{"ns/a", "ns/later"}})));
  survives(c);
  CHECK(opened(c) == "opens");
  CHECK(refused(c, change(kind::pod, {"name", "claims"}).add({"train-0", texts{"x", "x"}})) ==
        "table 0 (pod, change), row 0, column claims: pod 'train-0': 'x' is named twice");
  must(c.apply(change(kind::pod, {"name", "claims"}).add({"train-0", texts{}})));
  must(c.apply(remove(kind::resource_claim, {"name"}).add({"ns/b"}).add({"ns/a"})));
  CHECK(c.take_snapshot().digest() == before);
  must(c.apply(add(kind::resource_claim, {"name"}).add({"again"})));  // takes a vacant place
  CHECK(c.take_snapshot().count(entity_kind::resource_claim) == 1);
  survives(c);
}

TEST_CASE("NUMA zones are numbered by the number at the end of their names") {
  cluster c = small();
  must(c.apply(add(kind::numa_zone, {"node", "name", "capacity", "available"})
                   .add({"n1", "zone-10", numbers{4000}, numbers{1000}})
                   .add({"n1", "last", numbers{1}, numbers{0}})
                   .add({"n1", "zone-9", numbers{4000, 5, 2000}, numbers{0}})
                   .add({"n1", "zone-010", numbers{3}, numbers{0}})));
  const snapshot s = c.take_snapshot();
  std::string order;
  for (const model::numa_zone_info& zone : (*model::state_of(s).nodes)[test::node_by_name(s, "n1")]->zones) {
    order += zone.name + " ";
  }
  CHECK(order == "zone-9 zone-010 zone-10 last ");
  CHECK(s.count(entity_kind::numa_zone) == 4);
  survives(c);
  must(c.apply(change(kind::numa_zone, {"node", "name", "available"}).add({"n1", "zone-10", numbers{7}})));
  survives(c);
  CHECK(refused(c, add(kind::numa_zone, {"node", "name", "capacity"}).add({"n1", "last", numbers{1}})) ==
        "table 0 (numa_zone, add), row 0, column name: node 'n1' has a NUMA zone 'last'");
  CHECK(refused(c, change(kind::numa_zone, {"node", "name", "available"}).add({"n2", "last", numbers{1}})) ==
        "table 0 (numa_zone, change), row 0, column name: node 'n2' has no NUMA zone 'last'");
  CHECK(refused(c, add(kind::numa_zone, {"node", "name", "capacity"}).add({"n1", "z", numbers{1, -2}})) ==
        "table 0 (numa_zone, add), row 0, column capacity: node 'n1', zone 'z': memory -2 is not in 0 .. 2^52");
  CHECK(refused(c, remove(kind::numa_zone, {"node"}).add({"n1"})) == "numa_zone tables need the columns node and name");
  must(c.apply(remove(kind::numa_zone, {"node", "name"}).add({"n1", "zone-9"})));
  CHECK(c.take_snapshot().count(entity_kind::numa_zone) == 3);
  must(c.apply(remove(kind::pod, {"name"}).add({"run-0"})));
  must(c.apply(remove(kind::node, {"name"}).add({"n1"})));  // zones go with their node
  CHECK(c.take_snapshot().count(entity_kind::numa_zone) == 0);
  survives(c);
}

TEST_CASE("policies of nodes, zones and quality of service of pods") {
  cluster c = small();
  const auto policy = [](std::string_view name) -> table {
    return change(kind::node, {"name", "numa_policy", "numa_scope"}).add({"n1", std::string(name), "pod"});
  };
  for (const char* name : {"none", "best-effort", "restricted", "single-numa-node", ""}) {
    must(c.apply(policy(name)));
    survives(c);
    CHECK(opened(c) == "opens");
  }
  CHECK(refused(c, policy("single")) ==
        "table 0 (node, change), row 0, column numa_policy: 'single' is not known; expected one of: none best-effort "
        "restricted single-numa-node");
  CHECK(refused(c, policy("restrict")) ==
        "table 0 (node, change), row 0, column numa_policy: 'restrict' is not known; did you mean 'restricted'?");
  must(c.apply(change(kind::pod, {"name", "qos", "numa_zones"})
                   .add({"run-0", "Guaranteed", numbers{1, 0}})
                   .add({"train-0", "Burstable", numbers{3}})));
  const snapshot s = c.take_snapshot();
  CHECK(model::state_of(s).told_of(test::pod_by_name(s, "run-0")).numa_zones == 3);
  CHECK(model::state_of(s).told_of(test::pod_by_name(s, "train-0")).numa_zones == 0);  // it is on no node
  survives(c);
  CHECK(refused(c, change(kind::pod, {"name", "qos"}).add({"run-0", "guaranteed"})) ==
        "table 0 (pod, change), row 0, column qos: 'guaranteed' is not known; did you mean 'Guaranteed'?");
  CHECK(refused(c, change(kind::pod, {"name", "numa_zones"}).add({"run-0", numbers{64}})) ==
        "table 0 (pod, change), row 0, column numa_zones: pod 'run-0': zone 64 is given twice or not in 0 .. 63");
  must(c.apply(change(kind::pod, {"name", "node"}).add({"run-0", "n2"})));  // zones are those of the node it was on
  const snapshot moved = c.take_snapshot();
  CHECK(model::state_of(moved).told_of(test::pod_by_name(moved, "run-0")).numa_zones == 0);
}

}  // namespace of_test_cluster_constraints
