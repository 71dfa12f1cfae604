#include "model/vendor_devices.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <functional>
#include <optional>
#include <span>

#include <kaisched/quantity.hpp>
#include <kaisched/table.hpp>

#include "base/nearest.hpp"
#include "base/text.hpp"

namespace kaisched::model {

namespace {

constexpr std::int64_t most_containers = 4096;
constexpr std::int64_t most_devices = 65536;
constexpr std::int64_t most_index = 1'000'000;
constexpr std::int64_t most_permille = 1000;
constexpr std::int64_t most_scale = 100'000;  ///< a hundred times what there is
constexpr std::int64_t most_weight = 1'000'000;
constexpr std::size_t most_profiles = 64;

error bad(std::string_view text, const std::string& what) {
  return {status::argument, "'" + base::shown(text) + "': " + what, {}};
}

std::optional<std::int64_t> integer_of(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// One field that may be given: a number within bounds, a flag, or a text.
struct field {
  std::string_view name;
  std::int64_t* number = nullptr;
  std::int64_t least = 0;
  std::int64_t most = max_amount;
  bool* flag = nullptr;
  std::string* text = nullptr;
  bool bytes = false;  ///< may end with Ki, Mi, Gi or Ti
};

/// Bytes, with a unit or without.
std::optional<std::int64_t> bytes_of(std::string_view text) {
  std::int64_t unit = 1;
  constexpr std::array<std::string_view, 4> units{"Ki", "Mi", "Gi", "Ti"};
  for (std::size_t i = 0; i < units.size(); ++i) {
    if (!text.ends_with(units[i])) continue;
    unit = std::int64_t{1} << (10 * (i + 1));
    text.remove_suffix(units[i].size());
    break;
  }
  const std::optional<std::int64_t> count = integer_of(text);
  if (!count || *count > max_amount / unit || *count < 0) return std::nullopt;
  return *count * unit;
}

result<void> set(const field& to, std::string_view all, std::string_view value) {
  const std::string name(to.name);
  if (to.text != nullptr) {
    if (value.empty()) return bad(all, name + " must not be empty");
    *to.text = value;
    return {};
  }
  const std::optional<std::int64_t> number = to.bytes ? bytes_of(value) : integer_of(value);
  const std::int64_t least = to.flag != nullptr ? 0 : to.least;
  const std::int64_t most = to.flag != nullptr ? 1 : to.most;
  if (!number || *number < least || *number > most) {
    return bad(all, name + " is not an integer from " + std::to_string(least) + " to " + std::to_string(most) +
                        (to.bytes ? ", with Ki, Mi, Gi, Ti or without" : ""));
  }
  if (to.flag != nullptr) {
    *to.flag = *number != 0;
  } else {
    *to.number = *number;
  }
  return {};
}

using other_field = std::function<result<bool>(std::string_view name, std::string_view value)>;

/// Reads `name=value,name=value`; `other` is asked about names that are not in the list.
result<void> read_fields(std::string_view text, std::span<const field> fields, const other_field& other = {}) {
  std::vector<std::string_view> seen;
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t comma = rest.find(',');
    const std::string_view one = rest.substr(0, comma);
    rest = comma == std::string_view::npos ? std::string_view{} : rest.substr(comma + 1);
    const std::size_t equals = one.find('=');
    if (equals == std::string_view::npos || equals == 0)
      return bad(text, "'" + base::shown(one) + "' is not field=value");
    const std::string_view name = one.substr(0, equals);
    const std::string_view value = one.substr(equals + 1);
    if (std::find(seen.begin(), seen.end(), name) != seen.end())
      return bad(text, base::shown(name) + " is given twice");
    seen.push_back(name);
    const auto known = std::find_if(fields.begin(), fields.end(), [&](const field& f) { return f.name == name; });
    if (known != fields.end()) {
      if (auto done = set(*known, text, value); !done) return done;
      continue;
    }
    if (other) {
      const result<bool> taken = other(name, value);
      if (!taken) return taken.failure();
      if (*taken) continue;
    }
    std::vector<std::string_view> names;
    for (const field& f : fields) names.push_back(f.name);
    const std::string_view nearest = base::nearest_name(name, names);
    std::string what = "there is no field '" + base::shown(name) + "'";
    if (!nearest.empty()) what += "; did you mean '" + std::string(nearest) + "'?";
    return bad(text, what);
  }
  return {};
}

/// `name/slices/memory`, with `:` between profiles.
bool read_profiles(std::string_view value, std::vector<vendor_profile>& to) {
  for (bool more = true; more;) {
    const std::size_t colon = value.find(':');
    const std::string_view one = value.substr(0, colon);
    const std::size_t first = one.find('/');
    const std::size_t second = first == std::string_view::npos ? first : one.find('/', first + 1);
    if (second == std::string_view::npos || first == 0 || to.size() == most_profiles) return false;
    const std::optional<std::int64_t> slices = integer_of(one.substr(first + 1, second - first - 1));
    const std::optional<std::int64_t> memory = bytes_of(one.substr(second + 1));
    if (!slices || *slices < 1 || *slices > most_index || !memory || *memory < 1) return false;
    to.push_back({std::string(one.substr(0, first)), *slices, *memory});
    more = colon != std::string_view::npos;
    if (more) value.remove_prefix(colon + 1);
  }
  return true;
}

result<vendor_request> parse_vendor_request(std::string_view text) {
  vendor_request made;
  const field fields[] = {
      {.name = "container", .number = &made.container, .most = most_containers - 1},
      {.name = "init", .flag = &made.init},
      {.name = "vendor", .text = &made.vendor},
      {.name = "count", .number = &made.count, .least = 1, .most = most_devices},
      {.name = "memory", .number = &made.memory, .bytes = true},
      {.name = "memory_permille", .number = &made.memory_permille, .most = most_permille},
      {.name = "cores", .number = &made.cores},
      {.name = "slices", .number = &made.slices, .most = most_index},
      {.name = "amount", .number = &made.amount},
  };
  if (auto done = read_fields(text, fields); !done) return done.failure();
  if (made.vendor.empty()) return bad(text, "vendor is missing");
  return made;
}

}  // namespace

result<vendor_device> parse_vendor_device(std::string_view text) {
  vendor_device made;
  const field fields[] = {
      {.name = "id", .text = &made.id},
      {.name = "type", .text = &made.type},
      {.name = "mode", .text = &made.mode},
      {.name = "index", .number = &made.index, .most = most_index},
      {.name = "numa", .number = &made.numa, .most = most_index},
      {.name = "slots", .number = &made.slots, .most = most_index},
      {.name = "memory", .number = &made.memory, .bytes = true},
      {.name = "cores", .number = &made.cores},
      {.name = "healthy", .flag = &made.healthy},
      {.name = "cordoned", .flag = &made.cordoned},
  };
  const auto other = [&](std::string_view name, std::string_view value) -> result<bool> {
    if (name.starts_with("attribute.") && name.size() > 10) {
      made.attributes.emplace_back(name.substr(10), value);
      return true;
    }
    if (name == "profiles") {
      if (read_profiles(value, made.profiles)) return true;
      return bad(text, "profiles are at most " + std::to_string(most_profiles) +
                           " of name/slices/memory with ':' between them, slices and memory at least 1");
    }
    if (name != "links") return false;
    for (std::string_view rest = value; !rest.empty();) {
      const std::size_t colon = rest.find(':');
      const std::optional<std::int64_t> score = integer_of(rest.substr(0, colon));
      if (!score || *score < 0 || *score > most_index) {
        return bad(text, "links are integers from 0 to " + std::to_string(most_index) + " with ':' between them");
      }
      made.links.push_back(*score);
      rest = colon == std::string_view::npos ? std::string_view{} : rest.substr(colon + 1);
    }
    return true;
  };
  if (auto done = read_fields(text, fields, other); !done) return done.failure();
  if (made.id.empty()) return bad(text, "id is missing");
  if (made.type.empty()) return bad(text, "type is missing");
  std::sort(made.attributes.begin(), made.attributes.end());
  return made;
}

result<vendor_grant> parse_vendor_grant(std::string_view text) {
  vendor_grant made;
  const field fields[] = {
      {.name = "container", .number = &made.container, .most = most_containers - 1},
      {.name = "init", .flag = &made.init},
      {.name = "device", .text = &made.device},
      {.name = "memory", .number = &made.memory, .bytes = true},
      {.name = "cores", .number = &made.cores},
      {.name = "slots", .number = &made.slots, .most = most_index},
      {.name = "profile", .text = &made.profile},
      {.name = "start", .number = &made.start, .most = most_index},
      {.name = "size", .number = &made.size, .most = most_index},
  };
  if (auto done = read_fields(text, fields); !done) return done.failure();
  if (made.device.empty()) return bad(text, "device is missing");
  return made;
}

std::string text_of(const vendor_grant& grant) {
  std::string text = "container=" + std::to_string(grant.container);
  if (grant.init) text += ",init=1";
  text += ",device=" + grant.device + ",memory=" + std::to_string(grant.memory) +
          ",cores=" + std::to_string(grant.cores) + ",slots=" + std::to_string(grant.slots);
  if (grant.profile.empty()) return text;
  return text + ",profile=" + grant.profile + ",start=" + std::to_string(grant.start) +
         ",size=" + std::to_string(grant.size);
}

result<vendor_settings> parse_vendor_settings(std::string_view list) {
  vendor_settings made;
  std::string joined;  // names do not hold commas, so that the list reads as one row
  for (const std::string_view text : split_list(list)) {
    if (text.find(',') != std::string_view::npos) return bad(text, "is not setting=value");
    joined.append(joined.empty() ? "" : ",").append(text);
  }
  std::string node_policy;
  std::string device_policy;
  std::string mode;
  std::int64_t slots = -1;
  std::int64_t memory = -1;
  std::int64_t cores = -1;
  bool soft = false;
  const bool has_soft = joined.find("soft_division=") != std::string::npos;
  const field fields[] = {
      {.name = "node_policy", .text = &node_policy},
      {.name = "device_policy", .text = &device_policy},
      {.name = "mode", .text = &mode},
      {.name = "slots", .number = &slots, .least = 1, .most = most_index},
      {.name = "memory_permille", .number = &memory, .least = 1, .most = most_scale},
      {.name = "core_permille", .number = &cores, .least = 1, .most = most_scale},
      {.name = "soft_division", .flag = &soft},
  };
  const auto other = [&](std::string_view name, std::string_view value) -> result<bool> {
    if (name != "weights") return false;
    std::array<std::int64_t, 3> weights{};
    std::size_t count = 0;
    for (bool more = true; more; ++count) {
      const std::size_t colon = value.find(':');
      const std::optional<std::int64_t> one = integer_of(value.substr(0, colon));
      if (count == weights.size() || !one || *one < 0 || *one > most_weight) {
        return bad(joined, "weights are three integers from 0 to " + std::to_string(most_weight) +
                               " with ':' between them: of slots, cores and memory");
      }
      weights[count] = *one;
      more = colon != std::string_view::npos;
      if (more) value.remove_prefix(colon + 1);
    }
    if (count != weights.size() || weights == std::array<std::int64_t, 3>{}) {
      return bad(joined, "weights are three integers, and not all 0");
    }
    made.weights = weights;
    return true;
  };
  if (auto done = read_fields(joined, fields, other); !done) return done.failure();
  if (!node_policy.empty() && node_policy != "binpack" && node_policy != "spread") {
    return bad(joined, "node_policy is binpack or spread");
  }
  if (!node_policy.empty()) made.node_policy = node_policy;
  if (!device_policy.empty()) made.device_policy = device_policy;
  if (!mode.empty()) made.mode = mode;
  if (slots >= 0) made.slots = slots;
  if (memory >= 0) made.memory_permille = memory;
  if (cores >= 0) made.core_permille = cores;
  if (has_soft) made.soft_division = soft;
  return made;
}

result<std::vector<vendor_request>> parse_vendor_requests(std::string_view list) {
  std::vector<vendor_request> made;
  for (const std::string_view text : split_list(list)) {
    result<vendor_request> one = parse_vendor_request(text);
    if (!one) return one.failure();
    for (const vendor_request& other : made) {
      if (other.container != one->container) continue;
      if (other.vendor == one->vendor) return bad(text, "its container asks this vendor twice");
      if (other.init != one->init) return bad(text, "its container runs before the others in another row");
    }
    made.push_back(std::move(*one));
  }
  std::stable_sort(made.begin(), made.end(),
                   [](const vendor_request& a, const vendor_request& b) { return a.container < b.container; });
  const auto first = std::find_if(made.begin(), made.end(), [](const vendor_request& one) { return !one.init; });
  const auto late = std::find_if(first, made.end(), [](const vendor_request& one) { return one.init; });
  if (late != made.end()) {
    return bad("container=" + std::to_string(late->container), "containers that run before the others come first");
  }
  return made;
}

result<std::vector<std::pair<std::string, std::string>>> parse_annotations(std::string_view list) {
  std::vector<std::pair<std::string, std::string>> made;
  for (const std::string_view text : split_list(list)) {
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos || equals == 0) return bad(text, "is not key=value");
    const std::string_view key = text.substr(0, equals);
    if (std::any_of(made.begin(), made.end(), [&](const auto& one) { return one.first == key; })) {
      return bad(text, "the key is given twice");
    }
    made.emplace_back(key, text.substr(equals + 1));
  }
  std::sort(made.begin(), made.end());
  return made;
}

}  // namespace kaisched::model
