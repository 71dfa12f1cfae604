#pragma once
/// @file
/// Which flavor each resource of a workload takes, and what has to happen first.

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "schedulers/kueue/rules/quota_tree.hpp"

namespace kaisched::kueue {

/// What stands between a workload and a flavor, from worst to best.
enum class fit_mode : std::uint8_t {
  no_fit,         ///< not now, and no victim would help
  no_candidates,  ///< others hold the quota, and nobody among them may be preempted
  preempt,        ///< victims exist, some of them in the same queue
  reclaim,        ///< victims exist, all of them in other queues
  fit
};

/// A mode as the outside sees it.
enum class assignment_mode : std::uint8_t {
  no_fit,
  preempt,
  deferred_fit,  ///< fits as soon as victims of others are gone
  fit
};

/// A mode and how far away the quota is borrowed: the height of the smallest subtree that can hold the workload.
struct flavor_grade {
  fit_mode mode = fit_mode::fit;
  int borrowing = 0;
};

/// What a queue does when a flavor would do, but not at once or not from its own quota.
struct fungibility {
  enum class search : std::uint8_t { stop, next };
  enum class preference : std::uint8_t { borrowing_over_preemption, preemption_over_borrowing };
  search on_borrowing = search::stop;
  search on_preemption = search::next;
  preference prefers = preference::borrowing_over_preemption;
};

/// Whether `a` is better than `b`. A flavor without candidates is worse than all that can be had, whatever is
/// preferred. Source: flavor fungibility of Kueue (KEP-582).
[[nodiscard]] bool is_preferred(const flavor_grade& a, const flavor_grade& b, fungibility::preference prefers);

/// Resources that take their flavors together, and the flavors in the order in which they are tried.
struct flavor_group {
  std::vector<std::uint32_t> resources;
  std::vector<std::uint32_t> flavors;
};

struct resource_amount {
  std::uint32_t resource = 0;
  std::int64_t value = 0;

  friend bool operator==(const resource_amount&, const resource_amount&) = default;
};

struct flavor_of_resource {
  std::uint32_t resource = 0;
  std::uint32_t flavor = 0;
};

/// One set of equal pods of a workload.
struct pod_set_demand {
  std::int64_t count = 0;
  std::vector<resource_amount> requests;  ///< of all its pods
  std::string group;                      ///< pod sets of one name take the same flavors; empty is a group of its own
  std::vector<flavor_of_resource> held;   ///< flavors that it has already
  /// By flavor: a number for why its pods cannot run there, or none. Shorter lists end with flavors that match.
  std::vector<std::optional<std::uint32_t>> mismatches;
  /// By flavor: 1 for those that the workload may take; empty for all.
  std::vector<std::uint8_t> allowed{};
  /// What the slice that this workload replaces holds of the same pods, and its flavors.
  std::vector<resource_amount> replaced;
  std::vector<flavor_of_resource> replaced_flavors;
};

enum class obstacle_kind : std::uint8_t {
  mismatch,          ///< the pods cannot run on that flavor
  exceeds_maximum,   ///< more than the queue can ever hold
  no_unused_quota,   ///< others hold it
  replaced_flavor,   ///< the slice that it replaces has another flavor
  not_allowed,       ///< the workload may take others only
  not_nominated,     ///< an earlier look in the same cycle chose another flavor
  resource_missing,  ///< the queue has no such resource
  resource_not_provided
};

/// Why a flavor cannot be taken at once.
struct obstacle {
  obstacle_kind kind = obstacle_kind::mismatch;
  std::uint32_t flavor = 0;
  std::uint32_t resource = 0;
  std::uint32_t mismatch = 0;      ///< the number that the demand gave
  std::uint32_t other_flavor = 0;  ///< that the replaced slice has; `no_flavor` for none
  amount before;                   ///< what earlier pod sets take
  std::int64_t asked = 0;
  amount bound;  ///< the most that the queue can hold, or how much more is needed

  friend bool operator==(const obstacle&, const obstacle&) = default;
};
inline constexpr std::uint32_t no_flavor = static_cast<std::uint32_t>(-1);

/// Why nothing fits, by how much would have to change: the smallest first.
enum class no_fit_class : std::uint8_t { none, topology, waiting_for_quota, exceeds_maximum, no_matching_flavor };

/// A flavor that was looked at, and the worst of what was found for its resources.
struct flavor_attempt {
  std::uint32_t flavor = 0;
  assignment_mode mode = assignment_mode::no_fit;
  std::optional<fit_mode> victims;  ///< what the search for victims told, where it was asked
  int borrowing = 0;
  std::vector<obstacle> obstacles;
  no_fit_class why = no_fit_class::none;
};

struct chosen_flavor {
  std::uint32_t resource = 0;
  std::uint32_t flavor = 0;
  assignment_mode mode = assignment_mode::fit;
  int borrowing = 0;
  int tried = 0;  ///< position of the flavor where the next search goes on after; -1: it begins anew
};

struct pod_set_assignment {
  std::int64_t count = 0;
  std::vector<resource_amount> requests;
  std::vector<chosen_flavor> flavors;  ///< by resource
  std::vector<obstacle> obstacles;
  std::vector<flavor_attempt> attempts;  ///< by flavor
  bool topology_failed = false;          ///< quota is there, but the pods find no place together
  std::size_t topology_reason = 0;       ///< the number that the search for places gave for that
  bool failed = false;                   ///< nothing was assigned, for a reason beyond quotas

  [[nodiscard]] assignment_mode mode() const;
  [[nodiscard]] const chosen_flavor* flavor_of(std::uint32_t resource) const;
};

/// How far a search came: by pod set the resources and positions in their lists of flavors.
using scan_progress = std::vector<std::vector<std::pair<std::uint32_t, int>>>;

struct flavor_assignment {
  std::vector<pod_set_assignment> pod_sets;  ///< up to and with the first that nothing fits
  int borrowing = 0;
  cell_amounts usage;
  scan_progress progress;
  std::optional<assignment_mode> overall;  ///< set from outside
  no_fit_class why = no_fit_class::none;

  [[nodiscard]] assignment_mode mode() const;
  /// Sets the mode of all flavors of a pod set, and that of the whole.
  void set_mode(std::size_t pod_set, assignment_mode mode);
  /// The cells that victims are to be found for, ascending.
  [[nodiscard]] std::vector<cell_id> cells_to_preempt(const cell_space& cells) const;
};

/// What the search for victims says about one cell.
struct victim_forecast {
  fit_mode mode = fit_mode::preempt;  ///< no_candidates, preempt or reclaim
  int borrowing = 0;                  ///< after they are gone
};
using victim_oracle = std::function<victim_forecast(cell_id cell, amount value)>;

struct flavor_search {
  const quota_tree* tree = nullptr;
  node_id queue = no_node;
  std::span<const flavor_group> groups;
  fungibility rules;
  bool fungible = true;  ///< without it the first flavor that fits is taken, else the one with the best mode
  /// Whether victims may be looked for although the queue would borrow.
  bool preempts_while_borrowing = false;
  bool ignores_missing_resources = false;         ///< resources that the queue has no quota of are not counted
  std::span<const std::uint32_t> resource_order;  ///< in which resources are looked at; those of no place come last
  std::optional<std::uint32_t> pods_resource;     ///< that counts pods
  bool replaces = false;                          ///< the workload replaces a slice
  std::span<const std::uint8_t> has_topology;     ///< by flavor, 1 where nodes are arranged in domains
  const scan_progress* progress = nullptr;        ///< where an earlier search stopped, or null
  /// By pod set: flavors of an earlier look in the same cycle, which alone are looked at; empty for all.
  std::span<const std::vector<flavor_of_resource>> nominated;
  victim_oracle oracle;
};

/// Walks through the flavors of each group of resources and keeps the best. What earlier pod sets take counts for
/// later ones. Source: flavor assignment of Kueue.
[[nodiscard]] flavor_assignment assign_flavors(const flavor_search& search, std::span<const pod_set_demand> demands);

/// The reason of the whole: over pod sets and groups of resources the worst, over flavors of a group the mildest.
void explain_no_fit(flavor_assignment& assignment, std::span<const flavor_group> groups);

/// Requests of a pod set for another number of pods; whole units per pod, as they were summed up from.
[[nodiscard]] std::vector<resource_amount> scaled(std::span<const resource_amount> requests, std::int64_t from,
                                                  std::int64_t to);

/// What the assignment takes of each cell for the counts that it chose: requests of zero and those without a flavor do
/// not count.
[[nodiscard]] cell_amounts total_requests(const flavor_assignment& assignment, std::span<const pod_set_demand> demands,
                                          const cell_space& cells, bool replaces);

/// The counts of pods for step `step` of `steps` on the way from all pods to the fewest that will do.
[[nodiscard]] std::vector<std::int64_t> reduced_counts(std::span<const std::int64_t> full,
                                                       std::span<const std::int64_t> fewest, std::int64_t step,
                                                       std::int64_t steps);

/// What a workload that waits for victims that do not exist keeps others from taking: up to its own quota, or up to the
/// borrowing limit if it borrows.
[[nodiscard]] cell_amounts amounts_to_reserve(const quota_tree& tree, node_id queue, const cell_amounts& usage,
                                              assignment_mode mode, bool borrows);

}  // namespace kaisched::kueue
