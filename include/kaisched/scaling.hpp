#pragma once
/// @file
/// Which nodes to add for what waits, and which can be given back: every answer has been decided on a cluster that is
/// so changed before it is told.

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <kaisched/decisions.hpp>
#include <kaisched/engine.hpp>
#include <kaisched/ids.hpp>
#include <kaisched/result.hpp>
#include <kaisched/schema.hpp>
#include <kaisched/snapshot.hpp>
#include <kaisched/table.hpp>

namespace kaisched {

/// So many nodes of a type, one after the other, share a value of a label that no other nodes have: a new rack.
struct new_domain {
  std::string label;       ///< key, such as a level of a topology
  std::int64_t nodes = 1;  ///< of one value

  friend bool operator==(const new_domain&, const new_domain&) = default;
};

/// A type of nodes that can be had.
struct node_type {
  std::string name;                 ///< of a node of `node_offers::nodes`, which the new ones are like
  std::int64_t price = 0;           ///< of one node for an hour, in a unit of the host's choice
  std::int64_t most = 0;            ///< nodes that can be added
  std::vector<new_domain> domains;  ///< what a copied label cannot say

  friend bool operator==(const node_type&, const node_type&) = default;
};

/// What is offered.
struct node_offers {
  snapshot nodes;  ///< a node for each type, in the dimensions of the cluster that is asked about
  std::vector<node_type> types;
};

/// Offers for a cluster, made of tables. @param nodes of nodes, devices and NUMA zones (add), with a node for each
/// type; they get the resource dimensions of the cluster. Errors: `unsupported` for other tables, `argument` for a type
/// whose node is missing or has no room for pods, those of `cluster::apply`.
[[nodiscard]] result<node_offers> make_offers(const snapshot& over, std::span<const table_view> nodes,
                                              std::vector<node_type> types);

/// How a set of nodes is found. Values are those of `scale_strategy_name`.
enum class scale_strategy : std::uint8_t {
  search = 0,     ///< the cheapest set that was found with which all start that any offered nodes would let start
  first_fit = 1,  ///< for comparison: pod by pod, without gangs, quotas and topology
};
[[nodiscard]] std::string_view scale_strategy_name(scale_strategy s) noexcept;

struct scale_question {
  std::vector<std::string> queues;  ///< only groups of these queues and those below; none: of all
  std::vector<std::string> groups;  ///< only these; with `queues`: and these as well
  bool up = true;
  bool down = true;
  scale_strategy strategy = scale_strategy::search;
  std::uint32_t verifications = 400;  ///< sessions that are opened to try something, for each of the two questions
  /// A node is of the type that this label names, which tells what it costs.
  std::string type_label = "node.kubernetes.io/instance-type";
  /// Asked before everything that is tried. False: nobody waits for the answer any more, and the call fails with
  /// `cancelled`. Not set: it goes on to its end.
  std::function<bool()> goes_on;
};

/// Nodes of one type that are added.
struct node_addition {
  std::string type;
  std::int64_t price = 0;  ///< of one
  std::vector<std::string> nodes;

  friend bool operator==(const node_addition&, const node_addition&) = default;
};

/// A group that was asked about, in the cluster with the nodes.
struct scaled_group {
  group_row group = no_row;         ///< of `scale_up_answer::over`
  std::uint32_t waited = 0;         ///< its pods that waited
  std::uint32_t placed = 0;         ///< of these, that get a place
  bool helped = false;              ///< some set of offered nodes lets more of it start than nothing
  std::vector<decision> decisions;  ///< its places, the nodes are rows of `scale_up_answer::over`
  /// Why the rest waits in the cluster with as many nodes as could be of use, of which node rows are; of `first_fit` in
  /// the one with its nodes.
  std::vector<reason> reasons;
  std::vector<std::string> texts;  ///< these as sentences
};

/// What to add.
struct scale_up_answer {
  snapshot over;                     ///< the cluster with what starts at once, and the nodes
  std::vector<node_addition> added;  ///< by type, in the order of the offers; types without a node are left out
  std::int64_t cost = 0;             ///< of an hour
  /// No set of offered nodes that lets as much start costs less, whatever the scheduler: from sums of amounts alone.
  std::int64_t lower_bound = 0;
  bool cheapest = false;             ///< proven: no cheaper set does, each that the sums do not rule out was tried
  bool minimal = false;              ///< proven: without one node, whichever, less starts
  std::vector<scaled_group> groups;  ///< in the order in which they wait
  std::uint32_t others = 0;          ///< pods of groups that were not asked about that get a place as well
  std::uint32_t verifications = 0;
};

/// Where a pod goes when nodes are given back.
struct scale_move {
  std::string pod;
  std::string group;
  std::string from;
  std::string to;  ///< the same node: it starts again there, with its gang

  friend bool operator==(const scale_move&, const scale_move&) = default;
};

/// A node that is given back, or why it is not.
struct returned_node {
  std::string name;
  std::string type;         ///< empty: none of the offers
  std::int64_t price = -1;  ///< -1: not known
  bool returned = false;
  bool empty = false;             ///< nothing runs there
  std::vector<scale_move> moves;  ///< what has to move first, in this order
  std::string keeps;              ///< why it stays

  friend bool operator==(const returned_node&, const returned_node&) = default;
};

/// What to give back. The nodes are closed one after the other, each when what ran there has moved.
struct scale_down_answer {
  std::vector<returned_node> nodes;  ///< in the order in which they were looked at: empty ones first
  std::int64_t saved = 0;            ///< of an hour, as far as prices are known
  bool complete = true;              ///< false: not all were tried, there was no more to try with
  std::uint32_t verifications = 0;
};

struct scale_report {
  scale_up_answer up;
  scale_down_answer down;  ///< in the cluster with the nodes of `up`, which stay

  /// `scaling`, `node_addition`, `scaled_group` or `returned_node`. Error for any other kind.
  [[nodiscard]] result<table> to_table(table_kind kind) const;
};

/// Decides the cluster as it is, without making anybody leave, and then asks: with which offered nodes does what still
/// waits start, at the least cost? Which nodes can go, and all that runs still has a place?
///
/// Everything that the engine respects is respected, since the engine decides every trial: the actions of its options
/// except those that only evict. Groups that were not asked about compete as they would. The answer follows from the
/// arguments alone. Errors: a name that nothing has (`not_found`); an offer that is wrong, with type and field; those
/// of `cluster::preview` and of sessions.
[[nodiscard]] result<scale_report> scale(const engine& with, const snapshot& base, std::int64_t now,
                                         const node_offers& offers, const scale_question& question = {});

}  // namespace kaisched
