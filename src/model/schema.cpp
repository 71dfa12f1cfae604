#include <array>

#include <kaisched/schema.hpp>

namespace kaisched {

namespace {

using ct = column_type;
using cs = column_shape;
using ek = entity_kind;

constexpr std::array resource_columns{
    column_info{col::resource_name, "name", ct::string, cs::ragged, true, ek::none, "name", "",
                "Name of the dimension, such as nvidia.com/mig-1g.5gb. cpu, memory, gpu and pods always exist."},
    column_info{col::resource_unit, "unit", ct::string, cs::ragged, false, ek::none, "text", "count",
                "Unit of amounts, for reports only."},
};
constexpr std::array topology_columns{
    column_info{col::topology_name, "name", ct::string, cs::ragged, true, ek::none, "name", "", "Name of the tree."},
    column_info{col::topology_levels, "levels", ct::string_list, cs::ragged, true, ek::none, "node label keys", "",
                "Label keys of the levels, widest first. A node belongs to the domain that its labels name."},
    column_info{col::topology_primary, "primary", ct::u8, cs::one, false, ek::none, "0 or 1", "0",
                "The tree along which nodes are numbered; at most one."},
    column_info{
        col::topology_shapes, "shapes", ct::string_list, cs::ragged, false, ek::none, "key, value, key, value, ...", "",
        "Shapes by level, what pods get of a domain of the level: block:N (whole base blocks of N nodes and a part of "
        "one), line:N or ring:N (a run), mesh:NxN or torus:NxNxN (a box, up to four axes). Mode compat does not look "
        "at it."},
};
constexpr std::array queue_columns{
    column_info{col::queue_name, "name", ct::string, cs::ragged, true, ek::none, "name", "", "Name of the queue."},
    column_info{col::queue_parent, "parent", ct::string, cs::ragged, false, ek::queue, "queue", "",
                "Parent queue; empty for a top-level queue. Only queues without children hold pod groups."},
    column_info{col::queue_priority, "priority", ct::i64, cs::one, false, ek::none, "", "100",
                "Larger is served first; compared among siblings."},
    column_info{col::queue_created, "created", ct::i64, cs::one, false, ek::none, "ns", "0",
                "Creation time; older first where everything else is equal."},
    column_info{col::queue_quota, "quota", ct::i64, cs::quotas, false, ek::none, "fixed units", "-1",
                "Deserved amount of cpu, memory, gpu; -1 is unlimited."},
    column_info{col::queue_limit, "limit", ct::i64, cs::quotas, false, ek::none, "fixed units", "-1",
                "Most that the queue may hold; -1 is unlimited."},
    column_info{
        col::queue_over_quota_weight, "over_quota_weight", ct::f64, cs::quotas, false, ek::none, "", "1",
        "Weight in the division of what is left after all quotas, 0 to 1e12; 0 gets nothing. -1, which KAI gives "
        "departments, counts as 0 in strict and as the number -1 in compat; strict counts at most 1e9."},
    column_info{col::queue_usage, "usage", ct::f64, cs::quotas, false, ek::none, "part of capacity", "0",
                "Historical usage, decayed, as a part of the cluster's capacity."},
    column_info{col::queue_reclaim_min_runtime, "reclaim_min_runtime", ct::i64, cs::one, false, ek::none, "ns", "unset",
                "A group that runs for less is not reclaimed."},
    column_info{col::queue_preempt_min_runtime, "preempt_min_runtime", ct::i64, cs::one, false, ek::none, "ns", "unset",
                "A group that runs for less is not preempted."},
    column_info{col::queue_max_runtime, "max_runtime", ct::i64, cs::one, false, ek::none, "ns", "unset",
                "Longest time for which a group of the queue or of one below may run; for the action runtimelimit."},
    column_info{col::queue_gpu_limits, "gpu_limits", ct::string_list, cs::ragged, false, ek::none,
                "key, value, key, value, ...", "",
                "Most GPUs of a type that the queue may hold, by the label nvidia.com/gpu.product of nodes; for the "
                "part gputypes."},
};
constexpr std::array node_columns{
    column_info{col::node_name, "name", ct::string, cs::ragged, true, ek::none, "name", "",
                "Name of the node; of equal nodes the name that sorts first is taken."},
    column_info{col::node_capacity, "capacity", ct::i64, cs::dimensions, true, ek::none, "fixed units", "",
                "Allocatable amount of every dimension."},
    column_info{col::node_ready, "ready", ct::u8, cs::one, false, ek::none, "0 or 1", "1",
                "0: nothing is placed here and the capacity does not count."},
    column_info{col::node_unschedulable, "unschedulable", ct::u8, cs::one, false, ek::none, "0 or 1", "0",
                "1: cordoned; nothing is placed here and the capacity does not count."},
    column_info{col::node_labels, "labels", ct::string_list, cs::ragged, false, ek::none, "key, value, key, value, ...",
                "", "Labels."},
    column_info{col::node_taints, "taints", ct::string_list, cs::ragged, false, ek::none, "key=value:Effect", "",
                "Taints; NoSchedule and NoExecute keep pods away, other effects are ignored."},
    column_info{col::node_gpu_memory, "gpu_memory", ct::i64, cs::one, false, ek::none, "bytes", "0",
                "Memory of each GPU; 0 if unknown."},
    column_info{col::node_numa_policy, "numa_policy", ct::string, cs::ragged, false, ek::none, "policy", "",
                "How the node aligns pods with its NUMA zones: none, best-effort, restricted, single-numa-node; empty "
                "if unknown."},
    column_info{col::node_numa_scope, "numa_scope", ct::string, cs::ragged, false, ek::none, "scope", "",
                "What is aligned: container or pod; empty if unknown."},
    column_info{
        col::node_claimable, "claimable", ct::string_list, cs::ragged, false, ek::none, "class=driver/pool/device", "",
        "Devices that resource claims of a class can be given here, first choice first. GPUs among them count in "
        "capacity as well."},
    column_info{
        col::node_vendor_devices, "vendor_devices", ct::string_list, cs::ragged, false, ek::none,
        "id=...,type=...,slots=...", "",
        "Devices that are shared by the rules of their vendor, in the node's order: id, type, mode, index, numa, "
        "slots, memory in bytes, cores, healthy, cordoned, links=score:score:..., profiles=NAME/SLICES/MEMORY:..., "
        "attribute.NAME. A node with such devices gives GPUs by these rules alone; mode strict. See docs/vendors.md."},
    column_info{col::node_device_settings, "device_settings", ct::string_list, cs::ragged, false, ek::none,
                "setting=value", "",
                "How these devices are chosen and registered, before the option devices.settings: device_policy, mode, "
                "slots, memory_permille, core_permille, soft_division, weights=slot:core:memory."},
    column_info{
        col::node_position, "position", ct::string_list, cs::ragged, false, ek::none, "key, value, key, value, ...", "",
        "By level, where the node is in its domain of a level with a shape: coordinates from 0, joined by x, such as "
        "1x0x2."},
    column_info{col::node_power_idle, "power_idle", ct::i64, cs::one, false, ek::none, "milliwatts", "-1",
                "What the node draws without its devices when no pod uses its CPU; -1 if unknown."},
    column_info{col::node_power_max, "power_max", ct::i64, cs::one, false, ek::none, "milliwatts", "-1",
                "The same when pods have all of its CPU; -1 if unknown."},
    column_info{col::node_cpu_utilization, "cpu_utilization", ct::i64, cs::one, false, ek::none, "per mille", "-1",
                "Measured mean utilisation of the CPU; -1 if unknown."},
    column_info{col::node_cpu_deviation, "cpu_deviation", ct::i64, cs::one, false, ek::none, "per mille", "0",
                "Standard deviation of it."},
    column_info{col::node_memory_utilization, "memory_utilization", ct::i64, cs::one, false, ek::none, "per mille",
                "-1", "Measured mean utilisation of the memory; -1 if unknown."},
    column_info{col::node_memory_deviation, "memory_deviation", ct::i64, cs::one, false, ek::none, "per mille", "0",
                "Standard deviation of it."},
};
constexpr std::array device_columns{
    column_info{col::device_node, "node", ct::string, cs::ragged, true, ek::node, "node", "", "Node of the device."},
    column_info{col::device_index, "index", ct::u32, cs::one, true, ek::none, "0..63", "",
                "Index on the node. Nodes without device rows have one device per whole GPU of their capacity."},
    column_info{col::device_uuid, "uuid", ct::string, cs::ragged, false, ek::none, "text", "", "Hardware identifier."},
    column_info{col::device_model, "model", ct::string, cs::ragged, false, ek::none, "text", "", "Model name."},
    column_info{col::device_memory, "memory", ct::i64, cs::one, false, ek::none, "bytes", "0",
                "Memory; 0 stands for the node's gpu_memory."},
    column_info{col::device_share, "share", ct::i64, cs::one, false, ek::none, "milli-GPU", "1000",
                "How much of one GPU the device offers."},
    column_info{col::device_numa, "numa", ct::i64, cs::one, false, ek::none, "zone", "-1", "NUMA node; -1 if unknown."},
    column_info{col::device_healthy, "healthy", ct::u8, cs::one, false, ek::none, "0 or 1", "1",
                "0: nothing new is placed on the device."},
    column_info{col::device_links, "links", ct::i64_list, cs::ragged, false, ek::none, "bandwidth in MB/s per device",
                "", "Bandwidth to the devices of the node, by index; empty if unknown."},
    column_info{
        col::device_sharing, "sharing", ct::string, cs::ragged, false, ek::none, "mode", "",
        "How pods share it: exclusive (not at all), time_slicing, mps, hard_isolation, or mig (its instances are "
        "resources, and it offers nothing else); empty if unknown. Mode compat does not look at it."},
    column_info{
        col::device_instances, "instances", ct::string_list, cs::ragged, false, ek::none, "profile@start", "",
        "Instances of a device that is divided (mig): 3g.40gb@4 begins at memory slice 4. The action repartition "
        "looks only at nodes where they are all that capacity says."},
    column_info{col::device_power_idle, "power_idle", ct::i64, cs::one, false, ek::none, "milliwatts", "-1",
                "What the device draws when no pod uses it; -1 if unknown."},
    column_info{col::device_power_max, "power_max", ct::i64, cs::one, false, ek::none, "milliwatts", "-1",
                "The same when some pod uses it; -1 if unknown."},
    column_info{col::device_utilization, "utilization", ct::i64, cs::one, false, ek::none, "per mille", "-1",
                "Measured mean utilisation; -1 if unknown."},
    column_info{col::device_deviation, "deviation", ct::i64, cs::one, false, ek::none, "per mille", "0",
                "Standard deviation of it."},
};
constexpr std::array pod_group_columns{
    column_info{col::pod_group_name, "name", ct::string, cs::ragged, true, ek::none, "name", "", "Name of the group."},
    column_info{col::pod_group_queue, "queue", ct::string, cs::ragged, true, ek::queue, "queue", "",
                "Queue that is charged."},
    column_info{col::pod_group_priority, "priority", ct::i64, cs::one, false, ek::none, "", "50",
                "Larger is served first inside a queue."},
    column_info{col::pod_group_preemptible, "preemptible", ct::u8, cs::one, false, ek::none, "0 or 1", "1",
                "0: never evicted, and only started within quota."},
    column_info{col::pod_group_created, "created", ct::i64, cs::one, false, ek::none, "ns", "0", "Creation time."},
    column_info{col::pod_group_min_member, "min_member", ct::i64, cs::one, false, ek::none, "pods", "1",
                "Size of the gang; for groups without sub-groups. More pods than this are elastic."},
    column_info{col::pod_group_min_sub_group, "min_sub_group", ct::i64, cs::one, false, ek::none, "members", "unset",
                "Number of top-level sub-groups needed; all if unset."},
    column_info{col::pod_group_namespace, "namespace", ct::string, cs::ragged, false, ek::none, "name", "",
                "Pod affinity looks at pods of the same namespace."},
    column_info{col::pod_group_last_start, "last_start", ct::i64, cs::one, false, ek::none, "ns", "unset",
                "When the group last started; unset if never."},
    column_info{col::pod_group_last_eviction, "last_eviction", ct::i64, cs::one, false, ek::none, "ns", "unset",
                "When a pod of the group was last evicted."},
    column_info{col::pod_group_stale_since, "stale_since", ct::i64, cs::one, false, ek::none, "ns", "unset",
                "Since when the group has fewer active pods than its gang."},
    column_info{col::pod_group_preemption_delay, "preemption_delay", ct::i64, cs::one, false, ek::none, "ns", "unset",
                "The group evicts nobody before it has waited for so long."},
    column_info{col::pod_group_staleness_grace, "staleness_grace", ct::i64, cs::one, false, ek::none, "ns", "unset",
                "How long a stale group is left alone; negative is for ever."},
    column_info{col::pod_group_runtime_estimate, "runtime_estimate", ct::i64, cs::one, false, ek::none, "ns", "unset",
                "Expected run time."},
    column_info{col::pod_group_topology, "topology", ct::string, cs::ragged, false, ek::topology, "topology", "",
                "Topology that the levels of the group belong to; empty: the group may be anywhere."},
    column_info{col::pod_group_required_level, "required_level", ct::string, cs::ragged, false, ek::none,
                "node label key", "",
                "Level of the topology: all pods of the group must be in one of its domains; empty: no requirement."},
    column_info{col::pod_group_preferred_level, "preferred_level", ct::string, cs::ragged, false, ek::none,
                "node label key", "",
                "Level of the topology: the pods should be in one of its domains; empty: no preference."},
    column_info{col::pod_group_deadline, "deadline", ct::i64, cs::one, false, ek::none, "ns", "unset",
                "When the group should be done; for the part deadline."},
    column_info{col::pod_group_attained_service, "attained_service", ct::i64, cs::one, false, ek::none,
                "milli-GPU seconds", "0", "GPU time that the group has had before its last start; for the part las."},
    column_info{col::pod_group_max_runtime, "max_runtime", ct::i64, cs::one, false, ek::none, "ns", "unset",
                "Longest time for which the group may run; for the action runtimelimit."},
    column_info{col::pod_group_requeue_delay, "requeue_delay", ct::i64, cs::one, false, ek::none, "ns", "unset",
                "After an eviction the group is not served for so long."},
    column_info{col::pod_group_user, "user", ct::string, cs::ragged, false, ek::none, "name", "",
                "Whose group it is; for the part userfairness."},
    column_info{col::pod_group_priority_class, "priority_class", ct::string, cs::ragged, false, ek::none, "class", "",
                "Stands for both priority and preemptible: train (50), build-preemptible (75), build (100), inference "
                "(125); below 100 groups are preemptible. Read only: what is kept is the two."},
    column_info{col::pod_group_evictions, "evictions", ct::i64, cs::one, false, ek::none, "", "0",
                "How often pods of the group were evicted before; for reports."},
    column_info{col::pod_group_semi_preemptible, "semi_preemptible", ct::u8, cs::one, false, ek::none, "0 or 1", "0",
                "1: the core, which is what the gangs of the group need, counts as not preemptible, all beyond it as "
                "preemptible. preemptible is 0 then."},
    column_info{
        col::pod_group_disruption_budget, "disruption_budget", ct::i64, cs::one, false, ek::none, "pods", "unset",
        "Consolidation may migrate so many pods of the group at a time, preemptible or not, less those that are "
        "not on a node; unset: it treats the group like any other."},
    column_info{col::pod_group_max_surge, "max_surge", ct::i64, cs::one, false, ek::none, "pods", "0",
                "While pods of the group are outdated, limits and quotas leave out so many of these."},
};
constexpr std::array sub_group_columns{
    column_info{col::sub_group_group, "group", ct::string, cs::ragged, true, ek::pod_group, "pod group", "",
                "Pod group of the sub-group."},
    column_info{col::sub_group_name, "name", ct::string, cs::ragged, true, ek::none, "name", "",
                "Name, unique in the pod group."},
    column_info{col::sub_group_parent, "parent", ct::string, cs::ragged, false, ek::none, "sub-group", "",
                "Parent sub-group of the same pod group; empty below the root. Parents hold no pods."},
    column_info{col::sub_group_min_member, "min_member", ct::i64, cs::one, false, ek::none, "pods", "0",
                "Size of the gang, for sub-groups that hold pods."},
    column_info{col::sub_group_min_sub_group, "min_sub_group", ct::i64, cs::one, false, ek::none, "members", "unset",
                "Number of child sub-groups needed; all if unset. Makes the sub-group an inner one."},
    column_info{col::sub_group_topology, "topology", ct::string, cs::ragged, false, ek::topology, "topology", "",
                "Topology that the levels of the sub-group belong to; empty: no constraint of its own."},
    column_info{col::sub_group_required_level, "required_level", ct::string, cs::ragged, false, ek::none,
                "node label key", "",
                "Level of the topology: all pods of the sub-group must be in one of its domains; empty: no "
                "requirement."},
    column_info{col::sub_group_preferred_level, "preferred_level", ct::string, cs::ragged, false, ek::none,
                "node label key", "",
                "Level of the topology: the pods should be in one of its domains; empty: no preference."},
};
constexpr std::array pod_columns{
    column_info{col::pod_name, "name", ct::string, cs::ragged, true, ek::none, "name", "",
                "Name of the pod, unique in the cluster."},
    column_info{col::pod_group_ref, "group", ct::string, cs::ragged, false, ek::pod_group, "pod group", "",
                "Pod group of the pod; empty: the pod only uses its node (a daemon), is charged to no queue, and is "
                "never placed or evicted."},
    column_info{col::pod_sub_group, "sub_group", ct::string, cs::ragged, false, ek::none, "sub-group", "",
                "Sub-group that holds the pod; empty in groups without sub-groups."},
    column_info{col::pod_request, "request", ct::i64, cs::dimensions, true, ek::none, "fixed units", "",
                "Requested amount of every dimension. A request of 0 pods is read as 1."},
    column_info{col::pod_device_count, "device_count", ct::u32, cs::one, false, ek::none, "devices", "0",
                "Number of devices that the gpu request is spread over, in equal shares; 0: whole devices, or one."},
    column_info{col::pod_status_column, "status", ct::u8, cs::one, false, ek::none, "pod status", "0",
                "0 pending, 1 gated, 2 allocated, 3 pipelined, 4 binding, 5 bound, 6 running, 7 releasing, "
                "8 stuck in releasing, 9 succeeded, 10 failed, 11 unknown."},
    column_info{col::pod_node, "node", ct::string, cs::ragged, false, ek::node, "node", "",
                "Node that the pod is on or leaves; empty if none."},
    column_info{
        col::pod_devices, "devices", ct::i64_list, cs::ragged, false, ek::none, "device indices", "",
        "Devices that the pod holds; chosen by the library, lowest index first, if empty; -1 alone: not known."},
    column_info{col::pod_created, "created", ct::i64, cs::one, false, ek::none, "ns", "0", "Creation time."},
    column_info{col::pod_priority, "priority", ct::i64, cs::one, false, ek::none, "", "unset",
                "Order inside the group: larger first, unset last."},
    column_info{col::pod_leader, "leader", ct::u8, cs::one, false, ek::none, "0 or 1", "0",
                "1: placed before the other pods of the group."},
    column_info{col::pod_node_selector, "node_selector", ct::string_list, cs::ragged, false, ek::none,
                "key, value, key, value, ...", "", "Labels that a node must have."},
    column_info{col::pod_node_affinity, "node_affinity", ct::string_list, cs::ragged, false, ek::none,
                "label selectors", "",
                "Required node affinity: one of the terms must match. A term is a selector such as "
                "'zone in (a,b),!spot,cores>8'."},
    column_info{col::pod_tolerations, "tolerations", ct::string_list, cs::ragged, false, ek::none, "key=value:Effect",
                "",
                "Tolerations: 'key=value:Effect', 'key:Effect' (any value), 'key=value', 'key' (any effect), "
                "'*' (everything), '*:Effect'."},
    column_info{col::pod_affinity, "affinity", ct::string_list, cs::ragged, false, ek::none,
                "topology key: label selector", "",
                "Required pod affinity: in the domain of the node (equal value of the label) there is a pod that "
                "matches."},
    column_info{col::pod_anti_affinity, "anti_affinity", ct::string_list, cs::ragged, false, ek::none,
                "topology key: label selector", "", "Required pod anti-affinity; binds in both directions."},
    column_info{col::pod_host_ports, "host_ports", ct::string_list, cs::ragged, false, ek::none,
                "[address:]port[/protocol]", "", "Ports of the node that the pod takes; protocol TCP unless given."},
    column_info{col::pod_labels, "labels", ct::string_list, cs::ragged, false, ek::none, "key, value, key, value, ...",
                "", "Labels, for the affinity of other pods."},
    column_info{col::pod_obstacle, "obstacle", ct::string, cs::ragged, false, ek::none, "text", "",
                "What keeps the pod from every node and no eviction can remove, such as a missing volume claim."},
    column_info{col::pod_nominated_node, "nominated_node", ct::string, cs::ragged, false, ek::node, "node", "",
                "Node that was promised to the pod; preferred over all others."},
    column_info{col::pod_gpu_memory, "gpu_memory", ct::i64, cs::one, false, ek::none, "bytes", "0",
                "Memory wanted of each of device_count devices (0: of one), instead of a gpu request."},
    column_info{col::pod_claims, "claims", ct::string_list, cs::ragged, false, ek::none, "resource claims", "",
                "Names of the resource claims of the pod. A claim may appear later than the pod that waits for it."},
    column_info{col::pod_numa_zones, "numa_zones", ct::i64_list, cs::ragged, false, ek::none, "0..63", "",
                "NUMA zones of the node that the pod uses, by position; empty if unknown."},
    column_info{col::pod_qos, "qos", ct::string, cs::ragged, false, ek::none, "class", "",
                "Quality of service: Guaranteed, Burstable or BestEffort; empty if unknown."},
    column_info{col::pod_outdated, "outdated", ct::u8, cs::one, false, ek::none, "0 or 1", "0",
                "1: an update replaces the pod: it ends when a new one runs. See max_surge of groups."},
    column_info{col::pod_containers, "containers", ct::string_list, cs::ragged, false, ek::none,
                "[init:|sidecar:]name=amount,...", "",
                "What each container asks for, in fixed units, for the alignment with NUMA zones; sidecars are init "
                "containers that stay. Empty: one container asks for all. Other rules look at request only."},
    column_info{
        col::pod_claimed_gpus, "claimed_gpus", ct::u32, cs::one, false, ek::none, "devices", "0",
        "How many of the whole GPUs in request are those of the claims: they are counted, and the claims say which."},
    column_info{
        col::pod_sharing, "sharing", ct::string, cs::ragged, false, ek::none, "mode", "",
        "How the devices that it gets parts of must be shared: time_slicing, mps or hard_isolation; empty: in any "
        "way."},
    column_info{
        col::pod_device_requests, "device_requests", ct::string_list, cs::ragged, false, ek::none,
        "container=0,vendor=NVIDIA,count=1,...", "",
        "What each container asks of a vendor: container, init, vendor, count, and of each device memory in "
        "bytes or memory_permille, cores, slices, amount. Such a pod goes to nodes with vendor_devices; the GPUs in "
        "request are then only what queues and the node are charged."},
    column_info{col::pod_annotations, "annotations", ct::string_list, cs::ragged, false, ek::none, "key=value", "",
                "Annotations that the rules of vendors read: types and ids to use or avoid, policies."},
    column_info{col::pod_device_grants, "device_grants", ct::string_list, cs::ragged, false, ek::none,
                "container=0,device=ID,memory=...,...", "",
                "What a pod on a node has of its vendor_devices, as decisions say it. Empty: not known, the session "
                "takes what it would give."},
    column_info{
        col::pod_mig_instances, "mig_instances", ct::string_list, cs::ragged, false, ek::none, "device/profile@start",
        "",
        "Instances of divided devices that the pod uses on its node; empty if unknown: all of their profile that "
        "nobody else uses stay as they are."},
};
constexpr std::array numa_zone_columns{
    column_info{col::numa_zone_node, "node", ct::string, cs::ragged, true, ek::node, "node", "", "Node of the zone."},
    column_info{col::numa_zone_name, "name", ct::string, cs::ragged, true, ek::none, "name", "",
                "Name, unique on the node. Zones are numbered from 0 by the number at the end of their names; those "
                "without a number come last, by name."},
    column_info{col::numa_zone_capacity, "capacity", ct::i64, cs::dimensions, true, ek::none, "fixed units", "",
                "Allocatable amount of every dimension in the zone."},
    column_info{col::numa_zone_available, "available", ct::i64, cs::dimensions, false, ek::none, "fixed units", "0",
                "What of it is free, as the node reports."},
};
constexpr std::array device_quota_columns{
    column_info{col::device_quota_namespace, "namespace", ct::string, cs::ragged, true, ek::none, "name", "",
                "Namespace of pod groups."},
    column_info{col::device_quota_vendor, "vendor", ct::string, cs::ragged, true, ek::none, "key", "",
                "Vendor, unique within the namespace."},
    column_info{col::device_quota_memory, "memory", ct::i64, cs::one, false, ek::none, "bytes", "-1",
                "Most memory of vendor_devices that its pods may hold together; -1 is unlimited."},
    column_info{col::device_quota_cores, "cores", ct::i64, cs::one, false, ek::none, "of the vendor", "-1",
                "The same for cores."},
    column_info{col::device_quota_slots, "slots", ct::i64, cs::one, false, ek::none, "sharers", "-1",
                "The same for places on devices."},
};
constexpr std::array resource_claim_columns{
    column_info{col::resource_claim_name, "name", ct::string, cs::ragged, true, ek::none, "name", "",
                "Name, unique in the cluster, such as namespace/name."},
    column_info{col::resource_claim_device_class, "device_class", ct::string, cs::ragged, false, ek::none, "text", "",
                "Class of the devices."},
    column_info{col::resource_claim_count, "count", ct::i64, cs::one, false, ek::none, "devices", "1",
                "Number of devices."},
    column_info{col::resource_claim_labels, "labels", ct::string_list, cs::ragged, false, ek::none,
                "key, value, key, value, ...", "", "Labels."},
    column_info{col::resource_claim_devices, "devices", ct::string_list, cs::ragged, false, ek::none,
                "driver/pool/device", "", "Devices that the claim has been given; empty: none yet."},
    column_info{col::resource_claim_reserved_for, "reserved_for", ct::string_list, cs::ragged, false, ek::none,
                "pod names", "",
                "Pods that use the devices of the claim. Names of pods elsewhere are kept as they are."},
    column_info{col::resource_claim_node, "node", ct::string, cs::ragged, false, ek::none, "node", "",
                "Node of the devices; empty if not known: every node can use them."},
    column_info{col::resource_claim_from_template, "from_template", ct::u8, cs::one, false, ek::none, "0 or 1", "0",
                "1: made for one pod from a template. Other claims of GPUs need the label kai.scheduler/queue with the "
                "queue of the pod."},
    column_info{col::resource_claim_constraints, "constraints", ct::string_list, cs::ragged, false, ek::none,
                "match domain/name", "",
                "What devices of the claim have in common: match domain/name, or distinct domain/name, and ': request, "
                "request/alternative' if it is not for all. For mode strict."},
    column_info{col::resource_claim_results, "results", ct::string_list, cs::ragged, false, ek::none,
                "request=driver/pool/device", "",
                "Which request has which device: request[/alternative]=driver/pool/device, ;admin, ;domain/name=amount "
                "for what it consumes of a device that several share."},
};
constexpr std::array device_class_columns{
    column_info{col::device_class_name, "name", ct::string, cs::ragged, true, ek::none, "name", "",
                "Name of the class."},
    column_info{col::device_class_selectors, "selectors", ct::string_list, cs::ragged, false, ek::none, "CEL", "",
                "Expressions that all choose a device of the class."},
};
constexpr std::array resource_slice_columns{
    column_info{col::resource_slice_name, "name", ct::string, cs::ragged, true, ek::none, "name", "",
                "Name, unique in the cluster."},
    column_info{col::resource_slice_driver, "driver", ct::string, cs::ragged, false, ek::none, "text", "",
                "Driver of the devices."},
    column_info{col::resource_slice_pool, "pool", ct::string, cs::ragged, false, ek::none, "text", "",
                "Pool that the slice is a part of."},
    column_info{col::resource_slice_generation, "generation", ct::i64, cs::one, false, ek::none, "", "0",
                "Of a pool only the slices of the highest generation count."},
    column_info{col::resource_slice_slices, "slices", ct::i64, cs::one, false, ek::none, "slices", "1",
                "How many slices of this generation the pool has; until they are there none of its devices is given."},
    column_info{col::resource_slice_node, "node", ct::string, cs::ragged, false, ek::none, "node", "",
                "Node that the devices can be used from."},
    column_info{col::resource_slice_node_selector, "node_selector", ct::string, cs::ragged, false, ek::none,
                "label selector", "", "Nodes that they can be used from, if there is no node."},
    column_info{col::resource_slice_all_nodes, "all_nodes", ct::u8, cs::one, false, ek::none, "0 or 1", "0",
                "1: they can be used from everywhere."},
    column_info{col::resource_slice_counters, "counters", ct::string_list, cs::ragged, false, ek::none,
                "set/counter=amount", "", "Counters that devices of the pool share."},
};
constexpr std::array slice_device_columns{
    column_info{col::slice_device_name, "name", ct::string, cs::ragged, true, ek::none, "name", "",
                "Name, unique in the cluster, such as slice/device."},
    column_info{col::slice_device_slice, "slice", ct::string, cs::ragged, false, ek::none, "text", "",
                "Slice that offers it; it may come later."},
    column_info{col::slice_device_device, "device", ct::string, cs::ragged, false, ek::none, "text", "the name",
                "Name in its pool."},
    column_info{col::slice_device_position, "position", ct::i64, cs::one, false, ek::none, "", "0",
                "Devices of a slice are tried in this order, then by name."},
    column_info{col::slice_device_attributes, "attributes", ct::string_list, cs::ragged, false, ek::none,
                "domain/name=type:value", "",
                "Attributes; type is int, bool, string or version, or ints, bools, strings, versions once for each "
                "value of a list."},
    column_info{col::slice_device_capacities, "capacities", ct::string_list, cs::ragged, false, ek::none,
                "domain/name=amount", "",
                "Capacities; ;default=, ;value=, ;min=, ;max=, ;step= say how requests share them."},
    column_info{col::slice_device_consumes, "consumes", ct::string_list, cs::ragged, false, ek::none,
                "set/counter=amount", "", "What it takes of counters of its pool."},
    column_info{col::slice_device_taints, "taints", ct::string_list, cs::ragged, false, ek::none, "key=value:Effect",
                "", "Taints; NoSchedule and NoExecute keep requests away."},
    column_info{col::slice_device_shared, "shared", ct::u8, cs::one, false, ek::none, "0 or 1", "0",
                "1: several requests can have it, up to its capacities."},
    column_info{col::slice_device_node, "node", ct::string, cs::ragged, false, ek::none, "node", "",
                "Node that it can be used from; if none of these three is given, that of the slice."},
    column_info{col::slice_device_node_selector, "node_selector", ct::string, cs::ragged, false, ek::none,
                "label selector", "", "Nodes that it can be used from."},
    column_info{col::slice_device_all_nodes, "all_nodes", ct::u8, cs::one, false, ek::none, "0 or 1", "0",
                "1: it can be used from everywhere."},
};
constexpr std::array claim_request_columns{
    column_info{col::claim_request_name, "name", ct::string, cs::ragged, true, ek::none, "name", "",
                "Name, unique in the cluster, such as claim/request/alternative."},
    column_info{col::claim_request_claim, "claim", ct::string, cs::ragged, false, ek::none, "text", "",
                "Resource claim; it may come later."},
    column_info{col::claim_request_request, "request", ct::string, cs::ragged, false, ek::none, "text", "the name",
                "Request of the claim. Rows with the same request are alternatives, of which one is enough."},
    column_info{col::claim_request_alternative, "alternative", ct::string, cs::ragged, false, ek::none, "text", "",
                "Name of the alternative."},
    column_info{col::claim_request_position, "position", ct::i64, cs::one, false, ek::none, "", "0",
                "Requests of a claim, and alternatives, are served in this order, then by name."},
    column_info{col::claim_request_device_class, "device_class", ct::string, cs::ragged, false, ek::none, "text", "",
                "Class whose selectors choose the devices."},
    column_info{col::claim_request_selectors, "selectors", ct::string_list, cs::ragged, false, ek::none, "CEL", "",
                "Further expressions that all choose a device."},
    column_info{col::claim_request_count, "count", ct::i64, cs::one, false, ek::none, "devices", "1",
                "Number of devices."},
    column_info{col::claim_request_all, "all", ct::u8, cs::one, false, ek::none, "0 or 1", "0",
                "1: all devices that are chosen."},
    column_info{col::claim_request_admin, "admin", ct::u8, cs::one, false, ek::none, "0 or 1", "0",
                "1: access beside all others, which takes nothing."},
    column_info{col::claim_request_tolerations, "tolerations", ct::string_list, cs::ragged, false, ek::none,
                "key=value:Effect", "", "Taints of devices that do not matter."},
    column_info{col::claim_request_capacities, "capacities", ct::string_list, cs::ragged, false, ek::none,
                "[domain/]name=amount", "",
                "What a device must have; of one that several share, what the request takes."},
};
constexpr std::array decision_columns{
    column_info{col::decision_kind, "kind", ct::u8, cs::one, true, ek::none, "decision kind", "",
                "1 bind, 2 pipeline, 3 evict, 4 move, 5 unschedulable, 6 migrate, 7 repartition."},
    column_info{col::decision_pod, "pod", ct::u64, cs::one, true, ek::pod, "id", "", "Pod, or 0."},
    column_info{col::decision_group, "group", ct::u64, cs::one, true, ek::pod_group, "id", "", "Pod group."},
    column_info{col::decision_node, "node", ct::u64, cs::one, true, ek::node, "id", "",
                "Target node; for evict the node that the pod leaves; 0 if none."},
    column_info{col::decision_devices, "devices", ct::i64_list, cs::ragged, true, ek::none, "device indices", "",
                "Devices of the node; empty for a claim on whole devices: any that come free will do."},
    column_info{col::decision_device_share, "device_share", ct::i64, cs::one, true, ek::none, "milli-GPU", "",
                "Share of each device."},
    column_info{col::decision_action, "action", ct::string, cs::ragged, true, ek::none, "action", "",
                "Action that decided."},
    column_info{col::decision_commit, "commit", ct::u32, cs::one, true, ek::none, "number", "",
                "Decisions of one commit stand or fall together; 0 for unschedulable."},
    column_info{col::decision_pod_name, "pod_name", ct::string, cs::ragged, true, ek::none, "name", "", "Name of pod."},
    column_info{col::decision_node_name, "node_name", ct::string, cs::ragged, true, ek::none, "name", "",
                "Name of node."},
    column_info{col::decision_group_name, "group_name", ct::string, cs::ragged, true, ek::none, "name", "",
                "Name of group."},
    column_info{col::decision_numa_zones, "numa_zones", ct::i64_list, cs::ragged, false, ek::none, "0..63", "",
                "NUMA zones of the node that the pod is expected to use, by position; for the part numa."},
    column_info{col::decision_claim_devices, "claim_devices", ct::string_list, cs::ragged, false, ek::none,
                "claim=driver/pool/device", "", "Devices of the pod's claims; empty for evict."},
    column_info{
        col::decision_device_memory, "device_memory", ct::i64_list, cs::ragged, false, ek::none, "bytes", "",
        "What the pod may use of each of the devices; 0 where the memory of the device is not known, empty if that of "
        "none is."},
    column_info{
        col::decision_sharing, "sharing", ct::string_list, cs::ragged, false, ek::none, "modes", "",
        "How each of the devices is shared: the column sharing of the table device, or unknown; empty if nothing is "
        "said of the node's devices."},
    column_info{col::decision_device_grants, "device_grants", ct::string_list, cs::ragged, false, ek::none,
                "container=0,device=ID,memory=...,...", "",
                "What each container gets of each of the node's vendor_devices; empty for evict."},
    column_info{col::decision_layout, "layout", ct::string_list, cs::ragged, false, ek::none, "profile@start", "",
                "Of repartition: all instances that the device has then, by start."},
    column_info{col::decision_gone, "gone", ct::string_list, cs::ragged, false, ek::none, "profile@start", "",
                "Of repartition: instances that the device has no more."},
    column_info{col::decision_drain_cost, "drain_cost", ct::i64, cs::one, false, ek::none, "milli-GPU", "0",
                "Of repartition: what the pods hold that have to leave instances of the device."},
};
constexpr std::array reason_columns{
    column_info{col::reason_group, "group", ct::u64, cs::one, true, ek::pod_group, "id", "", "Pod group that waits."},
    column_info{col::reason_group_name, "group_name", ct::string, cs::ragged, true, ek::none, "name", "", "Its name."},
    column_info{col::reason_pod, "pod", ct::u64, cs::one, true, ek::pod, "id", "", "First pod without a place, or 0."},
    column_info{col::reason_constraint, "constraint", ct::string, cs::ragged, true, ek::none, "constraint", "",
                "What stands in the way."},
    column_info{col::reason_scope, "scope", ct::string, cs::ragged, true, ek::none, "scope", "",
                "node, queue, group, cluster or domain."},
    column_info{col::reason_subject, "subject", ct::u64, cs::one, true, ek::none, "id", "",
                "Queue that refuses, or pod group that would start later; 0 if neither."},
    column_info{col::reason_dimension, "dimension", ct::string, cs::ragged, true, ek::resource, "resource", "",
                "Dimension that is short, or empty."},
    column_info{col::reason_need, "need", ct::i64, cs::one, true, ek::none, "fixed units", "", "What is needed."},
    column_info{col::reason_have, "have", ct::i64, cs::one, true, ek::none, "fixed units", "",
                "Most that there is in one place."},
    column_info{col::reason_nodes, "nodes", ct::u32, cs::one, true, ek::none, "nodes", "",
                "Nodes or domains that refuse so."},
    column_info{col::reason_nearest, "nearest_node", ct::string, cs::ragged, true, ek::node, "node", "",
                "Node that misses the least, or empty."},
    column_info{col::reason_text, "text", ct::string, cs::ragged, true, ek::none, "text", "",
                "The reason as a sentence."},
};
constexpr std::array queue_share_columns{
    column_info{col::share_queue, "queue", ct::u64, cs::one, true, ek::queue, "id", "", "Queue."},
    column_info{col::share_queue_name, "queue_name", ct::string, cs::ragged, true, ek::none, "name", "", "Its name."},
    column_info{col::share_parent, "parent_name", ct::string, cs::ragged, true, ek::none, "name", "",
                "Parent, or empty."},
    column_info{col::share_quota, "quota", ct::i64, cs::quotas, true, ek::none, "fixed units", "",
                "Quota; -1 unlimited."},
    column_info{col::share_limit, "limit", ct::i64, cs::quotas, true, ek::none, "fixed units", "",
                "Limit; -1 unlimited."},
    column_info{col::share_fair_share, "fair_share", ct::i64, cs::quotas, true, ek::none, "fixed units", "",
                "Fair share of this session."},
    column_info{col::share_request, "request", ct::i64, cs::quotas, true, ek::none, "fixed units", "",
                "Held and asked for at the start of the session."},
    column_info{col::share_allocated, "allocated", ct::i64, cs::quotas, true, ek::none, "fixed units", "",
                "Held at the end of the session."},
    column_info{col::share_pending_pods, "pending_pods", ct::i64, cs::one, true, ek::none, "pods", "",
                "Pods of the queue and its children that still wait."},
    column_info{col::share_evictions, "evictions", ct::i64, cs::one, true, ek::none, "", "",
                "How often groups of the queue and its children were evicted, in this session and before."},
    column_info{col::share_evicted_pods, "evicted_pods", ct::i64, cs::one, true, ek::none, "pods", "",
                "Pods of the queue and its children that this session evicts or moves."},
};
constexpr std::array placement_columns{
    column_info{col::placement_pod, "pod", ct::u64, cs::one, true, ek::pod, "id", "", "Pod."},
    column_info{col::placement_pod_name, "pod_name", ct::string, cs::ragged, true, ek::none, "name", "", "Its name."},
    column_info{col::placement_status, "status", ct::u8, cs::one, true, ek::none, "pod status", "",
                "Status at the end."},
    column_info{col::placement_node, "node", ct::u64, cs::one, true, ek::node, "id", "", "Node, or 0."},
    column_info{col::placement_node_name, "node_name", ct::string, cs::ragged, true, ek::none, "name", "",
                "Name of node, or empty."},
    column_info{col::placement_devices, "devices", ct::i64_list, cs::ragged, true, ek::none, "device indices", "",
                "Devices held."},
    column_info{col::placement_numa_zones, "numa_zones", ct::i64_list, cs::ragged, true, ek::none, "0..63", "",
                "NUMA zones of the node that the pod is expected to use, by position; for the part numa."},
};
constexpr std::array statistic_columns{
    column_info{col::statistic_action, "action", ct::string, cs::ragged, true, ek::none, "action", "", "Action."},
    column_info{col::statistic_steps, "steps", ct::u64, cs::one, true, ek::none, "steps", "", "Units of work."},
    column_info{col::statistic_groups_tried, "groups_tried", ct::u64, cs::one, true, ek::none, "", "",
                "Attempts to place a chunk of a group."},
    column_info{col::statistic_groups_placed, "groups_placed", ct::u64, cs::one, true, ek::none, "", "",
                "Attempts that succeeded."},
    column_info{col::statistic_candidates, "candidates", ct::u64, cs::one, true, ek::none, "", "",
                "Nodes tested for a fit."},
    column_info{col::statistic_filtered, "filtered", ct::u64, cs::one, true, ek::none, "", "", "Nodes refused."},
    column_info{col::statistic_rollbacks, "rollbacks", ct::u64, cs::one, true, ek::none, "", "", "Operations undone."},
    column_info{col::statistic_simulations, "simulations", ct::u64, cs::one, true, ek::none, "", "",
                "Sets of victims that were tried."},
};
constexpr std::array attempt_columns{
    column_info{col::attempt_action, "action", ct::string, cs::ragged, true, ek::none, "action", "", "Action."},
    column_info{col::attempt_group, "group", ct::u64, cs::one, true, ek::pod_group, "id", "", "Pod group that waited."},
    column_info{col::attempt_group_name, "group_name", ct::string, cs::ragged, true, ek::none, "name", "", "Its name."},
    column_info{col::attempt_outcome, "outcome", ct::string, cs::ragged, true, ek::none, "outcome", "",
                "How it ended, such as placed, delayed or no_victims."},
    column_info{col::attempt_sets, "sets", ct::u64, cs::one, true, ek::none, "", "",
                "Sets of victims that were tried."},
    column_info{col::attempt_refused, "refused", ct::u64, cs::one, true, ek::none, "", "",
                "Of these, made room but were refused by the rules of the action."},
    column_info{col::attempt_spared, "spared", ct::u8, cs::one, true, ek::none, "0 or 1", "",
                "1: a group was left alone because of its minimum runtime."},
};
constexpr std::array sharing_group_columns{
    column_info{col::sharing_group_name, "name", ct::string, cs::ragged, true, ek::none, "node/device", "",
                "Name of the group: node and device. In compat node/group-N where nobody can tell the device, and "
                "node/device/N if an older group of the device is still closing."},
    column_info{col::sharing_group_node, "node", ct::u64, cs::one, true, ek::node, "id", "", "Node."},
    column_info{col::sharing_group_node_name, "node_name", ct::string, cs::ragged, true, ek::none, "name", "",
                "Its name."},
    column_info{col::sharing_group_device, "device", ct::i64, cs::one, true, ek::none, "index", "",
                "Index of the device on the node; -1: nobody can tell, which happens in compat."},
    column_info{col::sharing_group_sharing, "sharing", ct::string, cs::ragged, true, ek::none, "mode", "",
                "How the device is shared; empty: nothing is said."},
    column_info{col::sharing_group_state, "state", ct::string, cs::ragged, true, ek::none, "state", "",
                "open: pods hold parts and stay; promised: some only wait for parts; closing: all are leaving."},
    column_info{col::sharing_group_memory, "memory", ct::i64, cs::one, true, ek::none, "bytes", "",
                "Memory of the device; 0: not known, and the three amounts below are thousandths of the device."},
    column_info{col::sharing_group_used, "used", ct::i64, cs::one, true, ek::none, "bytes", "",
                "Held by pods, those that are leaving included."},
    column_info{col::sharing_group_allocated, "allocated", ct::i64, cs::one, true, ek::none, "bytes", "",
                "Held by pods that stay; in compat as KAI counts, those that are leaving included."},
    column_info{col::sharing_group_releasing, "releasing", ct::i64, cs::one, true, ek::none, "bytes", "",
                "Coming free, less what is promised to pods that wait; negative where they wait for free parts."},
    column_info{col::sharing_group_pods, "pods", ct::string_list, cs::ragged, true, ek::none, "names", "",
                "Pods that hold or wait for parts, by name."},
    column_info{col::sharing_group_opened_by, "opened_by", ct::i64, cs::one, true, ek::none, "row", "",
                "Decision that made the device a shared one, as row of the table of decisions; -1: none of the "
                "session."},
    column_info{col::sharing_group_closed_by, "closed_by", ct::i64, cs::one, true, ek::none, "row", "",
                "Decision after which nobody stays and nobody waits; -1: none of the session."},
};
constexpr std::array quarantine_columns{
    column_info{col::quarantine_kind, "kind", ct::string, cs::ragged, true, ek::none, "kind of table", "",
                "Kind of the object, such as pod_group."},
    column_info{col::quarantine_owner, "owner", ct::string, cs::ragged, true, ek::none, "name", "",
                "Pod group of a sub-group, node of a device or NUMA zone; empty for other kinds."},
    column_info{col::quarantine_name, "name", ct::string, cs::ragged, true, ek::none, "name", "",
                "Name of the object; of a device its index. What cannot be shown of it is replaced by U+FFFD."},
    column_info{col::quarantine_column, "column", ct::string, cs::ragged, true, ek::none, "column", "",
                "Column at fault; empty if it is the object as a whole."},
    column_info{col::quarantine_status, "status", ct::string, cs::ragged, true, ek::none, "status", "",
                "What the call would have failed with, such as not_found."},
    column_info{col::quarantine_text, "text", ct::string, cs::ragged, true, ek::none, "text", "",
                "The reason as a sentence."},
    column_info{col::quarantine_because_of, "because_of", ct::string, cs::ragged, true, ek::none, "kind and name", "",
                "The object in quarantine that this one depends on, such as 'queue research'; empty if the fault is "
                "its own."},
    column_info{col::quarantine_present, "present", ct::u8, cs::one, true, ek::none, "0 or 1", "",
                "1: there is an object of this name: one that a bad change or removal left as it was, or a pod that "
                "only uses its node instead of the one that was left out."},
};
constexpr std::array assumption_columns{
    column_info{col::assumption_pod, "pod", ct::u64, cs::one, true, ek::pod, "id", "", "Pod that was decided on."},
    column_info{col::assumption_pod_name, "pod_name", ct::string, cs::ragged, true, ek::none, "name", "", "Its name."},
    column_info{col::assumption_group, "group", ct::u64, cs::one, true, ek::pod_group, "id", "", "Its pod group."},
    column_info{col::assumption_group_name, "group_name", ct::string, cs::ragged, true, ek::none, "name", "",
                "Name of group."},
    column_info{col::assumption_kind, "kind", ct::u8, cs::one, true, ek::none, "decision kind", "",
                "1 bind, 3 evict, 4 move or 6 migrate, as in the table of decisions."},
    column_info{col::assumption_node, "node", ct::u64, cs::one, true, ek::node, "id", "",
                "Target node; for evict and move the node that the pod leaves."},
    column_info{col::assumption_node_name, "node_name", ct::string, cs::ragged, true, ek::none, "name", "",
                "Name of node."},
    column_info{col::assumption_lost, "lost", ct::u8, cs::one, true, ek::none, "0 or 1", "",
                "1: nobody knows whether it happened; the place stays taken."},
};
constexpr std::array conflict_columns{
    column_info{col::conflict_commit, "commit", ct::u32, cs::one, true, ek::none, "number", "",
                "Commit of the session that was refused."},
    column_info{col::conflict_kind, "kind", ct::string, cs::ragged, true, ek::none, "kind of table", "",
                "Kind of the object that stands in the way: queue, node, pod_group, pod or resource_claim."},
    column_info{col::conflict_subject, "subject", ct::u64, cs::one, true, ek::none, "id", "",
                "That object as the session knew it; 0 for a resource claim."},
    column_info{col::conflict_name, "name", ct::string, cs::ragged, true, ek::none, "name", "", "Its name."},
    column_info{col::conflict_text, "text", ct::string, cs::ragged, true, ek::none, "text", "",
                "What has changed, as a sentence."},
};
constexpr std::array candidate_columns{
    column_info{col::candidate_node, "node", ct::u64, cs::one, true, ek::node, "id", "", "Node."},
    column_info{col::candidate_node_name, "node_name", ct::string, cs::ragged, true, ek::none, "name", "", "Its name."},
    column_info{col::candidate_fits, "fits", ct::u8, cs::one, true, ek::none, "0 or 1", "",
                "1: the pod can be placed here."},
    column_info{col::candidate_starts_now, "starts_now", ct::u8, cs::one, true, ek::none, "0 or 1", "",
                "1: everything is free; else the pod would hold a claim on what is being released."},
    column_info{col::candidate_chosen, "chosen", ct::u8, cs::one, true, ek::none, "0 or 1", "",
                "1: the session has put the pod here."},
    column_info{col::candidate_score, "score", ct::f64, cs::one, true, ek::none, "", "", "Sum of all parts."},
    column_info{col::candidate_scores, "scores", ct::string_list, cs::ragged, true, ek::none, "part=score", "",
                "What each part that scores gave, in the order of the policy."},
    column_info{col::candidate_devices, "devices", ct::i64_list, cs::ragged, true, ek::none, "device indices", "",
                "What the pod would take."},
    column_info{col::candidate_device_share, "device_share", ct::i64, cs::one, true, ek::none, "milli-GPU", "",
                "Share of each device."},
    column_info{col::candidate_constraint, "constraint", ct::string, cs::ragged, true, ek::none, "constraint", "",
                "Why the pod cannot be placed here; none if it can."},
    column_info{col::candidate_text, "text", ct::string, cs::ragged, true, ek::none, "text", "",
                "The same as a sentence; empty if it can."},
};

constexpr std::array tables{
    table_info{table_kind::resource, "resource", true, "Resource dimensions beyond the built-in ones.",
               resource_columns},
    table_info{table_kind::topology, "topology", true, "Trees of domains over node labels.", topology_columns},
    table_info{table_kind::queue, "queue", true, "Queues: a forest with quotas, limits and weights.", queue_columns},
    table_info{table_kind::node, "node", true, "Nodes.", node_columns},
    table_info{table_kind::device, "device", true, "Devices of nodes.", device_columns},
    table_info{table_kind::pod_group, "pod_group", true, "Pod groups: the unit of scheduling.", pod_group_columns},
    table_info{table_kind::sub_group, "sub_group", true, "Trees of sub-groups inside pod groups.", sub_group_columns},
    table_info{table_kind::pod, "pod", true, "Pods.", pod_columns},
    table_info{table_kind::numa_zone, "numa_zone", true, "NUMA zones of nodes.", numa_zone_columns},
    table_info{table_kind::resource_claim, "resource_claim", true, "Claims of devices that pods share or bring along.",
               resource_claim_columns},
    table_info{table_kind::device_quota, "device_quota", true, "What pods of a namespace may hold of vendor_devices.",
               device_quota_columns},
    table_info{table_kind::device_class, "device_class", true, "Classes of devices that claims ask for.",
               device_class_columns},
    table_info{table_kind::resource_slice, "resource_slice", true, "Parts of the pools in which drivers offer devices.",
               resource_slice_columns},
    table_info{table_kind::slice_device, "slice_device", true, "Devices of slices.", slice_device_columns},
    table_info{table_kind::claim_request, "claim_request", true, "Requests of resource claims.", claim_request_columns},
    table_info{table_kind::decision, "decision", false, "Decisions of a session.", decision_columns},
    table_info{table_kind::reason, "reason", false, "Why pod groups wait.", reason_columns},
    table_info{table_kind::queue_share, "queue_share", false, "Shares of queues.", queue_share_columns},
    table_info{table_kind::placement, "placement", false, "Where pods are at the end.", placement_columns},
    table_info{table_kind::statistic, "statistic", false, "Counters per action.", statistic_columns},
    table_info{table_kind::quarantine, "quarantine", false, "Rows of the input that a snapshot lacks, and why.",
               quarantine_columns},
    table_info{table_kind::attempt, "attempt", false, "What actions that evict did for groups that waited.",
               attempt_columns},
    table_info{table_kind::sharing_group, "sharing_group", false,
               "Devices that pods share, and which decisions opened and closed them.", sharing_group_columns},
    table_info{table_kind::assumption, "assumption", false,
               "Decisions that a cluster has taken in and nobody has reported on.", assumption_columns},
    table_info{table_kind::conflict, "conflict", false, "What stood in the way of decisions that a cluster refused.",
               conflict_columns},
    table_info{table_kind::candidate, "candidate", false,
               "How the nodes stand for one pod: those that can take it, best first, then the others by name.",
               candidate_columns},
};

}  // namespace

std::span<const table_info> schema() noexcept { return tables; }

const table_info* schema_of(std::uint32_t kind) noexcept {
  for (const table_info& t : tables) {
    if (static_cast<std::uint32_t>(t.kind) == kind) return &t;
  }
  return nullptr;
}

const table_info* schema_of(std::string_view name) noexcept {
  for (const table_info& t : tables) {
    if (t.name == name) return &t;
  }
  return nullptr;
}

std::string_view pod_status_name(pod_status s) noexcept {
  constexpr std::array<std::string_view, pod_status_count> names{
      "pending", "gated",     "allocated",          "pipelined", "binding", "bound",
      "running", "releasing", "stuck_in_releasing", "succeeded", "failed",  "unknown"};
  const auto i = static_cast<std::size_t>(s);
  return i < names.size() ? names[i] : "invalid";
}

}  // namespace kaisched
