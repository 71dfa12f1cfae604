#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "grant.hpp"
#include "render.hpp"

namespace {

using namespace cuda_agent;

const std::string good = R"({"schema": "kaisched-grant/1", "tenant": "train-0", "node": "n1", "devices": [
  {"uuid": "GPU-a", "index": 3, "total_bytes": 17179869184, "memory_bytes": 4298113024, "core_permille": 255, "core_weight": 300,
   "priority": 7},
  {"uuid": "GPU-b", "memory_bytes": null, "core_permille": 1000}]})";

std::string message_of(const std::string& text) {
  try {
    (void)read_grant(text, "t.json");
  } catch (const bad_grant& failure) {
    return failure.what();
  }
  return {};
}

std::string with(const std::string& from, const std::string& to) {
  std::string text = good;
  text.replace(text.find(from), from.size(), to);
  return text;
}

}  // namespace

TEST_CASE("a grant is read, and written so that it is read again") {
  for (const grant& g : {read_grant(good, "t.json"), read_grant(write_grant(read_grant(good, "t.json")), "again")}) {
    CHECK(g.tenant == "train-0");
    CHECK(g.node == "n1");
    CHECK_FALSE(g.open);
    REQUIRE(g.cards.size() == 2);
    CHECK(g.cards[0].uuid == "GPU-a");
    CHECK(g.cards[0].index == 3);
    CHECK(g.cards[0].total_bytes == 17179869184U);
    CHECK(g.cards[0].limits(false).memory_bytes == 4298113024U);
    CHECK(g.cards[0].limits(false).core_permille == 255);
    CHECK(g.cards[0].limits(false).core_weight == 300);
    CHECK(g.cards[0].limits(false).priority == 7);
    CHECK(g.cards[0].limits(false).flags == 0);
    CHECK(g.cards[1].limits(true).memory_bytes == KL_NO_LIMIT);
    CHECK(g.cards[1].limits(true).flags == KL_FLAG_OPEN);
  }
}

TEST_CASE("what is wrong with a grant is said by file and field") {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"[]", "t.json: must be an object"},
      {with("kaisched-grant/1", "kaisched-grant/2"), "t.json: schema: must be kaisched-grant/1"},
      {with("\"tenant\": \"train-0\"", "\"name\": 1"), "t.json: tenant: is missing"},
      {with("train-0", "../x"), "t.json: tenant: must be letters"},
      {with("train-0", ".hidden"), "t.json: tenant: must be letters"},
      {with("\"n1\"", "1"), "t.json: node: must be a text"},
      {with("\"n1\"", "\"n1\", \"mode\": \"soft\""), "t.json: mode: must be strict or open"},
      {with("\"n1\"", "\"n1\", \"colour\": 1"), "t.json: colour: is not known"},
      {R"({"schema": "kaisched-grant/1", "tenant": "t", "devices": []})", "t.json: devices: must be a list of 1 to 16"},
      {with("GPU-b", "GPU-a"), "t.json: devices[1].uuid: GPU-a is there twice"},
      {with("GPU-b", ""), "t.json: devices[1]: uuid: must be the UUID"},
      {with("4298113024", "-1"), "t.json: devices[0]: memory_bytes: must be a whole number of 0 to"},
      {with("4298113024", "18446744073709551615"), "t.json: devices[0]: memory_bytes: must be a whole number of 0 to"},
      {with("4298113024", "1.5"), "t.json: devices[0]: memory_bytes: must be a whole number of 0 to"},
      {with("255", "1001"), "t.json: devices[0]: core_permille: must be a whole number of 0 to 1000"},
      {with("\"core_permille\": 1000", "\"cores\": 1000"), "t.json: devices[1]: core_permille: is missing"},
      {with("\"index\": 3", "\"index\": 64"), "t.json: devices[0]: index: must be a whole number of 0 to 63"}};
  for (const auto& [text, says] : cases) {
    CAPTURE(text);
    CHECK(message_of(text).substr(0, says.size()) == says);
  }
  CHECK(message_of("{").find("t.json: ") == 0);
}

TEST_CASE("the environment of a container, with HAMi's variables rounded down") {
  const grant g = read_grant(good, "t.json");
  CHECK(environment(g, "/l/train-0") ==
        std::vector<std::string>{"KAISCHED_LEDGER=/l/train-0", "KAISCHED_GUARD_MODE=strict",
                                 "CUDA_VISIBLE_DEVICES=GPU-a,GPU-b", "NVIDIA_VISIBLE_DEVICES=GPU-a,GPU-b",
                                 "CUDA_DEVICE_MEMORY_LIMIT_0=4099m", "CUDA_DEVICE_SM_LIMIT_0=25",
                                 "CUDA_DEVICE_SM_LIMIT_1=100", "CUDA_DEVICE_SM_LIMIT=25", "GPU_MEMORY_LIMIT=4298113024",
                                 "CUDA_TASK_PRIORITY=0"});
  grant small = g;
  small.cards.resize(1);
  small.cards[0].memory_bytes = 5;
  small.cards[0].core_permille = 4;
  const std::vector<std::string> lines = environment(small, "/l");
  CHECK(lines[4] == "CUDA_DEVICE_MEMORY_LIMIT_0=1m");  // 0 would be no limit
  CHECK(lines[5] == "CUDA_DEVICE_SM_LIMIT_0=1");
  small.open = true;
  CHECK(environment(small, "/l").size() == 4);
}

TEST_CASE("a report as table, JSON and metrics") {
  report r;
  card_row card;
  card.node = "n\"1";
  card.uuid = "GPU-a";
  card.total_bytes = std::uint64_t{16} << 30U;
  card.granted_bytes = std::uint64_t{4} << 30U;
  card.held_bytes = std::uint64_t{1} << 30U;
  card.granted_permille = 250;
  card.used_permille = 125;
  card.utilization = 120;
  card.deviation = 9;
  tenant_row row;
  row.tenant = "train";
  row.processes = 2;
  row.used_permille = 125;
  row.granted_permille = 250;
  row.state.limits = {std::uint64_t{4} << 30U, 40, 250, 0, 0};
  row.state.held_bytes = std::uint64_t{1} << 30U;
  row.state.refused = 3;
  row.state.busy_ns = 1'500'000'000;
  card.tenants.push_back(row);
  row.tenant = "whole";
  row.leaving = true;
  row.used_permille = -1;
  row.state.limits.memory_bytes = KL_NO_LIMIT;
  card.tenants.push_back(row);
  r.cards.push_back(card);
  r.errors.emplace_back("t.json: tenant: is missing");

  const std::string table = render_table(r);
  const std::string expected =
      "CARD / tenant          PROCS USED GiB  GRANTED                  CORES% GRANTED                  REFUSED\n"
      "n\"1/0 of 16.00 GiB         4     1.00     4.00 #...............   12.5    25.0 ##..............       6\n"
      "  train                    2     1.00     4.00 ####............   12.5    25.0 ########........       3\n"
      "  whole (leaving)          2     1.00        -                       -    25.0 ................       3\n"
      "error: t.json: tenant: is missing\n";
  CHECK(table == expected);

  const std::string json = render_json(r);
  CHECK(json.find("\"schema\": \"kaisched-cuda-usage/1\"") != std::string::npos);
  CHECK(json.find("\"utilization\": 120,\n      \"deviation\": 9") != std::string::npos);
  CHECK(json.find("\"core_permille\": 250,\n          \"core_now_permille\": 40") != std::string::npos);
  CHECK(json.find("\"memory_limit_bytes\": null") != std::string::npos);

  const std::string metrics = render_prometheus(r);
  CHECK(metrics.find("kaisched_cuda_memory_limit_bytes{node=\"n\\\"1\",card=\"0\",uuid=\"GPU-a\",tenant=\"train\"} "
                     "4294967296\n") != std::string::npos);
  CHECK(metrics.find("kaisched_cuda_memory_limit_bytes{node=\"n\\\"1\",card=\"0\",uuid=\"GPU-a\",tenant=\"whole\"}") ==
        std::string::npos);
  CHECK(metrics.find("tenant=\"train\"} 1.5\n") != std::string::npos);
  CHECK(metrics.find("kaisched_cuda_errors 1\n") != std::string::npos);
}
