#include "actions/domain_filter.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "actions/chunk_members.hpp"
#include "actions/victim_units.hpp"
#include "framework/members.hpp"

namespace kaisched::actions {

namespace {

using framework::session_state;

/// GPUs of the pods of a set that run, and of those that the part of the group would start.
std::int64_t gpus_below(const session_state& c, sub_group_row set) {
  const model::cluster_state& s = c.state();
  const model::group_core& g = s.groups[s.subs[set].group];
  std::int64_t sum = 0;
  for (sub_group_row sub = g.first_sub; sub < g.first_sub + g.sub_count; ++sub) {
    sub_group_row up = sub;
    while (up != no_row && up != set) up = s.subs[up].parent;
    if (up != set) continue;
    for (pod_row p = s.subs[sub].first_pod; p != no_row; p = s.pods[p].next) {
      if (framework::is_active(c, p) ||
          std::binary_search(c.chunks.partial.pods.begin(), c.chunks.partial.pods.end(), p))
        sum += gpus_wanted(c, p);
    }
  }
  return sum;
}

}  // namespace

bool first_fit(const std::vector<std::int64_t>& requests, std::vector<std::int64_t> holders) {
  std::size_t from = 0;
  for (const std::int64_t request : requests) {
    if (request == 0) return true;
    // Requests descend, so what was too small stays too small only where it is smaller than all that follow: look again
    // from the first holder that still has something.
    while (from < holders.size() && holders[from] <= 0) ++from;
    const auto at = std::find_if(holders.begin() + static_cast<std::ptrdiff_t>(from), holders.end(),
                                 [&](std::int64_t room) { return room >= request; });
    if (at == holders.end()) return false;
    *at -= request;
  }
  return true;
}

void domain_filter::open(const session_state& c, group_row waiting) {
  if (c.topologies == nullptr) return;
  if (c.compat())
    open_compat(c, waiting);
  else
    open_strict(c, waiting);
}

domain_filter::domain_filter(const session_state& c, group_row waiting, std::span<const std::int64_t> free) {
  open(c, waiting);
  for (node_row row = 0; !levels_.empty() && row < free.size(); ++row) free_more(row, free[row]);
}

domain_filter::domain_filter(const session_state& c, group_row waiting) {
  open(c, waiting);
  for (node_row row = 0; !levels_.empty() && row < c.state().node_count(); ++row) {
    const std::int64_t free = free_gpus(c, row);
    free_more(row, c.compat() ? free : std::max<std::int64_t>(0, free));
  }
}

/// What a member wants to start must find room in one domain.
void domain_filter::open_strict(const session_state& c, group_row waiting) {
  const model::cluster_state& s = c.state();
  const model::group_core& g = s.groups[waiting];
  const chunk_members chunk(c, c.chunks.partial.chunk);
  for (sub_group_row sub = g.first_sub; sub < g.first_sub + g.sub_count; ++sub) {
    const model::topology_ask* ask = s.subs[sub].together.get();
    if (ask == nullptr || ask->required_level.empty()) continue;
    const auto tree = std::find_if(c.topologies->begin(), c.topologies->end(),
                                   [&](const policy::topology::domain_tree& one) { return one.name == ask->topology; });
    std::int64_t gpus = 0;
    for (const pod_row p : chunk.below(c, sub)) gpus += gpus_wanted(c, p);
    if (gpus == 0 || tree == c.topologies->end()) continue;
    level_demand made;
    made.requests.push_back(gpus);
    const std::uint32_t level = tree->level_named(ask->required_level);
    for (node_row row = 0; row < s.node_count(); ++row) {
      made.domain_of.push_back(tree->leaf[row] == no_row ? no_row : tree->domain_of(row, level));
    }
    made.free.assign(tree->domains.size(), 0);
    levels_.push_back(std::move(made));
  }
}

void domain_filter::open_compat(const session_state& c, group_row waiting) {
  const model::cluster_state& s = c.state();
  const model::group_core& g = s.groups[waiting];
  std::map<std::pair<std::string, std::string>, std::vector<std::int64_t>> asked;
  for (sub_group_row sub = g.first_sub; sub < g.first_sub + g.sub_count; ++sub) {
    const model::topology_ask* ask = s.subs[sub].together.get();
    if (!s.subs[sub].is_set || ask == nullptr || ask->required_level.empty()) continue;
    asked[{ask->topology, ask->required_level}].push_back(gpus_below(c, sub));
  }
  for (auto& [level, requests] : asked) {
    level_demand made;
    std::sort(requests.begin(), requests.end(), std::greater<>());
    made.requests = std::move(requests);
    std::map<std::string, std::uint32_t, std::less<>> domains;
    for (node_row row = 0; row < s.node_count(); ++row) {
      const std::string* value = model::find_label((*s.nodes)[row]->labels, level.second);
      const bool counts = value != nullptr && !value->empty();
      made.domain_of.push_back(
          counts ? domains.try_emplace(*value, static_cast<std::uint32_t>(domains.size())).first->second : no_row);
    }
    made.free.assign(domains.size(), 0);
    levels_.push_back(std::move(made));
  }
}

void domain_filter::free_more(node_row row, std::int64_t gpus) {
  for (level_demand& one : levels_) {
    if (one.domain_of[row] == no_row) continue;
    std::int64_t& free = one.free[one.domain_of[row]];
    free += gpus;
    one.most = std::max(one.most, free);
  }
}

bool domain_filter::plausible() const {
  return std::all_of(levels_.begin(), levels_.end(), [](const level_demand& one) {
    if (one.requests.front() == 0) return true;
    if (one.most < one.requests.front()) return false;
    if (one.requests.size() == 1) return true;
    std::vector<std::int64_t> free = one.free;
    std::sort(free.begin(), free.end(), std::greater<>());
    return first_fit(one.requests, std::move(free));
  });
}

}  // namespace kaisched::actions
