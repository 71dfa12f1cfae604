#ifndef KAISCHED_LEDGER_STEPS_H
#define KAISCHED_LEDGER_STEPS_H
/* The points between two stores at which a process may die. Built with KAISCHED_LEDGER_STEPS, which only tests are, the
   library calls kl_step_hook at each; else they are nothing. */

/* clang-format off */
#define KL_STEPS(X) \
  X(CLAIM_LOCKED) X(CLAIM_OWNED) X(CLAIM_EMPTIED) X(CLAIM_NUMBERED) X(CLAIM_RECORD) X(CLAIM_NAMED) \
  X(CHANGE_DELTA) X(CHANGE_ANNOUNCED) X(CHANGE_TAG) X(CHANGE_LOADED) X(CHANGE_NOTED) X(CHANGE_MADE) \
  X(CHANGE_HELD) X(CHANGE_REFUSED) X(CHANGE_DONE) \
  X(COMMIT_GROWN) \
  X(BURY_TAG) X(BURY_LOADED) X(BURY_READ) X(BURY_NOTED) X(BURY_DEVICE) X(BURY_FREED) \
  X(LIMITS_MEMORY) X(LIMITS_CORES) X(LIMITS_ALL) \
  X(CORE_TAKEN) X(CORE_COUNTED)
/* clang-format on */

enum kl_step_number {
#define KL_STEP_NUMBER(name) KL_STEP_##name,
  KL_STEPS(KL_STEP_NUMBER)
#undef KL_STEP_NUMBER
      KL_STEP_COUNT
};

#ifdef KAISCHED_LEDGER_STEPS
extern void (*kl_step_hook)(int step); /* NULL: nothing */
#define KL_STEP(name)                                                   \
  do {                                                                  \
    if (kl_step_hook != (void (*)(int))0) kl_step_hook(KL_STEP_##name); \
  } while (0)
#else
#define KL_STEP(name) ((void)0)
#endif

#endif
