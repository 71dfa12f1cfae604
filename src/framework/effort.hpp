#pragma once
/// @file
/// How far searches for victims go: in steps, never in seconds, so that the same input gives the same decisions.

#include <algorithm>
#include <cstdint>
#include <limits>

#include <kaisched/options.hpp>

namespace kaisched::framework {

/// Steps of a search for a chunk that asks for so many GPUs, in milli-GPU (option `search_steps`), or `unlimited`. By
/// default, in `strict`, more for a large one: its victims alone are many.
[[nodiscard]] inline std::int64_t search_steps_of(const policy_options& options, std::int64_t gpus) {
  constexpr std::int64_t of_compat = 10'000;
  constexpr std::int64_t of_strict = 1'000;
  constexpr std::int64_t per_gpu = 100;
  if (options.search_steps != policy_options::by_mode) return options.search_steps;
  return options.mode == decision_mode::compat ? of_compat : of_strict + per_gpu * (gpus / whole_device);
}

/// Steps that searches may still take: for one group, in one action and in one session (options `search_steps`,
/// `action_steps`, `session_steps`; rules S19, S22).
class effort {
 public:
  effort() = default;
  explicit effort(const policy_options& options)
      : most_of_group_(amount(options.search_steps == policy_options::by_mode ? unlimited : options.search_steps)),
        most_of_action_(amount(options.action_steps)),
        session_(amount(options.session_steps)) {}

  /// An action begins. What is left of the session is shared alike among it and the `later` actions that search.
  void begin_action(std::int64_t later) noexcept {
    action_ = std::min(most_of_action_, later > 0 && session_ != endless ? session_ / (later + 1) : session_);
    group_ = 0;
    drawn_in_action_ = 0;
    drawn_in_group_ = 0;
    was_cut_ = false;
  }
  /// A search for one group begins.
  /// It takes no more than `most` steps, or `unlimited`.
  void begin_group(std::int64_t most = unlimited) noexcept {
    group_ = std::min({most_of_group_, action_, amount(most)});
    drawn_in_group_ = 0;
    was_cut_ = false;
  }

  void draw(std::int64_t steps) noexcept {
    take(group_, steps);
    take(action_, steps);
    take(session_, steps);
    drawn_in_group_ += steps;
    drawn_in_action_ += steps;
  }
  /// False: no steps are left. The search that asks ends, and has been cut.
  [[nodiscard]] bool goes_on() noexcept {
    if (group_ > 0) return true;
    was_cut_ = true;
    return false;
  }
  /// Steps that the group may still take.
  [[nodiscard]] std::int64_t left() const noexcept { return std::max<std::int64_t>(group_, 0); }
  /// The search for the group ended because of its steps.
  [[nodiscard]] bool was_cut() const noexcept { return was_cut_; }
  /// No other group of the action can be searched for.
  [[nodiscard]] bool action_is_spent() const noexcept { return action_ <= 0; }
  [[nodiscard]] std::int64_t drawn_in_action() const noexcept { return drawn_in_action_; }
  [[nodiscard]] std::int64_t drawn_in_group() const noexcept { return drawn_in_group_; }

 private:
  static constexpr std::int64_t endless = std::numeric_limits<std::int64_t>::max();

  static std::int64_t amount(std::int64_t option) { return option == unlimited ? endless : option; }
  static void take(std::int64_t& from, std::int64_t steps) noexcept {
    if (from != endless) from = from > steps ? from - steps : 0;
  }

  std::int64_t most_of_group_ = endless;
  std::int64_t most_of_action_ = endless;
  std::int64_t session_ = endless;
  std::int64_t action_ = endless;
  std::int64_t group_ = endless;
  std::int64_t drawn_in_action_ = 0;
  std::int64_t drawn_in_group_ = 0;
  bool was_cut_ = false;
};

}  // namespace kaisched::framework
