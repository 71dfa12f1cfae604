#include "checker/accounts_rule.hpp"

namespace day_check {

namespace {

const char* const resources[] = {"cpu", "memory", "gpu"};

/// What a session does to what queues hold, decision by decision.
/// @param twice a pod that is evicted twice is counted twice, as the reference does (rule S11, mode compat).
std::vector<amounts> changes(const state& of, const session_record& at, bool twice) {
  std::vector<amounts> all(of.plan().queues.size());
  std::map<pod_name, bool> holds;
  for (const decision& one : at.decisions) {
    const status is = of.pod(one.pod).is;
    const auto known = holds.find(one.pod);
    const bool held = known != holds.end() ? known->second : is == status::running;
    const bool holds_now = one.kind != "evict";
    holds[one.pod] = holds_now;
    if (held == holds_now && (held || !twice)) continue;
    const job_plan& row = of.plan().jobs[one.pod.job];
    for (const std::size_t q : of.path(row.queue)) add(all[q], row.ask, holds_now ? 1 : -1);
  }
  return all;
}

}  // namespace

void accounts_rule::wrong(const state& of, const session_record& at, std::size_t queue, const std::string& what,
                          std::int64_t told, std::int64_t counted) {
  to_.violations.push_back({"accounts", at.number, at.now, "", of.plan().queues[queue].name,
                            what + " is " + std::to_string(told) + ", a recount gives " + std::to_string(counted)});
}

void accounts_rule::before(const state& of, const session_record& at) {
  if (!how_.kai() || at.accounts.empty()) return;
  const std::vector<queue_now> held = of.count_queues();
  check_requests(of, at, held);
  check_allocated(of, at, held);
  if (how_.mode == "strict") check_shares(of, at, held);
}

void accounts_rule::check_requests(const state& of, const session_record& at, const std::vector<queue_now>& held) {
  for (const auto& [q, told] : at.accounts) {
    if (!of.plan().queues[q].children.empty()) continue;
    for (std::size_t d = 0; d < told.request.size(); ++d) {
      ++compared_;
      if (told.request[d] != held[q].request[d]) {
        wrong(of, at, q, std::string("the request of ") + resources[d], told.request[d], held[q].request[d]);
      }
    }
  }
}

void accounts_rule::check_allocated(const state& of, const session_record& at, const std::vector<queue_now>& held) {
  const std::vector<amounts> change = changes(of, at, how_.mode == "compat");
  for (const auto& [q, told] : at.accounts) {
    for (std::size_t d = 0; d < told.allocated.size(); ++d) {
      ++compared_;
      const std::int64_t counted = held[q].held[d] + change[q][d];
      // A place that is kept for a pod counts as held where the session goes on to keep it.
      if (told.allocated[d] >= counted && told.allocated[d] <= counted + held[q].claimed[d]) continue;
      wrong(of, at, q, std::string("what it holds of ") + resources[d], told.allocated[d], counted);
    }
  }
}

void accounts_rule::check_shares(const state& of, const session_record& at, const std::vector<queue_now>& held) {
  const std::vector<amounts> shares = divide(of, held);
  for (const auto& [q, told] : at.accounts) {
    for (std::size_t d = 0; d < told.fair.size(); ++d) {
      ++compared_;
      if (told.fair[d] != shares[q][d]) {
        wrong(of, at, q, std::string("the fair share of ") + resources[d], told.fair[d], shares[q][d]);
      }
    }
  }
}

void accounts_rule::after(const state& of, const session_record& at) {
  const room now(of);
  for (std::size_t n = 0; n < of.plan().nodes.size(); ++n) {
    ++compared_;
    if (!now.overdrawn(n)) continue;
    to_.violations.push_back({"accounts", at.number, at.now, "", "",
                              "node " + of.plan().nodes[n].name + " or one of its devices is overdrawn"});
  }
}

void accounts_rule::over(const state&, const std::string&) {
  to_.figures["amounts compared"] = static_cast<double>(compared_);
}

}  // namespace day_check
