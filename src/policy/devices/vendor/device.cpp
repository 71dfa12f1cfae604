#include "policy/devices/vendor/device.hpp"

#include <algorithm>

namespace kaisched::devices {

const attribute* find_attribute(const attributes& among, std::string_view name) {
  const auto found = std::find_if(among.begin(), among.end(), [&](const attribute& a) { return a.name == name; });
  return found == among.end() ? nullptr : &*found;
}

std::optional<std::int64_t> integer_attribute(const attributes& among, std::string_view name) {
  const attribute* found = find_attribute(among, name);
  const std::int64_t* value = found == nullptr ? nullptr : std::get_if<std::int64_t>(&found->value);
  return value == nullptr ? std::nullopt : std::optional(*value);
}

const std::string* text_attribute(const attributes& among, std::string_view name) {
  const attribute* found = find_attribute(among, name);
  return found == nullptr ? nullptr : std::get_if<std::string>(&found->value);
}

void set_attribute(attributes& among, std::string_view name, std::variant<std::int64_t, std::string> value) {
  const auto found = std::find_if(among.begin(), among.end(), [&](const attribute& a) { return a.name == name; });
  if (found == among.end()) {
    among.push_back({std::string(name), std::move(value)});
  } else {
    found->value = std::move(value);
  }
}

const vendor_grants* find_grants(const pod_grants& among, std::string_view key) {
  const auto found = std::find_if(among.begin(), among.end(), [&](const auto& one) { return one.first == key; });
  return found == among.end() ? nullptr : &found->second;
}

vendor_grants& grants_of(pod_grants& among, std::string_view key) {
  auto found = std::lower_bound(among.begin(), among.end(), key,
                                [](const auto& one, std::string_view wanted) { return one.first < wanted; });
  if (found == among.end() || found->first != key) found = among.insert(found, {std::string(key), {}});
  return found->second;
}

const std::string* pod::annotation(std::string_view key) const {
  const auto found =
      std::find_if(annotations.begin(), annotations.end(), [&](const auto& a) { return a.first == key; });
  return found == annotations.end() ? nullptr : &found->second;
}

}  // namespace kaisched::devices
