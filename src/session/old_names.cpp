#include "session/old_names.hpp"

#include <algorithm>
#include <array>
#include <span>

#include "base/text.hpp"

namespace kaisched::session_detail {

namespace {

struct replaced_name {
  std::string_view old_name;
  std::string_view new_name;
};

constexpr std::array replaced_options{
    replaced_name{"admission.settings", "kueue.settings"},
    replaced_name{"cells.lazy_preemption", "hived.lazy_preemption"},
    replaced_name{"cells.opportunistic_below", "hived.opportunistic_below"},
    replaced_name{"cells.owned", "hived.owned_cells"},
    replaced_name{"cells.topology", "hived.topology"},
    replaced_name{"tiers", "volcano.tiers"},
    replaced_name{"tiers.actions", "volcano.actions"},
    replaced_name{"tiers.settings", "volcano.settings"},
    replaced_name{"turns.settings", "yunikorn.settings"},
};
constexpr std::array replaced_actions{
    replaced_name{"admission", "kueue"},
    replaced_name{"cells", "hived"},
    replaced_name{"tiers", "volcano"},
    replaced_name{"turns", "yunikorn"},
};

std::string_view current(std::span<const replaced_name> all, std::string_view name) noexcept {
  const auto found = std::ranges::find(all, name, &replaced_name::old_name);
  return found == all.end() ? name : found->new_name;
}

std::string_view old(std::span<const replaced_name> all, std::string_view name) noexcept {
  const auto found = std::ranges::find(all, name, &replaced_name::new_name);
  return found == all.end() ? name : found->old_name;
}

std::pair<std::string, std::string> renamed(std::string_view option, std::string_view value, const auto& of_option,
                                            const auto& of_action) {
  std::pair<std::string, std::string> made(of_option(option), value);
  if (option != "actions") return made;
  made.second.clear();
  for (const std::string& name : base::split_names(value)) {
    made.second.append(made.second.empty() ? "" : ",").append(of_action(name));
  }
  return made;
}

void warn(std::string_view kind, std::string_view old_name, std::string_view new_name,
          std::vector<std::string>& warnings) {
  if (old_name == new_name) return;
  std::string text(kind);
  text.append(" '").append(old_name).append("' is called '").append(new_name);
  text += "' since 0.2; the old name will not be accepted in 0.3";
  if (std::ranges::find(warnings, text) == warnings.end()) warnings.push_back(std::move(text));
}

}  // namespace

std::string_view current_option(std::string_view name) noexcept { return current(replaced_options, name); }
std::string_view current_action(std::string_view name) noexcept { return current(replaced_actions, name); }

void warn_of_old_option(std::string_view name, std::vector<std::string>& warnings) {
  warn("option", name, current_option(name), warnings);
}
void warn_of_old_action(std::string_view name, std::vector<std::string>& warnings) {
  warn("action", name, current_action(name), warnings);
}

void update_actions(std::vector<std::string>& actions, std::vector<std::string>& warnings) {
  for (std::string& name : actions) {
    warn_of_old_action(name, warnings);
    name = current_action(name);
  }
}

std::pair<std::string, std::string> current_setting(std::string_view option, std::string_view value) {
  return renamed(option, value, current_option, current_action);
}
std::pair<std::string, std::string> old_setting(std::string_view option, std::string_view value) {
  return renamed(
      option, value, [](std::string_view name) { return old(replaced_options, name); },
      [](std::string_view name) { return old(replaced_actions, name); });
}

}  // namespace kaisched::session_detail
