/* Prints size and members of every public structure; capi/abi/layout.txt holds what it must print. */
#include <stdio.h>

#include <kaisched/kaisched.h>

#define STRUCTURE(type) printf("%s %zu\n", #type, sizeof(type))
#define MEMBER(type, member) printf("  %s %zu %zu\n", #member, offsetof(type, member), sizeof(((const type*)0)->member))

int main(void) {
  printf("# structure size, then member offset size; 64-bit platforms\n");
  STRUCTURE(kaisched_status);
  STRUCTURE(kaisched_id);

  STRUCTURE(kaisched_error);
  MEMBER(kaisched_error, struct_size);
  MEMBER(kaisched_error, code);
  MEMBER(kaisched_error, where);
  MEMBER(kaisched_error, pad);
  MEMBER(kaisched_error, subject);
  MEMBER(kaisched_error, message);

  STRUCTURE(kaisched_col);
  MEMBER(kaisched_col, id);
  MEMBER(kaisched_col, type);
  MEMBER(kaisched_col, width);
  MEMBER(kaisched_col, flags);
  MEMBER(kaisched_col, data);
  MEMBER(kaisched_col, offsets);

  STRUCTURE(kaisched_table);
  MEMBER(kaisched_table, struct_size);
  MEMBER(kaisched_table, kind);
  MEMBER(kaisched_table, op);
  MEMBER(kaisched_table, column_count);
  MEMBER(kaisched_table, rows);
  MEMBER(kaisched_table, columns);

  STRUCTURE(kaisched_kv);
  MEMBER(kaisched_kv, key);
  MEMBER(kaisched_kv, value);

  STRUCTURE(kaisched_checkpoint);
  MEMBER(kaisched_checkpoint, depth);
  MEMBER(kaisched_checkpoint, statement);

  STRUCTURE(kaisched_remedy_limits);
  MEMBER(kaisched_remedy_limits, struct_size);
  MEMBER(kaisched_remedy_limits, trials);
  MEMBER(kaisched_remedy_limits, together);
  MEMBER(kaisched_remedy_limits, node_kinds);
  MEMBER(kaisched_remedy_limits, new_nodes);
  MEMBER(kaisched_remedy_limits, eviction_steps);
  MEMBER(kaisched_remedy_limits, no_evictions);
  MEMBER(kaisched_remedy_limits, no_new_nodes);

  STRUCTURE(kaisched_what_if_limits);
  MEMBER(kaisched_what_if_limits, struct_size);
  MEMBER(kaisched_what_if_limits, eviction_steps);
  MEMBER(kaisched_what_if_limits, ends);
  MEMBER(kaisched_what_if_limits, no_displacement);
  MEMBER(kaisched_what_if_limits, no_times);
  MEMBER(kaisched_what_if_limits, policy_actions);

  STRUCTURE(kaisched_new_domain);
  MEMBER(kaisched_new_domain, label);
  MEMBER(kaisched_new_domain, nodes);

  STRUCTURE(kaisched_node_type);
  MEMBER(kaisched_node_type, struct_size);
  MEMBER(kaisched_node_type, domain_count);
  MEMBER(kaisched_node_type, name);
  MEMBER(kaisched_node_type, price);
  MEMBER(kaisched_node_type, most);
  MEMBER(kaisched_node_type, domains);

  STRUCTURE(kaisched_scale_question);
  MEMBER(kaisched_scale_question, struct_size);
  MEMBER(kaisched_scale_question, strategy);
  MEMBER(kaisched_scale_question, queues);
  MEMBER(kaisched_scale_question, queue_count);
  MEMBER(kaisched_scale_question, groups);
  MEMBER(kaisched_scale_question, group_count);
  MEMBER(kaisched_scale_question, type_label);
  MEMBER(kaisched_scale_question, verifications);
  MEMBER(kaisched_scale_question, no_up);
  MEMBER(kaisched_scale_question, no_down);
  MEMBER(kaisched_scale_question, pad);

  STRUCTURE(kaisched_federation_options);
  MEMBER(kaisched_federation_options, struct_size);
  MEMBER(kaisched_federation_options, fit);
  MEMBER(kaisched_federation_options, order);
  MEMBER(kaisched_federation_options, order_count);
  MEMBER(kaisched_federation_options, window);
  MEMBER(kaisched_federation_options, rounds);
  MEMBER(kaisched_federation_options, room_asked);
  MEMBER(kaisched_federation_options, nobody_asked);

  STRUCTURE(kaisched_member);
  MEMBER(kaisched_member, struct_size);
  MEMBER(kaisched_member, closed);
  MEMBER(kaisched_member, name);
  MEMBER(kaisched_member, labels);
  MEMBER(kaisched_member, label_count);
  MEMBER(kaisched_member, price);
  MEMBER(kaisched_member, data);
  MEMBER(kaisched_member, data_count);

  STRUCTURE(kaisched_preference);
  MEMBER(kaisched_preference, key);
  MEMBER(kaisched_preference, value);
  MEMBER(kaisched_preference, weight);

  STRUCTURE(kaisched_group_wishes);
  MEMBER(kaisched_group_wishes, struct_size);
  MEMBER(kaisched_group_wishes, has_most_price);
  MEMBER(kaisched_group_wishes, most_price);
  MEMBER(kaisched_group_wishes, members);
  MEMBER(kaisched_group_wishes, member_count);
  MEMBER(kaisched_group_wishes, required);
  MEMBER(kaisched_group_wishes, required_count);
  MEMBER(kaisched_group_wishes, preferred);
  MEMBER(kaisched_group_wishes, preferred_count);
  MEMBER(kaisched_group_wishes, data);
  MEMBER(kaisched_group_wishes, data_count);

  STRUCTURE(kaisched_executor);
  MEMBER(kaisched_executor, struct_size);
  MEMBER(kaisched_executor, width);
  MEMBER(kaisched_executor, state);
  MEMBER(kaisched_executor, run);
  MEMBER(kaisched_executor, destroy);

  STRUCTURE(kaisched_kind);
  MEMBER(kaisched_kind, struct_size);
  MEMBER(kaisched_kind, kind);
  MEMBER(kaisched_kind, input);
  MEMBER(kaisched_kind, column_count);
  MEMBER(kaisched_kind, name);
  MEMBER(kaisched_kind, doc);

  STRUCTURE(kaisched_column);
  MEMBER(kaisched_column, struct_size);
  MEMBER(kaisched_column, id);
  MEMBER(kaisched_column, type);
  MEMBER(kaisched_column, shape);
  MEMBER(kaisched_column, required);
  MEMBER(kaisched_column, refers_to);
  MEMBER(kaisched_column, name);
  MEMBER(kaisched_column, unit);
  MEMBER(kaisched_column, fallback);
  MEMBER(kaisched_column, doc);

  STRUCTURE(kaisched_option);
  MEMBER(kaisched_option, struct_size);
  MEMBER(kaisched_option, type);
  MEMBER(kaisched_option, name);
  MEMBER(kaisched_option, fallback);
  MEMBER(kaisched_option, least);
  MEMBER(kaisched_option, most);
  MEMBER(kaisched_option, choices);
  MEMBER(kaisched_option, doc);
  MEMBER(kaisched_option, applies_to);
  MEMBER(kaisched_option, pad);

  STRUCTURE(kaisched_text);
  MEMBER(kaisched_text, data);
  MEMBER(kaisched_text, size);

  STRUCTURE(kaisched_node_facts);
  MEMBER(kaisched_node_facts, struct_size);
  MEMBER(kaisched_node_facts, ready);
  MEMBER(kaisched_node_facts, unschedulable);
  MEMBER(kaisched_node_facts, pad);
  MEMBER(kaisched_node_facts, id);
  MEMBER(kaisched_node_facts, name);

  STRUCTURE(kaisched_pod_facts);
  MEMBER(kaisched_pod_facts, struct_size);
  MEMBER(kaisched_pod_facts, status);
  MEMBER(kaisched_pod_facts, node);
  MEMBER(kaisched_pod_facts, group);
  MEMBER(kaisched_pod_facts, pod_class);
  MEMBER(kaisched_pod_facts, request_count);
  MEMBER(kaisched_pod_facts, id);
  MEMBER(kaisched_pod_facts, name);
  MEMBER(kaisched_pod_facts, sub_group);
  MEMBER(kaisched_pod_facts, request);

  STRUCTURE(kaisched_group_facts);
  MEMBER(kaisched_group_facts, struct_size);
  MEMBER(kaisched_group_facts, queue);
  MEMBER(kaisched_group_facts, preemptible);
  MEMBER(kaisched_group_facts, semi_preemptible);
  MEMBER(kaisched_group_facts, priority);
  MEMBER(kaisched_group_facts, created);
  MEMBER(kaisched_group_facts, id);
  MEMBER(kaisched_group_facts, name);

  STRUCTURE(kaisched_queue_facts);
  MEMBER(kaisched_queue_facts, struct_size);
  MEMBER(kaisched_queue_facts, parent);
  MEMBER(kaisched_queue_facts, id);
  MEMBER(kaisched_queue_facts, name);
  MEMBER(kaisched_queue_facts, allocated);
  MEMBER(kaisched_queue_facts, fair_share);

  STRUCTURE(kaisched_view);
  MEMBER(kaisched_view, struct_size);
  MEMBER(kaisched_view, node_count);
  MEMBER(kaisched_view, dimension_count);
  MEMBER(kaisched_view, pad);
  MEMBER(kaisched_view, now);
  MEMBER(kaisched_view, node_capacity);
  MEMBER(kaisched_view, node_idle);
  MEMBER(kaisched_view, node_releasing);
  MEMBER(kaisched_view, node);
  MEMBER(kaisched_view, pod);
  MEMBER(kaisched_view, group);
  MEMBER(kaisched_view, queue);
  MEMBER(kaisched_view, node_label);
  MEMBER(kaisched_view, pod_label);
  MEMBER(kaisched_view, dimension);

  STRUCTURE(kaisched_order_key);
  MEMBER(kaisched_order_key, first);
  MEMBER(kaisched_order_key, second);

  STRUCTURE(kaisched_change);
  MEMBER(kaisched_change, pod);
  MEMBER(kaisched_change, node);
  MEMBER(kaisched_change, before);
  MEMBER(kaisched_change, now);

  STRUCTURE(kaisched_part);
  MEMBER(kaisched_part, struct_size);
  MEMBER(kaisched_part, abi);
  MEMBER(kaisched_part, name);
  MEMBER(kaisched_part, flags);
  MEMBER(kaisched_part, pad);
  MEMBER(kaisched_part, context);
  MEMBER(kaisched_part, create);
  MEMBER(kaisched_part, destroy);
  MEMBER(kaisched_part, session_open);
  MEMBER(kaisched_part, session_close);
  MEMBER(kaisched_part, order_groups);
  MEMBER(kaisched_part, filter_nodes);
  MEMBER(kaisched_part, score_nodes);
  MEMBER(kaisched_part, divide_shares);
  MEMBER(kaisched_part, judge_victims);
  MEMBER(kaisched_part, permit);
  MEMBER(kaisched_part, changed);
  MEMBER(kaisched_part, release);
  return 0;
}
