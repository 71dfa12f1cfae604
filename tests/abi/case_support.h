#ifndef KAISCHED_TESTS_CASE_SUPPORT_H
#define KAISCHED_TESTS_CASE_SUPPORT_H
/* What the cases of the C interface share: checks, and a cluster of one node. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <kaisched/kaisched.h>

static int failures = 0;

#define CHECK(condition)                                                 \
  do {                                                                   \
    if (!(condition)) {                                                  \
      printf("%s:%d: %s is not true\n", __FILE__, __LINE__, #condition); \
      ++failures;                                                        \
    }                                                                    \
  } while (0)

/* For what the rest of a case needs: gives up on it. */
#define REQUIRE(condition)           \
  do {                               \
    const int before_ = failures;    \
    CHECK(condition);                \
    if (failures != before_) return; \
  } while (0)

/* The status of a call, and what the error structure says about it. */
static inline void check_status(int line, kaisched_status got, kaisched_status wanted, const kaisched_error* err,
                                uint32_t where) {
  if (got != wanted) {
    printf("%s:%d: status %s, expected %s; message: %s\n", __FILE__, line, kaisched_status_name(got),
           kaisched_status_name(wanted), err != NULL ? err->message : "");
    ++failures;
  } else if (err != NULL && (err->code != wanted || err->where != where || err->pad != 0 ||
                             (err->message[0] == '\0') != (wanted == KAISCHED_OK))) {
    printf("%s:%d: error structure has code %d, function %u, message '%s'\n", __FILE__, line, (int)err->code,
           (unsigned)err->where, err->message);
    ++failures;
  }
}
/* Every call is made with an error structure and without. */
#define EXPECT(wanted, where, name, ...)                                    \
  do {                                                                      \
    kaisched_error err_ = KAISCHED_ERROR_INIT;                              \
    memset(err_.message, 'x', sizeof err_.message);                         \
    check_status(__LINE__, name(__VA_ARGS__, &err_), wanted, &err_, where); \
    check_status(__LINE__, name(__VA_ARGS__, NULL), wanted, NULL, where);   \
  } while (0)
#define OK(call) check_status(__LINE__, call, KAISCHED_OK, NULL, 0)

/* ---- a cluster of one node: a gang that fits, and one that does not ---------------------------------------------- */

static const uint32_t one_char[] = {0, 1, 2};
static const kaisched_col queue_cols[] = {
    {KAISCHED_QUEUE_COL_NAME, KAISCHED_TYPE_STRING, 0, 0, "q", one_char},
};
static const kaisched_table queues = {sizeof(kaisched_table), KAISCHED_TABLE_QUEUE, KAISCHED_OP_ADD, 1, 1, queue_cols};

static const int64_t node_capacity[] = {64000, INT64_C(1) << 40, 8000, 110};
static const kaisched_col node_cols[] = {
    {KAISCHED_NODE_COL_CAPACITY, KAISCHED_TYPE_I64, 4, 0, node_capacity, NULL},
    {KAISCHED_NODE_COL_NAME, KAISCHED_TYPE_STRING, 0, 0, "n", one_char},
};
static const kaisched_table nodes = {sizeof(kaisched_table), KAISCHED_TABLE_NODE, KAISCHED_OP_ADD, 2, 1, node_cols};

static const int64_t group_created[] = {1, 2};
static const kaisched_col group_cols[] = {
    {KAISCHED_POD_GROUP_COL_NAME, KAISCHED_TYPE_STRING, 0, 0, "ab", one_char},
    {KAISCHED_POD_GROUP_COL_QUEUE, KAISCHED_TYPE_STRING, 0, 0, "qq", one_char},
    {KAISCHED_POD_GROUP_COL_CREATED, KAISCHED_TYPE_I64, 1, 0, group_created, NULL},
};
static const kaisched_table groups = {
    sizeof(kaisched_table), KAISCHED_TABLE_POD_GROUP, KAISCHED_OP_ADD, 3, 2, group_cols};

static const int64_t pod_request[] = {1000, 0, 4000, 1000, 0, 8000};
static const kaisched_col pod_cols[] = {
    {KAISCHED_POD_COL_NAME, KAISCHED_TYPE_STRING, 0, 0, "xy", one_char},
    {KAISCHED_POD_COL_GROUP, KAISCHED_TYPE_STRING, 0, 0, "ab", one_char},
    {KAISCHED_POD_COL_REQUEST, KAISCHED_TYPE_I64, 3, 0, pod_request, NULL},
};
static const kaisched_table pods = {sizeof(kaisched_table), KAISCHED_TABLE_POD, KAISCHED_OP_ADD, 3, 2, pod_cols};

static const kaisched_table* const all_tables[] = {&queues, &nodes, &groups, &pods};

static inline kaisched_cluster* new_cluster(void) {
  kaisched_cluster* cluster = NULL;
  kaisched_error err = KAISCHED_ERROR_INIT;
  OK(kaisched_cluster_create(&cluster, NULL));
  if (kaisched_cluster_apply(cluster, all_tables, 4, &err) != KAISCHED_OK) {
    printf("the cluster of the tests is refused: %s\n", err.message);
    ++failures;
  }
  return cluster;
}

static inline kaisched_snapshot* new_snapshot(void) {
  kaisched_cluster* cluster = new_cluster();
  kaisched_snapshot* snapshot = NULL;
  OK(kaisched_cluster_snapshot(cluster, &snapshot, NULL));
  kaisched_cluster_destroy(cluster); /* the snapshot lives on */
  return snapshot;
}

static inline kaisched_engine* new_engine(void) {
  kaisched_engine* engine = NULL;
  OK(kaisched_engine_create(KAISCHED_ABI_VERSION, NULL, 0, &engine, NULL));
  return engine;
}

static inline kaisched_session* new_session(void) {
  kaisched_engine* engine = new_engine();
  kaisched_snapshot* snapshot = new_snapshot();
  kaisched_session* session = NULL;
  OK(kaisched_run(engine, snapshot, 10, &session, NULL));
  kaisched_snapshot_release(snapshot); /* the session lives on */
  kaisched_engine_destroy(engine);
  return session;
}

static inline int text_is(const kaisched_table* table, uint32_t id, uint64_t row, const char* wanted) {
  const kaisched_col* c = kaisched_table_column(table, id);
  if (c == NULL || row >= table->rows) return 0;
  const size_t size = c->offsets[row + 1] - c->offsets[row];
  if (size == 0) return wanted[0] == '\0';  // data may be null where there are no bytes
  return size == strlen(wanted) && memcmp((const char*)c->data + c->offsets[row], wanted, size) == 0;
}

static inline int64_t integer(const kaisched_table* table, uint32_t column, uint64_t row) {
  return ((const int64_t*)kaisched_table_column(table, column)->data)[row];
}
static inline uint32_t number(const kaisched_table* table, uint32_t column, uint64_t row) {
  return ((const uint32_t*)kaisched_table_column(table, column)->data)[row];
}
static inline uint64_t identifier(const kaisched_table* table, uint32_t column, uint64_t row) {
  return ((const uint64_t*)kaisched_table_column(table, column)->data)[row];
}

/* Whether a list has this one text and no more. */
static inline int list_is(const kaisched_table* table, uint32_t column, uint64_t row, const char* wanted) {
  const kaisched_col* c = kaisched_table_column(table, column);
  const size_t size = c->offsets[row + 1] - c->offsets[row];
  return size == strlen(wanted) + 1 && strcmp((const char*)c->data + c->offsets[row], wanted) == 0;
}

static inline int first_decision(const kaisched_table* table) {
  const kaisched_col* kind = kaisched_table_column(table, KAISCHED_DECISION_COL_KIND);
  return kind != NULL && table->rows > 0 ? ((const uint8_t*)kind->data)[0] : -1;
}

/* ---- cases ------------------------------------------------------------------------------------------------------- */

typedef struct named_case {
  const char* name;
  void (*run)(void);
} named_case;

/* All cases, or the one that the command line names. */
static inline int run_cases(const named_case* cases, size_t count, int argc, char** argv) {
  int ran = 0;
  for (size_t i = 0; i < count; ++i) {
    if (argc > 1 && strcmp(argv[1], cases[i].name) != 0) continue;
    cases[i].run();
    ++ran;
  }
  if (ran == 0) printf("no such case\n");
  return failures == 0 && ran > 0 ? 0 : 1;
}

#endif
