#include "policy/resources/resource_list.hpp"

#include <algorithm>
#include <cmath>

namespace kaisched::policy {

namespace {

constexpr std::string_view cpu_name = "cpu";
constexpr std::string_view memory_name = "memory";
constexpr std::string_view pods_name = "pods";

bool within_slack(double left, double right) { return left < right || std::fabs(left - right) < resource_slack; }

bool all_within(const resource_list& left, const resource_list& right, absent_resource absent) {
  if (!within_slack(left.cpu, right.cpu) || !within_slack(left.memory, right.memory)) return false;
  if (absent == absent_resource::infinity) {
    // What only the right names is infinite on the left.
    for (const auto& [name, amount] : right.scalars()) {
      if (!left.names(name)) return false;
    }
  }
  for (const auto& [name, amount] : left.scalars()) {
    if (absent == absent_resource::infinity && !right.names(name)) continue;
    if (!within_slack(amount, right.get(name))) return false;
  }
  return true;
}

/// The resources that are asked for, except pods, which every pod asks for.
template <class Holds>
resource_names asked_where(const resource_list& asked, const Holds& holds) {
  resource_names found;
  if (asked.cpu > 0 && holds(cpu_name)) found.emplace_back(cpu_name);
  if (asked.memory > 0 && holds(memory_name)) found.emplace_back(memory_name);
  for (const auto& [name, amount] : asked.scalars()) {
    if (name != pods_name && amount > 0 && holds(name)) found.push_back(name);
  }
  return found;
}

}  // namespace

const double* resource_list::find(std::string_view scalar_name) const {
  for (const scalar& one : scalars_) {
    if (one.first == scalar_name) return &one.second;
  }
  return nullptr;
}

bool resource_list::has_names_of(const resource_list& other) const {
  return std::equal(scalars_.begin(), scalars_.end(), other.scalars_.begin(), other.scalars_.end(),
                    [](const scalar& a, const scalar& b) { return a.first == b.first; });
}

template <class Change>
void resource_list::change_by(const resource_list& other, Change change) {
  cpu = change(cpu, other.cpu);
  memory = change(memory, other.memory);
  if (has_names_of(other)) {
    for (std::size_t i = 0; i < scalars_.size(); ++i)
      scalars_[i].second = change(scalars_[i].second, other.scalars_[i].second);
    return;
  }
  if (scalars_.empty()) {
    for (const auto& [name, amount] : other.scalars_) scalars_.emplace_back(name, change(0.0, amount));
    return;
  }
  for (const auto& [name, amount] : other.scalars_) set(name, change(get(name), amount));
}

double resource_list::get(std::string_view name) const {
  if (name == cpu_name) return cpu;
  if (name == memory_name) return memory;
  const double* found = find(name);
  return found == nullptr ? 0 : *found;
}

void resource_list::set(std::string_view name, double amount) {
  if (name == cpu_name) {
    cpu = amount;
  } else if (name == memory_name) {
    memory = amount;
  } else {
    const auto at = std::lower_bound(scalars_.begin(), scalars_.end(), name,
                                     [](const scalar& one, std::string_view of) { return one.first < of; });
    if (at != scalars_.end() && at->first == name) {
      at->second = amount;
    } else {
      scalars_.emplace(at, name, amount);
    }
  }
}

void resource_list::add(const resource_list& other) {
  change_by(other, [](double mine, double amount) { return mine + amount; });
}

void resource_list::subtract(const resource_list& other) {
  if (scalars_.empty()) {
    cpu -= other.cpu;
    memory -= other.memory;
    return;
  }
  change_by(other, [](double mine, double amount) { return mine - amount; });
}

void resource_list::multiply(double factor) {
  cpu *= factor;
  memory *= factor;
  for (auto& [name, amount] : scalars_) amount *= factor;
}

void resource_list::raise_to(const resource_list& other) {
  cpu = std::max(cpu, other.cpu);
  memory = std::max(memory, other.memory);
  for (const auto& [name, amount] : other.scalars_) {
    if (!names(name) || amount > get(name)) set(name, amount);
  }
}

void resource_list::lower_to(const resource_list& other, absent_resource absent) {
  cpu = std::min(cpu, other.cpu);
  memory = std::min(memory, other.memory);
  for (auto& [name, amount] : scalars_) {
    if (other.names(name)) {
      amount = std::min(amount, other.get(name));
    } else if (absent == absent_resource::zero) {
      amount = 0;
    }
  }
}

resource_names resource_list::something_of() const {
  resource_names found;
  found.reserve(scalars_.size() + 2);
  each_of_something([&](std::string_view name, double) { found.emplace_back(name); });
  return found;
}

bool resource_list::is_empty() const {
  if (cpu >= resource_slack || memory >= resource_slack) return false;
  return std::none_of(scalars_.begin(), scalars_.end(),
                      [](const scalar& one) { return one.first != pods_name && one.second >= resource_slack; });
}

const resource_list& shared_resources::none() {
  static const resource_list nothing;
  return nothing;
}

bool less_equal(const resource_list& left, const resource_list& right, absent_resource absent) {
  if (!left.has_names_of(right)) return all_within(left, right, absent);
  if (!within_slack(left.cpu, right.cpu) || !within_slack(left.memory, right.memory)) return false;
  for (std::size_t i = 0; i < left.scalars_.size(); ++i) {
    if (!within_slack(left.scalars_[i].second, right.scalars_[i].second)) return false;
  }
  return true;
}

bool less_partly(const resource_list& left, const resource_list& right, absent_resource absent) {
  if (left.cpu < right.cpu || left.memory < right.memory) return true;
  if (absent == absent_resource::zero) {
    for (const auto& [name, amount] : right.scalars()) {
      if (!left.names(name)) return true;
    }
  }
  for (const auto& [name, amount] : left.scalars()) {
    if (absent == absent_resource::infinity && !right.names(name)) return true;
    if (amount < right.get(name)) return true;
  }
  return false;
}

resource_names exceeding_of(const resource_list& left, const resource_list& right, const resource_list& asked) {
  return asked_where(asked, [&](std::string_view name) { return left.get(name) > right.get(name); });
}

resource_names exceeding_of_relevant(const resource_list& left, const resource_list& right,
                                     const resource_list& asked) {
  return asked_where(asked, [&](std::string_view name) {
    const bool standard = name == cpu_name || name == memory_name;
    const bool relevant = standard ? right.get(name) >= resource_slack : right.names(name);
    return relevant && left.get(name) > right.get(name);
  });
}

resource_names within_of_present(const resource_list& left, const resource_list& right, const resource_list& asked) {
  return asked_where(asked, [&](std::string_view name) {
    const bool present = !left.has_none_of(name) || !right.has_none_of(name);
    return present && within_slack(left.get(name), right.get(name));
  });
}

resource_names common_of(const resource_list& left, const resource_list& right, bool with_pods) {
  resource_names found;
  for (std::string& name : right.something_of()) {
    if (!with_pods && name == pods_name) continue;
    if (!left.has_none_of(name)) found.push_back(std::move(name));
  }
  return found;
}

resource_difference difference(resource_list left, resource_list right, absent_resource absent) {
  constexpr double infinite = -1;
  const double fallback = absent == absent_resource::infinity ? infinite : 0;
  for (const auto& [name, amount] : left.scalars()) {
    if (!right.names(name)) right.set(name, fallback);
  }
  for (const auto& [name, amount] : right.scalars()) {
    if (!left.names(name)) left.set(name, fallback);
  }
  resource_difference found;
  const auto part = [&](std::string_view name) {
    const double a = left.get(name);
    const double b = right.get(name);
    (a > b ? found.more : found.less).set(name, a > b ? a - b : b - a);
  };
  part(cpu_name);
  part(memory_name);
  for (const auto& [name, amount] : left.scalars()) {
    if (amount == infinite) {
      found.more.set(name, infinite);
    } else if (right.get(name) == infinite) {
      found.less.set(name, infinite);
    } else {
      part(name);
    }
  }
  return found;
}

double dominant_share(const resource_list& allocated, const resource_list& of) {
  double share = 0;
  if (allocated.names_nothing()) return share;
  of.each_of_something([&](std::string_view name, double all) { share = std::max(share, allocated.get(name) / all); });
  return share;
}

double deserved_share(const resource_list& allocated, const resource_list& deserved) {
  return deserved.is_empty() ? 1 : dominant_share(allocated, deserved);
}

resource_list outstanding_minimum(const resource_list& minimum, std::span<const std::string> named,
                                  const resource_list& allocated) {
  resource_list left;
  for (const std::string& name : named) {
    const bool standard = name == cpu_name || name == memory_name || name == pods_name;
    const double amount = minimum.get(name) - allocated.get(name);
    // Of other resources a job that holds none keeps its whole claim, even a claim to none.
    if (amount > 0 || (!standard && !allocated.names(name) && minimum.names(name))) left.set(name, amount);
  }
  return left;
}

resource_list beyond_minimum(const resource_list& allocated, const resource_list& minimum) {
  return difference(allocated, minimum, absent_resource::zero).more;
}

}  // namespace kaisched::policy
