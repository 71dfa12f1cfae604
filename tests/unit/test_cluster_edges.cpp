// Deltas that take away what others stand on, and amounts at the ends of their ranges.
#include "model/account.hpp"
#include "model/snapshot_access.hpp"
#include "model/state.hpp"
#include "support.hpp"

namespace of_test_cluster_edges {

using namespace kaisched;
using test::builder;
using test::must;

namespace {

table make(table_kind kind, table_op op) {
  return table(static_cast<std::uint32_t>(kind), static_cast<std::uint32_t>(op));
}

table row(table_kind kind, table_op op, std::initializer_list<std::pair<std::uint32_t, std::string_view>> texts) {
  table t = make(kind, op);
  for (const auto& [column, text] : texts) t.add(column, column_type::string).push(text);
  return t;
}

void amounts(table& t, std::uint32_t column, std::initializer_list<std::int64_t> values) {
  auto& c = t.add(column, column_type::i64, static_cast<std::uint32_t>(values.size()));
  for (const std::int64_t x : values) c.push(x);
}

table pod(std::string_view name, pod_status state, std::string_view node, std::int64_t gpu = 1000,
          std::int64_t cpu = 1000) {
  table t =
      row(table_kind::pod, table_op::add, {{col::pod_name, name}, {col::pod_group_ref, "g"}, {col::pod_node, node}});
  amounts(t, col::pod_request, {cpu, 1000, gpu});
  t.add(col::pod_status_column, column_type::u8).push(static_cast<std::uint8_t>(state));
  return t;
}

/// Queues dept > {q, r}, node n with 2 GPUs, group g.
cluster two_gpus() {
  builder b;
  b << builder::queue{"dept"} << builder::queue{"q", "dept"} << builder::queue{"r", "dept"} << builder::node{"n", 2}
    << builder::group{"g", "q"};
  cluster c;
  b.apply_to(c);
  return c;
}

bool counted_right(const snapshot& s) {
  model::cluster_state copy = model::state_of(s);
  model::recount(copy);
  return *copy.live.idle == *model::state_of(s).live.idle &&
         *copy.live.device_free == *model::state_of(s).live.device_free &&
         *copy.live.queue_allocated == *model::state_of(s).live.queue_allocated &&
         *copy.live.queue_request == *model::state_of(s).live.queue_request;
}

std::uint64_t devices(const snapshot& s, std::string_view name) {
  return model::state_of(s).live.pod_devices[test::pod_by_name(s, name)].mask;
}

std::string refusal(const result<void>& r) {
  REQUIRE_FALSE(r.ok());
  return r.failure().message;
}

}  // namespace

TEST_CASE("rows that name nothing are refused") {
  cluster c = two_gpus();
  for (const table_info& info : schema()) {
    for (const table_op op : {table_op::change, table_op::remove}) {
      if (!info.input || info.kind == table_kind::resource) continue;
      table_view v;
      v.kind = static_cast<std::uint32_t>(info.kind);
      v.op = static_cast<std::uint32_t>(op);
      v.rows = 1;
      CHECK(refusal(c.apply({v})).find("required") != std::string::npos);
    }
  }
}

TEST_CASE("a cycle of queues is refused before pods are counted along it") {
  cluster c = two_gpus();
  const table cycle = row(table_kind::queue, table_op::change, {{col::queue_name, "dept"}, {col::queue_parent, "q"}});
  const table one = pod("p", pod_status::pending, "");
  CHECK(refusal(c.apply({cycle.view(), one.view()})).find("cycle") != std::string::npos);
  must(c.apply(one));
}

TEST_CASE("trees have at most 1000 levels") {
  cluster c;
  table t = make(table_kind::queue, table_op::add);
  auto& name = t.add(col::queue_name, column_type::string);
  auto& parent = t.add(col::queue_parent, column_type::string);
  for (std::uint32_t i = 0; i <= max_tree_depth; ++i) {
    name.push("q" + std::to_string(i));
    parent.push(i == 0 ? "" : "q" + std::to_string(i - 1));
  }
  CHECK(c.apply(t).failure().code == status::limit);
}

TEST_CASE("a queue may go with the delta that moves its groups away") {
  cluster c = two_gpus();
  must(c.apply(pod("p", pod_status::running, "n")));
  const table gone = row(table_kind::queue, table_op::remove, {{col::queue_name, "q"}});
  const table moved =
      row(table_kind::pod_group, table_op::change, {{col::pod_group_name, "g"}, {col::pod_group_queue, "r"}});
  must(c.apply({gone.view(), moved.view()}));
  CHECK(counted_right(c.take_snapshot()));
}

TEST_CASE("pods that change on a node that goes are refused with it") {
  cluster c = two_gpus();
  must(c.apply(pod("p", pod_status::running, "n")));
  const table gone = row(table_kind::node, table_op::remove, {{col::node_name, "n"}});
  table larger = row(table_kind::pod, table_op::change, {{col::pod_name, "p"}});
  amounts(larger, col::pod_request, {1000, 1000, 2000});
  CHECK(refusal(c.apply({gone.view(), larger.view()})).find("1 pods are on it") != std::string::npos);
  CHECK(counted_right(c.take_snapshot()));
}

TEST_CASE("pods that have ended do not move to the next node") {
  cluster c = two_gpus();
  must(c.apply(pod("done", pod_status::succeeded, "n")));
  must(c.apply(row(table_kind::node, table_op::remove, {{col::node_name, "n"}})));
  table next = row(table_kind::node, table_op::add, {{col::node_name, "next"}});
  amounts(next, col::node_capacity, {1000, 1000, 1000, 10});
  must(c.apply(next));
  const table pods = must(c.take_snapshot().to_table(table_kind::pod));
  CHECK(pods.view().find(col::pod_node)->string(0).empty());
}

TEST_CASE("devices are chosen by what is free after the node has changed in the same delta") {
  cluster c = two_gpus();
  must(c.apply(pod("old", pod_status::running, "n")));
  table grown = row(table_kind::node, table_op::change, {{col::node_name, "n"}});
  amounts(grown, col::node_capacity, {64000, 1'000'000'000, 4000, 110});
  const table fresh = pod("new", pod_status::running, "n");
  must(c.apply({grown.view(), fresh.view()}));
  CHECK(devices(c.take_snapshot(), "old") == 1);
  CHECK(devices(c.take_snapshot(), "new") == 2);
}

TEST_CASE("a claim without a device keeps none when it is loaded") {
  cluster c = two_gpus();
  must(c.apply(pod("z", pod_status::running, "n", 2000)));
  must(c.apply(pod("a", pod_status::pipelined, "n", 500)));
  const snapshot s = c.take_snapshot();
  CHECK(devices(s, "a") == 0);
  CHECK(must(snapshot::load(s.save())).digest() == s.digest());
}

TEST_CASE("an id of something that has gone has no name, and its text is given back") {
  cluster c = two_gpus();
  const std::string label(1000, 'x');
  const std::string_view labels[] = {"key", label};
  entity_id last;
  for (int round = 0; round < 30; ++round) {
    table add = make(table_kind::pod, table_op::add);
    auto& name = add.add(col::pod_name, column_type::string);
    auto& group = add.add(col::pod_group_ref, column_type::string);
    auto& request = add.add(col::pod_request, column_type::i64, 1);
    auto& text = add.add(col::pod_labels, column_type::string_list);
    table remove = make(table_kind::pod, table_op::remove);
    auto& going = remove.add(col::pod_name, column_type::string);
    for (int i = 0; i < 1000; ++i) {
      name.push("p" + std::to_string(i));
      group.push(std::string_view("g"));
      request.push(std::int64_t{1});
      text.push_list(labels);
      going.push("p" + std::to_string(i));
    }
    must(c.apply(add));
    last = must(c.find(entity_kind::pod, "p0"));
    CHECK(c.take_snapshot().name(last) == "p0");
    must(c.apply(remove));
  }
  CHECK(c.take_snapshot().name(last).empty());
  CHECK(model::state_of(c.take_snapshot()).names->bytes() < 10'000'000);
}

TEST_CASE("sums stay in range, and the largest totals divide at once") {
  cluster c = two_gpus();
  table nodes = make(table_kind::node, table_op::add);
  auto& name = nodes.add(col::node_name, column_type::string);
  auto& capacity = nodes.add(col::node_capacity, column_type::i64, 4);
  table pods = make(table_kind::pod, table_op::add);
  auto& pod_name = pods.add(col::pod_name, column_type::string);
  auto& group = pods.add(col::pod_group_ref, column_type::string);
  auto& request = pods.add(col::pod_request, column_type::i64, 2);
  for (int i = 0; i < 1000; ++i) {
    name.push("big" + std::to_string(i));
    for (const std::int64_t x : {std::int64_t{1000}, max_amount, std::int64_t{0}, std::int64_t{10}}) capacity.push(x);
    pod_name.push("p" + std::to_string(i));
    group.push(std::string_view(i % 2 == 0 ? "g" : "h"));
    for (const std::int64_t x : {std::int64_t{1}, max_amount}) request.push(x);
  }
  must(c.apply(nodes));
  must(c.apply(row(table_kind::pod_group, table_op::add, {{col::pod_group_name, "h"}, {col::pod_group_queue, "r"}})));
  must(c.apply(pods));
  table quota = make(table_kind::queue, table_op::change);
  auto& queue = quota.add(col::queue_name, column_type::string);
  auto& none = quota.add(col::queue_quota, column_type::i64, 3);
  for (const std::string_view q : {"dept", "q", "r"}) {
    queue.push(q);
    for (int r = 0; r < 3; ++r) none.push(std::int64_t{0});
  }
  must(c.apply(quota));
  CHECK(must(engine().run(c.take_snapshot(), 0)).decisions().size() == 1000);
  table more = make(table_kind::node, table_op::add);
  auto& more_name = more.add(col::node_name, column_type::string);
  auto& more_capacity = more.add(col::node_capacity, column_type::i64, 2);
  for (int i = 0; i < 30; ++i) {
    more_name.push("more" + std::to_string(i));
    for (const std::int64_t x : {std::int64_t{1000}, max_amount}) more_capacity.push(x);
  }
  CHECK(c.apply(more).failure().code == status::limit);
}

TEST_CASE("strict: a pod that asks for no CPU may use a node that is overdrawn in it") {
  builder b;
  b << builder::queue{"q"} << builder::node{"n", 0, 1} << builder::group{"g", "q"} << builder::group{"zero", "q"};
  b << builder::pod{"big", "g", 0, "n", 3000} << builder::pod{"zero-0", "zero", 0, "", 0};
  const snapshot s = b.take();
  for (const char* reference : {"false", "true"}) {
    CHECK(must(test::make_engine({"reference_path", reference}).run(s, 0)).decisions().size() == 1);
  }
}

TEST_CASE("evicting a pod of an unknown sub-group takes nothing from its queue") {
  builder b;
  b << builder::queue{"q"} << builder::node{"n"} << builder::group{"g", "q"};
  b << builder::pod{"stray", "g", 1000, "n", 1000, "nowhere"};
  session s = must(engine().open(b.take(), 0));
  must(s.evict(0));
  must(s.check());
}

TEST_CASE("spread by labels that count other GPUs than there are decides as the scan of all nodes does") {
  for (const char* count : {"9223372036854775807", "1", "-1", "0", "8"}) {
    builder b;
    b << builder::queue{"q"} << builder::node{"a", 8, 64, {"nvidia.com/gpu.count", count}}
      << builder::node{"b", 3000, 64, {"nvidia.com/gpu.count", count}};
    b << builder::node{"c", 4, 64, {"nvidia.com/gpu.count", count}} << builder::group{"old", "q"};
    b << builder::pod{"old-0", "old", 2000, "a"} << builder::pod{"old-1", "old", 1000, "c"};
    b.gang("g", "q", 6).gang("h", "q", 3, 2000);
    const snapshot s = b.take();
    CHECK(test::lines(must(test::make_engine({"placement.gpu", "spread"}).run(s, 0))) ==
          test::lines(must(test::make_engine({"placement.gpu", "spread", "reference_path", "true"}).run(s, 0))));
  }
}

TEST_CASE("many pods that belong to no pod set leave in one delta") {
  cluster c = two_gpus();
  constexpr int strays = 40;
  const auto name = [](int i) { return "s" + std::to_string(100 + i); };
  table added = make(table_kind::pod, table_op::add);
  auto& names = added.add(col::pod_name, column_type::string);
  auto& groups = added.add(col::pod_group_ref, column_type::string);
  auto& subs = added.add(col::pod_sub_group, column_type::string);
  auto& requests = added.add(col::pod_request, column_type::i64, 1);
  table removed = make(table_kind::pod, table_op::remove);
  auto& gone = removed.add(col::pod_name, column_type::string);
  for (int i = 0; i < strays; ++i) {
    names.push(name(i));
    groups.push("g");
    subs.push("nowhere");
    requests.push(std::int64_t{1000});
    gone.push(name(i));
  }
  must(c.apply({added.view()}));
  must(c.apply({removed.view()}));
  const snapshot none = c.take_snapshot();
  for (std::uint32_t p = 0; p < model::state_of(none).pod_slots; ++p) CHECK_FALSE(model::state_of(none).pods[p].live);
  CHECK(model::state_of(none).live_pods == 0);
  must(c.apply({added.view()}));  // in the same slots
  const snapshot again = c.take_snapshot();
  CHECK(model::state_of(again).live_pods == strays);
  CHECK(counted_right(again));
}

}  // namespace of_test_cluster_edges
