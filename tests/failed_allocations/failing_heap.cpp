#include "failing_heap.hpp"

#include <atomic>
#include <cerrno>
#include <cstddef>

extern "C" {
// NOLINTBEGIN(bugprone-reserved-identifier): names of glibc
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* block, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);
void __libc_free(void* block);
// NOLINTEND(bugprone-reserved-identifier)
}

namespace {

// Plain words with static initialization: they are used before anything is constructed.
std::atomic<long> live{0};
thread_local long left = -1;  // allocations until the one that fails; negative: none does
thread_local bool fails_on = false;
thread_local bool has_failed = false;

bool is_to_fail() {
  if (left < 0) return false;
  if (left > 0) {
    --left;
    return false;
  }
  if (!fails_on) left = -1;
  has_failed = true;
  errno = ENOMEM;
  return true;
}

void* counted(void* block) {
  if (block != nullptr) live.fetch_add(1, std::memory_order_relaxed);
  return block;
}

}  // namespace

extern "C" {

void* malloc(std::size_t size) { return is_to_fail() ? nullptr : counted(__libc_malloc(size)); }
void* calloc(std::size_t count, std::size_t size) {
  return is_to_fail() ? nullptr : counted(__libc_calloc(count, size));
}
void* realloc(void* block, std::size_t size) {
  if (is_to_fail()) return nullptr;
  void* const made = __libc_realloc(block, size);
  return block == nullptr ? counted(made) : made;
}
void* memalign(std::size_t alignment, std::size_t size) {
  return is_to_fail() ? nullptr : counted(__libc_memalign(alignment, size));
}
void* aligned_alloc(std::size_t alignment, std::size_t size) { return memalign(alignment, size); }
int posix_memalign(void** out, std::size_t alignment, std::size_t size) {
  void* const made = memalign(alignment, size);
  if (made == nullptr) return ENOMEM;
  *out = made;
  return 0;
}
void free(void* block) {
  if (block != nullptr) live.fetch_sub(1, std::memory_order_relaxed);
  __libc_free(block);
}

}  // extern "C"

namespace failing_heap {

void arm(long n, failing how) {
  has_failed = false;
  fails_on = how == failing::from_then_on;
  left = n - 1;
}

bool disarm() {
  left = -1;
  return has_failed;
}

long live_blocks() { return live.load(std::memory_order_relaxed); }

}  // namespace failing_heap
