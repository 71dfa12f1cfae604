#include "io/kubernetes/device_pools.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <kaisched/quantity.hpp>

#include "io/kubernetes/constraints.hpp"
#include "model/cel.hpp"
#include "model/device_claims.hpp"

namespace kaisched::io::kubernetes {

namespace {

/// Names without a domain are of the domain of the driver.
std::string qualified(std::string_view driver, std::string_view name) {
  if (driver.empty() || name.find('/') != std::string_view::npos) return std::string(name);
  return fmt::format("{}/{}", driver, name);
}

/// A quantity as it stands there: a text, or a number.
std::string quantity_text(object& of, member holder, std::string_view key) {
  const member found = find(holder, key);
  if (found && found->is(json_kind::integer)) return std::to_string(of.integer(holder, key).value_or(0));
  const std::string_view text = of.text(holder, key);
  if (text.empty() && holder) of.fail(*holder, key, "expected a quantity");
  return std::string(text);
}

/// `checks`: an expression that tables would refuse is a fault.
std::vector<std::string> selectors_of(object& of, member holder, bool checks) {
  std::vector<std::string> found;
  for (const json_value one : of.items(holder, "selectors")) {
    const member cel = of.section(one, "cel");
    if (!cel) of.fail(one, "cel", "expected an expression");
    found.emplace_back(of.text(cel, "expression"));
    if (!checks || !cel) continue;
    const auto parsed = model::cel_expression::parse(found.back());
    if (!parsed) of.fail(*cel, "expression", parsed.failure().message);
  }
  return found;
}

void read_reach(object& of, member holder, reach_record& to, cluster_records& rows) {
  to.node = of.text(holder, "nodeName");
  to.all_nodes = of.flag(holder, "allNodes");
  if (const member selector = of.section(holder, "nodeSelector")) {
    to.selector = node_selector_text(of, *selector, rows.asks_node_names);
  }
}

std::vector<std::string> attributes_of(object& of, member device, std::string_view driver) {
  std::vector<std::string> found;
  const member all = of.section(device, "attributes");
  if (!all) return found;
  for (const json_value one : *all) {
    const std::string name = qualified(driver, one.key());
    const auto add = [&](std::string_view type, json_value value) {
      std::string text;
      if (value.is(json_kind::string)) {
        text = value.text();
      } else if (value.is(json_kind::integer) || value.is(json_kind::boolean)) {
        text = value.shown();
      } else {
        of.fail(value, fmt::format("expected a value, found {}", value.shown()));
      }
      found.push_back(fmt::format("{}={}:{}", name, type, text));
    };
    for (const std::string_view type : {"int", "bool", "string", "version"}) {
      if (const member value = find(one, type)) add(type, *value);
    }
    for (const std::string_view type : {"ints", "bools", "strings", "versions"}) {
      for (const json_value value : of.items(one, type)) add(type, value);
    }
  }
  return found;
}

std::vector<std::string> capacities_of(object& of, member device, std::string_view driver) {
  std::vector<std::string> found;
  const member all = of.section(device, "capacity");
  if (!all) return found;
  for (const json_value one : *all) {
    std::string& text =
        found.emplace_back(fmt::format("{}={}", qualified(driver, one.key()), quantity_text(of, one, "value")));
    const member policy = of.section(one, "requestPolicy");
    if (!policy) continue;
    if (find(policy, "default")) text += ";default=" + quantity_text(of, policy, "default");
    for (const json_value valid : of.items(policy, "validValues")) {
      text += fmt::format(";value={}", valid.is(json_kind::string) ? std::string(valid.text()) : valid.shown());
    }
    const member range = of.section(policy, "validRange");
    for (const std::string_view bound : {"min", "max", "step"}) {
      if (find(range, bound)) text += fmt::format(";{}={}", bound, quantity_text(of, range, bound));
    }
  }
  return found;
}

void add_counters(object& of, std::string_view set, json_value holder, std::vector<std::string>& to) {
  const member counters = of.section(holder, "counters");
  if (!counters) return;
  for (const json_value one : *counters) {
    to.push_back(fmt::format("{}/{}={}", set, one.key(), quantity_text(of, one, "value")));
  }
}

/// Effects that keep nobody away are left out: None, and what a newer version may add.
std::vector<std::string> taints_of(object& of, member device) {
  std::vector<std::string> found;
  for (const json_value one : of.items(device, "taints")) {
    const std::string_view effect = of.text(one, "effect");
    if (effect == "NoSchedule" || effect == "NoExecute") found.push_back(taint_text(of, one));
  }
  return found;
}

void read_device(object& of, json_value device, const resource_slice_record& slice, cluster_records& to) {
  slice_device_record row;
  row.line = device.line();
  row.device = of.text(device, "name");
  row.name = fmt::format("{}/{}", slice.name, row.device);
  row.slice = slice.name;
  row.position = static_cast<std::int64_t>(to.slice_devices.size());
  // An older version of the API wraps what is said of the device.
  const member wrapped = of.section(device, "basic");
  const member facts = wrapped ? wrapped : member(device);
  row.attributes = attributes_of(of, facts, slice.driver);
  row.capacities = capacities_of(of, facts, slice.driver);
  row.taints = taints_of(of, facts);
  row.shared = of.flag(facts, "allowMultipleAllocations");
  for (const json_value one : of.items(facts, "consumesCounters")) {
    add_counters(of, of.text(one, "counterSet"), one, row.consumes);
  }
  read_reach(of, facts, row.reach, to);
  to.slice_devices.push_back(std::move(row));
}

/// What a request or one of its alternatives asks for.
claim_request_record request_of(object& of, json_value asked, const claim_record& claim, std::string_view request,
                                bool checks) {
  claim_request_record row;
  row.line = asked.line();
  row.claim = claim.name;
  row.request = request;
  row.name = fmt::format("{}/{}", claim.name, request);
  row.device_class = of.text(asked, "deviceClassName");
  row.selectors = selectors_of(of, asked, checks);
  const std::string_view mode = of.text(asked, "allocationMode");
  row.all = mode == "All";
  if (!mode.empty() && mode != "All" && mode != "ExactCount") {
    of.fail(asked, "allocationMode", fmt::format("expected ExactCount or All, found \"{}\"", mode));
  }
  row.count = of.integer(asked, "count").value_or(1);
  if (row.count == 0) row.count = 1;
  if (checks && (row.count < 0 || row.count > max_amount)) {
    of.fail(asked, "count", fmt::format("expected 1 or more devices, found {}", row.count));
  }
  row.admin = of.flag(asked, "adminAccess");
  for (const json_value one : of.items(asked, "tolerations")) {
    std::string text = toleration_text(of, one);
    if (text.empty()) continue;
    if (const auto parsed = model::parse_toleration(text); checks && !parsed) of.fail(one, parsed.failure().message);
    row.tolerations.push_back(std::move(text));
  }
  if (const member amounts = of.section(of.section(asked, "capacity"), "requests")) {
    for (const json_value one : *amounts) {
      row.capacities.push_back(fmt::format("{}={}", one.key(), quantity_text(of, amounts, one.key())));
      if (!checks) continue;
      const auto parsed = model::parse_capacity_asks(row.capacities.back());
      if (!parsed) of.fail(one, parsed.failure().message);
    }
  }
  return row;
}

std::string constraint_of(object& of, json_value one) {
  const std::string_view match = of.text(one, "matchAttribute");
  const std::string_view distinct = of.text(one, "distinctAttribute");
  if (match.empty() == distinct.empty()) of.fail(one, "matchAttribute", "expected it or distinctAttribute");
  std::string text = match.empty() ? fmt::format("distinct {}", distinct) : fmt::format("match {}", match);
  const std::vector<std::string_view> requests = of.texts(one, "requests");
  if (!requests.empty()) text += fmt::format(": {}", fmt::join(requests, ", "));
  return text;
}

std::string result_of(object& of, json_value one) {
  const std::string_view driver = of.text(one, "driver");
  std::string text =
      fmt::format("{}={}/{}/{}", of.text(one, "request"), driver, of.text(one, "pool"), of.text(one, "device"));
  if (of.flag(one, "adminAccess")) text += ";admin";
  if (const member consumed = of.section(one, "consumedCapacity")) {
    for (const json_value amount : *consumed) {
      text += fmt::format(";{}={}", qualified(driver, amount.key()), quantity_text(of, consumed, amount.key()));
    }
  }
  return text;
}

}  // namespace

void read_device_class(object& of, cluster_records& to) {
  device_class_record row;
  row.line = of.line();
  row.name = of.name();
  const member spec = of.section(of.root(), "spec");
  row.selectors = selectors_of(of, spec, false);
  if (const member config = find(spec, "config")) row.config = json_text(*config);
  if (!of.failed()) to.device_classes.push_back(std::move(row));
}

void read_resource_slice(object& of, cluster_records& to) {
  const member spec = of.section(of.root(), "spec");
  const member pool = of.section(spec, "pool");
  resource_slice_record row;
  row.line = of.line();
  row.name = of.name();
  row.driver = of.text(spec, "driver");
  row.pool = of.text(pool, "name");
  row.generation = of.integer(pool, "generation").value_or(0);
  row.slices = of.integer(pool, "resourceSliceCount").value_or(1);
  read_reach(of, spec, row.reach, to);
  for (const json_value one : of.items(spec, "sharedCounters"))
    add_counters(of, of.text(one, "name"), one, row.counters);
  const std::size_t devices = to.slice_devices.size();
  for (const json_value one : of.items(spec, "devices")) read_device(of, one, row, to);
  if (of.failed()) {
    to.slice_devices.erase(to.slice_devices.begin() + static_cast<std::ptrdiff_t>(devices), to.slice_devices.end());
  } else {
    to.resource_slices.push_back(std::move(row));
  }
}

std::vector<claim_request_record> read_claim_requests(object& of, member devices, bool checks, claim_record& row) {
  std::vector<claim_request_record> requests;
  for (const json_value request : of.items(devices, "requests")) {
    const std::string_view name = of.text(request, "name");
    const std::vector<json_value> alternatives = of.items(request, "firstAvailable");
    for (const json_value one : alternatives) {
      claim_request_record made = request_of(of, one, row, name, checks);
      made.alternative = of.text(one, "name");
      made.name += "/" + made.alternative;
      requests.push_back(std::move(made));
    }
    // An older version of the API does not wrap what is asked for.
    const member exactly = of.section(request, "exactly");
    if (alternatives.empty()) requests.push_back(request_of(of, exactly ? *exactly : request, row, name, checks));
  }
  for (std::size_t i = 0; i < requests.size(); ++i) requests[i].position = static_cast<std::int64_t>(i);
  for (const json_value one : of.items(devices, "constraints")) {
    row.constraints.push_back(constraint_of(of, one));
    if (!checks) continue;
    const auto parsed = model::parse_constraints(row.constraints.back());
    if (!parsed) of.fail(one, parsed.failure().message);
  }
  return requests;
}

void read_claim_results(object& of, member allocation, claim_record& row) {
  for (const json_value one : of.items(of.section(allocation, "devices"), "results")) {
    row.results.push_back(result_of(of, one));
  }
}

}  // namespace kaisched::io::kubernetes
