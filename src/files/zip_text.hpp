#pragma once
/// @file
/// Texts in ZIP archives.

#include <string>
#include <string_view>

#include <kaisched/result.hpp>

namespace kaisched::io {

/// Whether bytes begin as a ZIP archive does.
[[nodiscard]] bool is_zip(std::string_view bytes);

/// The only file of an archive whose name ends in `.json`. Errors: `argument` if the archive is damaged or has another
/// number of them, `limit` for more bytes than `limit_of_input`; they name `source` and the file.
[[nodiscard]] result<std::string> unzip_json(std::string_view bytes, std::string_view source);

}  // namespace kaisched::io
