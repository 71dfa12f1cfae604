#include "policy/claims/structured.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "base/text.hpp"

namespace kaisched::policy {

namespace {

template <class Info>
using by_owner = std::map<std::string_view, std::vector<std::pair<std::string_view, const Info*>>>;

/// Rows by what they belong to, in their order.
template <class Info, class Owner>
by_owner<Info> sorted_rows(const model::named_rows<Info>& rows, Owner owner) {
  by_owner<Info> found;
  for (const auto& [name, row] : *rows) found[owner(*row)].emplace_back(name, row.get());
  for (auto& [of, list] : found) {
    std::stable_sort(list.begin(), list.end(),
                     [](const auto& a, const auto& b) { return a.second->position < b.second->position; });
  }
  return found;
}

std::vector<device_slice> slices_of(const model::cluster_state& s) {
  const auto devices = sorted_rows(s.slice_devices, [](const auto& row) { return std::string_view(row.slice); });
  std::vector<device_slice> slices;
  for (const auto& [name, row] : *s.resource_slices) {
    device_slice& made = slices.emplace_back();
    made.driver = row->driver;
    made.pool = row->pool;
    made.generation = row->generation;
    made.slices = row->slices;
    made.counters = row->counters;
    const auto found = devices.find(name);
    if (found == devices.end()) continue;
    for (const auto& [ignored, device] : found->second) {
      made.devices.push_back(device->offered);
      if (!device->offered.reach.is_given()) made.devices.back().reach = row->reach;
    }
  }
  return slices;
}

void add_request(const model::cluster_state& s, structured_claims::one& to, const model::claim_request_info& row) {
  std::vector<device_request>& requests = to.request.requests;
  auto request = std::find_if(requests.begin(), requests.end(),
                              [&](const device_request& one) { return one.name == row.request; });
  if (request == requests.end()) request = requests.insert(request, device_request{row.request, {}});
  device_ask& ask = request->alternatives.emplace_back(row.ask);
  if (row.device_class.empty()) return;
  const auto found = s.device_classes->find(row.device_class);
  if (found == s.device_classes->end()) {
    to.broken = "device class '" + base::shown(row.device_class) + "' does not exist";
    return;
  }
  const std::vector<model::cel_expression>& selectors = found->second->selectors;
  ask.selectors.insert(ask.selectors.begin(), selectors.begin(), selectors.end());
}

/// Equal for claims that ask for the same, if the texts of their rows are added as well.
std::string text_of_constraints(const std::vector<model::attribute_constraint>& constraints) {
  std::string text;
  const auto add = [&text](std::string_view part) {
    text += std::to_string(part.size());
    text += ':';
    text += part;
  };
  for (const model::attribute_constraint& one : constraints) {
    for (const std::string& request : one.requests) add(request);
    add(one.domain);
    add(one.name);
    text += one.distinct ? '!' : '=';
  }
  return text;
}

std::string text_of_request(const model::claim_request_info& row) {
  std::string text;
  for (const std::string* part : {&row.request, &row.ask.name, &row.device_class, &row.selectors_text,
                                  &row.tolerations_text, &row.capacities_text}) {
    text += std::to_string(part->size());
    text += ':';
    text += *part;
  }
  text += row.ask.all ? 'a' : 'c';
  text += std::to_string(row.ask.count);
  text += row.ask.admin ? '!' : '.';
  return text;
}

}  // namespace

std::shared_ptr<const structured_claims> structured_claims_of(const model::cluster_state& s,
                                                              const std::vector<const model::claim_info*>& claims) {
  if (s.claim_requests->empty()) return nullptr;
  const auto requests = sorted_rows(s.claim_requests, [](const auto& row) { return std::string_view(row.claim); });
  auto made = std::make_shared<structured_claims>();
  bool any = false;
  std::map<std::string, std::uint32_t> shapes;
  for (const model::claim_info* claim : claims) {
    structured_claims::one& one = made->claims.emplace_back();
    const auto found = requests.find(claim->name);
    if (found == requests.end()) continue;
    one.structured = any = true;
    one.request.constraints = claim->constraints;
    std::string shape = text_of_constraints(claim->constraints);
    for (const auto& [ignored, row] : found->second) {
      add_request(s, one, *row);
      shape += text_of_request(*row);
    }
    one.shape = shapes.try_emplace(std::move(shape), static_cast<std::uint32_t>(shapes.size())).first->second;
  }
  if (!any) return nullptr;
  made->slices = slices_of(s);
  std::vector<const device_slice*> pointers;
  for (const device_slice& slice : made->slices) pointers.push_back(&slice);
  made->pools = device_pools(pointers);
  for (std::size_t i = 0; i < claims.size(); ++i) {
    if (!made->claims[i].structured) continue;
    // As requests were added, row by row.
    std::map<std::string_view, std::size_t> next;
    for (const auto& [ignored, row] : requests.at(claims[i]->name)) {
      std::vector<device_request>& asked = made->claims[i].request.requests;
      const auto request = std::find_if(asked.begin(), asked.end(),
                                        [&, r = row](const device_request& one) { return one.name == r->request; });
      made->answers.remember(request->alternatives[next[row->request]++],
                             row->device_class + '\0' + row->selectors_text, made->pools);
    }
  }
  return made;
}

std::vector<given_device> given_of(const structured_claims& of, std::uint32_t claim,
                                   const std::vector<model::claim_result>& results) {
  std::vector<given_device> found;
  const std::vector<device_request>& requests = of.claims[claim].request.requests;
  for (const model::claim_result& result : results) {
    given_device one;
    one.share.device = of.pools.find(result.device);
    if (one.share.device == device_pools::no_device) continue;
    const auto request = std::find_if(requests.begin(), requests.end(),
                                      [&](const device_request& r) { return r.name == result.request; });
    if (request != requests.end()) {
      one.request = static_cast<std::uint32_t>(request - requests.begin());
      const auto alternative = std::find_if(request->alternatives.begin(), request->alternatives.end(),
                                            [&](const device_ask& ask) { return ask.name == result.alternative; });
      if (alternative != request->alternatives.end()) {
        one.alternative = static_cast<std::uint32_t>(alternative - request->alternatives.begin());
      }
    }
    one.share.admin = result.admin;
    const offered_device& device = *of.pools.devices()[one.share.device].offered;
    for (std::size_t i = 0; device.allow_multiple_allocations && !result.admin && i < device.capacities.size(); ++i) {
      const model::device_capacity& capacity = device.capacities[i];
      const auto taken = std::find_if(result.consumed.begin(), result.consumed.end(), [&](const capacity_ask& c) {
        return c.domain == capacity.domain && c.name == capacity.name;
      });
      one.share.consumed.push_back(taken == result.consumed.end() ? model::exact_quantity{} : taken->amount);
    }
    found.push_back(std::move(one));
  }
  return found;
}

model::claim_result result_of(const structured_claims& of, std::uint32_t claim, const given_device& one) {
  const device_request& request = of.claims[claim].request.requests[one.request];
  model::claim_result made{request.name,
                           request.alternatives[one.alternative].name,
                           of.pools.name_of(one.share.device),
                           one.share.admin,
                           {}};
  const offered_device& device = *of.pools.devices()[one.share.device].offered;
  for (std::size_t i = 0; i < one.share.consumed.size(); ++i) {
    made.consumed.push_back({device.capacities[i].domain, device.capacities[i].name, one.share.consumed[i]});
  }
  return made;
}

}  // namespace kaisched::policy
