// Deltas of what nodes say about NUMA: policy, scope and zones.
#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "model/edit.hpp"

namespace kaisched::model {

namespace {

constexpr std::array<std::string_view, 5> policy_names{"", "none", "best-effort", "restricted", "single-numa-node"};
constexpr std::array<std::string_view, 3> scope_names{"", "container", "pod"};

/// The digits at the end of a name without leading zeros; nothing if there are no digits.
std::string_view trailing_number(std::string_view name) {
  const std::size_t last = name.find_last_not_of("0123456789");
  std::string_view digits = last == std::string_view::npos ? name : name.substr(last + 1);
  while (digits.size() > 1 && digits.front() == '0') digits.remove_prefix(1);
  return digits;
}

bool zone_before(const numa_zone_info& a, const numa_zone_info& b) {
  const std::string_view x = trailing_number(a.name);
  const std::string_view y = trailing_number(b.name);
  if (x.empty() != y.empty()) return y.empty();
  if (x.size() != y.size()) return x.size() < y.size();
  return x != y ? x < y : a.name < b.name;
}

}  // namespace

std::string_view numa_policy_name(numa_policy p) noexcept { return policy_names[static_cast<std::size_t>(p)]; }
std::string_view numa_scope_name(numa_scope s) noexcept { return scope_names[static_cast<std::size_t>(s)]; }

result<void> edit::read_alignment(const table_reader& t, std::uint64_t row, node_info& node) const {
  if (t.has(col::node_numa_policy)) {
    constexpr std::array all{numa_policy::unknown, numa_policy::none, numa_policy::best_effort, numa_policy::restricted,
                             numa_policy::single_numa_node};
    auto v = one_of(t, row, col::node_numa_policy, all, numa_policy_name);
    if (!v) return v.failure();
    node.align = *v;
  }
  if (t.has(col::node_numa_scope)) {
    constexpr std::array all{numa_scope::unknown, numa_scope::container, numa_scope::pod};
    auto v = one_of(t, row, col::node_numa_scope, all, numa_scope_name);
    if (!v) return v.failure();
    node.align_scope = *v;
  }
  return {};
}

result<void> edit::read_claimable(const table_reader& t, std::uint64_t row, node_info& node) const {
  if (!t.has(col::node_claimable)) return {};
  node.claimable.clear();
  for (const std::string_view text : split_list(t.text(col::node_claimable, row))) {
    const std::size_t equals = text.find('=');
    const std::string_view device = equals == std::string_view::npos ? std::string_view{} : text.substr(equals + 1);
    const auto twice = std::find_if(node.claimable.begin(), node.claimable.end(), [&](const auto& one) {
      return one.second == device && one.first == text.substr(0, equals);
    });
    if (equals == 0 || device.empty() || twice != node.claimable.end()) {
      return t.fail(status::argument, row, col::node_claimable,
                    "node '" + base::shown(node.name) + "': '" + base::shown(text) +
                        (twice != node.claimable.end() ? "' is given twice" : "' is not class=driver/pool/device"));
    }
    node.claimable.emplace_back(text.substr(0, equals), device);
  }
  return {};
}

result<void> edit::numa_zones(const table_reader& t) {
  if (!t.has(col::numa_zone_node) || !t.has(col::numa_zone_name)) {
    return error{status::argument, "numa_zone tables need the columns node and name", {}};
  }
  return each_row(t, [&](std::uint64_t row) -> result<void> {
    result<std::uint32_t> slot = slot_of(t, row, col::numa_zone_node, entity_kind::node);
    if (!slot) return slot.failure();
    const node_row at = (*s_.node_row_of_slot)[*slot];
    auto node = std::make_shared<node_info>(*(*s_.nodes)[at]);
    if (auto done = one_zone(t, row, *node); !done) return done;
    s_.nodes.write()[at] = std::move(node);
    return {};
  });
}

result<void> edit::one_zone(const table_reader& t, std::uint64_t row, node_info& node) const {
  const std::string_view name = t.text(col::numa_zone_name, row);
  const auto it =
      std::find_if(node.zones.begin(), node.zones.end(), [&](const numa_zone_info& z) { return z.name == name; });
  const bool exists = it != node.zones.end();
  if (exists == (t.op() == table_op::add)) {
    return t.fail(exists ? status::duplicate : status::not_found, row, col::numa_zone_name,
                  "node '" + base::shown(node.name) + "' has " + (exists ? "a" : "no") + " NUMA zone '" +
                      base::shown(name) + "'");
  }
  if (t.op() == table_op::remove) {
    node.zones.erase(it);
    return {};
  }
  if (!exists) {
    if (auto good = check_name(t, row, col::numa_zone_name); !good) return good;
  }
  numa_zone_info fresh;
  fresh.name = name;
  numa_zone_info& zone = exists ? *it : fresh;
  for (const auto& [column, target] : {std::pair{std::uint32_t{col::numa_zone_capacity}, &zone.capacity},
                                       std::pair{std::uint32_t{col::numa_zone_available}, &zone.available}}) {
    if (!t.has(column)) continue;
    const auto values = t.row_values<std::int64_t>(column, row);
    for (std::size_t d = 0; d < values.size(); ++d) {
      if (values[d] >= 0 && values[d] <= max_amount) continue;
      return t.fail(values[d] < 0 ? status::argument : status::limit, row, column,
                    "node '" + base::shown(node.name) + "', zone '" + base::shown(zone.name) +
                        "': " + (*s_.dimensions)[d].name + " " + std::to_string(values[d]) + " is not in 0 .. 2^52");
    }
    target->assign(values.begin(), values.end());
  }
  if (exists) return {};
  if (node.zones.size() >= max_zones_per_node) {
    return t.fail(status::limit, row, col::numa_zone_name,
                  "node '" + base::shown(node.name) + "': more than 64 NUMA zones");
  }
  node.zones.insert(std::upper_bound(node.zones.begin(), node.zones.end(), fresh, zone_before), std::move(fresh));
  return {};
}

}  // namespace kaisched::model
