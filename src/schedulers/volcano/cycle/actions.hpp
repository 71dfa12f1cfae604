#pragma once
/// @file
/// Actions of a session of tiered plug-ins: they walk queues, jobs and tasks and commit what the votes allow.
///
/// Source: volcano-sh/volcano, pkg/scheduler/actions. Where Volcano takes the order of a map or chance, these take the
/// first by place in the session. Each returns what it committed, in order.

#include <vector>

#include "schedulers/volcano/rules/catalog.hpp"
#include "schedulers/volcano/rules/statement.hpp"

namespace kaisched::volcano {

/// Lets waiting jobs in, one per turn of a queue. Returns them in order.
std::vector<row> enqueue(session& session);

/// Places tasks of jobs, a job at a time, queue by queue; a job is committed if it is ready. Jobs with conditions on
/// distance, or sub-jobs, try domains from the nearest on.
decisions allocate(session& session);

/// Jobs that lack tasks take from other jobs of their queue, then tasks from others of their own job. Without trials
/// nodes are taken by score, and victims in their order until the task has a place.
decisions preempt(session& session, const preemption_settings& settings = {});

/// Jobs that lack tasks take from other queues.
decisions reclaim(session& session);

/// Jobs that lack tasks take from other jobs of their queue, or from other queues, as much as all of these tasks need
/// in a domain: first what gangs can spare, then what they cannot. What is taken for a job is committed with the places
/// of its tasks, or nothing is. Domains are tried from the widest on.
decisions gang_preempt(session& session, const gang_eviction_settings& settings = {});
decisions gang_reclaim(session& session, const gang_eviction_settings& settings = {});

/// Places tasks that ask for nothing.
decisions backfill(session& session);

}  // namespace kaisched::volcano
