/* The C interface as a C99 program sees it. usage: kaisched_abi_cases CASE; without a case: all of them. */
#include <stdlib.h>

#include "case_support.h"

/* ---- NULL in every place ----------------------------------------------------------------------------------------- */

static void null_library_and_engine(void) {
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_ENGINE_CREATE, kaisched_engine_create, KAISCHED_ABI_VERSION, NULL, 0, NULL);
  const kaisched_kv no_key = {NULL, "x"};
  const kaisched_kv no_value = {"preset", NULL};
  kaisched_engine* none = (kaisched_engine*)&failures;
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_ENGINE_CREATE, kaisched_engine_create, KAISCHED_ABI_VERSION, NULL, 1, &none);
  CHECK(none == NULL);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_ENGINE_CREATE, kaisched_engine_create, KAISCHED_ABI_VERSION, &no_key, 1,
         &none);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_ENGINE_CREATE, kaisched_engine_create, KAISCHED_ABI_VERSION, &no_value, 1,
         &none);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_OPTION_INFO, kaisched_option_info, 0, NULL);
  kaisched_engine_destroy(NULL);

  kaisched_engine* engine = new_engine();
  char text[8];
  size_t needed = 1;
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_ENGINE_SET, kaisched_engine_set, NULL, "mode", "strict");
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_ENGINE_SET, kaisched_engine_set, engine, NULL, "strict");
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_ENGINE_SET, kaisched_engine_set, engine, "mode", NULL);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_ENGINE_GET, kaisched_engine_get, NULL, "mode", text, sizeof text, &needed);
  CHECK(needed == 0);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_ENGINE_GET, kaisched_engine_get, engine, NULL, text, sizeof text, &needed);
  EXPECT(KAISCHED_OK, KAISCHED_FN_ENGINE_GET, kaisched_engine_get, engine, "mode", NULL, 0, &needed);
  CHECK(needed == strlen("strict") + 1);
  EXPECT(KAISCHED_OK, KAISCHED_FN_ENGINE_GET, kaisched_engine_get, engine, "mode", text, sizeof text, NULL);
  CHECK(strcmp(text, "strict") == 0);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_ENGINE_WARNING, kaisched_engine_warning, NULL, 0, text, sizeof text, &needed);
  CHECK(needed == 0);
  kaisched_engine_destroy(engine);
}

static void null_cluster_and_snapshot(void) {
  kaisched_cluster* cluster = new_cluster();
  const kaisched_table* const holes[] = {NULL};
  kaisched_id id = 1;
  size_t needed = 1;
  kaisched_snapshot* snapshot = (kaisched_snapshot*)&failures;
  const kaisched_table* table = &pods;
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_CLUSTER_CREATE, kaisched_cluster_create, NULL);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_CLUSTER_APPLY, kaisched_cluster_apply, NULL, all_tables, 4);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_CLUSTER_APPLY, kaisched_cluster_apply, cluster, NULL, 1);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_CLUSTER_APPLY, kaisched_cluster_apply, cluster, holes, 1);
  EXPECT(KAISCHED_OK, KAISCHED_FN_CLUSTER_APPLY, kaisched_cluster_apply, cluster, NULL, 0);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_CLUSTER_FIND, kaisched_cluster_find, NULL, KAISCHED_KIND_POD, "x", &id);
  CHECK(id == 0);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_CLUSTER_FIND, kaisched_cluster_find, cluster, KAISCHED_KIND_POD, NULL, &id);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_CLUSTER_FIND, kaisched_cluster_find, cluster, KAISCHED_KIND_POD, "x", NULL);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_CLUSTER_FIND, kaisched_cluster_find, cluster, 15, "x", &id);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_CLUSTER_SNAPSHOT, kaisched_cluster_snapshot, NULL, &snapshot);
  CHECK(snapshot == NULL);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_CLUSTER_SNAPSHOT, kaisched_cluster_snapshot, cluster, NULL);
  snapshot = (kaisched_snapshot*)&failures;
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_CLUSTER_PREVIEW, kaisched_cluster_preview, NULL, all_tables, 4, &snapshot);
  CHECK(snapshot == NULL);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_CLUSTER_PREVIEW, kaisched_cluster_preview, cluster, NULL, 1, &snapshot);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_CLUSTER_PREVIEW, kaisched_cluster_preview, cluster, holes, 1, &snapshot);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_CLUSTER_PREVIEW, kaisched_cluster_preview, cluster, NULL, 0, NULL);
  EXPECT(KAISCHED_E_DUPLICATE, KAISCHED_FN_CLUSTER_PREVIEW, kaisched_cluster_preview, cluster, all_tables, 4,
         &snapshot);
  CHECK(snapshot == NULL);
  OK(kaisched_cluster_preview(cluster, NULL, 0, &snapshot, NULL));
  kaisched_snapshot_release(snapshot);
  kaisched_cluster_destroy(cluster);
  kaisched_cluster_destroy(NULL);

  snapshot = new_snapshot();
  kaisched_cluster* resumed = (kaisched_cluster*)&failures;
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_CLUSTER_RESUME, kaisched_cluster_resume, NULL, &resumed);
  CHECK(resumed == NULL);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_CLUSTER_RESUME, kaisched_cluster_resume, snapshot, NULL);
  OK(kaisched_cluster_resume(snapshot, &resumed, NULL));
  OK(kaisched_cluster_find(resumed, KAISCHED_KIND_POD, "x", &id, NULL));
  EXPECT(KAISCHED_E_DUPLICATE, KAISCHED_FN_CLUSTER_APPLY, kaisched_cluster_apply, resumed, all_tables, 4);
  kaisched_cluster_destroy(resumed);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_SNAPSHOT_TABLE, kaisched_snapshot_table, NULL, KAISCHED_TABLE_POD, &table);
  CHECK(table == NULL);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_SNAPSHOT_TABLE, kaisched_snapshot_table, snapshot, KAISCHED_TABLE_POD, NULL);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_SNAPSHOT_DIGEST, kaisched_snapshot_digest, NULL, NULL, 0, &needed);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_SNAPSHOT_SAVE, kaisched_snapshot_save, NULL, NULL, 0, &needed);
  EXPECT(KAISCHED_OK, KAISCHED_FN_SNAPSHOT_DIGEST, kaisched_snapshot_digest, snapshot, NULL, 0, NULL);
  EXPECT(KAISCHED_OK, KAISCHED_FN_SNAPSHOT_SAVE, kaisched_snapshot_save, snapshot, NULL, 0, NULL);
  EXPECT(KAISCHED_E_UNSUPPORTED, KAISCHED_FN_SNAPSHOT_TABLE, kaisched_snapshot_table, snapshot, KAISCHED_TABLE_REASON,
         &table);
  EXPECT(KAISCHED_E_UNSUPPORTED, KAISCHED_FN_SNAPSHOT_TABLE, kaisched_snapshot_table, snapshot, 999, &table);
  kaisched_snapshot_release(snapshot);

  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_SNAPSHOT_LOAD, kaisched_snapshot_load, NULL, 4, &snapshot);
  CHECK(snapshot == NULL);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_SNAPSHOT_LOAD, kaisched_snapshot_load, "x", 1, NULL);
  kaisched_snapshot_retain(NULL);
  kaisched_snapshot_release(NULL);
}

static void null_session(void) {
  kaisched_engine* engine = new_engine();
  kaisched_snapshot* snapshot = new_snapshot();
  kaisched_session* session = (kaisched_session*)&failures;
  const kaisched_table* table = &pods;
  size_t needed = 1;
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_RUN, kaisched_run, NULL, snapshot, 0, &session);
  CHECK(session == NULL);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_RUN, kaisched_run, engine, NULL, 0, &session);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_RUN, kaisched_run, engine, snapshot, 0, NULL);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_SESSION_OPEN, kaisched_session_open, NULL, snapshot, 0, &session);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_SESSION_OPEN, kaisched_session_open, engine, NULL, 0, &session);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_SESSION_OPEN, kaisched_session_open, engine, snapshot, 0, NULL);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_SESSION_RUN, kaisched_session_run, NULL, "allocate");
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_SESSION_TABLE, kaisched_session_table, NULL, KAISCHED_TABLE_DECISION, &table);
  CHECK(table == NULL);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_SESSION_DIGEST, kaisched_session_digest, NULL, NULL, 0, &needed);
  CHECK(needed == 0);
  kaisched_session_close(NULL);
  kaisched_snapshot_release(snapshot);
  kaisched_engine_destroy(engine);

  session = new_session();
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_SESSION_TABLE, kaisched_session_table, session, KAISCHED_TABLE_DECISION,
         NULL);
  EXPECT(KAISCHED_OK, KAISCHED_FN_SESSION_DIGEST, kaisched_session_digest, session, NULL, 0, NULL);
  kaisched_session_close(session);
}

static void null_use(void) {
  null_library_and_engine();
  null_cluster_and_snapshot();
  null_session();
}

/* ---- everything twice -------------------------------------------------------------------------------------------- */

static void double_use(void) {
  kaisched_cluster* cluster = new_cluster();
  kaisched_id first = 0, second = 0;
  EXPECT(KAISCHED_E_DUPLICATE, KAISCHED_FN_CLUSTER_APPLY, kaisched_cluster_apply, cluster, all_tables, 4);
  OK(kaisched_cluster_find(cluster, KAISCHED_KIND_POD, "x", &first, NULL));
  OK(kaisched_cluster_find(cluster, KAISCHED_KIND_POD, "x", &second, NULL));
  CHECK(first != 0 && first == second);

  kaisched_snapshot *snapshot = NULL, *again = NULL;
  OK(kaisched_cluster_snapshot(cluster, &snapshot, NULL));
  OK(kaisched_cluster_snapshot(cluster, &again, NULL));
  char digest[2][KAISCHED_DIGEST_SIZE];
  OK(kaisched_snapshot_digest(snapshot, digest[0], KAISCHED_DIGEST_SIZE, NULL, NULL));
  OK(kaisched_snapshot_digest(again, digest[1], KAISCHED_DIGEST_SIZE, NULL, NULL));
  CHECK(strlen(digest[0]) == 64 && strcmp(digest[0], digest[1]) == 0);
  kaisched_snapshot_release(again);

  const kaisched_table *table = NULL, *same = NULL;
  OK(kaisched_snapshot_table(snapshot, KAISCHED_TABLE_POD, &table, NULL));
  OK(kaisched_snapshot_table(snapshot, KAISCHED_TABLE_POD, &same, NULL));
  CHECK(table != NULL && table == same && table->rows == 2);
  kaisched_snapshot_retain(snapshot);
  kaisched_snapshot_release(snapshot);
  CHECK(text_is(table, KAISCHED_POD_COL_NAME, 1, "y"));

  kaisched_engine* engine = new_engine();
  kaisched_session *session = NULL, *twin = NULL;
  OK(kaisched_run(engine, snapshot, 10, &session, NULL));
  OK(kaisched_session_open(engine, snapshot, 10, &twin, NULL));
  OK(kaisched_session_table(twin, KAISCHED_TABLE_DECISION, &table, NULL));
  CHECK(first_decision(table) == KAISCHED_DECISION_UNSCHEDULABLE);
  OK(kaisched_session_run(twin, NULL, NULL));
  OK(kaisched_session_table(twin, KAISCHED_TABLE_DECISION, &same, NULL));
  CHECK(first_decision(same) == KAISCHED_DECISION_BIND);
  CHECK(first_decision(table) == KAISCHED_DECISION_UNSCHEDULABLE); /* what was lent is as it was */
  OK(kaisched_session_digest(session, digest[0], KAISCHED_DIGEST_SIZE, NULL, NULL));
  OK(kaisched_session_digest(twin, digest[1], KAISCHED_DIGEST_SIZE, NULL, NULL));
  CHECK(strcmp(digest[0], digest[1]) == 0);
  kaisched_session_close(twin);
  kaisched_session_close(session);
  kaisched_engine_destroy(engine);
  kaisched_snapshot_release(snapshot);
  kaisched_cluster_destroy(cluster);
}

/* ---- structures shorter and longer than the library's ------------------------------------------------------------ */

static void struct_sizes(void) {
  kaisched_cluster* cluster = new_cluster();
  kaisched_error err = KAISCHED_ERROR_INIT;
  for (uint32_t size = 0; size < sizeof(kaisched_error); size += 8) {
    err.struct_size = size;
    err.code = 77;
    check_status(__LINE__, kaisched_cluster_apply(cluster, NULL, 0, &err), KAISCHED_E_STRUCT_SIZE, NULL, 0);
    CHECK(err.code == 77); /* not written to */
  }
  /* The error of a caller that knows a longer one. */
  struct {
    kaisched_error base;
    unsigned char tail[16];
  } long_error;
  memset(&long_error, 0x5A, sizeof long_error);
  long_error.base.struct_size = sizeof long_error;
  OK(kaisched_cluster_apply(cluster, NULL, 0, &long_error.base));
  CHECK(long_error.base.code == 0 && long_error.tail[0] == 0x5A && long_error.base.struct_size == sizeof long_error);

  /* A table of a caller that knows more members, and one that lacks some. */
  struct {
    kaisched_table base;
    uint64_t future;
  } table = {{sizeof table, KAISCHED_TABLE_QUEUE, KAISCHED_OP_CHANGE, 1, 1, queue_cols}, UINT64_MAX};
  const kaisched_table* const list[] = {&queues, &table.base};
  EXPECT(KAISCHED_OK, KAISCHED_FN_CLUSTER_APPLY, kaisched_cluster_apply, cluster, list + 1, 1);
  for (uint32_t size = 0; size < sizeof(kaisched_table); ++size) {
    table.base.struct_size = size;
    EXPECT(KAISCHED_E_STRUCT_SIZE, KAISCHED_FN_CLUSTER_APPLY, kaisched_cluster_apply, cluster, list + 1, 1);
  }
  kaisched_cluster_destroy(cluster);

  struct {
    kaisched_option base;
    uint64_t future;
  } option;
  memset(&option, 0x5A, sizeof option);
  option.base.struct_size = sizeof option;
  OK(kaisched_option_info(0, &option.base, NULL));
  CHECK(option.base.struct_size == sizeof option && option.base.name != NULL && option.future == 0);
  CHECK(option.base.applies_to == KAISCHED_OPTION_TARGET_ENGINE);
  /* A caller that knows the first version only: nothing is written behind it. */
  const uint32_t first = offsetof(kaisched_option, applies_to);
  memset(&option, 0x5A, sizeof option);
  option.base.struct_size = first;
  OK(kaisched_option_info(0, &option.base, NULL));
  CHECK(option.base.struct_size == first && option.base.doc != NULL && option.base.applies_to == 0x5A5A5A5Au);
  option.base.struct_size = first - 1;
  EXPECT(KAISCHED_E_STRUCT_SIZE, KAISCHED_FN_OPTION_INFO, kaisched_option_info, 0, &option.base);
}

/* ---- buffers of the caller --------------------------------------------------------------------------------------- */

static void buffers(void) {
  kaisched_snapshot *snapshot = new_snapshot(), *loaded = NULL;
  char small[64] = "before", text[KAISCHED_DIGEST_SIZE], again[KAISCHED_DIGEST_SIZE];
  size_t needed = 0;
  EXPECT(KAISCHED_E_LIMIT, KAISCHED_FN_SNAPSHOT_DIGEST, kaisched_snapshot_digest, snapshot, small, sizeof small,
         &needed);
  CHECK(needed == KAISCHED_DIGEST_SIZE && strcmp(small, "before") == 0);
  OK(kaisched_snapshot_digest(snapshot, text, sizeof text, NULL, NULL));

  static unsigned char bytes[1 << 16];
  OK(kaisched_snapshot_save(snapshot, NULL, 0, &needed, NULL));
  CHECK(needed > 100 && needed < sizeof bytes);
  EXPECT(KAISCHED_E_LIMIT, KAISCHED_FN_SNAPSHOT_SAVE, kaisched_snapshot_save, snapshot, bytes, needed - 1, NULL);
  OK(kaisched_snapshot_save(snapshot, bytes, needed, NULL, NULL));
  OK(kaisched_snapshot_load(bytes, needed, &loaded, NULL));
  OK(kaisched_snapshot_digest(loaded, again, sizeof again, NULL, NULL));
  CHECK(strcmp(text, again) == 0);
  kaisched_snapshot_release(loaded);
  kaisched_snapshot_release(snapshot);

  size_t refused = 0;
  for (size_t size = 0; size < needed; size += 1 + needed / 64) {
    kaisched_error err = KAISCHED_ERROR_INIT;
    loaded = NULL;
    CHECK(kaisched_snapshot_load(bytes, size, &loaded, &err) == KAISCHED_E_ARGUMENT);
    CHECK(loaded == NULL && err.message[0] != '\0');
    ++refused;
  }
  CHECK(refused > 48);
}

/* ---- what a run says --------------------------------------------------------------------------------------------- */

static void results(void) {
  kaisched_session* session = new_session();
  const kaisched_table* table = NULL;
  OK(kaisched_session_table(session, KAISCHED_TABLE_DECISION, &table, NULL));
  REQUIRE(table != NULL && table->struct_size == sizeof(kaisched_table) && table->kind == KAISCHED_TABLE_DECISION &&
          table->op == KAISCHED_OP_NONE && table->rows == 2);
  const kaisched_col* kind = kaisched_table_column(table, KAISCHED_DECISION_COL_KIND);
  const kaisched_col* devices = kaisched_table_column(table, KAISCHED_DECISION_COL_DEVICES);
  REQUIRE(kind != NULL && kind->type == KAISCHED_TYPE_U8 && kind->width == 1);
  CHECK(((const uint8_t*)kind->data)[0] == KAISCHED_DECISION_BIND);
  CHECK(((const uint8_t*)kind->data)[1] == KAISCHED_DECISION_UNSCHEDULABLE);
  REQUIRE(devices != NULL && devices->offsets[1] == 4);
  CHECK(text_is(table, KAISCHED_DECISION_COL_POD_NAME, 0, "x"));
  CHECK(text_is(table, KAISCHED_DECISION_COL_NODE_NAME, 0, "n"));
  CHECK(text_is(table, KAISCHED_DECISION_COL_GROUP_NAME, 1, "b"));

  OK(kaisched_session_table(session, KAISCHED_TABLE_REASON, &table, NULL));
  CHECK(table->rows >= 1 && text_is(table, KAISCHED_REASON_COL_GROUP_NAME, 0, "b"));
  OK(kaisched_session_table(session, KAISCHED_TABLE_QUEUE_SHARE, &table, NULL));
  CHECK(table->rows == 1 && text_is(table, KAISCHED_QUEUE_SHARE_COL_QUEUE_NAME, 0, "q"));
  OK(kaisched_session_table(session, KAISCHED_TABLE_PLACEMENT, &table, NULL));
  CHECK(table->rows == 2);
  OK(kaisched_session_table(session, KAISCHED_TABLE_STATISTIC, &table, NULL));
  CHECK(table->rows == 5); /* one for each action */
  OK(kaisched_session_table(session, KAISCHED_TABLE_ATTEMPT, &table, NULL));
  CHECK(table->rows >= 1 && text_is(table, KAISCHED_ATTEMPT_COL_GROUP_NAME, 0, "b"));
  OK(kaisched_session_table(session, KAISCHED_TABLE_POD_GROUP, &table, NULL)); /* no search was cut */
  CHECK(table->rows == 0);
  kaisched_error err = KAISCHED_ERROR_INIT;
  EXPECT(KAISCHED_E_UNSUPPORTED, KAISCHED_FN_SESSION_TABLE, kaisched_session_table, session, KAISCHED_TABLE_POD,
         &table);
  EXPECT(KAISCHED_E_UNSUPPORTED, KAISCHED_FN_SESSION_TABLE, kaisched_session_table, session, 999, &table);
  CHECK(table == NULL);
  CHECK(kaisched_session_run(session, "dance", &err) == KAISCHED_E_NOT_FOUND && strstr(err.message, "dance") != NULL);
  kaisched_session_close(session);
}

/* ---- engines ----------------------------------------------------------------------------------------------------- */

static int option_is(const kaisched_engine* engine, const char* option, const char* wanted) {
  char text[64] = "";
  return kaisched_engine_get(engine, option, text, sizeof text, NULL, NULL) == KAISCHED_OK && strcmp(text, wanted) == 0;
}

/* A vendor that nobody has heard of: two dies per card, which are given together. */
static const char vendors[] =
    "{\"schema\": \"kaisched-vendor/1\", \"vendors\": [{\"key\": \"Acme\","
    " \"resources\": {\"count\": \"acme.com/npu\", \"memory\": \"acme.com/npu-blocks\", \"cores\": "
    "\"acme.com/npu-cores\"},"
    " \"annotations\": {\"ids\": [{\"use\": \"acme.com/use\", \"avoid\": \"acme.com/avoid\"}]},"
    " \"requests\": {\"memory_unit_mib\": 128, \"default_permille\": 1000, \"default_cores\": 0},"
    " \"admission\": [{\"do\": \"claim\", \"names\": [\"acme.com/npu\"]}],"
    " \"checks\": [\"health\", \"type\", \"id\", \"slots\", \"exclusive\", \"memory\", \"cores\", \"whole_exclusive\", "
    "\"exhausted\"],"
    " \"core_cap\": 100, \"sets\": [{\"choose\": \"full_groups\", \"group_size\": 2}]}]}";

static void devices_of_vendors(void) {
  kaisched_engine* engine = new_engine();
  kaisched_error err = KAISCHED_ERROR_INIT;
  const size_t size = sizeof vendors - 1;
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_ENGINE_ADD_VENDORS, kaisched_engine_add_vendors, NULL, vendors, size, NULL);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_ENGINE_ADD_VENDORS, kaisched_engine_add_vendors, engine, NULL, size, NULL);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_ENGINE_ADD_VENDORS, kaisched_engine_add_vendors, engine, vendors, size - 2,
         "half.json");
  CHECK(kaisched_engine_add_vendors(engine, vendors, 0, "empty.json", &err) == KAISCHED_E_ARGUMENT);
  CHECK(strstr(err.message, "empty.json") != NULL);
  OK(kaisched_engine_add_vendors(engine, vendors, size, "acme.json", NULL));
  OK(kaisched_engine_add_vendors(engine, vendors, size, NULL, NULL)); /* replaces its like */
  kaisched_engine_destroy(engine);
}

/* Names of the version before, which are taken for the present ones. */
static void old_names(void) {
  const char* const wanted =
      "option 'tiers.actions' is called 'volcano.actions' since 0.2; the old name will not be "
      "accepted in 0.3";
  kaisched_engine* engine = new_engine();
  char text[256] = "";
  size_t needed = 0;
  EXPECT(KAISCHED_E_NOT_FOUND, KAISCHED_FN_ENGINE_WARNING, kaisched_engine_warning, engine, 0, NULL, 0, NULL);
  OK(kaisched_engine_set(engine, "tiers.actions", "allocate", NULL));
  OK(kaisched_engine_set(engine, "tiers.actions", "allocate,preempt", NULL));
  CHECK(option_is(engine, "volcano.actions", "allocate,preempt"));
  CHECK(option_is(engine, "tiers.actions", "allocate,preempt"));
  OK(kaisched_engine_warning(engine, 0, NULL, 0, &needed, NULL));
  CHECK(needed == strlen(wanted) + 1);
  EXPECT(KAISCHED_E_LIMIT, KAISCHED_FN_ENGINE_WARNING, kaisched_engine_warning, engine, 0, text, 8, &needed);
  OK(kaisched_engine_warning(engine, 0, text, sizeof text, NULL, NULL));
  CHECK(strcmp(text, wanted) == 0);
  EXPECT(KAISCHED_E_NOT_FOUND, KAISCHED_FN_ENGINE_WARNING, kaisched_engine_warning, engine, 1, NULL, 0, NULL);
  kaisched_engine_destroy(engine);

  const kaisched_kv options[] = {{"preset", "volcano-default"}, {"actions", "tiers"}};
  kaisched_session* session = NULL;
  OK(kaisched_solve(KAISCHED_ABI_VERSION, options, 2, NULL, 0, 0, &session, NULL));
  OK(kaisched_session_warning(session, 0, text, sizeof text, NULL, NULL));
  CHECK(strstr(text, "action 'tiers' is called 'volcano' since 0.2") == text);
  EXPECT(KAISCHED_E_NOT_FOUND, KAISCHED_FN_SESSION_WARNING, kaisched_session_warning, session, 1, NULL, 0, NULL);
  OK(kaisched_session_run(session, "cells", NULL));
  OK(kaisched_session_warning(session, 1, text, sizeof text, NULL, NULL));
  CHECK(strstr(text, "action 'cells' is called 'hived'") == text);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_SESSION_WARNING, kaisched_session_warning, NULL, 0, NULL, 0, &needed);
  CHECK(needed == 0);
  kaisched_session_close(session);
}

static void engines(void) {
  const kaisched_kv compat[] = {{"preset", "kai"}, {"mode", "compat"}};
  const kaisched_kv wrong[] = {{"mode", "compat"}, {"mode", "roughly"}};
  const kaisched_kv unknown[] = {{"mood", "strict"}};
  kaisched_engine *one = NULL, *two = NULL, *none = NULL;
  OK(kaisched_engine_create(KAISCHED_ABI_VERSION, compat, 2, &one, NULL));
  OK(kaisched_engine_create(KAISCHED_ABI_VERSION, NULL, 0, &two, NULL));
  CHECK(option_is(one, "mode", "compat") && option_is(two, "mode", "strict"));
  OK(kaisched_engine_set(one, "mode", "strict", NULL));
  OK(kaisched_engine_set(two, "mode", "compat", NULL));
  CHECK(option_is(one, "mode", "strict") && option_is(two, "mode", "compat"));
  kaisched_engine_destroy(one);
  CHECK(option_is(two, "mode", "compat"));
  kaisched_engine_destroy(two);

  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_ENGINE_CREATE, kaisched_engine_create, KAISCHED_ABI_VERSION, wrong, 2, &none);
  CHECK(none == NULL);
  EXPECT(KAISCHED_E_NOT_FOUND, KAISCHED_FN_ENGINE_CREATE, kaisched_engine_create, KAISCHED_ABI_VERSION, unknown, 1,
         &none);
  EXPECT(KAISCHED_E_ABI, KAISCHED_FN_ENGINE_CREATE, kaisched_engine_create, KAISCHED_ABI_VERSION + 1, NULL, 0, &none);
  EXPECT(KAISCHED_E_ABI, KAISCHED_FN_ENGINE_CREATE, kaisched_engine_create, KAISCHED_ABI_VERSION + 0x10000u, NULL, 0,
         &none);

  size_t count = 0;
  kaisched_option option = {sizeof option, 0, NULL, NULL, 0, 0, NULL, NULL, 0, 0};
  int of_clusters = 0;
  while (kaisched_option_info(count, &option, NULL) == KAISCHED_OK) {
    of_clusters += option.applies_to == KAISCHED_OPTION_TARGET_CLUSTER;
    CHECK(option.name[0] != '\0' && option.doc[0] != '\0' && option.type >= KAISCHED_OPTION_BOOLEAN &&
          option.type <= KAISCHED_OPTION_LIST && option.fallback != NULL && option.choices != NULL);
    ++count;
  }
  CHECK(count > 3 && option.name == NULL && of_clusters == 1);
  EXPECT(KAISCHED_E_NOT_FOUND, KAISCHED_FN_OPTION_INFO, kaisched_option_info, count, &option);
}

/* A cluster that leaves bad rows out says so; one that does not refuses the whole delta. */
static void quarantine(void) {
  static const kaisched_col cols[] = {
      {KAISCHED_POD_GROUP_COL_NAME, KAISCHED_TYPE_STRING, 0, 0, "cd", one_char},
      {KAISCHED_POD_GROUP_COL_QUEUE, KAISCHED_TYPE_STRING, 0, 0, "qx", one_char}, /* there is no queue x */
  };
  static const kaisched_table more = {sizeof(kaisched_table), KAISCHED_TABLE_POD_GROUP, KAISCHED_OP_ADD, 2, 2, cols};
  const kaisched_table* const list[] = {&more};
  kaisched_cluster* cluster = new_cluster();
  kaisched_snapshot* snapshot = NULL;
  const kaisched_table* left_out = NULL;
  char value[16] = "";
  size_t needed = 0;
  kaisched_id id = 0;
  EXPECT(KAISCHED_E_NOT_FOUND, KAISCHED_FN_CLUSTER_APPLY, kaisched_cluster_apply, cluster, list, 1);
  OK(kaisched_cluster_get_option(cluster, "on_invalid", value, sizeof value, &needed, NULL));
  CHECK(strcmp(value, "reject") == 0 && needed == strlen("reject") + 1);
  EXPECT(KAISCHED_E_LIMIT, KAISCHED_FN_CLUSTER_GET_OPTION, kaisched_cluster_get_option, cluster, "on_invalid", value, 3,
         NULL);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_CLUSTER_SET_OPTION, kaisched_cluster_set_option, cluster, "on_invalid",
         "ignore");
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_CLUSTER_SET_OPTION, kaisched_cluster_set_option, cluster, "mode", "strict");
  EXPECT(KAISCHED_E_NOT_FOUND, KAISCHED_FN_CLUSTER_SET_OPTION, kaisched_cluster_set_option, cluster, "on_invald", "x");
  EXPECT(KAISCHED_E_NOT_FOUND, KAISCHED_FN_CLUSTER_GET_OPTION, kaisched_cluster_get_option, cluster, "x", NULL, 0,
         NULL);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_CLUSTER_SET_OPTION, kaisched_cluster_set_option, NULL, "on_invalid",
         "reject");
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_CLUSTER_SET_OPTION, kaisched_cluster_set_option, cluster, NULL, "reject");
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_CLUSTER_SET_OPTION, kaisched_cluster_set_option, cluster, "on_invalid", NULL);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_CLUSTER_GET_OPTION, kaisched_cluster_get_option, NULL, "on_invalid", NULL, 0,
         NULL);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_CLUSTER_GET_OPTION, kaisched_cluster_get_option, cluster, NULL, NULL, 0,
         NULL);
  OK(kaisched_cluster_set_option(cluster, "on_invalid", "quarantine", NULL));
  OK(kaisched_cluster_apply(cluster, list, 1, NULL));
  OK(kaisched_cluster_find(cluster, KAISCHED_KIND_POD_GROUP, "c", &id, NULL));
  EXPECT(KAISCHED_E_NOT_FOUND, KAISCHED_FN_CLUSTER_FIND, kaisched_cluster_find, cluster, KAISCHED_KIND_POD_GROUP, "d",
         &id);
  OK(kaisched_cluster_snapshot(cluster, &snapshot, NULL));
  OK(kaisched_snapshot_table(snapshot, KAISCHED_TABLE_QUARANTINE, &left_out, NULL));
  CHECK(left_out != NULL && left_out->rows == 1 && left_out->op == KAISCHED_OP_NONE);
  CHECK(text_is(left_out, KAISCHED_QUARANTINE_COL_KIND, 0, "pod_group"));
  CHECK(text_is(left_out, KAISCHED_QUARANTINE_COL_NAME, 0, "d"));
  CHECK(text_is(left_out, KAISCHED_QUARANTINE_COL_COLUMN, 0, "queue"));
  CHECK(text_is(left_out, KAISCHED_QUARANTINE_COL_STATUS, 0, "not_found"));
  CHECK(text_is(left_out, KAISCHED_QUARANTINE_COL_TEXT, 0, "there is no queue 'x'"));
  CHECK(text_is(left_out, KAISCHED_QUARANTINE_COL_BECAUSE_OF, 0, ""));
  kaisched_snapshot_release(snapshot);
  kaisched_cluster_destroy(cluster);
}

/* Objects come, change and go; the snapshots are those of all of them. */
static void object_cache(void) {
  static const char node[] =
      "{\"apiVersion\": \"v1\", \"kind\": \"Node\", \"metadata\": {\"name\": \"n\"},"
      " \"status\": {\"allocatable\": {\"cpu\": \"4\", \"pods\": \"8\"}}}";
  static const char bad[] =
      "{\"apiVersion\": \"v1\", \"kind\": \"Node\", \"metadata\": {\"name\": \"m\"}, \"spec\": 7}";
  const kaisched_kv unknown = {"no_such", "1"};
  kaisched_object_cache* cache = (kaisched_object_cache*)&failures;
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_OBJECT_CACHE_CREATE, kaisched_object_cache_create, NULL, 0, NULL);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_OBJECT_CACHE_CREATE, kaisched_object_cache_create, NULL, 1, &cache);
  CHECK(cache == NULL);
  EXPECT(KAISCHED_E_NOT_FOUND, KAISCHED_FN_OBJECT_CACHE_CREATE, kaisched_object_cache_create, &unknown, 1, &cache);
  OK(kaisched_object_cache_create(NULL, 0, &cache, NULL));

  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_OBJECT_CACHE_PUT, kaisched_object_cache_put, NULL, node, sizeof node - 1);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_OBJECT_CACHE_PUT, kaisched_object_cache_put, cache, NULL, 1);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_OBJECT_CACHE_PUT, kaisched_object_cache_put, cache, "[", 1);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_OBJECT_CACHE_REMOVE, kaisched_object_cache_remove, NULL, node, 1);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_OBJECT_CACHE_REMOVE, kaisched_object_cache_remove, cache, NULL, 1);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_OBJECT_CACHE_REMOVE, kaisched_object_cache_remove, cache, "7", 1);
  EXPECT(KAISCHED_OK, KAISCHED_FN_OBJECT_CACHE_PUT, kaisched_object_cache_put, cache, NULL, 0);
  OK(kaisched_object_cache_put(cache, node, sizeof node - 1, NULL));
  OK(kaisched_object_cache_put(cache, bad, sizeof bad - 1, NULL));

  kaisched_snapshot* first = (kaisched_snapshot*)&failures;
  kaisched_objects* objects = (kaisched_objects*)&failures;
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_OBJECT_CACHE_SNAPSHOT, kaisched_object_cache_snapshot, NULL, 0, &first,
         &objects);
  CHECK(first == NULL && objects == NULL);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_OBJECT_CACHE_SNAPSHOT, kaisched_object_cache_snapshot, cache, 0, NULL,
         &objects);
  OK(kaisched_object_cache_snapshot(cache, 5, &first, &objects, NULL));
  int64_t now = 0;
  OK(kaisched_objects_now(objects, &now, NULL));
  CHECK(now == 5);
  size_t needed = 0;
  OK(kaisched_objects_fault(objects, 0, NULL, 0, &needed, NULL));
  EXPECT(KAISCHED_E_NOT_FOUND, KAISCHED_FN_OBJECTS_FAULT, kaisched_objects_fault, objects, 1, NULL, 0, NULL);
  const kaisched_table* nodes_of = NULL;
  OK(kaisched_snapshot_table(first, KAISCHED_TABLE_NODE, &nodes_of, NULL));
  CHECK(nodes_of->rows == 1);

  kaisched_snapshot* second = NULL;
  OK(kaisched_object_cache_remove(cache, node, sizeof node - 1, NULL));
  OK(kaisched_object_cache_remove(cache, node, sizeof node - 1, NULL));
  OK(kaisched_object_cache_snapshot(cache, 6, &second, NULL, NULL));
  OK(kaisched_snapshot_table(second, KAISCHED_TABLE_NODE, &nodes_of, NULL));
  CHECK(nodes_of->rows == 0);
  kaisched_object_cache_destroy(cache);
  kaisched_object_cache_destroy(NULL);
  OK(kaisched_snapshot_table(first, KAISCHED_TABLE_NODE, &nodes_of, NULL));
  CHECK(nodes_of->rows == 1);
  kaisched_objects_destroy(objects);
  kaisched_snapshot_release(first);
  kaisched_snapshot_release(second);
}

/* Bytes as gzip would have them that it cannot make smaller. They are to be freed. */
static unsigned char* packed(const void* bytes, size_t size, size_t* packed_size) {
  static const unsigned char head[] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255};
  const unsigned char* from = bytes;
  unsigned char* made = malloc(size + 5 * (size / 65535 + 1) + 18);
  CHECK(made != NULL);
  memcpy(made, head, sizeof head);
  size_t end = sizeof head;
  for (size_t at = 0;;) {
    const size_t part = size - at < 65535 ? size - at : 65535;
    made[end++] = (unsigned char)(at + part == size);
    made[end++] = (unsigned char)(part & 255);
    made[end++] = (unsigned char)(part >> 8);
    made[end++] = (unsigned char)(~part & 255);
    made[end++] = (unsigned char)(~part >> 8 & 255);
    memcpy(made + end, from + at, part);
    end += part;
    at += part;
    if (at == size) break;
  }
  uint32_t sum = 0xffffffffU;
  for (size_t i = 0; i < size; ++i) {
    sum ^= from[i];
    for (int bit = 0; bit < 8; ++bit) sum = sum >> 1 ^ (0xedb88320U & (0U - (sum & 1U)));
  }
  sum = ~sum;
  for (int i = 0; i < 4; ++i) made[end++] = (unsigned char)(sum >> 8 * i & 255);
  for (int i = 0; i < 4; ++i) made[end++] = (unsigned char)(size >> 8 * i & 255);
  *packed_size = end;
  return made;
}

/* What a session decided over what, as bytes, and decided again. */
static void recordings(void) {
  static const char nothing[] = "kaisched-cluster/1\n";
  kaisched_recorder* recorder = (kaisched_recorder*)&failures;
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_RECORDER_CREATE, kaisched_recorder_create, NULL);
  OK(kaisched_recorder_create(&recorder, NULL));
  kaisched_engine* engine = NULL;
  kaisched_cluster* cluster = NULL;
  kaisched_snapshot* snapshot = NULL;
  kaisched_session* session = NULL;
  OK(kaisched_engine_create(KAISCHED_ABI_VERSION, NULL, 0, &engine, NULL));
  OK(kaisched_engine_set(engine, "placement.gpu", "spread", NULL));
  OK(kaisched_cluster_create(&cluster, NULL));
  OK(kaisched_cluster_snapshot(cluster, &snapshot, NULL));
  OK(kaisched_run(engine, snapshot, 7, &session, NULL));
  const void* bytes = &failures;
  size_t size = 1;
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_RECORDER_ADD, kaisched_recorder_add, NULL, engine, session, 7, &bytes, &size);
  CHECK(bytes == NULL && size == 0);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_RECORDER_ADD, kaisched_recorder_add, recorder, NULL, session, 7, &bytes,
         &size);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_RECORDER_ADD, kaisched_recorder_add, recorder, engine, NULL, 7, &bytes,
         &size);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_RECORDER_ADD, kaisched_recorder_add, recorder, engine, session, 7, NULL,
         &size);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_RECORDER_ADD, kaisched_recorder_add, recorder, engine, session, 7, &bytes,
         NULL);
  OK(kaisched_recorder_add(recorder, engine, session, 7, &bytes, &size, NULL));

  kaisched_recording* recording = (kaisched_recording*)&failures;
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_RECORDING_OPEN, kaisched_recording_open, NULL, 0, &recording);
  CHECK(recording == NULL);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_RECORDING_OPEN, kaisched_recording_open, bytes, size, NULL);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_RECORDING_OPEN, kaisched_recording_open, nothing, sizeof nothing - 1,
         &recording);
  size_t packed_size = 0;
  unsigned char* gzip = packed(bytes, size, &packed_size);
  int32_t more = 7;
  OK(kaisched_recording_open(gzip, packed_size, &recording, NULL));
  OK(kaisched_recording_next(recording, &more, NULL, NULL));
  CHECK(more == 1);
  OK(kaisched_recording_next(recording, &more, NULL, NULL));
  CHECK(more == 0);
  kaisched_recording_close(recording);
  gzip[packed_size / 2] ^= 1;
  OK(kaisched_recording_open(gzip, packed_size, &recording, NULL));
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_RECORDING_NEXT, kaisched_recording_next, recording, &more, NULL);
  kaisched_recording_close(recording);
  free(gzip);
  OK(kaisched_recording_open(bytes, size, &recording, NULL));
  kaisched_recorder_destroy(recorder);
  kaisched_recorder_destroy(NULL);

  kaisched_snapshot* again = (kaisched_snapshot*)&failures;
  char digest[KAISCHED_DIGEST_SIZE];
  char recorded[KAISCHED_DIGEST_SIZE];
  EXPECT(KAISCHED_E_STATE, KAISCHED_FN_RECORDING_SNAPSHOT, kaisched_recording_snapshot, recording, &again);
  CHECK(again == NULL);
  EXPECT(KAISCHED_E_STATE, KAISCHED_FN_RECORDING_CONFIGURE, kaisched_recording_configure, recording, engine);
  EXPECT(KAISCHED_E_STATE, KAISCHED_FN_RECORDING_DIGEST, kaisched_recording_digest, recording, recorded,
         sizeof recorded, NULL);
  int64_t now = 0;
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_RECORDING_NEXT, kaisched_recording_next, NULL, &more, &now);
  CHECK(more == 0);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_RECORDING_NEXT, kaisched_recording_next, recording, NULL, &now);
  OK(kaisched_recording_next(recording, &more, &now, NULL));
  CHECK(more == 1 && now == 7);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_RECORDING_SNAPSHOT, kaisched_recording_snapshot, NULL, &again);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_RECORDING_SNAPSHOT, kaisched_recording_snapshot, recording, NULL);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_RECORDING_CONFIGURE, kaisched_recording_configure, NULL, engine);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_RECORDING_CONFIGURE, kaisched_recording_configure, recording, NULL);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_RECORDING_DIGEST, kaisched_recording_digest, NULL, recorded, sizeof recorded,
         NULL);

  kaisched_engine* other = NULL;
  kaisched_session* decided = NULL;
  OK(kaisched_engine_create(KAISCHED_ABI_VERSION, NULL, 0, &other, NULL));
  OK(kaisched_recording_configure(recording, other, NULL));
  char option[16];
  OK(kaisched_engine_get(other, "placement.gpu", option, sizeof option, NULL, NULL));
  CHECK(strcmp(option, "spread") == 0);
  OK(kaisched_recording_snapshot(recording, &again, NULL));
  OK(kaisched_run(other, again, now, &decided, NULL));
  OK(kaisched_session_digest(decided, digest, sizeof digest, NULL, NULL));
  OK(kaisched_recording_digest(recording, recorded, sizeof recorded, NULL, NULL));
  CHECK(strcmp(digest, recorded) == 0);
  OK(kaisched_recording_next(recording, &more, NULL, NULL));
  CHECK(more == 0);
  kaisched_recording_close(recording);
  kaisched_recording_close(NULL);
  kaisched_session_close(decided);
  kaisched_session_close(session);
  kaisched_snapshot_release(again);
  kaisched_snapshot_release(snapshot);
  kaisched_cluster_destroy(cluster);
  kaisched_engine_destroy(other);
  kaisched_engine_destroy(engine);
}

/* Objects of Kubernetes become a cluster, and its decisions become objects again. */
static void objects(void) {
  static const char text[] =
      "{\"kind\": \"Node\", \"metadata\": {\"name\": \"n\", \"creationTimestamp\": \"1970-01-01T00:00:07Z\"},"
      " \"status\": {\"allocatable\": {\"cpu\": \"8\", \"nvidia.com/gpu\": 4, \"pods\": 110}}}\n"
      "{\"kind\": \"Node\", \"metadata\": {\"name\": \"m\"}, \"status\": {\"allocatable\": {\"cpu\": \"many\"}}}\n"
      "{\"kind\": \"Pod\", \"metadata\": {\"name\": \"p\", \"namespace\": \"t\", \"uid\": \"u\"}, \"spec\": {"
      "\"schedulerName\": \"mine\", \"containers\": [{\"resources\": {\"limits\": {\"nvidia.com/gpu\": 2}}}]}}";
  static const kaisched_kv options[] = {{"scheduler", "mine"}};
  static const kaisched_kv late[] = {{"now", "99"}};
  static const kaisched_kv bad[] = {{"now", "soon"}, {"clock", "1"}, {NULL, "1"}, {"now", NULL}};
  kaisched_objects* read = NULL;
  kaisched_objects* none = (kaisched_objects*)&failures;
  const kaisched_table* const* tables = NULL;
  size_t count = 0, needed = 0;
  int64_t now = 0;
  char message[200], list[4000];
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_OBJECTS_READ, kaisched_objects_read, "[", 1, NULL, 0, &none);
  CHECK(none == NULL);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_OBJECTS_READ, kaisched_objects_read, "7", 1, NULL, 0, &none);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_OBJECTS_READ, kaisched_objects_read, NULL, 1, NULL, 0, &none);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_OBJECTS_READ, kaisched_objects_read, text, 1, NULL, 1, &none);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_OBJECTS_READ, kaisched_objects_read, text, 1, NULL, 0, NULL);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_OBJECTS_READ, kaisched_objects_read, text, sizeof text - 1, bad, 1, &none);
  EXPECT(KAISCHED_E_NOT_FOUND, KAISCHED_FN_OBJECTS_READ, kaisched_objects_read, text, sizeof text - 1, bad + 1, 1,
         &none);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_OBJECTS_READ, kaisched_objects_read, text, sizeof text - 1, bad + 2, 1,
         &none);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_OBJECTS_READ, kaisched_objects_read, text, sizeof text - 1, bad + 3, 1,
         &none);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_OBJECTS_TABLES, kaisched_objects_tables, NULL, &tables, &count);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_OBJECTS_NOW, kaisched_objects_now, NULL, &now);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_OBJECTS_FAULT, kaisched_objects_fault, NULL, 0, NULL, 0, NULL);
  kaisched_objects_destroy(NULL);

  OK(kaisched_objects_read(NULL, 0, late, 1, &read, NULL));
  OK(kaisched_objects_now(read, &now, NULL));
  OK(kaisched_objects_tables(read, &tables, &count, NULL));
  CHECK(now == 99 && count == 0);
  kaisched_objects_destroy(read);

  OK(kaisched_objects_read(text, sizeof text - 1, options, 1, &read, NULL));
  REQUIRE(read != NULL);
  OK(kaisched_objects_now(read, &now, NULL));
  CHECK(now == INT64_C(7000000000));
  OK(kaisched_objects_fault(read, 0, message, sizeof message, &needed, NULL));
  CHECK(strcmp(message,
               "text:2: Node m: status.allocatable.cpu: expected a quantity such as 500m or 2Gi, "
               "found \"many\"") == 0);
  EXPECT(KAISCHED_E_NOT_FOUND, KAISCHED_FN_OBJECTS_FAULT, kaisched_objects_fault, read, 1, NULL, 0, NULL);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_OBJECTS_TABLES, kaisched_objects_tables, read, NULL, &count);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_OBJECTS_TABLES, kaisched_objects_tables, read, &tables, NULL);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_OBJECTS_NOW, kaisched_objects_now, read, NULL);
  OK(kaisched_objects_tables(read, &tables, &count, NULL));

  kaisched_cluster* cluster = NULL;
  kaisched_snapshot* snapshot = NULL;
  kaisched_session* session = NULL;
  kaisched_engine* engine = new_engine();
  OK(kaisched_cluster_create(&cluster, NULL));
  OK(kaisched_cluster_apply(cluster, tables, count, NULL));
  OK(kaisched_cluster_snapshot(cluster, &snapshot, NULL));
  OK(kaisched_run(engine, snapshot, now, &session, NULL));
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_OBJECTS_ACTIONS, kaisched_objects_actions, read, session, "slurm", NULL, 0,
         NULL);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_OBJECTS_ACTIONS, kaisched_objects_actions, read, session, NULL, NULL, 0,
         NULL);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_OBJECTS_ACTIONS, kaisched_objects_actions, read, NULL, "kai", NULL, 0, NULL);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_OBJECTS_ACTIONS, kaisched_objects_actions, NULL, session, "kai", NULL, 0,
         NULL);
  EXPECT(KAISCHED_E_LIMIT, KAISCHED_FN_OBJECTS_ACTIONS, kaisched_objects_actions, read, session, "kai", list, 5,
         &needed);
  OK(kaisched_objects_actions(read, session, "kai", list, sizeof list, &needed, NULL));
  CHECK(needed == strlen(list) + 1 && strstr(list, "\"kind\": \"BindRequest\"") != NULL &&
        strstr(list, "\"uid\": \"u\"") != NULL && strstr(list, "\"count\": 2") != NULL);
  OK(kaisched_objects_actions(read, session, "kubernetes", list, sizeof list, &needed, NULL));
  CHECK(strstr(list, "\"kind\": \"Binding\"") != NULL && strstr(list, "BindRequest") == NULL);
  kaisched_session_close(session);
  kaisched_snapshot_release(snapshot);
  kaisched_cluster_destroy(cluster);
  kaisched_engine_destroy(engine);
  kaisched_objects_destroy(read);
}

/* Configurations of other schedulers become options in JSON. */
static void imports(void) {
  static const char volcano[] =
      "{\"actions\": \"allocate, backfill\", \"tiers\": [{\"plugins\": [{\"name\": \"gang\"}, {\"name\": \"tdm\"}]}]}";
  static const char slurm[] = "ClusterName=lab\nNodeName=n[1-2] CPUs=8 RealMemory=1000 Gres=gpu:4\nSlurmdPort=1\n";
  char made[4000] = {'x', 0};
  size_t needed = 7;
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_IMPORT_CONFIGURATION, kaisched_import_configuration, "borg", volcano,
         sizeof volcano - 1, NULL, 0, NULL);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_IMPORT_CONFIGURATION, kaisched_import_configuration, NULL, NULL, 1, NULL, 0,
         &needed);
  CHECK(needed == 0);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_IMPORT_CONFIGURATION, kaisched_import_configuration, NULL, NULL, 0, NULL, 0,
         NULL);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_IMPORT_CONFIGURATION, kaisched_import_configuration, "volcano", "tiers: []",
         9, NULL, 0, NULL);
  EXPECT(KAISCHED_E_LIMIT, KAISCHED_FN_IMPORT_CONFIGURATION, kaisched_import_configuration, NULL, volcano,
         sizeof volcano - 1, made, 5, &needed);
  CHECK(made[0] == 'x' && needed > 5);
  OK(kaisched_import_configuration(NULL, volcano, sizeof volcano - 1, made, sizeof made, &needed, NULL));
  CHECK(needed == strlen(made) + 1 && strstr(made, "\"from\": \"Volcano\"") != NULL &&
        strstr(made, "\"preset\": \"volcano-default\"") != NULL && strstr(made, "tdm") != NULL);
  OK(kaisched_import_configuration("slurm", slurm, sizeof slurm - 1, made, sizeof made, NULL, NULL));
  CHECK(strstr(made, "\"from\": \"Slurm\"") != NULL && strstr(made, "node n[1-2] ") != NULL);
}

/* Two engines run in turn over one snapshot; neither changes what the other decides. */
static void independence(void) {
  kaisched_snapshot* snapshot = new_snapshot();
  kaisched_engine *strict = new_engine(), *compat = new_engine();
  OK(kaisched_engine_set(compat, "mode", "compat", NULL));
  char digest[2][2][KAISCHED_DIGEST_SIZE];
  for (int round = 0; round < 2; ++round) {
    kaisched_session* sessions[2] = {NULL, NULL};
    OK(kaisched_session_open(strict, snapshot, 10, &sessions[0], NULL));
    OK(kaisched_session_open(compat, snapshot, 10, &sessions[1], NULL));
    for (int i = 0; i < 2; ++i) OK(kaisched_session_run(sessions[i], "allocate", NULL));
    for (int i = 0; i < 2; ++i) {
      OK(kaisched_session_digest(sessions[i], digest[round][i], KAISCHED_DIGEST_SIZE, NULL, NULL));
      kaisched_session_close(sessions[i]);
    }
  }
  CHECK(strcmp(digest[0][0], digest[1][0]) == 0 && strcmp(digest[0][1], digest[1][1]) == 0);
  CHECK(strcmp(digest[0][0], digest[0][1]) != 0); /* the mode is part of the digest */
  kaisched_engine_destroy(strict);
  kaisched_engine_destroy(compat);
  kaisched_snapshot_release(snapshot);
}

static void library(void) {
  CHECK(kaisched_abi_version() == KAISCHED_ABI_VERSION);
  char version[32];
  snprintf(version, sizeof version, "%d.%d.%d", KAISCHED_VERSION_MAJOR, KAISCHED_VERSION_MINOR, KAISCHED_VERSION_PATCH);
  CHECK(strcmp(kaisched_version_string(), version) == 0);
  CHECK(strcmp(kaisched_status_name(KAISCHED_OK), "ok") == 0);
  CHECK(strcmp(kaisched_status_name(KAISCHED_E_STALE_ID), "stale_id") == 0);
  CHECK(strcmp(kaisched_status_name(12345), "unknown") == 0);
}

static void kinds_and_columns(void) {
  kaisched_kind kind = {sizeof kind, 0, 0, 0, NULL, NULL};
  kaisched_column one = {sizeof one, 0, 0, 0, 0, 0, NULL, NULL, NULL, NULL};
  size_t kinds = 0, inputs = 0, named = 0;
  for (; kaisched_kind_info(kinds, &kind, NULL) == KAISCHED_OK; ++kinds) {
    inputs += kind.input;
    CHECK(kind.name[0] != '\0' && kind.doc[0] != '\0');
    uint32_t count = 0;
    for (; kaisched_column_info(kind.kind, count, &one, NULL) == KAISCHED_OK; ++count) {
      CHECK(one.id != 0 && one.name[0] != '\0' && one.doc[0] != '\0' && one.unit != NULL && one.fallback != NULL);
      CHECK(one.type >= KAISCHED_TYPE_U8 && one.type <= KAISCHED_TYPE_I64_LIST);
      CHECK((one.shape == KAISCHED_SHAPE_RAGGED) == (one.type >= KAISCHED_TYPE_STRING));
      named += kaisched_value_name(kind.kind, one.id, 1) != NULL;
    }
    CHECK(count == kind.column_count);
    EXPECT(KAISCHED_E_NOT_FOUND, KAISCHED_FN_COLUMN_INFO, kaisched_column_info, kind.kind, count, &one);
    CHECK(one.name == NULL && one.struct_size == sizeof one);
  }
  CHECK(inputs == 17);
  CHECK(kinds == 44);
  CHECK(named == 5);
  EXPECT(KAISCHED_E_NOT_FOUND, KAISCHED_FN_KIND_INFO, kaisched_kind_info, kinds, &kind);
  EXPECT(KAISCHED_E_UNSUPPORTED, KAISCHED_FN_COLUMN_INFO, kaisched_column_info, 999, 0, &one);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_KIND_INFO, kaisched_kind_info, 0, NULL);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_COLUMN_INFO, kaisched_column_info, KAISCHED_TABLE_POD, 0, NULL);
  kind.struct_size = sizeof kind - 1;
  EXPECT(KAISCHED_E_STRUCT_SIZE, KAISCHED_FN_KIND_INFO, kaisched_kind_info, 0, &kind);
  one.struct_size = sizeof one - 1;
  EXPECT(KAISCHED_E_STRUCT_SIZE, KAISCHED_FN_COLUMN_INFO, kaisched_column_info, KAISCHED_TABLE_POD, 0, &one);

  struct {
    kaisched_column base;
    uint64_t future;
  } longer;
  memset(&longer, 0x5A, sizeof longer);
  longer.base.struct_size = sizeof longer;
  OK(kaisched_column_info(KAISCHED_TABLE_POD, 1, &longer.base, NULL));
  CHECK(longer.base.id == KAISCHED_POD_COL_GROUP && strcmp(longer.base.name, "group") == 0 &&
        longer.base.required == 0 && longer.base.refers_to == KAISCHED_KIND_POD_GROUP &&
        longer.base.type == KAISCHED_TYPE_STRING && longer.future == 0);

  CHECK(strcmp(kaisched_value_name(KAISCHED_TABLE_DECISION, KAISCHED_DECISION_COL_KIND, KAISCHED_DECISION_BIND),
               "bind") == 0);
  CHECK(strcmp(kaisched_value_name(KAISCHED_TABLE_POD, KAISCHED_POD_COL_STATUS, KAISCHED_POD_STATUS_RUNNING),
               "running") == 0);
  CHECK(kaisched_value_name(KAISCHED_TABLE_DECISION, KAISCHED_DECISION_COL_KIND, 0) == NULL);
  CHECK(kaisched_value_name(KAISCHED_TABLE_DECISION, KAISCHED_DECISION_COL_KIND, UINT64_MAX) == NULL);
  CHECK(kaisched_value_name(KAISCHED_TABLE_DECISION, KAISCHED_DECISION_COL_POD, 1) == NULL);
  CHECK(kaisched_value_name(KAISCHED_TABLE_DECISION, 999, 1) == NULL && kaisched_value_name(999, 1, 1) == NULL);

  CHECK(kaisched_table_column(&pods, KAISCHED_POD_COL_REQUEST) == &pod_cols[2]);
  CHECK(kaisched_table_column(&pods, KAISCHED_POD_COL_STATUS) == NULL);
  CHECK(kaisched_table_column(NULL, KAISCHED_POD_COL_STATUS) == NULL);
  kaisched_table shorter = pods;
  shorter.struct_size = 8;
  CHECK(kaisched_table_column(&shorter, KAISCHED_POD_COL_REQUEST) == NULL);
}

static const named_case cases[] = {
    {"library", library},           {"kinds", kinds_and_columns},
    {"null_use", null_use},         {"double_use", double_use},
    {"struct_sizes", struct_sizes}, {"buffers", buffers},
    {"results", results},           {"engines", engines},
    {"old_names", old_names},       {"vendors", devices_of_vendors},
    {"independence", independence}, {"quarantine", quarantine},
    {"objects", objects},           {"object_cache", object_cache},
    {"recordings", recordings},     {"imports", imports},
};

int main(int argc, char** argv) { return run_cases(cases, sizeof cases / sizeof cases[0], argc, argv); }
