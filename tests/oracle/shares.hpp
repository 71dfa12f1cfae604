#pragma once
/// @file
/// What queues are entitled to and which is served first: once exactly (`strict`), once with KAI's floating point
/// (`compat`). Unit by unit and pair by pair: slow on purpose.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "oracle/world.hpp"

namespace kaisched::oracle {

/// The figures of one queue.
struct figures {
  quota_amounts request{};
  quota_amounts allocated{};
  quota_amounts nonpreemptible{};  ///< the part of `allocated` that groups hold which may not be evicted
  quota_amounts fair_share{};
  std::array<double, quota_dimensions> kai_fair_share{};  ///< `compat`: devices, milli-cores, bytes
};

/// Fills in the fair shares of all queues.
void divide_exactly(const world& w, std::vector<figures>& queues, const quota_amounts& total, double k);
void divide_as_kai(const world& w, std::vector<figures>& queues, const quota_amounts& total, double k);

/// One side of a comparison of siblings: the queue, and what its best group would take next.
struct side {
  const queue& rules;
  const figures& now;
  quota_amounts next;
};
[[nodiscard]] bool exactly_before(const side& left, const side& right, const quota_amounts& total);
[[nodiscard]] bool before_as_kai(const side& left, const side& right, const quota_amounts& total);

}  // namespace kaisched::oracle
