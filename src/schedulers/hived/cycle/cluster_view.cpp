#include "schedulers/hived/cycle/cluster_view.hpp"

#include <algorithm>
#include <bit>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include <kaisched/table.hpp>

#include "base/text.hpp"
#include "framework/members.hpp"
#include "framework/topologies.hpp"
#include "model/account.hpp"
#include "schedulers/common/cycle/session_reader.hpp"
#include "schedulers/hived/rules/layout.hpp"
#include "schedulers/hived/rules/ownership.hpp"

namespace kaisched::hived {

namespace {

constexpr std::string_view gpu_product_label = "nvidia.com/gpu.product";

/// Numbers of the pairs of devices that are better linked to each other than to all others; -1: it has none.
std::vector<std::int64_t> pairs_of(const model::node_info& node) {
  const std::size_t count = node.devices.size();
  std::vector<std::int64_t> pairs(count, -1);
  const auto best_of = [&](std::size_t i) -> std::optional<std::size_t> {
    const std::vector<std::int64_t>& links = node.devices[i].links;
    if (links.size() != count) return std::nullopt;
    std::optional<std::size_t> best;
    bool only = true;
    for (std::size_t j = 0; j < count; ++j) {
      if (j == i || (best && links[j] < links[*best])) continue;
      only = !best || links[j] > links[*best];
      best = j;
    }
    return only ? best : std::nullopt;
  };
  for (std::size_t i = 0; i < count; ++i) {
    const auto other = best_of(i);
    if (other && best_of(*other) == i) pairs[i] = static_cast<std::int64_t>(std::min(i, *other));
  }
  return pairs;
}

class builder : schedulers::session_reader {
 public:
  explicit builder(const framework::session_state& c) : session_reader(c) {}

  result<cluster_view> make() {
    if (auto done = read_topology(); !done) return done.failure();
    std::vector<chain> chains = make_chains(levels_, nodes());
    std::map<queue_row, std::uint32_t> cluster_of;
    result<std::vector<cell_counts>> owned = owned_cells(chains, cluster_of);
    if (!owned) return owned.failure();
    cluster_view made{virtual_clusters(std::move(chains), *owned), std::move(cluster_of)};
    spoil(made.clusters);
    spoil_shared(made.clusters);
    hold(made);
    made.clusters.settle();
    return made;
  }

 private:
  result<void> read_topology() {
    const auto& chosen = c_.options.hived_topology;
    if (chosen.size() > 1) return error{status::argument, "option hived.topology: cells are of one topology", {}};
    const model::topology_info* found = nullptr;
    for (const model::topology_info& one : *s_.topologies) {
      if (!chosen.empty()
              ? one.name == chosen.front()
              : found == nullptr || std::pair(!one.primary, one.name) < std::pair(!found->primary, found->name))
        found = &one;
    }
    if (found == nullptr && !chosen.empty()) {
      return error{
          status::not_found, "option hived.topology: there is no topology '" + base::shown(chosen.front()) + "'", {}};
    }
    if (found == nullptr) return {};
    levels_ = found->levels;
    tree_ = framework::build_topology(s_, *found, false);
    return {};
  }

  [[nodiscard]] std::vector<std::uint32_t> domains_of(node_row row) const {
    std::vector<std::uint32_t> path;
    if (!tree_ || tree_->leaf[row] == no_row) return path;
    for (std::uint32_t at = tree_->leaf[row]; at != policy::topology::root_domain; at = tree_->domains[at].parent)
      path.push_back(at);
    std::ranges::reverse(path);
    return path;
  }

  /// Those of a domain beside each other, in the order of names.
  [[nodiscard]] std::vector<node_facts> nodes() const {
    std::vector<node_facts> all;
    for (const node_row row : *s_.rows_by_name) {
      const model::node_info& from = *(*s_.nodes)[row];
      node_facts& made = all.emplace_back();
      made.node = row;
      made.domains = domains_of(row);
      if (from.is_shared_by_vendors()) continue;
      const std::string* const product = model::find_label(from.labels, gpu_product_label);
      if (product != nullptr) {
        made.product = *product;
      } else if (!from.devices.empty()) {
        made.product = from.devices.front().model;
      }
      const std::vector<std::int64_t> pairs = pairs_of(from);
      for (std::uint32_t d = 0; d < from.device_count(); ++d) {
        if (from.devices.empty()) {
          made.devices.push_back({d, -1, -1});
        } else if (from.devices[d].sharing != model::sharing_mode::mig) {
          made.devices.push_back({d, from.devices[d].numa, pairs[d]});
        }
      }
    }
    const auto rank_of = [&](const node_facts& one) {
      std::vector<std::uint32_t> ranks;
      for (const std::uint32_t domain : one.domains) ranks.push_back(tree_->name_rank[domain]);
      return ranks;
    };
    std::ranges::stable_sort(all, {},
                             [&](const node_facts& one) { return std::pair(one.domains.empty(), rank_of(one)); });
    return all;
  }

  [[nodiscard]] result<std::vector<cell_counts>> owned_cells(std::span<const chain> chains,
                                                             std::map<queue_row, std::uint32_t>& cluster_of) const {
    std::vector<queue_row> leaves;
    for (queue_row q = 0; q < s_.queues->size(); ++q) {
      if (c_.queues.is_schedulable_queue(q)) leaves.push_back(q);
    }
    std::ranges::sort(leaves, {}, [&](queue_row q) { return std::string_view((*s_.queues)[q].name); });
    std::vector<cell_owner> owners;
    for (const queue_row q : leaves) {
      cluster_of.emplace(q, static_cast<std::uint32_t>(owners.size()));
      const std::int64_t quota = (*s_.queues)[q].quota[dim_gpu];
      owners.push_back({(*s_.queues)[q].name, quota == unlimited ? unlimited : quota / whole_device});
    }
    if (c_.options.hived_owned_cells.empty()) return cells_by_quota(chains, owners);
    std::vector<ownership> rows;
    for (const std::string& text : c_.options.hived_owned_cells) {
      result<ownership> one = parse_ownership(text);
      if (!one) return one.failure();
      rows.push_back(std::move(*one));
    }
    return cells_by_rows(chains, owners, rows);
  }

  template <class Do>
  void each_gpu(const virtual_clusters& clusters, pod_row p, const Do& act) const {
    const node_row row = node_of(p);
    if (row == no_row) return;
    for (std::uint64_t left = c_.live.pod_devices[p].mask; left != 0; left &= left - 1) {
      const auto gpu = clusters.find(row, static_cast<std::uint32_t>(std::countr_zero(left)));
      if (gpu) act(*gpu);
    }
  }

  /// GPUs that nobody can be given: they or their nodes have failed, or pods have them that do not leave for others, or
  /// that share them.
  void spoil(virtual_clusters& clusters) const {
    for (node_row row = 0; row < s_.node_count(); ++row) {
      const model::node_info& node = *(*s_.nodes)[row];
      for (std::uint32_t d = 0; d < node.device_count(); ++d) {
        const auto gpu = clusters.find(row, d);
        const bool good = node.open() && (node.devices.empty() || node.devices[d].is_offered());
        if (gpu && !good) clusters.spoil(*gpu);
      }
    }
    for (pod_row p = 0; p < s_.pod_slots; ++p) {
      if (!s_.pods[p].live || !model::is_in(status(p), model::active_used) || status(p) == pod_status::pipelined)
        continue;
      const bool stays = s_.pods[p].sub == no_row || status(p) == pod_status::stuck_in_releasing;
      each_gpu(clusters, p, [&](gpu_ref gpu) {
        if (status(p) == pod_status::releasing) {
          clusters.vacate(gpu);
        } else if (stays) {
          clusters.spoil(gpu);
        }
      });
    }
  }

  /// GPUs that several pods have are for nobody else, whoever leaves.
  void spoil_shared(virtual_clusters& clusters) {
    std::set<std::pair<std::uint32_t, std::uint32_t>> seen;
    for (pod_row p = 0; p < s_.pod_slots; ++p) {
      if (!s_.pods[p].live || !model::is_in(status(p), model::holding)) continue;
      each_gpu(clusters, p, [&](gpu_ref gpu) {
        if (seen.emplace(gpu.chain, gpu.gpu).second) return;
        shared_.emplace(gpu.chain, gpu.gpu);
        clusters.spoil(gpu);
      });
    }
  }

  /// What pods of a group hold, and whether they say in which cells.
  [[nodiscard]] std::vector<virtual_clusters::held_pod> held_by(const virtual_clusters& clusters, group_row g,
                                                                bool& told) const {
    std::vector<virtual_clusters::held_pod> held;
    told = true;
    each_pod(g, [&](pod_row p) {
      if (!model::is_in(status(p), model::holding)) return;
      virtual_clusters::held_pod one;
      each_gpu(clusters, p, [&](gpu_ref gpu) {
        if (!shared_.contains({gpu.chain, gpu.gpu})) one.gpus.push_back(gpu);
      });
      if (one.gpus.empty()) return;
      for (const std::string_view text : split_list(s_.told_of(p).device_grants)) {
        if (auto place = model::parse_cell_place(text)) one.told = std::move(place);
      }
      told = told && one.told;
      held.push_back(std::move(one));
    });
    return held;
  }

  /// Those who were told first: they have a right to their cells.
  void hold(cluster_view& world) const {
    std::vector<std::pair<group_row, std::vector<virtual_clusters::held_pod>>> told;
    std::vector<std::pair<group_row, std::vector<virtual_clusters::held_pod>>> others;
    for (const group_row g : c_.groups.in_order()) {
      if (framework::count_pods(c_, g, &model::sub_counts::holding) == 0) continue;
      bool all_told = true;
      auto held = held_by(world.clusters, g, all_told);
      if (!held.empty()) (all_told ? told : others).emplace_back(g, std::move(held));
    }
    for (const auto* list : {&told, &others}) {
      for (const auto& [g, held] : *list) {
        const group_facts facts = facts_of(c_, world, g);
        const bool in_cells = is_guaranteed(c_, g) && world.cluster_of.contains(s_.groups[g].queue) &&
                              world.clusters.hold(g, facts, held);
        if (!in_cells) world.clusters.hold_anyway(g, facts, held);
      }
    }
  }

  std::vector<std::string> levels_;
  std::optional<policy::topology::domain_tree> tree_;
  std::set<std::pair<std::uint32_t, std::uint32_t>> shared_;  ///< GPUs, by chain and number
};

}  // namespace

bool is_guaranteed(const framework::session_state& c, group_row group) {
  const model::group_core& of = c.state().groups[group];
  return !of.preemptible || of.priority >= c.options.hived_opportunistic_below;
}

std::uint32_t gpus_of(const model::pod_class& of) {
  if (of.asks_vendors() || of.claimed_devices > 0) return 0;
  return static_cast<std::uint32_t>(of.whole_devices + of.shared_count());
}

group_facts facts_of(const framework::session_state& c, const cluster_view& world, group_row group) {
  const model::group_core& of = c.state().groups[group];
  const auto cluster = world.cluster_of.find(of.queue);
  return {cluster == world.cluster_of.end() ? nothing : cluster->second, of.priority,
          !of.preemptible || c.groups.evicted_enough(group)};
}

result<cluster_view> view_of(const framework::session_state& c) { return builder(c).make(); }

}  // namespace kaisched::hived
