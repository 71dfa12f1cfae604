// Lists of figures in columns.
#include <string>

#include <doctest/doctest.h>

#include "model/figures.hpp"

using namespace kaisched;
using model::named_amount;
using model::speed_point;

namespace {

std::string list(std::initializer_list<std::string_view> entries) {
  std::string row;
  for (const std::string_view one : entries) row.append(one).append(1, '\0');
  return row;
}

}  // namespace

TEST_CASE("amounts with names") {
  const auto read = model::parse_amounts(list({"pdu-1:12000", "hall:b:0"}), 12000);
  REQUIRE(read.ok());
  CHECK(*read == std::vector<named_amount>{{"pdu-1", 12000}, {"hall:b", 0}});
  CHECK(model::parse_amounts({}, 1)->empty());
  for (const std::string_view bad : {"pdu", ":1", "a:", "a:-1", "a:12001", "a:1x", "a:99999999999999999999"}) {
    CAPTURE(bad);
    CHECK_FALSE(model::parse_amounts(list({bad}), 12000).ok());
  }
  CHECK_FALSE(model::parse_amounts(list({"a:1", "a:2"}), 12000).ok());
}

TEST_CASE("curves of speed") {
  const auto read = model::parse_speedup(list({"1:1", "2:1.9", "4:3.5"}));
  REQUIRE(read.ok());
  CHECK(*read == std::vector<speed_point>{{1, 1000}, {2, 1900}, {4, 3500}});
  const std::int64_t expected[] = {0, 1000, 1900, 2700, 3500, 3500};
  for (std::int64_t pods = 0; pods < 6; ++pods) CHECK(model::throughput_of(*read, pods) == expected[pods]);
  const auto from_two = model::parse_speedup(list({"2:2", "3:2"}));
  REQUIRE(from_two.ok());
  CHECK(model::throughput_of(*from_two, 1) == 1000);
  CHECK(model::throughput_of(*from_two, -1) == 0);
  CHECK(model::throughput_of({}, 3) == 0);
  for (const std::string_view bad : {"1", "0:1", "1:0", "1:0.0001", "1:1.0005", "x:1", "1:x", "1:1x", "2000000000:1"}) {
    CAPTURE(bad);
    CHECK_FALSE(model::parse_speedup(list({bad})).ok());
  }
  CHECK_FALSE(model::parse_speedup(list({"2:1", "1:1"})).ok());
  CHECK_FALSE(model::parse_speedup(list({"1:1", "2:0.9"})).ok());
  CHECK_FALSE(model::parse_speedup(list({"1:1", "2:2.1"})).ok());
  CHECK_FALSE(model::parse_speedup(list({"1:1", "2:1.5", "3:2.2"})).ok());
  CHECK(model::parse_speedup(list({"1000000000:999999999999"})).ok());
}
