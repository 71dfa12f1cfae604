// Label selectors as text: what is accepted means what it says, and half a selector is none.
#include <string>
#include <string_view>

#include <doctest/doctest.h>

#include "model/selector.hpp"

namespace of_test_selector {

using namespace kaisched;

namespace {

const model::label_list labels{{"cores", "16"}, {"zone", "a"}};

bool matches(std::string_view text) {
  const result<model::selector> parsed = model::parse_selector(text);
  if (!parsed) FAIL(parsed.failure().message);
  return parsed->matches(labels);
}

}  // namespace

TEST_CASE("every form of a requirement") {
  CHECK(matches(""));
  CHECK(matches("zone"));
  CHECK_FALSE(matches("rack"));
  CHECK_FALSE(matches("!zone"));
  CHECK(matches("! rack"));
  CHECK(matches("zone=a"));
  CHECK(matches("zone == a"));
  CHECK_FALSE(matches("zone=b"));
  CHECK(matches("zone != b, rack!=b"));
  CHECK(matches("zone in (b, a)"));
  CHECK_FALSE(matches("zone in (b,c)"));
  CHECK(matches("zone notin (b,c),cores>8,cores<17"));
  CHECK_FALSE(matches("cores>16"));
  CHECK_FALSE(matches("zone>1"));
}

TEST_CASE("half a selector is refused, not cut") {
  for (const std::string_view text : {"zone in (a", "zone in a)", "zone=a,rack in (b", "zone in (a)),rack",
                                      "zone),rack", "(zone)", "!zone)", "!", "!a=b", "zone=(a", "zone in ((a)",
                                      "zone in (a)b", "zone=a,", ",", "zone within (a)", "zone>x", "zone>(1)", "a b"}) {
    CAPTURE(text);
    const result<model::selector> parsed = model::parse_selector(text);
    REQUIRE_FALSE(parsed.ok());
    CHECK(parsed.failure().message.find(std::string(text)) != std::string::npos);
  }
}

}  // namespace of_test_selector
