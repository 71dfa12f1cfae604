/* Parts of the host as a C99 program writes them: what they can say, and what happens to the nasty ones.
   usage: kaisched_abi_part_cases CASE */
#include "case_support.h"

/* What a part of the tests does, and what has happened to it. */
typedef struct script {
  const char* fails_in; /* name of a function that returns an error */
  const char* message;  /* with which message; NULL: none */
  int64_t score_of_n;   /* scores of nodes: this for n, 0 for others */
  uint8_t verdict_on_n;
  int reverse_order, refuse_start, spare_all, writes_beyond, changes_its_mind;
  int64_t gpu_share; /* of every queue; below -1: as divided */
  int created, destroyed, opened, closed, released, calls, changes, undone;
  char told[64]; /* the option `tell` */
  char seen[256];
} script;

static script new_script(void) {
  script made;
  memset(&made, 0, sizeof made);
  made.gpu_share = -2;
  return made;
}

static kaisched_status ended(script* s, const char* function, kaisched_error* err) {
  ++s->calls;
  if (s->fails_in == NULL || strcmp(s->fails_in, function) != 0) return KAISCHED_OK;
  if (s->message != NULL && err != NULL) strncpy(err->message, s->message, sizeof err->message - 1);
  return KAISCHED_E_ARGUMENT;
}

static int is_named(kaisched_text text, const char* name) {
  return text.size == strlen(name) && memcmp(text.data, name, text.size) == 0;
}

static int is_n(const kaisched_view* view, uint32_t row) {
  kaisched_node_facts facts;
  facts.struct_size = sizeof facts;
  view->node(view, row, &facts);
  return is_named(facts.name, "n");
}

static kaisched_status create(void* context, const kaisched_kv* options, size_t count, void** state,
                              kaisched_error* err) {
  script* s = context;
  ++s->created;
  for (size_t i = 0; i < count; ++i) {
    if (strcmp(options[i].key, "tell") == 0) strncpy(s->told, options[i].value, sizeof s->told - 1);
  }
  *state = s;
  return ended(s, "create", err);
}
static void destroy(void* state) { ++((script*)state)->destroyed; }
static kaisched_status session_open(void* state, const kaisched_view* view, kaisched_error* err) {
  script* s = state;
  CHECK(view->struct_size == sizeof *view && view->node_count > 0 && view->dimension_count == 4 && view->now == 10);
  ++s->opened;
  return ended(s, "session_open", err);
}
static void session_close(void* state) { ++((script*)state)->closed; }

static kaisched_status order_groups(void* state, const kaisched_view* view, const uint32_t* rows, size_t count,
                                    kaisched_order_key* keys, kaisched_error* err) {
  script* s = state;
  for (size_t i = 0; i < count; ++i) {
    kaisched_group_facts facts;
    facts.struct_size = sizeof facts;
    view->group(view, rows[i], &facts);
    keys[i].first = s->reverse_order ? -facts.created : 0;
  }
  if (s->writes_beyond) keys[count].first = 1;
  if (s->changes_its_mind && count > 0) keys[0].second = s->calls;
  return ended(s, "order_groups", err);
}

static kaisched_status filter_nodes(void* state, const kaisched_view* view, uint32_t pod, const uint32_t* rows,
                                    size_t count, uint8_t* verdicts, kaisched_error* err) {
  script* s = state;
  (void)pod;
  for (size_t i = 0; i < count; ++i) {
    if (is_n(view, rows[i]) && s->verdict_on_n != 0) verdicts[i] = s->verdict_on_n;
  }
  if (s->writes_beyond) verdicts[count] = 1;
  return ended(s, "filter_nodes", err);
}

static kaisched_status score_nodes(void* state, const kaisched_view* view, uint32_t pod, const uint32_t* rows,
                                   size_t count, int64_t* scores, kaisched_error* err) {
  script* s = state;
  (void)pod;
  for (size_t i = 0; i < count; ++i) {
    scores[i] = is_n(view, rows[i]) ? s->score_of_n : 0;
  }
  if (s->writes_beyond) scores[-1] = 1;
  return ended(s, "score_nodes", err);
}

static kaisched_status divide_shares(void* state, const kaisched_view* view, const uint32_t* rows, size_t count,
                                     int64_t* shares, kaisched_error* err) {
  script* s = state;
  (void)view;
  (void)rows;
  for (size_t i = 0; i < count && s->gpu_share >= -1; ++i) shares[i * KAISCHED_QUOTA_DIMENSIONS + 2] = s->gpu_share;
  return ended(s, "divide_shares", err);
}

static kaisched_status judge_victims(void* state, const kaisched_view* view, uint32_t action, uint32_t waiting,
                                     const uint32_t* rows, size_t count, uint8_t* spared, kaisched_error* err) {
  script* s = state;
  CHECK(action == KAISCHED_ACTION_PREEMPT || action == KAISCHED_ACTION_RECLAIM ||
        action == KAISCHED_ACTION_CONSOLIDATION);
  for (size_t i = 0; i < count; ++i) {
    CHECK(rows[i] != waiting);
    if (s->spare_all != 0) spared[i] = (uint8_t)s->spare_all;
  }
  (void)view;
  return ended(s, "judge_victims", err);
}

static kaisched_status permit(void* state, const kaisched_view* view, uint32_t group, const uint32_t* rows,
                              size_t count, int32_t* permitted, kaisched_error* err) {
  script* s = state;
  kaisched_group_facts facts;
  facts.struct_size = sizeof facts;
  view->group(view, group, &facts);
  for (size_t i = 0; i < count; ++i) {
    kaisched_pod_facts pod;
    pod.struct_size = sizeof pod;
    view->pod(view, rows[i], &pod);
    CHECK(pod.group == group && pod.status == KAISCHED_POD_STATUS_ALLOCATED && pod.node != KAISCHED_NO_ROW);
  }
  if (s->refuse_start && is_named(facts.name, "a")) *permitted = s->refuse_start == 1 ? 0 : 7;
  return ended(s, "permit", err);
}

static void changed(void* state, const kaisched_view* view, const kaisched_change* changes, size_t count) {
  script* s = state;
  for (size_t i = 0; i < count; ++i) {
    kaisched_pod_facts pod;
    pod.struct_size = sizeof pod;
    view->pod(view, changes[i].pod, &pod);
    CHECK(pod.status == changes[i].now && changes[i].before != changes[i].now);
    ++s->changes;
    if (changes[i].now == KAISCHED_POD_STATUS_PENDING) ++s->undone;
  }
}
static void release(void* context) { ++((script*)context)->released; }

static kaisched_part part_with(script* s) {
  kaisched_part made;
  memset(&made, 0, sizeof made);
  made.struct_size = sizeof made;
  made.abi = KAISCHED_ABI_VERSION;
  made.name = "mine";
  made.context = s;
  made.create = create;
  made.destroy = destroy;
  made.session_open = session_open;
  made.session_close = session_close;
  made.release = release;
  return made;
}

/* An engine whose policy has the part first, then the rest of the preset. */
static kaisched_engine* engine_with(const kaisched_part* part, const char* mode, const kaisched_kv* options,
                                    size_t count) {
  kaisched_engine* engine = new_engine();
  char parts[1024] = "mine,";
  OK(kaisched_engine_add_part(engine, part, options, count, NULL));
  OK(kaisched_engine_get(engine, "parts", parts + 5, sizeof parts - 5, NULL, NULL));
  OK(kaisched_engine_set(engine, "parts", parts, NULL));
  OK(kaisched_engine_set(engine, "mode", mode, NULL));
  OK(kaisched_engine_set(engine, "actions", "allocate,consolidation,reclaim,preempt", NULL));
  return engine;
}

/* Two nodes, m and n; a and b as in the cluster of one node. */
static kaisched_snapshot* two_nodes(void) {
  static const kaisched_col cols[] = {
      {KAISCHED_NODE_COL_CAPACITY, KAISCHED_TYPE_I64, 4, 0, node_capacity, NULL},
      {KAISCHED_NODE_COL_NAME, KAISCHED_TYPE_STRING, 0, 0, "m", one_char},
  };
  static const kaisched_table more = {sizeof(kaisched_table), KAISCHED_TABLE_NODE, KAISCHED_OP_ADD, 2, 1, cols};
  static const kaisched_table* const tables[] = {&more};
  kaisched_cluster* cluster = new_cluster();
  kaisched_snapshot* snapshot = NULL;
  OK(kaisched_cluster_apply(cluster, tables, 1, NULL));
  OK(kaisched_cluster_snapshot(cluster, &snapshot, NULL));
  kaisched_cluster_destroy(cluster);
  return snapshot;
}

/* What a run decides, as text: "x>n " for each start, "x<n " for each eviction; or the message of its error. */
static const char* decided(const kaisched_part* part, const char* mode, const kaisched_snapshot* snapshot,
                           const kaisched_kv* options, size_t count) {
  static char text[512];
  kaisched_engine* engine = engine_with(part, mode, options, count);
  kaisched_session* session = NULL;
  kaisched_error err = KAISCHED_ERROR_INIT;
  const kaisched_table* table = NULL;
  text[0] = '\0';
  if (kaisched_run(engine, snapshot, 10, &session, &err) != KAISCHED_OK) {
    CHECK(err.code == KAISCHED_E_PLUGIN && session == NULL);
    strncpy(text, err.message, sizeof text - 1);
  } else {
    OK(kaisched_session_table(session, KAISCHED_TABLE_DECISION, &table, NULL));
    const uint8_t* kinds = kaisched_table_column(table, KAISCHED_DECISION_COL_KIND)->data;
    const kaisched_col* pod = kaisched_table_column(table, KAISCHED_DECISION_COL_POD_NAME);
    const kaisched_col* node = kaisched_table_column(table, KAISCHED_DECISION_COL_NODE_NAME);
    for (uint64_t row = 0; row < table->rows; ++row) {
      if (kinds[row] != KAISCHED_DECISION_BIND && kinds[row] != KAISCHED_DECISION_EVICT) continue;
      const size_t end = strlen(text);
      snprintf(text + end, sizeof text - end, "%c%c%c ", ((const char*)pod->data)[pod->offsets[row]],
               kinds[row] == KAISCHED_DECISION_BIND ? '>' : '<', ((const char*)node->data)[node->offsets[row]]);
    }
    kaisched_session_close(session);
  }
  kaisched_engine_destroy(engine);
  return text;
}
#define DECIDES(wanted, ...)                                                     \
  do {                                                                           \
    const char* got_ = decided(__VA_ARGS__);                                     \
    if (strcmp(got_, wanted) != 0) {                                             \
      printf("%s:%d: '%s' instead of '%s'\n", __FILE__, __LINE__, got_, wanted); \
      ++failures;                                                                \
    }                                                                            \
  } while (0)

static const char* const modes[] = {"strict", "compat"};

/* ---- what parts can say ------------------------------------------------------------------------------------------ */

static void say(void) {
  kaisched_snapshot* one = new_snapshot();
  kaisched_snapshot* two = two_nodes();
  for (int m = 0; m < 2; ++m) {
    script s = new_script();
    kaisched_part part = part_with(&s);
    part.order_groups = order_groups;
    DECIDES("x>n ", &part, modes[m], one, NULL, 0);
    s.reverse_order = 1;
    DECIDES("y>n ", &part, modes[m], one, NULL, 0);
    part.flags = KAISCHED_PART_ORDER_IS_SHARED;
    DECIDES("y>n ", &part, modes[m], one, NULL, 0);

    part = part_with(&s);
    part.filter_nodes = filter_nodes;
    DECIDES("x>n ", &part, modes[m], one, NULL, 0);
    s.verdict_on_n = KAISCHED_CONSTRAINT_PLUGIN;
    DECIDES("", &part, modes[m], one, NULL, 0);
    DECIDES("x>m ", &part, modes[m], two, NULL, 0);

    part = part_with(&s);
    part.score_nodes = score_nodes;
    DECIDES("x>m y>n ", &part, modes[m], two, NULL, 0);
    s.score_of_n = KAISCHED_MAX_SCORE;
    DECIDES("x>n y>m ", &part, modes[m], two, NULL, 0);
    const kaisched_kv against[] = {{"tell", "me"}, {"weight", "-2.5"}};
    DECIDES("x>m y>n ", &part, modes[m], two, against, 2);
    CHECK(strcmp(s.told, "me") == 0);

    part = part_with(&s);
    part.permit = permit;
    DECIDES("x>n ", &part, modes[m], one, NULL, 0);
    s.refuse_start = 1;
    DECIDES("y>n ", &part, modes[m], one, NULL, 0); /* its place is free again */
    kaisched_engine* gated = engine_with(&part, modes[m], NULL, 0);
    kaisched_session* held = NULL;
    const kaisched_table* why = NULL;
    OK(kaisched_run(gated, two, 10, &held, NULL));
    OK(kaisched_session_table(held, KAISCHED_TABLE_REASON, &why, NULL));
    CHECK(why != NULL && why->rows == 1 && text_is(why, KAISCHED_REASON_COL_CONSTRAINT, 0, "plugin") &&
          text_is(why, KAISCHED_REASON_COL_SCOPE, 0, "group"));
    kaisched_session_close(held);
    kaisched_engine_destroy(gated);

    part = part_with(&s);
    part.changed = changed;
    s.changes = 0;
    DECIDES("x>n ", &part, modes[m], one, NULL, 0);
    CHECK(s.changes == 2 && s.undone == 0); /* allocated, then binding */
    part.permit = permit;
    DECIDES("y>n ", &part, modes[m], one, NULL, 0);
    CHECK(s.changes == 6 && s.undone == 1);

    part = part_with(&s);
    part.divide_shares = divide_shares;
    s.gpu_share = 123;
    kaisched_engine* engine = engine_with(&part, modes[m], NULL, 0);
    kaisched_session* session = NULL;
    const kaisched_table* shares = NULL;
    OK(kaisched_run(engine, one, 10, &session, NULL));
    OK(kaisched_session_table(session, KAISCHED_TABLE_QUEUE_SHARE, &shares, NULL));
    CHECK(((const int64_t*)kaisched_table_column(shares, KAISCHED_QUEUE_SHARE_COL_FAIR_SHARE)->data)[2] == 123);
    kaisched_session_close(session);
    kaisched_engine_destroy(engine);
    CHECK(s.created == s.destroyed && s.opened == s.closed && s.opened == s.created && s.released == 15);
  }
  kaisched_snapshot_release(one);
  kaisched_snapshot_release(two);
}

/* A pod x of low priority on the node, y waits for all of it. */
static void victims(void) {
  static const int64_t priorities[] = {25, 75};
  static const uint8_t status[] = {KAISCHED_POD_STATUS_RUNNING, KAISCHED_POD_STATUS_PENDING};
  static const uint32_t first_only[] = {0, 1, 1};
  static const kaisched_col group_change[] = {
      {KAISCHED_POD_GROUP_COL_NAME, KAISCHED_TYPE_STRING, 0, 0, "ab", one_char},
      {KAISCHED_POD_GROUP_COL_PRIORITY, KAISCHED_TYPE_I64, 1, 0, priorities, NULL},
  };
  static const kaisched_col pod_change[] = {
      {KAISCHED_POD_COL_NAME, KAISCHED_TYPE_STRING, 0, 0, "xy", one_char},
      {KAISCHED_POD_COL_STATUS, KAISCHED_TYPE_U8, 1, 0, status, NULL},
      {KAISCHED_POD_COL_NODE, KAISCHED_TYPE_STRING, 0, 0, "n", first_only},
  };
  static const kaisched_table change[] = {
      {sizeof(kaisched_table), KAISCHED_TABLE_POD_GROUP, KAISCHED_OP_CHANGE, 2, 2, group_change},
      {sizeof(kaisched_table), KAISCHED_TABLE_POD, KAISCHED_OP_CHANGE, 3, 2, pod_change},
  };
  static const kaisched_table* const tables[] = {&change[0], &change[1]};
  kaisched_cluster* cluster = new_cluster();
  kaisched_snapshot* snapshot = NULL;
  OK(kaisched_cluster_apply(cluster, tables, 2, NULL));
  OK(kaisched_cluster_snapshot(cluster, &snapshot, NULL));
  kaisched_cluster_destroy(cluster);
  for (int m = 0; m < 2; ++m) {
    script s = new_script();
    kaisched_part part = part_with(&s);
    part.judge_victims = judge_victims;
    DECIDES("x<n ", &part, modes[m], snapshot, NULL, 0);
    CHECK(s.calls > 2);
    s.spare_all = 1;
    DECIDES("", &part, modes[m], snapshot, NULL, 0);
    s.spare_all = 2;
    DECIDES("part 'mine', judge_victims: it gave the judgement 2 on group 'a', which is neither 0 nor 1", &part,
            modes[m], snapshot, NULL, 0);
    part.flags = KAISCHED_PART_NEUTRAL_ON_ERROR;
    DECIDES("x<n ", &part, modes[m], snapshot, NULL, 0);
  }
  kaisched_snapshot_release(snapshot);
}

/* ---- life -------------------------------------------------------------------------------------------------------- */

static void life(void) {
  script s = new_script();
  kaisched_part part = part_with(&s);
  part.order_groups = order_groups;
  kaisched_engine* engine = engine_with(&part, "strict", NULL, 0);
  kaisched_snapshot* snapshot = new_snapshot();
  kaisched_session *session = NULL, *fork = NULL;
  OK(kaisched_session_open(engine, snapshot, 10, &session, NULL));
  CHECK(s.created == 1 && s.opened == 1);
  OK(kaisched_session_fork(session, &fork, NULL));
  CHECK(s.created == 2 && s.opened == 2);
  kaisched_session_close(session);
  kaisched_engine_destroy(engine);
  kaisched_snapshot_release(snapshot);
  CHECK(s.destroyed == 1 && s.closed == 1 && s.released == 0); /* the fork needs it */
  OK(kaisched_session_run(fork, "allocate", NULL));
  kaisched_session_close(fork);
  CHECK(s.destroyed == 2 && s.closed == 2 && s.released == 1);

  /* Null functions, no state. */
  script quiet = new_script();
  kaisched_part bare = part_with(&quiet);
  bare.create = NULL;
  bare.destroy = NULL;
  bare.session_open = NULL;
  bare.session_close = NULL;
  bare.release = NULL;
  bare.changed = NULL;
  bare.permit = permit; /* is handed no state: must not be called with one */
  engine = new_engine();
  OK(kaisched_engine_add_part(engine, &bare, NULL, 0, NULL));
  kaisched_engine_destroy(engine);
  CHECK(quiet.released == 0);
}

/* ---- parts that are refused -------------------------------------------------------------------------------------- */

static void refused(void) {
  script s = new_script();
  kaisched_part part = part_with(&s);
  part.permit = permit;
  kaisched_engine* engine = new_engine();
#define REFUSES(status, ...) EXPECT(status, KAISCHED_FN_ENGINE_ADD_PART, kaisched_engine_add_part, __VA_ARGS__)
  REFUSES(KAISCHED_E_ARGUMENT, NULL, &part, NULL, 0);
  REFUSES(KAISCHED_E_ARGUMENT, engine, NULL, NULL, 0);
  REFUSES(KAISCHED_E_ARGUMENT, engine, &part, NULL, 1);
  part.struct_size = sizeof part - 1;
  REFUSES(KAISCHED_E_STRUCT_SIZE, engine, &part, NULL, 0);
  part.struct_size = 0;
  REFUSES(KAISCHED_E_STRUCT_SIZE, engine, &part, NULL, 0);
  part = part_with(&s);
  part.permit = permit;
  part.abi = 0x00010000u;
  REFUSES(KAISCHED_E_ABI, engine, &part, NULL, 0);
  part.abi = KAISCHED_ABI_VERSION + 1;
  REFUSES(KAISCHED_E_ABI, engine, &part, NULL, 0);
  part = part_with(&s);
  REFUSES(KAISCHED_E_ARGUMENT, engine, &part, NULL, 0); /* offers nothing */
  part.permit = permit;
  part.name = NULL;
  REFUSES(KAISCHED_E_ARGUMENT, engine, &part, NULL, 0);
  part.name = "";
  REFUSES(KAISCHED_E_ARGUMENT, engine, &part, NULL, 0);
  part.name = "a,b";
  REFUSES(KAISCHED_E_ARGUMENT, engine, &part, NULL, 0);
  part.name = "priority";
  REFUSES(KAISCHED_E_DUPLICATE, engine, &part, NULL, 0);
  part.name = "mine";
  part.flags = 8;
  REFUSES(KAISCHED_E_ARGUMENT, engine, &part, NULL, 0);
  part.flags = 0;
  const char* const bad[] = {"", "heavy", "1x", "nan", "inf", "1e13"};
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; ++i) {
    const kaisched_kv weight[] = {{"weight", NULL}};
    kaisched_kv one = weight[0];
    REFUSES(KAISCHED_E_ARGUMENT, engine, &part, &one, 1);
    one.value = bad[i];
    REFUSES(KAISCHED_E_ARGUMENT, engine, &part, &one, 1);
  }
  CHECK(s.released == 0);
  struct future {
    kaisched_part known;
    void* more[4];
  } longer;
  memset(&longer, 0xFF, sizeof longer);
  longer.known = part;
  longer.known.struct_size = sizeof longer;
  OK(kaisched_engine_add_part(engine, &longer.known, NULL, 0, NULL));
  REFUSES(KAISCHED_E_DUPLICATE, engine, &part, NULL, 0);
  kaisched_engine_destroy(engine);
  CHECK(s.released == 1 && s.created == 0);
}

/* ---- parts that misbehave ---------------------------------------------------------------------------------------- */

static void nasty(void) {
  kaisched_snapshot* one = new_snapshot();
  static const char* const functions[] = {"create",      "session_open",  "order_groups", "filter_nodes",
                                          "score_nodes", "divide_shares", "permit"};
  for (int m = 0; m < 2; ++m) {
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; ++i) {
      script s = new_script();
      char wanted[128];
      kaisched_part part = part_with(&s);
      part.order_groups = order_groups;
      part.filter_nodes = filter_nodes;
      part.score_nodes = score_nodes;
      part.divide_shares = divide_shares;
      part.permit = permit;
      s.fails_in = functions[i];
      snprintf(wanted, sizeof wanted, "part 'mine', %s: it returned status -10", functions[i]);
      DECIDES(wanted, &part, modes[m], one, NULL, 0);
      s.message = "I would rather not";
      snprintf(wanted, sizeof wanted, "part 'mine', %s: I would rather not", functions[i]);
      DECIDES(wanted, &part, modes[m], one, NULL, 0);
      CHECK(s.created == 2 && s.destroyed == (i == 0 ? 0 : 2) && s.released == 2);
      part.flags = KAISCHED_PART_NEUTRAL_ON_ERROR;
      DECIDES(i < 2 ? wanted : "x>n ", &part, modes[m], one, NULL, 0);
    }
    script s = new_script();
    kaisched_part part = part_with(&s);
    part.score_nodes = score_nodes;
    s.score_of_n = KAISCHED_MAX_SCORE + 1;
    DECIDES("part 'mine', score_nodes: it gave the score 10001 to node 'n', which is not in 0 .. 10000", &part,
            modes[m], one, NULL, 0);
    s.score_of_n = INT64_MIN;
    DECIDES("part 'mine', score_nodes: it gave the score -9223372036854775808 to node 'n', which is not in 0 .. 10000",
            &part, modes[m], one, NULL, 0);
    part.flags = KAISCHED_PART_NEUTRAL_ON_ERROR;
    DECIDES("x>n ", &part, modes[m], one, NULL, 0);

    part = part_with(&s);
    part.filter_nodes = filter_nodes;
    s.verdict_on_n = 200;
    DECIDES("part 'mine', filter_nodes: it gave the verdict 200 on node 'n', which is no constraint", &part, modes[m],
            one, NULL, 0);
    part = part_with(&s);
    part.divide_shares = divide_shares;
    s.gpu_share = -1;
    DECIDES("part 'mine', divide_shares: it gave the fair share -1 to queue 'q', which is not in 0 .. 2^62", &part,
            modes[m], one, NULL, 0);
    part = part_with(&s);
    part.permit = permit;
    s.refuse_start = 2;
    DECIDES("part 'mine', permit: it gave group 'a' the permission 7, which is neither 0 nor 1", &part, modes[m], one,
            NULL, 0);

    /* Found with guards only, which is why tests of parts ask for them. */
    s = new_script();
    part = part_with(&s);
    part.flags = KAISCHED_PART_VALIDATE;
    part.order_groups = order_groups;
    DECIDES("x>n ", &part, modes[m], one, NULL, 0);
    s.writes_beyond = 1;
    DECIDES("part 'mine', order_groups: it wrote beyond its array", &part, modes[m], one, NULL, 0);
    s.writes_beyond = 0;
    s.changes_its_mind = 1;
    DECIDES("part 'mine', order_groups: it answered the same question in two ways", &part, modes[m], one, NULL, 0);
    s = new_script();
    part.order_groups = NULL;
    part.filter_nodes = filter_nodes;
    s.writes_beyond = 1;
    DECIDES("part 'mine', filter_nodes: it wrote beyond its array", &part, modes[m], one, NULL, 0);
    part.filter_nodes = NULL;
    part.score_nodes = score_nodes;
    DECIDES("part 'mine', score_nodes: it wrote beyond its array", &part, modes[m], one, NULL, 0);
  }
  kaisched_snapshot_release(one);
}

static const named_case cases[] = {
    {"part_say", say}, {"part_victims", victims}, {"part_life", life}, {"part_refused", refused}, {"part_nasty", nasty},
};

int main(int argc, char** argv) { return run_cases(cases, sizeof cases / sizeof cases[0], argc, argv); }
