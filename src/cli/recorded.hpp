#pragma once
/// @file
/// Recordings of sessions on the command line: written while sessions are held, and decided again.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <kaisched/engine.hpp>
#include <kaisched/result.hpp>
#include <kaisched/session.hpp>

#include "cli/policy_arguments.hpp"
#include "io/recording.hpp"
#include "io/scenario/scenario.hpp"

namespace kaisched::cli {

/// A file that sessions are appended to as they are held.
class recording_file {
 public:
  /// Makes the file anew, packed if its name ends with `.gz`. Error: it cannot be written.
  static result<recording_file> create(const std::string& path);
  /// The session is on its way to the disk: who is killed then has it.
  result<void> add(const engine& with, const session& of, std::int64_t now);
  /// Nothing is added any more.
  result<void> finish();
  /// Something could not be written.
  [[nodiscard]] bool has_failed() const { return body_->has_failed; }
  [[nodiscard]] std::uint64_t sessions() const { return body_->writes.sessions(); }

 private:
  struct open_file;
  struct state {
    explicit state(std::shared_ptr<open_file> to);
    std::shared_ptr<open_file> file;
    io::recorder writes;
    bool has_failed = false;
  };
  explicit recording_file(std::unique_ptr<state> body);
  result<void> push();
  std::unique_ptr<state> body_;
};

/// How decisions of a session differ from the recorded ones, the first that is true.
enum class changed_decisions : std::uint8_t {
  none,
  withdrawn,  ///< recorded was the start and the stop of one pod, which is not decided now
  starts,     ///< other pods start, or are promised a place
  stops,      ///< the same pods start, and others are stopped or moved
  places,     ///< the same pods, on other nodes or devices
  order,      ///< the same, in another order, by another action or with other reasons
};
[[nodiscard]] std::string_view name_of(changed_decisions kind);
/// @param recorded, decided as a scenario expects them
[[nodiscard]] changed_decisions changed_between(const std::vector<std::string>& recorded,
                                                const std::vector<std::string>& decided);

/// A session of a recording that was decided once more.
struct decided_again {
  const io::recorded_session& recorded;
  std::string digest;                  ///< now
  std::vector<std::string> decisions;  ///< now, as a scenario expects them
  /// Place of the first decision that differs; none if all are equal.
  [[nodiscard]] std::optional<std::size_t> difference() const;
  /// A decision, or what stands where there is none.
  [[nodiscard]] static std::string line(const std::vector<std::string>& of, std::size_t at);
};

/// The session with what was decided, as a scenario of its own: title, options, clock and cluster, `run`, then
/// expectations as they are given.
[[nodiscard]] result<std::string> session_as_scenario(const io::recorded_session& of, const snapshot& over,
                                                      const io::scenario_settings& settings,
                                                      const std::vector<std::string>& expectations);

struct replayed {
  std::uint64_t sessions = 0;
  bool truncated = false;
};
/// Decides all sessions again, by their own options and those that are told besides, until `see` says false.
[[nodiscard]] result<replayed> decide_again(const std::string& bytes, const policy_arguments& besides,
                                            const std::function<bool(const decided_again&, io::recording&)>& see);

/// True if anything is told.
[[nodiscard]] bool tells_anything(const policy_arguments& told);
/// Options of a recorded session, and what is told besides, as settings of a scenario.
[[nodiscard]] result<io::scenario_settings> settings_of(const io::recorded_session& of,
                                                        const policy_arguments& besides);

}  // namespace kaisched::cli
