/* A second unit that includes the header twice: nothing in it may be defined more than once. */
#include "c99_unit.h"

#include <kaisched/kaisched.h>

uint32_t version_seen_by_unit(void) { return kaisched_abi_version(); }
