#pragma once
/// @file
/// What --help prints.

#include "cli/command.hpp"
#include "cli/terminal.hpp"

namespace kaisched::cli {

/// What the program is, its commands by group, the first steps.
void print_overview(const terminal& out, const command_list& commands);
/// One command: how it is called, what it does, its arguments, examples.
void print_help(const terminal& out, const command& about);

}  // namespace kaisched::cli
