#pragma once
/// @file
/// Groups whose search for victims was long and found nothing wait before they get another long one.

#include <cstdint>

#include "framework/session_state.hpp"

namespace kaisched::actions {

/// Rule S24. Column `searched` of the group keeps what later sessions have to know: a bit of each action that backs
/// off, and the second of the last long search.
class search_backoff {
 public:
  /// Of the action that runs.
  explicit search_backoff(framework::session_state& c);

  /// Steps that a search for the group may take now, beside other bounds; `unlimited`: as many as there are.
  [[nodiscard]] std::int64_t most_steps(group_row group) const;
  /// A search has ended, after so many steps.
  void note(group_row group, bool solved, std::int64_t steps);

 private:
  [[nodiscard]] bool backs_off(std::int64_t bits) const;

  framework::session_state& c_;
  std::int64_t wait_;  ///< seconds; 0: no group backs off
  std::int64_t second_;
  std::int64_t bit_;
};

}  // namespace kaisched::actions
