#pragma once
/// @file
/// Rules about groups that wait: capacity that stays free, quotas that are asked for, evictions beyond what was
/// lacking.

#include <optional>

#include "checker/rules.hpp"
#include "checker/survey.hpp"

namespace day_check {

/// No capacity stays free for more than two sessions while a group fits that the policy would start.
class idle_rule : public rule {
 public:
  using rule::rule;
  void before(const state& of, const session_record& at) override;
  void after(const state& of, const session_record& at) override;
  void over(const state& of, const std::string& why) override;

 private:
  std::vector<std::pair<std::size_t, pod_now>> stopped_;  ///< pods that the session stops, by job
  std::set<std::size_t> waited_;                          ///< jobs that the session could have started
  std::map<std::size_t, std::int64_t> in_a_row_;          ///< sessions after which a job fits
  std::int64_t jobs_ = 0;
};

/// A queue that asks for its quota gets it within a bounded number of sessions.
class quota_rule : public rule {
 public:
  using rule::rule;
  void before(const state& of, const session_record& at) override;
  void over(const state& of, const std::string& why) override;

 private:
  [[nodiscard]] bool entitled(const state& of, const std::vector<queue_now>& held, const std::vector<amounts>& shares,
                              std::size_t job, std::int64_t pods) const;

  std::map<std::size_t, std::int64_t> in_a_row_;
  std::int64_t longest_ = 0;
};

/// Evictions within twice a lower bound.
class evictions_rule : public rule {
 public:
  using rule::rule;
  void before(const state& of, const session_record& at) override;
  void after(const state& of, const session_record& at) override;
  void over(const state& of, const std::string& why) override;

 private:
  struct wait {
    survey before;
    std::int64_t pods = 0;
    std::int64_t running = 0;  ///< pods that ran then
  };

  [[nodiscard]] std::optional<wait> waiting(const state& of, const session_record& at, const shares_now& shares,
                                            std::size_t j, std::int64_t pods);

  void count_moves(const state& of, const session_record& at, const shares_now& shares);

  std::map<std::size_t, wait> waits_;
  struct moves {
    std::int64_t running;  ///< pods of the job when pods were first moved for it
    std::int64_t pods;     ///< of the job that room has been made for since
  };
  std::map<std::size_t, moves> moved_;  ///< by job
  session_record last_;
  double evicted_ = 0;
  double bound_ = 0;
  std::int64_t pods_ = 0;
};

}  // namespace day_check
