#ifndef KAISCHED_TESTS_CUDA_CHECK_H
#define KAISCHED_TESTS_CUDA_CHECK_H
/* What the C tests of the ledger share. A check that fails ends the program, in whichever process it is. */
#include <kaisched_ledger/ledger.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/types.h>
#include <unistd.h>

static const char* check_context = "";

#define CHECK(condition)                                                                      \
  do {                                                                                        \
    if (!(condition)) {                                                                       \
      printf("%s:%d: %s: %s does not hold\n", __FILE__, __LINE__, check_context, #condition); \
      fflush(stdout);                                                                         \
      _Exit(3);                                                                               \
    }                                                                                         \
  } while (0)

#define IS(call, expected)                                                                                \
  do {                                                                                                    \
    const kl_status status_ = (call);                                                                     \
    if (status_ != (expected)) {                                                                          \
      printf("%s:%d: %s: %s is %s\n", __FILE__, __LINE__, check_context, #call, kl_status_text(status_)); \
      fflush(stdout);                                                                                     \
      _Exit(3);                                                                                           \
    }                                                                                                     \
  } while (0)

/* A child that does not outlive a test that fails. */
static inline pid_t fork_child(void) {
  const pid_t pid = fork();
  if (pid == 0) prctl(PR_SET_PDEATHSIG, 9);
  return pid;
}

static inline kl_device_spec card_of(const char* uuid, uint64_t memory_bytes, uint32_t core_permille) {
  kl_device_spec card;
  memset(&card, 0, sizeof card);
  snprintf(card.uuid, sizeof card.uuid, "%s", uuid);
  card.total_bytes = UINT64_C(1) << 34;
  card.limits.memory_bytes = memory_bytes;
  card.limits.core_permille = core_permille;
  return card;
}

static inline kl_device_state state_of(const kl_ledger* ledger, uint32_t device) {
  kl_device_state state;
  state.struct_size = sizeof state;
  IS(kl_device_get(ledger, device, &state), KL_OK);
  return state;
}

#endif
