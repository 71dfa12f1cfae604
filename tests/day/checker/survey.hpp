#pragma once
/// @file
/// What a job that waits would cost others: on every node, what is free and which units hold the rest.

#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "checker/contention.hpp"

namespace day_check {

inline constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();
inline constexpr std::int64_t endless = std::numeric_limits<std::int64_t>::max() / 4;  ///< a cost above all others

/// Devices of a node that one unit would free, and what the unit costs in all.
struct victim {
  std::int64_t devices = 0;
  std::int64_t cost = 0;       ///< of all pods of the unit, thousandths of GPUs
  std::int64_t cost_here = 0;  ///< of those on the node
  std::int64_t end = never;    ///< the job ends then anyway
  std::size_t unit = 0;        ///< the number of a unit that is on several nodes; 0: it is on this one alone
};

struct node_victims {
  std::int64_t idle = 0;  ///< devices
  std::vector<victim> victims;
};

/// A picture of the nodes when the job began to wait.
class survey {
 public:
  /// What the session starts has its places.
  /// @param reclaims pods of other queues that hold more than they are entitled to may go. @param moves all may move.
  survey(const state& of, const shares_now& at, std::size_t asking, const session_record& session, bool reclaims,
         bool moves);

  /// Thousandths of GPUs that have to be stopped at least for so many pods, if they start at a time: what ends until
  /// then is free. `endless` if no set of units makes room.
  [[nodiscard]] std::int64_t cost(const job_plan& row, std::int64_t pods, std::int64_t start) const;

 private:
  /// @param promise how long the gang is left alone; none: the job may not be stopped at all.
  void take(const state& of, std::size_t j, std::int64_t now, std::optional<std::int64_t> promise);
  void add_shared(std::size_t node, std::int64_t device, std::int64_t cost, std::int64_t end);

  std::size_t spanning_units_ = 0;
  std::vector<node_victims> nodes_;
  std::map<std::pair<std::size_t, std::int64_t>, victim> shared_;  ///< devices that pods have parts of
  std::map<std::string, std::vector<std::size_t>> racks_;
};

}  // namespace day_check
