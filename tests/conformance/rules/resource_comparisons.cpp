#include "conformance/rules/resource_comparisons.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>

namespace kaisched::policy {

namespace {

constexpr std::string_view cpu_name = "cpu";
constexpr std::string_view memory_name = "memory";

bool is_near(double a, double b) { return std::fabs(a - b) < resource_slack; }

bool is_within(double left, double right) { return left < right || is_near(left, right); }

template <class Holds>
bool all_scalars(const resource_list& of, const Holds& holds) {
  return std::all_of(of.scalars().begin(), of.scalars().end(),
                     [&](const resource_list::scalar& one) { return holds(one.first, one.second); });
}

}  // namespace

bool less(const resource_list& left, const resource_list& right, absent_resource absent) {
  const bool infinite = absent == absent_resource::infinity;
  return left.cpu < right.cpu && left.memory < right.memory &&
         all_scalars(
             right, [&](std::string_view name, double) { return !infinite || left.names(name); }) &&
         all_scalars(
             left, [&](std::string_view name,
                       double amount) { return (infinite && !right.names(name)) || amount < right.get(name); });
}

bool less_equal_partly(const resource_list& left, const resource_list& right, absent_resource absent) {
  return less_partly(left, right, absent) || is_near(left.cpu, right.cpu) || is_near(left.memory, right.memory) ||
         !all_scalars(left, [&](std::string_view name, double amount) { return !is_near(amount, right.get(name)); });
}

bool equal(const resource_list& left, const resource_list& right) {
  const auto same = [](double a, double b) { return a == b || is_near(a, b); };
  return same(left.cpu, right.cpu) && same(left.memory, right.memory) &&
         all_scalars(left, [&](std::string_view name, double amount) { return same(amount, right.get(name)); });
}

resource_names exceeding(const resource_list& left, const resource_list& right, absent_resource absent) {
  resource_names found;
  if (!is_within(left.cpu, right.cpu)) found.emplace_back(cpu_name);
  if (!is_within(left.memory, right.memory)) found.emplace_back(memory_name);
  for (const auto& [name, amount] : left.scalars()) {
    if (absent == absent_resource::infinity && !right.names(name)) continue;
    if (!is_within(amount, right.get(name))) found.push_back(name);
  }
  return found;
}

resource_names within_of(const resource_list& left, const resource_list& right, const resource_list& asked) {
  resource_names found;
  if (asked.cpu > 0 && is_within(left.cpu, right.cpu)) found.emplace_back(cpu_name);
  if (asked.memory > 0 && is_within(left.memory, right.memory)) found.emplace_back(memory_name);
  for (const auto& [name, amount] : asked.scalars()) {
    if (name != "pods" && amount > 0 && is_within(left.get(name), right.get(name))) found.push_back(name);
  }
  return found;
}

void subtract_for_fit(resource_list& left, const resource_list& asked) {
  if (asked.cpu > 0) left.cpu -= asked.cpu + resource_slack;
  if (asked.memory > 0) left.memory -= asked.memory + resource_slack;
  for (const auto& [name, amount] : asked.scalars()) {
    if (amount > 0) left.set(name, left.get(name) - (amount + resource_slack));
  }
}

}  // namespace kaisched::policy
