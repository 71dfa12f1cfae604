#pragma once
/// @file
/// How much of one card's compute each tenant may take until the next look: higher priorities first, weights among
/// equals, and what somebody leaves idle to those who want it. A rule of numbers alone.

#include <cstdint>
#include <vector>

namespace cuda_agent {

/// Nobody is held below it, so that a tenant that gives way still ends its waits. Per mille of a card.
constexpr std::int64_t least_permille = 10;
/// Most that a tenant gets who shares a card: a whole card is not throttled, and what is not throttled is not measured.
constexpr std::int64_t most_shared_permille = 999;

struct share_wish {
  std::int64_t cap_permille = 0;       ///< as granted; 0 is paused and stays so
  std::int64_t weight = 0;             ///< among those of its priority; 0: as much as the cap
  std::int32_t priority = 0;           ///< larger goes first
  std::int64_t used_permille = -1;     ///< since the last look, or -1 where that is not known
  std::int64_t before_permille = -1;   ///< the same at the last look
  std::int64_t present_permille = -1;  ///< what it might take meanwhile, or -1 at the first look
  bool active = false;                 ///< it has launched something since the last look
};

/// Per mille of the card for each, in the order of the wishes. Where all have one priority, and no weight but what they
/// may take, these are the caps.
std::vector<std::int64_t> share_out(const std::vector<share_wish>& wishes);

}  // namespace cuda_agent
