/* Stream-ordered allocations. A pool grows by at least 32 MiB, keeps what is freed, and gives back down to its
 * threshold when a stream is synchronised, or at cuMemPoolTrimTo. */
#include "pools.h"

#include <stdlib.h>
#include <string.h>

#include "fake.h"

struct CUmemPoolHandle_st {
  CUdevice device;
  uint64_t threshold, reserved, reserved_high, used, used_high, most;
  bool builtin;
  struct CUmemPoolHandle_st* next;
};

static struct CUmemPoolHandle_st* builtin[FAKE_MAX_DEVICES];
static struct CUmemPoolHandle_st* current[FAKE_MAX_DEVICES];
static struct CUmemPoolHandle_st* pools;

static struct CUmemPoolHandle_st* make_pool(CUdevice device) {
  struct CUmemPoolHandle_st* pool = calloc(1, sizeof *pool);
  if (pool == NULL) return NULL;
  pool->device = device;
  pool->next = pools;
  pools = pool;
  return pool;
}

static bool known(const struct CUmemPoolHandle_st* pool) {
  for (const struct CUmemPoolHandle_st* one = pools; one != NULL; one = one->next) {
    if (one == pool) return true;
  }
  return false;
}

static struct CUmemPoolHandle_st* builtin_pool(CUdevice device) {
  if (builtin[device] == NULL && (builtin[device] = make_pool(device)) != NULL) builtin[device]->builtin = true;
  return builtin[device];
}

static uint64_t steps(uint64_t bytes) { return (bytes + FAKE_POOL_GROWTH - 1) / FAKE_POOL_GROWTH * FAKE_POOL_GROWTH; }

/* Pages are mapped where they are needed, so what is free in a pool serves any request. */
static bool grow(struct CUmemPoolHandle_st* pool, uint64_t size) {
  if (pool->used + size <= pool->reserved) return true;
  uint64_t bytes = steps(pool->used + size - pool->reserved);
  if (pool->most != 0 && pool->reserved + bytes > pool->most) return false;
  if (!fake_charge(fake_physical(pool->device), bytes)) return false;
  pool->reserved += bytes;
  if (pool->reserved > pool->reserved_high) pool->reserved_high = pool->reserved;
  return true;
}

static CUresult take(struct CUmemPoolHandle_st* pool, CUdeviceptr* out, uint64_t size) {
  uint64_t rounded = (size + 511) / 512 * 512;
  if (rounded < size || rounded > UINT64_MAX / 2 || !grow(pool, rounded)) return CUDA_ERROR_OUT_OF_MEMORY;
  uint64_t address = fake_arena_take(rounded, FAKE_POOL, pool->device, pool);
  if (address == 0) return CUDA_ERROR_OUT_OF_MEMORY;
  pool->used += rounded;
  if (pool->used > pool->used_high) pool->used_high = pool->used;
  *out = address;
  return CUDA_SUCCESS;
}

static void trim(struct CUmemPoolHandle_st* pool, uint64_t keep) {
  uint64_t left = steps(keep > pool->used ? keep : pool->used);
  if (keep > UINT64_MAX / 2 || left >= pool->reserved) return;
  fake_discharge(fake_physical(pool->device), pool->reserved - left);
  pool->reserved = left;
}

void fake_pools_synchronized(CUdevice device) {
  fake_process_lock();
  for (struct CUmemPoolHandle_st* pool = pools; pool != NULL; pool = pool->next) {
    if (pool->device == device) trim(pool, pool->threshold);
  }
  fake_process_unlock();
}

static CUresult allocate(CUdeviceptr* out, size_t size, struct CUmemPoolHandle_st* pool, CUstream handle,
                         struct CUctx_st* context) {
  struct CUstream_st* stream = fake_stream(handle, context);
  if (out == NULL || size == 0 || stream == NULL) return CUDA_ERROR_INVALID_VALUE;
  if (stream->capture != NULL) return fake_capture_alloc(stream->capture, out, size);
  fake_process_lock();
  CUresult result = CUDA_ERROR_INVALID_VALUE;
  if (pool == NULL) pool = current[context->device] != NULL ? current[context->device] : builtin_pool(context->device);
  if (known(pool)) result = take(pool, out, size);
  fake_process_unlock();
  return result;
}

FAKE_EXPORT CUresult cuMemAllocAsync(CUdeviceptr* out, size_t size, CUstream stream) {
  ENTER_CONTEXT(cuMemAllocAsync);
  return allocate(out, size, NULL, stream, context);
}

FAKE_EXPORT CUresult cuMemAllocFromPoolAsync(CUdeviceptr* out, size_t size, CUmemoryPool pool, CUstream stream) {
  ENTER_CONTEXT(cuMemAllocFromPoolAsync);
  return pool == NULL ? CUDA_ERROR_INVALID_VALUE : allocate(out, size, pool, stream, context);
}

FAKE_EXPORT CUresult cuMemFreeAsync(CUdeviceptr address, CUstream handle) {
  ENTER_CONTEXT(cuMemFreeAsync);
  struct CUstream_st* stream = fake_stream(handle, context);
  if (stream == NULL) return CUDA_ERROR_INVALID_VALUE;
  if (stream->capture != NULL) return fake_capture_free(stream->capture, address);
  if (fake_graph_owns(address)) return CUDA_SUCCESS;
  struct fake_range range;
  fake_process_lock();
  bool found = fake_arena_find(address, &range), done = false;
  if (found && range.kind == FAKE_POOL && range.start == address) {
    for (struct CUmemPoolHandle_st* pool = pools; pool != NULL; pool = pool->next) {
      if (pool == range.owner) pool->used -= range.size;
    }
    fake_arena_give(address);
    done = true;
  }
  fake_process_unlock();
  if (found && range.kind == FAKE_PLAIN) return cuMemFree_v2(address);
  return done ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

FAKE_EXPORT CUresult cuMemPoolCreate(CUmemoryPool* out, const CUmemPoolProps* properties) {
  ENTER(cuMemPoolCreate);
  if (out == NULL || properties == NULL || properties->allocType != CU_MEM_ALLOCATION_TYPE_PINNED ||
      properties->location.type != CU_MEM_LOCATION_TYPE_DEVICE || fake_physical(properties->location.id) < 0) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  fake_process_lock();
  *out = make_pool(properties->location.id);
  if (*out != NULL) (*out)->most = properties->maxSize;
  fake_process_unlock();
  return *out == NULL ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuMemPoolDestroy(CUmemoryPool pool) {
  ENTER(cuMemPoolDestroy);
  fake_process_lock();
  CUresult result = CUDA_ERROR_INVALID_VALUE;
  if (known(pool) && !pool->builtin) {
    result = CUDA_SUCCESS;
    pool->used = 0; /* outstanding allocations go with the pool */
    trim(pool, 0);
    struct CUmemPoolHandle_st** place = &pools;
    while (*place != pool) place = &(*place)->next;
    *place = pool->next;
    if (current[pool->device] == pool) current[pool->device] = NULL;
    free(pool);
  }
  fake_process_unlock();
  return result;
}

FAKE_EXPORT CUresult cuMemPoolTrimTo(CUmemoryPool pool, size_t keep) {
  ENTER(cuMemPoolTrimTo);
  fake_process_lock();
  bool ok = known(pool);
  if (ok) trim(pool, keep);
  fake_process_unlock();
  return ok ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

FAKE_EXPORT CUresult cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void* value) {
  ENTER(cuMemPoolGetAttribute);
  fake_process_lock();
  CUresult result = CUDA_SUCCESS;
  if (!known(pool) || value == NULL) {
    result = CUDA_ERROR_INVALID_VALUE;
  } else if (attribute >= 1 && attribute <= 3) {
    *(int*)value = 1;
  } else if (attribute >= CU_MEMPOOL_ATTR_RELEASE_THRESHOLD && attribute <= CU_MEMPOOL_ATTR_USED_MEM_HIGH) {
    const uint64_t values[] = {pool->threshold, pool->reserved, pool->reserved_high, pool->used, pool->used_high};
    memcpy(value, &values[attribute - CU_MEMPOOL_ATTR_RELEASE_THRESHOLD], sizeof values[0]);
  } else {
    result = CUDA_ERROR_INVALID_VALUE;
  }
  fake_process_unlock();
  return result;
}

FAKE_EXPORT CUresult cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void* value) {
  ENTER(cuMemPoolSetAttribute);
  fake_process_lock();
  CUresult result = CUDA_SUCCESS;
  uint64_t number = 0;
  if (!known(pool) || value == NULL) {
    result = CUDA_ERROR_INVALID_VALUE;
  } else if (attribute == CU_MEMPOOL_ATTR_RELEASE_THRESHOLD) {
    memcpy(&pool->threshold, value, sizeof pool->threshold);
  } else if (attribute == CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH || attribute == CU_MEMPOOL_ATTR_USED_MEM_HIGH) {
    memcpy(&number, value, sizeof number);
    if (number != 0) {
      result = CUDA_ERROR_INVALID_VALUE; /* they can only be reset */
    } else if (attribute == CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH) {
      pool->reserved_high = pool->reserved;
    } else {
      pool->used_high = pool->used;
    }
  } else if (attribute < 1 || attribute > 3) {
    result = CUDA_ERROR_INVALID_VALUE;
  }
  fake_process_unlock();
  return result;
}

FAKE_EXPORT CUresult cuDeviceGetDefaultMemPool(CUmemoryPool* out, CUdevice device) {
  ENTER(cuDeviceGetDefaultMemPool);
  if (out == NULL) return CUDA_ERROR_INVALID_VALUE;
  if (fake_physical(device) < 0) return CUDA_ERROR_INVALID_DEVICE;
  fake_process_lock();
  *out = builtin_pool(device);
  fake_process_unlock();
  return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuDeviceGetMemPool(CUmemoryPool* out, CUdevice device) {
  ENTER(cuDeviceGetMemPool);
  if (out == NULL) return CUDA_ERROR_INVALID_VALUE;
  if (fake_physical(device) < 0) return CUDA_ERROR_INVALID_DEVICE;
  fake_process_lock();
  *out = current[device] != NULL ? current[device] : builtin_pool(device);
  fake_process_unlock();
  return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuDeviceSetMemPool(CUdevice device, CUmemoryPool pool) {
  ENTER(cuDeviceSetMemPool);
  if (fake_physical(device) < 0) return CUDA_ERROR_INVALID_DEVICE;
  fake_process_lock();
  bool ok = known(pool) && pool->device == device;
  if (ok) current[device] = pool;
  fake_process_unlock();
  return ok ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
