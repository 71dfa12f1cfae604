/* Stream-ordered memory. What a pool costs is what it has reserved, which it says itself: after every call that may
 * change that, the difference is settled. Growth is admitted beforehand: the size asked for and the step by which pools
 * grow. */
#include "guard.h"

/* Keys of pools are their addresses; memory of graphs, one pool per device, has those below 64. */
static CUresult reserved(uint64_t key, uint64_t* out) {
  if (key >= GUARD_GRAPH_POOL + KL_DEVICES_MAX) {
    if (guard_real.cuMemPoolGetAttribute == NULL) return CUDA_ERROR_NOT_SUPPORTED;
    return guard_real.cuMemPoolGetAttribute((CUmemoryPool)(uintptr_t)key, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, out);
  }
  if (guard_real.cuDeviceGetGraphMemAttribute == NULL) return CUDA_ERROR_NOT_SUPPORTED;
  return guard_real.cuDeviceGetGraphMemAttribute((CUdevice)(key - GUARD_GRAPH_POOL),
                                                 CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT, out);
}

/* The version of a record changes with every settlement: who read the pool before another one settled reads again. */
bool guard_settle(uint64_t key, CUdevice device, struct guard_claim* claim) {
  uint64_t had = 0, has = 0;
  bool done = false;
  for (int attempt = 0; attempt < 64 && !done; attempt++) {
    struct guard_shard* shard = guard_lock_shard(GUARD_POOL, key);
    struct guard_record* record = guard_find(shard, GUARD_POOL, key);
    if (record == NULL && claim != NULL && (record = guard_add(shard, GUARD_POOL, key)) != NULL) {
      record->card = claim->card;
      record->device = device;
    }
    uint32_t version = record == NULL ? 0 : record->references;
    guard_unlock_shard(shard);
    if (record == NULL || reserved(key, &has) != CUDA_SUCCESS) break;
    shard = guard_lock_shard(GUARD_POOL, key);
    record = guard_find(shard, GUARD_POOL, key);
    done = record != NULL && record->references == version;
    if (done) {
      had = record->bytes;
      record->bytes = has;
      record->references++;
      if (has < had) record->mappings++; /* how often it shrank */
      /* Within the lock, so that settlements of one pool reach the ledger in their order. */
      if (claim != NULL) {
        guard_keep(claim, has > had ? has - had : 0);
      } else if (has > had) {
        kl_charge(guard.ledger, (uint32_t)record->card, has - had);
      }
      if (has < had) guard_release(record->card, had - has);
    }
    guard_unlock_shard(shard);
  }
  if (!done && claim != NULL) guard_drop(claim);
  return done && has < had;
}

bool guard_pools_settle(CUdevice device, bool trim) {
  enum { ROOM = 64 };
  uint64_t keys[ROOM];
  size_t count = guard_keys(GUARD_POOL, keys, ROOM);
  bool given = false;
  for (size_t i = 0; i < count; i++) {
    struct guard_shard* shard = guard_lock_shard(GUARD_POOL, keys[i]);
    const struct guard_record* record = guard_find(shard, GUARD_POOL, keys[i]);
    bool mine = record != NULL && record->device == device;
    guard_unlock_shard(shard);
    if (!mine) continue;
    if (trim && keys[i] >= GUARD_GRAPH_POOL + KL_DEVICES_MAX) {
      guard_real.cuMemPoolTrimTo((CUmemoryPool)(uintptr_t)keys[i], 0);
    } else if (trim) {
      guard_real.cuDeviceGraphMemTrim(device);
    }
    given = guard_settle(keys[i], device, NULL) || given;
  }
  return given;
}

static CUresult after(CUresult result, CUmemoryPool pool, CUdevice device, struct guard_claim* claim) {
  if (result != CUDA_SUCCESS) {
    guard_drop(claim);
  } else if (claim->card >= 0) {
    guard_settle((uint64_t)(uintptr_t)pool, device, claim);
  }
  return result;
}

/* Where a pool cannot grow it may have room still. Who is about to use some of it says so in the record, for other
 * threads that ask; a settlement in between, which may have used some, makes the answer no. */
static bool take_room(CUmemoryPool pool, uint64_t size) {
  uint64_t key = (uint64_t)(uintptr_t)pool, used = 0;
  bool ok = false;
  for (int attempt = 0; attempt < 64 && !ok; attempt++) {
    struct guard_shard* shard = guard_lock_shard(GUARD_POOL, key);
    const struct guard_record* record = guard_find(shard, GUARD_POOL, key);
    uint32_t version = record == NULL ? 0 : record->references;
    guard_unlock_shard(shard);
    if (record == NULL) return false;
    if (guard_real.cuMemPoolGetAttribute == NULL ||
        guard_real.cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &used) != CUDA_SUCCESS)
      return false;
    shard = guard_lock_shard(GUARD_POOL, key);
    struct guard_record* same = guard_find(shard, GUARD_POOL, key);
    bool current = same != NULL && same->references == version;
    ok = current && used + same->other + guard_round(size, 512) <= same->bytes;
    if (ok) same->other += guard_round(size, 512);
    guard_unlock_shard(shard);
    if (current) break;
  }
  return ok;
}

static void give_room(CUmemoryPool pool, uint64_t size) {
  struct guard_shard* shard = guard_lock_shard(GUARD_POOL, (uint64_t)(uintptr_t)pool);
  struct guard_record* record = guard_find(shard, GUARD_POOL, (uint64_t)(uintptr_t)pool);
  if (record != NULL) {
    record->other -= guard_round(size, 512);
    record->references++;
  }
  guard_unlock_shard(shard);
}

/* Growth is admitted, or there is room. */
static CUresult claim_for(struct guard_claim* claim, CUmemoryPool pool, CUdevice device, uint64_t size, bool* room) {
  CUresult result = guard_claim(claim, device, guard_round(size, GUARD_GROWTH));
  *room = result == CUDA_ERROR_OUT_OF_MEMORY && take_room(pool, size);
  return *room ? guard_claim(claim, device, 0) : result;
}

static CUresult from_current(CUdeviceptr* out, size_t size, CUstream stream, __typeof__(cuMemAllocAsync)* real) {
  CUdevice device = 0;
  CUmemoryPool pool = NULL;
  if (!guard_on() || out == NULL || size == 0 || !guard_device(&device) || guard_real.cuDeviceGetMemPool == NULL ||
      guard_real.cuDeviceGetMemPool(&pool, device) != CUDA_SUCCESS) {
    return real(out, size, stream);
  }
  struct guard_claim claim;
  bool room = false;
  CUresult result = claim_for(&claim, pool, device, size, &room);
  if (result == CUDA_SUCCESS) result = after(real(out, size, stream), pool, device, &claim);
  if (room) give_room(pool, size);
  return result;
}

GUARD_EXPORT CUresult cuMemAllocAsync(CUdeviceptr* out, size_t size, CUstream stream) {
  return guard_load_driver() ? from_current(out, size, stream, guard_real.cuMemAllocAsync) : CUDA_ERROR_NOT_INITIALIZED;
}

GUARD_EXPORT CUresult cuMemAllocAsync_ptsz(CUdeviceptr* out, size_t size, CUstream stream) {
  return guard_load_driver() ? from_current(out, size, stream, guard_real.cuMemAllocAsync_ptsz)
                             : CUDA_ERROR_NOT_INITIALIZED;
}

static CUresult explicit_pool(CUdeviceptr* out, size_t size, CUmemoryPool pool, CUstream stream,
                              __typeof__(cuMemAllocFromPoolAsync)* real) {
  CUdevice device = 0;
  if (!guard_on() || out == NULL || size == 0 || pool == NULL || !guard_device(&device))
    return real(out, size, pool, stream);
  struct guard_claim claim;
  bool room = false;
  CUresult result = claim_for(&claim, pool, device, size, &room);
  if (result == CUDA_SUCCESS) result = after(real(out, size, pool, stream), pool, device, &claim);
  if (room) give_room(pool, size);
  return result;
}

GUARD_EXPORT CUresult cuMemAllocFromPoolAsync(CUdeviceptr* out, size_t size, CUmemoryPool pool, CUstream stream) {
  if (!guard_load_driver()) return CUDA_ERROR_NOT_INITIALIZED;
  return explicit_pool(out, size, pool, stream, guard_real.cuMemAllocFromPoolAsync);
}

GUARD_EXPORT CUresult cuMemAllocFromPoolAsync_ptsz(CUdeviceptr* out, size_t size, CUmemoryPool pool, CUstream stream) {
  if (!guard_load_driver()) return CUDA_ERROR_NOT_INITIALIZED;
  return explicit_pool(out, size, pool, stream, guard_real.cuMemAllocFromPoolAsync_ptsz);
}

/* A plain allocation may be freed in stream order, too. Its bytes are ours until the stream gets there; they are given
 * back here, as the driver takes the address back here. */
static CUresult free_async(CUdeviceptr address, CUstream stream, __typeof__(cuMemFreeAsync)* real) {
  struct guard_record record;
  if (!guard_on() || !guard_take(GUARD_POINTER, address, &record)) return real(address, stream);
  CUresult result = real(address, stream);
  if (result == CUDA_SUCCESS) {
    guard_release_pointer(address, &record);
  } else {
    guard_put(GUARD_POINTER, address, &record);
  }
  return result;
}

GUARD_EXPORT CUresult cuMemFreeAsync(CUdeviceptr address, CUstream stream) {
  return guard_load_driver() ? free_async(address, stream, guard_real.cuMemFreeAsync) : CUDA_ERROR_NOT_INITIALIZED;
}

GUARD_EXPORT CUresult cuMemFreeAsync_ptsz(CUdeviceptr address, CUstream stream) {
  return guard_load_driver() ? free_async(address, stream, guard_real.cuMemFreeAsync_ptsz) : CUDA_ERROR_NOT_INITIALIZED;
}

GUARD_EXPORT CUresult cuMemPoolTrimTo(CUmemoryPool pool, size_t keep) {
  if (!guard_load_driver()) return CUDA_ERROR_NOT_INITIALIZED;
  CUresult result = guard_real.cuMemPoolTrimTo(pool, keep);
  if (result == CUDA_SUCCESS && guard_on()) guard_settle((uint64_t)(uintptr_t)pool, 0, NULL);
  return result;
}

GUARD_EXPORT CUresult cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void* value) {
  if (!guard_load_driver()) return CUDA_ERROR_NOT_INITIALIZED;
  CUresult result = guard_real.cuMemPoolSetAttribute(pool, attribute, value);
  if (result == CUDA_SUCCESS && guard_on()) guard_settle((uint64_t)(uintptr_t)pool, 0, NULL);
  return result;
}

GUARD_EXPORT CUresult cuMemPoolDestroy(CUmemoryPool pool) {
  if (!guard_load_driver()) return CUDA_ERROR_NOT_INITIALIZED;
  struct guard_record record;
  bool known = guard_on() && guard_take(GUARD_POOL, (uint64_t)(uintptr_t)pool, &record);
  CUresult result = guard_real.cuMemPoolDestroy(pool);
  if (!known) return result;
  if (result == CUDA_SUCCESS) {
    guard_release(record.card, record.bytes);
  } else {
    guard_put(GUARD_POOL, (uint64_t)(uintptr_t)pool, &record);
  }
  return result;
}
