// Places in topologies.
#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "conformance/rules/counted_domains.hpp"
#include "schedulers/kueue/rules/domain_ledger.hpp"

namespace of_test_admission_places {

using namespace kaisched::kueue;

namespace {

/// Hosts with so many free pods, one level.
domain_ledger hosts(const std::vector<std::pair<std::string, std::int64_t>>& free) {
  domain_ledger made({"host"}, true, 1);
  for (const auto& [name, pods] : free) (void)made.add_node({name}, {pods});
  return made;
}

std::string places_text(const domain_assignment& made) {
  std::string text;
  for (const placed_pods& one : made.places)
    text += (text.empty() ? "" : " ") + domain_id(one.values) + std::to_string(one.count);
  return text;
}

place_request pods(std::int64_t count, bool unconstrained) {
  place_request made;
  made.count = count;
  made.requests = {-1};
  made.unconstrained = unconstrained;
  if (!unconstrained) made.preferred = "host";
  return made;
}

}  // namespace

TEST_CASE("preferred: the fullest that holds all, else the largest first and the last one tight") {
  const domain_ledger four = hosts({{"A", 4}, {"B", 3}, {"C", 2}, {"D", 2}});
  const auto where = [&](std::int64_t count, bool unconstrained) {
    return places_text(find_places(four, pods(count, unconstrained), nullptr, {}, false, {}).workers);
  };
  CHECK(where(3, false) == "B3");
  CHECK(where(6, false) == "A4 C2");
  CHECK(where(3, true) == "B3");
  CHECK(where(5, true) == "B1 C2 D2");
}

TEST_CASE("what is not there is told with numbers") {
  const domain_ledger four = hosts({{"A", 4}, {"B", 3}});
  place_request request = pods(5, false);
  request.preferred.clear();
  request.required = "host";
  const found_places found = find_places(four, request, nullptr, {}, false, {});
  CHECK(found.failure.kind == place_failure_kind::too_few);
  CHECK(found.failure.fits == 4);
  CHECK(found.failure.asked == 5);
  request.required = "rack";
  CHECK(find_places(four, request, nullptr, {}, false, {}).failure.kind == place_failure_kind::no_level);
}

TEST_CASE("slices stay in one domain of their level, the leader beside them") {
  domain_ledger racks({"rack", "host"}, true, 1);
  for (const auto& [rack, host, free] : std::vector<std::tuple<std::string, std::string, std::int64_t>>{
           {"r1", "a", 3}, {"r1", "b", 2}, {"r2", "c", 5}, {"r2", "d", 1}})
    (void)racks.add_node({rack, host}, {free});
  place_request workers = pods(4, false);
  workers.preferred.clear();
  workers.required = "rack";
  workers.slices = {{"host", 2}};
  const place_request leader = pods(1, false);
  const found_places found = find_places(racks, workers, &leader, {}, false, {});
  REQUIRE(!found.failure);
  CHECK(places_text(found.workers) == "a2 b2");
  CHECK(places_text(found.leader) == "a1");
}

TEST_CASE("a lost host is replaced inside the domain that holds the rest") {
  domain_ledger racks({"rack", "host"}, true, 1);
  for (const char* host : {"a", "b", "c"}) (void)racks.add_node({"r1", host}, {2});
  for (const char* host : {"d", "e"}) (void)racks.add_node({"r2", host}, {9});
  place_request request = pods(4, false);
  request.preferred.clear();
  request.required = "rack";
  const domain_assignment existing{{"host"}, {{{"a"}, 2}, {{"b"}, 2}}};
  racks.use("a", {2}, true);
  racks.use("b", {2}, true);
  const found_replacement found = find_replacement(racks, request, existing, "b", {}, {});
  REQUIRE(!found.failure);
  CHECK(places_text(found.all) == "a2 c2");
}

TEST_CASE("even spreading takes the fewest domains with the least left over") {
  std::vector<counted_domain> domains;
  for (const auto& [name, free] : std::vector<std::pair<std::string, std::int64_t>>{{"a", 9}, {"b", 6}, {"c", 4}})
    domains.push_back({{name}, {free, free, free, free, 0, 0}, domain_ledger::none});
  CHECK(fewest_domains(domains, 10, 0, 1, false) == std::vector<std::size_t>{1, 2});
  CHECK(fewest_domains(domains, 20, 0, 1, false).empty());
  std::vector<std::size_t> chosen;
  CHECK(spread_slices(domains, 10, 0, 1, 4, chosen));
  CHECK(domains[1].counts.slices + domains[2].counts.slices == 10);
}

}  // namespace of_test_admission_places
