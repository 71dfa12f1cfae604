#include "io/kubernetes/shared_devices.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>

#include <fmt/format.h>

#include <kaisched/quantity.hpp>

#include "base/saturating.hpp"
#include "io/kubernetes/clock_text.hpp"
#include "io/kubernetes/hami.hpp"
#include "io/kubernetes/node_devices.hpp"
#include "io/kubernetes/resources.hpp"
#include "policy/devices/vendor/requests.hpp"
#include "policy/devices/vendor/words.hpp"

namespace kaisched::io::kubernetes {

namespace {

using devices::mebibyte;

constexpr std::int64_t most_containers = 4096;
constexpr std::int64_t most_devices = 65536;
constexpr std::int64_t binding_seconds = 300;  ///< after which a binding is given up

/// Annotations of pods that rules of a vendor read.
std::set<std::string> annotation_names(const devices::vendor_template& of) {
  std::set<std::string> names{of.types.use, of.types.avoid, of.modes, of.bind_numa, of.score.wish};
  for (const devices::list_keys& keys : of.ids) names.insert({keys.use, keys.avoid});
  if (of.tenants) names.insert(of.tenants->annotation);
  if (of.service) names.insert(of.service->annotation);
  if (of.soft) names.insert(of.soft->annotation);
  names.erase("");
  return names;
}

void put(std::string& row, std::string_view name, std::int64_t value) { row += fmt::format(",{}={}", name, value); }
void put(std::string& row, std::string_view name, std::string_view value) { row += fmt::format(",{}={}", name, value); }

std::string row_of(std::size_t number, bool init, const devices::request& what) {
  std::string row = fmt::format("container={}", number);
  if (init) put(row, "init", 1);
  put(row, "vendor", what.vendor);
  put(row, "count", what.count);
  if (what.memory > 0) put(row, "memory", what.memory);
  if (what.memory_permille) put(row, "memory_permille", *what.memory_permille);
  if (what.cores > 0) put(row, "cores", what.cores);
  if (what.slices > 0) put(row, "slices", what.slices);
  if (what.amount > 0) put(row, "amount", what.amount);
  return row;
}

/// A quantity as rules of vendors see it.
devices::quantity quantity_of(object& of, json_value given) {
  devices::quantity made;
  made.value = of.amount(given, 0);
  if (!given.is(json_kind::string)) {
    made.integer = !given.is(json_kind::number) || given.number() == static_cast<double>(made.value);
    return made;
  }
  const std::string_view text = given.text();
  made.suffix = !text.empty() && text.find_first_not_of("+-.0123456789") != std::string_view::npos;
  // The finest unit in which 63 bits hold the amount.
  std::int64_t unit = second;
  for (const int decimals : {9, 6, 3, 0}) {
    const quantity exact = parse_quantity(text, decimals);
    if (exact.fault == quantity_fault::none) {
      made.integer = exact.amount % unit == 0;
      break;
    }
    unit /= 1000;
  }
  return made;
}

/// Instances of divided devices by place of the container and of the grant there.
using instance_places = std::map<std::pair<std::int64_t, std::int64_t>, std::pair<std::string, devices::slice_range>>;

instance_places read_instances(std::string_view text) {
  const result<json_document> read = json_document::parse(text, "");
  instance_places places;
  if (!read || !read->root().is(json_kind::array)) return places;
  const auto number = [](member of, std::string_view key) {
    const member found = find(of, key);
    return found && found->is(json_kind::integer) ? found->integer() : 0;
  };
  for (const json_value one : read->root()) {
    const member profile = find(one, "profile");
    const member placement = find(one, "placement");
    if (!profile || !profile->is(json_kind::string) || !placement) continue;
    places[{number(one, "containerIndex"), number(one, "deviceIndex")}] = {
        std::string(profile->text()), {number(placement, "start"), number(placement, "size")}};
  }
  return places;
}

/// A grant of a device that is divided by profiles: which one it is follows from its memory and cores.
void add_profile(const model::vendor_device& of, model::vendor_grant& to) {
  const std::int64_t whole = of.profiles.empty() ? 1 : of.profiles.back().slices;
  for (const model::vendor_profile& one : of.profiles) {
    const std::int64_t percent = (one.slices * 100 + whole - 1) / whole;
    if (one.memory != to.memory || percent != to.cores) continue;
    to.profile = one.name;
    to.slots = one.slices;
    return;
  }
}

}  // namespace

// ---- nodes -------------------------------------------------------------------------------------------------------

void shared_devices::note_nodes(const std::vector<node_record>& nodes) {
  std::map<std::string, known_vendor> by_key;
  for (const node_record& node : nodes) {
    const auto gpus = node.capacity.find(gpu);
    plain_gpus_ = plain_gpus_ || (!node.registers && gpus != node.capacity.end() && gpus->second > 0);
    other_devices_ = other_devices_ || node.other_devices;
    for (const registered_device& one : node.registered) {
      known_vendor& vendor = by_key[one.vendor];
      vendor.rules = devices::find_vendor(catalog_->vendors, one.vendor);
      vendor.most_memory = std::max(vendor.most_memory, one.what.memory);
      vendor.most_slots = std::max(vendor.most_slots, one.what.slots);
      vendor.most_cores = std::max(vendor.most_cores, one.what.cores);
      identities_[{node.name, one.what.id}] = one;
    }
  }
  for (auto& [key, vendor] : by_key) {
    vendor.names = resource_names(*vendor.rules);
    names_.insert(vendor.names.begin(), vendor.names.end());
    vendors_.push_back(std::move(vendor));
  }
}

void shared_devices::count_devices(std::vector<node_record>& nodes) const {
  for (node_record& node : nodes) {
    if (!node.registers) continue;
    node.capacity[std::string(gpu)] =
        whole_device * std::count_if(node.registered.begin(), node.registered.end(), [&](const registered_device& one) {
          return (one.what.healthy && !one.what.cordoned) || held_.contains({node.name, one.what.id});
        });
  }
}

// ---- pods --------------------------------------------------------------------------------------------------------

const shared_devices::known_vendor* shared_devices::known(std::string_view key) const {
  const auto found =
      std::find_if(vendors_.begin(), vendors_.end(), [&](const known_vendor& one) { return one.rules->key == key; });
  return found == vendors_.end() ? nullptr : &*found;
}

std::string_view shared_devices::binding_node(const object& of, std::int64_t now) const {
  if (!any() || of.annotation(hami_bind_phase).value_or("") == "failed") return {};
  const std::int64_t since = whole_number(of.annotation(hami_assigned_time).value_or("")).value_or(-1);
  if (since < 0 || since > std::numeric_limits<std::int64_t>::max() / second - binding_seconds) return {};
  if (now / second > since + binding_seconds) return {};
  if (since > now / second + binding_seconds) return {};  // nobody can have decided that yet
  return of.annotation(hami_assigned_node).value_or("");
}

/// What the webhook makes of the resources of a container, and what it asks for then.
void shared_devices::ask(object& of, const container& one, std::size_t number, devices::admitted_container& state,
                         std::vector<asked>& to, pod_record& row) const {
  const member resources = of.section(one.of, "resources");
  const auto refuse = [&](std::string_view what) {
    if (row.obstacle.empty()) row.obstacle = fmt::format("container '{}': {}", state.name, what);
  };
  state.name = of.text(one.of, "name");
  for (const known_vendor& vendor : vendors_) {
    std::size_t given = 0;
    const auto read = [&](std::string_view list) {
      devices::quantities made;
      const member column = of.section(resources, list);
      for (const std::string& name : vendor.names) {
        const member found = kubernetes::find(column, name);
        if (found) made.emplace_back(name, quantity_of(of, *found));
        given += found && name != vendor.rules->count_name ? 1U : 0U;
      }
      return made;
    };
    state.resources = {read("limits"), read("requests")};
    if (of.failed()) return;
    if (state.resources.limits.empty() && state.resources.requests.empty()) continue;
    for (const devices::quantities* column : {&state.resources.limits, &state.resources.requests}) {
      for (const auto& [name, amount] : *column) {
        const bool in_bytes = vendor.rules->requests.suffixes_are_bytes && amount.suffix;
        // HAMi counts in 32 bits.
        if (amount.value > (in_bytes ? max_amount : std::int64_t{std::numeric_limits<std::int32_t>::max()})) {
          return refuse(fmt::format("{} is {}, which is too much", name, amount.value));
        }
      }
    }
    const devices::admission_result admitted = devices::admit(*vendor.rules, state);
    if (!admitted.error.empty()) return refuse(admitted.error);
    std::optional<devices::request> made = devices::make_request(*vendor.rules, state.resources);
    if (!made) return refuse(fmt::format("its resources are no request for devices of {}", vendor.rules->key));
    if (made->count > most_devices) return refuse(fmt::format("it asks for {} devices", made->count));
    const bool by_cores = devices::find_quantity(state.resources, vendor.rules->count_name,
                                                 devices::columns::limits_then_requests) == nullptr;
    if (made->count > 0) to.push_back({number, one.init, std::move(*made), given == 0, by_cores});
  }
}

bool shared_devices::asks_any(const container& one) const {
  const member resources = kubernetes::find(one.of, "resources");
  for (const std::string_view list : {"limits", "requests"}) {
    const member column = kubernetes::find(resources, list);
    if (!column || !column->is(json_kind::object)) continue;
    for (const json_value amount : *column) {
      if (names_.find(amount.key()) != names_.end()) return true;
    }
  }
  return false;
}

bool shared_devices::is_plain(const std::vector<asked>& all) const {
  if (!plain_gpus_ || all.size() != 1 || all.front().init || !all.front().count_only) return false;
  return dimension_of(known(all.front().what.vendor)->rules->count_name) == gpu;
}

/// Of a device that is divided by profiles: none that serves the request has less.
std::int64_t least_profile_share(const devices::request& what, std::int64_t memory, std::int64_t slots) {
  constexpr std::int64_t gibibyte = mebibyte * 1024;
  if (what.slices > 0) return std::min(what.slices, slots) * whole_device / slots;
  const std::int64_t cores = std::clamp<std::int64_t>(what.cores, 0, 100) * whole_device / 100;
  if (what.amount <= 0 || memory < gibibyte) return cores;
  // Numbers far above those of profiles are mebibytes, the others gibibytes.
  const std::int64_t gibibytes =
      what.amount > memory / gibibyte * 2 ? what.amount / 1024 + (what.amount % 1024 == 0 ? 0 : 1) : what.amount;
  return std::max(cores, std::min(gibibytes, memory / gibibyte) * whole_device / (memory / gibibyte));
}

/// Of one device, in milli-GPU.
std::int64_t shared_devices::share_of(const asked& one, const known_vendor& vendor) {
  const devices::vendor_template& rules = *vendor.rules;
  const std::int64_t slots = std::max<std::int64_t>(vendor.most_slots, 1);
  const bool alone = std::any_of(rules.checks.begin(), rules.checks.end(),
                                 [](const devices::check_step& step) { return step.what == devices::check::idle; });
  if (alone) return whole_device;
  if (rules.memory == devices::memory_rule::profile) return least_profile_share(one.what, vendor.most_memory, slots);
  if (rules.cores == devices::cores_rule::bits) {
    const std::int64_t cores = std::max(std::popcount(static_cast<std::uint64_t>(vendor.most_cores)), 1);
    return std::clamp<std::int64_t>(one.what.cores, 0, cores) * whole_device / cores;
  }
  if (rules.memory == devices::memory_rule::none || rules.usage != devices::usage_rule::all)
    return whole_device / slots;
  if (one.what.memory > 0) {
    const std::int64_t memory = std::min(one.what.memory, vendor.most_memory);
    // In mebibytes, so that thousands of them fit.
    return vendor.most_memory < mebibyte ? whole_device
                                         : memory / mebibyte * whole_device / (vendor.most_memory / mebibyte);
  }
  return one.what.memory_permille.value_or(whole_device);
}

/// Milli-GPU. Never more than what a device gives up, so that amounts do not refuse what devices have.
std::int64_t shared_devices::charge_of(const asked& one) const {
  const std::int64_t share = std::clamp<std::int64_t>(share_of(one, *known(one.what.vendor)), 1, whole_device);
  return base::saturating_multiply(one.what.count, share);
}

/// Of the containers that run together, or of one that runs before them if that is more.
std::int64_t shared_devices::charge_of(const std::vector<asked>& all) const {
  std::int64_t together = 0;
  std::map<std::size_t, std::int64_t> before;
  for (const asked& one : all) {
    std::int64_t& sum = one.init ? before[one.number] : together;
    sum = base::saturating_add(sum, charge_of(one));
  }
  for (const auto& [number, charge] : before) together = std::max(together, charge);
  return std::min(together, max_amount);
}

/// The first vendor whose key is in the model, as sessions take it.
bool shared_devices::is_of_one_vendor(const std::string& node) const {
  const auto vendor_of = [&](const std::string& type) {
    const auto found =
        std::find_if(catalog_->vendors.begin(), catalog_->vendors.end(),
                     [&](const devices::vendor_template& one) { return devices::contains_any_case(type, one.key); });
    return found == catalog_->vendors.end() ? nullptr : &*found;
  };
  const devices::vendor_template* only = nullptr;
  for (auto at = identities_.lower_bound({node, ""}); at != identities_.end() && at->first.first == node; ++at) {
    const devices::vendor_template* one = vendor_of(at->second.what.type);
    if (one == nullptr || (only != nullptr && only != one)) return false;
    only = one;
  }
  return only != nullptr;
}

std::vector<std::string> shared_devices::grants_of(object& of, const std::string& node, const container_places& places,
                                                   const std::vector<container>& containers, std::vector<asked>& all,
                                                   bool plain) {
  std::vector<std::size_t> number_at(places.count);
  for (std::size_t i = 0; i < places.places.size() && i < containers.size(); ++i) number_at[places.places[i]] = i;
  std::vector<model::vendor_grant> made;
  for (const known_vendor& vendor : vendors_) {
    const devices::vendor_template& rules = *vendor.rules;
    const std::string_view text = of.text(of.annotations(), rules.exchange.allocated);
    const std::optional<hami_grants> lists = decode_hami_grants(text);
    if (text.empty() || !lists) continue;
    const instance_places instances = read_instances(of.text(of.annotations(), rules.exchange.instances));
    for (std::size_t place = 0; place < lists->size() && place < places.count; ++place) {
      const std::size_t number = number_at[place];
      std::vector<model::vendor_grant> here;
      for (std::size_t i = 0; i < (*lists)[place].size(); ++i) {
        const hami_grant& one = (*lists)[place][i];
        const auto known_device = identities_.find({node, one.id});
        if (known_device == identities_.end() || one.memory < 0 || one.cores < 0) continue;
        if (!devices::contains_any_case(known_device->second.what.type, rules.key)) continue;
        model::vendor_grant grant;
        grant.container = static_cast<std::int64_t>(plain ? 0 : number);
        grant.init = !plain && containers[number].init;
        grant.device = one.id;
        grant.memory = one.memory * mebibyte;
        grant.cores = one.cores;
        if (rules.memory == devices::memory_rule::profile) add_profile(known_device->second.what, grant);
        const auto instance = instances.find({static_cast<std::int64_t>(place), static_cast<std::int64_t>(i)});
        if (instance != instances.end()) {
          grant.profile = instance->second.first;
          grant.start = instance->second.second.start;
          grant.size = instance->second.second.size;
        }
        held_.insert({node, one.id});
        // What a row cannot say is no grant.
        if (model::parse_vendor_grant(model::text_of(grant))) here.push_back(std::move(grant));
      }
      if (here.empty()) continue;
      const bool is_asked = plain || std::any_of(all.begin(), all.end(), [&](const asked& one) {
                              return one.number == number && one.what.vendor == rules.key;
                            });
      if (!is_asked) {
        devices::request what;
        what.vendor = rules.key;
        what.count = static_cast<std::int64_t>(here.size());
        what.memory = here.front().memory;
        what.cores = here.front().cores;
        all.push_back({number, containers[number].init, std::move(what), false, false});
      }
      made.insert(made.end(), here.begin(), here.end());
    }
  }
  std::stable_sort(made.begin(), made.end(), [](const auto& a, const auto& b) { return a.container < b.container; });
  std::vector<std::string> rows;
  for (const model::vendor_grant& one : made) rows.push_back(model::text_of(one));
  return rows;
}

bool shared_devices::asks_other_gpus(const std::vector<container>& containers) const {
  return std::any_of(containers.begin(), containers.end(), [&](const container& one) {
    const member column = kubernetes::find(kubernetes::find(one.of, "resources"), "limits");
    if (!column || !column->is(json_kind::object)) return false;
    return std::any_of(column->begin(), column->end(), [&](const json_value amount) {
      return dimension_of(amount.key()) == gpu && names_.find(amount.key()) == names_.end();
    });
  });
}

/// Those that run before the others come first, then sidecars, then the others.
std::vector<shared_devices::container> shared_devices::containers_of(object& of, member spec) {
  std::vector<container> ordered;
  const std::vector<json_value> init = of.items(spec, "initContainers");
  for (const bool sidecars : {false, true}) {
    for (std::size_t i = 0; i < init.size(); ++i) {
      if ((of.text(init[i], "restartPolicy") == "Always") == sidecars) ordered.push_back({init[i], i, !sidecars});
    }
  }
  for (const json_value one : of.items(spec, "containers")) ordered.push_back({one, ordered.size(), false});
  return ordered;
}

void shared_devices::read_pod(object& of, member spec, bool hami, pod_record& row) {
  if (!any()) return;
  const std::vector<container> containers = containers_of(of, spec);
  const bool asks = std::any_of(containers.begin(), containers.end(), [&](const auto& one) { return asks_any(one); });
  const bool holds = !row.node.empty() && std::any_of(vendors_.begin(), vendors_.end(), [&](const known_vendor& one) {
    return of.annotation(one.rules->exchange.allocated).has_value();
  });
  const auto gpus = row.request.find(gpu);
  const bool asks_gpus =
      (gpus != row.request.end() && gpus->second > 0) || of.annotation("gpu-fraction") || of.annotation("gpu-memory");
  if ((!asks && !holds && !asks_gpus) || containers.empty()) return;
  if (containers.size() > most_containers) {
    row.obstacle = fmt::format("it has more than {} containers", most_containers);
    return;
  }

  devices::admitted_container state;
  state.pod_annotations = of.pairs(of.section(of.root(), "metadata"), "annotations");
  std::vector<asked> all;
  for (std::size_t i = 0; i < containers.size() && asks; ++i) {
    if (asks_any(containers[i])) ask(of, containers[i], i, state, all, row);
  }
  if (of.failed()) return;
  if (asks && asks_other_gpus(containers) && row.obstacle.empty()) {
    row.obstacle = "GPUs that are registered and GPUs that are not cannot be for one pod";
  }
  // GPUs in the way of KAI, or whole ones that any node may have, are asked by the pod as a whole.
  const bool native = !asks && asks_gpus;
  const bool plain = native || (!hami && row.obstacle.empty() && is_plain(all));
  container_places places;
  places.count = containers.size();
  places.names.resize(containers.size());
  for (const container& one : containers) {
    places.places.push_back(one.place);
    places.names[one.place] = of.text(one.of, "name");
  }
  for (const asked& one : all) {
    if (one.by_cores) places.by_cores.emplace(containers[one.number].place, one.what.vendor);
  }
  if (holds && (!plain || is_of_one_vendor(row.node))) {
    row.device_grants = grants_of(of, row.node, places, containers, all, plain);
  }
  if (of.failed()) return;
  if (plain) {
    // What it gets is for the container that asks, else for the first of those that stay.
    const auto first = std::find_if(containers.begin(), containers.end(), [](const auto& one) { return !one.init; });
    const std::size_t stays = first == containers.end() ? 0 : static_cast<std::size_t>(first - containers.begin());
    places.places = {places.places[all.empty() ? stays : all.front().number]};
  } else {
    for (const known_vendor& vendor : vendors_) take_resources(*vendor.rules, row.request);
    if (const std::int64_t charge = charge_of(all); charge > 0) row.request[std::string(gpu)] = charge;
    std::stable_sort(all.begin(), all.end(), [](const asked& a, const asked& b) { return a.number < b.number; });
    for (const asked& one : all) row.device_requests.push_back(row_of(one.number, one.init, one.what));
    if (all.empty()) return;
  }
  std::set<std::string> keys{"hami.io/node-scheduler-policy", "hami.io/gpu-scheduler-policy",
                             "hami.io/device-scoring-weights"};
  for (const known_vendor& vendor : vendors_) {
    const bool read = native || std::any_of(all.begin(), all.end(),
                                            [&](const asked& one) { return one.what.vendor == vendor.rules->key; });
    if (read) keys.merge(annotation_names(*vendor.rules));
  }
  for (const auto& [key, value] : state.pod_annotations) {
    if (keys.contains(key)) row.annotations.push_back(fmt::format("{}={}", key, value));
  }
  places_[row.name] = std::move(places);
}

bool shared_devices::avoids_other_devices(const pod_record& row) const {
  if (!other_devices_ || !row.device_requests.empty()) return false;
  const auto gpus = row.request.find(gpu);
  return (gpus != row.request.end() && gpus->second > 0) || row.gpu_memory > 0;
}

// ---- quotas ------------------------------------------------------------------------------------------------------

void shared_devices::read_quota(object& of, std::vector<device_quota_record>& rows) const {
  const member hard = of.section(of.section(of.root(), "spec"), "hard");
  for (const known_vendor& vendor : vendors_) {
    device_quota_record made;
    made.line = of.line();
    made.name_space = of.name_space();
    made.vendor = vendor.rules->key;
    const auto read = [&](const std::string& name, std::int64_t unit, std::int64_t& to) {
      if (name.empty() || unit <= 0) return;
      const member found = kubernetes::find(hard, "limits." + name);
      if (!found) return;
      const std::int64_t amount = of.amount(*found, 0);
      if (amount > max_amount / unit) {
        of.fail(*found, fmt::format("the quantity {} is too large", found->shown()));
      } else {
        to = amount * unit;
      }
    };
    read(vendor.rules->memory_name, vendor.rules->requests.memory_unit, made.memory);
    read(vendor.rules->core_name, 1, made.cores);
    if (of.failed() || (made.memory == unlimited && made.cores == unlimited)) continue;
    const auto known_row = std::find_if(rows.begin(), rows.end(), [&](const device_quota_record& one) {
      return one.name_space == made.name_space && one.vendor == made.vendor;
    });
    if (known_row == rows.end()) {
      rows.push_back(std::move(made));
      continue;
    }
    // All of them hold.
    const auto least = [](std::int64_t& to, std::int64_t other) {
      if (other != unlimited && (to == unlimited || other < to)) to = other;
    };
    least(known_row->memory, made.memory);
    least(known_row->cores, made.cores);
  }
}

}  // namespace kaisched::io::kubernetes
