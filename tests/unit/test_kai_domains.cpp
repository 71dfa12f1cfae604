// What domains have free, added up from their nodes.
#include <array>
#include <vector>

#include <doctest/doctest.h>

#include "policy/topology/kai_domains.hpp"

namespace of_test_kai_domains {

using namespace kaisched;
using namespace kaisched::policy::topology;

TEST_CASE("every node counts with its own room, whatever its neighbours have") {
  // root -> { rack of three hosts of one node each, rack of two nodes without hosts }
  domain_tree tree;
  tree.domains.resize(6);
  tree.children.resize(6);
  tree.children[0] = {1, 5};
  tree.children[1] = {2, 3, 4};
  tree.domains[1].nodes = {0, 1, 2};
  for (node_row host = 0; host < 3; ++host) tree.domains[host + 2].nodes = {host};
  tree.domains[5].nodes = {3, 4};

  const std::vector<std::array<double, 4>> free{
      {8, 8, 0, 10}, {8, 8, 0, 10}, {8, 8, 0, 10}, {8, 8, 2, 10}, {3, 8, 2, 10}};
  const std::array<double, 5> shared{0, 0.5, 1, 0.5, 0.5};
  std::vector<node_room> rooms;
  for (std::size_t i = 0; i < free.size(); ++i) rooms.push_back({free[i], shared[i]});

  // Ten pods that ask for one core, half a GPU each: cores, GPUs and free parts of shared GPUs bound them.
  const std::vector<pod_ask> halves{{{1, 1, 0.5, 1}, 0.5, 10}};
  const pods_ask pods(halves, 4);
  domain_counts counts;
  counts.reset(6, 4);
  count_pods(tree, 0, rooms, pods, counts);
  CHECK(counts.pods == std::vector<std::int64_t>{11, 3, 0, 1, 2, 8});

  sum_free(tree, 0, rooms, counts);
  const auto cores_and_gpus = [&](std::uint32_t domain) {
    return std::array<double, 2>{counts.free_of(domain)[0], counts.free_of(domain)[2]};
  };
  CHECK(cores_and_gpus(0) == std::array<double, 2>{35, 4});
  CHECK(cores_and_gpus(1) == std::array<double, 2>{24, 0});
  CHECK(cores_and_gpus(3) == std::array<double, 2>{8, 0});
  CHECK(cores_and_gpus(5) == std::array<double, 2>{11, 4});
}

}  // namespace of_test_kai_domains
