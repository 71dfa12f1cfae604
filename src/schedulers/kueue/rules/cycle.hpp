#pragma once
/// @file
/// One cycle: the head of every queue is given flavors, and one after the other they take quota or ask others to leave.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "schedulers/kueue/rules/domain_ledger.hpp"
#include "schedulers/kueue/rules/entry_order.hpp"
#include "schedulers/kueue/rules/flavor_assignment.hpp"
#include "schedulers/kueue/rules/quota_victims.hpp"
#include "schedulers/kueue/rules/running.hpp"

namespace kaisched::kueue {

/// Places of the pod sets of a head; none for sets that ask for none.
using set_places = std::vector<std::optional<domain_assignment>>;

/// Places in topologies beside the quotas. Told which workloads are thought away, it leaves out what these use.
class place_book : public usage_listener {
 public:
  struct answer {
    std::vector<std::size_t> asked;     ///< pod sets that need places
    std::optional<std::size_t> failed;  ///< the first that finds none
    std::size_t reason = 0;             ///< a number for why
    std::uint32_t flavor = 0;           ///< where it looked
    set_places places;
  };
  /// Looks for places for what the assignment chose.
  [[nodiscard]] virtual answer look(std::size_t head, const flavor_assignment& assignment, bool as_if_empty) = 0;
  [[nodiscard]] virtual bool has_room(std::size_t head, const flavor_assignment& assignment,
                                      const set_places& places) = 0;
  virtual void add(std::size_t head, const flavor_assignment& assignment, const set_places& places) = 0;
};

/// What a queue says about itself.
struct cycle_queue {
  node_id node = no_node;
  std::vector<flavor_group> groups;
  fungibility rules;
  preemption_rules preemption;
  bool preempts_while_borrowing = false;  ///< victims are looked for although the queue would borrow
  /// Variants take the place of a sibling only for flavors up to this rank; without it for any better one.
  std::optional<std::size_t> last_rank{};
};

/// The head of a queue.
struct cycle_head {
  std::size_t queue = 0;  ///< position in the list of queues
  std::vector<pod_set_demand> demands;
  std::vector<std::int64_t> fewest;  ///< pods of each set that will do; empty if all are needed
  std::int64_t priority = 0;
  std::int64_t queued_at = 0;
  std::string name;
  bool preemptor = false;
  scan_progress progress;  ///< where an earlier search stopped
  /// It has its quota and looks for places alone; its demands name the flavors that it holds, and what it holds of the
  /// tree and of the places is counted already.
  bool holds_quota = false;
  variant as_variant;
  bool may_not_preempt = false;  ///< until somebody opens the gate, nobody is told to leave for it
  /// Some of its places are gone. Others are found for these alone, and nobody has to leave for that.
  bool lost_places = false;
};

struct cycle_rules {
  bool by_shares = false;
  fair_rules fair;
  entry_rules entries;
  std::int64_t now = 0;
  bool local_usage = false;
  bool fungible = true;
  bool fewer_pods = true;  ///< workloads that can run with fewer pods may
  /// Whoever would take the victims of an earlier entry looks again, as if these were gone.
  bool looks_again_on_overlap = true;
  bool ignores_missing_resources = false;
  std::span<const std::uint32_t> resource_order;
  std::optional<std::uint32_t> pods_resource;
  std::span<const std::uint8_t> has_topology;  ///< by flavor
  place_book* places = nullptr;                ///< null where there are no topologies
  bool looks_again_for_places = true;          ///< if an earlier entry of the cycle has taken them
  /// Whoever finds no other places for those that it lost gives up its quota; else it keeps it and looks again.
  bool leaves_without_replacement = true;
};

enum class cycle_outcome : std::uint8_t {
  not_tried,  ///< by shares only one entry of a queue takes part, the last one given
  admitted,
  preempts,  ///< victims are told to leave; the workload waits for them
  no_fit,
  no_candidates,  ///< nobody may be told to leave; quota is reserved
  overlap,        ///< an earlier entry of the cycle has told the same victims
  crowded_out,    ///< an earlier entry has taken the quota
  gated,          ///< others would have to leave, but it may not tell them
  better_runs,    ///< a sibling of a better flavor is admitted
  too_low,        ///< it would take the place of a sibling, but its flavor is none to move to
  moves,          ///< takes the place of a sibling of a worse flavor, which is told to leave
  deferred,       ///< will fit once the victims of earlier entries are gone
  not_replaced    ///< there are no other places for those that it lost: it is to give up its quota
};

struct head_result {
  cycle_outcome outcome = cycle_outcome::not_tried;
  flavor_assignment assignment;
  std::vector<quota_victim> victims;
  std::optional<std::size_t> sibling;  ///< the running workload whose place it takes
  set_places places;
  bool looked_again = false;
  bool looked_as_if_gone = false;  ///< again because earlier entries had told its victims, as if these were gone
};

struct cycle_result {
  std::vector<head_result> heads;  ///< as the heads were given
  std::vector<std::size_t> order;  ///< in which they were tried
};

/// Decides about all heads. The state's tree holds what they have taken afterwards; victims still hold theirs.
/// Source: the scheduling cycle of Kueue.
[[nodiscard]] cycle_result run_cycle(quota_state& state, std::span<const cycle_queue> queues,
                                     std::span<const cycle_head> heads, const cycle_rules& rules);

}  // namespace kaisched::kueue
