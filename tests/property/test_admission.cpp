// Random clusters under quotas that lend and borrow: no queue passes what it may hold, no cohort what it has, no node
// what there is; gangs start as a whole, and neither the order of rows nor a second run changes anything.
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <rapidcheck.h>

#include "draws.hpp"
#include "rows.hpp"
#include "support.hpp"

namespace of_test_admission {

using namespace kaisched;
using test::add;
using test::draw;
using test::got;
using test::numbers;
using test::texts;
using kind = table_kind;

namespace {

constexpr std::int64_t clock_time = 1000 * test::second;
constexpr std::int64_t node_gpus = 8;

struct lending_queue {
  std::string name;
  std::int64_t quota = 0;
  std::int64_t limit = -1;
  std::int64_t lends = -1;
  std::string rules;
};
struct quota_group {
  std::string name;
  std::size_t queue = 0;
  int size = 1;
  int min = 1;
  std::int64_t gpus = 1;
  std::int64_t priority = 50;
  std::int64_t created = 0;
  bool preemptible = true;
  std::string level;
  std::vector<int> nodes;  ///< by pod; empty: they wait
};
/// GPUs are whole ones.
struct quota_cluster {
  int nodes = 0;
  std::int64_t own = 0;  ///< of the cohort
  std::vector<lending_queue> queues;
  std::vector<quota_group> groups;
};

quota_cluster drawn_quotas() {
  quota_cluster made;
  made.nodes = draw(1, 5);
  made.own = draw(0, 4);
  for (int q = draw(1, 4); q > 0; --q) {
    lending_queue queue{"q" + std::to_string(q), draw(0, 10), -1, -1, ""};
    if (draw(0, 2) == 0) queue.limit = queue.quota + draw(0, 4);
    if (draw(0, 2) == 0) queue.lends = draw(0, static_cast<int>(queue.quota));
    if (draw(0, 3) == 0) queue.rules += ",queue." + queue.name + ".order=strict";
    if (draw(0, 3) == 0) queue.rules += ",queue." + queue.name + ".borrow_within_cohort=lower_priority";
    made.queues.push_back(queue);
  }
  std::vector<std::int64_t> free(static_cast<std::size_t>(made.nodes), node_gpus);
  for (int g = draw(1, 14); g > 0; --g) {
    quota_group group;
    group.name = "g" + std::to_string(g);
    group.queue = static_cast<std::size_t>(draw(0, static_cast<int>(made.queues.size()) - 1));
    group.size = draw(0, 2) == 0 ? draw(2, 6) : 1;
    group.min = draw(0, 2) == 0 ? draw(1, group.size) : group.size;
    group.gpus = draw(1, 4);
    group.priority = 50 + 10 * draw(0, 2);
    group.created = std::int64_t{draw(1, 5)} * test::second;
    group.preemptible = draw(0, 4) != 0;
    if (draw(0, 3) == 0) group.level = draw(0, 1) == 0 ? "rack" : "zone";
    for (int p = 0; p < group.size && draw(0, 9) > 3; ++p) {
      const int node = draw(0, made.nodes - 1);
      if (free[static_cast<std::size_t>(node)] < group.gpus) break;
      free[static_cast<std::size_t>(node)] -= group.gpus;
      group.nodes.push_back(node);
    }
    if (static_cast<int>(group.nodes.size()) < group.min) {
      for (const int node : group.nodes) free[static_cast<std::size_t>(node)] += group.gpus;
      group.nodes.clear();
    }
    made.groups.push_back(group);
  }
  return made;
}

std::string pod_name(const quota_group& of, int pod) { return of.name + "-" + std::to_string(pod); }

cluster cluster_with(const quota_cluster& from) {
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
    nodes.add({"n" + std::to_string(n), numbers{64000, 1 << 30, 1000 * node_gpus, 110},
               texts{"zone", labels[at], "rack", labels[at + 1]}});
  }
  std::int64_t all = from.own;
  for (const lending_queue& one : from.queues) all += one.quota;
  auto queues = add(kind::queue, {"name", "parent", "quota", "limit"});
  queues.add({"org", "", numbers{-1, -1, 1000 * all}, numbers{-1, -1, -1}});
  for (const lending_queue& one : from.queues) {
    queues.add(
        {one.name, "org", numbers{-1, -1, 1000 * one.quota}, numbers{-1, -1, one.limit < 0 ? -1 : 1000 * one.limit}});
  }
  auto groups = add(kind::pod_group, {"name", "queue", "min_member", "priority", "created", "preemptible", "topology",
                                      "required_level"});
  auto pods = add(kind::pod, {"name", "group", "request", "status", "node"});
  for (const quota_group& one : from.groups) {
    groups.add({one.name, from.queues[one.queue].name, one.min, one.priority, one.created, one.preemptible ? 1 : 0,
                one.level.empty() ? "" : "net", one.level});
    for (int p = 0; p < one.size; ++p) {
      const bool runs = p < static_cast<int>(one.nodes.size());
      pods.add({pod_name(one, p), one.name, numbers{1000, 1, 1000 * one.gpus, 1},
                runs ? pod_status::running : pod_status::pending,
                runs ? "n" + std::to_string(one.nodes[static_cast<std::size_t>(p)]) : ""});
    }
  }
  got(c.apply(nodes));
  got(c.apply(queues));
  got(c.apply(groups));
  got(c.apply(pods));
  return c;
}

std::string settings_for(const quota_cluster& from, bool shares) {
  std::string made = "within_queue=lower_priority,reclaim_within_cohort=any";
  if (shares) made += ",fair_sharing=true";
  for (const lending_queue& one : from.queues) {
    made += one.rules;
    if (one.lends >= 0) made += ",queue." + one.name + ".lending.gpu=" + std::to_string(one.lends);
  }
  return made;
}

/// What is held at the end, in whole GPUs: pods that are told to leave have not left.
struct held_gpus {
  std::vector<std::int64_t> by_queue;
  std::vector<std::int64_t> by_node;
  std::set<std::size_t> growing;  ///< queues that start something
};

held_gpus held_after(const session& of, const snapshot& before, const quota_cluster& from) {
  held_gpus made;
  made.by_queue.assign(from.queues.size(), 0);
  made.by_node.assign(static_cast<std::size_t>(from.nodes), 0);
  std::map<std::string, const quota_group*> group_of;
  std::map<std::string, int> active;
  for (const quota_group& one : from.groups) {
    for (int p = 0; p < one.size; ++p) group_of[pod_name(one, p)] = &one;
    active[one.name] = static_cast<int>(one.nodes.size());
    for (const int node : one.nodes) {
      made.by_queue[one.queue] += one.gpus;
      made.by_node[static_cast<std::size_t>(node)] += one.gpus;
    }
  }
  std::set<std::string> seen;
  for (const decision& one : of.decisions()) {
    if (one.kind == decision_kind::unschedulable) continue;
    const std::string name(before.pod_name(one.pod));
    RC_ASSERT(seen.insert(name).second);  // nobody starts and leaves
    const quota_group& group = *group_of.at(name);
    if (one.kind == decision_kind::evict) {
      RC_ASSERT(group.preemptible);
      continue;
    }
    RC_ASSERT(one.kind == decision_kind::bind);
    made.by_queue[group.queue] += group.gpus;
    made.by_node[std::stoul(std::string(before.node_name(one.node)).substr(1))] += group.gpus;
    made.growing.insert(group.queue);
    ++active[group.name];
  }
  for (const quota_group& one : from.groups) RC_ASSERT(active[one.name] == 0 || active[one.name] >= one.min);
  return made;
}

void check_quotas(const held_gpus& held, const quota_cluster& from) {
  for (const std::int64_t gpus : held.by_node) RC_ASSERT(gpus <= node_gpus);
  std::int64_t lent = from.own;
  std::int64_t used = 0;
  for (std::size_t q = 0; q < from.queues.size(); ++q) {
    const lending_queue& queue = from.queues[q];
    const std::int64_t kept = queue.lends < 0 ? 0 : std::max<std::int64_t>(0, queue.quota - queue.lends);
    lent += queue.quota - kept;
    used += std::max<std::int64_t>(0, held.by_queue[q] - kept);
    if (held.growing.contains(q) && queue.limit >= 0) RC_ASSERT(held.by_queue[q] <= queue.limit);
  }
  // Who stays within what it keeps for itself may start whatever the cohort has promised to others.
  for (const std::size_t q : held.growing) {
    const lending_queue& queue = from.queues[q];
    const std::int64_t kept = queue.lends < 0 ? 0 : std::max<std::int64_t>(0, queue.quota - queue.lends);
    if (held.by_queue[q] > kept) RC_ASSERT(used <= lent);
  }
}

}  // namespace

TEST_CASE("quotas that lend and borrow are kept, and the same groups are admitted in any order of rows") {
  const bool good = rc::check("admission", [] {
    const quota_cluster from = drawn_quotas();
    engine e;
    const bool shares = draw(0, 1) == 0;
    got(e.set("preset", shares ? "kueue-fair" : "kueue-classical"));
    got(e.set("kueue.settings", settings_for(from, shares)));
    cluster c = cluster_with(from);
    const snapshot s = c.take_snapshot();
    const session made = got(e.run(s, clock_time));
    got(made.check());
    check_quotas(held_after(made, s, from), from);
    RC_ASSERT(got(e.run(s, clock_time)).digest() == made.digest());
    quota_cluster other = from;
    std::ranges::reverse(other.groups);
    cluster again = cluster_with(other);
    RC_ASSERT(got(e.run(again.take_snapshot(), clock_time)).digest() == made.digest());
  });
  CHECK(good);
}

}  // namespace of_test_admission
