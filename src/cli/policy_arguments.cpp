#include "cli/policy_arguments.hpp"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include <kaisched/options.hpp>

#include "cli/terminal.hpp"
#include "policy/parts.hpp"
#include "session/action_list.hpp"

namespace kaisched::cli {

namespace {

std::vector<std::string> words_of(std::string_view list) {
  std::vector<std::string> words;
  while (!list.empty()) {
    const std::size_t blank = list.find(' ');
    words.emplace_back(list.substr(0, blank));
    list.remove_prefix(blank == std::string_view::npos ? list.size() : blank + 1);
  }
  return words;
}

const option_info* find_option(std::string_view name) {
  for (const option_info& option : option_list()) {
    if (option.name == name) return &option;
  }
  return nullptr;
}

/// Proposals for the last element of a list that is separated by commas.
std::vector<proposal> list_proposals(std::string_view lead, std::string_view begun, std::string_view option) {
  const std::size_t comma = begun.rfind(',');
  const std::string_view kept = comma == std::string_view::npos ? std::string_view{} : begun.substr(0, comma + 1);
  std::vector<proposal> found;
  for (const std::string& value : values_of_option(option))
    found.push_back({fmt::format("{}{}{}", lead, kept, value), ""});
  return found;
}

std::vector<proposal> setting_proposals(std::span<const std::string>, std::string_view begun) {
  std::vector<proposal> found;
  const std::size_t equals = begun.find('=');
  if (equals == std::string_view::npos) {
    for (const option_info& option : option_list()) {
      if (option.applies_to != option_target::engine) continue;
      found.push_back({std::string(option.name) + "=", std::string(option.doc)});
    }
    return found;
  }
  return list_proposals(begun.substr(0, equals + 1), begun.substr(equals + 1), begun.substr(0, equals));
}

std::vector<proposal> action_proposals(std::span<const std::string>, std::string_view begun) {
  return list_proposals("", begun, "actions");
}

}  // namespace

std::vector<std::string> values_of_option(std::string_view option) {
  const option_info* info = find_option(option);
  if (info == nullptr) return {};
  if (info->type == option_type::boolean) return {"true", "false"};
  if (!info->choices.empty()) return words_of(info->choices);
  std::vector<std::string> names;
  if (option == "actions") {
    for (const session_detail::action_entry& action : session_detail::action_list()) names.emplace_back(action.name);
  } else if (option == "parts") {
    for (const policy::part_entry& part : policy::built_in_parts()) names.emplace_back(part.name);
  }
  return names;
}

value_form option_setting() {
  value_form form = any_value("OPTION=VALUE");
  form.proposals = setting_proposals;
  return form;
}

void add_policy_arguments(command& to, policy_arguments& told) {
  to.heading("Policy");
  to.option("--preset", &told.preset, one_of("NAME", values_of_option("preset")), "Options to start from (kai)");
  to.option("--mode", &told.mode, one_of("MODE", values_of_option("mode")),
            "Exact arithmetic, or as the reference computes");
  to.option("--placement", &told.placement, one_of("RULE", values_of_option("placement.gpu")),
            "Fill used nodes first, or prefer empty ones");
  value_form actions = any_value("LIST");
  actions.proposals = action_proposals;
  to.option("--actions", &told.actions, actions, "Actions to run, in order, separated by commas");
  to.option("--set", &told.settings, option_setting(), "Sets one option, see `kaisched options`");
}

result<engine> make_engine(const policy_arguments& told) {
  engine made;
  result<std::shared_ptr<const device_catalog>> catalog = shipped_device_catalog();
  if (!catalog) return catalog.take_failure();
  made.set_device_catalog(std::move(*catalog));
  const auto set = [&](std::string_view option, std::string_view value) {
    return value.empty() ? result<void>{} : made.set(option, value);
  };
  if (auto done = set("preset", told.preset); !done) return done.take_failure();
  if (auto done = set("mode", told.mode); !done) return done.take_failure();
  if (auto done = set("actions", told.actions); !done) return done.take_failure();
  for (const std::string_view option : {"placement.gpu", "placement.cpu"}) {
    if (auto done = set(option, told.placement); !done) return done.take_failure();
  }
  for (const std::string& setting : told.settings) {
    const std::size_t equals = setting.find('=');
    if (equals == std::string::npos) {
      return error{status::argument, fmt::format("--set {}: expected OPTION=VALUE", setting), {}};
    }
    const std::string_view text(setting);
    if (auto done = made.set(text.substr(0, equals), text.substr(equals + 1)); !done) return done.take_failure();
  }
  for (const std::string& text : made.options().warnings) print_warning(text);
  return made;
}

void warn_of_old_names(std::span<const std::string> settings) {
  policy_options trial;
  for (const std::string_view text : settings) {
    const std::size_t equals = text.find('=');
    if (equals != std::string_view::npos) static_cast<void>(trial.set(text.substr(0, equals), text.substr(equals + 1)));
  }
  for (const std::string& text : trial.warnings) print_warning(text);
}

}  // namespace kaisched::cli
