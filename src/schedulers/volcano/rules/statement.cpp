#include "schedulers/volcano/rules/statement.hpp"

#include <algorithm>

namespace kaisched::volcano {

void statement::evict(row task) {
  session_->cluster().change_status(task, task_status::releasing);
  session_->task_deallocated(task);
  done_.push_back({deed::evict, task, session_->cluster().tasks[task].node, {}});
}

void statement::place(row task, row node, task_status status) {
  task_state& one = session_->cluster().tasks[task];
  one.status = status;
  one.node = node;
  session_->cluster().charge(task);
  session_->task_allocated(task);
  done_.push_back({status == task_status::pipelined ? deed::pipeline : deed::allocate, task, node, one.near});
}

void statement::pipeline(row task, row node) { place(task, node, task_status::pipelined); }

void statement::allocate(row task, row node) { place(task, node, task_status::allocated); }

void statement::merge(statement& other) {
  done_.insert(done_.end(), other.done_.begin(), other.done_.end());
  other.done_.clear();
}

void statement::repeat(const std::vector<operation>& operations) {
  for (const operation& one : operations) {
    if (one.what == deed::evict) {
      evict(one.task);
      continue;
    }
    session_->cluster().tasks[one.task].near = one.near;
    place(one.task, one.node, one.what == deed::pipeline ? task_status::pipelined : task_status::allocated);
  }
}

void statement::reopen(const std::vector<operation>& operations) {
  done_.insert(done_.end(), operations.begin(), operations.end());
}

void statement::take_back(row task) {
  task_state& one = session_->cluster().tasks[task];
  session_->cluster().discharge(task);
  one.status = task_status::pending;
  session_->task_deallocated(task);
  one.node = no_row;
  one.near.clear();
}

void statement::discard() {
  for (auto one = done_.rbegin(); one != done_.rend(); ++one) {
    if (one->what != deed::evict) {
      take_back(one->task);
      continue;
    }
    session_->cluster().change_status(one->task, task_status::running);
    session_->task_allocated(one->task);
  }
  done_.clear();
}

void statement::commit(decisions& made) {
  for (const operation& one : done_) {
    if (one.what == deed::allocate) session_->cluster().tasks[one.task].status = task_status::binding;
    made.push_back(one);
  }
  if (!done_.empty()) made.back().last = true;
  done_.clear();
}

}  // namespace kaisched::volcano
