#pragma once
/// @file
/// Questions about many scenarios, several at a time.

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include <kaisched/result.hpp>

#include "cli/shell_process.hpp"
#include "io/scenario/scenario.hpp"

namespace kaisched::cli {

/// One of the threads that ask.
struct trial_place {
  std::size_t number = 0;  ///< from 0
  shell_process process;   ///< ended when the answer is not needed any more, or takes too long
};

/// How many questions are asked at a time, and how long they may take.
struct trial_setup {
  /// The question; an error ends the trials.
  std::function<result<bool>(const io::scenario&, trial_place&)> ask;
  std::size_t jobs = 1;
  std::optional<std::chrono::steady_clock::duration> most_each;  ///< what takes longer is answered with no
  std::optional<std::chrono::steady_clock::time_point> until;    ///< nothing is asked after that
  std::function<void(std::size_t answers)> progress;             ///< after every answer
};

/// Why trials have ended early.
enum class trial_stop : std::uint8_t { none, time, interrupted, failed };

/// Asks on threads of its own. The answers are the same for any number of threads.
class trial_runner {
 public:
  explicit trial_runner(trial_setup how);
  ~trial_runner();
  trial_runner(const trial_runner&) = delete;
  trial_runner& operator=(const trial_runner&) = delete;

  /// The place of the first scenario, from 0, for which the answer is yes. None if there is none, or if the trials were
  /// stopped before one was found. Scenarios are made on this thread, as they are needed.
  std::optional<std::size_t> first(const std::function<std::optional<io::scenario>()>& next);

  /// Ends the trials; any thread may call it.
  void stop(trial_stop why);
  [[nodiscard]] trial_stop stopped();
  /// What made them fail.
  [[nodiscard]] const std::optional<error>& failure() const { return failure_; }

 private:
  using clock = std::chrono::steady_clock;
  struct worker {
    trial_place place;
    std::optional<io::scenario> asked;  ///< waits for the thread
    std::size_t number = 0;             ///< of the scenario in this round
    std::size_t round = 0;
    bool busy = false;
    bool ended = false;  ///< its answer is not needed, or is no
    clock::time_point begun;
    std::thread thread;
  };
  struct answers {
    std::size_t made = 0;              ///< scenarios
    bool more = true;                  ///< there may be another one
    std::optional<std::size_t> first;  ///< yes
  };

  void work(worker& mine);
  void take(worker& mine, const result<bool>& answer);
  bool hand_out(answers& of, const std::function<std::optional<io::scenario>()>& next,
                std::unique_lock<std::mutex>& lock);
  [[nodiscard]] bool is_decided(const answers& of) const;
  /// Ends what is asked about scenarios from this number on.
  void end_from(std::size_t number);
  void wait(std::unique_lock<std::mutex>& lock);
  [[nodiscard]] bool waits_in_round(const worker& one) const { return one.busy && one.round == round_; }

  trial_setup how_;
  std::mutex mutex_;
  std::condition_variable to_workers_;
  std::condition_variable to_caller_;
  std::deque<worker> workers_;
  answers round_answers_;
  std::size_t round_ = 0;
  std::size_t answered_ = 0;
  trial_stop stop_ = trial_stop::none;
  bool over_ = false;
  bool changed_ = false;
  std::optional<error> failure_;
};

}  // namespace kaisched::cli
