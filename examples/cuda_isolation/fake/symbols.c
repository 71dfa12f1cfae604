/* The whole face of the driver: a symbol for every entry point of the table, of which those that no other file defines
 * say that they are not supported. Their types are of no interest here, so the header is not included. */
#include <stddef.h>

int fake_unsupported(const char* name);

struct known_symbol {
  const char *symbol, *base;
  int since, variant;
  void* address;
};

#define ENTRY_POINT(symbol, base, since, variant, digest)        \
  __attribute__((weak, visibility("default"))) int symbol(void); \
  int symbol(void) { return fake_unsupported(#symbol); }
#define RENAMED_ENTRY_POINT(symbol, base, since, variant)
#include "../generate/cuda_entry_points.inc"
#undef ENTRY_POINT
#undef RENAMED_ENTRY_POINT

#pragma GCC diagnostic ignored "-Wpedantic" /* addresses of functions as void*, which is what the driver answers with \
                                             */
struct known_symbol fake_symbols[] = {
#define ENTRY_POINT(symbol, base, since, variant, digest) {#symbol, #base, since, variant, (void*)symbol},
#define RENAMED_ENTRY_POINT(symbol, base, since, variant) {#symbol, #base, since, variant, (void*)symbol},
#include "../generate/cuda_entry_points.inc"
};
const size_t fake_symbol_count = sizeof fake_symbols / sizeof fake_symbols[0];

enum {
#undef ENTRY_POINT
#undef RENAMED_ENTRY_POINT
#define ENTRY_POINT(symbol, base, since, variant, digest)
#define RENAMED_ENTRY_POINT(symbol, base, since, variant)
#define ENTRY_POINTS_NEWEST(version) newest = version
#include "../generate/cuda_entry_points.inc"
};
const int fake_newest = newest;
