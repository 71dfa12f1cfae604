// Sorting by names gives what comparing them gives.
#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "base/text_order.hpp"
#include "support.hpp"

namespace of_test_text_order {

using namespace kaisched;

namespace {

std::vector<std::size_t> sorted(const std::vector<std::string>& texts) {
  std::vector<std::size_t> rows(texts.size());
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = i;
  base::sort_by_text(rows, [&](std::size_t row) -> const std::string& { return texts[row]; });
  return rows;
}

std::vector<std::string> in_order(const std::vector<std::string>& texts) {
  std::vector<std::string> found;
  for (const std::size_t row : sorted(texts)) found.push_back(texts[row]);
  return found;
}

}  // namespace

TEST_CASE("texts are sorted by their bytes, behind what all begin with") {
  using list = std::vector<std::string>;
  CHECK(in_order({}) == list{});
  CHECK(in_order({"a"}) == list{"a"});
  CHECK(in_order({"job-10", "job-9", "job-1", "job-"}) == list{"job-", "job-1", "job-10", "job-9"});
  CHECK(in_order({"b", "", "a"}) == list{"", "a", "b"});
  CHECK(in_order({"x\xff", "x\x01", "x"}) == list{"x", "x\x01", "x\xff"});
  const std::string zero("p\0", 2);  // as the end of a shorter one, in the bytes that are compared first
  CHECK(in_order({zero, "p"}) == list{"p", zero});
  CHECK(in_order({"abcdefgh2", "abcdefgh1", "b"}) == list{"abcdefgh1", "abcdefgh2", "b"});
}

TEST_CASE("any texts are sorted as a comparison of all of their bytes sorts them") {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    std::vector<std::string> texts;
    const std::string begin(random() % 12, 'n');
    for (std::size_t i = random() % 40; i-- > 0;) {
      std::string& text = texts.emplace_back(begin);
      for (std::size_t k = random() % 14; k-- > 0;) text += static_cast<char>(random() % 3 == 0 ? random() % 256 : 'a');
    }
    std::vector<std::string> expected = texts;
    std::ranges::sort(expected);
    CHECK(in_order(texts) == expected);
  }
}

}  // namespace of_test_text_order
