#pragma once
/// @file
/// What parts see of a session, and what the parts of the library share.

#include <optional>
#include <span>
#include <vector>

#include <kaisched/options.hpp>
#include <kaisched/policy.hpp>

#include "model/state.hpp"
#include "policy/devices/sharing/gpu_groups.hpp"

namespace kaisched {

/// A pod that was evicted in the session and holds a claim on another node: it is still leaving the old one.
struct leaving_pod {
  pod_row pod;
  std::uint32_t node;  ///< slot
  device_set devices;
};

namespace policy {
class claim_ledger;
class constraint_list;
class device_ledger;
class disruption_ledger;
class load_book;
class neighbour_book;
class power_book;
class reservation_book;
struct power_shortage;
class zone_ledger;
namespace topology {
class preferred_domains;
}
}  // namespace policy

/// The inside of a `session_view`: owned by the session, borrowed by everything below it.
class session_access {
 public:
  const model::cluster_state* state = nullptr;
  const model::live_state* live = nullptr;
  const policy_options* options = nullptr;
  std::int64_t now = 0;
  std::span<const model::quota_vector> fair_share;  ///< by queue
  const std::vector<leaving_pod>* leaving = nullptr;
  const policy::gpu_groups* groups = nullptr;              ///< open in `compat` if pods share devices
  bool predicates = false;                                 ///< the policy has the part of this name
  const policy::zone_ledger* zones = nullptr;              ///< of nodes, where the part numa aligns; else null
  const policy::claim_ledger* claims = nullptr;            ///< if pods have resource claims; else null
  const policy::device_ledger* vendors = nullptr;          ///< if vendors' rules give devices away; else null
  const policy::load_book* loads = nullptr;                ///< if loads of devices are counted; else null
  const policy::neighbour_book* neighbours = nullptr;      ///< if pods are counted by their labels; else null
  const policy::power_book* power = nullptr;               ///< if feeds of nodes are not to be overdrawn; else null
  const policy::reservation_book* reservations = nullptr;  ///< of nodes, at times
  const policy::disruption_ledger* budgets = nullptr;      ///< of pods that may leave
  const policy::constraint_list* constraints = nullptr;    ///< all of these

  /// A group that is looked at in part has smaller gangs: thresholds by sub-group from this one on.
  sub_group_row part_first = no_row;
  std::span<const std::int64_t> part_min;

  std::uint64_t changes = 0;  ///< grows with every change of the status of a pod
  bool was_netted = false;    ///< a commit has taken back what the session had placed: decisions are what is left
  /// By node row: grows with every change of what the node has or holds. Null where nobody keeps it.
  const std::vector<std::uint64_t>* node_changed_at = nullptr;

  /// While a pod is placed that prefers some domains of a topology.
  const policy::topology::preferred_domains* preferred = nullptr;
  /// While nodes are scored for a pod: by row, nodes that it cannot get. Their scores do not matter. Null: not known.
  const std::vector<std::uint8_t>* ruled_out = nullptr;

  /// What parts get to see of it.
  [[nodiscard]] session_view view() const { return session_view(*this); }
  [[nodiscard]] static const session_access& of(const session_view& view) { return view.access_; }

  [[nodiscard]] bool compat() const { return options->mode == decision_mode::compat; }
  /// Devices that pods of this class share are counted in GPU groups.
  [[nodiscard]] bool in_groups(const model::pod_class& c) const { return groups->is_open() && c.is_shared(); }
  /// Threshold of a sub-group: pods of a pod set; members of a set, or `unset` for all.
  [[nodiscard]] std::int64_t min_of(sub_group_row sub) const {
    const std::uint32_t i = sub - part_first;  // wraps around below the first
    return part_first != no_row && i < part_min.size() ? part_min[i] : state->subs[sub].min;
  }
};

namespace policy {

/// Access behind a view; only for the parts of the library.
[[nodiscard]] inline const session_access& inside(const session_view& view) { return session_access::of(view); }

/// The options name a part.
[[nodiscard]] bool has_part(const session_access& a, std::string_view name);

/// What a node has free for a question.
enum class free_amount : std::uint8_t { idle, idle_or_releasing };

/// Every requested amount fits. As in KAI, `compat` also refuses a node that is overdrawn in a dimension that the pod
/// does not ask for.
/// `paid`: milli-GPU that others on the node pay for.
[[nodiscard]] bool amounts_fit(const session_access& a, const model::pod_class& c, node_row row, free_amount which,
                               std::int64_t paid = 0);
/// The session sets cores or memory of nodes aside for GPUs that are free, and pods of this class ask for none.
[[nodiscard]] inline bool must_leave_room(const session_access& a, const model::pod_class& c) {
  return (a.options->set_aside_cpu > 0 || a.options->set_aside_memory > 0) && a.predicates && !c.wants_gpu() &&
         c.mig_slices == 0 && !c.asks_vendors();
}
/// What such a pod would take of what is set aside there: of the first resource of which it does, what it asks for with
/// what has to be left, and what there is. No resource: it leaves enough.
struct set_aside_shortage {
  dimension dim = no_row;
  std::int64_t need = 0;
  std::int64_t have = 0;
};
[[nodiscard]] set_aside_shortage set_aside_missing(const session_access& a, const model::pod_class& c, node_row row,
                                                   free_amount which);
/// A device of the node that is in use has room for a part that the pod asks for.
[[nodiscard]] bool has_shared_room(const session_access& a, const model::pod_class& c, node_row row);

/// Amounts and devices.
[[nodiscard]] bool fits(const session_access& a, const model::pod_class& c, node_row row, free_amount which,
                        std::int64_t paid = 0);

/// GPUs of the node are divided into instances: the label says so, or there are some.
[[nodiscard]] bool has_divided_gpus(const session_access& a, node_row row);

/// State, taints and labels of a node: what placing pods does not change.
[[nodiscard]] constraint node_verdict(const session_access& a, const model::pod_class& c, node_row row);
/// `node_verdict` accepts every node for every pod of the class without looking.
[[nodiscard]] bool accepts_every_node(const session_access& a, const model::pod_class& c);

/// Hard constraints on how pods are spread. One verdict per node that has none.
void spread_verdicts(const session_access& a, pod_row pod, std::span<const node_row> nodes,
                     std::span<constraint> verdicts);
/// Pods on other nodes have no say in where pods of this class go, and no pod that is placed makes room for one of it.
[[nodiscard]] bool ignores_other_pods(const session_access& a, const model::pod_class& c);
/// The part of this name filters nodes by verdicts of this header alone.
[[nodiscard]] inline bool is_built_in_filter(std::string_view part) {
  return part == "predicates" || part == "topologyspread" || part == "powercap";
}

/// What keeps a pod from every node, whoever leaves: none, an obstacle, or a request above the largest node.
struct cluster_verdict {
  constraint what = constraint::none;
  dimension dim = no_row;
  std::int64_t have = 0;
};
[[nodiscard]] cluster_verdict judge_cluster(const session_access& a, const model::pod_class& c);

/// The node would not refuse the pod for its NUMA zones.
[[nodiscard]] bool zones_fit(const session_access& a, const model::pod_class& c, node_row row, free_amount which);

/// Milli-GPU of the pod that the node does not have to find: others there pay for them, or its claims get fewer.
[[nodiscard]] std::int64_t gpus_paid(const session_access& a, pod_row pod, node_row row, free_amount which);
/// Claims of the session have requests: what they get may be fewer GPUs than their pods are charged for.
[[nodiscard]] bool claims_have_requests(const session_access& a);
/// The claims of the pod may be used, and have or can be given devices of the node.
[[nodiscard]] bool claims_fit(const session_access& a, pod_row pod, node_row row, free_amount which);

/// Enough devices of the node that have room take the load that pods of the class put on them, or they put none.
[[nodiscard]] bool loads_fit(const session_access& a, const model::pod_class& c, node_row row, free_amount which);

/// What a feed of the node lacks for the pod there, with the devices that it would get; nothing: all feeds have enough.
/// GPUs that pods share as KAI counts them in groups are left out: who places such a pod asks with its devices.
[[nodiscard]] std::optional<power_shortage> power_missing(const session_access& a, pod_row pod, node_row row,
                                                          free_amount which);

/// Labels that restrict GPU pods and other pods to nodes of their own.
inline constexpr std::string_view gpu_worker_label = "node-role.kubernetes.io/gpu-worker";
inline constexpr std::string_view cpu_worker_label = "node-role.kubernetes.io/cpu-worker";

}  // namespace policy
}  // namespace kaisched
