#pragma once
/// @file
/// Questions about groups that do not exist yet, and their answers as JSON: of the command and of the server.

#include <cstdint>
#include <string>
#include <vector>

#include <kaisched/result.hpp>
#include <kaisched/snapshot.hpp>
#include <kaisched/table.hpp>
#include <kaisched/what_if.hpp>

#include "cli/console.hpp"
#include "cli/outcome.hpp"

namespace kaisched::cli {

/// One question. Defaults are those of the options of `kaisched what-if`.
struct what_if_question {
  std::string queue;  ///< of a group that is described here; empty: none is
  std::string name = "what-if";
  std::int64_t pods = 1;
  std::int64_t gang = 0;  ///< of these start together; 0: all
  double gpus = 1;        ///< of each pod
  double cpu = 1;         ///< cores
  double memory = 0;      ///< units of 10^9 bytes
  std::int64_t priority = 50;
  double runtime = 0;               ///< seconds; 0: not known
  bool stays = false;               ///< it may not be preempted
  std::vector<table> added;         ///< rows that are added first
  std::vector<std::string> groups;  ///< ask about these; empty: those that are added
  std::int64_t ends = 256;          ///< points in time at which groups end; 0 does not ask when
  bool policy_actions = false;      ///< what decides then
};

/// Least and most of the numbers of a question.
struct number_range {
  double least = 0;
  double most = 0;
};
inline constexpr number_range what_if_pods{1, 1e6};
inline constexpr number_range what_if_gang{0, 1e6};
inline constexpr number_range what_if_gpus{0, 4096};
inline constexpr number_range what_if_cpu{0, 1e6};
inline constexpr number_range what_if_memory{0, 1e6};
inline constexpr number_range what_if_priority{-1e9, 1e9};
inline constexpr number_range what_if_runtime{0, 1e9};
inline constexpr number_range what_if_ends{0, 1e6};
/// An amount that would round to nothing, and what is expected of it; null: none does.
struct vanishing_amount {
  const char* name = nullptr;  ///< as in what_if_question
  double value = 0;
  const char* expected = nullptr;
};
[[nodiscard]] inline vanishing_amount find_vanishing(const what_if_question& asked) {
  if (asked.gpus > 0 && asked.gpus < 0.001) return {"gpus", asked.gpus, "0 or at least 0.001"};
  if (asked.cpu > 0 && asked.cpu < 0.001) return {"cpu", asked.cpu, "0 or at least 0.001"};
  if (asked.memory > 0 && asked.memory < 1e-9) return {"memory", asked.memory, "0 or at least 1e-9"};
  if (asked.runtime > 0 && asked.runtime < 1e-9) return {"runtime", asked.runtime, "0 or at least 1e-9"};
  return {};
}

/// What is to be said of the queue of a question, if the cluster has none of that name: `no such queue; did you mean
/// x?`. Empty: it is there, or a row that is added may bring it.
[[nodiscard]] std::string unknown_queue(const what_if_question& asked, const snapshot& in);

/// An answer, with the sentences for its forecasts.
struct what_if_answers {
  what_if_report report;
  std::vector<std::string> texts;
};
/// Errors: as of `session::what_if`.
[[nodiscard]] result<what_if_answers> ask_what_if(const session& over, std::int64_t now, const what_if_question& asked);
/// The document `kaisched-what-if/1`. `by`: preset, mode and digest of the decisions before.
[[nodiscard]] json what_if_json(const outcome& by, std::int64_t now, const what_if_answers& answers);

}  // namespace kaisched::cli
