/* A host of the engine: it keeps a cluster, holds a session at every tick, and does what the decisions ask. Jobs come
 * and end until tick BUSY. Then demand is constant, and the host has to come to rest. docs/embedding.md explains it.
 * Options: --claims keep|forget, --end-ticks 0..5 (how long a pod takes to stop), --seed N, --log yes|no */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <kaisched/kaisched.h>

enum { NODES = 20, GPUS = 8, QUEUES = 3, JOBS = 60, MOST_PODS = 6, PODS = JOBS * MOST_PODS };
enum { BUSY = 200, MOST_RESTLESS = 40, QUIET = 20, MOST_STOPS = 30 }; /* ticks; MOST_STOPS: evictions of one pod */
typedef struct pod {
  char name[32];
  kaisched_id id; /* 0: it is not there */
  enum { WAITS, RUNS, ENDS } state;
  int gone_at, stops;
} pod;
typedef struct job {
  char name[16];
  int ticks_left, gang;
  pod *first, *last; /* behind its pods */
} job;

static const int64_t tick_time = INT64_C(10000000000);                      /* nanoseconds */
static const char* const queues[QUEUES] = {"research", "product", "spare"}; /* 80, 40 and 0 GPUs are theirs */
static job jobs[JOBS];
static pod pods[PODS];
static kaisched_cluster* cluster;
static kaisched_error err = KAISCHED_ERROR_INIT;
static int tick, keeps_claims = 1, end_ticks = 1, logs, came, started, failed, stopped, moves, claims, conflicts;
static uint64_t seed = 1, digest;

static void fail(const char* what, const char* why) {
  fprintf(stderr, "tick %d: %s: %s\n", tick, what, why);
  exit(1);
}
static void check(kaisched_status status) {
  if (status != KAISCHED_OK) fail(kaisched_status_name(status), err.message);
}
static void note(const char* what, const char* name, int number) {
  if (logs) printf("%d %s %s %d\n", tick, what, name, number);
}
static int draw(int below) {
  seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (int)((seed >> 33) % (uint64_t)below);
}

/* Deltas are tables that say what their rows are from now on. Here each table has one row. */
#define TEXT(id, s) {id, KAISCHED_TYPE_STRING, .offsets = (const uint32_t[]){0, (uint32_t)strlen(s)}, .data = s}
#define NUMBERS(column, width, ...) {column, KAISCHED_TYPE_I64, width, 0, (const int64_t[]){__VA_ARGS__}, NULL}
#define ID(column, value) {column, KAISCHED_TYPE_U64, 1, 0, (const kaisched_id[]){value}, NULL}
#define COUNT(...) (sizeof((const kaisched_col[]){__VA_ARGS__}) / sizeof(kaisched_col))
#define APPLY(kind, op, ...) apply(kind, op, (const kaisched_col[]){__VA_ARGS__}, COUNT(__VA_ARGS__))
static void apply(uint32_t kind, uint32_t op, const kaisched_col* columns, uint32_t count) {
  const kaisched_table table = {sizeof table, kind, op, count, 1, columns}, *const tables[] = {&table};
  check(kaisched_cluster_apply(cluster, tables, 1, &err));
}

static void add_nodes_and_queues(void) {
  for (int i = 0; i < NODES; ++i) {
    char name[16];
    snprintf(name, sizeof name, "node-%d", i);
    APPLY(KAISCHED_TABLE_NODE, KAISCHED_OP_ADD, TEXT(KAISCHED_NODE_COL_NAME, name), /* cores, memory, GPUs, pods */
          NUMBERS(KAISCHED_NODE_COL_CAPACITY, 4, 0, 0, GPUS * KAISCHED_WHOLE_DEVICE, 110));
  }
  for (int i = 0; i < QUEUES; ++i) {
    APPLY(KAISCHED_TABLE_QUEUE, KAISCHED_OP_ADD, TEXT(KAISCHED_QUEUE_COL_NAME, queues[i]),
          NUMBERS(KAISCHED_QUEUE_COL_QUOTA, 3, 0, 0, (80 - 40 * i) * KAISCHED_WHOLE_DEVICE));
  }
}
static void job_comes(job* j) { /* two of three are gangs, the others start with one pod */
  const int size = 1 + draw(MOST_PODS), gpus = 1 << draw(4), priority = 50 + 25 * draw(2);
  *j = (job){"", 20 + draw(150), draw(3) == 0 ? 1 : size, pods + came * MOST_PODS, pods + came * MOST_PODS + size};
  snprintf(j->name, sizeof j->name, "job-%d", came++);
  APPLY(KAISCHED_TABLE_POD_GROUP, KAISCHED_OP_ADD, TEXT(KAISCHED_POD_GROUP_COL_NAME, j->name),
        TEXT(KAISCHED_POD_GROUP_COL_QUEUE, queues[came % QUEUES]),
        NUMBERS(KAISCHED_POD_GROUP_COL_PRIORITY, 1, priority), NUMBERS(KAISCHED_POD_GROUP_COL_MIN_MEMBER, 1, j->gang),
        NUMBERS(KAISCHED_POD_GROUP_COL_CREATED, 1, tick * tick_time));
  for (pod* p = j->first; p < j->last; ++p) {
    snprintf(p->name, sizeof p->name, "%s-%d", j->name, (int)(p - j->first));
    APPLY(KAISCHED_TABLE_POD, KAISCHED_OP_ADD, TEXT(KAISCHED_POD_COL_NAME, p->name),
          TEXT(KAISCHED_POD_COL_GROUP, j->name),
          NUMBERS(KAISCHED_POD_COL_REQUEST, 3, 0, 0, gpus * KAISCHED_WHOLE_DEVICE));
    check(kaisched_cluster_find(cluster, KAISCHED_KIND_POD, p->name, &p->id, &err));
    note("comes", p->name, gpus);
  }
}
static void job_works(job* j) { /* while its gang runs. At the end it leaves, whatever its other pods are doing */
  int running = 0;
  for (pod* p = j->first; p < j->last; ++p) running += p->state == RUNS;
  if (running < j->gang || j->ticks_left == 0 || --j->ticks_left > 0) return;
  for (pod* p = j->first; p < j->last; *p++ = (pod){0}) {
    APPLY(KAISCHED_TABLE_POD, KAISCHED_OP_REMOVE, TEXT(KAISCHED_POD_COL_NAME, p->name));
    note("leaves", p->name, 0);
  }
  APPLY(KAISCHED_TABLE_POD_GROUP, KAISCHED_OP_REMOVE, TEXT(KAISCHED_POD_GROUP_COL_NAME, j->name));
}
static void tell(const pod* p, uint8_t status, kaisched_id node) { /* the identifier that a decision gave, or 0 */
  APPLY(KAISCHED_TABLE_POD, KAISCHED_OP_CHANGE, TEXT(KAISCHED_POD_COL_NAME, p->name),
        {KAISCHED_POD_COL_STATUS, KAISCHED_TYPE_U8, 1, 0, &status, NULL}, ID(KAISCHED_POD_COL_NODE, node));
}
static int end_pods(void) { /* those that were stopped some ticks ago; returns how many are still ending */
  int ending = 0;
  for (pod* p = pods; p < pods + PODS; ++p) {
    if (p->state != ENDS || (tick < p->gone_at && ++ending)) continue;
    p->state = WAITS; /* again. It keeps the place that a move has promised it */
    tell(p, KAISCHED_POD_STATUS_PENDING, 0);
    note("waits", p->name, 0);
  }
  return ending;
}

static int is_refused(uint32_t commit) { /* the cluster has changed since the snapshot: nothing of the commit is done */
  const kaisched_table* t = NULL;
  check(kaisched_cluster_table(cluster, KAISCHED_TABLE_CONFLICT, &t, &err));
  const uint32_t* of = kaisched_table_column(t, KAISCHED_CONFLICT_COL_COMMIT)->data;
  uint64_t i = 0;
  while (i < t->rows && of[i] != commit) ++i;
  return i < t->rows;
}
static void start(pod* p, kaisched_id node) {
  if (tick < BUSY && draw(16) == 0) { /* its node refuses the pod, which is what it was before the decision */
    check(kaisched_cluster_forget(cluster, &p->id, 1, KAISCHED_FORGET_FAILED, &err));
    note("failed", p->name, ++failed);
    return;
  }
  check(kaisched_cluster_confirm(cluster, &p->id, 1, &err));
  tell(p, KAISCHED_POD_STATUS_RUNNING, node); /* here at once; a node reports it later */
  p->state = RUNS;
  note("runs", p->name, (int)(uint32_t)node);
  ++started;
}
static void stop(pod* p) { /* it keeps its place until `end_pods` tells that it has ended */
  check(kaisched_cluster_confirm(cluster, &p->id, 1, &err));
  p->state = ENDS;
  p->gone_at = tick + 1 + end_ticks;
  note("stops", p->name, ++stopped);
  if (++p->stops > MOST_STOPS) fail(p->name, "starts and stops again and again");
}
static void claim(const pod* p) { /* `assume` has written it. A host that forgets claims removes it */
  if (++claims && !keeps_claims)
    APPLY(KAISCHED_TABLE_POD, KAISCHED_OP_CHANGE, TEXT(KAISCHED_POD_COL_NAME, p->name),
          ID(KAISCHED_POD_COL_NOMINATED_NODE, 0));
}
static int carry_out(const kaisched_session* session) { /* returns how many decisions there were */
  const kaisched_table* t = NULL;
  check(kaisched_session_table(session, KAISCHED_TABLE_DECISION, &t, &err));
  const uint8_t* kind = kaisched_table_column(t, KAISCHED_DECISION_COL_KIND)->data;
  const uint32_t* commit = kaisched_table_column(t, KAISCHED_DECISION_COL_COMMIT)->data;
  const kaisched_id* of = kaisched_table_column(t, KAISCHED_DECISION_COL_POD)->data;
  const kaisched_id* node = kaisched_table_column(t, KAISCHED_DECISION_COL_NODE)->data;
  int changes = 0;
  for (uint64_t i = 0; i < t->rows; ++i) {
    if (kind[i] == KAISCHED_DECISION_UNSCHEDULABLE) continue; /* nothing to do */
    ++changes;
    if (is_refused(commit[i]) && ++conflicts) continue;
    pod* p = pods;
    while (p->id != of[i]) ++p; /* it exists: else its commit is refused */
    moves += kind[i] == KAISCHED_DECISION_MOVE;
    digest = (digest ^ (of[i] * 31 + node[i] * 7 + kind[i])) * UINT64_C(1099511628211);
    if (kind[i] == KAISCHED_DECISION_BIND) start(p, node[i]);
    if ((kind[i] == KAISCHED_DECISION_EVICT || kind[i] == KAISCHED_DECISION_MOVE) && p->state == RUNS) stop(p);
    if (kind[i] == KAISCHED_DECISION_PIPELINE || kind[i] == KAISCHED_DECISION_MOVE) claim(p);
  }
  return changes;
}

int main(int argc, char** argv) {
  for (int i = 1; i + 1 < argc; i += 2) {
    if (strcmp(argv[i], "--claims") == 0) keeps_claims = strcmp(argv[i + 1], "keep") == 0;
    if (strcmp(argv[i], "--end-ticks") == 0) end_ticks = atoi(argv[i + 1]);
    if (strcmp(argv[i], "--seed") == 0) seed = strtoull(argv[i + 1], NULL, 10);
    if (strcmp(argv[i], "--log") == 0) logs = strcmp(argv[i + 1], "yes") == 0;
  }
  const kaisched_kv options[] = {{"actions", "allocate,consolidation,reclaim,preempt"}};
  kaisched_engine* engine = NULL;
  check(kaisched_engine_create(KAISCHED_ABI_VERSION, options, 1, &engine, &err));
  check(kaisched_cluster_create(&cluster, &err));
  add_nodes_and_queues();
  for (int quiet = 0; quiet < QUIET; ++tick) {
    int changes = end_pods();
    while (tick < BUSY && came < JOBS && (tick == BUSY - 1 || draw(6) == 0)) job_comes(jobs + came);
    kaisched_snapshot* snapshot = NULL;
    kaisched_session* session = NULL;
    check(kaisched_cluster_snapshot(cluster, &snapshot, &err));
    check(kaisched_run(engine, snapshot, tick * tick_time, &session, &err));
    for (job* j = jobs; tick < BUSY && j < jobs + came; ++j) job_works(j); /* meanwhile the cluster goes on */
    check(kaisched_cluster_assume(cluster, session, NULL, &err));
    changes += carry_out(session);
    kaisched_session_close(session);
    kaisched_snapshot_release(snapshot);
    quiet = tick < BUSY || changes > 0 ? 0 : quiet + 1;
    if (tick - quiet > BUSY + MOST_RESTLESS) fail("constant demand", "the host does not come to rest");
  }
  printf("%d starts, %d failed, %d stopped, %d moves, %d claims, %d conflicts, rest after %d ticks, digest %016llx\n",
         started, failed, stopped, moves, claims, conflicts, tick - QUIET - BUSY, (unsigned long long)digest);
  kaisched_cluster_destroy(cluster);
  kaisched_engine_destroy(engine);
  return 0;
}
