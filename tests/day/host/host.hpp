#pragma once
/// @file
/// Plays a day: events happen, sessions decide, the host carries out what they decide.

#include <string>

#include "host/scheduler.hpp"
#include "host/world.hpp"

namespace day_host {

struct settings {
  option_list options;  ///< of the engine: preset, mode, actions
  ms period = 0;        ///< sessions at its multiples; 0: after each event, until nothing changes
  ms grace = 0;         ///< a pod that is stopped leaves its node so long after
  bool keeps =
      false;  ///< the cluster takes decisions in and keeps claims; else the host looks at starts and stops alone
  bool estimates = false;  ///< sessions are told how long jobs run
  bool net = false;       ///< the host drops a start that the same session takes back, and starts claims that have room
  int rounds = 20;        ///< sessions at one moment, or without anything from outside, that may all change something
  int most_restless = 5;  ///< after so many moments without rest the day is broken off
  /// Stops of a job by decisions, beyond the number of jobs that have come, after which the day is broken off.
  std::int64_t most_stops = 60;
  std::int64_t most_sessions = 50'000;
  /// Sessions, and jobs of which is asked before them whether they would start if they were first in line.
  std::vector<std::pair<std::int64_t, std::string>> probes;
  std::int64_t scenario_of = -1;  ///< session whose cluster is written as a scenario; the day ends there
  std::string scenario;           ///< file
};

class host {
 public:
  host(const day& of, const settings& how, journal& log);
  void play();

 private:
  void hold_until_rest(ms now);
  /// One session. Whether it changed anything.
  bool hold(ms now, int round);
  bool carry_out(const decided& all, ms now);
  bool carry_out(const decision& one, ms now, std::set<std::size_t>& touched, std::set<std::size_t>& evicted);
  bool start_claims(const decided& all, ms now, std::set<std::size_t>& touched);
  void count_evictions(const std::set<std::size_t>& evicted, ms now);
  void count_rest(bool changed);
  void play_events();
  void play_period();
  [[nodiscard]] bool goes_on() const;

  settings how_;
  journal& log_;
  world world_;
  scheduler scheduler_;
  std::int64_t sessions_ = 0;
  int in_a_row_ = 0;
  std::int64_t outside_ = 0;
  int restless_ = 0;
  std::int64_t stops_ = 0;  ///< the most of a job
  bool written_ = false;
};

/// Writes the cluster as it is as a scenario (docs/scenario.md), with one session behind it.
void write_scenario(const world& of, const settings& how, ms now, const std::string& file);

}  // namespace day_host
