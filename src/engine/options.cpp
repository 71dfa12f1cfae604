#include <array>
#include <charconv>
#include <cmath>

#include <kaisched/options.hpp>

#include "base/nearest.hpp"
#include "base/text.hpp"

namespace kaisched {

namespace {

constexpr std::string_view kai_parts =
    "predicates,proportion,priority,elastic,nodeavailability,resourcetype,nominatednode,nodeplacement";

constexpr std::array options{
    option_info{"actions", option_type::list, "allocate", 0, 0, "", "actions that a session runs, in order"},
    option_info{"mode", option_type::choice, "strict", 0, 0, "compat strict",
                "compat: as the reference, floating point and defects included; strict: exact arithmetic and the "
                "documented repairs"},
    option_info{
        "on_invalid", option_type::choice, "reject", 0, 0, "reject quarantine",
        "what a cluster does about a bad row: reject the whole delta, or leave out the row and what depends on it",
        option_target::cluster},
    option_info{"parts", option_type::list, kai_parts, 0, 0, "",
                "parts of the policy, in order; scores are summed and groups are ordered in this order"},
    option_info{"placement.cpu", option_type::choice, "binpack", 0, 0, "binpack spread",
                "placement of pods without GPUs, by free CPU"},
    option_info{"placement.gpu", option_type::choice, "binpack", 0, 0, "binpack spread",
                "placement of pods with GPUs, by free GPUs"},
    option_info{"preset", option_type::choice, "kai-0.17", 0, 0, "kai kai-0.17",
                "bundle of options; setting it resets all others"},
    option_info{"proportion.k", option_type::number, "1", 0, 1e6, "",
                "weight of historical usage in the division of over-quota resources"},
    option_info{"queue_depth.allocate", option_type::integer, "0", 0, 1e9, "",
                "pod groups per queue that allocate looks at; 0 is all"},
    option_info{"reference_path", option_type::boolean, "false", 0, 0, "",
                "ask every part about every node instead of using indexes; for tests, same decisions"},
    option_info{"restrict_node_scheduling", option_type::boolean, "false", 0, 0, "",
                "GPU pods need nodes labelled gpu-worker, other pods nodes labelled cpu-worker"},
};

constexpr std::array<std::string_view, 1> presets{"kai-0.17"};

std::string number_text(double value) {
  char text[32];
  const auto [end, failure] = std::to_chars(text, text + sizeof text, value);
  return {text, failure == std::errc{} ? end : text};
}

error bad_value(std::string_view name, std::string_view value, std::string_view expected) {
  return {status::argument,
          "option " + std::string(name) + ": '" + base::shown(value) + "' is not " + std::string(expected),
          {}};
}

std::vector<std::string> split_names(std::string_view text) {
  std::vector<std::string> names;
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    std::string_view name = text.substr(0, comma);
    while (!name.empty() && name.front() == ' ') name.remove_prefix(1);
    while (!name.empty() && name.back() == ' ') name.remove_suffix(1);
    if (!name.empty()) names.emplace_back(name);
    if (comma == std::string_view::npos) break;
    text.remove_prefix(comma + 1);
  }
  return names;
}

std::string join_names(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text.append(text.empty() ? "" : ",").append(name);
  return text;
}

const option_info* find_option(std::string_view name) {
  for (const option_info& o : options) {
    if (o.name == name) return &o;
  }
  return nullptr;
}

error unknown_option(std::string_view name) {
  std::vector<std::string_view> names;
  for (const option_info& o : options) names.push_back(o.name);
  std::string message = "there is no option '" + base::shown(name) + "'";
  const std::string_view nearest = base::nearest_name(name, names);
  if (!nearest.empty()) message += "; did you mean '" + std::string(nearest) + "'?";
  return {status::not_found, std::move(message), {}};
}

error other_target(std::string_view name) {
  return {status::argument, "option " + std::string(name) + " is one of a cluster, not of an engine", {}};
}

result<void> set_flag(bool& target, std::string_view name, std::string_view value) {
  if (value != "true" && value != "false") return bad_value(name, value, "true or false");
  target = value == "true";
  return {};
}

result<double> parse_number(const option_info& o, std::string_view value) {
  double number = 0;
  const auto [end, failure] = std::from_chars(value.data(), value.data() + value.size(), number);
  const bool good = failure == std::errc{} && end == value.data() + value.size() && std::isfinite(number) &&
                    number >= o.least && number <= o.most;
  if (!good || (o.type == option_type::integer && number != std::floor(number))) {
    const std::string_view kind = o.type == option_type::integer ? "an integer" : "a number";
    return bad_value(o.name, value, std::string(kind) + " from " + number_text(o.least) + " to " + number_text(o.most));
  }
  return number;
}

result<void> check_choice(const option_info& o, std::string_view value) {
  std::string_view rest = o.choices;
  while (!rest.empty()) {
    const std::size_t blank = rest.find(' ');
    if (rest.substr(0, blank) == value) return {};
    if (blank == std::string_view::npos) break;
    rest.remove_prefix(blank + 1);
  }
  return bad_value(o.name, value, "one of: " + std::string(o.choices));
}

std::string_view name_of(placement_strategy s) { return s == placement_strategy::spread ? "spread" : "binpack"; }

}  // namespace

std::span<const option_info> option_list() noexcept { return options; }

result<void> policy_options::set(std::string_view name, std::string_view value) {
  const option_info* o = find_option(name);
  if (o == nullptr) return unknown_option(name);
  if (o->applies_to != option_target::engine) return other_target(name);
  if (o->type == option_type::choice) {
    if (auto done = check_choice(*o, value); !done) return done;
  }
  double number = 0;
  if (o->type == option_type::integer || o->type == option_type::number) {
    result<double> parsed = parse_number(*o, value);
    if (!parsed) return parsed.failure();
    number = *parsed;
  }
  if (name == "preset") {
    result<policy_options> fresh = kaisched::preset(value);
    if (!fresh) return fresh.failure();
    *this = std::move(*fresh);
  } else if (name == "mode") {
    mode = value == "compat" ? decision_mode::compat : decision_mode::strict;
  } else if (name == "actions") {
    actions = split_names(value);
  } else if (name == "parts") {
    parts = split_names(value);
  } else if (name == "placement.gpu") {
    gpu_placement = value == "spread" ? placement_strategy::spread : placement_strategy::binpack;
  } else if (name == "placement.cpu") {
    cpu_placement = value == "spread" ? placement_strategy::spread : placement_strategy::binpack;
  } else if (name == "proportion.k") {
    fair_share_k = number;
  } else if (name == "queue_depth.allocate") {
    allocate_queue_depth = static_cast<std::int64_t>(number);
  } else if (name == "reference_path") {
    return set_flag(reference_path, name, value);
  } else {
    return set_flag(restrict_node_scheduling, name, value);
  }
  return {};
}

result<std::string> policy_options::get(std::string_view name) const {
  const option_info* o = find_option(name);
  if (o == nullptr) return unknown_option(name);
  if (o->applies_to != option_target::engine) return other_target(name);
  if (name == "preset") return std::string(preset);
  if (name == "mode") return std::string(mode == decision_mode::compat ? "compat" : "strict");
  if (name == "actions") return join_names(actions);
  if (name == "parts") return join_names(parts);
  if (name == "placement.gpu") return std::string(name_of(gpu_placement));
  if (name == "placement.cpu") return std::string(name_of(cpu_placement));
  if (name == "proportion.k") return number_text(fair_share_k);
  if (name == "queue_depth.allocate") return std::to_string(allocate_queue_depth);
  const bool flag = name == "reference_path" ? reference_path : restrict_node_scheduling;
  return std::string(flag ? "true" : "false");
}

result<policy_options> preset(std::string_view name) {
  if (name != "kai" && name != "kai-0.17") {
    return error{status::not_found, "there is no preset '" + base::shown(name) + "'; there are: kai (kai-0.17)", {}};
  }
  policy_options o;
  o.parts = split_names(kai_parts);
  return o;
}

std::span<const std::string_view> preset_names() noexcept { return presets; }

}  // namespace kaisched
