// Clusters with one queue and single pods, in which nodes must be emptied again and again: the nodes that a search goes
// over decide what going over all victims decides.
#include <string>
#include <vector>

#include <rapidcheck.h>

#include "draws.hpp"
#include "rows.hpp"
#include "support.hpp"

namespace of_test_victims_by_node {

using namespace kaisched;
using test::draw;
using test::got;
using kind = table_kind;
using test::add;
using test::numbers;

namespace {

constexpr std::int64_t now = 1000 * test::second;

int drawn_size() { return std::vector<int>{1, 1, 1, 2, 2, 3, 4, 8}[static_cast<std::size_t>(draw(0, 7))]; }

cluster fragmented_cluster() {
  cluster c;
  got(c.apply(add(kind::queue, {"name", "quota"}).add({"q", numbers{-1, -1, -1}})));
  const int nodes = draw(8, 30);
  auto groups = add(kind::pod_group, {"name", "queue", "min_member", "priority", "created"});
  auto pods = add(kind::pod, {"name", "group", "request", "status", "node"});
  const bool alike = draw(0, 2) > 0;
  int count = 0;
  for (int n = 0; n < nodes; ++n) {
    const std::string node = "n" + std::to_string(n);
    got(c.apply(add(kind::node, {"name", "capacity"}).add({node, numbers{64'000, 1 << 20, 8000, 110}})));
    for (int left = draw(1, 6); left > 0;) {
      const int gpus = draw(0, 11) == 0 ? 0 : std::min(left, alike ? 1 : drawn_size());
      const std::string name = "r" + std::to_string(count);
      groups.add({name, "q", 1, draw(0, 14) == 0 ? 100 : 50 - draw(0, 1), std::int64_t{count++} * test::second});
      pods.add({name, name, numbers{1000, 1, 1000 * gpus, 1}, pod_status::running, node});
      left -= std::max(gpus, 1);
    }
  }
  for (int waiting = draw(2, 20); waiting > 0; --waiting) {
    const std::string name = "w" + std::to_string(count);
    const int size = draw(0, 4) == 0 ? 2 : 1;
    const int gpus = draw(0, 3) == 0 ? drawn_size() : 8;
    groups.add({name, "q", size, 50 + draw(0, 1), std::int64_t{count++} * test::second});
    for (int p = 0; p < size; ++p) {
      pods.add({name + "-" + std::to_string(p), name, numbers{1000, 1, 1000 * gpus, 1}, pod_status::pending, ""});
    }
  }
  got(c.apply(groups));
  got(c.apply(pods));
  return c;
}

}  // namespace

TEST_CASE("nodes that become large enough are found in the order of victims") {
  const bool good = rc::check("fragmented", [] {
    engine e;
    got(e.set("actions", draw(0, 2) == 0 ? "allocate,consolidation,preempt" : "consolidation"));
    got(e.set("mode", draw(0, 3) == 0 ? "strict" : "compat"));
    got(e.set("consolidation.max_victims", "-1"));
    cluster c = fragmented_cluster();
    const snapshot s = c.take_snapshot();
    const session fast = got(e.run(s, now));
    got(fast.check());
    got(e.set("reference_path", "true"));
    const session slow = got(e.run(s, now));
    RC_ASSERT(slow.digest() == fast.digest());
    RC_ASSERT(slow.state_digest() == fast.state_digest());
  });
  CHECK(good);
}

}  // namespace of_test_victims_by_node
