/* Entry points by name. The driver answers first, with the arguments of the caller; its answer is looked up among the
 * addresses that it exports. So a program gets the wrapper of exactly the function that it would have got, whichever
 * version and stream it asked for. */
#include <dlfcn.h>
#include <string.h>

#include "guard.h"
#include "settings.h"

struct known {
  const char *symbol, *base;
  int since, variant;
};
static const struct known known[] = {
#define ENTRY_POINT(symbol, base, since, variant, digest) {#symbol, #base, since, variant},
#define RENAMED_ENTRY_POINT(symbol, base, since, variant) {#symbol, #base, since, variant},
#include "../generate/cuda_entry_points.inc"
#undef ENTRY_POINT
#undef RENAMED_ENTRY_POINT
};

enum {
#define ENTRY_POINT(symbol, base, since, variant, digest)
#define RENAMED_ENTRY_POINT(symbol, base, since, variant)
#define ENTRY_POINTS_NEWEST(version) newest = version,
#include "../generate/cuda_entry_points.inc"
#undef ENTRY_POINT
#undef RENAMED_ENTRY_POINT
  known_count = sizeof known / sizeof known[0]
};

static bool accounted(const char* base) {
  for (size_t i = 0; i < known_count; i++) {
    if (strcmp(known[i].base, base) == 0 && guard_wrapper_named(known[i].symbol) != NULL) return true;
  }
  return false;
}

/* An exported function that the table knows, and that is not wrapped. */
static bool known_and_not_wrapped(const void* address) {
  Dl_info info;
  if (dladdr(address, &info) == 0 || info.dli_saddr != address || info.dli_sname == NULL) return false;
  for (size_t i = 0; i < known_count; i++) {
    if (strcmp(known[i].symbol, info.dli_sname) == 0) return guard_wrapper_named(info.dli_sname) == NULL;
  }
  return false;
}

/* What the table says a driver answers with. */
static const char* by_version(const char* base, int version, cuuint64_t flags) {
  int per_thread = (flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM) != 0;
  const struct known* best = NULL;
  for (size_t i = 0; i < known_count; i++) {
    const struct known* one = &known[i];
    if (strcmp(one->base, base) != 0 || one->since == 0 || one->since > version || one->variant > per_thread) continue;
    if (best == NULL || one->variant > best->variant || (one->variant == best->variant && one->since > best->since))
      best = one;
  }
  return best == NULL ? NULL : best->symbol;
}

static bool must_refuse(void) {
  struct guard_settings settings;
  char message[256];
  bool read = guard_read_settings(&settings, message, sizeof message);
  return settings.strict && (!read || settings.limited || settings.ledger[0] != '\0');
}

static CUresult answer(CUresult result, const char* name, void** out, int version, cuuint64_t flags,
                       CUdriverProcAddressQueryResult* status) {
  if (result != CUDA_SUCCESS || name == NULL || out == NULL || *out == NULL) return result;
  void* wrapper = guard_wrapper_at(*out);
  if (wrapper == NULL && accounted(name) && !known_and_not_wrapped(*out)) {
    /* A driver may answer with addresses that it does not export. If it cannot know more than the table, version and
     * stream say which function that is. */
    int driver = 0;
    if (guard_real.cuDriverGetVersion != NULL) guard_real.cuDriverGetVersion(&driver);
    if (version > newest && driver > newest) {
      if (!must_refuse()) return result;
      guard_say("%s of this driver is newer than this guard, which hides it; KAISCHED_GUARD_MODE=open shows it", name);
      *out = NULL;
      if (status != NULL) *status = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
      return status != NULL ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
    }
    const char* symbol = by_version(name, driver > 0 && driver < version ? driver : version, flags);
    if (symbol != NULL) wrapper = guard_wrapper_for(symbol, *out);
  }
  if (wrapper != NULL) *out = wrapper;
  return result;
}

GUARD_EXPORT CUresult cuGetProcAddress(const char* name, void** out, int version, cuuint64_t flags) {
  if (!guard_load_driver() || guard_real.cuGetProcAddress == NULL) return CUDA_ERROR_NOT_INITIALIZED;
  return answer(guard_real.cuGetProcAddress(name, out, version, flags), name, out, version, flags, NULL);
}

GUARD_EXPORT CUresult cuGetProcAddress_v2(const char* name, void** out, int version, cuuint64_t flags,
                                          CUdriverProcAddressQueryResult* status) {
  if (!guard_load_driver() || guard_real.cuGetProcAddress_v2 == NULL) return CUDA_ERROR_NOT_INITIALIZED;
  CUdriverProcAddressQueryResult own = CU_GET_PROC_ADDRESS_SUCCESS;
  CUresult result = guard_real.cuGetProcAddress_v2(name, out, version, flags, status);
  return answer(result, name, out, version, flags, status != NULL ? status : &own);
}

GUARD_EXPORT CUresult cuInit(unsigned int flags) {
  return guard_load_driver() ? guard_start(flags) : CUDA_ERROR_NOT_INITIALIZED;
}
