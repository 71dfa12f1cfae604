#pragma once
/// @file
/// What is really there on a day: which pods run where, what jobs have done, which nodes have failed, what happens
/// next.

#include <cstdint>
#include <map>
#include <queue>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "host/day.hpp"
#include "host/journal.hpp"

namespace day_host {

enum class pod_state : std::uint8_t { pending, claimed, running, releasing };

/// Devices of a node.
struct place {
  int node = -1;
  std::vector<std::int64_t> devices;
  std::int64_t share = 0;  ///< of each device
};

struct pod {
  pod_state state = pod_state::pending;
  int node = -1;
  std::vector<std::int64_t> devices;
  std::int64_t share = 0;  ///< of each device
  std::vector<std::string> grants;
  place next{};  ///< kept for a pod that is leaving, where a session moves it; no node: none is
};

struct job_state {
  const job_row* row = nullptr;
  bool there = false;  ///< it has been submitted and has not ended
  std::vector<pod> pods;
  std::int64_t running = 0;
  std::int64_t left = 0;  ///< work: milliseconds of pods
  ms since = 0;           ///< when `left` was counted
  bool progresses = false;
  std::int64_t plan = 0;  ///< an expected end counts if it has the same number
  ms last_start = -1;
  ms last_eviction = -1;
  ms stale_since = -1;
  std::int64_t evictions = 0;
};

/// A pod by its job and its number there.
using pod_key = std::pair<std::size_t, std::size_t>;

/// What the cluster of the engine has not been told yet.
struct untold {
  std::vector<std::size_t> new_jobs;
  std::vector<std::size_t> ended_jobs;
  std::set<std::size_t> jobs;
  std::set<pod_key> pods;
  std::set<int> nodes;
};

class world {
 public:
  world(const day& of, ms grace, journal& log);

  /// When something happens next; -1: never.
  [[nodiscard]] ms next() const { return events_.empty() ? -1 : events_.top().at; }
  /// Everything that happens up to a time, that time included. Whether anything did.
  bool pass(ms until);

  void start(pod_key which, pod to, ms now);
  /// Stops a pod that runs: it leaves its node when its grace is over. At once without grace.
  void stop(pod_key which, ms now);
  /// A place that is kept for a pod that waits, and a place that is given up. The cluster knows: it took the decision
  /// in.
  void claim(pod_key which, pod to);
  void unclaim(pod_key which);
  /// The same for a pod that is leaving: it has the place when it is gone. Without a node: it has none any more.
  void keep(pod_key which, place next);
  /// Counts the pods of a job again after changes at one time: it starts, goes on, stops.
  void settle(std::size_t job, ms now);

  [[nodiscard]] const day& plan() const { return day_; }
  [[nodiscard]] const std::vector<job_state>& jobs() const { return jobs_; }
  [[nodiscard]] job_state& job(std::size_t number) { return jobs_[number]; }
  [[nodiscard]] bool ready(int node) const { return ready_[static_cast<std::size_t>(node)]; }
  [[nodiscard]] const std::set<std::size_t>& there() const { return there_; }  ///< jobs, by number
  [[nodiscard]] std::size_t to_come() const { return to_come_; }
  /// Submissions, ends, failures, returns and promises that have run out so far: what no session causes.
  [[nodiscard]] std::int64_t outside() const { return outside_; }
  [[nodiscard]] untold& news() { return news_; }
  [[nodiscard]] int node_of(const std::string& name) const { return node_numbers_.at(name); }
  [[nodiscard]] pod_key pod_of(const std::string& name) const;
  [[nodiscard]] std::string pod_name(pod_key which) const;
  /// Whether a session could change something: pods wait, or a gang is not whole.
  [[nodiscard]] bool waits() const;

 private:
  enum class what : std::uint8_t { submit, end, release, fail, back, wake };
  struct event {
    ms at = 0;
    std::int64_t number = 0;  ///< of events at one time the first one made comes first
    what kind = what::submit;
    std::size_t subject = 0;
    std::size_t pod = 0;
    std::int64_t plan = 0;  ///< of an end; of a wake 1: a promise runs out, 0: a gang is stale for too long
    bool operator<(const event& other) const { return at != other.at ? at > other.at : number > other.number; }
  };

  void happens(ms at, what kind, std::size_t subject, std::size_t pod = 0, std::int64_t plan = 0);
  void handle(const event& one);
  void submit(std::size_t job, ms now);
  void end(std::size_t job, ms now);
  void release(pod_key which, ms now);
  void fail(int node, ms now);
  void count_work(job_state& one, ms now) const;
  void tell(pod_key which, ms now);
  void write(pod_key which, ms now);
  [[nodiscard]] ms promised(const job_row& row) const;

  const day& day_;
  ms grace_;
  journal& log_;
  std::vector<job_state> jobs_;
  std::vector<bool> ready_;
  std::set<std::size_t> there_;
  std::size_t to_come_ = 0;
  std::int64_t outside_ = 0;
  std::int64_t made_ = 0;
  std::priority_queue<event> events_;
  std::map<std::string, int> node_numbers_;
  std::map<std::string, std::size_t> job_numbers_;
  untold news_;
};

}  // namespace day_host
