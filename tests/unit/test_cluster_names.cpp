// Names of what has gone: their bytes are given back, and what is there keeps its names.
#include "rows.hpp"
#include "support.hpp"

namespace of_test_cluster_names {

using namespace kaisched;
using kind = table_kind;
using test::add;
using test::must;
using test::numbers;
using test::remove;
using test::texts;

TEST_CASE("names and texts stay when those of others are cleared away") {
  cluster c;
  must(c.apply(add(kind::resource, {"name"}).add({"nvidia.com/mig-1g.5gb"})));
  must(c.apply(add(kind::topology, {"name", "levels"}).add({"tree", texts{"rack"}})));
  must(c.apply(add(kind::queue, {"name"}).add({"q"})));
  must(c.apply(add(kind::node, {"name", "capacity", "labels"})
                   .add({"n", numbers{64'000, 1 << 30, 8000, 110, 7000}, texts{"rack", "a", "zone", "west"}})));
  must(c.apply(add(kind::pod_group, {"name", "queue", "namespace", "user", "topology", "required_level"})
                   .add({"g", "q", "team-of-the-west", "somebody-with-a-name", "tree", "rack"})));
  must(c.apply(add(kind::sub_group, {"group", "name", "min_member"}).add({"g", "workers-of-the-group", 1})));
  must(c.apply(add(kind::pod, {"name", "group", "sub_group", "request", "status", "node", "labels", "node_selector",
                               "mig_instances"})
                   .add({"p", "g", "workers-of-the-group", numbers{1000, 1, 0, 1, 1000}, pod_status::running, "n",
                         texts{"app", "trainer-with-a-label"}, texts{"zone", "west"}, texts{"0/1g.5gb@0"}})));
  const std::string digest = c.take_snapshot().digest();  // no snapshot is left that would hold the old bytes
  // More than four megabytes of names, and more than what is in use.
  for (int round = 0; round < 6; ++round) {
    auto groups = add(kind::pod_group, {"name", "queue"});
    auto gone = remove(kind::pod_group, {"name"});
    for (int i = 0; i < 300; ++i) {
      const std::string name = std::string(4000, 'x') + std::to_string(1000 * round + i);
      groups.add({name, "q"});
      gone.add({name});
    }
    must(c.apply(groups));
    must(c.apply(gone));
  }
  CHECK(c.take_snapshot().digest() == digest);
  // Everything is still found by its name.
  must(c.apply(test::change(kind::pod, {"name", "labels"}).add({"p", texts{"app", "other"}})));
  CHECK(c.take_snapshot().digest() != digest);
  must(c.apply(test::change(kind::pod, {"name", "labels"}).add({"p", texts{"app", "trainer-with-a-label"}})));
  CHECK(c.take_snapshot().digest() == digest);
}

}  // namespace of_test_cluster_names
