// Devices of resource claims: who gets them, who pays, what an undo brings back.
#include <string>
#include <vector>

#include "rows.hpp"
#include "support.hpp"

namespace of_test_claims {

using namespace kaisched;
using kind = table_kind;
using test::add;
using test::change;
using test::must;
using test::numbers;
using test::texts;

namespace {

/// Nodes a and b with two claimable GPUs each.
cluster two_nodes() {
  cluster c;
  must(c.apply(add(kind::queue, {"name"}).add({"q"})));
  must(c.apply(add(kind::node, {"name", "capacity", "claimable"})
                   .add({"a", numbers{64000, 0, 2000, 110}, texts{"gpu=gpu/a/0", "gpu=gpu/a/1"}})
                   .add({"b", numbers{64000, 0, 2000, 110}, texts{"gpu=gpu/b/0", "gpu=gpu/b/1"}})));
  return c;
}

void add_claim(cluster& c, const std::string& name, std::int64_t count = 1, texts devices = {}, texts users = {}) {
  must(
      c.apply(add(kind::resource_claim, {"name", "device_class", "count", "labels", "devices", "reserved_for"})
                  .add({name, "gpu", count, texts{"kai.scheduler/queue", "q"}, std::move(devices), std::move(users)})));
}

void add_pod(cluster& c, const std::string& name, std::int64_t gpus, texts claims, const std::string& node = {}) {
  must(c.apply(add(kind::pod_group, {"name", "queue"}).add({name, "q"})));
  must(c.apply(add(kind::pod, {"name", "group", "request", "claimed_gpus", "claims", "status", "node"})
                   .add({name, name, numbers{1000, 0, gpus * 1000, 1}, static_cast<std::int64_t>(gpus),
                         std::move(claims), node.empty() ? pod_status::pending : pod_status::running, node})));
}

session opened(cluster& c, std::string_view mode) {
  engine e;
  must(e.set("mode", mode));
  return must(e.open(c.take_snapshot(), 0));
}

std::int64_t idle_gpus(const session& s, node_row row) {
  return s.view().node_idle()[row * s.view().dimension_count() + dim_gpu] / whole_device;
}

std::string devices_of(const session& s, std::string_view pod) {
  std::string text;
  for (const decision& d : s.decisions()) {
    if (s.base().pod_name(d.pod) != pod) continue;
    for (const std::string& one : d.claim_devices) text += (text.empty() ? "" : " ") + one;
  }
  return text;
}

}  // namespace

TEST_CASE("a device that pods share is charged once on their node") {
  for (const std::string_view mode : {"strict", "compat"}) {
    CAPTURE(mode);
    cluster c = two_nodes();
    add_claim(c, "shared", 1, {"gpu/a/0"}, {"x", "y"});
    add_pod(c, "x", 1, {"shared"}, "a");
    add_pod(c, "y", 1, {"shared"}, "a");
    add_pod(c, "z", 1, {"shared"});
    session s = opened(c, mode);
    CHECK(idle_gpus(s, 0) == 1);
    must(s.run("allocate"));
    must(s.check());
    CHECK(idle_gpus(s, 0) == 1);
    CHECK(idle_gpus(s, 1) == 2);
    CHECK(devices_of(s, "z") == "shared=gpu/a/0");
    const table claims = must(s.to_table(kind::resource_claim));
    CHECK(claims.rows() == 1);
    CHECK(split_list(claims.view().find(col::resource_claim_reserved_for)->string(0)).size() == 3);
  }
}

TEST_CASE("an undo brings claims and amounts back byte by byte in strict") {
  cluster c = two_nodes();
  add_claim(c, "one", 2, {"gpu/a/0", "gpu/a/1"}, {"x"});
  add_claim(c, "two", 1);
  add_claim(c, "three", 1);
  add_pod(c, "x", 2, {"one"}, "a");
  add_pod(c, "y", 1, {"two"});
  add_pod(c, "z", 2, {"two", "three"});
  session s = opened(c, "strict");
  const pod_row x = test::pod_by_name(s.base(), "x");
  const pod_row y = test::pod_by_name(s.base(), "y");
  const pod_row z = test::pod_by_name(s.base(), "z");
  const std::string start = s.state_digest();
  const checkpoint before = s.mark();
  CHECK_FALSE(must(s.allocate(y, 0)));
  must(s.evict(x));
  CHECK_FALSE(must(s.allocate(y, 0)));  // the devices are in use until x is gone
  CHECK(must(s.pipeline(y, 0)));
  CHECK_FALSE(must(s.pipeline(z, 1)));  // its first claim has a device of the other node
  CHECK(must(s.pipeline(z, 0)));
  must(s.rollback(before));
  CHECK(s.state_digest() == start);
  must(s.evict(x));
  CHECK(must(s.pipeline(x, 0)));  // nothing happened to it
  CHECK(s.state_digest() == start);
  must(s.evict(x));
  CHECK(must(s.pipeline(y, 0)));
  CHECK_FALSE(must(s.pipeline(x, 0)));  // two devices are too many now
  CHECK(must(s.pipeline(x, 1)));
  must(s.rollback(before));
  CHECK(s.state_digest() == start);
}

TEST_CASE("what the session leaves of claims is what the next one starts with") {
  cluster c = two_nodes();
  add_claim(c, "one", 2);
  add_pod(c, "x", 2, {"one"});
  session first = opened(c, "strict");
  must(first.run("allocate"));
  CHECK(devices_of(first, "x") == "one=gpu/a/0 one=gpu/a/1");
  must(c.apply(must(first.to_table(kind::resource_claim))));
  must(c.apply(change(kind::pod, {"name", "status", "node"}).add({"x", pod_status::running, "a"})));
  add_claim(c, "other", 1);
  add_pod(c, "y", 1, {"other"});
  session second = opened(c, "strict");
  must(second.run("allocate"));
  CHECK(devices_of(second, "y") == "other=gpu/b/0");
}

TEST_CASE("faults of columns about claims") {
  cluster c = two_nodes();
  add_pod(c, "x", 1, {});
  const auto fault = [&](const table& t) {
    const auto applied = c.apply(t);
    return applied.ok() ? std::string() : applied.failure().message;
  };
  for (const char* bad : {"gpu", "gpu=", "=gpu/a/0"}) {
    CHECK(fault(change(kind::node, {"name", "claimable"}).add({"a", texts{bad}})).find("is not class=") !=
          std::string::npos);
  }
  CHECK(fault(change(kind::node, {"name", "claimable"}).add({"a", texts{"gpu=d", "gpu=d"}})).find("given twice") !=
        std::string::npos);
  CHECK(fault(change(kind::pod, {"name", "claimed_gpus"}).add({"x", 2})).find("has the GPUs of the claims in it") !=
        std::string::npos);
  must(c.apply(change(kind::pod, {"name", "claimed_gpus"}).add({"x", 1})));
}

}  // namespace of_test_claims
