#pragma once
/// @file
/// Arrays of fixed size with several owners.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <utility>

namespace kaisched::base {

/// What `std::shared_ptr<T[]>` is, with the elements constructed once: a copy of an array is not initialised before.
/// The count of owners stands in front of the elements.
template <class T>
class shared_array {
 public:
  shared_array() = default;
  /// So many elements, value-initialised.
  explicit shared_array(std::uint32_t size) : shared_array(nullptr, 0, size) {}
  /// The first elements of another one, and value-initialised ones up to the size.
  shared_array(const shared_array& from, std::uint32_t count, std::uint32_t size)
      : shared_array(count == 0 ? nullptr : from.elements(), count, size) {}

  shared_array(const shared_array& other) noexcept : block_(other.block_) {
    if (block_ != nullptr) block_->owners.fetch_add(1, std::memory_order_relaxed);
  }
  shared_array(shared_array&& other) noexcept : block_(std::exchange(other.block_, nullptr)) {}
  shared_array& operator=(shared_array other) noexcept {
    std::swap(block_, other.block_);
    return *this;
  }
  ~shared_array() {
    if (block_ == nullptr || block_->owners.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    std::destroy_n(elements(), block_->size);
    ::operator delete(block_);
  }

  [[nodiscard]] T& operator[](std::uint32_t i) const { return elements()[i]; }
  /// Nobody else holds it; what a former owner did with the elements has happened.
  [[nodiscard]] bool has_one_owner() const { return block_->owners.load(std::memory_order_acquire) == 1; }

 private:
  struct block {
    explicit block(std::uint32_t n) : size(n) {}
    std::atomic<std::uint32_t> owners{1};
    std::uint32_t size;
  };
  static constexpr std::size_t offset = sizeof(block) > alignof(T) ? sizeof(block) : alignof(T);
  static_assert(offset % alignof(T) == 0 && alignof(T) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__);

  shared_array(const T* from, std::uint32_t count, std::uint32_t size) {
    void* const memory = ::operator new(offset + std::size_t{size} * sizeof(T));
    T* const to = static_cast<T*>(static_cast<void*>(static_cast<std::byte*>(memory) + offset));
    std::uint32_t made = 0;
    try {
      std::uninitialized_copy_n(from, count, to);
      made = count;
      std::uninitialized_value_construct_n(to + count, size - count);
    } catch (...) {
      std::destroy_n(to, made);
      ::operator delete(memory);
      throw;
    }
    block_ = ::new (memory) block(size);
  }

  [[nodiscard]] T* elements() const {
    return static_cast<T*>(static_cast<void*>(reinterpret_cast<std::byte*>(block_) + offset));
  }

  block* block_ = nullptr;
};

}  // namespace kaisched::base
