// Clusters without room, in which many sets of victims are tried: what is left out to be fast changes no decision.
#include <string>
#include <vector>

#include <rapidcheck.h>

#include "draws.hpp"
#include "rows.hpp"
#include "support.hpp"

namespace of_test_full_clusters {

using namespace kaisched;
using test::draw;
using test::got;
using kind = table_kind;
using test::add;
using test::numbers;

namespace {

constexpr std::int64_t now = 1000 * test::second;
constexpr int gpus_per_node = 8;

/// Fills nodes one after the other with running gangs, then adds groups that wait.
cluster full_cluster() {
  cluster c;
  const int nodes = draw(6, 24);
  const bool scarce = draw(0, 3) == 0;  // CPU like GPUs
  const int leaves = draw(2, 3);
  auto queues = add(kind::queue, {"name", "parent", "quota", "over_quota_weight"});
  const bool two_levels = draw(0, 1) == 0;
  const std::int64_t quota = std::int64_t{1000} * nodes * gpus_per_node / leaves;
  if (two_levels) queues.add({"top", "", numbers{-1, -1, quota * leaves}, test::numbers{1000, 1000, 1000}});
  for (int q = 0; q < leaves; ++q) {
    queues.add({"q" + std::to_string(q), two_levels ? "top" : "", numbers{-1, -1, quota + 1000 * draw(-3, 3)},
                numbers{1000, 1000, 1000}});
  }
  got(c.apply(queues));
  for (int n = 0; n < nodes; ++n) {
    const std::int64_t cpu = scarce && draw(0, 1) == 0 ? 8000 : 64000;
    got(c.apply(add(kind::node, {"name", "capacity"})
                    .add({"n" + std::to_string(n), numbers{cpu, 1 << 20, 1000 * gpus_per_node, 110}})));
  }
  auto groups = add(kind::pod_group, {"name", "queue", "min_member", "priority", "created"});
  auto pods = add(kind::pod, {"name", "group", "request", "status", "node"});
  int count = 0;
  const auto add_group = [&](int size, int gpus, const std::vector<int>& on) {
    const std::string name = "g" + std::to_string(count);
    groups.add({name, "q" + std::to_string(draw(0, leaves - 1)), draw(0, 9) == 0 ? 1 : size, draw(0, 9) == 0 ? 75 : 50,
                std::int64_t{count++} * test::second});
    for (int p = 0; p < size; ++p) {
      pods.add({name + "-" + std::to_string(p), name, numbers{1000 * gpus, 1, 1000 * gpus, 1},
                on.empty() ? pod_status::pending : pod_status::running,
                on.empty() ? std::string() : "n" + std::to_string(on[static_cast<std::size_t>(p)])});
    }
  };
  for (int n = 0; n < nodes; ++n) {
    for (int left = gpus_per_node - (draw(0, 5) == 0 ? 1 : 0); left > 0;) {
      const int gpus = std::min(left, std::vector<int>{1, 1, 1, 2, 3, 4, 8}[static_cast<std::size_t>(draw(0, 6))]);
      const int size = left >= 2 * gpus && draw(0, 5) == 0 ? 2 : 1;
      add_group(size, gpus, std::vector<int>(static_cast<std::size_t>(size), n));
      left -= size * gpus;
    }
  }
  if (draw(0, 1) == 0) add_group(8, 8, {});  // a group that asks for so much that its queue is served late
  for (int waiting = draw(1, 8); waiting > 0; --waiting) {
    add_group(draw(0, 3) == 0 ? draw(2, 8) : 1, std::vector<int>{1, 2, 4, 8}[static_cast<std::size_t>(draw(0, 3))], {});
  }
  got(c.apply(groups));
  got(c.apply(pods));
  return c;
}

}  // namespace

TEST_CASE("in clusters without room the fast ways decide what the reference way decides") {
  const bool good = rc::check("full clusters", [] {
    engine e;
    got(e.set("actions", "allocate,consolidation,reclaim,preempt,stalegangeviction"));
    got(e.set("mode", "compat"));
    for (int i = 0; i < 10; ++i) {  // what is left out is rare
      cluster c = full_cluster();
      const snapshot s = c.take_snapshot();
      got(e.set("reference_path", "false"));
      const session fast = got(e.run(s, now));
      got(fast.check());
      got(e.set("reference_path", "true"));
      RC_ASSERT(got(e.run(s, now)).digest() == fast.digest());
    }
  });
  CHECK(good);
}

TEST_CASE("forks of a session find what the session would find, before it runs actions and after") {
  const bool good = rc::check("forks", [] {
    engine e;
    got(e.set("actions", "allocate,consolidation,reclaim,preempt,stalegangeviction"));
    got(e.set("mode", draw(0, 3) == 0 ? "strict" : "compat"));
    cluster c = full_cluster();
    const snapshot s = c.take_snapshot();
    const std::vector<std::string> actions{"allocate", "consolidation", "reclaim", "preempt"};
    const auto drawn_action = [&] { return actions[static_cast<std::size_t>(draw(0, 3))]; };
    session shared = got(e.open(s, now));
    std::vector<std::string> so_far;
    for (int step = 0; step < 3; ++step) {
      for (int question = 0; question < 3; ++question) {
        const std::string first = drawn_action();
        const std::string second = drawn_action();
        session fork = shared.fork();
        session alone = got(e.open(s, now));
        for (const std::string& action : so_far) got(alone.run(action));
        const bool evicts = draw(0, 1) == 0;  // the host changes the fork before the actions do
        const auto leaving = static_cast<pod_row>(draw(0, 20));
        for (session* one : {&fork, &alone}) {
          if (evicts && one->evict(leaving)) got(one->commit());
          got(one->run(first));
          got(one->run(second));
        }
        RC_ASSERT(fork.digest() == alone.digest());
        RC_ASSERT(fork.state_digest() == alone.state_digest());
        got(fork.check());
      }
      so_far.push_back(drawn_action());
      got(shared.run(so_far.back()));
    }
  });
  CHECK(good);
}

}  // namespace of_test_full_clusters
