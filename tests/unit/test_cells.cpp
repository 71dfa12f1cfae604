// Cells: which there are, who owns them, how they are split and merged, and what is told of places in them.
#include <optional>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "model/cell_place.hpp"
#include "schedulers/hived/rules/buddies.hpp"
#include "schedulers/hived/rules/layout.hpp"
#include "schedulers/hived/rules/ownership.hpp"
#include "schedulers/hived/rules/packing.hpp"
#include "schedulers/hived/rules/virtual_clusters.hpp"

namespace kaisched::hived {

namespace {

using texts = std::vector<std::string>;

/// So many GPUs, in sockets of some size, in pairs of two.
node_facts node(node_row row, std::vector<std::uint32_t> domains, std::uint32_t gpus, std::uint32_t in_socket = 0,
                bool pairs = false) {
  node_facts made;
  made.node = row;
  made.domains = std::move(domains);
  for (std::uint32_t d = 0; d < gpus; ++d)
    made.devices.push_back({d, in_socket == 0 ? -1 : static_cast<std::int64_t>(d / in_socket),
                            pairs ? static_cast<std::int64_t>(d % (gpus / 2)) : -1});
  return made;
}

/// Two racks of two nodes with two GPUs.
std::vector<chain> two_racks() {
  const texts levels{"rack"};
  const std::vector<node_facts> nodes{node(0, {1}, 2), node(1, {1}, 2), node(2, {2}, 2), node(3, {2}, 2)};
  return make_chains(levels, nodes);
}

request for_pods(number cluster, std::vector<std::uint32_t> pods, std::int64_t priority = 0) {
  request made;
  made.cluster = cluster;
  made.priority = priority;
  made.pods = std::move(pods);
  return made;
}

}  // namespace

TEST_CASE("equal racks are one chain, a rack of unlike nodes is none") {
  const texts levels{"zone", "rack"};
  const std::vector<node_facts> nodes{node(0, {1, 2}, 4), node(1, {1, 2}, 4), node(2, {1, 3}, 4), node(3, {1, 3}, 8),
                                      node(4, {5, 6}, 4), node(5, {5, 6}, 4), node(6, {}, 4)};
  const auto chains = make_chains(levels, nodes);
  REQUIRE(chains.size() == 4);
  CHECK(chains[0].levels == texts{"gpu", "node", "rack", "zone"});  // the second zone; the first has unlike racks
  CHECK(chains[0].size == std::vector<std::uint32_t>{1, 4, 8, 8});
  CHECK(chains[1].levels == texts{"gpu", "node", "rack"});
  CHECK(chains[1].cells_at(2) == 1);
  CHECK(chains[2].levels == texts{"gpu", "node"});
  CHECK(chains[2].size.back() == 8);
  CHECK(chains[3].cells_at(1) == 2);  // a node of the rack of unlike ones, and the one in no rack
  CHECK(chains[3].gpus[4].node == 6);
}

TEST_CASE("sockets and pairs are levels of a node where all of them are equal") {
  const texts none;
  const std::vector<node_facts> even{node(0, {}, 8, 4)};
  CHECK(make_chains(none, even)[0].levels == texts{"gpu", "socket", "node"});
  const std::vector<node_facts> uneven{node(0, {}, 8, 5)};
  CHECK(make_chains(none, uneven)[0].levels == texts{"gpu", "node"});
  const std::vector<node_facts> pairs{node(0, {}, 8, 0, true)};
  const auto chains = make_chains(none, pairs);
  CHECK(chains[0].levels == texts{"gpu", "pair", "node"});
  CHECK(chains[0].gpus[1].device == 4);  // the one that device 0 is linked to
}

TEST_CASE("a free cell is split for a part of it, and is one again when all parts are free") {
  const auto chains = two_racks();
  buddies free(chains[0]);
  free.take(0, 5);
  CHECK(free.free_at(2) == std::set<number>{0});
  CHECK(free.free_at(1) == std::set<number>{3});
  CHECK(free.free_at(0) == std::set<number>{4});
  CHECK(free.free_above(0, 6) == 1);
  CHECK_FALSE(free.is_free(1, 2));
  CHECK(free.holds(std::vector<std::uint32_t>{1, 1, 1}));
  CHECK_FALSE(free.holds(std::vector<std::uint32_t>{0, 0, 2}));
  CHECK_FALSE(free.holds(std::vector<std::uint32_t>{2, 1, 1}));
  free.give_back(0, 5);
  CHECK(free.free_at(2) == std::set<number>{0, 1});
  CHECK(free.free_at(1).empty());
}

TEST_CASE("pods by size go to nodes from the most used one on") {
  const std::vector<node_view> nodes{{4, 0, 0}, {2, 2, 0}, {2, 2, 1}};
  CHECK(pick_nodes(nodes, std::vector<std::uint32_t>{1}) == std::vector<number>{1});
  CHECK(pick_nodes(nodes, std::vector<std::uint32_t>{3, 1, 1}) == std::vector<number>{0, 1, 1});
  CHECK(pick_nodes(nodes, std::vector<std::uint32_t>{2, 2, 2}) == std::vector<number>{1, 2, 0});
  CHECK_FALSE(pick_nodes(nodes, std::vector<std::uint32_t>{5}).has_value());
}

TEST_CASE("a single pod finds the same node whether nodes are kept in order or looked through") {
  std::vector<node_view> nodes(9);
  node_order order;
  for (number i = 0; i < nodes.size(); ++i) order.set(i, nodes[i]);
  std::uint32_t drawn = 1;
  for (int step = 0; step < 400; ++step) {
    const auto draw = [&](std::uint32_t below) { return (drawn = drawn * 1664525 + 1013904223) / 65536 % below; };
    const number node = draw(9);
    nodes[node] = {draw(5), draw(3), draw(3)};
    order.set(node, nodes[node]);
    const std::uint32_t gpus = 1 + draw(4);
    const number closed = draw(9);
    std::vector<node_view> open = nodes;
    open[closed].free = 0;
    const auto looked = pick_nodes(open, std::vector<std::uint32_t>{gpus});
    CHECK(order.first(gpus, [&](number i) { return i != closed; }) == (looked ? looked->front() : nothing));
  }
}

TEST_CASE("a quota is worth the largest cells that it has room for") {
  const auto chains = two_racks();
  const std::vector<cell_owner> owners{{"a", 5}, {"b", 3}};
  const auto owned = cells_by_quota(chains, owners);
  CHECK(owned[0][0] == std::vector<std::uint32_t>{1, 0, 1});
  CHECK(owned[1][0] == std::vector<std::uint32_t>{1, 1, 0});
  const std::vector<cell_owner> open{{"a", -1}, {"b", -1}, {"c", 2}};
  const auto turns = cells_by_quota(chains, open);
  CHECK(turns[0][0] == std::vector<std::uint32_t>{1, 1, 0});  // c's node first, then each a node, then each a GPU
  CHECK(turns[1][0] == std::vector<std::uint32_t>{1, 1, 0});
  const std::vector<cell_owner> greedy{{"a", 100}, {"b", 8}};
  CHECK(cells_by_quota(chains, greedy)[0][0] == std::vector<std::uint32_t>{0, 0, 2});
  CHECK(cells_by_quota(chains, greedy)[1][0] == std::vector<std::uint32_t>{0, 0, 0});
}

TEST_CASE("places in cells are told in a text and read from it") {
  const model::cell_place place{"topology.kubernetes.io/rack", 3, {8, 9, 15}};
  const std::string text = "cell=topology.kubernetes.io/rack,number=3,gpus=8+9+15";
  CHECK(model::text_of(place) == text);
  CHECK(model::parse_cell_place(text) == place);
  for (const char* wrong : {"", "cell=", "cell=rack", "cell=rack,number=1", "cell=,number=1,gpus=0",
                            "cell=rack,number=x,gpus=0", "cell=rack,number=1,gpus=", "cell=rack,number=1,gpus=1+",
                            "cell=rack,number=99999999999,gpus=1", "container=0,device=GPU-1,memory=1"})
    CHECK_FALSE(model::parse_cell_place(wrong).has_value());
}

TEST_CASE("who owns a node gets one, though others have come first, and they leave as whole groups") {
  virtual_clusters all(two_racks(), {{{0, 2, 0}}, {{0, 0, 1}}});
  refusal why = refusal::none;
  request guest = for_pods(0, {2, 2, 2}, -1);
  guest.guaranteed = false;
  const auto guests = all.place(guest, why);
  REQUIRE(guests.has_value());
  all.take(1, {0, -1, false}, *guests);
  // One rack is to be whole for the second cluster, whichever: a node of the other one is for the first.
  const auto own = all.place(for_pods(0, {2}), why);
  REQUIRE(own.has_value());
  CHECK(all.victims(*own).empty());  // the last node is free
  all.take(2, {0, 0, false}, *own);
  const auto rack = all.place(for_pods(1, {2, 2}), why);
  REQUIRE(rack.has_value());
  CHECK(all.victims(*rack) == std::vector<number>{1});
  CHECK(all.must_wait(*rack));
  CHECK(all.is_safe());
  all.release(1);
  all.take(3, {1, 0, false}, *rack);
  CHECK_FALSE(all.place(for_pods(1, {1}), why).has_value());
  CHECK(why == refusal::cells);
  const cell_shortage missing = all.shortage_of(for_pods(1, {1}));
  CHECK(missing.level == "gpu");
  CHECK(missing.need == 1);
  CHECK(missing.have == 0);
}

TEST_CASE("a pod that the host has put on other GPUs of its node stays in the cell that it was told") {
  const texts none;
  const std::vector<node_facts> nodes{node(0, {}, 4, 2), node(1, {}, 4, 2)};
  virtual_clusters all(make_chains(none, nodes), {{{0, 1, 1}}});  // a socket and a node
  // It was told GPUs of two sockets and has those of one.
  const virtual_clusters::held_pod pod{{{0, 4}, {0, 5}}, model::cell_place{"node", 0, {0, 2}}};
  REQUIRE(all.hold(1, {0, 0, false}, std::vector{pod}));
  CHECK(all.unused(0, 0, 2) == 0);
  CHECK(all.unused(0, 0, 1) == 1);
  // Another group cannot have GPUs of that cell elsewhere: it is in the socket.
  const virtual_clusters::held_pod other{{{0, 0}}, model::cell_place{"node", 0, {1}}};
  REQUIRE(all.hold(2, {0, 0, false}, std::vector{other}));
  CHECK(all.unused(0, 0, 1) == 0);
  const virtual_clusters::held_pod third{{{0, 2}}, std::nullopt};
  CHECK_FALSE(all.hold(3, {0, 0, false}, std::vector{third}));
  CHECK(all.is_safe());
}

TEST_CASE("a cell that has failed is shown to who owns it, and what is healthy in it can be used") {
  virtual_clusters all(two_racks(), {{{0, 0, 2}}});
  all.spoil({0, 0});
  all.settle();
  refusal why = refusal::none;
  const auto found = all.place(for_pods(0, {2, 2, 2, 1}), why);
  REQUIRE(found.has_value());
  CHECK(found->pods[3].gpus == std::vector<number>{1});
  CHECK_FALSE(all.place(for_pods(0, {2, 2, 2, 2}), why).has_value());
  CHECK(why == refusal::cells);
}

}  // namespace kaisched::hived
