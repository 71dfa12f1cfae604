/// The quality table: what it plays, and that a change of it is seen.
#include <doctest/doctest.h>

#include "benchmarks/quality/table.hpp"
#include "support.hpp"

namespace of_test_quality {

using namespace kaisched;
using namespace kaisched::test;
namespace quality = kaisched::bench::quality;

TEST_CASE("a row that has changed is told with what it was") {
  const quality::table_result made = must(quality::play_table({{}, {"invented-philly"}, {"fifo-skip", "srtf"}, 2}));
  REQUIRE(made.rows.size() == 2);
  CHECK(made.rows[0].policy == "fifo-skip");
  const std::string table = quality::to_csv(made);
  CHECK(quality::differences(made, table).empty());
  CHECK(quality::to_csv(must(quality::play_table({{}, {"invented-philly"}, {"fifo-skip", "srtf"}, 1}))) == table);

  std::string other = table;
  other[other.size() - 3] = other[other.size() - 3] == '0' ? '1' : '0';  // a digit of the last digest
  const std::vector<std::string> found = quality::differences(made, other);
  REQUIRE(found.size() == 1);
  CHECK(found[0].find("was: invented-philly,64,srtf") == 0);
  const std::string first = table.substr(0, table.find('\n') + 1);
  CHECK(quality::differences(made, first).size() == 2);
  CHECK(quality::differences(made, first)[0].find("new: invented-philly,64,fifo-skip") == 0);
  CHECK(quality::differences(made, "workload\n")[0] == "the table has other columns");
}

TEST_CASE("names and data that are not there") {
  CHECK(quality::play_table({{}, {"atlantis"}, {}, 1}).failure().message == "there is no workload 'atlantis'");
  CHECK(quality::play_table({{}, {}, {"luck"}, 1}).failure().message == "there is no policy 'luck'");
  CHECK(must(quality::play_table({{}, {"itp-1"}, {}, 1})).rows.empty());
  CHECK(quality::play_table({"/nowhere", {"itp-1"}, {}, 1}).failure().message.find("/nowhere") != std::string::npos);
}

}  // namespace of_test_quality
