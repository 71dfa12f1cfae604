/* Addresses: one region of the host's address space, in granules of 2 MiB. Allocations below 1 MiB share granules,
 * those of one size class and one context each. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "fake.h"

enum { GRANULES = 1 << 18, CLASSES = 12, SMALLEST = 512 };
#define SMALL_LIMIT ((uint64_t)1 << 20)

struct block { /* a granule of small allocations */
  uint64_t used[FAKE_GRANULE / SMALLEST / 64];
  uint32_t size, slots, taken;
  struct block *next, *previous; /* those of the class with room */
  CUdevice device;
  const void* owner;
  uint32_t granule;
};

struct granule {
  uint64_t size;  /* asked for; first granule of a range only */
  uint32_t first; /* of the range */
  uint32_t count;
  uint8_t kind;
  CUdevice device;
  const void* owner;
  struct block* block;
};

static char* arena;
static struct granule* table;
static struct block* partial[CLASSES];
struct extent {
  uint32_t start, count;
};
static struct extent* extents; /* free granules by address, never touching */
static uint32_t extent_count, extent_room;
static pthread_mutex_t process_lock = PTHREAD_MUTEX_INITIALIZER;

void fake_process_lock(void) { pthread_mutex_lock(&process_lock); }
void fake_process_unlock(void) { pthread_mutex_unlock(&process_lock); }

static void open_arena(void) {
  const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  /* The same in every run, if it is free: runs can be compared. Its beginning is what 32 bits reach. */
  void* wish = (void*)UINT64_C(0x40000000);
  arena = mmap(wish, (GRANULES + 1) * FAKE_GRANULE, PROT_READ | PROT_WRITE, flags, -1, 0);
  table = mmap(NULL, GRANULES * sizeof *table, PROT_READ | PROT_WRITE, flags, -1, 0);
  extents = malloc(64 * sizeof *extents);
  if (arena == MAP_FAILED || table == MAP_FAILED || extents == NULL) {
    fprintf(stderr, "fake libcuda: no room for addresses\n");
    abort();
  }
  arena += (FAKE_GRANULE - (uintptr_t)arena % FAKE_GRANULE) % FAKE_GRANULE;
  extent_room = 64;
  extents[0] = (struct extent){0, GRANULES};
  extent_count = 1;
}

static uint32_t take_granules(uint32_t count) {
  for (uint32_t i = 0; i < extent_count; i++) {
    if (extents[i].count < count) continue;
    uint32_t start = extents[i].start;
    extents[i].start += count;
    extents[i].count -= count;
    if (extents[i].count == 0) {
      memmove(extents + i, extents + i + 1, (--extent_count - i) * sizeof *extents);
    }
    return start;
  }
  return UINT32_MAX;
}

static void give_granules(uint32_t start, uint32_t count) {
  uint32_t low = 0, high = extent_count;
  while (low < high) {
    uint32_t middle = (low + high) / 2;
    if (extents[middle].start < start) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  bool joins_before = low > 0 && extents[low - 1].start + extents[low - 1].count == start;
  bool joins_after = low < extent_count && start + count == extents[low].start;
  if (joins_before && joins_after) {
    extents[low - 1].count += count + extents[low].count;
    memmove(extents + low, extents + low + 1, (--extent_count - low) * sizeof *extents);
  } else if (joins_before) {
    extents[low - 1].count += count;
  } else if (joins_after) {
    extents[low].start = start;
    extents[low].count += count;
  } else {
    if (extent_count == extent_room) {
      extent_room *= 2;
      extents = realloc(extents, extent_room * sizeof *extents);
      if (extents == NULL) abort();
    }
    memmove(extents + low + 1, extents + low, (extent_count++ - low) * sizeof *extents);
    extents[low] = (struct extent){start, count};
  }
}

uint64_t fake_arena_take(uint64_t size, enum fake_kind kind, CUdevice device, const void* owner) {
  uint64_t granules = (size + FAKE_GRANULE - 1) / FAKE_GRANULE;
  if (granules == 0 || granules > GRANULES) return 0;
  if (arena == NULL) open_arena();
  uint32_t start = take_granules((uint32_t)granules);
  if (start == UINT32_MAX) return 0;
  for (uint32_t i = 0; i < granules; i++) {
    table[start + i] = (struct granule){.first = start, .kind = (uint8_t)kind};
  }
  table[start].size = size;
  table[start].count = (uint32_t)granules;
  table[start].device = device;
  table[start].owner = owner;
  return (uint64_t)(uintptr_t)arena + start * FAKE_GRANULE;
}

static uint32_t granule_of(uint64_t address) {
  uint64_t base = (uint64_t)(uintptr_t)arena;
  if (arena == NULL || address < base || address >= base + GRANULES * FAKE_GRANULE) return UINT32_MAX;
  return (uint32_t)((address - base) / FAKE_GRANULE);
}

bool fake_arena_find(uint64_t address, struct fake_range* range) {
  uint32_t at = granule_of(address);
  if (at == UINT32_MAX || table[at].kind == FAKE_NONE) return false;
  const struct granule* first = &table[table[at].first];
  uint64_t start = (uint64_t)(uintptr_t)arena + table[at].first * FAKE_GRANULE;
  *range =
      (struct fake_range){start, first->size, first->count, (enum fake_kind)first->kind, first->device, first->owner};
  if (first->block != NULL) {
    const struct block* block = first->block;
    uint64_t slot = (address - start) / block->size;
    if (slot >= block->slots || !(block->used[slot / 64] >> slot % 64 & 1)) return false;
    range->start = start + slot * block->size;
    range->size = block->size;
    range->granules = 0;
  } else if (address - start >= first->size) {
    return false;
  }
  return true;
}

void fake_arena_give(uint64_t start) {
  uint32_t first = granule_of(start), count = table[first].count;
  memset(table + first, 0, count * sizeof *table);
  give_granules(first, count);
}

/* ---- small allocations ---- */

static unsigned class_of(uint64_t size) {
  unsigned index = 0;
  while (((uint64_t)SMALLEST << index) < size) index++;
  return index;
}

static void unlink_block(struct block* block, unsigned index) {
  if (block->previous != NULL) block->previous->next = block->next;
  if (block->next != NULL) block->next->previous = block->previous;
  if (partial[index] == block) partial[index] = block->next;
  block->next = block->previous = NULL;
}

static void link_block(struct block* block, unsigned index) {
  block->next = partial[index];
  if (block->next != NULL) block->next->previous = block;
  partial[index] = block;
}

static struct block* new_block(unsigned index, const struct CUctx_st* context) {
  if (!fake_charge(fake_physical(context->device), FAKE_GRANULE)) return NULL;
  uint64_t address = fake_arena_take(FAKE_GRANULE, FAKE_PLAIN, context->device, context);
  struct block* block = address == 0 ? NULL : calloc(1, sizeof *block);
  if (block == NULL) {
    if (address != 0) fake_arena_give(address);
    fake_discharge(fake_physical(context->device), FAKE_GRANULE);
    return NULL;
  }
  block->size = (uint32_t)SMALLEST << index;
  block->slots = (uint32_t)(FAKE_GRANULE / block->size);
  block->device = context->device;
  block->owner = context;
  block->granule = granule_of(address);
  table[block->granule].block = block;
  link_block(block, index);
  return block;
}

static uint64_t take_small(uint64_t size, const struct CUctx_st* context) {
  unsigned index = class_of(size);
  struct block* block = partial[index];
  while (block != NULL && block->owner != context) block = block->next;
  if (block == NULL) block = new_block(index, context);
  if (block == NULL) return 0;
  uint32_t word = 0;
  while (block->used[word] == UINT64_MAX) word++;
  uint32_t slot = word * 64 + (uint32_t)__builtin_ctzll(~block->used[word]);
  block->used[word] |= UINT64_C(1) << slot % 64;
  /* Slots behind the last one count as taken, so that the search for a free bit never finds them. */
  if (++block->taken == block->slots) unlink_block(block, index);
  return (uint64_t)(uintptr_t)arena + block->granule * FAKE_GRANULE + slot * (uint64_t)block->size;
}

static void give_small(uint64_t address, struct block* block) {
  unsigned index = class_of(block->size);
  uint64_t slot = address % FAKE_GRANULE / block->size;
  block->used[slot / 64] &= ~(UINT64_C(1) << slot % 64);
  if (block->taken-- == block->slots) link_block(block, index);
  if (block->taken > 0) return;
  unlink_block(block, index);
  fake_discharge(fake_physical(block->device), FAKE_GRANULE);
  fake_arena_give(address - address % FAKE_GRANULE);
  free(block);
}

CUresult fake_memory_alloc(CUdeviceptr* out, uint64_t size, enum fake_kind kind, struct CUctx_st* context) {
  fake_process_lock();
  uint64_t address = 0;
  if (kind == FAKE_PLAIN && size <= SMALL_LIMIT) {
    if (arena == NULL) open_arena();
    address = take_small(size, context);
  } else {
    uint64_t bytes = (size + FAKE_GRANULE - 1) / FAKE_GRANULE * FAKE_GRANULE;
    if (bytes >= size && fake_charge(fake_physical(context->device), bytes)) {
      address = fake_arena_take(size, kind, context->device, context);
      if (address == 0) fake_discharge(fake_physical(context->device), bytes);
    }
  }
  fake_process_unlock();
  if (address == 0) return CUDA_ERROR_OUT_OF_MEMORY;
  *out = address;
  return CUDA_SUCCESS;
}

static bool release(uint64_t address) {
  struct fake_range range;
  if (!fake_arena_find(address, &range) || range.start != address) return false;
  struct block* block = table[granule_of(address)].block;
  if (block != NULL) {
    give_small(address, block);
    return true;
  }
  if (range.kind != FAKE_PLAIN && range.kind != FAKE_MANAGED) return false;
  fake_discharge(fake_physical(range.device), range.granules * FAKE_GRANULE);
  fake_arena_give(address);
  return true;
}

void fake_memory_leave_context(const struct CUctx_st* context) {
  fake_process_lock();
  for (uint32_t i = 0; arena != NULL && i < GRANULES; i++) {
    struct granule* granule = &table[i];
    if (granule->kind == FAKE_NONE || granule->first != i || granule->owner != context) continue;
    uint64_t address = (uint64_t)(uintptr_t)arena + i * FAKE_GRANULE;
    struct block* block = granule->block;
    if (block != NULL) {
      while (block->taken > 1) {
        uint32_t word = 0;
        while (block->used[word] == 0) word++;
        give_small(address + (word * 64 + (uint32_t)__builtin_ctzll(block->used[word])) * (uint64_t)block->size, block);
      }
      uint32_t word = 0;
      while (block->used[word] == 0) word++;
      give_small(address + (word * 64 + (uint32_t)__builtin_ctzll(block->used[word])) * (uint64_t)block->size, block);
    } else if (granule->kind == FAKE_PLAIN || granule->kind == FAKE_MANAGED) {
      release(address);
    }
  }
  fake_process_unlock();
}

/* ---- entry points ---- */

FAKE_EXPORT CUresult cuMemAlloc_v2(CUdeviceptr* out, size_t size) {
  ENTER_CONTEXT(cuMemAlloc_v2);
  if (out == NULL || size == 0) return CUDA_ERROR_INVALID_VALUE;
  return fake_memory_alloc(out, size, FAKE_PLAIN, context);
}

FAKE_EXPORT CUresult cuMemAllocPitch_v2(CUdeviceptr* out, size_t* pitch, size_t width, size_t height,
                                        unsigned int element) {
  ENTER_CONTEXT(cuMemAllocPitch_v2);
  if (out == NULL || pitch == NULL || width == 0 || height == 0 || (element != 4 && element != 8 && element != 16)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  size_t row = (width + 511) / 512 * 512, size = 0;
  if (row < width || __builtin_mul_overflow(row, height, &size)) return CUDA_ERROR_INVALID_VALUE;
  CUresult result = fake_memory_alloc(out, size, FAKE_PLAIN, context);
  if (result == CUDA_SUCCESS) *pitch = row;
  return result;
}

FAKE_EXPORT CUresult cuMemAllocManaged(CUdeviceptr* out, size_t size, unsigned int flags) {
  ENTER_CONTEXT(cuMemAllocManaged);
  if (out == NULL || size == 0 || (flags != 1 && flags != 2)) return CUDA_ERROR_INVALID_VALUE;
  return fake_memory_alloc(out, size, FAKE_MANAGED, context);
}

FAKE_EXPORT CUresult cuMemFree_v2(CUdeviceptr address) {
  ENTER_CONTEXT(cuMemFree_v2);
  (void)context;
  if (address == 0) return CUDA_SUCCESS;
  struct fake_range range;
  fake_process_lock();
  bool found = fake_arena_find(address, &range) && range.start == address;
  bool pool = found && range.kind == FAKE_POOL;
  bool released = found && !pool && release(address);
  fake_process_unlock();
  if (pool) return cuMemFreeAsync(address, NULL);
  return released ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

FAKE_EXPORT CUresult cuMemGetInfo_v2(size_t* available, size_t* total) {
  ENTER_CONTEXT(cuMemGetInfo_v2);
  if (available == NULL || total == NULL) return CUDA_ERROR_INVALID_VALUE;
  fake_lock();
  fake_reap();
  const struct fake_device* device = &fake_machine->device[fake_physical(context->device)];
  *available = device->total - device->used;
  *total = device->total;
  fake_unlock();
  return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuMemGetAddressRange_v2(CUdeviceptr* base, size_t* size, CUdeviceptr address) {
  ENTER_CONTEXT(cuMemGetAddressRange_v2);
  (void)context;
  struct fake_range range;
  fake_process_lock();
  bool found = fake_arena_find(address, &range) && range.kind != FAKE_RESERVED;
  fake_process_unlock();
  if (!found) return CUDA_ERROR_NOT_FOUND;
  if (base != NULL) *base = range.start;
  if (size != NULL) *size = range.size;
  return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuPointerGetAttribute(void* data, CUpointer_attribute attribute, CUdeviceptr address) {
  ENTER_CONTEXT(cuPointerGetAttribute);
  (void)context;
  struct fake_range range;
  fake_process_lock();
  bool found = fake_arena_find(address, &range);
  fake_process_unlock();
  if (data == NULL || !found) return CUDA_ERROR_INVALID_VALUE;
  if (attribute == CU_POINTER_ATTRIBUTE_MEMORY_TYPE) {
    *(unsigned int*)data = 2;
  } else if (attribute == CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL) {
    *(int*)data = range.device;
  } else if (attribute == CU_POINTER_ATTRIBUTE_RANGE_SIZE) {
    *(size_t*)data = range.size;
  } else {
    return CUDA_ERROR_NOT_SUPPORTED;
  }
  return CUDA_SUCCESS;
}

/* ---- host memory ---- */

static CUresult host_alloc(void** out, size_t size) {
  if (out == NULL || size == 0) return CUDA_ERROR_INVALID_VALUE;
  size_t room = (size + 4095) / 4096 * 4096;
  *out = room < size ? NULL : aligned_alloc(4096, room);
  return *out == NULL ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuMemAllocHost_v2(void** out, size_t size) {
  ENTER_CONTEXT(cuMemAllocHost_v2);
  (void)context;
  return host_alloc(out, size);
}

FAKE_EXPORT CUresult cuMemHostAlloc(void** out, size_t size, unsigned int flags) {
  ENTER_CONTEXT(cuMemHostAlloc);
  (void)context;
  return (flags & ~7u) != 0 ? CUDA_ERROR_INVALID_VALUE : host_alloc(out, size);
}

FAKE_EXPORT CUresult cuMemFreeHost(void* address) {
  ENTER_CONTEXT(cuMemFreeHost);
  (void)context;
  if (address == NULL) return CUDA_ERROR_INVALID_VALUE;
  free(address);
  return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr* out, void* address, unsigned int flags) {
  ENTER_CONTEXT(cuMemHostGetDevicePointer_v2);
  (void)context;
  if (out == NULL || address == NULL || flags != 0) return CUDA_ERROR_INVALID_VALUE;
  *out = (CUdeviceptr)(uintptr_t)address;
  return CUDA_SUCCESS;
}
