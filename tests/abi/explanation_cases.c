/* Questions why and what if as a C99 program sees them. usage: kaisched_abi_explanation_cases CASE */
#include "case_support.h"

static const uint8_t running[] = {KAISCHED_POD_STATUS_RUNNING};
static const kaisched_col started_cols[] = {
    {KAISCHED_POD_COL_NAME, KAISCHED_TYPE_STRING, 0, 0, "x", one_char},
    {KAISCHED_POD_COL_STATUS, KAISCHED_TYPE_U8, 1, 0, running, NULL},
    {KAISCHED_POD_COL_NODE, KAISCHED_TYPE_STRING, 0, 0, "n", one_char},
};
static const kaisched_table started = {
    sizeof(kaisched_table), KAISCHED_TABLE_POD, KAISCHED_OP_CHANGE, 3, 1, started_cols};

static const int64_t high[] = {100};
static const kaisched_col urgent_cols[] = {
    {KAISCHED_POD_GROUP_COL_NAME, KAISCHED_TYPE_STRING, 0, 0, "b", one_char},
    {KAISCHED_POD_GROUP_COL_PRIORITY, KAISCHED_TYPE_I64, 1, 0, high, NULL},
};
static const kaisched_table urgent = {
    sizeof(kaisched_table), KAISCHED_TABLE_POD_GROUP, KAISCHED_OP_CHANGE, 2, 1, urgent_cols};

/* A group of one pod that is not there yet: c with z, which asks for 2 GPUs. */
static const int64_t third[] = {3};
static const kaisched_col new_group_cols[] = {
    {KAISCHED_POD_GROUP_COL_NAME, KAISCHED_TYPE_STRING, 0, 0, "c", one_char},
    {KAISCHED_POD_GROUP_COL_QUEUE, KAISCHED_TYPE_STRING, 0, 0, "q", one_char},
    {KAISCHED_POD_GROUP_COL_CREATED, KAISCHED_TYPE_I64, 1, 0, third, NULL},
};
static const kaisched_table new_group = {sizeof(kaisched_table), KAISCHED_TABLE_POD_GROUP, KAISCHED_OP_ADD, 3, 1,
                                         new_group_cols};
static const int64_t two_gpus[] = {1000, 0, 2000};
static const kaisched_col new_pod_cols[] = {
    {KAISCHED_POD_COL_NAME, KAISCHED_TYPE_STRING, 0, 0, "z", one_char},
    {KAISCHED_POD_COL_GROUP, KAISCHED_TYPE_STRING, 0, 0, "c", one_char},
    {KAISCHED_POD_COL_REQUEST, KAISCHED_TYPE_I64, 3, 0, two_gpus, NULL},
};
static const kaisched_table new_pod = {sizeof(kaisched_table), KAISCHED_TABLE_POD, KAISCHED_OP_ADD, 3, 1, new_pod_cols};
static const kaisched_table* const new_tables[] = {&new_group, &new_pod};

/* A session over the cluster of the tests, and what its cluster calls things. */
typedef struct asked_session {
  kaisched_cluster* cluster;
  kaisched_session* session;
  kaisched_id x, y, a, b, n, q;
} asked_session;

static kaisched_id id_of(const kaisched_cluster* cluster, uint32_t kind, const char* name) {
  kaisched_id id = 0;
  OK(kaisched_cluster_find(cluster, kind, name, &id, NULL));
  return id;
}

/* `change` is applied to the cluster before. */
static asked_session asked(const kaisched_table* const* change, size_t count) {
  asked_session made = {new_cluster(), NULL, 0, 0, 0, 0, 0, 0};
  kaisched_engine* engine = new_engine();
  kaisched_snapshot* snapshot = NULL;
  OK(kaisched_cluster_apply(made.cluster, change, count, NULL));
  OK(kaisched_cluster_snapshot(made.cluster, &snapshot, NULL));
  OK(kaisched_run(engine, snapshot, 10, &made.session, NULL));
  kaisched_snapshot_release(snapshot);
  kaisched_engine_destroy(engine);
  made.x = id_of(made.cluster, KAISCHED_KIND_POD, "x");
  made.y = id_of(made.cluster, KAISCHED_KIND_POD, "y");
  made.a = id_of(made.cluster, KAISCHED_KIND_POD_GROUP, "a");
  made.b = id_of(made.cluster, KAISCHED_KIND_POD_GROUP, "b");
  made.n = id_of(made.cluster, KAISCHED_KIND_NODE, "n");
  made.q = id_of(made.cluster, KAISCHED_KIND_QUEUE, "q");
  return made;
}

static void done_with(asked_session* one) {
  kaisched_session_close(one->session);
  kaisched_cluster_destroy(one->cluster);
}

/* The table of answers of a kind, whose last rows end where `count` questions end; NULL if it is not that. */
static const kaisched_table* table_of(const kaisched_answers* answers, uint32_t kind, size_t count) {
  const kaisched_table* table = NULL;
  const uint64_t* first = NULL;
  OK(kaisched_answers_table(answers, &table, &first, NULL));
  CHECK(table != NULL && table->kind == kind && first[0] == 0 && first[count] == table->rows);
  return table != NULL && table->kind == kind ? table : NULL;
}

/* ---- NULL in every place, and identifiers of something else ------------------------------------------------------ */

static void null_use(void) {
  asked_session one = asked(NULL, 0);
  const kaisched_table* const hole[] = {NULL};
  const char* const nobody[] = {NULL};
  kaisched_answers* out = (kaisched_answers*)&failures;
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_SESSION_REMEDIES, kaisched_session_remedies, NULL, &one.b, 1, NULL, &out);
  CHECK(out == NULL);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_SESSION_REMEDIES, kaisched_session_remedies, one.session, NULL, 1, NULL,
         &out);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_SESSION_REMEDIES, kaisched_session_remedies, one.session, &one.b, 1, NULL,
         NULL);
  EXPECT(KAISCHED_E_WRONG_KIND, KAISCHED_FN_SESSION_REMEDIES, kaisched_session_remedies, one.session, &one.n, 1, NULL,
         &out);
  out = (kaisched_answers*)&failures;
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_SESSION_CERTIFY, kaisched_session_certify, NULL, one.b, &out);
  CHECK(out == NULL);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_SESSION_CERTIFY, kaisched_session_certify, one.session, one.b, NULL);
  EXPECT(KAISCHED_E_WRONG_KIND, KAISCHED_FN_SESSION_CERTIFY, kaisched_session_certify, one.session, one.y, &out);
  out = (kaisched_answers*)&failures;
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_SESSION_CHOICE, kaisched_session_choice, NULL, one.x, &out);
  CHECK(out == NULL);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_SESSION_CHOICE, kaisched_session_choice, one.session, one.x, NULL);
  EXPECT(KAISCHED_E_WRONG_KIND, KAISCHED_FN_SESSION_CHOICE, kaisched_session_choice, one.session, one.a, &out);
  EXPECT(KAISCHED_E_STATE, KAISCHED_FN_SESSION_CHOICE, kaisched_session_choice, one.session, one.y, &out);
  out = (kaisched_answers*)&failures;
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_SESSION_VICTIM, kaisched_session_victim, NULL, one.x, &out);
  CHECK(out == NULL);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_SESSION_VICTIM, kaisched_session_victim, one.session, one.x, NULL);
  EXPECT(KAISCHED_E_WRONG_KIND, KAISCHED_FN_SESSION_VICTIM, kaisched_session_victim, one.session, one.q, &out);
  EXPECT(KAISCHED_E_STATE, KAISCHED_FN_SESSION_VICTIM, kaisched_session_victim, one.session, one.x, &out);
  out = (kaisched_answers*)&failures;
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_SESSION_SHARE_STEPS, kaisched_session_share_steps, NULL, one.q, &out);
  CHECK(out == NULL);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_SESSION_SHARE_STEPS, kaisched_session_share_steps, one.session, one.q, NULL);
  EXPECT(KAISCHED_E_WRONG_KIND, KAISCHED_FN_SESSION_SHARE_STEPS, kaisched_session_share_steps, one.session, one.a,
         &out);
  out = (kaisched_answers*)&failures;
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_SESSION_WHAT_IF, kaisched_session_what_if, NULL, new_tables, 2, NULL, 0, NULL,
         &out);
  CHECK(out == NULL);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_SESSION_WHAT_IF, kaisched_session_what_if, one.session, NULL, 1, NULL, 0,
         NULL, &out);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_SESSION_WHAT_IF, kaisched_session_what_if, one.session, hole, 1, NULL, 0,
         NULL, &out);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_SESSION_WHAT_IF, kaisched_session_what_if, one.session, NULL, 0, NULL, 1,
         NULL, &out);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_SESSION_WHAT_IF, kaisched_session_what_if, one.session, NULL, 0, nobody, 1,
         NULL, &out);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_SESSION_WHAT_IF, kaisched_session_what_if, one.session, new_tables, 2, NULL,
         0, NULL, NULL);
  out = (kaisched_answers*)&failures;
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_SESSION_GAPS, kaisched_session_gaps, NULL, &out);
  CHECK(out == NULL);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_SESSION_GAPS, kaisched_session_gaps, one.session, NULL);

  kaisched_checkpoint start = {0, 0};
  OK(kaisched_session_mark(one.session, &start, NULL));
  OK(kaisched_session_evict(one.session, one.x, NULL)); /* a statement is open */
  EXPECT(KAISCHED_E_STATE, KAISCHED_FN_SESSION_REMEDIES, kaisched_session_remedies, one.session, &one.b, 1, NULL, &out);
  EXPECT(KAISCHED_E_STATE, KAISCHED_FN_SESSION_CERTIFY, kaisched_session_certify, one.session, one.b, &out);
  EXPECT(KAISCHED_E_STATE, KAISCHED_FN_SESSION_GAPS, kaisched_session_gaps, one.session, &out);
  EXPECT(KAISCHED_E_STATE, KAISCHED_FN_SESSION_WHAT_IF, kaisched_session_what_if, one.session, new_tables, 2, NULL, 0,
         NULL, &out);
  OK(kaisched_session_rollback(one.session, &start, NULL));
  OK(kaisched_session_certify(one.session, one.b, &out, NULL));
  kaisched_answers_destroy(out);
  done_with(&one);
}

/* ---- why a group waits ------------------------------------------------------------------------------------------- */

static void remedies(void) {
  asked_session one = asked(NULL, 0); /* x is placed, y finds 4 of the 8 GPUs that it asks for */
  const kaisched_id both[] = {one.a, one.b};
  kaisched_answers* answers = NULL;
  const uint64_t* first = NULL;
  const kaisched_table* table = NULL;
  OK(kaisched_session_remedies(one.session, both, 2, NULL, &answers, NULL));
  OK(kaisched_answers_table(answers, &table, &first, NULL));
  REQUIRE(table_of(answers, KAISCHED_TABLE_REMEDY, 2) != NULL && first[1] == 1 && first[2] > 2);
  CHECK(number(table, KAISCHED_REMEDY_COL_REMEDY, 0) == 0 && text_is(table, KAISCHED_REMEDY_COL_CHANGE, 0, "") &&
        text_is(table, KAISCHED_REMEDY_COL_GROUP_NAME, 0, "a")); /* it does not wait */
  uint64_t nodes_row = 0;
  for (uint64_t i = first[1]; i < first[2]; ++i) {
    CHECK(identifier(table, KAISCHED_REMEDY_COL_GROUP, i) == one.b &&
          number(table, KAISCHED_REMEDY_COL_STARTS, i) == 1);
    CHECK(!text_is(table, KAISCHED_REMEDY_COL_TEXT, i, ""));
    if (text_is(table, KAISCHED_REMEDY_COL_CHANGE, i, "new_nodes")) nodes_row = i;
  }
  REQUIRE(nodes_row != 0);
  CHECK(integer(table, KAISCHED_REMEDY_COL_AFTER, nodes_row) == 1 &&
        identifier(table, KAISCHED_REMEDY_COL_SUBJECT, nodes_row) == one.n &&
        text_is(table, KAISCHED_REMEDY_COL_SUBJECT_NAME, nodes_row, "n"));
  kaisched_answers_destroy(answers);

  kaisched_remedy_limits limits = {sizeof limits, 0, 0, 0, 0, 0, 1, 1};
  OK(kaisched_session_remedies(one.session, &one.b, 1, &limits, &answers, NULL));
  table = table_of(answers, KAISCHED_TABLE_REMEDY, 1);
  REQUIRE(table != NULL);
  for (uint64_t i = 0; i < table->rows; ++i) CHECK(!text_is(table, KAISCHED_REMEDY_COL_CHANGE, i, "new_nodes"));
  kaisched_answers_destroy(answers);
  limits.trials = 1;
  OK(kaisched_session_remedies(one.session, &one.b, 1, &limits, &answers, NULL));
  table = table_of(answers, KAISCHED_TABLE_REMEDY, 1);
  REQUIRE(table != NULL && table->rows > 0);
  CHECK(number(table, KAISCHED_REMEDY_COL_TRIALS, 0) <= 1);
  CHECK(((const uint8_t*)kaisched_table_column(table, KAISCHED_REMEDY_COL_COMPLETE)->data)[0] == 0);
  kaisched_answers_destroy(answers);
  OK(kaisched_session_remedies(one.session, NULL, 0, NULL, &answers, NULL));
  CHECK(table_of(answers, KAISCHED_TABLE_REMEDY, 0) != NULL);
  kaisched_answers_destroy(answers);

  struct {
    kaisched_remedy_limits base;
    uint64_t future;
  } longer = {{sizeof longer, 0, 0, 0, 0, 0, 1, 1}, UINT64_MAX};
  OK(kaisched_session_remedies(one.session, &one.b, 1, &longer.base, &answers, NULL));
  kaisched_answers_destroy(answers);
  limits.struct_size = 0;
  EXPECT(KAISCHED_E_STRUCT_SIZE, KAISCHED_FN_SESSION_REMEDIES, kaisched_session_remedies, one.session, &one.b, 1,
         &limits, &answers);
  limits.struct_size = sizeof limits - 1;
  EXPECT(KAISCHED_E_STRUCT_SIZE, KAISCHED_FN_SESSION_REMEDIES, kaisched_session_remedies, one.session, &one.b, 1,
         &limits, &answers);
  CHECK(answers == NULL);
  done_with(&one);
}

static void certify(void) {
  asked_session one = asked(NULL, 0);
  kaisched_answers* answers = NULL;
  OK(kaisched_session_certify(one.session, one.b, &answers, NULL));
  const kaisched_table* table = table_of(answers, KAISCHED_TABLE_CERTIFICATE, 1);
  REQUIRE(table != NULL && table->rows == 1);
  CHECK(text_is(table, KAISCHED_CERTIFICATE_COL_GROUP_NAME, 0, "b") &&
        text_is(table, KAISCHED_CERTIFICATE_COL_ASSUMPTION, 0, "as_is") &&
        text_is(table, KAISCHED_CERTIFICATE_COL_BOUND, 0, "resource") &&
        text_is(table, KAISCHED_CERTIFICATE_COL_BOUND_DIMENSION, 0, "gpu"));
  CHECK(integer(table, KAISCHED_CERTIFICATE_COL_NEED, 0) > integer(table, KAISCHED_CERTIFICATE_COL_HAVE, 0));
  CHECK(!text_is(table, KAISCHED_CERTIFICATE_COL_TEXT, 0, ""));
  kaisched_session_close(one.session); /* the answer lives on */
  one.session = NULL;
  CHECK(list_is(table, KAISCHED_CERTIFICATE_COL_NODES, 0, "n") &&
        list_is(table, KAISCHED_CERTIFICATE_COL_PODS, 0, "y"));
  kaisched_answers_destroy(answers);
  done_with(&one);

  one = asked(NULL, 0);
  OK(kaisched_session_certify(one.session, one.a, &answers, NULL));
  table = table_of(answers, KAISCHED_TABLE_CERTIFICATE, 1);
  REQUIRE(table != NULL && table->rows == 1);
  CHECK(text_is(table, KAISCHED_CERTIFICATE_COL_KIND, 0, "none"));
  kaisched_answers_destroy(answers);
  done_with(&one);
}

/* ---- why a share, why here, why this pod ------------------------------------------------------------------------- */

static void share_steps(void) {
  asked_session one = asked(NULL, 0);
  kaisched_answers* answers = NULL;
  OK(kaisched_session_share_steps(one.session, one.q, &answers, NULL));
  const kaisched_table* table = table_of(answers, KAISCHED_TABLE_SHARE_STEP, 1);
  REQUIRE(table != NULL && table->rows > 3);
  int64_t gpus = 0;
  for (uint64_t i = 0; i < table->rows; ++i) {
    const int64_t given = integer(table, KAISCHED_SHARE_STEP_COL_GIVEN, i);
    CHECK(integer(table, KAISCHED_SHARE_STEP_COL_BEFORE, i) + given ==
          integer(table, KAISCHED_SHARE_STEP_COL_AFTER, i));
    CHECK(!text_is(table, KAISCHED_SHARE_STEP_COL_TEXT, i, ""));
    if (identifier(table, KAISCHED_SHARE_STEP_COL_QUEUE, i) == one.q &&
        text_is(table, KAISCHED_SHARE_STEP_COL_DIMENSION, i, "gpu"))
      gpus += given;
  }
  CHECK(gpus == 8000); /* all of the node */
  kaisched_answers_destroy(answers);
  done_with(&one);
}

static void choice(void) {
  asked_session one = asked(NULL, 0);
  kaisched_answers* answers = NULL;
  OK(kaisched_session_choice(one.session, one.x, &answers, NULL));
  const kaisched_table* table = table_of(answers, KAISCHED_TABLE_CHOICE, 1);
  REQUIRE(table != NULL && table->rows >= 1);
  CHECK(text_is(table, KAISCHED_CHOICE_COL_WHAT, 0, "chosen") && text_is(table, KAISCHED_CHOICE_COL_NODE_NAME, 0, "n"));
  CHECK(text_is(table, KAISCHED_CHOICE_COL_RULE, 0, "only_node") &&
        text_is(table, KAISCHED_CHOICE_COL_RUNNER_UP, 0, ""));
  CHECK(identifier(table, KAISCHED_CHOICE_COL_POD, 0) == one.x &&
        identifier(table, KAISCHED_CHOICE_COL_NODE, 0) == one.n);
  CHECK(number(table, KAISCHED_CHOICE_COL_FITTING, 0) == 1 && number(table, KAISCHED_CHOICE_COL_RANK, 0) == 1);
  kaisched_answers_destroy(answers);
  done_with(&one);
}

static void victim(void) {
  const kaisched_table* const change[] = {&started, &urgent};
  asked_session one = asked(change, 2);
  kaisched_answers* answers = NULL;
  OK(kaisched_session_run(one.session, "preempt", NULL));
  OK(kaisched_session_victim(one.session, one.x, &answers, NULL));
  const kaisched_table* table = table_of(answers, KAISCHED_TABLE_VICTIM, 1);
  REQUIRE(table != NULL);
  int placed = 0, lost = 0, rules = 0, outcomes = 0;
  for (uint64_t i = 0; i < table->rows; ++i) {
    CHECK(text_is(table, KAISCHED_VICTIM_COL_ACTION, i, "preempt") &&
          text_is(table, KAISCHED_VICTIM_COL_KIND, i, "evict"));
    rules += text_is(table, KAISCHED_VICTIM_COL_WHAT, i, "rule");
    placed += text_is(table, KAISCHED_VICTIM_COL_WHAT, i, "placed") &&
              text_is(table, KAISCHED_VICTIM_COL_GROUP_NAME, i, "b") && number(table, KAISCHED_VICTIM_COL_PODS, i) == 1;
    lost += text_is(table, KAISCHED_VICTIM_COL_WHAT, i, "victim") &&
            text_is(table, KAISCHED_VICTIM_COL_GROUP_NAME, i, "a") && number(table, KAISCHED_VICTIM_COL_PODS, i) == 1;
    outcomes +=
        text_is(table, KAISCHED_VICTIM_COL_WHAT, i, "protected") && !text_is(table, KAISCHED_VICTIM_COL_TEXT, i, "");
  }
  CHECK(placed == 1 && lost == 1 && rules >= 1 && outcomes == 1);
  kaisched_answers_destroy(answers);
  done_with(&one);
}

/* ---- gaps ---------------------------------------------------------------------------------------------------------
 */

static void gaps(void) {
  const kaisched_table* const change[] = {&started, &urgent};
  asked_session one = asked(change, 2);
  kaisched_answers* answers = NULL;
  OK(kaisched_session_run(one.session, "preempt", NULL));
  OK(kaisched_session_gaps(one.session, &answers, NULL));
  const kaisched_table* table = table_of(answers, KAISCHED_TABLE_GAP, 1);
  REQUIRE(table != NULL && table->rows == 1);
  CHECK(number(table, KAISCHED_GAP_COL_GAP, 0) == 1 && text_is(table, KAISCHED_GAP_COL_KIND, 0, "victims"));
  CHECK(text_is(table, KAISCHED_GAP_COL_ACTION, 0, "preempt") && text_is(table, KAISCHED_GAP_COL_GROUP_NAME, 0, "b"));
  CHECK(identifier(table, KAISCHED_GAP_COL_GROUP, 0) == one.b && identifier(table, KAISCHED_GAP_COL_POD, 0) == one.y);
  CHECK(integer(table, KAISCHED_GAP_COL_PODS, 0) == 1 && integer(table, KAISCHED_GAP_COL_ACHIEVED, 0) == 1);
  CHECK(integer(table, KAISCHED_GAP_COL_BOUND, 0) == 1 && integer(table, KAISCHED_GAP_COL_DISTANCE, 0) == 0);
  CHECK(integer(table, KAISCHED_GAP_COL_DOMAIN_BOUND, 0) == 1 && integer(table, KAISCHED_GAP_COL_PER_VICTIM, 0) >= 1);
  kaisched_answers_destroy(answers);
  done_with(&one);

  one = asked(NULL, 0); /* nobody leaves; y waits for more than is left */
  OK(kaisched_session_gaps(one.session, &answers, NULL));
  table = table_of(answers, KAISCHED_TABLE_GAP, 1);
  REQUIRE(table != NULL && table->rows == 1);
  CHECK(text_is(table, KAISCHED_GAP_COL_KIND, 0, "fragmentation") && text_is(table, KAISCHED_GAP_COL_POD_NAME, 0, "y"));
  CHECK(integer(table, KAISCHED_GAP_COL_ACHIEVED, 0) == 0 && integer(table, KAISCHED_GAP_COL_BOUND, 0) == 0);
  CHECK(text_is(table, KAISCHED_GAP_COL_DIMENSION, 0, "gpu") && text_is(table, KAISCHED_GAP_COL_DOMAIN, 0, ""));
  kaisched_answers_destroy(answers);
  done_with(&one);
}

/* ---- what if ----------------------------------------------------------------------------------------------------- */

static void what_if(void) {
  asked_session one = asked(NULL, 0);
  kaisched_answers* answers = NULL;
  OK(kaisched_session_what_if(one.session, new_tables, 2, NULL, 0, NULL, &answers, NULL));
  const kaisched_table* table = table_of(answers, KAISCHED_TABLE_FORECAST, 1);
  REQUIRE(table != NULL && table->rows == 1);
  CHECK(text_is(table, KAISCHED_FORECAST_COL_GROUP_NAME, 0, "c") &&
        text_is(table, KAISCHED_FORECAST_COL_WAY, 0, "now") && number(table, KAISCHED_FORECAST_COL_STARTS, 0) == 1);
  kaisched_answers_destroy(answers);

  const char* const names[] = {"c", "b"};
  OK(kaisched_session_what_if(one.session, new_tables, 2, names, 2, NULL, &answers, NULL));
  table = table_of(answers, KAISCHED_TABLE_FORECAST, 2);
  REQUIRE(table != NULL && table->rows == 2);
  CHECK(text_is(table, KAISCHED_FORECAST_COL_GROUP_NAME, 1, "b") &&
        text_is(table, KAISCHED_FORECAST_COL_KNOWLEDGE, 1, "no_estimate") &&
        integer(table, KAISCHED_FORECAST_COL_EXPECTED, 1) == -1);
  kaisched_answers_destroy(answers);
  kaisched_what_if_limits limits = {sizeof limits, 0, 0, 1, 1, 0};
  OK(kaisched_session_what_if(one.session, NULL, 0, names + 1, 1, &limits, &answers, NULL));
  table = table_of(answers, KAISCHED_TABLE_FORECAST, 1);
  REQUIRE(table != NULL && table->rows == 1);
  CHECK(text_is(table, KAISCHED_FORECAST_COL_KNOWLEDGE, 0, "none"));
  kaisched_answers_destroy(answers);
  limits.struct_size -= 1;
  EXPECT(KAISCHED_E_STRUCT_SIZE, KAISCHED_FN_SESSION_WHAT_IF, kaisched_session_what_if, one.session, NULL, 0, names + 1,
         1, &limits, &answers);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_SESSION_WHAT_IF, kaisched_session_what_if, one.session, NULL, 0, NULL, 0,
         NULL, &answers);
  EXPECT(KAISCHED_E_NOT_FOUND, KAISCHED_FN_SESSION_WHAT_IF, kaisched_session_what_if, one.session, NULL, 0, names, 1,
         NULL, &answers);
  EXPECT(KAISCHED_E_DUPLICATE, KAISCHED_FN_SESSION_WHAT_IF, kaisched_session_what_if, one.session, all_tables, 4, NULL,
         0, NULL, &answers);
  CHECK(answers == NULL);
  done_with(&one);
}

static const named_case cases[] = {
    {"explanation_null_use", null_use},
    {"remedies", remedies},
    {"certify", certify},
    {"share_steps", share_steps},
    {"choice", choice},
    {"victim", victim},
    {"gaps", gaps},
    {"what_if", what_if},
};

int main(int argc, char** argv) { return run_cases(cases, sizeof cases / sizeof cases[0], argc, argv); }
