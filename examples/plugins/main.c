/* Schedules a cluster with a part from a shared object: plugins OBJECTS.json [PLUGIN.so NAME [option=value]...]
   OBJECTS.json are objects of Kubernetes, as `kubectl get -o json` gives them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <kaisched/loader.h>

static char* read_file(const char* path, size_t* size) {
  FILE* file = fopen(path, "rb");
  char* text = NULL;
  if (file == NULL) return NULL;
  for (size_t room = 1 << 16;; room *= 2) {
    char* more = realloc(text, room);
    if (more == NULL) break;
    text = more;
    *size += fread(text + *size, 1, room - *size, file);
    if (*size < room) break;
  }
  fclose(file);
  return text;
}

static void print(const char* before, const kaisched_col* texts, uint64_t row) {
  printf("%s%.*s", before, (int)(texts->offsets[row + 1] - texts->offsets[row]),
         (const char*)texts->data + texts->offsets[row]);
}

/* The policy of the preset with the part in front. */
static kaisched_status use(kaisched_engine* engine, int argc, char** argv, kaisched_error* err) {
  kaisched_kv options[16] = {{NULL, NULL}};
  size_t count = 0;
  char parts[1024];
  for (int i = 4; i < argc && count < 16; ++i, ++count) {
    char* value = strchr(argv[i], '=');
    options[count].key = argv[i];
    options[count].value = value == NULL ? "" : value + 1;
    if (value != NULL) *value = '\0';
  }
  const int used = snprintf(parts, sizeof parts, "%s,", argv[3]);
  if (used < 0 || (size_t)used >= sizeof parts) return KAISCHED_E_LIMIT;
  if (kaisched_load_part(engine, argv[2], argv[3], options, count, err) != KAISCHED_OK ||
      kaisched_engine_get(engine, "parts", parts + used, sizeof parts - (size_t)used, NULL, err) != KAISCHED_OK)
    return err->code;
  return kaisched_engine_set(engine, "parts", parts, err);
}

static kaisched_status schedule(int argc, char** argv, const char* text, size_t size, kaisched_error* err) {
  kaisched_objects* objects = NULL;
  kaisched_engine* engine = NULL;
  kaisched_session* session = NULL;
  kaisched_cluster* cluster = NULL;
  kaisched_snapshot* snapshot = NULL;
  const kaisched_table* const* tables = NULL;
  const kaisched_table *decisions = NULL, *reasons = NULL;
  size_t count = 0;
  int64_t now = 0;
  const int good = kaisched_objects_read(text, size, NULL, 0, &objects, err) == KAISCHED_OK &&
                   kaisched_objects_tables(objects, &tables, &count, err) == KAISCHED_OK &&
                   kaisched_objects_now(objects, &now, err) == KAISCHED_OK &&
                   kaisched_cluster_create(&cluster, err) == KAISCHED_OK &&
                   kaisched_cluster_apply(cluster, tables, count, err) == KAISCHED_OK &&
                   kaisched_cluster_snapshot(cluster, &snapshot, err) == KAISCHED_OK &&
                   kaisched_engine_create(KAISCHED_ABI_VERSION, NULL, 0, &engine, err) == KAISCHED_OK &&
                   (argc < 4 || use(engine, argc, argv, err) == KAISCHED_OK) &&
                   kaisched_run(engine, snapshot, now, &session, err) == KAISCHED_OK &&
                   kaisched_session_table(session, KAISCHED_TABLE_DECISION, &decisions, err) == KAISCHED_OK &&
                   kaisched_session_table(session, KAISCHED_TABLE_REASON, &reasons, err) == KAISCHED_OK;
  if (good) {
    const uint8_t* kinds = kaisched_table_column(decisions, KAISCHED_DECISION_COL_KIND)->data;
    for (uint64_t row = 0; row < decisions->rows; ++row) {
      if (kinds[row] != KAISCHED_DECISION_BIND) continue;
      print("", kaisched_table_column(decisions, KAISCHED_DECISION_COL_POD_NAME), row);
      print(" on ", kaisched_table_column(decisions, KAISCHED_DECISION_COL_NODE_NAME), row);
      puts("");
    }
    for (uint64_t row = 0; row < reasons->rows; ++row) {
      print("", kaisched_table_column(reasons, KAISCHED_REASON_COL_GROUP_NAME), row);
      print(" waits: ", kaisched_table_column(reasons, KAISCHED_REASON_COL_CONSTRAINT), row);
      puts("");
    }
  }
  kaisched_session_close(session);
  kaisched_snapshot_release(snapshot);
  kaisched_cluster_destroy(cluster);
  kaisched_engine_destroy(engine);
  kaisched_objects_destroy(objects);
  return good ? KAISCHED_OK : err->code;
}

int main(int argc, char** argv) {
  kaisched_error err = KAISCHED_ERROR_INIT;
  size_t size = 0;
  char* text = argc < 2 || argc == 3 ? NULL : read_file(argv[1], &size);
  if (text == NULL) {
    fprintf(stderr, "usage: plugins OBJECTS.json [PLUGIN.so NAME [option=value]...]\n");
    return 2;
  }
  if (schedule(argc, argv, text, size, &err) != KAISCHED_OK)
    fprintf(stderr, "%s: %s\n", kaisched_status_name(err.code), err.message);
  free(text);
  return err.code == KAISCHED_OK ? 0 : 1;
}
