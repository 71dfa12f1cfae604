// Domains of many nodes: the orders that are kept for them decide what the reference way decides.
#include <string>
#include <vector>

#include <rapidcheck.h>

#include "draws.hpp"
#include "rows.hpp"
#include "support.hpp"

namespace of_test_large_domains {

using namespace kaisched;
using test::draw;
using test::got;
using kind = table_kind;
using test::add;
using test::numbers;
using test::texts;

namespace {

std::string drawn_level(int from) {
  return std::vector<std::string>{"", "block", "rack"}[static_cast<std::size_t>(draw(from, 2))];
}

/// Blocks of up to hundred nodes, some of them busy, and gangs that ask for blocks or racks.
cluster large_domains() {
  cluster c;
  got(c.apply(add(kind::topology, {"name", "levels"}).add({"tree", texts{"block", "rack"}})));
  got(c.apply(add(kind::queue, {"name"}).add({"q"})));
  auto groups =
      add(kind::pod_group, {"name", "queue", "min_member", "created", "topology", "required_level", "preferred_level"});
  auto pods = add(kind::pod, {"name", "group", "request", "status", "node"});
  const int count = draw(100, 240);
  const int in_rack = draw(4, 70);
  const int in_block = in_rack * draw(1, 4);
  for (int n = 0; n < count; ++n) {
    const std::string name = "n" + std::to_string(n);
    // Some nodes are in no domain, and few have less CPU than their GPUs need.
    const bool labelled = draw(0, 39) > 0;
    const std::string block = "b" + std::to_string(n / in_block);
    const std::string rack = "r" + std::to_string(n / in_rack);
    got(c.apply(add(kind::node, {"name", "capacity", "labels"})
                    .add({name, numbers{draw(0, 9) == 0 ? 6000 : 64'000, 0, 8000, 30},
                          labelled ? texts{"block", block, "rack", rack} : texts{}})));
    if (const int busy = draw(-4, 8); busy > 0) {
      groups.add({"runs" + std::to_string(n), "q", 1, 0, "", "", ""});
      pods.add({"runs" + std::to_string(n), "runs" + std::to_string(n), numbers{1000, 0, 1000 * busy, 1},
                pod_status::running, name});
    }
  }
  const int gangs = draw(1, 8);
  for (int g = 0; g < gangs; ++g) {
    const std::string name = "gang" + std::to_string(g);
    const int size = draw(1, 60);
    const int gpus = std::vector<int>{0, 1, 2, 4, 8}[static_cast<std::size_t>(draw(0, 4))];
    const std::string required = drawn_level(0);
    groups.add({name, "q", size, 1 + g, "tree", required, drawn_level(required.empty() ? 1 : 0)});
    for (int p = 0; p < size; ++p) {
      const bool is_larger = draw(0, 19) == 0;
      pods.add({name + "-" + std::to_string(p), name, numbers{is_larger ? 8000 : 1000, 0, 1000 * gpus, 1},
                pod_status::pending, ""});
    }
  }
  got(c.apply(groups));
  got(c.apply(pods));
  return c;
}

}  // namespace

TEST_CASE("in large domains the fast ways decide what the reference way decides") {
  const bool good = rc::check("large domains", [] {
    engine e;
    got(e.set("actions", "allocate"));
    got(e.set("mode", draw(0, 3) == 0 ? "strict" : "compat"));
    got(e.set("placement.gpu", draw(0, 5) == 0 ? "spread" : "binpack"));
    cluster c = large_domains();
    const snapshot s = c.take_snapshot();
    const session fast = got(e.run(s, 0));
    got(fast.check());
    got(e.set("reference_path", "true"));
    const session slow = got(e.run(s, 0));
    RC_ASSERT(slow.digest() == fast.digest());
    RC_ASSERT(slow.state_digest() == fast.state_digest());
  });
  CHECK(good);
}

}  // namespace of_test_large_domains
