#include "conformance/volcano_records.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "conformance/json_values.hpp"
#include "conformance/kubernetes_texts.hpp"
#include "conformance/unsupported.hpp"
#include "io/kubernetes/quantity.hpp"

namespace kaisched::conformance {

using nlohmann::json;

namespace {

double volcano_quantity(const json& written, int decimals) {
  const std::string text = written.is_string() ? written.get<std::string>() : written.dump();
  const io::kubernetes::quantity read = io::kubernetes::parse_quantity(text, decimals);
  if (read.fault != io::kubernetes::quantity_fault::none) throw unsupported("quantity " + text);
  return static_cast<double>(read.amount);
}

bool counts_for_pod(std::string_view name) {
  return name == "cpu" || name == "memory" || name.starts_with("hugepages-");
}

/// The request of a container that may be in the middle of a change.
policy::resource_list container_of(const json& container, const json& statuses, const json& pod, std::string_view key) {
  const policy::resource_list wished = volcano_quantities(items(member(container, "resources"), key));
  const auto status = std::find_if(statuses.begin(), statuses.end(), [&](const json& one) {
    return text_or_empty(one, "name") == text_or_empty(container, "name");
  });
  if (status == statuses.end() || !has(*status, "resources")) return wished;
  policy::resized_request change{wished, volcano_quantities(items(member(*status, "resources"), key)), {}, false};
  if (key == "limits") return policy::effective_request(change);
  change.allocated = volcano_quantities(items(*status, "allocatedResources"));
  for (const json& condition : items(member(pod, "status"), "conditions")) {
    change.infeasible = change.infeasible || (text_or_empty(condition, "type") == "PodResizePending" &&
                                              text_or_empty(condition, "reason") == "Infeasible");
  }
  return policy::effective_request(change);
}

}  // namespace

const json& volcano_input(const json& one) {
  const json& input = member(one, "input");
  return has(input, "args") ? member(input, "args") : input;
}

bool is_volcano_scalar(std::string_view name) {
  if (name.starts_with("count/")) return false;
  if (name.starts_with("hugepages-") || name.starts_with("attachable-volumes-")) return true;
  return name.find('/') != std::string_view::npos && !name.starts_with("requests.");
}

policy::resource_list volcano_resources(const json& record) {
  policy::resource_list made;
  made.cpu = has(record, "milli_cpu") ? record.at("milli_cpu").get<double>() : value_or(record, "cpu_milli", 0.0);
  made.memory = has(record, "memory") ? record.at("memory").get<double>() : value_or(record, "memory_bytes", 0.0);
  for (const std::string_view key : {"scalar_resources", "scalar_milli"}) {
    for (const auto& [name, amount] : items(record, key).items()) made.set(name, amount.get<double>());
  }
  return made;
}

policy::resource_list volcano_quantities(const json& list) {
  constexpr int thousandths = 3;
  policy::resource_list made;
  for (const auto& [name, text] : list.items()) {
    if (name == "memory" || name == "pods") {
      made.set(name, volcano_quantity(text, 0));
    } else if (name == "cpu" || name == "ephemeral-storage" || is_volcano_scalar(name)) {
      made.set(name, volcano_quantity(text, thousandths));
    }
  }
  return made;
}

model::label_list volcano_labels(const json& object) {
  model::label_list labels;
  for (const auto& [key, value] : items(member(object, "metadata"), "labels").items()) {
    labels.emplace_back(key, value.get<std::string>());
  }
  std::sort(labels.begin(), labels.end());
  return labels;
}

model::selector volcano_selector(const json& selector) {
  const result<model::selector> read = model::parse_selector(selector_text(selector));
  if (!read) throw unsupported("selector: " + read.failure().message);
  return *read;
}

policy::pod_request_parts volcano_pod_parts(const json& pod, std::string_view key, bool with_pod) {
  policy::pod_request_parts made;
  const json& spec = member(pod, "spec");
  const json& status = member(pod, "status");
  for (const json& one : items(spec, "containers")) {
    made.containers.push_back(container_of(one, items(status, "containerStatuses"), pod, key));
  }
  for (const json& one : items(spec, "initContainers")) {
    const bool sidecar = text_or_empty(one, "restartPolicy") == "Always";
    const json& statuses = sidecar ? items(status, "initContainerStatuses") : items(json(), "none");
    made.init_containers.push_back({container_of(one, statuses, pod, key), sidecar});
  }
  if (with_pod) {
    const json& asked = items(member(spec, "resources"), key);
    const policy::resource_list amounts = volcano_quantities(asked);
    for (const auto& [name, text] : asked.items()) {
      if (counts_for_pod(name)) made.of_pod[name] = amounts.get(name);
    }
  }
  made.overhead = volcano_quantities(items(spec, "overhead"));
  return made;
}

volcano_difference compare_resources(const json& expected, const policy::resource_list& found) {
  const policy::resource_list wanted = volcano_resources(expected);
  std::vector<std::string> names{"cpu", "memory"};
  for (const auto& [name, amount] : wanted.scalars()) names.push_back(name);
  for (const auto& [name, amount] : found.scalars()) names.push_back(name);
  for (const std::string& name : names) {
    if (wanted.get(name) == found.get(name)) continue;
    return name + " is " + std::to_string(found.get(name)) + ", recorded is " + std::to_string(wanted.get(name));
  }
  return std::nullopt;
}

volcano_difference compare_names(const json& expected, std::vector<std::string> found) {
  std::vector<std::string> wanted;
  if (!expected.is_null()) wanted = expected.get<std::vector<std::string>>();
  std::sort(wanted.begin(), wanted.end());
  std::sort(found.begin(), found.end());
  if (wanted == found) return std::nullopt;
  return "names are [" + joined(found) + "], recorded are [" + joined(wanted) + "]";
}

volcano_difference compare_number(const json& expected, double found) {
  constexpr double relative = 1e-6;
  const double wanted = expected.is_null() ? 0 : expected.get<double>();
  if (std::fabs(wanted - found) <= relative * std::max(1.0, std::fabs(wanted))) return std::nullopt;
  return "number is " + std::to_string(found) + ", recorded is " + std::to_string(wanted);
}

volcano_difference compare_flag(const json& expected, bool found) {
  const bool wanted = !expected.is_null() && expected.get<bool>();
  if (wanted == found) return std::nullopt;
  return found ? "true, recorded is false" : "false, recorded is true";
}

}  // namespace kaisched::conformance
