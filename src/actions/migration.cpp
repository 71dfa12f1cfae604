#include "actions/migration.hpp"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "actions/placement.hpp"
#include "actions/step_cost.hpp"
#include "actions/victim_units.hpp"
#include "framework/members.hpp"

namespace kaisched::actions {

namespace {

using framework::node_set;
using framework::session_state;

struct migration {
  pod_row pod = no_row;
  framework::place to;
};

class mover {
 public:
  mover(session_state& c, group_row group, std::span<const group_row> groups)
      : c_(c), group_(group), here_(c.state().node_count(), 0) {
    std::copy_if(groups.begin(), groups.end(), std::back_inserter(groups_),
                 [&](group_row g) { return g != group && !c.groups.evicted_enough(g); });
    if (!groups_.empty()) sort_pods();
  }

  result<bool> run() {
    if (groups_.empty()) return false;
    const std::uint32_t start = c_.statement.depth();
    result<bool> found = find();
    c_.statement.rollback(start);
    if (!found || !*found) return found;
    for (const migration& one : chosen_) apply(one);
    framework::failure why;
    result<bool> placed = place_group(c_, group_, {true, nullptr, nullptr}, why);
    if (!placed || !*placed) c_.statement.rollback(start);
    return placed;
  }

 private:
  /// Pods that run, by node; of a node in the order of groups and pods.
  void sort_pods() {
    constexpr std::uint32_t runs = model::bit(pod_status::bound) | model::bit(pod_status::running);
    pods_on_.resize(c_.state().node_count());
    for (const group_row g : groups_) {
      for (const pod_row p : pods_of(c_, g)) {
        if (model::is_in(static_cast<pod_status>(c_.live.pod_state[p]), runs)) pods_on_[node_of(c_, p)].push_back(p);
      }
    }
  }

  /// How many pods of the group may be on the move beside those that are, and those that have no place.
  [[nodiscard]] std::int64_t budget_of(group_row group) const {
    std::int64_t left = c_.state().group_extras[group].disruption_budget;
    const model::group_core& g = c_.state().groups[group];
    for (sub_group_row sub = g.first_sub; sub < g.first_sub + g.sub_count; ++sub) {
      const model::sub_counts& n = c_.counts(sub);
      left -= std::int64_t{n.alive} + n.active_used - n.active_allocated - n.holding;
    }
    for (const leaving_pod& one : c_.statement.leaving) {
      const bool counts = c_.state().pods[one.pod].group == group &&
                          model::is_in(static_cast<pod_status>(c_.live.pod_state[one.pod]), model::holding);
      left -= counts ? 1 : 0;
    }
    return left;
  }

  /// Places pod after pod, and makes room for those that find none.
  result<bool> find() {
    for (const pod_row pod : c_.chunks.chunk_of(group_, true)) {
      if (static_cast<pod_status>(c_.live.pod_state[pod]) != pod_status::pending) return false;  // a chunk of long ago
      if (!c_.run.search_effort.goes_on()) return false;
      c_.run.search_effort.draw(steps_of_looks(c_, pod));
      result<framework::place> at = c_.choice.best(c_, pod, true);
      if (at && at->row == no_row) {
        result<bool> made = make_room(pod);
        if (!made || !*made) return made;
        at = c_.choice.best(c_, pod, true);
      }
      if (!at) return at.failure();
      if (at->row == no_row) return false;
      c_.statement.pipeline(pod, at->row, at->devices);
    }
    return !chosen_.empty();
  }

  /// Frees the node that takes the fewest migrations, of those the first by name.
  result<bool> make_room(pod_row pod) {
    std::vector<node_row> rows;
    for (node_row row = 0; row < pods_on_.size(); ++row) {
      if (!pods_on_[row].empty()) rows.push_back(row);
    }
    const std::vector<std::uint32_t>& rank = *c_.state().name_rank;
    std::sort(rows.begin(), rows.end(), [&](node_row a, node_row b) { return rank[a] < rank[b]; });
    std::vector<migration> best;
    for (const node_row row : rows) {
      if (!c_.run.search_effort.goes_on()) break;
      result<std::vector<migration>> found = free_node(pod, row);
      if (!found) return found.failure();
      if (found->empty() || (!best.empty() && found->size() >= best.size())) continue;
      best = std::move(*found);
      if (best.size() == 1) break;
    }
    for (const migration& one : best) {
      apply(one);
      chosen_.push_back(one);
    }
    return !best.empty();
  }

  /// Migrations after which the node would take the pod; none if that cannot be done. Each of them is needed.
  result<std::vector<migration>> free_node(pod_row pod, node_row row) {
    std::vector<pod_row> left = pods_on_[row];
    std::int64_t most = free_gpus(c_, row);
    for (const pod_row p : left) most += gpus_of(c_, p);
    std::vector<migration> made;
    if (most < gpus_wanted(c_, pod)) return made;
    const std::uint32_t start = c_.statement.depth();
    ++c_.run.sets_tried;
    c_.run.search_effort.draw(steps_of_trial + static_cast<std::int64_t>(left.size()));
    result<bool> enough = takes(pod, row);
    while (enough && !*enough && !left.empty()) {
      const pod_row next = take_next(left, gpus_wanted(c_, pod) - free_gpus(c_, row));
      result<framework::place> to = migrate(next, row);
      if (!to) return to.failure();
      if (to->row == no_row) continue;
      made.push_back({next, *to});
      enough = takes(pod, row);
    }
    for (std::size_t i = made.size(); enough && *enough && i-- > 0 && made.size() > 1;) {
      c_.statement.rollback(start);
      const migration without = made[i];
      made.erase(made.begin() + static_cast<std::ptrdiff_t>(i));
      for (const migration& one : made) apply(one);
      result<bool> still = takes(pod, row);
      if (!still) return still.failure();
      if (!*still) made.insert(made.begin() + static_cast<std::ptrdiff_t>(i), without);
    }
    c_.statement.rollback(start);
    if (!enough) return enough.failure();
    if (!*enough) made.clear();
    return made;
  }

  /// The smallest pod that frees what is lacking, else the largest. Takes it from the list.
  pod_row take_next(std::vector<pod_row>& left, std::int64_t lacking) const {
    const auto better = [&](pod_row a, pod_row b) {
      const std::int64_t x = gpus_of(c_, a);
      const std::int64_t y = gpus_of(c_, b);
      if ((x >= lacking) != (y >= lacking)) return x >= lacking;
      return x >= lacking ? x < y : x > y;
    };
    const auto at = std::min_element(left.begin(), left.end(), better);
    const pod_row found = *at;
    left.erase(at);
    return found;
  }

  /// Nowhere if the budget is used up or no other node is free now; then nothing has changed.
  result<framework::place> migrate(pod_row pod, node_row from) {
    if (budget_of(c_.state().pods[pod].group) <= 0 || c_.statement.is_leaving(pod)) return framework::place{};
    if (c_.access.budgets->refuses(pod)) return framework::place{};
    const std::uint32_t start = c_.statement.depth();
    c_.run.search_effort.draw(steps_of_looks(c_, pod));
    c_.statement.evict(pod);
    node_set elsewhere = domain_around(pod, from);
    elsewhere[from] = 0;
    result<framework::place> to = c_.choice.best(c_, pod, false, {&elsewhere, nullptr});
    c_.statement.rollback(start);
    if (!to || to->row == no_row || to->must_wait) return to ? framework::place{} : to;
    apply({pod, *to});
    return to;
  }

  /// The nodes that share a domain of every level that is required of the pod, with the node that it is on.
  [[nodiscard]] node_set domain_around(pod_row pod, node_row from) const {
    node_set nodes(c_.state().node_count(), 1);
    for (sub_group_row up = c_.topologies == nullptr ? no_row : c_.state().pods[pod].sub; up != no_row;
         up = c_.state().subs[up].parent) {
      const model::topology_ask* ask = c_.state().subs[up].together.get();
      if (ask == nullptr || ask->required_level.empty()) continue;
      for (const policy::topology::domain_tree& tree : *c_.topologies) {
        if (tree.name != ask->topology || tree.leaf[from] == no_row) continue;
        const std::uint32_t level = tree.level_named(ask->required_level);
        const std::uint32_t home = tree.domain_of(from, level);
        if (tree.grid_of(level) != nullptr) return node_set(nodes.size(), 0);  // it would leave the piece
        for (node_row row = 0; row < nodes.size(); ++row) {
          if (tree.leaf[row] == no_row || tree.domain_of(row, level) != home) nodes[row] = 0;
        }
      }
    }
    return nodes;
  }

  void apply(const migration& one) {
    c_.statement.evict(one.pod);
    c_.statement.allocate(one.pod, one.to.row, one.to.devices);
  }

  result<bool> takes(pod_row pod, node_row row) {
    here_[row] = 1;
    const result<framework::place> at = c_.choice.best(c_, pod, true, {&here_, nullptr});
    here_[row] = 0;
    if (!at) return at.failure();
    return at->row != no_row;
  }

  session_state& c_;
  group_row group_;
  std::vector<group_row> groups_;              ///< whose pods may migrate
  std::vector<std::vector<pod_row>> pods_on_;  ///< of these, by node
  node_set here_;                              ///< no node, but for the one that is asked about
  std::vector<migration> chosen_;
};

}  // namespace

result<bool> make_room_by_migration(session_state& c, group_row group, std::span<const group_row> groups) {
  return mover(c, group, groups).run();
}

}  // namespace kaisched::actions
