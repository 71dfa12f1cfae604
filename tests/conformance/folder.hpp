#pragma once
/// @file
/// Finds the cases in a folder and has them judged.

#include <filesystem>
#include <string>

#include "conformance/report.hpp"
#include "conformance/schemas.hpp"

namespace kaisched::conformance {

struct folder_options {
  std::string only;             ///< judge only files whose path contains this
  bool supported_only = false;  ///< leave out what needs features that the engine does not have
  judge_options judge;
};

/// Judges all cases below a folder, or those of one file: every `.json` file is a case, every line of a `.jsonl` file
/// is one. A file whose stem is all capitals (README, INDEX, DEFAULTS) is about the cases and not one of them.
/// @throws std::filesystem::filesystem_error if the folder cannot be read.
[[nodiscard]] report judge_folder(const std::filesystem::path& root, const folder_options& options);

}  // namespace kaisched::conformance
