// How GPUs are used: the text of exporters, and means and deviations of what was measured.
#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include "load/load_board.hpp"
#include "prometheus/exposition_text.hpp"

using namespace shim;
using namespace std::chrono_literals;

namespace {

sample of(const std::string& node, const std::string& gpu, double value, const std::string& uuid = "GPU-1") {
  return {{{"Hostname", node}, {"gpu", gpu}, {"UUID", uuid}}, value};
}

}  // namespace

TEST_CASE("the text of exporters") {
  const std::string text =
      "# HELP a first\n# TYPE a gauge\n"
      "a{gpu=\"0\",model=\"NVIDIA \\\"H100\\\"\",} 12.5\n"
      "a 1e3 1767225600000\n"
      "a{gpu=\"1\"} NaN\n"
      "other{gpu=\"x} 5\n"
      "a{gpu=\"2\" 7\n"
      "a{gpu=\"3\"} seven\n"
      "a{gpu=\"4\"} 7 soon\n"
      "  a\t{gpu=\"5\"} 8\r\n";
  std::vector<sample> all;
  std::vector<std::optional<std::int64_t>> times;
  const std::size_t unread = read_exposition(
      text, [](std::string_view name) { return name == "a"; },
      [&](std::string_view name, const sample& what, std::optional<std::int64_t> when) {
        CHECK(name == "a");
        all.push_back(what);
        times.push_back(when);
      });
  CHECK(unread == 4);
  REQUIRE(all.size() == 2);
  CHECK(all[0].labels.at("model") == "NVIDIA \"H100\"");
  CHECK(all[0].value == 12.5);
  CHECK(all[1].value == 1000);
  CHECK(times == std::vector<std::optional<std::int64_t>>{std::nullopt, 1767225600000});
}

TEST_CASE("means and deviations of the window") {
  const load_board::clock::time_point start{};
  load_board board(60s, "Hostname");
  for (const auto& [after, value] : {std::pair{0s, 10.0}, {15s, 30.0}, {30s, 20.0}}) {
    board.take(utilisation_metric, of("n1", "0", value), start + after);
    board.take(utilisation_metric, of("n1", "1", 100, "GPU-2"), start + after);
  }
  board.take(memory_metric, of("n2", "0", 1024), start + 30s);
  CHECK(board.notes(start + 30s) == object_store::notes{{"n1", "0=200~82,1=1000~0"}});
  CHECK(board.cards().size() == 3);
  CHECK(board.cards().back().used_bytes == 1024LL << 20);
  CHECK(board.cards().back().used_permille == -1);
  CHECK(board.cards().front().used_permille == 200);
  CHECK(board.notes(start + 61s) == object_store::notes{{"n1", "0=250~50,1=1000~0"}});  // the first is too old
  CHECK(board.notes(start + 91s).empty());
  CHECK(board.cards().empty());
}

TEST_CASE("what says nothing of a whole GPU of a node") {
  const load_board::clock::time_point now{};
  load_board board(60s, "Hostname");
  board.take(utilisation_metric, of("", "0", 5), now);
  board.take(utilisation_metric, of("n", "", 5), now);
  board.take(utilisation_metric, of("n", "64", 5), now);
  board.take(utilisation_metric, of("n", "zero", 5), now);
  board.take(utilisation_metric, of("n", "0", -1), now);
  sample slice = of("n", "0", 50);
  slice.labels["GPU_I_ID"] = "3";
  board.take(utilisation_metric, slice, now);
  CHECK(board.notes(now).empty());
  board.take(utilisation_metric, of("n", "0", 250), now);
  CHECK(board.notes(now) == object_store::notes{{"n", "0=1000~0"}});
  board.take(utilisation_metric, of("n", "0", 20, "another card"), now);  // it was replaced
  CHECK(board.notes(now) == object_store::notes{{"n", "0=200~0"}});
}
