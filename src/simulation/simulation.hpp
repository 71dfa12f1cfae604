#pragma once
/// @file
/// Discrete events in virtual time over the sessions that would run in production: jobs arrive, sessions decide, pods
/// run, end, are evicted and lose work, nodes fail and come back. The same inputs give the same run, to the byte.

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include <kaisched/cluster.hpp>
#include <kaisched/engine.hpp>
#include <kaisched/result.hpp>
#include <kaisched/session.hpp>

#include "simulation/workload.hpp"

namespace kaisched::simulation {

inline constexpr std::int64_t never = -1;
/// Nothing is played beyond, 73 years: sums of a few times must not overflow.
inline constexpr std::int64_t latest_time = std::numeric_limits<std::int64_t>::max() / 4;

/// What sessions are told of run times.
enum class told_times : std::uint8_t {
  none,   ///< nothing
  given,  ///< the estimates of the workload
  exact,  ///< the run times themselves
  drawn,  ///< run times multiplied by factors that are drawn
};

/// A node that is away for some time, or some of its devices.
struct outage {
  std::string node;
  std::int64_t from = 0;
  std::int64_t to = never;                  ///< `never`: it does not come back
  std::int64_t notice = 0;                  ///< so long before it takes no new pods: maintenance
  bool saves_work = false;                  ///< its pods write a checkpoint before they go
  std::vector<std::uint32_t> devices = {};  ///< indices; none: the whole node

  friend bool operator==(const outage&, const outage&) = default;
};

/// Nodes that are switched on when pods wait and off when they are empty. All are in the cluster.
struct node_pool {
  std::vector<std::string> nodes;  ///< in the order in which they are switched on
  std::uint32_t least = 0;         ///< of them that are never off: the first ones
  std::int64_t start_time = 0;     ///< from the wish for a node until it is there
  std::int64_t idle_time = 0;      ///< from the end of its last pod until it goes, unless pods wait

  friend bool operator==(const node_pool&, const node_pool&) = default;
};

/// Speed of a job of some model with less than all its pods: parts per million of its full speed. Between two points
/// speed is linear, below the first one as well (from none with no pods).
struct speed_point {
  std::uint32_t pods = 0;
  std::int64_t speed = 0;

  friend bool operator==(const speed_point&, const speed_point&) = default;
};
inline constexpr std::int64_t full_speed = 1'000'000;
inline constexpr std::int64_t highest_speed = 1'000 * full_speed;

/// Speed of a job of some model on nodes whose `model_label` has this value: parts per million of the speed for which
/// its run time is told.
struct gpu_speed {
  std::string gpu_model;
  std::int64_t speed = full_speed;

  friend bool operator==(const gpu_speed&, const gpu_speed&) = default;
};

/// What is known about jobs of one model. The profile without a model is that of all others.
struct profile {
  std::string model;
  std::vector<speed_point> speeds;           ///< by pods, ascending; none: as many parts as there are pods
  std::int64_t start_overhead = never;       ///< `never`: that of the options
  std::int64_t checkpoint_interval = never;  ///< likewise
  /// On nodes of which nothing is said a job has full speed. Pods wait for each other: the slowest one decides.
  std::vector<gpu_speed> gpu_speeds = {};
  std::int64_t traffic = 0;  ///< MB/s between the pods of a job, which sessions are told
};

struct simulation_options {
  /// Nanoseconds from the start of one session to the next at least; sessions begin at multiples of it. 0: whenever
  /// something has changed.
  std::int64_t period = 0;
  /// A session at least so often while jobs wait, for rules that look at the clock. 0: only after changes.
  std::int64_t wake = 0;
  std::int64_t grace = 0;  ///< from an eviction until the place is free
  /// Of every start, without progress, and likewise when a job that goes on gets or loses pods.
  std::int64_t start_overhead = 0;
  /// Progress that is kept when a job is stopped is a multiple of it; 0: all of it.
  std::int64_t checkpoint_interval = 0;
  bool keeps_work = true;  ///< false: a job that is stopped begins again
  told_times estimates = told_times::given;
  /// Of `drawn`: estimates are run times times a number drawn evenly from 1 to this one (the f-model of Mu'alem and
  /// Feitelson, IEEE TPDS 2001), the same one for a job whatever the policy.
  double estimate_factor = 1;
  std::uint64_t estimate_seed = 0;
  /// Every session places all jobs anew that may be stopped, those that run with those that wait, in the order of the
  /// policy: how SRTF, SRSF and LAS are meant. Who is not placed is stopped; who is placed elsewhere starts there
  /// again.
  bool replan = false;
  /// Sessions are told what part of the cluster's GPU time each queue has had, of which half counts after this time
  /// (option `proportion.k` of the policy makes use of it). 0: they are told nothing. At most ten years.
  std::int64_t usage_half_life = 0;
  /// Sessions follow at one moment as long as they start something: for policies that look at one job in a session.
  bool repeat = false;
  /// `changes`, `stays`, `sessions`, `queues` and `queue_timeline` of `run_result` are filled.
  bool notes_changes = false;
  bool one_queue = false;  ///< sessions see all jobs in `queue`, whatever queue they name
  /// Jobs of several pods ask for nodes in one domain of this level of the primary topology, and take others if there
  /// are none. Empty: they ask for nothing.
  std::string preferred_level = {};
  /// The same, of the lowest level of which some domain has several nodes, if there is one.
  bool near = false;
  std::int64_t begin = 0;                 ///< time of the sessions at virtual time 0, nanoseconds
  std::int64_t horizon = never;           ///< nothing is played from then on
  std::string queue = "default";          ///< of jobs that name none
  std::string model_label = "gpu.model";  ///< of nodes, for jobs that may run on some models only
  /// Sessions at one moment that stop some pod; evictions that never come to rest end there or, where the same places
  /// come again, earlier, and are counted.
  std::uint32_t most_sessions_at_once = 64;
  /// Times that one job may be stopped: one that never gets on would be played for ever.
  std::uint32_t most_stops = 100'000;
  /// CPU time of the calling thread, nanoseconds. Nothing that is played depends on it. Empty: sessions are not timed.
  std::function<std::int64_t()> cpu_clock = {};
};

/// GPUs that a queue is owed.
struct queue_share {
  std::string queue;
  std::int64_t quota = unlimited;  ///< milli-GPU
};
/// Of the queues of a cluster.
[[nodiscard]] std::vector<queue_share> shares_of(cluster& of);

/// What is played.
struct play {
  workload jobs;
  std::vector<outage> outages;
  std::vector<node_pool> pools;
  std::vector<profile> profiles;
  /// What queues are owed, where the cluster does not say it: `share_error` is measured by it.
  std::vector<queue_share> shares = {};
};

/// What became of a job. Times are `never` if it did not come to that.
struct job_outcome {
  std::int64_t first_start = never;
  std::int64_t end = never;
  std::int64_t running = 0;   ///< nanoseconds with its gang on nodes
  std::int64_t lost = 0;      ///< overhead of starts, and work that was done again, in time at full speed
  std::int64_t gpu_time = 0;  ///< milli-GPU milliseconds that its pods held
  /// Of `gpu_time`, without progress that was kept: that of `lost`, and the two that follow.
  std::int64_t lost_gpu_time = 0;
  /// Held by fewer pods than its gang needs: it had not begun yet, or all its pods had left before.
  std::int64_t partial_gpu_time = 0;
  /// Held by what was left of its gang after it had lost pods, until it went on or its last pod left.
  std::int64_t stale_gpu_time = 0;
  std::uint32_t starts = 0;
  /// Times that decisions stopped it: it had fewer pods than its gang then. A session that starts and stops it counts
  /// among `starts` and here, though it has not run.
  std::uint32_t evictions = 0;
  std::uint32_t failures = 0;  ///< times that its nodes did
  /// Of its nodes at the last start. 0: one node; 1: one domain of the lowest level of the topology; one more for each
  /// level, and one more beyond the widest one.
  std::uint32_t distance = 0;
  bool came = false;  ///< it arrived within what was played

  friend bool operator==(const job_outcome&, const job_outcome&) = default;
};

/// The cluster from a moment on.
struct sample {
  std::int64_t time = 0;
  std::int64_t gpus_held = 0;    ///< milli-GPU of pods on nodes
  std::int64_t gpus_wanted = 0;  ///< of pods that wait
  std::int64_t gpus_there = 0;   ///< of nodes that are there
  std::uint32_t jobs_running = 0;
  std::uint32_t jobs_waiting = 0;
  /// Of GPUs that are free: what pods of the workload cannot use, as the mean over them (FGD, USENIX ATC 2023).
  std::int64_t gpus_fragmented = 0;
  /// Of GPUs that are held: what other queues would have if they were divided by max-min fairness.
  std::int64_t gpus_misplaced = 0;

  friend bool operator==(const sample&, const sample&) = default;
};

/// A power feed and the most that its nodes drew.
struct feed_use {
  std::string name;
  std::int64_t most = 0;  ///< milliwatts that it may deliver
  double peak = 0;        ///< watts

  friend bool operator==(const feed_use&, const feed_use&) = default;
};
/// What nodes drew, those that say what they draw.
struct power_use {
  bool known = false;                ///< some node says it
  double energy = 0;                 ///< kilowatt hours
  double peak = 0;                   ///< watts of all nodes
  std::vector<feed_use> feeds = {};  ///< by name

  friend bool operator==(const power_use&, const power_use&) = default;
};

struct run_counts {
  std::uint64_t sessions = 0;
  std::uint64_t decisions = 0;
  std::uint64_t starts = 0;     ///< of pods
  std::uint64_t evictions = 0;  ///< of pods
  std::uint64_t moves = 0;      ///< of pods to other nodes, by decisions: at once, or after they have left
  std::uint64_t withdrawn = 0;  ///< starts of pods that the session took back which had decided them
  std::uint64_t restless = 0;   ///< moments at which evictions did not come to rest

  friend bool operator==(const run_counts&, const run_counts&) = default;
};

/// What becomes of the pods of a job.
struct change {
  std::int64_t time = 0;
  char what = 's';         ///< 's': starts on the node, 'x': leaves it, 'm': moves there
  std::uint32_t job = 0;   ///< of the workload
  std::uint32_t node = 0;  ///< slot in the cluster

  friend bool operator==(const change&, const change&) = default;
  friend auto operator<=>(const change&, const change&) = default;
};

/// A pod of a job on a node.
struct stay {
  std::int64_t from = 0;
  std::int64_t to = never;    ///< `never`: it is there when the play ends
  std::uint32_t job = 0;      ///< of the workload
  std::uint32_t node = 0;     ///< slot in the cluster
  std::int64_t gpus = 0;      ///< milli-GPU
  std::uint64_t devices = 0;  ///< bits of its devices; none if they changed, or if the cluster does not name them

  friend bool operator==(const stay&, const stay&) = default;
};

/// A queue from a moment on, in milli-GPU.
struct queue_sample {
  std::int64_t time = 0;
  std::uint32_t queue = 0;  ///< in `run_result::queues`
  std::int64_t held = 0;
  std::int64_t wanted = 0;  ///< of pods that wait
  std::int64_t fair = 0;    ///< of what all hold: its part by max-min fairness

  friend bool operator==(const queue_sample&, const queue_sample&) = default;
};

/// A queue that waits for GPUs within its quota. Its claim is open while a job of it waits whose GPUs (those of its
/// gang that it still needs) and those that the queue holds are together no more than its quota. Nanoseconds.
struct quota_claim {
  std::string queue;
  std::int64_t quota = unlimited;  ///< milli-GPU
  std::uint64_t claims = 0;        ///< times that a claim was opened
  std::int64_t first = 0;          ///< how long the first one was open
  std::int64_t longest = 0;
  std::int64_t total = 0;
  bool is_open = false;  ///< the last one still is when the play ends, which closes it for the times above

  friend bool operator==(const quota_claim&, const quota_claim&) = default;
};

/// GPUs that were free while jobs waited that would have fitted on them.
struct idle_refusal {
  constraint what = constraint::none;  ///< the first reason of these jobs
  std::string plugin;                  ///< that refused them, where plug-ins are asked by name; else empty
  std::int64_t gpu_time = 0;           ///< milli-GPU milliseconds

  friend bool operator==(const idle_refusal&, const idle_refusal&) = default;
};

struct run_result {
  std::vector<job_outcome> jobs;       ///< as in the workload
  std::vector<std::int64_t> sessions;  ///< their moments, if the options ask for changes
  std::vector<sample> timeline;        ///< a sample per moment at which something changed
  run_counts counts;
  std::int64_t end = 0;             ///< the last moment at which something changed, or the horizon
  std::vector<change> changes;      ///< in order, if the options ask for them; once for pods of a job on one node
  std::vector<stay> stays;          ///< by their ends, if the options ask for changes
  std::vector<queue_share> queues;  ///< those of jobs, by name, if the options ask for changes
  std::vector<queue_sample> queue_timeline;  ///< likewise: one when something of a queue has changed
  std::vector<quota_claim> quota_claims;     ///< of queues of jobs that have a quota, by name
  std::vector<idle_refusal> idle_refusals;   ///< most first
  /// Columns that the cluster or the workload fills and the policy does not look at, as `table.column`.
  std::vector<std::string> unread;
  /// By session, nanoseconds of `simulation_options::cpu_clock`; empty without a clock. Differs from run to run.
  std::vector<std::int64_t> session_cpu;
  power_use power;
  std::uint32_t levels = 0;  ///< of the topology that distances are told in
  std::string digest;        ///< SHA-256 over all that happened, as 64 hexadecimal digits
};

/// Sees every session after its actions, at this virtual time. What it fails with ends the play.
using session_watcher = std::function<result<void>(const session& held, std::int64_t now)>;

/// Plays a workload. Pods that are in the cluster at the start stay where they are. Errors: `argument` for options,
/// jobs and outages that make no sense, the job or node named; what applying deltas and running actions can fail with.
/// Threads: one; runs with different clusters may go on at the same time.
[[nodiscard]] result<run_result> simulate(cluster& over, const play& what, const engine& with,
                                          const simulation_options& options = {}, const session_watcher& watcher = {});

}  // namespace kaisched::simulation
