#include <initializer_list>
#include <random>

#include <doctest/doctest.h>

#include "shares.hpp"

namespace {

using namespace cuda_agent;
using shares = std::vector<std::int64_t>;

/// One that wants all that it may have; one that takes so much and no more; one that does nothing.
share_wish greedy(std::int64_t cap, std::int32_t priority, std::int64_t weight = 0) {
  return {cap, weight, priority, 500, 500, 500, true};
}
share_wish content(std::int64_t cap, std::int32_t priority, std::int64_t used) {
  return {cap, 0, priority, used, used, most_shared_permille, true};
}
share_wish idle(std::int64_t cap, std::int32_t priority) { return {cap, 0, priority, 0, 0, cap, false}; }

}  // namespace

TEST_CASE("without an order the caps hold") {
  CHECK(share_out({}).empty());
  CHECK(share_out({greedy(1000, 7)}) == shares{1000});
  CHECK(share_out({greedy(700, 0), greedy(1000, 0), idle(0, 0)}) == shares{700, 1000, 0});
  CHECK(share_out({greedy(300, 2, 300), greedy(700, 2, 700)}) == shares{300, 700});
}

TEST_CASE("lower priorities give way, and take what is idle") {
  CHECK(share_out({greedy(1000, 1), greedy(1000, 0)}) == shares{999, 10});
  CHECK(share_out({greedy(1000, 0), greedy(1000, 1)}) == shares{10, 999});
  CHECK(share_out({idle(1000, 1), greedy(1000, 0)}) == shares{999, 999});
  CHECK(share_out({content(1000, 1, 400), greedy(1000, 0)}) == shares{999, 530});
  CHECK(share_out({greedy(300, 1), greedy(1000, 0)}) == shares{300, 700});
  CHECK(share_out({greedy(300, 2), greedy(300, 1), greedy(1000, 0)}) == shares{300, 300, 400});
  CHECK(share_out({greedy(1000, 1), greedy(5, 0), greedy(0, 0)}) == shares{999, 5, 0});
}

TEST_CASE("who is not measured yet, or takes more than before, wants all") {
  const share_wish unmeasured{1000, 0, 1, -1, -1, 1000, true}, grows{1000, 0, 1, 500, 400, 999, true};
  CHECK(share_out({unmeasured, greedy(1000, 0)})[1] == 10);
  CHECK(share_out({grows, greedy(1000, 0)})[1] == 10);
}

TEST_CASE("weights divide among equals, and nobody's part is lost") {
  CHECK(share_out({greedy(1000, 0, 300), greedy(1000, 0, 100)}) == shares{750, 250});
  CHECK(share_out({greedy(200, 0, 300), greedy(1000, 0, 100)}) == shares{200, 800});
  // The first may begin with its three quarters whenever it wants to.
  share_wish first = content(1000, 0, 80);
  first.weight = 300;
  CHECK(share_out({first, greedy(1000, 0, 100)}) == shares{750, 890});
}

TEST_CASE("drawn wishes: within the caps, never below the least, and all is taken that somebody wants") {
  std::mt19937 generator(7);
  const auto draw = [&](std::int64_t below) {
    return static_cast<std::int64_t>(generator() % static_cast<std::uint64_t>(below));
  };
  for (int round = 0; round < 20000; ++round) {
    std::vector<share_wish> wishes;
    const auto count = static_cast<std::size_t>(2 + draw(6));
    for (std::size_t i = 0; i < count; ++i) {
      const std::int64_t cap = draw(4) == 0 ? 1000 : draw(1001), kind = draw(3);
      const auto priority = static_cast<std::int32_t>(draw(3));
      wishes.push_back(kind == 0   ? greedy(cap, priority, draw(1001))
                       : kind == 1 ? content(cap, priority, draw(1000))
                                   : idle(cap, priority));
    }
    wishes[0].priority = 5;  // an order there is
    const shares out = share_out(wishes);
    CAPTURE(round);
    std::int64_t taken = 0, wanting = 0;
    for (std::size_t i = 0; i < count; ++i) {
      CHECK(out[i] <= wishes[i].cap_permille);
      CHECK(out[i] >= std::min(wishes[i].cap_permille, least_permille));
      CHECK(out[i] <= most_shared_permille);
      if (wishes[i].active) taken += out[i];
      if (wishes[i].used_permille == 500 && wishes[i].present_permille == 500) wanting += wishes[i].cap_permille;
    }
    CHECK(out == share_out(wishes));
    if (wanting >= 1000) CHECK(taken >= 1000 - static_cast<std::int64_t>(count));
    for (std::size_t i = 0; i < count; ++i)  // the highest has all that it may have, unless equals want it, too
      if (i == 0) CHECK(out[i] == std::min(wishes[i].cap_permille, most_shared_permille));
  }
}
