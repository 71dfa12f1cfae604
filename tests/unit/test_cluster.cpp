// Deltas, snapshots, digests.
#include "io/files.hpp"
#include "model/account.hpp"
#include "model/snapshot_access.hpp"
#include "model/state.hpp"
#include "rows.hpp"
#include "support.hpp"

namespace of_test_cluster {

using namespace kaisched;
using test::builder;
using test::must;

namespace {

builder small() {
  builder b;
  b << builder::queue{"dept"} << builder::queue{"team", "dept", 8};
  b << builder::node{"n1"} << builder::node{"n2", 4} << builder::node{"cpu", 0};
  b << builder::group{"run", "team", 1};
  b << builder::pod{"run-0", "run", 2000, "n1"};
  b.gang("wait", "team", 3);
  return b;
}

error refuse(cluster& c, const table& t) {
  const std::string before = c.take_snapshot().digest();
  auto applied = c.apply(t);
  REQUIRE_FALSE(applied.ok());
  CHECK(c.take_snapshot().digest() == before);
  return applied.failure();
}

bool contains(const error& e, std::string_view part) { return e.message.find(part) != std::string::npos; }

table one_pod(std::string_view name, std::string_view group, std::int64_t gpu, std::string_view node = {},
              pod_status state = pod_status::pending) {
  table t(table_kind::pod, table_op::add);
  t.add(col::pod_name, column_type::string).push(name);
  t.add(col::pod_group_ref, column_type::string).push(group);
  auto& request = t.add(col::pod_request, column_type::i64, 3);
  for (const std::int64_t x : {std::int64_t{1000}, std::int64_t{0}, gpu}) request.push(x);
  t.add(col::pod_status_column, column_type::u8).push(static_cast<std::uint8_t>(state));
  t.add(col::pod_node, column_type::string).push(node);
  return t;
}

table named(table_kind kind, table_op op, std::initializer_list<std::string_view> names) {
  table t(kind, op);
  auto& name = t.add(1, column_type::string);
  for (const std::string_view n : names) name.push(n);
  return t;
}

}  // namespace

TEST_CASE("amounts follow the pods on a node") {
  const snapshot s = small().take();
  const model::cluster_state& state = model::state_of(s);
  const node_row n1 = test::node_by_name(s, "n1");
  const std::size_t at = static_cast<std::size_t>(n1) * state.dims();
  CHECK((*state.live.idle)[at + dim_gpu] == 6000);
  CHECK((*state.live.idle)[at + dim_pods] == 109);
  CHECK((*state.live.device_free)[(*state.first_device)[n1]] == 0);
  CHECK((*state.live.device_free)[(*state.first_device)[n1] + 2] == 1000);
  CHECK(state.live_pods == 4);
  CHECK(state.pending_groups->size() == 1);
}

TEST_CASE("a snapshot does not change when the cluster does") {
  cluster c;
  small().apply_to(c);
  const snapshot before = c.take_snapshot();
  const std::string digest = before.digest();
  must(c.apply(one_pod("run-1", "run", 1000, "n2", pod_status::running)));
  CHECK(before.digest() == digest);
  const snapshot after = c.take_snapshot();
  CHECK(after.digest() != digest);
  CHECK(after.version() > before.version());
  must(c.apply(named(table_kind::pod, table_op::remove, {"run-1"})));
  CHECK(c.take_snapshot().digest() == digest);
}

TEST_CASE("a bad row takes the whole delta back, names included") {
  cluster c;
  small().apply_to(c);
  table t(table_kind::pod_group, table_op::add);
  auto& name = t.add(col::pod_group_name, column_type::string);
  auto& queue = t.add(col::pod_group_queue, column_type::string);
  name.push(std::string_view("fresh"));
  queue.push(std::string_view("team"));
  name.push(std::string_view("lost"));
  queue.push(std::string_view("nowhere"));
  const error e = refuse(c, t);
  CHECK(e.code == status::not_found);
  CHECK(contains(e, "row 1, column queue"));
  CHECK(contains(e, "nowhere"));
  CHECK_FALSE(c.find(entity_kind::pod_group, "fresh").ok());
  must(c.apply(one_pod("later", "wait", 0)));  // the cluster is usable
}

TEST_CASE("errors name what is wrong") {
  cluster c;
  small().apply_to(c);
  CHECK(contains(refuse(c, one_pod("wait-0", "wait", 0)), "'wait-0' exists already"));
  CHECK(contains(refuse(c, one_pod("x", "wait", -1)), "gpu -1"));
  CHECK(refuse(c, one_pod("x", "wait", std::int64_t{1} << 60)).code == status::limit);
  CHECK(contains(refuse(c, one_pod("x", "wait", 2500)), "2500 milli-GPU"));
  CHECK(contains(refuse(c, one_pod("x", "wait", 1000, "", pod_status::running)), "running needs a node"));
  CHECK(contains(refuse(c, one_pod("x", "wait", 1000, "n1", pod_status::pending)), "pending cannot have a node"));
  CHECK(contains(refuse(c, one_pod("x", "wait", 1000, "n9", pod_status::running)), "there is no node 'n9'"));
  CHECK(contains(refuse(c, named(table_kind::node, table_op::remove, {"n1"})), "1 pods are on it"));
  CHECK(contains(refuse(c, named(table_kind::queue, table_op::remove, {"team"})), "2 pod groups"));
  CHECK(contains(refuse(c, named(table_kind::pod_group, table_op::remove, {"wait"})), "still has 3 pods"));
  table cycle(table_kind::queue, table_op::change);
  cycle.add(col::queue_name, column_type::string).push(std::string_view("dept"));
  cycle.add(col::queue_parent, column_type::string).push(std::string_view("team"));
  CHECK(contains(refuse(c, cycle), "cycle"));
  table taint(table_kind::node, table_op::change);
  taint.add(col::node_name, column_type::string).push(std::string_view("n1"));
  taint.add(col::node_taints, column_type::string_list).push_raw(std::string_view("nonsense\0", 9));
  CHECK(contains(refuse(c, taint), "taint 'nonsense': expected key=value:Effect"));
  table unknown(table_kind::node, table_op::change);
  unknown.add(col::node_name, column_type::string).push(std::string_view("n1"));
  unknown.add(99, column_type::u8).push(std::uint8_t{1});
  CHECK(refuse(c, unknown).code == status::unsupported);
}

TEST_CASE("errors of rows name the entity as well, if it exists") {
  cluster c;
  small().apply_to(c);
  const entity_id n1 = must(c.find(entity_kind::node, "n1"));
  CHECK(refuse(c, one_pod("wait-0", "wait", 0)).subject == must(c.find(entity_kind::pod, "wait-0")));
  CHECK(refuse(c, one_pod("x", "wait", -1)).subject == entity_id{});
  CHECK(refuse(c, named(table_kind::node, table_op::remove, {"cpu", "n1"})).subject == n1);
  CHECK(refuse(c, named(table_kind::node, table_op::remove, {"cpu", "n9"})).subject == entity_id{});
  CHECK(refuse(c, named(table_kind::queue, table_op::remove, {"team"})).subject ==
        must(c.find(entity_kind::queue, "team")));
  for (const column_type by : {column_type::string, column_type::u64}) {
    table part(table_kind::device, table_op::add);  // of the node that it is a part of
    table::column& node = part.add(col::device_node, by);
    if (by == column_type::string) node.push(std::string_view("n1"));
    if (by == column_type::u64) node.push(n1.value);
    part.add(col::device_index, column_type::u32).push(std::uint32_t{99});
    CHECK(refuse(c, part).subject == n1);
  }
  // In the second table of a call.
  const std::vector<table> two = [] {
    std::vector<table> all;
    all.push_back(named(table_kind::queue, table_op::add, {"new"}));
    all.push_back(named(table_kind::node, table_op::remove, {"n1"}));
    return all;
  }();
  const auto applied = c.apply(two);
  REQUIRE_FALSE(applied.ok());
  CHECK(applied.failure().subject == n1);
}

TEST_CASE("tables that lie about themselves are refused") {
  cluster c;
  const std::uint32_t offsets[] = {0, 9, 3};
  column_view name{col::node_name, column_type::string, 0, 0, "abcdefghi", offsets};
  table_view v;
  v.kind = static_cast<std::uint32_t>(table_kind::node);
  v.op = static_cast<std::uint32_t>(table_op::remove);
  v.rows = 2;
  v.column_count = 1;
  v.columns = &name;
  CHECK(contains(c.apply({v}).failure(), "must not descend"));
  name.offsets = nullptr;
  CHECK(contains(c.apply({v}).failure(), "needs offsets"));
  name.type = column_type::i64;
  CHECK(contains(c.apply({v}).failure(), "expected type string"));
  v.op = 9;
  CHECK(contains(c.apply({v}).failure(), "operation 9"));
  v.kind = 77;
  CHECK(c.apply({v}).failure().code == status::unsupported);
}

TEST_CASE("ids know their kind and their age") {
  cluster c;
  small().apply_to(c);
  const entity_id node = must(c.find(entity_kind::node, "cpu"));
  must(c.apply(named(table_kind::node, table_op::remove, {"cpu"})));
  table t(table_kind::pod, table_op::change);
  t.add(col::pod_name, column_type::string).push(std::string_view("wait-0"));
  t.add(col::pod_status_column, column_type::u8).push(static_cast<std::uint8_t>(pod_status::running));
  auto& target = t.add(col::pod_node, column_type::u64);
  target.push(node.value);
  CHECK(refuse(c, t).code == status::stale_id);
  table wrong(table_kind::pod, table_op::change);
  wrong.add(col::pod_name, column_type::string).push(std::string_view("wait-0"));
  wrong.add(col::pod_node, column_type::u64).push(must(c.find(entity_kind::queue, "team")).value);
  CHECK(refuse(c, wrong).code == status::wrong_kind);
}

TEST_CASE("the digest depends on what is, not on how it came about") {
  builder b = small();
  cluster one;
  b.apply_to(one);
  std::reverse(b.nodes.begin(), b.nodes.end());
  std::reverse(b.groups.begin(), b.groups.end());
  std::reverse(b.pods.begin(), b.pods.end());
  cluster other;
  b.apply_to(other);
  must(other.apply(one_pod("passing", "run", 500, "n2", pod_status::running)));
  must(other.apply(named(table_kind::pod, table_op::remove, {"passing"})));
  CHECK(one.take_snapshot().digest() == other.take_snapshot().digest());
  const engine e;
  CHECK(must(e.run(one.take_snapshot(), 0)).digest() == must(e.run(other.take_snapshot(), 0)).digest());
}

TEST_CASE("saving and loading gives the same snapshot") {
  cluster c;
  small().apply_to(c);
  must(c.apply(test::add(table_kind::reservation, {"name"}).add({"last"})));  // no table at the end is empty
  const snapshot s = c.take_snapshot();
  const std::string bytes = s.save();
  CHECK(must(snapshot::load(bytes)).digest() == s.digest());
  for (std::size_t n = 0; n < bytes.size(); ++n) {
    const auto cut = snapshot::load(std::string_view(bytes).substr(0, n));
    if (cut.ok() || cut.failure().message.find("damaged") == std::string::npos) FAIL_CHECK(n << " bytes");
  }
  CHECK_FALSE(snapshot::load(bytes + "x").ok());
  for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    std::string broken = bytes;
    broken[bit / 8] = static_cast<char>(broken[bit / 8] ^ 1 << bit % 8);
    const auto loaded = snapshot::load(broken);
    if (loaded.ok() || loaded.failure().message.find("damaged") == std::string::npos) FAIL_CHECK("bit " << bit);
  }
}

TEST_CASE("snapshots of version 0.1 are loaded, and are no way around the checksum") {
  const std::string old = must(io::read_file(KAISCHED_SOURCE_DIR "/tests/unit/version_0.1/cluster.snapshot"));
  const snapshot loaded = must(snapshot::load(old));
  CHECK(loaded.count(entity_kind::node) == 2);
  CHECK(loaded.count(entity_kind::pod) == 3);
  const std::string saved = loaded.save();
  CHECK(saved.starts_with("kaisched-snapshot/2\n"));
  CHECK(must(snapshot::load(saved)).digest() == loaded.digest());

  cluster c;
  small().apply_to(c);
  must(c.apply(test::add(table_kind::reservation, {"name"}).add({"last"})));  // no table at the end is empty
  const snapshot s = c.take_snapshot();
  const std::string bytes = test::without_checksum(s.save());
  CHECK(must(snapshot::load(bytes)).digest() == s.digest());
  for (std::size_t n = 0; n < bytes.size(); n += 7) {
    const auto cut = snapshot::load(std::string_view(bytes).substr(0, n));
    if (cut.ok()) CHECK(cut->digest() != s.digest());  // cut between two tables: less, but sound
  }
  for (std::size_t n = 20; n < bytes.size(); n += 11) {
    std::string broken = bytes;
    broken[n] = static_cast<char>(broken[n] ^ 0x5A);
    const auto other = snapshot::load(broken);  // refused or loaded, never a crash
    if (other.ok()) (void)other->digest();
  }
  // Two bits make the 2 of the first line a 1: the checksum is no table.
  std::string damaged = s.save();
  damaged[damaged.find('/') + 1] = '1';
  CHECK_FALSE(snapshot::load(damaged).ok());
}

TEST_CASE("nodes are numbered along the primary topology") {
  builder b;
  for (const char* name : {"a", "b", "c", "d"}) {
    const bool first = std::string_view(name) == "a" || std::string_view(name) == "d";
    b << builder::node{name, 8, 64, {"rack", first ? "r2" : "r1"}};
  }
  cluster c;
  b.apply_to(c);
  table t(table_kind::topology, table_op::add);
  t.add(col::topology_name, column_type::string).push(std::string_view("tree"));
  t.add(col::topology_levels, column_type::string_list).push_raw(std::string_view("rack\0", 5));
  t.add(col::topology_primary, column_type::u8).push(std::uint8_t{1});
  must(c.apply(t));
  const snapshot s = c.take_snapshot();
  std::string order;
  for (node_row n = 0; n < 4; ++n) order += s.node_name(n);
  CHECK(order == "bcad");
}

TEST_CASE("devices must agree with the capacity") {
  cluster c;
  small().apply_to(c);
  table t(table_kind::device, table_op::add);
  auto& node = t.add(col::device_node, column_type::string);
  auto& index = t.add(col::device_index, column_type::u32);
  for (std::uint32_t i = 0; i < 3; ++i) {
    node.push(std::string_view("n2"));
    index.push(i);
  }
  CHECK(contains(refuse(c, t), "gpu is 4000 milli-GPU, but its healthy devices offer 3000"));
  node.push(std::string_view("n2"));
  index.push(std::uint32_t{3});
  must(c.apply(t));
  CHECK(must(snapshot::load(c.take_snapshot().save())).digest() == c.take_snapshot().digest());
}

TEST_CASE("sub-groups may come before or after their pods") {
  cluster c;
  builder b;
  b << builder::queue{"q"} << builder::node{"n"} << builder::group{"g", "q", 1};
  b << builder::pod{"g-0", "g", 1000, "", 1000, "left"} << builder::pod{"g-1", "g", 1000, "", 1000, "right"};
  b.apply_to(c);
  CHECK(model::state_of(c.take_snapshot())
            .pending_groups->empty());  // pods of unknown sub-groups are no part of the group
  table t(table_kind::sub_group, table_op::add);
  auto& group = t.add(col::sub_group_group, column_type::string);
  auto& name = t.add(col::sub_group_name, column_type::string);
  auto& parent = t.add(col::sub_group_parent, column_type::string);
  auto& min = t.add(col::sub_group_min_member, column_type::i64);
  for (const char* leaf : {"left", "right"}) {
    group.push(std::string_view("g"));
    name.push(std::string_view(leaf));
    parent.push(std::string_view("both"));
    min.push(std::int64_t{1});
  }
  CHECK(contains(refuse(c, t), "there is no parent 'both'"));
  group.push(std::string_view("g"));
  name.push(std::string_view("both"));
  parent.push(std::string_view{});
  min.push(std::int64_t{0});
  must(c.apply(t));
  CHECK(model::state_of(c.take_snapshot()).pending_groups->size() == 1);
  CHECK(must(snapshot::load(c.take_snapshot().save())).digest() == c.take_snapshot().digest());
  const session s = must(engine().run(c.take_snapshot(), 0));
  CHECK(s.decisions().size() == 2);
}

TEST_CASE("devices that are not known stay so until the pod moves") {
  cluster c;
  builder b;
  b << builder::queue{"q"} << builder::node{"n", 1} << builder::group{"g", "q"};
  b << builder::pod{"one", "g", 1000, "n"} << builder::pod{"two", "g", 1000, "n"};  // more than there is
  b.apply_to(c);
  must(c.apply(named(table_kind::pod, table_op::remove, {"one"})));
  const std::string digest = c.take_snapshot().digest();
  table t(table_kind::pod, table_op::change);
  t.add(col::pod_name, column_type::string).push(std::string_view("two"));
  t.add(col::pod_leader, column_type::u8).push(std::uint8_t{0});
  must(c.apply(t));
  CHECK(c.take_snapshot().digest() == digest);
}

TEST_CASE("usage and weights have bounds of their own") {
  cluster c;
  small().apply_to(c);
  table t(table_kind::queue, table_op::change);
  t.add(col::queue_name, column_type::string).push(std::string_view("dept"));
  t.add(col::queue_usage, column_type::f64, 1).push(-1.0);
  CHECK(contains(refuse(c, t), "column usage"));
}

TEST_CASE("raw rows of lists of numbers are counted in numbers") {
  table t(table_kind::device);
  auto& links = t.add(col::device_links, column_type::i64_list);
  const std::int64_t values[] = {1, 2, 3};
  links.push_raw({static_cast<const char*>(static_cast<const void*>(values)), sizeof values});
  CHECK(t.view().columns[0].list(0).size() == 3);
  CHECK_THROWS_AS(links.push_raw("odd"), std::invalid_argument);
}

}  // namespace of_test_cluster
