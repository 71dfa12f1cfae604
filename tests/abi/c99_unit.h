#ifndef KAISCHED_TESTS_ABI_C99_UNIT_H
#define KAISCHED_TESTS_ABI_C99_UNIT_H

#include <stdint.h>

uint32_t version_seen_by_unit(void);

#endif
