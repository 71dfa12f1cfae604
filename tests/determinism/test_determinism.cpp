// What must not matter: how often and beside which other engine something is decided, and in which order its rows came.
#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "determinism/plays.hpp"
#include "determinism/rows_of_tables.hpp"

using namespace kaisched;
using namespace kaisched::determinism;

namespace {

#if defined(KAISCHED_FEW_CASES)  // of a build with sanitizers, where each takes a hundred times as long
constexpr std::uint64_t sampled_inputs = 40;
constexpr std::uint64_t large_inputs_between = 4;
#else
constexpr std::uint64_t sampled_inputs = 200;
constexpr std::uint64_t large_inputs_between = 1;
#endif

/// Every input with a number of its own; random ones in samples.
void for_inputs(const std::function<void(const input&, std::uint64_t)>& visit) {
  std::uint64_t number = 0;
  for (const input& from : large_inputs()) {
    if (number % large_inputs_between == 0) visit(from, number);
    ++number;
  }
  for (std::uint64_t seed = 1000; seed < 1000 + sampled_inputs; ++seed) visit(random_input(seed), seed);
}

std::string decided(const snapshot& base, const input& from, std::uint64_t number) {
  return must(engine(variant(number)).run(base, from.now)).digest();
}

/// The cluster of a snapshot, made of many small deltas in another order.
snapshot rebuilt_in_pieces(const snapshot& from, std::uint64_t seed) {
  cluster c;
  for (const table_info& info : schema()) {
    if (!info.input) continue;
    std::vector<table> whole;
    whole.push_back(must(from.to_table(info.kind)));
    if (info.kind == table_kind::resource) {  // another order would number the columns of all other tables anew
      must(c.apply(whole.front()));
      continue;
    }
    const std::vector<table> mixed = shuffled(whole, seed);
    const table_view rows = mixed.front().view();
    // What refers to rows of its own table comes as one delta.
    const bool together =
        info.kind == table_kind::queue || info.kind == table_kind::sub_group || info.kind == table_kind::device;
    const std::uint64_t step = together ? std::max<std::uint64_t>(1, rows.rows) : 1 + seed % 3;
    for (std::uint64_t first = 0; first < rows.rows; first += step) {
      std::vector<std::uint64_t> some;
      for (std::uint64_t row = first; row < std::min(first + step, rows.rows); ++row) some.push_back(row);
      must(c.apply(pick_rows(rows, some)));
    }
  }
  return c.take_snapshot();
}

/// `compat` undoes as KAI does, which is not exact where pods share devices.
bool undoes_exactly(const snapshot& base, const policy_options& options) {
  if (options.mode == decision_mode::strict) return true;
  const table pods = must(base.to_table(table_kind::pod));
  const table_view rows = pods.view();
  const auto requests = rows.find(col::pod_request)->values<std::int64_t>(rows.rows);
  const std::uint64_t dims = base.dimension_names().size();
  for (std::uint64_t row = 0; row < rows.rows; ++row) {
    if (requests[row * dims + dim_gpu] % whole_device != 0) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("the order of rows changes neither snapshot nor decisions") {
  for_inputs([](const input& from, std::uint64_t number) {
    CAPTURE(from.name);
    const snapshot base = build(from.tables).take_snapshot();
    const session expected = must(engine(variant(number)).run(base, from.now));
    const bool many_dimensions = base.dimension_names().size() > built_in_dimensions + 1;
    for (const std::uint64_t seed : {1U, 2U}) {
      const snapshot other = build(shuffled(from.tables, seed)).take_snapshot();
      CHECK(other.digest() == base.digest());
      const session found = must(engine(variant(number)).run(other, from.now));
      CHECK(found.digest() == expected.digest());
      // Of two resources that are equally short a reason names the one that was registered first.
      if (!many_dimensions) CHECK(told(found) == told(expected));
    }
  });
}

TEST_CASE("a cluster that came in many small deltas is the one that came in few") {
  for_inputs([](const input& from, std::uint64_t number) {
    if (number < 1000 && number % 4 != 0) return;
    CAPTURE(from.name);
    const snapshot base = build(from.tables).take_snapshot();
    const snapshot other = rebuilt_in_pieces(base, number);
    CHECK(other.digest() == base.digest());
    CHECK(decided(other, from, number) == decided(base, from, number));
  });
}

TEST_CASE("what is saved is the same bytes once it was loaded, and decides the same") {
  for_inputs([](const input& from, std::uint64_t number) {
    CAPTURE(from.name);
    const snapshot base = build(from.tables).take_snapshot();
    const snapshot loaded = must(snapshot::load(base.save()));
    CHECK(loaded.save() == base.save());
    CHECK(loaded.digest() == base.digest());
    CHECK(decided(loaded, from, number) == decided(base, from, number));
  });
}

TEST_CASE("several sessions in a row are the same again in one process, from saved states as well") {
  for_inputs([](const input& from, std::uint64_t number) {
    CAPTURE(from.name);
    const std::vector<std::string> first = story(from, number);
    CHECK(first == story(from, number));
    for (const std::string& line : first) CHECK(line.find("differs") == std::string::npos);
  });
}

TEST_CASE("two engines in one process do not know of each other") {
  for_inputs([](const input& from, std::uint64_t number) {
    CAPTURE(from.name);
    const snapshot base = build(from.tables).take_snapshot();
    const engine one(variant(number));
    const engine other(variant(number + 3));  // another mode and another placement
    session a = must(one.open(base, from.now));
    session b = must(other.open(base, from.now));
    const std::string a_before = a.state_digest();
    // Operations of both in turn, and back again.
    const checkpoint a_start = a.mark();
    const checkpoint b_start = b.mark();
    for (std::uint32_t i = 0; i < 20 && i < base.count(entity_kind::pod); ++i) {
      const auto node = static_cast<node_row>(i % base.count(entity_kind::node));
      (void)a.allocate(i, node);
      (void)b.pipeline(i, node);
    }
    must(a.rollback(a_start));
    must(b.rollback(b_start));
    const bool a_is_back = undoes_exactly(base, variant(number));
    const bool b_is_back = undoes_exactly(base, variant(number + 3));
    if (a_is_back) CHECK(a.state_digest() == a_before);
    must(b.run());
    must(a.run());
    if (a_is_back) CHECK(a.digest() == decided(base, from, number));
    if (b_is_back) CHECK(b.digest() == decided(base, from, number + 3));
  });
}
