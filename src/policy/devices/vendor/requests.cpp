#include "policy/devices/vendor/requests.hpp"

#include <algorithm>

namespace kaisched::devices {

namespace {

constexpr std::int64_t most = 2147483647;  // in 32 bits, as HAMi counts

const quantity* find_in(const quantities& among, std::string_view name) {
  const auto found = std::find_if(among.begin(), among.end(), [&](const auto& one) { return one.first == name; });
  return found == among.end() ? nullptr : &found->second;
}

/// Bytes; nothing if the whole request is refused. 0: none is stated.
std::optional<std::int64_t> stated_memory(const request_rules& rules, const quantity* stated) {
  if (stated == nullptr) return 0;
  if (stated->negative && rules.negative_memory_refused) return std::nullopt;
  if (!stated->integer)
    return rules.memory_fraction == bad_number::refuse ? std::nullopt : std::optional<std::int64_t>(0);
  if (rules.suffixes_are_bytes && stated->suffix) {
    const std::int64_t mebibytes = stated->value / mebibyte;
    return mebibytes < 0 || mebibytes > most ? std::nullopt : std::optional(mebibytes * mebibyte);
  }
  if (!rules.memory_steps.empty()) return round_up_to_step(rules.memory_steps, stated->value * rules.memory_unit);
  const std::int64_t unit = std::max<std::int64_t>(rules.memory_unit / mebibyte, 1);
  if (stated->value < 0 || stated->value > most / unit) return std::nullopt;
  return stated->value * rules.memory_unit;
}

std::optional<std::int64_t> stated_cores(const request_rules& rules, const quantity* stated) {
  if (stated == nullptr) return rules.default_cores;
  if (!stated->integer && !rules.cores_rounded_up) {
    return rules.core_fraction == bad_number::refuse ? std::nullopt : std::optional(rules.default_cores);
  }
  if (rules.core_range && (stated->value < rules.core_range->first || stated->value > rules.core_range->second)) {
    return std::nullopt;
  }
  return stated->value;
}

/// A share, if one is written: per mille, at most all, nothing for none.
std::optional<std::int64_t> stated_share(const quantity* stated) {
  if (stated == nullptr || !stated->integer || stated->value <= 0) return std::nullopt;
  return std::min<std::int64_t>(stated->value, 100) * 10;
}

/// One device, of which a number of slices, or the memory and cores, are asked.
std::optional<request> slice_request(const vendor_template& vendor, const container_resources& of) {
  request made;
  made.vendor = vendor.key;
  made.count = 1;
  const request_rules& rules = vendor.requests;
  const quantity* slices = find_quantity(of, vendor.count_name, rules.from);
  if (slices != nullptr && slices->integer && slices->value > 0) {
    if (slices->value > most) return std::nullopt;
    made.slices = slices->value;
    return made;
  }
  const quantity* memory = find_quantity(of, vendor.memory_name, rules.from);
  const quantity* cores = find_quantity(of, vendor.core_name, rules.from);
  if (memory == nullptr && cores == nullptr) return std::nullopt;
  if ((memory != nullptr && memory->value > most) || (cores != nullptr && cores->value > most)) return std::nullopt;
  made.amount = memory == nullptr ? 0 : memory->value;
  made.cores = cores == nullptr ? 0 : cores->value;
  return made;
}

/// Devices by their number, or by cores alone.
std::optional<request> core_request(const vendor_template& vendor, const container_resources& of) {
  const request_rules& rules = vendor.requests;
  const auto is_sound = [](const quantity& asked, std::int64_t limit) {
    return asked.integer && asked.value > 0 && asked.value <= limit;
  };
  request made;
  made.vendor = vendor.key;
  if (const quantity* count = find_quantity(of, vendor.count_name, rules.from)) {
    if (!is_sound(*count, most)) return std::nullopt;
    made.count = count->value;
    made.cores = rules.default_cores;
    return made;
  }
  const quantity* cores = find_quantity(of, vendor.core_name, rules.from);
  if (cores == nullptr || !is_sound(*cores, most * 2)) return std::nullopt;
  const std::optional<core_split> split = split_cores(cores->value, rules.most_cores_per_device);
  if (!split) return std::nullopt;
  made.count = split->devices;
  made.cores = split->cores;
  return made;
}

/// What a request without memory asks, and what follows from the memory.
void add_defaults(const vendor_template& vendor, const quantity* share, request& made) {
  const request_rules& rules = vendor.requests;
  made.memory_permille = stated_share(share);
  if (made.memory == 0 && !made.memory_permille) {
    if (rules.default_memory != 0) {
      made.memory = rules.default_memory;
    } else {
      made.memory_permille = rules.default_permille;
    }
    if (rules.whole_by_amount) {
      made.memory = rules.memory_steps.back();
      made.memory_permille = rules.default_permille;
    }
  }
  if (rules.cores_of_memory && !rules.memory_steps.empty()) made.cores = made.memory * 100 / rules.memory_steps.back();
  if (rules.divided_by_count) {
    made.memory = made.memory / mebibyte / made.count * mebibyte;
    made.cores /= made.count;
  }
}

}  // namespace

const quantity* find_quantity(const container_resources& of, std::string_view name, columns from) {
  if (name.empty()) return nullptr;
  const quantity* found = find_in(of.limits, name);
  return found == nullptr && from == columns::limits_then_requests ? find_in(of.requests, name) : found;
}

std::int64_t round_up_to_step(const std::vector<std::int64_t>& steps, std::int64_t amount) {
  const auto found = std::lower_bound(steps.begin(), steps.end(), amount);
  return found == steps.end() ? steps.back() : *found;
}

std::optional<core_split> split_cores(std::int64_t cores, std::int64_t most_per_device) {
  if (cores <= most_per_device) return core_split{1, cores};
  if (cores % most_per_device != 0 || cores / most_per_device > most) return std::nullopt;
  return core_split{cores / most_per_device, most_per_device};
}

std::optional<request> make_request(const vendor_template& vendor, const container_resources& of) {
  const request_rules& rules = vendor.requests;
  if (rules.count_is_slices) return slice_request(vendor, of);
  if (rules.most_cores_per_device > 0) return core_request(vendor, of);
  const quantity* count = find_quantity(of, vendor.count_name, rules.from);
  if (count == nullptr || !count->integer) return std::nullopt;
  if (rules.positive_count && (count->value <= 0 || count->value > most)) return std::nullopt;
  request made;
  made.vendor = vendor.key;
  made.count = count->value;
  if (rules.fixed_amounts) {
    made.memory = rules.default_memory;
    made.memory_permille = rules.default_permille;
    made.cores = rules.default_cores;
    return made;
  }
  const std::optional<std::int64_t> memory = stated_memory(rules, find_quantity(of, vendor.memory_name, rules.from));
  const std::optional<std::int64_t> cores = stated_cores(rules, find_quantity(of, vendor.core_name, rules.from));
  if (!memory || !cores) return std::nullopt;
  made.memory = *memory;
  made.cores = *cores;
  add_defaults(vendor, find_quantity(of, vendor.memory_percent_name, rules.from), made);
  return made;
}

}  // namespace kaisched::devices
