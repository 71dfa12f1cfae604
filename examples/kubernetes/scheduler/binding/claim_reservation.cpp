#include "binding/claim_reservation.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "api_server/requests.hpp"
#include "api_server/resources.hpp"

namespace shim {

namespace {

using nlohmann::json;

/// Keeps the claim while it has devices; Kubernetes' name for it.
constexpr const char* protection = "resource.kubernetes.io/delete-protection";
constexpr std::size_t most_users = 256;

bool has_devices(const json& claim) {
  const json::json_pointer path("/status/allocation");
  return claim.contains(path) && !claim[path].is_null();
}

bool is_user(const json& claim, const std::string& uid) {
  return std::ranges::any_of(list_at(claim, "/status/reservedFor"),
                             [&](const json& one) { return text_at(one, "/uid") == uid; });
}

bool is_protected(const json& claim) {
  const json& all = list_at(claim, "/metadata/finalizers");
  return std::find(all.begin(), all.end(), protection) != all.end();
}

/// Whether this decision gives it devices.
bool allocates(const json& decided) { return has_devices(decided); }

}  // namespace

bool claim_reservation::takes(const json& object) const { return object.value("kind", "") == "ResourceClaim"; }

step claim_reservation::prepare(const binding& of) {
  for (const json& decided : of.before) {
    if (!takes(decided)) continue;
    if (const std::string why = reserve(of, decided); !why.empty()) {
      return {progress::failed, fmt::format("resource claim {}: {}", name_of(decided), why)};
    }
  }
  return {};
}

void claim_reservation::undo(const binding& of) {
  for (const json& decided : of.before) {
    if (!takes(decided)) continue;
    try {
      give_back(of, decided);
    } catch (const no_answer& fault) {
      log_(fmt::format("resource claim {}: not given back: {}", name_of(decided), fault.what()));
    }
  }
}

json claim_reservation::current(const std::string& claim) {
  if (unsure_.contains(claim)) {
    const response answer = send_({.target = place_of(claim_key, claim)});
    if (answer.status == 404) return nullptr;
    if (!answer.ok()) throw no_answer(server_words(answer));
    store_.put_newer(resource_of(claim_key), json::parse(answer.body));
    unsure_.erase(claim);
  }
  return store_.find(claim_key, claim);
}

std::string claim_reservation::patch(const std::string& claim, std::string_view part, json change) {
  const json before = store_.find(claim_key, claim);
  if (before.is_null()) return "it is gone";
  for (const char* const key : {"uid", "resourceVersion"}) change["metadata"][key] = before["metadata"][key];
  unsure_.insert(claim);
  const auto expect = [&] {  // so nobody is given its devices in the meantime
    json expected = before;
    expected.merge_patch(change);
    store_.put(resource_of(claim_key), std::move(expected));
  };
  try {
    const response answer = send_(patch_of(place_of(claim_key, claim, part), change));
    if (answer.status >= 500) throw no_answer(server_words(answer));
    unsure_.erase(claim);
    if (!answer.ok()) {
      if (answer.status == 409) unsure_.insert(claim);  // the watch may be late
      return server_words(answer);
    }
    store_.put_newer(resource_of(claim_key), json::parse(answer.body));
  } catch (const no_answer&) {
    expect();
    throw;
  }
  return {};
}

std::string claim_reservation::reserve(const binding& of, const json& decided) {
  const std::string name = name_of(decided);
  json claim = current(name);
  if (claim.is_null()) return "it is gone, or not made yet";
  if (is_user(claim, of.uid)) return {};
  if (!text_at(claim, "/metadata/deletionTimestamp").empty()) return "it is being deleted";
  if (allocates(decided) && has_devices(claim)) return "it has got devices since this was decided";
  if (!allocates(decided) && !has_devices(claim)) return "it has lost its devices since this was decided";
  json users = list_at(claim, "/status/reservedFor");
  if (users.size() >= most_users) return fmt::format("it has {} users already", users.size());
  if (allocates(decided) && !is_protected(claim)) {
    json finalizers = list_at(claim, "/metadata/finalizers");
    finalizers.push_back(protection);
    const std::string refused = patch(name, {}, {{"metadata", {{"finalizers", std::move(finalizers)}}}});
    if (!refused.empty()) return refused;
  }
  for (const json& one : list_at(decided, "/status/reservedFor")) users.push_back(one);
  json status{{"reservedFor", std::move(users)}};
  if (allocates(decided)) status["allocation"] = decided["status"]["allocation"];
  return patch(name, "status", {{"status", std::move(status)}});
}

void claim_reservation::give_back(const binding& of, const json& decided) {
  const std::string name = name_of(decided);
  json claim = current(name);
  if (claim.is_null()) return;
  json users = list_at(claim, "/status/reservedFor");
  const bool was_user = is_user(claim, of.uid);
  std::erase_if(users.get_ref<json::array_t&>(), [&](const json& one) { return text_at(one, "/uid") == of.uid; });
  const bool frees = allocates(decided) && users.empty();
  std::string refused;
  if (was_user) {
    json status{{"reservedFor", users.empty() ? json() : users}};
    if (frees) status["allocation"] = nullptr;
    refused = patch(name, "status", {{"status", std::move(status)}});
    claim = current(name);
  }
  // What was protected for devices that it does not have is left as it was.
  if (refused.empty() && frees && !claim.is_null() && is_protected(claim) && !has_devices(claim)) {
    json finalizers = list_at(claim, "/metadata/finalizers");
    std::erase(finalizers.get_ref<json::array_t&>(), json(protection));
    refused = patch(name, {}, {{"metadata", {{"finalizers", finalizers.empty() ? json() : finalizers}}}});
  }
  if (!refused.empty()) log_(fmt::format("resource claim {}: not given back: {}", name, refused));
}

}  // namespace shim
