#pragma once
/// @file
/// Puts the waiting tasks of one sub-job on nodes of one domain, until the sub-job is ready.
///
/// Source: volcano-sh/volcano, pkg/scheduler/actions/allocate/allocate.go.

#include <optional>
#include <string>
#include <vector>

#include "schedulers/volcano/cycle/queue_walk.hpp"
#include "schedulers/volcano/rules/statement.hpp"

namespace kaisched::volcano {

/// What tasks of a sub-job are left to place; a copy is a trial.
struct sub_job_context {
  row sub_job = no_row;
  task_heap tasks;
};

/// Nodes of a domain; all of them for the domain of all or for an empty name.
[[nodiscard]] std::vector<row> nodes_in(const session& of, const std::string& domain);

/// A search forgets no refusal of a role before it is over. Nodes only fill up meanwhile, so for tasks of one kind
/// asking again says the same; a role with tasks of several kinds is searched for.
[[nodiscard]] bool can_go_by_kind(const session& of, const sub_job_state& sub_job);
/// As `choose_node` of those that `nodes_for` leaves. `among`: null for all nodes. @pre `can_go_by_kind`
[[nodiscard]] row choose_by_kind(session& of, row task, const std::vector<row>* among);

/// Pops tasks until the sub-job is ready, none is left, or the rest cannot make it ready. nullopt, and nothing done, if
/// it would not even run once all that is being released is free.
[[nodiscard]] std::optional<statement> place_tasks(session& of, row job, sub_job_context& sheet,
                                                   const std::string& domain);

}  // namespace kaisched::volcano
