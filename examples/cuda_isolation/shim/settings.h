/* What the environment says, as numbers. No CUDA in it: fuzzed alone. */
#ifndef KAISCHED_GUARD_SETTINGS_H
#define KAISCHED_GUARD_SETTINGS_H

#include <kaisched_ledger/ledger.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a context costs where nobody has said or seen it: those of large cards of today take about as much. */
#define GUARD_CONTEXT_DEFAULT (UINT64_C(512) << 20)

struct guard_settings {
  bool strict;
  bool limited;     /* some limit is set */
  char ledger[512]; /* folder, or "" */
  char shared[512]; /* folder for limits of the environment, or "" */
  uint64_t context; /* what one is expected to cost */
  bool context_given;
  uint64_t memory[KL_DEVICES_MAX];
  uint32_t permille[KL_DEVICES_MAX];
  int32_t priority;
};

/* False: a value is no value; the message names the variable. `strict` is set in any case. */
bool guard_read_settings(struct guard_settings* out, char* message, size_t size);

/* "512", "4096m", "3g": bytes. False: it is none. Sizes above KL_BYTES_MAX are that. */
bool guard_parse_bytes(const char* text, uint64_t* out);

#endif
