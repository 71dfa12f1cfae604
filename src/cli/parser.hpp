#pragma once
/// @file
/// From words to a command.

#include <string>
#include <vector>

#include "cli/command.hpp"
#include "cli/console.hpp"

namespace kaisched::cli {

/// What the words ask for.
struct request {
  enum class kind : std::uint8_t { command, help, version, mistake };
  kind what = kind::mistake;
  const command* chosen = nullptr;  ///< the command that is to run, or whose help is asked for; may be null for help
  std::string mistake;              ///< one sentence
};

/// Understands the words and fills the variables of the chosen command and the common ones.
[[nodiscard]] request understand(const command_list& commands, common_arguments& common,
                                 std::vector<std::string> words);

}  // namespace kaisched::cli
