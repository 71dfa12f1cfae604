// Calls of the schema hami-case/1.

#include "conformance/hami_calls.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "benchmarks/fleet.hpp"
#include "conformance/hami_records.hpp"
#include "conformance/json_values.hpp"
#include "conformance/unsupported.hpp"
#include "policy/devices/allocation/node_score.hpp"
#include "policy/devices/fit/order.hpp"
#include "policy/devices/fit/usage.hpp"
#include "policy/devices/vendor/wishes.hpp"

namespace kaisched::conformance {

namespace {

using nlohmann::json;
using difference = std::optional<std::string>;

constexpr std::string_view default_policy = "spread";

std::string device_policy_of(const json& pod) {
  const std::string own = annotation_of(pod, "hami.io/gpu-scheduler-policy");
  return own.empty() ? std::string(default_policy) : own;
}

difference compare(std::string_view what, const json& expected, const json& found) {
  const json a = normal(expected);
  const json b = normal(found);
  if (a == b || (a.empty() && b.empty())) return std::nullopt;
  return std::string(what) + " is " + b.dump() + ", recorded is " + a.dump();
}

difference compare_score(const json& expected, float found) {
  const double wanted = expected.is_null() ? 0.0 : expected.get<double>();
  const double is = static_cast<double>(found);
  if (std::fabs(wanted - is) <= 1e-5 * std::max(1.0, std::fabs(wanted))) return std::nullopt;
  return "score is " + std::to_string(is) + ", recorded is " + std::to_string(wanted);
}

devices::score_weights weights_of(const json& record) {
  if (record.is_null()) return {};
  return {value_or(record, "slot", std::int64_t{0}), value_or(record, "core", std::int64_t{0}),
          value_or(record, "memory", std::int64_t{0})};
}

/// Quotas are a global of HAMi that calls do not record. They are in the input of the case, or fixed in the test.
devices::space_quotas quotas_of(const json& one) {
  devices::space_quotas quotas;
  const json& quota = member(member(one, "input"), "quota");
  if (!quota.is_null()) {
    devices::space_quota made;
    made.space = text_or_empty(member(quota, "metadata"), "namespace");
    made.vendor = "NVIDIA";
    for (const auto& [name, text] : items(member(quota, "spec"), "hard").items()) {
      const std::int64_t value = hami_quantity(text).value;
      if (name.ends_with("/gpumem")) made.memory = value * devices::mebibyte;
      if (name.ends_with("/gpucores")) made.cores = value;
    }
    quotas.push_back(made);
  }
  constexpr std::int64_t units = 50 * 256 * devices::mebibyte;
  quotas.push_back({"cambricon-quota-test-ns", "MLU", units, {}, {}, 0, 0, 0});
  return quotas;
}

/// The template of a request, by its type: only slices need it.
const devices::vendor_template& vendor_of_request(const json& record) {
  static const devices::vendor_template plain{};
  const devices::vendor_template* found = devices::find_vendor(hami_vendors(), text_or_empty(record, "type"));
  return found == nullptr ? plain : *found;
}

std::vector<devices::request> requests_of(const json& record) {
  std::vector<devices::request> made;
  for (const auto& [key, one] : record.items()) made.push_back(hami_request(one, vendor_of_request(one)));
  return made;
}

/// Backends that exist only in HAMi's tests.
void refuse_mocks(const std::vector<devices::request>& requests) {
  for (const devices::request& one : requests) {
    if (devices::find_vendor(hami_vendors(), one.vendor) == nullptr && !one.vendor.empty()) {
      throw unsupported("backend of a test: " + one.vendor);
    }
  }
}

difference replay_fit(const json& in, const json& out, const json& one) {
  const devices::vendor_template vendor = hami_vendor(in);
  const devices::node where = hami_node(items(in, "devices"), member(in, "node"));
  const devices::pod pod = hami_pod(member(in, "pod"));
  devices::request asked = hami_request(in.at("request"), vendor);
  std::vector<std::size_t> candidates(where.devices.size());
  std::iota(candidates.begin(), candidates.end(), std::size_t{0});
  const devices::pod_grants earlier = hami_grants(items(in, "allocated"), where);
  const devices::wishes wanted = devices::wishes_of(vendor, pod, device_policy_of(member(in, "pod")));
  const devices::space_quotas quotas = quotas_of(one);
  const devices::fit_answer answer =
      devices::fit({vendor, where, candidates, asked, wanted, earlier, pod.init_containers,
                    devices::find_quota(quotas, pod.space, vendor.key)});
  if (answer.fits != value_or(out, "fit", false)) {
    return "fit is " + std::string(answer.fits ? "true" : "false: " + answer.reason_text());
  }
  if (difference reason = compare("reason", text_or_empty(out, "reason"), answer.reason_text())) return reason;
  json granted = json::object();
  granted[asked.vendor] = grants_record(answer.grants, where);
  return compare("devices", items(out, "devices"), granted);
}

struct node_question {
  devices::node where;
  std::string sort;
  bool bind_numa = false;
};

node_question question_of(const json& usage) {
  const json& lists = member(usage, "devices");
  return {hami_usage_node(usage), text_or_empty(lists, "policy"), value_or(lists, "numa_bind", false)};
}

json usage_record(const devices::node& where, const std::vector<std::size_t>& order) {
  json record = json::array();
  for (const std::size_t position : order) {
    const devices::device& of = where.devices[position];
    record.push_back({{"id", of.id},
                      {"used", of.used_slots},
                      {"usedmem", of.used_memory / devices::mebibyte},
                      {"usedcores", of.used_cores}});
  }
  return record;
}

json recorded_usage(const json& lists) {
  json record = json::array();
  for (const json& one : items(lists, "device_lists")) {
    const json& of = member(one, "device");
    record.push_back({{"id", member(of, "id")},
                      {"used", member(of, "used")},
                      {"usedmem", member(of, "usedmem")},
                      {"usedcores", member(of, "usedcores")}});
  }
  return record;
}

difference replay_container(const json& in, const json& out, const json& one) {
  node_question question = question_of(in.at("node"));
  const devices::pod pod = hami_pod(member(in, "pod"));
  const std::vector<devices::request> requests = requests_of(items(in, "requests"));
  refuse_mocks(requests);
  devices::pod_grants grants = hami_grants(items(in, "allocated"), question.where);
  const std::string policy = device_policy_of(member(in, "pod"));
  devices::place_policies policies;
  policies.devices = policy;
  policies.sort = question.sort;
  policies.bind_numa = question.bind_numa;
  policies.weights = weights_of(member(in, "weights"));
  const devices::space_quotas quotas = quotas_of(one);
  devices::container_trial trial{hami_vendors(), pod, policies, quotas};
  devices::node_trial devices_of(question.where);
  const std::optional<std::string> reason = devices::place_container(trial, devices_of, requests, grants);
  if (reason.has_value() == value_or(out, "fit", false))
    return "fit is " + std::string(reason ? "false: " + *reason : "true");
  if (difference text = compare("reason", text_or_empty(out, "reason"), reason.value_or(""))) return text;
  if (reason) return std::nullopt;
  if (difference list = compare("allocated", items(out, "allocated"), pod_grants_record(grants, question.where)))
    return list;
  return compare("devices", recorded_usage(member(out, "node_devices")), usage_record(question.where, trial.order));
}

difference replay_calc_score(const json& in, const json& out, const json& one) {
  const json& pod_record = member(in, "pod");
  devices::pod pod = hami_pod(pod_record);
  for (const json& container : items(in, "requests")) {
    pod.containers.push_back(requests_of(container));
    refuse_mocks(pod.containers.back());
  }
  const std::string devices_policy = device_policy_of(pod_record);
  devices::place_policies policies;
  const std::string nodes_policy = text_or_empty(out, "policy");
  const devices::pod_policy_keys keys{"hami.io/node-scheduler-policy", "hami.io/gpu-scheduler-policy",
                                      "hami.io/device-scoring-weights"};
  const result<devices::place_policies> read = devices::policies_of(pod, keys, hami_vendors(), policies);
  if (!read) return text_or_empty(out, "error").empty() ? difference(read.failure().message) : std::nullopt;
  policies = *read;
  if (!text_or_empty(out, "error").empty()) return "there is no error";
  if (!nodes_policy.empty() && nodes_policy != policies.nodes)
    return "policy of nodes is " + std::string(policies.nodes);
  for (const auto& [name, usage] : items(in, "nodes").items()) {
    node_question question = question_of(usage);
    policies.sort = question.sort;
    policies.bind_numa = question.bind_numa;
    const devices::node_placement placed =
        devices::place_in_order(hami_vendors(), question.where, pod, policies, quotas_of(one));
    const json& expected = member(items(out, "nodes"), name);
    if (placed.fits == expected.is_null()) return name + (placed.fits ? " fits" : " does not fit: " + placed.reason);
    if (!placed.fits) {
      if (difference text = compare("reason", member(items(out, "failed_nodes"), name), placed.reason)) return text;
      continue;
    }
    if (difference score = compare_score(member(expected, "score"), placed.score)) return score;
    const json made = pod_grants_record(placed.grants, question.where);
    if (difference list = compare(name, items(expected, "devices"), made)) return list;
  }
  return std::nullopt;
}

/// The registered devices of a node, used as granted pods say.
devices::node used_node(const json& registered, const json& granted_pods, const std::string& name) {
  devices::node made;
  json records = json::array();
  for (const auto& [vendor, list] : items(registered, "devices").items()) {
    for (const json& one : list) {
      json record = one;
      record["totalmem"] = member(one, "devmem");
      record["totalcore"] = member(one, "devcore");
      records.push_back(std::move(record));
    }
  }
  std::stable_sort(records.begin(), records.end(),
                   [](const json& a, const json& b) { return value_or(a, "index", 0) < value_or(b, "index", 0); });
  made = hami_node(records, registered);
  for (const json& pod : granted_pods) {
    const std::string at = has(pod, "node") ? text_or_empty(pod, "node") : text_or_empty(pod, "node_id");
    if (at != name) continue;
    for (const auto& [vendor, containers] : items(pod, "devices").items()) {
      for (const json& container : containers) {
        for (const json& one : container) {
          for (devices::device& of : made.devices) {
            if (of.id != text_or_empty(one, "uuid")) continue;
            of.used_slots += std::max<std::int64_t>(value_or(one, "slots", std::int64_t{0}), 1);
            of.used_memory += value_or(one, "usedmem", std::int64_t{0}) * devices::mebibyte;
            of.used_cores += value_or(one, "usedcores", std::int64_t{0});
          }
        }
      }
    }
  }
  return made;
}

/// A simulated node has its devices in the annotation with which it registers.
json registered_from_annotation(const json& node) {
  const std::string text = annotation_of(node, "hami.io/node-nvidia-register");
  if (text.empty()) return nullptr;
  json record{{"id", name_of(member(node, "metadata"))}, {"node", node}};
  record["devices"]["NVIDIA"] = json::parse(text);
  return record;
}

struct filter_outcome {
  json failed = json::object();
  std::vector<std::string> best;  ///< all nodes with the best score
};

filter_outcome filter_nodes(const json& in, const devices::pod& pod, const devices::place_policies& policies,
                            const devices::space_quotas& quotas) {
  filter_outcome outcome;
  const bool simulated = value_or(in, "simulation", false);
  std::vector<std::pair<std::string, json>> nodes;
  if (simulated) {
    for (const json& node : items(in, "nodes")) {
      json record = registered_from_annotation(node);
      const std::string name = name_of(member(node, "metadata"));
      if (record.is_null()) {
        outcome.failed[name] = "";
      } else {
        nodes.emplace_back(name, std::move(record));
      }
    }
  } else {
    for (const json& name : items(in, "node_names")) {
      const std::string text = name.get<std::string>();
      const json& record = member(items(in, "registered_nodes"), text);
      if (record.is_null()) {
        outcome.failed[text] = "node unregistered";
      } else {
        nodes.emplace_back(text, record);
      }
    }
  }
  std::optional<float> best;
  for (const auto& [name, record] : nodes) {
    devices::node where = used_node(record, simulated ? json::array() : items(in, "granted_pods"), name);
    const devices::node_placement placed = devices::place_in_order(hami_vendors(), where, pod, policies, quotas);
    if (!placed.fits) {
      outcome.failed[name] = placed.reason;
      continue;
    }
    if (best && devices::is_better(policies.nodes, placed.score, *best)) outcome.best.clear();
    if (!best || !devices::is_better(policies.nodes, *best, placed.score)) {
      best = placed.score;
      outcome.best.push_back(name);
    }
  }
  return outcome;
}

difference replay_filter(const json& in, const json& out, const json& one) {
  devices::pod pod = hami_pod(member(in, "pod"));
  for (const json& container : items(in, "pod_requests")) pod.containers.push_back(requests_of(container));
  const devices::pod_policy_keys keys{"hami.io/node-scheduler-policy", "hami.io/gpu-scheduler-policy",
                                      "hami.io/device-scoring-weights"};
  const result<devices::place_policies> policies = devices::policies_of(pod, keys, hami_vendors(), {});
  if (!policies) return policies.failure().message;
  const filter_outcome outcome = filter_nodes(in, pod, *policies, quotas_of(one));
  const json& chosen = items(out, "node_names");
  if (chosen.empty() != outcome.best.empty()) return "nodes that fit: " + std::to_string(outcome.best.size());
  if (!chosen.empty() &&
      std::find(outcome.best.begin(), outcome.best.end(), chosen.front().get<std::string>()) == outcome.best.end()) {
    return "another node is better: " + outcome.best.front();
  }
  for (const auto& [name, reason] : items(out, "failed_nodes").items()) {
    if (!outcome.failed.contains(name)) return name + " fits";
    const std::string found = outcome.failed.at(name).get<std::string>();
    // Why a simulated node is no node of devices is a text of HAMi's reader.
    if (!found.empty() && found != reason.get<std::string>()) return name + ": " + found;
  }
  return std::nullopt;
}

difference replay_device_score(const json& in, const json& out, const json& /*one*/) {
  const devices::device of = hami_device(member(in, "device"));
  const std::vector<devices::request> requests = requests_of(items(in, "requests"));
  return compare_score(member(out, "score"), devices::device_score(of, requests, weights_of(member(in, "weights"))));
}

difference replay_use_score(const json& in, const json& out, const json& /*one*/) {
  devices::node where;
  for (const json& one : items(member(in, "devices"), "device_lists"))
    where.devices.push_back(hami_device(member(one, "device")));
  return compare_score(member(out, "score"), devices::use_score(where.devices));
}

/// Scores of a vendor look at grants that need not be of devices of the node.
float vendor_score_of(const devices::vendor_template& vendor, const json& in, const json& containers, bool plain) {
  const devices::node where = hami_node(items(in, "previous"), json{{"node", member(in, "node")}});
  devices::pod pod;
  std::vector<devices::container_grants> grants;
  for (const json& container : containers) {
    grants.emplace_back();
    for (const json& one : container) {
      grants.back().push_back(hami_grant(one, where));
      for (const auto& [key, value] : items(member(one, "custom_info"), "Pod.Annotations").items()) {
        if (pod.annotation(key) == nullptr) pod.annotations.emplace_back(key, value.get<std::string>());
      }
    }
  }
  std::vector<std::vector<devices::granted_device>> granted;
  for (const devices::container_grants& container : grants) {
    granted.emplace_back();
    for (const devices::grant& one : container) granted.back().push_back({&one, nullptr});
  }
  const std::string policy = text_or_empty(in, "policy");
  const devices::score_question question{vendor, where, granted, pod, policy};
  return plain ? devices::plain_vendor_score(question) : devices::vendor_score(question);
}

difference replay_vendor_score(const json& in, const json& out, const json& /*one*/) {
  return compare_score(member(out, "score"), vendor_score_of(hami_vendor(in), in, items(in, "pod_devices"), true));
}

difference replay_override(const json& in, const json& out, const json& /*one*/) {
  float score = static_cast<float>(value_or(in, "score", 0.0));
  for (const auto& [key, containers] : items(in, "devices").items()) {
    const devices::vendor_template* vendor = devices::find_vendor(hami_vendors(), key);
    if (vendor != nullptr) score += vendor_score_of(*vendor, in, containers, false);
  }
  return compare_score(member(out, "score"), score);
}

difference replay_usage(const json& in, const json& out, const json& /*one*/) {
  const devices::vendor_template vendor = hami_vendor(in);
  devices::node where;
  where.devices.push_back(hami_device(member(in, "device")));
  devices::grant taken = hami_grant(member(in, "grant"), where);
  taken.position = 0;
  const devices::pod pod = hami_pod(member(in, "pod"));
  const bool added = devices::add_usage(vendor, devices::wishes_of(vendor, pod, {}), where.devices.front(), taken);
  if (added == has(out, "error") && !text_or_empty(out, "error").empty()) return "an error was recorded";
  if (!added) return text_or_empty(out, "error").empty() ? difference("there is no room") : std::nullopt;
  json expected = grant_record(hami_grant(member(out, "grant"), where), where);
  json found = grant_record(taken, where);
  if (taken.instance) {
    expected["custom_info"] = member(member(out, "grant"), "custom_info");
    found["custom_info"] = grant_record(taken, where)["custom_info"];
  } else {
    expected.erase("custom_info");
    found.erase("custom_info");
  }
  if (difference grant = compare("grant", expected, found)) return grant;
  devices::device after = hami_device(member(out, "device"));
  after.tenants = where.devices.front().tenants;
  if (after == where.devices.front()) return std::nullopt;
  return compare("device", usage_record({{}, {after}}, {0}), usage_record(where, {0}))
      .value_or("other properties of the device differ");
}

/// Units of memory that are a global of a backend, which calls do not record.
struct test_unit {
  std::string_view test;
  std::string_view vendor;
  std::int64_t factor;
};
constexpr std::array test_units{
    test_unit{"TestFitResourceQuotaNonNvidia", "DCU", 2},
    test_unit{"Test_GenerateResourceRequests_MemoryFactorOverflow", "DCU", 1024},
};

difference replay_request(const json& in, const json& out, const json& one) {
  devices::vendor_template vendor = hami_vendor(in);
  for (const test_unit& unit : test_units) {
    if (unit.vendor == vendor.key && text_or_empty(one, "test") == unit.test) {
      vendor.requests.memory_unit = unit.factor * devices::mebibyte;
    }
  }
  const std::optional<devices::request> made = devices::make_request(vendor, hami_resources(member(in, "container")));
  return compare("request", items(out, "request"), request_record(vendor, made));
}

json column_record(const json& column) {
  json made = json::object();
  for (const auto& [name, text] : column.items()) {
    if (!name.empty()) made[name] = hami_quantity(text).value;
  }
  return made;
}
json column_record(const devices::quantities& column) {
  json made = json::object();
  for (const auto& [name, value] : column) made[name] = value.value;
  return made;
}

difference compare_columns(const json& container, const devices::container_resources& made) {
  const json& resources = member(container, "resources");
  const json limits = column_record(items(resources, "limits"));
  const json requests = column_record(items(resources, "requests"));
  if (limits != column_record(made.limits) && !(limits.empty() && made.limits.empty())) {
    return "limits are " + column_record(made.limits).dump() + ", recorded are " + limits.dump();
  }
  if (requests != column_record(made.requests) && !(requests.empty() && made.requests.empty())) {
    return "requests are " + column_record(made.requests).dump() + ", recorded are " + requests.dump();
  }
  return std::nullopt;
}

difference replay_admission(const json& in, const json& out, const json& /*one*/) {
  const devices::vendor_template vendor = hami_vendor(in);
  devices::admitted_container container;
  container.name = text_or_empty(member(in, "container"), "name");
  container.resources = hami_resources(member(in, "container"));
  for (const json& one : items(member(in, "container"), "env")) {
    container.environment.emplace_back(text_or_empty(one, "name"), text_or_empty(one, "value"));
  }
  container.pod_annotations = hami_pod(member(in, "pod")).annotations;
  const devices::admission_result result = devices::admit(vendor, container);
  const std::string error = text_or_empty(out, "error");
  if (result.error.empty() != error.empty()) return "error is \"" + result.error + "\", recorded is \"" + error + "\"";
  if (result.claimed != value_or(out, "claimed", false)) return std::string(result.claimed ? "claimed" : "not claimed");
  if (difference columns = compare_columns(member(out, "container"), container.resources)) return columns;
  json annotations = json::object();
  for (const auto& [key, value] : container.pod_annotations) annotations[key] = value;
  if (difference same = compare("annotations", items(out, "pod_annotations"), annotations)) return same;
  json variables = json::array();
  for (const auto& [name, value] : container.environment) variables.push_back({{"name", name}, {"value", value}});
  return compare("environment", items(member(out, "container"), "env"), variables);
}

struct replayer {
  std::string_view fn;
  difference (*replay)(const json& in, const json& out, const json& one);
};
constexpr std::array replayers{
    replayer{"fit", replay_fit},
    replayer{"fit_in_devices", replay_container},
    replayer{"calc_score", replay_calc_score},
    replayer{"filter", replay_filter},
    replayer{"device_score", replay_device_score},
    replayer{"node_default_score", replay_use_score},
    replayer{"node_override_score", replay_override},
    replayer{"score_node", replay_vendor_score},
    replayer{"add_resource_usage", replay_usage},
    replayer{"generate_resource_requests", replay_request},
    replayer{"mutate_admission", replay_admission},
};

}  // namespace

std::optional<std::string> replay_hami_call(const json& call, const json& one) {
  const std::string fn = call.at("fn").get<std::string>();
  const auto found = std::find_if(replayers.begin(), replayers.end(), [&](const replayer& r) { return r.fn == fn; });
  if (found == replayers.end()) throw unsupported("call " + fn);
  return found->replay(call.at("in"), call.at("out"), one);
}

}  // namespace kaisched::conformance
