// Blocks that are given back are taken again; what is asked for is aligned, and apart from all others.
#include <cstdint>
#include <cstring>
#include <iterator>
#include <map>
#include <memory_resource>
#include <vector>

#include <doctest/doctest.h>

#include "base/block_pool.hpp"

namespace of_test_block_pool {

using kaisched::base::block_pool;

TEST_CASE("blocks of a pool do not overlap, and hold what is written") {
  block_pool pool;
  std::map<std::byte*, std::size_t> taken;
  std::uint32_t drawn = 1;
  const auto next = [&drawn] { return drawn = drawn * 1664525U + 1013904223U; };
  for (int i = 0; i < 20'000; ++i) {
    if (taken.size() > 200 && next() % 2 == 0) {
      auto one = taken.begin();
      std::advance(one, next() % 100);
      for (std::size_t b = 0; b < one->second; ++b)
        REQUIRE(one->first[b] == static_cast<std::byte>(one->second & 0xffU));
      pool.deallocate(one->first, one->second);
      taken.erase(one);
      continue;
    }
    const std::size_t size = next() % (i % 50 == 0 ? 20'000U : 300U) + 1;
    auto* const block = static_cast<std::byte*>(pool.allocate(size));
    REQUIRE(reinterpret_cast<std::uintptr_t>(block) % __STDCPP_DEFAULT_NEW_ALIGNMENT__ == 0);
    std::memset(block, static_cast<int>(size & 0xffU), size);
    const auto after = taken.upper_bound(block);
    if (after != taken.end()) REQUIRE(block + size <= after->first);
    if (after != taken.begin()) REQUIRE(std::prev(after)->first + std::prev(after)->second <= block);
    taken.emplace(block, size);
  }
  for (const auto& [block, size] : taken) pool.deallocate(block, size);
}

TEST_CASE("a pool gives the last block of a size again, and serves containers") {
  block_pool pool(64);
  void* const first = pool.allocate(40);
  pool.deallocate(first, 40);
  CHECK(pool.allocate(64) == first);
  pool.deallocate(first, 64);
  std::pmr::map<int, std::pmr::vector<int>> all(&pool);
  for (int i = 0; i < 100; ++i) all[i].assign(static_cast<std::size_t>(i), i);
  for (int i = 0; i < 100; i += 2) all.erase(i);
  CHECK(all.at(99) == std::pmr::vector<int>(99, 99));
  void* const aligned = pool.allocate(32, 64);
  CHECK(reinterpret_cast<std::uintptr_t>(aligned) % 64 == 0);
  pool.deallocate(aligned, 32, 64);
}

}  // namespace of_test_block_pool
