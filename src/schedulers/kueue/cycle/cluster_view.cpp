#include "schedulers/kueue/cycle/cluster_view.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <optional>
#include <string_view>
#include <utility>

#include "actions/placement.hpp"
#include "actions/victim_units.hpp"
#include "base/int128.hpp"
#include "base/saturating.hpp"
#include "framework/members.hpp"
#include "model/selector.hpp"
#include "policy/access.hpp"
#include "schedulers/common/cycle/session_reader.hpp"

namespace kaisched::kueue {

namespace {

using kind_of_quota = quota_setting::kind;

constexpr std::uint32_t resource_count = quota_dimensions;

/// Flavors and what their nodes have.
struct flavor_list {
  std::vector<std::string> names;    ///< by name
  std::vector<std::uint32_t> order;  ///< in which they are tried
  std::vector<std::uint32_t> of_node;
  std::vector<model::quota_vector> capacity;
};

flavor_list flavors_of(const model::cluster_state& s, const scheduler_setup& setup) {
  flavor_list made;
  if (setup.flavor_label.empty()) {
    made.names = {"nodes"};
  } else if (!setup.flavors.empty()) {
    made.names = setup.flavors;
  } else {
    for (const auto& node : *s.nodes) {
      const std::string* const value = model::find_label(node->labels, setup.flavor_label);
      if (value != nullptr) made.names.push_back(*value);
    }
  }
  std::ranges::sort(made.names);
  made.names.erase(std::unique(made.names.begin(), made.names.end()), made.names.end());
  const auto number_of = [&](const std::string& name) {
    const auto at = std::ranges::lower_bound(made.names, name);
    return at != made.names.end() && *at == name ? static_cast<std::uint32_t>(at - made.names.begin()) : no_flavor;
  };
  for (const std::string& name : setup.flavors) made.order.push_back(number_of(name));
  if (made.order.empty()) {
    made.order.resize(made.names.size());
    std::iota(made.order.begin(), made.order.end(), 0U);
  }
  made.capacity.resize(made.names.size());
  made.of_node.assign(s.node_count(), no_flavor);
  for (node_row row = 0; row < s.node_count(); ++row) {
    if (setup.flavor_label.empty()) {
      made.of_node[row] = 0;
    } else if (const auto* value = model::find_label((*s.nodes)[row]->labels, setup.flavor_label); value != nullptr) {
      made.of_node[row] = number_of(*value);
    }
    if (made.of_node[row] == no_flavor) continue;
    model::quota_vector& sum = made.capacity[made.of_node[row]];
    for (std::uint32_t r = 0; r < resource_count; ++r)
      sum[r] = base::saturating_add(sum[r], (*s.capacity)[static_cast<std::size_t>(row) * s.dims() + r]);
  }
  return made;
}

/// Which resources quotas are about: GPUs, and what some queue has a quota or a limit of. Others only nodes count.
std::array<bool, resource_count> covered_resources(const model::cluster_state& s, const scheduler_setup& setup) {
  std::array<bool, resource_count> made{};
  made[dim_gpu] = true;
  for (const model::queue_info& queue : *s.queues) {
    for (std::uint32_t r = 0; r < resource_count && queue.live; ++r)
      made[r] = made[r] || queue.quota[r] != unlimited || queue.limit[r] != unlimited;
  }
  for (const quota_setting& one : setup.quotas) made[one.resource] = true;
  return made;
}

/// Quotas of queues by flavor, from what their rows say and settings.
class quota_maker {
 public:
  quota_maker(const model::cluster_state& s, const scheduler_setup& setup, const flavor_list& flavors)
      : s_(s),
        setup_(setup),
        flavors_(flavors),
        covered_(covered_resources(s, setup)),
        children_(s.queues->size()),
        subtree_(s.queues->size()) {
    std::vector<queue_row> rows;
    for (queue_row q = 0; q < s.queues->size(); ++q) {
      if ((*s.queues)[q].live) rows.push_back(q);
    }
    std::ranges::sort(rows, {}, [&](queue_row q) -> const std::string& { return (*s.queues)[q].name; });
    for (const queue_row q : rows) {
      const queue_row above = (*s.queues)[q].parent;
      (above == kaisched::no_row ? roots_ : children_[above]).push_back(q);
    }
  }

  void make(cluster_view& into) {
    for (const queue_row q : roots_) {
      find_quotas(q, true);
      add(q, no_node, into);
    }
    into.state.tree.finish();
  }
  /// By queue slot, the position of a queue with groups.
  [[nodiscard]] const std::map<queue_row, std::size_t>& positions() const { return positions_; }

 private:
  using by_cell = std::vector<std::int64_t>;  ///< flavors x resources

  [[nodiscard]] std::size_t cell(std::uint32_t flavor, std::uint32_t resource) const {
    return static_cast<std::size_t>(flavor) * resource_count + resource;
  }
  [[nodiscard]] const model::queue_info& info(queue_row q) const { return (*s_.queues)[q]; }

  [[nodiscard]] std::optional<amount> told(queue_row q, kind_of_quota what, std::uint32_t flavor,
                                           std::uint32_t resource) const {
    std::optional<amount> found;
    for (const quota_setting& one : setup_.quotas) {
      if (one.what != what || one.resource != resource || one.queue != info(q).name) continue;
      if (!one.flavor || *one.flavor == flavors_.names[flavor]) found = one.value;
    }
    return found;
  }

  /// An amount for all flavors goes to them as their nodes have of it, what is left of the division to the first.
  [[nodiscard]] std::vector<std::int64_t> divided(std::int64_t value, std::uint32_t resource) const {
    std::vector<std::int64_t> parts(flavors_.names.size());
    base::int128 total = 0;
    for (const model::quota_vector& one : flavors_.capacity) total += one[resource];
    std::int64_t rest = value;
    for (std::uint32_t f = 0; f < parts.size() && total > 0; ++f) {
      parts[f] = static_cast<std::int64_t>(static_cast<base::int128>(value) * flavors_.capacity[f][resource] / total);
      rest -= parts[f];
    }
    if (!parts.empty()) parts[flavors_.order.front()] += rest;
    return parts;
  }

  /// By flavor; empty: there is no limit.
  [[nodiscard]] std::vector<std::int64_t> limits_of(queue_row q, std::uint32_t r) const {
    return info(q).limit[r] == unlimited ? std::vector<std::int64_t>() : divided(info(q).limit[r], r);
  }

  /// What a subtree has of its own. Without a quota the top of a tree has all of its flavors, and what is below it
  /// nothing of its own.
  void find_quotas(queue_row q, bool is_root) {
    for (const queue_row child : children_[q]) find_quotas(child, false);
    by_cell& mine = subtree_[q];
    mine.assign(flavors_.names.size() * resource_count, 0);
    for (std::uint32_t r = 0; r < resource_count; ++r) {
      const std::int64_t quota = info(q).quota[r];
      const std::vector<std::int64_t> parts =
          quota == unlimited ? std::vector<std::int64_t>(flavors_.names.size()) : divided(quota, r);
      const std::vector<std::int64_t> bounds = limits_of(q, r);
      for (std::uint32_t f = 0; f < flavors_.names.size(); ++f) {
        const std::int64_t below = sum_below(q, cell(f, r));
        std::int64_t own = quota == unlimited && is_root ? flavors_.capacity[f][r] : parts[f];
        if (!bounds.empty()) own = std::min(own, bounds[f]);
        if (const auto said = told(q, kind_of_quota::nominal, f, r)) own = base::saturating_add(said->value(), below);
        mine[cell(f, r)] = std::max(own, below);
      }
    }
  }

  [[nodiscard]] std::int64_t sum_below(queue_row q, std::size_t at) const {
    std::int64_t sum = 0;
    for (const queue_row child : children_[q]) sum = base::saturating_add(sum, subtree_[child][at]);
    return sum;
  }

  void add(queue_row q, node_id parent, cluster_view& into) {
    quota_tree& tree = into.state.tree;
    const bool is_queue = children_[q].empty();
    const double weight = info(q).weight[dim_gpu];
    const node_id node = is_queue ? tree.add_queue(parent, weight) : tree.add_cohort(parent, weight);
    for (std::uint32_t r = 0; r < resource_count; ++r) {
      const std::vector<std::int64_t> bounds = limits_of(q, r);
      for (std::uint32_t f = 0; f < flavors_.names.size(); ++f) {
        const amount all(subtree_[q][cell(f, r)]);
        const amount below(sum_below(q, cell(f, r)));
        cell_quota quota;
        quota.nominal = all - below;
        if (parent != no_node && !bounds.empty()) quota.borrowing_limit = std::max(amount(), amount(bounds[f]) - all);
        if (parent != no_node) {
          if (const auto said = told(q, kind_of_quota::borrowing, f, r)) quota.borrowing_limit = *said;
          if (const auto said = told(q, kind_of_quota::lending, f, r)) quota.lending_limit = *said;
        }
        if (quota.borrowing_limit && quota.borrowing_limit->is_unlimited()) quota.borrowing_limit.reset();
        if (quota.lending_limit && quota.lending_limit->is_unlimited()) quota.lending_limit.reset();
        tree.set_quota(node, tree.cells().at(f, r), quota);
      }
    }
    for (const queue_row child : children_[q]) add(child, node, into);
    if (!is_queue) return;
    const queue_policy& policy = setup_.policy_of(info(q).name);
    cycle_queue& queue = into.queues.emplace_back();
    queue.node = node;
    flavor_group group;
    for (std::uint32_t r = 0; r < resource_count; ++r) {
      if (covered_[r]) group.resources.push_back(r);
    }
    group.flavors = flavors_.order;
    queue.groups.push_back(std::move(group));
    queue.rules = policy.rules;
    queue.preemption = policy.preemption;
    const bool reclaims = policy.preemption.reclaim_within_cohort != victim_policy::never;
    queue.preempts_while_borrowing =
        policy.preemption.borrow_within_cohort.has_value() || (setup_.by_shares && reclaims);
    positions_[q] = into.queue_rows.size();
    into.queue_rows.push_back(q);
    into.strict_order.push_back(policy.strict_order ? 1 : 0);
  }

  const model::cluster_state& s_;
  const scheduler_setup& setup_;
  const flavor_list& flavors_;
  std::array<bool, resource_count> covered_;
  std::vector<queue_row> roots_;
  std::vector<std::vector<queue_row>> children_;
  std::vector<by_cell> subtree_;
  std::map<queue_row, std::size_t> positions_;
};

class workload_reader : schedulers::session_reader {
 public:
  workload_reader(const framework::session_state& c, const scheduler_setup& setup,
                  const std::map<queue_row, std::size_t>& at, cluster_view& into)
      : session_reader(c),
        setup_(setup),
        covered_(covered_resources(s_, setup)),
        position_(at),
        into_(into),
        asks_(s_.classes.size()) {}

  void read() {
    const auto holds = [&](group_row g) {
      return position_.contains(s_.groups[g].queue) &&
             framework::count_pods(c_, g, &model::sub_counts::active_used) > 0;
    };
    for (const group_row g : groups_that(holds)) add_running(g);
    find_topology();
    for (const group_row g : actions::groups_to_start(c_)) add_waiting(g);
  }

 private:
  /// What a pod asks of quotas.
  const model::quota_vector& ask_of(class_row kind) {
    if (!asks_[kind]) {
      asks_[kind] = c_.queues.asked(*s_.classes[kind]);
      for (std::uint32_t r = 0; r < resource_count; ++r) {
        if (!covered_[r]) (*asks_[kind])[r] = 0;
      }
    }
    return *asks_[kind];
  }

  void add_running(group_row g) {
    const model::group_core& from = s_.groups[g];
    running_workload& made = into_.state.running.emplace_back();
    into_.running.push_back(g);
    into_.state.hidden.push_back(!from.preemptible || c_.groups.evicted_enough(g) ||
                                 (c_.access.budgets->used() && c_.access.budgets->refuses(actions::pods_of(c_, g))));
    made.queue = into_.queues[position_.at(from.queue)].node;
    made.priority = from.priority;
    made.queued_at = from.created;
    if (c_.groups.last_start(g) != unset) made.reserved_at = c_.groups.last_start(g);
    made.id = s_.group_names[g];
    made.name = made.id;
    made.evicted = true;
    const cell_space& cells = into_.state.tree.cells();
    each_pod(g, [&](pod_row p) {
      if (!model::is_in(status(p), model::active_used)) return;
      if (model::is_in(status(p), model::active_allocated)) made.evicted = false;
      const node_row node = node_of(p);
      if (node == no_row || into_.flavor_of_node[node] == no_flavor) return;
      const model::quota_vector& ask = ask_of(s_.pods[p].pod_class);
      for (std::uint32_t r = 0; r < resource_count; ++r) {
        if (ask[r] > 0) add_to(made.usage, cells.at(into_.flavor_of_node[node], r), amount(ask[r]));
      }
    });
    for (const cell_amount& one : made.usage) made.cells.push_back(one.cell);
    into_.state.tree.add_usage(made.queue, made.usage);
  }

  void find_topology() {
    const auto exists = [&](std::string_view name) {
      return std::ranges::any_of(*s_.topologies, [&](const auto& one) { return one.name == name; });
    };
    if (!setup_.topology.empty()) {
      if (exists(setup_.topology)) into_.topology = setup_.topology;
      return;
    }
    std::optional<std::string_view> first;
    for (group_row g = 0; g < s_.group_slots; ++g) {
      if (!s_.groups[g].live) continue;
      for (sub_group_row sub = s_.groups[g].first_sub; sub < s_.groups[g].first_sub + s_.groups[g].sub_count; ++sub) {
        const model::topology_ask* const ask = s_.subs[sub].together.get();
        if (ask != nullptr && exists(ask->topology) && (!first || ask->topology < *first)) first = ask->topology;
      }
    }
    if (first) into_.topology = *first;
  }

  void add_waiting(group_row g) {
    const model::group_core& from = s_.groups[g];
    const auto queue = position_.find(from.queue);
    if (queue == position_.end()) return;
    waiting_workload made;
    made.group = g;
    made.queue = queue->second;
    made.head.queue = queue->second;
    made.head.priority = from.priority;
    made.head.queued_at = from.created;
    made.head.name = s_.group_names[g];
    bool fewer = false;
    for (sub_group_row sub = from.first_sub; sub < from.first_sub + from.sub_count; ++sub) {
      if (!s_.subs[sub].is_set) fewer = add_sets(sub, made) || fewer;
    }
    if (made.sets.empty()) return;
    if (!fewer) made.head.fewest.clear();
    find_places_asked(made);
    into_.waiting.push_back(std::move(made));
  }

  /// The pods of a pod set that wait, those of one class together. True if fewer of them will do.
  bool add_sets(sub_group_row sub, waiting_workload& to) {
    const std::size_t before = to.sets.size();
    for (pod_row p = s_.subs[sub].first_pod; p != kaisched::no_row; p = s_.pods[p].next) {
      if (status(p) != pod_status::pending) continue;
      const class_row kind = s_.pods[p].pod_class;
      auto at = std::find_if(to.sets.begin() + static_cast<std::ptrdiff_t>(before), to.sets.end(),
                             [&](const waiting_set& one) { return one.kind == kind; });
      if (at == to.sets.end()) {
        to.sets.emplace_back();
        at = std::prev(to.sets.end());
        at->sub = sub;
        at->kind = kind;
      }
      at->pods.push_back(p);
    }
    bool fewer = false;
    for (std::size_t i = before; i < to.sets.size(); ++i) {
      const auto count = static_cast<std::int64_t>(to.sets[i].pods.size());
      pod_set_demand& demand = to.head.demands.emplace_back();
      demand.count = count;
      const model::quota_vector& ask = ask_of(to.sets[i].kind);
      for (std::uint32_t r = 0; r < resource_count; ++r) {
        if (ask[r] > 0) demand.requests.push_back({r, base::saturating_multiply(ask[r], count)});
      }
      demand.mismatches = mismatches_of(to.sets[i].kind, to.group);
      const std::int64_t missing = s_.subs[sub].min - static_cast<std::int64_t>(c_.counts(sub).active_allocated);
      const bool alone = to.sets.size() == before + 1;
      to.head.fewest.push_back(alone ? std::clamp<std::int64_t>(missing, 1, count) : count);
      fewer = fewer || to.head.fewest.back() < count;
    }
    return fewer;
  }

  /// A flavor is none for pods that every node of it refuses for good. Where there is one flavor nobody looks.
  const std::vector<std::optional<std::uint32_t>>& mismatches_of(class_row kind, group_row group) {
    const auto [at, is_new] = mismatches_.try_emplace({kind, c_.constraints.kind_of(group)});
    if (!is_new || setup_.flavor_label.empty()) return at->second;
    at->second.assign(into_.flavors.size(), 0U);
    for (node_row row = 0; row < s_.node_count(); ++row) {
      const std::uint32_t flavor = into_.flavor_of_node[row];
      if (flavor == no_flavor || !at->second[flavor]) continue;
      if (!schedulers::is_closed(c_, row, kind, group)) at->second[flavor].reset();
    }
    return at->second;
  }

  /// Levels of the topology that the pod sets ask for, theirs or those of a member above. What several pod sets ask for
  /// together only a leader and its workers can have.
  void find_places_asked(waiting_workload& of) const {
    std::map<sub_group_row, std::vector<std::size_t>> askers;
    for (std::size_t i = 0; i < of.sets.size(); ++i) {
      sub_group_row at = of.sets[i].sub;
      while (at != kaisched::no_row && s_.subs[at].together == nullptr) at = s_.subs[at].parent;
      if (at == kaisched::no_row) continue;
      const model::topology_ask& ask = *s_.subs[at].together;
      waiting_set& set = of.sets[i];
      if (ask.topology != into_.topology) {
        of.is_refused = true;
        continue;
      }
      set.required = ask.required_level;
      if (set.required.empty()) set.preferred = ask.preferred_level;
      askers[at].push_back(i);
    }
    for (const auto& [member, sets] : askers) {
      if (sets.size() == 1) continue;
      const bool leads =
          sets.size() == 2 && std::ranges::any_of(sets, [&](std::size_t i) { return of.sets[i].pods.size() == 1; });
      if (!leads) {
        of.is_refused = true;
        continue;
      }
      for (const std::size_t i : sets) of.head.demands[i].group = std::to_string(member);
    }
  }

  const scheduler_setup& setup_;
  std::array<bool, resource_count> covered_;
  const std::map<queue_row, std::size_t>& position_;
  cluster_view& into_;
  std::vector<std::optional<model::quota_vector>> asks_;  ///< by class
  std::map<std::pair<class_row, std::uint32_t>, std::vector<std::optional<std::uint32_t>>> mismatches_;
};

}  // namespace

cluster_view view_of(const framework::session_state& c, const scheduler_setup& setup) {
  flavor_list flavors = flavors_of(c.state(), setup);
  cluster_view made(cell_space{static_cast<std::uint32_t>(flavors.names.size()), resource_count});
  quota_maker quotas(c.state(), setup, flavors);
  quotas.make(made);
  made.flavors = flavors.names;
  made.flavor_of_node = flavors.of_node;
  workload_reader(c, setup, quotas.positions(), made).read();
  return made;
}

}  // namespace kaisched::kueue
