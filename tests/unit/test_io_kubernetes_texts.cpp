// Quantities, times and durations of Kubernetes.
#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include <doctest/doctest.h>

#include "io/kubernetes/clock_text.hpp"
#include "io/kubernetes/quantity.hpp"

namespace of_test_io_kubernetes_texts {

using namespace kaisched::io::kubernetes;

namespace {

std::int64_t whole(std::string_view text) {
  const quantity read = parse_quantity(text);
  CAPTURE(text);
  CHECK(read.fault == quantity_fault::none);
  return read.amount;
}
std::int64_t milli(std::string_view text) {
  const quantity read = parse_quantity(text, 3);
  CAPTURE(text);
  CHECK(read.fault == quantity_fault::none);
  return read.amount;
}
quantity_fault fault(std::string_view text, int decimals = 0) { return parse_quantity(text, decimals).fault; }

constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();

}  // namespace

TEST_CASE("quantities have decimal and binary suffixes, and exponents") {
  CHECK(whole("0") == 0);
  CHECK(whole("12") == 12);
  CHECK(whole("+12") == 12);
  CHECK(whole("-12") == -12);
  CHECK(whole("1k") == 1'000);
  CHECK(whole("1M") == 1'000'000);
  CHECK(whole("1G") == 1'000'000'000);
  CHECK(whole("1T") == 1'000'000'000'000);
  CHECK(whole("1P") == 1'000'000'000'000'000);
  CHECK(whole("1E") == 1'000'000'000'000'000'000);
  CHECK(whole("1Ki") == 1'024);
  CHECK(whole("1Mi") == 1'048'576);
  CHECK(whole("1Gi") == 1'073'741'824);
  CHECK(whole("1Ti") == std::int64_t{1} << 40);
  CHECK(whole("1Pi") == std::int64_t{1} << 50);
  CHECK(whole("7Ei") == std::int64_t{7} << 60);
  CHECK(whole("3e3") == 3'000);
  CHECK(whole("3E3") == 3'000);
  CHECK(whole("3e+3") == 3'000);
  CHECK(whole("3000e-3") == 3);
  CHECK(whole("1.5Gi") == 1'610'612'736);
  CHECK(whole(".5k") == 500);
  CHECK(whole("5.") == 5);
  CHECK(whole("1000000u") == 1);
  CHECK(whole("1000000000n") == 1);
}

TEST_CASE("what lies between two units is rounded up in size") {
  CHECK(whole("1m") == 1);
  CHECK(whole("1n") == 1);
  CHECK(whole("1001m") == 2);
  CHECK(whole("-1m") == -1);
  CHECK(whole("-1001m") == -2);
  CHECK(whole("0.000m") == 0);
  CHECK(milli("1") == 1'000);
  CHECK(milli("0.1") == 100);
  CHECK(milli("100m") == 100);
  CHECK(milli("0.5m") == 1);
  CHECK(milli("1u") == 1);
  CHECK(milli("2.0005") == 2'001);
  CHECK(whole("0.1Ki") == 103);  // 102.4
  CHECK(whole("0.000000000000000000000000000000000000001") == 1);
  CHECK(whole("0.99999999999999999999999999999999999999999Ki") == 1'024);
}

TEST_CASE("63 bits are enough or it is an overflow") {
  CHECK(whole("9223372036854775807") == most);
  CHECK(whole("-9223372036854775807") == -most);
  CHECK(whole("9223372036854775806.5") == most);
  CHECK(whole("09223372036854775807000m") == most);
  CHECK(fault("9223372036854775808") == quantity_fault::overflow);
  CHECK(fault("9223372036854775807.5") == quantity_fault::overflow);
  CHECK(fault("8Ei") == quantity_fault::overflow);
  CHECK(fault("10E") == quantity_fault::overflow);
  CHECK(fault("9223372036854776", 3) == quantity_fault::overflow);
  CHECK(fault("1e99999999") == quantity_fault::overflow);
  CHECK(whole("0e99999999") == 0);
  CHECK(whole("1e-99999999") == 1);
}

TEST_CASE("what is no quantity is malformed") {
  for (const std::string_view text :
       {"",    "-",     "+",   ".",     "m",    "Ki",    "1 ",  " 1",    "1ki",           "1K",  "1e",
        "1E+", "1e++1", "1mm", "1.2.3", "0x10", "1_000", "--1", "1e1.5", "1e99999999999", "one", "1Kii"}) {
    CAPTURE(text);
    CHECK(fault(text) == quantity_fault::malformed);
  }
}

TEST_CASE("a share has no suffix and is rounded down") {
  CHECK(parse_thousandths("0.5") == 500);
  CHECK(parse_thousandths("1") == 1'000);
  CHECK(parse_thousandths(".25") == 250);
  CHECK(parse_thousandths("0.3339") == 333);
  CHECK(parse_thousandths("5e-1") == 500);
  CHECK(parse_thousandths("-0.5") == -500);
  for (const std::string_view text : {"", "0.5m", "1k", "1E", "1Ei", "e", "half", "1e30", "0.5 "}) {
    CAPTURE(text);
    CHECK_FALSE(parse_thousandths(text));
  }
}

TEST_CASE("times are RFC 3339") {
  CHECK(parse_time("1970-01-01T00:00:00Z") == 0);
  CHECK(parse_time("1970-01-02T00:00:01Z") == 86'401'000'000'000);
  CHECK(parse_time("2026-03-07T12:00:00Z") == 1'772'884'800'000'000'000);
  CHECK(parse_time("2026-03-07T12:00:00.25Z") == 1'772'884'800'250'000'000);
  CHECK(parse_time("2026-03-07T12:00:00.1234567899Z") == 1'772'884'800'123'456'789);
  CHECK(parse_time("2026-03-07T13:30:00+01:30") == 1'772'884'800'000'000'000);
  CHECK(parse_time("2026-03-07T10:30:00-01:30") == 1'772'884'800'000'000'000);
  CHECK(parse_time("2000-02-29t00:00:00z") == 951'782'400'000'000'000);
  CHECK(parse_time("1969-12-31T23:59:59Z") == -1'000'000'000);
  for (const std::string_view text :
       {"", "2026", "2026-03-07", "2026-03-07T12:00Z", "2026-13-07T12:00:00Z", "2026-00-07T12:00:00Z",
        "2026-02-29T12:00:00Z", "2026-03-32T12:00:00Z", "2026-03-07T24:00:00Z", "2026-03-07T12:60:00Z",
        "2026-03-07T12:00:61Z", "2026-03-07T12:00:00", "2026-03-07T12:00:00.Z", "2026-03-07T12:00:00Zx",
        "1900-02-29T00:00:00Z", "9999-01-01T00:00:00Z", "0001-01-01T00:00:00Z"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_time(text));
  }
}

TEST_CASE("times are written as they are read") {
  for (const std::string_view text : {"1970-01-01T00:00:00Z", "1969-12-31T23:59:59Z", "2000-02-29T12:34:56Z",
                                      "2026-12-31T23:59:59Z", "1700-03-01T00:00:00Z", "2261-01-01T00:00:00Z"}) {
    CHECK(format_time(*parse_time(text)) == text);
  }
  CHECK(format_time(*parse_time("2026-03-07T12:00:00.9Z")) == "2026-03-07T12:00:00Z");
  CHECK(format_time(-1) == "1969-12-31T23:59:59Z");
}

TEST_CASE("durations are those of Go") {
  CHECK(parse_duration("0") == 0);
  CHECK(parse_duration("10m") == 600 * second);
  CHECK(parse_duration("1h30m") == 5'400 * second);
  CHECK(parse_duration("1.5s") == 1'500'000'000);
  CHECK(parse_duration("-1m") == -60 * second);
  CHECK(parse_duration("+1m") == 60 * second);
  CHECK(parse_duration("250ms") == 250'000'000);
  CHECK(parse_duration("7us3ns") == 7'003);
  CHECK(parse_duration("7\xC2\xB5s") == 7'000);
  CHECK(parse_duration(".5h") == 1'800 * second);
  CHECK(parse_duration("1.s") == second);
  CHECK(parse_duration("2540400h") == std::int64_t{2'540'400} * 3'600 * second);
  for (const std::string_view text : {"", "-", "1", "s", "1d", "1w", ".s", "1m ", "1 m", "h1", "3000000h", "1ss"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_duration(text));
  }
}

}  // namespace of_test_io_kubernetes_texts
