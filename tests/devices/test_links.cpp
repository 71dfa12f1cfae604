// Sets of devices by links, against every set.

#include <functional>
#include <random>

#include <doctest/doctest.h>

#include "devices/cards.hpp"
#include "policy/devices/links/links.hpp"

namespace of_test_links {

using namespace kaisched::devices;
using namespace kaisched::devices::test;

namespace {

container_grants grants_of_cards(std::size_t count) {
  container_grants made;
  for (std::size_t i = 0; i < count; ++i) {
    made.emplace_back();
    made.back().position = i;
    made.back().id = "GPU-" + std::to_string(i);
  }
  return made;
}

/// Sum of the scores of all pairs, from the earlier one to the later one.
std::int64_t link_sum(const container_grants& of, const link_scores& links) {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < of.size(); ++i) {
    for (std::size_t j = i + 1; j < of.size(); ++j) sum += links(of[i].position, of[j].position);
  }
  return sum;
}

/// The first set of the largest sum, every set tried in the order of the list.
container_grants best_of_all(const container_grants& among, std::size_t count, const link_scores& links) {
  container_grants best;
  container_grants set;
  const std::function<void(std::size_t)> go_on = [&](std::size_t from) {
    if (set.size() == count) {
      if (best.empty() || link_sum(set, links) > link_sum(best, links)) best = set;
      return;
    }
    for (std::size_t i = from; i < among.size(); ++i) {
      set.push_back(among[i]);
      go_on(i + 1);
      set.pop_back();
    }
  };
  go_on(0);
  return best;
}

link_scores random_links(std::size_t devices, std::mt19937& random, bool symmetric, int from, int to) {
  link_scores links(devices);
  for (std::size_t a = 0; a < devices; ++a) {
    for (std::size_t b = a + 1; b < devices; ++b) {
      const auto draw = [&] { return std::uniform_int_distribution<int>(from, to)(random); };
      links.set(a, b, draw());
      links.set(b, a, symmetric ? links(a, b) : draw());
    }
  }
  return links;
}

}  // namespace

TEST_CASE("H19: the best linked set is the first best of all sets") {
  std::mt19937 random(7);
  for (int round = 0; round < 400; ++round) {
    const std::size_t devices = 3 + random() % 7;
    const std::size_t count = 2 + random() % (devices - 2);
    const link_scores links =
        random_links(devices, random, round % 3 != 0, round % 2 == 0 ? 0 : -3, round % 5 == 0 ? 1 : 8);
    container_grants among = grants_of_cards(devices);
    std::shuffle(among.begin(), among.end(), random);
    CAPTURE(round);
    CHECK(best_linked(among, count, links) == best_of_all(among, count, links));
  }
}

TEST_CASE("cut short the search is at least as good as greedy choices") {
  std::mt19937 random(11);
  for (int round = 0; round < 50; ++round) {
    const link_scores links = random_links(12, random, true, 0, 9);
    const container_grants among = grants_of_cards(12);
    const std::int64_t best = link_sum(best_linked(among, 5, links), links);
    const container_grants cut = best_linked(among, 5, links, 1);
    CHECK(cut.size() == 5);
    CHECK(link_sum(cut, links) <= best);
    CHECK(link_sum(cut, links) * 10 >= best * 9);
  }
}

TEST_CASE("H20: a single device is the least linked one") {
  link_scores links(3);
  for (const auto& [a, b, score] : std::vector<std::tuple<std::size_t, std::size_t, std::int64_t>>{
           {0, 1, 100}, {1, 0, 100}, {0, 2, 10}, {2, 0, 10}, {1, 2, 20}, {2, 1, 20}}) {
    links.set(a, b, score);
  }
  CHECK(best_linked(grants_of_cards(3), 1, links)[0].id == "GPU-2");
}

}  // namespace of_test_links
