/* A larger cluster from C99: describe it with tables, run once, read decisions, reasons and shares of queues. The
 * shortest program is ../embed_c/main.c.
 *
 * 16 nodes with 8 GPUs each, two departments with two queues each. Some services run; training gangs, notebooks that
 * share GPUs, and a few jobs that cannot start wait for a place.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <kaisched/kaisched.h>

enum { NODES = 16, MAX_ROWS = 64, MAX_TEXT = 4096 };
static const int64_t GIB = INT64_C(1) << 30;
static const int64_t SECOND = INT64_C(1000000000);

/* ---- tables: a column is an array, a column of texts is bytes and offsets ---------------------------------------- */

typedef struct texts {
  uint32_t offsets[MAX_ROWS + 1];
  char bytes[MAX_TEXT];
} texts;

static void put_text(texts* column, uint32_t row, const char* text) {
  const uint32_t begin = row == 0 ? 0 : column->offsets[row];
  const size_t size = strlen(text);
  if (row >= MAX_ROWS || begin + size > MAX_TEXT) {
    fprintf(stderr, "the example's tables are too small\n");
    exit(1);
  }
  memcpy(column->bytes + begin, text, size);
  column->offsets[0] = 0;
  column->offsets[row + 1] = begin + (uint32_t)size;
}

static kaisched_col text_column(uint32_t id, const texts* column) {
  const kaisched_col c = {id, KAISCHED_TYPE_STRING, 0, 0, column->bytes, column->offsets};
  return c;
}

static kaisched_col number_column(uint32_t id, uint32_t width, const int64_t* values) {
  const kaisched_col c = {id, KAISCHED_TYPE_I64, width, 0, values, NULL};
  return c;
}

static void check(kaisched_status status, const kaisched_error* err) {
  if (status == KAISCHED_OK) return;
  fprintf(stderr, "%s: %s\n", kaisched_status_name(status), err->message);
  exit(1);
}

static void add(kaisched_cluster* cluster, uint32_t kind, uint64_t rows, const kaisched_col* columns, uint32_t count) {
  const kaisched_table table = {sizeof(kaisched_table), kind, KAISCHED_OP_ADD, count, rows, columns};
  const kaisched_table* const tables[] = {&table};
  kaisched_error err = KAISCHED_ERROR_INIT;
  check(kaisched_cluster_apply(cluster, tables, 1, &err), &err);
}

/* ---- the cluster ------------------------------------------------------------------------------------------------- */

static void add_nodes(kaisched_cluster* cluster) {
  static texts names;
  static int64_t capacity[NODES][KAISCHED_BUILT_IN_DIMENSIONS];
  for (uint32_t i = 0; i < NODES; ++i) {
    char name[16];
    snprintf(name, sizeof name, "node-%02u", (unsigned)i);
    put_text(&names, i, name);
    capacity[i][KAISCHED_DIM_CPU] = 128 * 1000;
    capacity[i][KAISCHED_DIM_MEMORY] = 1024 * GIB;
    capacity[i][KAISCHED_DIM_GPU] = 8 * KAISCHED_WHOLE_DEVICE;
    capacity[i][KAISCHED_DIM_PODS] = 110;
  }
  const kaisched_col columns[] = {
      text_column(KAISCHED_NODE_COL_NAME, &names),
      number_column(KAISCHED_NODE_COL_CAPACITY, KAISCHED_BUILT_IN_DIMENSIONS, capacity[0]),
  };
  add(cluster, KAISCHED_TABLE_NODE, NODES, columns, 2);
}

static void add_queues(kaisched_cluster* cluster) {
  static const struct {
    const char *name, *parent;
    int64_t quota, limit; /* GPUs */
  } queues[] = {
      {"research", "", 72, -1}, {"language", "research", 48, -1}, {"vision", "research", 24, -1},
      {"product", "", 56, 64},  {"search", "product", 32, -1},    {"ads", "product", 24, 24},
  };
  enum { COUNT = sizeof queues / sizeof queues[0] };
  static texts names, parents;
  static int64_t quota[COUNT][KAISCHED_QUOTA_DIMENSIONS], limit[COUNT][KAISCHED_QUOTA_DIMENSIONS];
  for (uint32_t i = 0; i < COUNT; ++i) {
    put_text(&names, i, queues[i].name);
    put_text(&parents, i, queues[i].parent);
    for (uint32_t d = 0; d < KAISCHED_QUOTA_DIMENSIONS; ++d) quota[i][d] = limit[i][d] = KAISCHED_UNLIMITED;
    quota[i][KAISCHED_DIM_GPU] = queues[i].quota * KAISCHED_WHOLE_DEVICE;
    if (queues[i].limit >= 0) limit[i][KAISCHED_DIM_GPU] = queues[i].limit * KAISCHED_WHOLE_DEVICE;
  }
  const kaisched_col columns[] = {
      text_column(KAISCHED_QUEUE_COL_NAME, &names),
      text_column(KAISCHED_QUEUE_COL_PARENT, &parents),
      number_column(KAISCHED_QUEUE_COL_QUOTA, KAISCHED_QUOTA_DIMENSIONS, quota[0]),
      number_column(KAISCHED_QUEUE_COL_LIMIT, KAISCHED_QUOTA_DIMENSIONS, limit[0]),
  };
  add(cluster, KAISCHED_TABLE_QUEUE, COUNT, columns, 4);
}

/* Jobs of equal pods. All pods of a job start together, or none. */
static const struct job {
  const char* name;
  const char* queue;
  int64_t priority;
  uint32_t pods;
  int64_t milli_gpus; /* of each pod */
  int running;        /* pod i runs on node i already */
} jobs[] = {
    {"frontend", "search", 100, 2, 8000, 1},  /* runs */
    {"pretrain", "language", 50, 8, 8000, 0}, /* a gang over eight whole nodes */
    {"detector", "vision", 50, 4, 4000, 0},   /* two pods share a node */
    {"notebook", "vision", 75, 6, 500, 0},    /* two pods share a GPU */
    {"reindex", "search", 50, 3, 8000, 0},    /* within quota */
    {"ranking", "ads", 50, 4, 8000, 0},       /* more than the limit of its queue */
    {"giant", "language", 50, 2, 16000, 0},   /* larger than any node */
    {"sweep", "vision", 25, 2, 8000, 0},      /* no room is left */
};
enum { JOBS = sizeof jobs / sizeof jobs[0] };

static void add_jobs(kaisched_cluster* cluster) {
  static texts names, queues;
  static int64_t priority[JOBS], created[JOBS], min_member[JOBS];
  for (uint32_t i = 0; i < JOBS; ++i) {
    put_text(&names, i, jobs[i].name);
    put_text(&queues, i, jobs[i].queue);
    priority[i] = jobs[i].priority;
    created[i] = (int64_t)i * SECOND;
    min_member[i] = (int64_t)jobs[i].pods;
  }
  const kaisched_col columns[] = {
      text_column(KAISCHED_POD_GROUP_COL_NAME, &names),
      text_column(KAISCHED_POD_GROUP_COL_QUEUE, &queues),
      number_column(KAISCHED_POD_GROUP_COL_PRIORITY, 1, priority),
      number_column(KAISCHED_POD_GROUP_COL_CREATED, 1, created),
      number_column(KAISCHED_POD_GROUP_COL_MIN_MEMBER, 1, min_member),
  };
  add(cluster, KAISCHED_TABLE_POD_GROUP, JOBS, columns, 5);
}

static void add_pods(kaisched_cluster* cluster) {
  static texts names, groups, nodes;
  static int64_t request[MAX_ROWS][KAISCHED_QUOTA_DIMENSIONS];
  static uint8_t status[MAX_ROWS];
  uint32_t row = 0;
  for (uint32_t i = 0; i < JOBS; ++i) {
    for (uint32_t pod = 0; pod < jobs[i].pods; ++pod, ++row) {
      char name[32], node[32] = "";
      snprintf(name, sizeof name, "%s-%u", jobs[i].name, (unsigned)pod);
      if (jobs[i].running) snprintf(node, sizeof node, "node-%02u", (unsigned)pod);
      put_text(&names, row, name);
      put_text(&groups, row, jobs[i].name);
      put_text(&nodes, row, node);
      request[row][KAISCHED_DIM_CPU] = 8 * jobs[i].milli_gpus;
      request[row][KAISCHED_DIM_MEMORY] = jobs[i].milli_gpus * GIB / 20;
      request[row][KAISCHED_DIM_GPU] = jobs[i].milli_gpus;
      status[row] = jobs[i].running ? KAISCHED_POD_STATUS_RUNNING : KAISCHED_POD_STATUS_PENDING;
    }
  }
  const kaisched_col columns[] = {
      text_column(KAISCHED_POD_COL_NAME, &names),
      text_column(KAISCHED_POD_COL_GROUP, &groups),
      text_column(KAISCHED_POD_COL_NODE, &nodes),
      number_column(KAISCHED_POD_COL_REQUEST, KAISCHED_QUOTA_DIMENSIONS, request[0]),
      {KAISCHED_POD_COL_STATUS, KAISCHED_TYPE_U8, 1, 0, status, NULL},
  };
  add(cluster, KAISCHED_TABLE_POD, row, columns, 5);
}

/* ---- results ----------------------------------------------------------------------------------------------------- */

static const kaisched_table* result_of(const kaisched_session* session, uint32_t kind) {
  const kaisched_table* table = NULL;
  kaisched_error err = KAISCHED_ERROR_INIT;
  check(kaisched_session_table(session, kind, &table, &err), &err);
  return table;
}

static void print_text(const char* before, const kaisched_col* c, uint64_t row) {
  printf("%s%.*s", before, (int)(c->offsets[row + 1] - c->offsets[row]), (const char*)c->data + c->offsets[row]);
}

static void print_decisions(const kaisched_session* session) {
  const kaisched_table* table = result_of(session, KAISCHED_TABLE_DECISION);
  const uint8_t* kind = kaisched_table_column(table, KAISCHED_DECISION_COL_KIND)->data;
  const int64_t* share = kaisched_table_column(table, KAISCHED_DECISION_COL_DEVICE_SHARE)->data;
  const kaisched_col* pod = kaisched_table_column(table, KAISCHED_DECISION_COL_POD_NAME);
  const kaisched_col* node = kaisched_table_column(table, KAISCHED_DECISION_COL_NODE_NAME);
  const kaisched_col* devices = kaisched_table_column(table, KAISCHED_DECISION_COL_DEVICES);
  for (uint64_t row = 0; row < table->rows; ++row) {
    if (kind[row] != KAISCHED_DECISION_BIND) continue;
    print_text("start ", pod, row);
    print_text(" on ", node, row);
    printf(", %d of 1000 of GPU", (int)share[row]);
    for (uint32_t i = devices->offsets[row]; i < devices->offsets[row + 1]; ++i) {
      printf(" %d", (int)((const int64_t*)devices->data)[i]);
    }
    printf("\n");
  }
}

static void print_reasons(const kaisched_session* session) {
  const kaisched_table* table = result_of(session, KAISCHED_TABLE_REASON);
  const kaisched_col* group = kaisched_table_column(table, KAISCHED_REASON_COL_GROUP_NAME);
  const kaisched_col* constraint = kaisched_table_column(table, KAISCHED_REASON_COL_CONSTRAINT);
  const kaisched_col* text = kaisched_table_column(table, KAISCHED_REASON_COL_TEXT);
  for (uint64_t row = 0; row < table->rows; ++row) {
    print_text("wait ", group, row);
    print_text(" (", constraint, row);
    print_text("): ", text, row);
    printf("\n");
  }
}

static void print_shares(const kaisched_session* session) {
  const kaisched_table* table = result_of(session, KAISCHED_TABLE_QUEUE_SHARE);
  const kaisched_col* name = kaisched_table_column(table, KAISCHED_QUEUE_SHARE_COL_QUEUE_NAME);
  const int64_t* allocated = kaisched_table_column(table, KAISCHED_QUEUE_SHARE_COL_ALLOCATED)->data;
  const int64_t* quota = kaisched_table_column(table, KAISCHED_QUEUE_SHARE_COL_QUOTA)->data;
  for (uint64_t row = 0; row < table->rows; ++row) {
    const uint64_t gpu = row * KAISCHED_QUOTA_DIMENSIONS + KAISCHED_DIM_GPU;
    print_text("queue ", name, row);
    printf(" holds %.1f GPUs, quota %.1f\n", (double)allocated[gpu] / 1000, (double)quota[gpu] / 1000);
  }
}

int main(void) {
  const kaisched_kv options[] = {{"preset", "kai"}};
  kaisched_engine* engine = NULL;
  kaisched_cluster* cluster = NULL;
  kaisched_snapshot* snapshot = NULL;
  kaisched_session* session = NULL;
  kaisched_error err = KAISCHED_ERROR_INIT;

  check(kaisched_engine_create(KAISCHED_ABI_VERSION, options, 1, &engine, &err), &err);
  check(kaisched_cluster_create(&cluster, &err), &err);
  add_nodes(cluster);
  add_queues(cluster);
  add_jobs(cluster);
  add_pods(cluster);

  check(kaisched_cluster_snapshot(cluster, &snapshot, &err), &err);
  check(kaisched_run(engine, snapshot, 60 * SECOND, &session, &err), &err);
  print_decisions(session);
  print_reasons(session);
  print_shares(session);

  kaisched_session_close(session);
  kaisched_snapshot_release(snapshot);
  kaisched_cluster_destroy(cluster);
  kaisched_engine_destroy(engine);
  return 0;
}
