#pragma once
/// @file
/// A memory resource that keeps blocks that were given back, for those that are asked for later. A failed allocation
/// throws `std::bad_alloc` and changes nothing; the pools of libstdc++ 12 go on with a null pointer where the list of
/// their chunks cannot grow.

#include <array>
#include <bit>
#include <cstddef>
#include <memory_resource>
#include <new>

namespace kaisched::base {

/// Blocks have sizes that are powers of two. Small ones are cut from slabs, which go back when the pool is destroyed;
/// those that are larger than `largest` go back at once. Threads: exclusive use.
class block_pool final : public std::pmr::memory_resource {
 public:
  explicit block_pool(std::size_t largest = std::size_t{1} << 12U) noexcept : largest_(std::bit_ceil(largest)) {}
  block_pool(const block_pool&) = delete;
  block_pool& operator=(const block_pool&) = delete;
  ~block_pool() override {
    while (slabs_ != nullptr) {
      slab* const next = slabs_->next;
      const std::size_t size = slabs_->size;
      ::operator delete(static_cast<void*>(slabs_), size);
      slabs_ = next;
    }
  }

 private:
  static constexpr std::size_t smallest = 16;
  static constexpr std::size_t largest_of_slab = std::size_t{1} << 10U;  ///< larger blocks have slabs of their own
  static constexpr std::size_t largest_slab = std::size_t{1} << 16U;
  static constexpr std::size_t alignment_of_slab = __STDCPP_DEFAULT_NEW_ALIGNMENT__;

  struct free_block {
    free_block* next;
  };
  struct alignas(alignment_of_slab) slab {
    slab* next;
    std::size_t size;
  };
  static_assert(smallest >= sizeof(free_block) && smallest >= alignment_of_slab);

  static std::size_t class_of(std::size_t bytes) noexcept {
    return static_cast<std::size_t>(std::countr_zero(std::bit_ceil(bytes < smallest ? smallest : bytes)));
  }
  [[nodiscard]] bool is_pooled(std::size_t bytes, std::size_t alignment) const noexcept {
    return bytes <= largest_ && alignment <= alignment_of_slab;
  }

  void* do_allocate(std::size_t bytes, std::size_t alignment) override {
    if (!is_pooled(bytes, alignment)) return std::pmr::new_delete_resource()->allocate(bytes, alignment);
    const std::size_t number = class_of(bytes);
    free_block*& first = free_[number];
    if (first == nullptr) grow(number);
    free_block* const taken = first;
    first = taken->next;
    return taken;
  }
  void do_deallocate(void* block, std::size_t bytes, std::size_t alignment) override {
    if (!is_pooled(bytes, alignment)) return std::pmr::new_delete_resource()->deallocate(block, bytes, alignment);
    free_block*& first = free_[class_of(bytes)];
    first = ::new (block) free_block{first};
  }
  [[nodiscard]] bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override {
    return this == &other;
  }

  /// Blocks of that class, twice as many as the last time.
  void grow(std::size_t number) {
    const std::size_t size = std::size_t{1} << number;
    std::size_t& count = next_count_[number];
    const std::size_t blocks = size > largest_of_slab ? 1 : count == 0 ? 8 : count;
    const std::size_t bytes = sizeof(slab) + blocks * size;
    auto* const made = ::new (::operator new(bytes)) slab{slabs_, bytes};
    slabs_ = made;
    std::byte* const begin = reinterpret_cast<std::byte*>(made) + sizeof(slab);
    for (std::size_t i = blocks; i-- > 0;) free_[number] = ::new (begin + i * size) free_block{free_[number]};
    if (2 * blocks * size <= largest_slab) count = 2 * blocks;
  }

  std::size_t largest_;
  slab* slabs_ = nullptr;
  std::array<free_block*, 64> free_{};
  std::array<std::size_t, 64> next_count_{};
};

}  // namespace kaisched::base
