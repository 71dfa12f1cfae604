#include <algorithm>

#include "checker/contention.hpp"
#include "checker/contention_rules.hpp"

namespace day_check {

namespace {

constexpr std::int64_t most_idle_sessions = 2;
constexpr std::int64_t most_sessions_for_quota = 10;

}  // namespace

void idle_rule::before(const state& of, const session_record& at) {
  waited_.clear();
  stopped_.clear();
  std::set<std::size_t> decided;
  std::set<pod_name> stopped;
  for (const decision& one : at.decisions) {
    decided.insert(one.pod.job);
    const bool goes = one.kind == "evict" || one.kind == "move";
    if (goes && of.pod(one.pod).is == status::running) stopped.insert(one.pod);
  }
  for (const pod_name& one : stopped) stopped_.emplace_back(one.job, of.pod(one));
  for (const std::size_t j : of.there()) {
    if (!decided.contains(j) && wanted_pods(of.plan().jobs[j], of.jobs()[j]) > 0) waited_.insert(j);
  }
}

void idle_rule::after(const state& of, const session_record& at) {
  room free(of);
  if (how_.grace == 0) {  // what the session has freed is the next one's
    for (const auto& [job, pod] : stopped_) free.leaving(of.plan().jobs[job], pod);
  }
  std::vector<queue_now> held = of.count_queues();
  std::map<pod_name, const decision*> claims;
  for (const decision& one : at.decisions) {
    if (one.kind == "evict") claims.erase(one.pod);
    if (one.kind == "pipeline" || one.kind == "move") claims[one.pod] = &one;
  }
  for (const auto& [pod, one] : claims) {
    if (!of.jobs()[pod.job].there || of.pod(pod).is == status::running || of.pod(pod).is == status::claimed ||
        of.pod(pod).next != none) {
      continue;
    }
    const job_plan& row = of.plan().jobs[pod.job];
    free.claim(row, one->node, one->devices);
    for (const std::size_t q : of.path(row.queue)) add(held[q].claimed, row.ask);
  }
  for (queue_now& one : held) add(one.held, one.claimed);
  std::map<std::size_t, std::int64_t> now;
  for (const std::size_t j : waited_) {
    const std::int64_t pods = wanted_pods(of.plan().jobs[j], of.jobs()[j]);
    if (pods == 0 || !allowed(of, held, j, pods) || !free.takes(j, pods)) continue;
    now[j] = in_a_row_.contains(j) ? in_a_row_.at(j) + 1 : 1;
    if (now[j] != most_idle_sessions + 1) continue;
    if (!how_.kai()) {
      to_.questions.push_back({"idle", at.number, at.now, of.plan().jobs[j].name, "", ""});
      continue;
    }
    ++jobs_;
    report("idle", at, of, j,
           std::to_string(pods) + " pods fit into what is free after " + std::to_string(now[j]) +
               " sessions in a row, and wait");
  }
  in_a_row_ = std::move(now);
}

void idle_rule::over(const state&, const std::string&) { to_.figures["fit and wait"] = static_cast<double>(jobs_); }

bool quota_rule::entitled(const state& of, const std::vector<queue_now>& held, const std::vector<amounts>& shares,
                          std::size_t job, std::int64_t pods) const {
  const job_plan& row = of.plan().jobs[job];
  const amounts more = chunk(row, pods);
  if (!allowed(of, held, job, pods)) return false;
  for (const std::size_t q : of.path(row.queue)) {
    if (!within(held[q].held, more, of.plan().queues[q].quota) || !within(held[q].held, more, shares[q])) return false;
  }
  return true;
}

namespace {

/// Stops units of other queues that hold more than quota and fair share, as long as they keep both, until the job has
/// room. How many units that takes; -1: it has none.
std::int64_t units_beyond_quota(const state& of, const session_record& at, std::size_t job, std::int64_t pods,
                                const std::vector<amounts>& shares, std::vector<queue_now> held, room free,
                                const std::set<pod_name>& stopped) {
  const job_plan& row = of.plan().jobs[job];
  if (free.takes(job, pods)) return 0;
  std::int64_t gone = 0;
  for (const std::size_t other : of.there()) {
    const job_plan& victim = of.plan().jobs[other];
    if (victim.queue == row.queue) continue;
    const std::size_t side = split(of, row.queue, victim.queue).second;
    for (const unit& one : units_of(of, other, at.now, promised(of, side, &queue_plan::reclaim_min))) {
      const bool again =
          std::any_of(one.pods.begin(), one.pods.end(), [&](std::size_t p) { return stopped.contains({other, p}); });
      const amounts less = chunk(victim, static_cast<std::int64_t>(one.pods.size()));
      // What the job asks for first, GPUs before cores, is what queues that lose must keep (F24, F25).
      const std::size_t d = row.ask[gpu] > 0 ? gpu : cpu;
      const std::int64_t quota = of.plan().queues[side].quota[d];
      const std::int64_t most = quota == unlimited ? shares[side][d] : std::max(quota, shares[side][d]);
      const bool keeps = !again && less[d] > 0 && held[side].held[d] - less[d] >= most;
      if (!keeps) break;
      for (const std::size_t p : one.pods) free.leave({other, p});
      for (const std::size_t q : of.path(victim.queue)) add(held[q].held, less, -1);
      ++gone;
      if (free.takes(job, pods)) return gone;
    }
  }
  return -1;
}

}  // namespace

void quota_rule::before(const state& of, const session_record& at) {
  if (!how_.kai() || how_.mode != "strict" || !how_.does("reclaim")) return;
  std::vector<queue_now> held = of.count_queues();
  const std::vector<amounts> shares = divide(of, held);
  room free(of);
  std::set<pod_name> stopped;
  std::set<std::size_t> served;
  carry_out(of, at, held, free, stopped, served);
  for (queue_now& one : held) add(one.held, one.claimed);
  std::map<std::size_t, std::int64_t> now;
  for (const std::size_t j : of.there()) {
    const std::int64_t pods = wanted_pods(of.plan().jobs[j], of.jobs()[j]);
    if (pods == 0 || served.contains(j) || !entitled(of, held, shares, j, pods)) continue;
    const std::int64_t units = units_beyond_quota(of, at, j, pods, shares, held, free, stopped);
    if (units <= 0) continue;  // what is free is another rule's
    now[j] = in_a_row_.contains(j) ? in_a_row_.at(j) + 1 : 1;
    longest_ = std::max(longest_, now[j]);
    if (now[j] != most_sessions_for_quota + 1) continue;
    report("quota", at, of, j,
           "asks within its quota in " + std::to_string(now[j]) + " sessions and waits, though " +
               std::to_string(units) + " units of queues beyond quota and fair share would make room");
  }
  in_a_row_ = std::move(now);
}

void quota_rule::over(const state&, const std::string&) {
  to_.figures["sessions until quota"] = static_cast<double>(longest_);
}

}  // namespace day_check
