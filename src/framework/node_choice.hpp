#pragma once
/// @file
/// Which node a pod is tried on first.

#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <kaisched/decisions.hpp>
#include <kaisched/policy.hpp>

#include "framework/class_scores.hpp"
#include "framework/node_bands.hpp"
#include "model/account.hpp"
#include "model/node_index.hpp"
#include "model/state.hpp"
#include "policy/access.hpp"
#include "policy/constraints/constraint_list.hpp"

namespace kaisched::framework {

class session_state;

/// A set of nodes: one byte by row, 0 is out.
using node_set = std::vector<std::uint8_t>;

/// Which nodes a pod may go to.
struct node_scope {
  const node_set* among = nullptr;  ///< null: all
  node_bands* bands = nullptr;      ///< the same nodes as lists; null: no order
};

/// Where a pod may go.
struct place {
  node_row row = no_row;
  bool must_wait = false;  ///< only a claim: what it needs is not free yet
  device_set devices{};
  policy::group_ids groups;  ///< where shared devices are counted in groups
};

/// Finds the best node of a pod: the feasible node with the largest sum of scores, ties to the name that sorts first.
///
/// Three ways with the same answer. The reference way asks every part about every node. The fast way is taken when the
/// parts are those whose sums are lexicographic: nominated node, availability, resource type, density. Then nodes
/// already stand in the right order in an index by free amount, and the first one that fits is the best one. Where
/// scores depend on the class and the node alone, they are kept per class, and nodes that have changed are asked about
/// again.
class node_choice {
 public:
  /// Decides which way is taken and prepares it.
  void open(const session_state& c);
  /// A node for a pod, or `no_row`. Errors come from plug-ins.
  [[nodiscard]] result<place> best(session_state& c, pod_row pod, bool only_claims, const node_scope& scope = {});
  /// The fullest node that fits is the best one of a pod that asks for GPUs.
  [[nodiscard]] bool packs_gpus() const { return fast_ && !spread_gpu_.used; }
  /// No rule but amounts keeps the pod from a node or prefers one.
  [[nodiscard]] bool may_go_anywhere(const session_state& c, pod_row pod);
  /// How many pods of a class nodes have places for, up to `count`, where placing one after the other would end there:
  /// they ask for whole GPUs, and no rule but amounts keeps them apart. Nothing where that cannot be told. Groups that
  /// nodes are closed to are not asked for.
  [[nodiscard]] std::optional<std::size_t> places_for(session_state& c, class_row kind, std::size_t count);
  /// No node was found for some pod of the class before.
  [[nodiscard]] bool has_failed(class_row kind) const { return classes_[kind].failed_at != 0; }
  /// Which devices a pod gets on a node where the amounts fit; false if there are too few in one piece.
  [[nodiscard]] bool choose_devices(const session_state& c, pod_row pod, node_row row, policy::free_amount which,
                                    place& found) const;
  [[nodiscard]] model::device_order device_order() const {
    return devices_.spread && !devices_.pack ? model::device_order::spread : model::device_order::pack;
  }
  /// State, taints and labels of the node let pods of the class in.
  [[nodiscard]] bool accepts(const session_state& c, class_row kind, node_row row) {
    const class_facts& known = facts(c, kind);
    return known.open_everywhere || known.accepted[row] != 0;
  }
  /// Asks all nodes about these classes at once, where the host has threads; else they are asked when a pod of the
  /// class comes.
  void prepare(const session_state& c, std::span<const class_row> kinds);
  /// What nodes can have at most has changed: what is known about classes is asked again.
  void forget_classes(const session_state& c);
  /// Keeps the orders of the fast way after the amounts of a node have changed.
  void node_changed(const session_state& c, node_row row);
  /// By node row, when it changed last; null where nobody keeps it.
  [[nodiscard]] const std::vector<std::uint64_t>* changed_at() const {
    return order_of_changes_.is_open() ? &order_of_changes_.at() : nullptr;
  }
  /// Pods of one scope come now, one after the other. An order of the nodes of a large band is kept between them.
  void start_scope() { order_.close(); }

 private:
  /// What is known about a class in this session.
  struct class_facts {
    bool known = false;
    bool open_everywhere = false;
    node_set accepted;            ///< by row, unless open everywhere
    std::uint64_t failed_at = 0;  ///< `frees` + 1 when no node was found, 0: unknown
    // Of `places_for`, for as long as no node changes:
    std::uint64_t counted_at = 0;  ///< `changes_` then
    std::size_t counted_for = 0;   ///< so many pods; 0: never
    std::optional<std::size_t> places;
    policy::cluster_verdict cluster;
  };
  void note_class(const session_state& c, class_row row);
  void judge_nodes(const session_state& c, std::span<const class_row> kinds);

  struct spread_index {
    model::node_index index;
    std::vector<std::int64_t> key;  ///< by row
    bool used = false;
    bool lexicographic = true;  ///< no score reaches the next band or is lost beside it
    std::vector<bool> broken;   ///< by row; `compat`: a score that is rounded twice may tie once a band is added
    std::uint32_t broken_nodes = 0;

    void set_key(node_row row, std::int64_t value, bool is_broken);
  };

  /// Nodes with shared devices that have room for pods of one size, in the order in which they are tried.
  struct sharing_index {
    std::int64_t share = 0;   ///< of pods that ask for a share; both 0: pods that ask for no device
    std::int64_t memory = 0;  ///< of pods that ask for memory
    class_row like = no_row;  ///< a class of this size
    model::node_index index;
    std::vector<std::int64_t> key;  ///< by row; `absent`: not in the index
  };
  static constexpr std::int64_t absent = std::numeric_limits<std::int64_t>::min();

  /// The nodes of a band by free amount, while pods of one scope are placed. Copies of a session start without.
  struct band_order {
    band_order() = default;
    band_order(const band_order&) {}
    band_order& operator=(const band_order&) = delete;

    const node_band* band = nullptr;  ///< null: there is none
    dimension d = dim_gpu;
    model::node_index index;
    std::vector<std::int64_t> key;  ///< by row; `absent`: not in the index

    void close();
  };

  /// Which nodes are looked at closely.
  struct filter {
    const class_facts& known;
    policy::free_amount which;
    int node_kind;                 ///< 1: without GPUs, 0: with GPUs, -1: any
    const sharing_index* sharing;  ///< nodes with room on shared devices
    bool shared;                   ///< those, or all others
    bool has_claims;               ///< the pod has claims
    const std::vector<constraint>& others;
  };

  /// The nodes that classes are let in to, of one kind, in the order of free amounts. Most nodes may be closed to a
  /// class that selects a small pool, and the index of all nodes would be searched past them for every pod.
  struct node_pool {
    const node_set* accepted = nullptr;  ///< of the class for which it was made; null: all
    int node_kind = 0;                   ///< as in `filter`
    dimension d = dim_gpu;
    std::vector<node_row> rows;
    bool is_indexed = false;  ///< fewer nodes are looked at one by one
    model::node_index index;
    std::vector<std::int64_t> key;  ///< by row; `absent`: not in the index
    std::uint64_t seen = 0;         ///< changes that the index knows
  };
  /// The pools of a session, made for classes for which many nodes were passed over in vain. Copies of a session start
  /// without.
  struct node_pools {
    static constexpr std::size_t kinds = 3;
    struct of_class {
      std::array<std::uint32_t, kinds> number{no_row, no_row, no_row};  ///< in `all`, by kind + 1
      std::array<std::size_t, kinds> passed_over{};                     ///< nodes, until there is a pool
    };
    node_pools() = default;
    node_pools(const node_pools&) {}
    node_pools& operator=(const node_pools&) = delete;
    node_pools(node_pools&&) = default;
    node_pools& operator=(node_pools&&) = default;

    std::vector<std::unique_ptr<node_pool>> all;
    std::vector<of_class> by_class;
    change_order changes;  ///< open once there is a pool
  };
  /// The pool of a class, brought up to date; null: there is none, the index of all nodes serves as well.
  [[nodiscard]] node_pool* pool_for(const session_state& c, class_row row, const filter& by, dimension d);
  void make_pool(const session_state& c, class_row row, const filter& by, dimension d);

  /// How many nodes have so many whole GPUs idle. Kept from the first simulation on, where much is coming free and
  /// little is idle.
  struct idle_counts {
    std::vector<std::uint32_t> of_node;  ///< by row; empty: nobody has asked
    std::vector<std::uint32_t> nodes;    ///< by GPUs

    void put(node_row row, std::uint32_t gpus);
  };
  [[nodiscard]] static std::uint32_t whole_gpus_idle(const session_state& c, node_row row);
  /// Some node may have so much idle.
  [[nodiscard]] bool may_be_idle(const session_state& c, std::int64_t gpus);

  class_facts& facts(const session_state& c, class_row row);
  [[nodiscard]] static bool may_use_overdrawn(session_state& c, const model::pod_class& ask);
  [[nodiscard]] result<place> best_by_index(session_state& c, pod_row pod, class_facts& known, bool only_claims);
  [[nodiscard]] result<place> best_by_scan(session_state& c, pod_row pod, bool only_claims);
  [[nodiscard]] node_set find_ruled_out(const session_state& c, pod_row pod, std::span<const node_row> rows);
  [[nodiscard]] result<place> best_by_class(session_state& c, pod_row pod, const class_facts& known, bool only_claims);
  [[nodiscard]] result<void> score_changed(session_state& c, pod_row pod, const class_facts& known, class_keys& keys);
  [[nodiscard]] std::vector<constraint> verdicts_of_pods(const session_state& c, pod_row pod,
                                                         const class_facts& known) const;
  [[nodiscard]] bool are_scores_kept(const session_state& c) const;
  [[nodiscard]] std::optional<std::size_t> count_places(session_state& c, const model::pod_class& ask,
                                                        const class_facts& known, std::size_t count) const;
  [[nodiscard]] bool is_closed(node_row row) const {
    for (const policy::node_flags* const one : closed_) {
      if ((*one)[row] != 0) return true;
    }
    return false;
  }
  [[nodiscard]] bool passes(const session_state& c, node_row row, const filter& by);
  [[nodiscard]] bool takes(session_state& c, pod_row pod, node_row row, const filter& by, place& found);
  [[nodiscard]] bool needs_claims_only(const session_state& c, pod_row pod) const;
  /// The node is of the kind that a filter asks for.
  [[nodiscard]] bool is_of_kind(const session_state& c, node_row row, int node_kind);
  [[nodiscard]] place scan_index(session_state& c, pod_row pod, const filter& by);
  [[nodiscard]] place scan_rows(session_state& c, pod_row pod, const filter& by, const node_band& rows);
  [[nodiscard]] place scan_band_order(session_state& c, pod_row pod, const filter& by, const node_band& rows);
  void order_band(const session_state& c, const node_band& rows, dimension d);
  [[nodiscard]] place scan_bands(session_state& c, pod_row pod, const class_facts& known, bool only_claims,
                                 const std::vector<constraint>& others);
  [[nodiscard]] place scan(session_state& c, pod_row pod, const class_facts& known, bool only_claims,
                           const std::vector<constraint>& others, const node_band* rows);
  [[nodiscard]] bool try_node(session_state& c, pod_row pod, node_row row, policy::free_amount which, place& found);
  [[nodiscard]] bool queues_refuse(session_state& c, pod_row pod, node_row row);
  [[nodiscard]] bool draws_to_shared(const session_state& c, const model::pod_class& ask) const;
  [[nodiscard]] std::vector<std::uint32_t> band_of_rows(const session_state& c, pod_row pod,
                                                        std::span<const node_row> rows) const;
  [[nodiscard]] sharing_index& sharing_of(const session_state& c, const model::pod_class& ask, class_row row);
  [[nodiscard]] std::int64_t sharing_key(const session_state& c, const sharing_index& of, node_row row) const;
  [[nodiscard]] bool needs_scan(const session_state& c, const model::pod_class& ask) const;
  void open_spread(const session_state& c, spread_index& spread, dimension d);
  static void update_spread(const session_state& c, spread_index& spread, node_row row, dimension d);

  const node_set* among_ = nullptr;  ///< while a pod is placed
  node_bands* bands_ = nullptr;      ///< likewise
  policy::closed_sets closed_;       ///< likewise: nodes that constraints close to its group
  bool asked_by_parts_ = false;      ///< likewise: parts have asked the constraints that they know
  /// Of the pod that is being placed: what queues say, by the memory of the GPUs of a node.
  std::vector<std::pair<std::int64_t, bool>> refused_;
  policy::group_order devices_;
  bool only_claims_ = false;  ///< of the pod that is being placed: it may not start
  bool fast_ = false;
  bool by_class_ = false;
  bool predicates_ = false;
  bool resource_type_ = false;
  bool nominated_ = false;
  bool sharing_ = false;
  std::vector<std::uint8_t> without_gpus_;  ///< by node: 0 unknown, 1 no, 2 yes; empty: not asked for yet
  std::uint64_t changes_ = 0;               ///< of amounts of nodes
  std::vector<class_facts> classes_;
  spread_index spread_gpu_;
  spread_index spread_cpu_;
  std::vector<sharing_index> sharing_indexes_;
  band_order order_;
  node_pools pools_;
  idle_counts idle_;
  change_order order_of_changes_;  ///< open where scores are kept per class
  class_scores class_scores_;
};

/// No node constraint refuses the pod there with these devices.
[[nodiscard]] bool fits_with_devices(const session_state& c, pod_row pod, const place& on);

/// Where the pod would be on the node if it were put there; nothing if it does not fit. Only resources, devices and
/// power are tested, not the rules of the policy.
[[nodiscard]] std::optional<place> place_on(session_state& c, pod_row pod, node_row node, policy::free_amount which);

}  // namespace kaisched::framework
