// Life of the entries of the quarantine, and pods that stand in for others.
#include "model/account.hpp"
#include "model/snapshot_access.hpp"
#include "model/state.hpp"
#include "rows.hpp"
#include "support.hpp"

namespace of_test_cluster_quarantine {

using namespace kaisched;
using test::add;
using test::builder;
using test::change;
using test::must;
using test::numbers;
using test::remove;
using test::texts;
using kind = table_kind;
using names = std::vector<std::string>;

namespace {

/// A cluster that leaves bad rows out: queue team, nodes n1 and n2 with 8 GPUs each.
cluster lenient() {
  cluster c;
  must(c.set("on_invalid", "quarantine"));
  builder b;
  b << builder::queue{"team"} << builder::node{"n1"} << builder::node{"n2"};
  b.apply_to(c);
  return c;
}

void consistent(const snapshot& s) {
  model::cluster_state copy = model::state_of(s);
  model::recount(copy);
  CHECK(*copy.live.idle == *model::state_of(s).live.idle);
  CHECK(*copy.live.releasing == *model::state_of(s).live.releasing);
  CHECK(*copy.live.device_free == *model::state_of(s).live.device_free);
  CHECK(*copy.live.device_releasing == *model::state_of(s).live.device_releasing);
  CHECK(*copy.live.queue_allocated == *model::state_of(s).live.queue_allocated);
  CHECK(must(snapshot::load(s.save())).digest() == s.digest());
}

void apply(cluster& c, const table& t) {
  must(c.apply(t));
  consistent(c.take_snapshot());
}

/// What is in quarantine, with a star if there is an object of that name.
names held(cluster& c) {
  names all;
  for (const auto& [key, entry] : *model::state_of(c.take_snapshot()).quarantine) {
    all.push_back((entry->present ? "*" : "") + model::text_of(key));
  }
  return all;
}

std::string text_of(cluster& c, kind k, const std::string& name) {
  const snapshot s = c.take_snapshot();
  const auto it = model::state_of(s).quarantine->find({k, {}, name});
  return it == model::state_of(s).quarantine->end() ? "" : it->second->text;
}

table group(const std::string& name, const std::string& queue) {
  return add(kind::pod_group, {"name", "queue"}).add({name, queue});
}

table pod(const std::string& name, const std::string& group, const std::string& node, pod_status state,
          std::int64_t gpu = 1000) {
  return add(kind::pod, {"name", "group", "request", "node", "status"})
      .add({name, group, numbers{1000, 0, gpu}, node, state});
}

table move_pod(const std::string& name, const std::string& node, pod_status state) {
  return change(kind::pod, {"name", "node", "status"}).add({name, node, state});
}

std::int64_t idle(cluster& c, std::string_view node, dimension d = dim_gpu) {
  const snapshot s = c.take_snapshot();
  return (*model::state_of(s)
               .live.idle)[static_cast<std::size_t>(test::node_by_name(s, node)) * model::state_of(s).dims() + d];
}

constexpr auto running = pod_status::running;

}  // namespace

TEST_CASE("the option belongs to the cluster") {
  cluster c;
  CHECK(must(c.get("on_invalid")) == "reject");
  must(c.set("on_invalid", "quarantine"));
  CHECK(must(c.get("on_invalid")) == "quarantine");
  CHECK(c.set("on_invalid", "drop").failure().message == "option on_invalid: 'drop' is not one of: reject quarantine");
  CHECK(c.set("on_invalyd", "reject").failure().message ==
        "a cluster has no option 'on_invalyd'; did you mean 'on_invalid'?");
  CHECK(c.set("mode", "strict").failure().message == "option mode is one of an engine, not of a cluster");
  CHECK(c.get("mode").failure().code == status::argument);
  engine e;
  CHECK(e.set("on_invalid", "reject").failure().message == "option on_invalid is one of a cluster, not of an engine");
  CHECK(e.get("on_invalid").failure().code == status::argument);
  int of_clusters = 0;
  for (const option_info& o : option_list()) {
    if (o.applies_to != option_target::cluster) continue;
    ++of_clusters;
    CHECK(must(cluster().get(o.name)) == o.fallback);
  }
  CHECK(of_clusters == 1);
}

TEST_CASE("an entry goes away when its object comes well, and only its own") {
  cluster c = lenient();
  apply(c, group("g", "nowhere"));
  apply(c, pod("p", "g", "", {}));
  apply(c, add(kind::sub_group, {"group", "name"}).add({"g", "s"}));
  CHECK(held(c) == names{"pod_group g", "sub_group g/s", "pod p"});
  apply(c, group("g", "team"));
  CHECK(held(c) == names{"sub_group g/s", "pod p"});  // what depends on it has to come again
  CHECK_FALSE(c.find(entity_kind::pod, "p").ok());
  apply(c, pod("p", "g", "", {}));
  apply(c, add(kind::sub_group, {"group", "name"}).add({"g", "s"}));
  CHECK(held(c).empty());
  CHECK(c.find(entity_kind::pod, "p").ok());
}

TEST_CASE("the first reason stays until the object is sent again") {
  cluster c = lenient();
  apply(c, group("g", "nowhere"));
  apply(c, change(kind::pod_group, {"name", "priority"}).add({"g", 7}));
  CHECK(text_of(c, kind::pod_group, "g") == "there is no queue 'nowhere'");
  apply(c, group("g", "elsewhere"));
  CHECK(text_of(c, kind::pod_group, "g") == "there is no queue 'elsewhere'");
  // A change of something that never came is an entry of its own.
  apply(c, change(kind::pod_group, {"name", "priority"}).add({"h", 7}));
  CHECK(text_of(c, kind::pod_group, "h") == "there is no pod_group 'h'");
}

TEST_CASE("a bad change is forgotten once its column comes well") {
  cluster c = lenient();
  apply(c, group("g", "team"));
  const std::string before = c.take_snapshot().digest();
  apply(c, change(kind::pod_group, {"name", "queue", "priority"}).add({"g", "nowhere", 7}));
  CHECK(c.take_snapshot().digest() == before);
  CHECK(held(c) == names{"*pod_group g"});
  apply(c, change(kind::pod_group, {"name", "priority"}).add({"g", 9}));
  CHECK(held(c) == names{"*pod_group g"});
  apply(c, change(kind::pod_group, {"name", "queue"}).add({"g", "team"}));
  CHECK(held(c).empty());
}

TEST_CASE("removing what is in quarantine, with its parts") {
  cluster c = lenient();
  apply(c, group("g", "nowhere"));
  apply(c, add(kind::sub_group, {"group", "name"}).add({"g", "s"}).add({"g", "t"}));
  apply(c, add(kind::sub_group, {"group", "name"}).add({"gg", "s"}));
  apply(c, remove(kind::sub_group, {"group", "name"}).add({"g", "t"}));
  CHECK(held(c) == names{"pod_group g", "sub_group g/s", "sub_group gg/s"});
  apply(c, remove(kind::pod_group, {"name"}).add({"g"}));
  CHECK(held(c) == names{"sub_group gg/s"});
  // Parts of a node that goes.
  apply(c, add(kind::device, {"node", "index"}).add({"n2", 70}).add({"n1", 70}));
  apply(c, add(kind::numa_zone, {"node", "name", "capacity"}).add({"n2", "z", numbers{-1}}));
  apply(c, remove(kind::node, {"name"}).add({"n2"}));
  CHECK(held(c) == names{"device n1/70", "sub_group gg/s"});
  // In the other mode as well: the host believes that they exist.
  must(c.set("on_invalid", "reject"));
  apply(c, remove(kind::sub_group, {"group", "name"}).add({"gg", "s"}));
  CHECK(held(c) == names{"device n1/70"});
  CHECK_FALSE(c.apply(remove(kind::sub_group, {"group", "name"}).add({"gg", "s"})).ok());
}

TEST_CASE("a failed delta leaves the quarantine as it was") {
  cluster c = lenient();
  apply(c, group("g", "nowhere"));
  must(c.set("on_invalid", "reject"));
  const table good = group("g", "team");
  const table bad = group("h", "nowhere");
  CHECK_FALSE(c.apply({good.view(), bad.view()}).ok());
  CHECK(held(c) == names{"pod_group g"});
  apply(c, good);
  CHECK(held(c).empty());
}

TEST_CASE("entries are no part of the digest, and are saved") {
  cluster with = lenient();
  cluster without = lenient();
  apply(with, group("g", "nowhere"));
  const snapshot s = with.take_snapshot();
  CHECK(s.digest() == without.take_snapshot().digest());
  CHECK(s.save() != without.take_snapshot().save());
  const snapshot loaded = must(snapshot::load(s.save()));
  CHECK(loaded.save() == s.save());
  CHECK(must(loaded.to_table(kind::quarantine)).rows() == 1);
  CHECK(must(without.take_snapshot().to_table(kind::quarantine)).rows() == 0);
  CHECK(s.to_table(kind::decision).failure().code == status::unsupported);
  // Bytes that say something else are refused.
  std::string bytes = test::without_checksum(s.save());
  bytes.replace(bytes.rfind("not_found"), 9, "not_fount");
  CHECK(snapshot::load(bytes).failure().message.find("'not_fount' is no status") != std::string::npos);
  bytes = test::without_checksum(s.save());
  bytes.replace(bytes.rfind("pod_group"), 9, "pod_gruop");
  CHECK(snapshot::load(bytes).failure().message.find("no kind of input table") != std::string::npos);
}

TEST_CASE("what a left-out pod holds is not free") {
  for (const pod_status state : {pod_status::allocated, pod_status::binding, pod_status::bound, running,
                                 pod_status::releasing, pod_status::stuck_in_releasing}) {
    cluster c = lenient();
    apply(c, pod("p", "nobody", "n1", state, 3000));
    CHECK(held(c) == names{"*pod p"});
    CHECK(idle(c, "n1") == 5000);
    CHECK(idle(c, "n1", dim_pods) == 109);
    const snapshot s = c.take_snapshot();
    CHECK(model::state_of(s).live.pod_devices[test::pod_by_name(s, "p")].mask == 7);
    CHECK(model::state_of(s).pods[test::pod_by_name(s, "p")].group == no_row);
    // The session places around it.
    builder b;
    b.gang("wait", "team", 1, 6000);
    for (const table& t : b.tables()) apply(c, t);
    const session run = must(engine().run(c.take_snapshot(), 0));
    must(run.check());
    CHECK(test::lines(run) == names{"bind wait-0 n2"});
  }
  for (const pod_status state : {pod_status::pending, pod_status::succeeded, pod_status::failed}) {
    cluster c = lenient();
    apply(c, pod("p", "nobody", state == pod_status::pending ? "" : "n1", state));
    CHECK(held(c) == names{"pod p"});
    CHECK(c.take_snapshot().count(entity_kind::pod) == 0);
  }
  // A claim on what is being released.
  cluster c = lenient();
  apply(c, pod("p", "nobody", "n1", pod_status::pipelined, 3000));
  const snapshot s = c.take_snapshot();
  CHECK(idle(c, "n1") == 8000);
  CHECK((*model::state_of(s)
              .live.releasing)[static_cast<std::size_t>(test::node_by_name(s, "n1")) * model::state_of(s).dims() +
                               dim_gpu] == -3000);
}

TEST_CASE("a stand-in follows its pod") {
  cluster c = lenient();
  apply(c, pod("p", "nobody", "n1", running, 2000));
  apply(c, move_pod("p", "n1", pod_status::releasing));
  CHECK(idle(c, "n1") == 6000);
  apply(c, move_pod("p", "n2", running));
  CHECK(idle(c, "n1") == 8000);
  CHECK(idle(c, "n2") == 6000);
  apply(c, change(kind::pod, {"name", "labels", "priority"}).add({"p", texts{"a", "b"}, 5}));  // nothing that is held
  CHECK(held(c) == names{"*pod p"});
  apply(c, move_pod("p", "n9", running));  // nobody knows where it is: it stays where it was
  CHECK(idle(c, "n2") == 6000);
  apply(c, change(kind::pod, {"name", "request"}).add({"p", numbers{1000, 0, 500}}));
  CHECK(idle(c, "n2") == 7500);
  CHECK(text_of(c, kind::pod, "p") == "there is no pod_group 'nobody'");
  SUBCASE("until it ends") {
    apply(c, move_pod("p", "n2", pod_status::succeeded));
    CHECK(held(c) == names{"pod p"});
    CHECK(c.take_snapshot().count(entity_kind::pod) == 0);
    apply(c, remove(kind::pod, {"name"}).add({"p"}));
    CHECK(held(c).empty());
  }
  SUBCASE("until it is removed") {
    apply(c, remove(kind::pod, {"name"}).add({"p"}));
    CHECK(held(c).empty());
    CHECK(idle(c, "n2") == 8000);
  }
  SUBCASE("until it waits again") {
    apply(c, move_pod("p", "", pod_status::pending));
    CHECK(held(c) == names{"pod p"});
    CHECK(idle(c, "n2") == 8000);
    apply(c, change(kind::pod, {"name", "node", "status", "request"}).add({"p", "n1", running, numbers{0, 0, 1000}}));
    CHECK(held(c) == names{"*pod p"});  // a change that says all that is held
    CHECK(idle(c, "n1") == 7000);
  }
  SUBCASE("until it comes well") {
    apply(c, group("g", "team"));
    apply(c, pod("p", "g", "n1", running, 4000));
    CHECK(held(c).empty());
    CHECK(idle(c, "n1") == 4000);
    CHECK(idle(c, "n2") == 8000);
    const snapshot s = c.take_snapshot();
    CHECK((*model::state_of(s).live.queue_allocated)[0][2] == 4000);
  }
  SUBCASE("until it comes badly again") {
    apply(c, pod("p", "someone", "n1", running, 4000));
    CHECK(text_of(c, kind::pod, "p") == "there is no pod_group 'someone'");
    CHECK(idle(c, "n1") == 4000);
    CHECK(idle(c, "n2") == 8000);
    apply(c, pod("p", "someone", "n9", running, 4000));  // nobody knows where
    CHECK(idle(c, "n1") == 4000);
    apply(c, pod("p", "someone", "", pod_status::pending));
    CHECK(held(c) == names{"pod p"});
    CHECK(idle(c, "n1") == 8000);
  }
}

TEST_CASE("a stand-in holds what can be understood") {
  const auto odd = [](const char* column, const test::cell& value, const numbers& request) {
    cluster c = lenient();
    apply(c, add(kind::pod, {"name", "group", "request", "node", "status", column})
                 .add({"p", "nobody", request, "n1", running, value}));
    return std::pair(idle(c, "n1"), 64000 - idle(c, "n1", dim_cpu));
  };
  using amounts = std::pair<std::int64_t, std::int64_t>;
  CHECK(odd("created", 0, {-5, 0, 1000}) == amounts{7000, 0});
  CHECK(odd("created", 0, {2000, 0, max_amount + 1}) == amounts{8000, 2000});
  CHECK(odd("created", 0, {2000, 0, 2500}) == amounts{5000, 2000});           // rounded up
  CHECK(odd("device_count", 7, {2000, 0, 1000}) == amounts{7000, 2000});      // no equal shares
  CHECK(odd("gpu_memory", 1 << 20, {2000, 0, 1000}) == amounts{7000, 2000});  // one or the other
  CHECK(odd("gpu_memory", -1, {2000, 0, 500}) == amounts{7500, 2000});
  CHECK(odd("host_ports", texts{"no port"}, {2000, 0, 500}) == amounts{7500, 2000});
  CHECK(odd("claims", texts{"x", "x"}, {2000, 0, 500}) == amounts{7500, 2000});
  CHECK(odd("host_ports", texts{"\xFF"}, {2000, 0, 500}) == amounts{7500, 2000});
  CHECK(odd("devices", numbers{9}, {2000, 0, 500}) == amounts{7500, 2000});
  CHECK(odd("numa_zones", numbers{99}, {2000, 0, 500}) == amounts{7500, 2000});
  CHECK(odd("labels", texts{"odd"}, {2000, 0, 500}) == amounts{7500, 2000});
}

TEST_CASE("ports and devices that a stand-in holds are taken") {
  cluster c = lenient();
  apply(c,
        add(kind::pod, {"name", "group", "request", "node", "status", "host_ports", "devices", "labels"})
            .add({"p", "nobody", numbers{1000, 0, 2000}, "n1", running, texts{"80"}, numbers{5, 6}, texts{"a", "b"}}));
  const snapshot s = c.take_snapshot();
  const pod_row p = test::pod_by_name(s, "p");
  CHECK(model::state_of(s).live.pod_devices[p].mask == 0x60);
  CHECK(model::state_of(s).pod_extras[p].labels.empty());
  apply(c, group("g", "team"));
  apply(c, add(kind::pod, {"name", "group", "request", "host_ports"}).add({"q", "g", numbers{1000}, texts{"80"}}));
  CHECK(test::lines(must(engine().run(c.take_snapshot(), 0))) == names{"bind q n2"});
}

TEST_CASE("names that cannot be are replaced") {
  cluster c = lenient();
  apply(c, pod("a\nb", "nobody", "n1", running));
  CHECK(held(c) == names{"*pod a\xEF\xBF\xBD"
                         "b"});
  CHECK(idle(c, "n1") == 7000);
  apply(c, move_pod("a\nb", "n2", running));
  CHECK(idle(c, "n2") == 7000);
  apply(c, move_pod("a\nb", "n2", pod_status::releasing));
  apply(c, remove(kind::pod, {"name"}).add({"a\nb"}));
  CHECK(held(c).empty());
  CHECK(idle(c, "n2") == 8000);
  apply(c, pod("", "nobody", "n1", running));  // there is no name to hold anything under
  CHECK(held(c) == names{"pod "});
  CHECK(idle(c, "n1") == 8000);
}

TEST_CASE("a bad change of a good pod still says where it is") {
  cluster c = lenient();
  apply(c, group("g", "team"));
  apply(c, pod("p", "g", "", pod_status::pending, 2000));
  apply(c,
        change(kind::pod, {"name", "node", "status", "labels", "priority"}).add({"p", "n1", running, texts{"odd"}, 9}));
  CHECK(held(c) == names{"*pod p"});
  CHECK(idle(c, "n1") == 6000);
  snapshot s = c.take_snapshot();
  CHECK((*model::state_of(s).live.queue_allocated)[0][2] == 2000);  // it is still a pod of its group
  CHECK(model::state_of(s).pod_extras[test::pod_by_name(s, "p")].priority == unset);
  apply(c, change(kind::pod, {"name", "node", "status", "devices"}).add({"p", "n2", running, numbers{77}}));
  CHECK(idle(c, "n2") == 6000);
  apply(c, change(kind::pod, {"name", "node", "status"}).add({"p", "n9", running}));
  CHECK(idle(c, "n2") == 6000);
  apply(c,
        change(kind::pod, {"name", "node", "status", "labels"}).add({"p", "n2", pod_status::succeeded, texts{"odd"}}));
  CHECK(idle(c, "n2") == 8000);
  apply(c, change(kind::pod, {"name", "node", "status"}).add({"p", "n1", pod_status::pending}));  // a contradiction
  s = c.take_snapshot();
  CHECK(model::state_of(s).live.pod_state[test::pod_by_name(s, "p")] ==
        static_cast<std::uint8_t>(pod_status::succeeded));
}

TEST_CASE("rows that are only bad together leave together, whatever else the delta says") {
  cluster c = lenient();
  // The node has one bad device, so it is left out; the group in a queue of a cycle as well; the rest is applied.
  const table queues = add(kind::queue, {"name", "parent"}).add({"a", "b"}).add({"b", "a"}).add({"fine", "team"});
  const table nodes = add(kind::node, {"name", "capacity"}).add({"n3", numbers{9, 9, 1000, 9}}).add({"n4", numbers{9}});
  const table devices = add(kind::device, {"node", "index"}).add({"n3", 0}).add({"n3", 1});
  const table groups = add(kind::pod_group, {"name", "queue"}).add({"g", "a"}).add({"h", "fine"});
  const table pods = add(kind::pod, {"name", "group", "request", "node", "status"})
                         .add({"p", "g", numbers{1}, "n4", running})
                         .add({"q", "h", numbers{1}, "n3", running})
                         .add({"r", "h", numbers{1}, "", pod_status::pending});
  must(c.apply({queues.view(), nodes.view(), devices.view(), groups.view(), pods.view()}));
  consistent(c.take_snapshot());
  CHECK(held(c) ==
        names{"queue a", "queue b", "node n3", "device n3/0", "device n3/1", "pod_group g", "*pod p", "pod q"});
  CHECK(c.find(entity_kind::queue, "fine").ok());
  CHECK(c.find(entity_kind::pod, "r").ok());
  CHECK(idle(c, "n4", dim_cpu) == 8);
}

TEST_CASE("a good delta is the same in both modes") {
  builder b;
  b << builder::queue{"x"} << builder::queue{"y", "x"} << builder::node{"n"} << builder::node{"m", 4};
  b << builder::group{"g", "y", 1} << builder::pod{"g-0", "g", 2000, "n"} << builder::pod{"g-1", "g"};
  cluster strict;
  cluster quarantines;
  must(quarantines.set("on_invalid", "quarantine"));
  b.apply_to(strict);
  b.apply_to(quarantines);
  CHECK(strict.take_snapshot().save() == quarantines.take_snapshot().save());
  // A primary topology hands over to another one within a delta.
  for (cluster* c : {&strict, &quarantines}) {
    must(c->apply(
        add(kind::topology, {"name", "levels", "primary"}).add({"s", texts{"z"}, 1}).add({"t", texts{"z"}, 0})));
    must(c->apply(change(kind::topology, {"name", "primary"}).add({"t", 1}).add({"s", 0})));
  }
  CHECK(strict.take_snapshot().save() == quarantines.take_snapshot().save());
}

}  // namespace of_test_cluster_quarantine
