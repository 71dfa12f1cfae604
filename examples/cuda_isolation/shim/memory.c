/* Plain allocations. The driver serves those up to 1 MiB from blocks of 2 MiB, so what they cost is the blocks in which
 * they lie, which their addresses tell; larger ones cost whole blocks. */
#include <stdlib.h>

#include "guard.h"

#define SMALL_LIMIT (UINT64_C(1) << 20)

static uint64_t first_region(uint64_t address) { return address / GUARD_GRANULE; }
static uint64_t last_region(uint64_t address, uint64_t bytes) { return (address + bytes - 1) / GUARD_GRANULE; }

/* Bytes that are new with an allocation there. */
static uint64_t enter_regions(uint64_t address, uint64_t bytes, int card) {
  uint64_t fresh = 0;
  for (uint64_t region = first_region(address); region <= last_region(address, bytes); region++) {
    struct guard_shard* shard = guard_lock_shard(GUARD_REGION, region);
    struct guard_record* record = guard_find(shard, GUARD_REGION, region);
    if (record == NULL && (record = guard_add(shard, GUARD_REGION, region)) != NULL) {
      record->card = card;
      fresh += GUARD_GRANULE;
    }
    if (record != NULL) record->references++;
    guard_unlock_shard(shard);
  }
  return fresh;
}

static uint64_t leave_regions(uint64_t address, uint64_t bytes) {
  uint64_t gone = 0;
  for (uint64_t region = first_region(address); region <= last_region(address, bytes); region++) {
    struct guard_shard* shard = guard_lock_shard(GUARD_REGION, region);
    struct guard_record* record = guard_find(shard, GUARD_REGION, region);
    if (record != NULL && --record->references == 0) {
      guard_remove(shard, GUARD_REGION, region);
      gone += GUARD_GRANULE;
    }
    guard_unlock_shard(shard);
  }
  return gone;
}

static uint64_t cost(uint64_t bytes) {
  return bytes <= SMALL_LIMIT ? GUARD_GRANULE : guard_round(bytes, GUARD_GRANULE);
}

static void note(struct guard_claim* claim, CUdeviceptr address, uint64_t bytes, CUdevice device, bool shares) {
  if (claim->card < 0) return;
  CUcontext context = NULL;
  guard_real.cuCtxGetCurrent(&context);
  struct guard_record record = {
      .bytes = bytes, .card = claim->card, .device = device, .other = (uint64_t)(uintptr_t)context};
  record.references = shares;
  guard_put(GUARD_POINTER, address, &record);
  guard_keep(claim, shares ? enter_regions(address, bytes, claim->card) : cost(bytes));
}

void guard_release_pointer(uint64_t address, const struct guard_record* record) {
  bool shares = record->references != 0;
  guard_release(record->card, shares ? leave_regions(address, record->bytes) : cost(record->bytes));
}

/* Each in two widths: the driver still has the entry points of CUDA 2, with 32 bits for addresses and sizes. */
#define ALLOC(name, pointer, number)                                                                          \
  GUARD_EXPORT CUresult name(pointer* out, number size) {                                                     \
    CUdevice device = 0;                                                                                      \
    if (!guard_load_driver()) return CUDA_ERROR_NOT_INITIALIZED;                                              \
    if (!guard_on() || out == NULL || size == 0 || !guard_device(&device)) return guard_real.name(out, size); \
    struct guard_claim claim;                                                                                 \
    CUresult result = guard_claim(&claim, device, cost(size));                                                \
    if (result != CUDA_SUCCESS) return result;                                                                \
    result = guard_real.name(out, size);                                                                      \
    if (result != CUDA_SUCCESS) {                                                                             \
      guard_drop(&claim);                                                                                     \
    } else {                                                                                                  \
      note(&claim, *out, size, device, size <= SMALL_LIMIT);                                                  \
    }                                                                                                         \
    return result;                                                                                            \
  }
ALLOC(cuMemAlloc_v2, CUdeviceptr, size_t)
ALLOC(cuMemAlloc, CUdeviceptr_v1, unsigned int)

/* Pitch is at most 512 bytes of padding per row; what it was is known afterwards. */
#define ALLOC_PITCH(name, pointer, number)                                                                     \
  GUARD_EXPORT CUresult name(pointer* out, number* pitch, number width, number height, unsigned int element) { \
    CUdevice device = 0;                                                                                       \
    uint64_t expected = 0;                                                                                     \
    if (!guard_load_driver()) return CUDA_ERROR_NOT_INITIALIZED;                                               \
    if (!guard_on() || out == NULL || pitch == NULL || width == 0 || height == 0 || !guard_device(&device) ||  \
        __builtin_mul_overflow(guard_round(width, 512), height, &expected)) {                                  \
      return guard_real.name(out, pitch, width, height, element);                                              \
    }                                                                                                          \
    struct guard_claim claim;                                                                                  \
    CUresult result = guard_claim(&claim, device, cost(expected));                                             \
    if (result != CUDA_SUCCESS) return result;                                                                 \
    result = guard_real.name(out, pitch, width, height, element);                                              \
    if (result != CUDA_SUCCESS) {                                                                              \
      guard_drop(&claim);                                                                                      \
    } else {                                                                                                   \
      uint64_t bytes = (uint64_t)*pitch * height;                                                              \
      note(&claim, *out, bytes, device, bytes <= SMALL_LIMIT);                                                 \
    }                                                                                                          \
    return result;                                                                                             \
  }
ALLOC_PITCH(cuMemAllocPitch_v2, CUdeviceptr, size_t)
ALLOC_PITCH(cuMemAllocPitch, CUdeviceptr_v1, unsigned int)

/* Managed memory counts in full, wherever its pages are now: they may all be on the card in the next moment. */
GUARD_EXPORT CUresult cuMemAllocManaged(CUdeviceptr* out, size_t size, unsigned int flags) {
  CUdevice device = 0;
  if (!guard_load_driver()) return CUDA_ERROR_NOT_INITIALIZED;
  if (!guard_on() || out == NULL || size == 0 || !guard_device(&device)) {
    return guard_real.cuMemAllocManaged(out, size, flags);
  }
  struct guard_claim claim;
  CUresult result = guard_claim(&claim, device, guard_round(size, GUARD_GRANULE));
  if (result != CUDA_SUCCESS) return result;
  result = guard_real.cuMemAllocManaged(out, size, flags);
  if (result != CUDA_SUCCESS) {
    guard_drop(&claim);
  } else if (claim.card >= 0) {
    struct guard_record record = {.bytes = guard_round(size, GUARD_GRANULE), .card = claim.card, .device = device};
    CUcontext context = NULL;
    guard_real.cuCtxGetCurrent(&context);
    record.other = (uint64_t)(uintptr_t)context;
    guard_put(GUARD_POINTER, *out, &record);
    guard_keep(&claim, record.bytes);
  }
  return result;
}

/* The record goes before the driver is asked: once it has freed the address, another thread may be given it. */
#define FREE(name, pointer)                                                                           \
  GUARD_EXPORT CUresult name(pointer address) {                                                       \
    if (!guard_load_driver()) return CUDA_ERROR_NOT_INITIALIZED;                                      \
    struct guard_record record;                                                                       \
    if (!guard_on() || !guard_take(GUARD_POINTER, address, &record)) return guard_real.name(address); \
    CUresult result = guard_real.name(address);                                                       \
    if (result == CUDA_SUCCESS) {                                                                     \
      guard_release_pointer(address, &record);                                                        \
    } else {                                                                                          \
      guard_put(GUARD_POINTER, address, &record);                                                     \
    }                                                                                                 \
    return result;                                                                                    \
  }
FREE(cuMemFree_v2, CUdeviceptr)
FREE(cuMemFree, CUdeviceptr_v1)

/* One kind after the other, up to a million of each. */
void guard_held(uint64_t bytes[KL_DEVICES_MAX]) {
  static const enum guard_kind kinds[] = {GUARD_POINTER, GUARD_REGION, GUARD_HANDLE,
                                          GUARD_ARRAY,   GUARD_MIPMAP, GUARD_POOL};
  enum { ROOM = 1 << 20 };
  uint64_t* keys = malloc(ROOM * sizeof *keys);
  for (size_t k = 0; keys != NULL && k < sizeof kinds / sizeof kinds[0]; k++) {
    size_t count = guard_keys(kinds[k], keys, ROOM);
    for (size_t i = 0; i < count; i++) {
      struct guard_shard* shard = guard_lock_shard(kinds[k], keys[i]);
      const struct guard_record* record = guard_find(shard, kinds[k], keys[i]);
      if (record != NULL && record->card >= 0 && record->card < KL_DEVICES_MAX) {
        bool shares = kinds[k] == GUARD_POINTER && record->references != 0; /* its regions pay */
        uint64_t plain = kinds[k] == GUARD_POINTER ? cost(record->bytes) : record->bytes;
        bytes[record->card] += kinds[k] == GUARD_REGION ? GUARD_GRANULE : shares ? 0 : plain;
      }
      guard_unlock_shard(shard);
    }
  }
  free(keys);
  guard_overhead(bytes);
}

/* What was allocated in a context is gone with it. */
void guard_forget_context(CUcontext context) {
  enum { ROOM = 4096 };
  static __thread uint64_t keys[ROOM];
  for (size_t count = ROOM; count == ROOM;) {
    count = guard_keys(GUARD_POINTER, keys, ROOM);
    size_t gone = 0;
    for (size_t i = 0; i < count; i++) {
      struct guard_record record;
      struct guard_shard* shard = guard_lock_shard(GUARD_POINTER, keys[i]);
      const struct guard_record* found = guard_find(shard, GUARD_POINTER, keys[i]);
      bool mine = found != NULL && found->other == (uint64_t)(uintptr_t)context;
      if (mine) record = *found;
      if (mine) guard_remove(shard, GUARD_POINTER, keys[i]);
      guard_unlock_shard(shard);
      if (mine) guard_release_pointer(keys[i], &record);
      gone += mine;
    }
    if (gone == 0) break;
  }
}

/* ---- what is said about memory ---- */

static bool card_state(CUdevice device, kl_device_state* state) {
  *state = (kl_device_state){.struct_size = sizeof *state};
  return guard.ledger != NULL && device >= 0 && device < guard.devices && guard.card[device] >= 0 &&
         kl_device_get(guard.ledger, (uint32_t)guard.card[device], state) == KL_OK;
}

#define GET_INFO(name, number)                                                                           \
  GUARD_EXPORT CUresult name(number* available, number* total) {                                         \
    CUdevice device = 0;                                                                                 \
    kl_device_state state;                                                                               \
    if (!guard_load_driver()) return CUDA_ERROR_NOT_INITIALIZED;                                         \
    CUresult result = guard_real.name(available, total);                                                 \
    if (result != CUDA_SUCCESS || !guard_on() || !guard_device(&device)) return result;                  \
    guard_pools_settle(device, false);                                                                   \
    if (!card_state(device, &state) || state.limits.memory_bytes == KL_NO_LIMIT) return result;          \
    if (total != NULL && *total > state.limits.memory_bytes) *total = (number)state.limits.memory_bytes; \
    if (available != NULL && *available > state.free_bytes) *available = (number)state.free_bytes;       \
    return result;                                                                                       \
  }
GET_INFO(cuMemGetInfo_v2, size_t)
GET_INFO(cuMemGetInfo, unsigned int)

#define TOTAL_MEM(name, number)                                                                                     \
  GUARD_EXPORT CUresult name(number* total, CUdevice device) {                                                      \
    kl_device_state state;                                                                                          \
    if (!guard_load_driver()) return CUDA_ERROR_NOT_INITIALIZED;                                                    \
    CUresult result = guard_real.name(total, device);                                                               \
    if (result == CUDA_SUCCESS && guard_on() && card_state(device, &state) && *total > state.limits.memory_bytes) { \
      *total = (number)state.limits.memory_bytes;                                                                   \
    }                                                                                                               \
    return result;                                                                                                  \
  }
TOTAL_MEM(cuDeviceTotalMem_v2, size_t)
TOTAL_MEM(cuDeviceTotalMem, unsigned int)
