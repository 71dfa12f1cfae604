#pragma once
/// @file
/// The presets of the library: files of data/presets, read when the library is built.

#include <span>
#include <string_view>

namespace kaisched::engine_detail {

/// One line an option, `name = value`, on top of the options of an engine without a preset. Lines `alias = name` are
/// other names of the preset; lines that begin with `#` say what it follows.
struct preset_file {
  std::string_view name;
  std::string_view text;
};
/// By name. Threads: any.
[[nodiscard]] std::span<const preset_file> preset_files() noexcept;

/// The preset of the newest revision that a name of an earlier one stands for, or the name itself.
[[nodiscard]] std::string_view newest_revision(std::string_view name) noexcept;

}  // namespace kaisched::engine_detail
