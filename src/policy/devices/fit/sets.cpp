#include "policy/devices/fit/sets.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <variant>

#include "policy/devices/links/links.hpp"

namespace kaisched::devices {

namespace {

using value = std::variant<std::int64_t, std::string>;

/// Candidates that an attribute counts for, all of them with it.
bool all_have(const fit_question& question, const std::string& name) {
  return std::all_of(question.candidates.begin(), question.candidates.end(), [&](std::size_t position) {
    return find_attribute(question.where.devices[position].attributes, name) != nullptr;
  });
}

bool first_is(const fit_question& question, const attribute_is& condition) {
  if (question.candidates.empty()) return false;
  const device& first = question.where.devices[question.candidates.front()];
  const std::string* text = text_attribute(first.attributes, condition.attribute);
  return text != nullptr && *text == condition.value;
}

bool applies(const fit_question& question, const set_rule& rule) {
  switch (rule.kind) {
    case set_kind::first:
      return false;
    case set_kind::best_links:
      return question.wanted.best_links;
    case set_kind::full_groups:
    case set_kind::runs:
      return question.asked.count > 1;
    case set_kind::largest_groups:
      return rule.if_first ? first_is(question, *rule.if_first) : all_have(question, rule.attribute);
    case set_kind::islands:
    case set_kind::zones:
      return true;
  }
  return false;
}

container_grants first_of(const container_grants& among, std::size_t count) {
  return {among.begin(), among.begin() + static_cast<std::ptrdiff_t>(std::min(count, among.size()))};
}

void choose_in_zones(const fit_question& question, const set_rule& rule, fit_answer& answer) {
  const auto count = static_cast<std::size_t>(std::max<std::int64_t>(question.asked.count, 0));
  const std::span<const device> devices = question.where.devices;
  if (answer.grants.size() < count) {
    if (!answer.grants.empty()) {
      answer.reasons.set(reason::allocated_cards_insufficient_request, static_cast<std::int64_t>(answer.grants.size()));
    }
    answer.grants.clear();
    return;
  }
  answer.fits = true;
  const bool choice = answer.grants.size() > count;
  const std::optional<tenant_classes>& classes = question.vendor.tenants;
  if (choice && classes && question.wanted.has_tenant_class) {
    if (question.wanted.tenant_class == classes->first) {
      answer.grants = from_calm_devices(answer.grants, *classes, count, devices);
    }
  } else if (choice && question.asked.cores == 100) {
    answer.grants = from_zones(answer.grants, rule, count, devices);
  }
  answer.grants = first_of(answer.grants, count);
}

bool are_linked(const set_rule& rule, std::int64_t a, std::int64_t b) {
  const auto has_both = [&](const std::vector<std::int64_t>& set) {
    return std::find(set.begin(), set.end(), a) != set.end() && std::find(set.begin(), set.end(), b) != set.end();
  };
  const auto is_pair = [&](const std::vector<std::int64_t>& set) { return set.size() == 2 && has_both(set); };
  return std::any_of(rule.islands.begin(), rule.islands.end(), has_both) ||
         std::any_of(rule.across.begin(), rule.across.end(), is_pair);
}

/// Across islands: pairs in the order of the list, larger sets in the order of the template. Where exactly two devices
/// would be left, the two should be linked.
std::vector<std::int64_t> choose_across(const set_rule& rule, const std::vector<std::int64_t>& unused,
                                        std::int64_t count) {
  const auto is_unused = [&](std::int64_t index) {
    return std::find(unused.begin(), unused.end(), index) != unused.end();
  };
  if (count == 2) {
    for (const std::int64_t one : unused) {
      for (const std::int64_t other : unused) {
        const auto joins = [&](const std::vector<std::int64_t>& set) {
          return set.size() == 2 && ((set[0] == one && set[1] == other) || (set[0] == other && set[1] == one));
        };
        if (one != other && std::any_of(rule.across.begin(), rule.across.end(), joins)) return {one, other};
      }
    }
    return {};
  }
  const auto left = static_cast<std::int64_t>(unused.size()) - count;
  if (left < 0 || left > 2) return {};
  std::vector<std::int64_t> last;
  for (const std::vector<std::int64_t>& set : rule.across) {
    if (static_cast<std::int64_t>(set.size()) != count || !std::all_of(set.begin(), set.end(), is_unused)) continue;
    if (left != 2) return set;
    last = set;
    std::vector<std::int64_t> rest;
    for (const std::int64_t index : unused) {
      if (std::find(set.begin(), set.end(), index) == set.end()) rest.push_back(index);
    }
    if (are_linked(rule, rest[0], rest[1])) return set;
  }
  return last;
}

const std::vector<std::int64_t>* preference(const set_rule& rule, std::int64_t count) {
  for (const auto& [asked, order] : rule.prefer_free) {
    if (asked == count) return &order;
  }
  return nullptr;
}

bool is_open(const fit_question& question, const set_rule& rule, const device& of) {
  if (rule.equal_slices) return serves_equal_slices(of, question.asked.memory);
  return of.used_slots == 0 && of.healthy;
}

void count_position_reasons(const fit_question& question, const set_rule& rule, fit_answer& answer) {
  std::set<std::string_view> refused_ids;
  std::int64_t conflicts = 0;
  for (const std::size_t position : question.candidates) {
    const device& of = question.where.devices[position];
    if (!question.wanted.allows_id(of.id)) refused_ids.insert(of.id);
    if (rule.equal_slices && question.wanted.exclusive && of.used_slots > 0 && is_open(question, rule, of)) ++conflicts;
  }
  if (conflicts > 0) {
    answer.reasons.add(reason::exclusive_device_allocate_conflict, conflicts);
  } else if (!refused_ids.empty() && rule.kind == set_kind::islands) {
    answer.reasons.add(reason::card_uuid_mismatch, static_cast<std::int64_t>(refused_ids.size()));
  } else {
    answer.reasons.add(reason::numa_not_fit);
  }
}

taken_amounts position_amounts(const fit_question& question, const set_rule& rule, const device& of) {
  if (rule.take_whole) return {of.memory, of.cores};
  return {question.asked.memory, question.asked.cores};
}

bool is_of_whole_groups(const set_rule& rule, const std::vector<device>& devices, std::span<const std::size_t> set) {
  std::map<std::int64_t, std::int64_t> sizes;
  for (const std::size_t position : set) ++sizes[devices[position].index / rule.group_size];
  return std::all_of(sizes.begin(), sizes.end(), [&](const auto& one) { return one.second == rule.group_size; });
}

bool is_of_islands(const set_rule& rule, const std::vector<device>& devices, std::span<const std::size_t> candidates,
                   std::span<const std::size_t> set) {
  const auto count = static_cast<std::int64_t>(set.size());
  if (std::find(rule.counts.begin(), rule.counts.end(), count) == rule.counts.end()) return false;
  if (preference(rule, count) == nullptr) return set.size() == candidates.size();
  const auto place_of = [&](std::size_t position) {
    return std::find(candidates.begin(), candidates.end(), position) - candidates.begin();
  };
  const auto all_in = [&](const std::vector<std::int64_t>& island) {
    return std::all_of(set.begin(), set.end(), [&](std::size_t position) {
      return std::find(island.begin(), island.end(), place_of(position)) != island.end();
    });
  };
  const auto is_across = [&](const std::vector<std::int64_t>& listed) {
    return listed.size() == set.size() && std::all_of(set.begin(), set.end(), [&](std::size_t position) {
             return std::find(listed.begin(), listed.end(), devices[position].index) != listed.end();
           });
  };
  return std::any_of(rule.islands.begin(), rule.islands.end(), all_in) ||
         std::any_of(rule.across.begin(), rule.across.end(), is_across);
}

bool run_may_start_anywhere(const set_rule& rule, const device& first) {
  if (!rule.any_run_if) return false;
  const std::string* const kind = text_attribute(first.attributes, rule.any_run_if->attribute);
  if (kind == nullptr) return false;
  std::string capital = rule.any_run_if->value;
  if (!capital.empty() && capital.front() >= 'a' && capital.front() <= 'z') {
    capital.front() = static_cast<char>(capital.front() - 'a' + 'A');
  }
  return kind->find(rule.any_run_if->value) != std::string::npos || kind->find(capital) != std::string::npos;
}

bool is_run(const set_rule& rule, const std::vector<device>& devices, std::span<const std::size_t> candidates,
            std::span<const std::size_t> set) {
  std::vector<std::ptrdiff_t> places;
  for (const std::size_t position : set) {
    places.push_back(std::find(candidates.begin(), candidates.end(), position) - candidates.begin());
    if (devices[position].used_slots > 1) return false;  // the set itself has taken one
  }
  std::sort(places.begin(), places.end());
  const auto count = static_cast<std::ptrdiff_t>(set.size());
  if (places.back() - places.front() != count - 1) return false;
  if (run_may_start_anywhere(rule, devices[candidates.front()])) return true;
  return places.front() % count == 0 && std::find(rule.counts.begin(), rule.counts.end(), count) != rule.counts.end();
}

/// Positions of the devices that a rule of islands gives a request, of those that are free; `indices` and `free` are in
/// the order of the list. Empty: none.
std::vector<std::int64_t> choose_islands(const set_rule& rule, std::span<const std::int64_t> indices,
                                         const std::vector<bool>& free, std::int64_t count) {
  if (std::find(rule.counts.begin(), rule.counts.end(), count) == rule.counts.end()) return {};
  std::vector<std::int64_t> unused;
  for (std::size_t i = 0; i < free.size(); ++i) {
    if (free[i]) unused.push_back(indices[i]);
  }
  std::vector<std::vector<std::int64_t>> open;  // indices of the free devices of each island
  for (const std::vector<std::int64_t>& island : rule.islands) {
    open.emplace_back();
    for (const std::int64_t position : island) {
      const auto at = static_cast<std::size_t>(position);
      if (at < free.size() && free[at]) open.back().push_back(indices[at]);
    }
  }
  const std::vector<std::int64_t>* order = preference(rule, count);
  if (order == nullptr) {  // larger than an island: all devices or none
    std::sort(unused.begin(), unused.end());
    return static_cast<std::int64_t>(unused.size()) == count ? unused : std::vector<std::int64_t>{};
  }
  for (const std::int64_t wanted : *order) {
    for (const std::vector<std::int64_t>& island : open) {
      if (static_cast<std::int64_t>(island.size()) != wanted || wanted < count) continue;
      return {island.begin(), island.begin() + count};
    }
  }
  return choose_across(rule, unused, count);
}

/// The same for a rule of runs.
std::vector<std::int64_t> choose_run(const set_rule& rule, const std::vector<bool>& free, bool anywhere,
                                     std::int64_t count) {
  if (!anywhere && std::find(rule.counts.begin(), rule.counts.end(), count) == rule.counts.end()) return {};
  const auto length = static_cast<std::ptrdiff_t>(count);
  const std::ptrdiff_t step = anywhere ? 1 : length;
  for (std::ptrdiff_t start = 0; start + length <= static_cast<std::ptrdiff_t>(free.size()); start += step) {
    if (!std::all_of(free.begin() + start, free.begin() + start + length, [](bool open) { return open; })) continue;
    std::vector<std::int64_t> run;
    for (std::ptrdiff_t i = start; i < start + length; ++i) run.push_back(i);
    return run;
  }
  return {};
}

/// Grants of whole groups of neighbours by index.
container_grants from_full_groups(const container_grants& among, std::int64_t group_size, std::size_t count) {
  std::map<std::int64_t, container_grants> groups;
  for (const grant& one : among) groups[one.index / group_size].push_back(one);
  container_grants chosen;
  for (const auto& [number, group] : groups) {
    if (chosen.size() >= count || static_cast<std::int64_t>(group.size()) != group_size) continue;
    chosen.insert(chosen.end(), group.begin(), group.end());
  }
  return chosen;
}

}  // namespace

const set_rule* applicable_rule(const fit_question& question) {
  const auto& rules = question.vendor.sets;
  const auto found =
      std::find_if(rules.begin(), rules.end(), [&](const set_rule& rule) { return applies(question, rule); });
  return found == rules.end() ? nullptr : &*found;
}

void choose_among(const fit_question& question, const set_rule& rule, fit_answer& answer) {
  if (rule.kind == set_kind::zones) {
    choose_in_zones(question, rule, answer);
    return;
  }
  const auto count = static_cast<std::size_t>(std::max<std::int64_t>(question.asked.count, 0));
  if (rule.kind == set_kind::full_groups) {
    container_grants whole = from_full_groups(answer.grants, rule.group_size, count);
    answer.fits = whole.size() == count;
    if (answer.fits) {
      answer.grants = std::move(whole);
    } else {
      answer.reasons.set(reason::allocated_cards_insufficient_request, static_cast<std::int64_t>(whole.size()));
      answer.counted_of = question.asked.count;
    }
    return;
  }
  if (answer.grants.size() < count) return;
  answer.fits = true;
  if (answer.grants.size() == count) return;
  if (rule.kind == set_kind::best_links) {
    answer.grants = best_linked(answer.grants, count, question.where.links);
  } else if (count == 1) {
    answer.grants.resize(1);
  } else {
    answer.grants = from_largest_groups(answer.grants, rule, count, question.where.devices);
  }
}

fit_answer choose_positions(const fit_question& question, const set_rule& rule) {
  std::vector<std::int64_t> indices;
  std::vector<bool> free;
  for (const std::size_t position : question.candidates) {
    const device& of = question.where.devices[position];
    indices.push_back(of.index);
    bool open = is_open(question, rule, of);
    if (rule.kind == set_kind::islands) {
      open = open && question.wanted.allows_id(of.id);
      if (rule.equal_slices && question.wanted.exclusive && of.used_slots > 0) open = false;
    }
    free.push_back(open);
  }
  fit_answer answer;
  std::vector<std::int64_t> chosen;
  if (rule.kind == set_kind::islands) {
    chosen = choose_islands(rule, indices, free, question.asked.count);
  } else if (rule.any_run_if && !question.candidates.empty()) {
    const device& first = question.where.devices[question.candidates.front()];
    if (text_attribute(first.attributes, rule.any_run_if->attribute) != nullptr) {
      chosen = choose_run(rule, free, run_may_start_anywhere(rule, first), question.asked.count);
    }
  }
  if (chosen.empty()) {
    count_position_reasons(question, rule, answer);
    return answer;
  }
  answer.fits = true;
  for (const std::int64_t index : chosen) {
    for (const std::size_t position : question.candidates) {
      const device& of = question.where.devices[position];
      if (of.index != index) continue;
      grant made = grant_of(question, position, position_amounts(question, rule, of));
      if (!question.vendor.usage_attribute.empty()) {
        set_attribute(made.attributes, question.vendor.usage_attribute, free_bits(of.cores, 0, question.asked.cores));
      }
      answer.grants.push_back(std::move(made));
      break;
    }
  }
  return answer;
}

bool is_legal_set(const vendor_template& vendor, const wishes& wanted, const node& where,
                  std::span<const std::size_t> candidates, std::span<const std::size_t> set) {
  const std::vector<device>& devices = where.devices;
  const auto numa = [&](std::size_t position) { return devices[position].numa; };
  const bool one_numa =
      std::all_of(set.begin(), set.end(), [&](std::size_t p) { return numa(p) == numa(set.front()); });
  const bool binds = wanted.bind_numa && std::any_of(vendor.checks.begin(), vendor.checks.end(),
                                                     [](const check_step& step) { return step.what == check::numa; });
  if (binds && !one_numa) return false;
  return std::all_of(vendor.sets.begin(), vendor.sets.end(), [&](const set_rule& rule) {
    switch (rule.kind) {
      case set_kind::full_groups:
        return set.size() <= 1 || is_of_whole_groups(rule, devices, set);
      case set_kind::islands:
        return is_of_islands(rule, devices, candidates, set);
      case set_kind::runs:
        return set.size() <= 1 || is_run(rule, devices, candidates, set);
      default:
        return true;
    }
  });
}

container_grants from_largest_groups(const container_grants& among, const set_rule& rule, std::size_t count,
                                     std::span<const device> devices) {
  std::map<value, container_grants> groups;
  for (const grant& one : among) {
    const attribute* of = find_attribute(devices[one.position].attributes, rule.attribute);
    if (of != nullptr) groups[of->value].push_back(one);
  }
  std::vector<const container_grants*> ordered;
  ordered.reserve(groups.size());
  for (const auto& [name, group] : groups) ordered.push_back(&group);
  std::stable_sort(ordered.begin(), ordered.end(),
                   [](const container_grants* a, const container_grants* b) { return a->size() > b->size(); });
  container_grants chosen;
  for (const container_grants* group : ordered) {
    for (const grant& one : *group) {
      if (chosen.size() < count) chosen.push_back(one);
    }
  }
  return chosen;
}

container_grants from_zones(const container_grants& among, const set_rule& rule, std::size_t count,
                            std::span<const device> devices) {
  std::map<std::int64_t, container_grants> zones;
  container_grants chosen;
  container_grants outside;
  for (const grant& one : among) {
    const std::int64_t zone = integer_attribute(devices[one.position].attributes, rule.attribute).value_or(0);
    (zone > 0 ? zones[zone] : outside).push_back(one);
  }
  std::vector<const container_grants*> ordered;
  ordered.reserve(zones.size());
  for (const auto& [number, zone] : zones) ordered.push_back(&zone);
  std::stable_sort(ordered.begin(), ordered.end(),
                   [](const container_grants* a, const container_grants* b) { return a->size() < b->size(); });
  for (const container_grants* zone : ordered) {
    if (zone->size() >= count) return first_of(*zone, count);
  }
  for (const container_grants* zone : ordered) chosen.insert(chosen.end(), zone->begin(), zone->end());
  chosen.insert(chosen.end(), outside.begin(), outside.end());
  return first_of(chosen, count);
}

bool serves_equal_slices(const device& of, std::int64_t memory) {
  if (!of.healthy || memory + of.used_memory > of.memory) return false;
  return of.used_slots == 0 || of.used_memory / mebibyte / of.used_slots * mebibyte == memory;
}

std::int64_t tenants_of(const device& of, const std::string& name) {
  return std::count(of.tenants.begin(), of.tenants.end(), name);
}

container_grants from_calm_devices(const container_grants& among, const tenant_classes& classes, std::size_t count,
                                   std::span<const device> devices) {
  container_grants ordered = among;
  const auto key = [&](const grant& one) {
    const device& of = devices[one.position];
    const std::int64_t first = tenants_of(of, classes.first);
    const std::int64_t second = tenants_of(of, classes.second);
    return std::tuple(first == 0 && second > 0, first, second);
  };
  std::stable_sort(ordered.begin(), ordered.end(), [&](const grant& a, const grant& b) { return key(a) < key(b); });
  return first_of(ordered, count);
}

}  // namespace kaisched::devices
