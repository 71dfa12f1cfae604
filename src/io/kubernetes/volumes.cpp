#include "io/kubernetes/volumes.hpp"

#include <algorithm>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "io/kubernetes/constraints.hpp"

namespace kaisched::io::kubernetes {

namespace {

constexpr std::string_view selected_node_key = "volume.kubernetes.io/selected-node";
constexpr std::string_view attached_prefix = "attachable-volumes-csi-";
/// What a node takes that names no limit: more than any has.
constexpr std::int64_t without_limit = 1'000'000;
/// Alternatives of nodes of one pod. What has more is hardly meant.
constexpr std::size_t most_alternatives = 1024;

std::vector<std::string> sorted_texts(object& of, member holder, std::string_view key) {
  std::vector<std::string> texts;
  for (const std::string_view one : of.texts(holder, key)) texts.emplace_back(one);
  std::sort(texts.begin(), texts.end());
  return texts;
}

std::int64_t storage_of(object& of, member holder) {
  const member amount = find(holder, "storage");
  return amount ? of.amount(*amount, 0) : 0;
}

std::string volume_mode(object& of, member spec) {
  const std::string_view mode = of.text(spec, "volumeMode");
  return mode.empty() ? "Filesystem" : std::string(mode);
}

/// Alternatives that differ in the values of one label are one: a class of local volumes may have thousands.
std::vector<std::string> merged(const std::set<std::string>& selectors) {
  constexpr std::string_view in = " in (";
  std::vector<std::string> texts;
  std::map<std::string, std::vector<std::string>, std::less<>> values;
  for (const std::string& one : selectors) {
    const std::size_t at = one.find(in);
    const bool alone = at != std::string::npos && one.find(',') > one.find('(') && one.find('(') == one.rfind('(') &&
                       one.find(')') + 1 == one.size();
    if (alone) {
      values[one.substr(0, at)].push_back(one.substr(at + in.size(), one.size() - at - in.size() - 1));
    } else {
      texts.push_back(one);
    }
  }
  for (const auto& [key, of_key] : values) texts.push_back(fmt::format("{}{}{})", key, in, fmt::join(of_key, ",")));
  return texts;
}

}  // namespace

// ---- objects -----------------------------------------------------------------------------------------------------

void volume_book::read_claim(object& of) {
  const member spec = of.section(of.root(), "spec");
  const std::string_view phase = of.text(of.section(of.root(), "status"), "phase");
  claim row;
  row.volume = of.text(spec, "volumeName");
  row.is_bound = !row.volume.empty() && phase != "Pending";
  row.storage_class = of.text(spec, "storageClassName");
  row.request = storage_of(of, of.section(of.section(spec, "resources"), "requests"));
  row.mode = volume_mode(of, spec);
  row.access = sorted_texts(of, spec, "accessModes");
  row.selected_node = of.text(of.annotations(), selected_node_key);
  if (row.selected_node.find_first_of("=!<>(),: \t") != std::string::npos) {
    of.fail(find(of.annotations(), selected_node_key).value_or(of.root()), "expected the name of a node");
  }
  if (phase == "Lost") row.trouble = fmt::format("PersistentVolumeClaim {} has lost its volume", of.full_name());
  if (find(find(of.root(), "metadata"), "deletionTimestamp")) {
    row.trouble = fmt::format("PersistentVolumeClaim {} is being deleted", of.full_name());
  }
  if (!row.is_bound && !row.selected_node.empty()) asks_names_ = true;
  if (of.failed()) row.trouble = of.fault_text();
  claims_.insert_or_assign(of.full_name(), std::move(row));
}

void volume_book::read_volume(object& of) {
  const member spec = of.section(of.root(), "spec");
  const std::string_view phase = of.text(of.section(of.root(), "status"), "phase");
  volume row;
  row.storage_class = of.text(spec, "storageClassName");
  row.capacity = storage_of(of, of.section(spec, "capacity"));
  row.mode = volume_mode(of, spec);
  row.access = sorted_texts(of, spec, "accessModes");
  row.driver = of.text(of.section(spec, "csi"), "driver");
  row.is_free = (phase.empty() || phase == "Available") && !of.section(spec, "claimRef");
  if (const member required = of.section(of.section(spec, "nodeAffinity"), "required")) {
    row.selectors = node_terms_texts(of, *required, asks_names_);
  }
  if (of.failed()) row.fault = of.fault_text();
  const auto at = volumes_.insert_or_assign(std::string(of.name()), std::move(row)).first;
  if (at->second.is_free && at->second.fault.empty()) free_[at->second.storage_class].push_back(&at->second);
}

void volume_book::read_class(object& of) {
  storage_class row;
  row.waits = of.text(of.root(), "volumeBindingMode") == "WaitForFirstConsumer";
  row.provisions = of.text(of.root(), "provisioner") != "kubernetes.io/no-provisioner";
  row.driver = of.text(of.root(), "provisioner");
  row.selectors = topology_terms_texts(of);
  if (of.failed()) row.fault = of.fault_text();
  classes_.insert_or_assign(std::string(of.name()), std::move(row));
}

void volume_book::read_csi_node(object& of) {
  for (const json_value one : of.items(of.section(of.root(), "spec"), "drivers")) {
    const std::optional<std::int64_t> count = of.integer(of.section(one, "allocatable"), "count");
    if (count && *count < 0) of.fail(one, "allocatable", "expected a count of at least 0");
    if (of.failed() || !count) continue;
    limits_[std::string(of.text(one, "name"))].insert_or_assign(std::string(of.name()),
                                                                std::min(*count, without_limit));
  }
}

void volume_book::read_config_map(const object& of) {
  config_maps_.insert(of.full_name());
  config_spaces_.emplace(of.name_space());
}

// ---- pods --------------------------------------------------------------------------------------------------------

void volume_book::add_unbound(const std::string& name, const claim& of, volume_needs& to) const {
  if (classes_.empty()) return;
  const auto known = classes_.find(of.storage_class);
  if (known == classes_.end() && !of.storage_class.empty()) {
    to.obstacle = fmt::format("StorageClass {} of PersistentVolumeClaim {} is missing", of.storage_class, name);
    return;
  }
  if (known == classes_.end() || !known->second.waits || !of.volume.empty()) {
    to.obstacle = fmt::format("PersistentVolumeClaim {} is not bound", name);
    return;
  }
  const storage_class& by = known->second;
  if (!by.fault.empty()) {
    to.obstacle = by.fault;
    return;
  }
  if (!of.selected_node.empty()) {
    to.selectors.push_back({fmt::format("{} in ({})", node_name_label, of.selected_node)});
    return;
  }
  std::set<std::string> selectors(by.selectors.begin(), by.selectors.end());
  if (by.provisions && selectors.empty()) return;
  if (!by.provisions) selectors.clear();
  const auto free = free_.find(of.storage_class);
  for (const volume* one : free == free_.end() ? std::vector<const volume*>{} : free->second) {
    const bool fits = one->capacity >= of.request && one->mode == of.mode &&
                      std::includes(one->access.begin(), one->access.end(), of.access.begin(), of.access.end());
    if (fits && one->selectors.empty()) return;
    if (fits) selectors.insert(one->selectors.begin(), one->selectors.end());
  }
  if (selectors.empty() && !volumes_.empty()) {
    to.obstacle = fmt::format("no PersistentVolume fits PersistentVolumeClaim {}", name);
  }
  if (!selectors.empty()) to.selectors.push_back(merged(selectors));
}

void volume_book::add_claim(const std::string& name, volume_needs& to) const {
  const auto known = claims_.find(name);
  if (known == claims_.end()) {
    to.obstacle = fmt::format("PersistentVolumeClaim {} is missing", name);
    return;
  }
  const claim& row = known->second;
  if (!row.trouble.empty()) {
    to.obstacle = row.trouble;
  } else if (!row.is_bound) {
    add_unbound(name, row, to);
  } else if (const auto at = volumes_.find(row.volume); at != volumes_.end()) {
    if (!at->second.fault.empty()) to.obstacle = at->second.fault;
    if (!at->second.selectors.empty()) to.selectors.push_back(at->second.selectors);
  } else if (!volumes_.empty()) {
    to.obstacle = fmt::format("PersistentVolume {} of PersistentVolumeClaim {} is missing", row.volume, name);
  }
}

/// Who attaches the volume of a claim to nodes, be it there or to be made.
std::string volume_book::driver_of(const claim& of) const {
  if (const auto made = volumes_.find(of.volume); made != volumes_.end()) return made->second.driver;
  const auto known = classes_.find(of.storage_class);
  return known == classes_.end() ? std::string() : known->second.driver;
}

void volume_book::add_limits(node_record& to) const {
  for (const auto& [driver, by_node] : limits_) {
    const auto known = by_node.find(to.name);
    to.capacity[fmt::format("{}{}", attached_prefix, driver)] = known == by_node.end() ? without_limit : known->second;
  }
}

std::string volume_book::missing_config_map(object& pod) const {
  if (!config_spaces_.contains(pod.name_space())) return {};
  const member spec = pod.section(pod.root(), "spec");
  std::string missing;
  // The binder makes the one that says which part of a device a pod has.
  const std::string_view own = pod.annotation("runai/shared-gpu-configmap").value_or("");
  const auto need = [&](member reference) {
    if (!reference || pod.flag(reference, "optional")) return;
    const std::string_view name = pod.text(reference, "name");
    if (name.empty() || (!own.empty() && name.starts_with(own))) return;
    const std::string full = pod.in_space(name);
    if (missing.empty() && !config_maps_.contains(full)) missing = fmt::format("ConfigMap {} is missing", full);
  };
  for (const json_value one : pod.items(spec, "volumes")) {
    need(pod.section(one, "configMap"));
    for (const json_value source : pod.items(pod.section(one, "projected"), "sources")) {
      need(pod.section(source, "configMap"));
    }
  }
  for (const std::string_view list : {"initContainers", "containers", "ephemeralContainers"}) {
    for (const json_value container : pod.items(spec, list)) {
      for (const json_value one : pod.items(container, "env")) {
        need(pod.section(pod.section(one, "valueFrom"), "configMapKeyRef"));
      }
      for (const json_value one : pod.items(container, "envFrom")) need(pod.section(one, "configMapRef"));
    }
  }
  return missing;
}

volume_needs volume_book::of(object& pod) const {
  volume_needs needs;
  needs.obstacle = missing_config_map(pod);
  if (claims_.empty()) return needs;
  std::set<std::string> seen;
  for (const json_value one : pod.items(pod.section(pod.root(), "spec"), "volumes")) {
    std::string name;
    if (const member claimed = pod.section(one, "persistentVolumeClaim")) name = pod.text(claimed, "claimName");
    if (find(one, "ephemeral")) name = fmt::format("{}-{}", pod.name(), pod.text(one, "name"));
    if (name.empty()) continue;
    name = pod.in_space(name);
    volume_needs of_one;
    add_claim(name, of_one);
    const auto claimed = claims_.find(name);
    const std::string driver = claimed == claims_.end() ? std::string() : driver_of(claimed->second);
    if (limits_.contains(driver) && seen.insert(name).second)
      ++needs.attached[fmt::format("{}{}", attached_prefix, driver)];
    if (needs.obstacle.empty()) needs.obstacle = std::move(of_one.obstacle);
    for (std::vector<std::string>& some : of_one.selectors) needs.selectors.push_back(std::move(some));
  }
  return needs;
}

std::string restrict_nodes(const std::vector<std::vector<std::string>>& selectors, std::vector<std::string>& to) {
  for (const std::vector<std::string>& some : selectors) {
    if (to.empty()) to.emplace_back();
    if (to.size() * some.size() > most_alternatives) {
      return fmt::format("its volumes leave more than {} alternatives of nodes", most_alternatives);
    }
    std::vector<std::string> both;
    for (const std::string& one : to) {
      for (const std::string& other : some) both.push_back(one.empty() ? other : fmt::format("{},{}", one, other));
    }
    to = std::move(both);
  }
  return {};
}

}  // namespace kaisched::io::kubernetes
