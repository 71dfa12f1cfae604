// Groups of nodes that queues want, and nodes that are lent for hours of the day.
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "conformance/rules/limits.hpp"
#include "conformance/rules/revocable_zones.hpp"
#include "policy/placement/node_groups.hpp"

namespace of_test_node_groups {

using namespace kaisched::policy;

namespace {

node_group_affinity wishes() { return {{"a", "b"}, {"b", "c"}, {"d", "e"}, {"e"}}; }

node_group_refusal refused(const std::string& group, const node_group_affinity& affinity) {
  return refused_by_group(&group, &affinity, true);
}

}  // namespace

TEST_CASE("node groups: who may be where") {
  const node_group_affinity affinity = wishes();
  for (const char* group : {"a", "b", "c", "e"}) CHECK(refused(group, affinity) == node_group_refusal::none);
  for (const char* group : {"d", "f"}) CHECK(refused(group, affinity) == node_group_refusal::unwanted);
  const node_group_affinity nothing;
  CHECK(refused("a", nothing) == node_group_refusal::no_affinity);
  const std::string group = "a";
  CHECK(refused_by_group(&group, nullptr, false) == node_group_refusal::no_affinity);
  CHECK(refused_by_group(nullptr, nullptr, false) == node_group_refusal::none);
  CHECK(refused_by_group(nullptr, &nothing, false) == node_group_refusal::none);
  CHECK(refused_by_group(nullptr, nullptr, true) == node_group_refusal::no_group);
  CHECK(refused_by_group(nullptr, &affinity, false) == node_group_refusal::no_group);
}

TEST_CASE("node groups: what they are worth") {
  const node_group_affinity affinity = wishes();
  CHECK(node_group_score("a", affinity, false) == 100);
  CHECK(node_group_score("b", affinity, false) == 150);
  CHECK(node_group_score("c", affinity, false) == 50);
  CHECK(node_group_score("c", affinity, true) == 25);
  CHECK(node_group_score("b", affinity, true) == 150);
  CHECK(node_group_score("d", affinity, true) == 0);
  CHECK(node_group_score("e", affinity, true) == -1);
  const node_group_affinity four{{}, {"a", "b", "c", "d"}, {}, {}};
  CHECK(node_group_score("a", four, true) == 50);
  CHECK(node_group_score("b", four, true) == 37.5);
  CHECK(node_group_score("d", four, true) == 12.5);
  CHECK(node_group_score("x", four, true) == 0);
  const node_group_affinity twice{{}, {"a", "b", "a"}, {}, {}};
  CHECK(node_group_score("a", twice, true) == 0);  // the last of three places among two groups
}

TEST_CASE("node groups: the nearest queue that says something") {
  const std::vector<node_group_queue> queues{{"root", "", node_group_affinity{{"a"}, {}, {}, {}}},
                                             {"team", "", {}},
                                             {"own", "team", node_group_affinity{{"b"}, {}, {}, {}}},
                                             {"child", "own", {}},
                                             {"lost", "nobody", {}},
                                             {"x", "y", {}},
                                             {"y", "x", {}}};
  const auto first_of = [&](const char* name, bool inherits) {
    const node_group_affinity* found = node_groups_of(queues, name, inherits);
    return found == nullptr ? std::string("-") : found->required.front();
  };
  CHECK(first_of("own", false) == "b");
  CHECK(first_of("child", true) == "b");
  CHECK(first_of("child", false) == "-");
  CHECK(first_of("team", true) == "a");
  CHECK(first_of("root", true) == "a");
  CHECK(first_of("lost", true) == "-");
  CHECK(first_of("x", true) == "-");  // a cycle
  CHECK(first_of("none", true) == "-");
}

TEST_CASE("node groups: limits of what they name") {
  resource_list held;
  held.cpu = 2000;
  held.memory = 100;
  held.set("nvidia.com/gpu", 1000);
  resource_list asked;
  asked.cpu = 1000;
  asked.set("nvidia.com/gpu", 1000);
  resource_list limit;
  limit.cpu = 3000;
  CHECK(within_group_limit(held, asked, limit, std::vector<std::string>{"cpu"}));
  CHECK_FALSE(within_group_limit(held, asked, limit, std::vector<std::string>{"cpu", "memory"}));
  CHECK_FALSE(within_group_limit(held, asked, limit, std::vector<std::string>{"nvidia.com/gpu"}));
  limit.set("nvidia.com/gpu", 2000);
  CHECK(within_group_limit(held, asked, limit, std::vector<std::string>{"nvidia.com/gpu"}));
  asked.cpu = 1000.05;  // within the slack
  CHECK(within_group_limit(held, asked, limit, std::vector<std::string>{"cpu"}));
  asked.cpu = 1000.2;
  CHECK_FALSE(within_group_limit(held, asked, limit, std::vector<std::string>{"cpu"}));
}

TEST_CASE("revocable zones: hours") {
  CHECK(daily_window_of(" 10:00-21:30 ")->start == 600);
  CHECK(daily_window_of("0:00-0:01")->end == 1);
  for (const char* wrong : {"", "10:00", "10-11", "10:00-24:00", "10:60-11:00", "10:0-11:00", "010:00-11:00",
                            "a:00-11:00", "10:00-11:00-12:00", "-1:00-2:00", "10:00--1:00"}) {
    CAPTURE(wrong);
    CHECK_FALSE(daily_window_of(wrong));
  }
  const daily_window day{600, 601};
  CHECK_FALSE(day.holds(35999));
  CHECK(day.holds(36000));
  CHECK(day.holds(36060));
  CHECK_FALSE(day.holds(36061));
  const daily_window night{1320, 360};  // ends on the next day; the morning belongs to the day before
  CHECK(night.holds(86399));
  CHECK_FALSE(night.holds(0));
  const daily_window whole{0, 0};
  CHECK(whole.holds(43200));
}

TEST_CASE("revocable zones: how many may leave at once") {
  CHECK(most_leaving({5, 5, 0}, {}) == 1);
  CHECK(most_leaving({5, 5, 0}, {"30%", {}}) == 2);
  CHECK(most_leaving({5, 4, 0}, {"30%", {}}) == 1);
  CHECK(most_leaving({5, 2, 0}, {"2", {}}) == 0);
  CHECK(most_leaving({5, 2, 3}, {"2", {}}) == 2);
  CHECK(most_leaving({5, 5, 0}, {{}, "3"}) == 2);
  CHECK(most_leaving({5, 5, 0}, {{}, "100%"}) == 0);
  CHECK(most_leaving({5, 2, 0}, {{}, "3"}) == 1);  // already below: as if nothing were said
  CHECK(most_leaving({5, 5, 0}, {"1", "5"}) == 1);
  CHECK(most_leaving({5, 5, 0}, {"many", {}}) == 0);
  CHECK(most_leaving({5, 5, 0}, {"-5", {}}) == 0);
  CHECK(most_leaving({5, 2, 0}, {"-9223372036854775808", {}}) == 0);
  CHECK(most_leaving({5, 5, 0}, {{}, "-9223372036854775808"}) == 1'000'000'005);
  CHECK(most_leaving({5, 5, 0}, {"99999999999999999%", {}}) == 5'000'000'0);
}

}  // namespace of_test_node_groups
