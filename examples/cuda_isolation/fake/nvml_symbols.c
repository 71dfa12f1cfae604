/* The whole face of NVML: what nvml.c does not have says that it is not supported. */
#define ENTRY_POINT(symbol)                                      \
  __attribute__((weak, visibility("default"))) int symbol(void); \
  int symbol(void) { return 3; }
#include "../generate/nvml_entry_points.inc"
