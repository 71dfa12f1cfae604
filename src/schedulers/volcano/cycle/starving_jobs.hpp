#pragma once
/// @file
/// Jobs that lack tasks and may take from others: what preempt and reclaim walk alike.

#include <map>
#include <vector>

#include "schedulers/volcano/cycle/node_search.hpp"
#include "schedulers/volcano/cycle/queue_walk.hpp"
#include "schedulers/volcano/rules/statement.hpp"

namespace kaisched::volcano {

/// May take from others: it was let in, is valid and has a queue.
[[nodiscard]] bool may_take(const session& of, row job);
/// The waiting tasks of a job in order.
[[nodiscard]] task_heap waiting_in_order(const session& of, row job);
/// All that was on the node could: what other tasks are promised there stays theirs.
[[nodiscard]] bool could_ever_make_room(const session& of, row task, row node);
/// Those that are taken could make room for the task, all of them together.
[[nodiscard]] bool could_make_room(const session& of, row task, row node, const std::vector<row>& taken);
/// Commits what was done for the job if it would run then, else takes it back.
void commit_if_pipelined(const session& of, row job, statement& made, decisions& committed);
[[nodiscard]] std::vector<row> tasks_on(const session& of, row node);

}  // namespace kaisched::volcano
