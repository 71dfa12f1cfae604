#include "model/pod_class.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>
#include <tuple>

#include <kaisched/quantity.hpp>
#include <kaisched/schema.hpp>
#include <kaisched/table.hpp>

#include "base/text.hpp"

namespace kaisched::model {

namespace {

void append_text(std::string& key, std::string_view text) {
  key += std::to_string(text.size());
  key += ':';
  key += text;
}

template <class T>
result<void> parse_each(std::string_view list, result<T> (*parse)(std::string_view), std::vector<T>& parsed) {
  for (const std::string_view element : split_list(list)) {
    result<T> one = parse(element);
    if (!one) return one.take_failure();
    parsed.push_back(std::move(*one));
  }
  return {};
}

result<void> check_sharing(const pod_class& c) {
  if (c.ask.sharing == sharing_mode::unknown || c.is_shared()) return {};
  return error{status::argument,
               "sharing is " + std::string(sharing_name(c.ask.sharing)) + ", but no part of a device is asked for",
               {}};
}

result<void> set_devices(pod_class& c) {
  std::int64_t gpu = c.requests(dim_gpu);
  const std::int64_t count = c.ask.device_count;
  if (!c.ask.device_requests.empty()) {
    if (count == 0 && c.ask.gpu_memory == 0 && c.ask.claimed_gpus == 0) return check_sharing(c);
    return error{status::argument,
                 "device_requests say which devices it wants: device_count, gpu_memory and claimed_gpus are not for it",
                 {}};
  }
  const auto bad = [&](std::string_view expected) {
    return error{status::argument,
                 "request gpu is " + std::to_string(gpu) + " milli-GPU with device_count " + std::to_string(count) +
                     ": expected " + std::string(expected),
                 {}};
  };
  if (c.ask.claimed_gpus != 0) {
    c.claimed_devices = c.ask.claimed_gpus;
    if (c.claimed_devices * whole_device > gpu) {
      return error{status::argument,
                   "request gpu is " + std::to_string(gpu) + " milli-GPU with claimed_gpus " +
                       std::to_string(c.claimed_devices) + ": a request has the GPUs of the claims in it",
                   {}};
    }
    gpu -= c.claimed_devices * whole_device;
  }
  if (c.ask.gpu_memory != 0) {
    if (gpu != 0) {
      return error{status::argument,
                   "gpu_memory is " + std::to_string(c.ask.gpu_memory) + " and request gpu is " + std::to_string(gpu) +
                       ": a pod asks for memory of devices or for devices, not for both",
                   {}};
    }
    c.memory_devices = std::max<std::int64_t>(1, count);
    return {};
  }
  if (gpu == 0) {
    if (count != 0) return bad("device_count 0 where no gpu is asked for");
    return check_sharing(c);
  }
  if (count == 0 && gpu > whole_device && gpu % whole_device != 0) {
    return bad("whole devices (a multiple of 1000), a part of one device, or a device_count");
  }
  const std::int64_t devices = count != 0 ? count : gpu >= whole_device ? gpu / whole_device : 1;
  if (gpu % devices != 0) return bad("a request that divides into equal shares");
  c.device_share = gpu / devices;
  if (c.device_share > whole_device) return bad("at most 1000 milli-GPU of each device");
  (c.device_share == whole_device ? c.whole_devices : c.shared_devices) = devices;
  return check_sharing(c);
}

result<void> check_claims(std::string_view list) {
  std::vector<std::string_view> names = split_list(list);
  std::sort(names.begin(), names.end());
  if (!names.empty() && names.front().empty()) return error{status::argument, "a name must not be empty", {}};
  const auto twice = std::adjacent_find(names.begin(), names.end());
  if (twice == names.end()) return {};
  return error{status::argument, "'" + base::shown(*twice) + "' is named twice", {}};
}

/// `name=amount,name=amount`, with `init:` or `sidecar:` in front of init containers.
result<container_ask> parse_container(std::string_view text) {
  container_ask parsed;
  std::string_view rest = text;
  for (const auto& [word, kind] : {std::pair{std::string_view("init:"), container_kind::init},
                                   std::pair{std::string_view("sidecar:"), container_kind::sidecar}}) {
    if (!rest.starts_with(word)) continue;
    parsed.kind = kind;
    rest.remove_prefix(word.size());
    break;
  }
  while (!rest.empty()) {
    const std::string_view one = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), one.size() + 1));
    const std::size_t equals = one.rfind('=');
    const std::string_view name = one.substr(0, equals);
    const std::string_view number = equals == std::string_view::npos ? std::string_view{} : one.substr(equals + 1);
    std::int64_t amount = 0;
    const auto [end, failure] = std::from_chars(number.data(), number.data() + number.size(), amount);
    const bool good = !name.empty() && failure == std::errc{} && end == number.data() + number.size() && amount >= 0 &&
                      amount <= max_amount;
    if (!good) {
      return error{status::argument,
                   "'" + base::shown(text) + "': expected amounts such as cpu=2000,memory=1000000, 0 .. 2^52",
                   {}};
    }
    parsed.request.emplace_back(name, amount);
  }
  return parsed;
}

}  // namespace

std::string_view qos_name(qos_class q) noexcept {
  static constexpr std::array<std::string_view, 4> names{"", "Guaranteed", "Burstable", "BestEffort"};
  return names[static_cast<std::size_t>(q)];
}

std::string pod_ask::key() const {
  std::string key;
  key.reserve(64);
  std::size_t used = request.size();
  while (used > 0 && request[used - 1] == 0) --used;
  for (std::size_t d = 0; d < used; ++d) {
    key.append(std::to_string(request[d]));
    key += ',';
  }
  key += '|';
  key.append(std::to_string(device_count));
  key += '|';
  if (gpu_memory != 0) key.append(std::to_string(gpu_memory));
  key += '|';
  key.append(qos_name(qos));
  key += '|';
  key.append(sharing_name(sharing));
  key += '|';
  if (node_selector.empty() && node_affinity.empty() && tolerations.empty() && affinity.empty() &&
      anti_affinity.empty() && host_ports.empty() && obstacle.empty() && claims.empty() && containers.empty() &&
      claimed_gpus == 0 && device_requests.empty() && annotations.empty() && node_preferences.empty() &&
      spread.empty() && preferences.empty() && load.empty()) {
    return key;
  }
  for (const std::string* text : {&node_selector, &node_affinity, &tolerations, &affinity, &anti_affinity, &host_ports,
                                  &obstacle, &claims, &node_preferences, &spread, &preferences, &load}) {
    append_text(key, *text);
  }
  const bool asks_vendors = !device_requests.empty() || !annotations.empty();
  if (!containers.empty() || claimed_gpus != 0 || asks_vendors) append_text(key, containers);
  if (claimed_gpus != 0 || asks_vendors) key += std::to_string(claimed_gpus);
  if (!asks_vendors) return key;
  append_text(key, device_requests);
  append_text(key, annotations);
  return key;
}

bool pod_class::matches_labels(const label_list& labels) const {
  for (const auto& [key, value] : node_selector) {
    const std::string* has = find_label(labels, key);
    if (has == nullptr || *has != value) return false;
  }
  // A term without requirements matches nothing, as in Kubernetes.
  return node_affinity.empty() || std::any_of(node_affinity.begin(), node_affinity.end(), [&](const selector& term) {
           return !term.requirements.empty() && term.matches(labels);
         });
}

namespace {

std::tuple<std::string_view, bool, std::string_view, taint_effect> place_of(const toleration& one) {
  return {one.key, one.any_value, one.any_value ? std::string_view{} : one.value, one.effect};
}

void put_in_order(std::vector<toleration>& tolerations) {
  std::sort(tolerations.begin(), tolerations.end(),
            [](const toleration& a, const toleration& b) { return place_of(a) < place_of(b); });
  const auto last = std::unique(tolerations.begin(), tolerations.end(),
                                [](const toleration& a, const toleration& b) { return place_of(a) == place_of(b); });
  tolerations.erase(last, tolerations.end());
}

/// Of tolerations in order, so that many of them cost no more than few.
bool any_tolerates(const std::vector<toleration>& tolerations, const taint& t) {
  const auto with = [&](std::string_view key, bool any_value) {
    const std::string_view value = any_value ? std::string_view{} : t.value;
    auto at =
        std::lower_bound(tolerations.begin(), tolerations.end(), std::tuple(key, any_value, value, taint_effect::any),
                         [](const toleration& a, const auto& b) { return place_of(a) < b; });
    for (; at != tolerations.end() && at->key == key && at->any_value == any_value; ++at) {
      if (!any_value && at->value != value) return false;
      if (at->tolerates(t)) return true;
    }
    return false;
  };
  return with({}, true) || with({}, false) || with(t.key, true) || with(t.key, false);
}

}  // namespace

bool pod_class::tolerates(const std::vector<taint>& taints) const {
  return std::all_of(taints.begin(), taints.end(), [&](const taint& t) {
    return t.effect == taint_effect::prefer_no_schedule || any_tolerates(tolerations, t);
  });
}

std::int64_t pod_class::preference_for(const label_list& labels) const {
  std::int64_t sum = 0;
  for (const node_preference& one : node_preferences) {
    if (!one.nodes.requirements.empty() && one.nodes.matches(labels)) sum += one.weight;
  }
  return sum;
}

std::int64_t pod_class::soft_taints(const std::vector<taint>& taints) const {
  return std::count_if(taints.begin(), taints.end(), [&](const taint& t) {
    return t.effect == taint_effect::prefer_no_schedule && !any_tolerates(tolerations, t);
  });
}

std::optional<pod_class> make_pod_class(pod_ask ask, ask_fault& fault) {
  pod_class c;
  c.ask = std::move(ask);
  const auto sound = [&](std::uint32_t column, result<void> done) {
    if (!done) fault = {column, done.take_failure()};
    return done.ok();
  };
  const auto parsed = [&](std::uint32_t column, std::string_view list, auto parse, auto& to) {
    return sound(column, parse_each(list, parse, to));
  };
  result<label_list> labels = parse_labels(c.ask.node_selector);
  const bool all =
      sound(col::pod_request, set_devices(c)) && sound(col::pod_claims, check_claims(c.ask.claims)) &&
      sound(col::pod_node_selector, labels ? result<void>{} : result<void>{labels.failure()}) &&
      parsed(col::pod_node_affinity, c.ask.node_affinity, parse_selector, c.node_affinity) &&
      parsed(col::pod_tolerations, c.ask.tolerations, parse_toleration, c.tolerations) &&
      parsed(col::pod_affinity, c.ask.affinity, parse_affinity_term, c.affinity) &&
      parsed(col::pod_anti_affinity, c.ask.anti_affinity, parse_affinity_term, c.anti_affinity) &&
      parsed(col::pod_host_ports, c.ask.host_ports, parse_host_port, c.host_ports) &&
      parsed(col::pod_containers, c.ask.containers, parse_container, c.containers) &&
      parsed(col::pod_node_preferences, c.ask.node_preferences, parse_node_preference, c.node_preferences) &&
      parsed(col::pod_spread, c.ask.spread, parse_spread_constraint, c.spread) &&
      parsed(col::pod_preferences, c.ask.preferences, parse_pod_preference, c.preferences);
  if (!all) return std::nullopt;
  result<std::vector<vendor_request>> requests = parse_vendor_requests(c.ask.device_requests);
  result<std::vector<std::pair<std::string, std::string>>> annotations = parse_annotations(c.ask.annotations);
  result<std::vector<named_amount>> load = parse_amounts(c.ask.load, whole_device);
  if (!sound(col::pod_device_requests, requests ? result<void>{} : result<void>{requests.failure()}) ||
      !sound(col::pod_annotations, annotations ? result<void>{} : result<void>{annotations.failure()}) ||
      !sound(col::pod_load, load ? result<void>{} : result<void>{load.failure()})) {
    return std::nullopt;
  }
  c.device_requests = std::move(*requests);
  c.annotations = std::move(*annotations);
  c.load = std::move(*load);
  c.node_selector = std::move(*labels);
  put_in_order(c.tolerations);
  return c;
}

}  // namespace kaisched::model
