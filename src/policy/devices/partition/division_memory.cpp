#include "policy/devices/partition/division_memory.hpp"

#include <algorithm>

namespace kaisched::devices {

namespace {

constexpr std::size_t beam_width = 32;  ///< states that are kept once the steps are used up
constexpr std::size_t no_offer = static_cast<std::size_t>(-1);
constexpr std::size_t separate_offers = no_offer - 1;  ///< of a node: devices one by one
constexpr std::size_t most_states = 512;               ///< for which a node is looked at as a whole

/// No option is better for its net and cost than one that has at least its net for at most its cost.
bool covers(const device_option& a, const device_option& b) {
  if (b.cost < a.cost) return false;
  for (std::size_t i = 0; i < a.net.size(); ++i) {
    if (a.net[i] < b.net[i]) return false;
  }
  return true;
}

/// Nothing that stays is in the way, and it is not there already.
bool may_lie(const plannable_device& device, std::size_t profile, const slice_range& place) {
  return std::none_of(device.instances.begin(), device.instances.end(), [&](const present_instance& one) {
    return (one.cost < 0 && one.placement.overlaps(place)) || (one.profile == profile && one.placement == place);
  });
}

/// Offers that none of the others beats, the cheapest first.
std::vector<device_offer> without_worse(std::vector<device_offer> all) {
  std::stable_sort(all.begin(), all.end(), [](const device_offer& a, const device_offer& b) {
    return a.cost != b.cost ? a.cost < b.cost : a.gives > b.gives;
  });
  std::vector<device_offer> kept;
  for (device_offer& one : all) {
    const bool needed = std::none_of(kept.begin(), kept.end(), [&](const device_offer& better) {
      return std::equal(one.gives.begin(), one.gives.end(), better.gives.begin(),
                        [](std::int64_t mine, std::int64_t other) { return mine <= other; });
    });
    if (needed) kept.push_back(std::move(one));
  }
  return kept;
}

/// Most that the devices from one on can give and take.
struct reach {
  std::vector<std::vector<std::int64_t>> gives;
  std::vector<std::vector<std::int64_t>> takes;
};
reach reach_of(const std::vector<const std::vector<device_option>*>& options, std::size_t dimensions) {
  reach made;
  made.gives.assign(options.size() + 1, std::vector<std::int64_t>(dimensions, 0));
  made.takes = made.gives;
  for (std::size_t i = options.size(); i-- > 0;) {
    for (std::size_t t = 0; t < dimensions; ++t) {
      std::int64_t most = 0;
      std::int64_t least = 0;
      for (const device_option& one : *options[i]) {
        most = std::max(most, one.net[t]);
        least = std::min(least, one.net[t]);
      }
      made.gives[i][t] = made.gives[i + 1][t] + most;
      made.takes[i][t] = made.takes[i + 1][t] + least;
    }
  }
  return made;
}

/// The number of a key, which is the next one if it is new.
template <class Key>
std::pair<std::size_t, bool> number_of(std::map<Key, std::size_t>& keys, Key key) {
  const auto [at, fresh] = keys.try_emplace(std::move(key), keys.size());
  return {at->second, fresh};
}

}  // namespace

void division_memory::open(const division_problem& problem) {
  if (models_ == problem.models && gpu_ == problem.gpu && whole_device_ == problem.whole_device && !dimensions_.empty())
    return;
  const std::uint64_t plan = plan_;
  *this = {};
  plan_ = plan;
  models_ = problem.models;
  gpu_ = problem.gpu;
  whole_device_ = problem.whole_device;
  for (const plannable_model& model : models_) {
    for (const std::uint32_t d : model.dimensions) {
      if (d != no_dimension) dimensions_.push_back(d);
    }
  }
  dimensions_.push_back(gpu_);
  std::sort(dimensions_.begin(), dimensions_.end());
  dimensions_.erase(std::unique(dimensions_.begin(), dimensions_.end()), dimensions_.end());
}

// ---- nodes that are alike -------------------------------------------------------------------------------------------

std::size_t division_memory::device_form(const plannable_device& device) {
  amounts key{static_cast<std::int64_t>(device.model), device.whole ? 1 : 0};
  for (const present_instance& one : device.instances) {
    key.insert(key.end(), {static_cast<std::int64_t>(one.profile), one.placement.start, one.placement.size, one.cost,
                           one.is_free ? 1 : 0});
  }
  const auto [number, fresh] = number_of(device_keys_, std::move(key));
  if (fresh) devices_.push_back(device);
  return number;
}

std::size_t division_memory::kind_of(const plannable_node& node) {
  node_form form;
  for (const plannable_device& one : node.devices) form.devices.push_back(device_form(one));
  for (const std::uint32_t d : dimensions_) form.free.push_back(node.free[d]);
  amounts key = node.free;
  key.insert(key.end(), form.devices.begin(), form.devices.end());
  const auto [kind, fresh_kind] = number_of(kind_keys_, std::move(key));
  if (!fresh_kind) return kind;
  amounts node_key = form.free;
  node_key.insert(node_key.end(), form.devices.begin(), form.devices.end());
  const auto [number, fresh] = number_of(node_keys_, std::move(node_key));
  if (fresh) nodes_.push_back(std::move(form));
  form_of_kind_.push_back(number);
  return kind;
}

// ---- one device -----------------------------------------------------------------------------------------------------

const std::vector<device_option>& division_memory::options_of(std::size_t device, const dimension_set& tracked) {
  const auto [at, fresh] = options_.try_emplace({tracked, device});
  if (!fresh) return at->second;
  std::vector<device_option> all;
  slice_layout made;
  add_options(devices_[device], tracked, 0, made, all);
  // The cheapest first, of equal ones those that others miss least.
  std::stable_sort(all.begin(), all.end(), [&](const device_option& a, const device_option& b) {
    return a.cost != b.cost ? a.cost < b.cost
                            : distance_of(devices_[device], a.made) < distance_of(devices_[device], b.made);
  });
  for (device_option& one : all) {
    const bool needed = std::none_of(at->second.begin(), at->second.end(),
                                     [&](const device_option& better) { return covers(better, one); });
    if (needed) at->second.push_back(std::move(one));
  }
  return at->second;
}

/// How far instances are from the end of the device where they leave most to others (`find_placement`).
std::int64_t division_memory::distance_of(const plannable_device& device, const slice_layout& made) const {
  const divided_model& table = *models_[device.model].table;
  std::int64_t sum = 0;
  for (const auto& [profile, place] : made) {
    sum += starts_behind(table.profiles[profile]) ? table.slices - place.start : place.start;
  }
  return sum;
}

/// All sets of new instances whose profiles count, further ones starting at `from` or later.
void division_memory::add_options(const plannable_device& device, const dimension_set& tracked, std::int64_t from,
                                  slice_layout& made, std::vector<device_option>& to) const {
  if (!made.empty()) to.push_back(option_of(device, tracked, made));
  const plannable_model& model = models_[device.model];
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

device_option division_memory::option_of(const plannable_device& device, const dimension_set& tracked,
                                         const slice_layout& made) const {
  const plannable_model& model = models_[device.model];
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
    const bool in_the_way =
        std::any_of(made.begin(), made.end(), [&](const auto& fresh) { return fresh.second.overlaps(old.placement); });
    if (!in_the_way) continue;
    one.gone.push_back(i);
    one.cost.drained += old.cost;
    ++one.cost.gone;
    if (old.is_free) count(model.dimensions[old.profile], -1);
  }
  if (device.whole) count(gpu_, -whole_device_);
  return one;
}

// ---- what there is to be had --------------------------------------------------------------------------------------

std::size_t division_memory::set_of(const dimension_set& wanted) {
  const auto [number, fresh] = number_of(set_keys_, wanted);
  if (fresh) sets_.push_back({wanted, {}, {}});
  return number;
}

std::size_t division_memory::number_of_offer(std::vector<device_offer> made) {
  amounts key;
  for (const device_offer& one : made) {
    key.insert(key.end(), one.gives.begin(), one.gives.end());
    key.insert(key.end(), {one.cost.drained, one.cost.whole, one.cost.devices, one.cost.gone});
  }
  const auto [number, fresh] = number_of(offer_keys_, std::move(key));
  if (fresh) offers_.push_back(std::move(made));
  return number;
}

std::size_t division_memory::offer_of(std::size_t device, std::size_t set) {
  std::vector<std::size_t>& known = sets_[set].of_device;
  if (known.size() < devices_.size()) known.resize(devices_.size(), no_offer);
  if (known[device] != no_offer) return known[device];
  std::vector<device_offer> made;
  for (const device_option& one : options_of(device, sets_[set].dimensions)) {
    device_offer next{one.net, one.cost};
    bool gives = false;
    for (std::int64_t& amount : next.gives) {
      amount = std::max<std::int64_t>(0, amount);
      gives = gives || amount > 0;
    }
    if (gives) made.push_back(std::move(next));
  }
  return known[device] = number_of_offer(std::move(made));
}

std::optional<std::size_t> division_memory::offer_of_node(std::size_t form, std::size_t set) {
  std::vector<std::size_t>& known = sets_[set].of_node;
  if (known.size() < nodes_.size()) known.resize(nodes_.size(), no_offer);
  if (known[form] == no_offer) {
    std::optional<std::vector<device_offer>> made;
    if (is_bound_by_claims(nodes_[form], sets_[set].dimensions)) made = offers_of(nodes_[form], sets_[set].dimensions);
    known[form] = made ? number_of_offer(std::move(*made)) : separate_offers;
  }
  return known[form] == separate_offers ? std::nullopt : std::optional(known[form]);
}

/// A device cannot lose whatever it has, or what it gives is lacking already.
bool division_memory::is_bound_by_claims(const node_form& of, const dimension_set& wanted) const {
  const amounts losses = losses_of(of);
  for (std::size_t i = 0; i < dimensions_.size(); ++i) {
    const bool is_wanted = std::binary_search(wanted.begin(), wanted.end(), dimensions_[i]);
    if (is_wanted && of.free[i] < 0) return true;
    if ((!is_wanted || wanted.size() > 1) && losses[i] > 0 && losses[i] > of.free[i]) return true;
  }
  return false;
}

/// All that a node can have free of the wanted dimensions and its cost, but for what others beat.
std::optional<std::vector<device_offer>> division_memory::offers_of(const node_form& of, const dimension_set& wanted) {
  amounts one_of_each(dimensions_.size(), 0);
  for (const std::uint32_t d : wanted) one_of_each[position_of(d)] = 1;
  const dimension_set tracked = tracked_of(of, one_of_each);
  amounts least;  // what must be left
  amounts start;
  for (const std::uint32_t d : tracked) {
    start.push_back(of.free[position_of(d)]);
    least.push_back(std::min<std::int64_t>(0, start.back()));
  }
  const std::size_t count = of.devices.size();
  std::vector<const std::vector<device_option>*> options;
  for (const std::size_t device : of.devices) options.push_back(&options_of(device, tracked));
  const reach within = reach_of(options, tracked.size());
  std::map<amounts, division_cost> now{{start, {}}};
  std::map<amounts, division_cost> next;
  const auto put = [&](std::size_t at, amounts& have, const division_cost& cost) {
    for (std::size_t t = 0; t < have.size(); ++t) {
      if (have[t] + within.gives[at][t] < least[t]) return;
      const bool is_wanted = std::binary_search(wanted.begin(), wanted.end(), tracked[t]);
      if (!is_wanted)
        have[t] = std::min(have[t], least[t] - within.takes[at][t]);  // more than can be lost does not help
    }
    const auto [known, fresh] = next.try_emplace(have, cost);
    if (!fresh && cost < known->second) known->second = cost;
  };
  amounts left;
  for (std::size_t i = 0; i < count; ++i) {
    next.clear();
    for (const auto& [have, cost] : now) {
      left = have;
      put(i + 1, left, cost);
      for (const device_option& option : *options[i]) {
        for (std::size_t t = 0; t < left.size(); ++t) left[t] = have[t] + option.net[t];
        division_cost more = cost;
        more += option.cost;
        put(i + 1, left, more);
      }
    }
    now.swap(next);
    if (now.size() > most_states) return std::nullopt;
  }
  std::vector<device_offer> made;
  for (const auto& [have, cost] : now) {
    device_offer one{{}, cost};
    for (std::size_t t = 0; t < tracked.size(); ++t) {
      if (std::binary_search(wanted.begin(), wanted.end(), tracked[t]))
        one.gives.push_back(std::max<std::int64_t>(0, have[t]));
    }
    if (std::any_of(one.gives.begin(), one.gives.end(), [](std::int64_t amount) { return amount > 0; }))
      made.push_back(std::move(one));
  }
  return without_worse(std::move(made));
}

// ---- one node -------------------------------------------------------------------------------------------------------

std::size_t division_memory::demand_of(const amounts& asked) {
  const auto [number, fresh] = number_of(demand_keys_, asked);
  if (fresh) demands_.push_back({asked, {}});
  return number;
}

std::size_t division_memory::position_of(std::uint32_t d) const {
  return static_cast<std::size_t>(std::lower_bound(dimensions_.begin(), dimensions_.end(), d) - dimensions_.begin());
}

/// What the devices of a node can lose at most.
division_memory::amounts division_memory::losses_of(const node_form& of) const {
  amounts losses(dimensions_.size(), 0);
  for (const std::size_t form : of.devices) {
    const plannable_device& device = devices_[form];
    if (device.whole) losses[position_of(gpu_)] += whole_device_;
    for (const present_instance& one : device.instances) {
      const std::uint32_t d = models_[device.model].dimensions[one.profile];
      if (one.cost >= 0 && one.is_free && d != no_dimension) ++losses[position_of(d)];
    }
  }
  return losses;
}

/// What changes of the devices of a node can lack: what pods ask for, and what they could take from claims.
division_memory::dimension_set division_memory::tracked_of(const node_form& of, const amounts& asked) const {
  const amounts losses = losses_of(of);
  dimension_set tracked;
  for (std::size_t i = 0; i < dimensions_.size(); ++i) {
    // What nobody asks for and what is lacking already does not matter.
    const bool matters = asked[i] > 0 || (losses[i] > 0 && losses[i] > of.free[i] - asked[i]);
    if (matters) tracked.push_back(dimensions_[i]);
  }
  return tracked;
}

/// A cost that is known takes the steps that finding it took, once in a plan: where they do not suffice, it is searched
/// for again with those that are left.
std::optional<division_cost> division_memory::cost_of(std::size_t form, std::size_t demand, division_steps& steps) {
  known_demand& of = demands_[demand];
  if (of.by_form.size() < nodes_.size()) of.by_form.resize(nodes_.size());
  known_cost& found = of.by_form[form];
  if (found.cut_in == plan_) return found.cut;
  if (found.known) {
    if (found.plan == plan_) return found.cost;
    if (steps.most < 0 || found.steps < steps.most - steps.taken) {
      found.plan = plan_;
      steps.taken += found.steps;
      return found.cost;
    }
  }
  division_steps own{steps.most, steps.taken, true};
  std::vector<layer> layers;
  const layer::value_type* end = solve(nodes_[form], of.asked, layers, own);
  const std::optional<division_cost> cost = end == nullptr ? std::nullopt : std::optional(end->second.cost);
  if (own.exact) {
    found.known = true;
    found.plan = plan_;
    found.steps = own.taken - steps.taken;
    found.cost = cost;
  } else {
    found.cut_in = plan_;
    found.cut = cost;
    steps.exact = false;
  }
  steps.taken = own.taken;
  return cost;
}

namespace {

/// Keeps the states that lack least.
template <class Layer>
void narrow(Layer& all, division_steps& steps) {
  if (all.size() <= beam_width) return;
  steps.exact = false;
  std::vector<std::pair<std::int64_t, typename Layer::iterator>> order;
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

}  // namespace

/// The end of the cheapest way through the devices, or null.
const division_memory::layer::value_type* division_memory::solve(const node_form& of, const amounts& asked,
                                                                 std::vector<layer>& layers, division_steps& steps) {
  const dimension_set tracked = tracked_of(of, asked);
  amounts lacking(tracked.size());
  for (std::size_t t = 0; t < tracked.size(); ++t) {
    const std::size_t i = position_of(tracked[t]);
    lacking[t] = asked[i] - of.free[i];
    if (asked[i] == 0) lacking[t] = std::min<std::int64_t>(0, lacking[t]);  // what is overdrawn already may stay so
  }
  const std::size_t count = of.devices.size();
  std::vector<const std::vector<device_option>*> options;
  for (const std::size_t device : of.devices) options.push_back(&options_of(device, tracked));
  layers.assign(count + 1, {});
  const reach within = reach_of(options, tracked.size());
  const auto put = [&](std::size_t at, amounts& lacks, const way& by) {
    for (std::size_t t = 0; t < lacks.size(); ++t) {
      if (lacks[t] > within.gives[at][t]) return;
      lacks[t] = std::max(lacks[t], within.takes[at][t]);  // more than can be lost does not help
    }
    const auto [known, fresh] = layers[at].try_emplace(lacks, by);
    if (!fresh && by.cost < known->second.cost) known->second = by;
  };
  put(0, lacking, {});
  amounts left(tracked.size());
  for (std::size_t i = 0; i < count; ++i) {
    if (steps.is_spent()) narrow(layers[i], steps);
    for (const auto& [lacks, by] : layers[i]) {
      ++steps.taken;
      left = lacks;
      put(i + 1, left, {by.cost, &lacks, 0});
      for (std::size_t o = 0; o < options[i]->size(); ++o) {
        ++steps.taken;
        const device_option& option = (*options[i])[o];
        for (std::size_t t = 0; t < left.size(); ++t) left[t] = lacks[t] - option.net[t];
        division_cost cost = by.cost;
        cost += option.cost;
        put(i + 1, left, {cost, &lacks, o + 1});
      }
    }
  }
  const layer::value_type* best = nullptr;
  for (const auto& end : layers.back()) {
    const bool enough = std::all_of(end.first.begin(), end.first.end(), [](std::int64_t one) { return one <= 0; });
    if (enough && (best == nullptr || end.second.cost < best->second.cost)) best = &end;
  }
  return best;
}

bool division_memory::changes_of(std::size_t form, const amounts& asked, std::size_t node, division_steps& steps,
                                 std::vector<device_change>& to) {
  const node_form& of = nodes_[form];
  std::vector<layer> layers;
  const layer::value_type* end = solve(of, asked, layers, steps);
  if (end == nullptr) return false;
  const dimension_set tracked = tracked_of(of, asked);
  const way* by = &end->second;
  std::vector<device_change> changes;
  for (std::size_t i = of.devices.size(); i-- > 0;) {
    if (by->option != 0) {
      const device_option& one = options_of(of.devices[i], tracked)[by->option - 1];
      changes.push_back({node, i, one.gone, one.made, one.cost});
    }
    by = &layers[i].find(*by->from)->second;
  }
  to.insert(to.end(), changes.rbegin(), changes.rend());
  return true;
}

}  // namespace kaisched::devices
