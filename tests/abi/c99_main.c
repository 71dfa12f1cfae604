/* First of two units that include the header, which comes first here: it needs nothing before it. */
#include <kaisched/kaisched.h>

#include "c99_unit.h"

int main(void) {
  kaisched_error err = KAISCHED_ERROR_INIT;
  if (err.struct_size != 256) return 1;
  return version_seen_by_unit() == KAISCHED_ABI_VERSION && kaisched_abi_version() == KAISCHED_ABI_VERSION ? 0 : 1;
}
