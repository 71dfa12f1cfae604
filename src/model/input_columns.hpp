#pragma once
/// @file
/// Columns of input tables. A new column is an entry here and the code that uses it.

#include <array>

#include "model/column_entry.hpp"

namespace kaisched::model::columns {

inline constexpr std::array resource_columns{
    text(1, "name", text_role::kept, "name",
         "Name of the dimension, such as nvidia.com/mig-1g.5gb. cpu, memory, gpu and pods always exist.")
        .required(),
    text(2, "unit", text_role::prose, "text", "Unit of amounts, for reports only.").otherwise("count"),
};
inline constexpr std::array topology_columns{
    text(1, "name", text_role::name, "name", "Name of the tree.").required(),
    texts(2, "levels", text_role::label_key, "node label keys",
          "Label keys of the levels, widest first. A node belongs to the domain that its labels name.")
        .required(),
    flag(3, "primary", "0", "The tree along which nodes are numbered; at most one."),
    texts(
        4, "shapes", text_role::by_level, "key, value, key, value, ...",
        "Shapes by level, what pods get of a domain of the level: block:N (whole base blocks of N nodes and a part of "
        "one), line:N or ring:N (a run), mesh:NxN or torus:NxNxN (a box, up to four axes). Mode compat does not look "
        "at it."),
};
inline constexpr std::array queue_columns{
    text(1, "name", text_role::name, "name", "Name of the queue.").required(),
    text(2, "parent", text_role::name, "queue",
         "Parent queue; empty for a top-level queue. Only queues without children hold pod groups.")
        .refers_to(entity_kind::queue),
    i64(3, "priority", "", "100", "Larger is served first; compared among siblings."),
    i64(4, "created", "ns", "0", "Creation time; older first where everything else is equal."),
    i64(5, "quota", "fixed units", "-1", "Deserved amount of cpu, memory, gpu; -1 is unlimited.").per_quota(),
    i64(6, "limit", "fixed units", "-1", "Most that the queue may hold; -1 is unlimited.").per_quota(),
    f64(7, "over_quota_weight", "", "1",
        "Weight in the division of what is left after all quotas, 0 to 1e12; 0 gets nothing. -1, which KAI gives "
        "departments, counts as 0 in strict and as the number -1 in compat; strict counts at most 1e9.")
        .per_quota(),
    f64(8, "usage", "part of capacity", "0", "Historical usage, decayed, as a part of the cluster's capacity.")
        .per_quota(),
    i64(9, "reclaim_min_runtime", "ns", "unset", "A group that runs for less is not reclaimed."),
    i64(10, "preempt_min_runtime", "ns", "unset", "A group that runs for less is not preempted."),
    i64(11, "max_runtime", "ns", "unset",
        "Longest time for which a group of the queue or of one below may run; for the action runtimelimit."),
    texts(12, "gpu_limits", text_role::kept, "key, value, key, value, ...",
          "Most GPUs of a type that the queue may hold, by the label nvidia.com/gpu.product of nodes; for the "
          "part gputypes."),
    i64(13, "guarantee", "fixed units", "0",
        "What is kept for the queue, whether or not it uses it; for the action volcano.")
        .per_quota(),
    flag(14, "reclaimable", "1", "0: other queues take nothing back from it; for the action volcano."),
    texts(15, "hierarchy", text_role::amounts, "name:weight",
          "Path from the root to the queue, with the weight of each step; for the plug-in drf of the action "
          "volcano."),
    texts(16, "node_groups", text_role::dependencies, "affinity:name",
          "Groups of nodes that the queue wants or avoids, as required:NAME, preferred:NAME, avoided:NAME, "
          "rather_avoided:NAME; for the plug-in nodegroup of the action volcano."),
};
inline constexpr std::array node_columns{
    text(1, "name", text_role::name, "name", "Name of the node; of equal nodes the name that sorts first is taken.")
        .required(),
    i64(2, "capacity", "fixed units", "Allocatable amount of every dimension.").per_dimension(),
    flag(3, "ready", "1", "0: nothing is placed here and the capacity does not count."),
    flag(4, "unschedulable", "0", "1: cordoned; nothing is placed here and the capacity does not count."),
    texts(5, "labels", text_role::labels, "key, value, key, value, ...", "Labels."),
    texts(6, "taints", text_role::taints, "key=value:Effect",
          "Taints; NoSchedule and NoExecute keep pods away, other effects are ignored."),
    i64(7, "gpu_memory", "bytes", "0", "Memory of each GPU; 0 if unknown."),
    text(8, "numa_policy", text_role::kept, "policy",
         "How the node aligns pods with its NUMA zones: none, best-effort, restricted, single-numa-node; empty "
         "if unknown."),
    text(9, "numa_scope", text_role::kept, "scope", "What is aligned: container or pod; empty if unknown."),
    texts(10, "claimable", text_role::devices_of_class, "class=driver/pool/device",
          "Devices that resource claims of a class can be given here, first choice first. GPUs among them count in "
          "capacity as well."),
    texts(
        11, "vendor_devices", text_role::words, "id=...,type=...,slots=...",
        "Devices that are shared by the rules of their vendor, in the node's order: id, type, mode, index, numa, "
        "slots, memory in bytes, cores, healthy, cordoned, links=score:score:..., profiles=NAME/SLICES/MEMORY:..., "
        "attribute.NAME. A node with such devices gives GPUs by these rules alone; mode strict. See docs/vendors.md."),
    texts(12, "device_settings", text_role::kept, "setting=value",
          "How these devices are chosen and registered, before the option devices.settings: device_policy, mode, "
          "slots, memory_permille, core_permille, soft_division, weights=slot:core:memory."),
    texts(13, "position", text_role::by_level, "key, value, key, value, ...",
          "By level, where the node is in its domain of a level with a shape: coordinates from 0, joined by x, such as "
          "1x0x2."),
    i64(14, "power_idle", "milliwatts", "-1",
        "What the node draws without its devices when no pod uses its CPU; -1 if unknown."),
    i64(15, "power_max", "milliwatts", "-1", "The same when pods have all of its CPU; -1 if unknown."),
    i64(16, "cpu_utilization", "per mille", "-1", "Measured mean utilisation of the CPU; -1 if unknown."),
    i64(17, "cpu_deviation", "per mille", "0", "Standard deviation of it."),
    i64(18, "memory_utilization", "per mille", "-1", "Measured mean utilisation of the memory; -1 if unknown."),
    i64(19, "memory_deviation", "per mille", "0", "Standard deviation of it."),
    texts(20, "power_feeds", text_role::amounts, "feed:milliwatts",
          "What the node draws its power from, and the most that all nodes of the feed may draw; for the part "
          "powercap. The least that one of them says counts."),
};
inline constexpr std::array device_columns{
    text(1, "node", text_role::name, "node", "Node of the device.").required().refers_to(entity_kind::node),
    u32(2, "index", "0..63",
        "Index on the node. Nodes without device rows have one device per whole GPU of their capacity."),
    text(3, "uuid", text_role::name, "text", "Hardware identifier."),
    text(4, "model", text_role::kept, "text", "Model name."),
    i64(5, "memory", "bytes", "0", "Memory; 0 stands for the node's gpu_memory."),
    i64(6, "share", "milli-GPU", "1000", "How much of one GPU the device offers."),
    i64(7, "numa", "zone", "-1", "NUMA node; -1 if unknown."),
    flag(8, "healthy", "1", "0: nothing new is placed on the device."),
    integers(9, "links", "bandwidth in MB/s per device",
             "Bandwidth to the devices of the node, by index; empty if unknown."),
    text(10, "sharing", text_role::kept, "mode",
         "How pods share it: exclusive (not at all), time_slicing, mps, hard_isolation, or mig (its instances are "
         "resources, and it offers nothing else); empty if unknown. Mode compat does not look at it."),
    texts(11, "instances", text_role::kept, "profile@start",
          "Instances of a device that is divided (mig): 3g.40gb@4 begins at memory slice 4. The action repartition "
          "looks only at nodes where they are all that capacity says."),
    i64(12, "power_idle", "milliwatts", "-1", "What the device draws when no pod uses it; -1 if unknown."),
    i64(13, "power_max", "milliwatts", "-1", "The same when some pod uses it; -1 if unknown."),
    i64(14, "utilization", "per mille", "-1", "Measured mean utilisation; -1 if unknown."),
    i64(15, "deviation", "per mille", "0", "Standard deviation of it."),
};
inline constexpr std::array pod_group_columns{
    text(1, "name", text_role::name, "name", "Name of the group.").required(),
    text(2, "queue", text_role::name, "queue", "Queue that is charged.").required().refers_to(entity_kind::queue),
    i64(3, "priority", "", "50", "Larger is served first inside a queue."),
    flag(4, "preemptible", "1", "0: never evicted, and only started within quota."),
    i64(5, "created", "ns", "0", "Creation time."),
    i64(6, "min_member", "pods", "1",
        "Size of the gang; for groups without sub-groups. More pods than this are elastic."),
    i64(7, "min_sub_group", "members", "unset", "Number of top-level sub-groups needed; all if unset."),
    text(8, "namespace", text_role::name, "name", "Pod affinity looks at pods of the same namespace."),
    i64(9, "last_start", "ns", "unset", "When the group last started; unset if never."),
    i64(10, "last_eviction", "ns", "unset", "When a pod of the group was last evicted."),
    i64(11, "stale_since", "ns", "unset", "Since when the group has fewer active pods than its gang."),
    i64(12, "preemption_delay", "ns", "unset", "The group evicts no pod before it has waited for so long."),
    i64(13, "staleness_grace", "ns", "unset", "How long a stale group is left alone; negative is for ever."),
    i64(14, "runtime_estimate", "ns", "unset", "Expected run time."),
    text(15, "topology", text_role::name, "topology",
         "Topology that the levels of the group belong to; empty: the group may be anywhere.")
        .refers_to(entity_kind::topology),
    text(16, "required_level", text_role::label_key, "node label key",
         "Level of the topology: all pods of the group must be in one of its domains; empty: no requirement."),
    text(17, "preferred_level", text_role::label_key, "node label key",
         "Level of the topology: the pods should be in one of its domains; empty: no preference."),
    i64(18, "deadline", "ns", "unset", "When the group should be done; for the part deadline."),
    i64(19, "attained_service", "milli-GPU seconds", "0",
        "GPU time that the group has had before its last start; for the part las."),
    i64(20, "max_runtime", "ns", "unset", "Longest time for which the group may run; for the action runtimelimit."),
    i64(21, "requeue_delay", "ns", "unset", "After an eviction the group is not served for so long."),
    text(22, "user", text_role::name, "name", "Whose group it is; for the part userfairness."),
    text(23, "priority_class", text_role::kept, "class",
         "Stands for both priority and preemptible: train (50), build-preemptible (75), build (100), inference "
         "(125); below 100 groups are preemptible. Read only: what is kept is the two."),
    i64(24, "evictions", "", "0",
        "In how many sessions pods of the group were evicted before: for reports, and the option "
        "victims.most_evictions. The host counts."),
    flag(25, "semi_preemptible", "0",
         "1: the core, which is what the gangs of the group need, counts as not preemptible, all beyond it as "
         "preemptible. preemptible is 0 then."),
    i64(26, "disruption_budget", "pods", "unset",
        "Consolidation may migrate so many pods of the group at a time, preemptible or not, less those that are "
        "not on a node; unset: it treats the group like any other."),
    i64(27, "max_surge", "pods", "0",
        "While pods of the group are outdated, limits and quotas leave out so many of these."),
    texts(28, "after", text_role::dependencies, "kind:pod group",
          "Groups that have to begin or end before: ok:NAME (all pods succeeded), failed:NAME, any:NAME (ended "
          "either way), started:NAME. The cluster writes never:NAME where a group left otherwise."),
    texts(29, "checks", text_role::name, "names",
          "Controllers that have to agree before pods of the group may start. The group is decided as ever and holds "
          "what it gets; its decisions name those that have not agreed."),
    texts(30, "speedup", text_role::kept, "pods:throughput",
          "How fast the group is with so many pods, such as 1:1, 2:1.9, 4:3.5; what a further pod brings never "
          "grows. For the part goodput and the action resize."),
    i64(31, "last_checkpoint", "ns", "unset", "When the group last saved its work; for the part lost_work."),
    i64(32, "restart_cost", "ns", "0",
        "How long the group takes to go on after it has been stopped; for the part lost_work."),
    i64(33, "traffic", "MB/s", "0", "What a pod of the group exchanges with the others; for the part traffic."),
    texts(34, "min_resources", text_role::kept, "resource:amount",
          "What the group needs at least, in fixed units, when it is let in; empty: what the first pods of its "
          "gang ask for. For the action volcano."),
    i64(35, "searched", "bits", "0",
        "Actions that have searched for victims of the group while searches took more effort than one session "
        "has: 4 consolidation, 8 reclaim, 16 preempt. Groups without the bit are searched for first. 256 times "
        "these: actions whose last long search found nothing, at the second that the bits from 65536 on count. "
        "A session says what it becomes (table pod_group of a session)."),
};
inline constexpr std::array sub_group_columns{
    text(1, "group", text_role::name, "pod group", "Pod group of the sub-group.")
        .required()
        .refers_to(entity_kind::pod_group),
    text(2, "name", text_role::name, "name", "Name, unique in the pod group.").required(),
    text(3, "parent", text_role::name, "sub-group",
         "Parent sub-group of the same pod group; empty below the root. Parents hold no pods."),
    i64(4, "min_member", "pods", "0", "Size of the gang, for sub-groups that hold pods."),
    i64(5, "min_sub_group", "members", "unset",
        "Number of child sub-groups needed; all if unset. Makes the sub-group an inner one."),
    text(6, "topology", text_role::name, "topology",
         "Topology that the levels of the sub-group belong to; empty: no constraint of its own.")
        .refers_to(entity_kind::topology),
    text(7, "required_level", text_role::label_key, "node label key",
         "Level of the topology: all pods of the sub-group must be in one of its domains; empty: no "
         "requirement."),
    text(8, "preferred_level", text_role::label_key, "node label key",
         "Level of the topology: the pods should be in one of its domains; empty: no preference."),
    i64(9, "unit", "pods", "0",
        "Pods of the sub-group in one unit of the group, which grows beyond its gangs, and shrinks, by whole "
        "units; 0: the sub-group is in none."),
};
inline constexpr std::array pod_columns{
    text(1, "name", text_role::name, "name", "Name of the pod, unique in the cluster.").required(),
    text(2, "group", text_role::name, "pod group",
         "Pod group of the pod; empty: the pod only uses its node (a daemon), is charged to no queue, and is "
         "never placed or evicted.")
        .refers_to(entity_kind::pod_group),
    text(3, "sub_group", text_role::name, "sub-group",
         "Sub-group that holds the pod; empty in groups without sub-groups."),
    i64(4, "request", "fixed units", "Requested amount of every dimension. A request of 0 pods is read as 1.")
        .per_dimension(),
    u32(5, "device_count", "devices", "0",
        "Number of devices that the gpu request is spread over, in equal shares; 0: whole devices, or one."),
    u8(6, "status", "pod status", "0",
       "0 pending, 1 gated, 2 allocated, 3 pipelined, 4 binding, 5 bound, 6 running, 7 releasing, "
       "8 stuck in releasing, 9 succeeded, 10 failed, 11 unknown."),
    text(7, "node", text_role::name, "node", "Node that the pod is on or leaves; empty if none.")
        .refers_to(entity_kind::node),
    integers(8, "devices", "device indices",
             "Devices that the pod holds; chosen by the library, lowest index first, if empty; -1 alone: not known."),
    i64(9, "created", "ns", "0", "Creation time."),
    i64(10, "priority", "", "unset", "Order inside the group: larger first, unset last."),
    flag(11, "leader", "0", "1: placed before the other pods of the group."),
    texts(12, "node_selector", text_role::labels, "key, value, key, value, ...", "Labels that a node must have."),
    texts(13, "node_affinity", text_role::selectors, "label selectors",
          "Required node affinity: one of the terms must match. A term is a selector such as "
          "'zone in (a,b),!spot,cores>8'."),
    texts(14, "tolerations", text_role::taints, "key=value:Effect",
          "Tolerations: 'key=value:Effect', 'key:Effect' (any value), 'key=value', 'key' (any effect), "
          "'*' (everything), '*:Effect'."),
    texts(15, "affinity", text_role::affinities, "topology key: label selector",
          "Required pod affinity: in the domain of the node (equal value of the label) there is a pod that "
          "matches."),
    texts(16, "anti_affinity", text_role::affinities, "topology key: label selector",
          "Required pod anti-affinity; binds in both directions."),
    texts(17, "host_ports", text_role::kept, "[address:]port[/protocol]",
          "Ports of the node that the pod takes; protocol TCP unless given."),
    texts(18, "labels", text_role::labels, "key, value, key, value, ...", "Labels, for the affinity of other pods."),
    text(19, "obstacle", text_role::prose, "text",
         "What keeps the pod from every node and no eviction can remove, such as a missing volume claim."),
    text(20, "nominated_node", text_role::name, "node",
         "Node on which the pod has been promised a place, which is kept for it (nominations.timeout); preferred "
         "over all others.")
        .refers_to(entity_kind::node),
    i64(21, "gpu_memory", "bytes", "0",
        "Memory wanted of each of device_count devices (0: of one), instead of a gpu request."),
    texts(22, "claims", text_role::name, "resource claims",
          "Names of the resource claims of the pod. A claim may appear later than the pod that waits for it."),
    integers(23, "numa_zones", "0..63", "NUMA zones of the node that the pod uses, by position; empty if unknown."),
    text(24, "qos", text_role::kept, "class",
         "Quality of service: Guaranteed, Burstable or BestEffort; empty if unknown."),
    flag(25, "outdated", "0", "1: an update replaces the pod: it ends when a new one runs. See max_surge of groups."),
    texts(26, "containers", text_role::kept, "[init:|sidecar:]name=amount,...",
          "What each container asks for, in fixed units, for the alignment with NUMA zones; sidecars are init "
          "containers that stay. Empty: one container asks for all. Other rules look at request only."),
    u32(27, "claimed_gpus", "devices", "0",
        "How many of the whole GPUs in request are those of the claims: they are counted, and the claims say which."),
    text(28, "sharing", text_role::kept, "mode",
         "How the devices that it gets parts of must be shared: time_slicing, mps or hard_isolation; empty: in any "
         "way."),
    texts(29, "device_requests", text_role::words, "container=0,vendor=NVIDIA,count=1,...",
          "What each container asks of a vendor: container, init, vendor, count, and of each device memory in "
          "bytes or memory_permille, cores, slices, amount. Such a pod goes to nodes with vendor_devices; the GPUs in "
          "request are then only what queues and the node are charged."),
    texts(30, "annotations", text_role::words, "key=value",
          "Annotations that rules read: of vendors about types, ids and policies, of Volcano about roles."),
    texts(31, "device_grants", text_role::words, "container=0,device=ID,memory=...,...",
          "What a pod on a node has of its vendor_devices, and where it is in cells (cell=LEVEL,number=0,gpus=0+1), "
          "as decisions say it. Empty: not known, the session takes what it would give."),
    texts(32, "mig_instances", text_role::words, "device/profile@start",
          "Instances of divided devices that the pod uses on its node; empty if unknown: all of their profile that "
          "no other pod uses stay as they are."),
    text(33, "disruption_budget", text_role::name, "disruption budget",
         "Disruption budget that the pod counts in, for the option respect_disruption_budgets; empty: none. A "
         "budget may appear later than its pods, and bounds nothing until then."),
    texts(34, "node_preferences", text_role::preferences, "weight: label selector",
          "Preferred node affinity: the weight of each selector that a node matches, 1 to 100, counts for it. Read "
          "by the plug-in nodeorder of volcano."),
    texts(35, "spread", text_role::spreads, "skew key: label selector",
          "How evenly pods that the selector matches must be spread over the domains of a key: 'SKEW key [WORD "
          "...]: selector', see the part topologyspread."),
    texts(36, "preferences", text_role::pod_preferences, "weight topology key: label selector",
          "Preferred affinity to pods, and where the weight is negative anti-affinity: -100 to 100, see the part "
          "interpodaffinity."),
    texts(37, "load", text_role::kept, "resource:thousandths",
          "What the pod uses of resources of its device that are shared by time, such as compute:400, "
          "bandwidth:700; for the part colocation."),
    i64(38, "nominated_since", "ns", "unset",
        "When the pod got its nominated_node; unset: the promise does not run out."),
};
inline constexpr std::array disruption_budget_columns{
    text(1, "name", text_role::name, "name", "Name, unique in the cluster, such as namespace/name.").required(),
    i64(2, "allowed", "pods", "0", "How many of the pods that name the budget may be made to leave or move now."),
};
inline constexpr std::array reservation_columns{
    text(1, "name", text_role::name, "name", "Name, unique in the cluster.").required(),
    texts(2, "nodes", text_role::name, "nodes",
          "Nodes that are reserved, by name; they may come later. With neither names nor a selector: all nodes."),
    text(3, "node_selector", text_role::selectors, "label selector",
         "Nodes that are reserved beside those that are named."),
    i64(4, "start", "ns", "0", "From when on the nodes are reserved."),
    i64(5, "end", "ns", "unset", "Until when, later than start; unset: until the row is removed."),
    i64(6, "every", "ns", "unset",
        "After how long the time from start to end comes again, and again; not shorter than that. Unset: never."),
    text(7, "queue", text_role::name, "queue",
         "Groups of this queue and of those below may use the nodes meanwhile; it may come later."),
    text(8, "group", text_role::name, "pod group",
         "This pod group may use them; it may come later. With neither queue nor group: no group may."),
    i64(9, "evict_before", "ns", "unset",
        "How long before each start others who would still be there are evicted by the action vacate; 0: at the "
        "start. Unset: never."),
};
inline constexpr std::array numa_zone_columns{
    text(1, "node", text_role::name, "node", "Node of the zone.").required().refers_to(entity_kind::node),
    text(2, "name", text_role::kept, "name",
         "Name, unique on the node. Zones are numbered from 0 by the number at the end of their names; those "
         "without a number come last, by name.")
        .required(),
    i64(3, "capacity", "fixed units", "Allocatable amount of every dimension in the zone.").per_dimension(),
    i64(4, "available", "fixed units", "0", "What of it is free, as the node reports.").per_dimension(),
};
inline constexpr std::array device_quota_columns{
    text(1, "namespace", text_role::name, "name", "Namespace of pod groups.").required(),
    text(2, "vendor", text_role::kept, "key", "Vendor, unique within the namespace.").required(),
    i64(3, "memory", "bytes", "-1", "Most memory of vendor_devices that its pods may hold together; -1 is unlimited."),
    i64(4, "cores", "of the vendor", "-1", "The same for cores."),
    i64(5, "slots", "sharers", "-1", "The same for places on devices."),
};
inline constexpr std::array resource_claim_columns{
    text(1, "name", text_role::name, "name", "Name, unique in the cluster, such as namespace/name.").required(),
    text(2, "device_class", text_role::name, "text", "Class of the devices."),
    i64(3, "count", "devices", "1", "Number of devices."),
    texts(4, "labels", text_role::labels, "key, value, key, value, ...", "Labels."),
    texts(5, "devices", text_role::devices, "driver/pool/device",
          "Devices that the claim has been given; empty: none yet."),
    texts(6, "reserved_for", text_role::name, "pod names",
          "Pods that use the devices of the claim. Names of pods elsewhere are kept as they are."),
    text(7, "node", text_role::name, "node", "Node of the devices; empty if not known: every node can use them."),
    flag(8, "from_template", "0",
         "1: made for one pod from a template. Other claims of GPUs need the label kai.scheduler/queue with the "
         "queue of the pod."),
    texts(9, "constraints", text_role::kept, "match domain/name",
          "What devices of the claim have in common: match domain/name, or distinct domain/name, and ': request, "
          "request/alternative' if it is not for all. For mode strict."),
    texts(10, "results", text_role::devices, "request=driver/pool/device",
          "Which request has which device: request[/alternative]=driver/pool/device, ;admin, ;domain/name=amount "
          "for what it consumes of a device that several share."),
};
inline constexpr std::array device_class_columns{
    text(1, "name", text_role::name, "name", "Name of the class.").required(),
    texts(2, "selectors", text_role::expressions, "CEL", "Expressions that all choose a device of the class."),
};
inline constexpr std::array resource_slice_columns{
    text(1, "name", text_role::name, "name", "Name, unique in the cluster.").required(),
    text(2, "driver", text_role::kept, "text", "Driver of the devices."),
    text(3, "pool", text_role::name, "text", "Pool that the slice is a part of."),
    i64(4, "generation", "", "0", "Of a pool only the slices of the highest generation count."),
    i64(5, "slices", "slices", "1",
        "How many slices of this generation the pool has; until they are there none of its devices is given."),
    text(6, "node", text_role::name, "node", "Node that the devices can be used from."),
    text(7, "node_selector", text_role::selectors, "label selector",
         "Nodes that they can be used from, if there is no node."),
    flag(8, "all_nodes", "0", "1: they can be used from everywhere."),
    texts(9, "counters", text_role::kept, "set/counter=amount", "Counters that devices of the pool share."),
};
inline constexpr std::array slice_device_columns{
    text(1, "name", text_role::name, "name", "Name, unique in the cluster, such as slice/device.").required(),
    text(2, "slice", text_role::name, "text", "Slice that offers it; it may come later."),
    text(3, "device", text_role::name, "text", "Name in its pool.").otherwise("the name"),
    i64(4, "position", "", "0", "Devices of a slice are tried in this order, then by name."),
    texts(5, "attributes", text_role::words, "domain/name=type:value",
          "Attributes; type is int, bool, string or version, or ints, bools, strings, versions once for each "
          "value of a list."),
    texts(6, "capacities", text_role::kept, "domain/name=amount",
          "Capacities; ;default=, ;value=, ;min=, ;max=, ;step= say how requests share them."),
    texts(7, "consumes", text_role::kept, "set/counter=amount", "What it takes of counters of its pool."),
    texts(8, "taints", text_role::taints, "key=value:Effect", "Taints; NoSchedule and NoExecute keep requests away."),
    flag(9, "shared", "0", "1: several requests can have it, up to its capacities."),
    text(10, "node", text_role::name, "node",
         "Node that it can be used from; if none of these three is given, that of the slice."),
    text(11, "node_selector", text_role::selectors, "label selector", "Nodes that it can be used from."),
    flag(12, "all_nodes", "0", "1: it can be used from everywhere."),
};
inline constexpr std::array claim_request_columns{
    text(1, "name", text_role::name, "name", "Name, unique in the cluster, such as claim/request/alternative.")
        .required(),
    text(2, "claim", text_role::name, "text", "Resource claim; it may come later."),
    text(3, "request", text_role::kept, "text",
         "Request of the claim. Rows with the same request are alternatives, of which one is enough.")
        .otherwise("the name"),
    text(4, "alternative", text_role::kept, "text", "Name of the alternative."),
    i64(5, "position", "", "0", "Requests of a claim, and alternatives, are served in this order, then by name."),
    text(6, "device_class", text_role::name, "text", "Class whose selectors choose the devices."),
    texts(7, "selectors", text_role::expressions, "CEL", "Further expressions that all choose a device."),
    i64(8, "count", "devices", "1", "Number of devices."),
    flag(9, "all", "0", "1: all devices that are chosen."),
    flag(10, "admin", "0", "1: access beside all others, which takes nothing."),
    texts(11, "tolerations", text_role::taints, "key=value:Effect", "Taints of devices that do not matter."),
    texts(12, "capacities", text_role::kept, "[domain/]name=amount",
          "What a device must have; of one that several share, what the request takes."),
};

}  // namespace kaisched::model::columns
