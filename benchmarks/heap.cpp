#include "benchmarks/heap.hpp"

#include <cstddef>
#include <cstdlib>
#include <malloc.h>
#include <new>

namespace {

kaisched::bench::heap_use use;

void* taken(void* at) {
  if (at == nullptr) throw std::bad_alloc();
  ++use.calls;
  use.bytes += static_cast<std::int64_t>(malloc_usable_size(at));
  return at;
}

void give_back(void* at) {
  if (at == nullptr) return;
  use.bytes -= static_cast<std::int64_t>(malloc_usable_size(at));
  std::free(at);
}

/// std::aligned_alloc wants whole multiples.
void* take_aligned(std::size_t size, std::align_val_t alignment) {
  const auto step = static_cast<std::size_t>(alignment);
  return taken(std::aligned_alloc(step, (size + step - 1) / step * step));
}

}  // namespace

namespace kaisched::bench {

heap_use heap_now() { return use; }

}  // namespace kaisched::bench

void* operator new(std::size_t size) { return taken(std::malloc(size == 0 ? 1 : size)); }
void* operator new[](std::size_t size) { return taken(std::malloc(size == 0 ? 1 : size)); }
void* operator new(std::size_t size, std::align_val_t alignment) { return take_aligned(size, alignment); }
void* operator new[](std::size_t size, std::align_val_t alignment) { return take_aligned(size, alignment); }
void operator delete(void* at) noexcept { give_back(at); }
void operator delete[](void* at) noexcept { give_back(at); }
void operator delete(void* at, std::size_t) noexcept { give_back(at); }
void operator delete[](void* at, std::size_t) noexcept { give_back(at); }
void operator delete(void* at, std::align_val_t) noexcept { give_back(at); }
void operator delete[](void* at, std::align_val_t) noexcept { give_back(at); }
void operator delete(void* at, std::size_t, std::align_val_t) noexcept { give_back(at); }
void operator delete[](void* at, std::size_t, std::align_val_t) noexcept { give_back(at); }
