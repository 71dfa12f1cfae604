// Divisions of devices in sessions: undo, forks, what others see of them, and random clusters.
#include <algorithm>
#include <map>
#include <memory>
#include <string>

#include <doctest/doctest.h>

#include <kaisched/engine.hpp>

#include "framework/session_state.hpp"
#include "io/cluster_input.hpp"
#include "io/scenario/scenario.hpp"
#include "model/snapshot_access.hpp"
#include "support.hpp"

namespace of_test_repartition {

using namespace kaisched;
using test::must;

namespace {

snapshot snapshot_of(const std::string& text) {
  const io::cluster_input input = must(io::initial_cluster(must(io::parse_scenario("scenario 1\n" + text, "test"))));
  cluster c;
  std::vector<table_view> views;
  for (const table& one : input.tables) views.push_back(one.view());
  must(c.apply(views));
  return c.take_snapshot();
}

const std::string small =
    "resource nvidia.com/mig-1g.10gb\n"
    "resource nvidia.com/mig-3g.40gb\n"
    "node n gpu=1 cpu=8 pods=110 nvidia.com/mig-1g.10gb=2 labels={nvidia.com/gpu.product=H100-80GB}\n"
    "  device 0\n"
    "  device 1 sharing=mig instances=[1g.10gb@0,1g.10gb@6]\n"
    "queue q\n"
    "pod_group g\n"
    "  pod g-[0-2] nvidia.com/mig-3g.40gb=1\n"
    "pod_group whole\n"
    "  pod whole-0 gpu=1\n";

framework::division divided(const snapshot& s) {
  framework::division d;
  d.group = 0;
  d.node = 0;
  d.device = 1;
  d.layout = {{"3g.40gb", 0}, {"1g.10gb", 6}};
  d.made = {{"3g.40gb", 0}};
  d.idle = {{"1g.10gb", 0}};
  REQUIRE(model::state_of(s).node_count() == 1);
  return d;
}

std::int64_t amount(const framework::session_state& c, const base::cow<std::vector<std::int64_t>>& of,
                    std::string_view profile) {
  return (*of)[c.state().mig_dimension(profile)];
}

}  // namespace

TEST_CASE("a division is undone to the byte, and what it makes is coming free") {
  const snapshot s = snapshot_of(small);
  const framework::policy_setup by{must(preset("kai")), {}, must(shipped_device_catalog())};
  framework::session_state c(s, std::make_shared<const framework::policy_setup>(by), 0);
  must(c.open());
  const std::string before = c.state_digest();
  const pod_row first = test::pod_by_name(s, "g-0");
  c.statement.divide(divided(s));
  CHECK(amount(c, c.live.idle, "3g.40gb") == 0);
  CHECK(amount(c, c.live.releasing, "3g.40gb") == 1);
  CHECK(amount(c, c.live.idle, "1g.10gb") == 1);
  must(c.check());
  c.statement.pipeline(first, 0, {});
  CHECK(amount(c, c.live.releasing, "3g.40gb") == 0);
  must(c.check());

  framework::division whole;
  whole.node = 0;
  whole.device = 0;
  whole.was_whole = true;
  whole.layout = {{"3g.40gb", 4}};
  whole.made = whole.layout;
  const std::uint32_t inner = c.statement.depth();
  const std::string between = c.state_digest();
  c.statement.divide(whole);
  CHECK((*c.live.idle)[dim_gpu] == 0);
  CHECK((*c.live.device_free)[0] == 0);
  must(c.check());
  framework::session_state fork(c);
  CHECK(fork.state_digest() == c.state_digest());
  fork.statement.rollback(0);
  CHECK(fork.state_digest() == before);
  must(fork.check());
  CHECK(c.state_digest() != before);
  must(c.check());
  c.statement.rollback(inner);
  CHECK(c.state_digest() == between);
  c.statement.rollback(0);
  CHECK(c.state_digest() == before);
  CHECK(&c.state() == &model::state_of(s));
  must(c.check());
}

TEST_CASE("a division and its claims are one commit, and a later look repeats them") {
  const snapshot s = snapshot_of(small);
  engine e = test::make_engine({"actions", "repartition,allocate"});
  const session untold = must(e.run(s, 0));
  CHECK(std::ranges::none_of(untold.decisions(), [](const decision& d) {  // without tables of models
    return d.kind == decision_kind::repartition;
  }));
  e.set_device_catalog(must(shipped_device_catalog()));
  const session ran = must(e.run(s, 0));
  must(ran.check());
  // The elastic pods come one by one. The divided device serves two of them, and is divided twice.
  std::map<decision_kind, int> kinds;
  for (const decision& d : ran.decisions()) ++kinds[d.kind];
  CHECK(kinds[decision_kind::repartition] == 3);
  CHECK(kinds[decision_kind::pipeline] == 3);
  CHECK(kinds[decision_kind::bind] == 0);  // the whole GPU is none any more
  REQUIRE(ran.decisions().size() == 6);
  const decision& first = ran.decisions().front();
  CHECK(first.kind == decision_kind::repartition);
  CHECK(first.pod == no_row);
  CHECK(first.devices.mask == 2);
  CHECK(first.layout == std::vector<std::string>{"1g.10gb@0", "3g.40gb@4"});
  CHECK(first.gone == std::vector<std::string>{"1g.10gb@6"});
  CHECK(first.commit == ran.decisions()[1].commit);
  for (const char* pod : {"g-0", "g-1", "g-2"}) {
    const candidate_table all = must(ran.candidates(test::pod_by_name(s, pod)));
    CHECK(all.chosen == 0);
    CHECK(all.fitting == 1);
  }
  CHECK(must(e.run(s, 0)).digest() == ran.digest());
}

TEST_CASE("instances in use stay, in clusters of all kinds") {
  std::uint64_t seed = 1;
  const auto draw = [&](std::uint64_t below) {
    seed = seed * 6364136223846793005U + 1442695040888963407U;
    return (seed >> 33U) % below;
  };
  int divisions = 0;
  int moves = 0;
  for (int round = 0; round < 150; ++round) {
    std::string text =
        "resource nvidia.com/mig-1g.6gb\nresource nvidia.com/mig-2g.12gb\nresource nvidia.com/mig-4g.24gb\nqueue q\n";
    if (draw(3) == 0)
      text += "queue r limit.gpu=1\n";
    else
      text += "queue r\n";
    std::string pods;
    std::map<std::string, std::string> used;  // instance by node and place
    int count = 0;
    for (int n = 0; n < 3; ++n) {
      std::map<std::string, int> have;
      std::string devices;
      int gpus = 0;
      for (int d = 0; d < 2; ++d) {
        if (draw(4) == 0) {
          ++gpus;
          devices += "  device " + std::to_string(d) + "\n";
          continue;
        }
        std::string list;
        for (std::uint64_t at = 0; at < 4;) {
          const std::uint64_t size = std::uint64_t{1} << draw(3);
          if (draw(3) == 0 || at % size != 0 || at + size > 4) {
            ++at;
            continue;
          }
          const std::string profile = size == 1 ? "1g.6gb" : size == 2 ? "2g.12gb" : "4g.24gb";
          const std::string instance = profile + "@" + std::to_string(at);
          list += (list.empty() ? "" : ",") + instance;
          ++have[profile];
          if (draw(2) == 0) {
            const std::string name = "old-" + std::to_string(count++);
            const bool stays = draw(2) == 0;
            pods += "pod_group " + name + " queue=q preemptible=" + (stays ? "false" : "true") + "\n  pod " + name +
                    "-0 nvidia.com/mig-" + profile + "=1 status=running node=n" + std::to_string(n);
            if (draw(5) != 0) pods += " mig_instances=[" + std::to_string(d) + "/" + instance + "]";
            pods += "\n";
            if (stays) used["n" + std::to_string(n) + "/" + std::to_string(d) + "/" + instance] = name;
          }
          at += size;
        }
        devices += "  device " + std::to_string(d) + " sharing=mig instances=[" + list + "]\n";
      }
      text += "node n" + std::to_string(n) + " gpu=" + std::to_string(gpus) +
              " cpu=8 pods=110 labels={nvidia.com/gpu.product=A30}";
      for (const auto& [profile, amount] : have) text += " nvidia.com/mig-" + profile + "=" + std::to_string(amount);
      text += "\n" + devices;
    }
    for (int g = 0; g < 3; ++g) {
      static const char* const profiles[] = {"1g.6gb", "2g.12gb", "4g.24gb"};
      const std::uint64_t members = 1 + draw(3);
      const std::string name = "new-" + std::to_string(g);
      pods += "pod_group " + name + " queue=" + (draw(2) == 0 ? "q" : "r") + " min_member=" + std::to_string(members) +
              "\n  pod " + name + "-[1-" + std::to_string(members) + "] cpu=1 nvidia.com/mig-" + profiles[draw(3)] +
              "=1\n";
    }
    CAPTURE(text + pods);
    const snapshot s = snapshot_of(text + pods);
    engine e = test::make_engine(
        {"actions", "allocate,repartition,reclaim,allocate", "repartition.drain", draw(2) == 0 ? "true" : "false"});
    e.set_device_catalog(must(shipped_device_catalog()));
    const session ran = must(e.run(s, 0));
    must(ran.check());
    std::uint32_t commit = 0;
    for (const decision& d : ran.decisions()) {
      moves += d.kind == decision_kind::move ? 1 : 0;
      if (d.kind != decision_kind::repartition) continue;
      ++divisions;
      commit = d.commit;
      const auto device = std::to_string(d.devices.mask == 1 ? 0 : 1);
      for (const std::string& gone : d.gone) {
        CHECK_FALSE(used.contains(std::string(s.node_name(d.node)) + "/" + device + "/" + gone));
      }
      const bool serves = std::any_of(ran.decisions().begin(), ran.decisions().end(), [&](const decision& other) {
        return other.kind == decision_kind::pipeline && other.commit == commit && other.group == d.group;
      });
      CHECK(serves);
    }
  }
  CHECK(divisions > 30);
  CHECK(moves > 0);
}

}  // namespace of_test_repartition
