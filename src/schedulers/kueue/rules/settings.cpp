#include "schedulers/kueue/rules/settings.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>
#include <utility>

#include "base/decimal.hpp"
#include "base/text.hpp"
#include "policy/devices/vendor/words.hpp"
#include "schedulers/common/rules/settings.hpp"

namespace kaisched::kueue {

namespace {

/// One setting, taken apart.
struct one_setting {
  std::string_view text;  ///< as written
  std::string_view queue;
  std::string_view key;
  std::string_view value;
};

error bad_setting(const one_setting& of, const std::string& why) {
  return schedulers::bad_setting("kueue.settings", of.text, why);
}

error bad_value(const one_setting& of, std::string_view expected) {
  return bad_setting(of, schedulers::is_not(of.value, expected));
}

template <class Value>
struct named {
  std::string_view name;
  Value value;
};

template <class Value, std::size_t Size>
result<void> choose(const one_setting& of, const std::array<named<Value>, Size>& known, Value& into) {
  std::string all;
  for (const named<Value>& one : known) {
    if (one.name == of.value) {
      into = one.value;
      return {};
    }
    all.append(all.empty() ? "one of: " : " ").append(one.name);
  }
  return bad_value(of, all);
}

using search = fungibility::search;
using preference = fungibility::preference;
constexpr std::array flags{named{"false", false}, named{"true", true}};
constexpr std::array within_names{named{"never", victim_policy::never},
                                  named{"lower_priority", victim_policy::lower_priority},
                                  named{"lower_or_newer_equal_priority", victim_policy::lower_or_newer_equal_priority}};
constexpr std::array reclaim_names{named{"never", victim_policy::never},
                                   named{"lower_priority", victim_policy::lower_priority},
                                   named{"any", victim_policy::any}};
constexpr std::array search_names{named{"stop", search::stop}, named{"next", search::next}};
constexpr std::array preference_names{named{"borrowing", preference::borrowing_over_preemption},
                                      named{"preemption", preference::preemption_over_borrowing}};
constexpr std::array order_names{named{"best_effort", false}, named{"strict", true}};
constexpr std::array strategy_names{named{"at_most_final_share", share_strategy::at_most_final_share},
                                    named{"below_initial_share", share_strategy::below_initial_share}};
constexpr std::array borrow_names{named{"never", false}, named{"lower_priority", true}};

result<void> set_borrowing(const one_setting& of, queue_policy& into) {
  bool on = false;
  if (auto done = choose(of, borrow_names, on); !done) return done;
  if (!on) {
    into.preemption.borrow_within_cohort.reset();
  } else if (!into.preemption.borrow_within_cohort) {
    into.preemption.borrow_within_cohort.emplace();
  }
  return {};
}

result<void> set_highest(const one_setting& of, queue_policy& into) {
  using limits = std::numeric_limits<std::int64_t>;
  const auto number = schedulers::number_in(of.value, limits::min(), limits::max());
  if (!number) return bad_value(of, "an integer");
  if (!into.preemption.borrow_within_cohort) into.preemption.borrow_within_cohort.emplace();
  into.preemption.borrow_within_cohort->highest_priority = *number;
  return {};
}

/// Settings that a queue may have of its own.
constexpr std::array<std::string_view, 8> queue_keys{
    "borrow_highest_priority", "borrow_within_cohort", "order",       "prefers", "reclaim_within_cohort",
    "when_can_borrow",         "when_can_preempt",     "within_queue"};

result<void> set_for_queue(const one_setting& of, queue_policy& into) {
  if (of.key == "borrow_highest_priority") return set_highest(of, into);
  if (of.key == "borrow_within_cohort") return set_borrowing(of, into);
  if (of.key == "order") return choose(of, order_names, into.strict_order);
  if (of.key == "prefers") return choose(of, preference_names, into.rules.prefers);
  if (of.key == "reclaim_within_cohort") return choose(of, reclaim_names, into.preemption.reclaim_within_cohort);
  if (of.key == "when_can_borrow") return choose(of, search_names, into.rules.on_borrowing);
  if (of.key == "when_can_preempt") return choose(of, search_names, into.rules.on_preemption);
  return choose(of, within_names, into.preemption.within_queue);
}

std::vector<std::string> names_between_plus(std::string_view text) {
  std::vector<std::string> names;
  for (const std::string_view name : devices::split(text, '+')) {
    if (!name.empty()) names.emplace_back(name);
  }
  return names;
}

result<void> set_flavors(const one_setting& of, scheduler_setup& into) {
  into.flavors = names_between_plus(of.value);
  std::vector<std::string> sorted = into.flavors;
  std::ranges::sort(sorted);
  const auto twice = std::ranges::adjacent_find(sorted);
  if (twice != sorted.end()) return bad_setting(of, "'" + base::shown(*twice) + "' stands there twice");
  return {};
}

result<void> set_strategies(const one_setting& of, scheduler_setup& into) {
  into.fair.strategies.clear();
  for (const std::string& name : names_between_plus(of.value)) {
    share_strategy one = share_strategy::at_most_final_share;
    if (auto done = choose({of.text, {}, of.key, name}, strategy_names, one); !done) return done;
    if (std::ranges::find(into.fair.strategies, one) != into.fair.strategies.end())
      return bad_setting(of, "'" + name + "' stands there twice");
    into.fair.strategies.push_back(one);
  }
  return {};
}

/// Settings of all queues together.
constexpr std::array<std::string_view, 6> setup_keys{"fair_sharing", "fewer_pods",       "flavor_label",
                                                     "flavors",      "share_strategies", "topology"};

result<void> set_for_all(const one_setting& of, scheduler_setup& into) {
  if (of.key == "fair_sharing") return choose(of, flags, into.by_shares);
  if (of.key == "fewer_pods") return choose(of, flags, into.fewer_pods);
  if (of.key == "flavors") return set_flavors(of, into);
  if (of.key == "share_strategies") return set_strategies(of, into);
  (of.key == "topology" ? into.topology : into.flavor_label) = of.value;
  return {};
}

constexpr std::array kind_names{named{"nominal", quota_setting::kind::nominal},
                                named{"borrowing", quota_setting::kind::borrowing},
                                named{"lending", quota_setting::kind::lending}};
/// Quota dimensions, with what a unit of them is in theirs.
struct known_resource {
  std::string_view name;
  std::int64_t unit;
};
constexpr std::array<known_resource, 3> resource_names{{{"cpu", 1000}, {"memory", 1}, {"gpu", 1000}}};

result<amount> amount_from(const one_setting& of, std::int64_t unit) {
  if (of.value == "unlimited") return amount::unlimited();
  std::string_view rest = of.value;
  std::optional<base::decimal> number = base::take_decimal(rest);
  if (!number || !base::scale(*number, rest)) return bad_value(of, "an amount such as 4, 500m or 64Gi, or unlimited");
  if (unit == 1000) number->exponent += 3;
  const std::optional<base::int128> value = base::integer_of(*number, base::rounding::up, 18);
  if (!value) return bad_setting(of, "that is too much");
  return amount(static_cast<std::int64_t>(*value));
}

/// `nominal.gpu` or `nominal.gpu.FLAVOR`; nothing if the key is none of those.
result<bool> add_quota(const one_setting& of, scheduler_setup& into) {
  for (const auto& kind : kind_names) {
    if (!of.key.starts_with(kind.name) || of.key.substr(kind.name.size(), 1) != ".") continue;
    std::string_view resource = of.key.substr(kind.name.size() + 1);
    quota_setting made{std::string(of.queue), kind.value, 0, std::nullopt, {}};
    if (const std::size_t dot = resource.find('.'); dot != std::string_view::npos) {
      made.flavor = resource.substr(dot + 1);
      resource = resource.substr(0, dot);
    }
    const auto known = std::ranges::find(resource_names, resource, &known_resource::name);
    if (known == resource_names.end()) return bad_setting(of, "quotas are of cpu, memory and gpu");
    made.resource = static_cast<std::uint32_t>(known - resource_names.begin());
    result<amount> value = amount_from(of, known->unit);
    if (!value) return value.failure();
    made.value = *value;
    into.quotas.push_back(std::move(made));
    return true;
  }
  return false;
}

error unknown_key(const one_setting& of) {
  std::vector<std::string_view> known(queue_keys.begin(), queue_keys.end());
  if (of.queue.empty()) known.insert(known.end(), setup_keys.begin(), setup_keys.end());
  const std::string why = of.queue.empty() ? "there is no such setting" : "queues have no such setting";
  return bad_setting(of, why + schedulers::did_you_mean(of.key, known));
}

/// The name of a queue may have dots: its key is known from behind.
bool split_queue(one_setting& of) {
  constexpr std::string_view prefix = "queue.";
  if (!of.key.starts_with(prefix)) return true;
  const std::string_view rest = of.key.substr(prefix.size());
  std::size_t best = std::string_view::npos;
  const auto look_for = [&](const std::string& dotted, bool at_end) {
    const std::size_t at =
        at_end ? (rest.ends_with(dotted) ? rest.size() - dotted.size() : std::string_view::npos) : rest.find(dotted);
    if (at != std::string_view::npos && at > 0 && (best == std::string_view::npos || at < best)) best = at;
  };
  for (const auto& kind : kind_names) look_for("." + std::string(kind.name) + ".", false);
  for (const std::string_view key : queue_keys) look_for("." + std::string(key), true);
  if (best == std::string_view::npos) best = rest.rfind('.');
  if (best == std::string_view::npos || best == 0 || best + 1 == rest.size()) return false;
  of.queue = rest.substr(0, best);
  of.key = rest.substr(best + 1);
  return true;
}

result<void> apply_to_all(const one_setting& of, scheduler_setup& into) {
  if (std::ranges::find(setup_keys, of.key) != setup_keys.end()) return set_for_all(of, into);
  if (std::ranges::find(queue_keys, of.key) != queue_keys.end()) return set_for_queue(of, into.usual);
  return unknown_key(of);
}

result<void> apply_to_queue(const one_setting& of, scheduler_setup& into) {
  const result<bool> is_quota = add_quota(of, into);
  if (!is_quota) return is_quota.failure();
  if (*is_quota) return {};
  if (std::ranges::find(queue_keys, of.key) == queue_keys.end()) return unknown_key(of);
  return set_for_queue(of, into.own.emplace(std::string(of.queue), into.usual).first->second);
}

}  // namespace

result<scheduler_setup> make_setup(const std::vector<std::string>& settings) {
  scheduler_setup made;
  std::vector<one_setting> of_queues;
  for (const std::string& text : settings) {
    const std::size_t sign = text.find('=');
    one_setting one{text, {}, std::string_view(text).substr(0, sign), {}};
    if (sign == std::string::npos || sign == 0) return bad_setting(one, "that is not key=value");
    one.value = std::string_view(text).substr(sign + 1);
    if (!split_queue(one)) return bad_setting(one, "that is not queue.NAME.key=value");
    if (!one.queue.empty()) {
      of_queues.push_back(one);
    } else if (auto done = apply_to_all(one, made); !done) {
      return done.failure();
    }
  }
  // What one queue says counts for it, wherever it stands.
  for (const one_setting& one : of_queues) {
    if (auto done = apply_to_queue(one, made); !done) return done.failure();
  }
  if (made.flavor_label.empty() && !made.flavors.empty())
    return error{status::argument, "option kueue.settings: flavors need a flavor_label, whose values they are", {}};
  return made;
}

}  // namespace kaisched::kueue
