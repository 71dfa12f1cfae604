#pragma once
/// @file
/// What the checker knows of the day at a moment, counted from the lines of the log: pods, nodes, what queues hold.

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "checker/day_file.hpp"

namespace day_check {

enum class status : std::uint8_t { pending, claimed, running, releasing };

struct pod_now {
  status is = status::pending;
  std::size_t node = none;
  std::vector<std::int64_t> devices;
  std::int64_t share = 0;
  std::size_t next = none;                 ///< node that is kept for a pod that is leaving
  std::vector<std::int64_t> next_devices;  ///< there
};

struct job_now {
  bool there = false;
  bool ended = false;
  bool ever_started = false;
  bool progresses = false;
  std::vector<pod_now> pods;
  std::int64_t left = 0;  ///< milliseconds of pods
  std::int64_t since = 0;
  std::int64_t last_start = -1;
  std::int64_t stops = 0;  ///< by decisions
  [[nodiscard]] std::int64_t count(status what) const;
  /// Pods that leave for a place that is kept.
  [[nodiscard]] std::int64_t moving() const;
  [[nodiscard]] bool has_claims() const { return count(status::claimed) > 0 || moving() > 0; }
};

struct pod_name {
  std::size_t job = none;
  std::size_t pod = 0;
  bool operator<(const pod_name& other) const { return job != other.job ? job < other.job : pod < other.pod; }
  bool operator==(const pod_name& other) const { return job == other.job && pod == other.pod; }
};

/// What a queue and those below it hold and ask for.
struct queue_now {
  amounts held{};
  amounts fixed{};  ///< held by jobs that may not be preempted
  amounts request{};
  amounts claimed{};
};

class state {
 public:
  explicit state(const day_plan& plan);

  [[nodiscard]] const day_plan& plan() const { return plan_; }
  [[nodiscard]] const std::vector<job_now>& jobs() const { return jobs_; }
  [[nodiscard]] job_now& job(std::size_t number) { return jobs_[number]; }
  [[nodiscard]] const std::set<std::size_t>& there() const { return there_; }
  [[nodiscard]] bool ready(std::size_t node) const { return ready_[node]; }
  [[nodiscard]] const pod_now& pod(pod_name which) const { return jobs_[which.job].pods[which.pod]; }
  [[nodiscard]] pod_name named(const std::string& pod) const;
  [[nodiscard]] std::string name(pod_name which) const;

  void submit(std::size_t job, std::int64_t now);
  void end(std::size_t job);
  void set_ready(std::size_t node, bool ready) { ready_[node] = ready; }
  void set_pod(pod_name which, pod_now to) { jobs_[which.job].pods[which.pod] = std::move(to); }

  /// What every queue holds, counted pod by pod.
  [[nodiscard]] std::vector<queue_now> count_queues() const;
  /// From the queue of a job to the root.
  [[nodiscard]] std::vector<std::size_t> path(std::size_t queue) const;

 private:
  const day_plan& plan_;
  std::vector<job_now> jobs_;
  std::vector<bool> ready_;
  std::set<std::size_t> there_;
};

void add(amounts& to, const amounts& what, std::int64_t times = 1);

}  // namespace day_check
