// Order of sibling queues, rule by rule and against the rules spelled out once more as a list of keys.
#include <limits>
#include <random>

#include "policy/ordering/exact_queue_order.hpp"
#include "policy/ordering/kai_queue_order.hpp"
#include "support.hpp"

namespace of_test_mutants_order {

using namespace kaisched;
using policy::exact_queue;
using policy::exact_share;
using policy::kai_queue;
using policy::kai_share;

namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr std::array<std::string_view, 3> names{"a", "b", "c"};

std::int64_t draw(std::mt19937_64& random, std::int64_t least, std::int64_t most) {
  return least + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(most - least + 1));
}

// ---- strict: every rule is a number, the smaller one is served first; amounts are so small that doubles are exact
// ----
double entitled(const exact_share& s) {
  const double limit = s.limit == unlimited ? infinite : static_cast<double>(s.limit);
  if (s.deserved == unlimited) return limit;
  return std::min(limit, static_cast<double>(std::max(s.deserved, s.fair_share)));
}

double saturation(const exact_queue& q, const policy::exact_amounts& more, const policy::exact_amounts& total) {
  double most = 0;
  for (std::uint32_t r = 0; r < quota_dimensions; ++r) {
    const auto held = static_cast<double>(q.shares[r].allocated + more[r]);
    if (held <= 0) continue;
    const double share = entitled(q.shares[r]);
    const double whole = share == infinite ? static_cast<double>(total[r]) : share;
    most = std::max(most, whole == 0 ? infinite : held / whole);
  }
  return most;
}

std::vector<double> strict_keys(const policy::exact_side& side, const policy::exact_amounts& total) {
  const exact_queue& q = *side.queue;
  int over = 0;
  int within = 0;
  bool violates = false;
  for (std::uint32_t r = 0; r < quota_dimensions; ++r) {
    const exact_share& s = q.shares[r];
    const std::int64_t held = s.allocated + side.job[r];
    over += s.allocated > s.fair_share ? 1 : 0;
    within += s.deserved == unlimited || (held != unlimited && held <= s.deserved) ? 1 : 0;
    violates = violates || (entitled(s) == 0 && held > 0);
  }
  return {over == 3 ? 1.0 : 0.0,         within == 3 ? 0.0 : 1.0,        -static_cast<double>(q.priority),
          violates ? 1.0 : 0.0,          saturation(q, side.job, total), saturation(q, {}, total),
          entitled(q.shares[2]),         entitled(q.shares[1]),          entitled(q.shares[0]),
          static_cast<double>(q.created)};
}

exact_share random_share(std::mt19937_64& random) {
  exact_share s;
  s.deserved = draw(random, -1, 2);
  s.limit = draw(random, 0, 1) == 0 ? unlimited : draw(random, 0, 3);
  s.allocated = draw(random, 0, 3);
  s.fair_share = draw(random, 0, 3);
  return s;
}

// ---- compat: the same list but for its last entries; what is without a share counts a thousandfold ----
double kai_saturation(const kai_queue& q, const policy::kai_amounts& held, const policy::kai_amounts& total) {
  double most = 0;
  for (std::uint32_t r = 0; r < quota_dimensions; ++r) {
    const double share = policy::kai_allocatable(q.shares[r]);
    const double whole = share == -1 ? total[r] : share;
    most = std::max(most, whole == 0 ? held[r] * 1000 : held[r] / whole);
  }
  return most;
}

std::vector<double> compat_keys(const policy::kai_side& side, const policy::kai_amounts& total) {
  const kai_queue& q = *side.queue;
  policy::kai_amounts alone{};
  policy::kai_amounts with{};
  int over = 0;
  int within = 0;
  bool violates = false;
  for (std::uint32_t r = 0; r < quota_dimensions; ++r) {
    const kai_share& s = q.shares[r];
    alone[r] = s.allocated;
    with[r] = s.allocated + side.job[r];
    over += s.allocated > s.fair_share ? 1 : 0;
    within += s.deserved == -1 || (with[r] != -1 && with[r] <= s.deserved) ? 1 : 0;
    violates = violates || (policy::kai_allocatable(s) == 0 && with[r] > 0);
    for (const policy::kai_amounts& victim : side.victims) with[r] -= victim[r];
  }
  return {over == 3 ? 1.0 : 0.0, within == 3 ? 0.0 : 1.0,        -static_cast<double>(q.priority),
          violates ? 1.0 : 0.0,  kai_saturation(q, with, total), kai_saturation(q, alone, total)};
}

/// -1: the entitlements of left are at most those of right and not the other way; 1: the reverse; 0: neither.
int smaller_entitlement(const kai_queue& left, const kai_queue& right) {
  int left_fits = 0;
  int right_fits = 0;
  for (std::uint32_t r = 0; r < quota_dimensions; ++r) {
    const auto amount = [&](const kai_queue& q) {
      const double x = policy::kai_allocatable(q.shares[r]);
      return x == -1 ? infinite : x;
    };
    left_fits += amount(left) <= amount(right) ? 1 : 0;
    right_fits += amount(right) <= amount(left) ? 1 : 0;
  }
  return (right_fits == 3 ? 1 : 0) - (left_fits == 3 ? 1 : 0);
}

kai_share random_kai_share(std::mt19937_64& random) {
  const exact_share s = random_share(random);
  const auto d = [](std::int64_t x) { return static_cast<double>(x); };
  return {d(s.deserved), d(s.limit), 1, 100, d(s.allocated), 0, 0, d(s.fair_share)};
}

exact_queue plain(std::string_view uid) {
  exact_queue q;
  q.uid = uid;
  for (exact_share& s : q.shares) s = {4, unlimited, 1000, 100, 0, 0, 0, 4};
  return q;
}

kai_queue plain_kai(std::string_view uid) {
  kai_queue q;
  q.uid = uid;
  for (kai_share& s : q.shares) s = {4, -1, 1, 100, 0, 0, 0, 4};
  return q;
}

}  // namespace

TEST_CASE("strict: two random queues stand as the list of keys says") {
  std::mt19937_64 random(5);
  const policy::exact_amounts total{6, 7, 5};
  for (int round = 0; round < 60000; ++round) {
    exact_queue a;
    exact_queue b;
    for (std::uint32_t r = 0; r < quota_dimensions; ++r) {
      a.shares[r] = random_share(random);
      b.shares[r] = draw(random, 0, 2) == 0 ? a.shares[r] : random_share(random);  // ties reach the later rules
    }
    if (round % 4 == 0) b.shares = a.shares;
    a.uid = names[random() % 3];
    b.uid = names[random() % 3];
    a.priority = draw(random, 1, 2);
    b.priority = draw(random, 0, 2) == 0 ? draw(random, 1, 2) : a.priority;
    a.created = draw(random, 1, 2);
    b.created = draw(random, 1, 2);
    const policy::exact_amounts job{draw(random, -1, 2), draw(random, 0, 1), draw(random, 0, 2)};
    const policy::exact_side left{&a, job};
    const policy::exact_side right{&b, draw(random, 0, 1) == 0 ? job : policy::exact_amounts{1, 0, 1}};
    const std::vector<double> x = strict_keys(left, total);
    const std::vector<double> y = strict_keys(right, total);
    const bool expected = x != y ? x < y : a.uid < b.uid;
    REQUIRE(policy::exact_serves_before(left, right, total) == expected);
  }
}

TEST_CASE("strict: parts of entitlements are compared exactly, where doubles see no difference") {
  exact_queue a = plain("a");
  exact_queue b = plain("b");
  constexpr std::int64_t large = std::int64_t{1} << 60;
  for (exact_queue* q : {&a, &b}) {
    for (exact_share& s : q->shares) s.deserved = s.fair_share = large;
  }
  a.shares[1].allocated = large - 1;
  b.shares[1].allocated = large - 2;
  CHECK(static_cast<double>(large - 1) / static_cast<double>(large) ==
        static_cast<double>(large - 2) / static_cast<double>(large));
  CHECK(policy::exact_serves_before({&b}, {&a}, {large, large, large}));
  CHECK_FALSE(policy::exact_serves_before({&a}, {&b}, {large, large, large}));
}

TEST_CASE("what a queue may hold: quota or fair share, the larger one, within the limit; without a quota the limit") {
  const auto strict = [](std::int64_t deserved, std::int64_t limit, std::int64_t fair) {
    return policy::exact_allocatable({deserved, limit, 0, 0, 0, 0, 0, fair});
  };
  const auto compat = [](double deserved, double limit, double fair) {
    return policy::kai_allocatable({deserved, limit, 0, 0, 0, 0, 0, fair});
  };
  for (const auto& [deserved, limit, fair, expected] : std::vector<std::array<std::int64_t, 4>>{{3, -1, 5, 5},
                                                                                                {5, -1, 3, 5},
                                                                                                {3, 4, 5, 4},
                                                                                                {3, 9, 5, 5},
                                                                                                {-1, 7, 5, 7},
                                                                                                {-1, -1, 5, -1},
                                                                                                {0, 0, 5, 0},
                                                                                                {0, -1, 0, 0}}) {
    CHECK(strict(deserved, limit, fair) == expected);
    CHECK(compat(static_cast<double>(deserved), static_cast<double>(limit), static_cast<double>(fair)) ==
          static_cast<double>(expected));
  }
}

TEST_CASE("the first resource is named whose limit or quota a request would pass") {
  const auto both = [](std::array<std::int64_t, 3> bound, std::array<std::int64_t, 3> held,
                       std::array<std::int64_t, 3> asked) {
    exact_queue limited;
    exact_queue quota;
    kai_queue kai_limited;
    kai_queue kai_quota;
    policy::kai_amounts kai_asked{};
    for (std::uint32_t r = 0; r < quota_dimensions; ++r) {
      // What does not belong to the rule is in the way of nobody: held by others, or bounds of zero.
      limited.shares[r] = {0, bound[r], 0, 0, held[r], 99, 0, 0};
      quota.shares[r] = {bound[r], 0, 0, 0, 99, held[r], 0, 0};
      const auto d = [](std::int64_t x) { return static_cast<double>(x); };
      kai_limited.shares[r] = {0, d(bound[r]), 0, 0, d(held[r]), 99, 0, 0};
      kai_quota.shares[r] = {d(bound[r]), 0, 0, 0, 99, d(held[r]), 0, 0};
      kai_asked[r] = d(asked[r]);
    }
    const std::uint32_t found = policy::exact_over_limit(limited, asked);
    CHECK(policy::exact_over_quota(quota, asked) == found);
    CHECK(policy::kai_over_limit(kai_limited, kai_asked) == found);
    CHECK(policy::kai_over_quota(kai_quota, kai_asked) == found);
    return found;
  };
  CHECK(both({4, 4, 4}, {2, 2, 2}, {2, 2, 2}) == no_row);  // up to the bound
  CHECK(both({4, 4, 4}, {2, 2, 2}, {2, 3, 3}) == 1);
  CHECK(both({4, 4, 4}, {2, 2, 2}, {2, 2, 3}) == 2);
  CHECK(both({4, 4, 4}, {2, 2, 2}, {3, 2, 2}) == 0);
  CHECK(both({-1, 4, 4}, {2, 2, 2}, {3, 2, 2}) == no_row);  // unlimited
  CHECK(both({1, 4, 4}, {2, 2, 2}, {0, 1, 1}) == no_row);   // asks for none of what is overdrawn
  CHECK(both({0, 4, 4}, {0, 0, 0}, {1, 1, 1}) == 0);
}

TEST_CASE("compat: two random queues stand as the list of keys says") {
  std::mt19937_64 random(6);
  const policy::kai_amounts total{6, 7, 5};
  const auto small = [&] { return static_cast<double>(draw(random, 0, 2)); };
  for (int round = 0; round < 60000; ++round) {
    kai_queue a;
    kai_queue b;
    for (std::uint32_t r = 0; r < quota_dimensions; ++r) {
      a.shares[r] = random_kai_share(random);
      b.shares[r] = draw(random, 0, 2) == 0 ? a.shares[r] : random_kai_share(random);
    }
    if (round % 4 == 0) b.shares = a.shares;
    if (round % 8 == 0) b.shares[draw(random, 0, 2) == 0 ? 1 : 2].limit = static_cast<double>(draw(random, -1, 3));
    a.priority = draw(random, 1, 2);
    b.priority = draw(random, 0, 2) == 0 ? draw(random, 1, 2) : a.priority;
    a.created = draw(random, 1, 2);
    b.created = draw(random, 1, 2);
    const policy::kai_amounts job{small() - 1, small(), small()};
    const std::vector<policy::kai_amounts> victims(static_cast<std::size_t>(draw(random, 0, 2)), {1, 0, small()});
    const policy::kai_side left{&a, job, {}};
    const policy::kai_side right{&b, draw(random, 0, 1) == 0 ? job : policy::kai_amounts{1, 0, 1}, victims};
    const std::vector<double> x = compat_keys(left, total);
    const std::vector<double> y = compat_keys(right, total);
    int expected = x != y ? (x < y ? -1 : 1) : smaller_entitlement(a, b);
    if (expected == 0) expected = a.created < b.created ? -1 : 1;
    REQUIRE(policy::kai_compare_queues(left, right, total) == expected);
  }
}

TEST_CASE("compat: each rule decides where those before it are even") {
  const policy::kai_amounts total{10, 10, 10};
  const policy::kai_amounts job{1, 1, 1};
  const auto first = [&](const kai_queue& a, const kai_queue& b) {
    const int forwards = policy::kai_compare_queues({&a, job, {}}, {&b, job, {}}, total);
    CHECK(policy::kai_compare_queues({&b, job, {}}, {&a, job, {}}, total) == -forwards);
    return forwards == -1;
  };
  kai_queue a = plain_kai("a");
  kai_queue b = plain_kai("b");
  b.created = 1;
  CHECK(first(a, b));  // older
  a.shares[2].deserved = 5;
  CHECK_FALSE(first(a, b));  // the larger entitlement
  a.shares[2].deserved = 4;
  a.shares[0].allocated = 1;
  CHECK_FALSE(first(a, b));  // holds a larger part
  b.shares[0].fair_share = b.shares[0].deserved = 0;
  b.shares[0].limit = 0;
  b.shares[0].deserved = -1;
  CHECK(first(a, b));  // would hold what it has no share of
  b.priority = 200;
  CHECK_FALSE(first(a, b));
  a.shares[2].deserved = 0;  // within the quota no longer
  b.priority = 50;
  CHECK_FALSE(first(a, b));
  a.shares[2].deserved = 4;
  for (kai_share& s : b.shares) s.allocated = 5;  // over the fair share of all three
  b.priority = 200;
  CHECK(first(a, b));
  b.shares[1].allocated = 4;  // of two only
  for (kai_share& s : a.shares) s.deserved = 0;
  for (kai_share& s : b.shares) s.deserved = -1;
  CHECK_FALSE(first(a, b));
}

TEST_CASE("compat: of queues that nothing tells apart the right one is first, in both directions") {
  const kai_queue a = plain_kai("a");
  const kai_queue b = plain_kai("b");
  CHECK(policy::kai_compare_queues({&a}, {&b}, {9, 9, 9}) == 1);
  CHECK(policy::kai_compare_queues({&b}, {&a}, {9, 9, 9}) == 1);
}

TEST_CASE("compat: the part of the entitlement, with and without the next chunk and less what victims hold") {
  const policy::kai_amounts total{10, 10, 10};
  kai_queue a = plain_kai("a");
  kai_queue b = plain_kai("b");
  b.created = 1;
  for (kai_queue* q : {&a, &b}) {
    for (kai_share& s : q->shares) s.fair_share = 8;
  }
  const auto first = [&](const policy::kai_side& x, const policy::kai_side& y) {
    return policy::kai_compare_queues(x, y, total) == -1;
  };
  a.shares[0].allocated = 6;
  b.shares[1].allocated = 5;
  CHECK_FALSE(first({&a, {0, 0, 0}, {}}, {&b, {0, 0, 0}, {}}));
  const std::array<policy::kai_amounts, 2> leaving{{{1, 0, 0}, {1, 0, 0}}};
  CHECK(first({&a, {0, 0, 0}, leaving}, {&b, {0, 0, 0}, {}}));
  // With the chunk both hold 6 of 8; alone the second one holds less.
  CHECK_FALSE(first({&a, {0, 0, 0}, {}}, {&b, {0, 1, 0}, {}}));
  // Without a share the raw amount counts a thousandfold: 2 x 1000 against 6 / 8 of the other.
  for (kai_queue* q : {&a, &b}) {
    q->shares[2].deserved = -1;
    q->shares[2].limit = 0;
    q->shares[2].allocated = 1;
  }
  b.shares[2].allocated = 2;
  a.shares[0].allocated = 8000;
  CHECK(first({&a, {0, 0, 0}, {}}, {&b, {0, 0, 0}, {}}));  // 1000 each, then 1000 against 2000
  a.shares[0].allocated = 8 * 2001;
  CHECK_FALSE(first({&a, {0, 0, 0}, {}}, {&b, {0, 0, 0}, {}}));
  // Unlimited counts as the whole cluster.
  for (kai_queue* q : {&a, &b}) {
    for (kai_share& s : q->shares) s = {-1, -1, 1, 100, 0, 0, 0, 0};
  }
  a.shares[0].allocated = 5;
  b.shares[1].allocated = 4;
  CHECK_FALSE(first({&a, {0, 0, 0}, {}}, {&b, {0, 0, 0}, {}}));
  CHECK(policy::kai_compare_queues({&a, {0, 0, 0}, {}}, {&b, {0, 0, 0}, {}}, {20, 10, 10}) == -1);
}

TEST_CASE("compat: entitlements decide only where one is at most the other in every resource") {
  const policy::kai_amounts total{10, 10, 10};
  kai_queue a = plain_kai("a");
  kai_queue b = plain_kai("b");
  a.created = 1;
  const auto compare = [&] { return policy::kai_compare_queues({&a}, {&b}, total); };
  CHECK(compare() == 1);
  b.shares[1].limit = 3;
  CHECK(compare() == 1);
  a.shares[0].limit = 3;  // one is smaller in cpu, the other in memory: age decides
  CHECK(compare() == 1);
  b.created = 2;
  CHECK(compare() == -1);
  b.created = 0;
  a.shares[1].limit = 2;
  CHECK(compare() == -1);
  for (kai_share& s : a.shares) s = {-1, -1, 1, 100, 0, 0, 0, 4};  // unlimited is the largest
  CHECK(compare() == 1);
  b.created = 9;
  CHECK(compare() == 1);
  for (kai_share& s : b.shares) s = {-1, -1, 1, 100, 0, 0, 0, 4};
  CHECK(compare() == -1);  // both unlimited: age
}

}  // namespace of_test_mutants_order
