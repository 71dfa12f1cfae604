/* Memory by handle: it lives until the last reference to the handle and the last mapping are gone. Also what other
 * processes share: legacy IPC and external memory, which the importer does not pay. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fake.h"

struct physical {
  uint64_t handle, size, key;
  int references, mappings;
  bool device_memory, imported;
  CUmemAllocationProp properties;
  struct physical* next;
};

struct mapping {
  uint64_t start, size;
  struct physical* physical;
  struct mapping* next;
};

static struct physical* physicals;
static struct mapping* mappings;
static uint64_t next_handle = 0x1000;

static struct physical** find(uint64_t handle) {
  struct physical** place = &physicals;
  while (*place != NULL && (*place)->handle != handle) place = &(*place)->next;
  return place;
}

static void let_go(struct physical* physical) {
  if (physical->references > 0 || physical->mappings > 0) return;
  struct physical** place = find(physical->handle);
  *place = physical->next;
  if (physical->device_memory && !physical->imported) {
    fake_discharge(fake_physical(physical->properties.location.id), physical->size);
  }
  free(physical);
}

static struct physical* add(uint64_t size, const CUmemAllocationProp* properties) {
  struct physical* physical = calloc(1, sizeof *physical);
  if (physical == NULL) return NULL;
  physical->handle = next_handle++;
  physical->size = size;
  physical->references = 1;
  physical->properties = *properties;
  physical->device_memory = properties->location.type == CU_MEM_LOCATION_TYPE_DEVICE;
  physical->next = physicals;
  physicals = physical;
  return physical;
}

FAKE_EXPORT CUresult cuMemGetAllocationGranularity(size_t* out, const CUmemAllocationProp* properties,
                                                   CUmemAllocationGranularity_flags option) {
  ENTER(cuMemGetAllocationGranularity);
  if (out == NULL || properties == NULL || option < 0 || option > 1) return CUDA_ERROR_INVALID_VALUE;
  *out = FAKE_GRANULE;
  return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuMemAddressReserve(CUdeviceptr* out, size_t size, size_t alignment, CUdeviceptr wish,
                                         unsigned long long flags) {
  ENTER(cuMemAddressReserve);
  (void)wish;
  if (out == NULL || size == 0 || size % FAKE_GRANULE != 0 || alignment > FAKE_GRANULE || flags != 0) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  fake_process_lock();
  *out = fake_arena_take(size, FAKE_RESERVED, 0, NULL);
  fake_process_unlock();
  return *out == 0 ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuMemAddressFree(CUdeviceptr address, size_t size) {
  ENTER(cuMemAddressFree);
  struct fake_range range;
  fake_process_lock();
  bool ok =
      fake_arena_find(address, &range) && range.kind == FAKE_RESERVED && range.start == address && range.size == size;
  for (const struct mapping* one = mappings; one != NULL && ok; one = one->next) {
    if (one->start >= address && one->start < address + size) ok = false;
  }
  if (ok) fake_arena_give(address);
  fake_process_unlock();
  return ok ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

FAKE_EXPORT CUresult cuMemCreate(CUmemGenericAllocationHandle* out, size_t size, const CUmemAllocationProp* properties,
                                 unsigned long long flags) {
  ENTER(cuMemCreate);
  if (out == NULL || properties == NULL || size == 0 || size % FAKE_GRANULE != 0 || flags != 0)
    return CUDA_ERROR_INVALID_VALUE;
  bool device_memory = properties->location.type == CU_MEM_LOCATION_TYPE_DEVICE;
  if (device_memory && fake_physical(properties->location.id) < 0) return CUDA_ERROR_INVALID_DEVICE;
  if (device_memory && !fake_charge(fake_physical(properties->location.id), size)) return CUDA_ERROR_OUT_OF_MEMORY;
  fake_process_lock();
  struct physical* physical = add(size, properties);
  if (physical != NULL) *out = physical->handle;
  fake_process_unlock();
  if (physical == NULL && device_memory) fake_discharge(fake_physical(properties->location.id), size);
  return physical == NULL ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuMemRelease(CUmemGenericAllocationHandle handle) {
  ENTER(cuMemRelease);
  fake_process_lock();
  struct physical* physical = *find(handle);
  bool ok = physical != NULL && physical->references > 0;
  if (ok) {
    physical->references--;
    let_go(physical);
  }
  fake_process_unlock();
  return ok ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

FAKE_EXPORT CUresult cuMemMap(CUdeviceptr address, size_t size, size_t offset, CUmemGenericAllocationHandle handle,
                              unsigned long long flags) {
  ENTER(cuMemMap);
  struct fake_range range;
  fake_process_lock();
  struct physical* physical = *find(handle);
  bool ok = physical != NULL && physical->references > 0 && flags == 0 && offset == 0 && size == physical->size &&
            fake_arena_find(address, &range) && range.kind == FAKE_RESERVED &&
            address + size <= range.start + range.size;
  for (const struct mapping* one = mappings; one != NULL && ok; one = one->next) {
    if (one->start < address + size && address < one->start + one->size) ok = false;
  }
  struct mapping* mapping = ok ? malloc(sizeof *mapping) : NULL;
  if (mapping != NULL) {
    *mapping = (struct mapping){address, size, physical, mappings};
    mappings = mapping;
    physical->mappings++;
  }
  fake_process_unlock();
  return mapping != NULL ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

FAKE_EXPORT CUresult cuMemUnmap(CUdeviceptr address, size_t size) {
  ENTER(cuMemUnmap);
  fake_process_lock();
  uint64_t covered = 0;
  for (const struct mapping* one = mappings; one != NULL; one = one->next) {
    if (one->start >= address && one->start + one->size <= address + size) covered += one->size;
  }
  bool ok = covered == size && size != 0;
  for (struct mapping** place = &mappings; ok && *place != NULL;) {
    struct mapping* one = *place;
    if (one->start < address || one->start + one->size > address + size) {
      place = &one->next;
      continue;
    }
    *place = one->next;
    one->physical->mappings--;
    let_go(one->physical);
    free(one);
  }
  fake_process_unlock();
  return ok ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

FAKE_EXPORT CUresult cuMemSetAccess(CUdeviceptr address, size_t size, const CUmemAccessDesc* access, size_t count) {
  ENTER(cuMemSetAccess);
  struct fake_range range;
  fake_process_lock();
  bool ok = access != NULL && count > 0 && size > 0 && fake_arena_find(address, &range);
  fake_process_unlock();
  return ok ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

FAKE_EXPORT CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle* out, void* address) {
  ENTER(cuMemRetainAllocationHandle);
  uint64_t at = (uint64_t)(uintptr_t)address;
  fake_process_lock();
  struct mapping* one = mappings;
  while (one != NULL && (at < one->start || at >= one->start + one->size)) one = one->next;
  bool ok = one != NULL && out != NULL;
  if (ok) {
    one->physical->references++;
    *out = one->physical->handle;
  }
  fake_process_unlock();
  return ok ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

FAKE_EXPORT CUresult cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp* out,
                                                            CUmemGenericAllocationHandle handle) {
  ENTER(cuMemGetAllocationPropertiesFromHandle);
  fake_process_lock();
  struct physical* physical = *find(handle);
  if (physical != NULL && out != NULL) *out = physical->properties;
  fake_process_unlock();
  return physical != NULL && out != NULL ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* A shared handle is a file with what an importer has to know. */
FAKE_EXPORT CUresult cuMemExportToShareableHandle(void* out, CUmemGenericAllocationHandle handle,
                                                  CUmemAllocationHandleType type, unsigned long long flags) {
  ENTER(cuMemExportToShareableHandle);
  fake_process_lock();
  struct physical* physical = *find(handle);
  bool ok = out != NULL && physical != NULL && type == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR && flags == 0 &&
            physical->properties.requestedHandleTypes == type;
  struct physical copy = {0};
  if (ok) copy = *physical;
  fake_process_unlock();
  if (!ok) return CUDA_ERROR_INVALID_VALUE;
  int fd = memfd_create("kaisched-fake", MFD_CLOEXEC);
  if (fd < 0 || write(fd, &copy, sizeof copy) != (ssize_t)sizeof copy) return CUDA_ERROR_UNKNOWN;
  *(int*)out = fd;
  return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuMemImportFromShareableHandle(CUmemGenericAllocationHandle* out, void* shared,
                                                    CUmemAllocationHandleType type) {
  ENTER(cuMemImportFromShareableHandle);
  struct physical from;
  if (out == NULL || type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR ||
      pread((int)(intptr_t)shared, &from, sizeof from, 0) != (ssize_t)sizeof from) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  fake_process_lock();
  struct physical* physical = add(from.size, &from.properties);
  if (physical != NULL) {
    physical->imported = true;
    *out = physical->handle;
  }
  fake_process_unlock();
  return physical == NULL ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS;
}

/* ---- legacy IPC ---- */

FAKE_EXPORT CUresult cuIpcGetMemHandle(CUipcMemHandle* out, CUdeviceptr address) {
  ENTER(cuIpcGetMemHandle);
  struct fake_range range;
  fake_process_lock();
  bool ok = out != NULL && fake_arena_find(address, &range) && range.kind == FAKE_PLAIN;
  fake_process_unlock();
  if (!ok) return CUDA_ERROR_INVALID_VALUE;
  struct fake_ipc entry = {getpid(), range.device, range.start, range.size, 0};
  fake_lock();
  entry.key = ++fake_machine->next_key;
  fake_machine->ipc[entry.key % FAKE_MAX_IPC] = entry;
  fake_unlock();
  memset(out, 0, sizeof *out);
  memcpy(out, &entry, sizeof entry);
  return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuIpcOpenMemHandle_v2(CUdeviceptr* out, CUipcMemHandle handle, unsigned int flags) {
  ENTER_CONTEXT(cuIpcOpenMemHandle_v2);
  struct fake_ipc entry;
  memcpy(&entry, &handle, sizeof entry);
  fake_lock();
  bool ok = out != NULL && flags <= 1 && entry.key != 0 &&
            memcmp(&fake_machine->ipc[entry.key % FAKE_MAX_IPC], &entry, sizeof entry) == 0;
  fake_unlock();
  if (!ok) return CUDA_ERROR_INVALID_HANDLE;
  if (entry.pid == getpid()) return CUDA_ERROR_INVALID_CONTEXT; /* the exporter cannot open its own */
  fake_process_lock();
  *out = fake_arena_take(entry.size, FAKE_IMPORTED, context->device, context);
  fake_process_unlock();
  return *out == 0 ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS;
}

static CUresult close_imported(CUdeviceptr address) {
  struct fake_range range;
  fake_process_lock();
  bool ok = fake_arena_find(address, &range) && range.kind == FAKE_IMPORTED && range.start == address;
  if (ok) fake_arena_give(address);
  fake_process_unlock();
  return ok ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

FAKE_EXPORT CUresult cuIpcCloseMemHandle(CUdeviceptr address) {
  ENTER(cuIpcCloseMemHandle);
  return close_imported(address);
}

/* ---- external memory ---- */

struct CUextMemory_st {
  uint64_t size, address;
};

FAKE_EXPORT CUresult cuImportExternalMemory(CUexternalMemory* out,
                                            const CUDA_EXTERNAL_MEMORY_HANDLE_DESC* description) {
  ENTER_CONTEXT(cuImportExternalMemory);
  (void)context;
  if (out == NULL || description == NULL || description->size == 0 ||
      description->type != CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  *out = calloc(1, sizeof **out);
  if (*out == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
  (*out)->size = description->size;
  return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuExternalMemoryGetMappedBuffer(CUdeviceptr* out, CUexternalMemory memory,
                                                     const CUDA_EXTERNAL_MEMORY_BUFFER_DESC* description) {
  ENTER_CONTEXT(cuExternalMemoryGetMappedBuffer);
  if (out == NULL || memory == NULL || description == NULL || description->offset + description->size > memory->size) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  fake_process_lock();
  if (memory->address == 0) memory->address = fake_arena_take(memory->size, FAKE_IMPORTED, context->device, context);
  fake_process_unlock();
  if (memory->address == 0) return CUDA_ERROR_OUT_OF_MEMORY;
  *out = memory->address + description->offset;
  return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuDestroyExternalMemory(CUexternalMemory memory) {
  ENTER(cuDestroyExternalMemory);
  if (memory == NULL) return CUDA_ERROR_INVALID_HANDLE;
  if (memory->address != 0) close_imported(memory->address);
  free(memory);
  return CUDA_SUCCESS;
}
