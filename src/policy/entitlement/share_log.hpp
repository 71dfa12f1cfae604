#pragma once
/// @file
/// What a division writes down if somebody wants to know how it went.

#include <cstdint>
#include <vector>

#include <kaisched/share_steps.hpp>

namespace kaisched::policy {

/// One step. Queues are those of the arrays that were divided; without one it is about all children of the parent.
template <class Queue, class Amount>
struct share_entry {
  share_step_kind what = share_step_kind::total;
  const Queue* queue = nullptr;
  std::uint32_t parent = no_row;
  std::uint32_t resource = 0;
  std::uint32_t round = 0;
  double proportion = 0;
  Amount wanted{};
  Amount before{};
  Amount after{};
};

template <class Queue, class Amount>
using share_log = std::vector<share_entry<Queue, Amount>>;

}  // namespace kaisched::policy
