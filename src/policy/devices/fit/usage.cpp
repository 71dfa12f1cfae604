#include "policy/devices/fit/usage.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "policy/devices/partition/mig.hpp"

namespace kaisched::devices {

namespace {

constexpr std::int64_t most_slots = 2147483647;  // what HAMi can count

bool take_instance(device& of, grant& taken) {
  const std::optional<profile_choice> chosen = smallest_profile(of.profiles, occupied_slices(of), taken.memory);
  if (!chosen) return false;
  taken.memory = chosen->profile->memory;
  taken.cores = chosen->profile->cores;
  taken.instance = slice_instance{chosen->profile->name, chosen->placement};
  of.instances.push_back(*taken.instance);
  return true;
}

}  // namespace

void take_over_class(const vendor_template& vendor, const wishes& wanted, device& of, const grant& taken) {
  const bool of_first_class = vendor.tenants && wanted.tenant_class == vendor.tenants->first;
  if (!vendor.service || of_first_class) return;
  if (text_attribute(of.attributes, vendor.service->attribute) == nullptr) return;
  set_attribute(of.attributes, vendor.service->attribute, taken.cores == 100 ? std::string() : wanted.service_class);
}

bool add_usage(const vendor_template& vendor, const wishes& wanted, device& of, grant& taken) {
  if (vendor.repeat_divided && of.mode == "mig" && !take_instance(of, taken)) return false;
  of.used_slots = std::min(of.used_slots + taken.slots, most_slots);
  if (vendor.usage == usage_rule::slots_only) return true;
  of.used_cores += taken.cores;
  of.used_memory += taken.memory;
  if (vendor.usage == usage_rule::bits) {
    const std::int64_t before = integer_attribute(of.attributes, vendor.usage_attribute).value_or(0);
    const std::int64_t more = integer_attribute(taken.attributes, vendor.usage_attribute).value_or(0);
    set_attribute(of.attributes, vendor.usage_attribute, before + more);
  }
  take_over_class(vendor, wanted, of, taken);
  return true;
}

}  // namespace kaisched::devices
