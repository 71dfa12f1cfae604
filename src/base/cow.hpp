#pragma once
/// @file
/// Copy-on-write storage. Copies share; the first write after a copy pays for what it touches, not for the whole.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

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

/// A column in pages. Copying it is one reference count; writing an element copies its page if it is shared.
template <class T>
class cow_column {
 public:
  static constexpr std::uint32_t page_bits = 9;
  static constexpr std::uint32_t page_size = 1U << page_bits;

  [[nodiscard]] std::uint32_t size() const { return size_; }

  [[nodiscard]] const T& operator[](std::uint32_t i) const { return (*(*pages_)[i >> page_bits])[i & (page_size - 1)]; }

  [[nodiscard]] T& write(std::uint32_t i) {
    own_table();
    std::shared_ptr<page>& p = (*pages_)[i >> page_bits];
    if (!is_sole_owner(p)) p = std::make_shared<page>(*p);
    return (*p)[i & (page_size - 1)];
  }

  /// Grows to at least `n` elements, value-initialised.
  void grow(std::uint32_t n) {
    if (n <= size_) return;
    own_table();
    const std::size_t wanted = (static_cast<std::size_t>(n) + page_size - 1) >> page_bits;
    while (pages_->size() < wanted) pages_->push_back(std::make_shared<page>());
    size_ = n;
  }

 private:
  using page = std::array<T, page_size>;
  using table = std::vector<std::shared_ptr<page>>;

  void own_table() {
    if (!is_sole_owner(pages_)) pages_ = std::make_shared<table>(*pages_);
  }

  std::shared_ptr<table> pages_ = std::make_shared<table>();
  std::uint32_t size_ = 0;
};

}  // namespace kaisched::base
