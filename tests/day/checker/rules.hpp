#pragma once
/// @file
/// The rules that a day is judged by. Each sees what happens, every session with its decisions, and the end.

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "checker/room.hpp"
#include "checker/shares.hpp"

namespace day_check {

struct decision {
  std::string kind;
  pod_name pod;
  std::size_t node = none;
  std::vector<std::int64_t> devices;
  std::string action;
  std::int64_t commit = 0;
};

struct account {
  amounts fair{};
  amounts request{};
  amounts allocated{};
};

/// A session as the log tells it.
struct session_record {
  std::int64_t number = 0;
  std::int64_t now = 0;
  std::int64_t round = 0;
  std::vector<decision> decisions;
  std::map<std::size_t, account> accounts;  ///< by queue
  bool changed = false;
};

/// What the log says of how the day was played.
struct conditions {
  std::string preset;
  std::string mode = "strict";
  /// What the reference runs unless it is told otherwise (`defaultSchedulerConf` of KAI). Asked for `kai` only.
  std::string actions = "allocate,consolidation,reclaim,preempt,stalegangeviction";
  std::int64_t period = 0;
  std::int64_t grace = 0;
  bool keeps = false;
  bool net = false;
  [[nodiscard]] bool kai() const { return preset.rfind("kai", 0) == 0; }
  [[nodiscard]] bool does(const std::string& action) const {
    return ("," + actions + ",").find("," + action + ",") != std::string::npos;
  }
};

struct violation {
  std::string rule;
  std::int64_t session = 0;
  std::int64_t now = 0;
  std::string group;
  std::string queue;
  std::string text;
};

/// What rules say, for the report.
struct findings {
  std::vector<violation> violations;
  std::vector<violation>
      questions;  ///< that would be violations, unless the preset has reasons that the log does not tell
  std::map<std::string, double> figures;
};

class rule {
 public:
  rule(const conditions& how, findings& to) : how_(how), to_(to) {}
  virtual ~rule() = default;
  rule(const rule&) = delete;
  rule& operator=(const rule&) = delete;

  virtual void happened(const state&, std::int64_t /*now*/, const std::string& /*what*/, std::size_t /*subject*/) {}
  virtual void before(const state&, const session_record&) {}
  virtual void after(const state&, const session_record&) {}
  virtual void over(const state&, const std::string& /*why*/) {}

 protected:
  void report(const char* name, const session_record& at, const state& of, std::size_t job, std::string text);

  const conditions& how_;
  findings& to_;
};

/// Every rule of docs/days.md.
[[nodiscard]] std::vector<std::unique_ptr<rule>> all_rules(const conditions& how, findings& to);

/// Pods that the job wants next: what its gang lacks, or one more; 0: it wants none, or cannot start.
[[nodiscard]] std::int64_t wanted_pods(const job_plan& row, const job_now& now);
/// Whether limits, and quotas for what may not be preempted, let the job have so many more pods.
[[nodiscard]] bool allowed(const state& of, const std::vector<queue_now>& held, std::size_t job, std::int64_t pods);

/// Judges a log. Throws std::runtime_error for one that cannot be read.
[[nodiscard]] findings judge(std::istream& day, std::istream& log);

}  // namespace day_check
