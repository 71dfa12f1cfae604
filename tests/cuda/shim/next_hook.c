/* Somebody else's preload library that hooks dlsym, as profilers do: counts, and hands on to the next one. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

typedef void* lookup(void*, const char*);
static unsigned long calls;

__attribute__((visibility("default"))) void* dlsym(void* restrict handle, const char* restrict name) {
  static lookup* next;
  if (next == NULL) {
    void* found = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.34");
    if (found == NULL) found = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5");
    __builtin_memcpy(&next, &found, sizeof next);
  }
  calls++;
  return next(handle, name);
}

__attribute__((destructor)) static void report(void) {
  if (getenv("NEXT_HOOK_REPORT") != NULL) fprintf(stderr, "hook was asked %s\n", calls > 0 ? "something" : "nothing");
}
