#pragma once
/// @file
/// The list of commands.

#include "cli/command.hpp"

namespace kaisched::cli {

/// Everything that the program can do.
[[nodiscard]] command_list all_commands();

}  // namespace kaisched::cli
