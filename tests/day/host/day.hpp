#pragma once
/// @file
/// The workload of a day as the host reads it: nodes, queues, jobs, outages. docs/days.md has the form of the file.

#include <cstdint>
#include <string>
#include <vector>

namespace day_host {

/// Times and durations in milliseconds, amounts in milli-cores, bytes, milli-GPU. -1: unlimited, or not set.
using ms = std::int64_t;

struct node_row {
  std::string name;
  std::int64_t gpus = 0;
  std::int64_t cpu = 0;
  std::int64_t memory = 0;
  std::int64_t pods = 0;
  std::string rack;
};

struct queue_row {
  std::string name;
  std::string parent;
  std::int64_t priority = 100;
  std::int64_t weight = 1;
  std::int64_t quota_cpu = -1;
  std::int64_t quota_gpu = -1;
  std::int64_t limit_cpu = -1;
  std::int64_t limit_gpu = -1;
  ms reclaim_min = -1;
  ms preempt_min = -1;
};

struct job_row {
  std::string name;
  ms submit = 0;
  ms run = 0;
  std::string queue;
  std::int64_t priority = 50;
  bool preemptible = true;
  std::int64_t pods = 1;
  std::int64_t least = 1;  ///< pods that must run together
  std::int64_t gpu = 0;    ///< of each pod
  std::int64_t cpu = 0;
  std::int64_t memory = 0;
  bool one_rack = false;     ///< all pods in one rack
  bool checkpoints = false;  ///< a job that is stopped keeps what it has done
};

struct outage_row {
  std::string node;
  ms from = 0;
  ms to = 0;
};

struct day {
  std::vector<node_row> nodes;
  std::vector<queue_row> queues;
  std::vector<job_row> jobs;  ///< by time of submission
  std::vector<outage_row> outages;
};

/// Throws std::runtime_error with file and line for what is no day.
[[nodiscard]] day read_day(const std::string& file);

}  // namespace day_host
