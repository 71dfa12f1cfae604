#pragma once
/// @file
/// Copy-on-write storage. Copies share; the first write after a copy pays for what it touches, not for the whole.

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

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
///
/// Between `open_undo` and `keep` or `roll_back` the object as it was is kept from the first write on. Copies know
/// nothing of that.
template <class T>
class cow {
 public:
  cow() : body_(std::make_shared<T>()) {}
  explicit cow(T value) : body_(std::make_shared<T>(std::move(value))) {}
  cow(const cow& other) : body_(other.body_) {}
  cow(cow&& other) noexcept : body_(std::move(other.body_)) {}
  cow& operator=(cow other) noexcept {
    if (undo_ == undo::open) {
      saved_ = std::move(body_);
      undo_ = undo::saved;
    }
    body_ = std::move(other.body_);
    return *this;
  }
  ~cow() = default;

  [[nodiscard]] const T& operator*() const { return *body_; }
  [[nodiscard]] const T* operator->() const { return body_.get(); }
  /// The object for writing. References from `read` before this call may refer to the shared copy.
  [[nodiscard]] T& write() {
    save();
    if (!is_sole_owner(body_)) body_ = std::make_shared<T>(*body_);
    return *body_;
  }

  void open_undo() noexcept { undo_ = undo::open; }
  /// What was written stays.
  void keep() noexcept {
    undo_ = undo::none;
    if (saved_ != nullptr && !is_sole_owner(saved_)) saved_.reset();  // else its memory serves the next time
  }
  /// The object is what it was at `open_undo`.
  void roll_back() noexcept {
    if (undo_ == undo::saved) body_.swap(saved_);
    keep();
  }

 private:
  enum class undo : std::uint8_t { none, open, saved };

  void save() {
    if (undo_ != undo::open) return;
    if (!is_sole_owner(body_)) {
      saved_ = body_;
    } else if (saved_ != nullptr) {
      *saved_ = *body_;
    } else {
      saved_ = std::make_shared<T>(*body_);
    }
    undo_ = undo::saved;
  }

  std::shared_ptr<T> body_;
  std::shared_ptr<T> saved_;  ///< what it was, or memory for that
  undo undo_ = undo::none;
};

/// A column in pages. Copying it is one reference count; writing an element copies its page, and the list of pages, if
/// they are shared. Pages grow with the column, so that neither is long.
///
/// Between `open_undo` and `keep` or `roll_back` elements are kept as they were before each write, so that nothing has
/// to be shared, and copied, only to be able to go back. After many writes the column shares its pages with what it
/// was. Copies know nothing of that. What `write` returns is for use before another element is written.
template <class T>
class cow_column {
 public:
  cow_column() = default;
  cow_column(const cow_column& other) : body_(other.body_) {}
  cow_column(cow_column&& other) noexcept : body_(std::move(other.body_)) {}
  /// Not while there is something to undo.
  cow_column& operator=(cow_column other) noexcept {
    body_ = std::move(other.body_);
    is_open_ = false;
    undo_.reset();
    return *this;
  }
  ~cow_column() = default;

  [[nodiscard]] std::uint32_t size() const { return body_.size; }

  // What decisions read most. Compilers leave it a call in large units otherwise.
  [[nodiscard, gnu::always_inline]] const T& operator[](std::uint32_t i) const {
    return body_.pages[i >> body_.bits][i & (body_.page_size() - 1)];
  }

  [[nodiscard]] T& write(std::uint32_t i) {
    if (is_open_) save(i);
    body_.own_table();
    page& p = body_.pages[i >> body_.bits];
    if (!p.has_one_owner()) p = page(p, body_.page_size(), body_.page_size());
    return p[i & (body_.page_size() - 1)];
  }

  /// Grows to at least `n` elements, value-initialised.
  void grow(std::uint32_t n) {
    if (n <= body_.size) return;
    body_.own_table();
    if (bits_for(n) != body_.bits) body_.repack(bits_for(n));
    body_.grow_pages(n);
  }

  void open_undo() noexcept {
    is_open_ = true;
    size_before_ = body_.size;
  }
  /// What was written stays.
  void keep() noexcept {
    is_open_ = false;
    if (undo_ == nullptr) return;
    undo_->saved.clear();
    if (undo_->shares) undo_->before = body();
    undo_->shares = false;
  }
  /// Elements are what they were at `open_undo`. Nobody has copied the column since.
  void roll_back() noexcept {
    if (undo_ != nullptr) {
      if (undo_->shares) body_ = std::move(undo_->before);
      for (auto one = undo_->saved.rbegin(); one != undo_->saved.rend(); ++one) {
        if (T* const element = body_.own(one->first)) *element = std::move(one->second);
      }
    }
    body_.shrink(size_before_);
    keep();
  }

 private:
  using page = shared_array<T>;

  [[nodiscard]] static constexpr std::uint32_t bits_for(std::uint32_t n) {
    return n <= (1U << 9U) ? 4 : n <= (1U << 10U) ? 6 : n <= (1U << 15U) ? 7 : 9;
  }

  struct body {
    shared_array<page> pages;
    std::uint32_t count = 0;  ///< of pages
    std::uint32_t room = 0;   ///< for pages
    std::uint32_t size = 0;
    std::uint32_t bits = bits_for(0);

    [[nodiscard]] std::uint32_t page_size() const { return 1U << bits; }

    void grow_pages(std::uint32_t n) {
      const std::uint32_t wanted = ((n - 1) >> bits) + 1;
      if (wanted > room) enlarge(std::max(wanted, room + room / 2));
      for (; count < wanted; ++count) pages[count] = page(page_size());
      size = n;
    }

    void repack(std::uint32_t new_bits) {
      body larger;
      larger.bits = new_bits;
      if (size > 0) larger.grow_pages(size);
      for (std::uint32_t i = 0; i < size; ++i) {
        larger.pages[i >> new_bits][i & (larger.page_size() - 1)] = pages[i >> bits][i & (page_size() - 1)];
      }
      *this = std::move(larger);
    }

    void own_table() {
      if (room != 0 && !pages.has_one_owner()) enlarge(room);
    }

    /// A list of pages of this column's own.
    void enlarge(std::uint32_t new_room) {
      pages = shared_array<page>(pages, count, new_room);
      room = new_room;
    }

    /// An element of a page of this column's own, else null: it has not been written.
    [[nodiscard]] T* own(std::uint32_t i) const noexcept {
      if (!pages.has_one_owner() || !pages[i >> bits].has_one_owner()) return nullptr;
      return &pages[i >> bits][i & (page_size() - 1)];
    }

    /// What was added to the end goes.
    void shrink(std::uint32_t n) noexcept {
      if (n == size) return;
      const std::uint32_t wanted = n == 0 ? 0 : ((n - 1) >> bits) + 1;
      for (; count > wanted; --count) pages[count - 1] = page();
      for (std::uint32_t i = n; i < std::min(size, wanted << bits); ++i) {
        if (T* const element = own(i)) *element = T{};
      }
      size = n;
    }
  };

  struct undo_log {
    std::vector<std::pair<std::uint32_t, T>> saved;  ///< elements before they were written, in that order
    body before;                                     ///< with `shares`: everything when that began
    bool shares = false;
  };

  void save(std::uint32_t i) {
    if (i >= size_before_) return;  // what has come since then goes whole
    if (undo_ == nullptr) undo_ = std::make_unique<undo_log>();
    // Writes often come in a row.
    if (undo_->shares || (!undo_->saved.empty() && undo_->saved.back().first == i)) return;
    constexpr std::uint32_t few = 64;
    if (undo_->saved.size() < std::max(few, size_before_ / 8)) {
      undo_->saved.emplace_back(i, std::as_const(*this)[i]);
    } else {
      undo_->before = body_;
      undo_->shares = true;
    }
  }

  body body_;
  std::unique_ptr<undo_log> undo_;  ///< null: nothing was saved yet
  std::uint32_t size_before_ = 0;   ///< at `open_undo`
  bool is_open_ = false;
};

}  // namespace kaisched::base
