#include "checker/contention.hpp"

#include <algorithm>

namespace day_check {

std::int64_t wanted_pods(const job_plan& row, const job_now& now) {
  if (!now.there || now.has_claims()) return 0;
  const std::int64_t pending = now.count(status::pending);
  const std::int64_t lacking = row.least - now.count(status::running);
  const std::int64_t wanted = std::max<std::int64_t>(lacking, 1);
  return pending >= wanted ? wanted : 0;
}

amounts chunk(const job_plan& row, std::int64_t pods) {
  amounts all{};
  add(all, row.ask, pods);
  return all;
}

bool within(const amounts& held, const amounts& more, const amounts& most) {
  for (std::size_t d = 0; d < held.size(); ++d) {
    if (more[d] > 0 && most[d] != unlimited && held[d] + more[d] > most[d]) return false;
  }
  return true;
}

bool allowed(const state& of, const std::vector<queue_now>& held, std::size_t job, std::int64_t pods) {
  const job_plan& row = of.plan().jobs[job];
  const amounts more = chunk(row, pods);
  for (const std::size_t q : of.path(row.queue)) {
    if (!within(held[q].held, more, of.plan().queues[q].limit)) return false;
    if (!row.preemptible && !within(held[q].fixed, more, of.plan().queues[q].quota)) return false;
  }
  return true;
}

std::int64_t promised(const state& of, std::size_t from, std::int64_t queue_plan::* which) {
  for (const std::size_t q : of.path(from)) {
    if (of.plan().queues[q].*which >= 0) return of.plan().queues[q].*which;
  }
  return 0;
}

std::vector<unit> units_of(const state& of, std::size_t job, std::int64_t now, std::int64_t promise) {
  const job_plan& row = of.plan().jobs[job];
  const job_now& one = of.jobs()[job];
  if (!row.preemptible) return {};
  std::vector<std::size_t> running;
  for (std::size_t p = 0; p < one.pods.size(); ++p) {
    if (one.pods[p].is == status::running) running.push_back(p);
  }
  std::vector<unit> all;
  const auto least = static_cast<std::size_t>(row.least);
  while (running.size() > least) {
    all.push_back({job, {running.back()}});
    running.pop_back();
  }
  const bool is_promised = one.last_start >= 0 && one.last_start + promise > now;
  if (!running.empty() && !is_promised) all.push_back({job, running});
  return all;
}

std::pair<std::size_t, std::size_t> split(const state& of, std::size_t first, std::size_t second) {
  std::vector<std::size_t> a = of.path(first);
  std::vector<std::size_t> b = of.path(second);
  while (a.size() > 1 && b.size() > 1 && a.back() == b.back()) {
    a.pop_back();
    b.pop_back();
  }
  return {a.back(), b.back()};
}

bool may_reclaim(const state& of, const shares_now& at, std::size_t job, std::int64_t pods) {
  const job_plan& row = of.plan().jobs[job];
  const amounts more = chunk(row, pods);
  if (!allowed(of, at.held, job, pods)) return false;
  return within(at.held[row.queue].held, more, at.fair[row.queue]);
}

bool may_preempt(const state& of, std::size_t job, std::int64_t now) {
  const job_plan& row = of.plan().jobs[job];
  return std::any_of(of.there().begin(), of.there().end(), [&](std::size_t other) {
    const job_plan& victim = of.plan().jobs[other];
    return victim.queue == row.queue && victim.priority < row.priority &&
           !units_of(of, other, now, promised(of, victim.queue, &queue_plan::preempt_min)).empty();
  });
}

void carry_out(const state& of, const session_record& at, std::vector<queue_now>& held, room& free,
               std::set<pod_name>& stopped, std::set<std::size_t>& served) {
  std::map<pod_name, const decision*> places;
  for (const decision& one : at.decisions) {
    if (one.kind == "evict" || one.kind == "move") {
      if (of.pod(one.pod).is == status::running) stopped.insert(one.pod);
      places.erase(one.pod);
    }
    if (one.kind != "evict") places[one.pod] = &one;
  }
  for (const pod_name& pod : stopped) {
    const job_plan& row = of.plan().jobs[pod.job];
    free.leave(pod);
    for (const std::size_t q : of.path(row.queue)) {
      add(held[q].held, row.ask, -1);
      if (!row.preemptible) add(held[q].fixed, row.ask, -1);
    }
  }
  for (const auto& [pod, one] : places) {
    const job_plan& row = of.plan().jobs[pod.job];
    served.insert(pod.job);
    if (of.pod(pod).is == status::running && !stopped.contains(pod)) continue;
    if (of.pod(pod).is != status::claimed && of.pod(pod).next == none) free.claim(row, one->node, one->devices);
    for (const std::size_t q : of.path(row.queue)) {
      add(held[q].held, row.ask);
      if (!row.preemptible) add(held[q].fixed, row.ask);
    }
  }
}

}  // namespace day_check
