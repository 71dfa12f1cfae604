#include "policy/claims/ledger.hpp"

#include <algorithm>

#include <kaisched/table.hpp>

namespace kaisched::policy {

namespace {

constexpr std::size_t most_users = 256;
constexpr std::string_view queue_label = "kai.scheduler/queue";

/// A device is named driver/pool/device, and a driver may contain a slash.
std::string_view driver_of(std::string_view name) {
  const std::size_t pool = name.rfind('/');
  if (pool == std::string_view::npos || pool == 0) return name;
  const std::size_t driver = name.rfind('/', pool - 1);
  return driver == std::string_view::npos ? name.substr(0, pool) : name.substr(0, driver);
}

std::string_view label_of(std::string_view labels, std::string_view key) {
  const std::vector<std::string_view> parts = split_list(labels);
  for (std::size_t i = 0; i + 1 < parts.size(); i += 2) {
    if (parts[i] == key) return parts[i + 1];
  }
  return {};
}

template <class Map, class List>
std::uint32_t number_of(Map& numbers, List& list, std::string_view name) {
  const auto found = numbers.find(name);
  if (found != numbers.end()) return found->second;
  const auto number = static_cast<std::uint32_t>(list.size());
  list.push_back({});
  numbers.emplace(std::string(name), number);
  return number;
}

}  // namespace

claim_device claim_ledger::device_named(std::string_view name) {
  const claim_device d = number_of(device_numbers_, devices_, name);
  if (devices_[d].name.empty()) {
    devices_[d].name = name;
    devices_[d].is_gpu = model::names_gpus(driver_of(name));
    if (pools_ != nullptr) {
      of_pool_.push_back(pools_->pools.find(name));
      if (of_pool_.back() != device_pools::no_device) named_[of_pool_.back()] = d;
    }
  }
  return d;
}

std::uint32_t claim_ledger::user_named(std::string_view name) {
  const std::uint32_t user = number_of(user_numbers_, users_, name);
  if (users_[user].empty()) users_[user] = name;
  return user;
}

std::uint32_t claim_ledger::class_named(std::string_view name) {
  return class_numbers_.try_emplace(std::string(name), static_cast<std::uint32_t>(class_numbers_.size())).first->second;
}

std::span<const std::uint32_t> claim_ledger::claims_of(pod_row pod) const {
  return std::span(pod_claims_).subspan(of_pod_[pod], counts_[pod]);
}

void claim_ledger::open(const model::cluster_state& s, const policy_options& options, bool decides) {
  used_ = s.pods_with_claims > 0;
  if (!used_) return;
  decides_ = decides;
  state_ = &s;
  compat_ = options.mode == decision_mode::compat;
  if (!compat_ && decides_) {
    std::vector<const model::claim_info*> claims;
    for (std::uint32_t slot = 0; slot < s.claim_slots; ++slot) {
      if (s.claims[slot] != nullptr) claims.push_back(s.claims[slot].get());
    }
    pools_ = structured_claims_of(s, claims);
  }
  answers_.forget();
  keeps_answers_ = !options.reference_path;
  if (pools_ != nullptr) {
    usage_ = held_ = device_usage(pools_->pools);
    named_.assign(pools_->pools.devices().size(), no_row);
  }
  std::vector<std::vector<offer>> offers(s.node_count());
  for (node_row row = 0; row < s.node_count(); ++row) {
    for (const auto& [device_class, name] : (*s.nodes)[row]->claimable) {
      const std::uint32_t number = class_named(device_class);
      const auto known = std::find_if(offers[row].begin(), offers[row].end(),
                                      [&](const offer& one) { return one.device_class == number; });
      offer& mine = known == offers[row].end() ? offers[row].emplace_back(offer{number, {}}) : *known;
      mine.devices.push_back(device_named(name));
    }
  }
  offered_ = std::make_shared<const std::vector<std::vector<offer>>>(std::move(offers));
  open_claims(s);
  open_pods(s);
}

void claim_ledger::open_claims(const model::cluster_state& s) {
  for (std::uint32_t slot = 0; slot < s.claim_slots; ++slot) {
    const model::claim_info* claim = s.claims[slot].get();
    if (claim == nullptr) continue;
    slots_.push_back(slot);
    asks_.push_back({class_named(claim->device_class), claim->count, true});
    claim_state& state = claims_.emplace_back();
    for (const std::string_view name : split_list(claim->devices)) {
      state.allocation.devices.push_back(device_named(name));
    }
    const auto number = static_cast<std::uint32_t>(claims_.size() - 1);
    if (is_structured(number)) {
      state.allocation.given = given_of(*pools_, number, claim->results);
      for (const given_device& one : state.allocation.given) {
        const claim_device d = device_named(pools_->pools.name_of(one.share.device));
        std::vector<claim_device>& devices = state.allocation.devices;
        if (std::find(devices.begin(), devices.end(), d) == devices.end()) devices.push_back(d);
      }
    }
    count(state.allocation, 1);
    for (const std::string_view name : split_list(claim->reserved_for)) state.users.push_back(user_named(name));
    std::sort(state.users.begin(), state.users.end());
    for (node_row row = 0; row < s.node_count(); ++row) {
      const model::node_info& node = *(*s.nodes)[row];
      const bool offers = !compat_ && claim->node.empty() && !state.allocation.devices.empty() &&
                          std::any_of(node.claimable.begin(), node.claimable.end(), [&](const auto& one) {
                            return one.second == devices_[state.allocation.devices.front()].name;
                          });
      if (offers || (!claim->node.empty() && node.name == claim->node)) state.allocation.node = row;
    }
  }
}

void claim_ledger::open_pods(const model::cluster_state& s) {
  std::map<std::string_view, std::uint32_t> by_name;
  for (std::uint32_t i = 0; i < slots_.size(); ++i) by_name.emplace(s.claims[slots_[i]]->name, i);
  askers_.assign(slots_.size(), 0);
  of_pod_.assign(s.pod_slots, no_row);
  counts_.assign(s.pod_slots, 0);
  pod_users_.assign(s.pod_slots, 0);
  for (pod_row p = 0; p < s.pod_slots; ++p) {
    if (!s.pods[p].live || s.class_of(p).ask.claims.empty()) continue;
    of_pod_[p] = static_cast<std::uint32_t>(pod_claims_.size());
    pod_users_[p] = user_named(s.pod_names[p]);
    for (const std::string_view name : split_list(s.class_of(p).ask.claims)) {
      const auto found = by_name.find(name);
      std::uint32_t claim = found == by_name.end() ? no_row : found->second;
      pod_claims_.push_back(claim);
      if (claim != no_row) ++askers_[claim];
      claim_allocation& known = pod_allocations_.emplace_back();
      if (claim != no_row && !claims_[claim].allocation.devices.empty()) {
        known = claims_[claim].allocation;
        known.known = true;
      }
      ++counts_[p];
    }
  }
}

std::string claim_ledger::text_of(pod_row pod) const {
  std::string text;
  for (std::size_t k = 0; has_claims(pod) && k < counts_[pod]; ++k) {
    const std::uint32_t i = claims_of(pod)[k];
    if (i == no_row) {
      text += "none;";
    } else if (askers_[i] != 1 || !state_->claims[slots_[i]]->from_template || !claims_[i].allocation.devices.empty()) {
      text += "slot " + std::to_string(slots_[i]) + ";";
    } else if (is_structured(i)) {
      text += "shape " + std::to_string(pools_->claims[i].shape) + ";";
    } else {
      text += "class " + std::to_string(asks_[i].device_class) + " " + std::to_string(asks_[i].count) + ";";
    }
  }
  return text;
}

bool claim_ledger::usable(const model::cluster_state& s, pod_row pod) const {
  const group_row group = s.pods[pod].group;
  const queue_row queue = group == no_row ? no_row : s.groups[group].queue;
  for (const std::uint32_t i : claims_of(pod)) {
    if (i == no_row) return false;
    const model::claim_info& claim = *s.claims[slots_[i]];
    const std::vector<std::uint32_t>& users = claims_[i].users;
    if (is_structured(i) && !pools_->claims[i].broken.empty()) return false;
    const bool is_user = !compat_ && std::binary_search(users.begin(), users.end(), pod_users_[pod]);
    if (users.size() >= most_users && !is_user) return false;
    if (!claim.from_template && model::names_gpus(claim.device_class) &&
        (queue == no_row || label_of(claim.labels, queue_label) != (*s.queues)[queue].name)) {
      return false;
    }
  }
  return true;
}

std::span<const claim_device> claim_ledger::offered(node_row row, std::uint32_t device_class) const {
  for (const offer& one : (*offered_)[row]) {
    if (one.device_class == device_class) return one.devices;
  }
  return {};
}

std::vector<claim_device> claim_ledger::free_devices(node_row row, std::uint32_t device_class, bool at_once) const {
  std::vector<claim_device> free;
  const std::span<const claim_device> all = offered(row, device_class);
  std::copy_if(all.begin(), all.end(), std::back_inserter(free), [&](claim_device d) { return is_free(d, at_once); });
  return free;
}

bool claim_ledger::has_free_devices(node_row row, std::uint32_t device_class, std::int64_t count, bool at_once) const {
  if (count <= 0) return true;
  for (const claim_device d : offered(row, device_class)) {
    if (is_free(d, at_once) && --count == 0) return true;
  }
  return false;
}

bool claim_ledger::fits(pod_row pod, node_row row, bool at_once) const {
  if (const std::span<const std::uint32_t> claims = claims_of(pod); claims.size() == 1) {  // most pods have one
    const std::uint32_t i = claims.front();
    if (i != no_row && claims_[i].allocation.devices.empty() && !is_structured(i))
      return has_free_devices(row, asks_[i].device_class, asks_[i].count, at_once);
  }
  std::map<std::uint32_t, std::int64_t> wanted;
  std::vector<std::uint32_t> structured;
  for (const std::uint32_t i : claims_of(pod)) {
    if (i == no_row) continue;
    const claim_allocation& has = claims_[i].allocation;
    if (has.devices.empty()) {
      if (is_structured(i))
        structured.push_back(i);
      else
        wanted[asks_[i].device_class] += asks_[i].count;
    } else if (!reaches(has, row)) {
      return false;
    }
  }
  wanted_shares first;  // what claims without requests will get
  for (const auto& [device_class, count] : wanted) {
    const std::vector<claim_device> free = free_devices(row, device_class, at_once);
    if (count > static_cast<std::int64_t>(free.size())) return false;
    for (std::int64_t i = 0; !structured.empty() && i < count; ++i) {
      const std::uint32_t offered = pool_device(free[static_cast<std::size_t>(i)]);
      if (offered != device_pools::no_device) first.add({offered, false, {}});
    }
  }
  if (structured.empty()) return true;
  if (first.all().empty()) return search(structured, row, at_once)->outcome == allocation_outcome::found;
  const known_answers::devices here = answers_.reachable(*state_, pools_->pools, row);
  return search_besides(structured, here, at_once, std::move(first)).outcome == allocation_outcome::found;
}

// ---- claims with requests ----------------------------------------------------------------------------------------

std::uint32_t claim_ledger::pool_device(claim_device d) const {
  return pools_ == nullptr ? device_pools::no_device : of_pool_[d];
}

std::vector<claim_device> claim_ledger::others_of(const claim_allocation& one) const {
  if (one.given.empty()) return one.devices;
  std::vector<claim_device> found;
  std::copy_if(one.devices.begin(), one.devices.end(), std::back_inserter(found), [&](claim_device d) {
    return std::none_of(one.given.begin(), one.given.end(),
                        [&](const given_device& g) { return g.share.device == pool_device(d); });
  });
  return found;
}

/// Devices of pools are where their pool says; of others it is known which node they are on, or every node has them.
bool claim_ledger::reaches(const claim_allocation& has, node_row row) const {
  if (has.given.empty()) return has.node == no_row || has.node == row;
  const known_answers::devices here = answers_.reachable(*state_, pools_->pools, row);
  return std::all_of(has.given.begin(), has.given.end(), [&](const given_device& one) {
    return std::binary_search(here.begin(), here.end(), one.share.device);
  });
}

bool claim_ledger::can_have(const claim_allocation& had) const {
  const std::vector<claim_device> others = others_of(had);
  if (!std::all_of(others.begin(), others.end(), [&](claim_device d) { return devices_[d].taken == 0; })) return false;
  wanted_shares again;
  for (const given_device& one : had.given) {
    if (!usage_.can_take(pools_->pools, one.share, again)) return false;
    again.add(one.share);
  }
  return true;
}

allocation_answer claim_ledger::search_besides(std::span<const std::uint32_t> claims, known_answers::devices here,
                                               bool at_once, wanted_shares besides) const {
  std::vector<const claim_request*> requests;
  for (const std::uint32_t i : claims) requests.push_back(&pools_->claims[i].request);
  return policy::allocate({pools_->pools, at_once ? held_ : usage_, pools_->answers, here, std::move(besides)},
                          requests);
}

known_answers::answer claim_ledger::search(std::span<const std::uint32_t> claims, node_row row, bool at_once) const {
  const auto look = [&](known_answers::devices here) { return search_besides(claims, here, at_once, {}); };
  if (!keeps_answers_) {
    return std::make_shared<const allocation_answer>(look(answers_.reachable(*state_, pools_->pools, row)));
  }
  std::vector<std::uint32_t> shapes;
  shapes.reserve(claims.size());
  for (const std::uint32_t i : claims) shapes.push_back(pools_->claims[i].shape);
  return answers_.find(shapes, *state_, pools_->pools, row, at_once, look);
}

void claim_ledger::allocate_structured(pod_row pod, std::span<const std::uint32_t> which, node_row row, bool at_once) {
  std::vector<std::uint32_t> claims;
  for (const std::uint32_t k : which) claims.push_back(pod_claims_[of_pod_[pod] + k]);
  const known_answers::answer answer = search(claims, row, at_once);
  if (answer->outcome != allocation_outcome::found) return;  // the placement stands without devices
  for (std::uint32_t c = 0; c < which.size(); ++c) {
    claim_allocation gets;
    for (given_device one : answer->given) {
      if (one.claim != c) continue;
      const claim_device d = device_named(pools_->pools.name_of(one.share.device));
      if (std::find(gets.devices.begin(), gets.devices.end(), d) == gets.devices.end()) gets.devices.push_back(d);
      if (!pools_->pools.devices()[one.share.device].offered->reach.node.empty()) gets.node = row;
      one.claim = 0;
      gets.given.push_back(std::move(one));
    }
    join(claims[c], of_pod_[pod] + which[c], pod, std::move(gets));
  }
}

std::vector<std::string> claim_ledger::results_of(std::uint32_t i) const {
  std::vector<std::string> found;
  for (const given_device& one : claims_[i].allocation.given) {
    found.push_back(model::text_of(result_of(*pools_, i, one)));
  }
  return found;
}

std::string claim_ledger::why_not(pod_row pod, node_row row) const {
  std::vector<std::uint32_t> structured;
  for (const std::uint32_t i : claims_of(pod)) {
    if (i == no_row || !is_structured(i)) continue;
    const std::string name = "claim '" + state_->claims[slots_[i]]->name + "': ";
    if (!pools_->claims[i].broken.empty()) return name + pools_->claims[i].broken;
    if (claims_[i].allocation.devices.empty()) structured.push_back(i);
  }
  if (structured.empty() || row == no_row) return {};
  const known_answers::answer found = search(structured, row, false);
  const allocation_answer& answer = *found;
  if (answer.message.empty()) return {};
  const std::uint32_t failed = structured[answer.claim];
  const std::vector<device_request>& requests = pools_->claims[failed].request.requests;
  return "claim '" + state_->claims[slots_[failed]]->name + "'" +
         (answer.request < requests.size() ? ", request '" + requests[answer.request].name + "'" : std::string()) +
         ": " + answer.message;
}

// ---- what claims have --------------------------------------------------------------------------------------------

std::vector<claim_device> claim_ledger::gpus_of(pod_row pod) const {
  std::vector<claim_device> gpus;
  for (std::uint32_t k = 0; k < counts_[pod]; ++k) {
    const claim_allocation& has = pod_allocations_[of_pod_[pod] + k];
    std::copy_if(has.devices.begin(), has.devices.end(), std::back_inserter(gpus),
                 [&](claim_device d) { return devices_[d].is_gpu; });
  }
  return gpus;
}

bool claim_ledger::is_counted_by_device(pod_row pod) const {
  if (pools_ == nullptr) return false;
  const std::span<const std::uint32_t> claims = claims_of(pod);
  return std::all_of(claims.begin(), claims.end(), [&](std::uint32_t i) { return i != no_row && is_structured(i); });
}

/// Admin access uses nothing.
void claim_ledger::add_gpus(const claim_allocation& one, std::vector<claim_device>& to) const {
  for (const claim_device d : one.devices) {
    const bool only_admin = std::any_of(one.given.begin(), one.given.end(),
                                        [&](const given_device& g) { return g.share.device == pool_device(d); }) &&
                            std::none_of(one.given.begin(), one.given.end(), [&](const given_device& g) {
                              return g.share.device == pool_device(d) && !g.share.admin;
                            });
    if (devices_[d].is_gpu && !only_admin && std::find(to.begin(), to.end(), d) == to.end()) to.push_back(d);
  }
}

bool claim_ledger::may_be_paid_for(pod_row pod) const {
  const auto has_gpus = [&](const claim_allocation& one) {
    return std::any_of(one.devices.begin(), one.devices.end(), [&](claim_device d) { return devices_[d].is_gpu; });
  };
  if (state_->class_of(pod).claimed_devices > 0) return true;
  const std::span<const std::uint32_t> claims = claims_of(pod);
  return !gpus_of(pod).empty() || std::any_of(claims.begin(), claims.end(), [&](std::uint32_t i) {
    return i != no_row && has_gpus(claims_[i].allocation);
  });
}

std::int64_t claim_ledger::paid_for(pod_row pod, node_row row, bool at_once) const {
  std::int64_t paid = 0;
  const auto add = [&](claim_device d) {
    const auto found = on_node_.find({row, d});
    if (found != on_node_.end() && found->second > 0) paid += whole_device;
  };
  if (compat_) {
    for (const claim_device d : gpus_of(pod)) add(d);
    return paid;
  }
  if (is_counted_by_device(pod)) {
    const std::int64_t charged = state_->class_of(pod).claimed_devices;
    std::vector<std::uint32_t> without;
    std::vector<claim_device> gpus;
    for (const std::uint32_t i : claims_of(pod)) {
      if (claims_[i].allocation.devices.empty()) without.push_back(i);
      add_gpus(claims_[i].allocation, gpus);
    }
    std::int64_t more = 0;  // of devices that no claim has had yet
    if (charged > 0 && !without.empty()) {
      const known_answers::answer answer = search(without, row, at_once);
      // What its claims lack keeps the pod off the node, and is what it should hear.
      if (answer->outcome != allocation_outcome::found) return charged * whole_device;
      std::vector<std::uint32_t> seen;
      for (const given_device& one : answer->given) {
        const bool again = std::find(seen.begin(), seen.end(), one.share.device) != seen.end();
        if (one.share.admin || again || !model::names_gpus(pools_->pools.pool_of(one.share.device).driver)) continue;
        seen.push_back(one.share.device);
        const claim_device d = named_[one.share.device];
        if (d == no_row) {
          ++more;
        } else if (std::find(gpus.begin(), gpus.end(), d) == gpus.end()) {
          gpus.push_back(d);
        }
      }
    }
    const auto counted = std::min<std::size_t>(gpus.size(), static_cast<std::size_t>(charged));
    for (std::size_t i = 0; i < counted; ++i) add(gpus[i]);
    return paid + std::max<std::int64_t>(0, charged - static_cast<std::int64_t>(gpus.size()) - more) * whole_device;
  }
  for (const std::uint32_t i : claims_of(pod)) {
    if (i == no_row) continue;
    for (const claim_device d : claims_[i].allocation.devices) {
      if (devices_[d].is_gpu) add(d);
    }
  }
  return paid;
}

void claim_ledger::count(const claim_allocation& one, std::int32_t sign) {
  const auto share_counts = [&](const device_share& share) {
    answers_.note_change(pools_->pools, share.device);
    for (device_usage* usage : {&usage_, &held_}) {
      sign > 0 ? usage->take(pools_->pools, share) : usage->give_back(pools_->pools, share);
    }
  };
  for (const claim_device d : pools_ == nullptr ? one.devices : others_of(one)) {
    devices_[d].taken += sign;
    if (pool_device(d) != device_pools::no_device) share_counts({pool_device(d), false, {}});
  }
  for (const given_device& given : one.given) {
    if (given.share.admin) continue;
    devices_[named_[given.share.device]].taken += sign;
    share_counts(given.share);
  }
}

void claim_ledger::take(claim_allocation& to, const claim_allocation& from) {
  count(to, -1);
  count(from, 1);
  to = from;
}

void claim_ledger::join(std::uint32_t claim, std::uint32_t entry, pod_row pod, claim_allocation gets) {
  std::vector<std::uint32_t>& users = claims_[claim].users;
  const auto at = std::lower_bound(users.begin(), users.end(), pod_users_[pod]);
  if (at == users.end() || *at != pod_users_[pod]) users.insert(at, pod_users_[pod]);
  take(claims_[claim].allocation, gets);
  pod_allocations_[entry] = std::move(gets);
  pod_allocations_[entry].known = true;
}

void claim_ledger::allocate(pod_row pod, node_row row, bool at_once) {
  std::vector<std::uint32_t> structured;
  for (std::uint32_t k = 0; k < counts_[pod]; ++k) {
    const std::uint32_t i = pod_claims_[of_pod_[pod] + k];
    if (i == no_row) continue;
    const claim_allocation& mine = pod_allocations_[of_pod_[pod] + k];
    claim_allocation gets = claims_[i].allocation;
    if (compat_ && !mine.devices.empty()) {
      gets = mine;
    } else if (gets.devices.empty()) {
      if (is_structured(i)) {
        structured.push_back(k);
        continue;
      }
      std::vector<claim_device> free = free_devices(row, asks_[i].device_class, at_once);
      if (static_cast<std::int64_t>(free.size()) < asks_[i].count) continue;  // the placement stands without devices
      free.resize(static_cast<std::size_t>(asks_[i].count));
      gets = {std::move(free), row, false};
    }
    join(i, of_pod_[pod] + k, pod, std::move(gets));
  }
  if (!structured.empty()) allocate_structured(pod, structured, row, at_once);
}

void claim_ledger::deallocate(pod_row pod) {
  for (std::uint32_t k = 0; k < counts_[pod]; ++k) {
    const std::uint32_t i = pod_claims_[of_pod_[pod] + k];
    if (i == no_row) continue;
    claim_state& claim = claims_[i];
    std::erase(claim.users, pod_users_[pod]);
    if (claim.users.empty()) take(claim.allocation, {});
    claim_allocation& mine = pod_allocations_[of_pod_[pod] + k];
    if (!mine.known) continue;
    mine = claim.allocation;
    mine.known = true;
  }
}

void claim_ledger::leave_behind(pod_row pod, saved_claims& before) {
  if (compat_) return;
  before.left_behind.clear();
  before.left_shares.clear();
  const auto leave_device = [&](claim_device d, const device_share& share) {
    ++devices_[d].leaving;
    before.left_behind.push_back(d);
    if (share.device == device_pools::no_device) return;
    answers_.note_change(pools_->pools, share.device);
    held_.take(pools_->pools, share);
    before.left_shares.push_back(share);
  };
  for (std::size_t k = 0; k < before.claims.size(); ++k) {
    const std::uint32_t i = pod_claims_[of_pod_[pod] + k];
    if (i == no_row || !claims_[i].allocation.devices.empty()) continue;
    const claim_allocation& had = before.claims[k].allocation;
    for (const claim_device d : others_of(had)) leave_device(d, {pool_device(d), false, {}});
    for (const given_device& one : had.given) {
      if (!one.share.admin) leave_device(named_[one.share.device], one.share);
    }
  }
}

saved_claims claim_ledger::save(pod_row pod) const {
  saved_claims saved;
  for (std::uint32_t k = 0; k < counts_[pod]; ++k) {
    saved.allocations.push_back(pod_allocations_[of_pod_[pod] + k]);
    const std::uint32_t i = pod_claims_[of_pod_[pod] + k];
    saved.claims.push_back(i == no_row || compat_ ? claim_state{} : claims_[i]);
  }
  return saved;
}

void claim_ledger::restore(pod_row pod, const saved_claims& saved) {
  for (std::uint32_t k = 0; k < counts_[pod]; ++k) {
    pod_allocations_[of_pod_[pod] + k] = saved.allocations[k];
    const std::uint32_t i = pod_claims_[of_pod_[pod] + k];
    // A claim may have devices and no user.
    if (i != no_row && !compat_ && saved.claims[k].users.empty())
      take(claims_[i].allocation, saved.claims[k].allocation);
  }
}

void claim_ledger::rejoin(pod_row pod, const saved_claims& saved) {
  for (std::uint32_t k = 0; k < counts_[pod]; ++k) {
    pod_allocations_[of_pod_[pod] + k] = saved.allocations[k];
    const std::uint32_t i = pod_claims_[of_pod_[pod] + k];
    if (i == no_row || compat_) continue;
    claim_state& claim = claims_[i];
    const claim_state& before = saved.claims[k];
    if (std::binary_search(before.users.begin(), before.users.end(), pod_users_[pod])) {
      const auto at = std::lower_bound(claim.users.begin(), claim.users.end(), pod_users_[pod]);
      if (at == claim.users.end() || *at != pod_users_[pod]) claim.users.insert(at, pod_users_[pod]);
    }
    if (claim.allocation.devices.empty()) take(claim.allocation, before.allocation);
  }
  for (const claim_device d : saved.left_behind) --devices_[d].leaving;
  for (const device_share& share : saved.left_shares) {
    answers_.note_change(pools_->pools, share.device);
    held_.give_back(pools_->pools, share);
  }
}

bool claim_ledger::can_rejoin(pod_row pod, const saved_claims& saved) const {
  for (std::uint32_t k = 0; k < counts_[pod]; ++k) {
    const std::uint32_t i = pod_claims_[of_pod_[pod] + k];
    if (i == no_row) continue;
    const claim_allocation& has = claims_[i].allocation;
    const claim_allocation& had = saved.claims[k].allocation;
    if (has == had) continue;
    if (!has.devices.empty() || !can_have(had)) return false;
  }
  return true;
}

std::int64_t claim_ledger::enter(pod_row pod, node_row row, std::int64_t gpus) {
  counted_gpus counts;
  if (gpus > 0 && is_counted_by_device(pod)) {
    // More devices than the pod is charged for (all that there were) are not counted either.
    const auto charged = static_cast<std::size_t>(state_->class_of(pod).claimed_devices);
    bool all = true;
    for (std::uint32_t k = 0; k < counts_[pod]; ++k) {
      const claim_allocation& has = pod_allocations_[of_pod_[pod] + k];
      all = all && !has.devices.empty();
      add_gpus(has, counts.devices);
    }
    counts.devices.resize(std::min(counts.devices.size(), charged));
    if (all) counts.fewer = static_cast<std::int64_t>(charged - counts.devices.size());
  } else if (gpus > 0) {
    counts.devices = gpus_of(pod);
  }
  std::int64_t shared = counts.fewer * whole_device;
  for (const claim_device d : counts.devices) shared += on_node_[{row, d}]++ > 0 ? whole_device : 0;
  counted_[{pod, row}] = std::move(counts);
  return std::min(shared, gpus);
}

std::int64_t claim_ledger::leave(pod_row pod, node_row row, std::int64_t gpus) {
  const auto entry = counted_.find({pod, row});
  if (entry == counted_.end()) return 0;
  std::int64_t shared = entry->second.fewer * whole_device;
  for (const claim_device d : entry->second.devices) {
    const auto users = on_node_.find({row, d});
    shared += users->second > 1 ? whole_device : 0;
    if (--users->second == 0) on_node_.erase(users);
  }
  counted_.erase(entry);
  return std::min(shared, gpus);
}

std::vector<std::string> claim_ledger::devices_of(const model::cluster_state& s, pod_row pod) const {
  std::vector<std::string> found;
  for (std::uint32_t k = 0; has_claims(pod) && k < counts_[pod]; ++k) {
    const std::uint32_t i = pod_claims_[of_pod_[pod] + k];
    if (i == no_row) continue;
    for (const claim_device d : pod_allocations_[of_pod_[pod] + k].devices) {
      found.push_back(s.claims[slots_[i]]->name + "=" + devices_[d].name);
    }
  }
  return found;
}

std::string claim_ledger::digest() const {
  std::string text;
  const auto add = [&](const claim_allocation& one) {
    for (const claim_device d : one.devices) text += devices_[d].name + ",";
    for (const given_device& given : one.given) {
      text += std::to_string(given.request) + "/" + std::to_string(given.alternative) + "=" +
              std::to_string(given.share.device) + (given.share.admin ? "!" : "");
      for (const model::exact_quantity amount : given.share.consumed) text += "," + model::text_of(amount);
      text += " ";
    }
    text += std::to_string(one.node) + (one.known ? "+;" : ";");
  };
  for (const claim_state& one : claims_) {
    add(one.allocation);
    for (const std::uint32_t user : one.users) text += users_[user] + ",";
    text += '|';
  }
  for (const claim_allocation& one : pod_allocations_) add(one);
  for (const auto& [key, count] : on_node_) {
    text += std::to_string(key.first) + "/" + devices_[key.second].name + "=" + std::to_string(count) + ";";
  }
  // Devices of pools get their numbers when they are given, and keep them when that is undone.
  for (const device& one : devices_) {
    if (pools_ == nullptr || one.leaving != 0) text += std::to_string(one.leaving) + ",";
    if (pools_ != nullptr && one.leaving != 0) text += one.name + ";";
  }
  return text;
}

}  // namespace kaisched::policy
