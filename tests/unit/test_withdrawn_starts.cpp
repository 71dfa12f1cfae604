/// What sessions tell beside decisions: starts that they took back, and plug-ins that refuse groups.
#include <doctest/doctest.h>

#include <kaisched/cluster.hpp>
#include <kaisched/engine.hpp>

#include "rows.hpp"
#include "support.hpp"

namespace of_test_withdrawn_starts {

using namespace kaisched;
using namespace kaisched::test;

cluster one_node_and_two_groups() {
  cluster c;
  must(c.apply(add(table_kind::queue, {"name"}).add({"q"})));
  must(c.apply(
      add(table_kind::node, {"name", "capacity"}).add({"n", numbers{64'000, std::int64_t{1} << 40, 2000, 110}})));
  must(c.apply(add(table_kind::pod_group, {"name", "queue"}).add({"a", "q"}).add({"b", "q"})));
  rows pods = add(table_kind::pod, {"name", "group", "request"});
  for (const char* const name : {"a", "b"})
    pods.add({std::string(name) + "-0", name, numbers{1000, 0, whole_device, 1}});
  must(c.apply(pods));
  return c;
}

pod_row row_of(const cluster& c, const snapshot& s, std::string_view pod) {
  return *s.row_of(*c.find(entity_kind::pod, pod), entity_kind::pod);
}

TEST_CASE("a start that a later commit takes back is withdrawn") {
  for (const bool compat : {false, true}) {
    CAPTURE(compat);
    cluster c = one_node_and_two_groups();
    engine with;
    must(with.set("mode", compat ? "compat" : "strict"));
    const snapshot s = c.take_snapshot();
    session held = must(with.open(s, 0));
    const pod_row a = row_of(c, s, "a-0");
    const pod_row b = row_of(c, s, "b-0");
    for (const pod_row pod : {a, b}) {
      CHECK(must(held.allocate(pod, 0)));
      must(held.commit());
    }
    CHECK(held.withdrawn_starts() == 0);
    must(held.evict(a));
    must(held.commit());
    CHECK(held.withdrawn_starts() == 1);
    CHECK(held.decisions().size() == (compat ? 3 : 1));
    CHECK(held.fork().withdrawn_starts() == 1);
  }
}

TEST_CASE("a plug-in that does not let a job in is told by its name") {
  // Overcommit lets in what asks for no more than 1.2 times what there is: two of the GPUs, not three.
  cluster c = one_node_and_two_groups();
  must(c.apply(add(table_kind::pod_group, {"name", "queue"}).add({"large", "q"})));
  must(
      c.apply(add(table_kind::pod, {"name", "group", "request"}).add({"large-0", "large", numbers{1000, 0, 2000, 1}})));
  engine with;
  must(with.set("preset", "volcano-default"));
  const snapshot s = c.take_snapshot();
  const session held = must(with.run(s, 0));
  const auto group = [&](std::string_view name) {
    return *s.row_of(*c.find(entity_kind::pod_group, name), entity_kind::pod_group);
  };
  CHECK(held.refusing_plugin(group("a")).empty());
  CHECK(held.refusing_plugin(group("large")) == "overcommit");
  const group_row large = group("large");
  const std::vector<reason> why = held.reasons({&large, 1});
  REQUIRE_FALSE(why.empty());
  CHECK(why.front().group == large);
  CHECK(why == held.reasons());  // no other group waits
}

}  // namespace of_test_withdrawn_starts
