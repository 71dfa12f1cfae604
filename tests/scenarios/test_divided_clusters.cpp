// Clusters of divided GPUs: what `repartition` remembers from group to group changes no decision.
#include <algorithm>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <kaisched/cluster.hpp>
#include <kaisched/engine.hpp>
#include <kaisched/vendors.hpp>

#include "benchmarks/adapter.hpp"
#include "benchmarks/divided_cluster.hpp"
#include "support.hpp"

namespace of_test_divided_clusters {

using namespace kaisched;
using test::must;

namespace {

snapshot snapshot_of(const bench::divided_cluster& form) {
  const std::vector<table> tables = bench::to_tables(form);
  std::vector<table_view> views;
  for (const table& one : tables) views.push_back(one.view());
  cluster c;
  must(c.apply(views));
  return c.take_snapshot();
}

session play(const snapshot& s, const std::string& actions, const std::string& drain, const std::string& reference) {
  engine e = test::make_engine({"actions", actions, "repartition.drain", drain, "reference_path", reference});
  e.set_device_catalog(must(shipped_device_catalog()));
  session ran = must(e.run(s, bench::scenario_now));
  must(ran.check());
  return ran;
}

}  // namespace

TEST_CASE("divided clusters: what is remembered from group to group changes no decision") {
  std::int64_t divided = 0;
  std::int64_t moved = 0;
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    bench::divided_cluster form;
    form.nodes = static_cast<std::int32_t>(3 + seed % 5);
    form.gangs = 8;
    form.seed = seed;
    form.kinds_of_cpu = static_cast<std::int32_t>(1 + seed % 3);
    const snapshot s = snapshot_of(form);
    for (const std::string drain : {"false", "true"}) {
      for (const std::string actions : {"repartition", "allocate,repartition,reclaim,repartition"}) {
        CAPTURE(seed);
        CAPTURE(drain);
        CAPTURE(actions);
        const session fast = play(s, actions, drain, "false");
        CHECK(fast.digest() == play(s, actions, drain, "true").digest());
        for (const decision& d : fast.decisions()) {
          divided += d.kind == decision_kind::repartition ? 1 : 0;
          moved += d.kind == decision_kind::move ? 1 : 0;
        }
      }
    }
  }
  CHECK(divided > 100);
  CHECK(moved > 10);
}

TEST_CASE("divided clusters: the same figures make the same cluster, another seed another one") {
  bench::divided_cluster form;
  form.nodes = 5;
  form.gangs = 3;
  const std::string one = snapshot_of(form).digest();
  CHECK(snapshot_of(form).digest() == one);
  form.seed = 2;
  CHECK(snapshot_of(form).digest() != one);
}

}  // namespace of_test_divided_clusters
