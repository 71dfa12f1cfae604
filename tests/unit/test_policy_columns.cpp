// Columns that only some policies read: what is refused, and what survives saving, loading and changing.
#include <limits>

#include "rows.hpp"
#include "support.hpp"

namespace of_test_policy_columns {

using namespace kaisched;
using kind = table_kind;
using test::add;
using test::change;
using test::must;
using test::remove;
using test::texts;

namespace {

cluster one_queue() {
  cluster c;
  must(c.apply(add(kind::queue, {"name"}).add({"q"})));
  must(c.apply(add(kind::pod_group, {"name", "queue"}).add({"g", "q"})));
  return c;
}

std::string refused(cluster& c, const table& t) {
  const std::string before = c.take_snapshot().digest();
  const auto applied = c.apply(t);
  REQUIRE_FALSE(applied.ok());
  CHECK(c.take_snapshot().digest() == before);
  return applied.failure().message;
}

/// A row of texts as the snapshot writes it.
std::vector<std::string> written(cluster& c, kind of, std::uint32_t column) {
  const table t = must(c.take_snapshot().to_table(of));
  std::vector<std::string> all;
  for (const std::string_view text : split_list(t.view().find(column)->string(0))) all.emplace_back(text);
  return all;
}

table limits(texts values) { return change(kind::queue, {"name", "gpu_limits"}).add({"q", std::move(values)}); }

}  // namespace

TEST_CASE("limits on types of GPUs are numbers of GPUs, by type") {
  cluster c = one_queue();
  must(c.apply(limits({"H100", "0", "A100", "8", "T4", "0.50", "L4", "1.125"})));
  CHECK(written(c, kind::queue, col::queue_gpu_limits) ==
        std::vector<std::string>{"A100", "8", "H100", "0", "L4", "1.125", "T4", "0.5"});
  const std::string start = "table 0 (queue, change), row 0, column gpu_limits: queue 'q': ";
  for (const char* bad : {"", "-1", "-0", "1.", ".5", "1.2345", "many", "1e3", "99999999999999999999", " 1"}) {
    CAPTURE(bad);
    CHECK(refused(c, limits({"A100", bad})) == start + "'" + bad + "' is not a number of GPUs such as 8 or 0.5");
  }
  CHECK(refused(c, limits({"A100", "1", "A100", "2"})).starts_with(start));
  CHECK(refused(c, limits({"A100"})).starts_with(start));
  must(c.apply(limits({})));
  CHECK(written(c, kind::queue, col::queue_gpu_limits).empty());
}

TEST_CASE("what queues of tiers say") {
  cluster c = one_queue();
  const auto queue = [](const char* column, texts values) {
    return change(kind::queue, {"name", column}).add({"q", std::move(values)});
  };
  must(c.apply(queue("hierarchy", {"root:1", "a:b:2.5", "c:100"})));
  CHECK(written(c, kind::queue, col::queue_hierarchy) == std::vector<std::string>{"root:1", "a:b:2.5", "c:100"});
  must(c.apply(queue("node_groups", {"preferred:b:c", "required:a", "avoided:x", "rather_avoided:y"})));
  CHECK(written(c, kind::queue, col::queue_node_groups) ==
        std::vector<std::string>{"preferred:b:c", "required:a", "avoided:x", "rather_avoided:y"});
  for (const char* bad : {"root", ":1", "root:", "root:0.5", "root:much", "root:1e13", "root:nan"}) {
    CAPTURE(bad);
    CHECK(refused(c, queue("hierarchy", {bad})) ==
          std::string("table 0 (queue, change), row 0, column hierarchy: queue 'q': '") + bad +
              "': expected name:weight, with a weight from 1 to 1e12");
  }
  for (const char* bad : {"a", "wanted:a", "required:", "required"}) {
    CAPTURE(bad);
    CHECK(refused(c, queue("node_groups", {bad})) ==
          std::string("table 0 (queue, change), row 0, column node_groups: queue 'q': '") + bad +
              "': expected required:NAME, preferred:NAME, avoided:NAME or rather_avoided:NAME");
  }
  CHECK(
      refused(c, change(kind::queue, {"name", "reclaimable"}).add({"q", std::uint8_t{2}})).ends_with("must be 0 or 1"));
  must(c.apply(change(kind::pod_group, {"name", "min_resources"}).add({"g", texts{"gpu:2000", "example.com/x:3"}})));
  CHECK(written(c, kind::pod_group, col::pod_group_min_resources) ==
        std::vector<std::string>{"gpu:2000", "example.com/x:3"});
  CHECK(refused(c, change(kind::pod_group, {"name", "min_resources"}).add({"g", texts{"gpu:-1"}}))
            .starts_with("table 0 (pod_group, change), row 0, column min_resources: 'gpu:-1': expected name:amount"));
  // All of it survives saving, and goes with the group.
  const snapshot loaded = must(snapshot::load(c.take_snapshot().save()));
  CHECK(loaded.digest() == c.take_snapshot().digest());
  must(c.apply(remove(kind::pod_group, {"name"}).add({"g"})));
  CHECK(must(c.take_snapshot().to_table(kind::pod_group)).rows() == 0);
}

TEST_CASE("lengths of time are not negative") {
  cluster c = one_queue();
  for (const auto& [of, name, column] :
       {std::tuple{kind::queue, "q", "max_runtime"}, std::tuple{kind::pod_group, "g", "max_runtime"},
        std::tuple{kind::pod_group, "g", "requeue_delay"}}) {
    CAPTURE(column);
    for (const std::int64_t good : {unset, std::int64_t{0}, std::numeric_limits<std::int64_t>::max()}) {
      must(c.apply(change(of, {"name", column}).add({name, good})));
    }
    CHECK(refused(c, change(of, {"name", column}).add({name, -1})).ends_with("-1 is no length of time"));
  }
  CHECK(refused(c, change(kind::pod_group, {"name", "evictions"}).add({"g", -1}))
            .ends_with("is not in 0 .. 4503599627370496"));
}

TEST_CASE("a class is read, and its two columns are kept") {
  cluster c = one_queue();
  const auto row = [&](const char* name) {
    must(c.apply(change(kind::pod_group, {"name", "priority_class"}).add({"g", name})));
    const table t = must(c.take_snapshot().to_table(kind::pod_group));
    return std::pair(t.view().find(col::pod_group_priority)->values<std::int64_t>(1)[0],
                     t.view().find(col::pod_group_preemptible)->values<std::uint8_t>(1)[0]);
  };
  using pair = std::pair<std::int64_t, std::uint8_t>;
  CHECK(row("inference") == pair(125, 0));
  CHECK(row("") == pair(125, 0));
  CHECK(row("build") == pair(100, 0));
  CHECK(row("build-preemptible") == pair(75, 1));
  CHECK(row("train") == pair(50, 1));
  CHECK(refused(c, change(kind::pod_group, {"name", "priority_class"}).add({"g", "trains"})) ==
        "table 0 (pod_group, change), row 0, column priority_class: 'trains' is not known; did you mean 'train'?");
}

TEST_CASE("a group that turns preemptible no longer counts for the quota") {
  cluster c = one_queue();
  must(c.apply(add(kind::node, {"name", "capacity"}).add({"n", test::numbers{1000, 0, 4000, 10}})));
  must(c.apply(add(kind::pod, {"name", "group", "request", "status", "node"})
                   .add({"g-0", "g", test::numbers{0, 0, 1000, 1}, pod_status::running, "n"})));
  for (const char* name : {"build", "train", "inference"}) {
    must(c.apply(change(kind::pod_group, {"name", "priority_class"}).add({"g", name})));
    CHECK(must(engine().open(c.take_snapshot(), 0)).check().ok());  // sums equal a recount
  }
}

TEST_CASE("users survive saving, loading, changes of names and removals") {
  cluster c = one_queue();
  must(c.apply(change(kind::pod_group, {"name", "user"}).add({"g", "ann"})));
  for (int i = 0; i < 300; ++i) {  // names that come and go until memory for them is tidied up
    const std::string other = "other-" + std::to_string(i) + std::string(1000, 'x');
    must(c.apply(add(kind::pod_group, {"name", "queue", "user"}).add({other, "q", other + "-user"})));
    must(c.apply(change(kind::pod_group, {"name", "user"}).add({other, "bob"})));
    must(c.apply(remove(kind::pod_group, {"name"}).add({other})));
  }
  const snapshot s = c.take_snapshot();
  const table t = must(s.to_table(kind::pod_group));
  CHECK(t.view().find(col::pod_group_user)->string(0) == "ann");
  CHECK(must(snapshot::load(s.save())).digest() == s.digest());
  must(c.apply(change(kind::pod_group, {"name", "user"}).add({"g", "bob"})));
  CHECK(c.take_snapshot().digest() != s.digest());
}

TEST_CASE("times at both ends of the scale neither overflow nor evict early") {
  cluster c = one_queue();
  constexpr std::int64_t late = std::numeric_limits<std::int64_t>::max();
  must(c.apply(add(kind::node, {"name", "capacity"}).add({"n", test::numbers{1000, 0, 4000, 10}})));
  must(c.apply(add(kind::pod, {"name", "group", "request", "status", "node"})
                   .add({"g-0", "g", test::numbers{0, 0, 1000, 1}, pod_status::running, "n"})));
  engine e;
  must(e.set("actions", "runtimelimit"));
  const auto evicted = [&](std::int64_t started, std::int64_t now, std::int64_t most) {
    must(c.apply(change(kind::pod_group, {"name", "last_start", "max_runtime"}).add({"g", started, most})));
    return must(e.run(c.take_snapshot(), now)).decisions().size();
  };
  CHECK(evicted(unset + 1, late, late) == 1);  // longer than can be said, so at least as long
  CHECK(evicted(-2, late - 2, late) == 1);
  CHECK(evicted(-1, late - 2, late) == 0);
  CHECK(evicted(late, unset + 1, 1) == 0);
  CHECK(evicted(late, unset + 1, 0) == 1);
}

TEST_CASE("a fork asks its own parts: what it changes is no news to the session") {
  cluster c = one_queue();
  must(c.apply(add(kind::node, {"name", "capacity", "labels"})
                   .add({"n", test::numbers{1000, 0, 4000, 10}, texts{"nvidia.com/gpu.product", "A100"}})));
  must(c.apply(limits({"A100", "1"})));
  must(c.apply(add(kind::pod, {"name", "group", "request"})
                   .add({"g-0", "g", test::numbers{0, 0, 1000, 1}})
                   .add({"g-1", "g", test::numbers{0, 0, 1000, 1}})));
  engine e;
  must(e.set("parts", "predicates,proportion,nodeavailability,gputypes"));
  session s = must(e.open(c.take_snapshot(), 0));
  session question = s.fork();
  const checkpoint before = question.mark();
  CHECK(must(question.allocate(0, 0)));
  must(question.rollback(before));
  must(question.run());
  must(s.run());
  CHECK(question.digest() == s.digest());
  REQUIRE(s.decisions().size() == 1);
  const std::vector<reason> why = s.reasons();
  REQUIRE(why.size() == 1);
  CHECK(why[0].what == constraint::gpu_type_limit);
  CHECK(s.text(why[0]) == "1 node with GPUs of a type of which a queue may hold no more");
}

TEST_CASE("shapes of levels and positions of nodes") {
  cluster c = one_queue();
  const auto topology = [](texts shapes) {
    return add(kind::topology, {"name", "levels", "shapes"}).add({"t", texts{"row", "rack"}, std::move(shapes)});
  };
  const std::string start = "table 0 (topology, add), row 0, column shapes: topology 't': ";
  for (const char* bad :
       {"", "ring", "ring:", "ring:0", "ring:4x4", "ring:4097", "torus:4x", "torus:2x2x2x2x2", "torus:64x65", "mesh:-1",
        "line:+3", "block:0", "block:65537", "circle:4", "Ring:4", "torus:4 x4", "ring:4x"}) {
    CAPTURE(bad);
    CHECK(refused(c, topology({"rack", bad})).starts_with(start + "level 'rack': '" + bad + "' is no shape: "));
  }
  CHECK(refused(c, topology({"racks", "ring:4"})) ==
        start + "it has no level 'racks' for the shape ring:4; did you mean 'rack'?");
  CHECK(refused(c, topology({"rack"})).starts_with(start));
  must(c.apply(topology({"row", "torus:4x4x8x2", "rack", "line:1"})));
  CHECK(written(c, kind::topology, col::topology_shapes) ==
        std::vector<std::string>{"rack", "line:1", "row", "torus:4x4x8x2"});
  CHECK(refused(c, change(kind::topology, {"name", "levels"}).add({"t", texts{"rack"}})).find("no level 'row'") !=
        std::string::npos);
  must(c.apply(change(kind::topology, {"name", "shapes"}).add({"t", texts{"rack", "mesh:2x3"}})));

  const auto node = [](const char* name, const char* rack, texts position) {
    return add(kind::node, {"name", "capacity", "labels", "position"})
        .add({name, test::numbers{1000, 0, 1000, 10}, texts{"rack", rack, "row", "r"}, std::move(position)});
  };
  for (const char* bad : {"", "x", "1x", "1x2x3x4x5", "-1", "65536", "1 x2", "a"}) {
    CAPTURE(bad);
    const std::string before = "table 0 (node, add), row 0, column position: node 'n': ";
    CHECK(refused(c, node("n", "a", {"rack", bad})).starts_with(before));
  }
  must(c.apply(node("n", "a", {"rack", "1x2", "other", "7"})));
  CHECK(written(c, kind::node, col::node_position) == std::vector<std::string>{"other", "7", "rack", "1x2"});
  CHECK(refused(c, node("m", "a", {"rack", "1x2"}))
            .find("position 1x2 is taken by node 'n' in rack 'r.a' of topology 't'") != std::string::npos);
  CHECK(refused(c, node("m", "a", {"rack", "2x2"})).find("position 2x2 is not in the shape mesh:2x3 in rack") !=
        std::string::npos);
  CHECK(refused(c, node("m", "a", {"rack", "1"})).find("position 1 is not in the shape") != std::string::npos);
  must(c.apply(node("m", "b", {"rack", "1x2"})));
  const table moved = change(kind::node, {"name", "labels"}).add({"m", texts{"rack", "a", "row", "r"}});
  CHECK(refused(c, moved).find("is taken") != std::string::npos);
  const table smaller = change(kind::topology, {"name", "shapes"}).add({"t", texts{"rack", "mesh:2x2"}});
  CHECK(refused(c, smaller).find("node '") != std::string::npos);
  // In no domain it is in nobody's way.
  must(c.apply(add(kind::node, {"name", "capacity", "position"})
                   .add({"o", test::numbers{1000, 0, 1000, 10}, texts{"rack", "1x2"}})));
  // What was saved is what is loaded.
  cluster again;
  std::vector<table> tables;
  std::vector<table_view> views;
  for (const kind one : {kind::topology, kind::queue, kind::node}) {
    tables.push_back(must(c.take_snapshot().to_table(one)));
  }
  for (const table& one : tables) views.push_back(one.view());
  must(again.apply(views));
  CHECK(written(again, kind::topology, col::topology_shapes) == std::vector<std::string>{"rack", "mesh:2x3"});
  CHECK(again.take_snapshot().to_table(kind::node).value().view().rows == 3U);
}

}  // namespace of_test_policy_columns
