#include "policy/devices/vendor/wishes.hpp"

#include <algorithm>

#include "policy/devices/fit/order.hpp"
#include "policy/devices/vendor/words.hpp"

namespace kaisched::devices {

namespace {

std::optional<std::vector<std::string>> list_of(const pod& asking, const std::string& key) {
  if (key.empty()) return std::nullopt;
  const std::string* text = asking.annotation(key);
  if (text == nullptr || trimmed(*text).empty()) return std::nullopt;
  std::vector<std::string> words;
  for (const std::string_view part : split(*text, ',')) words.emplace_back(trimmed(part));
  return words;
}

word_lists lists_of(const pod& asking, const list_keys& keys) {
  return {list_of(asking, keys.use), list_of(asking, keys.avoid)};
}

bool has_part(const std::vector<std::string>& words, std::string_view type) {
  return std::any_of(words.begin(), words.end(),
                     [&](const std::string& word) { return !word.empty() && contains_any_case(type, word); });
}

bool has_word(const std::vector<std::string>& words, std::string_view id) {
  return std::find(words.begin(), words.end(), id) != words.end();
}

}  // namespace

bool wishes::allows_type(std::string_view type) const {
  if (types.use && !has_part(*types.use, type)) return false;
  return !types.avoid || !has_part(*types.avoid, type);
}

bool wishes::allows_id(std::string_view id) const {
  return std::all_of(ids.begin(), ids.end(), [&](const word_lists& lists) {
    return (!lists.use || has_word(*lists.use, id)) && (!lists.avoid || !has_word(*lists.avoid, id));
  });
}

bool wishes::allows_mode(std::string_view mode) const { return !modes || modes->find(mode) != std::string::npos; }

wishes wishes_of(const vendor_template& vendor, const pod& asking, std::string_view device_policy) {
  wishes made;
  made.exclusive = policy_names(device_policy, "mutex");
  made.best_links = policy_names(device_policy, "topology-aware");
  if (asking.annotations.empty()) return made;
  made.types = lists_of(asking, vendor.types);
  for (const list_keys& keys : vendor.ids) made.ids.push_back(lists_of(asking, keys));
  const auto value = [&](const std::string& key) { return key.empty() ? nullptr : asking.annotation(key); };
  if (const std::string* modes = value(vendor.modes)) made.modes = *modes;
  if (const std::string* bind = value(vendor.bind_numa)) made.bind_numa = is_true(*bind);
  if (vendor.soft) {
    const std::string* soft = value(vendor.soft->annotation);
    made.soft = soft != nullptr && *soft == vendor.soft->value;
  }
  if (vendor.tenants) {
    const std::string* named = value(vendor.tenants->annotation);
    made.has_tenant_class = named != nullptr;
    if (named != nullptr) made.tenant_class = *named;
  }
  if (vendor.service) {
    if (const std::string* named = value(vendor.service->annotation)) made.service_class = *named;
  }
  return made;
}

}  // namespace kaisched::devices
