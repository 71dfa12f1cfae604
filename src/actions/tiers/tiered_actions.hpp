#pragma once
/// @file
/// Actions of a session of tiered plug-ins: they walk queues, jobs and tasks and commit what the votes allow.
///
/// Source: volcano-sh/volcano, pkg/scheduler/actions. Where Volcano takes the order of a map or chance, these take the
/// first by place in the session. Each returns what it committed, in order.

#include <vector>

#include "policy/tiers/catalog.hpp"
#include "policy/tiers/statement.hpp"

namespace kaisched::actions::tiers {

/// Lets waiting jobs in, one per turn of a queue. Returns them in order.
std::vector<policy::tiers::row> enqueue(policy::tiers::session& session);

/// Places tasks of jobs, a job at a time, queue by queue; a job is committed if it is ready. Jobs with conditions on
/// distance, or sub-jobs, try domains from the nearest on.
policy::tiers::decisions allocate(policy::tiers::session& session);

using policy::tiers::preemption_settings;
/// Jobs that lack tasks take from other jobs of their queue, then tasks from others of their own job. Without trials
/// nodes are taken by score, and victims in their order until the task has a place.
policy::tiers::decisions preempt(policy::tiers::session& session, const preemption_settings& settings = {});

/// Jobs that lack tasks take from other queues.
policy::tiers::decisions reclaim(policy::tiers::session& session);

using policy::tiers::gang_eviction_settings;
/// Jobs that lack tasks take from other jobs of their queue, or from other queues, as much as all of these tasks need
/// in a domain: first what gangs can spare, then what they cannot. What is taken for a job is committed with the places
/// of its tasks, or nothing is. Domains are tried from the widest on.
policy::tiers::decisions gang_preempt(policy::tiers::session& session, const gang_eviction_settings& settings = {});
policy::tiers::decisions gang_reclaim(policy::tiers::session& session, const gang_eviction_settings& settings = {});

/// Places tasks that ask for nothing.
policy::tiers::decisions backfill(policy::tiers::session& session);

}  // namespace kaisched::actions::tiers
