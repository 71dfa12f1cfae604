#pragma once
/// @file
/// Rules that look at the decisions of sessions alone: rest, net decisions, starts.

#include "checker/rules.hpp"

namespace day_check {

/// No moment without rest: with nothing new from outside, so many sessions in a row must not all change something.
class rest_rule : public rule {
 public:
  using rule::rule;
  void happened(const state&, std::int64_t now, const std::string& what, std::size_t subject) override;
  void after(const state& of, const session_record& at) override;
  void over(const state& of, const std::string& why) override;

 private:
  std::int64_t in_a_row_ = 0;
  std::int64_t restless_ = 0;
};

/// No pod started and stopped by one session.
class net_rule : public rule {
 public:
  using rule::rule;
  void before(const state& of, const session_record& at) override;
  void over(const state& of, const std::string& why) override;

 private:
  std::int64_t pods_ = 0;
};

/// No job is stopped without end: each job that comes may be a reason once.
class stops_rule : public rule {
 public:
  using rule::rule;
  void happened(const state& of, std::int64_t now, const std::string& what, std::size_t subject) override;
  void before(const state& of, const session_record& at) override;

 private:
  std::int64_t jobs_ = 0;                        ///< that have come
  std::map<std::size_t, std::int64_t> came_as_;  ///< by job: how many had come with it
  std::map<std::size_t, std::int64_t> stops_;    ///< sessions that took pods from a job
};

/// Every job starts and ends.
class start_rule : public rule {
 public:
  using rule::rule;
  void before(const state& of, const session_record& at) override;
  void over(const state& of, const std::string& why) override;

 private:
  session_record last_;
};

}  // namespace day_check
