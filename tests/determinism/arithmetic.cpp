// Division, orders and scores on random figures, with the bits of every result: what rounds another way shows here even
// where no decision depends on it.
#include <array>
#include <bit>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "determinism/plays.hpp"
#include "oracle/random_cluster.hpp"
#include "policy/entitlement/divisor_division.hpp"
#include "policy/entitlement/kai_division.hpp"
#include "policy/ordering/exact_queue_order.hpp"
#include "policy/ordering/kai_queue_order.hpp"
#include "policy/parts.hpp"

namespace kaisched::determinism {

namespace {

constexpr int trees = 2000;

void append(std::string& bytes, std::int64_t value) {
  for (int shift = 0; shift < 64; shift += 8) {
    bytes.push_back(static_cast<char>(static_cast<std::uint64_t>(value) >> static_cast<unsigned>(shift) & 0xFFU));
  }
}
void append(std::string& bytes, double value) { append(bytes, std::bit_cast<std::int64_t>(value)); }

/// A number with many digits, as a part of `most`.
double part(std::mt19937_64& random, double most) {
  return static_cast<double>(random() >> 11U) / 9007199254740992.0 * most;
}

/// Tenths: what should come out whole comes out just below or above it, and rounding down then shows one bit.
double tenths(std::mt19937_64& random, std::uint64_t most) { return static_cast<double>(random() % (most * 10)) / 10; }

/// Up to 12 queues below each other, parents first. With `round` figures amounts, weights and usage are tenths.
std::vector<policy::kai_queue> random_tree(std::mt19937_64& random, const std::vector<std::string>& names, bool round) {
  std::vector<policy::kai_queue> queues(2 + random() % 11);
  for (std::size_t i = 0; i < queues.size(); ++i) {
    policy::kai_queue& q = queues[i];
    q.uid = names[i];
    q.parent = i < 3 || random() % 3 == 0 ? no_row : static_cast<std::uint32_t>(random() % i);
    q.priority = 100 + static_cast<std::int64_t>(random() % 2);
    q.created = static_cast<std::int64_t>(random() % 3);
    for (policy::kai_share& s : q.shares) {
      s.deserved = random() % 4 == 0 ? -1 : static_cast<double>(random() % 8);
      s.limit = random() % 3 == 0 ? part(random, 20) : -1;
      s.weight = random() % 8 == 0 ? 0 : part(random, 4);
      s.request = random() % 2 == 0 ? static_cast<double>(random() % 30) : part(random, 30);
      s.usage = random() % 2 == 0 ? part(random, 1) : 0;
      if (!round) continue;
      s.deserved = 0;
      s.limit = -1;
      s.weight = tenths(random, 1);
      s.request = static_cast<double>(random() % 2000);
      s.usage = tenths(random, 1);
    }
  }
  return queues;
}

std::vector<policy::exact_queue> in_integers(const std::vector<policy::kai_queue>& queues) {
  const auto fixed = [](double amount) { return amount == -1 ? unlimited : static_cast<std::int64_t>(amount * 1000); };
  std::vector<policy::exact_queue> all(queues.size());
  for (std::size_t i = 0; i < queues.size(); ++i) {
    all[i].uid = queues[i].uid;
    all[i].parent = queues[i].parent;
    all[i].priority = queues[i].priority;
    all[i].created = queues[i].created;
    for (std::size_t r = 0; r < quota_dimensions; ++r) {
      const policy::kai_share& s = queues[i].shares[r];
      all[i].shares[r] = {
          fixed(s.deserved), fixed(s.limit), fixed(s.weight), fixed(s.request), 0, 0, fixed(s.usage), 0};
    }
  }
  return all;
}

struct queue_bytes {
  std::string kai_shares, kai_order, exact_shares, exact_order;
};

/// What queues hold and ask for next; halves and thirds of their shares, so that parts of entitlements are often equal.
void compare_all(std::mt19937_64& random, std::vector<policy::kai_queue>& kai, std::vector<policy::exact_queue>& exact,
                 queue_bytes& bytes) {
  std::vector<policy::kai_side> kai_sides;
  std::vector<policy::exact_side> exact_sides;
  for (std::size_t i = 0; i < kai.size(); ++i) {
    kai_sides.push_back({&kai[i], {}, {}});
    exact_sides.push_back({&exact[i], {}});
    for (std::size_t r = 0; r < quota_dimensions; ++r) {
      const auto divisor = static_cast<double>(2 + random() % 2);
      kai[i].shares[r].allocated = kai[i].shares[r].fair_share / divisor;
      kai_sides.back().job[r] = kai[i].shares[r].fair_share / 7;
      exact[i].shares[r].allocated = exact[i].shares[r].fair_share / static_cast<std::int64_t>(divisor);
      exact_sides.back().job[r] = static_cast<std::int64_t>(random() % 2000);
    }
  }
  for (const policy::kai_side& a : kai_sides) {
    for (const policy::kai_side& b : kai_sides) {
      bytes.kai_order += policy::kai_compare_queues(a, b, {24.5, 24, 24.25}) < 0 ? '<' : '>';
    }
  }
  for (const policy::exact_side& a : exact_sides) {
    for (const policy::exact_side& b : exact_sides) {
      bytes.exact_order += policy::exact_serves_before(a, b, {24500, 24000, 24250}) ? '<' : '>';
    }
  }
}

queue_bytes queues_in_numbers() {
  std::mt19937_64 random(2026);
  queue_bytes bytes;
  std::vector<std::string> names;
  names.reserve(13);
  for (int i = 0; i < 13; ++i) names.push_back("q" + std::to_string(i));
  for (int i = 0; i < trees; ++i) {
    const bool round = i % 2 == 1;
    std::vector<policy::kai_queue> kai = random_tree(random, names, round);
    std::vector<policy::exact_queue> exact = in_integers(kai);
    const std::array<double, quota_dimensions> total = round ? std::array<double, quota_dimensions>{100, 1000, 30}
                                                             : std::array<double, quota_dimensions>{24.5, 24, 24.25};
    policy::kai_divide_tree(kai, total, round ? tenths(random, 2) : part(random, 2));
    policy::divide_tree_exactly(exact, {24500, 24000, 24250}, static_cast<std::int64_t>(random() % 2000));
    for (const policy::kai_queue& q : kai) {
      for (const policy::kai_share& s : q.shares) append(bytes.kai_shares, s.fair_share);
    }
    for (const policy::exact_queue& q : exact) {
      for (const policy::exact_share& s : q.shares) append(bytes.exact_shares, s.fair_share);
    }
    compare_all(random, kai, exact, bytes);
  }
  return bytes;
}

/// Bits of the sums of all scoring parts, for every pod of some random clusters on every node.
std::string scores(std::uint64_t number) {
  std::string bytes;
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    test::seeded_dice d(seed);
    const snapshot base = build(test::random_cluster(d, {12, 20}).tables()).take_snapshot();
    const policy_options options = variant(number);
    const session s = must(engine(options).open(base, 0));
    std::vector<node_row> nodes(base.count(entity_kind::node));
    for (node_row n = 0; n < nodes.size(); ++n) nodes[n] = n;
    std::vector<std::unique_ptr<policy_part>> parts;
    for (const policy::part_entry& part : policy::built_in_parts()) {
      std::unique_ptr<policy_part> one = part.make(options);
      if ((one->capabilities() & part_scores_nodes) != 0) parts.push_back(std::move(one));
    }
    for (pod_row p = 0; p < base.count(entity_kind::pod); ++p) {
      std::vector<double> sums(nodes.size(), 0.0);
      for (const std::unique_ptr<policy_part>& one : parts) must(one->score_nodes(s.view(), p, nodes, sums));
      for (const double sum : sums) append(bytes, sum);
    }
  }
  return bytes;
}

}  // namespace

std::vector<std::string> arithmetic() {
  const queue_bytes queues = queues_in_numbers();
  std::vector<std::string> lines{"bits of shares, compat " + sha256_of(queues.kai_shares),
                                 "order of queues, compat " + sha256_of(queues.kai_order),
                                 "shares, strict " + sha256_of(queues.exact_shares),
                                 "order of queues, strict " + sha256_of(queues.exact_order)};
  for (std::uint64_t v = 0; v < variants; ++v) {
    lines.push_back("bits of scores, variant " + std::to_string(v) + " " + sha256_of(scores(v)));
  }
  return lines;
}

}  // namespace kaisched::determinism
