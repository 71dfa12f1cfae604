#pragma once
/// @file
/// What a job that waits is entitled to, and which pods could be stopped for it.

#include "checker/rules.hpp"

namespace day_check {

/// What queues hold and are entitled to at a moment.
struct shares_now {
  std::vector<queue_now> held;
  std::vector<amounts> fair;
};

/// Pods that can only be stopped together: one beyond the gang, or all of a gang.
struct unit {
  std::size_t job = none;
  std::vector<std::size_t> pods;
};

/// What so many more pods of a job ask for.
[[nodiscard]] amounts chunk(const job_plan& row, std::int64_t pods);
/// Whether a queue stays within an amount with the chunk, for what the chunk asks for.
[[nodiscard]] bool within(const amounts& held, const amounts& more, const amounts& most);
/// For how long after its start a gang is left alone, as the queue says or the nearest above that says something.
[[nodiscard]] std::int64_t promised(const state& of, std::size_t from, std::int64_t queue_plan::* which);
/// Units of a job in the order in which they can go; none of a job that may not be stopped for others, and no gang that
/// has run for less than it was promised.
[[nodiscard]] std::vector<unit> units_of(const state& of, std::size_t job, std::int64_t now, std::int64_t promise);
/// The queues below which two leaf queues differ, from the root: that of the first, that of the second.
[[nodiscard]] std::pair<std::size_t, std::size_t> split(const state& of, std::size_t first, std::size_t second);
/// F1, F2: the leaf queue of the job stays within its fair share, and within its quota for what may not be preempted.
[[nodiscard]] bool may_reclaim(const state& of, const shares_now& at, std::size_t job, std::int64_t pods);
/// A pod of a lower priority of the same queue could be stopped.
[[nodiscard]] bool may_preempt(const state& of, std::size_t job, std::int64_t now);
/// What queues hold and what is free once everything that a session decided has been carried out and has ended.
void carry_out(const state& of, const session_record& at, std::vector<queue_now>& held, room& free,
               std::set<pod_name>& stopped, std::set<std::size_t>& served);

}  // namespace day_check
