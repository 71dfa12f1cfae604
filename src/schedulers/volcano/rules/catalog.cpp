#include "schedulers/volcano/rules/catalog.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <utility>

#include "base/text.hpp"
#include "schedulers/common/rules/settings.hpp"
#include "schedulers/volcano/rules/plugins.hpp"

namespace kaisched::volcano {

namespace {

error bad_plan(std::string message) { return {status::argument, std::move(message), {}}; }

/// `a`, `b` of "a?b"; nothing if the sign is missing.
std::optional<std::pair<std::string_view, std::string_view>> split_at(std::string_view text, char sign) {
  const std::size_t at = text.find(sign);
  if (at == std::string_view::npos) return std::nullopt;
  return std::pair(text.substr(0, at), text.substr(at + 1));
}

constexpr std::array<std::pair<std::string_view, point>, point_count> all_points{{
    {"allocatable", point::allocatable},
    {"domain_gradient", point::domain_gradient},
    {"domain_order", point::domain_order},
    {"evictable", point::evictable},
    {"hierarchy", point::hierarchy},
    {"job_enqueued", point::job_enqueued},
    {"job_order", point::job_order},
    {"job_pipelined", point::job_pipelined},
    {"job_ready", point::job_ready},
    {"job_starving", point::job_starving},
    {"node_order", point::node_order},
    {"overused", point::overused},
    {"predicate", point::predicate},
    {"preemptable", point::preemptable},
    {"preemptive", point::preemptive},
    {"queue_order", point::queue_order},
    {"reclaimable", point::reclaimable},
    {"sub_job_order", point::sub_job_order},
    {"sub_job_pipelined", point::sub_job_pipelined},
    {"sub_job_ready", point::sub_job_ready},
    {"task_order", point::task_order},
}};

/// A setting of one plug-in or action, and whether anybody has asked for it.
struct setting {
  std::string_view text;  ///< as written
  std::string_view owner;
  std::string_view key;
  std::string_view value;
  bool known = false;
};

/// Settings of one owner. The first that makes no sense is remembered.
class settings_of {
 public:
  settings_of(std::vector<setting>& all, std::string_view owner, std::optional<error>& fault)
      : all_(all), owner_(owner), fault_(fault) {}

  [[nodiscard]] std::int64_t integer(std::string_view key, std::int64_t fallback, std::int64_t least) {
    setting* const found = find(key);
    if (found == nullptr) return fallback;
    const auto value = schedulers::number_in(found->value, least, most_weight);
    if (!value) refuse(*found, "an integer from " + std::to_string(least) + " to " + std::to_string(most_weight));
    return value.value_or(fallback);
  }

  [[nodiscard]] double number(std::string_view key, double fallback, double least) {
    setting* const found = find(key);
    if (found == nullptr) return fallback;
    const auto value = schedulers::number_in(found->value, least, std::numeric_limits<double>::max());
    if (!value) refuse(*found, "a number from " + std::to_string(least));
    return value.value_or(fallback);
  }

  /// In nanoseconds.
  [[nodiscard]] std::int64_t seconds(std::string_view key, double fallback) {
    constexpr double nanoseconds = 1e9;
    constexpr double most = 9e9;  // of seconds that fit
    return static_cast<std::int64_t>(std::min(number(key, fallback, 0), most) * nanoseconds);
  }

  [[nodiscard]] bool flag(std::string_view key, bool fallback) {
    setting* const found = find(key);
    if (found == nullptr) return fallback;
    if (found->value != "true" && found->value != "false") refuse(*found, "true or false");
    return found->value == "true";
  }

  /// Weights of `prefix.NAME`.
  void weights(std::string_view prefix, std::map<std::string, std::int64_t, std::less<>>& to) {
    for (setting& one : all_) {
      if (one.owner != owner_ || !one.key.starts_with(prefix) || one.key.size() <= prefix.size() + 1 ||
          one.key[prefix.size()] != '.')
        continue;
      to[std::string(one.key.substr(prefix.size() + 1))] = integer(one.key, 1, 0);
    }
  }

  /// `least:WEIGHT` or `most:WEIGHT` of `prefix.NAME`.
  void strategies(std::string_view prefix, policy::resource_strategies& to) {
    for (setting& one : all_) {
      if (one.owner != owner_ || !one.key.starts_with(prefix) || one.key.size() <= prefix.size() + 1 ||
          one.key[prefix.size()] != '.')
        continue;
      one.known = true;
      const auto parts = split_at(one.value, ':');
      const auto weight =
          parts ? schedulers::number_in<std::int64_t>(parts->second, 1, most_weight) : std::optional<std::int64_t>();
      if (!weight || (parts->first != "least" && parts->first != "most")) {
        refuse(one, "least:WEIGHT or most:WEIGHT");
        continue;
      }
      to[std::string(one.key.substr(prefix.size() + 1))] = {
          parts->first == "least" ? policy::fit_strategy::least_allocated : policy::fit_strategy::most_allocated,
          *weight};
    }
  }

  /// Where the plug-in is asked.
  [[nodiscard]] points where() {
    points on;
    for (const auto& [name, at] : all_points) {
      const bool asked = at != point::hierarchy;
      on.set(static_cast<std::size_t>(at), flag("at." + std::string(name), asked));
    }
    return on;
  }

 private:
  static constexpr std::int64_t most_weight = 1'000'000;

  setting* find(std::string_view key) {
    setting* found = nullptr;
    for (setting& one : all_) {
      if (one.owner != owner_ || one.key != key) continue;
      one.known = true;
      found = &one;  // the last one counts, as everywhere
    }
    return found;
  }

  void refuse(const setting& one, std::string_view expected) {
    if (!fault_)
      fault_ = schedulers::bad_setting("volcano.settings", one.text, schedulers::is_not(one.value, expected));
  }

  std::vector<setting>& all_;
  std::string_view owner_;
  std::optional<error>& fault_;
};

using maker = std::unique_ptr<plugin> (*)(settings_of&);

std::unique_ptr<plugin> made_network(settings_of& of) {
  network_settings settings;
  settings.weights = {{"cpu", of.integer("cpu", 1, 0)}, {"memory", of.integer("memory", 1, 0)}};
  of.weights("resources", settings.weights);
  settings.weight = static_cast<double>(of.integer("weight", 1, 0));
  settings.packs_other_tasks = of.flag("packs_other_pods", true);
  settings.fading = of.number("fading", 0.8, 0);
  settings.most_to_evict_from = static_cast<std::size_t>(of.integer("evict_domains", 8, 1));
  return make_network(std::move(settings));
}

std::unique_ptr<plugin> made_binpack(settings_of& of) {
  policy::resource_weights weights{{"cpu", of.integer("cpu", 1, 0)}, {"memory", of.integer("memory", 1, 0)}};
  of.weights("resources", weights);
  return make_binpack(std::move(weights), of.integer("weight", 1, 0));
}

std::unique_ptr<plugin> made_strategy_fit(settings_of& of) {
  policy::strategy_fit_settings fit;
  fit.weight = of.integer("weight", fit.weight, 0);
  policy::resource_strategies own;
  of.strategies("resources", own);
  if (!own.empty()) fit.resources = std::move(own);
  policy::scarcity_settings scarcity;
  scarcity.weight = of.integer("scarce.weight", 0, 0);
  of.weights("scarce.resources", scarcity.resources);
  return make_strategy_fit(std::move(fit), std::move(scarcity), {});
}

std::unique_ptr<plugin> made_usage(settings_of& of) {
  constexpr double mebibyte = 1048576;
  usage_settings made;
  made.weight = of.integer("weight", made.weight, 0);
  made.weights = {of.integer("cpu", 1, 0), of.integer("memory", 1, 0)};
  made.thresholds = {of.number("most_cpu", made.thresholds.cpu, 0),
                     of.number("most_memory", made.thresholds.memory, 0)};
  made.request_ratio = of.number("request_ratio", made.request_ratio, 0);
  made.risk_threshold = of.number("risk_threshold", made.risk_threshold, 0);
  made.risk_factor = of.number("risk_factor", made.risk_factor, 1);
  made.cpu_of_none = of.number("cpu_of_none", made.cpu_of_none, 0);
  made.memory_of_none = of.number("memory_of_none", made.memory_of_none / mebibyte, 0) * mebibyte;
  made.measured_after = of.seconds("measured_after", 30);
  return make_usage(made);
}

constexpr std::array<std::pair<std::string_view, maker>, 18> all_plugins{{
    {"binpack", made_binpack},
    {"capacity", [](settings_of& of) { return make_capacity(of.integer("ancestor_levels", 0, 0)); }},
    {"cdp", [](settings_of&) { return make_cooldown(); }},
    {"conformance", [](settings_of&) { return make_conformance(); }},
    {"drf", [](settings_of&) { return make_drf(); }},
    {"gang", [](settings_of&) { return make_gang(); }},
    {"network-topology-aware", made_network},
    {"nodegroup",
     [](settings_of& of) { return make_node_group(of.flag("strict", true), of.flag("preferred_in_order", false)); }},
    {"nodeorder",
     [](settings_of& of) {
       return make_node_order({of.integer("least", 1, 0), of.integer("most", 0, 0), of.integer("balanced", 1, 0),
                               of.flag("balanced_gpus", true), of.integer("taints", 3, 0), of.integer("affinity", 2, 0),
                               of.integer("pods", 2, 0), of.flag("scales_affinity", true),
                               of.integer("required_pods", 0, 0), of.integer("spread", 2, 0)});
     }},
    {"overcommit", [](settings_of& of) { return make_overcommit(of.number("factor", 1.2, 1)); }},
    {"pdb", [](settings_of&) { return make_budgets(); }},
    {"predicates", [](settings_of&) { return make_predicates(); }},
    {"priority", [](settings_of&) { return make_priority(); }},
    {"proportion", [](settings_of&) { return make_proportion(); }},
    {"resource-strategy-fit", made_strategy_fit},
    {"sla", [](settings_of& of) { return make_sla(of.seconds("waiting_time", 0)); }},
    {"task-topology", [](settings_of& of) { return make_task_topology(of.integer("weight", 1, 0)); }},
    {"usage", made_usage},
}};

constexpr std::array<std::pair<std::string_view, tiered_action>, 7> all_actions{{
    {"enqueue", tiered_action::enqueue},
    {"allocate", tiered_action::allocate},
    {"backfill", tiered_action::backfill},
    {"preempt", tiered_action::preempt},
    {"reclaim", tiered_action::reclaim},
    {"gangpreempt", tiered_action::gangpreempt},
    {"gangreclaim", tiered_action::gangreclaim},
}};

/// First members of pairs.
template <class Pairs>
constexpr auto names_of(const Pairs& pairs) {
  std::array<std::string_view, std::tuple_size_v<Pairs>> names{};
  std::ranges::transform(pairs, names.begin(), [](const auto& one) { return one.first; });
  return names;
}
constexpr auto all_plugin_names = names_of(all_plugins);
constexpr auto all_point_names = names_of(all_points);
constexpr auto all_action_names = names_of(all_actions);

std::string unknown(std::string_view option, std::string_view kind, std::string_view name,
                    std::span<const std::string_view> known) {
  return "option " + std::string(option) + ": there is no " + std::string(kind) + " '" + base::shown(name) + "'" +
         schedulers::did_you_mean(name, known);
}

result<std::vector<setting>> split_settings(const std::vector<std::string>& texts) {
  std::vector<setting> all;
  for (const std::string& text : texts) {
    const auto assigned = split_at(text, '=');
    const auto path = assigned ? split_at(assigned->first, '.') : std::nullopt;
    if (!path || path->first.empty() || path->second.empty())
      return bad_plan("option volcano.settings: '" + base::shown(text) + "' is not plugin.key=value");
    all.push_back({text, path->first, path->second, assigned->second});
  }
  return all;
}

result<void> add_tiers(const option_texts& plan, std::vector<setting>& settings, scheduler_setup& to) {
  std::vector<std::string_view> seen;
  std::optional<error> fault;
  for (const std::string& names : plan.tiers) {
    tier& of = to.tiers.emplace_back();
    for (std::string_view rest = names; !rest.empty();) {
      const std::string_view name = rest.substr(0, rest.find('+'));
      rest.remove_prefix(std::min(rest.size(), name.size() + 1));
      const auto* const known = std::ranges::find_if(all_plugins, [&](const auto& one) { return one.first == name; });
      if (known == all_plugins.end()) return bad_plan(unknown("volcano.tiers", "plug-in", name, all_plugin_names));
      if (std::ranges::find(seen, name) != seen.end())
        return bad_plan("option volcano.tiers: '" + std::string(name) + "' stands there twice");
      seen.push_back(name);
      settings_of own(settings, name, fault);
      const points on = own.where();
      of.push_back({known->second(own), on});
      if (fault) return *fault;
      if (name == "gang" && on.test(static_cast<std::size_t>(point::job_ready))) to.keeps_gangs = true;
    }
  }
  return {};
}

result<void> add_actions(const option_texts& plan, std::vector<setting>& settings, scheduler_setup& to) {
  std::optional<error> fault;
  for (const std::string& name : plan.actions) {
    const auto* const found = std::ranges::find_if(all_actions, [&](const auto& one) { return one.first == name; });
    if (found == all_actions.end()) return bad_plan(unknown("volcano.actions", "action", name, all_action_names));
    to.actions.push_back(found->second);
  }
  settings_of preempt(settings, "preempt", fault);
  to.preemption.by_trials = preempt.flag("trials", false);
  to.preemption.percent_of_nodes = preempt.integer("percent_of_nodes", 10, 0);
  to.preemption.fewest_nodes = preempt.integer("fewest_nodes", 1, 1);
  to.preemption.most_nodes = preempt.integer("most_nodes", 100, 1);
  to.preemption.any_queue = preempt.flag("any_queue", false);
  to.preemption.by_start = preempt.flag("by_start", false);
  to.preemption.for_nothing = preempt.flag("for_nothing", false);
  for (const auto& [name, into] : {std::pair{std::string_view("gangpreempt"), &to.gang_preemption},
                                   std::pair{std::string_view("gangreclaim"), &to.gang_reclaim}}) {
    settings_of own(settings, name, fault);
    into->most_domains = static_cast<std::size_t>(own.integer("most_domains", 8, 1));
    into->whole_jobs = own.flag("whole_jobs", true);
  }
  settings_of jobs(settings, "jobs", fault);
  to.jobs.one_queue = jobs.flag("one_queue", false);
  to.jobs.by_pod = jobs.flag("by_pod", false);
  to.keeps_gangs = to.keeps_gangs && !to.jobs.by_pod;
  if (fault) return *fault;
  return {};
}

}  // namespace

result<scheduler_setup> make_setup(const option_texts& plan) {
  scheduler_setup made;
  result<std::vector<setting>> settings = split_settings(plan.settings);
  if (!settings) return settings.failure();
  if (auto done = add_tiers(plan, *settings, made); !done) return done.failure();
  if (auto done = add_actions(plan, *settings, made); !done) return done.failure();
  const auto idle = std::ranges::find_if(*settings, [](const setting& one) { return !one.known; });
  if (idle != settings->end()) {
    return bad_plan("option volcano.settings: '" + base::shown(idle->text) +
                    "' belongs to no plug-in of the tiers, or " + "there is no such setting");
  }
  return made;
}

std::span<const std::string_view> plugin_names() { return all_plugin_names; }

std::span<const std::string_view> point_names() { return all_point_names; }

std::span<const std::string_view> action_names() { return all_action_names; }

}  // namespace kaisched::volcano
