#include "io/kubernetes/claim.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include <kaisched/quantity.hpp>

#include "base/sha256.hpp"
#include "base/utf8.hpp"
#include "io/kubernetes/constraints.hpp"
#include "io/kubernetes/device_pools.hpp"
#include "model/device_claims.hpp"

namespace kaisched::io::kubernetes {

namespace {

/// One of the alternatives or the request itself.
claim_charge charge_of(object& of, json_value asked, std::string request) {
  const bool of_gpus = model::names_gpus(of.text(asked, "deviceClassName")) && !of.flag(asked, "adminAccess");
  const bool all = of.text(asked, "allocationMode") == "All";
  const std::int64_t count = all ? 1 : std::clamp<std::int64_t>(of.integer(asked, "count").value_or(1), 1, max_amount);
  return {std::move(request), of_gpus, count};
}

/// What Kubernetes has chosen for a pod.
struct chosen_claim {
  bool known = false;
  std::string_view name;  ///< empty: none is needed
};

chosen_claim chosen_of(object& pod, const std::vector<json_value>& statuses, std::string_view reference) {
  for (const json_value one : statuses) {
    if (pod.text(one, "name") == reference) return {true, pod.text(one, "resourceClaimName")};
  }
  return {};
}

}  // namespace

std::int64_t charged_gpus(const claim_record& row) {
  std::int64_t sum = 0;
  if (!row.devices.empty()) {
    for (const held_device& one : row.held) {
      bool of_gpus = one.of_gpus;  // of a request that the claim does not have
      for (const std::vector<claim_charge>& request : row.charges) {
        for (const claim_charge& charge : request) of_gpus = charge.request == one.request ? charge.of_gpus : of_gpus;
      }
      sum += of_gpus ? 1 : 0;
    }
    return sum;
  }
  for (const std::vector<claim_charge>& request : row.charges) {
    std::int64_t most = 0;
    for (const claim_charge& charge : request) most = std::max(most, charge.of_gpus ? charge.count : 0);
    sum = std::min(sum + most, max_amount);
  }
  return sum;
}

std::string generated_claim_name(std::string_view pod, std::string_view reference, int taken) {
  constexpr std::string_view letters = "bcdfghjklmnpqrstvwxz2456789";  // as in names that the API server makes
  constexpr std::size_t most = 57;                                     // before the last dash
  const std::size_t slash = pod.find('/');
  std::string_view name = slash == std::string_view::npos ? pod : pod.substr(slash + 1);
  base::sha256 hash;
  hash.update(fmt::format("{}\n{}\n{}", pod, reference, taken));
  const base::sha256::digest digest = hash.finish();
  std::string ending;
  for (std::size_t i = 0; i < 5; ++i) ending += letters[digest[i] % letters.size()];
  const std::size_t length = name.size() + reference.size() + 1;
  if (length > most) {
    name = name.substr(0, base::utf8_length_below(name, name.size() * (most - 1) / length));
    reference = reference.substr(0, base::utf8_length_below(reference, reference.size() * (most - 1) / length));
  }
  return fmt::format("{}{}-{}-{}", slash == std::string_view::npos ? "" : pod.substr(0, slash + 1), name, reference,
                     ending);
}

void claim_book::read_spec(object& of, member spec, bool checks, claim_record& row,
                           std::vector<claim_request_record>& requests) const {
  const member devices = of.section(spec, "devices");
  if (const member config = find(devices, "config")) row.config = json_text(*config);
  bool has_gpu = false;
  for (const json_value request : of.items(devices, "requests")) {
    // Newer versions of the API wrap what is asked for; the first of alternatives stands for all of them.
    const member exactly = of.section(request, "exactly");
    const std::vector<json_value> alternatives = of.items(request, "firstAvailable");
    const json_value asked = exactly ? *exactly : alternatives.empty() ? request : alternatives.front();
    const std::string_view device_class = of.text(asked, "deviceClassName");
    const bool all = of.text(asked, "allocationMode") == "All";
    const std::int64_t count =
        all ? 1 : std::clamp<std::int64_t>(of.integer(asked, "count").value_or(1), 0, max_amount);
    const bool is_gpu = model::names_gpus(device_class);
    // A row has one class: that of the GPUs, which are what queues are charged for, if there are any.
    if (row.device_class.empty() || (is_gpu && !has_gpu)) {
      row.device_class = device_class;
      row.count = 0;
    }
    if (is_gpu || !has_gpu) row.count = std::min(row.count + count, max_amount);
    has_gpu = has_gpu || is_gpu;

    const std::string_view name = of.text(request, "name");
    std::vector<claim_charge>& charges = row.charges.emplace_back();
    for (const json_value one : alternatives) {
      charges.push_back(charge_of(of, one, fmt::format("{}/{}", name, of.text(one, "name"))));
    }
    if (alternatives.empty()) charges.push_back(charge_of(of, asked, std::string(name)));
  }
  if (has_pools_) requests = read_claim_requests(of, devices, checks, row);
}

void read_claim_allocation(object& of, member allocation, claim_record& row) {
  for (const json_value one : of.items(of.section(allocation, "devices"), "results")) {
    const std::string_view driver = of.text(one, "driver");
    // A device that several requests share has one name.
    std::string device = fmt::format("{}/{}/{}", driver, of.text(one, "pool"), of.text(one, "device"));
    const bool is_new = std::find(row.devices.begin(), row.devices.end(), device) == row.devices.end();
    if (is_new) row.devices.push_back(std::move(device));
    if (!of.flag(one, "adminAccess"))
      row.held.push_back({std::string(of.text(one, "request")), model::names_gpus(driver)});
  }
  read_claim_results(of, allocation, row);
}

void claim_book::read_claim(object& of) {
  const member status = of.section(of.root(), "status");
  claim_record row;
  row.line = of.line();
  row.name = of.full_name();
  names_.insert(row.name);
  row.labels = label_texts_of(of, of.section(of.root(), "metadata"), "labels");
  std::vector<claim_request_record> requests;
  read_spec(of, of.section(of.root(), "spec"), false, row, requests);
  read_claim_allocation(of, of.section(status, "allocation"), row);
  if (!has_pools_) row.results.clear();
  for (const json_value one : of.items(status, "reservedFor")) {
    if (of.text(one, "resource") == "pods") row.reserved_for.push_back(of.in_space(of.text(one, "name")));
  }
  if (const auto reference = of.annotation(pod_claim_annotation)) {
    row.from_template = true;
    for (const json_value owner : of.items(of.section(of.root(), "metadata"), "ownerReferences")) {
      if (of.text(owner, "kind") != "Pod") continue;
      made_.try_emplace({of.in_space(of.text(owner, "name")), std::string(*reference)}, row.name,
                        std::string(of.text(owner, "uid")));
    }
  }
  if (of.failed()) return;
  by_name_.emplace(row.name, rows_.claims.size());
  rows_.claims.push_back(std::move(row));
  for (claim_request_record& one : requests) rows_.claim_requests.push_back(std::move(one));
}

void claim_book::read_template(object& of) {
  template_entry made;
  made.name = of.full_name();
  const member spec = of.section(of.root(), "spec");
  made.row.line = of.line();
  made.row.from_template = true;
  made.row.labels = label_texts_of(of, of.section(spec, "metadata"), "labels");
  const member inner = of.section(spec, "spec");
  if (!inner) of.fail(of.root(), "spec.spec", "expected what claims ask for");
  read_spec(of, inner, true, made.row, made.requests);
  if (const member metadata = find(spec, "metadata")) made.metadata = json_text(*metadata);
  if (inner) made.spec = json_text(*inner);
  if (of.failed()) made.obstacle = fmt::format("ResourceClaimTemplate {} cannot be read", made.name);
  templates_.emplace(made.name, std::move(made));
}

/// Claims that Kubernetes has made already, and the status of the pod does not say yet.
std::string claim_book::made_for(const object& pod, std::string_view reference) const {
  const auto found = made_.find({pod.full_name(), std::string(reference)});
  if (found == made_.end()) return {};
  const auto& [name, uid] = found->second;
  return uid.empty() || pod.uid().empty() || uid == pod.uid() ? name : std::string{};
}

std::string claim_book::free_name(const object& pod, std::string_view reference) const {
  for (int taken = 0;; ++taken) {
    std::string name = generated_claim_name(pod.full_name(), reference, taken);
    if (!names_.contains(name)) return name;
  }
}

void claim_book::make(const template_entry& from, const std::string& name) {
  claim_record row = from.row;
  row.name = name;
  for (claim_request_record one : from.requests) {
    one.claim = name;
    one.name = name + one.name;  // which starts with a slash
    rows_.claim_requests.push_back(std::move(one));
  }
  names_.insert(name);
  by_name_.emplace(name, rows_.claims.size());
  unmade_.emplace(name, unmade_claim{from.metadata, from.spec});
  rows_.claims.push_back(std::move(row));
}

/// A decision that is being carried out: the devices are taken although the claim does not say so yet.
void claim_book::decide(const bind_request& binding, const object& pod, std::string_view reference,
                        claim_record& row) const {
  const auto found = binding.claims.find(reference);
  if (found == binding.claims.end()) return;
  if (row.devices.empty()) {
    row.devices = found->second.devices;
    row.held = found->second.held;
    if (has_pools_) row.results = found->second.results;
  }
  const std::string user = pod.full_name();
  if (std::find(row.reserved_for.begin(), row.reserved_for.end(), user) == row.reserved_for.end()) {
    row.reserved_for.push_back(user);
  }
}

claims_of_pod claim_book::of(object& pod, bool waits, const bind_request* binding) {
  const std::vector<json_value> statuses = pod.items(pod.section(pod.root(), "status"), "resourceClaimStatuses");
  claims_of_pod found;
  std::vector<named_claim> named;
  for (const json_value one : pod.items(pod.section(pod.root(), "spec"), "resourceClaims")) {
    const std::string_view reference = pod.text(one, "name");
    const std::string_view of_template = pod.text(one, "resourceClaimTemplateName");
    std::string name;
    if (const std::string_view given = pod.text(one, "resourceClaimName"); !given.empty()) {
      name = pod.in_space(given);
    } else if (const chosen_claim chosen = chosen_of(pod, statuses, reference); chosen.known) {
      if (chosen.name.empty()) continue;  // Kubernetes has found that no claim is needed
      name = pod.in_space(chosen.name);
    } else {
      name = made_for(pod, reference);
    }
    const auto known = templates_.find(pod.in_space(of_template));
    const bool is_of_template = !of_template.empty() && !pod.failed();
    const bool holds_nothing = waits || (binding != nullptr && binding->claims.contains(reference));
    if (is_of_template && holds_nothing && known != templates_.end() && !names_.contains(name)) {
      if (!known->second.obstacle.empty()) {
        found.obstacle = known->second.obstacle;
      } else {
        if (name.empty()) name = free_name(pod, reference);
        make(known->second, name);
      }
    }
    // A colon is in no name of Kubernetes.
    if (name.empty()) name = pod.in_space(fmt::format("{}:{}", pod.name(), reference));
    if (const auto row = by_name_.find(name); row != by_name_.end()) {
      claim_record& claim = rows_.claims[row->second];
      claim.from_template = claim.from_template || is_of_template;
      if (binding != nullptr) decide(*binding, pod, reference, claim);
    }
    named.push_back({std::string(reference), name});
    if (std::find(found.names.begin(), found.names.end(), name) == found.names.end()) found.names.push_back(name);
  }
  std::int64_t gpus = 0;
  for (const std::string& name : found.names) {
    if (const auto row = by_name_.find(name); row != by_name_.end()) gpus += charged_gpus(rows_.claims[row->second]);
    gpus = std::min<std::int64_t>(gpus, std::numeric_limits<std::uint32_t>::max());
  }
  found.gpus = static_cast<std::uint32_t>(gpus);
  if (!named.empty()) references_.insert_or_assign(pod.full_name(), std::move(named));
  return found;
}

}  // namespace kaisched::io::kubernetes
