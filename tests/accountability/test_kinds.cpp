// Each kind of proof on a cluster that a person can count.
#include <algorithm>
#include <string>

#include "accountability/gangs.hpp"

namespace of_test_kinds {

using namespace kaisched;
using test::builder;
using test::must;
using test::numbers;
using test::rows;
using test::texts;

namespace {

session opened(const snapshot& s) { return must(engine().open(s, 1000 * test::second)); }
session opened(const builder& b) { return opened(b.take()); }

certificate proof_of(const session& over, std::string_view group = "g") {
  return must(over.certify(test::group_by_name(over.base(), group)));
}

const node_bound* bound_of(const placement_bound& of, constraint why, dimension dim = no_row) {
  for (const node_bound& one : of.nodes) {
    if (one.why == why && (dim == no_row || one.dim == dim)) return &one;
  }
  return nullptr;
}

}  // namespace

TEST_CASE("counting: three nodes of 8 GPUs take two pods of 4 each, the gang has seven") {
  builder b;
  b << builder::node{"n1", 8} << builder::node{"n2", 8} << builder::node{"n3", 8} << builder::queue{"q"};
  b.gang("g", "q", 7, 4000);
  const session over = opened(b);
  const certificate proof = proof_of(over);
  CHECK(proof.kind == certificate_kind::counting_bound);
  CHECK(proof.assumption == certificate_assumption::empty);
  CHECK(proof.bound.need == 7);
  CHECK(proof.bound.have == 6);
  REQUIRE(proof.bound.nodes.size() == 1);
  CHECK(proof.bound.nodes[0].why == constraint::resource);
  CHECK(proof.bound.nodes[0].dim == dim_gpu);
  CHECK(proof.bound.nodes[0].most == 2);
  CHECK(proof.bound.nodes[0].nodes.size() == 3);
  CHECK(over.text(proof) ==
        "Even if the cluster were empty: a start takes 7 pods, the nodes have room for at most 6: 3 nodes with gpu for "
        "2 pods each.");
}

TEST_CASE("a gang that fits has no certificate, and neither has one that waits for nothing") {
  builder b;
  b << builder::node{"n", 8} << builder::queue{"q"};
  b.gang("g", "q", 2, 4000);
  b << builder::group{"there", "q"} << builder::pod{"there-0", "there", 0, "n"};
  const session over = opened(b);
  CHECK(proof_of(over).kind == certificate_kind::none);
  CHECK(proof_of(over, "there").kind == certificate_kind::none);
  CHECK(over.text(proof_of(over)) == "No proof was found that the group cannot start.");
}

TEST_CASE("the assumption is the strongest one: as it is, without preemptible pods, empty") {
  const auto with = [](std::int64_t preemptible, std::int64_t fixed, std::int64_t gpus) {
    builder b;
    b << builder::node{"n", 8} << builder::queue{"q"} << builder::group{"low", "q"}
      << builder::group{"fixed", "q", 1, 50, 0, false};
    if (preemptible > 0) b << builder::pod{"low-0", "low", preemptible, "n"};
    if (fixed > 0) b << builder::pod{"fixed-0", "fixed", fixed, "n"};
    b.gang("g", "q", 1, gpus);
    return proof_of(opened(b));
  };
  CHECK(with(4000, 2000, 2000).kind == certificate_kind::none);
  CHECK(with(4000, 2000, 4000).assumption == certificate_assumption::as_is);
  CHECK(with(4000, 2000, 6000).assumption == certificate_assumption::as_is);
  CHECK(with(4000, 2000, 7000).assumption == certificate_assumption::without_preemptible);
  CHECK(with(4000, 2000, 8000).assumption == certificate_assumption::without_preemptible);
  CHECK(with(4000, 2000, 9000).assumption == certificate_assumption::empty);
}

TEST_CASE("pods that are leaving are in the way as it is, and not without preemptible pods") {
  builder b;
  b << builder::node{"n", 4} << builder::queue{"q"} << builder::group{"old", "q", 1, 50, 0, false};
  builder::pod leaving{"old-0", "old", 4000, "n"};
  leaving.status = pod_status::releasing;
  b << leaving;
  b.gang("g", "q", 1, 1000);
  CHECK(proof_of(opened(b)).assumption == certificate_assumption::as_is);
}

TEST_CASE("each node says why it takes none") {
  builder b;
  b << builder::node{"small", 2} << builder::node{"broken", 8, 64, {}, {}, false}
    << builder::node{"kept", 8, 64, {"model", "H100"}, {"pool=x:NoSchedule"}}
    << builder::node{"other", 8, 64, {"model", "A100"}} << builder::queue{"q"} << builder::group{"g", "q", 1};
  builder::pod one{"g-0", "g", 4000};
  one.node_selector = {"model", "H100"};
  b << one;
  const certificate proof = proof_of(opened(b));
  REQUIRE(proof.kind == certificate_kind::counting_bound);
  CHECK(proof.bound.have == 0);
  CHECK(bound_of(proof.bound, constraint::node_not_ready)->nodes.size() == 1);
  CHECK(bound_of(proof.bound, constraint::taint)->nodes.size() == 1);
  CHECK(bound_of(proof.bound, constraint::node_selector)->nodes.size() == 2);  // small and other
}

TEST_CASE("whole devices: with a part of each taken none is left, though more than one is free in all") {
  builder b;
  b << builder::node{"n", 3} << builder::queue{"q"} << builder::group{"parts", "q"};
  for (int i = 0; i < 3; ++i) b << builder::pod{"parts-" + std::to_string(i), "parts", 600, "n"};
  b.gang("g", "q", 1, 1000);
  const session over = opened(b);
  const certificate proof = proof_of(over);
  REQUIRE(proof.kind == certificate_kind::counting_bound);
  CHECK(proof.assumption == certificate_assumption::as_is);
  CHECK(bound_of(proof.bound, constraint::resource_busy)->most == 0);
  CHECK(over.text(proof) ==
        "While every pod on a node keeps its place: a start takes 1 pod, no node has room for one: 1 node with too few "
        "whole free devices.");
}

TEST_CASE("sum: a large and a small pod fit alone, but 6 and 3 GPUs are more than 8") {
  builder b;
  b << builder::node{"n", 8} << builder::queue{"q"} << builder::group{"g", "q", 2} << builder::pod{"g-0", "g", 6000}
    << builder::pod{"g-1", "g", 3000};
  const session over = opened(b);
  const certificate proof = proof_of(over);
  REQUIRE(proof.kind == certificate_kind::sum_bound);
  CHECK(proof.assumption == certificate_assumption::empty);
  CHECK(proof.bound.dim == dim_gpu);
  CHECK(proof.bound.need == 9000);
  CHECK(proof.bound.have == 8000);
  CHECK(over.text(proof) ==
        "Even if the cluster were empty: the pods of a start ask for at least 9 GPU, the nodes that could take some of "
        "them have 8 GPU free: 1 node with 8 GPU free.");
}

TEST_CASE("cut: two workers need the H100, whose node has room for one, however many launchers fit elsewhere") {
  builder b;
  b << builder::node{"fast", 4, 64, {"model", "H100"}} << builder::node{"slow", 8, 64, {"model", "A100"}}
    << builder::queue{"q"} << builder::group{"g", "q", 4};
  for (int i = 0; i < 2; ++i) {
    builder::pod worker{"worker-" + std::to_string(i), "g", 3000};
    worker.node_selector = {"model", "H100"};
    b << worker << builder::pod{"launcher-" + std::to_string(i), "g", 1000};
  }
  const session over = opened(b);
  const certificate proof = proof_of(over);
  REQUIRE(proof.kind == certificate_kind::matching_cut);
  REQUIRE(proof.bound.pods.size() == 1);
  CHECK(over.base().pod_name(proof.bound.pods[0]) == "worker-0");
  CHECK(proof.bound.need == 2);
  CHECK(proof.bound.have == 1);
  CHECK(bound_of(proof.bound, constraint::node_selector)->nodes.size() == 1);
  CHECK(bound_of(proof.bound, constraint::resource)->most == 1);
}

TEST_CASE("cut: of an elastic gang the other pods may start instead") {
  builder b;
  b << builder::node{"fast", 4, 64, {"model", "H100"}} << builder::node{"slow", 8, 64, {"model", "A100"}}
    << builder::queue{"q"} << builder::group{"g", "q", 3};
  for (int i = 0; i < 2; ++i) {
    builder::pod worker{"worker-" + std::to_string(i), "g", 3000};
    worker.node_selector = {"model", "H100"};
    b << worker << builder::pod{"launcher-" + std::to_string(i), "g", 1000};
  }
  CHECK(proof_of(opened(b)).kind == certificate_kind::none);  // one worker and two launchers
}

TEST_CASE("queues: the limit of a department is below the gang, or what others hold makes it so") {
  builder b;
  b << builder::node{"n", 8} << builder::queue{"dept", "", unlimited, 3} << builder::queue{"q", "dept"};
  b.gang("g", "q", 4);
  session over = opened(b);
  certificate proof = proof_of(over);
  CHECK(proof.kind == certificate_kind::queue_bound);
  CHECK(proof.assumption == certificate_assumption::empty);
  CHECK(proof.what == constraint::queue_limit);
  CHECK(over.base().queue_name(proof.queue) == "dept");
  CHECK(proof.need == 4000);
  CHECK(proof.have == 3000);
  CHECK(over.text(proof) ==
        "Even if the cluster were empty: the gang asks for at least 4 GPU, the limit of queue "
        "'dept' leaves 3 GPU.");

  builder c;
  c << builder::node{"n", 8} << builder::queue{"q", "", unlimited, 4} << builder::group{"old", "q"}
    << builder::pod{"old-0", "old", 2000, "n"};
  c.gang("g", "q", 3);
  proof = proof_of(opened(c));
  CHECK(proof.kind == certificate_kind::queue_bound);
  CHECK(proof.assumption == certificate_assumption::as_is);
  CHECK(proof.have == 2000);
}

TEST_CASE("quotas bind groups that are not preemptible, by what such groups hold") {
  builder b;
  b << builder::node{"n", 8} << builder::queue{"q", "", 4} << builder::group{"old", "q", 1, 50, 0, false}
    << builder::pod{"old-0", "old", 2000, "n"} << builder::group{"g", "q", 3, 50, 1, false};
  for (int i = 0; i < 3; ++i) b << builder::pod{"g-" + std::to_string(i), "g", 1000};
  const certificate proof = proof_of(opened(b));
  CHECK(proof.kind == certificate_kind::queue_bound);
  CHECK(proof.what == constraint::queue_quota);
  CHECK(proof.assumption == certificate_assumption::without_preemptible);
  CHECK(proof.need == 3000);
  CHECK(proof.have == 2000);
}

TEST_CASE("domains: eight GPUs are free, but no rack has more than four") {
  builder b;
  b << builder::node{"a1", 2, 64, {"rack", "a"}} << builder::node{"a2", 2, 64, {"rack", "a"}}
    << builder::node{"b1", 4, 64, {"rack", "b"}} << builder::node{"c", 8} << builder::queue{"q"};
  cluster world;
  must(world.apply(rows(table_kind::topology, table_op::add, {"name", "levels"}).add({"tree", texts{"rack"}})));
  b.apply_to(world);
  must(world.apply(
      rows(table_kind::pod_group, table_op::add, {"name", "queue", "min_member", "topology", "required_level"})
          .add({"g", "q", 5, "tree", "rack"})));
  for (int i = 0; i < 5; ++i) {
    must(world.apply(rows(table_kind::pod, table_op::add, {"name", "group", "request"})
                         .add({"g-" + std::to_string(i), "g", numbers{0, 0, 1000}})));
  }
  const session over = opened(world.take_snapshot());
  const certificate proof = proof_of(over);
  REQUIRE(proof.kind == certificate_kind::domain_bound);
  CHECK(proof.assumption == certificate_assumption::empty);
  CHECK(proof.level == "rack");
  REQUIRE(proof.domains.size() == 2);
  CHECK(proof.domains[0].domain == "a");
  CHECK(proof.domains[0].bound.need == 5);
  CHECK(proof.domains[0].bound.have == 4);
  CHECK(proof.domains[1].domain == "b");
  CHECK(proof.domains[1].bound.have == 4);
  REQUIRE(proof.outside.size() == 1);
  CHECK(over.base().node_name(proof.outside[0]) == "c");
  CHECK(over.text(proof) ==
        "Even if the cluster were empty: all pods must be in one 'rack', and none of 2 domains has room. In 'a' a "
        "start takes 5 pods, the nodes have room for at most 4: 2 nodes with gpu for 2 pods each.");
}

TEST_CASE("structure: pods that do not exist, are gated or name no sub-group, and queues that serve nobody") {
  builder b;
  b << builder::node{"n", 8} << builder::queue{"top"} << builder::queue{"q", "top"};
  b << builder::group{"few", "q", 3} << builder::pod{"few-0", "few"};
  b << builder::group{"gated", "q", 2} << builder::pod{"gated-0", "gated"};
  b << builder::group{"stray", "q", 1};
  b << builder::group{"inner", "top", 1} << builder::pod{"inner-0", "inner"};
  builder::pod lost{"stray-0", "stray"};
  lost.sub_group = "nowhere";
  b << lost;
  cluster world;
  b.apply_to(world);
  must(world.apply(rows(table_kind::pod, table_op::add, {"name", "group", "request", "status"})
                       .add({"gated-1", "gated", numbers{0, 0, 1000}, pod_status::gated})));
  const session over = opened(world.take_snapshot());
  const auto check = [&](std::string_view group, constraint what, std::int64_t need, std::int64_t have) {
    const certificate proof = proof_of(over, group);
    CHECK(proof.kind == certificate_kind::structure);
    CHECK(proof.assumption == certificate_assumption::empty);
    CHECK(proof.what == what);
    CHECK(proof.need == need);
    CHECK(proof.have == have);
  };
  check("few", constraint::gang_incomplete, 3, 1);
  check("gated", constraint::gated, 2, 1);
  check("stray", constraint::sub_group_missing, 1, 0);
  check("inner", constraint::queue_missing, 0, 0);
  CHECK(over.text(proof_of(over, "few")) == "Even if the cluster were empty: the gang needs 3 pods, 1 exist.");
}

TEST_CASE("trees: of three sub-groups two are needed, the smallest ones count") {
  cluster world;
  builder b;
  b << builder::node{"n", 4} << builder::queue{"q"};
  b.apply_to(world);
  const auto with = [&](std::string name, std::int64_t needed) {
    must(world.apply(
        rows(table_kind::pod_group, table_op::add, {"name", "queue", "min_sub_group"}).add({name, "q", needed})));
    rows subs(table_kind::sub_group, table_op::add, {"group", "name", "min_member"});
    rows pods(table_kind::pod, table_op::add, {"name", "group", "sub_group", "request"});
    for (const std::int64_t size : {1, 3, 4}) {
      const std::string sub = "s" + std::to_string(size);
      subs.add({name, sub, size});
      for (std::int64_t i = 0; i < size; ++i)
        pods.add({name + sub + std::to_string(i), name, sub, numbers{0, 0, 1000}});
    }
    must(world.apply(subs));
    must(world.apply(pods));
    return proof_of(opened(world.take_snapshot()), name);
  };
  CHECK(with("two", 2).kind == certificate_kind::none);  // 1 + 3 pods
  const certificate proof = with("three", unset);
  CHECK(proof.kind == certificate_kind::counting_bound);
  CHECK(proof.bound.need == 8);
  CHECK(proof.bound.have == 4);
}

TEST_CASE("a gang that runs: the least that can start is one more pod") {
  builder b;
  b << builder::node{"n", 3} << builder::queue{"q"} << builder::group{"g", "q", 2}
    << builder::pod{"g-0", "g", 1000, "n"} << builder::pod{"g-1", "g", 1000, "n"} << builder::pod{"g-2", "g", 1000}
    << builder::pod{"g-3", "g", 1000};
  CHECK(proof_of(opened(b)).kind == certificate_kind::none);
  b.nodes.front().gpus = 2;
  const certificate proof = proof_of(opened(b));
  CHECK(proof.kind == certificate_kind::counting_bound);
  CHECK(proof.assumption == certificate_assumption::as_is);
  CHECK(proof.bound.need == 1);
  CHECK(proof.bound.have == 0);
}

TEST_CASE("what amounts do not tell counts as if it fitted") {
  cluster world;
  builder b;
  b << builder::node{"n", 1} << builder::queue{"q"} << builder::group{"g", "q", 1};
  b.apply_to(world);
  must(world.apply(rows(table_kind::pod, table_op::add, {"name", "group", "request", "gpu_memory"})
                       .add({"g-0", "g", numbers{0, 0, 0}, std::int64_t{1} << 50})));
  CHECK(proof_of(opened(world.take_snapshot())).kind == certificate_kind::none);
}

TEST_CASE("errors: an open statement, a row without a group") {
  builder b;
  b << builder::node{"n", 8} << builder::queue{"q"};
  b.gang("g", "q", 1);
  session over = opened(b);
  CHECK(over.certify(1000).failure().code == status::argument);
  REQUIRE(must(over.allocate(test::pod_by_name(over.base(), "g-0"), 0)));
  CHECK(over.certify(test::group_by_name(over.base(), "g")).failure().code == status::state);
}

}  // namespace of_test_kinds
