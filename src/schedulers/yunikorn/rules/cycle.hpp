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
#include <set>
#include <span>
#include <tuple>
#include <vector>

#include <kaisched/result.hpp>

#include "schedulers/yunikorn/rules/node_index.hpp"
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

class scheduling_cycle {
 public:
  /// @pre asks of applications are in their order, rows are in range
  scheduling_cycle(cluster_state& cluster, host& by);

  /// Until nobody gets anything any more.
  [[nodiscard]] result<void> run();
  /// Of applications of which something waits, in their order.
  [[nodiscard]] std::vector<ask_refusal> refusals() const;

 private:
  /// By what applications and queues stand in their parent.
  struct place_key {
    std::int64_t priority = 0;
    std::int64_t created = 0;
    double share = 0;
    std::vector<double> shares;
    amounts pending;
    std::int64_t rank = 0;
  };
  struct child_before {
    const scheduling_cycle* of;
    row queue;
    bool operator()(row left, row right) const { return of->comes_before(queue, left, right); }
  };
  struct app_book {
    std::vector<row> open;  ///< asks that are still to be tried
    std::size_t at = 0;
    std::uint64_t begun = 0;  ///< turn of the first that is held; 0: none
    std::vector<row> held;
    std::vector<row> victims;
    std::vector<bool> made_room;  ///< by victim: it leaves the node that was got for it
    bool in_order = false;        ///< stands in its queue
    bool waits = false;           ///< gave way and waits for others to get on
    bool is_out = false;
    place_key key;
    std::optional<ask_refusal> why;
  };

  void open();
  [[nodiscard]] bool is_leaf(row queue) const { return cluster_.queues[queue].children.empty(); }
  [[nodiscard]] bool is_complete(row app) const;
  void list_open(row app);
  void activate(row app);
  void deactivate(row queue, row child);
  void reactivate_all();
  [[nodiscard]] place_key key_of_app(row app) const;
  [[nodiscard]] place_key key_of_queue(row queue) const;
  [[nodiscard]] bool comes_before(row queue, row left, row right) const;
  void reorder(row app);

  bool take_turn(row queue);
  bool try_app(row app);
  bool may_begin(row app);
  bool try_ask(row ask);
  bool try_nodes(row ask);
  bool place(row ask, row node);
  bool finish(row app);
  void reserve(row ask);
  void unreserve(row ask);
  bool may_preempt(row ask) const;
  bool preempt(row ask, bool nodes_tried);
  bool claim(row ask);
  bool wait_on(row ask, row node);
  void hold(row ask, row node);
  void release(row ask);
  void release_all(row app);
  void undo_victims(row app, std::size_t from);
  bool give_way();

  cluster_state& cluster_;
  host& host_;
  queue_books books_;
  node_index nodes_;
  std::vector<std::int64_t> app_ranks_;
  std::vector<place_key> queue_keys_;
  std::vector<bool> queue_in_order_;
  std::vector<std::set<row, child_before>> order_;  ///< by queue: children or applications
  std::vector<app_book> apps_;
  std::vector<row> reserved_;                                ///< by ask: the node that is kept for it
  std::vector<bool> has_preempted_;                          ///< by ask: it has looked for victims
  std::vector<bool> nothing_to_keep_;                        ///< by kind: no node can be kept
  std::set<std::tuple<row, row, std::int64_t>> no_victims_;  ///< by queue, kind and priority
  bool any_coming_ = false;                                  ///< some node has something that is being released
  std::uint64_t turn_ = 0;
  std::uint64_t progress_ = 0;  ///< gangs that have started or are out
  std::uint64_t progress_at_return_ = 0;
  std::optional<error> fault_;
};

}  // namespace kaisched::yunikorn
