// The heap of the job queue keeps the layout of Go's container/heap, whatever the comparison says.
#include <random>

#include "base/heap.hpp"
#include "support.hpp"

namespace of_test_mutants_heap {

using namespace kaisched;

namespace {

/// Go's container/heap, function by function.
template <class Less>
struct go_heap {
  std::vector<int> h;
  Less less;

  void init() {
    const int n = static_cast<int>(h.size());
    for (int i = n / 2 - 1; i >= 0; i--) down(i, n);
  }
  void push(int x) {
    h.push_back(x);
    up(static_cast<int>(h.size()) - 1);
  }
  int pop() {
    const int n = static_cast<int>(h.size()) - 1;
    swap(0, n);
    down(0, n);
    const int x = h.back();
    h.pop_back();
    return x;
  }
  void fix(int i) {
    if (!down(i, static_cast<int>(h.size()))) up(i);
  }

 private:
  int& at(int i) { return h[static_cast<std::size_t>(i)]; }
  void swap(int i, int j) { std::swap(at(i), at(j)); }
  void up(int j) {
    for (;;) {
      const int i = (j - 1) / 2;
      if (i == j || !less(at(j), at(i))) break;
      swap(i, j);
      j = i;
    }
  }
  bool down(int i0, int n) {
    int i = i0;
    for (;;) {
      const int left = 2 * i + 1;
      if (left >= n) break;
      int j = left;
      if (const int right = left + 1; right < n && less(at(right), at(left))) j = right;
      if (!less(at(j), at(i))) break;
      swap(i, j);
      i = j;
    }
    return i > i0;
  }
};

}  // namespace

TEST_CASE("the layout is that of container/heap, also while keys change under the heap") {
  std::mt19937_64 random(3);
  for (int round = 0; round < 300; ++round) {
    std::vector<std::uint64_t> keys;
    const auto before = [&](int a, int b) {
      return keys[static_cast<std::size_t>(a)] < keys[static_cast<std::size_t>(b)];
    };
    base::heap<int> ours;
    go_heap<decltype(before)> theirs{{}, before};
    for (int step = 0; step < 60; ++step) {
      switch (random() % 5) {
        case 0:
        case 1:
          keys.push_back(random() % 8);
          ours.push(static_cast<int>(keys.size()) - 1, 0, before);
          theirs.push(static_cast<int>(keys.size()) - 1);
          break;
        case 2:
          if (!ours.empty()) CHECK(ours.pop(before) == theirs.pop());
          break;
        case 3:
          if (!keys.empty()) keys[random() % keys.size()] = random() % 8;
          if (!ours.empty()) {
            ours.fix_top(before);
            theirs.fix(0);
          }
          break;
        default:
          if (!keys.empty()) keys[random() % keys.size()] = random() % 8;
          if (random() % 4 == 0) {
            ours.rebuild(before);
            theirs.init();
          }
      }
      REQUIRE(ours.items() == theirs.h);
      CHECK(ours.size() == theirs.h.size());
      CHECK(ours.empty() == theirs.h.empty());
      if (!ours.empty()) CHECK(ours.top() == theirs.h.front());
    }
  }
}

TEST_CASE("a heap that is full drops what stands in the last place") {
  const auto before = [](int a, int b) { return a < b; };
  base::heap<int> h;
  for (const int x : {5, 3, 9}) h.push(x, 3, before);
  CHECK(h.items() == std::vector<int>{3, 5, 9});
  h.push(4, 3, before);  // 5 sinks to the last place and goes; 9 stays
  CHECK(h.items() == std::vector<int>{3, 4, 9});
  h.push(10, 3, before);
  CHECK(h.items() == std::vector<int>{3, 4, 9});
  h.push(7, 0, before);  // 0: no limit
  CHECK(h.size() == 4);
}

}  // namespace of_test_mutants_heap
