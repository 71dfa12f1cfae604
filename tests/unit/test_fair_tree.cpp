#include <array>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include <doctest/doctest.h>

#include "policy/ordering/fair_tree.hpp"
#include "policy/ordering/whole_sum.hpp"

namespace of_test_fair_tree {

namespace {

using namespace kaisched::policy;
using ranks = std::vector<std::uint32_t>;
constexpr std::uint32_t top = fair_tree_node::none;

ranks ranked(const std::vector<fair_tree_node>& nodes) { return fair_tree_ranks(nodes); }

std::int64_t sum_of(const std::vector<summand>& all) { return whole_sum(all); }

}  // namespace

TEST_CASE("fair tree: nobody below the account that has used more passes one below the other") {
  // Equal shares, usage .75 and .25: level fairness .667 and 2. The factors are rank / 3.
  CHECK(ranked({{top, 1, 75}, {top, 1, 25}, {0, 1, 75}, {1, 1, 5}, {1, 1, 20}}) == ranks{0, 0, 1, 3, 2});
  // The same, however little the only user of the first one used in its own account.
  CHECK(ranked({{top, 1, 75}, {top, 1, 25}, {0, 1, 0}, {1, 1, 25}, {1, 1, 25}}) == ranks{0, 0, 1, 3, 3});
}

TEST_CASE("fair tree: equal siblings are tied") {
  // Leaves.
  CHECK(ranked({{top, 1, 1}, {top, 2, 2}, {top, 1, 2}}) == ranks{3, 3, 1});
  // Inner nodes: their children are ranked together.
  CHECK(ranked({{top, 1, 10}, {top, 1, 10}, {0, 1, 1}, {0, 1, 9}, {1, 1, 3}, {1, 1, 7}}) == ranks{0, 0, 4, 1, 3, 2});
  // A leaf beside an inner node has the rank of the first leaf below that.
  CHECK(ranked({{top, 1, 10}, {top, 1, 10}, {0, 1, 4}, {0, 1, 6}}) == ranks{0, 3, 3, 1});
}

TEST_CASE("fair tree: without usage at first, without shares at last") {
  CHECK(ranked({{top, 0, 0}, {top, 1, 0}, {top, 5, 1}, {top, 0, 7}}) == ranks{2, 4, 3, 2});
  // Nobody has used anything.
  CHECK(ranked({{top, 1, 0}, {top, 9, 0}}) == ranks{2, 2});
  CHECK(ranked({{top, 0, 0}}) == ranks{1});
  CHECK(ranked({}).empty());
}

TEST_CASE("fair tree: fractions that differ in the last digit are told apart") {
  constexpr std::int64_t most = std::int64_t{1} << 40;
  CHECK(ranked({{top, most, most}, {top, most - 1, most}, {top, most, most - 1}}) == ranks{2, 1, 3});
  // Cousins below tied parents compare by their own levels: 1 and 1 - 1/most^2 nearly.
  CHECK(ranked({{top, 1, 1}, {top, 1, 1}, {0, most, most}, {0, most, most}, {1, most - 1, most}, {1, most, most}}) ==
        ranks{0, 0, 3, 3, 1, 4});
}

TEST_CASE("fair tree: trees may be deep") {
  std::vector<fair_tree_node> chain(100'000);
  for (std::uint32_t i = 1; i < chain.size(); ++i) chain[i].parent = i - 1;
  CHECK(ranked(chain).back() == 1);
}

TEST_CASE("whole sum: thirds make one") {
  CHECK(sum_of({}) == 0);
  CHECK(sum_of({{7, 2}}) == 3);
  CHECK(sum_of({{1, 3}, {2, 3}}) == 1);
  CHECK(sum_of({{1, 3}, {1, 3}}) == 0);
  CHECK(sum_of({{10, 3}, {1, 6}, {1, 2}}) == 4);
  CHECK(sum_of(std::vector<summand>(8, {7, 8})) == 7);
}

TEST_CASE("whole sum: a hair below an integer is not one") {
  constexpr std::int64_t most = 9223372036854775807;  // 2^63 - 1
  CHECK(sum_of({{most - 1, most}, {1, most}}) == 1);
  CHECK(sum_of({{most - 2, most}, {1, most - 1}}) == 0);  // short of one by less than 2^-125
  CHECK(sum_of({{most - 1, most}, {1, most - 1}}) == 1);
  CHECK(sum_of({{most - 2, most - 1}, {1, most}}) == 0);
}

TEST_CASE("whole sum: as by a common denominator") {
  std::mt19937 dice(1);  // NOLINT: the same cases every time
  const auto draw = [&](std::int64_t below) { return static_cast<std::int64_t>(dice()) % below; };
  for (int round = 0; round < 2000; ++round) {
    std::vector<summand> all;
    kaisched::base::int128 over = 0;
    kaisched::base::int128 under = 1;
    for (std::int64_t i = draw(6); i > 0; --i) {
      const std::int64_t a = draw(2000);
      const std::int64_t b = 1 + draw(1000);
      all.push_back({a, b});
      over = over * b + a * under;
      under *= b;
    }
    CHECK(whole_sum(all) == static_cast<std::int64_t>(over / under));
  }
}

}  // namespace of_test_fair_tree
