#include "io/kubernetes/claim_actions.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <kaisched/schema.hpp>
#include <kaisched/table.hpp>

#include "base/sha256.hpp"

namespace kaisched::io::kubernetes {

namespace {

using json = nlohmann::ordered_json;

/// Texts that were objects of Kubernetes; nothing for an empty one.
json parsed(std::string_view text) {
  json read = json::parse(text, nullptr, false);
  return read.is_discarded() ? json() : read;
}

/// driver, pool, device; a pool may have slashes in its name.
std::array<std::string_view, 3> parts_of(std::string_view device) {
  const std::size_t first = std::min(device.find('/'), device.size());
  const std::size_t last = device.rfind('/');
  if (last == std::string_view::npos || last == first) return {device.substr(0, first), {}, {}};
  return {device.substr(0, first), device.substr(first + 1, last - first - 1), device.substr(last + 1)};
}

std::string asked_by(const model::claim_result& one) {
  return one.alternative.empty() ? one.request : one.request + "/" + one.alternative;
}

}  // namespace

std::string uuid_of(std::string_view text) {
  base::sha256 hash;
  hash.update(text);
  base::sha256::digest digest = hash.finish();
  digest[6] = static_cast<std::uint8_t>((digest[6] & 0x0FU) | 0x80U);  // version 8: made as the maker likes
  digest[8] = static_cast<std::uint8_t>((digest[8] & 0x3FU) | 0x80U);
  const std::string hex = base::sha256::hex(digest);
  const std::string_view all(hex);
  return fmt::format("{}-{}-{}-{}-{}", all.substr(0, 8), all.substr(8, 4), all.substr(12, 4), all.substr(16, 4),
                     all.substr(20, 12));
}

result<void> claim_actions::read(const session& from) {
  if (names_.claims.empty()) return {};
  const result<table> before = from.base().to_table(table_kind::resource_claim);
  if (!before) return before.failure();
  const table_view old = before->view();
  for (std::uint64_t row = 0; row < old.rows; ++row) {
    claim_facts& facts = claims_[std::string(old.find(col::resource_claim_name)->string(row))];
    facts.had_devices = !old.find(col::resource_claim_devices)->string(row).empty();
    for (const std::string_view user : split_list(old.find(col::resource_claim_reserved_for)->string(row)))
      facts.users.emplace(user);
  }
  const result<table> after = from.to_table(table_kind::resource_claim);
  if (!after) return after.failure();
  const table_view now = after->view();
  for (std::uint64_t row = 0; row < now.rows; ++row) {
    auto results = model::parse_results(now.find(col::resource_claim_results)->string(row));
    if (!results) return results.take_failure();
    claims_[std::string(now.find(col::resource_claim_name)->string(row))].results = std::move(*results);
  }
  const result<table> slices = from.base().to_table(table_kind::resource_slice);
  if (!slices) return slices.failure();
  const table_view pools = slices->view();
  for (std::uint64_t row = 0; row < pools.rows; ++row) {
    if (pools.find(col::resource_slice_all_nodes)->values<std::uint8_t>(pools.rows)[row] == 0) continue;
    open_pools_.insert(fmt::format("{}/{}", pools.find(col::resource_slice_driver)->string(row),
                                   pools.find(col::resource_slice_pool)->string(row)));
  }
  const result<table> requests = from.base().to_table(table_kind::claim_request);
  if (!requests) return requests.failure();
  const table_view asked = requests->view();
  for (std::uint64_t row = 0; row < asked.rows; ++row) {
    const std::string_view alternative = asked.find(col::claim_request_alternative)->string(row);
    std::string request(asked.find(col::claim_request_request)->string(row));
    if (!alternative.empty()) request.append("/").append(alternative);
    classes_[{std::string(asked.find(col::claim_request_claim)->string(row)), std::move(request)}] =
        asked.find(col::claim_request_device_class)->string(row);
  }
  return {};
}

const std::vector<named_claim>& claim_actions::claims_of(std::string_view pod) const {
  static const std::vector<named_claim> none;
  const auto found = names_.claims.find(pod);
  return found == names_.claims.end() ? none : found->second;
}

json claim_actions::allocation(const named_claim& one, const claim_facts& facts, std::string_view node) const {
  json results = json::array();
  json config = json::array();
  bool everywhere = true;
  std::set<std::string> configured;
  const auto configure = [&config](const auto& texts, std::string_view name, const json& said) {
    const auto known = texts.find(name);
    if (known == texts.end()) return;
    for (json entry : parsed(known->second)) {
      if (!entry.is_object()) continue;
      entry.update(said);
      config.push_back(std::move(entry));
    }
  };
  for (const model::claim_result& given : facts.results) {
    const auto [driver, pool, device] = parts_of(given.device);
    const std::string request = asked_by(given);
    json& made =
        results.emplace_back(json{{"request", request}, {"driver", driver}, {"pool", pool}, {"device", device}});
    if (given.admin) made["adminAccess"] = true;
    for (const model::capacity_ask& amount : given.consumed) {
      made["consumedCapacity"][fmt::format("{}/{}", amount.domain, amount.name)] = model::text_of(amount.amount);
    }
    // Who shares a device is told apart by it.
    if (!given.consumed.empty()) made["shareID"] = uuid_of(fmt::format("{}\n{}\n{}", one.claim, request, given.device));
    everywhere = everywhere && open_pools_.contains(fmt::format("{}/{}", driver, pool));
    const auto of_class = classes_.find({one.claim, request});
    if (of_class == classes_.end() || !configured.insert(request).second) continue;
    configure(names_.class_configs, of_class->second, {{"source", "FromClass"}, {"requests", json::array({request})}});
  }
  configure(names_.claim_configs, one.claim, {{"source", "FromClaim"}});
  json made{{"devices", {{"results", std::move(results)}}}};
  if (!config.empty()) made["devices"]["config"] = std::move(config);
  if (!everywhere) {
    const json field{{"key", "metadata.name"}, {"operator", "In"}, {"values", json::array({node})}};
    made["nodeSelector"] = {{"nodeSelectorTerms", json::array({json{{"matchFields", json::array({field})}}})}};
  }
  return made;
}

json claim_actions::allocations(std::string_view pod, std::string_view node) const {
  json list = json::array();
  for (const named_claim& one : claims_of(pod)) {
    const auto facts = claims_.find(one.claim);
    if (facts == claims_.end() || facts->second.had_devices || facts->second.results.empty()) continue;
    list.push_back({{"name", one.reference}, {"allocation", allocation(one, facts->second, node)}});
  }
  return list;
}

std::vector<json> claim_actions::claims(std::string_view pod, std::string_view node) const {
  std::vector<json> list;
  const std::size_t slash = pod.find('/');
  const std::string_view name_of_pod = slash == std::string_view::npos ? pod : pod.substr(slash + 1);
  const auto uid = names_.pod_uids.find(pod);
  for (const named_claim& one : claims_of(pod)) {
    const auto facts = claims_.find(one.claim);
    if (facts == claims_.end() || facts->second.users.contains(pod)) continue;
    const bool gets_devices = !facts->second.had_devices && !facts->second.results.empty();
    if (!gets_devices && !facts->second.had_devices) continue;
    json metadata = json::object();
    if (slash != std::string_view::npos) metadata["namespace"] = pod.substr(0, slash);
    metadata["name"] = std::string_view(one.claim).substr(slash == std::string_view::npos ? 0 : slash + 1);
    json made{{"apiVersion", "resource.k8s.io/v1"}, {"kind", "ResourceClaim"}};
    if (const auto unmade = names_.unmade_claims.find(one.claim); unmade != names_.unmade_claims.end()) {
      const json from_template = parsed(unmade->second.metadata);
      for (const std::string_view key : {"labels", "annotations"}) {
        if (from_template.contains(key)) metadata[key] = from_template[std::string(key)];
      }
      // So Kubernetes takes the claim for the one that it would make.
      metadata["annotations"][pod_claim_annotation] = one.reference;
      json owner{{"apiVersion", "v1"}, {"kind", "Pod"}, {"name", name_of_pod}};
      if (uid != names_.pod_uids.end()) owner["uid"] = uid->second;
      owner["controller"] = true;
      owner["blockOwnerDeletion"] = true;
      metadata["ownerReferences"] = json::array({std::move(owner)});
      made["metadata"] = std::move(metadata);
      made["spec"] = parsed(unmade->second.spec);
    } else {
      made["metadata"] = std::move(metadata);
    }
    if (gets_devices) made["status"]["allocation"] = allocation(one, facts->second, node);
    json user{{"resource", "pods"}, {"name", name_of_pod}};
    if (uid != names_.pod_uids.end()) user["uid"] = uid->second;
    made["status"]["reservedFor"] = json::array({std::move(user)});
    list.push_back(std::move(made));
  }
  return list;
}

}  // namespace kaisched::io::kubernetes
