// Random tables with faults planted in them: a cluster that leaves bad rows out is the one that the good rows make.
//
// The model of the test knows nothing of how faults are found: every planted fault says what is left of its row, and
// what depends on a missing object is missing.
#include <map>
#include <optional>
#include <set>

#include <rapidcheck.h>

#include "draws.hpp"
#include "model/account.hpp"
#include "model/snapshot_access.hpp"
#include "model/state.hpp"
#include "rows.hpp"
#include "support.hpp"

namespace of_test_bad_rows {

using namespace kaisched;
using test::draw;
using test::got;
using test::numbers;
using test::texts;
using kind = table_kind;

namespace {

bool chance(int percent) { return draw(1, 100) <= percent; }

struct queue {
  std::string name;
  std::string parent;
  std::int64_t quota = -1;
  bool bad = false;
  bool twin = false;  ///< a good row of the same name comes next
};
struct node {
  std::string name;
  std::int64_t gpus = 0;
  bool lists_devices = false;
  bool bad = false;
  bool bad_device = false;
  bool twin = false;
};
struct group {
  std::string name;
  std::string queue;
  std::int64_t min_member = 1;
  bool bad = false;
  std::vector<std::string> subs;  ///< none: no sub-groups
  bool bad_sub = false;           ///< the last one
  bool twin = false;
};
enum class fault { none, group, labels, ports, node, status, devices, request };
struct pod {
  std::string name;
  std::string group;
  std::string sub;
  std::int64_t gpu = 0;
  std::string node;
  pod_status status = pod_status::pending;
  fault what = fault::none;
  bool twin = false;
};
struct world {
  std::vector<queue> queues;
  std::vector<node> nodes;
  std::vector<group> groups;
  std::vector<pod> pods;
};

template <class T>
const T& any_of(const std::vector<T>& all) {
  return all[static_cast<std::size_t>(draw(0, static_cast<int>(all.size()) - 1))];
}

world random_world() {
  world w;
  const int queues = draw(1, 5);
  for (int i = 0; i < queues; ++i) {
    // Children may come before their parents; the first queue is a parent only.
    const std::string parent = i == 0 || chance(30) ? "" : "q" + std::to_string(draw(0, i - 1));
    w.queues.push_back({"q" + std::to_string(i), parent, draw(-1, 4) * 1000, chance(15)});
    if (w.queues.back().quota < 0) w.queues.back().quota = -1;
    w.queues.back().twin = chance(10);
  }
  const int nodes = draw(1, 4);
  for (int i = 0; i < nodes; ++i) {
    const bool lists = chance(40);
    w.nodes.push_back({"n" + std::to_string(i), draw(1, 4), lists, chance(15), lists && chance(20)});
    w.nodes.back().twin = chance(10);
  }
  const int groups = draw(1, 6);
  for (int i = 0; i < groups; ++i) {
    group g{"g" + std::to_string(i), any_of(w.queues).name, draw(1, 3), chance(15), {}, false};
    const int subs = chance(40) ? draw(1, 3) : 0;
    for (int k = 0; k < subs; ++k) g.subs.push_back("s" + std::to_string(k));
    g.bad_sub = subs > 0 && chance(20);
    g.twin = chance(10);
    w.groups.push_back(g);
    const int pods = draw(0, 4);
    for (int k = 0; k < pods; ++k) {
      pod p;
      p.name = g.name + "-" + std::to_string(k);
      p.group = g.name;
      if (!g.subs.empty()) p.sub = any_of(g.subs);
      p.gpu = any_of(std::vector<std::int64_t>{0, 1000, 2000, 500});
      if (chance(60)) {
        p.node = any_of(w.nodes).name;
        p.status = any_of(std::vector<pod_status>{pod_status::running, pod_status::bound, pod_status::releasing,
                                                  pod_status::succeeded, pod_status::pipelined});
      }
      if (chance(25)) {
        p.what = any_of(std::vector<fault>{fault::group, fault::labels, fault::ports, fault::node, fault::status,
                                           fault::devices, fault::request});
        // Without a node these are no faults, and what is not held yet has no devices.
        const bool claims_any = p.status == pod_status::pipelined && p.gpu >= 1000;
        if (p.what == fault::node && p.node.empty()) p.what = fault::labels;
        if (p.what == fault::devices && (!model::is_in(p.status, model::active_used) || claims_any)) {
          p.what = fault::labels;
        }
      }
      p.twin = chance(10);
      w.pods.push_back(p);
    }
  }
  return w;
}

using tables = std::vector<table>;

void apply_all(cluster& c, const tables& all) {
  std::vector<table_view> views;
  for (const table& t : all) views.push_back(t.view());
  got(c.apply(views));
}

/// The input, faults included.
tables faulty(const world& w) {
  test::rows queues = test::add(kind::queue, {"name", "parent", "quota"});
  for (const queue& q : w.queues) {
    queues.add({q.name, q.parent, numbers{0, 0, q.bad ? std::int64_t{-7} : q.quota}});
    if (q.twin) queues.add({q.name, "", numbers{0, 0, 1000}});
  }
  test::rows nodes = test::add(kind::node, {"name", "capacity"});
  test::rows devices = test::add(kind::device, {"node", "index"});
  for (const node& n : w.nodes) {
    nodes.add({n.name, numbers{n.bad ? std::int64_t{-1} : std::int64_t{64000}, 1 << 30, n.gpus * 1000, 110}});
    if (n.twin) nodes.add({n.name, numbers{64000, 1 << 30, 0, 110}});
    for (std::int64_t i = 0; n.lists_devices && i < n.gpus; ++i) {
      devices.add({n.name, n.bad_device && i == n.gpus - 1 ? std::int64_t{64} : i});
    }
  }
  test::rows groups = test::add(kind::pod_group, {"name", "queue", "min_member"});
  test::rows subs = test::add(kind::sub_group, {"group", "name", "min_member"});
  for (const group& g : w.groups) {
    groups.add({g.name, g.bad ? std::string("nowhere") : g.queue, g.min_member});
    if (g.twin) groups.add({g.name, w.queues.back().name, 1});
    for (const std::string& s : g.subs) subs.add({g.name, s, g.bad_sub && s == g.subs.back() ? -1 : 1});
  }
  test::rows pods = test::add(
      kind::pod, {"name", "group", "sub_group", "request", "status", "node", "devices", "labels", "host_ports"});
  for (const pod& p : w.pods) {
    pods.add({p.name, p.what == fault::group ? std::string("nobody") : p.group, p.sub,
              numbers{p.what == fault::request ? std::int64_t{-3} : std::int64_t{1000}, 0, p.gpu},
              p.what == fault::status ? std::int64_t{99} : static_cast<std::int64_t>(p.status),
              p.what == fault::node ? std::string("n99") : p.node, p.what == fault::devices ? numbers{63} : numbers{},
              p.what == fault::labels ? texts{"odd"} : texts{}, p.what == fault::ports ? texts{"no port"} : texts{}});
    if (p.twin)
      pods.add({p.name, p.group, "", numbers{1000, 0, 0}, pod_status::pending, "", numbers{}, texts{}, texts{}});
  }
  tables all;
  all.push_back(queues);
  all.push_back(nodes);
  all.push_back(devices);
  all.push_back(groups);
  all.push_back(subs);
  all.push_back(pods);
  return all;
}

/// What is left: names of the objects that stay, and pods without a group for those that hold something.
struct survivors {
  std::set<std::string> queues, nodes, groups;
  tables all;
  std::set<std::string> left_out;  ///< "kind owner/name"
};

bool holds(const pod& p) { return model::is_in(p.status, model::active_used); }

survivors survive(const world& w) {
  survivors s;
  test::rows queues = test::add(kind::queue, {"name", "parent", "quota"});
  for (const queue& q : w.queues) {  // parents have smaller numbers
    if (q.twin) s.left_out.insert("queue " + q.name);
    if (q.bad || (!q.parent.empty() && !s.queues.contains(q.parent))) {
      s.left_out.insert("queue " + q.name);
      continue;
    }
    s.queues.insert(q.name);
    queues.add({q.name, q.parent, numbers{0, 0, q.quota}});
  }
  test::rows nodes = test::add(kind::node, {"name", "capacity"});
  test::rows devices = test::add(kind::device, {"node", "index"});
  for (const node& n : w.nodes) {
    if (n.twin) s.left_out.insert("node " + n.name);
    const bool gone = n.bad || n.bad_device;
    for (std::int64_t i = 0; n.lists_devices && i < n.gpus; ++i) {
      const bool is_bad = n.bad_device && i == n.gpus - 1;
      if (gone) {
        s.left_out.insert("device " + n.name + "/" + std::to_string(is_bad ? 64 : i));
      } else {
        devices.add({n.name, i});
      }
    }
    if (gone) {
      s.left_out.insert("node " + n.name);
      continue;
    }
    s.nodes.insert(n.name);
    nodes.add({n.name, numbers{64000, 1 << 30, n.gpus * 1000, 110}});
  }
  test::rows groups = test::add(kind::pod_group, {"name", "queue", "min_member"});
  test::rows subs = test::add(kind::sub_group, {"group", "name", "min_member"});
  for (const group& g : w.groups) {
    const bool gone = g.bad || g.bad_sub || !s.queues.contains(g.queue);
    if (gone || g.twin) s.left_out.insert("pod_group " + g.name);
    for (const std::string& sub : g.subs) {
      if (gone) s.left_out.insert("sub_group " + g.name + "/" + sub);
    }
    if (gone) continue;
    s.groups.insert(g.name);
    groups.add({g.name, g.queue, g.min_member});
    for (const std::string& sub : g.subs) subs.add({g.name, sub, 1});
  }
  test::rows pods = test::add(kind::pod, {"name", "group", "sub_group", "request", "status", "node"});
  for (const pod& p : w.pods) {
    if (p.twin) s.left_out.insert("pod " + p.name);
    const bool on_node = s.nodes.contains(p.node);
    if (p.what == fault::none && s.groups.contains(p.group) && (p.node.empty() || on_node)) {
      pods.add({p.name, p.group, p.sub, numbers{1000, 0, p.gpu}, p.status, p.node});
      continue;
    }
    s.left_out.insert("pod " + p.name);
    if (p.what == fault::status || p.what == fault::node || !holds(p) || !on_node) continue;
    pods.add({p.name, "", "", numbers{p.what == fault::request ? 0 : 1000, 0, p.gpu}, p.status, p.node});
  }
  s.all.push_back(queues);
  s.all.push_back(nodes);
  s.all.push_back(devices);
  s.all.push_back(groups);
  s.all.push_back(subs);
  s.all.push_back(pods);
  return s;
}

std::set<std::string> entries(const snapshot& s) {
  std::set<std::string> all;
  for (const auto& [key, entry] : *model::state_of(s).quarantine) {
    RC_ASSERT(!entry->text.empty());
    // What depends on something names something that is in quarantine.
    all.insert(model::text_of(key));
  }
  for (const auto& [key, entry] : *model::state_of(s).quarantine) {
    RC_ASSERT(entry->because_of.empty() || all.contains(entry->because_of));
  }
  return all;
}

void invariants(const snapshot& s) {
  model::cluster_state copy = model::state_of(s);
  model::recount(copy);
  RC_ASSERT(*copy.live.idle == *model::state_of(s).live.idle);
  RC_ASSERT(*copy.live.releasing == *model::state_of(s).live.releasing);
  RC_ASSERT(*copy.live.device_free == *model::state_of(s).live.device_free);
  RC_ASSERT(*copy.live.device_releasing == *model::state_of(s).live.device_releasing);
  RC_ASSERT(*copy.live.queue_allocated == *model::state_of(s).live.queue_allocated);
  RC_ASSERT(*copy.live.queue_nonpreemptible == *model::state_of(s).live.queue_nonpreemptible);
  RC_ASSERT(*copy.live.queue_request == *model::state_of(s).live.queue_request);
  RC_ASSERT(*copy.live.by_gpu == *model::state_of(s).live.by_gpu);
  RC_ASSERT(*copy.live.by_cpu == *model::state_of(s).live.by_cpu);
  for (sub_group_row sub = 0; sub < model::state_of(s).sub_slots; ++sub) {
    RC_ASSERT(copy.live.counts[sub] == model::state_of(s).live.counts[sub]);
  }
  const snapshot loaded = got(snapshot::load(s.save()));
  RC_ASSERT(loaded.digest() == s.digest());
  RC_ASSERT(loaded.save() == s.save());
}

cluster lenient() {
  cluster c;
  got(c.set("on_invalid", "quarantine"));
  return c;
}

void show(const std::set<std::string>& found, const std::set<std::string>& wanted) {
  for (const std::string& one : found) {
    if (!wanted.contains(one)) RC_LOG() << "left out, but good: " << one << "\n";
  }
  for (const std::string& one : wanted) {
    if (!found.contains(one)) RC_LOG() << "bad, but not left out: " << one << "\n";
  }
}

}  // namespace

TEST_CASE("bad rows leave what the good ones make") {
  CHECK(rc::check([] {
    const world w = random_world();
    const survivors s = survive(w);
    cluster wanted;
    apply_all(wanted, s.all);
    cluster c = lenient();
    apply_all(c, faulty(w));
    const snapshot found = c.take_snapshot();
    show(entries(found), s.left_out);
    RC_ASSERT(entries(found) == s.left_out);
    RC_ASSERT(found.digest() == wanted.take_snapshot().digest());
    invariants(found);
    const engine e;
    const session run = got(e.run(found, 0));
    got(run.check());
    RC_ASSERT(run.digest() == got(e.run(wanted.take_snapshot(), 0)).digest());
    // One table at a time comes to the same, but for nodes that precede their devices and groups their sub-groups.
    const bool apart = std::none_of(w.nodes.begin(), w.nodes.end(), [](const node& n) { return n.lists_devices; }) &&
                       std::none_of(w.groups.begin(), w.groups.end(), [](const group& g) { return g.bad_sub; });
    if (apart) {
      cluster slow = lenient();
      for (const table& t : faulty(w)) got(slow.apply(t));
      RC_ASSERT(slow.take_snapshot().save() == found.save());
    }
  }));
}

TEST_CASE("a delta that is refused changes nothing, and nothing is wrong with the rest of it") {
  CHECK(rc::check([] {
    const world w = random_world();
    const survivors s = survive(w);
    cluster c;
    const std::string before = c.take_snapshot().digest();
    const tables all = faulty(w);
    std::vector<table_view> views;
    for (const table& t : all) views.push_back(t.view());
    const auto applied = c.apply(views);
    RC_ASSERT(applied.ok() == s.left_out.empty());
    if (applied.ok()) return;
    RC_ASSERT(c.take_snapshot().digest() == before);
    apply_all(c, s.all);  // no name is taken by the attempt
    invariants(c.take_snapshot());
  }));
}

TEST_CASE("sending everything again without faults makes everything good") {
  CHECK(rc::check([] {
    world w = random_world();
    cluster c = lenient();
    apply_all(c, faulty(w));
    world once = w;  // what only came twice is there, and comes once more
    for (queue& q : once.queues) q.twin = false;
    for (node& n : once.nodes) n.twin = false;
    for (group& g : once.groups) g.twin = false;
    for (pod& p : once.pods) p.twin = false;
    const std::set<std::string> left_out = survive(once).left_out;
    for (queue& q : w.queues) q.bad = q.twin = false;
    for (node& n : w.nodes) n.bad = n.bad_device = n.twin = false;
    for (group& g : w.groups) g.bad = g.bad_sub = g.twin = false;
    for (pod& p : w.pods) {
      p.what = fault::none;
      p.twin = false;
    }
    cluster wanted;
    apply_all(wanted, faulty(w));
    // What is there already is a duplicate and stays; what was left out comes. Devices of nodes that stayed are there.
    for (const table& t : faulty(w)) got(c.apply(t));
    invariants(c.take_snapshot());
    for (const auto& [key, entry] : *model::state_of(c.take_snapshot()).quarantine) {
      if (key.kind == kind::device && key.name == "64") continue;  // nobody has taken that back
      RC_LOG() << model::text_of(key) << ": " << entry->text << "\n";
      RC_ASSERT(entry->present);
      RC_ASSERT(entry->code == status::duplicate);
      RC_ASSERT(!left_out.contains(model::text_of(key)));
    }
    RC_ASSERT(c.take_snapshot().count(entity_kind::pod) == wanted.take_snapshot().count(entity_kind::pod));
    RC_ASSERT(c.take_snapshot().count(entity_kind::queue) == wanted.take_snapshot().count(entity_kind::queue));
    for (pod_row p = 0; p < model::state_of(c.take_snapshot()).pod_slots; ++p) {
      const snapshot s = c.take_snapshot();
      if (model::state_of(s).pods[p].live)
        RC_ASSERT(model::state_of(s).pods[p].group != no_row);  // nobody stands in any more
    }
  }));
}

TEST_CASE("changes with faults keep the place of pods and nothing else") {
  CHECK(rc::check([] {
    world w = random_world();
    for (queue& q : w.queues) q.bad = q.twin = false;
    for (node& n : w.nodes) n.bad = n.bad_device = n.twin = false;
    for (group& g : w.groups) g.bad = g.bad_sub = g.twin = false;
    for (pod& p : w.pods) {
      p.what = fault::none;
      p.twin = false;
    }
    if (w.pods.empty()) return;
    cluster c = lenient();
    cluster wanted;
    apply_all(c, faulty(w));
    apply_all(wanted, faulty(w));
    for (int i = 0; i < 6; ++i) {
      const pod& p = any_of(w.pods);
      const std::string to = any_of(w.nodes).name;
      const pod_status status = any_of(std::vector<pod_status>{pod_status::running, pod_status::releasing});
      const bool place = chance(60);
      if (place) {
        got(c.apply(test::change(kind::pod, {"name", "node", "status", "labels", "created"})
                        .add({p.name, to, status, texts{"odd"}, 77})));
        got(wanted.apply(test::change(kind::pod, {"name", "node", "status"}).add({p.name, to, status})));
      } else {
        got(c.apply(test::change(kind::pod, {"name", "group", "created"}).add({p.name, "nobody", 77})));
      }
      RC_ASSERT(entries(c.take_snapshot()).contains("pod " + p.name));
      RC_ASSERT(c.take_snapshot().digest() == wanted.take_snapshot().digest());
      invariants(c.take_snapshot());
    }
  }));
}

}  // namespace of_test_bad_rows
