#pragma once
/// @file
/// Queues take turns: one pod of one application gets one node, then all are ordered anew.
///
/// Source: apache/yunikorn-core, pkg/scheduler (partition.go, objects/queue.go, objects/application.go). A turn goes
/// down the tree of queues to the first that has something to give: queues by priority and share, applications in the
/// order of their queue, asks by priority and age. Gangs get their nodes pod by pod as placeholders do, and start once
/// they are complete; when nobody can go on, the one that has begun last gives back what it holds.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <kaisched/result.hpp>

#include "schedulers/yunikorn/rules/queue_books.hpp"
#include "schedulers/yunikorn/rules/state.hpp"

namespace kaisched::yunikorn {

/// An ask and the node that it got.
struct placement {
  row ask = no_row;
  row node = no_row;
  bool waits = false;  ///< for what is leaving
};

struct start_answer {
  enum class outcome : std::uint8_t {
    started,
    no_place,  ///< the node does not take the ask after all
    refused,   ///< the application may not start
  };
  outcome what = outcome::started;
  row ask = no_row;
};

/// Who does what turns decide, and knows more of nodes than amounts.
class host {
 public:
  host() = default;
  host(const host&) = delete;
  host& operator=(const host&) = delete;
  virtual ~host() = default;

  /// Asked now and then: an error ends everything.
  [[nodiscard]] virtual result<void> go_on() = 0;
  /// The node would take the ask as it is now. What is held is not known here.
  [[nodiscard]] virtual bool accepts(row ask, row node) = 0;
  /// Victims leave, and all of an application start together, or nothing happens.
  [[nodiscard]] virtual result<start_answer> start(std::span<const placement> all, std::span<const row> victims) = 0;
};

/// Why an ask waits.
struct ask_refusal {
  row ask = no_row;
  std::optional<queue_refusal> queue;  ///< nothing: no node has room
  bool may_not_run = false;            ///< too many applications run
};

/// Takes turns until nothing gets anything any more. Returns why applications wait of which something waits, in their
/// order. @pre asks of applications are in their order, rows are in range
[[nodiscard]] result<std::vector<ask_refusal>> take_turns(cluster_state& cluster, host& by);

}  // namespace kaisched::yunikorn
