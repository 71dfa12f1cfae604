/* Parts from shared objects. usage: kaisched_abi_loader_cases PLUGIN LIBRARY: a plug-in with the part `gate`, and a
   shared object that is none */
#include <kaisched/loader.h>

#include "case_support.h"

static kaisched_status load(kaisched_engine* engine, const char* path, const char* name, const kaisched_kv* options,
                            size_t count, kaisched_error* err) {
  return kaisched_load_part(engine, path, name, options, count, err);
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  kaisched_engine* engine = new_engine();
  kaisched_snapshot* snapshot = new_snapshot();
  kaisched_session* session = NULL;
  kaisched_error err = KAISCHED_ERROR_INIT;
  const kaisched_kv unknown[] = {{"colour", "1"}};
  const kaisched_kv closed[] = {{"opens_at", "11"}};
#define LOADS(wanted, ...) EXPECT(wanted, KAISCHED_FN_LOAD_PART, load, __VA_ARGS__)
  LOADS(KAISCHED_E_ARGUMENT, NULL, argv[1], NULL, NULL, 0);
  LOADS(KAISCHED_E_ARGUMENT, engine, NULL, NULL, NULL, 0);
  LOADS(KAISCHED_E_ARGUMENT, engine, argv[1], NULL, NULL, 1);
  LOADS(KAISCHED_E_NOT_FOUND, engine, "/nowhere/plugin.so", NULL, NULL, 0);
  LOADS(KAISCHED_E_NOT_FOUND, engine, argv[2], NULL, NULL, 0);
  LOADS(KAISCHED_E_NOT_FOUND, engine, argv[1], "nobody", NULL, 0);
  err.struct_size = 8;
  CHECK(kaisched_load_part(engine, argv[1], NULL, NULL, 0, &err) == KAISCHED_E_STRUCT_SIZE);
  err.struct_size = sizeof err;
  OK(kaisched_load_part(engine, argv[1], "gate", closed, 1, NULL));
  LOADS(KAISCHED_E_DUPLICATE, engine, argv[1], NULL, NULL, 0);
  OK(kaisched_engine_set(engine, "parts", "gate,predicates,proportion", NULL));
  OK(kaisched_run(engine, snapshot, 10, &session, NULL));
  kaisched_engine_destroy(engine); /* the object stays loaded for the session */
  const kaisched_table* reasons = NULL;
  OK(kaisched_session_table(session, KAISCHED_TABLE_REASON, &reasons, NULL));
  CHECK(reasons != NULL && reasons->rows == 2 && text_is(reasons, KAISCHED_REASON_COL_CONSTRAINT, 0, "plugin"));
  kaisched_session_close(session);

  engine = new_engine();
  OK(kaisched_load_part(engine, argv[1], NULL, unknown, 1, NULL)); /* read when a session opens */
  OK(kaisched_engine_set(engine, "parts", "gate,predicates,proportion", NULL));
  CHECK(kaisched_run(engine, snapshot, 10, &session, &err) == KAISCHED_E_PLUGIN);
  CHECK(strcmp(err.message, "part 'gate', create: colour=1 is not known here") == 0);
  kaisched_engine_destroy(engine);
  kaisched_snapshot_release(snapshot);
  return failures == 0 ? 0 : 1;
}
