#pragma once
/// @file
/// What is left to place of a job, sub-job by sub-job in order.
///
/// Source: volcano-sh/volcano, pkg/scheduler/actions/allocate/allocate.go.

#include <map>
#include <set>

#include "actions/tiers/task_placer.hpp"

namespace kaisched::actions::tiers {

/// Sub-jobs that the job needs come first.
struct sub_job_first {
  const policy::tiers::session* of;
  policy::tiers::row job;
  std::set<policy::tiers::row> needed;

  bool operator()(policy::tiers::row left, policy::tiers::row right) const {
    if (needed.contains(left) != needed.contains(right)) return needed.contains(left);
    const auto& all = of->cluster().jobs[job].sub_jobs;
    return of->sub_job_before(all[left], all[right]);
  }
};

/// What is left to place of a job; a copy is a trial.
struct job_sheet {
  policy::tiers::ordered_heap<policy::tiers::row, sub_job_first> sub_jobs;
  std::map<policy::tiers::row, sub_job_sheet> sheets;
};

/// Somebody would be on the sheet of the job.
[[nodiscard]] bool has_waiting_tasks(const policy::tiers::session& of, policy::tiers::row job);
/// Tasks that wait for others at a gate, or that ask for nothing, are not on it.
[[nodiscard]] job_sheet sheet_of(const policy::tiers::session& of, policy::tiers::row job);

}  // namespace kaisched::actions::tiers
