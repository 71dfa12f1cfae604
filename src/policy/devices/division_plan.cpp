#include "policy/devices/division_plan.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace kaisched::devices {

namespace {

constexpr std::size_t beam_width = 32;  ///< states that are kept once the steps are used up

using amounts = std::vector<std::int64_t>;

/// One way to divide a device anew.
struct device_option {
  amounts net;  ///< by tracked dimension: what comes to be free, less what goes
  division_cost cost{};
  std::vector<std::size_t> gone;
  slice_layout made;
};

/// No option is better for its net and cost than one that has at least its net for at most its cost.
bool covers(const device_option& a, const device_option& b) {
  if (b.cost < a.cost) return false;
  for (std::size_t i = 0; i < a.net.size(); ++i) {
    if (a.net[i] < b.net[i]) return false;
  }
  return true;
}

class planner {
 public:
  planner(const division_problem& problem, std::int64_t most_steps) : p_(problem), most_(most_steps) {
    for (const plannable_model& model : p_.models) {
      for (const std::uint32_t d : model.dimensions) {
        if (d != no_dimension) dimensions_.push_back(d);
      }
    }
    dimensions_.push_back(p_.gpu);
    std::sort(dimensions_.begin(), dimensions_.end());
    dimensions_.erase(std::unique(dimensions_.begin(), dimensions_.end()), dimensions_.end());
    find_kinds();
    order_pods();
  }

  division_plan run() {
    division_plan made;
    at_.assign(p_.pods.size(), 0);
    used_.assign(p_.nodes.size(), {});
    place_greedily();
    used_.assign(p_.nodes.size(), {});
    total_ = {};
    place(0);
    made.found = best_found_;
    made.exact = exact_;
    made.steps = steps_;
    if (!made.found) return made;
    made.cost = best_;
    made.node_of_pod.resize(p_.pods.size());
    for (std::size_t i = 0; i < order_.size(); ++i) made.node_of_pod[order_[i]] = best_at_[i];
    add_changes(made);
    return made;
  }

 private:
  // ---- nodes that are alike -----------------------------------------------------------------------------------------

  void find_kinds() {
    std::map<amounts, std::size_t> known;
    std::map<amounts, std::size_t> known_devices;
    for (const plannable_node& node : p_.nodes) {
      amounts key = node.free;
      key.insert(key.end(), node.accepts.begin(), node.accepts.end());
      std::vector<std::size_t> devices;
      for (const plannable_device& one : node.devices) {
        amounts form{static_cast<std::int64_t>(one.model), one.whole ? 1 : 0};
        for (const present_instance& instance : one.instances) {
          form.insert(form.end(), {static_cast<std::int64_t>(instance.profile), instance.placement.start,
                                   instance.placement.size, instance.cost, instance.is_free ? 1 : 0});
        }
        const auto [at, fresh] = known_devices.try_emplace(std::move(form), forms_.size());
        if (fresh) forms_.push_back(&one);
        devices.push_back(at->second);
        key.push_back(static_cast<std::int64_t>(at->second));
      }
      const auto [at, fresh] = known.try_emplace(std::move(key), kinds_.size());
      if (fresh) kinds_.push_back({&node, std::move(devices)});
      kind_of_.push_back(at->second);
    }
  }

  /// Pods of one class stand together: which of them goes where does not matter.
  void order_pods() {
    std::vector<std::size_t> first(p_.classes.size(), p_.pods.size());
    for (std::size_t i = p_.pods.size(); i-- > 0;) first[p_.pods[i]] = i;
    for (std::size_t i = 0; i < p_.pods.size(); ++i) order_.push_back(i);
    const auto size_of = [&](std::size_t pod) {
      std::int64_t sum = 0;
      for (const std::uint32_t d : dimensions_) sum += d == p_.gpu ? 0 : asked(p_.pods[pod], d);
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

  // ---- one device ---------------------------------------------------------------------------------------------------

  struct option_key {
    std::size_t form;
    std::vector<std::uint32_t> tracked;
    friend auto operator<=>(const option_key&, const option_key&) = default;
  };

  const std::vector<device_option>& options_of(std::size_t form, const std::vector<std::uint32_t>& tracked) {
    const auto [at, fresh] = options_.try_emplace({form, tracked});
    if (!fresh) return at->second;
    std::vector<device_option> all;
    slice_layout made;
    add_options(*forms_[form], tracked, 0, made, all);
    // The cheapest first, of equal ones those that others miss least.
    std::stable_sort(all.begin(), all.end(), [&](const device_option& a, const device_option& b) {
      return a.cost != b.cost ? a.cost < b.cost
                              : distance_of(*forms_[form], a.made) < distance_of(*forms_[form], b.made);
    });
    for (device_option& one : all) {
      const bool needed = std::none_of(at->second.begin(), at->second.end(),
                                       [&](const device_option& better) { return covers(better, one); });
      if (needed) at->second.push_back(std::move(one));
    }
    return at->second;
  }

  /// How far instances are from the end of the device where they leave most to others (`find_placement`).
  [[nodiscard]] std::int64_t distance_of(const plannable_device& device, const slice_layout& made) const {
    const divided_model& table = *p_.models[device.model].table;
    std::int64_t sum = 0;
    for (const auto& [profile, place] : made) {
      sum += starts_behind(table.profiles[profile]) ? table.slices - place.start : place.start;
    }
    return sum;
  }

  /// All sets of new instances whose profiles count, further ones starting at `from` or later.
  void add_options(const plannable_device& device, const std::vector<std::uint32_t>& tracked, std::int64_t from,
                   slice_layout& made, std::vector<device_option>& to) {
    ++steps_;
    if (!made.empty()) to.push_back(option_of(device, tracked, made));
    const plannable_model& model = p_.models[device.model];
    for (std::int64_t start = from; start < model.table->slices; ++start) {
      for (std::size_t profile = 0; profile < model.table->profiles.size(); ++profile) {
        const std::uint32_t d = model.dimensions[profile];
        if (d == no_dimension || !std::binary_search(tracked.begin(), tracked.end(), d)) continue;
        for (const slice_range& place : model.table->profiles[profile].placements) {
          if (place.start != start || !may_lie(device, profile, place)) continue;
          made.emplace_back(profile, place);
          add_options(device, tracked, place.start + place.size, made, to);
          made.pop_back();
        }
      }
    }
  }

  /// Nothing that stays is in the way, and it is not there already.
  static bool may_lie(const plannable_device& device, std::size_t profile, const slice_range& place) {
    return std::none_of(device.instances.begin(), device.instances.end(), [&](const present_instance& one) {
      return (one.cost < 0 && one.placement.overlaps(place)) || (one.profile == profile && one.placement == place);
    });
  }

  device_option option_of(const plannable_device& device, const std::vector<std::uint32_t>& tracked,
                          const slice_layout& made) const {
    const plannable_model& model = p_.models[device.model];
    device_option one;
    one.net.assign(tracked.size(), 0);
    one.made = made;
    one.cost.devices = 1;
    one.cost.whole = device.whole ? 1 : 0;
    const auto count = [&](std::uint32_t d, std::int64_t amount) {
      const auto at = std::lower_bound(tracked.begin(), tracked.end(), d);
      if (at != tracked.end() && *at == d) one.net[static_cast<std::size_t>(at - tracked.begin())] += amount;
    };
    for (const auto& [profile, place] : made) count(model.dimensions[profile], 1);
    for (std::size_t i = 0; i < device.instances.size(); ++i) {
      const present_instance& old = device.instances[i];
      const bool in_the_way = std::any_of(made.begin(), made.end(),
                                          [&](const auto& fresh) { return fresh.second.overlaps(old.placement); });
      if (!in_the_way) continue;
      one.gone.push_back(i);
      one.cost.drained += old.cost;
      ++one.cost.gone;
      if (old.is_free) count(model.dimensions[old.profile], -1);
    }
    if (device.whole) count(p_.gpu, -p_.whole_device);
    return one;
  }

  // ---- one node -----------------------------------------------------------------------------------------------------

  struct kind {
    const plannable_node* node;
    std::vector<std::size_t> devices;  ///< forms
  };
  struct state {
    division_cost cost{};
    const amounts* from = nullptr;  ///< key in the layer before; null: the first
    std::size_t option = 0;         ///< 0: the device stays, else 1 + position
  };
  using layer = std::map<amounts, state>;

  /// What changes of the devices of a node can lack: what pods ask for, and what they could take from claims.
  [[nodiscard]] std::vector<std::uint32_t> tracked_of(const kind& of, const amounts& demand) const {
    std::map<std::uint32_t, std::int64_t> losses;
    for (const std::size_t form : of.devices) {
      const plannable_device& device = *forms_[form];
      if (device.whole) losses[p_.gpu] += p_.whole_device;
      for (const present_instance& one : device.instances) {
        const std::uint32_t d = p_.models[device.model].dimensions[one.profile];
        if (one.cost >= 0 && one.is_free && d != no_dimension) ++losses[d];
      }
    }
    std::vector<std::uint32_t> tracked;
    for (std::size_t i = 0; i < dimensions_.size(); ++i) {
      const auto lost = losses.find(dimensions_[i]);
      const std::int64_t left = of.node->free[dimensions_[i]] - demand[i];
      // What nobody asks for and what is lacking already does not matter.
      const bool matters = demand[i] > 0 || (lost != losses.end() && lost->second > left);
      if (matters) tracked.push_back(dimensions_[i]);
    }
    return tracked;
  }

  /// The least cost of having what pods ask for on a node of a kind, or nothing.
  const std::optional<division_cost>& cost_of(std::size_t kind_row, const amounts& demand) {
    const auto [at, fresh] = costs_.try_emplace({kind_row, demand});
    if (!fresh) return at->second;
    std::vector<layer> layers;
    const auto last = solve(kinds_[kind_row], demand, layers);
    if (last != nullptr) at->second = last->second.cost;
    return at->second;
  }

  /// The end of the cheapest way, or null.
  const layer::value_type* solve(const kind& of, const amounts& demand, std::vector<layer>& layers) {
    const std::vector<std::uint32_t> tracked = tracked_of(of, demand);
    amounts lacking(tracked.size());
    for (std::size_t t = 0; t < tracked.size(); ++t) {
      const auto i = static_cast<std::size_t>(std::lower_bound(dimensions_.begin(), dimensions_.end(), tracked[t]) -
                                              dimensions_.begin());
      lacking[t] = demand[i] - of.node->free[tracked[t]];
      if (demand[i] == 0) lacking[t] = std::min<std::int64_t>(0, lacking[t]);  // what is overdrawn already may stay so
    }
    layers.assign(of.devices.size() + 1, {});
    // Most that the devices from one on can give and take.
    std::vector<amounts> gives(of.devices.size() + 1, amounts(tracked.size(), 0));
    std::vector<amounts> takes = gives;
    for (std::size_t i = of.devices.size(); i-- > 0;) {
      gives[i] = gives[i + 1];
      takes[i] = takes[i + 1];
      for (std::size_t t = 0; t < tracked.size(); ++t) {
        std::int64_t most = 0;
        std::int64_t least = 0;
        for (const device_option& one : options_of(of.devices[i], tracked)) {
          most = std::max(most, one.net[t]);
          least = std::min(least, one.net[t]);
        }
        gives[i][t] += most;
        takes[i][t] += least;
      }
    }
    const auto put = [&](std::size_t at, amounts lacks, const state& way) {
      for (std::size_t t = 0; t < lacks.size(); ++t) {
        if (lacks[t] > gives[at][t]) return;
        lacks[t] = std::max(lacks[t], takes[at][t]);  // more than can be lost does not help
      }
      const auto [known, fresh] = layers[at].try_emplace(std::move(lacks), way);
      if (!fresh && way.cost < known->second.cost) known->second = way;
    };
    put(0, lacking, {});
    for (std::size_t i = 0; i < of.devices.size(); ++i) {
      if (is_spent()) narrow(layers[i]);
      const std::vector<device_option>& options = options_of(of.devices[i], tracked);
      for (const auto& [lacks, way] : layers[i]) {
        ++steps_;
        put(i + 1, lacks, {way.cost, &lacks, 0});
        for (std::size_t o = 0; o < options.size(); ++o) {
          ++steps_;
          amounts left = lacks;
          for (std::size_t t = 0; t < left.size(); ++t) left[t] -= options[o].net[t];
          division_cost cost = way.cost;
          cost += options[o].cost;
          put(i + 1, std::move(left), {cost, &lacks, o + 1});
        }
      }
    }
    const layer::value_type* best = nullptr;
    for (const auto& end : layers.back()) {
      const bool enough = std::all_of(end.first.begin(), end.first.end(), [](std::int64_t left) { return left <= 0; });
      if (enough && (best == nullptr || end.second.cost < best->second.cost)) best = &end;
    }
    return best;
  }

  /// Keeps the states that lack least.
  void narrow(layer& all) {
    if (all.size() <= beam_width) return;
    exact_ = false;
    std::vector<std::pair<std::int64_t, layer::iterator>> order;
    for (auto at = all.begin(); at != all.end(); ++at) {
      std::int64_t lacks = 0;
      for (const std::int64_t one : at->first) lacks += std::max<std::int64_t>(0, one);
      order.emplace_back(lacks, at);
    }
    std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
      return a.first != b.first ? a.first < b.first : a.second->second.cost < b.second->second.cost;
    });
    for (std::size_t i = beam_width; i < order.size(); ++i) all.erase(order[i].second);
  }

  // ---- all pods -----------------------------------------------------------------------------------------------------

  [[nodiscard]] bool is_spent() const { return most_ >= 0 && steps_ >= most_; }

  struct on_node {
    amounts demand;  ///< by position in `dimensions_`
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
    return std::binary_search(dimensions_.begin(), dimensions_.end(), d);
  }

  /// What the pod asks for beside instances and whole devices is free.
  [[nodiscard]] bool has_room(std::size_t node, std::size_t pod_class) const {
    if (p_.nodes[node].accepts[pod_class] == 0) return false;
    const amounts& request = p_.classes[pod_class];
    const on_node& used = used_[node];
    for (std::uint32_t d = 0; d < request.size(); ++d) {
      if (request[d] == 0 || is_sliced(d)) continue;
      const std::int64_t taken = d < used.others.size() ? used.others[d] : 0;
      if (request[d] > p_.nodes[node].free[d] - taken) return false;
    }
    return true;
  }

  /// `in_order`: pods of one class go to nodes in their order, because which of them goes where does not matter.
  std::vector<candidate> candidates_of(std::size_t i, bool in_order) {
    const std::size_t pod_class = p_.pods[order_[i]];
    const bool like_last = in_order && i > 0 && p_.pods[order_[i - 1]] == pod_class;
    std::vector<candidate> found;
    std::vector<bool> seen(kinds_.size(), false);  // of nodes without pods the first of each kind is enough
    for (std::size_t n = 0; n < p_.nodes.size(); ++n) {
      on_node& used = used_[n];
      if (used.pods == 0) {
        if (seen[kind_of_[n]]) continue;
        seen[kind_of_[n]] = true;
      }
      if ((like_last && n < at_[i - 1]) || !has_room(n, pod_class)) continue;
      ++steps_;
      amounts demand = used.demand.empty() ? amounts(dimensions_.size(), 0) : used.demand;
      for (std::size_t t = 0; t < dimensions_.size(); ++t) demand[t] += asked(pod_class, dimensions_[t]);
      const std::optional<division_cost>& cost = cost_of(kind_of_[n], demand);
      if (!cost) continue;
      division_cost total = total_without(used);
      total += *cost;
      found.push_back({n, *cost, total});
    }
    std::stable_sort(found.begin(), found.end(),
                     [](const candidate& a, const candidate& b) { return a.total < b.total; });
    return found;
  }

  [[nodiscard]] division_cost total_without(const on_node& used) const {
    return {total_.drained - used.cost.drained, total_.whole - used.cost.whole, total_.devices - used.cost.devices,
            total_.gone - used.cost.gone};
  }

  void put(std::size_t pod_class, const candidate& at) {
    on_node& used = used_[at.node];
    if (used.demand.empty()) {
      used.demand.assign(dimensions_.size(), 0);
      used.others.assign(p_.nodes[at.node].free.size(), 0);
    }
    for (std::size_t t = 0; t < dimensions_.size(); ++t) used.demand[t] += asked(pod_class, dimensions_[t]);
    for (std::uint32_t d = 0; d < used.others.size(); ++d) used.others[d] += asked(pod_class, d);
    ++used.pods;
    used.cost = at.more;
    total_ = at.total;
  }

  /// Each pod where it costs least.
  void place_greedily() {
    for (std::size_t i = 0; i < order_.size(); ++i) {
      const std::vector<candidate> all = candidates_of(i, false);
      if (all.empty()) return;
      put(p_.pods[order_[i]], all.front());
      at_[i] = all.front().node;
    }
    best_found_ = true;
    best_ = total_;
    best_at_ = at_;
  }

  /// Depth first, the cheapest node first.
  void place(std::size_t i) {
    if (best_found_ && !(total_ < best_)) return;
    if (i == order_.size()) {
      best_found_ = true;
      best_ = total_;
      best_at_ = at_;
      return;
    }
    if (is_spent()) {
      exact_ = false;
      return;
    }
    const std::size_t pod_class = p_.pods[order_[i]];
    for (const candidate& one : candidates_of(i, true)) {
      if (best_found_ && !(one.total < best_)) return;  // nor is any behind it
      const on_node before = used_[one.node];
      const division_cost total = total_;
      put(pod_class, one);
      at_[i] = one.node;
      place(i + 1);
      used_[one.node] = before;
      total_ = total;
    }
  }

  void add_changes(division_plan& made) {
    std::map<std::size_t, amounts> demands;
    for (std::size_t i = 0; i < order_.size(); ++i) {
      const auto [at, fresh] = demands.try_emplace(best_at_[i], dimensions_.size(), 0);
      for (std::size_t t = 0; t < dimensions_.size(); ++t) at->second[t] += asked(p_.pods[order_[i]], dimensions_[t]);
    }
    for (const auto& [node, demand] : demands) {
      std::vector<layer> layers;
      const kind& of = kinds_[kind_of_[node]];
      const layer::value_type* end = solve(of, demand, layers);
      if (end == nullptr) {  // it was found with more steps left
        made.found = false;
        return;
      }
      const std::vector<std::uint32_t> tracked = tracked_of(of, demand);
      const state* way = &end->second;
      std::vector<device_change> changes;
      for (std::size_t i = of.devices.size(); i-- > 0;) {
        if (way->option != 0) {
          const device_option& one = options_of(of.devices[i], tracked)[way->option - 1];
          changes.push_back({node, i, one.gone, one.made, one.cost});
        }
        way = &layers[i].find(*way->from)->second;
      }
      made.changes.insert(made.changes.end(), changes.rbegin(), changes.rend());
    }
    made.cost = {};
    for (const device_change& one : made.changes) made.cost += one.cost;
  }

  const division_problem& p_;
  std::int64_t most_;
  std::int64_t steps_ = 0;
  bool exact_ = true;
  std::vector<std::uint32_t> dimensions_;       ///< of instances and of whole devices, ascending
  std::vector<const plannable_device*> forms_;  ///< devices that differ
  std::vector<kind> kinds_;                     ///< nodes that differ
  std::vector<std::size_t> kind_of_;            ///< by node
  std::vector<std::size_t> order_;              ///< in which pods are placed
  std::map<option_key, std::vector<device_option>> options_;
  std::map<std::pair<std::size_t, amounts>, std::optional<division_cost>> costs_;

  std::vector<std::size_t> at_;  ///< by position in `order_`: node
  std::vector<on_node> used_;
  division_cost total_{};
  bool best_found_ = false;
  division_cost best_{};
  std::vector<std::size_t> best_at_;
};

}  // namespace

division_cost& division_cost::operator+=(const division_cost& other) {
  drained += other.drained;
  whole += other.whole;
  devices += other.devices;
  gone += other.gone;
  return *this;
}

division_plan plan_divisions(const division_problem& problem, std::int64_t most_steps) {
  return planner(problem, most_steps).run();
}

}  // namespace kaisched::devices
