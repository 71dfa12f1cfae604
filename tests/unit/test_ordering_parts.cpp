// Keys of the parts that order groups: exact where amounts are large, total where values are missing.
#include <limits>
#include <tuple>

#include "policy/ordering/dominant_share.hpp"
#include "rows.hpp"
#include "support.hpp"

namespace of_test_ordering_parts {

using namespace kaisched;
using kind = table_kind;
using policy::dominant_share;
using test::add;
using test::change;
using test::must;
using strings = std::vector<std::string>;

namespace {

std::pair<std::int64_t, std::int64_t> share(std::int64_t held, std::int64_t total) {
  const order_key key = dominant_share({held, 0, 0}, {total, 0, 0});
  return {key.first, key.second};
}

/// Groups in the order in which they start on a node that has room for all of them.
strings starts(const char* part, cluster& c, std::int64_t now) {
  engine e;
  must(e.set("parts", std::string("predicates,") + part));
  const session s = must(e.run(c.take_snapshot(), now));
  strings names;
  for (const decision& d : s.decisions()) {
    if (d.kind == decision_kind::bind) names.emplace_back(s.base().group_name(d.group));
  }
  return names;
}

/// A node, a queue, and groups with one pod that runs there and one that waits.
cluster groups(std::int64_t count, std::int64_t gpus_each) {
  cluster c;
  must(c.apply(add(kind::queue, {"name"}).add({"q"})));
  must(c.apply(add(kind::node, {"name", "capacity"}).add({"n", test::numbers{1'000'000, 0, 4000, 100}})));
  for (std::int64_t i = 0; i < count; ++i) {
    const std::string g = "g" + std::to_string(i);
    must(c.apply(add(kind::pod_group, {"name", "queue", "created"}).add({g, "q", i})));
    must(c.apply(add(kind::pod, {"name", "group", "request", "status", "node"})
                     .add({g + "-0", g, test::numbers{1, 0, gpus_each, 1}, pod_status::running, "n"})
                     .add({g + "-1", g, test::numbers{1, 0, 0, 1}, pod_status::pending, ""})));
  }
  return c;
}

}  // namespace

TEST_CASE("dominant shares are equal where fractions are, and in their order however close they are") {
  constexpr std::int64_t large = max_amount * 1000;
  CHECK(share(1, 3) == share(max_amount, 3 * max_amount));
  CHECK(share(0, 3) == std::pair<std::int64_t, std::int64_t>(0, 0));
  CHECK(share(0, 0) == share(0, 3));
  // These differ by less than a double can tell.
  CHECK(share(large - 2, large - 1) < share(large - 1, large));
  CHECK(share(large / 2, large) < share(large / 2 + 1, large));
  CHECK(share(1, large) < share(1, large - 1));
  CHECK(share(large, large) < share(large + 1, large));  // more than there is: nodes were cordoned
  CHECK(share(1, 0) > share(large, 1));
  CHECK(share(1, 0) == share(2, 0));
}

TEST_CASE("the resource with the largest part decides") {
  const auto key = [](const model::quota_vector& held) {
    const order_key k = dominant_share(held, {8, 4, 2});
    return std::tuple(k.first, k.second);
  };
  CHECK(key({4, 1, 0}) == key({0, 2, 1}));
  CHECK(key({4, 3, 1}) > key({5, 2, 1}));
  CHECK(key({0, 0, 0}) < key({1, 0, 0}));
}

TEST_CASE("gpu time is exact: no sum overflows, and a nanosecond counts") {
  cluster c = groups(3, 1000);
  constexpr std::int64_t late = std::numeric_limits<std::int64_t>::max();
  constexpr std::int64_t early = std::numeric_limits<std::int64_t>::min() + 1;
  must(c.apply(change(kind::pod_group, {"name", "attained_service", "last_start"})
                   .add({"g0", max_amount, early})
                   .add({"g1", max_amount, early + 1})
                   .add({"g2", max_amount - 1, early})));
  CHECK(starts("las", c, late) == strings{"g2", "g1", "g0"});
}

TEST_CASE("what an eviction costs is exact: no sum overflows, and a nanosecond counts") {
  cluster c = groups(3, 1000);
  constexpr std::int64_t late = std::numeric_limits<std::int64_t>::max();
  constexpr std::int64_t early = std::numeric_limits<std::int64_t>::min() + 1;
  must(c.apply(change(kind::pod_group, {"name", "last_start", "last_checkpoint", "restart_cost"})
                   .add({"g0", early, early + 2, max_amount})
                   .add({"g1", early + 1, unset, max_amount})
                   .add({"g2", early, unset, max_amount})));
  CHECK(starts("lost_work", c, late) == strings{"g2", "g1", "g0"});
}

TEST_CASE("groups of equal keys are left to age and name") {
  cluster c = groups(3, 1000);
  for (const char* part :
       {"las", "las_2d", "drf", "age", "fifo", "deadline", "sjf", "srtf", "srsf", "completion_rate", "lost_work"}) {
    CAPTURE(part);
    CHECK(starts(part, c, 0) == strings{"g0", "g1", "g2"});
  }
}

TEST_CASE("the last nanosecond is a deadline like any other") {
  cluster c = groups(3, 1000);
  must(c.apply(change(kind::pod_group, {"name", "deadline"})
                   .add({"g1", std::numeric_limits<std::int64_t>::max()})
                   .add({"g2", std::numeric_limits<std::int64_t>::min() + 1})));
  CHECK(starts("deadline", c, 0) == strings{"g2", "g1", "g0"});
}

TEST_CASE("gpu time before the first start is refused where it is less than none") {
  cluster c = groups(1, 0);
  const auto applied = c.apply(change(kind::pod_group, {"name", "attained_service"}).add({"g0", -1}));
  REQUIRE_FALSE(applied.ok());
  CHECK(applied.failure().message ==
        "table 0 (pod_group, change), row 0, column attained_service: -1 is not in 0 .. 4503599627370496");
}

TEST_CASE("remaining times are exact: no product overflows, and a nanosecond counts") {
  cluster c = groups(3, 1000);
  constexpr std::int64_t longest = std::numeric_limits<std::int64_t>::max();
  must(c.apply(change(kind::pod_group, {"name", "runtime_estimate"})
                   .add({"g0", longest})
                   .add({"g1", longest - 1})
                   .add({"g2", longest - 2})));
  for (const char* part : {"sjf", "srtf", "srsf"}) {
    CAPTURE(part);
    CHECK(starts(part, c, 0) == strings{"g2", "g1", "g0"});
  }
  // Who has had more than there is to do has nothing left, however much more it was.
  must(c.apply(change(kind::pod_group, {"name", "runtime_estimate", "attained_service"})
                   .add({"g0", std::int64_t{1}, std::int64_t{1}})
                   .add({"g1", std::int64_t{1}, std::int64_t{0}})
                   .add({"g2", std::int64_t{1}, max_amount})));
  for (const char* part : {"srtf", "srsf"}) {
    CAPTURE(part);
    CHECK(starts(part, c, 0) == strings{"g0", "g2", "g1"});
  }
}

TEST_CASE("an estimate that is less than nothing is none") {
  cluster c = groups(3, 1000);
  must(c.apply(change(kind::pod_group, {"name", "runtime_estimate"})
                   .add({"g0", std::int64_t{-1}})
                   .add({"g1", std::numeric_limits<std::int64_t>::max()})
                   .add({"g2", std::int64_t{0}})));
  for (const char* part : {"sjf", "srtf", "srsf"}) {
    CAPTURE(part);
    CHECK(starts(part, c, 0) == strings{"g2", "g1", "g0"});
  }
}

TEST_CASE("limits of steps rise, and a group at a limit has reached it") {
  engine e;
  CHECK(must(e.get("las_2d.limits")) == "3250,7200");
  must(e.set("las_2d.limits", "1, 4503599627370496"));
  CHECK(must(e.get("las_2d.limits")) == "1,4503599627370496");
  for (const char* wrong : {"0", "-1", "2,2", "3,2", "1.5", "x", "4503599627370497"}) {
    CAPTURE(wrong);
    const auto set = e.set("las_2d.limits", wrong);
    REQUIRE_FALSE(set.ok());
    CHECK(set.failure().message.starts_with("option las_2d.limits: '"));
    CHECK(must(e.get("las_2d.limits")) == "1,4503599627370496");
  }
  must(e.set("las_2d.limits", ""));
  CHECK(must(e.get("las_2d.limits")).empty());

  cluster c = groups(3, 1000);
  // In milli-GPU seconds: at the first limit, below it, at the second one.
  must(c.apply(change(kind::pod_group, {"name", "attained_service"})
                   .add({"g0", std::int64_t{3'250'000}})
                   .add({"g1", std::int64_t{3'249'999}})
                   .add({"g2", std::int64_t{7'200'000}})));
  CHECK(starts("las_2d", c, 0) == strings{"g1", "g0", "g2"});
}

TEST_CASE("a choice that would need too large a table is left to the remaining GPU time") {
  const auto order = [](std::int64_t gpus_of_second) {
    cluster c;
    must(c.apply(add(kind::queue, {"name"}).add({"q"})));
    for (int i = 0; i < 20; ++i)
      must(c.apply(add(kind::node, {"name", "capacity"})
                       .add({"n" + std::to_string(i), test::numbers{1'000'000, 0, 64'000, 100}})));
    for (const auto& [name, gpus, seconds] : {std::tuple{"long", std::int64_t{1000}, std::int64_t{100}},
                                              std::tuple{"short", gpus_of_second, std::int64_t{10}}}) {
      must(c.apply(
          add(kind::pod_group, {"name", "queue", "runtime_estimate"}).add({name, "q", seconds * 1'000'000'000})));
      must(c.apply(add(kind::pod, {"name", "group", "request"})
                       .add({std::string(name) + "-0", name, test::numbers{1, 0, gpus, 1}})));
    }
    return starts("completion_rate", c, 0);
  };
  // Both fit: of the chosen the larger one is first. In thousandths of 1280 GPUs there are more than 2^20 columns.
  CHECK(order(500) == strings{"long", "short"});
  CHECK(order(999) == strings{"short", "long"});
}

}  // namespace of_test_ordering_parts
