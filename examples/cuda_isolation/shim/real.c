/* The driver behind the guard: loaded by its name, looked up in its own scope, so that nobody's wrapper is found, ours
 * included. */
#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

#include "guard.h"

union guard_driver guard_real;
union guard_management guard_nvml;

static const char* const driver_names[] = {
#define WRAP(name) #name,
#define USED(name) #name,
#include "wrapped.inc"
#undef WRAP
#undef USED
};
enum {
#define WRAP(name) wrap_##name,
#define USED(name)
#include "wrapped.inc"
#undef WRAP
#undef USED
  wrapped_count,
  driver_count = sizeof driver_names / sizeof driver_names[0]
};
_Static_assert(sizeof(guard_real) == driver_count * sizeof(void*), "one slot per name");

static const char* const management_names[] = {
#define WRAP_NVML(name) #name,
#include "wrapped_nvml.inc"
#undef WRAP_NVML
    "nvmlInit_v2", "nvmlDeviceGetHandleByUUID", "nvmlDeviceGetUUID", "nvmlDeviceGetProcessUtilization"};
enum {
#define WRAP_NVML(name) wrap_##name,
#include "wrapped_nvml.inc"
#undef WRAP_NVML
  wrapped_management_count,
  management_count = sizeof management_names / sizeof management_names[0]
};
_Static_assert(sizeof(guard_nvml) == management_count * sizeof(void*), "one slot per name");

/* Addresses of functions as data: C has no word for what dlsym returns. */
typedef void (*function)(void);
union address {
  function code;
  void* data;
};
#define ADDRESS(name) {.code = (function)name}
static const union address wrappers[] = {
#define WRAP(name) ADDRESS(name),
#define USED(name)
#include "wrapped.inc"
#undef WRAP
#undef USED
};
static const union address management_wrappers[] = {
#define WRAP_NVML(name) ADDRESS(name),
#include "wrapped_nvml.inc"
#undef WRAP_NVML
};

static const char driver_library[] = "libcuda.so.1", management_library[] = "libnvidia-ml.so.1";
static pthread_mutex_t load_lock = PTHREAD_MUTEX_INITIALIZER;
static bool driver_loaded, management_loaded;

void* guard_own_dlsym(void* handle, const char* name);

/* Where the hook of dlsym is part of the library, it must not be asked. */
__attribute__((weak)) void* guard_own_dlsym(void* handle, const char* name) { return dlsym(handle, name); }

/* Stands for what the driver does not have. Programs look for entry points before they use them; those that do not
 * would not start without the guard. */
static CUresult missing(void) { return CUDA_ERROR_NOT_FOUND; }

static bool load(bool* loaded, const char* library, void** slots, const char* const* names, size_t count,
                 size_t wraps) {
  if (__atomic_load_n(loaded, __ATOMIC_ACQUIRE)) return true;
  void* handle = dlopen(library, RTLD_LAZY | RTLD_LOCAL);
  if (handle == NULL) return false;
  pthread_mutex_lock(&load_lock);
  if (!*loaded) {
    const union address none = ADDRESS(missing);
    for (size_t i = 0; i < count; i++) {
      slots[i] = guard_own_dlsym(handle, names[i]);
      if (slots[i] == NULL && i < wraps) slots[i] = none.data;
    }
    __atomic_store_n(loaded, true, __ATOMIC_RELEASE);
  }
  pthread_mutex_unlock(&load_lock);
  return true;
}

bool guard_load_driver(void) {
  return load(&driver_loaded, driver_library, guard_real.slot, driver_names, driver_count, wrapped_count);
}

bool guard_load_management(void) {
  return load(&management_loaded, management_library, guard_nvml.slot, management_names, management_count, 0);
}

void* guard_wrapper_at(const void* address) {
  if (address == NULL || !guard_load_driver()) return NULL;
  for (size_t i = 0; i < wrapped_count; i++) {
    if (guard_real.slot[i] == address) return wrappers[i].data;
  }
  return NULL;
}

void* guard_wrapper_named(const char* symbol) {
  for (size_t i = 0; i < wrapped_count; i++) {
    if (strcmp(driver_names[i], symbol) == 0) return wrappers[i].data;
  }
  for (size_t i = 0; i < wrapped_management_count; i++) {
    if (strcmp(management_names[i], symbol) == 0) return management_wrappers[i].data;
  }
  return NULL;
}

void* guard_wrapper_for(const char* symbol, void* address) {
  const union address none = ADDRESS(missing);
  for (size_t i = 0; i < wrapped_count; i++) {
    if (strcmp(driver_names[i], symbol) != 0) continue;
    void* expected = none.data;
    __atomic_compare_exchange_n(&guard_real.slot[i], &expected, address, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    return wrappers[i].data;
  }
  return NULL;
}

const char* guard_library_of(const char* symbol) {
  return strncmp(symbol, "nvml", 4) == 0 ? management_library : driver_library;
}

void* guard_wrapper_of(const char* name, const void* address) {
  if (strncmp(name, "cu", 2) == 0) {
    for (size_t i = 0; i < wrapped_count; i++) {
      if (strcmp(driver_names[i], name) != 0) continue;
      return guard_load_driver() && guard_real.slot[i] == address ? wrappers[i].data : NULL;
    }
  } else if (strncmp(name, "nvml", 4) == 0) {
    for (size_t i = 0; i < wrapped_management_count; i++) {
      if (strcmp(management_names[i], name) != 0) continue;
      return guard_load_management() && guard_nvml.slot[i] == address ? management_wrappers[i].data : NULL;
    }
  }
  return NULL;
}
