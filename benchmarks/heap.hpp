#pragma once
/// @file
/// What the program takes from the heap. Linking `heap.cpp` replaces the global operators new and delete; one thread.

#include <cstdint>

namespace kaisched::bench {

struct heap_use {
  std::int64_t calls = 0;  ///< of operator new, since the program began
  std::int64_t bytes = 0;  ///< in use, as the allocator has rounded them
};

[[nodiscard]] heap_use heap_now();

}  // namespace kaisched::bench
