#pragma once
/// @file
/// What a session of tiered plug-ins decides about: nodes, queues, jobs with sub-jobs, tasks, and how they change.
///
/// Source of the rules: volcano-sh/volcano, pkg/scheduler/api (job_info.go, sub_job_info.go, node_info.go). Everything
/// is named by its place in a vector, so that the order of all walks is that of the vectors. One thread at a time.

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <boost/container/flat_map.hpp>

#include "policy/gang/readiness.hpp"
#include "policy/placement/node_groups.hpp"
#include "policy/placement/utilisation.hpp"
#include "policy/resources/resource_list.hpp"
#include "policy/topology/network_domains.hpp"

namespace kaisched::volcano {

using row = std::size_t;
/// The place of nothing.
inline constexpr row no_row = static_cast<row>(-1);

enum class task_status : std::uint8_t {
  pending,
  allocated,
  pipelined,
  binding,
  bound,
  running,
  releasing,
  succeeded,
  failed,
  unknown,
};
/// Holds its resources.
[[nodiscard]] bool is_allocated(task_status status);

/// Whether a node takes a task by what does not change during a session.
enum class node_refusal : std::uint8_t {
  none,
  for_now,   ///< other tasks might make way
  for_good,  ///< nothing that a victim could change
};

/// Whether the devices of a node have room for a task, which is more than that the amounts suffice: two halves of two
/// GPUs are no place for a whole one.
enum class device_room : std::uint8_t { now, later, none };

/// Numbers of devices by their class.
using devices_by_class = std::map<std::string, std::int64_t, std::less<>>;
/// A claim of devices, which several tasks may share.
struct device_claim {
  std::string name;  ///< namespace/name
  devices_by_class devices;
};

struct task_state {
  std::string name;  ///< namespace/name
  std::string uid;
  std::string role;
  policy::shared_resources request;        ///< while it runs
  policy::shared_resources first_request;  ///< what it needs to start
  std::int64_t priority = 0;               ///< in its job
  std::int64_t pod_priority = 0;           ///< by the class of its pod
  std::int64_t created = 0;                ///< ns
  std::int64_t started = 0;                ///< ns: when it last started, else when it was created
  task_status status = task_status::pending;
  row node = no_row;
  row job = no_row;
  row sub_job = no_row;  ///< of its job
  row nominated = no_row;
  /// Tasks of one kind ask for the same and are refused by the same nodes; no_row: unlike all others.
  row kind = no_row;
  bool preemptable = false;
  bool best_effort = false;
  bool gated = false;
  bool preempts = true;
  bool critical = false;        ///< of the system: never a victim
  bool has_labels = true;       ///< of its pod
  std::int64_t spared_for = 0;  ///< ns: so long after its start it is no victim, with the plug-in cdp
  row budget = no_row;          ///< in which it counts
  bool leaves_room = false;     ///< it takes nothing of what is set aside for free GPUs
  /// By node, shared by tasks that ask alike; null: all take it.
  std::shared_ptr<const std::vector<node_refusal>> refusals;
  /// By node, the room on devices at the start, shared likewise; null: wherever amounts suffice there is room now.
  std::shared_ptr<const std::vector<device_room>> room_on_devices;
  /// By node, the taints that it should rather keep away from, and what it prefers there; shared likewise. Null:
  /// nothing anywhere. A task with any is of no kind, for what they are worth depends on all nodes that are compared.
  std::shared_ptr<const std::vector<std::int64_t>> avoids;
  std::shared_ptr<const std::vector<std::int64_t>> prefers;
  std::string near;  ///< the domain that its sub-job had when a node was sought
  std::vector<device_claim> claims;
};

struct sub_job_state {
  std::string name;
  std::string group;  ///< sub-jobs of one rule
  std::int64_t min_available = 1;
  std::int64_t priority = 0;
  std::int64_t place = 0;
  bool has_topology = false;
  policy::distance_limit topology;
  std::string allocated_domain;
  std::vector<row> tasks;
};

/// What a job says of its roles: sets `a,b;c` that should be together on nodes, or apart, a role alone in a set with
/// itself; and which roles come first.
struct role_topology {
  std::optional<std::string> together;
  std::optional<std::string> apart;
  std::optional<std::string> order;
};

enum class job_phase : std::uint8_t { pending, inqueue, running, unknown, completed };

struct job_state {
  std::string name;  ///< namespace/name
  row queue = no_row;
  std::int64_t priority = 0;
  std::int64_t created = 0;               ///< ns
  std::optional<std::int64_t> starts_by;  ///< ns; when it should have started at the latest, if it says so
  bool sits_out = false;                  ///< allocate passes over it: what it was given could not be done
  std::optional<std::int64_t> gave_way;   ///< ns; allocate serves it after all others, the longest ago first
  std::int64_t min_available = 0;
  policy::role_minimums minimums;
  std::map<std::string, std::int64_t, std::less<>> min_sub_jobs;  ///< by group
  bool has_rules = false;                                         ///< sub-jobs are made by rules
  std::optional<policy::shared_resources> min_resources;
  std::optional<policy::resource_names>
      min_named;  ///< resources that the minimum names; none: of which there is something
  job_phase phase = job_phase::pending;
  bool evicts = true;  ///< it may make others leave
  bool has_topology = false;
  policy::distance_limit topology;
  role_topology roles;
  std::string allocated_domain;
  std::vector<row> tasks;
  std::vector<sub_job_state> sub_jobs;
  std::set<row> unplaced;   ///< tasks that found no node in the attempt that goes on
  std::string kept_out_by;  ///< the plug-in that did not let it in; empty: none did
};

/// A step on the way from the root to a queue.
struct queue_step {
  std::string name;
  double weight = 1;
};

struct queue_state {
  std::string name;
  std::string parent;
  std::int64_t weight = 1;
  std::int64_t priority = 0;
  std::int64_t created = 0;  ///< ns
  bool open = true;
  bool reclaimable = true;
  std::optional<policy::resource_list> capability;
  policy::resource_list deserved;
  std::optional<policy::resource_list> guarantee;
  std::optional<policy::node_group_affinity> node_groups;  ///< for nodegroup
  std::vector<queue_step> hierarchy;                       ///< for drf; empty: the queue is below the root
  devices_by_class most_devices;  ///< of classes that are not named, or named with 0, as many as there are
};

struct node_state {
  std::string name;
  std::optional<std::string> group;           ///< for nodegroup
  std::optional<policy::measured_load> load;  ///< for usage
  policy::resource_list allocatable;
  policy::resource_list idle;
  policy::resource_list used;
  policy::resource_list releasing;
  policy::resource_list pipelined;
  boost::container::flat_map<row, task_status> tasks;  ///< with the status in which they were charged
  std::uint64_t changes = 0;                           ///< of all that is above
  std::uint64_t changes_at_start = 0;                  ///< the same before the first action

  /// What is free once all that is being released is.
  [[nodiscard]] policy::resource_list future_idle() const;
  /// Whether so much is free then.
  [[nodiscard]] bool will_fit(const policy::resource_list& asked) const;
};

/// What tasks on nodes mean for others there, as they come and go. A task that it has a say in is of no kind.
class neighbourhood {
 public:
  neighbourhood() = default;
  neighbourhood(const neighbourhood&) = delete;
  neighbourhood& operator=(const neighbourhood&) = delete;
  virtual ~neighbourhood() = default;

  /// The task is on the node now; no_row: on none.
  virtual void moved(row task, row node, bool is_leaving) = 0;
  /// Others may keep the task from nodes.
  [[nodiscard]] virtual bool judges(row task) const = 0;
  [[nodiscard]] virtual node_refusal refuses(row task, row node) const = 0;
  /// From 0 to 100 by place in `nodes`; empty: nothing to say.
  [[nodiscard]] virtual std::vector<std::int64_t> evenness(row task, const std::vector<row>& nodes) const = 0;
  /// Likewise. `required`: what a term of required affinity counts.
  [[nodiscard]] virtual std::vector<std::int64_t> welcome(row task, const std::vector<row>& nodes,
                                                          std::int64_t required) const = 0;
};

/// The whole cluster as one session sees it.
class cluster_state {
 public:
  std::vector<task_state> tasks;
  std::vector<job_state> jobs;
  std::vector<queue_state> queues;
  std::vector<node_state> nodes;
  policy::network_domains domains;            ///< with a domain of all nodes at the top
  std::string top_domain;                     ///< its name; empty: there are no domains
  bool enqueues = false;                      ///< an action lets jobs in: those that wait are not placed
  std::set<row> shard;                        ///< nodes of this scheduler
  bool only_shard = false;                    ///< other nodes are refused
  bool shard_first = false;                   ///< other nodes come second
  std::int64_t now = 0;                       ///< ns
  std::shared_ptr<neighbourhood> neighbours;  ///< null: no task minds others
  std::vector<std::int64_t> budgets;          ///< how many pods each lets go
  double cpu_per_gpu = 0;                     ///< milli-cores that are set aside for each GPU that is free
  double memory_per_gpu = 0;
  bool reclaim_spans_domains = true;  ///< reclaim looks at no domains, for jobs that must be in one as well
  std::vector<row> changed;  ///< nodes in the order in which they changed, once where one changes again and again

  /// Charges a task to the node it is on.
  void charge(row task);
  void discharge(row task);
  /// A task that is charged, and not for a promise, gets another status of that kind.
  void change_status(row task, task_status status);
  [[nodiscard]] policy::resource_list total() const;
  /// Grows when a task of the job comes to a node, leaves it, or is charged there in another way.
  [[nodiscard]] std::uint64_t changes_of_job(row job) const {
    return job < job_changes_.size() ? job_changes_[job] : 0;
  }
  /// The tasks of the job are as they were when there had been so many changes.
  void restore_changes_of_job(row job, std::uint64_t changes) { job_changes_[job] = changes; }
  /// Of what a node has free the task would take something that is set aside.
  [[nodiscard]] bool takes_what_is_set_aside(row task, const policy::resource_list& free) const;
  /// As far as it is known: once tasks have come to the node or left it, amounts decide alone.
  [[nodiscard]] device_room room_on_devices(row task, row node) const {
    const task_state& one = tasks[task];
    const bool is_known = one.room_on_devices != nullptr && nodes[node].changes == nodes[node].changes_at_start;
    return is_known ? (*one.room_on_devices)[node] : device_room::now;
  }

 private:
  void note_change(row task);

  std::vector<std::uint64_t> job_changes_;  ///< apart from the jobs, for orders look at little else
};

/// Pods of a job or of a sub-job.
[[nodiscard]] policy::gang_counts counts_of(const cluster_state& cluster, const std::vector<row>& tasks,
                                            std::int64_t min_available);
[[nodiscard]] policy::gang_counts counts_of(const cluster_state& cluster, const job_state& job);
[[nodiscard]] policy::gang_counts counts_of(const cluster_state& cluster, const sub_job_state& sub_job);

/// What is asked of the roles and the sub-jobs of a job.
enum class gang_condition : std::uint8_t { valid, ready, pipelined };
[[nodiscard]] bool roles_meet(const cluster_state& cluster, const job_state& job, gang_condition wanted);
[[nodiscard]] bool sub_jobs_meet(const cluster_state& cluster, const job_state& job, gang_condition wanted);
/// Tasks that hold resources, may still get some, or have ended well.
[[nodiscard]] std::int64_t valid_tasks(const cluster_state& cluster, const job_state& job);
/// A task of the same role of the sub-job found no node.
[[nodiscard]] bool role_failed(const cluster_state& cluster, const job_state& job, row task);
/// After a task found no node: whether others of its sub-job may still make the job ready.
[[nodiscard]] bool worth_continuing(const cluster_state& cluster, const job_state& job, row sub_job);
[[nodiscard]] bool has_hard_topology(const job_state& job);
[[nodiscard]] bool has_any_topology(const job_state& job);
/// What tasks ask for together.
[[nodiscard]] policy::resource_list requests_of(const cluster_state& cluster, const std::vector<row>& tasks);
/// Resources of the tasks that hold theirs.
[[nodiscard]] policy::resource_list allocated_of(const cluster_state& cluster, const job_state& job);
/// What the job, which has a minimum, still has a claim to of it.
[[nodiscard]] policy::resource_list outstanding_of(const job_state& job, const policy::resource_list& allocated);
/// Forgets domains of jobs that hold nothing any more or that are gone, and finds them where they are not known.
void settle_domains(cluster_state& cluster);

}  // namespace kaisched::volcano
