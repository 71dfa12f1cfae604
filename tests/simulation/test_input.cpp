/// Plays that make no sense are refused before they begin, with the name of what is wrong.
#include <functional>
#include <limits>
#include <string>

#include <doctest/doctest.h>

#include "simulation/play_support.hpp"

namespace of_test_input {

using namespace kaisched;
using namespace kaisched::test;

namespace {

std::string refusal(const std::function<void(sim::play&, sim::simulation_options&)>& spoil) {
  cluster c = nodes_with({1});
  sim::play what = play_of({{"a", 0, 10}, {"b", 5, 10}});
  sim::simulation_options options;
  spoil(what, options);
  const result<sim::run_result> r = sim::simulate(c, what, engine{}, options);
  REQUIRE(!r.ok());
  CHECK(r.failure().code == status::argument);
  CHECK(c.take_snapshot().count(entity_kind::pod) == 0);
  return r.failure().message;
}

}  // namespace

TEST_CASE("bad plays") {
  constexpr std::int64_t huge = std::numeric_limits<std::int64_t>::max();
  const auto b = [](sim::play& p) -> sim::job& { return p.jobs.jobs[1]; };
  using play = sim::play;
  using options = sim::simulation_options;
  CHECK(refusal([&](play& p, options&) { b(p).name = "a"; }) == "job 'a' is there twice");
  CHECK(refusal([&](play& p, options&) { b(p).name.clear(); }) == "a job has no name");
  CHECK(refusal([&](play& p, options&) { b(p).queue = "nobody"; }) == "job 'b': there is no queue 'nobody'");
  CHECK(refusal([&](play&, options& o) { o.queue = "none"; }) == "job 'a': there is no queue 'none'");
  CHECK(refusal([&](play& p, options&) { b(p).submit = -1; }).starts_with("job 'b': submit is -1 ns"));
  CHECK(refusal([&](play& p, options&) { b(p).submit = huge; }).starts_with("job 'b': submit is "));
  CHECK(refusal([&](play& p, options&) { p.jobs.jobs[0].submit = 6 * second; }) ==
        "job 'b' comes at 5000000000 ns, after one that comes at 6000000000 ns");
  CHECK(refusal([&](play& p, options&) { b(p).run_time = -5; }).starts_with("job 'b': run_time is -5 ns"));
  CHECK(refusal([&](play& p, options&) { b(p).run_time = huge; }).starts_with("job 'b': run_time is "));
  CHECK(refusal([&](play& p, options&) { b(p).estimate = -2; }).starts_with("job 'b': estimate is -2 ns"));
  CHECK(refusal([&](play& p, options&) { b(p).deadline = -2; }).starts_with("job 'b': deadline is -2 ns"));
  CHECK(refusal([&](play& p, options&) { b(p).pods.clear(); }) == "job 'b' has no pods");
  CHECK(refusal([&](play& p, options&) { b(p).pods[0].count = 0; }) == "job 'b' has no pods");
  CHECK(refusal([&](play& p, options&) { b(p).min_pods = 2; }) == "job 'b': min_pods is 2, it has 1 pods");
  CHECK(refusal([&](play& p, options&) { b(p).pods[0].gpus = 1500; }).starts_with("job 'b': a pod asks for 1500"));
  CHECK(refusal([&](play& p, options&) { b(p).pods[0].memory = -1; }).starts_with("job 'b': memory of a pod is -1"));
  CHECK(refusal([&](play& p, options&) { b(p).pods[0].cpu = huge; }).starts_with("job 'b': cpu of a pod is "));
  CHECK(refusal([&](play& p, options&) {
          b(p).pods[0].count = 4'000'000'000;
        }).starts_with("job 'b' has 4000000000 pods"));
  CHECK(refusal([&](play& p, options&) { p.outages = {{"n7", 0, 1}}; }) == "outage: there is no node 'n7'");
  CHECK(refusal([&](play& p, options&) { p.outages = {{"n0", 5, 5}}; }) ==
        "outage of node 'n0': from 5 ns to 5 ns; times from 0 to 2305843009213693951 ns are expected, the end after "
        "the begin");
  CHECK(refusal([&](play& p, options&) { p.outages = {{"n0", 5, 9}, {"n0", 8, 12}}; }).find("overlap") !=
        std::string::npos);
  CHECK(refusal([&](play& p, options&) { p.outages = {{"n0", 5, -1}, {"n0", 8, 12}}; }).find("overlap") !=
        std::string::npos);
  CHECK(refusal([&](play& p, options&) { p.outages = {{"n0", 5, 9}, {"n0", 12, 15, 4}}; }).find("overlap") !=
        std::string::npos);
  CHECK(refusal([&](play& p, options&) { p.profiles = {{"m", {}}, {"m", {}}}; }) ==
        "profile of model 'm' is there twice");
  CHECK(refusal([&](play& p, options&) {
          p.profiles = {{"m", {{2, 5}, {2, 6}}}};
        }).starts_with("profile of model 'm': speed 6"));
  CHECK(refusal([&](play& p, options&) {
          p.profiles = {{"m", {{2, 5}, {3, 4}}}};
        }).starts_with("profile of model 'm': speed 4"));
  CHECK(refusal([&](play& p, options&) { p.profiles = {{"m", {}, sim::never, sim::never, {{"T4", 5}, {"T4", 6}}}}; }) ==
        "profile of model 'm': a speed on GPUs 'T4' is there twice, or has no name");
  CHECK(refusal([&](play& p, options&) {
          p.profiles = {{"m", {}, sim::never, sim::never, {{"T4", 0}}}};
        }).starts_with("profile of model 'm': speed 0 on GPUs 'T4'"));
  CHECK(refusal([&](play&, options& o) { o.period = -1; }).starts_with("option period: -1 ns"));
  CHECK(refusal([&](play&, options& o) { o.grace = huge; }).starts_with("option grace: "));
  CHECK(refusal([&](play&, options& o) { o.horizon = -7; }).starts_with("option horizon: -7 ns"));
  CHECK(refusal([&](play&, options& o) { o.most_sessions_at_once = 0; }).starts_with("option most_sessions_at_once"));
}

}  // namespace of_test_input
