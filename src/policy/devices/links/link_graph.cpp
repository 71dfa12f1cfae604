// What the links of a node look like as a graph: islands, ways and cuts.

#include <algorithm>
#include <map>
#include <utility>

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/breadth_first_search.hpp>
#include <boost/graph/connected_components.hpp>
#include <boost/graph/stoer_wagner_min_cut.hpp>

#include "policy/devices/links/links.hpp"

namespace kaisched::devices {

namespace {

using weighted = boost::property<boost::edge_weight_t, std::int64_t>;
using graph = boost::adjacency_list<boost::vecS, boost::vecS, boost::undirectedS, boost::no_property, weighted>;

std::int64_t pair_score(const link_scores& links, std::size_t a, std::size_t b) {
  return std::max(links(a, b), links(b, a));
}

graph graph_of(const link_scores& links, std::size_t devices, std::int64_t score) {
  graph made(devices);
  for (std::size_t a = 0; a < devices; ++a) {
    for (std::size_t b = a + 1; b < devices; ++b) {
      if (pair_score(links, a, b) >= score) boost::add_edge(a, b, weighted{pair_score(links, a, b)}, made);
    }
  }
  return made;
}

}  // namespace

std::vector<std::size_t> link_islands(const link_scores& links, std::size_t devices, std::int64_t score) {
  const graph made = graph_of(links, devices, score);
  std::vector<std::size_t> island(devices);
  if (devices == 0) return island;
  boost::connected_components(made, boost::make_iterator_property_map(island.begin(), get(boost::vertex_index, made)));
  // The numbers are those of the algorithm; those of the first devices do not depend on it.
  std::map<std::size_t, std::size_t> number;
  for (std::size_t& one : island) one = number.emplace(one, number.size()).first->second;
  return island;
}

std::vector<std::int64_t> link_hops(const link_scores& links, std::size_t devices, std::int64_t score) {
  const graph made = graph_of(links, devices, score);
  std::vector<std::int64_t> hops(devices * devices, -1);
  for (std::size_t from = 0; from < devices; ++from) {
    const auto row = hops.begin() + static_cast<std::ptrdiff_t>(from * devices);
    row[static_cast<std::ptrdiff_t>(from)] = 0;
    const auto distances = boost::make_iterator_property_map(row, get(boost::vertex_index, made));
    boost::breadth_first_search(
        made, from, boost::visitor(boost::make_bfs_visitor(boost::record_distances(distances, boost::on_tree_edge{}))));
  }
  return hops;
}

std::int64_t link_cut(const container_grants& of, const link_scores& links) {
  if (of.size() < 2) return 0;
  graph made(of.size());
  for (std::size_t a = 0; a < of.size(); ++a) {
    for (std::size_t b = a + 1; b < of.size(); ++b) {
      const std::int64_t weight = std::max<std::int64_t>(pair_score(links, of[a].position, of[b].position), 0);
      boost::add_edge(a, b, weighted{weight}, made);
    }
  }
  return boost::stoer_wagner_min_cut(made, get(boost::edge_weight, made));
}

}  // namespace kaisched::devices
