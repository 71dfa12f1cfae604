/* What the run time asks for by number instead of by name. None of it is documented, and its last part is a check that
 * the driver is a genuine one: programs with a CUDA run time need that driver. docs/cuda-isolation.md says how far they
 * get. */
#include "fake.h"

FAKE_EXPORT CUresult cuGetExportTable(const void** out, const CUuuid* id) {
  if (out == NULL || id == NULL) return CUDA_ERROR_INVALID_VALUE;
  *out = NULL;
  return CUDA_ERROR_NOT_FOUND;
}
