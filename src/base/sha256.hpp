#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace kaisched::base {

/// Incremental SHA-256 (FIPS 180-4). The digest depends only on the concatenated bytes, not on how they are split over
/// the calls of `update`. Only `hex` allocates and can throw. One object must not be used by two threads at a time.
class sha256 {
 public:
  /// Size of a digest in bytes.
  static constexpr std::size_t digest_size = 32;
  using digest = std::array<std::uint8_t, digest_size>;

  /// Appends bytes to the message (at most 2^61 - 1 bytes in total).
  void update(std::span<const std::byte> bytes) noexcept;

  /// Appends the characters of `text` as bytes; no terminator and no re-encoding.
  void update(std::string_view text) noexcept;

  /// Returns the digest of everything appended and starts over with the empty message.
  [[nodiscard]] digest finish() noexcept;

  /// Lower-case hexadecimal form of a digest, 64 characters.
  [[nodiscard]] static std::string hex(const digest& value);

 private:
  static constexpr std::size_t block_size = 64;
  using state = std::array<std::uint32_t, 8>;

  static constexpr state initial_state = {0x6a09e667U, 0xbb67ae85U, 0x3c6ef372U, 0xa54ff53aU,
                                          0x510e527fU, 0x9b05688cU, 0x1f83d9abU, 0x5be0cd19U};

  void compress(const std::byte* block) noexcept;

  state state_ = initial_state;
  std::array<std::byte, block_size> pending_{};
  std::size_t pending_size_ = 0;
  std::uint64_t message_size_ = 0;
};

}  // namespace kaisched::base
