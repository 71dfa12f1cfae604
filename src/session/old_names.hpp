#pragma once
/// @file
/// Names of options and actions that were used up to version 0.1. Engines take them for one more version, with a
/// warning, so that a host can be updated before its configuration. Recordings have them for ever: what was written is
/// read again.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kaisched::session_detail {

/// The present name of an option or an action; a name that was not replaced is its own.
[[nodiscard]] std::string_view current_option(std::string_view name) noexcept;
[[nodiscard]] std::string_view current_action(std::string_view name) noexcept;

/// Notes that an old name was used, once for each name; a present name adds nothing.
void warn_of_old_option(std::string_view name, std::vector<std::string>& warnings);
void warn_of_old_action(std::string_view name, std::vector<std::string>& warnings);
/// Old names in a list of actions are replaced, with a warning for each.
void update_actions(std::vector<std::string>& actions, std::vector<std::string>& warnings);

/// The same option by its present name and with the present names of actions in its value, without a warning.
[[nodiscard]] std::pair<std::string, std::string> current_setting(std::string_view option, std::string_view value);
/// The reverse: the option as version 0.1 calls it, for a program of that version.
[[nodiscard]] std::pair<std::string, std::string> old_setting(std::string_view option, std::string_view value);

}  // namespace kaisched::session_detail
