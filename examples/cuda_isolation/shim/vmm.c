/* Memory by handle. It costs its size on the device of its location from cuMemCreate until the last reference and the
 * last mapping are gone. Memory of the host costs nothing, and imported handles cost their exporter. */
#include "guard.h"

GUARD_EXPORT CUresult cuMemCreate(CUmemGenericAllocationHandle* out, size_t size, const CUmemAllocationProp* properties,
                                  unsigned long long flags) {
  if (!guard_load_driver()) return CUDA_ERROR_NOT_INITIALIZED;
  if (!guard_on() || out == NULL || properties == NULL || size == 0 ||
      properties->location.type != CU_MEM_LOCATION_TYPE_DEVICE || properties->location.id < 0 ||
      properties->location.id >= guard.devices) {
    return guard_real.cuMemCreate(out, size, properties, flags);
  }
  struct guard_claim claim;
  CUresult result = guard_claim(&claim, properties->location.id, size);
  if (result != CUDA_SUCCESS) return result;
  result = guard_real.cuMemCreate(out, size, properties, flags);
  if (result != CUDA_SUCCESS) {
    guard_drop(&claim);
  } else if (claim.card >= 0) {
    struct guard_record record = {
        .bytes = size, .card = claim.card, .device = properties->location.id, .references = 1};
    guard_put(GUARD_HANDLE, *out, &record);
    guard_keep(&claim, size);
  }
  return result;
}

/* One reference or mapping less; the last one gives the bytes back. */
static void let_go(uint64_t handle, bool mapping) {
  struct guard_shard* shard = guard_lock_shard(GUARD_HANDLE, handle);
  struct guard_record* record = guard_find(shard, GUARD_HANDLE, handle);
  int card = -1;
  uint64_t bytes = 0;
  if (record != NULL) {
    uint32_t* count = mapping ? &record->mappings : &record->references;
    if (*count > 0) (*count)--;
    if (record->references == 0 && record->mappings == 0) {
      card = record->card;
      bytes = record->bytes;
      guard_remove(shard, GUARD_HANDLE, handle);
    }
  }
  guard_unlock_shard(shard);
  guard_release(card, bytes);
}

static bool hold(uint64_t handle, bool mapping) {
  struct guard_shard* shard = guard_lock_shard(GUARD_HANDLE, handle);
  struct guard_record* record = guard_find(shard, GUARD_HANDLE, handle);
  if (record != NULL && mapping) record->mappings++;
  if (record != NULL && !mapping) record->references++;
  guard_unlock_shard(shard);
  return record != NULL;
}

/* The driver may give the number of a handle again as soon as it is gone, so the last reference is dropped from the
 * books before; the bytes come back after. */
GUARD_EXPORT CUresult cuMemRelease(CUmemGenericAllocationHandle handle) {
  if (!guard_load_driver()) return CUDA_ERROR_NOT_INITIALIZED;
  if (!guard_on()) return guard_real.cuMemRelease(handle);
  struct guard_record last = {.card = -1};
  struct guard_shard* shard = guard_lock_shard(GUARD_HANDLE, handle);
  struct guard_record* record = guard_find(shard, GUARD_HANDLE, handle);
  bool known = record != NULL && record->references > 0,
       ends = known && record->references == 1 && record->mappings == 0;
  if (ends) {
    last = *record;
    guard_remove(shard, GUARD_HANDLE, handle);
  } else if (known) {
    record->references--;
  }
  guard_unlock_shard(shard);
  CUresult result = guard_real.cuMemRelease(handle);
  if (result == CUDA_SUCCESS) {
    guard_release(last.card, last.bytes);
  } else if (ends) {
    guard_put(GUARD_HANDLE, handle, &last);
  } else if (known) {
    hold(handle, false);
  }
  return result;
}

GUARD_EXPORT CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle* out, void* address) {
  if (!guard_load_driver()) return CUDA_ERROR_NOT_INITIALIZED;
  CUresult result = guard_real.cuMemRetainAllocationHandle(out, address);
  if (result == CUDA_SUCCESS && guard_on()) hold(*out, false);
  return result;
}

GUARD_EXPORT CUresult cuMemMap(CUdeviceptr address, size_t size, size_t offset, CUmemGenericAllocationHandle handle,
                               unsigned long long flags) {
  if (!guard_load_driver()) return CUDA_ERROR_NOT_INITIALIZED;
  if (!guard_on() || !hold(handle, true)) return guard_real.cuMemMap(address, size, offset, handle, flags);
  CUresult result = guard_real.cuMemMap(address, size, offset, handle, flags);
  struct guard_record record = {.bytes = size, .card = -1, .other = handle};
  if (result == CUDA_SUCCESS) {
    guard_put(GUARD_MAPPING, address, &record);
  } else {
    let_go(handle, true);
  }
  return result;
}

/* A range may hold many mappings; they lie one behind the other. Those of memory that costs nothing are not in the
 * books, so the walk goes by granules there. */
GUARD_EXPORT CUresult cuMemUnmap(CUdeviceptr address, size_t size) {
  if (!guard_load_driver()) return CUDA_ERROR_NOT_INITIALIZED;
  if (!guard_on()) return guard_real.cuMemUnmap(address, size);
  CUresult result = guard_real.cuMemUnmap(address, size);
  if (result != CUDA_SUCCESS) return result;
  for (uint64_t at = address, end = address + size; at < end;) {
    struct guard_record record;
    if (guard_take(GUARD_MAPPING, at, &record)) {
      let_go(record.other, true);
      at += record.bytes;
    } else {
      at += GUARD_GRANULE;
    }
  }
  return result;
}
