#include "usage/usage_fields.hpp"

#include <ctime>
#include <iomanip>
#include <sstream>

#include "configuration/fields.hpp"

namespace shim {

namespace {

/// RFC 3339 in UTC, to the second.
milli_time moment(const YAML::Node& value) {
  const std::string text = scalar(value);
  std::istringstream in(text);
  std::tm parts{};
  in >> std::get_time(&parts, "%Y-%m-%dT%H:%M:%SZ");
  if (in.fail() || in.peek() != std::istringstream::traits_type::eof()) {
    throw bad_input(fmt::format("expected a time such as 2026-01-31T00:00:00Z, found \"{}\"", text));
  }
  return static_cast<milli_time>(timegm(&parts)) * 1000;
}

const fields<std::array<std::string, 3>>& expression_list() {
  using node = YAML::Node;
  using texts = std::array<std::string, 3>;
  static const fields<texts> all{
      {"cpu", [](texts& to, const node& value) { to[0] = some_text(value); }},
      {"memory", [](texts& to, const node& value) { to[1] = some_text(value); }},
      {"gpu", [](texts& to, const node& value) { to[2] = some_text(value); }},
  };
  return all;
}

const fields<usage_settings>& usage_field_list() {
  using namespace std::chrono_literals;
  using node = YAML::Node;
  using settings = usage_settings;
  static const fields<settings> all{
      {"window", [](settings& to, const node& value) { to.window.size = long_duration(value, 1s); }},
      {"window_type",
       [](settings& to, const node& value) {
         to.window.type = one_of<window_type>(
             value,
             {{"sliding", window_type::sliding}, {"tumbling", window_type::tumbling}, {"cron", window_type::cron}});
       }},
      {"window_start", [](settings& to, const node& value) { to.window.start = moment(value); }},
      {"cron", [](settings& to, const node& value) { to.window.schedule = cron_schedule(scalar(value)); }},
      {"half_life", [](settings& to, const node& value) { to.half_life = long_duration(value, 0ms); }},
      {"interval", [](settings& to, const node& value) { to.interval = duration(value, 100ms); }},
      {"save_period", [](settings& to, const node& value) { to.save_period = duration(value, 100ms); }},
      {"namespace", [](settings& to, const node& value) { to.name_space = some_text(value); }},
      {"name", [](settings& to, const node& value) { to.name = some_text(value); }},
      {"prometheus", [](settings& to, const node& value) { read_prometheus(value, to.prometheus); }},
      {"stale_after", [](settings& to, const node& value) { to.stale_after = duration(value, 1s); }},
      {"resolution", [](settings& to, const node& value) { to.resolution = duration(value, 1s); }},
      {"allocated", [](settings& to, const node& value) { read_fields(value, expression_list(), to.allocated); }},
      {"capacity", [](settings& to, const node& value) { read_fields(value, expression_list(), to.capacity); }},
  };
  return all;
}

}  // namespace

void read_usage(const YAML::Node& value, usage_settings& to) {
  read_fields(value, usage_field_list(), to);
  to.enabled = true;
  const bool of_cron = to.window.type == window_type::cron;
  if (of_cron != value["cron"].IsDefined()) throw bad_input("cron and window_type: cron: one without the other");
  if (of_cron && value["window"].IsDefined()) throw bad_input("window: not with window_type: cron");
  if (value["window_start"].IsDefined() && to.window.type != window_type::tumbling) {
    throw bad_input("window_start: needs window_type: tumbling");
  }
  if (to.prometheus.url.empty()) {
    for (const char* const name : {"stale_after", "resolution", "allocated", "capacity"}) {
      if (value[name].IsDefined()) throw bad_input(fmt::format("{}: needs prometheus", name));
    }
    return;
  }
  for (const char* const name : {"namespace", "name", "save_period"}) {
    if (value[name].IsDefined()) throw bad_input(fmt::format("{}: not with prometheus, which keeps the past", name));
  }
  if (to.stale_after < to.interval) to.stale_after = to.interval;
}

}  // namespace shim
