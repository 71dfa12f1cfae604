/* From nothing to a decision in C99: cc main.c $(pkg-config --cflags --libs kaisched) -o embed && ./embed [PRESET] */
#include <stdio.h>

#include <kaisched/kaisched.h>

#define TEXTS KAISCHED_TYPE_STRING, 0, 0           /* a column of texts: bytes, and where each text begins and ends */
#define NUMBERS(width) KAISCHED_TYPE_I64, width, 0 /* a column of numbers: an array, row by row */
#define NODE 64000, INT64_C(512) << 30, 8000, 110  /* milli-cores, bytes, milli-GPU, pods */
#define POD(gpus) 8000, INT64_C(64) << 30, (gpus) * KAISCHED_WHOLE_DEVICE
static const kaisched_col nodes[] = {{KAISCHED_NODE_COL_NAME, TEXTS, "node-1node-2", (const uint32_t[]){0, 6, 12}},
                                     {KAISCHED_NODE_COL_CAPACITY, NUMBERS(4), (const int64_t[]){NODE, NODE}, NULL}};
static const kaisched_col queues[] = {{KAISCHED_QUEUE_COL_NAME, TEXTS, "team", (const uint32_t[]){0, 4}}};
static const kaisched_col gangs[] = {{KAISCHED_POD_GROUP_COL_NAME, TEXTS, "traintune", (const uint32_t[]){0, 5, 9}},
                                     {KAISCHED_POD_GROUP_COL_QUEUE, TEXTS, "teamteam", (const uint32_t[]){0, 4, 8}},
                                     {KAISCHED_POD_GROUP_COL_MIN_MEMBER, NUMBERS(1), (const int64_t[]){2, 2}, NULL}};
static const kaisched_col pods[] = {
    {KAISCHED_POD_COL_NAME, TEXTS, "train-0train-1tune-0tune-1", (const uint32_t[]){0, 7, 14, 20, 26}},
    {KAISCHED_POD_COL_GROUP, TEXTS, "traintraintunetune", (const uint32_t[]){0, 5, 10, 14, 18}},
    {KAISCHED_POD_COL_REQUEST, NUMBERS(3), (const int64_t[]){POD(6), POD(6), POD(4), POD(4)}, NULL}};
#define ADD(kind, rows, columns) {sizeof(kaisched_table), kind, KAISCHED_OP_ADD, sizeof(columns) / 32, rows, columns}
static const kaisched_table add[] = {ADD(KAISCHED_TABLE_NODE, 2, nodes), ADD(KAISCHED_TABLE_QUEUE, 1, queues),
                                     ADD(KAISCHED_TABLE_POD_GROUP, 2, gangs), ADD(KAISCHED_TABLE_POD, 4, pods)};

#define TEXT(c, row) (int)((c)->offsets[row + 1] - (c)->offsets[row]), (const char*)(c)->data + (c)->offsets[row]

int main(int argc, char** argv) {
  const kaisched_kv options[] = {{"preset", argc > 1 ? argv[1] : "kai"}};
  const kaisched_table *decisions, *reasons, *const tables[] = {&add[0], &add[1], &add[2], &add[3]};
  kaisched_session* session = NULL;
  kaisched_error err = KAISCHED_ERROR_INIT;
  /* Engine, cluster, snapshot and run in one call; ../cluster_c/main.c keeps them apart. Time is an argument. */
  if (kaisched_solve(KAISCHED_ABI_VERSION, options, 1, tables, 4, 0, &session, &err) ||
      kaisched_session_table(session, KAISCHED_TABLE_DECISION, &decisions, &err) ||
      kaisched_session_table(session, KAISCHED_TABLE_REASON, &reasons, &err)) {
    fprintf(stderr, "%s: %s\n", kaisched_status_name(err.code), err.message);
    kaisched_session_close(session); /* takes NULL as well */
    return 1;
  }
  const uint8_t* kind = kaisched_table_column(decisions, KAISCHED_DECISION_COL_KIND)->data;
  const kaisched_col* pod = kaisched_table_column(decisions, KAISCHED_DECISION_COL_POD_NAME);
  const kaisched_col* node = kaisched_table_column(decisions, KAISCHED_DECISION_COL_NODE_NAME);
  const kaisched_col* gpus = kaisched_table_column(decisions, KAISCHED_DECISION_COL_DEVICES);
  const kaisched_col* group = kaisched_table_column(reasons, KAISCHED_REASON_COL_GROUP_NAME);
  const kaisched_col* text = kaisched_table_column(reasons, KAISCHED_REASON_COL_TEXT);
  for (uint64_t row = 0; row < decisions->rows; ++row) {
    if (kind[row] != KAISCHED_DECISION_BIND) continue; /* nothing runs that could be stopped */
    printf("bind %.*s on %.*s, GPUs", TEXT(pod, row), TEXT(node, row));
    for (uint32_t i = gpus->offsets[row]; i < gpus->offsets[row + 1]; ++i)
      printf(" %d", (int)((const int64_t*)gpus->data)[i]);
    printf("\n");
  }
  for (uint64_t row = 0; row < reasons->rows; ++row) printf("%.*s waits: %.*s\n", TEXT(group, row), TEXT(text, row));
  kaisched_session_close(session); /* everything borrowed from it goes with it */
  return 0;
}
