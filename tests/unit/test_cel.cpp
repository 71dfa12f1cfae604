// The subset of CEL in which selectors of devices are written: what it says, what it refuses, and that it ends.
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include "model/cel.hpp"
#include "model/exact_quantity.hpp"
#include "model/semantic_version.hpp"

namespace of_test_cel {

using namespace kaisched;
using model::attribute_kind;
using model::cel_answer;

namespace {

const std::vector<model::device_attribute> attributes{
    {"gpu.example.com", "driverVersion", attribute_kind::version, false, {}, {"550.54.14"}},
    {"gpu.example.com", "index", attribute_kind::integer, false, {3}, {}},
    {"gpu.example.com", "links", attribute_kind::integer, true, {1, 2, 5}, {}},
    {"gpu.example.com", "mig", attribute_kind::boolean, false, {0}, {}},
    {"gpu.example.com", "model", attribute_kind::text, false, {}, {"LATEST-GPU-MODEL"}},
    {"topology.example.com", "rack", attribute_kind::text, false, {}, {"r1"}},
    {"topology.example.com", "zones", attribute_kind::text, true, {}, {"a", "b"}},
};
const std::vector<model::device_capacity> capacities{
    {"gpu.example.com", "cores", model::whole_quantity(14'080)},
    {"gpu.example.com", "memory", model::whole_quantity(std::int64_t{80} << 30U)},
};
const model::device_facts device{"gpu.example.com", attributes, capacities, true};

model::cel_expression parsed(std::string_view text) {
  result<model::cel_expression> made = model::cel_expression::parse(text);
  if (!made) FAIL(std::string(text) << ": " << made.failure().message);
  return *made;
}

cel_answer answer(std::string_view text) { return parsed(text).evaluate(device); }

struct row {
  std::string_view text;
  std::string_view means;  ///< yes, no, or a part of the message of the error
};

void check(std::initializer_list<row> rows) {
  for (const row& one : rows) {
    CAPTURE(one.text);
    const cel_answer found = answer(one.text);
    CAPTURE(found.message);
    if (one.means == "yes") {
      CHECK(found.is == cel_answer::kind::yes);
    } else if (one.means == "no") {
      CHECK(found.is == cel_answer::kind::no);
    } else {
      CHECK(found.is == cel_answer::kind::error);
      CHECK(found.message.find(one.means) != std::string::npos);
      CHECK(found.message.starts_with("at " + std::to_string(found.position) + ": "));
    }
  }
}

void check_refused(std::initializer_list<row> rows) {
  for (const row& one : rows) {
    CAPTURE(one.text);
    const result<model::cel_expression> made = model::cel_expression::parse(one.text);
    REQUIRE_FALSE(made.ok());
    CAPTURE(made.failure().message);
    CHECK(made.failure().message.find(one.means) != std::string::npos);
  }
}

}  // namespace

TEST_CASE("what a selector sees of a device") {
  check({
      {R"(device.driver == "gpu.example.com")", "yes"},
      {R"(device.driver == 'other.example.com')", "no"},
      {R"(device.attributes["gpu.example.com"].model == "LATEST-GPU-MODEL")", "yes"},
      {R"(device.attributes["gpu.example.com"]["model"] == "LATEST-GPU-MODEL")", "yes"},
      {R"(device["attributes"]["gpu.example.com"].index == 3)", "yes"},
      {R"(device.attributes["gpu.example.com"].mig)", "no"},
      {R"(!device.attributes["gpu.example.com"].mig)", "yes"},
      {R"(device.attributes["topology.example.com"].rack in ["r1", "r2"])", "yes"},
      {R"(device.allowMultipleAllocations)", "yes"},
      {R"(device.allowMultipleAllocations == false)", "no"},
      {R"(device.attributes["gpu.example.com"].links[1] == 2)", "yes"},
      {R"(5 in device.attributes["gpu.example.com"].links)", "yes"},
      {R"(device.attributes["gpu.example.com"].links.includes(4))", "no"},
      {R"(device.attributes["gpu.example.com"].model.includes("LATEST-GPU-MODEL"))", "yes"},
      {R"(device.attributes["topology.example.com"].zones == ["a", "b"])", "yes"},
  });
}

TEST_CASE("what is not there") {
  check({
      {R"(device.attributes["gpu.example.com"].profile == "1g")", "at 38: no such key: \"profile\""},
      {R"(device.attributes["none.example.com"].model == "1g")", "no such key: \"model\""},
      {R"(device.capacity["gpu.example.com"].tensor.sign() == 1)", "no such key: \"tensor\""},
      {R"(has(device.attributes["gpu.example.com"].profile))", "no"},
      {R"(has(device.attributes["none.example.com"].model))", "no"},
      {R"(has(device.attributes["gpu.example.com"].model))", "yes"},
      {R"(has(device.driver))", "yes"},
      {R"("model" in device.attributes["gpu.example.com"])", "yes"},
      {R"("gpu.example.com" in device.attributes)", "yes"},
      {R"("none.example.com" in device.attributes)", "no"},
      {R"("tensor" in device.capacity["gpu.example.com"])", "no"},
      {R"(device.attributes["gpu.example.com"].?profile.orValue("full") == "full")", "yes"},
      {R"(device.attributes["gpu.example.com"].?model.orValue("full") == "full")", "no"},
      {R"(device.attributes["gpu.example.com"][?"profile"].hasValue())", "no"},
      {R"(device.attributes["gpu.example.com"].?profile.value() == "x")", "no value"},
      {R"(device.attributes["x"].?a.or(optional.of(true)).value())", "yes"},
      {R"(device.attributes["x"].?a.b.c == optional.none())", "yes"},
      {R"({"a": {"b": true}}.?a.b.orValue(false))", "yes"},
      {R"([1][?3].orValue(4) == 4)", "yes"},
      {R"([1][3] == 4)", "no such element"},
      {R"({"a": 1}[2] == 4)", "no such key"},
  });
}

TEST_CASE("errors beside what decides are absorbed") {
  const std::string bad = R"(device.attributes["x"].y == 1)";
  for (const std::string& text : {"false && " + bad, bad + " && false", "true && " + bad + " && false"}) {
    CAPTURE(text);
    CHECK(answer(text).is == cel_answer::kind::no);
  }
  for (const std::string& text : {"true || " + bad, bad + " || true", "false || " + bad + " || true"}) {
    CAPTURE(text);
    CHECK(answer(text).is == cel_answer::kind::yes);
  }
  for (const std::string& text : {"true && " + bad, bad + " && true", "false || " + bad, bad + " || false"}) {
    CAPTURE(text);
    CHECK(answer(text).is == cel_answer::kind::error);
  }
  check({
      {"1 || true", "yes"},
      {"1 || false", "'||' is not defined for an int"},
      {"'' && false", "no"},
      {"[1, 2].exists(x, x / (x - 1) == 2)", "yes"},
      {"[1, 3].exists(x, x / (x - 1) == 2)", "overflow"},
      {"[1, 2].all(x, x / (x - 1) == 3)", "no"},
      {"[1, 2].exists_one(x, x / (x - 1) == 2)", "overflow"},
  });
}

TEST_CASE("operators and their precedence") {
  check({
      {"1 + 2 * 3 == 7", "yes"},
      {"(1 + 2) * 3 == 9", "yes"},
      {"7 - 2 - 1 == 4", "yes"},
      {"-7 / 2 == -3 && -7 % 2 == -1", "yes"},
      {"true || false && false", "yes"},
      {"(true || false) && false", "no"},
      {"1 < 2 == true", "yes"},
      {"!true || true", "yes"},
      {"!!true", "yes"},
      {"--3 == 3 && -(-3) == 3 && ---3 == -3", "yes"},
      {"true ? false : true", "no"},
      {"false ? 1/0 == 1 : true ? true : false", "yes"},
      {"1 ? true : false", "'?' is not defined"},
      {"1 in [1, 2] && !(3 in [1, 2]) && 1 in {1: 'a'}", "yes"},
      {"'a' + 'b' == \"ab\" && [1] + [2] == [1, 2]", "yes"},
      {"'a' < 'b' && 'B' < 'a' && false < true", "yes"},
      {"{'a': 1, 'b': [2]} == {'b': [2], 'a': 1}", "yes"},
      {"{'a': 1} == {'a': 2}", "no"},
      {"null == null && null != 1", "yes"},
      {"1 == '1'", "no"},
      {"1 + '1' == 2", "'+' is not defined for an int and a string"},
      {"1 + 1u == 2", "'+' is not defined for an int and a uint"},
      {"[1] < [2]", "'<' is not defined"},
      {"!1", "'!' is not defined"},
      {"device == device", "'==' is not defined"},
      {"1", "the result is an int, not a bool"},
      {"device", "not a bool"},
  });
}

TEST_CASE("numbers are exact") {
  check({
      {"9223372036854775807 + 1 == 0", "overflow"},
      {"-9223372036854775808 < 0 && -9223372036854775808 - 1 < 0", "overflow"},
      {"-9223372036854775808 == -9223372036854775807 - 1", "yes"},
      {"-9223372036854775808 / -1 == 0", "overflow"},
      {"-9223372036854775808 % -1 == 0", "overflow"},
      {"1 / 0 == 0", "overflow"},
      {"18446744073709551615u > 9223372036854775807", "yes"},
      {"18446744073709551615u + 1u > 0u", "overflow"},
      {"0u - 1u == 0u", "overflow"},
      {"1u / 1u == 1u", "yes"},
      {"0xFF == 255 && 0x10u == 16u && -0x8000000000000000 < 0", "yes"},
      {"1 == 1.0 && 1u == 1.0 && 1 == 1u", "yes"},
      {"9007199254740993 > 9007199254740992.0", "yes"},
      {"9223372036854775807 < 9223372036854775808.0", "yes"},
      {"-1 < 0u && 0u > -1", "yes"},
      {"1.5 > 1 && -1.5 < -1 && 1.5e3 == 1500 && .5 < 1u", "yes"},
      {"0.0 / 0.0 == 0.0 / 0.0 || 0.0 / 0.0 < 1 || 1 < 0.0 / 0.0", "no"},
      {"1.0 / 0.0 > 18446744073709551615u", "yes"},
      {"int(2.9) == 2 && int(-2.9) == -2 && int('12') == 12 && int(3u) == 3", "yes"},
      {"int(1e30) == 0", "overflow"},
      {"uint(-1) == 0u", "overflow"},
      {"int(18446744073709551615u) == 0", "overflow"},
      {"int('x') == 0", "no number"},
      {"uint('12') == 12u && double(1) == 1.0", "yes"},
      {"string(12) + string(true) + string(3u) == '12true3'", "yes"},
      {"dyn(1) == 1", "yes"},
  });
}

TEST_CASE("texts") {
  check({
      {"'abc'.startsWith('ab') && 'abc'.endsWith('bc') && 'abc'.contains('b') && !'abc'.contains('x')", "yes"},
      {"'aBc'.lowerAscii() == 'abc' && 'aBc'.upperAscii() == 'ABC'", "yes"},
      {"size('ä€') == 2 && 'abc'.size() == 3 && size([1]) == 1 && {}.size() == 0", "yes"},
      {R"("\x41\u00e4\U0001F600\101\n\t\\\"\'" == 'Aä😀A' + "\n\t" + '\\"' + "'")", "yes"},
      {R"(r"\n" == '\\n' && R'\' == "\\")", "yes"},
      {"'''a'b''' == \"a'b\" && \"\"\"x\ny\"\"\" == 'x\\ny'", "yes"},
      {"// a comment\n true // another", "yes"},
      {"'a'.startsWith(1)", "startsWith is not defined for a string and an int"},
      {"size(1) == 1", "size is not defined for an int"},
  });
}

TEST_CASE("quantities") {
  check({
      {R"(device.capacity["gpu.example.com"].memory.isGreaterThan(quantity("79Gi")))", "yes"},
      {R"(device.capacity["gpu.example.com"].memory.compareTo(quantity("80Gi")) == 0)", "yes"},
      {R"(device.capacity["gpu.example.com"].memory == quantity("81920Mi"))", "yes"},
      {R"(device.capacity["gpu.example.com"].memory.isLessThan(quantity("80G")))", "no"},
      {R"(device.capacity["gpu.example.com"].cores.compareTo(quantity("14081")) == -1)", "yes"},
      {R"(device.capacity["gpu.example.com"].cores.asInteger() >= 14080)", "yes"},
      {R"(quantity("1500m").isInteger() || quantity("1.5").asApproximateFloat() != 1.5)", "no"},
      {R"(quantity("1.5").asInteger() == 1)", "no int"},
      {R"(quantity("1").add(quantity("500m")) == quantity("1.5") && quantity("2").sub(1) == quantity("1"))", "yes"},
      {R"(quantity("-1").sign() == -1 && quantity("0").sign() == 0)", "yes"},
      {R"(isQuantity("12Ki") && !isQuantity("12Kb") && !isQuantity(""))", "yes"},
      {R"(quantity("12Kb") == quantity("1"))", "\"12Kb\" is no quantity"},
      {R"(quantity("1") < quantity("2"))", "'<' is not defined for a quantity and a quantity"},
      {R"(quantity("1") == 1)", "no"},
      {R"(quantity("1").compareTo(1) == 0)", "compareTo is not defined for a quantity and an int"},
  });
  CHECK(model::parse_exact_quantity("0.0000000001")->billionths == 1);
  CHECK(model::parse_exact_quantity("-0.0000000001")->billionths == -1);
  CHECK(model::parse_exact_quantity("8Ei") == model::whole_quantity(std::numeric_limits<std::int64_t>::max()));
  CHECK(model::parse_exact_quantity("1e400") == model::whole_quantity(std::numeric_limits<std::int64_t>::max()));
  CHECK_FALSE(model::parse_exact_quantity("e3").has_value());
  CHECK(model::text_of(*model::parse_exact_quantity("-1500m")) == "-1.5");
  CHECK(model::text_of(*model::parse_exact_quantity("10Gi")) == "10737418240");
  CHECK(model::text_of(model::exact_quantity{1}) == "0.000000001");
  CHECK(model::text_of(model::exact_quantity{}) == "0");
}

TEST_CASE("versions") {
  check({
      {R"(device.attributes["gpu.example.com"].driverVersion.isGreaterThan(semver("550.9.0")))", "yes"},
      {R"(device.attributes["gpu.example.com"].driverVersion.compareTo(semver("550.54.14")) == 0)", "yes"},
      {R"(device.attributes["gpu.example.com"].driverVersion == semver("550.54.14+build"))", "yes"},
      {R"(device.attributes["gpu.example.com"].driverVersion.major() == 550)", "yes"},
      {R"(semver("1.2.3").minor() == 2 && semver("1.2.3").patch() == 3)", "yes"},
      {R"(semver("1.0.0-rc.1").isLessThan(semver("1.0.0")))", "yes"},
      {R"(isSemver("1.2") || isSemver("v1.2.3") || isSemver("01.2.3"))", "no"},
      {R"(semver("1.2") == semver("1.2.0"))", "no semantic version"},
      {R"(semver("1.2.3") > semver("1.2.2"))", "'>' is not defined"},
  });
  // The order that semver.org gives in item 11.
  const std::vector<std::string_view> ascending{"1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-alpha.beta",
                                                "1.0.0-beta",  "1.0.0-beta.2",  "1.0.0-beta.11",
                                                "1.0.0-rc.1",  "1.0.0",         "2.0.0",
                                                "2.1.0",       "2.1.1",         "10.0.0"};
  for (std::size_t i = 0; i < ascending.size(); ++i) {
    for (std::size_t j = 0; j < ascending.size(); ++j) {
      CHECK((*model::parse_semantic_version(ascending[i]) <=> *model::parse_semantic_version(ascending[j])) ==
            (i <=> j));
    }
  }
  for (const std::string_view text : {"", "1", "1.2", "1.2.3.4", "1.02.3", "1.2.3-", "1.2.3-01", "1.2.3-a..b", "1.2.3+",
                                      "1.2.-3", "a.b.c", "1.2.3-ä", "18446744073709551616.0.0"}) {
    CAPTURE(text);
    CHECK_FALSE(model::parse_semantic_version(text).has_value());
  }
}

TEST_CASE("macros and variables") {
  check({
      {"[1, 2, 3].all(x, x > 0) && [1, 2, 3].exists(x, x == 2) && ![].exists(x, true) && [].all(x, false)", "yes"},
      {"[1, 2, 3].exists_one(x, x > 2) && ![1, 2, 3].existsOne(x, x > 1)", "yes"},
      {"[1, 2, 3].filter(x, x > 1) == [2, 3] && [1, 2].map(x, x * 2) == [2, 4]", "yes"},
      {"[1, 2, 3].map(x, x > 1, x * 2) == [4, 6]", "yes"},
      {"{'a': 1, 'b': 2}.all(k, k in ['a', 'b'])", "yes"},
      {R"(device.attributes["gpu.example.com"].exists(name, name == "model"))", "yes"},
      {R"(device.capacity.all(domain, domain == "gpu.example.com"))", "yes"},
      {R"(device.attributes.map(domain, size(device.attributes[domain])) == [5, 2])", "yes"},
      {R"(cel.bind(a, device.attributes["gpu.example.com"], a.index == 3 && a.model.endsWith("MODEL")))", "yes"},
      {"cel.bind(x, 1, cel.bind(x, x + 1, x == 2) && x == 1)", "yes"},
      {"[1].all(x, [2].all(y, y == x + 1) && x == 1)", "yes"},
      {"cel.bind(device, 1, device == 1)", "yes"},
      {"1.all(x, true)", "a macro goes through"},
      {"[1].filter(x, 1) == []", "not a bool"},
  });
}

TEST_CASE("what is no expression, or not in the subset") {
  check_refused({
      {"", "at 1: the end where a value is expected"},
      {"1 +", "at 4: the end where a value is expected"},
      {"(1", "where ')' is expected"},
      {"1 2", "at 3: '2' where the end is expected"},
      {"a == 1", "at 1: 'a' is no known name"},
      {"device.name == 'x'", "a device has no field 'name'"},
      {"device.?driver", "always there"},
      {"'abc'.matches('a.c')", "at 7: function 'matches' is not supported"},
      {"timestamp('x') == 1", "function 'timestamp' is not supported"},
      {"semver('v1', true) == semver('1.0.0')", "'semver' with 2 arguments is not supported"},
      {"'a'.contains()", "'contains' with 1 arguments is not supported"},
      {"b'abc' == b'abc'", "bytes are not supported"},
      {"math.greatest(1, 2) == 2", "'math' is no known name"},
      {"cel.block([1], true)", "'cel.block' is not supported"},
      {"optional.ofNonZeroValue(1).hasValue()", "'optional.ofNonZeroValue' is not supported"},
      {"[?device.driver]", "optional elements are not supported"},
      {"{?'a': 1}", "optional entries are not supported"},
      {"[1].all(x, x == 1, true)", "with more variables is not supported"},
      {"has(device)", "has() takes a field"},
      {"if == 1", "'if' is a reserved word"},
      {"[1].all(in, true)", "'in' is a reserved word"},
      {"'a", "at 1: a string without an end"},
      {"'a\nb'", "a string without an end"},
      {R"('\q')", "at 2: a string has no such escape"},
      {R"('\ud800')", "no such escape"},
      {R"('\x4')", "no such escape"},
      {"1 @ 2", "at 3: a character that begins nothing: U+0040"},
      {"1 = 2", "a character that begins nothing"},
      {"1 & 2", "a character that begins nothing"},
      {"9223372036854775808 > 0", "64 bits do not hold"},
      {"18446744073709551616u > 0u", "64 bits do not hold"},
      {"99999999999999999999999 > 0", "64 bits do not hold"},
      {"0x > 1", "needs digits"},
      {"1e999 > 1.0", "a double does not hold"},
      {"12ab == 1", "ends in letters"},
      {"\xff", "no UTF-8"},
      {std::string_view("true\0", 5), "begins nothing"},
      {"{1.5: 2} == {}x", "where the end is expected"},
  });
  check({{"{1.5: 2} == {}", "no key of a map"},
         {"{1: 2, 1: 3} == {}", "stands in the map twice"},
         {"{1: 2, 1u: 3} == {}", "stands in the map twice"}});
}

TEST_CASE("texts, nesting and work have bounds") {
  const auto refused = [](const std::string& text) {
    const result<model::cel_expression> made = model::cel_expression::parse(text);
    return made.ok() ? std::string("accepted") : made.failure().message;
  };
  const auto repeated = [](std::size_t count, std::string_view part) {
    std::string text;
    for (std::size_t i = 0; i < count; ++i) text += part;
    return text;
  };
  CHECK(refused(repeated(model::most_cel_bytes + 1, " ")).find("at most 10240") != std::string::npos);
  for (const std::string_view open : {"(", "[", "!(", "-(", "{1:", "size(", "true ? true : "}) {
    CAPTURE(open);
    CHECK(refused(repeated(500, open)).find("levels of nesting") != std::string::npos);
  }
  CHECK(refused("1" + repeated(1000, "+1")).find("levels of nesting") != std::string::npos);
  CHECK(refused("device.driver" + repeated(1000, ".a")).find("levels of nesting") != std::string::npos);
  CHECK(refused(repeated(9000, "!") + "true") == "accepted");
  CHECK(answer("true" + repeated(1000, " && true")).is == cel_answer::kind::yes);

  const std::string list = "[" + repeated(60, "1,") + "]";
  const cel_answer deep = answer(list + ".all(a, " + list + ".all(b, " + list + ".all(c, " + list + ".all(d, true))))");
  CHECK(deep.is == cel_answer::kind::error);
  CHECK(deep.message.find("more steps than an evaluation may take") != std::string::npos);
  CHECK(deep.steps == model::most_cel_steps);
  // What takes too long is not absorbed.
  CHECK(answer(list + ".all(a, " + list + ".all(b, " + list + ".all(c, " + list + ".all(d, true)))) || true").is ==
        cel_answer::kind::error);
  std::string doubling = "cel.bind(s, 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa', ";
  for (int i = 0; i < 30; ++i) doubling += "cel.bind(s, s + s, ";
  CHECK(answer(doubling + "s == ''" + repeated(31, ")")).is == cel_answer::kind::error);

  const model::cel_expression one = parsed("1 + 1 == 2 && device.driver == 'x'");
  const std::uint64_t needed = one.evaluate(device).steps;
  CHECK(one.evaluate(device, needed).is == cel_answer::kind::no);
  CHECK(one.evaluate(device, needed - 1).is == cel_answer::kind::error);
}

}  // namespace of_test_cel
