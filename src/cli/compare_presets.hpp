#pragma once
/// @file
/// One cluster decided under several presets, side by side.

#include <cstddef>
#include <string>

#include "cli/console.hpp"

namespace kaisched::cli {

/// `all`: each preset in its newest version.
/// @param file a cluster. @param presets names, separated by commas. @param most jobs that are listed.
/// @return the exit status.
[[nodiscard]] int compare_presets(const std::string& file, const std::string& presets, std::size_t most, console& to);

}  // namespace kaisched::cli
