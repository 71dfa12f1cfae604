#pragma once
/// @file
/// What is left to place of a job, sub-job by sub-job in order.
///
/// Source: volcano-sh/volcano, pkg/scheduler/actions/allocate/allocate.go.

#include <map>
#include <set>

#include "schedulers/volcano/cycle/task_placer.hpp"

namespace kaisched::volcano {

/// Sub-jobs that the job needs come first.
struct sub_job_first {
  const session* of;
  row job;
  std::set<row> needed;

  bool operator()(row left, row right) const {
    if (needed.contains(left) != needed.contains(right)) return needed.contains(left);
    const auto& all = of->cluster().jobs[job].sub_jobs;
    return of->sub_job_before(all[left], all[right]);
  }
};

/// What is left to place of a job; a copy is a trial.
struct job_context {
  ordered_heap<row, sub_job_first> sub_jobs;
  std::map<row, sub_job_context> sheets;
};

/// Somebody would be on the sheet of the job.
[[nodiscard]] bool has_waiting_tasks(const session& of, row job);
/// Tasks that wait for others at a gate, or that ask for nothing, are not on it.
[[nodiscard]] job_context context_of(const session& of, row job);

}  // namespace kaisched::volcano
