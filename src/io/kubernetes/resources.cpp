#include "io/kubernetes/resources.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include <fmt/format.h>

#include <kaisched/quantity.hpp>

namespace kaisched::io::kubernetes {

namespace {

constexpr int milli = 3;

bool is_whole_device(std::string_view resource) { return dimension_of(resource) == "gpu"; }

/// Adds; a fault at `at` if 63 bits do not hold the sum.
void add(object& of, json_value at, amounts& to, const amounts& more) {
  for (const auto& [name, amount] : more) {
    std::int64_t& sum = to[name];
    if (amount > std::numeric_limits<std::int64_t>::max() - sum) {
      of.fail(at, fmt::format("the sum of {} exceeds 63 bits", name));
      return;
    }
    sum += amount;
  }
}

void raise(amounts& to, const amounts& least) {
  for (const auto& [name, amount] : least) {
    std::int64_t& present = to[name];
    present = std::max(present, amount);
  }
}

}  // namespace

std::string_view dimension_of(std::string_view resource) {
  return resource == "nvidia.com/gpu" || resource == "amd.com/gpu" ? std::string_view("gpu") : resource;
}

amounts amounts_of(object& of, member list) {
  amounts read;
  if (!list) return read;
  for (const json_value one : *list) {
    if (one.key().empty() || one.key().find('\0') != std::string_view::npos) {
      of.fail(one, "expected the name of a resource");
      continue;
    }
    std::int64_t amount = of.amount(one, one.key() == "cpu" ? milli : 0);
    if (is_whole_device(one.key())) {
      if (amount > std::numeric_limits<std::int64_t>::max() / whole_device) {
        of.fail(one, fmt::format("the quantity {} is too large", one.shown()));
        amount = 0;
      }
      amount *= whole_device;
    }
    add(of, one, read, {{std::string(dimension_of(one.key())), amount}});
  }
  return read;
}

amounts container_requests(object& of, json_value container) {
  const member resources = of.section(container, "resources");
  amounts asked = amounts_of(of, of.section(resources, "requests"));
  const amounts limits = amounts_of(of, of.section(resources, "limits"));
  asked.insert(limits.begin(), limits.end());  // keeps what is there
  return asked;
}

amounts effective_requests(object& of, member spec) {
  amounts together;
  for (const json_value one : of.items(spec, "containers")) add(of, one, together, container_requests(of, one));
  amounts sidecars;
  amounts peak;
  for (const json_value one : of.items(spec, "initContainers")) {
    amounts asked = container_requests(of, one);
    if (of.text(one, "restartPolicy") == "Always") {
      add(of, one, sidecars, asked);
    } else {
      add(of, one, asked, sidecars);
      raise(peak, asked);
    }
  }
  if (!spec) return together;
  add(of, *spec, together, sidecars);
  raise(together, peak);
  for (const auto& [name, amount] : container_requests(of, *spec)) together[name] = amount;
  if (const member overhead = of.section(spec, "overhead")) add(of, *overhead, together, amounts_of(of, overhead));
  return together;
}

std::string_view qos_of(object& of, member spec) {
  constexpr std::array<std::string_view, 2> counted{"cpu", "memory"};
  bool any = false;
  bool guaranteed = true;
  const auto look = [&](json_value holder) {
    const member resources = of.section(holder, "resources");
    const amounts requests = container_requests(of, holder);
    const amounts limits = amounts_of(of, of.section(resources, "limits"));
    for (const std::string_view name : counted) {
      const auto asked = requests.find(name);
      const auto most = limits.find(name);
      any = any || (asked != requests.end() && asked->second > 0);
      guaranteed = guaranteed && most != limits.end() && most->second > 0 && asked->second == most->second;
    }
  };
  const std::vector<json_value> containers = of.items(spec, "containers");
  for (const json_value one : containers) look(one);
  for (const json_value one : of.items(spec, "initContainers")) look(one);
  if (!any) return "BestEffort";
  return guaranteed && !containers.empty() ? "Guaranteed" : "Burstable";
}

}  // namespace kaisched::io::kubernetes
