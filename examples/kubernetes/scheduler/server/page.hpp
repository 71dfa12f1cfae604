#pragma once
/// @file
/// The page of the program, built from page.html.

#include <string_view>

namespace shim {

/// HTML with `{{nonce}}` where the one of the answer belongs.
[[nodiscard]] std::string_view page_html() noexcept;

}  // namespace shim
