#include "schedulers/yunikorn/rules/settings.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "base/text.hpp"
#include "policy/devices/vendor/words.hpp"
#include "schedulers/common/rules/settings.hpp"

namespace kaisched::yunikorn {

namespace {

constexpr double second = 1e9;
constexpr double most_seconds = 1e9;
constexpr double most_amount = 9e15;
constexpr std::string_view weight_prefix = "nodes.weight.";
constexpr std::string_view limit_prefix = "limit.";
constexpr std::string_view group_limit_prefix = "group_limit.";
constexpr std::string_view users_prefix = "users.";
constexpr std::string_view apps_suffix = "apps";

error bad_setting(const turn_setting& of, const std::string& why) {
  return schedulers::bad_setting("yunikorn.settings", of.text, why);
}
error bad_value(const turn_setting& of, std::string_view expected) {
  return bad_setting(of, schedulers::is_not(of.value, expected));
}

std::optional<double> number_in(std::string_view text, double least, double most) {
  return schedulers::number_in(text, least, most);
}
std::optional<double> integer_in(std::string_view text, double least, double most) {
  const std::optional<double> value = number_in(text, least, most);
  return value && *value == std::floor(*value) ? value : std::nullopt;
}

/// Where a setting may stand.
enum class reach : std::uint8_t { everywhere, queues_or_all, queues };

struct known_setting {
  std::string_view key;
  reach where;
  std::string_view expected;
  bool (*is_good)(std::string_view value);
};

bool is_flag(std::string_view value) { return value == "true" || value == "false"; }

constexpr std::array known_settings{
    known_setting{"apps.most", reach::queues_or_all, "an integer from 1 to 1e9",
                  [](std::string_view v) { return integer_in(v, 1, 1e9).has_value(); }},
    known_setting{"apps.order", reach::queues_or_all, "fifo or fair",
                  [](std::string_view v) { return v == "fifo" || v == "fair"; }},
    known_setting{"apps.priority", reach::queues_or_all, "true or false", is_flag},
    known_setting{"nodes.order", reach::everywhere, "fair or binpacking",
                  [](std::string_view v) { return v == "fair" || v == "binpacking"; }},
    known_setting{"preemption", reach::everywhere, "true or false", is_flag},
    known_setting{"preemption.delay", reach::queues_or_all, "a number from 0 to 1e9",
                  [](std::string_view v) { return number_in(v, 0, most_seconds).has_value(); }},
    known_setting{"preemption.opted_out", reach::everywhere, "never or last",
                  [](std::string_view v) { return v == "never" || v == "last"; }},
    known_setting{"preemption.policy", reach::queues_or_all, "default, fence or disabled",
                  [](std::string_view v) { return v == "default" || v == "fence" || v == "disabled"; }},
    known_setting{"priority.fence", reach::queues, "true or false", is_flag},
    known_setting{"priority.offset", reach::queues, "an integer from -1e9 to 1e9",
                  [](std::string_view v) { return integer_in(v, -1e9, 1e9).has_value(); }},
    known_setting{"reservation.delay", reach::everywhere, "a number from -1 to 1e9",
                  [](std::string_view v) { return number_in(v, -1, most_seconds).has_value(); }},
};

/// Whom a limit is about, and of what.
struct named_limit {
  std::string_view holder;
  std::string_view resource;
  bool of_group = false;
};
std::optional<named_limit> limit_of(std::string_view key) {
  const bool of_group = key.starts_with(group_limit_prefix);
  if (!of_group && !key.starts_with(limit_prefix)) return std::nullopt;
  key.remove_prefix(of_group ? group_limit_prefix.size() : limit_prefix.size());
  const std::size_t colon = key.rfind(':');
  if (colon == std::string_view::npos || colon == 0 || colon + 1 == key.size()) return std::nullopt;
  return named_limit{key.substr(0, colon), key.substr(colon + 1), of_group};
}

/// Users joined by `+`; empty if one of them has no name.
std::vector<std::string> users_in(std::string_view value) {
  const std::vector<std::string_view> users = devices::split(value, '+');
  if (std::ranges::find(users, std::string_view()) != users.end()) return {};
  return {users.begin(), users.end()};
}

result<void> check_prefixed(const turn_setting& one) {
  if (one.key.starts_with(weight_prefix)) {
    if (!one.queue.empty()) return bad_setting(one, "nodes are not those of a queue");
    if (one.key.size() == weight_prefix.size() || !number_in(one.value, 0, 1e6))
      return bad_value(one, "a number from 0 to 1e6");
    return {};
  }
  if (one.key.starts_with(users_prefix)) {
    if (!one.queue.empty()) return bad_setting(one, "groups of users are not those of a queue");
    if (one.key.size() == users_prefix.size() || users_in(one.value).empty())
      return bad_setting(one, "a group is users.GROUP=USER+USER");
    return {};
  }
  const auto limit = limit_of(one.key);
  if (!limit) {
    return bad_setting(one,
                       one.key.starts_with(group_limit_prefix)
                           ? "a limit of a group is group_limit.GROUP:RESOURCE@QUEUE or group_limit.GROUP:apps@QUEUE"
                           : "a limit is limit.USER:RESOURCE@QUEUE or limit.USER:apps@QUEUE");
  }
  const bool good = limit->resource == apps_suffix ? integer_in(one.value, 1, 1e9).has_value()
                                                   : number_in(one.value, 0, most_amount).has_value();
  if (!good) return bad_value(one, "an amount");
  return {};
}

result<void> check(const turn_setting& one) {
  for (const std::string_view prefix : {weight_prefix, limit_prefix, group_limit_prefix, users_prefix}) {
    if (one.key.starts_with(prefix)) return check_prefixed(one);
  }
  const auto* const known = std::ranges::find(known_settings, std::string_view(one.key), &known_setting::key);
  if (known == known_settings.end()) {
    std::vector<std::string_view> names;
    for (const known_setting& other : known_settings) names.push_back(other.key);
    return bad_setting(one, "there is no such setting" + schedulers::did_you_mean(one.key, names));
  }
  if (known->where == reach::everywhere && !one.queue.empty()) return bad_setting(one, "it is not that of a queue");
  if (known->where == reach::queues && one.queue.empty()) return bad_setting(one, "it needs a queue: key@queue=value");
  if (!known->is_good(one.value)) return bad_value(one, known->expected);
  return {};
}

class rule_maker {
 public:
  rule_maker(const scheduler_setup& plan, const find_resource& resource, cluster_state& to)
      : plan_(plan), resource_(resource), to_(to) {}

  result<void> make() {
    set_user_groups();
    for (row q = 0; q < to_.queues.size(); ++q) {
      inherit(q);
      for (const turn_setting& one : plan_.settings) {
        if (one.queue.empty() ? q != 0 : one.queue != to_.queues[q].name) continue;
        if (auto done = set(to_.queues[q], one); !done) return done;
      }
    }
    return set_weights();
  }

 private:
  /// Fences and offsets are those of one queue; that nobody leaves is handed down.
  void inherit(row q) {
    queue_rules& rules = to_.queues[q].rules;
    rules.preemption_delay = default_delay;
    if (to_.queues[q].parent == no_row) return;
    const queue_rules& above = to_.queues[to_.queues[q].parent].rules;
    rules.apps = above.apps;
    rules.priority_first = above.priority_first;
    rules.preemption_delay = above.preemption_delay;
    if (above.preemption == preemption_policy::disabled) rules.preemption = above.preemption;
  }

  result<void> set(queue_state& queue, const turn_setting& one) {
    queue_rules& rules = queue.rules;
    if (one.key == "apps.most") {
      rules.most_apps = static_cast<std::int64_t>(*number_in(one.value, 1, 1e9));
    } else if (one.key == "apps.order") {
      rules.apps = one.value == "fair" ? app_order::fair : app_order::fifo;
    } else if (one.key == "apps.priority") {
      rules.priority_first = one.value == "true";
    } else if (one.key == "preemption.delay") {
      rules.preemption_delay = std::llround(*number_in(one.value, 0, most_seconds) * second);
    } else if (one.key == "preemption.policy") {
      rules.preemption = one.value == "fence"      ? preemption_policy::fence
                         : one.value == "disabled" ? preemption_policy::disabled
                                                   : preemption_policy::open;
    } else if (one.key == "priority.fence") {
      rules.priority_fence = one.value == "true";
    } else if (one.key == "priority.offset") {
      rules.priority_offset = static_cast<std::int64_t>(*number_in(one.value, -1e9, 1e9));
    } else if (const auto limit = limit_of(one.key)) {
      return add_limit(rules, one, *limit);
    }
    return {};
  }

  /// The last setting about a group counts; its place is that of the first.
  void set_user_groups() {
    for (const turn_setting& one : plan_.settings) {
      if (!one.key.starts_with(users_prefix)) continue;
      const std::string name = one.key.substr(users_prefix.size());
      auto found = std::ranges::find(to_.user_groups, name, &user_group::name);
      if (found == to_.user_groups.end()) {
        to_.user_groups.push_back({name, {}});
        found = to_.user_groups.end() - 1;
      }
      found->users = users_in(one.value);
    }
  }

  result<void> add_limit(queue_rules& rules, const turn_setting& one, const named_limit& limit) {
    auto found = std::ranges::find_if(rules.limits, [&](const user_limit& other) {
      return other.user == limit.holder && other.of_group == limit.of_group;
    });
    if (found == rules.limits.end()) {
      rules.limits.push_back(
          {std::string(limit.holder), bounds(to_.unit.size(), undefined), undefined, limit.of_group});
      found = rules.limits.end() - 1;
    }
    const double value = *number_in(one.value, 0, most_amount);
    if (limit.resource == apps_suffix) {
      found->apps = static_cast<std::int64_t>(value);
      return {};
    }
    const std::optional<resource_unit> of = resource_(limit.resource);
    if (!of) return bad_setting(one, "there is no resource '" + base::shown(limit.resource) + "'");
    found->most[of->dimension] = std::llround(std::min(value * of->unit, most_amount));
    return {};
  }

  result<void> set_weights() {
    to_.order.packs = plan_.packs;
    to_.order.weights.assign(to_.unit.size(), 0);
    for (const std::string_view name : {std::string_view("cpu"), std::string_view("memory")}) {
      if (const std::optional<resource_unit> of = resource_(name)) to_.order.weights[of->dimension] = 1;
    }
    for (const turn_setting& one : plan_.settings) {
      if (!one.key.starts_with(weight_prefix)) continue;
      // A resource that no node and no pod has needs no weight.
      if (const auto of = resource_(std::string_view(one.key).substr(weight_prefix.size())))
        to_.order.weights[of->dimension] = *number_in(one.value, 0, 1e6);
    }
    return {};
  }

  static constexpr std::int64_t default_delay = 30'000'000'000;

  const scheduler_setup& plan_;
  const find_resource& resource_;
  cluster_state& to_;
};

}  // namespace

result<scheduler_setup> make_setup(const std::vector<std::string>& settings) {
  scheduler_setup plan;
  for (const std::string& text : settings) {
    turn_setting one{text, {}, {}, {}};
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0) return bad_setting(one, "it is not key=value or key@queue=value");
    one.key = text.substr(0, equals);
    one.value = text.substr(equals + 1);
    if (const std::size_t at = one.key.find('@'); at != std::string::npos) {
      one.queue = one.key.substr(at + 1);
      one.key.resize(at);
      if (one.queue.empty()) return bad_setting(one, "it names no queue");
    }
    if (auto good = check(one); !good) return good.failure();
    if (one.key == "preemption") plan.preempts = one.value == "true";
    if (one.key == "preemption.opted_out") plan.protects = one.value == "never";
    if (one.key == "nodes.order") plan.packs = one.value == "binpacking";
    if (one.key == "reservation.delay") plan.reservation_delay = *number_in(one.value, -1, most_seconds);
    plan.settings.push_back(std::move(one));
  }
  return plan;
}

result<void> apply(const scheduler_setup& plan, const find_resource& resource, cluster_state& to) {
  return rule_maker(plan, resource, to).make();
}

}  // namespace kaisched::yunikorn
