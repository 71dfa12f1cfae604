// Invariants at run time: every kind of fault is planted into a session and found by the level that looks for it, with
// the object named; random sessions pass all levels and decide the same.
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "framework/session_state.hpp"
#include "oracle/contended_cluster.hpp"
#include "policy/parts.hpp"
#include "support.hpp"

using namespace kaisched;
using test::builder;
using test::must;

namespace {

std::shared_ptr<const framework::policy_setup> setup_with(std::string_view level) {
  auto made = std::make_shared<framework::policy_setup>();
  made->options = preset("kai").value();
  must(made->options.set("invariants", level));
  for (const std::string& name : made->options.parts) {
    for (const policy::part_entry& part : policy::built_in_parts()) {
      if (part.name == name) made->parts.emplace_back(part.name, part.make);
    }
  }
  return made;
}

/// Two nodes with two GPUs; a gang of two, pods of one and two GPUs, and one that cannot be preempted.
snapshot small_cluster() {
  builder b;
  b << builder::node{"n1", 2} << builder::node{"n2", 2} << builder::queue{"q", "", 1, 3};
  b.gang("gang", "q", 2);
  b.gang("solo", "q", 1);
  b.gang("large", "q", 1, 2000);
  b << builder::group{"firm", "q", 1, 50, 0, false} << builder::pod{"firm-0", "firm", 2000};
  return b.take();
}

/// A session in the middle of `allocate`, by the level.
struct running {
  explicit running(std::string_view level) : core(small_cluster(), setup_with(level), 0) {
    must(core.open());
    core.run.action = action_kind::allocate;
    core.run.keeps_bounds = true;
  }

  [[nodiscard]] pod_row pod(std::string_view name) const { return test::pod_by_name(core.base, name); }
  [[nodiscard]] node_row node(std::string_view name) const { return test::node_by_name(core.base, name); }
  [[nodiscard]] std::size_t gpus_of(std::string_view name) const {
    return static_cast<std::size_t>(node(name)) * core.state().dims() + dim_gpu;
  }
  [[nodiscard]] queue_row queue() const { return core.state().groups[core.state().pods[pod("solo-0")].group].queue; }
  /// On these devices, whoever has them.
  void start(std::string_view name, std::string_view on, std::uint64_t devices) {
    core.statement.allocate(pod(name), node(on), {devices, whole_device});
  }
  /// What is said after the commit; empty: nothing is wrong.
  std::string commit() {
    core.statement.commit();
    const result<void> sound = core.verify();
    if (!sound) CHECK(sound.failure().code == status::internal);
    return sound ? std::string() : sound.failure().message;
  }

  framework::session_state core;
};

struct fault {
  std::string says;
  std::function<void(running&)> plant;
};

std::vector<fault> faults() {
  const auto after_a_start = [](std::function<void(running&)> corrupt) {
    return [corrupt = std::move(corrupt)](running& r) {
      r.start("solo-0", "n1", 1);
      corrupt(r);
    };
  };
  return {
      {"node 'n1', gpu: amounts differ from its pods",
       after_a_start([](running& r) { ++r.core.live.idle.write()[r.gpus_of("n1")]; })},
      {"node 'n1', gpu: amounts differ from its pods",
       after_a_start([](running& r) { --r.core.live.releasing.write()[r.gpus_of("n1")]; })},
      {"device 1 of node 'n1': amounts differ from its pods", after_a_start([](running& r) {
         --r.core.live.device_free.write()[(*r.core.state().first_device)[r.node("n1")] + 1];
       })},
      {"node 'n1': claims on devices differ from its pods",
       after_a_start([](running& r) { ++r.core.live.device_claims.write()[r.node("n1")]; })},
      {"pod group 'solo': counts of a pod set differ from its pods",
       after_a_start([](running& r) { --r.core.live.counts.write(r.core.state().pods[r.pod("solo-0")].sub).holding; })},
      {"queue 'q': its sum differs from its pods",
       after_a_start([](running& r) { ++r.core.live.queue_allocated.write()[r.queue()][dim_gpu]; })},
      {"queue 'q': its sum differs from its pods",
       after_a_start([](running& r) { ++r.core.live.queue_nonpreemptible.write()[r.queue()][dim_gpu]; })},
      {"pod group 'gang': its gang is broken", [](running& r) { r.start("gang-0", "n1", 1); }},
      {"node 'n1', gpu is newly over capacity",
       [](running& r) {
         r.start("solo-0", "n1", 1);
         r.start("large-0", "n1", 3);
       }},
      {"device 0 of node 'n1' is newly over capacity",
       [](running& r) {
         r.start("gang-0", "n1", 1);
         r.start("gang-1", "n1", 1);
       }},
      {"queue 'q' is newly over its limit",
       [](running& r) {
         r.start("large-0", "n1", 3);
         r.start("gang-0", "n2", 1);
         r.start("gang-1", "n2", 2);
       }},
      {"queue 'q' is newly over its quota with what cannot be preempted",
       [](running& r) { r.start("firm-0", "n1", 3); }},
  };
}

}  // namespace

TEST_CASE("a planted fault in what a statement changes is found, by its name") {
  for (const char* level : {"cheap", "full"}) {
    for (const fault& one : faults()) {
      running r(level);
      one.plant(r);
      INFO(level);
      CHECK(r.commit() == "invariant violated: " + one.says);
    }
  }
}

TEST_CASE("a planted fault elsewhere is found where everything is counted again") {
  const auto plant = [](running& r) {
    ++r.core.live.idle.write()[r.gpus_of("n2")];
    r.start("solo-0", "n1", 1);
  };
  running full("full");
  plant(full);
  CHECK(full.commit() == "invariant violated: node 'n2', gpu: idle amounts differ from its pods");
  running cheap("cheap");
  plant(cheap);
  if (!cheap.core.counts_again()) CHECK(cheap.commit().empty());
}

TEST_CASE("sound statements pass, one after the other, with what was undone in between, and in forks") {
  for (const char* level : {"cheap", "full"}) {
    running r(level);
    r.start("solo-0", "n1", 1);
    CHECK(r.commit().empty());
    r.start("gang-0", "n1", 2);
    r.core.statement.rollback(0);
    r.start("gang-0", "n1", 2);
    r.start("gang-1", "n2", 1);
    CHECK(r.commit().empty());
    r.core.statement.evict(r.pod("solo-0"));
    r.core.statement.pipeline(r.pod("solo-0"), r.node("n2"), {});
    CHECK(r.commit().empty());
    framework::session_state fork = r.core;
    fork.statement.evict(r.pod("gang-0"));
    fork.statement.evict(r.pod("gang-1"));
    fork.statement.commit();
    must(fork.verify());
    ++fork.live.queue_allocated.write()[r.queue()][dim_gpu];
    fork.statement.pipeline(r.pod("large-0"), r.node("n1"), {});
    fork.statement.commit();
    CHECK_FALSE(fork.verify().ok());
    r.core.statement.evict(r.pod("solo-0"));
    CHECK(r.commit().empty());
  }
}

TEST_CASE("random sessions pass every level, and decide the same with all of them") {
  constexpr std::uint64_t cases = 60;
  std::size_t evictions = 0;
  for (const char* mode : {"strict", "compat"}) {
    for (const char* action : {"reclaim", "preempt", "consolidation"}) {
      for (std::uint64_t i = 0; i < cases; ++i) {
        test::seeded_dice dice(i);
        const test::contended_case drawn = test::contended_cluster(dice, action, mode);
        INFO(mode, " ", action, " ", i);
        cluster c;
        for (const table& t : drawn.rows.tables()) must(c.apply(t));
        engine e;
        for (const auto& [name, value] : drawn.settings) must(e.set(name, value));
        if (i % 3 == 0) must(e.set("actions", "allocate,consolidation,reclaim,preempt,stalegangeviction"));
        std::vector<std::string> digests;
        for (const char* level : {"off", "cheap", "full"}) {
          must(e.set("invariants", level));
          const session ran = must(e.run(c.take_snapshot(), drawn.now));
          digests.push_back(ran.digest());
          for (const decision& d : ran.decisions()) evictions += d.kind == decision_kind::evict ? 1 : 0;
        }
        CHECK(digests[1] == digests[0]);
        CHECK(digests[2] == digests[0]);
      }
    }
  }
  CHECK(evictions > 300);
}

TEST_CASE("the level is an option like others") {
  engine e;
  CHECK(must(e.get("invariants")) == "off");
  for (const char* level : {"cheap", "full", "off"}) {
    must(e.set("invariants", level));
    CHECK(must(e.get("invariants")) == level);
  }
  const result<void> wrong = e.set("invariants", "some");
  REQUIRE_FALSE(wrong.ok());
  CHECK(wrong.failure().message == "option invariants: 'some' is not one of: cheap full off");
}
