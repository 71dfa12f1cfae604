#pragma once
/// @file
/// Copy-on-write storage. Copies share; the first write after a copy pays for what it touches, not for the whole.

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

#include "base/shared_array.hpp"

namespace kaisched::base {

/// Nobody else holds the object. The count itself is read without ordering: the fence makes what a former holder did
/// with the object happen before it is written.
template <class T>
[[nodiscard]] bool is_sole_owner(const std::shared_ptr<T>& body) {
  if (body.use_count() != 1) return false;
  std::atomic_thread_fence(std::memory_order_acquire);
  return true;
}

/// One object that copies share until one of them writes. For small arrays that are read as a whole.
template <class T>
class cow {
 public:
  cow() : body_(std::make_shared<T>()) {}
  explicit cow(T value) : body_(std::make_shared<T>(std::move(value))) {}

  [[nodiscard]] const T& operator*() const { return *body_; }
  [[nodiscard]] const T* operator->() const { return body_.get(); }
  /// The object for writing. References from `read` before this call may refer to the shared copy.
  [[nodiscard]] T& write() {
    if (!is_sole_owner(body_)) body_ = std::make_shared<T>(*body_);
    return *body_;
  }

 private:
  std::shared_ptr<T> body_;
};

/// A column in pages. Copying it is one reference count; writing an element copies its page, and the list of pages, if
/// they are shared. Pages grow with the column, so that neither is long.
template <class T>
class cow_column {
 public:
  [[nodiscard]] std::uint32_t size() const { return size_; }

  [[nodiscard]] const T& operator[](std::uint32_t i) const { return pages_[i >> bits_][i & (page_size() - 1)]; }

  [[nodiscard]] T& write(std::uint32_t i) {
    own_table();
    page& p = pages_[i >> bits_];
    if (!p.has_one_owner()) p = page(p, page_size(), page_size());
    return p[i & (page_size() - 1)];
  }

  /// Grows to at least `n` elements, value-initialised.
  void grow(std::uint32_t n) {
    if (n <= size_) return;
    own_table();
    if (bits_for(n) != bits_) repack(bits_for(n));
    grow_pages(n);
  }

 private:
  using page = shared_array<T>;

  [[nodiscard]] static constexpr std::uint32_t bits_for(std::uint32_t n) {
    return n <= (1U << 9U) ? 4 : n <= (1U << 10U) ? 6 : n <= (1U << 15U) ? 7 : 9;
  }
  [[nodiscard]] std::uint32_t page_size() const { return 1U << bits_; }

  void grow_pages(std::uint32_t n) {
    const std::uint32_t wanted = ((n - 1) >> bits_) + 1;
    if (wanted > room_) enlarge(std::max(wanted, room_ + room_ / 2));
    for (; count_ < wanted; ++count_) pages_[count_] = page(page_size());
    size_ = n;
  }

  void repack(std::uint32_t bits) {
    cow_column larger;
    larger.bits_ = bits;
    if (size_ > 0) larger.grow_pages(size_);
    for (std::uint32_t i = 0; i < size_; ++i) larger.pages_[i >> bits][i & (larger.page_size() - 1)] = (*this)[i];
    *this = std::move(larger);
  }

  void own_table() {
    if (room_ != 0 && !pages_.has_one_owner()) enlarge(room_);
  }

  /// A list of pages of this column's own.
  void enlarge(std::uint32_t room) {
    pages_ = shared_array<page>(pages_, count_, room);
    room_ = room;
  }

  shared_array<page> pages_;
  std::uint32_t count_ = 0;  ///< of pages
  std::uint32_t room_ = 0;   ///< for pages
  std::uint32_t size_ = 0;
  std::uint32_t bits_ = bits_for(0);
};

}  // namespace kaisched::base
