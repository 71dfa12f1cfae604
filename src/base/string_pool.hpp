#pragma once
/// @file
/// Append-only storage for names. Bytes never move, so views stay valid as long as somebody holds the pool.

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

namespace kaisched::base {

class string_pool {
 public:
  string_pool() = default;
  /// Keeps another pool alive, whose texts are in use beside those that come here. Somebody may be adding to it.
  explicit string_pool(std::shared_ptr<const string_pool> before) : before_(std::move(before)) {}
  string_pool(const string_pool&) = delete;
  string_pool& operator=(const string_pool&) = delete;

  /// Copies the text; the view is valid as long as the pool.
  [[nodiscard]] std::string_view add(std::string_view text) {
    if (text.empty()) return {};
    if (text.size() > left_) {
      const std::size_t size = std::max<std::size_t>(chunk_size, text.size());
      chunks_.push_back(std::make_unique<char[]>(size));
      next_ = chunks_.back().get();
      left_ = size;
    }
    char* place = next_;
    std::memcpy(place, text.data(), text.size());
    next_ += text.size();
    left_ -= text.size();
    bytes_ += text.size();
    return {place, text.size()};
  }
  /// Whether this keeps that pool alive and adds to it.
  [[nodiscard]] bool continues(const string_pool& other) const { return before_.get() == &other; }
  /// Bytes ever added here: how much of this is still in use is the owner's knowledge.
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  static constexpr std::size_t chunk_size = std::size_t{1} << 16U;
  std::shared_ptr<const string_pool> before_;
  std::vector<std::unique_ptr<char[]>> chunks_;
  char* next_ = nullptr;
  std::size_t left_ = 0;
  std::size_t bytes_ = 0;
};

}  // namespace kaisched::base
