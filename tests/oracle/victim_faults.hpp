#pragma once
/// @file
/// An action of the engine that evicts, held against all sets of victims.

#include <cstdint>
#include <string>
#include <vector>

#include <kaisched/options.hpp>
#include <kaisched/snapshot.hpp>

namespace kaisched::oracle {

struct victim_report {
  std::vector<std::string> faults;  ///< each begins with a word that says what is wrong
  std::size_t groups = 0;           ///< that asked for victims
  std::size_t placed = 0;
  std::size_t evicting = 0;  ///< of these, with victims
  std::size_t netted = 0;    ///< sessions of `strict` in which an action took back what another one had given
  std::size_t missed = 0;    ///< left waiting though a set would have helped
  std::size_t sets = 0;      ///< that the oracle has tried
  std::size_t defects = 0;   ///< commits of `compat` whose amounts are not looked at: after a known defect
  bool overdrawn = false;    ///< some node held more than it has from the start
};

/// Runs a session and checks what it decided. Of the options' actions the last one is the one that evicts. In `compat`
/// a set that is missed, or larger than it need be, is counted and no fault.
[[nodiscard]] victim_report check_victims(const snapshot& from, const policy_options& options, std::int64_t now);

}  // namespace kaisched::oracle
