#include "schedulers/yunikorn/rules/node_index.hpp"

#include <algorithm>

#include "schedulers/yunikorn/rules/shares.hpp"

namespace kaisched::yunikorn {

node_index::node_index(const cluster_state& cluster)
    : cluster_(cluster),
      versions_(cluster.nodes.size()),
      ranks_(name_ranks(cluster.nodes)),
      heaps_(cluster.kinds.size()),
      too_few_(cluster.kinds.size()) {
  for (const node_state& node : cluster.nodes) scores_.push_back(node_score(node, cluster.order));
}

bool node_index::refuses(row kind, row node) const {
  const auto& refused = cluster_.kinds[kind].refused;
  if (refused != nullptr && (*refused)[node]) return true;
  return !refused_.empty() && refused_.contains({kind, node});
}

bool node_index::takes(row kind, row node) const {
  return cluster_.nodes[node].reserved_for == no_row &&
         fits(cluster_.kinds[kind].request, cluster_.nodes[node].available) &&
         leaves_enough(cluster_.kinds[kind], cluster_.nodes[node].available) && !refuses(kind, node);
}

void node_index::changed(row node) {
  scores_[node] = node_score(cluster_.nodes[node], cluster_.order);
  ++versions_[node];
  changes_.push_back(node);
}

void node_index::push(kind_heap& to, row kind, row node) {
  if (!takes(kind, node)) return;
  to.nodes.push_back({scores_[node], ranks_[node], static_cast<std::uint32_t>(node), versions_[node]});
  std::push_heap(to.nodes.begin(), to.nodes.end());
}

std::int64_t node_index::places(row kind, std::int64_t enough) {
  place_count& known = too_few_[kind];
  if (known.seen == changes_.size() + 1) return known.count;
  const amounts& request = cluster_.kinds[kind].request;
  std::int64_t sum = 0;
  for (row node = 0; node < cluster_.nodes.size(); ++node) {
    if (!takes(kind, node)) continue;
    std::int64_t here = enough;
    for (std::size_t d = 0; d < request.size(); ++d) {
      if (request[d] > 0) here = std::min(here, cluster_.nodes[node].available[d] / request[d]);
    }
    sum += here;
    if (sum >= enough) return sum;
  }
  known = {changes_.size() + 1, sum};
  return sum;
}

row node_index::first(row kind) {
  kind_heap& heap = heaps_[kind];
  if (!heap.is_open) {
    heap.is_open = true;
    for (row node = 0; node < cluster_.nodes.size(); ++node) push(heap, kind, node);
  } else {
    for (; heap.seen < changes_.size(); ++heap.seen) {
      const row node = changes_[heap.seen];
      // Of several changes the last one counts.
      if (heap.seen + 1 < changes_.size() && changes_[heap.seen + 1] == node) continue;
      push(heap, kind, node);
    }
  }
  heap.seen = changes_.size();
  while (!heap.nodes.empty()) {
    const entry& top = heap.nodes.front();
    if (top.version == versions_[top.node] && takes(kind, top.node)) return top.node;
    std::pop_heap(heap.nodes.begin(), heap.nodes.end());
    heap.nodes.pop_back();
  }
  return no_row;
}

}  // namespace kaisched::yunikorn
