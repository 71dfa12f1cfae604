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

  STRUCTURE(kaisched_executor);
  MEMBER(kaisched_executor, struct_size);
  MEMBER(kaisched_executor, width);
  MEMBER(kaisched_executor, state);
  MEMBER(kaisched_executor, run);
  MEMBER(kaisched_executor, destroy);

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
  return 0;
}
