#pragma once
/// @file
/// Columns of output tables: of sessions, snapshots, clusters, answers and federations.

#include <array>

#include "model/column_entry.hpp"

namespace kaisched::model::columns {

inline constexpr std::array decision_columns{
    u8(1, "kind", "decision kind", "1 bind, 2 pipeline, 3 evict, 4 move, 5 unschedulable, 6 migrate, 7 repartition."),
    u64(2, "pod", "id", "Pod, or 0.").refers_to(entity_kind::pod),
    u64(3, "group", "id", "Pod group.").refers_to(entity_kind::pod_group),
    u64(4, "node", "id", "Target node; for evict the node that the pod leaves; 0 if none.")
        .refers_to(entity_kind::node),
    integers(5, "devices", "device indices",
             "Devices of the node; empty for a claim on whole devices: any that come free will do.")
        .required(),
    i64(6, "device_share", "milli-GPU", "Share of each device."),
    text(7, "action", "action", "Action that decided."),
    u32(8, "commit", "number", "Decisions of one commit stand or fall together; 0 for unschedulable."),
    text(9, "pod_name", "name", "Name of pod."),
    text(10, "node_name", "name", "Name of node."),
    text(11, "group_name", "name", "Name of group."),
    integers(12, "numa_zones", "0..63",
             "NUMA zones of the node that the pod is expected to use, by position; for the part numa."),
    texts(13, "claim_devices", "claim=driver/pool/device", "Devices of the pod's claims; empty for evict.").optional(),
    integers(
        14, "device_memory", "bytes",
        "What the pod may use of each of the devices; 0 where the memory of the device is not known, empty if that of "
        "none is."),
    texts(15, "sharing", "modes",
          "How each of the devices is shared: the column sharing of the table device, or unknown; empty if nothing is "
          "said of the node's devices.")
        .optional(),
    texts(16, "device_grants", "container=0,device=ID,memory=...,...",
          "What each container gets of each of the node's vendor_devices, and where the pod is in cells; empty for "
          "evict.")
        .optional(),
    texts(17, "layout", "profile@start", "Of repartition: all instances that the device has then, by start.")
        .optional(),
    texts(18, "gone", "profile@start", "Of repartition: instances that the device has no more.").optional(),
    i64(19, "drain_cost", "milli-GPU", "Of repartition: what the pods hold that have to leave instances of the device.")
        .optional()
        .otherwise("0"),
    texts(20, "checks", "names",
          "Of bind and pipeline: checks that must agree that the group may start. The host holds the place until "
          "they have.")
        .optional(),
};
inline constexpr std::array reason_columns{
    u64(1, "group", "id", "Pod group that waits.").refers_to(entity_kind::pod_group),
    text(2, "group_name", "name", "Its name."),
    u64(3, "pod", "id", "First pod without a place, or 0.").refers_to(entity_kind::pod),
    text(4, "constraint", "constraint", "What stands in the way."),
    text(5, "scope", "scope", "node, queue, group, cluster or domain."),
    u64(6, "subject", "id", "Queue that refuses, or pod group that would start later; 0 if neither."),
    text(7, "dimension", "resource", "Dimension that is short, or empty.").refers_to(entity_kind::resource),
    i64(8, "need", "fixed units", "What is needed."),
    i64(9, "have", "fixed units", "Most that there is in one place."),
    u32(10, "nodes", "nodes", "Nodes or domains that refuse so."),
    text(11, "nearest_node", "node", "Node that misses the least, or empty.").refers_to(entity_kind::node),
    text(12, "text", "text", "The reason as a sentence."),
};
inline constexpr std::array queue_share_columns{
    u64(1, "queue", "id", "Queue.").refers_to(entity_kind::queue),
    text(2, "queue_name", "name", "Its name."),
    text(3, "parent_name", "name", "Parent, or empty."),
    i64(4, "quota", "fixed units", "Quota; -1 unlimited.").per_quota(),
    i64(5, "limit", "fixed units", "Limit; -1 unlimited.").per_quota(),
    i64(6, "fair_share", "fixed units", "Fair share of this session.").per_quota(),
    i64(7, "request", "fixed units", "Held and asked for at the start of the session.").per_quota(),
    i64(8, "allocated", "fixed units", "Held at the end of the session.").per_quota(),
    i64(9, "pending_pods", "pods", "Pods of the queue and its children that still wait."),
    i64(10, "evictions", "",
        "How often groups of the queue and its children were evicted, in this session and before."),
    i64(11, "evicted_pods", "pods", "Pods of the queue and its children that this session evicts or moves."),
};
inline constexpr std::array placement_columns{
    u64(1, "pod", "id", "Pod.").refers_to(entity_kind::pod),
    text(2, "pod_name", "name", "Its name."),
    u8(3, "status", "pod status", "Status at the end."),
    u64(4, "node", "id", "Node, or 0.").refers_to(entity_kind::node),
    text(5, "node_name", "name", "Name of node, or empty."),
    integers(6, "devices", "device indices", "Devices held.").required(),
    integers(7, "numa_zones", "0..63",
             "NUMA zones of the node that the pod is expected to use, by position; for the part numa.")
        .required(),
};
inline constexpr std::array statistic_columns{
    text(1, "action", "action", "Action."),
    u64(2, "steps", "steps", "Units of work."),
    u64(3, "groups_tried", "", "Attempts to place a chunk of a group."),
    u64(4, "groups_placed", "", "Attempts that succeeded."),
    u64(5, "candidates", "", "Nodes tested for a fit."),
    u64(6, "filtered", "", "Nodes refused."),
    u64(7, "rollbacks", "", "Operations undone."),
    u64(8, "simulations", "", "Sets of victims that were tried."),
};
inline constexpr std::array attempt_columns{
    text(1, "action", "action", "Action."),
    u64(2, "group", "id", "Pod group that waited.").refers_to(entity_kind::pod_group),
    text(3, "group_name", "name", "Its name."),
    text(4, "outcome", "outcome", "How it ended, such as placed, delayed, no_victims or cut."),
    u64(5, "sets", "", "Sets of victims that were tried."),
    u64(6, "refused", "", "Of these, made room but were refused by the rules of the action."),
    flag(7, "spared", "1: a group was left alone because of its minimum runtime."),
    text(8, "budget", "disruption budget", "A disruption budget that did not let pods go; empty: none was in the way."),
    u64(9, "steps", "steps",
        "Steps that the search took, see the options search_steps, action_steps and session_steps."),
    flag(10, "cut", "1: no steps were left before the search had come to its end, or before it began."),
};
inline constexpr std::array sharing_group_columns{
    text(1, "name", "node/device",
         "Name of the group: node and device. In compat node/group-N where the device is not known, and "
         "node/device/N if an older group of the device is still closing."),
    u64(2, "node", "id", "Node.").refers_to(entity_kind::node),
    text(3, "node_name", "name", "Its name."),
    i64(4, "device", "index", "Index of the device on the node; -1: not known, which happens in compat."),
    text(5, "sharing", "mode", "How the device is shared; empty: nothing is said."),
    text(6, "state", "state",
         "open: pods hold parts and stay; promised: some only wait for parts; closing: all are leaving."),
    i64(7, "memory", "bytes",
        "Memory of the device; 0: not known, and the three amounts below are thousandths of the device."),
    i64(8, "used", "bytes", "Held by pods, those that are leaving included."),
    i64(9, "allocated", "bytes", "Held by pods that stay; in compat as KAI counts, those that are leaving included."),
    i64(10, "releasing", "bytes",
        "Coming free, less what is promised to pods that wait; negative where they wait for free parts."),
    texts(11, "pods", "names", "Pods that hold or wait for parts, by name."),
    i64(12, "opened_by", "row",
        "Decision that made the device a shared one, as row of the table of decisions; -1: none of the "
        "session."),
    i64(13, "closed_by", "row", "Decision after which no pod stays and none waits; -1: none of the session."),
};
inline constexpr std::array quarantine_columns{
    text(1, "kind", "kind of table", "Kind of the object, such as pod_group."),
    text(2, "owner", "name", "Pod group of a sub-group, node of a device or NUMA zone; empty for other kinds."),
    text(3, "name", "name",
         "Name of the object; of a device its index. What cannot be shown of it is replaced by U+FFFD."),
    text(4, "column", "column", "Column at fault; empty if it is the object as a whole."),
    text(5, "status", "status", "What the call would have failed with, such as not_found."),
    text(6, "text", "text", "The reason as a sentence."),
    text(7, "because_of", "kind and name",
         "The object in quarantine that this one depends on, such as 'queue research'; empty if the fault is "
         "its own."),
    flag(8, "present",
         "1: there is an object of this name: one that a bad change or removal left as it was, or a pod that "
         "only uses its node instead of the one that was left out."),
};
inline constexpr std::array assumption_columns{
    u64(1, "pod", "id", "Pod that was decided on.").refers_to(entity_kind::pod),
    text(2, "pod_name", "name", "Its name."),
    u64(3, "group", "id", "Its pod group.").refers_to(entity_kind::pod_group),
    text(4, "group_name", "name", "Name of group."),
    u8(5, "kind", "decision kind", "1 bind, 3 evict, 4 move or 6 migrate, as in the table of decisions."),
    u64(6, "node", "id", "Target node; for evict and move the node that the pod leaves.").refers_to(entity_kind::node),
    text(7, "node_name", "name", "Name of node."),
    flag(8, "lost", "1: nobody knows whether it happened; the place stays taken."),
};
inline constexpr std::array conflict_columns{
    u32(1, "commit", "number", "Commit of the session that was refused."),
    text(2, "kind", "kind of table",
         "Kind of the object that stands in the way: queue, node, pod_group, pod or resource_claim."),
    u64(3, "subject", "id", "That object as the session knew it; 0 for a resource claim."),
    text(4, "name", "name", "Its name."),
    text(5, "text", "text", "What has changed, as a sentence."),
};
inline constexpr std::array candidate_columns{
    u64(1, "node", "id", "Node.").refers_to(entity_kind::node),
    text(2, "node_name", "name", "Its name."),
    flag(3, "fits", "1: the pod can be placed here."),
    flag(4, "starts_now", "1: everything is free; else the pod would hold a claim on what is being released."),
    flag(5, "chosen", "1: the session has put the pod here."),
    f64(6, "score", "", "Sum of all parts."),
    texts(7, "scores", "part=score", "What each part that scores gave, in the order of the policy."),
    integers(8, "devices", "device indices", "What the pod would take.").required(),
    i64(9, "device_share", "milli-GPU", "Share of each device."),
    text(10, "constraint", "constraint", "Why the pod cannot be placed here; none if it can."),
    text(11, "text", "text", "The same as a sentence; empty if it can."),
};
inline constexpr std::array remedy_columns{
    u64(1, "group", "id", "Pod group that waits.").refers_to(entity_kind::pod_group),
    text(2, "group_name", "name", "Its name."),
    u32(3, "remedy", "number", "Number within the group, from 1; 0: nothing was found, and the row has no change."),
    text(4, "change", "change", "What changes, such as queue_limit; empty: nothing, an action has to try."),
    u64(5, "subject", "id",
        "Group, queue, pod or node that changes; the node that new ones are like; 0 without a change."),
    text(6, "subject_name", "name", "Its name."),
    text(7, "dimension", "dimension",
         "Dimension of the amounts; empty if they count pods, sub-groups or nodes, or bytes of GPU memory."),
    i64(8, "before", "unit of the dimension", "Amount now; -1 is unlimited."),
    i64(9, "after", "unit of the dimension", "Amount that is needed; -1 is unlimited."),
    text(10, "text_before", "text", "Level, taint, label or affinity now; of sizes the sub-group, empty: the group."),
    text(11, "text_after", "text", "Level that is needed, empty: none; label that the node gets."),
    u32(12, "starts", "pods", "Pods of the group that start with the remedy."),
    text(13, "action", "action", "Action that evicts; none if no pod has to leave."),
    flag(14, "complete", "0: more was not searched for the group, a limit was reached."),
    u32(15, "trials", "sessions", "Sessions that were opened to try something for the group."),
    text(16, "text", "text", "The remedy as half a sentence; empty if nothing was found."),
    text(17, "sub_group", "name", "Sub-group that a size or level is of; empty: the group itself."),
};
inline constexpr std::array certificate_columns{
    u64(1, "group", "id", "Pod group.").refers_to(entity_kind::pod_group),
    text(2, "group_name", "name", "Its name."),
    text(3, "kind", "kind of proof", "What the proof is made of, such as queue_bound; none: there is no proof."),
    text(4, "assumption", "assumption",
         "Under which it holds: as_is, without_preemptible or empty; none without a proof."),
    text(5, "constraint", "constraint", "Of structures and queue bounds: what is violated; else none."),
    text(6, "queue", "name", "Queue of a queue bound."),
    text(7, "sub_group", "name", "Sub-group that lacks pods, or that has to be in one domain; empty: the group."),
    text(8, "dimension", "dimension", "Dimension of need and have; empty if they count pods."),
    i64(9, "need", "unit of the dimension",
        "What a start takes at least; of a domain bound, in the domain of the row."),
    i64(10, "have", "unit of the dimension", "What there is at most; of a domain bound, in the domain of the row."),
    text(11, "topology", "name", "Topology of a domain bound."),
    text(12, "level", "node label key", "Level of a domain bound."),
    text(13, "domain", "domain",
         "Domain of the row: label values from the widest level down, joined by dots; empty: the whole cluster, "
         "or nodes that are in no domain of the level."),
    text(14, "bound", "constraint",
         "Why each of the nodes of the row has no more; none: by what it takes of each kind of pod alone; "
         "empty: the row bounds no nodes."),
    text(15, "bound_dimension", "dimension", "Dimension of a bound by resource; else empty."),
    i64(16, "bound_most", "pods",
        "Pods that each of the nodes can have at most; of a sum_bound the amount that is free."),
    texts(17, "nodes", "names", "Nodes of the row."),
    text(18, "text", "text", "The whole proof in a few sentences, in each row."),
    text(19, "bound_kind", "kind of proof",
         "counting_bound, sum_bound or matching_cut: what need and have of the row are; empty without bounds "
         "over nodes."),
    texts(20, "pods", "names", "Pods in question: those that wait and ask for the same as one of these."),
};
inline constexpr std::array share_step_columns{
    u64(1, "queue", "id", "Queue that is given to; 0 for the steps total and left.").refers_to(entity_kind::queue),
    text(2, "queue_name", "name", "Its name."),
    text(3, "parent", "name", "Queue whose share is divided; empty: what the cluster has."),
    text(4, "step", "step", "total, quota, over_quota, unit, part or left."),
    text(5, "dimension", "dimension", "What is divided; amounts are in its unit."),
    u32(6, "round", "number", "Round, from 1, of a priority or of quotas that share what is too little; else 0."),
    i64(7, "priority", "", "Priority of the queue."),
    f64(8, "weight", "", "Over-quota weight of the queue."),
    f64(9, "usage", "part of capacity", "History of the queue."),
    f64(10, "proportion", "",
        "Part of what a round divides to which weight and history, or the quota, pull; of unit the remainder "
        "that is rounded up, in units."),
    i64(11, "wanted", "unit of the dimension",
        "What the queue asked for at that moment, beyond before and within its limit."),
    i64(12, "before", "unit of the dimension", "Fair share before the step."),
    i64(13, "given", "unit of the dimension", "What the step gives; before and given are after."),
    i64(14, "after", "unit of the dimension", "Fair share after the step."),
    text(15, "by", "part", "Of the step part: its name."),
    text(16, "text", "text", "The step as half a sentence."),
};
inline constexpr std::array choice_columns{
    u64(1, "pod", "id", "Pod that was placed.").refers_to(entity_kind::pod),
    text(2, "pod_name", "name", "Its name."),
    text(3, "what", "row",
         "chosen: the choice, the first row; difference: what a part gave to the node and to the runner-up; "
         "without_part, more_score, closed_node: what would have turned the choice."),
    u64(4, "node", "id",
        "Node that was chosen; of what would have turned the choice the node of the pod then, 0: it would have "
        "waited.")
        .refers_to(entity_kind::node),
    text(5, "node_name", "name", "Its name."),
    text(6, "runner_up", "name",
         "The best other node that could take the pod, or empty; of rows chosen and difference."),
    text(7, "rule", "rule", "Of the row chosen: only_node, score, name or not_by_score; else empty."),
    text(8, "plan", "plan",
         "Of the row chosen: the larger plan that the node belongs to, such as topology, or none; else empty."),
    u32(9, "fitting", "nodes", "Of the row chosen: nodes that could take the pod."),
    u32(10, "rank", "number", "Of the row chosen: place of the node among them, from 1; 0: not one of them."),
    f64(11, "margin", "", "Of the row chosen: its score less that of the runner-up."),
    text(12, "part", "part", "Of the rows difference and without_part: the part of the policy."),
    f64(13, "score", "",
        "Of the row difference: what the part gave to the node; of more_score: the least that is enough."),
    f64(14, "other_score", "", "Of the row difference: what it gave to the runner-up."),
    text(15, "text", "text", "The row as a sentence; empty for the rows difference, which the first sentence names."),
};
inline constexpr std::array victim_columns{
    u64(1, "pod", "id", "Pod that had to leave or move.").refers_to(entity_kind::pod),
    text(2, "pod_name", "name", "Its name."),
    text(3, "what", "row",
         "rule: what spoke for taking the pod; placed: a group that got places, the first one asked; victim: a "
         "group that lost pods; spared: a group that was left alone; protected: what if the group of the pod "
         "had been protected; protected_victim: who would have lost pods then."),
    text(4, "code", "code",
         "Of a rule its name, such as queue_over_share; of spared why, such as priority; of protected how the "
         "search ended, untried if it was not asked, empty if nothing was searched."),
    u64(5, "group", "id", "Group of the row; of a rule that of the pod, of protected the one that asked; 0: none.")
        .refers_to(entity_kind::pod_group),
    text(6, "group_name", "name", "Its name."),
    u32(7, "pods", "pods", "Pods that got places or were lost; of protected, that would still have got places."),
    text(8, "action", "action", "Action that decided."),
    u32(9, "commit", "number", "Its commit."),
    text(10, "text", "text", "The row as half a sentence; empty for groups that got places or lost pods."),
    text(11, "kind", "decision kind", "What happened to the pod: evict, move or migrate."),
};
inline constexpr std::array forecast_columns{
    text(1, "group_name", "name", "Pod group."),
    text(2, "way", "way", "How it would start: now, displaces, later, unknown; none: nothing of it waits."),
    u32(3, "starts", "pods", "Its pods that would start, or claim places."),
    text(4, "action", "action", "Action that would place them, or none."),
    i64(5, "earliest", "ns", "When it would have a place if nobody else were served before it; -1: nobody knows."),
    i64(6, "expected", "ns", "When it would start in the order of the queues; -1: nobody knows."),
    text(7, "knowledge", "knowledge",
         "What is known about expected: known, no_estimate, never, horizon; none: not asked."),
    u32(8, "ends_before", "groups", "Groups that end until then."),
    u32(9, "starts_before", "groups", "Groups that wait now and start until then."),
    texts(10, "reasons", "texts", "Why it does not start on what is free, as sentences."),
    texts(11, "placed_pods", "names", "Its pods that would get places."),
    texts(12, "placed_nodes", "names", "Their nodes, in the same order."),
    texts(13, "displaced_pods", "names", "Pods that would have to leave or move."),
    texts(14, "displaced_groups", "names", "Their groups, in the same order."),
    text(15, "text", "text", "The forecast in a sentence or two."),
    texts(16, "displaced_by", "decision kinds", "evict, move or migrate: what would happen to each of displaced_pods."),
};
inline constexpr std::array gap_columns{
    u32(1, "gap", "number", "Comparison that the row belongs to, from 1."),
    text(2, "kind", "kind of gap",
         "victims: pods that had to leave or move; domains: domains of the level that the pods prefer to share; "
         "fragmentation: further pods that fit."),
    u32(3, "commit", "number", "Commit that is compared; of fragmentation 0, all of them."),
    text(4, "action", "action", "Action that decided it; of fragmentation none."),
    u64(5, "group", "id", "Group that started; of fragmentation one that waits; 0: none.")
        .refers_to(entity_kind::pod_group),
    text(6, "group_name", "name", "Its name."),
    u64(7, "pod", "id", "One of the pods in question, which ask for the same.").refers_to(entity_kind::pod),
    text(8, "pod_name", "name", "Its name."),
    i64(9, "pods", "pods", "How many of them started, or wait."),
    i64(10, "achieved", "pods or domains",
        "What was achieved: pods that had to leave or move, domains, further pods that fit."),
    i64(11, "bound", "pods or domains",
        "What no scheduler can better: at least as many victims or domains, at most as many further pods."),
    i64(12, "distance", "pods or domains", "How much better something could be at most; 0: nothing could be better."),
    text(13, "level", "node label key", "Level of the domains; of victims the one that the group requires, or empty."),
    text(14, "dimension", "dimension", "Of fragmentation: the dimension that bounds, or empty: the sizes of nodes."),
    text(15, "domain", "domain",
         "Of victims: values of labels from the widest level down, joined by /; empty: all nodes."),
    flag(16, "too_small", "Of victims: even without any of its pods the domain has no room."),
    i64(17, "price", "",
        "Of victims: p of the proof. What a node can give costs at least p / q of a victim for each pod."),
    i64(18, "per_victim", "", "Of victims: q of the proof."),
    i64(19, "domain_bound", "pods",
        "Of victims: fewest in this domain, unless it is too small; bound is the least of them."),
    integers(20, "largest", "pods",
             "Of domains: the most pods that each of the largest takes, one fewer than the bound.")
        .required(),
};
inline constexpr std::array scaling_columns{
    i64(1, "cost", "price of an hour", "Of all nodes that are added."),
    i64(2, "lower_bound", "price of an hour", "No set of offered nodes that lets as much start costs less."),
    flag(3, "cheapest", "Proven: no cheaper set does."),
    flag(4, "minimal", "Proven: without one of the nodes, whichever, less starts."),
    u32(5, "other_pods", "pods", "Of groups that were not asked about, that get a place as well."),
    u32(6, "verifications", "sessions", "That were opened to find what to add."),
    i64(7, "saved", "price of an hour", "Of all nodes that are given back, as far as prices are known."),
    flag(8, "complete", "All nodes were looked at; 0: there were no more sessions to try with."),
    u32(9, "down_verifications", "sessions", "That were opened to find what to give back."),
};
inline constexpr std::array node_addition_columns{
    text(1, "name", "name", "Name that the node has in the answer: TYPE+1, TYPE+2, ..."),
    text(2, "type", "name", "Its type."),
    i64(3, "price", "price of an hour", "What it costs."),
};
inline constexpr std::array scaled_group_columns{
    text(1, "group_name", "name", "Pod group."),
    text(2, "queue", "name", "Its queue, or empty."),
    u32(3, "waited", "pods", "Its pods that waited."),
    u32(4, "placed", "pods", "Of these, that get a place."),
    flag(5, "helped", "Some set of offered nodes lets more of it start than nothing."),
    texts(6, "placed_pods", "names", "Its pods that get places."),
    texts(7, "placed_nodes", "names", "Their nodes, in the same order."),
    texts(8, "placed_by", "decision kinds", "bind or pipeline, in the same order."),
    texts(9, "constraints", "constraints", "Why the rest waits, whatever is bought."),
    texts(10, "reasons", "texts", "These as sentences, in the same order."),
};
inline constexpr std::array returned_node_columns{
    text(1, "name", "name", "Node."),
    text(2, "type", "name", "Its type; empty: none of the offers."),
    i64(3, "price", "price of an hour", "What it costs; -1: not known."),
    flag(4, "returned", "It can be given back."),
    flag(5, "empty", "Nothing runs there."),
    texts(6, "moved_pods", "names", "Pods that have to move first, in this order."),
    texts(7, "moved_groups", "names", "Their groups, in the same order."),
    texts(8, "moved_from", "names", "Where they are, in the same order."),
    texts(9, "moved_to", "names", "Where they go; the same node: they start again there with their gang."),
    text(10, "keeps", "text", "Why it stays, or empty."),
};
inline constexpr std::array federated_place_columns{
    text(1, "group_name", "name", "Pod group."),
    text(2, "queue", "name", "Its queue."),
    text(3, "member", "name", "Member."),
    text(4, "stage", "stage", "starts, claims, offered or runs."),
    text(5, "by", "criterion", "Why this member and not the runner-up, such as price; only: there was no other."),
    text(6, "runner_up", "name", "The next best member, or empty."),
    u32(7, "round", "number", "Round in which it was sent there, from 1."),
    u32(8, "pods", "pods", "That have places; of offers 0."),
    flag(9, "returned", "Another decision had given it a member, and it came back to the line."),
};
inline constexpr std::array federated_wait_columns{
    text(1, "group_name", "name", "Pod group."),
    text(2, "queue", "name", "Its queue."),
    text(3, "limit", "name", "Queue whose limit over all members it would pass, or empty."),
    texts(4, "members", "names", "All members, by name."),
    texts(5, "verdicts", "verdicts", "How the group stands with each of them, such as full or never."),
    text(6, "text", "text", "What is wrong with its rows, or empty."),
    text(7, "expected_member", "name", "Where it would start first as far as ends are known, or empty."),
    i64(8, "expected", "ns", "When; -1: nobody knows."),
    flag(9, "returned", "A decision had given it a member, and it came back to the line."),
};
inline constexpr std::array federated_queue_columns{
    text(1, "name", "name", "Queue."),
    text(2, "parent", "name", "Its parent, or empty."),
    i64(3, "quota", "fixed units", "Deserved amount over all members; -1 is unlimited.").per_quota(),
    i64(4, "limit", "fixed units", "Most that it may hold over all members; -1 is unlimited.").per_quota(),
    i64(5, "allocated", "fixed units", "What it holds in all members, and what is offered.").per_quota(),
};
inline constexpr std::array member_session_columns{
    text(1, "member", "name", "Member."),
    u32(2, "round", "number", "From 1; of a member that failed 0."),
    text(3, "digest", "SHA-256", "Digest of the session; empty: the member failed."),
    text(4, "text", "text", "Why it failed, or empty."),
};

}  // namespace kaisched::model::columns
