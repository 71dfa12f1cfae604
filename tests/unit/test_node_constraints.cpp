// A node constraint that only this file knows: every preset, fork, undo, check and explanation honours it.
#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <kaisched/engine.hpp>

#include "framework/session_state.hpp"
#include "io/cluster_input.hpp"
#include "io/synthetic.hpp"
#include "policy/constraints/node_constraint.hpp"
#include "session/trial_world.hpp"
#include "support.hpp"

namespace of_test_node_constraints {

using namespace kaisched;
using policy::place_change;
using policy::place_event;
using session_detail::trial_world;
using test::must;

namespace {

std::int64_t seats_of(const session_access& a, node_row row) { return (*a.state->name_rank)[row] == 0 ? 1 : 4; }

/// Pods on each node: those that stay, and with those that leave.
struct seat_counts {
  std::vector<std::int64_t> staying;
  std::vector<std::int64_t> all;

  void count(const session_access& a) {
    staying.assign(a.state->node_count(), 0);
    all = staying;
    for (pod_row p = 0; p < a.state->pod_slots; ++p) {
      const auto status = static_cast<pod_status>(a.live->pod_state[p]);
      const std::uint32_t slot = a.live->pod_node[p];
      if (!a.state->pods[p].live || slot == no_row || !model::is_in(status, model::active_used)) continue;
      const node_row row = (*a.state->node_row_of_slot)[slot];
      ++all[row];
      if (model::is_in(status, model::active_allocated)) ++staying[row];
    }
    for (const leaving_pod& one : *a.leaving) ++all[(*a.state->node_row_of_slot)[one.node]];
  }
  friend bool operator==(const seat_counts&, const seat_counts&) = default;
};

/// A node takes so many pods, whatever these ask for; nodes that have more keep them.
class seats final : public policy::node_constraint {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "seats"; }
  [[nodiscard]] std::unique_ptr<node_constraint> clone() const override { return std::make_unique<seats>(*this); }
  [[nodiscard]] result<bool> open(const policy::constraint_setup& with) override {
    taken_.count(with.access);
    taken_at_open_ = taken_.staying;
    return true;
  }
  [[nodiscard]] bool concerns(const session_access&, pod_row) const override { return true; }
  void judge(const session_access& a, pod_row, policy::free_amount which, std::span<const node_row> nodes,
             std::span<constraint> verdicts) const override {
    const std::vector<std::int64_t>& taken = which == policy::free_amount::idle ? taken_.all : taken_.staying;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      if (verdicts[i] == constraint::none && taken[nodes[i]] >= seats_of(a, nodes[i])) verdicts[i] = constraint::plugin;
    }
  }
  void after_amounts(const session_access&, model::live_state&, const place_change& change) override {
    std::int64_t& staying = taken_.staying[change.row];
    std::int64_t& all = taken_.all[change.row];
    switch (change.what) {
      case place_event::placed:
        ++staying;
        if (!change.replaces) ++all;
        break;
      case place_event::taken_back:
        --staying;
        if (!change.replaces) --all;
        break;
      case place_event::evicted:
        --staying;
        break;
      case place_event::restored:
        ++staying;
        break;
      case place_event::ended:
        if (model::is_in(change.before, model::active_allocated)) --staying;
        --all;
        break;
      case place_event::revived:
        if (model::is_in(change.after, model::active_allocated)) ++staying;
        ++all;
        break;
      case place_event::evicted_again:
      case place_event::restored_again:
        break;
    }
  }
  [[nodiscard]] bool gets_back(const session_access& a, pod_row, node_row row, std::uint32_t) override {
    return taken_.staying[row] < seats_of(a, row);
  }
  void digest(base::sha256& to) const override {
    to.update(std::as_bytes(std::span(taken_.staying)));
    to.update(std::as_bytes(std::span(taken_.all)));
  }
  [[nodiscard]] std::string fault(const session_access& a, const policy::recount_facts&) const override {
    seat_counts again;
    again.count(a);
    for (node_row row = 0; row < a.state->node_count(); ++row) {
      if (again.staying[row] > std::max(taken_at_open_[row], seats_of(a, row))) return "a node has too few seats";
    }
    return again == taken_ ? std::string{} : "seats differ from their pods";
  }

 private:
  seat_counts taken_;
  std::vector<std::int64_t> taken_at_open_;
};

bool dislikes(pod_row pod, node_row node) { return (pod * 7 + node) % 5 == 0; }

/// Some pods may not be on some nodes, of which their classes tell nothing.
class dislike final : public policy::node_constraint {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "dislike"; }
  [[nodiscard]] std::unique_ptr<node_constraint> clone() const override { return std::make_unique<dislike>(*this); }
  [[nodiscard]] result<bool> open(const policy::constraint_setup&) override { return true; }
  [[nodiscard]] bool is_rule() const override { return true; }
  [[nodiscard]] bool concerns(const session_access&, pod_row) const override { return true; }
  [[nodiscard]] bool follows_other_pods(const session_access&, const model::pod_class&) const override { return true; }
  void judge(const session_access&, pod_row pod, policy::free_amount, std::span<const node_row> nodes,
             std::span<constraint> verdicts) const override {
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      if (verdicts[i] == constraint::none && dislikes(pod, nodes[i])) verdicts[i] = constraint::plugin;
    }
  }
  void digest(base::sha256&) const override {}
  [[nodiscard]] std::string fault(const session_access& a, const policy::recount_facts&) const override {
    for (pod_row p = 0; p < a.state->pod_slots; ++p) {
      const std::uint32_t slot = a.live->pod_node[p];
      const bool has_come = a.state->pods[p].live && slot != no_row && slot != a.state->live.pod_node[p];
      if (has_come && dislikes(p, (*a.state->node_row_of_slot)[slot])) return "a pod is on a node that it dislikes";
    }
    return {};
  }
};

template <class Constraint>
std::unique_ptr<policy::node_constraint> make() {
  return std::make_unique<Constraint>();
}

snapshot snapshot_of(const io::cluster_input& input) {
  cluster c;
  std::vector<table_view> views;
  for (const table& one : input.tables) views.push_back(one.view());
  must(c.apply(views));
  return c.take_snapshot();
}

result<session> open_with(const engine& by, const snapshot& s, policy::constraint_factory more) {
  auto setup = std::make_shared<framework::policy_setup>(*trial_world::setup_of(must(by.open(s, 0))));
  setup->constraints.push_back(more);
  return trial_world::open_by(s, std::move(setup), 0);
}

/// With every invariant checked after each statement.
engine engine_of(std::string_view name, std::string_view mode) {
  engine made(must(preset(name)));
  must(made.set("mode", mode));
  must(made.set("invariants", "full"));
  return made;
}

/// Pods that got a place.
std::size_t places_in(const session& s) {
  return static_cast<std::size_t>(std::ranges::count_if(s.decisions(), [](const decision& d) {
    return d.kind == decision_kind::bind || d.kind == decision_kind::pipeline || d.kind == decision_kind::move;
  }));
}

}  // namespace

TEST_CASE("all presets honour a node constraint that they do not know, and count it right to the end") {
  std::vector<std::pair<std::string_view, std::string_view>> policies{{"kai", "compat"}};
  for (const std::string_view name : preset_names()) policies.emplace_back(name, "strict");
  for (const auto& [name, mode] : policies) {
    const engine by = engine_of(name, mode);
    std::size_t free_places = 0;
    std::size_t places = 0;
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      io::synthetic_options of;
      of.gpus = 64;
      of.load_percent = 150;
      of.seed = seed;
      const snapshot s = snapshot_of(must(io::make_synthetic_cluster(of)));
      session free = must(by.open(s, 0));
      must(free.run());
      free_places += places_in(free);
      for (const policy::constraint_factory more : {&make<seats>, &make<dislike>}) {
        INFO(name, " ", mode, ", seed ", seed, ", ", more()->name());
        session one = must(open_with(by, s, more));
        must(one.run());
        session again = one.fork();
        must(again.run());
        CHECK(places_in(one) > 0);
        places += places_in(one);
      }
    }
    CHECK_MESSAGE(places < 2 * free_places, name);  // else the constraints would have had no say
  }
}

TEST_CASE("a node constraint is a reason to wait, and undone to the byte") {
  test::builder b;
  b << test::builder::node{"a", 8} << test::builder::node{"b", 8} << test::builder::queue{"q"};
  b.gang("fits", "q", 5).gang("waits", "q", 2);
  const snapshot s = b.take();
  for (const std::string_view mode : {"strict", "compat"}) {
    session one = must(open_with(engine_of("kai", mode), s, &make<seats>));
    must(one.run());
    CHECK(places_in(one) == 5);
    const std::vector<reason> why = one.reasons();
    REQUIRE(why.size() == 1);
    CHECK(why.front().what == constraint::plugin);
    CHECK(why.front().nodes == 2);

    session host = must(open_with(engine_of("kai", mode), s, &make<seats>));
    const pod_row first = test::pod_by_name(s, "fits-0");
    const pod_row second = test::pod_by_name(s, "fits-1");
    const checkpoint start = host.mark();
    CHECK(must(host.allocate(first, 0)));
    CHECK_FALSE(must(host.allocate(second, 0)));  // the only seat is taken
    must(host.rollback(start));
    CHECK(must(host.allocate(second, 0)));
    must(host.commit());
    must(host.run());
    CHECK(places_in(host) >= 1);
  }
}

}  // namespace of_test_node_constraints
