#include "policy/devices/partition/division_plan.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "policy/devices/partition/division_bound.hpp"
#include "policy/devices/partition/division_memory.hpp"

namespace kaisched::devices {

namespace {

using amounts = std::vector<std::int64_t>;

class planner {
 public:
  planner(const division_problem& problem, std::int64_t most_steps, division_memory& memory, division_search how)
      : p_(problem), memory_(memory), steps_{most_steps, 0, true}, how_(how) {
    memory_.open(p_);
    memory_.start_plan();
    find_kinds();
    order_pods();
    for (std::size_t c = 0; c < p_.classes.size(); ++c) find_empty_nodes(c);
  }

  division_plan run() {
    division_plan made;
    at_.assign(p_.pods.size(), 0);
    used_.assign(p_.nodes.size(), {});
    seen_.assign(p_.pods.size(), std::vector<std::uint32_t>(kind_count_, 0));
    if (how_ == division_search::bounded) find_bound();
    if (!is_hopeless_) {
      place_greedily();
      forget_pods();
      place(0);
    }
    made.found = best_found_;
    made.exact = steps_.exact;
    made.steps = steps_.taken;
    if (!made.found) return made;
    made.cost = best_;
    made.node_of_pod.resize(p_.pods.size());
    for (std::size_t i = 0; i < order_.size(); ++i) made.node_of_pod[order_[i]] = best_at_[i];
    add_changes(made);
    return made;
  }

 private:
  // ---- what there is ------------------------------------------------------------------------------------------------

  /// Nodes of one kind are alike for all pods.
  void find_kinds() {
    std::map<std::pair<std::size_t, std::vector<std::uint8_t>>, std::size_t> known;
    for (const plannable_node& node : p_.nodes) {
      kind_in_memory_.push_back(node.kind == unknown_kind ? memory_.kind_of(node) : node.kind);
      const auto [at, fresh] = known.try_emplace({kind_in_memory_.back(), node.accepts}, known.size());
      kind_of_.push_back(at->second);
    }
    kind_count_ = known.size();
  }

  /// Pods of one class stand together: which of them goes where does not matter.
  void order_pods() {
    std::vector<std::size_t> first(p_.classes.size(), p_.pods.size());
    for (std::size_t i = p_.pods.size(); i-- > 0;) first[p_.pods[i]] = i;
    for (std::size_t i = 0; i < p_.pods.size(); ++i) order_.push_back(i);
    const auto size_of = [&](std::size_t pod) {
      std::int64_t sum = 0;
      for (const std::uint32_t d : memory_.dimensions()) sum += d == p_.gpu ? 0 : asked(p_.pods[pod], d);
      return sum;
    };
    std::stable_sort(order_.begin(), order_.end(), [&](std::size_t a, std::size_t b) {
      const std::size_t x = p_.pods[a];
      const std::size_t y = p_.pods[b];
      return x != y && std::pair(-size_of(a), first[x]) < std::pair(-size_of(b), first[y]);
    });
  }

  [[nodiscard]] std::int64_t asked(std::size_t pod_class, std::uint32_t d) const {
    const amounts& request = p_.classes[pod_class];
    return d < request.size() ? request[d] : 0;
  }

  /// What a pod of a class asks for, by position in the dimensions of the memory.
  [[nodiscard]] amounts asked_by(std::size_t pod_class) const {
    amounts found;
    for (const std::uint32_t d : memory_.dimensions()) found.push_back(asked(pod_class, d));
    return found;
  }

  /// Where one pod of a class costs how much, the cheapest first.
  void find_empty_nodes(std::size_t pod_class) {
    const amounts nobody;
    asked_.push_back(asked_by(pod_class));
    const std::size_t demand = memory_.demand_of(asked_.back());
    std::vector<candidate>& found = empty_nodes_.emplace_back();
    for (std::size_t n = 0; n < p_.nodes.size(); ++n) {
      if (!has_room(n, pod_class, nobody)) continue;
      const std::optional<division_cost> cost = cost_on(n, demand);
      if (cost) found.push_back({n, *cost, *cost});
    }
    std::sort(found.begin(), found.end(), comes_first);
  }

  std::optional<division_cost> cost_on(std::size_t node, std::size_t demand) {
    return memory_.cost_of(memory_.form_of(kind_in_memory_[node]), demand, steps_);
  }

  // ---- all pods -----------------------------------------------------------------------------------------------------

  struct on_node {
    amounts demand;  ///< by position in the dimensions of the memory
    amounts others;  ///< by dimension: all that its pods ask for
    std::size_t pods = 0;
    division_cost cost{};
  };

  struct candidate {
    std::size_t node;
    division_cost more;  ///< cost of the node with the pod
    division_cost total;
  };

  [[nodiscard]] bool is_sliced(std::uint32_t d) const {
    return std::binary_search(memory_.dimensions().begin(), memory_.dimensions().end(), d);
  }

  /// What the pod asks for beside instances and whole devices is free.
  [[nodiscard]] bool has_room(std::size_t node, std::size_t pod_class, const amounts& others) const {
    if (p_.nodes[node].accepts[pod_class] == 0) return false;
    const amounts& request = p_.classes[pod_class];
    for (std::uint32_t d = 0; d < request.size(); ++d) {
      if (request[d] == 0 || is_sliced(d)) continue;
      const std::int64_t taken = d < others.size() ? others[d] : 0;
      if (request[d] > p_.nodes[node].free[d] - taken) return false;
    }
    return true;
  }

  /// Nodes with pods on them that can take one more, the cheapest first. `from`: only these nodes and those behind.
  std::vector<candidate> candidates_in_use(std::size_t pod_class, std::size_t from) {
    std::vector<candidate> found;
    for (const std::size_t n : in_use_) {
      if (n < from || !has_room(n, pod_class, used_[n].others)) continue;
      ++steps_.taken;
      amounts demand = used_[n].demand;
      for (std::size_t t = 0; t < demand.size(); ++t) demand[t] += asked_[pod_class][t];
      const std::optional<division_cost> cost = cost_on(n, memory_.demand_of(demand));
      if (!cost) continue;
      division_cost total = total_;
      total -= used_[n].cost;
      total += *cost;
      found.push_back({n, *cost, total});
    }
    std::sort(found.begin(), found.end(), comes_first);
    return found;
  }

  /// Offers nodes for a pod, the cheapest first, until `take` returns false. Pods of one class go to nodes in their
  /// order if `in_order`, because which of them goes where does not matter.
  template <class Take>
  void for_each_candidate(std::size_t i, bool in_order, const Take& take) {
    const std::size_t pod_class = p_.pods[order_[i]];
    const std::size_t from = in_order && i > 0 && p_.pods[order_[i - 1]] == pod_class ? at_[i - 1] : 0;
    const std::vector<candidate> in_use = candidates_in_use(pod_class, from);
    auto next = in_use.begin();
    const std::uint32_t now = ++stamp_;
    for (const candidate& empty : empty_nodes_[pod_class]) {
      if (used_[empty.node].pods > 0) continue;
      std::uint32_t& seen = seen_[i][kind_of_[empty.node]];  // the first of each kind is enough
      if (seen == now) continue;
      seen = now;
      if (empty.node < from) continue;
      ++steps_.taken;
      candidate one{empty.node, empty.more, total_};
      one.total += empty.more;
      for (; next != in_use.end() && comes_first(*next, one); ++next) {
        if (!take(*next)) return;
      }
      if (!take(one)) return;
    }
    for (; next != in_use.end(); ++next) {
      if (!take(*next)) return;
    }
  }

  static bool comes_first(const candidate& a, const candidate& b) {
    return a.total != b.total ? a.total < b.total : a.node < b.node;
  }

  void put(std::size_t pod_class, const candidate& at) {
    on_node& used = used_[at.node];
    if (used.pods == 0) {
      used.demand.assign(memory_.dimensions().size(), 0);
      used.others.assign(p_.nodes[at.node].free.size(), 0);
      in_use_.push_back(at.node);
    }
    for (std::size_t t = 0; t < used.demand.size(); ++t) used.demand[t] += asked_[pod_class][t];
    for (std::uint32_t d = 0; d < used.others.size(); ++d) used.others[d] += asked(pod_class, d);
    ++used.pods;
    used.cost = at.more;
    total_ = at.total;
  }

  /// Undoes the last `put`.
  void take_back(std::size_t pod_class, const candidate& at, const division_cost& cost, const division_cost& total) {
    on_node& used = used_[at.node];
    for (std::size_t t = 0; t < used.demand.size(); ++t) used.demand[t] -= asked_[pod_class][t];
    for (std::uint32_t d = 0; d < used.others.size(); ++d) used.others[d] -= asked(pod_class, d);
    if (--used.pods == 0) in_use_.pop_back();
    used.cost = cost;
    total_ = total;
  }

  void forget_pods() {
    for (const std::size_t n : in_use_) used_[n] = {};
    in_use_.clear();
    total_ = {};
  }

  /// Each pod where it costs least.
  void place_greedily() {
    for (std::size_t i = 0; i < order_.size(); ++i) {
      std::optional<candidate> first;
      for_each_candidate(i, false, [&](const candidate& one) {
        first = one;
        return false;
      });
      if (!first) return;
      put(p_.pods[order_[i]], *first);
      at_[i] = first->node;
    }
    note_plan();
  }

  void note_plan() {
    best_found_ = true;
    best_ = total_;
    best_at_ = at_;
    is_proven_ = least_ && !(*least_ < best_);
  }

  /// Depth first, the cheapest node first.
  void place(std::size_t i) {
    if (is_proven_ || (best_found_ && !(total_ < best_))) return;
    if (i == order_.size()) return note_plan();
    if (steps_.is_spent()) {
      steps_.exact = false;
      return;
    }
    if (!may_improve(i)) return;
    const std::size_t pod_class = p_.pods[order_[i]];
    for_each_candidate(i, true, [&](const candidate& one) {
      if (is_proven_ || (best_found_ && !(one.total < best_))) return false;  // nor is any behind it
      const division_cost cost = used_[one.node].cost;
      const division_cost total = total_;
      put(pod_class, one);
      at_[i] = one.node;
      place(i + 1);
      take_back(pod_class, one, cost, total);
      return true;
    });
  }

  // ---- bounds -------------------------------------------------------------------------------------------------------

  void find_bound() {
    std::vector<std::size_t> kinds;
    std::vector<std::uint8_t> offered(p_.nodes.size(), 0);
    for (const std::vector<candidate>& nodes : empty_nodes_) {
      for (const candidate& one : nodes) offered[one.node] = 1;
    }
    for (std::size_t n = 0; n < p_.nodes.size(); ++n) {
      if (offered[n] != 0) kinds.push_back(kind_in_memory_[n]);
    }
    amounts all(memory_.dimensions().size(), 0);
    for (const std::size_t pod_class : p_.pods) {
      for (std::size_t t = 0; t < all.size(); ++t) all[t] += asked_[pod_class][t];
    }
    bound_.emplace(memory_, kinds, all);
    least_ = bound_->least(all);
    is_hopeless_ = !least_;
  }

  /// Nodes that pods of this class have passed keep their cost or get dearer. The others have to give what is asked of
  /// them so far, and what is left of this class.
  [[nodiscard]] bool may_improve(std::size_t i) const {
    if (!bound_ || i == 0) return true;
    const std::size_t pod_class = p_.pods[order_[i]];
    const std::size_t from = p_.pods[order_[i - 1]] == pod_class ? at_[i - 1] : 0;
    division_cost passed{};
    amounts rest(memory_.dimensions().size(), 0);
    for (const std::size_t n : in_use_) {
      if (n < from) {
        passed += used_[n].cost;
        continue;
      }
      for (std::size_t t = 0; t < rest.size(); ++t) rest[t] += used_[n].demand[t];
    }
    for (std::size_t j = i; j < order_.size(); ++j) {
      if (p_.pods[order_[j]] != pod_class && from > 0) break;
      for (std::size_t t = 0; t < rest.size(); ++t) rest[t] += asked_[p_.pods[order_[j]]][t];
    }
    const std::optional<division_cost> least = bound_->least(rest);
    if (!least) return false;
    passed += *least;
    return !best_found_ || passed < best_;
  }

  // ---- the plan -----------------------------------------------------------------------------------------------------

  void add_changes(division_plan& made) {
    std::map<std::size_t, amounts> demands;
    for (std::size_t i = 0; i < order_.size(); ++i) {
      const auto [at, fresh] = demands.try_emplace(best_at_[i], memory_.dimensions().size(), 0);
      for (std::size_t t = 0; t < at->second.size(); ++t) at->second[t] += asked_[p_.pods[order_[i]]][t];
    }
    for (const auto& [node, demand] : demands) {
      const std::size_t form = memory_.form_of(kind_in_memory_[node]);
      if (!memory_.changes_of(form, demand, node, steps_, made.changes)) {  // it was found with more steps left
        made.found = false;
        return;
      }
    }
    made.cost = {};
    for (const device_change& one : made.changes) made.cost += one.cost;
  }

  const division_problem& p_;
  division_memory& memory_;
  division_steps steps_;
  division_search how_;
  std::vector<std::size_t> kind_in_memory_;  ///< by node
  std::vector<std::size_t> kind_of_;         ///< by node: who may go there included
  std::size_t kind_count_ = 0;
  std::vector<std::size_t> order_;  ///< in which pods are placed
  std::vector<amounts> asked_;      ///< by class
  std::vector<std::vector<candidate>> empty_nodes_;

  std::vector<std::size_t> at_;  ///< by position in `order_`: node
  std::vector<on_node> used_;
  std::vector<std::size_t> in_use_;  ///< nodes with pods, in the order in which they got the first one
  division_cost total_{};
  std::vector<std::vector<std::uint32_t>> seen_;  ///< by position in `order_` and kind of nodes: last stamp
  std::uint32_t stamp_ = 0;
  std::optional<division_bound> bound_;
  std::optional<division_cost> least_;  ///< that any plan can cost
  bool is_hopeless_ = false;
  bool is_proven_ = false;  ///< no plan costs less than the best one
  bool best_found_ = false;
  division_cost best_{};
  std::vector<std::size_t> best_at_;
};

}  // namespace

division_plan plan_divisions(const division_problem& problem, std::int64_t most_steps, division_memory& memory,
                             division_search how) {
  return planner(problem, most_steps, memory, how).run();
}

division_plan plan_divisions(const division_problem& problem, std::int64_t most_steps, division_search how) {
  division_memory memory;
  return plan_divisions(problem, most_steps, memory, how);
}

}  // namespace kaisched::devices
