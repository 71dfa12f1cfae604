// Devices of pods that come with a place: what the order of rows may not decide.
#include "rows.hpp"
#include "support.hpp"

namespace of_test_pod_devices {

using namespace kaisched;
using test::must;
using test::rows;

namespace {

cluster with_pods(std::initializer_list<std::initializer_list<test::cell>> pods) {
  cluster c;
  must(c.apply(rows(table_kind::queue, table_op::add, {"name"}).add({"q"})));
  must(c.apply(rows(table_kind::node, table_op::add, {"name", "capacity"}).add({"n", test::numbers{9, 9, 3000, 9}})));
  must(c.apply(rows(table_kind::pod_group, table_op::add, {"name", "queue"}).add({"g", "q"})));
  rows table(table_kind::pod, table_op::add, {"name", "group", "request", "status", "node", "devices"});
  for (const auto& pod : pods) table.add(pod);
  must(c.apply(table));
  return c;
}

std::vector<std::int64_t> devices_of(const snapshot& s, std::string_view pod) {
  const table pods = must(s.to_table(table_kind::pod));
  const table_view view = pods.view();
  for (std::uint64_t row = 0; row < view.rows; ++row) {
    if (view.find(col::pod_name)->string(row) != pod) continue;
    const auto devices = view.find(col::pod_devices)->list(row);
    return {devices.begin(), devices.end()};
  }
  return {};
}

const test::numbers whole{1, 1, 1000, 1};

}  // namespace

TEST_CASE("rows in any order give the same devices, and so the same digest") {
  cluster one = with_pods({{"a", "g", whole, pod_status::running, "n", test::numbers{}},
                           {"b", "g", whole, pod_status::running, "n", test::numbers{}},
                           {"c", "g", whole, pod_status::running, "n", test::numbers{0}}});
  cluster other = with_pods({{"c", "g", whole, pod_status::running, "n", test::numbers{0}},
                             {"b", "g", whole, pod_status::running, "n", test::numbers{}},
                             {"a", "g", whole, pod_status::running, "n", test::numbers{}}});
  const snapshot s = one.take_snapshot();
  CHECK(devices_of(s, "c") == std::vector<std::int64_t>{0});
  CHECK(devices_of(s, "a") == std::vector<std::int64_t>{1});
  CHECK(devices_of(s, "b") == std::vector<std::int64_t>{2});
  CHECK(other.take_snapshot().digest() == s.digest());
}

TEST_CASE("who leaves in the same table makes room, whichever row is first") {
  cluster c = with_pods({{"a", "g", test::numbers{1, 1, 3000, 1}, pod_status::running, "n", test::numbers{}},
                         {"b", "g", whole, pod_status::pending, "", test::numbers{}}});
  must(c.apply(rows(table_kind::pod, table_op::change, {"name", "status", "node"})
                   .add({"b", pod_status::running, "n"})
                   .add({"a", pod_status::succeeded, ""})));
  CHECK(devices_of(c.take_snapshot(), "b") == std::vector<std::int64_t>{0});
}

TEST_CASE("a later row of a table has the last word") {
  cluster c = with_pods({{"b", "g", whole, pod_status::pending, "", test::numbers{}}});
  must(c.apply(rows(table_kind::pod, table_op::change, {"name", "status", "node", "devices"})
                   .add({"b", pod_status::running, "n", test::numbers{}})
                   .add({"b", pod_status::running, "n", test::numbers{2}})));
  CHECK(devices_of(c.take_snapshot(), "b") == std::vector<std::int64_t>{2});
  must(c.apply(rows(table_kind::pod, table_op::change, {"name", "status", "node", "devices"})
                   .add({"b", pod_status::pending, "", test::numbers{}})
                   .add({"b", pod_status::running, "n", test::numbers{}})
                   .add({"b", pod_status::pending, "", test::numbers{}})));
  CHECK(devices_of(c.take_snapshot(), "b").empty());
}

TEST_CASE("resource dimensions count by name in the digest") {
  const auto with = [](std::string_view first, std::string_view second, const test::numbers& capacity) {
    cluster c;
    must(c.apply(
        rows(table_kind::resource, table_op::add, {"name"}).add({std::string(first)}).add({std::string(second)})));
    must(c.apply(rows(table_kind::node, table_op::add, {"name", "capacity"}).add({"n", capacity})));
    return c.take_snapshot();
  };
  const snapshot one = with("x/a", "x/b", test::numbers{9, 9, 0, 9, 1, 2});
  CHECK(with("x/b", "x/a", test::numbers{9, 9, 0, 9, 2, 1}).digest() == one.digest());
  CHECK(with("x/b", "x/a", test::numbers{9, 9, 0, 9, 1, 2}).digest() != one.digest());
}

}  // namespace of_test_pod_devices
