#include "base/xxh64.hpp"

#include <array>
#include <bit>
#include <cstring>

namespace kaisched::base {

static_assert(std::endian::native == std::endian::little, "XXH64 reads little-endian words");

namespace {

constexpr std::uint64_t prime_1 = 0x9e3779b185ebca87U;
constexpr std::uint64_t prime_2 = 0xc2b2ae3d27d4eb4fU;
constexpr std::uint64_t prime_3 = 0x165667b19e3779f9U;
constexpr std::uint64_t prime_4 = 0x85ebca77c2b2ae63U;
constexpr std::uint64_t prime_5 = 0x27d4eb2f165667c5U;
constexpr std::size_t lane_count = 4;
constexpr std::size_t stripe_size = lane_count * sizeof(std::uint64_t);

template <class T>
T word_at(const char* from) noexcept {
  T value = 0;
  std::memcpy(&value, from, sizeof value);
  return value;
}

template <class T>
T take(std::string_view& from) noexcept {
  const T value = word_at<T>(from.data());
  from.remove_prefix(sizeof value);
  return value;
}

std::uint64_t round_of(std::uint64_t lane, std::uint64_t input) noexcept {
  return std::rotl(lane + input * prime_2, 31) * prime_1;
}

/// Takes all whole stripes from the front.
std::uint64_t sum_of_stripes(std::string_view& bytes) noexcept {
  std::array<std::uint64_t, lane_count> lanes{prime_1 + prime_2, prime_2, 0, 0 - prime_1};
  const char* const end = bytes.data() + bytes.size() / stripe_size * stripe_size;
  for (const char* at = bytes.data(); at != end; at += stripe_size) {
    lanes[0] = round_of(lanes[0], word_at<std::uint64_t>(at));
    lanes[1] = round_of(lanes[1], word_at<std::uint64_t>(at + 8));
    lanes[2] = round_of(lanes[2], word_at<std::uint64_t>(at + 16));
    lanes[3] = round_of(lanes[3], word_at<std::uint64_t>(at + 24));
  }
  bytes.remove_prefix(bytes.size() / stripe_size * stripe_size);
  std::uint64_t sum =
      std::rotl(lanes[0], 1) + std::rotl(lanes[1], 7) + std::rotl(lanes[2], 12) + std::rotl(lanes[3], 18);
  for (const std::uint64_t lane : lanes) sum = (sum ^ round_of(0, lane)) * prime_1 + prime_4;
  return sum;
}

}  // namespace

std::uint64_t xxh64(std::string_view bytes) noexcept {
  const std::uint64_t size = bytes.size();
  std::uint64_t sum = size >= stripe_size ? sum_of_stripes(bytes) : prime_5;
  sum += size;
  while (bytes.size() >= sizeof(std::uint64_t)) {
    sum = std::rotl(sum ^ round_of(0, take<std::uint64_t>(bytes)), 27) * prime_1 + prime_4;
  }
  if (bytes.size() >= sizeof(std::uint32_t)) {
    sum = std::rotl(sum ^ take<std::uint32_t>(bytes) * prime_1, 23) * prime_2 + prime_3;
  }
  while (!bytes.empty()) sum = std::rotl(sum ^ take<std::uint8_t>(bytes) * prime_5, 11) * prime_1;
  sum = (sum ^ sum >> 33U) * prime_2;
  sum = (sum ^ sum >> 29U) * prime_3;
  return sum ^ sum >> 32U;
}

}  // namespace kaisched::base
