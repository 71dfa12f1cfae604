// Demands and nodes as a network: kinds of pods that have too few nodes together are one side of a minimum cut.
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/push_relabel_max_flow.hpp>

#include "session/certificate_bounds.hpp"

namespace kaisched::session_detail {

namespace {

using traits = boost::adjacency_list_traits<boost::vecS, boost::vecS, boost::directedS>;
using network = boost::adjacency_list<
    boost::vecS, boost::vecS, boost::directedS, boost::no_property,
    boost::property<boost::edge_capacity_t, std::int64_t,
                    boost::property<boost::edge_residual_capacity_t, std::int64_t,
                                    boost::property<boost::edge_reverse_t, traits::edge_descriptor>>>>;

void connect(network& to, std::size_t from, std::size_t into, std::int64_t capacity) {
  if (capacity <= 0) return;
  const auto there = boost::add_edge(from, into, to).first;
  const auto back = boost::add_edge(into, from, to).first;
  boost::put(boost::edge_capacity, to, there, capacity);
  boost::put(boost::edge_capacity, to, back, std::int64_t{0});
  boost::put(boost::edge_reverse, to, there, back);
  boost::put(boost::edge_reverse, to, back, there);
}

/// What can be reached where capacity is left: the smallest source side of all minimum cuts, whichever flow was found.
std::vector<bool> source_side(const network& of, std::size_t source) {
  std::vector<bool> reached(boost::num_vertices(of), false);
  std::vector<std::size_t> open{source};
  reached[source] = true;
  while (!open.empty()) {
    const std::size_t from = open.back();
    open.pop_back();
    const auto [first, last] = boost::out_edges(from, of);
    for (auto edge = first; edge != last; ++edge) {
      const std::size_t into = boost::target(*edge, of);
      if (reached[into] || boost::get(boost::edge_residual_capacity, of, *edge) <= 0) continue;
      reached[into] = true;
      open.push_back(into);
    }
  }
  return reached;
}

}  // namespace

std::optional<kind_set> violating_kinds(std::span<const flow_demand> demands, std::span<const flow_supply> supplies,
                                        std::uint32_t kinds) {
  const std::size_t source = 0;
  const std::size_t sink = 1;
  const std::size_t first_demand = 2;
  const std::size_t first_kind = first_demand + demands.size();
  const std::size_t first_supply = first_kind + kinds;
  network all(first_supply + supplies.size());
  std::int64_t wanted = 0;
  for (std::size_t i = 0; i < demands.size(); ++i) {
    wanted += demands[i].pods;
    connect(all, source, first_demand + i, demands[i].pods);
    for (const auto& [kind, count] : demands[i].kinds) connect(all, first_demand + i, first_kind + kind, count);
  }
  for (std::size_t i = 0; i < supplies.size(); ++i) {
    for (std::uint32_t kind = 0; kind < kinds; ++kind)
      connect(all, first_kind + kind, first_supply + i, supplies[i].takes[kind] * supplies[i].nodes);
    connect(all, first_supply + i, sink, supplies[i].in_all * supplies[i].nodes);
  }
  if (boost::push_relabel_max_flow(all, source, sink) >= wanted) return std::nullopt;
  const std::vector<bool> reached = source_side(all, source);
  kind_set short_ones(kinds, false);
  for (std::uint32_t kind = 0; kind < kinds; ++kind) short_ones[kind] = reached[first_kind + kind];
  return short_ones;
}

}  // namespace kaisched::session_detail
