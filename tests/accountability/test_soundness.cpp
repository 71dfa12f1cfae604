// What a certificate excludes never happens: thousands of random small clusters, every group that waits, both modes.
#include <algorithm>
#include <array>
#include <string>

#include "accountability/gangs.hpp"

namespace of_test_soundness {

using namespace kaisched;
using test::must;

namespace {

#ifdef KAISCHED_CHECKS
constexpr std::uint64_t clusters_of_each_form = 300;  // every commit is checked
#else
constexpr std::uint64_t clusters_of_each_form = 3000;
#endif

using tally = std::array<std::array<int, certificate_assumption_count>, certificate_kind_count>;

engine engine_of(std::string_view mode) { return test::make_engine({"mode", mode}); }

/// Certifies every group and lets `allocate` try what the certificate says nobody can do.
void judge(const session& over, std::string_view mode, std::uint64_t seed, tally& found) {
  for (const group_row g : test::all_groups(over.base())) {
    const certificate proof = must(over.certify(g));
    ++found[static_cast<std::size_t>(proof.kind)][static_cast<std::size_t>(proof.assumption)];
    if (proof.kind == certificate_kind::none) continue;
    INFO("seed ", seed, ", mode ", std::string(mode), ", group ", std::string(over.base().group_name(g)), ": ",
         over.text(proof));
    CHECK_FALSE(test::starts(over.fork(), mode, g));
    if (proof.assumption == certificate_assumption::as_is || !over.decisions().empty()) continue;
    const snapshot fewer = test::without_others(over.base(), g, proof.assumption);
    const group_row same = test::group_by_name(fewer, over.base().group_name(g));
    CHECK_FALSE(test::starts(must(engine_of(mode).open(fewer, 1000 * test::second)), mode, same));
  }
}

/// Groups that cannot start even without preemptible pods get nothing from any action, not even a claim.
std::vector<group_row> hopeless(const session& over) {
  std::vector<group_row> groups;
  for (const group_row g : test::all_groups(over.base())) {
    if (must(over.certify(g)).assumption >= certificate_assumption::without_preemptible) groups.push_back(g);
  }
  return groups;
}

tally judge_all(std::vector<table> (*make)(test::dice&)) {
  tally found{};
  for (const std::string_view mode : {"compat", "strict"}) {
    for (std::uint64_t seed = 0; seed < clusters_of_each_form; ++seed) {
      test::seeded_dice d(seed);
      const snapshot s = test::snapshot_of(make(d));
      session over = must(engine_of(mode).open(s, 1000 * test::second));
      judge(over, mode, seed, found);
      const std::vector<group_row> without_hope = hopeless(over);
      // After the actions others have taken what was free, or leave. In `compat` those that evict keep KAI's books, which
      // can have room that nodes have not.
      must(mode == "compat" ? over.run("allocate") : over.run());
      INFO("seed ", seed, ", mode ", std::string(mode));
      for (const group_row g : without_hope) CHECK_FALSE(test::gets_places(over, mode, g, 0, true));
      judge(over, mode, seed, found);
    }
  }
  for (std::size_t kind = 0; kind < found.size(); ++kind) {
    MESSAGE(std::string(certificate_kind_name(static_cast<certificate_kind>(kind))), ": as_is ", found[kind][1],
            ", without_preemptible ", found[kind][2], ", empty ", found[kind][3], ", none ", found[kind][0]);
  }
  return found;
}

std::vector<table> random_rows(test::dice& d) { return test::random_cluster(d).tables(); }

}  // namespace

TEST_CASE("gangs with topologies, trees and kinds of pods") {
  const tally found = judge_all(test::random_gangs);
  // Every kind of proof is met under every assumption that it can have.
  for (std::size_t kind = 1; kind < found.size(); ++kind) {
    CHECK(found[kind][static_cast<std::size_t>(certificate_assumption::empty)] > 0);
    if (static_cast<certificate_kind>(kind) == certificate_kind::structure) continue;
    CHECK(found[kind][static_cast<std::size_t>(certificate_assumption::as_is)] > 0);
    CHECK(found[kind][static_cast<std::size_t>(certificate_assumption::without_preemptible)] > 0);
  }
}

TEST_CASE("clusters with parts of devices, pod affinity, ports, overcommitted nodes and more") {
  judge_all(random_rows);
}

}  // namespace of_test_soundness
