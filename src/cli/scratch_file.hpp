#pragma once
/// @file
/// Files for programs that are asked something.

#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>
#include <unistd.h>

#include "io/scenario/scenario.hpp"

namespace kaisched::cli {

/// A file that is gone when it is no longer needed.
class scratch_file {
 public:
  scratch_file() : path_((std::filesystem::temp_directory_path() / "kaisched-XXXXXX.ks").string()) {
    const int file = mkstemps(path_.data(), static_cast<int>(io::scenario_ending.size()));
    if (file >= 0) close(file);
  }
  ~scratch_file() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  scratch_file(const scratch_file&) = delete;
  scratch_file& operator=(const scratch_file&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// A folder that is gone when it is no longer needed, with all that is in it.
class scratch_folder {
 public:
  scratch_folder() : path_((std::filesystem::temp_directory_path() / "kaisched-XXXXXX").string()) {
    if (mkdtemp(path_.data()) == nullptr) path_.clear();
  }
  ~scratch_folder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  scratch_folder(const scratch_folder&) = delete;
  scratch_folder& operator=(const scratch_folder&) = delete;
  /// Empty if it could not be made.
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace kaisched::cli
