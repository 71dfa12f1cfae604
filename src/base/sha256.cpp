#include "base/sha256.hpp"

#include <algorithm>
#include <bit>

namespace kaisched::base {
namespace {

constexpr std::array<std::uint32_t, 64> round_constants = {
    0x428a2f98U, 0x71374491U, 0xb5c0fbcfU, 0xe9b5dba5U, 0x3956c25bU, 0x59f111f1U, 0x923f82a4U, 0xab1c5ed5U,
    0xd807aa98U, 0x12835b01U, 0x243185beU, 0x550c7dc3U, 0x72be5d74U, 0x80deb1feU, 0x9bdc06a7U, 0xc19bf174U,
    0xe49b69c1U, 0xefbe4786U, 0x0fc19dc6U, 0x240ca1ccU, 0x2de92c6fU, 0x4a7484aaU, 0x5cb0a9dcU, 0x76f988daU,
    0x983e5152U, 0xa831c66dU, 0xb00327c8U, 0xbf597fc7U, 0xc6e00bf3U, 0xd5a79147U, 0x06ca6351U, 0x14292967U,
    0x27b70a85U, 0x2e1b2138U, 0x4d2c6dfcU, 0x53380d13U, 0x650a7354U, 0x766a0abbU, 0x81c2c92eU, 0x92722c85U,
    0xa2bfe8a1U, 0xa81a664bU, 0xc24b8b70U, 0xc76c51a3U, 0xd192e819U, 0xd6990624U, 0xf40e3585U, 0x106aa070U,
    0x19a4c116U, 0x1e376c08U, 0x2748774cU, 0x34b0bcb5U, 0x391c0cb3U, 0x4ed8aa4aU, 0x5b9cca4fU, 0x682e6ff3U,
    0x748f82eeU, 0x78a5636fU, 0x84c87814U, 0x8cc70208U, 0x90befffaU, 0xa4506cebU, 0xbef9a3f7U, 0xc67178f2U};

// Bytes are assembled by shifts, so that the digest does not depend on the byte order of the machine.
constexpr std::uint32_t load_big_endian(const std::byte* bytes) noexcept {
  return (std::to_integer<std::uint32_t>(bytes[0]) << 24U) | (std::to_integer<std::uint32_t>(bytes[1]) << 16U) |
         (std::to_integer<std::uint32_t>(bytes[2]) << 8U) | std::to_integer<std::uint32_t>(bytes[3]);
}

constexpr std::uint32_t small_sigma_0(std::uint32_t x) noexcept {
  return std::rotr(x, 7) ^ std::rotr(x, 18) ^ (x >> 3U);
}

constexpr std::uint32_t small_sigma_1(std::uint32_t x) noexcept {
  return std::rotr(x, 17) ^ std::rotr(x, 19) ^ (x >> 10U);
}

constexpr std::uint32_t big_sigma_0(std::uint32_t x) noexcept {
  return std::rotr(x, 2) ^ std::rotr(x, 13) ^ std::rotr(x, 22);
}

constexpr std::uint32_t big_sigma_1(std::uint32_t x) noexcept {
  return std::rotr(x, 6) ^ std::rotr(x, 11) ^ std::rotr(x, 25);
}

constexpr std::uint32_t choose(std::uint32_t x, std::uint32_t y, std::uint32_t z) noexcept { return z ^ (x & (y ^ z)); }

constexpr std::uint32_t majority(std::uint32_t x, std::uint32_t y, std::uint32_t z) noexcept {
  return (x & y) | (z & (x | y));
}

}  // namespace

void sha256::update(std::string_view text) noexcept { update(std::as_bytes(std::span(text.data(), text.size()))); }

void sha256::update(std::span<const std::byte> bytes) noexcept {
  message_size_ += bytes.size();
  if (pending_size_ > 0) {
    const std::size_t taken = std::min(bytes.size(), block_size - pending_size_);
    std::copy_n(bytes.begin(), taken, pending_.begin() + static_cast<std::ptrdiff_t>(pending_size_));
    pending_size_ += taken;
    bytes = bytes.subspan(taken);
    if (pending_size_ < block_size) {
      return;
    }
    compress(pending_.data());
    pending_size_ = 0;
  }
  // Whole blocks are read in place; only the rest is copied.
  while (bytes.size() >= block_size) {
    compress(bytes.data());
    bytes = bytes.subspan(block_size);
  }
  std::copy(bytes.begin(), bytes.end(), pending_.begin());
  pending_size_ = bytes.size();
}

sha256::digest sha256::finish() noexcept {
  constexpr std::size_t length_offset = block_size - sizeof(std::uint64_t);
  const std::uint64_t message_bits = message_size_ * 8;

  pending_[pending_size_++] = std::byte{0x80};
  if (pending_size_ > length_offset) {
    std::fill(pending_.begin() + static_cast<std::ptrdiff_t>(pending_size_), pending_.end(), std::byte{0});
    compress(pending_.data());
    pending_size_ = 0;
  }
  std::fill(pending_.begin() + static_cast<std::ptrdiff_t>(pending_size_), pending_.end(), std::byte{0});
  for (std::size_t i = 0; i < sizeof(std::uint64_t); ++i) {
    pending_[length_offset + i] = static_cast<std::byte>((message_bits >> (56 - 8 * i)) & 0xffU);
  }
  compress(pending_.data());

  digest result{};
  for (std::size_t i = 0; i < digest_size; ++i) {
    result[i] = static_cast<std::uint8_t>((state_[i / 4] >> (24 - 8 * (i % 4))) & 0xffU);
  }
  *this = sha256{};
  return result;
}

std::string sha256::hex(const digest& value) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  text.reserve(2 * digest_size);
  for (const std::uint8_t byte : value) {
    text += digits[byte >> 4U];
    text += digits[byte & 0xfU];
  }
  return text;
}

void sha256::compress(const std::byte* block) noexcept {
  std::array<std::uint32_t, 64> schedule{};
  for (std::size_t i = 0; i < 16; ++i) {
    schedule[i] = load_big_endian(block + 4 * i);
  }
  for (std::size_t i = 16; i < 64; ++i) {
    schedule[i] = small_sigma_1(schedule[i - 2]) + schedule[i - 7] + small_sigma_0(schedule[i - 15]) + schedule[i - 16];
  }

  auto [a, b, c, d, e, f, g, h] = state_;
  for (std::size_t i = 0; i < 64; ++i) {
    const std::uint32_t t1 = h + big_sigma_1(e) + choose(e, f, g) + round_constants[i] + schedule[i];
    const std::uint32_t t2 = big_sigma_0(a) + majority(a, b, c);
    h = g;
    g = f;
    f = e;
    e = d + t1;
    d = c;
    c = b;
    b = a;
    a = t1 + t2;
  }
  const state mixed = {a, b, c, d, e, f, g, h};
  for (std::size_t i = 0; i < mixed.size(); ++i) {
    state_[i] += mixed[i];
  }
}

}  // namespace kaisched::base
