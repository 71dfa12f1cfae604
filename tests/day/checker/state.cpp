#include "checker/state.hpp"

#include <algorithm>
#include <stdexcept>

namespace day_check {

void add(amounts& to, const amounts& what, std::int64_t times) {
  for (std::size_t d = 0; d < to.size(); ++d) to[d] += what[d] * times;
}

std::int64_t job_now::moving() const {
  return std::count_if(pods.begin(), pods.end(), [](const pod_now& p) { return p.next != none; });
}

std::int64_t job_now::count(status what) const {
  return std::count_if(pods.begin(), pods.end(), [&](const pod_now& p) { return p.is == what; });
}

state::state(const day_plan& plan) : plan_(plan), jobs_(plan.jobs.size()), ready_(plan.nodes.size(), true) {}

pod_name state::named(const std::string& pod) const {
  const std::size_t dash = pod.rfind('-');
  const auto job = plan_.job_number.find(pod.substr(0, dash));
  if (dash == std::string::npos || job == plan_.job_number.end()) throw std::runtime_error("unknown pod " + pod);
  const pod_name found{job->second, std::stoull(pod.substr(dash + 1))};
  if (found.pod >= jobs_[found.job].pods.size()) throw std::runtime_error("pod " + pod + " is not there");
  return found;
}

std::string state::name(pod_name which) const { return plan_.jobs[which.job].name + "-" + std::to_string(which.pod); }

void state::submit(std::size_t job, std::int64_t now) {
  job_now& one = jobs_[job];
  one.there = true;
  one.pods.assign(static_cast<std::size_t>(plan_.jobs[job].pods), pod_now{});
  one.left = plan_.jobs[job].run * plan_.jobs[job].pods;
  one.since = now;
  there_.insert(job);
}

void state::end(std::size_t job) {
  jobs_[job].there = false;
  jobs_[job].ended = true;
  jobs_[job].pods.clear();
  there_.erase(job);
}

std::vector<std::size_t> state::path(std::size_t queue) const {
  std::vector<std::size_t> all;
  for (std::size_t at = queue; at != none; at = plan_.queues[at].parent) all.push_back(at);
  return all;
}

std::vector<queue_now> state::count_queues() const {
  std::vector<queue_now> all(plan_.queues.size());
  for (const std::size_t j : there_) {
    const job_plan& row = plan_.jobs[j];
    const std::int64_t running = jobs_[j].count(status::running);
    const std::int64_t claimed = jobs_[j].count(status::claimed);
    const std::int64_t waiting = jobs_[j].count(status::pending) + claimed;
    for (const std::size_t q : path(row.queue)) {
      add(all[q].held, row.ask, running);
      if (!row.preemptible) add(all[q].fixed, row.ask, running);
      add(all[q].request, row.ask, running + waiting);
      add(all[q].claimed, row.ask, claimed + jobs_[j].moving());
    }
  }
  return all;
}

}  // namespace day_check
