#pragma once
/// @file
/// The engine as the host of a day uses it: what has changed is told, a session decides, decisions are taken in.

#include <string>
#include <utility>
#include <vector>

#include "host/tables.hpp"
#include "host/world.hpp"

namespace day_host {

using option_list = std::vector<std::pair<std::string, std::string>>;

/// What a session has decided.
struct decided {
  std::vector<decision> decisions;
  std::vector<queue_account> accounts;
  std::vector<std::uint32_t> refused;  ///< commits that the cluster did not take in
};

class scheduler {
 public:
  /// @param keeps the cluster takes decisions in (assume, confirm); else it is told by deltas what has become of them.
  /// @param estimates groups say how long they are going to run.
  scheduler(const day& of, const option_list& options, bool keeps, bool estimates);

  /// Tells what has changed, then decides.
  [[nodiscard]] decided run(world& of, ms now);
  /// Whether a session over the cluster as it is starts pods of the job and stops none for it, if the job is the first
  /// in line: the oldest, of the highest priority.
  [[nodiscard]] bool starts_first(world& of, std::size_t job, ms now);
  /// Reports that these pods have started. Pods whose decisions were not taken in are passed over.
  void confirm(const std::vector<std::uint64_t>& pods);

 private:
  void tell(world& of);
  void apply(std::vector<input_table>& tables);

  bool keeps_;
  bool estimates_;
  engine_handle engine_;
  cluster_handle cluster_;
};

}  // namespace day_host
