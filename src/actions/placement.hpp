#pragma once
/// @file
/// Placing the next chunk of one pod group, completely or not at all. All actions use it.

#include <cstdint>
#include <map>
#include <vector>

#include <kaisched/result.hpp>

#include "framework/session_state.hpp"

namespace kaisched::actions {

/// Nodes that a member of a group is tried on.
struct nodes_offered {
  framework::node_set among;                ///< empty: all
  std::vector<node_row> rows;               ///< the same as a list, once a topology has made one
  std::vector<framework::node_band> bands;  ///< the same in the order of a preferred level; empty: in no order
};

/// For one group that is placed again and again, with members that ask for domains: what they try first, and what all
/// attempts together may still try. What was found once is found again, whatever was tried since.
struct domain_plan {
  std::map<sub_group_row, nodes_offered> first;
  std::int64_t steps_left = 0;
};

/// How pods are placed.
struct placing {
  bool only_claims = false;                    ///< a simulation: nobody starts, victims may come back
  const framework::node_set* among = nullptr;  ///< only these nodes; null: all
  domain_plan* plan = nullptr;                 ///< in `strict`; null: each attempt has `topology_steps` of its own
};

/// A member asks for domains of a topology that has levels with shapes, in `strict`.
[[nodiscard]] bool asks_for_shapes(const framework::session_state& c, group_row group);

/// How many domains are tried, `topology_steps`.
[[nodiscard]] std::int64_t domain_steps(const policy_options& options);

/// True if every pod of the chunk has a place; else the statement is as before and `why` tells the obstacle.
[[nodiscard]] result<bool> place_group(framework::session_state& c, group_row group, const placing& how,
                                       framework::failure& why);

/// Limits of its queues, or the nodes, have too little for the next chunk as things are, so `place_group` would fail.
/// An answer from counting alone: false says nothing.
[[nodiscard]] bool has_too_few_places(framework::session_state& c, group_row group);

/// Groups that may start pods: ready, in a queue that is served, with pending pods.
[[nodiscard]] std::vector<group_row> groups_to_start(const framework::session_state& c);

/// Asks the parts whether the pods that the statement has placed may start. If not they have no places any more, and
/// that is why the group waits.
[[nodiscard]] result<bool> permit_start(framework::session_state& c, group_row group);

/// Commits the chunk that the statement has placed. `had_started`: the group held something before.
[[nodiscard]] result<void> commit_group(framework::session_state& c, group_row group, bool waits, bool had_started);

/// Starts what the statement has placed, unless a part says no: then nothing of it is placed. `waits`: it is kept for
/// the group, and no part is asked.
[[nodiscard]] result<bool> start_placed(framework::session_state& c, group_row group, bool waits, bool had_started);
/// The same; what is placed is kept where some pod set would start with too few pods.
[[nodiscard]] result<bool> start_or_keep(framework::session_state& c, group_row group, bool had_started);
/// Places the next chunk, and starts or keeps it. False: a part said no, or there is no place, which is noted.
[[nodiscard]] result<bool> place_and_start(framework::session_state& c, group_row group, bool had_started);

/// Ports, affinity between pods and reservations let the pod onto a node that nothing else keeps it from.
[[nodiscard]] bool others_allow(const framework::session_state& c, pod_row pod, node_row node);
/// Places a pod on a node that was chosen by amounts alone: other pods, reservations and devices are looked at here.
/// `starts`: what it needs must be free now. False: it has no place there, and nothing was done.
[[nodiscard]] bool put_on(framework::session_state& c, pod_row pod, node_row node, bool starts);

}  // namespace kaisched::actions
