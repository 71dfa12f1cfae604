#include "checker/simple_rules.hpp"

#include <algorithm>

namespace day_check {

namespace {

constexpr std::int64_t most_sessions_without_rest = 20;  // or as many as there are jobs, if these are more
constexpr std::int64_t spare_stops = 20;  // sessions that take pods from a job, beyond one for each job that comes

}  // namespace

void rest_rule::happened(const state&, std::int64_t, const std::string&, std::size_t) { in_a_row_ = 0; }

void rest_rule::after(const state& of, const session_record& at) {
  in_a_row_ = at.changed ? in_a_row_ + 1 : 0;
  const std::int64_t most = std::max(most_sessions_without_rest, static_cast<std::int64_t>(of.there().size()));
  if (in_a_row_ < most) return;
  in_a_row_ = 0;
  ++restless_;
  std::size_t job = none;
  for (const decision& one : at.decisions) job = one.pod.job;
  report("rest", at, of, job,
         std::to_string(most) + " sessions in a row changed something, though nothing came from outside");
}

void rest_rule::over(const state&, const std::string&) {
  to_.figures["moments without rest"] = static_cast<double>(restless_);
}

void net_rule::before(const state& of, const session_record& at) {
  std::map<pod_name, int> seen;  // 1: started, 2: stopped
  for (const decision& one : at.decisions) {
    if (one.kind == "bind") seen[one.pod] |= 1;
    if (one.kind == "evict" || one.kind == "move") seen[one.pod] |= 2;
  }
  std::size_t reported = none;
  for (const auto& [pod, what] : seen) {
    if (what != 3) continue;
    ++pods_;
    if (reported == pod.job) continue;
    reported = pod.job;
    report("net", at, of, pod.job, "pod " + of.name(pod) + " is started and stopped by one session");
  }
}

void net_rule::over(const state&, const std::string&) {
  to_.figures["started and stopped"] = static_cast<double>(pods_);
}

void stops_rule::happened(const state&, std::int64_t, const std::string& what, std::size_t subject) {
  if (what == "submit") came_as_[subject] = ++jobs_;
}

void stops_rule::before(const state& of, const session_record& at) {
  std::set<std::size_t> lose;
  for (const decision& one : at.decisions) {
    if ((one.kind == "evict" || one.kind == "move") && of.pod(one.pod).is == status::running) lose.insert(one.pod.job);
  }
  for (const std::size_t j : lose) {
    const std::int64_t others = jobs_ - came_as_[j];
    if (++stops_[j] != spare_stops + others + 1) continue;
    report("stops", at, of, j,
           std::to_string(stops_[j]) + " sessions have taken pods from it, and " + std::to_string(others) +
               " jobs have come since it did");
  }
}

void start_rule::before(const state&, const session_record& at) { last_ = at; }

void start_rule::over(const state& of, const std::string& why) {
  std::int64_t starts = 0;
  std::int64_t ended = 0;
  std::int64_t stops = 0;
  for (std::size_t j = 0; j < of.jobs().size(); ++j) {
    const job_now& one = of.jobs()[j];
    starts += one.ever_started ? 1 : 0;
    ended += one.ended ? 1 : 0;
    stops += one.stops;
    if (why == "stuck" && !one.ever_started) {
      report("start", last_, of, j, "never starts, and the day has no more events");
    } else if (why == "stuck" && !one.ended) {
      report("start", last_, of, j, "never ends, and the day has no more events");
    }
  }
  to_.figures["jobs"] = static_cast<double>(of.jobs().size());
  to_.figures["jobs started"] = static_cast<double>(starts);
  to_.figures["jobs ended"] = static_cast<double>(ended);
  to_.figures["job stops"] = static_cast<double>(stops);
}

}  // namespace day_check
