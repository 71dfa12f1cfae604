// Order of sibling queues in exact arithmetic.
#include <random>

#include "policy/ordering/exact_queue_order.hpp"
#include "support.hpp"

namespace of_test_queue_order {

using namespace kaisched;
using policy::exact_queue;

namespace {

constexpr std::uint32_t gpu = 2;
const policy::exact_amounts total{100, 100, 16};

exact_queue make(std::string_view uid, std::int64_t deserved, std::int64_t fair_share, std::int64_t allocated) {
  exact_queue q;
  q.uid = uid;
  for (auto& s : q.shares) s.deserved = unlimited;
  q.shares[gpu] = {deserved, unlimited, 1000, 100, allocated, 0, 0, fair_share};
  return q;
}

bool before(const exact_queue& a, const exact_queue& b, std::int64_t job = 1) {
  return policy::exact_serves_before({&a, {0, 0, job}}, {&b, {0, 0, job}}, total);
}

}  // namespace

TEST_CASE("a queue within its quota comes before one that would pass it, whatever their priorities") {
  const exact_queue within = make("within", 4, 4, 3);
  exact_queue over = make("over", 2, 8, 2);
  over.priority = 900;
  CHECK(before(within, over));
  CHECK_FALSE(before(over, within));
}

TEST_CASE("then priority, then the smaller part of the entitlement, then age, then name") {
  exact_queue a = make("a", 0, 8, 4);
  exact_queue b = make("b", 0, 8, 2);
  CHECK(before(b, a));
  a.priority = 200;
  CHECK(before(a, b));
  a = make("a", 0, 8, 2);
  CHECK(before(a, b));
  CHECK_FALSE(before(b, a));
  a.created = 1;
  CHECK(before(b, a));
  const exact_queue none = make("0", 0, 0, 0);  // would use what it has no share of
  CHECK(before(b, none));
}

TEST_CASE("the order is total: of two queues exactly one is first, and there are no cycles") {
  std::mt19937_64 random(11);
  const auto draw = [&](std::uint64_t n) { return static_cast<std::int64_t>(random() % n); };
  for (int round = 0; round < 4000; ++round) {
    std::vector<exact_queue> queues;
    for (const std::string_view uid : {"a", "b", "c"}) {
      exact_queue q = make(uid, draw(4) - 1, draw(4), draw(4));
      q.shares[0] = {draw(4) - 1, draw(4) == 0 ? draw(4) : unlimited, 1000, 100, draw(4), 0, 0, draw(4)};
      q.created = draw(2);
      q.priority = 100 + draw(2);
      queues.push_back(q);
    }
    const bool ab = before(queues[0], queues[1]);
    const bool bc = before(queues[1], queues[2]);
    const bool ca = before(queues[2], queues[0]);
    CHECK(ab != before(queues[1], queues[0]));
    CHECK_FALSE((ab && bc && ca));
    CHECK_FALSE((!ab && !bc && !ca));
  }
}

TEST_CASE("a queue with children stands with its best group also after a group of another child has started") {
  test::builder b;
  b << test::builder::node{"n", 8} << test::builder::queue{"a", "", 4} << test::builder::queue{"b", "", 4}
    << test::builder::queue{"a1", "a", 2} << test::builder::queue{"a2", "a", 2};
  b << test::builder::group{"x", "a1"} << test::builder::group{"y", "a2"} << test::builder::group{"z", "b"}
    << test::builder::group{"w", "a1", 1, 50, 1};
  b << test::builder::pod{"x-0", "x", 1000} << test::builder::pod{"w-0", "w", 3000};
  b << test::builder::pod{"y-0", "y", 1000} << test::builder::pod{"z-0", "z", 3000};
  // After x-0 the best group of `a` is y: with it `a` would hold 2 of 4, with w it would hold 4 of 4, `b` 3 of 4.
  const session s = test::must(test::make_engine({"mode", "strict"}).run(b.take(), 0));
  CHECK(test::lines(s) == std::vector<std::string>{"bind x-0 n", "bind y-0 n", "bind z-0 n", "bind w-0 n"});
}

}  // namespace of_test_queue_order
