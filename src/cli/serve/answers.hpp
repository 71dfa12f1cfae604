#pragma once
/// @file
/// The cluster that a server holds, and the answers about it.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <kaisched/cluster.hpp>
#include <kaisched/engine.hpp>
#include <kaisched/result.hpp>

#include "cli/console.hpp"
#include "cli/outcome.hpp"
#include "cli/serve/bodies.hpp"
#include "cli/serve/request_router.hpp"

namespace kaisched::cli::serve {

/// One version of the cluster, decided once. Never changes: answers that have begun go on with the version that they
/// began with.
struct held_cluster {
  std::int64_t now = 0;
  decided ran;
  std::string digest;   ///< of the cluster
  std::string about;    ///< what /v1/cluster says
  std::string reasons;  ///< what /v1/reasons says
};

/// Threads: `routes` of different workers run at the same time, one for each seat.
class answers {
 public:
  /// Decides over the cluster. @param on_invalid what becomes of bad rows in later changes; empty: they are refused.
  static result<std::unique_ptr<answers>> make(engine with, const snapshot& over, std::int64_t now,
                                               std::string on_invalid, question_limits limits, std::size_t seats);

  /// What the server answers; this must outlive it.
  [[nodiscard]] std::vector<http_route> routes();
  [[nodiscard]] std::shared_ptr<const held_cluster> current() const;
  /// About the cluster that is held, in Prometheus' text format.
  [[nodiscard]] std::string metrics() const;

 private:
  /// What one worker has of a version: a session of its own, and what questions before have left in it.
  struct bench {
    std::shared_ptr<const held_cluster> of;
    std::optional<decided> mine;
  };
  using held = std::shared_ptr<const held_cluster>;

  answers(engine with, std::string on_invalid, question_limits limits, std::size_t seats);
  /// @param at that is told to end if the request is cancelled; null: nothing is
  [[nodiscard]] result<held> decide_over(const snapshot& over, std::int64_t now, seat* at) const;
  const decided& sit_down(seat& at);
  void get_up(seat& at);

  [[nodiscard]] http_reply what_if(seat& at, const http_request& asked);
  [[nodiscard]] http_reply explain(seat& at, const result<explain_body>& asked);
  [[nodiscard]] http_reply gaps(seat& at);
  [[nodiscard]] http_reply scale(const seat& at, const http_request& asked) const;
  [[nodiscard]] http_reply put_cluster(seat& at, const http_request& asked);
  [[nodiscard]] http_reply apply_deltas(seat& at, const http_request& asked);
  [[nodiscard]] http_reply hold(seat& at, const snapshot& next, std::int64_t now);

  engine with_;
  std::string on_invalid_;
  question_limits limits_;
  console quiet_;
  std::vector<bench> benches_;
  std::mutex changing_;  ///< one change at a time
  mutable std::mutex mutex_;
  held current_;
  std::string gaps_;            ///< what /v1/gaps says of the present version; empty: nobody has asked
  std::uint64_t versions_ = 1;  ///< that have been held
};

}  // namespace kaisched::cli::serve
