#include "policy/devices/fit/fit.hpp"

#include <algorithm>
#include <bit>
#include <string>
#include <utility>

#include "policy/devices/fit/sets.hpp"
#include "policy/devices/partition/mig.hpp"
#include "policy/devices/vendor/words.hpp"

namespace kaisched::devices {

namespace {

constexpr std::string_view divided_mode = "mig";
constexpr std::int64_t whole_device = 100;  // cores of a device that counts percent, and a request for all of them

std::int64_t soft_cores(const fit_question& question, const device& of) {
  return question.wanted.soft && question.vendor.soft ? question.vendor.soft->cores : of.cores;
}

std::int64_t free_cores(const fit_question& question, const device& of) {
  if (question.vendor.cores == cores_rule::bits) {
    const auto bits = [](std::int64_t mask) { return std::popcount(static_cast<std::uint64_t>(mask)); };
    return bits(of.cores) - bits(of.used_cores);
  }
  return soft_cores(question, of) - of.used_cores;
}

bool lacks_cores(const fit_question& question, const device& of, const taken_amounts& asked) {
  if (question.vendor.cores == cores_rule::bits) return free_cores(question, of) < question.asked.cores;
  if (question.vendor.cores == cores_rule::percent_of_device && question.asked.cores > 0 && of.cores <= 0) return true;
  // A device that registers no cores at all gives slices without asking for them.
  if (question.vendor.cores == cores_rule::profile && of.cores <= 0) return false;
  return free_cores(question, of) < asked.cores;
}

/// Containers of the class that goes first take no cores, so cores refuse them nothing.
bool counts_cores(const fit_question& question) {
  return !question.vendor.tenants || question.wanted.tenant_class != question.vendor.tenants->first;
}

bool over_quota(const fit_question& question, const device& of, const container_grants& gathered,
                const taken_amounts& asked) {
  if (question.quota == nullptr) return false;
  vendor_grants held;
  if (const vendor_grants* earlier = find_grants(question.earlier, question.vendor.key)) held = *earlier;
  held.push_back(gathered);
  grant more;
  more.id = of.id;
  more.memory = asked.memory;
  more.cores = asked.cores;
  held.back().push_back(std::move(more));
  return !within(*question.quota, held_by(held, question.init_containers));
}

bool is_other_than_earlier(const fit_question& question, const device& of) {
  const vendor_grants* earlier = find_grants(question.earlier, of.type);
  if (earlier == nullptr) return false;
  return std::any_of(earlier->begin(), earlier->end(), [&](const container_grants& container) {
    return std::any_of(container.begin(), container.end(), [&](const grant& one) { return one.id != of.id; });
  });
}

bool lacks_place(const device& of, const container_grants& gathered, std::int64_t memory) {
  if (of.mode != divided_mode) return false;
  std::vector<slice_range> occupied = occupied_slices(of);
  for (const grant& one : gathered) {
    if (one.id != of.id) continue;
    const std::optional<profile_choice> earlier = smallest_profile(of.profiles, occupied, one.memory);
    if (!earlier) return true;
    occupied.push_back(earlier->placement);
  }
  return !smallest_profile(of.profiles, occupied, memory);
}

bool avoids_tenants(const fit_question& question, const device& of) {
  if (of.used_slots == 0 || !question.vendor.tenants) return false;
  const tenant_classes& classes = *question.vendor.tenants;
  const auto runs = [&](const std::string& name) {
    return std::find(of.tenants.begin(), of.tenants.end(), name) != of.tenants.end();
  };
  const auto is_classed = [&](const std::string& name) { return name == classes.first || name == classes.second; };
  const bool classed = runs(classes.first) || runs(classes.second);
  if (classed != is_classed(question.wanted.tenant_class)) return true;
  return runs(classes.first) && question.wanted.tenant_class == classes.second;
}

bool serves_another_class(const fit_question& question, const device& of) {
  if (!question.vendor.service || !counts_cores(question)) return false;
  if (of.used_slots == 0 || question.asked.cores == whole_device) return false;
  const std::string* now = text_attribute(of.attributes, question.vendor.service->attribute);
  return now != nullptr && !now->empty() && *now != question.wanted.service_class;
}

/// Another device of its group is in use; groups matter only where they are a rule of the node.
bool shares_used_group(const fit_question& question, const device& of) {
  const std::string& name = question.vendor.exclusive_group;
  if (name.empty() || applicable_rule(question) == nullptr) return false;
  const attribute* group = find_attribute(of.attributes, name);
  return group != nullptr &&
         std::any_of(question.candidates.begin(), question.candidates.end(), [&](std::size_t position) {
           const device& other = question.where.devices[position];
           const attribute* its = find_attribute(other.attributes, name);
           return other.used_slots > 0 && its != nullptr && its->value == group->value;
         });
}

bool is_refused(const fit_question& question, check what, const device& of, const container_grants& gathered,
                const taken_amounts& asked) {
  const wishes& wanted = question.wanted;
  switch (what) {
    case check::health:
      return !of.healthy;
    case check::cordon:
      return of.cordoned;
    case check::type:
      return question.asked.vendor != question.vendor.key || !wanted.allows_type(of.type) ||
             !wanted.allows_mode(of.mode);
    case check::model:
      return of.type.find(question.asked.vendor) == std::string::npos;
    case check::numa:
      return false;
    case check::id:
      return !wanted.allows_id(of.id);
    case check::slots:
      return of.slots <= of.used_slots;
    case check::exclusive:
      return wanted.exclusive && (of.used_slots > 0 || shares_used_group(question, of));
    case check::idle:
      return of.used_slots > 0;
    case check::quota:
      return over_quota(question, of, gathered, asked);
    case check::memory:
      return of.memory - of.used_memory < asked.memory;
    case check::cores:
      return counts_cores(question) && lacks_cores(question, of, asked);
    case check::whole_exclusive:
      return counts_cores(question) && soft_cores(question, of) == whole_device && asked.cores == whole_device &&
             of.used_slots > 0;
    case check::exhausted: {
      const std::int64_t all = soft_cores(question, of);
      return counts_cores(question) && all != 0 && of.used_cores == all && asked.cores == 0;
    }
    case check::equal_slices:
      return !serves_equal_slices(of, asked.memory);
    case check::same_device:
      return is_other_than_earlier(question, of);
    case check::profile:
      return lacks_place(of, gathered, asked.memory);
    case check::tenant_class:
      return avoids_tenants(question, of);
    case check::service_class:
      return serves_another_class(question, of);
  }
  return false;
}

/// Devices that would do, one after another, until there are enough.
class collection {
 public:
  collection(const fit_question& question, bool all) : question_(question), all_(all), missing_(question.asked.count) {}

  /// True as soon as nothing is missing.
  bool collect() {
    for (std::size_t i = question_.candidates.size(); i-- > 0;) {
      const std::size_t position = question_.candidates[i];
      const device& of = question_.where.devices[position];
      // A divided device is asked until it refuses: it may have room for more than one instance.
      do {
        if (!ask(position, of)) break;
        if (missing_ <= 0 && !all_) return true;
      } while (of.mode == divided_mode && question_.vendor.repeat_divided);
    }
    return false;
  }

  container_grants grants{};
  reason_counts reasons{};

 private:
  bool ask(std::size_t position, const device& of) {
    for (const check_step& step : question_.vendor.checks) {
      if (step.what == check::numa) {
        start_anew_at(of.numa);
        continue;
      }
      if (is_refused(question_, step.what, of, grants, amounts_on(question_.vendor, question_.asked, of))) {
        reasons.add(step.why);
        return false;
      }
    }
    if (missing_ > 0) {
      grants.push_back(grant_of(question_, position, amounts_on(question_.vendor, question_.asked, of)));
      if (!all_) --missing_;
    }
    return true;
  }

  void start_anew_at(std::int64_t numa) {
    if (!question_.wanted.bind_numa || numa_ == numa) return;
    if (missing_ != question_.asked.count) {
      reasons.add(reason::numa_not_fit, static_cast<std::int64_t>(grants.size()));
    }
    missing_ = question_.asked.count;
    numa_ = numa;
    grants.clear();
  }

  const fit_question& question_;
  bool all_;
  std::int64_t missing_;
  std::int64_t numa_ = -1;
};

fit_answer refused(const fit_question& question, reason why) {
  fit_answer answer;
  answer.reasons.add(why);
  answer.counted_of = static_cast<std::int64_t>(question.candidates.size());
  return answer;
}

fit_answer fit_slices(const fit_question& question) {
  constexpr std::int64_t most = 2147483647;  // what HAMi can count
  const std::optional<slice_choice> chosen = choose_slices(question);
  if (!chosen || chosen->profile.slices > most || chosen->profile.memory / mebibyte > most || chosen->percent > most) {
    return refused(question, reason::mode_not_fit);
  }
  request exact = question.asked;
  exact.memory = chosen->profile.memory;
  exact.memory_permille.reset();
  exact.cores = chosen->percent;
  const fit_question with_amounts{question.vendor, question.where,   question.candidates,      exact,
                                  question.wanted, question.earlier, question.init_containers, question.quota};
  collection found(with_amounts, false);
  fit_answer answer;
  answer.fits = found.collect();
  answer.grants = std::move(found.grants);
  answer.reasons = found.reasons;
  for (grant& one : answer.grants) {
    one.slots = std::max<std::int64_t>(chosen->profile.slices, 1);
    one.instance = slice_instance{chosen->profile.name, {}};
  }
  return answer;
}

}  // namespace

taken_amounts amounts_on(const vendor_template& vendor, const request& asked, const device& of) {
  taken_amounts taken;
  switch (vendor.memory) {
    case memory_rule::amount_or_share:
      taken.memory = asked.memory;
      // Shares are of whole mebibytes, rounded down.
      if (asked.memory == 0 && asked.memory_permille) {
        taken.memory = of.memory / mebibyte * *asked.memory_permille / 1000 * mebibyte;
      }
      break;
    case memory_rule::amount_or_whole:
      taken.memory = asked.memory > 0 ? asked.memory : std::max<std::int64_t>(of.memory, 0);
      break;
    case memory_rule::profile:
      taken.memory = asked.memory;
      break;
    case memory_rule::none:
      break;
  }
  switch (vendor.cores) {
    case cores_rule::as_asked:
      taken.cores = vendor.core_cap > 0 ? std::min(asked.cores, vendor.core_cap) : asked.cores;
      break;
    case cores_rule::percent_of_device:
      if (asked.cores > 0) {
        taken.cores = std::clamp<std::int64_t>(of.cores * asked.cores / 100, std::min<std::int64_t>(of.cores, 1),
                                               std::max<std::int64_t>(of.cores, 1));
      } else if (of.memory > 0 && taken.memory >= of.memory) {
        taken.cores = of.cores;
      }
      break;
    case cores_rule::profile:
      taken.cores = asked.cores;
      break;
    case cores_rule::bits:
      taken.cores = free_bits(of.cores, of.used_cores, asked.cores);
      break;
  }
  return taken;
}

std::optional<reason> refusal(const fit_question& question, const device& of, const container_grants& gathered) {
  const taken_amounts asked = amounts_on(question.vendor, question.asked, of);
  for (const check_step& step : question.vendor.checks) {
    if (is_refused(question, step.what, of, gathered, asked)) return step.why;
  }
  return std::nullopt;
}

std::int64_t free_bits(std::int64_t mask, std::int64_t used, std::int64_t count) {
  std::uint64_t open = static_cast<std::uint64_t>(mask) & ~static_cast<std::uint64_t>(used);
  if (count == 0) return static_cast<std::int64_t>(open);
  std::uint64_t taken = 0;
  for (std::int64_t i = 0; i < count && open != 0; ++i) {
    const std::uint64_t lowest = open & (~open + 1);
    taken |= lowest;
    open &= ~lowest;
  }
  return static_cast<std::int64_t>(taken);
}

grant grant_of(const fit_question& question, std::size_t position, taken_amounts amounts) {
  const device& of = question.where.devices[position];
  grant made;
  made.position = position;
  made.index = of.index;
  made.id = of.id;
  made.type = question.vendor.grants_name_model ? of.type : question.asked.vendor;
  made.memory = amounts.memory;
  made.cores = counts_cores(question) ? amounts.cores : 0;
  if (question.vendor.grants_carry_attributes) made.attributes = of.attributes;
  if (!question.vendor.usage_attribute.empty()) {
    set_attribute(made.attributes, question.vendor.usage_attribute, amounts.cores);
  }
  return made;
}

fit_answer fit(const fit_question& question) {
  if (question.wanted.soft && question.vendor.soft &&
      !question.where.soft_division.value_or(question.vendor.soft->allowed)) {
    return refused(question, reason::mode_not_fit);
  }
  fit_answer answer;
  const set_rule* rule = applicable_rule(question);
  if (question.vendor.memory == memory_rule::profile) {
    answer = fit_slices(question);
  } else if (rule != nullptr && (rule->kind == set_kind::islands || rule->kind == set_kind::runs)) {
    answer = choose_positions(question, *rule);
  } else {
    collection found(question, rule != nullptr);
    answer.fits = found.collect();
    answer.grants = std::move(found.grants);
    answer.reasons = found.reasons;
    if (rule != nullptr) choose_among(question, *rule, answer);
  }
  if (answer.fits) answer.reasons = {};
  if (answer.counted_of == 0) answer.counted_of = static_cast<std::int64_t>(question.candidates.size());
  if (!answer.fits && !answer.grants.empty() && !answer.reasons.stated(reason::allocated_cards_insufficient_request)) {
    answer.reasons.set(reason::allocated_cards_insufficient_request, static_cast<std::int64_t>(answer.grants.size()));
  }
  return answer;
}

}  // namespace kaisched::devices
