#include "actions/kai_node_sets.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <utility>

#include "framework/members.hpp"

namespace kaisched::actions {

namespace {

using framework::session_state;
namespace topology = policy::topology;

std::uint32_t level_of(const topology::domain_tree& tree, const std::string& label) {
  return label.empty() ? no_row : tree.level_named(label);
}

}  // namespace

topology::pods_ask kai_node_sets::asks_of(std::span<const pod_row> pods) const {
  const std::uint32_t dims = c_.state().dims();
  std::vector<topology::pod_ask> asks;
  class_row last = no_row;
  for (const pod_row p : pods) {
    const class_row row = c_.state().pods[p].pod_class;
    if (row == last) {
      ++asks.back().count;
      continue;
    }
    last = row;
    const model::pod_class& ask = c_.state().class_of(p);
    topology::pod_ask one{topology::amounts(dims, 0), 0};
    for (dimension d = 0; d < dims; ++d) one.request[d] = framework::to_native(d, ask.requests(d));
    one.gpus = framework::to_native(dim_gpu, ask.whole_devices * whole_device + ask.shared_devices * ask.device_share);
    asks.push_back(std::move(one));
  }
  return {asks, dims};
}

/// Only pod sets that have pods to place are looked at.
std::vector<node_row> kai_node_sets::nodes_in_use(std::span<const pod_row> pods) const {
  const model::cluster_state& s = c_.state();
  std::vector<sub_group_row> sets;
  for (const pod_row p : pods) sets.push_back(s.pods[p].sub);
  std::sort(sets.begin(), sets.end());
  sets.erase(std::unique(sets.begin(), sets.end()), sets.end());
  std::vector<node_row> rows;
  for (const sub_group_row sub : sets) {
    for (pod_row p = s.subs[sub].first_pod; p != no_row; p = s.pods[p].next) {
      if (framework::is_active(c_, p) && c_.live.pod_node[p] != no_row) {
        rows.push_back((*s.node_row_of_slot)[c_.live.pod_node[p]]);
      }
    }
  }
  return rows;
}

kai_node_sets::domain_sets kai_node_sets::sets_of(sub_group_row member, const model::topology_ask& ask,
                                                  std::span<const pod_row> pods, const framework::node_set* offered,
                                                  framework::failure& why) {
  const auto at = std::find_if(c_.topologies->begin(), c_.topologies->end(),
                               [&](const topology::domain_tree& tree) { return tree.name == ask.topology; });
  if (at == c_.topologies->end()) return {};
  const topology::domain_tree& tree = *at;
  const std::vector<node_row>& all = tree.domains[topology::root_domain].nodes;
  std::vector<node_row> valid;
  if (offered != nullptr)
    std::copy_if(all.begin(), all.end(), std::back_inserter(valid), [&](node_row row) { return (*offered)[row] != 0; });
  const topology::level_constraint levels{level_of(tree, ask.required_level), level_of(tree, ask.preferred_level)};
  const std::uint32_t common = topology::common_domain(tree, offered == nullptr ? all : valid, levels.preferred);
  topology::domain_book& book = c_.books.of(c_, tree);
  const topology::pods_ask asks = asks_of(pods);
  const std::vector<node_row> in_use = nodes_in_use(pods);
  topology::domain_choice made =
      common == topology::root_domain
          ? topology::choose_domains(tree, common, levels, asks, in_use, book.counts_of(asks))
          : topology::choose_domains(tree, common, levels, asks, in_use, book.rooms());
  if (!made.scores.empty())
    preferred_.insert_or_assign(member, topology::preferred_domains(tree, std::move(made.scores)));
  std::vector<std::int64_t> room = made.room;
  std::sort(room.begin(), room.end(), std::greater<>());
  for (const std::int64_t have : room) {
    if (why.domains.empty() || why.domains.back().have != have)
      why.domains.push_back({static_cast<std::int64_t>(pods.size()), have, 0});
    ++why.domains.back().domains;
  }
  return {&tree, std::move(made.domains)};
}

const topology::preferred_domains* kai_node_sets::preferred_of(sub_group_row pod_set) const {
  for (sub_group_row sub = pod_set; sub != no_row; sub = c_.state().subs[sub].parent) {
    const auto at = preferred_.find(sub);
    if (at != preferred_.end()) return &at->second;
  }
  return nullptr;
}

}  // namespace kaisched::actions
