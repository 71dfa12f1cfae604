#pragma once
/// @file
/// What a shell may offer for a word that is being typed.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command.hpp"

namespace kaisched::cli {

struct completion {
  std::vector<proposal> words;       ///< all begin with what has been typed
  bool files = false;                ///< the shell may add names of files
  std::vector<std::string> endings;  ///< of these files; empty: any
};

/// `before`: the words after the name of the program; `begun`: the word at the cursor, as far as it has been typed.
[[nodiscard]] completion complete(const command_list& commands, std::span<const std::string> before,
                                  std::string_view begun);

/// What a shell (bash, zsh or fish) has to load so that it asks the program.
[[nodiscard]] std::string_view completion_script(std::string_view shell) noexcept;

}  // namespace kaisched::cli
