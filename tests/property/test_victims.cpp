// The search for victims in strict on random small clusters: what it finds is a solution, nothing can be left out or
// exchanged, small clusters get the cheapest set, small sets are never missed, and sessions on unchanged demand come to
// rest.
#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>

#include <rapidcheck.h>

#include "actions/victim_search.hpp"
#include "actions/victim_trial.hpp"
#include "draws.hpp"
#include "framework/members.hpp"
#include "framework/session_state.hpp"
#include "policy/parts.hpp"
#include "rows.hpp"
#include "support.hpp"

namespace of_test_victims {

using namespace kaisched;
using test::add;
using test::draw;
using test::got;

namespace {

struct some_pod {
  std::string name;
  std::int64_t gpu = 0;    ///< milli-GPU
  std::int64_t cores = 0;  ///< milli-cores
  std::string node{};      ///< empty: waits
  std::string nominated{};
  int leaves = 0;  ///< it is leaving, for so many sessions

  [[nodiscard]] pod_status status() const {
    return leaves > 0 ? pod_status::releasing : node.empty() ? pod_status::pending : pod_status::running;
  }
};

struct some_group {
  std::string name;
  std::string queue;
  std::int64_t least = 1;
  std::int64_t priority = 50;
  bool preemptible = true;
  std::vector<some_pod> pods;
  std::int64_t evictions = 0;
  std::int64_t evicted = -1;  ///< when last; seconds

  [[nodiscard]] std::int64_t running() const {
    return std::count_if(pods.begin(), pods.end(), [](const some_pod& p) { return !p.node.empty(); });
  }
};

struct some_queue {
  std::string name;
  std::string parent;
  std::int64_t gpus;  ///< quota
  std::int64_t cores;
  std::int64_t priority;
  std::int64_t weight;
};

struct some_node {
  std::int64_t gpus;
  std::int64_t cores;
  std::int64_t slots = 100;  ///< for pods
};

struct world {
  std::vector<some_node> nodes;
  std::vector<some_queue> queues;
  std::vector<some_group> groups;
};

snapshot taken(const world& w) {
  cluster c;
  auto nodes = add(table_kind::node, {"name", "capacity"});
  for (std::size_t n = 0; n < w.nodes.size(); ++n) {
    nodes.add(
        {"n" + std::to_string(n), test::numbers{w.nodes[n].cores * 1000, 0, w.nodes[n].gpus * 1000, w.nodes[n].slots}});
  }
  auto queues = add(table_kind::queue, {"name", "parent", "quota", "priority", "over_quota_weight"});
  for (const some_queue& q : w.queues) {
    queues.add({q.name, q.parent, test::numbers{q.cores * 1000, unlimited, q.gpus * 1000}, q.priority,
                test::reals(3, static_cast<double>(q.weight))});
  }
  auto groups = add(table_kind::pod_group, {"name", "queue", "min_member", "created", "priority", "preemptible",
                                            "evictions", "last_eviction"});
  auto pods = add(table_kind::pod, {"name", "group", "request", "status", "node", "nominated_node"});
  for (std::size_t g = 0; g < w.groups.size(); ++g) {
    const some_group& one = w.groups[g];
    groups.add({one.name, one.queue, one.least, static_cast<std::int64_t>(g) * test::second, one.priority,
                one.preemptible ? 1 : 0, one.evictions, one.evicted < 0 ? unset : one.evicted * test::second});
    for (const some_pod& p : one.pods) {
      pods.add({p.name, one.name, test::numbers{p.cores, 0, p.gpu, 1}, p.status(), p.node, p.nominated});
    }
  }
  got(c.apply(nodes));
  got(c.apply(queues));
  got(c.apply(groups));
  got(c.apply(pods));
  return c.take_snapshot();
}

/// A cluster with little room left, groups that wait, and gangs that are whole or not there.
world random_world(int least_nodes, int most_nodes, int most_groups, bool only_gpus) {
  world w;
  const int nodes = draw(least_nodes, most_nodes);
  for (int n = 0; n < nodes; ++n) w.nodes.push_back({draw(1, 4), only_gpus ? 64 : draw(2, 8)});
  // What queues count on and nobody can use.
  if (draw(0, 3) == 0) w.nodes.push_back({draw(1, 4), draw(1, 4), 0});
  const bool parents = draw(0, 2) == 0;
  if (parents) {
    w.queues.push_back({"d0", "", draw(0, 4), draw(0, 8), 100, 1});
    w.queues.push_back({"d1", "", draw(0, 4), draw(0, 8), 100, 2});
  }
  const int queues = draw(2, 3);
  for (int q = 0; q < queues; ++q) {
    w.queues.push_back({"q" + std::to_string(q), parents ? "d" + std::to_string(draw(0, 1)) : "", draw(0, 4),
                        draw(0, 8), draw(0, 5) == 0 ? 200 : 100, draw(0, 2)});
  }
  std::vector<some_node> room = w.nodes;
  const int groups = draw(2, most_groups);
  for (int g = 0; g < groups; ++g) {
    some_group one{
        "g" + std::to_string(g), "q" + std::to_string(draw(0, queues - 1)), 1, 10 * draw(1, 3), draw(0, 7) > 0, {}, 0};
    const int pods = draw(1, 3);
    one.least = draw(0, 1) == 0 ? 1 : pods;
    const std::int64_t gpu = draw(0, 7) == 0 ? 0 : draw(1, 2);
    const std::int64_t cores = only_gpus ? 0 : draw(0, 2);
    const bool runs = draw(0, 3) > 0;
    for (int p = 0; p < pods; ++p) {
      some_pod pod{one.name + "-" + std::to_string(p), gpu * 1000, cores * 1000};
      const int at = draw(0, nodes - 1);
      for (int i = 0; runs && i < nodes && pod.node.empty(); ++i) {
        some_node& here = room[static_cast<std::size_t>((at + i) % nodes)];
        if (here.gpus < gpu || here.cores < cores) continue;
        here.gpus -= gpu;
        here.cores -= cores;
        pod.node = "n" + std::to_string((at + i) % nodes);
      }
      one.pods.push_back(std::move(pod));
    }
    if (one.running() < one.least) {
      for (some_pod& pod : one.pods) {
        if (pod.node.empty()) continue;
        some_node& here = room[static_cast<std::size_t>(std::stoi(pod.node.substr(1)))];
        here.gpus += gpu;
        here.cores += cores;
        pod.node.clear();
      }
    }
    w.groups.push_back(std::move(one));
  }
  return w;
}

/// The cluster as a scenario.
std::string text_of(const world& w) {
  std::ostringstream text;
  for (std::size_t n = 0; n < w.nodes.size(); ++n) {
    const some_node& one = w.nodes[n];
    text << "node n" << n << " gpu=" << one.gpus << " cpu=" << one.cores << " pods=" << one.slots << '\n';
  }
  for (const some_queue& q : w.queues) {
    text << "queue " << q.name << (q.parent.empty() ? "" : " parent=" + q.parent) << " quota.gpu=" << q.gpus
         << " quota.cpu=" << q.cores << " priority=" << q.priority << " over_quota_weight=" << q.weight << '\n';
  }
  for (std::size_t g = 0; g < w.groups.size(); ++g) {
    const some_group& one = w.groups[g];
    text << "pod_group " << one.name << " queue=" << one.queue << " min_member=" << one.least
         << " priority=" << one.priority << " created=" << g << 's' << (one.preemptible ? "" : " preemptible=false")
         << '\n';
    for (const some_pod& p : one.pods) {
      text << "  pod " << p.name << " gpu=" << p.gpu / 1000 << " cpu=" << p.cores / 1000
           << (p.node.empty() ? "" : " status=running node=" + p.node) << '\n';
    }
  }
  return text.str();
}

// ---- one search
// ------------------------------------------------------------------------------------------------------

std::shared_ptr<const framework::policy_setup> kai_setup() {
  auto made = std::make_shared<framework::policy_setup>();
  made->options = preset("kai").value();
  for (const std::string& name : made->options.parts) {
    for (const policy::part_entry& part : policy::built_in_parts()) {
      if (part.name == name) made->parts.emplace_back(part.name, part.make);
    }
  }
  return made;
}

/// A search for one waiting group, by rules that are drawn: some groups must not be victims, some may only move.
struct one_search {
  explicit one_search(const world& w) : core(taken(w), kai_setup(), 0), chains(core) {
    got(core.open());
    core.chunks.keep_chunks();
    for (std::size_t g = 0; g < w.groups.size(); ++g) {
      if (draw(0, 4) == 0) firm.insert(static_cast<group_row>(g));
      if (draw(0, 3) == 0) precious.insert(static_cast<group_row>(g));
    }
    rules.queue_may_lose = [](queue_row) { return true; };
    rules.may_lose = [this](group_row g) { return !firm.contains(g); };
    rules.may_be_lost = [this](const actions::victim_unit& u) { return !precious.contains(u.group); };
    rules.more_may_help = true;
    rules.accepts = [this](const actions::scenario& what) {
      return std::none_of(what.potential.begin(), what.potential.end(), [this](const actions::victim_unit& u) {
        return precious.contains(u.group) && actions::is_lost(core, u);
      });
    };
  }

  /// Units of groups that may be victims, group by group.
  [[nodiscard]] std::vector<std::vector<actions::victim_unit>> candidates(group_row waiting) {
    std::vector<std::vector<actions::victim_unit>> found;
    for (group_row g = 0; g < core.state().group_slots; ++g) {
      if (g != waiting && !firm.contains(g) && actions::can_lose(core, g)) found.push_back(chains.of(g));
    }
    return found;
  }

  framework::session_state core;
  std::set<group_row> firm;
  std::set<group_row> precious;
  actions::victim_rules rules;
  actions::victim_chains chains;
};

/// The first group that waits and lacks room.
group_row first_waiting(const framework::session_state& c) {
  for (const group_row g : *c.state().pending_groups) {
    if (framework::is_ready(c, c.state().groups[g].first_sub) &&
        framework::count_pods(c, g, &model::sub_counts::pending) > 0 &&
        c.queues.is_schedulable_queue(c.state().groups[g].queue)) {
      return g;
    }
  }
  return no_row;
}

/// Every closed set of at most so many units, by what of each chain is taken.
void each_set(const std::vector<std::vector<actions::victim_unit>>& chains, std::size_t at, std::size_t most,
              std::vector<actions::victim_unit>& set, const std::function<void()>& visit) {
  if (at == chains.size()) return visit();
  const std::size_t before = set.size();
  each_set(chains, at + 1, most, set, visit);
  for (const actions::victim_unit& unit : chains[at]) {
    if (set.size() == most) break;
    set.push_back(unit);
    each_set(chains, at + 1, most, set, visit);
  }
  set.resize(before);
}

/// What is lost, written from the page and not from the engine: for each priority from the highest down GPUs, cores and
/// pods, then the ages of the groups.
struct lost_pods {
  std::map<std::int64_t, std::array<std::int64_t, 3>, std::greater<>> amounts;
  std::vector<std::int64_t> created;  ///< ascending

  [[nodiscard]] bool costs_less_than(const lost_pods& other) const {
    std::set<std::int64_t, std::greater<>> priorities;
    for (const auto& [p, unused] : amounts) priorities.insert(p);
    for (const auto& [p, unused] : other.amounts) priorities.insert(p);
    for (const std::int64_t p : priorities) {
      const auto of = [p](const lost_pods& from) {
        const auto at = from.amounts.find(p);
        return at == from.amounts.end() ? std::array<std::int64_t, 3>{} : at->second;
      };
      if (of(*this) != of(other)) return of(*this) < of(other);
    }
    return created > other.created;
  }
};

lost_pods lost_of(const world& w, const framework::session_state& c, std::span<const actions::victim_unit> set) {
  lost_pods found;
  for (const actions::victim_unit& unit : set) {
    if (!actions::is_lost(c, unit)) continue;
    const some_group& group = w.groups[unit.group];
    for (const pod_row p : unit.pods) {
      const auto name = std::string(c.base.pod_name(p));
      const auto pod = std::ranges::find_if(group.pods, [&](const some_pod& one) { return one.name == name; });
      auto& [gpus, cores, pods] = found.amounts[group.priority];
      gpus += pod->gpu;
      cores += pod->cores;
      ++pods;
      found.created.push_back(unit.group);
    }
  }
  std::sort(found.created.begin(), found.created.end());
  return found;
}

}  // namespace

TEST_CASE("nothing can be left out or exchanged, small clusters get the cheapest set, no small set is missed") {
  const bool held = rc::check("search", [] {
    const bool large = draw(0, 2) == 0;
    const world w = large ? random_world(7, 8, 9, true) : random_world(1, 5, 8, draw(0, 1) == 0);
    RC_LOG() << text_of(w);
    one_search s(w);
    framework::session_state& c = s.core;
    const group_row waiting = first_waiting(c);
    if (waiting == no_row) return;
    const auto chains = s.candidates(waiting);
    std::size_t units = 0;
    for (const auto& chain : chains) units += chain.size();
    if (units == 0) return;

    // All sets, one by one.
    const bool small = w.nodes.size() <= 6 && units <= 10;
    const framework::pod_list chunk = c.chunks.chunk_of(waiting, true);
    if (chunk.empty()) return;
    c.chunks.take_part(waiting, chunk);
    actions::victim_trial trial(c, waiting, s.rules, nullptr);
    bool any = false;
    std::optional<lost_pods> cheapest;
    std::vector<actions::victim_unit> set;
    each_set(chains, 0, small ? units : 4, set, [&] {
      if (!got(trial.run(set))) return;
      any = true;
      lost_pods lost = lost_of(w, c, set);
      if (!cheapest || lost.costs_less_than(*cheapest)) cheapest = std::move(lost);
      c.statement.rollback(0);
    });
    c.chunks.drop_part();

    actions::victim_search search(c);
    const actions::search_outcome outcome = got(search.find(waiting, s.rules));
    RC_CLASSIFY(small, "small");
    RC_CLASSIFY(outcome == actions::search_outcome::solved, "solved");
    RC_ASSERT(!any || outcome == actions::search_outcome::solved);
    if (small) RC_ASSERT(any == (outcome == actions::search_outcome::solved));
    if (outcome != actions::search_outcome::solved) {
      RC_ASSERT(c.statement.log.empty());
      return;
    }
    // What was evicted for it, also where it has its place again.
    std::set<pod_row> evicted;
    for (const framework::operation& op : c.statement.log) {
      if (op.kind == framework::operation_kind::evict) evicted.insert(op.pod);
    }
    std::vector<actions::victim_unit> found;
    for (const auto& chain : chains) {
      for (const actions::victim_unit& unit : chain) {
        if (evicted.contains(unit.pods.front())) found.push_back(unit);
      }
    }
    for (const pod_row p : chunk) RC_ASSERT(framework::is_active(c, p));  // nobody leaves for nothing
    const lost_pods lost = lost_of(w, c, found);
    if (small) RC_ASSERT(!cheapest->costs_less_than(lost));
    c.statement.rollback(0);
    c.chunks.take_part(waiting, chunk);
    for (std::size_t i = 0; i < found.size(); ++i) {
      if (i + 1 < found.size() && found[i + 1].group == found[i].group) continue;  // not the end of its chain
      std::vector<actions::victim_unit> rest = found;
      rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(i));
      if (!got(trial.run(rest))) continue;
      RC_ASSERT(lost.costs_less_than(lost_of(w, c, rest)));
      c.statement.rollback(0);
      for (const auto& chain : chains) {  // others of its kind instead of it
        std::vector<actions::victim_unit> other = rest;
        for (const actions::victim_unit& unit : chain) {
          const bool is_in = std::ranges::any_of(found, [&](const auto& u) { return u.pods == unit.pods; });
          if (is_in) break;
          other.push_back(unit);
          if (!got(trial.run(other))) continue;
          RC_ASSERT(!lost_of(w, c, other).costs_less_than(lost));
          c.statement.rollback(0);
        }
      }
    }
  });
  CHECK(held);
}

// ---- many sessions
// -----------------------------------------------------------------------------------------------------

namespace {

/// What a host makes of claims on what comes free.
enum class claims_are : std::uint8_t {
  true_at_once,  ///< victims end at once, and the pods that claimed their room run
  forgotten,     ///< victims end at once, and their room is not kept
  kept,          ///< victims take their time, and their room is kept
};

/// What was decided becomes true: pods with a place run, evicted ones wait again.
void settle(world& w, const session& s, claims_are how = claims_are::true_at_once, std::int64_t now = 0) {
  std::map<std::string, const decision*> last;
  for (const decision& d : s.decisions()) last[std::string(s.base().pod_name(d.pod))] = &d;
  for (some_group& group : w.groups) {
    for (some_pod& pod : group.pods) {
      const auto at = last.find(pod.name);
      if (at == last.end()) continue;
      const decision& d = *at->second;
      const std::string node(s.base().node_name(d.node));
      const bool waits_there = d.kind == decision_kind::pipeline || d.kind == decision_kind::move;
      const bool leaves = d.kind == decision_kind::evict || d.kind == decision_kind::move;
      if (leaves) group.evicted = now;
      if (how != claims_are::kept) {
        const bool runs = d.kind == decision_kind::bind || (waits_there && how == claims_are::true_at_once);
        pod.node = runs ? node : "";
        continue;
      }
      pod.nominated = waits_there ? node : "";
      if (d.kind == decision_kind::bind) pod.node = node;
      if (leaves && !pod.node.empty()) pod.leaves = draw(1, 3);
    }
  }
}

/// Time goes on for pods that leave.
bool pods_leave(world& w) {
  bool any = false;
  for (some_group& group : w.groups) {
    for (some_pod& pod : group.pods) {
      if (pod.leaves == 0) continue;
      any = true;
      if (--pod.leaves == 0) pod.node.clear();
    }
  }
  return any;
}

/// The decisions, a line each.
std::string text_of(const session& s) {
  std::ostringstream text;
  for (const decision& d : s.decisions()) {
    text << decision_kind_name(d.kind) << ' ' << s.base().pod_name(d.pod) << ' ' << s.base().node_name(d.node) << ' '
         << action_name(d.action) << ' ' << d.commit << '\n';
  }
  return text.str();
}

/// Of every commit that evicts something is placed that waited.
void check_beneficiaries(const session& s) {
  std::map<std::uint32_t, std::pair<bool, bool>> commits;
  for (const decision& d : s.decisions()) {
    auto& [evicts, places] = commits[d.commit];
    evicts = evicts || d.kind == decision_kind::evict || d.kind == decision_kind::move;
    places = places || d.kind == decision_kind::pipeline || d.kind == decision_kind::bind;
  }
  for (const auto& [commit, what] : commits) RC_ASSERT(!what.first || what.second);
}

/// Each pod has one decision: none is started and evicted.
void check_net(const session& s) {
  std::set<pod_row> pods;
  for (const decision& d : s.decisions()) RC_ASSERT(pods.insert(d.pod).second);
}

}  // namespace

TEST_CASE("on unchanged demand sessions come to rest, and nobody is evicted for nothing") {
  const bool held = rc::check("rest", [] {
    world w = random_world(1, 4, 10, draw(0, 2) == 0);
    RC_LOG() << text_of(w);
    engine e;
    std::string actions = draw(0, 3) == 0 ? "allocate,reclaim,preempt" : "allocate,consolidation,reclaim,preempt";
    const auto how = static_cast<claims_are>(draw(0, 2));
    got(e.set("actions", actions));
    const bool moves = draw(0, 3) != 0;
    const bool spreads = draw(0, 3) == 0;
    if (!moves) got(e.set("reclaim.moves", "false"));
    if (spreads) got(e.set("placement.gpu", "spread"));
    RC_LOG() << "actions=" << actions << " claims " << static_cast<int>(how) << " moves " << moves << " spreads "
             << spreads << '\n';
    bool rests = false;
    std::string last;
    for (int i = 0; i < 100 && !rests; ++i) {
      const std::int64_t now = 100 + i;
      const session s = got(e.run(taken(w), now * test::second));
      got(s.check());
      check_beneficiaries(s);
      check_net(s);
      rests = s.decisions().empty();
      if (i < 8 || i >= 94) last += "session\n" + text_of(s);
      settle(w, s, how, now);
      rests = !pods_leave(w) && rests;
    }
    if (!rests) RC_LOG() << last;
    RC_ASSERT(rests);
  });
  CHECK(held);
}

TEST_CASE("whoever was evicted often enough is evicted no more, and sessions come to rest") {
  const bool held = rc::check("most evictions", [] {
    world w = random_world(1, 4, 8, false);
    RC_LOG() << text_of(w);
    const int most = draw(1, 2);
    engine e;
    got(e.set("mode", draw(0, 1) == 0 ? "compat" : "strict"));
    got(e.set("victims.most_evictions", std::to_string(most)));
    got(e.set("actions", draw(0, 2) == 0 ? "preempt,reclaim,allocate" : "allocate,consolidation,reclaim,preempt"));
    std::size_t pods = 0;
    for (const some_group& one : w.groups) pods += one.pods.size();
    const std::size_t evicting = w.groups.size() * static_cast<std::size_t>(most);
    bool rests = false;
    for (std::size_t i = 0; i <= evicting + (evicting + 1) * pods && !rests; ++i) {
      const session s = got(e.run(taken(w), 0));
      got(s.check());
      std::set<std::string> lost;
      for (const decision& d : s.decisions()) {
        if (d.kind == decision_kind::evict || d.kind == decision_kind::move)
          lost.insert(std::string(s.base().group_name(d.group)));
      }
      for (some_group& one : w.groups) {
        one.evictions += lost.contains(one.name) ? 1 : 0;
        RC_ASSERT(one.evictions <= most);
      }
      rests = s.decisions().empty();
      settle(w, s);
    }
    RC_ASSERT(rests);
  });
  CHECK(held);
}

}  // namespace of_test_victims
