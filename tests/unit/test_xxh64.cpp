#include <string>
#include <string_view>

#include <doctest/doctest.h>

#include "base/xxh64.hpp"

namespace of_test_xxh64 {

using kaisched::base::xxh64;

TEST_CASE("xxh64: published vectors") {
  CHECK(xxh64("") == 0xef46db3751d8e999U);
  CHECK(xxh64("a") == 0xd24ec4f1a98c6e5bU);
  CHECK(xxh64("abc") == 0x44bc2cf5ad770999U);
  CHECK(xxh64("123456789") == 0x8cb841db40e6ae83U);
  CHECK(xxh64("Nobody inspects the spammish repetition") == 0xfbcea83c8a378bf1U);
}

TEST_CASE("xxh64: each bit and the length count") {
  for (std::size_t size = 0; size < 100; ++size) {
    const std::string bytes(size, 'x');
    const std::uint64_t sum = xxh64(bytes);
    CHECK(xxh64(bytes + 'x') != sum);
    for (std::size_t bit = 0; bit < size * 8; ++bit) {
      std::string other = bytes;
      other[bit / 8] = static_cast<char>(other[bit / 8] ^ 1 << bit % 8);
      if (xxh64(other) == sum) FAIL_CHECK("bit " << bit << " of " << size << " bytes");
    }
  }
}

}  // namespace of_test_xxh64
