#pragma once

namespace kaisched::base {

/// 128-bit integer for products of two 64-bit amounts.
__extension__ using int128 = __int128;

}  // namespace kaisched::base
