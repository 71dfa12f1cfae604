#pragma once
/// @file
/// How decisions are to be made.

#include <span>
#include <string>
#include <vector>

#include <kaisched/engine.hpp>
#include <kaisched/result.hpp>

#include "cli/command.hpp"

namespace kaisched::cli {

/// Empty strings leave what the preset says.
struct policy_arguments {
  std::string preset;
  std::string mode;
  std::string placement;
  std::string actions;
  std::vector<std::string> settings;  ///< option=value
};
void add_policy_arguments(command& to, policy_arguments& told);

/// OPTION=VALUE, with what a shell can offer for both.
[[nodiscard]] value_form option_setting();

/// Preset first, then the options that have arguments of their own, then `--set` in order. Warns of names of the
/// version before.
[[nodiscard]] result<engine> make_engine(const policy_arguments& told);

/// Warns of names of the version before in OPTION=VALUE, where no engine is made of them.
void warn_of_old_names(std::span<const std::string> settings);

/// Values that an option of the table can take, as far as they can be listed.
[[nodiscard]] std::vector<std::string> values_of_option(std::string_view option);

}  // namespace kaisched::cli
