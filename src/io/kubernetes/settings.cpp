#include "io/kubernetes/settings.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "base/text.hpp"
#include "io/kubernetes/quantity.hpp"
#include "io/kubernetes/queue_rules.hpp"

namespace kaisched::io::kubernetes {

namespace {

constexpr std::string_view kai_group = "kai.scheduler";
constexpr std::string_view volcano_group = "scheduling.volcano.sh";
constexpr std::string_view volcano_scheduler = "volcano";

void take(object& from, member section, std::string_view key, std::string& to) {
  if (const std::string_view text = from.text(section, key); !text.empty()) to = text;
}

void read_config(object& config, settings& to) {
  const member spec = config.section(config.root(), "spec");
  const member global = config.section(spec, "global");
  take(config, global, "queueLabelKey", to.queue_key);
  take(config, global, "nodePoolLabelKey", to.node_pool_key);
  take(config, config.section(config.section(spec, "binder"), "resourceReservation"), "appLabel", to.reservation_app);
  const member grouping = config.section(config.section(spec, "podGrouper"), "args");
  take(config, grouping, "defaultPrioritiesConfigMapName", to.kind_defaults);
  take(config, grouping, "defaultPrioritiesConfigMapNamespace", to.kind_defaults_space);
  if (find(grouping, "gangScheduleKnative")) to.gang_revisions = config.flag(grouping, "gangScheduleKnative");
  const std::string_view scheduler = config.text(global, "schedulerName");
  if (!scheduler.empty() && std::find(to.schedulers.begin(), to.schedulers.end(), scheduler) == to.schedulers.end()) {
    to.schedulers.emplace_back(scheduler);
  }
}

}  // namespace

void read_settings(std::vector<object>& objects, settings& to) {
  std::vector<std::string> pools;
  bool of_volcano = false;
  for (object& one : objects) {
    of_volcano = of_volcano || one.group() == volcano_group;
    if (one.group() != kai_group) continue;
    if (one.kind() == "Config") read_config(one, to);
    if (one.kind() == "SchedulingShard") {
      pools.emplace_back(one.text(one.section(one.root(), "spec"), "partitionLabelValue"));
    }
  }
  // Elsewhere that scheduler is one of others.
  if (of_volcano) to.schedulers.emplace_back(volcano_scheduler);
  if (!to.node_pool) to.node_pool = pools.size() == 1 ? pools.front() : std::string{};
}

result<void> set(settings& of, std::string_view name, std::string_view value) {
  if (name == "scheduler") {
    of.schedulers.emplace_back(value);
  } else if (name == "node_pool") {
    of.node_pool = value;
  } else if (name == "node_pool_label") {
    of.node_pool_key = value;
  } else if (name == "queue_label") {
    of.queue_key = value;
  } else if (name == "now") {
    const std::optional<std::int64_t> now = whole_number(value);
    if (!now) {
      return error{
          status::argument, fmt::format("now: expected an integer (ns), found \"{}\"", base::shown(value)), {}};
    }
    of.now = *now;
  } else if (name == "vendors") {
    result<std::shared_ptr<const device_catalog>> known = shipped_device_catalog();
    if (of.vendors != nullptr) known = of.vendors;
    if (!known) return known.take_failure();
    result<std::shared_ptr<const device_catalog>> more = extended_device_catalog(**known, value, "vendors");
    if (!more) return more.take_failure();
    of.vendors = std::move(*more);
  } else if (name == "find_devices" || name == "later_members") {
    if (value != "true" && value != "false") {
      return error{
          status::argument, fmt::format("{}: expected true or false, found \"{}\"", name, base::shown(value)), {}};
    }
    if (name == "find_devices") {
      of.find_devices = value == "true";
    } else {
      of.later_members = value == "true";
    }
  } else if (name == "queue_rules") {
    result<std::shared_ptr<const queue_rules>> read = parse_queue_rules(value, "queue_rules");
    if (!read) return read.take_failure();
    of.rules = std::move(*read);
  } else {
    return error{status::not_found,
                 fmt::format("no option is called '{}'; there are scheduler, node_pool, node_pool_label, queue_label, "
                             "now, vendors, find_devices, queue_rules and later_members",
                             base::shown(name)),
                 {}};
  }
  return {};
}

bool is_in_pool(const object& of, const settings& chosen) {
  return of.label(chosen.node_pool_key).value_or("") == *chosen.node_pool;
}

}  // namespace kaisched::io::kubernetes
