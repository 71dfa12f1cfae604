/// What the header promises about threads, for the thread sanitizer to look at: const handles are shared freely.
#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include <kaisched/kaisched.h>

namespace of_test_threads {

namespace {

constexpr std::array<std::uint32_t, 8> input_kinds{
    KAISCHED_TABLE_RESOURCE, KAISCHED_TABLE_TOPOLOGY,  KAISCHED_TABLE_QUEUE,     KAISCHED_TABLE_NODE,
    KAISCHED_TABLE_DEVICE,   KAISCHED_TABLE_POD_GROUP, KAISCHED_TABLE_SUB_GROUP, KAISCHED_TABLE_POD,
};

/// A cluster with `nodes` nodes of 8 GPUs, named n0, n1...
kaisched_cluster* make_cluster(std::uint32_t nodes) {
  std::string names;
  std::vector<std::uint32_t> offsets{0};
  std::vector<std::int64_t> capacity;
  for (std::uint32_t i = 0; i < nodes; ++i) {
    names += "n" + std::to_string(i);
    offsets.push_back(static_cast<std::uint32_t>(names.size()));
    capacity.insert(capacity.end(), {64000, std::int64_t{1} << 40, 8000, 110});
  }
  const std::array<kaisched_col, 2> columns{{
      {KAISCHED_NODE_COL_NAME, KAISCHED_TYPE_STRING, 0, 0, names.data(), offsets.data()},
      {KAISCHED_NODE_COL_CAPACITY, KAISCHED_TYPE_I64, 4, 0, capacity.data(), nullptr},
  }};
  const kaisched_table table{sizeof table, KAISCHED_TABLE_NODE, KAISCHED_OP_ADD, 2, nodes, columns.data()};
  const kaisched_table* const tables[] = {&table};
  kaisched_cluster* cluster = nullptr;
  REQUIRE(kaisched_cluster_create(&cluster, nullptr) == KAISCHED_OK);
  REQUIRE(kaisched_cluster_apply(cluster, tables, 1, nullptr) == KAISCHED_OK);
  return cluster;
}

/// Everything that a thread may do with a snapshot and an engine that others use as well. Counts what went wrong.
int use(const kaisched_engine* engine, const kaisched_snapshot* snapshot, std::uint32_t nodes) {
  int faults = 0;
  const auto expect = [&](bool good) { faults += good ? 0 : 1; };
  for (const std::uint32_t kind : input_kinds) {
    const kaisched_table* table = nullptr;
    const kaisched_table* again = nullptr;
    expect(kaisched_snapshot_table(snapshot, kind, &table, nullptr) == KAISCHED_OK);
    expect(kaisched_snapshot_table(snapshot, kind, &again, nullptr) == KAISCHED_OK);
    expect(table != nullptr && table == again && (kind != KAISCHED_TABLE_NODE || table->rows == nodes));
  }
  std::size_t size = 0;
  expect(kaisched_snapshot_save(snapshot, nullptr, 0, &size, nullptr) == KAISCHED_OK);
  std::string bytes(size, '\0');
  expect(kaisched_snapshot_save(snapshot, bytes.data(), size, nullptr, nullptr) == KAISCHED_OK);
  kaisched_session* session = nullptr;
  expect(kaisched_run(engine, snapshot, 0, &session, nullptr) == KAISCHED_OK);
  const kaisched_table* placements = nullptr;
  expect(kaisched_session_table(session, KAISCHED_TABLE_PLACEMENT, &placements, nullptr) == KAISCHED_OK);
  kaisched_session_close(session);
  kaisched_snapshot_release(snapshot);
  return faults;
}

}  // namespace

TEST_CASE("threads share an engine and a snapshot while the cluster goes on") {
  constexpr std::uint32_t nodes = 300;
  kaisched_cluster* cluster = make_cluster(nodes);
  kaisched_engine* engine = nullptr;
  kaisched_snapshot* snapshot = nullptr;
  REQUIRE(kaisched_engine_create(KAISCHED_ABI_VERSION, nullptr, 0, &engine, nullptr) == KAISCHED_OK);
  REQUIRE(kaisched_cluster_snapshot(cluster, &snapshot, nullptr) == KAISCHED_OK);

  std::atomic<int> faults{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    kaisched_snapshot_retain(snapshot);
    threads.emplace_back([&] { faults += use(engine, snapshot, nodes); });
  }
  // The writer cordons a node meanwhile and goes away: readers must not notice.
  const std::uint32_t offsets[] = {0, 2};
  const std::uint8_t cordoned = 1;
  const std::array<kaisched_col, 2> columns{{
      {KAISCHED_NODE_COL_NAME, KAISCHED_TYPE_STRING, 0, 0, "n7", offsets},
      {KAISCHED_NODE_COL_UNSCHEDULABLE, KAISCHED_TYPE_U8, 1, 0, &cordoned, nullptr},
  }};
  const kaisched_table table{sizeof table, KAISCHED_TABLE_NODE, KAISCHED_OP_CHANGE, 2, 1, columns.data()};
  const kaisched_table* const tables[] = {&table};
  CHECK(kaisched_cluster_apply(cluster, tables, 1, nullptr) == KAISCHED_OK);
  kaisched_cluster_destroy(cluster);
  for (std::thread& thread : threads) thread.join();
  CHECK(faults == 0);
  kaisched_snapshot_release(snapshot);
  kaisched_engine_destroy(engine);
}

TEST_CASE("engines in two threads do not disturb each other") {
  std::atomic<int> faults{0};
  const auto work = [&](const char* mode) {
    for (int i = 0; i < 50; ++i) {
      const kaisched_kv option{"mode", mode};
      kaisched_engine* engine = nullptr;
      char value[16] = "";
      if (kaisched_engine_create(KAISCHED_ABI_VERSION, &option, 1, &engine, nullptr) != KAISCHED_OK) ++faults;
      if (kaisched_engine_get(engine, "mode", value, sizeof value, nullptr, nullptr) != KAISCHED_OK) ++faults;
      if (std::string(value) != mode) ++faults;
      kaisched_option info{sizeof info, 0, nullptr, nullptr, 0, 0, nullptr, nullptr, 0, 0};
      if (kaisched_option_info(0, &info, nullptr) != KAISCHED_OK) ++faults;
      kaisched_engine_destroy(engine);
    }
  };
  std::thread strict([&] { work("strict"); });
  std::thread compat([&] { work("compat"); });
  strict.join();
  compat.join();
  CHECK(faults == 0);
}

}  // namespace of_test_threads
