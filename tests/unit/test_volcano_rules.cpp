// Rules whose source is Volcano, on values that are small enough to see the answer.
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/saturating.hpp"
#include "conformance/rules/bundle_choice.hpp"
#include "conformance/rules/disruption_budgets.hpp"
#include "conformance/rules/hints.hpp"
#include "conformance/rules/limits.hpp"
#include "conformance/rules/node_sampling.hpp"
#include "conformance/rules/pod_requests.hpp"
#include "conformance/rules/resource_comparisons.hpp"
#include "conformance/rules/sub_groups.hpp"
#include "policy/gang/admission.hpp"
#include "policy/gang/readiness.hpp"
#include "policy/placement/strategy_fit.hpp"
#include "policy/placement/utilisation.hpp"
#include "policy/reclaim/gang_bundles.hpp"
#include "policy/resources/resource_list.hpp"
#include "policy/topology/network_domains.hpp"
#include "policy/topology/network_scores.hpp"
#include "support.hpp"

namespace of_test_volcano_rules {

using namespace kaisched;
using policy::absent_resource;
using policy::resource_list;

namespace {

resource_list amounts(double cpu, double memory = 0, double gpus = -1) {
  resource_list made;
  made.cpu = cpu;
  made.memory = memory;
  if (gpus >= 0) made.set("x/gpu", gpus);
  return made;
}

policy::gang_task running(std::string uid, std::int64_t priority, std::string role = {}, std::string sub_group = {}) {
  policy::gang_task made;
  made.uid = std::move(uid);
  made.role = std::move(role);
  made.sub_group = std::move(sub_group);
  made.priority = priority;
  made.holds = true;
  made.request = amounts(1000);
  return made;
}

/// A rack with two leaves of two nodes each.
policy::network_domains two_leaves() {
  return policy::network_domains(std::vector<policy::domain_declaration>{
      {"rack", 2, {}, {"left", "right"}}, {"left", 1, {"a", "b"}, {}}, {"right", 1, {"c", "d"}, {}}});
}

}  // namespace

TEST_CASE("amounts are compared with a slack, except where less is asked for") {
  CHECK(less_equal(amounts(1000.05), amounts(1000), absent_resource::zero));
  CHECK_FALSE(less_equal(amounts(1000.2), amounts(1000), absent_resource::zero));
  CHECK(less(amounts(1000), amounts(1000.05, 1), absent_resource::zero));
  CHECK_FALSE(less(amounts(1000), amounts(1000), absent_resource::zero));
  CHECK(equal(amounts(5, 5), amounts(5.05, 4.95)));
}

TEST_CASE("a resource that one side does not name is nothing or without end") {
  const resource_list plain = amounts(1, 1);
  const resource_list with_gpu = amounts(2, 2, 1000);
  CHECK(less_equal(plain, with_gpu, absent_resource::zero));
  CHECK_FALSE(less_equal(plain, with_gpu, absent_resource::infinity));
  CHECK_FALSE(less_equal(with_gpu, amounts(3, 3), absent_resource::zero));
  CHECK(less_equal(with_gpu, amounts(3, 3), absent_resource::infinity));
  CHECK(less_partly(amounts(9, 9), with_gpu, absent_resource::zero));
  CHECK(exceeding(with_gpu, amounts(1, 3), absent_resource::zero) == policy::resource_names{"cpu", "x/gpu"});
  CHECK(exceeding(with_gpu, amounts(1, 3), absent_resource::infinity) == policy::resource_names{"cpu"});
}

TEST_CASE("what is asked for chooses the resources that are looked at, and never pods") {
  resource_list asked = amounts(1, 0, 1);
  asked.set("pods", 1);
  resource_list held = amounts(4, 9, 2);
  held.set("pods", 9);
  CHECK(exceeding_of(held, amounts(2), asked) == policy::resource_names{"cpu", "x/gpu"});
  CHECK(exceeding_of_relevant(held, amounts(2), asked) == policy::resource_names{"cpu"});
  CHECK(exceeding_of_relevant(held, amounts(0, 0, 0), asked) == policy::resource_names{"x/gpu"});
  CHECK(within_of(amounts(2), amounts(2), asked) == policy::resource_names{"cpu", "x/gpu"});
  CHECK(within_of_present(amounts(2), amounts(2), asked) == policy::resource_names{"cpu"});
}

TEST_CASE("lists are changed resource by resource") {
  resource_list list = amounts(1000, 10);
  list.add(amounts(500, 0, 2000));
  CHECK(list == amounts(1500, 10, 2000));
  list.subtract(amounts(500, 20, 1000));
  CHECK(list == amounts(1000, -10, 1000));
  list.raise_to(amounts(1, 5, 3000));
  CHECK(list == amounts(1000, 5, 3000));
  list.lower_to(amounts(400, 9), absent_resource::infinity);
  CHECK(list == amounts(400, 5, 3000));
  list.lower_to(amounts(400, 9), absent_resource::zero);
  CHECK(list == amounts(400, 5, 0));
  CHECK_FALSE(list.is_empty());
  CHECK(resource_list{}.is_empty());
  const auto [more, less] = policy::difference(amounts(3, 1), amounts(1, 3, 7), absent_resource::zero);
  CHECK(more == amounts(2));
  CHECK(less == amounts(0, 2, 7));
}

TEST_CASE("a queue that deserves nothing is full") {
  CHECK(policy::deserved_share(amounts(1000), resource_list{}) == 1);
  CHECK(policy::deserved_share(amounts(500, 3), amounts(1000, 2)) == 1.5);
  CHECK(policy::deserved_share(resource_list{}, amounts(1000)) == 0);
}

TEST_CASE("a sidecar runs beside the init containers after it") {
  policy::pod_request_parts pod;
  pod.containers = {amounts(1000)};
  pod.init_containers = {{amounts(4000), false}, {amounts(500), true}, {amounts(3800), false}};
  CHECK(policy::peak_request(pod).cpu == 4300);
  CHECK(policy::peak_request(pod).get("pods") == 1);
  CHECK(policy::running_request(pod).cpu == 1000);
  pod.of_pod["cpu"] = 7000;
  CHECK(policy::peak_request(pod).cpu == 7000);
  const policy::resized_request change{amounts(2000), amounts(1000), amounts(1500), false};
  CHECK(policy::effective_request(change).cpu == 2000);
  CHECK(policy::effective_request({amounts(2000), amounts(1000), amounts(1500), true}).cpu == 1500);
}

TEST_CASE("counts stop at the ends of their type") {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();
  CHECK(base::saturating_add(most, 1) == most);
  CHECK(base::saturating_add(least, -1) == least);
  CHECK(base::saturating_add(most, least) == -1);
  CHECK(base::saturating_multiply(least, -1) == most);
  CHECK(base::saturating_multiply(most, -2) == least);
  CHECK(base::saturating_multiply(6, 7) == 42);
}

TEST_CASE("a gang spares what it does not need, the least important first") {
  policy::gang_needs gang;
  gang.uid = "j";
  gang.min_available = 2;
  gang.tasks = {running("c", 3), running("a", 1), running("b", 2)};
  const std::vector<std::uint32_t> all{0, 1, 2};
  const auto bundles = policy::make_bundles(gang, all);
  REQUIRE(bundles.size() == 2);
  CHECK(bundles[0].tasks == std::vector<std::string>{"a"});
  CHECK(bundles[0].global == resource_list{});
  CHECK(bundles[1].tasks == std::vector<std::string>{"b", "c"});
  CHECK(bundles[1].global.cpu == 3000);
  gang.min_available = 4;
  CHECK(policy::make_bundles(gang, all).size() == 1);
  CHECK(policy::make_bundles(gang, {}).empty());
}

TEST_CASE("roles and sub-groups keep their minimum") {
  policy::gang_needs gang;
  gang.min_available = 1;
  gang.role_minimum = {{"master", 1}};
  gang.tasks = {running("m", 1, "master"), running("w", 2, "worker"), running("v", 3, "worker")};
  auto bundles = policy::make_bundles(gang, std::vector<std::uint32_t>{0, 1, 2});
  REQUIRE(bundles.size() == 2);
  CHECK(bundles[0].tasks == std::vector<std::string>{"w", "v"});
  CHECK(bundles[1].tasks == std::vector<std::string>{"m"});
  // Of two sub-groups one must stay: the second task of the broken one costs nothing more.
  gang.role_minimum.clear();
  gang.min_available = 0;
  gang.set_minimum = {{"s", 1}};
  gang.sub_groups = {{"one", "s", 2}, {"two", "s", 2}};
  gang.tasks = {running("1a", 1, "", "one"), running("2a", 2, "", "two"), running("1b", 3, "", "one"),
                running("2b", 4, "", "two")};
  bundles = policy::make_bundles(gang, std::vector<std::uint32_t>{0, 1, 2, 3});
  REQUIRE(bundles.size() == 2);
  CHECK(bundles[0].tasks == std::vector<std::string>{"1a", "1b"});
  CHECK(bundles[1].tasks == std::vector<std::string>{"2a", "2b"});
}

TEST_CASE("bundles go in the order of what they return, and only as many as are needed") {
  using policy::bundle_kind;
  std::vector<policy::victim_bundle> bundles{{bundle_kind::whole, "j1", "q", 0, {"a"}, amounts(1000), amounts(4000)},
                                             {bundle_kind::whole, "j2", "q", 0, {"b"}, amounts(1000), amounts(2000)},
                                             {bundle_kind::safe, "j3", "q", 0, {"c", "d"}, amounts(500), {}}};
  policy::sort_bundles(bundles, amounts(1500), {});
  CHECK(bundles[0].job == "j3");
  CHECK(bundles[1].job == "j2");
  CHECK(std::isinf(policy::return_on_eviction(bundles[0], amounts(1500))));
  CHECK(policy::return_on_eviction(bundles[1], amounts(1500)) == 0.5);
  CHECK(policy::select_bundles(bundles, amounts(1500), true).size() == 2);
  CHECK(policy::select_bundles(bundles, amounts(1500), false).size() == 1);
  const auto allowed = policy::allowed_bundles(bundles, std::vector<std::string>{"d", "b"},
                                               [](std::string_view) { return amounts(250); });
  REQUIRE(allowed.size() == 2);
  CHECK(allowed[0].tasks == std::vector<std::string>{"d"});
  CHECK(allowed[0].local.cpu == 250);
  CHECK(allowed[1].job == "j2");
}

TEST_CASE("budgets are charged in the order of the offer; a pod without labels is no victim") {
  policy::disruption_budget budget;
  budget.space = "s";
  budget.pods = test::must(model::parse_selector("app=a"));
  budget.allowed = 1;
  budget.disrupted = {"z"};
  const std::vector<policy::offered_victim> offered{{"s", "x", {{"app", "a"}}},
                                                    {"s", "y", {{"app", "a"}}},
                                                    {"s", "z", {{"app", "a"}}},
                                                    {"s", "plain", {}},
                                                    {"t", "w", {{"app", "a"}}}};
  CHECK(policy::within_budgets(std::vector{budget}, offered) == std::vector<std::uint32_t>{0, 2, 4});
}

TEST_CASE("a gang is ready, pipelined or starving by its pods") {
  CHECK(policy::is_gang_ready({2, 0, 1, 3}));
  CHECK_FALSE(policy::is_gang_ready({2, 1, 0, 3}));
  CHECK(policy::is_gang_pipelined({2, 1, 0, 3}));
  CHECK(policy::is_gang_starving({2, 0, 1, 3}));
  const std::vector<std::string> values{"7", "b"};
  CHECK(policy::sub_group_place(values) == 7);
  CHECK(policy::sub_group_name("j", "p", values) == "j/p-7-b");
  const policy::sub_group_rule rule{std::nullopt, {"zone"}};
  CHECK(policy::sub_group_values(rule, {{"zone", "z1"}}) == std::vector<std::string>{"z1"});
  CHECK_FALSE(policy::sub_group_values(rule, {{"zone", ""}}));
}

TEST_CASE("promises may exceed the cluster by a factor") {
  const resource_list room = policy::promisable(amounts(1000), amounts(200), 1.5);
  CHECK(room.cpu == 1300);
  CHECK(policy::overcommitted(room, amounts(1000), amounts(300)).empty());
  CHECK(policy::overcommitted(room, amounts(1000), amounts(301)) == policy::resource_names{"cpu"});
  const policy::space_limit quota{amounts(1000), {"cpu"}, amounts(400)};
  const policy::resource_names named{"cpu", "memory"};
  CHECK(policy::within_quotas(std::vector{quota}, {}, amounts(600, 99), named));
  CHECK_FALSE(policy::within_quotas(std::vector{quota}, amounts(1), amounts(600), named));
}

TEST_CASE("domains form a tree, and faults are told") {
  const policy::network_domains domains = two_leaves();
  CHECK(domains.fault() == policy::domain_fault::none);
  CHECK(domains.find("rack")->nodes.size() == 4);
  CHECK(domains.ancestors("left") == std::vector<std::string>{"left", "rack"});
  CHECK(domains.common_ancestor("left", "right") == "rack");
  CHECK(domains.common_ancestor("", "right") == "right");
  const policy::network_domains circle(
      std::vector<policy::domain_declaration>{{"a", 1, {}, {"b"}}, {"b", 2, {}, {"a"}}});
  CHECK(circle.fault() == policy::domain_fault::cycle);
  const policy::network_domains shared(
      std::vector<policy::domain_declaration>{{"a", 1, {}, {}}, {"b", 2, {}, {"a"}}, {"c", 2, {}, {"a"}}});
  CHECK(shared.fault() == policy::domain_fault::several_parents);
}

TEST_CASE("gradients hold the domains in tier that have enough") {
  const policy::network_domains domains = two_leaves();
  const resource_list minimum = amounts(2000);
  const std::map<std::string, policy::domain_resources, std::less<>> has{
      {"left", {amounts(4000), amounts(1000), amounts(1000)}},
      {"right", {amounts(4000), amounts(1000), amounts(2000)}}};
  policy::gradient_question asked{"rack", 2, "", &minimum, policy::domain_search::allocate};
  using gradients = std::vector<std::vector<std::string>>;
  CHECK(policy::domain_gradients(domains, has, asked) == gradients{{"right"}, {"rack"}});
  asked.highest_tier = 1;
  CHECK(policy::domain_gradients(domains, has, asked) == gradients{{"right"}});
  asked.allocated = "left";
  CHECK(policy::domain_gradients(domains, has, asked) == gradients{{"left"}});
  asked = {"rack", 2, "", &minimum, policy::domain_search::evict};
  const gradients all = policy::domain_gradients(domains, has, asked);
  CHECK(all == gradients{{"left", "right"}, {"rack"}});
  CHECK(policy::widest_first(all, 2) == gradients{{"rack"}, {"right"}});
  CHECK(policy::pick_domains(all, 2, "x") == std::vector<std::string>{"left", "right"});
  CHECK(policy::pick_domains({}, 2, "x") == std::vector<std::string>{"x"});
}

TEST_CASE("full domains are better than empty ones, near ones than far ones") {
  const policy::network_domains domains = two_leaves();
  CHECK(policy::nearness(domains, "left", "left", 1, 3) == 1);
  CHECK(policy::nearness(domains, "left", "right", 1, 3) == 0.5);
  CHECK(policy::nearness(domains, "left", "", 1, 3) == 0);
  const policy::resource_weights weights{{"cpu", 1}};
  const policy::domain_amounts half{amounts(4000), amounts(1000)};
  CHECK(policy::domain_packing(amounts(1000), half, weights) == 0.5);
  CHECK(policy::domain_packing(amounts(4000), half, weights) == 0);
  CHECK(policy::packing_around(amounts(1000), {&half, nullptr}, weights, 1, 1.0) == 0.75);
  std::vector<policy::near_candidate> candidates{{1, 1}, {1, 0}, {0.5, 3}};
  policy::prefer_where_pods_are(candidates, 4);
  CHECK(candidates[0].score == 1.25);
  CHECK(candidates[1].score == 1);
  CHECK(candidates[2].score == 0.5);
}

TEST_CASE("every resource has a strategy of its own") {
  const policy::strategy_fit_settings settings{
      2, {{"cpu", {policy::fit_strategy::least_allocated, 1}}, {"x/*", {policy::fit_strategy::most_allocated, 3}}}};
  CHECK(policy::strategy_fit_score(amounts(1000, 0, 1000), amounts(4000, 0, 2000), amounts(1000, 0, 0), settings) ==
        100);
  CHECK(policy::strategy_fit_score(amounts(1000, 0, 3000), amounts(4000, 0, 2000), {}, settings) == 0);
  CHECK_FALSE(policy::is_resource_pattern("*"));
  CHECK_FALSE(policy::is_resource_pattern("a*b"));
  CHECK(policy::is_resource_pattern("a/*"));
  CHECK(policy::usable_settings({-1, {}}).weight == 10);
  const policy::scarcity_settings scarce{1, {{"x/gpu", 1}}};
  CHECK(policy::scarcity_score(amounts(1), amounts(1), scarce) == 100);
  CHECK(policy::scarcity_score(amounts(1), amounts(1, 0, 1), scarce) == 0);
  const std::map<std::string, policy::reserved_share, std::less<>> reserved{{"x/gpu", {2, 0}}};
  CHECK(policy::leaves_proportion(amounts(2000), amounts(4000, 0, 1000), reserved));
  CHECK_FALSE(policy::leaves_proportion(amounts(2001), amounts(4000, 0, 1000), reserved));
  CHECK(policy::leaves_proportion(amounts(4000, 0, 1), amounts(4000, 0, 1000), reserved));
}

TEST_CASE("load is measured, estimated and scored") {
  CHECK(policy::load_score(0.5, 0.5, {1, 1}, 2) == 100);
  CHECK(policy::load_score(0.5, 0.5, {0, 0}, 2) == 0);
  CHECK(policy::estimated_use(500, 2000, 0.5, 0.2, 1) == 550);
  CHECK(policy::estimated_use(500, 0, 1, 1, 2) == 500);
  CHECK(policy::risk_factor(0.6, 0.6, 1.2) == 1.2);
  CHECK(policy::risk_factor(0.9, 0.6, 0.8) == 1);
  CHECK(policy::composite_load(50, 4000, 8000) == 1);
  CHECK(policy::refused_by_load({81, 90}, {80, 80}) == policy::load_refusal::cpu);
  CHECK(policy::refused_by_load({80, 80}, {80, 80}) == policy::load_refusal::none);
}

TEST_CASE("nodes are sampled, split and chosen in a fixed order") {
  CHECK(policy::nodes_to_find(100, {}) == 100);
  CHECK(policy::nodes_to_find(10000, {}) == 500);
  CHECK(policy::nodes_to_find(1000, {100, 30, 5}) == 300);
  const std::vector<std::uint8_t> in_shard{0, 1, 0};
  const policy::shard_split split = policy::split_by_shard(policy::shard_mode::soft, in_shard);
  CHECK(split.first == std::vector<std::uint32_t>{1});
  CHECK(split.then == std::vector<std::uint32_t>{0, 2});
  CHECK(policy::split_by_shard(policy::shard_mode::hard, in_shard).then.empty());
  const std::vector<policy::scored_node> nodes{{1, false}, {3, true}, {2, false}, {2, false}};
  CHECK(policy::best_node(nodes) == 1);
  CHECK(policy::best_nodes(nodes, 2) == std::vector<std::uint32_t>{2, 3});
  CHECK(policy::best_nodes(nodes, 4) == std::vector<std::uint32_t>{1, 2, 3, 0});
}

TEST_CASE("hints are merged to the narrowest set that all prefer") {
  using policy::hint_policy;
  const std::vector<policy::resource_hints> both{{false, {{3, false}, {1, true}, {2, true}}},
                                                 {false, {{3, false}, {2, true}}}};
  CHECK(policy::merge_hints(hint_policy::best_effort, 3, both).best == policy::zone_hint{2, true});
  const std::vector<policy::resource_hints> apart{{false, {{1, true}}}, {false, {{2, true}, {3, false}}}};
  CHECK(policy::merge_hints(hint_policy::best_effort, 3, apart).best == policy::zone_hint{1, false});
  CHECK_FALSE(policy::merge_hints(hint_policy::restricted, 3, apart).admitted);
  CHECK(policy::merge_hints(hint_policy::single_numa_node, 3, apart).best == policy::zone_hint{3, false});
  const std::vector<policy::resource_hints> anywhere{{true, {}}, {false, {}}};
  CHECK_FALSE(policy::merge_hints(hint_policy::restricted, 3, anywhere).admitted);
  CHECK(policy::merge_hints(hint_policy::none, 3, anywhere).admitted);
}

}  // namespace of_test_volcano_rules
