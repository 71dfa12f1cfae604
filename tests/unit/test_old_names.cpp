/// Names of options and actions of version 0.1: they are taken for the present ones, with one warning each.
#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <kaisched/engine.hpp>

#include "io/scenario/scenario.hpp"
#include "support.hpp"

namespace of_test_old_names {

using namespace kaisched;
using test::builder;
using test::must;

namespace {

struct replaced {
  std::string before;
  std::string now;
  std::string value;
};

std::vector<replaced> replaced_options() {
  return {
      {"admission.settings", "kueue.settings", "within_queue=any"},
      {"cells.lazy_preemption", "hived.lazy_preemption", "true"},
      {"cells.opportunistic_below", "hived.opportunistic_below", "7"},
      {"cells.owned", "hived.owned_cells", "a:node:1"},
      {"cells.topology", "hived.topology", "racks"},
      {"tiers", "volcano.tiers", "gang,binpack"},
      {"tiers.actions", "volcano.actions", "allocate,preempt"},
      {"tiers.settings", "volcano.settings", "binpack.weight=2"},
      {"turns.settings", "yunikorn.settings", "apps.order=fair"},
  };
}
constexpr std::array<std::pair<const char*, const char*>, 4> replaced_actions{
    {{"tiers", "volcano"}, {"turns", "yunikorn"}, {"cells", "hived"}, {"admission", "kueue"}}};

std::string warning(const std::string& kind, const std::string& before, const std::string& now) {
  return kind + " '" + before + "' is called '" + now + "' since 0.2; the old name will not be accepted in 0.3";
}

snapshot small() {
  builder b;
  b << builder::node{"n", 4} << builder::queue{"q"};
  b.gang("job", "q", 2, 1000);
  return b.take();
}

}  // namespace

TEST_CASE("options are set and read by their old names, and warn once") {
  for (const replaced& one : replaced_options()) {
    CAPTURE(one.before);
    policy_options o;
    must(o.set(one.before, one.value));
    CHECK(must(o.get(one.now)) == one.value);
    CHECK(must(o.get(one.before)) == one.value);
    must(o.set(one.before, one.value));
    CHECK(o.warnings == std::vector{warning("option", one.before, one.now)});
    policy_options fresh;
    must(fresh.set(one.now, one.value));
    CHECK(fresh.warnings.empty());
    CHECK(std::ranges::none_of(option_list(), [&](const option_info& known) { return known.name == one.before; }));
  }
}

TEST_CASE("actions are named by their old names, and the options have the present ones") {
  for (const auto& [before, now] : replaced_actions) {
    policy_options o;
    must(o.set("actions", std::string("overlimit,") + before));
    CHECK(must(o.get("actions")) == std::string("overlimit,") + now);
    CHECK(o.warnings == std::vector{warning("action", before, now)});
  }
}

TEST_CASE("a preset and an error keep the warnings, and no error adds one") {
  policy_options o;
  must(o.set("tiers", "gang"));
  must(o.set("preset", "volcano-default"));
  CHECK(o.warnings.size() == 1);
  CHECK(must(o.get("volcano.tiers")) != "gang");
  const auto refused = o.set("cells.opportunistic_below", "many");
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.failure().message.starts_with("option hived.opportunistic_below: 'many'"));
  CHECK(o.warnings.size() == 1);
  CHECK(o.set("tiers.setting", "").failure().code == status::not_found);
}

TEST_CASE("members that a program fills are looked at by the engine") {
  policy_options o = must(preset("kai"));
  o.actions = {"tiers"};
  const engine with(o);
  CHECK(with.options().actions == std::vector<std::string>{"volcano"});
  CHECK(with.options().warnings == std::vector{warning("action", "tiers", "volcano")});
  CHECK(engine(must(preset("volcano-default"))).options().warnings.empty());
}

TEST_CASE("decisions and digests are the same by either name") {
  engine before;
  for (const auto& [option, value] : std::vector<std::pair<std::string, std::string>>{
           {"preset", "volcano-default"}, {"actions", "tiers"}, {"tiers.actions", "allocate"}})
    must(before.set(option, value));
  engine now;
  for (const auto& [option, value] : std::vector<std::pair<std::string, std::string>>{
           {"preset", "volcano-default"}, {"actions", "volcano"}, {"volcano.actions", "allocate"}})
    must(now.set(option, value));
  const snapshot state = small();
  const session one = must(before.run(state, 0));
  const session other = must(now.run(state, 0));
  CHECK(one.digest() == other.digest());
  CHECK(one.warnings().size() == 2);
  CHECK(other.warnings().empty());
}

TEST_CASE("a session that runs an action by its old name warns of it, and so do its forks") {
  engine with;
  must(with.set("preset", "volcano-default"));
  const snapshot state = small();
  session by_hand = must(with.open(state, 0));
  must(by_hand.try_run("tiers"));
  must(by_hand.run("tiers"));
  CHECK(by_hand.warnings() == std::vector{warning("action", "tiers", "volcano")});
  CHECK(by_hand.fork().warnings() == by_hand.warnings());
  CHECK(by_hand.digest() == must(with.run(state, 0)).digest());
}

TEST_CASE("a scenario with old names is played, and says where they are") {
  const std::string text =
      "scenario 1\noption preset=volcano-default tiers=[gang,predicates]\nnode n gpu=4 cpu=8 pods=10\nqueue q\n"
      "pod_group g queue=q\npod g-0 group=g gpu=1\nrun actions=[tiers]\nexpect bind g-0 n\n";
  const io::scenario_outcome played = io::play_scenario(must(io::parse_scenario(text, "old.ks")), {});
  CHECK(played.passed());
  REQUIRE(played.warnings.size() == 2);
  CHECK(played.warnings[0].line == 2);
  CHECK(played.warnings[0].text == warning("option", "tiers", "volcano.tiers"));
  CHECK(played.warnings[1].line == 7);
  CHECK(played.warnings[1].text == warning("action", "tiers", "volcano"));
}

}  // namespace of_test_old_names
