/* Sessions, questions, statements and staging as a C99 program sees them. usage: kaisched_abi_session_cases CASE */
#include "case_support.h"

static kaisched_id id_of(const kaisched_cluster* cluster, uint32_t kind, const char* name) {
  kaisched_id id = 0;
  OK(kaisched_cluster_find(cluster, kind, name, &id, NULL));
  return id;
}

/* A session that has run nothing, and what its cluster calls things. */
typedef struct open_session {
  kaisched_cluster* cluster;
  kaisched_snapshot* snapshot;
  kaisched_engine* engine;
  kaisched_session* session;
  kaisched_id x, y, a, b, n, q;
} open_session;

static open_session opened(void) {
  open_session made = {new_cluster(), NULL, new_engine(), NULL, 0, 0, 0, 0, 0, 0};
  OK(kaisched_cluster_snapshot(made.cluster, &made.snapshot, NULL));
  OK(kaisched_session_open(made.engine, made.snapshot, 10, &made.session, NULL));
  made.x = id_of(made.cluster, KAISCHED_KIND_POD, "x");
  made.y = id_of(made.cluster, KAISCHED_KIND_POD, "y");
  made.a = id_of(made.cluster, KAISCHED_KIND_POD_GROUP, "a");
  made.b = id_of(made.cluster, KAISCHED_KIND_POD_GROUP, "b");
  made.n = id_of(made.cluster, KAISCHED_KIND_NODE, "n");
  made.q = id_of(made.cluster, KAISCHED_KIND_QUEUE, "q");
  return made;
}

static void closed(open_session* one) {
  kaisched_session_close(one->session);
  kaisched_engine_destroy(one->engine);
  kaisched_snapshot_release(one->snapshot);
  kaisched_cluster_destroy(one->cluster);
}

static const kaisched_table* decisions_of(const kaisched_session* session) {
  const kaisched_table* table = NULL;
  OK(kaisched_session_table(session, KAISCHED_TABLE_DECISION, &table, NULL));
  return table;
}

static int same_digest(const kaisched_session* one, const kaisched_session* other) {
  char digest[2][KAISCHED_DIGEST_SIZE];
  OK(kaisched_session_digest(one, digest[0], KAISCHED_DIGEST_SIZE, NULL, NULL));
  OK(kaisched_session_digest(other, digest[1], KAISCHED_DIGEST_SIZE, NULL, NULL));
  return strcmp(digest[0], digest[1]) == 0;
}

/* ---- NULL in every place ----------------------------------------------------------------------------------------- */

static void null_use(void) {
  open_session one = opened();
  kaisched_session* fork = (kaisched_session*)&failures;
  kaisched_answers* answers = (kaisched_answers*)&failures;
  kaisched_checkpoint at = {7, 7};
  int32_t placed = 7;
  const kaisched_table* table = &pods;
  const uint64_t* first = (const uint64_t*)&failures;
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_SESSION_RUN_GROUP, kaisched_session_run_group, NULL, "allocate", one.a);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_SESSION_RUN_GROUP, kaisched_session_run_group, one.session, NULL, one.a);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_SESSION_FORK, kaisched_session_fork, NULL, &fork);
  CHECK(fork == NULL);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_SESSION_FORK, kaisched_session_fork, one.session, NULL);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_SESSION_ASK, kaisched_session_ask, NULL, "allocate", &one.a, 1, &answers);
  CHECK(answers == NULL);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_SESSION_ASK, kaisched_session_ask, one.session, NULL, &one.a, 1, &answers);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_SESSION_ASK, kaisched_session_ask, one.session, "allocate", NULL, 1,
         &answers);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_SESSION_ASK, kaisched_session_ask, one.session, "allocate", &one.a, 1, NULL);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_ANSWERS_TABLE, kaisched_answers_table, NULL, &table, &first);
  CHECK(table == NULL && first == NULL);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_SESSION_MARK, kaisched_session_mark, NULL, &at);
  CHECK(at.depth == 0 && at.statement == 0);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_SESSION_MARK, kaisched_session_mark, one.session, NULL);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_SESSION_ROLLBACK, kaisched_session_rollback, NULL, &at);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_SESSION_ROLLBACK, kaisched_session_rollback, one.session, NULL);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_SESSION_ALLOCATE, kaisched_session_allocate, NULL, one.x, one.n, &placed);
  CHECK(placed == 0);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_SESSION_PIPELINE, kaisched_session_pipeline, NULL, one.x, one.n, &placed);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_SESSION_EVICT, kaisched_session_evict, NULL, one.x);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_SESSION_COMMIT, kaisched_session_commit, NULL);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_SOLVE, kaisched_solve, KAISCHED_ABI_VERSION, NULL, 0, all_tables, 4, 0, NULL);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_SOLVE, kaisched_solve, KAISCHED_ABI_VERSION, NULL, 1, all_tables, 4, 0,
         &fork);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_SOLVE, kaisched_solve, KAISCHED_ABI_VERSION, NULL, 0, NULL, 4, 0, &fork);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_ENGINE_SET_EXECUTOR, kaisched_engine_set_executor, NULL, NULL);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_SESSION_CANDIDATES, kaisched_session_candidates, NULL, one.x, &answers);
  CHECK(answers == NULL);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_SESSION_CANDIDATES, kaisched_session_candidates, one.session, one.x, NULL);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_CLUSTER_ASSUME, kaisched_cluster_assume, NULL, one.session, NULL);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_CLUSTER_ASSUME, kaisched_cluster_assume, one.cluster, NULL, NULL);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_CLUSTER_CONFIRM, kaisched_cluster_confirm, NULL, &one.x, 1);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_CLUSTER_CONFIRM, kaisched_cluster_confirm, one.cluster, NULL, 1);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_CLUSTER_FORGET, kaisched_cluster_forget, NULL, &one.x, 1,
         KAISCHED_FORGET_FAILED);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_CLUSTER_FORGET, kaisched_cluster_forget, one.cluster, NULL, 1,
         KAISCHED_FORGET_FAILED);
  table = &pods;
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_CLUSTER_TABLE, kaisched_cluster_table, NULL, KAISCHED_TABLE_CONFLICT, &table);
  CHECK(table == NULL);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_CLUSTER_TABLE, kaisched_cluster_table, one.cluster, KAISCHED_TABLE_CONFLICT,
         NULL);
  kaisched_session_cancel(NULL);
  kaisched_answers_destroy(NULL);
  closed(&one);

  kaisched_staging* staging = (kaisched_staging*)&failures;
  void* memory = &failures;
  const uint32_t offsets[] = {0};
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_STAGING_CREATE, kaisched_staging_create, KAISCHED_TABLE_POD, KAISCHED_OP_ADD,
         0, NULL);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_STAGING_CLEAR, kaisched_staging_clear, NULL, 1);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_STAGING_NUMBERS, kaisched_staging_numbers, NULL, KAISCHED_POD_COL_REQUEST,
         KAISCHED_TYPE_I64, 1, &memory);
  CHECK(memory == NULL);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_STAGING_RAGGED, kaisched_staging_ragged, NULL, KAISCHED_POD_COL_NAME, "",
         offsets);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_STAGING_TEXT, kaisched_staging_text, NULL, KAISCHED_POD_COL_NAME, "x", 1);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_STAGING_TEXTS, kaisched_staging_texts, NULL, KAISCHED_POD_COL_NAME, "x", 2);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_STAGING_TABLE, kaisched_staging_table, NULL, &table);
  OK(kaisched_staging_create(KAISCHED_TABLE_POD, KAISCHED_OP_ADD, 1, &staging, NULL));
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_STAGING_NUMBERS, kaisched_staging_numbers, staging, KAISCHED_POD_COL_REQUEST,
         KAISCHED_TYPE_I64, 1, NULL);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_STAGING_RAGGED, kaisched_staging_ragged, staging, KAISCHED_POD_COL_NAME, "x",
         NULL);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_STAGING_TEXT, kaisched_staging_text, staging, KAISCHED_POD_COL_NAME, NULL, 1);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_STAGING_TEXTS, kaisched_staging_texts, staging, KAISCHED_POD_COL_NAME, NULL,
         1);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_STAGING_TABLE, kaisched_staging_table, staging, NULL);
  kaisched_staging_destroy(staging);
  kaisched_staging_destroy(NULL);
}

/* ---- decisions that are being carried out ------------------------------------------------------------------------ */

static const kaisched_table* table_of(const kaisched_cluster* cluster, uint32_t kind) {
  const kaisched_table* table = NULL;
  OK(kaisched_cluster_table(cluster, kind, &table, NULL));
  return table;
}

static void assume(void) {
  open_session one = opened();
  uint64_t conflicts = 7;
  OK(kaisched_session_run(one.session, "allocate", NULL)); /* x starts, y finds no place */
  OK(kaisched_cluster_assume(one.cluster, one.session, &conflicts, NULL));
  CHECK(conflicts == 0 && table_of(one.cluster, KAISCHED_TABLE_CONFLICT)->rows == 0);
  const kaisched_table* open = table_of(one.cluster, KAISCHED_TABLE_ASSUMPTION);
  REQUIRE(open != NULL && open->rows == 1);
  CHECK(text_is(open, KAISCHED_ASSUMPTION_COL_POD_NAME, 0, "x") &&
        text_is(open, KAISCHED_ASSUMPTION_COL_NODE_NAME, 0, "n"));
  CHECK(((const uint8_t*)kaisched_table_column(open, KAISCHED_ASSUMPTION_COL_KIND)->data)[0] == KAISCHED_DECISION_BIND);
  CHECK(((const uint64_t*)kaisched_table_column(open, KAISCHED_ASSUMPTION_COL_POD)->data)[0] == one.x);

  /* The same session once more: its pod is taken. */
  OK(kaisched_cluster_assume(one.cluster, one.session, &conflicts, NULL));
  const kaisched_table* refused = table_of(one.cluster, KAISCHED_TABLE_CONFLICT);
  REQUIRE(refused != NULL && refused->rows == conflicts && conflicts == 2);
  CHECK(text_is(refused, KAISCHED_CONFLICT_COL_NAME, 0, "a") && text_is(refused, KAISCHED_CONFLICT_COL_NAME, 1, "x"));
  CHECK(((const uint64_t*)kaisched_table_column(refused, KAISCHED_CONFLICT_COL_SUBJECT)->data)[1] == one.x);
  OK(kaisched_cluster_assume(one.cluster, one.session, NULL, NULL));

  EXPECT(KAISCHED_E_WRONG_KIND, KAISCHED_FN_CLUSTER_CONFIRM, kaisched_cluster_confirm, one.cluster, &one.n, 1);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_CLUSTER_FORGET, kaisched_cluster_forget, one.cluster, &one.x, 1, 2);
  EXPECT(KAISCHED_E_UNSUPPORTED, KAISCHED_FN_CLUSTER_TABLE, kaisched_cluster_table, one.cluster, KAISCHED_TABLE_POD,
         &refused);
  CHECK(table_of(one.cluster, KAISCHED_TABLE_ASSUMPTION)->rows == 1);
  OK(kaisched_cluster_forget(one.cluster, &one.x, 1, KAISCHED_FORGET_LOST, NULL));
  CHECK(((const uint8_t*)kaisched_table_column(table_of(one.cluster, KAISCHED_TABLE_ASSUMPTION),
                                               KAISCHED_ASSUMPTION_COL_LOST)
             ->data)[0] == 1);
  OK(kaisched_cluster_forget(one.cluster, &one.x, 1, KAISCHED_FORGET_FAILED, NULL));
  CHECK(table_of(one.cluster, KAISCHED_TABLE_ASSUMPTION)->rows == 0);
  OK(kaisched_cluster_assume(one.cluster, one.session, &conflicts, NULL)); /* all is as it was */
  CHECK(conflicts == 0);
  OK(kaisched_cluster_confirm(one.cluster, &one.x, 1, NULL));
  OK(kaisched_cluster_confirm(one.cluster, &one.x, 1, NULL)); /* passed over */
  OK(kaisched_cluster_confirm(one.cluster, NULL, 0, NULL));
  CHECK(table_of(one.cluster, KAISCHED_TABLE_ASSUMPTION)->rows == 0);
  closed(&one);
}

/* ---- candidates -------------------------------------------------------------------------------------------------- */

static void candidates(void) {
  open_session one = opened();
  kaisched_answers* answers = NULL;
  const kaisched_table* table = NULL;
  const uint64_t* first = NULL;
  OK(kaisched_session_candidates(one.session, one.x, &answers, NULL));
  OK(kaisched_answers_table(answers, &table, &first, NULL));
  REQUIRE(table != NULL && table->kind == KAISCHED_TABLE_CANDIDATE && table->rows == 1 && first[1] == 1);
  CHECK(((const uint8_t*)kaisched_table_column(table, KAISCHED_CANDIDATE_COL_FITS)->data)[0] == 1);
  CHECK(((const uint8_t*)kaisched_table_column(table, KAISCHED_CANDIDATE_COL_CHOSEN)->data)[0] == 0);
  CHECK(text_is(table, KAISCHED_CANDIDATE_COL_TEXT, 0, "") &&
        text_is(table, KAISCHED_CANDIDATE_COL_CONSTRAINT, 0, "none"));
  kaisched_answers_destroy(answers);

  OK(kaisched_session_run(one.session, "allocate", NULL));
  OK(kaisched_session_candidates(one.session, one.y, &answers, NULL));
  OK(kaisched_answers_table(answers, &table, &first, NULL));
  REQUIRE(table != NULL && table->rows == 1);
  CHECK(((const uint8_t*)kaisched_table_column(table, KAISCHED_CANDIDATE_COL_FITS)->data)[0] == 0);
  CHECK(text_is(table, KAISCHED_CANDIDATE_COL_CONSTRAINT, 0, "resource") &&
        !text_is(table, KAISCHED_CANDIDATE_COL_TEXT, 0, ""));
  kaisched_session_close(one.session); /* the answer lives on */
  CHECK(text_is(table, KAISCHED_CANDIDATE_COL_NODE_NAME, 0, "n"));
  kaisched_answers_destroy(answers);
  one.session = NULL;
  OK(kaisched_run(one.engine, one.snapshot, 10, &one.session, NULL));
  OK(kaisched_session_candidates(one.session, one.x, &answers, NULL));
  OK(kaisched_answers_table(answers, &table, &first, NULL));
  CHECK(((const uint8_t*)kaisched_table_column(table, KAISCHED_CANDIDATE_COL_CHOSEN)->data)[0] == 1);
  kaisched_answers_destroy(answers);
  EXPECT(KAISCHED_E_WRONG_KIND, KAISCHED_FN_SESSION_CANDIDATES, kaisched_session_candidates, one.session, one.n,
         &answers);
  CHECK(answers == NULL);
  closed(&one);
}

/* ---- questions --------------------------------------------------------------------------------------------------- */

static void questions(void) {
  open_session one = opened();
  /* Either group would start alone; both do not fit. Asking changes nothing. */
  const kaisched_id both[] = {one.b, one.a};
  kaisched_answers* answers = NULL;
  const kaisched_table* table = NULL;
  const uint64_t* first = NULL;
  OK(kaisched_session_ask(one.session, "allocate", both, 2, &answers, NULL));
  OK(kaisched_answers_table(answers, &table, &first, NULL));
  REQUIRE(table != NULL && table->rows == 2 && first[0] == 0 && first[1] == 1 && first[2] == 2);
  CHECK(text_is(table, KAISCHED_DECISION_COL_POD_NAME, 0, "y") &&
        text_is(table, KAISCHED_DECISION_COL_POD_NAME, 1, "x"));
  CHECK(first_decision(decisions_of(one.session)) == KAISCHED_DECISION_UNSCHEDULABLE);

  kaisched_session* fork = NULL;
  OK(kaisched_session_fork(one.session, &fork, NULL));
  CHECK(same_digest(fork, one.session));
  OK(kaisched_session_run_group(fork, "allocate", one.b, NULL));
  CHECK(text_is(decisions_of(fork), KAISCHED_DECISION_COL_POD_NAME, 0, "y"));
  CHECK(!same_digest(fork, one.session));
  kaisched_session_close(one.session); /* the fork and the answers live on */
  one.session = NULL;
  CHECK(text_is(table, KAISCHED_DECISION_COL_NODE_NAME, 0, "n"));
  kaisched_answers_destroy(answers);

  /* On what is left there is nothing for the other one. */
  OK(kaisched_session_ask(fork, "allocate", &one.a, 1, &answers, NULL));
  OK(kaisched_answers_table(answers, &table, &first, NULL));
  CHECK(table->rows == 0 && first[1] == 0);
  kaisched_answers_destroy(answers);
  OK(kaisched_session_ask(fork, "allocate", NULL, 0, &answers, NULL));
  kaisched_answers_destroy(answers);

  EXPECT(KAISCHED_E_NOT_FOUND, KAISCHED_FN_SESSION_RUN_GROUP, kaisched_session_run_group, fork, "alocate", one.a);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_SESSION_RUN_GROUP, kaisched_session_run_group, fork, "stalegangeviction",
         one.a);
  EXPECT(KAISCHED_E_NOT_FOUND, KAISCHED_FN_SESSION_RUN_GROUP, kaisched_session_run_group, fork, "allocate", 0);
  EXPECT(KAISCHED_E_WRONG_KIND, KAISCHED_FN_SESSION_RUN_GROUP, kaisched_session_run_group, fork, "allocate", one.x);
  EXPECT(KAISCHED_E_STALE_ID, KAISCHED_FN_SESSION_RUN_GROUP, kaisched_session_run_group, fork, "allocate", one.a + 77);
  EXPECT(KAISCHED_E_WRONG_KIND, KAISCHED_FN_SESSION_ASK, kaisched_session_ask, fork, "allocate", &one.q, 1, &answers);
  CHECK(answers == NULL);
  kaisched_session_close(fork);
  closed(&one);
}

/* ---- the statement ----------------------------------------------------------------------------------------------- */

static void statements(void) {
  open_session one = opened();
  kaisched_session* untouched = NULL;
  OK(kaisched_session_fork(one.session, &untouched, NULL));
  kaisched_checkpoint start, later;
  int32_t placed = 0;
  OK(kaisched_session_mark(one.session, &start, NULL));
  OK(kaisched_session_allocate(one.session, one.x, one.n, &placed, NULL));
  CHECK(placed == 1);
  OK(kaisched_session_mark(one.session, &later, NULL));
  CHECK(later.depth == start.depth + 1);
  OK(kaisched_session_allocate(one.session, one.y, one.n, &placed, NULL));
  CHECK(placed == 0); /* four GPUs are left, it wants eight */
  EXPECT(KAISCHED_E_STATE, KAISCHED_FN_SESSION_ALLOCATE, kaisched_session_allocate, one.session, one.x, one.n, &placed);
  EXPECT(KAISCHED_E_STATE, KAISCHED_FN_SESSION_RUN, kaisched_session_run, one.session, "allocate"); /* it is open */
  kaisched_recorder* recorder = NULL;
  kaisched_engine* engine = NULL;
  const void* bytes = NULL;
  size_t size = 0;
  OK(kaisched_recorder_create(&recorder, NULL));
  OK(kaisched_engine_create(KAISCHED_ABI_VERSION, NULL, 0, &engine, NULL));
  EXPECT(KAISCHED_E_STATE, KAISCHED_FN_RECORDER_ADD, kaisched_recorder_add, recorder, engine, one.session, 0, &bytes,
         &size);
  CHECK(bytes == NULL && size == 0);
  kaisched_engine_destroy(engine);
  kaisched_recorder_destroy(recorder);
  EXPECT(KAISCHED_E_STATE, KAISCHED_FN_SESSION_EVICT, kaisched_session_evict, one.session, one.x);  /* roll it back */
  OK(kaisched_session_rollback(one.session, &start, NULL));
  EXPECT(KAISCHED_E_STATE, KAISCHED_FN_SESSION_ROLLBACK, kaisched_session_rollback, one.session, &later);
  CHECK(same_digest(one.session, untouched));

  OK(kaisched_session_allocate(one.session, one.x, one.n, NULL, NULL));
  OK(kaisched_session_commit(one.session, NULL));
  OK(kaisched_session_commit(one.session, NULL)); /* of nothing */
  const kaisched_table* made = decisions_of(one.session);
  CHECK(first_decision(made) == KAISCHED_DECISION_BIND && text_is(made, KAISCHED_DECISION_COL_POD_NAME, 0, "x"));
  EXPECT(KAISCHED_E_STATE, KAISCHED_FN_SESSION_ROLLBACK, kaisched_session_rollback, one.session, &start);

  kaisched_session* what_if = NULL;
  OK(kaisched_session_fork(one.session, &what_if, NULL));
  OK(kaisched_session_evict(what_if, one.x, NULL));                    /* it has been decided by now */
  OK(kaisched_session_pipeline(what_if, one.y, one.n, &placed, NULL)); /* on what comes free */
  CHECK(placed == 1);
  OK(kaisched_session_commit(what_if, NULL));
  kaisched_session_close(what_if);

  EXPECT(KAISCHED_E_WRONG_KIND, KAISCHED_FN_SESSION_ALLOCATE, kaisched_session_allocate, one.session, one.a, one.n,
         NULL);
  EXPECT(KAISCHED_E_WRONG_KIND, KAISCHED_FN_SESSION_ALLOCATE, kaisched_session_allocate, one.session, one.y, one.x,
         NULL);
  EXPECT(KAISCHED_E_STALE_ID, KAISCHED_FN_SESSION_PIPELINE, kaisched_session_pipeline, one.session, one.y, one.n + 9,
         NULL);
  EXPECT(KAISCHED_E_NOT_FOUND, KAISCHED_FN_SESSION_EVICT, kaisched_session_evict, one.session, 0);
  EXPECT(KAISCHED_E_STATE, KAISCHED_FN_SESSION_EVICT, kaisched_session_evict, one.session, one.y);
  kaisched_session_close(untouched);
  closed(&one);
}

static void cancelled(void) {
  open_session one = opened();
  kaisched_session* fork = NULL;
  kaisched_session_cancel(one.session);
  OK(kaisched_session_fork(one.session, &fork, NULL));
  OK(kaisched_session_run(fork, NULL, NULL)); /* forks do not notice */
  kaisched_error err = KAISCHED_ERROR_INIT;
  check_status(__LINE__, kaisched_session_run(one.session, "allocate", &err), KAISCHED_E_CANCELLED, &err,
               KAISCHED_FN_SESSION_RUN);
  CHECK(first_decision(decisions_of(one.session)) == KAISCHED_DECISION_UNSCHEDULABLE);
  OK(kaisched_session_run(one.session, NULL, NULL)); /* once */
  CHECK(same_digest(one.session, fork));
  kaisched_session_close(fork);
  closed(&one);
}

static void solve(void) {
  kaisched_session *session = NULL, *wanted = new_session();
  OK(kaisched_solve(KAISCHED_ABI_VERSION, NULL, 0, all_tables, 4, 10, &session, NULL));
  CHECK(same_digest(session, wanted));
  kaisched_session_close(session);
  const kaisched_kv compat = {"mode", "compat"}, wrong = {"mood", "compat"};
  OK(kaisched_solve(KAISCHED_ABI_VERSION, &compat, 1, all_tables, 4, 10, &session, NULL));
  CHECK(!same_digest(session, wanted));
  kaisched_session_close(session);
  EXPECT(KAISCHED_E_NOT_FOUND, KAISCHED_FN_SOLVE, kaisched_solve, KAISCHED_ABI_VERSION, &wrong, 1, all_tables, 4, 10,
         &session);
  CHECK(session == NULL);
  EXPECT(KAISCHED_E_ABI, KAISCHED_FN_SOLVE, kaisched_solve, KAISCHED_ABI_VERSION + 0x10000u, NULL, 0, all_tables, 4, 10,
         &session);
  EXPECT(KAISCHED_E_NOT_FOUND, KAISCHED_FN_SOLVE, kaisched_solve, KAISCHED_ABI_VERSION, NULL, 0, all_tables + 2, 2, 10,
         &session); /* groups of a queue that is not there */
  OK(kaisched_solve(KAISCHED_ABI_VERSION, NULL, 0, NULL, 0, 10, &session, NULL));
  kaisched_session_close(session);
  kaisched_session_close(wanted);
}

/* ---- threads of the host ----------------------------------------------------------------------------------------- */

static int pieces_run = 0, pieces_left_out = 0, destroyed = 0;

/* A careless host: leaves every third piece out and does every second one twice. */
static void run_pieces(void* state, size_t count, void (*work)(void* work_state, size_t index), void* work_state) {
  CHECK(state == &pieces_run);
  for (size_t i = count; i-- > 0;) {
    ++*(i % 3 == 2 ? &pieces_left_out : &pieces_run);
    if (i % 3 == 2) continue;
    work(work_state, i);
    if (i % 2 == 0) work(work_state, i);
  }
  work(work_state, count + 5);
}

static void note_destroyed(void* state) {
  CHECK(state == &pieces_run);
  ++destroyed;
}

static void executors(void) {
  open_session one = opened();
  kaisched_executor threads = {sizeof(kaisched_executor), 4, &pieces_run, run_pieces, note_destroyed};
  OK(kaisched_engine_set_executor(one.engine, &threads, NULL));
  kaisched_session* session = NULL;
  OK(kaisched_session_open(one.engine, one.snapshot, 10, &session, NULL));
  const kaisched_id groups_asked[] = {one.a, one.b, one.a, one.b, one.a, one.b, one.a};
  kaisched_answers* answers = NULL;
  const kaisched_table* table = NULL;
  const uint64_t* first = NULL;
  OK(kaisched_session_ask(session, "allocate", groups_asked, 7, &answers, NULL));
  OK(kaisched_answers_table(answers, &table, &first, NULL));
  CHECK(table->rows == 7 && pieces_run > 0 && pieces_left_out > 0);
  for (uint64_t i = 0; i < 7; ++i) {
    CHECK(first[i] == i && text_is(table, KAISCHED_DECISION_COL_POD_NAME, i, i % 2 == 0 ? "x" : "y"));
  }
  kaisched_answers_destroy(answers);
  OK(kaisched_engine_set_executor(one.engine, NULL, NULL));
  CHECK(destroyed == 0); /* a session still has it */
  kaisched_session_close(session);
  CHECK(destroyed == 1);

  threads.run = NULL;
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_ENGINE_SET_EXECUTOR, kaisched_engine_set_executor, one.engine, &threads);
  threads.run = run_pieces;
  threads.struct_size = sizeof(kaisched_executor) - 1;
  EXPECT(KAISCHED_E_STRUCT_SIZE, KAISCHED_FN_ENGINE_SET_EXECUTOR, kaisched_engine_set_executor, one.engine, &threads);
  CHECK(destroyed == 1);
  closed(&one);
}

/* ---- staging ----------------------------------------------------------------------------------------------------- */

static void staged_texts(void) {
  kaisched_staging* more = NULL;
  const kaisched_table* table = NULL;
  OK(kaisched_staging_create(KAISCHED_TABLE_POD, KAISCHED_OP_ADD, 3, &more, NULL));
  OK(kaisched_staging_text(more, KAISCHED_POD_COL_NAME, "old", 3, NULL)); /* a whole column replaces what was there */
  OK(kaisched_staging_texts(more, KAISCHED_POD_COL_NAME, "one\0\0three", 11, NULL));
  OK(kaisched_staging_table(more, &table, NULL));
  REQUIRE(table != NULL);
  CHECK(text_is(table, KAISCHED_POD_COL_NAME, 0, "one") && text_is(table, KAISCHED_POD_COL_NAME, 1, "") &&
        text_is(table, KAISCHED_POD_COL_NAME, 2, "three"));
  /* Too few, too many, one that does not end, none at all: the column stays as it was. */
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_STAGING_TEXTS, kaisched_staging_texts, more, KAISCHED_POD_COL_NAME, "a\0b",
         4);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_STAGING_TEXTS, kaisched_staging_texts, more, KAISCHED_POD_COL_NAME,
         "a\0b\0c\0d", 8);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_STAGING_TEXTS, kaisched_staging_texts, more, KAISCHED_POD_COL_NAME,
         "a\0b\0c\0d", 7);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_STAGING_TEXTS, kaisched_staging_texts, more, KAISCHED_POD_COL_NAME, NULL, 0);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_STAGING_TEXTS, kaisched_staging_texts, more, KAISCHED_POD_COL_NODE_SELECTOR,
         "a\0b\0c", 6);
  EXPECT(KAISCHED_E_UNSUPPORTED, KAISCHED_FN_STAGING_TEXTS, kaisched_staging_texts, more, 9999, "a\0b\0c", 6);
  OK(kaisched_staging_table(more, &table, NULL));
  CHECK(text_is(table, KAISCHED_POD_COL_NAME, 2, "three"));
  OK(kaisched_staging_clear(more, 0, NULL));
  OK(kaisched_staging_texts(more, KAISCHED_POD_COL_NAME, NULL, 0, NULL));
  kaisched_staging_destroy(more);
}

static void staging(void) {
  kaisched_cluster* cluster = new_cluster();
  const kaisched_id b = id_of(cluster, KAISCHED_KIND_POD_GROUP, "b");
  kaisched_staging* more = NULL;
  const kaisched_table* table = NULL;
  void* memory = NULL;
  OK(kaisched_staging_create(KAISCHED_TABLE_POD, KAISCHED_OP_ADD, 2, &more, NULL));
  OK(kaisched_staging_text(more, KAISCHED_POD_COL_NAME, "first", 5, NULL));
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_STAGING_TABLE, kaisched_staging_table, more, &table);
  CHECK(table == NULL);
  OK(kaisched_staging_text(more, KAISCHED_POD_COL_NAME, "second", 6, NULL));
  EXPECT(KAISCHED_E_LIMIT, KAISCHED_FN_STAGING_TEXT, kaisched_staging_text, more, KAISCHED_POD_COL_NAME, "third", 5);
  OK(kaisched_staging_numbers(more, KAISCHED_POD_COL_GROUP, KAISCHED_TYPE_U64, 1, &memory, NULL)); /* by identifier */
  ((kaisched_id*)memory)[0] = ((kaisched_id*)memory)[1] = b;
  OK(kaisched_staging_numbers(more, KAISCHED_POD_COL_REQUEST, KAISCHED_TYPE_I64, 3, &memory, NULL));
  ((int64_t*)memory)[2] = ((int64_t*)memory)[5] = 2000;
  CHECK(((int64_t*)memory)[0] == 0);
  void* same = NULL;
  OK(kaisched_staging_numbers(more, KAISCHED_POD_COL_REQUEST, KAISCHED_TYPE_I64, 3, &same, NULL));
  CHECK(same == memory);
  const uint32_t ends[] = {0, 9, 9};
  OK(kaisched_staging_ragged(more, KAISCHED_POD_COL_NODE_SELECTOR, "disk\0ssd", ends, NULL));
  OK(kaisched_staging_table(more, &table, NULL));
  REQUIRE(table != NULL && table->rows == 2 && table->column_count == 4);
  kaisched_error err = KAISCHED_ERROR_INIT;
  kaisched_status applied = kaisched_cluster_apply(cluster, &table, 1, &err);
  if (applied != KAISCHED_OK) printf("%s\n", err.message);
  CHECK(applied == KAISCHED_OK);
  CHECK(id_of(cluster, KAISCHED_KIND_POD, "second") != 0);

  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_STAGING_NUMBERS, kaisched_staging_numbers, more, KAISCHED_POD_COL_REQUEST,
         KAISCHED_TYPE_I64, 4, &memory);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_STAGING_NUMBERS, kaisched_staging_numbers, more, KAISCHED_POD_COL_REQUEST,
         KAISCHED_TYPE_I64, 0, &memory);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_STAGING_NUMBERS, kaisched_staging_numbers, more,
         KAISCHED_POD_COL_NODE_SELECTOR, KAISCHED_TYPE_I64, 1, &memory);
  /* A wrong type: the memory would be too small, or read as something else. */
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_STAGING_NUMBERS, kaisched_staging_numbers, more, KAISCHED_POD_COL_STATUS,
         KAISCHED_TYPE_I64, 1, &memory);
  CHECK(memory == NULL);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_STAGING_NUMBERS, kaisched_staging_numbers, more, KAISCHED_POD_COL_REQUEST,
         KAISCHED_TYPE_F64, 3, &memory);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_STAGING_NUMBERS, kaisched_staging_numbers, more, KAISCHED_POD_COL_REQUEST, 99,
         3, &memory);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_STAGING_NUMBERS, kaisched_staging_numbers, more, KAISCHED_POD_COL_GROUP,
         KAISCHED_TYPE_I64, 1, &memory);
  OK(kaisched_staging_table(more, &table, NULL));
  CHECK(table != NULL && table->column_count == 4); /* what was refused is no column */
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_STAGING_TEXT, kaisched_staging_text, more, KAISCHED_POD_COL_GROUP, "b", 1);
  EXPECT(KAISCHED_E_UNSUPPORTED, KAISCHED_FN_STAGING_TEXT, kaisched_staging_text, more, 9999, "b", 1);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_STAGING_TEXT, kaisched_staging_text, more, KAISCHED_POD_COL_REQUEST, "b", 1);
  const uint32_t falling[] = {0, 8, 4}, late[] = {1, 8, 8};
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_STAGING_RAGGED, kaisched_staging_ragged, more, KAISCHED_POD_COL_NODE_SELECTOR,
         "disk\0ssd", falling);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_STAGING_RAGGED, kaisched_staging_ragged, more, KAISCHED_POD_COL_NODE_SELECTOR,
         "disk\0ssd", late);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_STAGING_RAGGED, kaisched_staging_ragged, more, KAISCHED_POD_COL_NODE_SELECTOR,
         NULL, ends);

  OK(kaisched_staging_clear(more, 0, NULL));
  OK(kaisched_staging_table(more, &table, NULL));
  CHECK(table->rows == 0 && table->column_count == 0);
  EXPECT(KAISCHED_E_LIMIT, KAISCHED_FN_STAGING_CLEAR, kaisched_staging_clear, more, UINT64_MAX);
  OK(kaisched_staging_clear(more, (UINT64_C(1) << 40) - 1, NULL));
  EXPECT(KAISCHED_E_LIMIT, KAISCHED_FN_STAGING_NUMBERS, kaisched_staging_numbers, more, KAISCHED_POD_COL_REQUEST,
         KAISCHED_TYPE_I64, 4, &memory);
  kaisched_staging_destroy(more);
  more = NULL;
  EXPECT(KAISCHED_E_UNSUPPORTED, KAISCHED_FN_STAGING_CREATE, kaisched_staging_create, KAISCHED_TABLE_DECISION,
         KAISCHED_OP_ADD, 1, &more);
  CHECK(more == NULL);
  EXPECT(KAISCHED_E_UNSUPPORTED, KAISCHED_FN_STAGING_CREATE, kaisched_staging_create, 999, KAISCHED_OP_ADD, 1, &more);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_STAGING_CREATE, kaisched_staging_create, KAISCHED_TABLE_POD, KAISCHED_OP_NONE,
         1, &more);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_STAGING_CREATE, kaisched_staging_create, KAISCHED_TABLE_POD, 4, 1, &more);
  EXPECT(KAISCHED_E_LIMIT, KAISCHED_FN_STAGING_CREATE, kaisched_staging_create, KAISCHED_TABLE_POD, KAISCHED_OP_ADD,
         UINT64_MAX, &more);
  kaisched_cluster_destroy(cluster);
}

static const named_case cases[] = {
    {"session_null_use", null_use},
    {"questions", questions},
    {"statements", statements},
    {"cancelled", cancelled},
    {"solve", solve},
    {"executors", executors},
    {"staging", staging},
    {"staged_texts", staged_texts},
    {"assume", assume},
    {"candidates", candidates},
};

int main(int argc, char** argv) { return run_cases(cases, sizeof cases / sizeof cases[0], argc, argv); }
