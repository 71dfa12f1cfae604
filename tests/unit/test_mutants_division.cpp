// Fair-share division: strict against one unit at a time, compat against results worked out by hand.
#include <numeric>
#include <random>
#include <set>

#include "base/int128.hpp"
#include "policy/entitlement/divisor_division.hpp"
#include "policy/entitlement/kai_division.hpp"
#include "support.hpp"

namespace of_test_mutants_division {

using namespace kaisched;
using base::int128;
using policy::exact_queue;
using policy::exact_share;
using policy::kai_queue;
using policy::kai_share;
using integers = std::vector<std::int64_t>;
using doubles = std::vector<double>;

namespace {

constexpr std::uint32_t gpu = 2;
constexpr std::array<std::string_view, 6> names{"a", "b", "c", "d", "e", "f"};

// ---- strict, one unit at a time
// --------------------------------------------------------------------------------------
struct claim {
  const exact_queue* queue;
  std::int64_t wanted;
  std::int64_t given = 0;
  std::int64_t units = 0;
};

/// `pull` of a claim, given all that are still hungry.
template <class Pull>
std::int64_t one_by_one(std::vector<claim>& claims, std::int64_t unit, std::int64_t total, Pull pull) {
  while (total > 0) {
    std::vector<claim*> hungry;
    for (claim& c : claims) {
      if (c.given < c.wanted) hungry.push_back(&c);
    }
    claim* best = nullptr;
    for (claim* c : hungry) {
      const int128 own = pull(*c, hungry);
      if (own <= 0) continue;
      if (best == nullptr) {
        best = c;
        continue;
      }
      const int128 x = own * (2 * best->units + 1);
      const int128 y = pull(*best, hungry) * (2 * c->units + 1);
      const auto age = [](const claim* q) { return std::pair(q->queue->created, q->queue->uid); };
      if (x > y || (x == y && age(c) < age(best))) best = c;
    }
    if (best == nullptr) break;
    const std::int64_t amount = std::min({unit, total, best->wanted - best->given});
    best->given += amount;
    ++best->units;
    total -= amount;
  }
  return total;
}

std::int64_t divide_slowly(std::vector<exact_queue>& queues, std::int64_t total, std::int64_t unit, std::int64_t k) {
  std::vector<claim> quotas;
  std::int64_t sum = 0;
  const auto quota = [whole = total](const exact_queue& q) {
    return q.shares[gpu].deserved == unlimited ? whole : q.shares[gpu].deserved;
  };
  for (const exact_queue& q : queues) {
    quotas.push_back({&q, std::min(quota(q), q.shares[gpu].requestable())});
    sum += quotas.back().wanted;
  }
  if (sum <= total) {
    for (claim& c : quotas) c.given = c.wanted;
    total -= sum;
  } else {
    total = one_by_one(quotas, unit, total, [&](const claim& c, const auto&) -> int128 { return quota(*c.queue); });
  }
  for (std::size_t i = 0; i < queues.size(); ++i) queues[i].shares[gpu].fair_share += quotas[i].given;
  std::set<std::int64_t, std::greater<>> priorities;
  for (const exact_queue& q : queues) priorities.insert(q.priority);
  for (const std::int64_t priority : priorities) {
    std::vector<claim> band;
    for (const exact_queue& q : queues) {
      const exact_share& s = q.shares[gpu];
      if (q.priority == priority) band.push_back({&q, s.requestable() - s.fair_share});
    }
    total = one_by_one(band, unit, total, [&](const claim& c, const std::vector<claim*>& hungry) -> int128 {
      int128 weights = 0;
      for (const claim* h : hungry) weights += h->queue->shares[gpu].weight;
      const auto moved = [&](const claim& x) {
        const exact_share& s = x.queue->shares[gpu];
        return static_cast<int128>(s.weight) * (1000 + k) * 1'000'000 - weights * k * s.usage;
      };
      const bool any = std::any_of(hungry.begin(), hungry.end(), [&](const claim* h) { return moved(*h) > 0; });
      return any ? moved(c) : c.queue->shares[gpu].weight;
    });
    for (const claim& c : band) {
      for (exact_queue& q : queues) {
        if (&q == c.queue) q.shares[gpu].fair_share += c.given;
      }
    }
  }
  return total;
}

std::int64_t divide(std::vector<exact_queue>& queues, std::int64_t total, std::int64_t unit, std::int64_t k) {
  std::vector<exact_queue*> siblings;
  for (exact_queue& q : queues) siblings.push_back(&q);
  return policy::divide_exactly(siblings, gpu, total, unit, k);
}

integers shares_of(const std::vector<exact_queue>& queues) {
  integers shares;
  for (const exact_queue& q : queues) shares.push_back(q.shares[gpu].fair_share);
  return shares;
}

struct wish {
  std::int64_t deserved = 0;
  std::int64_t request = 1'000'000;
  std::int64_t weight = 1000;  ///< thousandths
  std::int64_t usage = 0;      ///< millionths
  std::int64_t limit = unlimited;
};

integers strict(std::int64_t total, const std::vector<wish>& wishes, std::int64_t k = 0, std::int64_t unit = 1,
                std::int64_t* rest = nullptr) {
  std::vector<exact_queue> queues(wishes.size());
  for (std::size_t i = 0; i < wishes.size(); ++i) {
    queues[i].uid = names[i];
    queues[i].shares[gpu] = {
        wishes[i].deserved, wishes[i].limit, wishes[i].weight, wishes[i].request, 0, 0, wishes[i].usage, 0};
  }
  const std::int64_t left = divide(queues, total, unit, k);
  if (rest != nullptr) *rest = left;
  return shares_of(queues);
}

// ---- compat
// ----------------------------------------------------------------------------------------------------------
struct kai_wish {
  double deserved = 0;
  double request = 1000;
  double weight = 1;
  double usage = 0;
  double limit = -1;
  std::int64_t created = 0;
  std::int64_t priority = 100;
  std::string_view uid{};  ///< empty: by position
};

doubles compat(double total, const std::vector<kai_wish>& wishes, double k = 0, double* rest = nullptr) {
  std::vector<kai_queue> queues(wishes.size());
  std::vector<kai_queue*> siblings;
  for (std::size_t i = 0; i < wishes.size(); ++i) {
    const kai_wish& w = wishes[i];
    queues[i].uid = w.uid.empty() ? names[i] : w.uid;
    queues[i].created = w.created;
    queues[i].priority = w.priority;
    queues[i].shares[gpu] = {w.deserved, w.limit, w.weight, w.request, 0, 0, w.usage, 0};
    siblings.push_back(&queues[i]);
  }
  const double left = policy::kai_divide(siblings, gpu, total, k);
  if (rest != nullptr) *rest = left;
  doubles shares;
  for (const kai_queue& q : queues) shares.push_back(q.shares[gpu].fair_share);
  return shares;
}

}  // namespace

TEST_CASE("strict: history that leaves one queue the least claim that there is gives that queue everything") {
  // w (1000 + k) 10^6 - W k u = 1 1001 10^6 - 89 1 11247191 = 1; the other queue has used more than its claim.
  CHECK(strict(10, {{0, 100, 1, 11'247'191}, {0, 100, 88, 1'000'000'000'000}}, 1) == integers{10, 0});
}

TEST_CASE("strict equals one unit at a time, with quotas, limits, priorities, history and units of any size") {
  std::mt19937_64 random(17);
  const auto draw = [&](std::int64_t least, std::int64_t most) {
    return least + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(most - least + 1));
  };
  for (int round = 0; round < 6000; ++round) {
    std::vector<exact_queue> queues(static_cast<std::size_t>(draw(1, 5)));
    for (std::size_t i = 0; i < queues.size(); ++i) {
      exact_queue& q = queues[i];
      q.uid = names[queues.size() - 1 - i];
      q.created = draw(0, 1);
      q.priority = draw(0, 3) == 0 ? 200 : 100;
      exact_share& s = q.shares[gpu];
      s.deserved = draw(0, 1) == 0 ? 0 : draw(-1, 12);
      s.limit = draw(0, 3) == 0 ? draw(0, 15) : unlimited;
      s.weight = draw(0, 3) * 1000;
      s.request = draw(0, 30);
      s.usage = draw(0, 1) == 0 ? 0 : draw(0, 1'500'000);
    }
    std::vector<exact_queue> slow = queues;
    const std::int64_t total = draw(0, 50);
    const std::int64_t unit = draw(0, 1) == 0 ? 1 : draw(2, 5);
    const std::int64_t k = draw(0, 1) == 0 ? 0 : draw(1, 3000);
    const std::int64_t left = divide(queues, total, unit, k);
    REQUIRE(left == divide_slowly(slow, total, unit, k));
    REQUIRE(shares_of(queues) == shares_of(slow));
  }
}

TEST_CASE("strict: with a log, which divides in rounds, the shares are the same") {
  std::mt19937_64 random(23);
  const auto draw = [&](std::int64_t least, std::int64_t most) {
    return least + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(most - least + 1));
  };
  for (int round = 0; round < 300; ++round) {
    const std::int64_t most = std::int64_t{1} << draw(3, 50);
    const std::int64_t heaviest = draw(0, 4) == 0 ? 1'000'000'000'000 : 5000;  // pulls are rounded, or not
    std::vector<std::string> uids;
    for (int i = 0; i < 60; ++i) uids.push_back("q" + std::to_string(i));
    std::vector<exact_queue> queues(uids.size());
    for (std::size_t i = 0; i < queues.size(); ++i) {
      exact_queue& q = queues[i];
      q.uid = uids[i];
      q.created = draw(0, 2);
      q.priority = draw(0, 9) == 0 ? 200 : 100;
      exact_share& s = q.shares[gpu];
      s.deserved = draw(0, 1) == 0 ? 0 : draw(-1, most);
      s.limit = draw(0, 3) == 0 ? draw(0, most) : unlimited;
      s.weight = draw(0, heaviest);
      s.request = draw(0, 1) == 0 ? draw(0, 10) : draw(0, most);
      s.usage = round % 3 == 0 ? draw(0, 100'000) : 0;
    }
    std::vector<exact_queue> logged = queues;
    std::vector<exact_queue*> siblings;
    for (exact_queue& q : logged) siblings.push_back(&q);
    policy::exact_share_log log;
    const std::int64_t total = draw(0, 20 * most);
    const std::int64_t unit = draw(0, 1) == 0 ? 1 : 1000;
    const std::int64_t left = divide(queues, total, unit, 1000);
    REQUIRE(left == policy::divide_exactly(siblings, gpu, total, unit, 1000, &log));
    REQUIRE(shares_of(queues) == shares_of(logged));
  }
}

TEST_CASE("strict: what nobody wants is returned, what is not there is not divided") {
  std::int64_t rest = 0;
  CHECK(strict(10, {{0, 3}, {0, 4}}, 0, 1, &rest) == integers{3, 4});
  CHECK(rest == 3);
  CHECK(strict(-5, {{2, 3}, {0, 4}}, 0, 1, &rest) == integers{0, 0});
  CHECK(rest == 0);
  CHECK(strict(10, {{0, 9, 0}, {2, 9, 0}}, 0, 1, &rest) == integers{0, 2});  // weight 0: the quota only
  CHECK(rest == 8);
  CHECK(strict(8, {{2, 4}, {6, 9}}, 0, 1, &rest) == integers{2, 6});
  CHECK(rest == 0);
}

TEST_CASE("strict: amounts near the end of 64 bits") {
  constexpr std::int64_t huge = std::int64_t{1} << 61;
  std::int64_t rest = 0;
  // Quotas beyond 2^60 pull with 2^60: oversold, both get half.
  CHECK(strict(huge, {{huge, huge}, {huge, huge}}, 0, 1, &rest) == integers{huge / 2, huge / 2});
  CHECK(rest == 0);
  CHECK(strict(huge, {{unlimited, huge}, {unlimited, huge}}) == integers{huge / 2, huge / 2});
  CHECK(strict(huge, {{0, huge, 1000}, {0, huge, 3000}}) == integers{huge / 4, huge / 4 * 3});
  // Weights so large that history lifts them beyond 64 bits keep their relation.
  constexpr std::int64_t heavy = 1'000'000'000'000'000;
  for (const std::int64_t k : {0, 500}) {
    CHECK(strict(100, {{0, 1000, 3 * heavy}, {0, 1000, heavy}}, k) ==
          strict(100, {{0, 1000, 3000}, {0, 1000, 1000}}, k));
    CHECK(strict(100, {{0, 1000, heavy, 250'000}, {0, 1000, heavy}}, k) ==
          strict(100, {{0, 1000, 1000, 250'000}, {0, 1000, 1000}}, k));
  }
}

TEST_CASE("history moves the weights: w + k (w - usage)") {
  // Half each by weight; one has used half of the cluster: 1/2 + (1/2 - 1/2) against 1/2 + 1/2.
  CHECK(strict(9, {{0, 99, 1000, 500'000}, {0, 99, 1000}}, 1000) == integers{3, 6});
  CHECK(compat(9, {{0, 99, 1, 0.5}, {0, 99, 1}}, 1) == doubles{3, 6});
  CHECK(strict(9, {{0, 99, 1000, 500'000}, {0, 99, 1000}}, 0) == integers{5, 4});
  CHECK(compat(8, {{0, 99, 1, 0.5}, {0, 99, 1}}, 0) == doubles{4, 4});
  // Nothing is left of the first one; the second one takes all.
  CHECK(strict(9, {{0, 99, 1000, 2'000'000}, {0, 99, 1000}}, 1000) == integers{0, 9});
  CHECK(compat(9, {{0, 99, 1, 2}, {0, 99, 1}}, 1) == doubles{0, 9});
  // Nothing is left of anybody: strict divides by weight, compat not at all.
  CHECK(strict(9, {{0, 99, 1000, 2'000'000}, {0, 99, 2000, 2'000'000}}, 1000) == integers{3, 6});
  double rest = 0;
  CHECK(compat(9, {{0, 99, 1, 2}, {0, 99, 2, 2}}, 1, &rest) == doubles{0, 0});
  CHECK(rest == 9);
}

TEST_CASE("strict: a tree asks for what its leaves may hold and divides level by level") {
  std::vector<exact_queue> queues(6);
  // 0 root with 1 and 2; 2 with 3 and 4; 5 another root.
  const std::array<std::uint32_t, 6> parents{no_row, 0, 0, 2, 2, no_row};
  for (std::size_t i = 0; i < queues.size(); ++i) {
    queues[i].uid = names[i];
    queues[i].parent = parents[i];
    for (exact_share& s : queues[i].shares) s = {0, unlimited, 1000, 0, 0, 0, 0, 77};  // old shares are forgotten
  }
  const auto ask = [&](std::size_t q, std::int64_t amount, std::int64_t limit) {
    for (exact_share& s : queues[q].shares) {
      s.request = amount;
      s.limit = limit;
    }
  };
  ask(0, 9999, unlimited);  // of no effect: 1, 3 and 4 decide
  ask(1, 2, unlimited);
  ask(3, 9, 3);
  ask(4, 9, unlimited);
  ask(5, 20, unlimited);
  policy::divide_tree_exactly(queues, {40, 12, 6000}, 0);
  const auto share = [&](std::uint32_t r) {
    integers all;
    for (const exact_queue& q : queues) all.push_back(q.shares[r].fair_share);
    return all;
  };
  CHECK(share(0) == integers{14, 2, 12, 3, 9, 20});
  CHECK(share(1) == integers{6, 2, 4, 2, 2, 6});
  // GPUs come in whole devices: all of the few that are wanted.
  CHECK(share(2) == integers{14, 2, 12, 3, 9, 20});
  for (exact_queue& q : queues) q.shares[2].limit = unlimited;
  for (const std::size_t q : {1U, 3U, 4U, 5U}) queues[q].shares[2].request = 5000;
  policy::divide_tree_exactly(queues, {0, 0, 7000}, 0);
  CHECK(share(2) == integers{4000, 2000, 2000, 1000, 1000, 3000});
  CHECK(share(0) == integers{0, 0, 0, 0, 0, 0});
}

TEST_CASE("compat: what a queue does not want goes to the others") {
  double rest = 0;
  CHECK(compat(9, {{0, 1}, {0, 10}, {0, 10}}, 0, &rest) == doubles{1, 4, 4});
  CHECK(rest == 0);
  CHECK(compat(20, {{0, 1}, {0, 4}, {0, 10, 1, 0, 6}}, 0, &rest) == doubles{1, 4, 6});
  CHECK(rest == 9);
  CHECK(compat(10, {{0, 10, 0}, {1, 10, 0}}, 0, &rest) == doubles{0, 1});  // weight 0
  CHECK(rest == 9);
  CHECK(compat(8, {{6}, {6}}, 0, &rest) == doubles{6, 6});  // oversold quotas are given in full
  CHECK(rest == 0);
  CHECK(compat(8, {{-1, 5}, {-1, 7}}, 0, &rest) == doubles{5, 7});
  CHECK(compat(8, {{3, 2}, {4, 9, 1, 0, 2}}, 0, &rest) == doubles{2, 2});
  CHECK(rest == 4);
}

TEST_CASE("compat: remainders go by size, then to the older queue, then by name, and a limit does not stop them") {
  CHECK(compat(8, {{}, {}, {}}) == doubles{3, 3, 2});
  CHECK(compat(8, {{0, 1000, 1, 0, -1, 5}, {}, {}}) == doubles{2, 3, 3});
  CHECK(compat(4, {{0, 1000, 2}, {0, 1000, 2}, {0, 1000, 3}}) == doubles{1, 1, 2});
  CHECK(compat(2.5, {{}, {}}) == doubles{1.5, 1});
  CHECK(compat(3, {{0, 9, 1, 0, -1, 0, 100, "z"}, {0, 9, 1, 0, -1, 0, 100, "y"}}) == doubles{1, 2});
  const doubles beyond = compat(4.8, {{0, 1000, 1, 0, 2.5}, {}});
  CHECK(beyond[0] > 2.5);
  CHECK(beyond[1] == 2);
  CHECK(compat(5, {{0, 9}, {0, 9, 1, 0, 3, 0, 200}}) == doubles{2, 3});
  // Bands: the higher one first, remainders of both at the end.
  CHECK(compat(5, {{0, 2, 1, 0, -1, 0, 900}, {}, {0, 1000, 1, 0, -1, 1}}) == doubles{2, 2, 1});
}

TEST_CASE("compat: a remainder stays parked though a later round comes out even") {
  // Round 1 cuts 7 into 2.33: the first one takes its 1, the others 2 and park 0.33. Round 2 cuts the 2 left into 1
  // and 1. What a later round adds does not clear what was parked, and there is nothing left to hand out.
  double rest = 1;
  CHECK(compat(7, {{0, 1}, {0, 10}, {0, 10}}, 0, &rest) == doubles{1, 3, 3});
  CHECK(rest == 0);
  // The first one is satisfied at once, the second one in round 2: what it had parked (3/4) is forgotten, and the last
  // unit goes to the older of the two that still want (1/2 each).
  CHECK(compat(11, {{0, 1}, {0, 3}, {0, 10}, {0, 10}}) == doubles{1, 3, 4, 3});
  // Round 1 cuts 3 into 1.2, 0.6 and 1.2: the first one gets 1 and parks 0.2, the second one parks 0.6. Round 2 cuts
  // the 1 that the third one left over into 2/3 and 1/3: these are parked instead, and the unit goes to the first one.
  CHECK(compat(3, {{0, 3, 2}, {0, 10, 1}, {0, 1, 2}}) == doubles{2, 0, 1});
  // Parked in both rounds is parked once: of the last two units nobody gets two.
  CHECK(compat(3, {{0, 1, 2}, {0, 10}, {0, 10}, {0, 10}}) == doubles{1, 1, 1, 0});
  // The first one parks 0.75 and is satisfied in round 2: nothing is parked any more.
  CHECK(compat(3, {{0, 1, 1}, {0, 1, 3}}, 0, &rest) == doubles{1, 1});
  CHECK(rest == 1);
  // Once a queue is satisfied its remainder is dropped: the last unit goes to the one that still wants.
  CHECK(compat(8, {{0, 1}, {0, 3}, {0, 10}}, 0, &rest) == doubles{1, 3, 4});
  CHECK(rest == 0);
}

TEST_CASE("compat: a tree divides the parent's share, whatever the children may hold") {
  std::vector<kai_queue> queues(4);
  const std::array<std::uint32_t, 4> parents{no_row, 0, 0, no_row};
  for (std::size_t i = 0; i < queues.size(); ++i) {
    queues[i].uid = names[i];
    queues[i].parent = parents[i];
    for (kai_share& s : queues[i].shares) s = {0, -1, 1, 10, 0, 0, 0, 77};
  }
  for (kai_share& s : queues[1].shares) s.request = 1;
  queues[3].shares[1].weight = 3;
  policy::kai_divide_tree(queues, {8, 8, 30}, 0);
  const auto share = [&](std::uint32_t r) {
    doubles all;
    for (const kai_queue& q : queues) all.push_back(q.shares[r].fair_share);
    return all;
  };
  CHECK(share(0) == doubles{4, 1, 3, 4});
  CHECK(share(1) == doubles{2, 1, 1, 6});
  CHECK(share(2) == doubles{10, 1, 9, 10});
}

}  // namespace of_test_mutants_division
