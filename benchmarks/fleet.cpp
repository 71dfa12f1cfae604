#include "benchmarks/fleet.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "policy/devices/fit/usage.hpp"
#include "policy/devices/vendor/wishes.hpp"

namespace kaisched::devices {

namespace {

bool ask_the_same(const pod& a, const pod& b) {
  return a.space == b.space && a.init_containers == b.init_containers && a.containers == b.containers &&
         a.annotations == b.annotations;
}

}  // namespace

bool is_better(std::string_view policy, float score, float than) {
  return policy == "spread" ? score < than : score > than;
}

void apply(const vendor_catalog& vendors, node& where, const pod& asking, const node_placement& placed) {
  for (const auto& [key, containers] : placed.grants) {
    const vendor_template* vendor = find_vendor(vendors, key);
    if (vendor == nullptr) continue;
    const wishes wanted = wishes_of(*vendor, asking, {});
    for (const container_grants& container : containers) {
      for (const grant& one : container) {
        device& of = where.devices[one.position];
        if (one.instance && one.instance->placement.size > 0) of.instances.push_back(*one.instance);
        if (vendor->service) take_over_class(*vendor, wanted, of, one);
        if (vendor->tenants) of.tenants.push_back(wanted.tenant_class);
      }
    }
  }
  for (const device_use& use : placed.uses) {
    device& of = where.devices[use.position];
    of.used_slots = use.slots;
    of.used_cores = use.cores;
    of.used_memory = use.memory;
  }
}

fleet::fleet(vendor_catalog vendors, std::vector<node> nodes, policy_levels levels, bool in_order)
    : vendors_(std::move(vendors)),
      nodes_(std::move(nodes)),
      versions_(nodes_.size(), 1),
      levels_(std::move(levels)),
      in_order_(in_order) {}

node& fleet::change(std::size_t which) {
  ++versions_[which];
  return nodes_[which];
}

void fleet::set_quotas(space_quotas quotas) {
  quotas_ = std::move(quotas);
  ++quota_version_;
}

fleet::pod_class& fleet::class_of(const pod& asking) {
  const auto found = std::find_if(classes_.begin(), classes_.end(),
                                  [&](const pod_class& one) { return ask_the_same(one.like, asking); });
  if (found != classes_.end()) return *found;
  classes_.push_back({asking, quota_version_, std::vector<answer>(nodes_.size())});
  return classes_.back();
}

void fleet::ask(pod_class& of, std::size_t which) {
  answer& known = of.answers[which];
  known = {};
  known.version = versions_[which];
  ++questions_;
  const device_settings settings = levels_.of_node(nodes_[which].name);
  const result<place_policies> policies = policies_for(of.like, levels_, settings, vendors_);
  if (!policies) {
    known.placed.reason = policies.failure().message;
  } else if (in_order_) {
    known.placed = place_in_order(vendors_, nodes_[which], of.like, *policies, quotas_);
  } else {
    solved_placement solved = solve(vendors_, nodes_[which], of.like, *policies, quotas_);
    known.placed = std::move(solved.placed);
    known.use_after = solved.use_after;
  }
}

void fleet::refresh(pod_class& of) {
  const bool limited = std::any_of(quotas_.begin(), quotas_.end(),
                                   [&](const space_quota& quota) { return quota.space == of.like.space; });
  const bool quota_changed = limited && of.quota_version != quota_version_;
  of.quota_version = quota_version_;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (quota_changed || of.answers[i].version != versions_[i]) ask(of, i);
  }
}

bool fleet::is_better(const answer& one, const answer& than, std::string_view policy) const {
  if (in_order_) return devices::is_better(policy, one.placed.score, than.placed.score);
  return policy == "spread" ? one.use_after < than.use_after : one.use_after > than.use_after;
}

std::optional<fleet_choice> fleet::choose(const pod& asking) {
  pod_class& of = class_of(asking);
  refresh(of);
  const result<place_policies> policies = policies_for(asking, levels_, levels_.global, vendors_);
  if (!policies) return std::nullopt;
  const answer* best = nullptr;
  for (const answer& one : of.answers) {
    if (one.placed.fits && (best == nullptr || is_better(one, *best, policies->nodes))) best = &one;
  }
  if (best == nullptr) return std::nullopt;
  return fleet_choice{static_cast<std::size_t>(best - of.answers.data()), best->placed};
}

void fleet::commit(const pod& asking, const fleet_choice& chosen) {
  apply(vendors_, change(chosen.node), asking, chosen.placed);
  for (space_quota& quota : quotas_) {
    const vendor_grants* grants =
        quota.space == asking.space ? find_grants(chosen.placed.grants, quota.vendor) : nullptr;
    if (grants == nullptr) continue;
    const held_amounts held = held_by(*grants, asking.init_containers);
    quota.used_memory += held.memory;
    quota.used_cores += held.cores;
    quota.used_slots += held.slots;
    ++quota_version_;
  }
}

std::vector<std::string> fleet::reasons(const pod& asking) {
  pod_class& of = class_of(asking);
  refresh(of);
  std::map<std::string, std::size_t> counts;
  for (const answer& one : of.answers) {
    if (!one.placed.fits) ++counts[one.placed.reason];
  }
  std::vector<std::pair<std::string, std::size_t>> ordered(counts.begin(), counts.end());
  std::sort(ordered.begin(), ordered.end(), [](const auto& a, const auto& b) {
    return a.second != b.second ? a.second > b.second : a.first < b.first;
  });
  std::vector<std::string> texts;
  for (const auto& [reason, nodes] : ordered) texts.push_back(std::to_string(nodes) + " nodes " + reason);
  return texts;
}

}  // namespace kaisched::devices
