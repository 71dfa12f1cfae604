/* Parts from shared objects: what dlopen knows about them stays with the part until nobody needs it. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <kaisched/loader.h>

typedef struct loaded_part {
  void* object;
  kaisched_part inner;
} loaded_part;

static kaisched_status fail(kaisched_error* err, kaisched_status code, const char* before, const char* name,
                            const char* after) {
  if (err != NULL) {
    err->code = code;
    err->where = KAISCHED_FN_LOAD_PART;
    err->pad = 0;
    err->subject = 0;
    memset(err->message, 0, sizeof err->message);
    snprintf(err->message, sizeof err->message, "%s%s%s", before, name, after);
  }
  return code;
}

static kaisched_status create(void* context, const kaisched_kv* options, size_t count, void** state,
                              kaisched_error* err) {
  const loaded_part* part = context;
  return part->inner.create == NULL ? KAISCHED_OK : part->inner.create(part->inner.context, options, count, state, err);
}

static void release(void* context) {
  loaded_part* part = context;
  if (part->inner.release != NULL) part->inner.release(part->inner.context);
  dlclose(part->object);
  free(part);
}

/* The part of the name, or the first one. */
static const kaisched_part* find(kaisched_plugin_entry entry, const char* name) {
  for (size_t i = 0;; ++i) {
    const kaisched_part* part = entry(KAISCHED_ABI_VERSION, i);
    if (part == NULL || name == NULL) return part;
    if (part->struct_size >= offsetof(kaisched_part, name) + sizeof part->name && part->name != NULL &&
        strcmp(part->name, name) == 0)
      return part;
  }
}

kaisched_status kaisched_load_part(kaisched_engine* engine, const char* path, const char* name,
                                   const kaisched_kv* options, size_t count, kaisched_error* err) {
  if (err != NULL && err->struct_size < sizeof *err) return KAISCHED_E_STRUCT_SIZE;
  if (engine == NULL) return fail(err, KAISCHED_E_ARGUMENT, "engine is NULL", "", "");
  if (path == NULL) return fail(err, KAISCHED_E_ARGUMENT, "path is NULL", "", "");
  void* object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (object == NULL) {
    const char* why = dlerror();
    return fail(err, KAISCHED_E_NOT_FOUND, "", why == NULL ? path : why, "");
  }
  kaisched_plugin_entry entry = NULL;
  void* symbol = dlsym(object, KAISCHED_PLUGIN_ENTRY);
  memcpy(&entry, &symbol, sizeof entry); /* ISO C has no cast from an object to a function */
  const kaisched_part* found = entry == NULL ? NULL : find(entry, name);
  loaded_part* part = found == NULL ? NULL : calloc(1, sizeof *part);
  if (part == NULL) {
    const kaisched_status status =
        entry == NULL   ? fail(err, KAISCHED_E_NOT_FOUND, "", path, " has no function " KAISCHED_PLUGIN_ENTRY)
        : found != NULL ? fail(err, KAISCHED_E_NO_MEMORY, "out of memory", "", "")
        : name == NULL  ? fail(err, KAISCHED_E_NOT_FOUND, "", path, " has no part for this version")
                        : fail(err, KAISCHED_E_NOT_FOUND, "the shared object has no part '", name, "'");
    dlclose(object);
    return status;
  }
  part->object = object;
  memcpy(&part->inner, found, found->struct_size < sizeof *found ? found->struct_size : sizeof *found);
  kaisched_part outer = part->inner;
  outer.context = part;
  outer.create = create;
  outer.release = release;
  const kaisched_status status = kaisched_engine_add_part(engine, &outer, options, count, err);
  if (status != KAISCHED_OK) {
    if (err != NULL) err->where = KAISCHED_FN_LOAD_PART;
    dlclose(object);
    free(part);
  }
  return status;
}
