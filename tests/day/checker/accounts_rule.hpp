#pragma once
/// @file
/// Accounts equal a recount: what nodes, devices and queues hold, what queues ask for, fair shares, the work of jobs.

#include "checker/rules.hpp"

namespace day_check {

class accounts_rule : public rule {
 public:
  using rule::rule;
  void before(const state& of, const session_record& at) override;
  void after(const state& of, const session_record& at) override;
  void over(const state& of, const std::string& why) override;

 private:
  void check_requests(const state& of, const session_record& at, const std::vector<queue_now>& held);
  void check_shares(const state& of, const session_record& at, const std::vector<queue_now>& held);
  void check_allocated(const state& of, const session_record& at, const std::vector<queue_now>& held);
  void wrong(const state& of, const session_record& at, std::size_t queue, const std::string& what, std::int64_t told,
             std::int64_t counted);

  std::int64_t compared_ = 0;
};

}  // namespace day_check
