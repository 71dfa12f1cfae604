#include "policy/devices/allocation/node_score.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <variant>

#include "policy/devices/fit/sets.hpp"
#include "policy/devices/vendor/words.hpp"

namespace kaisched::devices {

namespace {

constexpr std::int64_t island_size = 4;
constexpr float neutral_weight = 10000.0F;
constexpr std::int64_t zone_link = 10;  // what a pair in one zone counts

/// Per container, the largest part of its devices in one group; nothing at all if a device is in none.
float largest_group_score(const score_question& question) {
  const score_rule& rule = question.vendor.score;
  float sum = 0;
  for (const auto& container : question.granted) {
    std::map<std::variant<std::int64_t, std::string>, int> groups;
    int all = 0;
    for (const granted_device& one : container) {
      if (rule.only_if) {
        const std::string* kind = text_attribute(one.taken->attributes, rule.only_if->attribute);
        if (kind != nullptr && *kind != rule.only_if->value) return 0;
      }
      const attribute* group = find_attribute(one.taken->attributes, rule.attribute);
      if (group == nullptr) return 0;
      ++groups[group->value];
      ++all;
    }
    int largest = 0;
    for (const auto& [name, size] : groups) largest = std::max(largest, size);
    if (all > 0) sum += static_cast<float>(largest) / static_cast<float>(all);
  }
  return sum * static_cast<float>(rule.weight);
}

float island_score(const score_question& question) {
  std::vector<std::int64_t> taken;
  std::vector<std::int64_t> more;
  const auto add = [](std::vector<std::int64_t>& to, std::int64_t index) {
    if (std::find(to.begin(), to.end(), index) == to.end()) to.push_back(index);
  };
  for (const device& of : question.where.devices) {
    if (of.type.find(question.vendor.key) == std::string::npos) return 0;
    if (of.used_slots > 0) add(taken, of.index);
  }
  for (const auto& container : question.granted) {
    for (const granted_device& one : container) {
      if (one.taken->type.find(question.vendor.key) == std::string::npos) return 0;
      add(more, one.taken->index);
    }
  }
  return island_gap_score(taken, more, island_size);
}

float table_score(const score_question& question) {
  const score_rule& rule = question.vendor.score;
  const bool pack = question.policy == "binpack";
  if (!pack && question.policy != "spread") return 0;
  std::int64_t devices = 0;
  for (const auto& container : question.granted) devices += static_cast<std::int64_t>(container.size());
  for (const size_table& table : question.where.tables) {
    if (table.name != (pack ? rule.pack_table : rule.spread_table)) continue;
    // Nodes with the larger score are chosen by binpack, those with the smaller one by spread.
    for (const auto& [size, value] : table.values) {
      if (size == devices) return static_cast<float>(rule.weight) - static_cast<float>(value);
    }
    return static_cast<float>(rule.weight);
  }
  return 0;
}

std::int64_t zone_links(const std::vector<std::pair<std::string, std::int64_t>>& devices) {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    for (std::size_t j = i + 1; j < devices.size(); ++j) {
      const bool same = devices[i].second == devices[j].second && devices[i].second != 0;
      if (same && devices[i].first != devices[j].first) sum += zone_link;
    }
  }
  return sum;
}

/// What the zones of the taken devices are worth, less what taking them loses of the zones that were idle.
float zone_score(const score_question& question) {
  const std::string& name = question.vendor.score.attribute;
  std::vector<std::pair<std::string, std::int64_t>> idle;
  std::vector<std::pair<std::string, std::int64_t>> taken;
  std::vector<std::pair<std::string, std::int64_t>> rest;
  std::set<std::string> taken_ids;
  for (const auto& container : question.granted) {
    for (const granted_device& one : container) {
      if (one.taken->cores != 100) continue;
      taken.emplace_back(one.taken->id, integer_attribute(one.taken->attributes, name).value_or(0));
      taken_ids.insert(one.taken->id);
    }
  }
  for (const device& of : question.where.devices) {
    if (of.used_slots != 0) continue;
    idle.emplace_back(of.id, integer_attribute(of.attributes, name).value_or(0));
    if (taken_ids.count(of.id) == 0) rest.push_back(idle.back());
  }
  const std::int64_t worth = zone_links(taken);
  return static_cast<float>(10 * worth - (zone_links(idle) - worth - zone_links(rest)));
}

float tenant_score(const score_question& question, const tenant_classes& classes) {
  std::set<std::string> ids;
  for (const auto& container : question.granted) {
    for (const granted_device& one : container) ids.insert(one.taken->id);
  }
  std::int64_t sum = 0;
  for (const device& of : question.where.devices) {
    if (ids.count(of.id) == 0) continue;
    const std::int64_t first = tenants_of(of, classes.first);
    const std::int64_t second = tenants_of(of, classes.second);
    sum += first == 0 ? -100 * second : -20 * first - 2 * second;
  }
  return static_cast<float>(sum);
}

float tenants_and_zones_score(const score_question& question) {
  const std::optional<tenant_classes>& classes = question.vendor.tenants;
  const bool granted = std::any_of(question.granted.begin(), question.granted.end(),
                                   [](const auto& container) { return !container.empty(); });
  if (granted && classes) {
    const std::string* const named = question.asking.annotation(classes->annotation);
    if (named != nullptr && *named == classes->first) return tenant_score(question, *classes);
  }
  return zones_count(question) ? zone_score(question) : 0;
}

}  // namespace

bool zones_count(const score_question& question) {
  for (const auto& container : question.granted) {
    for (const granted_device& one : container) {
      if (one.taken->cores != 100) continue;
      const std::string* wish = question.asking.annotation(question.vendor.score.wish);
      if (wish != nullptr && is_true(*wish)) return true;
      if (wish != nullptr && is_false(*wish)) return false;
      return question.vendor.score.on;
    }
  }
  return false;
}

float use_score(std::span<const device> devices) {
  device sum;
  for (const device& of : devices) {
    sum.used_slots += of.used_slots;
    sum.used_cores += of.used_cores;
    sum.used_memory += of.used_memory;
    sum.slots += of.slots;
    sum.cores += of.cores;
    sum.memory += of.memory;
  }
  if (sum.slots == 0 || sum.cores == 0 || sum.memory == 0) return 0;
  const auto part = [](std::int64_t used, std::int64_t all) {
    return static_cast<float>(used) / static_cast<float>(all);
  };
  return 10.0F * (part(sum.used_slots, sum.slots) + part(sum.used_cores, sum.cores) +
                  part(sum.used_memory / mebibyte, sum.memory / mebibyte));
}

float plain_vendor_score(const score_question& question) {
  switch (question.vendor.score.kind) {
    case score_kind::none:
      return 0;
    case score_kind::largest_group:
      return largest_group_score(question);
    case score_kind::island_gaps:
      return island_score(question);
    case score_kind::size_table:
      return table_score(question);
    case score_kind::tenants_and_zones:
      return tenants_and_zones_score(question);
  }
  return 0;
}

float vendor_score(const score_question& question) {
  const float score = plain_vendor_score(question);
  if (question.vendor.score.kind != score_kind::tenants_and_zones) return score;
  return (question.policy == "spread" ? -neutral_weight : neutral_weight) * score;
}

int island_gaps(std::span<const std::int64_t> taken, std::int64_t size) {
  std::int64_t left = 0;
  for (const std::int64_t index : taken) left += index < size ? 1 : 0;
  const std::int64_t right = static_cast<std::int64_t>(taken.size()) - left;
  if (left == 0 && right == 0) return 1;
  const auto gaps = [&](std::int64_t used) { return used == size ? 0 : used == 1 ? 2 : 1; };
  return gaps(left) + gaps(right);
}

float island_gap_score(std::span<const std::int64_t> taken, std::span<const std::int64_t> more, std::int64_t size) {
  switch (island_gaps(more, size) - island_gaps(taken, size)) {
    case -1:
      return 3000;
    case 0:
      return 2000;
    case 2:
      return 0;
    default:
      return 1000;
  }
}

}  // namespace kaisched::devices
