// Copy-on-write storage beside plain vectors: copies stay what they were, and what is undone leaves no trace.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "base/cow.hpp"

namespace of_test_cow {

namespace {

using kaisched::base::cow;
using kaisched::base::cow_column;

/// Elements with a resource, so that a wrong number of copies or ends is seen by sanitizers.
using element = std::shared_ptr<const std::uint32_t>;

element element_of(std::uint32_t value) { return std::make_shared<const std::uint32_t>(value); }

/// What a column should hold; null elements are value-initialised.
struct pair_of_columns {
  cow_column<element> column;
  std::vector<element> plain;

  void grow(std::uint32_t n) {
    column.grow(n);
    plain.resize(std::max<std::size_t>(plain.size(), n));
  }
  void write(std::uint32_t i, std::uint32_t value) {
    column.write(i) = element_of(value);
    plain[i] = column[i];
  }
};

bool are_equal(const cow_column<element>& column, const std::vector<element>& plain) {
  if (column.size() != plain.size()) return false;
  for (std::uint32_t i = 0; i < plain.size(); ++i) {
    if (column[i] != plain[i]) return false;
  }
  return true;
}

/// Random writes and growth, as many as asked for.
void change(pair_of_columns& both, std::mt19937& random, std::uint32_t writes, std::uint32_t most_elements) {
  for (std::uint32_t k = 0; k < writes; ++k) {
    const auto size = static_cast<std::uint32_t>(both.plain.size());
    if (size == 0 || random() % 8 == 0)
      both.grow(std::min(most_elements, size + 1 + static_cast<std::uint32_t>(random() % 40)));
    both.write(static_cast<std::uint32_t>(random() % both.plain.size()), static_cast<std::uint32_t>(random()));
  }
}

}  // namespace

TEST_CASE("columns: copies and what is undone") {
  // Few writes are kept one by one; many make the column share its pages with what it was.
  for (const std::uint32_t writes : {1U, 5U, 60U, 400U}) {
    for (std::uint32_t seed = 0; seed < 40; ++seed) {
      CAPTURE(writes);
      CAPTURE(seed);
      std::mt19937 random(seed);
      pair_of_columns both;
      std::vector<pair_of_columns> copies;
      for (int step = 0; step < 12; ++step) {
        if (random() % 2 == 0) copies.push_back(both);
        if (copies.size() > 3) copies.erase(copies.begin());
        const std::vector<element> before = both.plain;
        both.column.open_undo();
        change(both, random, writes, 3000);
        REQUIRE(are_equal(both.column, both.plain));
        if (random() % 2 == 0) {
          both.column.roll_back();
          both.plain = before;
        } else {
          both.column.keep();
        }
        REQUIRE(are_equal(both.column, both.plain));
        for (const pair_of_columns& copy : copies) REQUIRE(are_equal(copy.column, copy.plain));
      }
      // Elements that were undone come back as new ones.
      const auto size = static_cast<std::uint32_t>(both.plain.size());
      both.grow(size + 50);
      REQUIRE(are_equal(both.column, both.plain));
    }
  }
}

TEST_CASE("columns: a copy that is made while something can be undone keeps what it saw") {
  cow_column<element> column;
  column.grow(100);
  column.write(7) = element_of(1);
  const element old = column[7];
  column.open_undo();
  column.write(7) = element_of(2);
  column.keep();
  const cow_column<element> copy = column;
  column.open_undo();
  column.write(7) = element_of(3);
  column.write(8) = element_of(4);
  column.roll_back();
  CHECK(*copy[7] == 2);
  CHECK(*column[7] == 2);
  CHECK(column[8] == nullptr);
  CHECK(*old == 1);
}

TEST_CASE("objects: copies and what is undone") {
  cow<std::vector<int>> one(std::vector<int>{1, 2});
  const cow<std::vector<int>> copy = one;
  one.open_undo();
  one.write().push_back(3);
  one.roll_back();
  CHECK(*one == std::vector<int>{1, 2});
  one.open_undo();
  one.write().push_back(4);
  one.write().push_back(5);
  one.keep();
  CHECK(*one == std::vector<int>{1, 2, 4, 5});
  CHECK(*copy == std::vector<int>{1, 2});
  one.open_undo();  // nobody shares it any more: what it was is kept in memory of its own
  one.write().clear();
  one.roll_back();
  CHECK(*one == std::vector<int>{1, 2, 4, 5});
  one.open_undo();
  one = cow(std::vector<int>{9});
  one.write().push_back(8);
  one.roll_back();
  CHECK(*one == std::vector<int>{1, 2, 4, 5});
  one.open_undo();
  one = cow(std::vector<int>{9});
  one.keep();
  CHECK(*one == std::vector<int>{9});
  CHECK(*copy == std::vector<int>{1, 2});
}

}  // namespace of_test_cow
