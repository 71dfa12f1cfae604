/* What management tools see: the tenant's memory instead of the card's, and the tenant's processes instead of
 * everybody's. */
#include <string.h>

#include "guard.h"

/* Tools such as nvidia-smi never start CUDA: the ledger is opened for looking at it. */
static kl_ledger* ledger(void) {
  static kl_ledger* own;
  static int tried;
  if (guard_on() && guard.ledger != NULL) return guard.ledger;
  if (__atomic_exchange_n(&tried, 1, __ATOMIC_ACQ_REL) == 0) {
    kl_ledger* opened = guard_open_to_look();
    __atomic_store_n(&own, opened, __ATOMIC_RELEASE);
  }
  return __atomic_load_n(&own, __ATOMIC_ACQUIRE);
}

static bool card_of(nvmlDevice_t device, uint32_t* card) {
  char uuid[96] = "";
  return ledger() != NULL && guard_nvml.nvmlDeviceGetUUID != NULL &&
         guard_nvml.nvmlDeviceGetUUID(device, uuid, sizeof uuid) == NVML_SUCCESS &&
         kl_find_device(ledger(), uuid, card) == KL_OK;
}

static bool limited(nvmlDevice_t device, kl_device_state* state) {
  uint32_t card = 0;
  *state = (kl_device_state){.struct_size = sizeof *state};
  return card_of(device, &card) && kl_device_get(ledger(), card, state) == KL_OK &&
         state->limits.memory_bytes != KL_NO_LIMIT;
}

/* total = free + used, as NVML promises. */
GUARD_EXPORT nvmlReturn_t nvmlDeviceGetMemoryInfo(nvmlDevice_t device, nvmlMemory_t* out) {
  kl_device_state state;
  if (!guard_load_management() || guard_nvml.nvmlDeviceGetMemoryInfo == NULL) return NVML_ERROR_UNINITIALIZED;
  nvmlReturn_t result = guard_nvml.nvmlDeviceGetMemoryInfo(device, out);
  if (result != NVML_SUCCESS || !limited(device, &state)) return result;
  if (out->total > state.limits.memory_bytes) out->total = state.limits.memory_bytes;
  if (out->free > state.free_bytes) out->free = state.free_bytes;
  if (out->free > out->total) out->free = out->total;
  out->used = out->total - out->free;
  return result;
}

/* total = free + used + reserved; what the system reserves is no tenant's. */
GUARD_EXPORT nvmlReturn_t nvmlDeviceGetMemoryInfo_v2(nvmlDevice_t device, nvmlMemory_v2_t* out) {
  kl_device_state state;
  if (!guard_load_management() || guard_nvml.nvmlDeviceGetMemoryInfo_v2 == NULL) return NVML_ERROR_UNINITIALIZED;
  nvmlReturn_t result = guard_nvml.nvmlDeviceGetMemoryInfo_v2(device, out);
  if (result != NVML_SUCCESS || !limited(device, &state)) return result;
  if (out->total > state.limits.memory_bytes) {
    out->total = state.limits.memory_bytes;
    out->reserved = 0;
  }
  if (out->free > state.free_bytes) out->free = state.free_bytes;
  if (out->free > out->total - out->reserved) out->free = out->total - out->reserved;
  out->used = out->total - out->reserved - out->free;
  return result;
}

/* NVML has pids of the host; the ledger has those that the agent has found, or those of this namespace. */
static bool ours(kl_ledger* from, unsigned int pid) {
  for (uint32_t slot = 0; slot < kl_slot_count(from); slot++) {
    kl_slot_state state = {.struct_size = sizeof state};
    if (kl_slot_get(from, slot, &state) != KL_OK) continue;
    if ((unsigned int)(state.host_pid != 0 ? state.host_pid : state.pid) == pid) return true;
  }
  return false;
}

/* The list with the others taken out. The caller's room may be less than the whole list needs, so it is read into our
 * own. */
typedef nvmlReturn_t (*lister)(nvmlDevice_t, unsigned int*, void*);
static nvmlReturn_t filtered(lister real, nvmlDevice_t device, unsigned int* count, void* out, size_t size) {
  enum { ROOM = 1024 };
  static __thread unsigned char list[ROOM * sizeof(nvmlProcessInfo_t)];
  uint32_t card = 0;
  if (real == NULL) return NVML_ERROR_NOT_SUPPORTED;
  if (count == NULL || !card_of(device, &card)) return real(device, count, out);
  unsigned int found = ROOM, kept = 0;
  nvmlReturn_t result = real(device, &found, list);
  if (result != NVML_SUCCESS) return result;
  unsigned int room = out == NULL ? 0 : *count;
  for (unsigned int i = 0; i < found; i++) {
    unsigned int pid = 0;
    memcpy(&pid, list + i * size, sizeof pid);
    if (!ours(ledger(), pid)) continue;
    if (kept < room) memcpy((unsigned char*)out + kept * size, list + i * size, size);
    kept++;
  }
  *count = kept;
  return kept > room ? NVML_ERROR_INSUFFICIENT_SIZE : NVML_SUCCESS;
}

#define LIST(name, type)                                                                             \
  static nvmlReturn_t real_##name(nvmlDevice_t device, unsigned int* count, void* out) {             \
    return guard_nvml.name == NULL ? NVML_ERROR_NOT_SUPPORTED : guard_nvml.name(device, count, out); \
  }                                                                                                  \
  GUARD_EXPORT nvmlReturn_t name(nvmlDevice_t device, unsigned int* count, type* out) {              \
    if (!guard_load_management()) return NVML_ERROR_UNINITIALIZED;                                   \
    return filtered(real_##name, device, count, out, sizeof *out);                                   \
  }
LIST(nvmlDeviceGetComputeRunningProcesses, nvmlProcessInfo_v1_t)
LIST(nvmlDeviceGetComputeRunningProcesses_v2, nvmlProcessInfo_v2_t)
LIST(nvmlDeviceGetComputeRunningProcesses_v3, nvmlProcessInfo_t)
LIST(nvmlDeviceGetGraphicsRunningProcesses, nvmlProcessInfo_v1_t)
LIST(nvmlDeviceGetGraphicsRunningProcesses_v2, nvmlProcessInfo_v2_t)
LIST(nvmlDeviceGetGraphicsRunningProcesses_v3, nvmlProcessInfo_t)
