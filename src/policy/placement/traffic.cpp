// Pods that talk to each other go near each other in the topology; others leave compact domains to those (Amaral et
// al., SC 2017; Rajasekaran et al., CASSINI, NSDI 2024).
#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "policy/access.hpp"
#include "policy/parts.hpp"

namespace kaisched::policy {

namespace {

/// Of `session_view::topologies` the primary one, or the first by name.
const model::topology_info* main_topology(const model::cluster_state& s) {
  const model::topology_info* found = nullptr;
  for (const model::topology_info& one : *s.topologies) {
    const bool better = found == nullptr || (one.primary && !found->primary) ||
                        (one.primary == found->primary && one.name < found->name);
    if (better) found = &one;
  }
  return found;
}

class traffic_part final : public policy_part {
 public:
  explicit traffic_part(const policy_options& options) : least_(options.traffic_least) {}
  [[nodiscard]] std::string_view name() const noexcept override { return "traffic"; }
  [[nodiscard]] std::uint32_t capabilities() const noexcept override { return part_scores_nodes; }

  result<void> session_open(const session_view& view) override {
    const model::cluster_state& s = *inside(view).state;
    const model::topology_info* info = main_topology(s);
    if (info == nullptr) return {};
    std::vector<std::uint32_t> above(s.node_count(), 0);  // all are in the cluster
    for (const std::string& label : info->levels) {
      level made;
      std::map<std::pair<std::uint32_t, std::string_view>, std::uint32_t> known;
      for (node_row row = 0; row < s.node_count(); ++row) {
        const std::string* value = model::find_label((*s.nodes)[row]->labels, label);
        const bool inside_one = above[row] != no_row && value != nullptr;
        above[row] = inside_one ? known.try_emplace({above[row], *value}, known.size()).first->second : no_row;
      }
      made.domain = above;
      made.domains = known.size();
      levels_.insert(levels_.begin(), std::move(made));
    }
    return {};
  }

  result<void> score_nodes(const session_view& view, pod_row pod, std::span<const node_row> nodes,
                           std::span<double> scores) override {
    const session_access& a = inside(view);
    const group_row group = a.state->pods[pod].group;
    if (group == no_row) return {};
    const pods_there of = look_at(a, group);
    const bool talks = of.pods > 1 && a.state->group_extras[group].traffic >= least_;
    if (talks && !of.placed.empty()) {
      score_near(a, of.placed, nodes, scores);
    } else if (a.state->class_of(pod).wants_gpu()) {
      score_room(a, talks ? of.wanted : 0, nodes, scores);
    }
    return {};
  }

 private:
  /// Domains of a level of the topology, the narrowest first.
  struct level {
    std::vector<std::uint32_t> domain;  ///< by node row; no_row: in none
    std::size_t domains = 0;
  };
  struct pods_there {
    std::int64_t pods = 0;
    std::int64_t wanted = 0;  ///< milli-GPU of those that wait
    std::vector<node_row> placed;
  };

  static pods_there look_at(const session_access& a, group_row group) {
    const model::cluster_state& s = *a.state;
    const model::group_core& g = s.groups[group];
    pods_there found;
    for (sub_group_row sub = g.first_sub; sub < g.first_sub + g.sub_count; ++sub) {
      for (pod_row p = s.subs[sub].first_pod; p != no_row; p = s.pods[p].next) {
        const auto status = static_cast<pod_status>(a.live->pod_state[p]);
        if (!model::is_in(status, model::alive)) continue;
        ++found.pods;
        if (status == pod_status::pending) found.wanted += std::max<std::int64_t>(0, s.class_of(p).requests(dim_gpu));
        if (!model::is_in(status, model::active_allocated)) continue;
        found.placed.push_back((*s.node_row_of_slot)[a.live->pod_node[p]]);
      }
    }
    return found;
  }

  /// The levels between each node and those that are placed, in sum: 0 on the same node, one more for each level that
  /// they do not share.
  void score_near(const session_access& a, const std::vector<node_row>& placed, std::span<const node_row> nodes,
                  std::span<double> scores) const {
    std::vector<std::int64_t> shared(nodes.size(), 0);
    std::vector<std::int64_t> count(a.state->node_count(), 0);
    for (const node_row row : placed) ++count[row];
    for (std::size_t i = 0; i < nodes.size(); ++i) shared[i] = count[nodes[i]];
    for (const level& one : levels_) {
      count.assign(one.domains, 0);
      for (const node_row row : placed) {
        if (one.domain[row] != no_row) ++count[one.domain[row]];
      }
      for (std::size_t i = 0; i < nodes.size(); ++i) {
        if (one.domain[nodes[i]] != no_row) shared[i] += count[one.domain[nodes[i]]];
      }
    }
    const auto most = static_cast<double>(placed.size() * (levels_.size() + 1));
    for (std::size_t i = 0; i < nodes.size(); ++i) scores[i] += figures_band * static_cast<double>(shared[i]) / most;
  }

  /// The narrowest domain with so many GPUs free, of several the one with the least. A node is a domain as well, but
  /// for pods that ask for no room: these go where the domain of the lowest level has least.
  void score_room(const session_access& a, std::int64_t wanted, std::span<const node_row> nodes,
                  std::span<double> scores) const {
    const model::cluster_state& s = *a.state;
    std::vector<std::int64_t> of_node(s.node_count());
    std::int64_t all = 0;
    for (node_row row = 0; row < s.node_count(); ++row) {
      const std::size_t at = static_cast<std::size_t>(row) * s.dims() + dim_gpu;
      of_node[row] = std::max<std::int64_t>(0, (*a.live->idle)[at] + (*a.live->releasing)[at]);
      all += of_node[row];
    }
    if (all == 0) return;
    constexpr std::int64_t none = -1;
    std::vector<std::int64_t> free(nodes.size(), none);  // of the domain that was found
    std::vector<std::int64_t> step(nodes.size(), 0);
    std::int64_t steps = 0;
    const auto offer = [&](std::size_t i, std::int64_t room) {
      if (free[i] != none || room < wanted) return;
      free[i] = room;
      step[i] = steps;
    };
    for (std::size_t i = 0; wanted > 0 && i < nodes.size(); ++i) offer(i, of_node[nodes[i]]);
    for (const level& one : levels_) {
      ++steps;
      std::vector<std::int64_t> of_domain(one.domains, 0);
      for (node_row row = 0; row < s.node_count(); ++row) {
        if (one.domain[row] != no_row) of_domain[one.domain[row]] += of_node[row];
      }
      for (std::size_t i = 0; i < nodes.size(); ++i) {
        if (one.domain[nodes[i]] != no_row) offer(i, of_domain[one.domain[nodes[i]]]);
      }
    }
    ++steps;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      if (free[i] == none) step[i] = steps, free[i] = all;
      // One step is worth more than all GPUs of the cluster.
      const double narrow =
          static_cast<double>(steps - step[i]) + 1 - static_cast<double>(free[i]) / static_cast<double>(all);
      scores[i] += figures_band * narrow / static_cast<double>(steps + 1);
    }
  }

  std::int64_t least_;  ///< MB/s
  std::vector<level> levels_;
};

}  // namespace

std::unique_ptr<policy_part> make_traffic(const policy_options& options) {
  return std::make_unique<traffic_part>(options);
}

}  // namespace kaisched::policy
