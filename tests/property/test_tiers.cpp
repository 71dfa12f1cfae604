// Random clusters under tiers of plug-ins and under queues that take turns: gangs start and take as a whole, sums stay
// right, no queue that takes turns gets more than it may, and neither the order of rows nor a second run changes
// anything.
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include <rapidcheck.h>

#include "draws.hpp"
#include "rows.hpp"
#include "support.hpp"

namespace of_test_tiers {

using namespace kaisched;
using test::add;
using test::draw;
using test::got;
using test::numbers;
using test::texts;
using kind = table_kind;

namespace {

constexpr std::int64_t now = 1000 * test::second;

struct drawn_pod {
  std::string name;
  std::string group;
  std::int64_t cpu = 0;
  std::int64_t gpu = 0;
  bool runs = false;
  std::string node;
  std::vector<std::string> roles;  ///< annotations
};
struct drawn_group {
  std::string name;
  std::string queue;
  int size = 1;
  int min = 1;
  std::int64_t priority = 50;
  std::int64_t created = 0;
  bool preemptible = true;
  std::string level;
};

/// What a cluster is made of, so that it can be made in another order.
struct drawing {
  int nodes = 0;
  std::vector<std::string> queues;
  std::vector<drawn_group> groups;
  std::vector<drawn_pod> pods;
};

drawing drawn(int most_nodes = 8, int most_groups = 12) {
  drawing made;
  made.nodes = draw(2, most_nodes);
  for (int q = draw(1, 4); q > 0; --q) made.queues.push_back("q" + std::to_string(q));
  std::vector<std::int64_t> free(static_cast<std::size_t>(made.nodes), 8);
  for (int g = draw(1, most_groups); g > 0; --g) {
    drawn_group group;
    group.name = "g" + std::to_string(g);
    group.queue = made.queues[static_cast<std::size_t>(draw(0, static_cast<int>(made.queues.size()) - 1))];
    group.size = draw(0, 2) == 0 ? draw(2, 6) : 1;
    group.min = draw(0, 3) == 0 ? draw(1, group.size) : group.size;
    group.priority = draw(0, 2) == 0 ? 80 : 50;
    group.created = std::int64_t{draw(1, 5)} * test::second;
    group.preemptible = draw(0, 4) != 0;
    if (draw(0, 3) == 0) group.level = draw(0, 1) == 0 ? "rack" : "zone";
    const std::int64_t gpus = draw(0, 4) == 0 ? 0 : draw(1, 4);
    const std::int64_t cpu = draw(0, 5) == 0 ? 0 : 1000 * draw(1, 4);
    std::vector<std::string> places;
    for (int p = 0; p < group.size; ++p) {
      const auto node = static_cast<std::size_t>(draw(0, made.nodes - 1));
      if (free[node] < gpus) break;
      free[node] -= gpus;
      places.push_back("n" + std::to_string(node));
    }
    const bool runs = draw(0, 1) == 0 && static_cast<int>(places.size()) == group.size;
    const bool has_roles = group.size > 1 && draw(0, 1) == 0;
    for (int p = 0; p < group.size; ++p) {
      drawn_pod& pod = made.pods.emplace_back(
          drawn_pod{group.name + "-" + std::to_string(p), group.name, cpu, 1000 * gpus, runs, "", {}});
      if (runs) pod.node = places[static_cast<std::size_t>(p)];
      if (!has_roles) continue;
      pod.roles = {p % 2 == 0 ? "volcano.sh/task-spec=a" : "volcano.sh/task-spec=b",
                   "volcano.sh/task-topology-affinity=a,b", "volcano.sh/task-topology-anti-affinity=a"};
    }
    made.groups.push_back(group);
  }
  return made;
}

/// `quota`, `limit`: of each queue, in milli-GPU; -1: none.
cluster cluster_of(const drawing& from, std::int64_t quota = 8000, std::int64_t limit = -1) {
  cluster c;
  got(c.apply(add(kind::topology, {"name", "levels"}).add({"net", texts{"zone", "rack"}})));
  auto nodes = add(kind::node, {"name", "capacity", "labels"});
  std::vector<std::string> labels;  // which rows only point to
  for (int n = 0; n < from.nodes; ++n) {
    labels.push_back("z" + std::to_string(n / 4));
    labels.push_back("r" + std::to_string(n / 2));
  }
  for (int n = 0; n < from.nodes; ++n) {
    const auto at = 2 * static_cast<std::size_t>(n);
    nodes.add({"n" + std::to_string(n), numbers{64000, 1 << 30, 8000, 110},
               texts{"zone", labels[at], "rack", labels[at + 1]}});
  }
  auto queues = add(kind::queue, {"name", "quota", "limit", "over_quota_weight"});
  int weight = 0;
  for (const std::string& name : from.queues) {
    queues.add(
        {name, numbers{16000, -1, quota}, numbers{-1, -1, limit}, numbers{1000, 1000, 1000 * (1 + weight++ % 2)}});
  }
  auto groups = add(kind::pod_group, {"name", "queue", "min_member", "priority", "created", "preemptible", "topology",
                                      "required_level"});
  for (const drawn_group& one : from.groups) {
    groups.add({one.name, one.queue, one.min, one.priority, one.created, one.preemptible ? 1 : 0,
                one.level.empty() ? "" : "net", one.level});
  }
  auto pods = add(kind::pod, {"name", "group", "request", "status", "node", "annotations"});
  for (const drawn_pod& one : from.pods) {
    pods.add({one.name, one.group, numbers{one.cpu, 1, one.gpu, 1},
              one.runs ? pod_status::running : pod_status::pending, one.node,
              texts(one.roles.begin(), one.roles.end())});
  }
  got(c.apply(nodes));
  got(c.apply(queues));
  got(c.apply(groups));
  got(c.apply(pods));
  return c;
}

/// The same in another order; queues keep theirs, for weights go by it.
drawing reversed(drawing of) {
  std::ranges::reverse(of.groups);
  std::ranges::reverse(of.pods);
  return of;
}

/// By group that gets pods started, how many hold their resources then.
std::map<std::string, int> started(const session& of, const snapshot& before, const drawing& from) {
  std::map<std::string, int> held;
  std::map<std::string, std::string> group_of;
  for (const drawn_pod& one : from.pods) {
    group_of[one.name] = one.group;
    if (one.runs) ++held[one.group];
  }
  std::map<std::string, int> count;
  for (const decision& one : of.decisions()) {
    if (one.kind != decision_kind::bind) continue;
    const std::string& group = group_of.at(std::string(before.pod_name(one.pod)));
    count[group] = ++held[group];
  }
  return count;
}

}  // namespace

TEST_CASE("tiers start gangs as a whole, whatever they vote, and the same ones in any order of rows") {
  const bool good = rc::check("tiers", [] {
    engine e;
    got(e.set("preset", draw(0, 1) == 0 ? "volcano-default" : "volcano-ai"));
    if (draw(0, 2) == 0) got(e.set("volcano.actions", "allocate,backfill,preempt,reclaim"));
    if (draw(0, 2) == 0) got(e.set("volcano.actions", "allocate,gangpreempt,gangreclaim,backfill"));
    if (draw(0, 3) == 0) got(e.set("volcano.tiers", "gang+predicates+proportion,binpack+nodeorder+drf"));
    if (draw(0, 3) == 0)
      got(e.set("volcano.tiers", "gang+priority+predicates+capacity,task-topology+network-topology-aware"));
    if (e.options().volcano_tiers.front().starts_with("gang")) got(e.set("volcano.settings", ""));
    const drawing from = drawn();
    cluster c = cluster_of(from);
    const snapshot s = c.take_snapshot();
    const session made = got(e.run(s, now));
    got(made.check());
    const std::map<std::string, int> count = started(made, s, from);
    for (const drawn_group& one : from.groups) {
      const auto found = count.find(one.name);
      if (found != count.end()) RC_ASSERT(found->second >= one.min);
    }
    RC_ASSERT(got(e.run(s, now)).digest() == made.digest());
    cluster other = cluster_of(reversed(from));
    RC_ASSERT(got(e.run(other.take_snapshot(), now)).digest() == made.digest());
  });
  CHECK(good);
}

TEST_CASE("gangs take from gangs for all of a gang or not at all, and only from whom they may") {
  std::size_t evictions = 0;
  const bool good = rc::check("gang evictions", [&evictions] {
    engine e;
    got(e.set("preset", "volcano-ai"));
    const bool preempts = draw(0, 1) == 0;
    got(e.set("volcano.actions", preempts ? "allocate,gangpreempt" : "allocate,gangreclaim"));
    const drawing from = drawn(6, 24);
    cluster c = cluster_of(from);
    const snapshot s = c.take_snapshot();
    const session made = got(e.run(s, now));
    got(made.check());
    std::map<std::string, const drawn_group*> group_of;
    for (const drawn_pod& pod : from.pods) {
      for (const drawn_group& one : from.groups) {
        if (one.name == pod.group) group_of[pod.name] = &one;
      }
    }
    std::map<std::uint32_t, const drawn_group*> taker;  // by commit
    std::map<const drawn_group*, int> promised;
    for (const decision& one : made.decisions()) {
      if (one.kind != decision_kind::pipeline) continue;
      const drawn_group* const of = group_of.at(std::string(s.pod_name(one.pod)));
      taker[one.commit] = of;
      ++promised[of];
    }
    for (const auto& [group, count] : promised) RC_ASSERT(count >= group->min);
    for (const decision& one : made.decisions()) {
      if (one.kind != decision_kind::evict) continue;
      ++evictions;
      const drawn_group& victim = *group_of.at(std::string(s.pod_name(one.pod)));
      RC_ASSERT(taker.contains(one.commit));
      RC_ASSERT(victim.preemptible);
      const drawn_group& by = *taker.at(one.commit);
      const bool may = preempts ? victim.queue == by.queue && victim.priority < by.priority : victim.queue != by.queue;
      RC_ASSERT(may);
    }
  });
  CHECK(good);
  CHECK(evictions > 0);
}

TEST_CASE("what was tried on a node for one pod is true for the pods like it until something changes") {
  std::size_t evictions = 0;
  const bool good = rc::check("trials", [&evictions] {
    engine e;
    got(e.set("preset", draw(0, 1) == 0 ? "kube-default" : "kube-gang"));
    if (draw(0, 2) == 0) got(e.set("volcano.actions", "preempt,allocate"));
    drawing from = drawn(6, 24);
    for (drawn_group& one : from.groups) one.level.clear();  // such groups wait
    cluster c = cluster_of(from);
    const snapshot s = c.take_snapshot();
    const session made = got(e.run(s, now));
    got(made.check());
    evictions += static_cast<std::size_t>(std::ranges::count(made.decisions(), decision_kind::evict, &decision::kind));
    got(e.set("reference_path", "true"));
    RC_ASSERT(got(e.run(s, now)).digest() == made.digest());
  });
  CHECK(good);
  CHECK(evictions > 0);
}

TEST_CASE("queues that take turns start gangs as a whole, and no queue gets more than it may") {
  const bool good = rc::check("turns", [] {
    engine e;
    got(e.set("preset", draw(0, 1) == 0 ? "yunikorn-default" : "yunikorn-pack"));
    if (draw(0, 2) == 0) got(e.set("yunikorn.settings", "apps.order=fair,reservation.delay=-1,preemption.delay=0"));
    if (draw(0, 3) == 0) got(e.set("yunikorn.settings", "apps.priority=false,preemption.opted_out=last"));
    const std::int64_t quota = 1000 * draw(2, 9);
    const std::int64_t limit = draw(0, 2) == 0 ? -1 : 1000 * draw(2, 16);
    drawing from = drawn(2, 24);
    for (drawn_group& one : from.groups) one.level.clear();  // such groups wait
    cluster c = cluster_of(from, quota, limit);
    const snapshot s = c.take_snapshot();
    const session made = got(e.run(s, now));
    got(made.check());
    const std::map<std::string, int> count = started(made, s, from);
    for (const drawn_group& one : from.groups) {
      const auto found = count.find(one.name);
      if (found != count.end()) RC_ASSERT(found->second >= one.min);
    }
    // By queue: what stands before, and what it gets.
    std::map<std::string, std::string> queue_of;
    std::map<std::string, std::int64_t> holds;
    std::map<std::string, const drawn_pod*> pods;
    for (const drawn_group& one : from.groups) queue_of[one.name] = one.queue;
    for (const drawn_pod& one : from.pods) {
      pods[one.name] = &one;
      if (one.runs) holds[queue_of[one.group]] += one.gpu;
    }
    std::map<std::string, std::int64_t> gets;
    for (const decision& one : made.decisions()) {
      const drawn_pod& pod = *pods.at(std::string(s.pod_name(one.pod)));
      if (one.kind == decision_kind::evict) holds[queue_of[pod.group]] -= pod.gpu;
      if (one.kind == decision_kind::bind || one.kind == decision_kind::pipeline) gets[queue_of[pod.group]] += pod.gpu;
    }
    for (const auto& [queue, amount] : gets) {
      if (limit != -1 && amount > 0) RC_ASSERT(holds[queue] + amount <= limit);
    }
    RC_ASSERT(got(e.run(s, now)).digest() == made.digest());
    cluster other = cluster_of(reversed(from), quota, limit);
    RC_ASSERT(got(e.run(other.take_snapshot(), now)).digest() == made.digest());
  });
  CHECK(good);
}

}  // namespace of_test_tiers
