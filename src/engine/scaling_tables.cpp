// Answers to `scale` as tables.
#include <string>
#include <string_view>
#include <vector>

#include <kaisched/scaling.hpp>

#include "model/schema_writer.hpp"
#include "model/snapshot_access.hpp"
#include "model/state.hpp"
#include "session/row_names.hpp"

namespace kaisched {

namespace {

using model::schema_writer;
using session_detail::views_of;

table scaling_table(const scale_report& of) {
  schema_writer w(table_kind::scaling);
  w.put(col::scaling_cost, of.up.cost);
  w.put(col::scaling_lower_bound, of.up.lower_bound);
  w.put_flag(col::scaling_cheapest, of.up.cheapest);
  w.put_flag(col::scaling_minimal, of.up.minimal);
  w.put(col::scaling_other_pods, of.up.others);
  w.put(col::scaling_verifications, of.up.verifications);
  w.put(col::scaling_saved, of.down.saved);
  w.put_flag(col::scaling_complete, of.down.complete);
  w.put(col::scaling_down_verifications, of.down.verifications);
  return w.take();
}

table additions_table(const scale_up_answer& of) {
  schema_writer w(table_kind::node_addition);
  for (const node_addition& one : of.added) {
    for (const std::string& name : one.nodes) {
      w.put(col::node_addition_name, std::string_view(name));
      w.put(col::node_addition_type, std::string_view(one.type));
      w.put(col::node_addition_price, one.price);
    }
  }
  return w.take();
}

table groups_table(const scale_up_answer& of) {
  schema_writer w(table_kind::scaled_group);
  for (const scaled_group& one : of.groups) {
    std::vector<std::string_view> pods, nodes, ways, constraints;
    for (const decision& d : one.decisions) {
      pods.push_back(of.over.pod_name(d.pod));
      nodes.push_back(of.over.node_name(d.node));
      ways.push_back(decision_kind_name(d.kind));
    }
    for (const reason& why : one.reasons) constraints.push_back(constraint_name(why.what));
    const queue_row queue = model::state_of(of.over).groups[one.group].queue;
    w.put(col::scaled_group_group_name, of.over.group_name(one.group));
    w.put(col::scaled_group_queue, queue == no_row ? std::string_view{} : of.over.queue_name(queue));
    w.put(col::scaled_group_waited, one.waited);
    w.put(col::scaled_group_placed, one.placed);
    w.put_flag(col::scaled_group_helped, one.helped);
    w[col::scaled_group_placed_pods].push_list(pods);
    w[col::scaled_group_placed_nodes].push_list(nodes);
    w[col::scaled_group_placed_by].push_list(ways);
    w[col::scaled_group_constraints].push_list(constraints);
    w[col::scaled_group_reasons].push_list(views_of(one.texts));
  }
  return w.take();
}

table returned_table(const scale_down_answer& of) {
  schema_writer w(table_kind::returned_node);
  for (const returned_node& one : of.nodes) {
    std::vector<std::string_view> pods, groups, from, to;
    for (const scale_move& move : one.moves) {
      pods.push_back(move.pod);
      groups.push_back(move.group);
      from.push_back(move.from);
      to.push_back(move.to);
    }
    w.put(col::returned_node_name, std::string_view(one.name));
    w.put(col::returned_node_type, std::string_view(one.type));
    w.put(col::returned_node_price, one.price);
    w.put_flag(col::returned_node_returned, one.returned);
    w.put_flag(col::returned_node_empty, one.empty);
    w[col::returned_node_moved_pods].push_list(pods);
    w[col::returned_node_moved_groups].push_list(groups);
    w[col::returned_node_moved_from].push_list(from);
    w[col::returned_node_moved_to].push_list(to);
    w.put(col::returned_node_keeps, std::string_view(one.keeps));
  }
  return w.take();
}

}  // namespace

result<table> scale_report::to_table(table_kind kind) const {
  switch (kind) {
    case table_kind::scaling:
      return scaling_table(*this);
    case table_kind::node_addition:
      return additions_table(up);
    case table_kind::scaled_group:
      return groups_table(up);
    case table_kind::returned_node:
      return returned_table(down);
    default:
      return error{status::unsupported, "such a table is no answer to what nodes to add and to give back", {}};
  }
}

}  // namespace kaisched
