/* Memory of others: handles of IPC, shared handles, external memory. Who made it pays; that it was opened is counted.
 */
#include "guard.h"

static void count(CUdevice device, uint64_t bytes) {
  if (guard.ledger == NULL || device < 0 || device >= guard.devices || guard.card[device] < 0) return;
  uint32_t card = (uint32_t)guard.card[device];
  kl_status status = kl_import(guard.ledger, card, bytes);
  if (status == KL_E_FORKED || status == KL_E_DETACHED) {
    struct guard_claim claim; /* takes a slot again */
    if (guard_claim(&claim, device, 0) == CUDA_SUCCESS) kl_import(guard.ledger, card, bytes);
  }
}

static CUresult opened(CUresult result, const CUdeviceptr* address) {
  CUdevice device = 0;
  CUdeviceptr base = 0;
  size_t size = 0;
  if (result != CUDA_SUCCESS || !guard_on() || !guard_device(&device)) return result;
  if (guard_real.cuMemGetAddressRange_v2 == NULL ||
      guard_real.cuMemGetAddressRange_v2(&base, &size, *address) != CUDA_SUCCESS) {
    size = 0;
  }
  count(device, size);
  return result;
}

GUARD_EXPORT CUresult cuIpcOpenMemHandle(CUdeviceptr* out, CUipcMemHandle handle, unsigned int flags) {
  if (!guard_load_driver()) return CUDA_ERROR_NOT_INITIALIZED;
  return opened(guard_real.cuIpcOpenMemHandle(out, handle, flags), out);
}

GUARD_EXPORT CUresult cuIpcOpenMemHandle_v2(CUdeviceptr* out, CUipcMemHandle handle, unsigned int flags) {
  if (!guard_load_driver()) return CUDA_ERROR_NOT_INITIALIZED;
  return opened(guard_real.cuIpcOpenMemHandle_v2(out, handle, flags), out);
}

/* The driver tells where it is, and not how much. */
GUARD_EXPORT CUresult cuMemImportFromShareableHandle(CUmemGenericAllocationHandle* out, void* shared,
                                                     CUmemAllocationHandleType type) {
  if (!guard_load_driver()) return CUDA_ERROR_NOT_INITIALIZED;
  CUresult result = guard_real.cuMemImportFromShareableHandle(out, shared, type);
  CUmemAllocationProp properties = {.type = 0};
  if (result == CUDA_SUCCESS && guard_on() && guard_real.cuMemGetAllocationPropertiesFromHandle != NULL &&
      guard_real.cuMemGetAllocationPropertiesFromHandle(&properties, *out) == CUDA_SUCCESS &&
      properties.location.type == CU_MEM_LOCATION_TYPE_DEVICE) {
    count(properties.location.id, 0);
  }
  return result;
}

GUARD_EXPORT CUresult cuImportExternalMemory(CUexternalMemory* out,
                                             const CUDA_EXTERNAL_MEMORY_HANDLE_DESC* description) {
  CUdevice device = 0;
  if (!guard_load_driver()) return CUDA_ERROR_NOT_INITIALIZED;
  CUresult result = guard_real.cuImportExternalMemory(out, description);
  if (result == CUDA_SUCCESS && guard_on() && guard_device(&device)) count(device, description->size);
  return result;
}
