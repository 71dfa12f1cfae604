// Random clusters under the policies that the preset does not have: limits hold, users take turns, sums stay right.
#include <algorithm>
#include <array>
#include <map>

#include <rapidcheck.h>

#include "draws.hpp"
#include "model/account.hpp"
#include "model/dependencies.hpp"
#include "model/snapshot_access.hpp"
#include "model/state.hpp"
#include "rows.hpp"
#include "support.hpp"

namespace of_test_policies {

using namespace kaisched;
using test::draw;
using test::got;
using kind = table_kind;
using test::add;
using test::change;
using test::numbers;
using test::texts;

namespace {

constexpr std::int64_t now = 1000 * test::second;

std::string pick(std::initializer_list<const char*> from) {
  return *(from.begin() + draw(0, static_cast<int>(from.size()) - 1));
}

/// Queues with limits on types of GPUs and on run times, groups with users, times and counters.
cluster random_cluster() {
  cluster c;
  const auto limit = [] { return draw(0, 1) == 0 ? texts{} : texts{"A", "1", "B", "2.5"}; };
  const auto time = [](int most) { return draw(0, 1) == 0 ? unset : draw(0, most) * test::second; };
  got(c.apply(add(kind::queue, {"name", "parent", "gpu_limits", "max_runtime"})
                  .add({"root", "", limit(), time(900)})
                  .add({"q0", "root", limit(), time(900)})
                  .add({"q1", pick({"root", ""}), limit(), time(900)})));
  const int nodes = draw(1, 4);
  for (int n = 0; n < nodes; ++n) {
    got(c.apply(add(kind::node, {"name", "capacity", "labels"})
                    .add({"n" + std::to_string(n), numbers{8000, 0, std::int64_t{1000} * draw(0, 4), 20},
                          texts{"nvidia.com/gpu.product", std::string_view(draw(0, 1) == 0 ? "A" : "B")}})));
  }
  const int groups = draw(1, 8);
  for (int g = 0; g < groups; ++g) {
    const std::string name = "g" + std::to_string(g);
    const int pods = draw(1, 3);
    got(c.apply(add(kind::pod_group, {"name", "queue", "min_member", "created", "user", "last_start", "last_eviction",
                                      "max_runtime", "requeue_delay", "deadline", "attained_service", "evictions"})
                    .add({name, pick({"q0", "q1"}), draw(1, pods), draw(0, 3), pick({"", "ann", "bob"}), time(1000),
                          time(1000), time(900), time(900), time(3), draw(0, 2), draw(0, 2)})));
    const std::int64_t gpu = std::vector<std::int64_t>{0, 500, 1000, 2000}[static_cast<std::size_t>(draw(0, 3))];
    for (int p = 0; p < pods; ++p) {
      const bool on = draw(0, 2) == 0;
      got(c.apply(add(kind::pod, {"name", "group", "request", "status", "node"})
                      .add({name + "-" + std::to_string(p), name, numbers{std::int64_t{500} * draw(0, 2), 0, gpu, 1},
                            on ? pod_status::running : pod_status::pending,
                            on ? "n" + std::to_string(draw(0, nodes - 1)) : std::string()})));
    }
  }
  return c;
}

/// Milli-GPU by queue and type that active pods hold, counted pod by pod.
std::map<std::pair<queue_row, std::string>, std::int64_t> held_by_type(const session& s) {
  const session_view view = s.view();
  const model::cluster_state& state = model::state_of(s.base());
  std::map<std::pair<queue_row, std::string>, std::int64_t> held;
  for (pod_row p = 0; p < state.pod_slots; ++p) {
    const node_row node = view.node_of(p);
    if (node == no_row || !model::is_in(view.status_of(p), model::active_allocated)) continue;
    const std::string type(view.node_label(node, "nvidia.com/gpu.product"));
    for (queue_row q = view.group_queue(view.pod_group(p)); q != no_row; q = view.queue_parent(q)) {
      held[{q, type}] += view.pod_request(p)[dim_gpu];
    }
  }
  return held;
}

}  // namespace

TEST_CASE("with any orders and limits sums stay right, and the order of parts is all that counts") {
  const bool good = rc::check("policies", [] {
    cluster c = random_cluster();
    const snapshot s = c.take_snapshot();
    engine e;
    const std::string order = pick({"drf", "las", "las_2d", "age", "fifo", "deadline", "sjf", "srtf", "srsf",
                                    "completion_rate", "userfairness", "userfairness,drf", "multifactor", "lost_work"});
    got(e.set("parts", "predicates,proportion," + order + ",nodeavailability,nodeplacement,gputypes"));
    got(e.set("actions", pick({"allocate", "runtimelimit,allocate", "allocate,runtimelimit"})));
    got(e.set("mode", pick({"strict", "compat"})));
    const session ran = got(e.run(s, now));
    got(ran.check());
    RC_ASSERT(got(e.run(got(snapshot::load(s.save())), now)).digest() == ran.digest());

    // No queue holds more of a type than its limit, unless it did before.
    const auto before = held_by_type(got(e.open(s, now)));
    const model::cluster_state& state = model::state_of(s);
    for (const auto& [of, held] : held_by_type(ran)) {
      for (const auto& [product, most] : (*state.queues)[of.first].gpu_limits) {
        if (product != of.second) continue;
        const auto old = before.find(of);
        RC_ASSERT(held <= std::max(most, old == before.end() ? 0 : old->second));
      }
    }

    // Who starts has waited for its delay, who is stopped has run for as long as it may.
    for (const decision& d : ran.decisions()) {
      const model::group_extra& group = state.group_extras[d.group];
      if (d.kind == decision_kind::evict) {
        std::int64_t most = group.max_runtime == unset ? now : group.max_runtime;
        for (queue_row q = state.groups[d.group].queue; q != no_row; q = (*state.queues)[q].parent) {
          if ((*state.queues)[q].max_runtime != unset) most = std::min(most, (*state.queues)[q].max_runtime);
        }
        const bool started_here = group.last_start == unset || most == 0;
        RC_ASSERT(started_here || now - group.last_start >= most);
      } else if (group.last_eviction != unset && group.requeue_delay != unset) {
        RC_ASSERT(now - group.last_eviction >= group.requeue_delay);
      }
    }
  });
  CHECK(good);
}

TEST_CASE("pods without GPUs leave what is set aside, and who comes after others waits for them") {
  const bool good = rc::check("set aside", [] {
    cluster c = random_cluster();
    auto changed = change(kind::pod_group, {"name", "after"});
    auto ended = change(kind::pod, {"name", "status"});
    const snapshot drawn = c.take_snapshot();
    for (group_row g = 0; g < model::state_of(drawn).live_groups; ++g) {
      static constexpr std::array<const char*, 8> entries{"ok:g0",  "failed:g0", "any:g0", "started:g0",
                                                          "any:g1", "any:g2",    "ok:g3",  "started:g4"};
      if (draw(0, 2) == 0)
        changed.add({std::string(drawn.group_name(g)), texts{entries[static_cast<std::size_t>(draw(0, 7))]}});
    }
    for (pod_row p = 0; p < model::state_of(drawn).pod_slots; ++p) {
      if (draw(0, 3) == 0)
        ended.add({std::string(drawn.pod_name(p)), draw(0, 1) == 0 ? pod_status::succeeded : pod_status::failed});
    }
    got(c.apply(changed));
    got(c.apply(ended));
    const snapshot s = c.take_snapshot();
    engine e;
    const std::string actions = pick({"allocate", "allocate,consolidation,reclaim,preempt,backfill"});
    got(e.set("actions", actions));
    got(e.set("mode", pick({"strict", "compat"})));
    got(e.set("set_aside.cpu", "2000"));
    const session ran = got(e.run(s, now));
    got(ran.check());
    got(e.set("reference_path", "true"));
    RC_ASSERT(got(e.run(s, now)).digest() == ran.digest());

    const model::open_dependencies waiting = model::find_open_dependencies(model::state_of(s));
    const std::size_t dims = model::state_of(s).dims();
    for (const decision& d : ran.decisions()) {
      const bool places = d.kind == decision_kind::bind || d.kind == decision_kind::pipeline;
      RC_ASSERT(!places || !waiting.contains(d.group));
      const std::span<const std::int64_t> request = ran.view().pod_request(d.pod);
      if (d.kind != decision_kind::bind || actions != "allocate" || request[dim_gpu] > 0 || request[dim_cpu] == 0)
        continue;
      const std::span<const std::int64_t> idle = ran.view().node_idle().subspan(d.node * dims, dims);
      RC_ASSERT(idle[dim_cpu] * 1000 >= 2000 * idle[dim_gpu]);  // pods with GPUs take no more than what was theirs
    }
  });
  CHECK(good);
}

TEST_CASE("of the users of a queue nobody is ahead by more than one job while others wait") {
  const bool good = rc::check("turns", [] {
    cluster c;
    got(c.apply(add(kind::queue, {"name"}).add({"q"})));
    got(c.apply(
        add(kind::node, {"name", "capacity"}).add({"n", numbers{64000, 0, std::int64_t{1000} * draw(1, 8), 100}})));
    const int jobs = draw(1, 12);
    for (int j = 0; j < jobs; ++j) {
      const std::string name = "j" + std::to_string(j);
      got(c.apply(add(kind::pod_group, {"name", "queue", "created", "user"})
                      .add({name, "q", draw(0, 3), pick({"ann", "bob", "cy"})})));
      got(c.apply(add(kind::pod, {"name", "group", "request"}).add({name + "-0", name, numbers{0, 0, 1000, 1}})));
    }
    engine e;
    got(e.set("parts", "predicates,proportion,userfairness,nodeavailability"));
    got(e.set("mode", pick({"strict", "compat"})));
    const snapshot s = c.take_snapshot();
    const session ran = got(e.run(s, 0));
    std::map<std::string, int> started;
    const model::cluster_state& state = model::state_of(s);
    std::map<std::string, int> left;
    for (group_row g = 0; g < state.group_slots; ++g) ++left[std::string(state.group_extras[g].user)];
    for (const decision& d : ran.decisions()) {
      const std::string user(state.group_extras[d.group].user);
      for (const auto& [other, jobs_left] : left) {
        if (jobs_left > 0) RC_ASSERT(started[user] <= started[other]);
      }
      ++started[user];
      --left[user];
    }
  });
  CHECK(good);
}

}  // namespace of_test_policies
