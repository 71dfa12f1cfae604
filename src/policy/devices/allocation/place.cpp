#include "policy/devices/allocation/place.hpp"

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

#include "policy/devices/allocation/node_score.hpp"
#include "policy/devices/fit/usage.hpp"
#include "policy/devices/vendor/words.hpp"

namespace kaisched::devices {

namespace {

std::int64_t asked_devices(const std::vector<request>& requests) {
  return std::accumulate(requests.begin(), requests.end(), std::int64_t{0},
                         [](std::int64_t sum, const request& one) { return sum + one.count; });
}

std::set<std::string> models_of(const node& where) {
  std::set<std::string> models;
  for (const device& of : where.devices) models.insert(of.type);
  return models;
}

/// HAMi keeps the place of a container that gets nothing under the models of the node.
void keep_places(pod_grants& grants, const std::set<std::string>& models, std::size_t containers) {
  for (const std::string& model : models) {
    vendor_grants& of = grants_of(grants, model);
    if (of.size() == containers) of.emplace_back();
  }
}

void add_place(pod_grants& grants, const std::set<std::string>& models) {
  for (const std::string& model : models) grants_of(grants, model).emplace_back();
}

float scores_of_vendors(const vendor_catalog& vendors, const node& where, const pod& asking, std::string_view policy,
                        const pod_grants& grants) {
  float sum = 0;
  for (const auto& [key, containers] : grants) {
    const vendor_template* vendor = find_vendor(vendors, key);
    if (vendor == nullptr || vendor->score.kind == score_kind::none) continue;
    std::vector<std::vector<granted_device>> granted;
    for (const container_grants& container : containers) {
      granted.emplace_back();
      for (const grant& one : container) granted.back().push_back({&one, &where.devices[one.position]});
    }
    sum += vendor_score({*vendor, where, granted, asking, policy});
  }
  return sum;
}

/// Containers that run one after another, each on the node as it is without the pod.
std::optional<std::string> place_first(container_trial& trial, node& where, const std::set<std::string>& models,
                                       pod_grants& grants, std::vector<device_use>& peaks) {
  const std::size_t count = std::min(trial.asking.init_containers, trial.asking.containers.size());
  for (std::size_t i = 0; i < count; ++i) {
    const std::vector<request>& requests = trial.asking.containers[i];
    if (requests.empty()) {
      add_place(grants, models);
      continue;
    }
    node_trial devices(where);
    trial.order.clear();
    if (std::optional<std::string> reason = place_container(trial, devices, requests, grants)) return reason;
    raise_uses(peaks, devices.uses());
    keep_places(grants, models, i);
  }
  return std::nullopt;
}

std::optional<std::string> place_rest(container_trial& trial, node_trial& devices, const std::set<std::string>& models,
                                      pod_grants& grants) {
  std::size_t placed = 0;
  trial.order.clear();
  for (std::size_t i = trial.asking.init_containers; i < trial.asking.containers.size(); ++i, ++placed) {
    const std::vector<request>& requests = trial.asking.containers[i];
    if (asked_devices(requests) == 0) {
      add_place(grants, models);
      continue;
    }
    if (std::optional<std::string> reason = place_container(trial, devices, requests, grants)) return reason;
    keep_places(grants, models, placed);
  }
  return std::nullopt;
}

std::vector<std::size_t> of_vendor(const node& where, const std::vector<std::size_t>& order, std::string_view key) {
  std::vector<std::size_t> found;
  for (const std::size_t position : order) {
    if (contains_any_case(where.devices[position].type, key)) found.push_back(position);
  }
  return found;
}

}  // namespace

void raise_uses(std::vector<device_use>& peaks, const std::vector<device_use>& uses) {
  for (const device_use& use : uses) {
    const auto at =
        std::lower_bound(peaks.begin(), peaks.end(), use.position,
                         [](const device_use& one, std::size_t position) { return one.position < position; });
    if (at == peaks.end() || at->position != use.position) {
      peaks.insert(at, use);
    } else {
      at->slots = std::max(at->slots, use.slots);
      at->cores = std::max(at->cores, use.cores);
      at->memory = std::max(at->memory, use.memory);
    }
  }
}

result<place_policies> policies_of(const pod& asking, const pod_policy_keys& keys, const vendor_catalog& vendors,
                                   const place_policies& otherwise) {
  place_policies made = otherwise;
  if (const std::string* policy = asking.annotation(keys.nodes)) made.nodes = *policy;
  if (const std::string* policy = asking.annotation(keys.devices)) made.devices = *policy;
  if (const std::string* text = asking.annotation(keys.weights)) {
    const result<score_weights> weights = parse_score_weights(*text);
    if (!weights) return weights.failure();
    made.weights = *weights;
  }
  for (const vendor_template& vendor : vendors) {
    const std::string* bind = vendor.bind_numa.empty() ? nullptr : asking.annotation(vendor.bind_numa);
    if (bind != nullptr && is_true(*bind)) made.bind_numa = true;
  }
  return made;
}

device& node_trial::change(std::size_t position) {
  const auto known =
      std::find_if(before_.begin(), before_.end(), [&](const auto& one) { return one.first == position; });
  if (known == before_.end()) before_.emplace_back(position, where_->devices[position]);
  return where_->devices[position];
}

std::vector<device_use> node_trial::uses() const {
  std::vector<device_use> found;
  for (const auto& [position, before] : before_) {
    const device& of = where_->devices[position];
    found.push_back({position, of.used_slots, of.used_cores, of.used_memory});
  }
  std::sort(found.begin(), found.end(),
            [](const device_use& a, const device_use& b) { return a.position < b.position; });
  return found;
}

void node_trial::take_back() {
  for (auto& [position, before] : before_) where_->devices[position] = std::move(before);
  before_.clear();
}

bool may_repeat(const vendor_template& vendor, const pod& asking, std::span<const device> devices,
                std::span<const std::size_t> candidates) {
  if (!vendor.repeat_divided) return false;
  const std::string* modes = vendor.modes.empty() ? nullptr : asking.annotation(vendor.modes);
  if (modes != nullptr && modes->find("mig") == std::string::npos) return false;
  return std::any_of(candidates.begin(), candidates.end(),
                     [&](std::size_t position) { return devices[position].mode == "mig"; });
}

std::optional<std::string> place_container(container_trial& trial, node_trial& devices,
                                           const std::vector<request>& requests, pod_grants& grants) {
  const node& where = devices.where();
  if (trial.order.empty()) {
    trial.order.resize(where.devices.size());
    std::iota(trial.order.begin(), trial.order.end(), std::size_t{0});
  }
  trial.scores.resize(where.devices.size());
  for (std::size_t i = 0; i < where.devices.size(); ++i) {
    trial.scores[i] = device_score(where.devices[i], requests, trial.policies.weights);
  }
  const device_order order(trial.policies.sort.value_or(trial.policies.devices), trial.policies.bind_numa);
  for (const request& asked : requests) {
    sort_devices(order, where.devices, trial.scores, trial.order);
    const vendor_template* vendor = find_vendor(trial.vendors, asked.vendor);
    if (vendor == nullptr) return std::string(reason_name(reason::unknown_vendor));
    const std::vector<std::size_t> candidates = of_vendor(where, trial.order, asked.vendor);
    if (asked.count > static_cast<std::int64_t>(candidates.size()) &&
        !may_repeat(*vendor, trial.asking, where.devices, candidates)) {
      return std::string(reason_name(reason::node_insufficient_device));
    }
    const wishes wanted = wishes_of(*vendor, trial.asking, trial.policies.devices);
    fit_answer answer = fit({*vendor, where, candidates, asked, wanted, grants, trial.asking.init_containers,
                             find_quota(trial.quotas, trial.asking.space, vendor->key)});
    if (!answer.fits) return answer.reason_text();
    for (grant& one : answer.grants) {
      if (!add_usage(*vendor, wanted, devices.change(one.position), one)) {
        return "AddResourceUsage failed for device " + one.id + ": MIG profile and placement allocation failed";
      }
    }
    grants_of(grants, asked.vendor).push_back(std::move(answer.grants));
  }
  return std::nullopt;
}

node_placement place_in_order(const vendor_catalog& vendors, node& where, const pod& asking,
                              const place_policies& policies, const space_quotas& quotas) {
  node_placement placed;
  container_trial trial{vendors, asking, policies, quotas};
  const std::set<std::string> models = models_of(where);
  pod_grants first;
  std::vector<device_use> peaks;
  if (std::optional<std::string> reason = place_first(trial, where, models, first, peaks)) {
    placed.reason = std::move(*reason);
    return placed;
  }
  placed.score = use_score(where.devices);
  {
    node_trial devices(where);
    if (std::optional<std::string> reason = place_rest(trial, devices, models, placed.grants)) {
      placed.reason = std::move(*reason);
      return placed;
    }
    raise_uses(peaks, devices.uses());
  }
  for (auto& [key, containers] : first) {
    vendor_grants& all = grants_of(placed.grants, key);
    all.insert(all.begin(), std::make_move_iterator(containers.begin()), std::make_move_iterator(containers.end()));
  }
  placed.fits = true;
  placed.uses = std::move(peaks);
  placed.score += scores_of_vendors(vendors, where, asking, policies.nodes, placed.grants);
  return placed;
}

}  // namespace kaisched::devices
