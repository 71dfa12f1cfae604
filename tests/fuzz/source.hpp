#pragma once
/// @file
/// What fuzz targets share: choices from bytes, and a way to say that something is wrong.

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>

#include <kaisched/cluster.hpp>
#include <kaisched/result.hpp>
#include <kaisched/snapshot.hpp>

#include "io/cluster_input.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace kaisched::fuzz {

/// Ends the program, which is how a target reports a finding.
inline void ensure(bool holds, std::string_view what) {
  if (holds) return;
  std::fprintf(stderr, "finding: %.*s\n", static_cast<int>(what.size()), what.data());
  std::abort();
}

/// The value of a result that must be one.
template <class T>
T sure(result<T> r) {
  ensure(r.ok(), r.ok() ? std::string_view{} : std::string_view(r.failure().message));
  return std::move(r).value();
}
inline void sure(const result<void>& r) {
  ensure(r.ok(), r.ok() ? std::string_view{} : std::string_view(r.failure().message));
}

/// Takes an input apart. After the end every choice is the first one.
class source {
 public:
  source(const std::uint8_t* data, std::size_t size) : left_(data, size) {}

  [[nodiscard]] bool empty() const { return left_.empty(); }
  std::uint8_t byte() {
    if (left_.empty()) return 0;
    const std::uint8_t first = left_.front();
    left_ = left_.subspan(1);
    return first;
  }
  /// From 0 to `count` - 1; `count` is at most 256.
  std::size_t below(std::size_t count) { return byte() % count; }
  /// True in one of `count` cases (2 to 256), never after the end.
  bool one_in(std::size_t count) { return byte() % count == 1; }
  template <class T, std::size_t N>
  const T& pick(const std::array<T, N>& from) {
    return from[below(N)];
  }
  std::int64_t word() {
    std::uint64_t value = 0;
    for (int i = 0; i < 8; ++i) value = value << 8U | byte();
    return static_cast<std::int64_t>(value);
  }
  /// The bytes up to the next zero byte.
  std::string text() {
    std::string taken;
    while (!left_.empty()) {
      const std::uint8_t next = byte();
      if (next == 0) break;
      taken += static_cast<char>(next);
    }
    return taken;
  }

 private:
  std::span<const std::uint8_t> left_;
};

inline std::string_view as_text(const std::uint8_t* data, std::size_t size) {
  return {static_cast<const char*>(static_cast<const void*>(data)), size};
}

/// A message of a reader starts with the name of the text and is worth reading.
void ensure_message(const error& failure, std::string_view source);

/// Whatever a reader made: messages are in order, and a cluster that can be built survives JSON and YAML.
void check_cluster_input(result<io::cluster_input> input, std::string_view source);

}  // namespace kaisched::fuzz
