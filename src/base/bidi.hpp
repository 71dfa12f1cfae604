#pragma once
/// @file
/// Characters that let a text look other than it is.

namespace kaisched::base {

/// Changes the direction of the text around it (Unicode 15, UAX 9), or begins another line: what stands on a screen is
/// not in the order of the bytes.
[[nodiscard]] constexpr bool reorders_text(char32_t code) {
  return code == 0x061C || code == 0x200E || code == 0x200F || (code >= 0x2028 && code <= 0x202E) ||
         (code >= 0x2066 && code <= 0x2069);
}

}  // namespace kaisched::base
