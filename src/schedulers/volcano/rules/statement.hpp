#pragma once
/// @file
/// What an action has done so far and may still take back: evictions, and places that tasks were given.
///
/// Source: volcano-sh/volcano, pkg/scheduler/framework/statement.go. Everything is visible in the session at once.

#include <cstdint>
#include <string>
#include <vector>

#include "schedulers/volcano/rules/session.hpp"

namespace kaisched::volcano {

enum class deed : std::uint8_t { evict, pipeline, allocate };

struct operation {
  deed what = deed::allocate;
  row task = no_row;
  row node = no_row;
  std::string near;   ///< the domain that the sub-job had when the node was sought
  bool last = false;  ///< of what was committed together
};

/// What was committed, in order.
using decisions = std::vector<operation>;

class statement {
 public:
  explicit statement(session& of) : session_(&of) {}

  void evict(row task);
  /// Gives a place that is being released.
  void pipeline(row task, row node);
  void allocate(row task, row node);

  [[nodiscard]] const std::vector<operation>& operations() const { return done_; }
  /// Takes over what another statement has done.
  void merge(statement& other);
  /// Does again what was done and taken back.
  void repeat(const std::vector<operation>& operations);
  /// Takes over what was committed and cannot be done: to be taken back.
  void reopen(const std::vector<operation>& operations);
  /// Takes all back, the last first.
  void discard();
  /// What was allocated is bound from now on.
  void commit(decisions& made);

 private:
  void place(row task, row node, task_status status);
  void take_back(row task);

  session* session_;
  std::vector<operation> done_;
};

}  // namespace kaisched::volcano
