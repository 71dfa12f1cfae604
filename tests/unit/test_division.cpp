// Fair-share division in both arithmetics.
#include <numeric>
#include <random>

#include "policy/entitlement/divisor_division.hpp"
#include "policy/entitlement/kai_division.hpp"
#include "support.hpp"

namespace of_test_division {

using namespace kaisched;

namespace {

constexpr std::uint32_t gpu = 2;

struct spec {
  double weight = 1;
  double request = 1000;
  double deserved = 0;
  double limit = -1;
  std::int64_t priority = 100;
};

std::vector<double> kai(double total, const std::vector<spec>& specs, double k = 0) {
  std::vector<policy::kai_queue> queues(specs.size());
  std::vector<policy::kai_queue*> siblings;
  for (std::size_t i = 0; i < specs.size(); ++i) {
    queues[i].priority = specs[i].priority;
    queues[i].created = static_cast<std::int64_t>(i);
    queues[i].shares[gpu] = {specs[i].deserved, specs[i].limit, specs[i].weight, specs[i].request, 0, 0, 0, 0};
    siblings.push_back(&queues[i]);
  }
  policy::kai_divide(siblings, gpu, total, k);
  std::vector<double> shares;
  for (const auto& q : queues) shares.push_back(q.shares[gpu].fair_share);
  return shares;
}

std::vector<std::int64_t> exact(std::int64_t total, const std::vector<spec>& specs, std::int64_t unit = 1) {
  std::vector<policy::exact_queue> queues(specs.size());
  std::vector<policy::exact_queue*> siblings;
  for (std::size_t i = 0; i < specs.size(); ++i) {
    const auto whole = [](double x) { return static_cast<std::int64_t>(x); };
    queues[i].priority = specs[i].priority;
    queues[i].created = static_cast<std::int64_t>(i);
    queues[i].shares[gpu] = {whole(specs[i].deserved),
                             whole(specs[i].limit),
                             whole(specs[i].weight * 1000),
                             whole(specs[i].request),
                             0,
                             0,
                             0,
                             0};
    siblings.push_back(&queues[i]);
  }
  policy::divide_exactly(siblings, gpu, total, unit, 0);
  std::vector<std::int64_t> shares;
  for (const auto& q : queues) shares.push_back(q.shares[gpu].fair_share);
  return shares;
}

using doubles = std::vector<double>;
using integers = std::vector<std::int64_t>;

}  // namespace

TEST_CASE("compat: quotas, then weights, then remainders") {
  CHECK(kai(8, {{1, 6, 2}, {3, 6, 2}}) == doubles{3, 5});
  CHECK(kai(11, {{1, 10, 2}, {4, 10, 2}}) == doubles{3, 8});
  CHECK(kai(1000, {{1, 5000, 250}, {2, 5000, 150, 400}}) == doubles{600, 400});
}

TEST_CASE("compat keeps the defects of the reference") {
  CHECK(kai(1, {{1, 10, 0, -1, 2}, {1, 10, 0, -1, 2}, {1, 10, 0, -1, 1}}) == doubles{0, 0, 1});  // priority inversion
  CHECK(kai(3, {{1}, {3}, {3}}) == doubles{1, 1, 1});
  CHECK(kai(4, {{1}, {3}, {3}}) == doubles{0, 2, 2});  // one more takes one away
}

TEST_CASE("strict repairs them") {
  CHECK(exact(1, {{1, 10, 0, -1, 2}, {1, 10, 0, -1, 2}, {1, 10, 0, -1, 1}}) == integers{1, 0, 0});
  CHECK(exact(5, {{1, 10, 0, -1, 2}, {1, 10, 0, -1, 2}, {1, 10, 0, -1, 2}, {1, 10, 0, -1, 1}}) == integers{2, 2, 1, 0});
  CHECK(exact(3, {{1}, {3}, {3}}) == integers{1, 1, 1});
  CHECK(exact(4, {{1}, {3}, {3}}) == integers{1, 2, 1});
  CHECK(exact(22, {{2}, {2}, {5}, {2}, {5}}) == integers{3, 3, 7, 3, 6});
  CHECK(exact(10000, {{1, 5000, 5000}, {1, 5000, 5000}, {1, 5000, 5000}}) == integers{3334, 3333, 3333});
  CHECK(exact(8, {{1, 8, -1}, {1, 8, -1}}) == integers{4, 4});
}

TEST_CASE("strict: facts that hold for every division") {
  std::mt19937_64 random(7);
  const auto draw = [&](std::uint64_t n) { return static_cast<double>(random() % n); };
  for (int round = 0; round < 3000; ++round) {
    std::vector<spec> specs(2 + random() % 4);
    for (spec& s : specs) {
      s = {1 + draw(4), 1 + draw(12), draw(4), -1, 100};
      if (random() % 4 == 0) s.limit = draw(8);
    }
    const auto total = static_cast<std::int64_t>(random() % 40);
    const integers shares = exact(total, specs);
    const integers more = exact(total + 1, specs);
    std::int64_t sum = 0;
    bool hungry = false;
    for (std::size_t i = 0; i < specs.size(); ++i) {
      const double top = specs[i].limit < 0 ? specs[i].request : std::min(specs[i].limit, specs[i].request);
      CHECK(shares[i] <= static_cast<std::int64_t>(top));
      CHECK(more[i] >= shares[i]);
      sum += shares[i];
      hungry = hungry || shares[i] < static_cast<std::int64_t>(top);
    }
    CHECK(sum <= total);
    if (hungry) CHECK(sum == total);
  }
}

TEST_CASE("strict: long runs of units equal unit by unit") {
  const std::vector<spec> specs{{1, 1e9}, {2.5, 7e8}, {7, 1e6}, {0.125, 1e9}};
  const integers large = exact(1'000'000'000, specs);
  CHECK(std::accumulate(large.begin(), large.end(), std::int64_t{0}) == 1'000'000'000);
  CHECK(large[2] == 1'000'000);
  CHECK(large[1] > large[0] * 2);
  const integers units = exact(7300, {{1, 5000}, {1, 2600}}, 1000);
  CHECK(units == integers{4700, 2600});
}

}  // namespace of_test_division
