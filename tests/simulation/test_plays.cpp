/// Drawn plays: what holds of all of them, and what a few lines find out without an engine.
#include <algorithm>
#include <functional>
#include <queue>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include "property/draws.hpp"
#include "simulation/play_support.hpp"

namespace of_test_plays {

using namespace kaisched;
using namespace kaisched::test;

namespace {

/// Jobs of all kinds on a few nodes, some of which fail.
struct drawn_play {
  std::vector<std::int64_t> nodes;
  sim::play what;
  sim::simulation_options options;
};

sim::play draw_jobs(int most_gpus, bool single) {
  sim::play made;
  std::int64_t submit = 0;
  const int count = draw(1, 25);
  for (int i = 0; i < count; ++i) {
    submit += draw(0, 1) * draw(0, 12);
    small_job j{"j" + std::to_string(i), submit, draw(0, 40)};
    if (!single) {
      j.pods = static_cast<std::uint32_t>(draw(1, 3));
      j.gpus = draw(0, most_gpus);
      j.priority = draw(0, 2) * 40;
      j.min_pods = static_cast<std::uint32_t>(draw(0, static_cast<int>(j.pods)));
      j.model = draw(0, 1) == 0 ? "" : "m";
    }
    made.jobs.jobs.push_back(job_of(j));
  }
  return made;
}

drawn_play draw_play() {
  drawn_play made;
  const int nodes = draw(1, 4);
  for (int i = 0; i < nodes; ++i) made.nodes.push_back(draw(1, 4));
  made.what = draw_jobs(4, false);
  for (int i = 0; i < nodes; ++i) {
    std::int64_t from = draw(1, 60);
    for (int k = draw(0, 2); k > 0; --k) {
      const std::int64_t to = from + draw(1, 30);
      made.what.outages.push_back({"n" + std::to_string(i), from * second, to * second, 0, draw(0, 1) == 1});
      from = to + draw(0, 40);
    }
  }
  if (draw(0, 1) == 1)
    made.what.profiles = {{"m", {{1, 600'000}, {2, 900'000}}, draw(0, 3) * second, draw(0, 9) * second}};
  made.options = {.period = draw(0, 1) * draw(1, 7) * second,
                  .grace = draw(0, 1) * draw(1, 5) * second,
                  .start_overhead = draw(0, 1) * draw(1, 4) * second,
                  .checkpoint_interval = draw(0, 1) * draw(1, 15) * second,
                  .keeps_work = draw(0, 3) != 0};
  return made;
}

cluster cluster_of(const std::vector<std::int64_t>& gpus) {
  cluster c = nodes_with({});
  rows nodes(table_kind::node, table_op::add, {"name", "capacity"});
  int number = 0;
  for (const std::int64_t g : gpus) {
    nodes.add({"n" + std::to_string(number++), numbers{64'000, std::int64_t{1} << 40, g * whole_device, 110}});
  }
  got(c.apply(nodes));
  return c;
}

sim::run_result play(const drawn_play& what, const engine& with) {
  cluster c = cluster_of(what.nodes);
  return got(sim::simulate(c, what.what, with, what.options));
}

engine drawn_engine() {
  return engine_with({{"actions", draw(0, 1) == 0 ? "allocate" : "allocate,consolidation,preempt"},
                      {"mode", draw(0, 1) == 0 ? "strict" : "compat"}});
}

bool same(const sim::run_result& a, const sim::run_result& b) {
  return a.digest == b.digest && a.jobs == b.jobs && a.timeline == b.timeline && a.counts == b.counts && a.end == b.end;
}

void check_books(const drawn_play& what, const sim::run_result& r) {
  std::int64_t gpu_time = 0;
  for (std::size_t j = 0; j < r.jobs.size(); ++j) {
    const sim::job& told = what.what.jobs.jobs[j];
    const sim::job_outcome& o = r.jobs[j];
    gpu_time += o.gpu_time;
    RC_ASSERT(o.lost >= 0);
    RC_ASSERT(o.lost <= o.running);
    RC_ASSERT(o.lost_gpu_time <= o.gpu_time);
    RC_ASSERT(o.starts <= 1U + o.evictions + o.failures);
    if (o.first_start != sim::never) RC_ASSERT(o.first_start >= told.submit);
    if (o.end == sim::never) continue;
    RC_ASSERT(o.starts >= 1U);
    RC_ASSERT(o.end - o.first_start >= o.running);
    // Slower with fewer pods: then it takes longer than its work, never less.
    RC_ASSERT(o.running - o.lost + 1000 >= told.run_time);  // parts of nanoseconds are dropped
  }
  std::int64_t held = 0;
  for (std::size_t i = 0; i < r.timeline.size(); ++i) {
    const sim::sample& s = r.timeline[i];
    RC_ASSERT(s.gpus_held <= s.gpus_there);
    RC_ASSERT(s.gpus_held >= 0);
    RC_ASSERT(s.gpus_wanted >= 0);
    const std::int64_t until = i + 1 < r.timeline.size() ? r.timeline[i + 1].time : r.end;
    RC_ASSERT(until >= s.time);
    held += s.gpus_held * ((until - s.time) / 1'000'000);
  }
  if (!r.timeline.empty()) RC_ASSERT(r.timeline.back().time <= r.end);
  RC_ASSERT(std::abs(held - gpu_time) <= static_cast<std::int64_t>(8000 * (r.timeline.size() + r.jobs.size() + 1)));
}

}  // namespace

TEST_CASE("the same play is the same to the byte, and its books are right") {
  CHECK(rc::check([] {
    const drawn_play what = draw_play();
    const engine with = drawn_engine();
    const sim::run_result r = play(what, with);
    RC_ASSERT(same(r, play(what, with)));
    check_books(what, r);
  }));
}

TEST_CASE("jobs of one GPU: the next one that comes gets the next one that is free") {
  CHECK(rc::check([] {
    drawn_play what;
    const int nodes = draw(1, 3);
    std::int64_t gpus = 0;
    for (int i = 0; i < nodes; ++i) gpus += what.nodes.emplace_back(draw(1, 3));
    what.what = draw_jobs(1, true);
    const sim::run_result r = play(what, engine{});
    std::priority_queue<std::int64_t, std::vector<std::int64_t>, std::greater<>> free;
    for (std::int64_t i = 0; i < gpus; ++i) free.push(0);
    // Of jobs that come at one time the one goes first whose name does.
    std::vector<std::size_t> order(what.what.jobs.jobs.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    const auto& jobs = what.what.jobs.jobs;
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return jobs[a].submit != jobs[b].submit ? jobs[a].submit < jobs[b].submit : jobs[a].name < jobs[b].name;
    });
    for (const std::size_t i : order) {
      const std::int64_t start = std::max(jobs[i].submit, free.top());
      free.pop();
      free.push(start + jobs[i].run_time);
      RC_ASSERT(r.jobs[i].first_start == start);
      RC_ASSERT(r.jobs[i].end == start + jobs[i].run_time);
    }
  }));
}

TEST_CASE("a session a second decides as a session per change, where everything happens at whole seconds") {
  CHECK(rc::check([] {
    drawn_play what = draw_play();
    for (sim::profile& p : what.what.profiles) p.speeds.clear();
    for (sim::job& j : what.what.jobs.jobs) {
      j.min_pods = 0;
      j.run_time = std::max(j.run_time, second);  // who ends when it starts makes room at the same moment
    }
    engine with;  // pods are evicted at other moments where sessions follow at once
    REQUIRE(with.set("actions", "allocate").ok());
    what.options.period = 0;
    const sim::run_result at_once = play(what, with);
    what.options.period = second;
    const sim::run_result each_second = play(what, with);
    RC_ASSERT(at_once.jobs == each_second.jobs);
  }));
}

}  // namespace of_test_plays
