/* The table of pointers and handles against a plain list, with keys that collide. */
#include <stdio.h>
#include <string.h>

#include "guard.h"

enum { KEYS = 4000 };

int main(void) {
  static bool there[3][KEYS];
  static uint64_t value[3][KEYS];
  static const enum guard_kind kinds[] = {GUARD_POINTER, GUARD_HANDLE, GUARD_REGION};
  uint64_t state = 20261;
  for (int round = 0; round < 400000; round++) {
    state = state * UINT64_C(6364136223846793005) + 1442695040888963407u;
    size_t kind = (state >> 33) % 3, at = (state >> 37) % KEYS;
    uint64_t key = at * (UINT64_C(2) << 20);
    struct guard_record record = {.bytes = state, .card = 1};
    if ((state >> 60) % 2 == 0) {
      if (!guard_put(kinds[kind], key, &record)) return 1;
      there[kind][at] = true;
      value[kind][at] = state;
    } else {
      bool found = guard_take(kinds[kind], key, &record);
      if (found != there[kind][at] || (found && record.bytes != value[kind][at])) {
        printf("round %d: key %zu of kind %zu\n", round, at, kind);
        return 1;
      }
      there[kind][at] = false;
    }
  }
  static uint64_t keys[KEYS];
  for (size_t kind = 0; kind < 3; kind++) {
    size_t count = guard_keys(kinds[kind], keys, KEYS), wanted = 0;
    for (size_t at = 0; at < KEYS; at++) wanted += there[kind][at];
    if (count != wanted) {
      printf("kind %zu: %zu keys, expected %zu\n", kind, count, wanted);
      return 1;
    }
  }
  return 0;
}
