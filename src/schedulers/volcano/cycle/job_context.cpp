#include "schedulers/volcano/cycle/job_context.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace kaisched::volcano {

namespace {

/// The fewest sub-jobs with which the job has enough of each group, in order.
std::set<row> needed_sub_jobs(const session& of, row job) {
  const job_state& one = of.cluster().jobs[job];
  if (one.min_sub_jobs.empty()) return {};
  std::map<std::string, std::int64_t, std::less<>> have;
  std::vector<row> lacking;
  for (row i = 0; i < one.sub_jobs.size(); ++i) {
    if (of.is_ready(job, one.sub_jobs[i])) {
      ++have[one.sub_jobs[i].group];
    } else {
      lacking.push_back(i);
    }
  }
  std::ranges::sort(lacking,
                    [&](row left, row right) { return of.sub_job_before(one.sub_jobs[left], one.sub_jobs[right]); });
  std::set<row> needed;
  for (const row i : lacking) {
    const auto minimum = one.min_sub_jobs.find(one.sub_jobs[i].group);
    std::int64_t& count = have[one.sub_jobs[i].group];
    if (minimum == one.min_sub_jobs.end() || count >= minimum->second) continue;
    needed.insert(i);
    ++count;
  }
  return needed;
}

bool is_for_sheet(const task_state& task) {
  return task.status == task_status::pending && !task.gated && !task.request->is_empty();
}

}  // namespace

bool has_waiting_tasks(const session& of, row job) {
  return std::ranges::any_of(of.cluster().jobs[job].sub_jobs, [&](const sub_job_state& one) {
    return std::ranges::any_of(one.tasks, [&](row task) { return is_for_sheet(of.cluster().tasks[task]); });
  });
}

job_context context_of(const session& of, row job) {
  job_context made{ordered_heap<row, sub_job_first>(sub_job_first{&of, job, needed_sub_jobs(of, job)}), {}};
  const job_state& one = of.cluster().jobs[job];
  for (row i = 0; i < one.sub_jobs.size(); ++i) {
    sub_job_context sheet{i, task_heap(task_first{&of})};
    for (const row task : one.sub_jobs[i].tasks) {
      if (is_for_sheet(of.cluster().tasks[task])) sheet.tasks.push(task);
    }
    if (sheet.tasks.empty()) continue;
    made.sub_jobs.push(i);
    made.sheets.emplace(i, std::move(sheet));
  }
  return made;
}

}  // namespace kaisched::volcano
