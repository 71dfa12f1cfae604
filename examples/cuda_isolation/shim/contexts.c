/* What nobody allocates by size: contexts, code, heaps of kernels. NVML says what the process holds in all; what is
 * beyond the books is overhead. It is measured after each call that changes it. What a context is expected to cost
 * ($KAISCHED_GUARD_CONTEXT, else what the last one has, else a default) is asked of the ledger before it is made, so
 * that a full card refuses. */
#include <pthread.h>
#include <sys/types.h>
#include <unistd.h>

#include "guard.h"

static pthread_mutex_t overhead_lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t overhead[KL_DEVICES_MAX]; /* by card: what is charged now */

/* By the pid that NVML knows: the host's, which the agent has noted in the ledger, or ours where there is no other. */
unsigned int guard_pid_for_nvml(void) {
  uint32_t slot = 0;
  kl_slot_state state = {.struct_size = sizeof state};
  if (kl_own_slot(guard.ledger, &slot) == KL_OK && kl_slot_get(guard.ledger, slot, &state) == KL_OK &&
      state.host_pid != 0) {
    return (unsigned int)state.host_pid;
  }
  return (unsigned int)getpid();
}

bool guard_management_device(CUdevice device, nvmlDevice_t* out) {
  static int ready; /* initialising twice is harmless */
  if (!guard_load_management() || guard_nvml.nvmlInit_v2 == NULL || guard_nvml.nvmlDeviceGetHandleByUUID == NULL)
    return false;
  if (!__atomic_load_n(&ready, __ATOMIC_ACQUIRE)) {
    if (guard_nvml.nvmlInit_v2() != NVML_SUCCESS) return false;
    __atomic_store_n(&ready, 1, __ATOMIC_RELEASE);
  }
  return guard_nvml.nvmlDeviceGetHandleByUUID(guard.uuid[device], out) == NVML_SUCCESS;
}

static bool nvml_used(CUdevice device, uint64_t* out) {
  enum { ROOM = 512 };
  static nvmlProcessInfo_t list[ROOM]; /* under overhead_lock */
  unsigned int count = ROOM, pid = guard_pid_for_nvml();
  nvmlDevice_t handle = NULL;
  if (!guard_management_device(device, &handle) || guard_nvml.nvmlDeviceGetComputeRunningProcesses_v3 == NULL ||
      guard_nvml.nvmlDeviceGetComputeRunningProcesses_v3(handle, &count, list) != NVML_SUCCESS) {
    return false;
  }
  for (unsigned int i = 0; i < count && i < ROOM; i++) {
    if (list[i].pid != pid) continue;
    *out = list[i].usedGpuMemory;
    return *out < KL_BYTES_MAX;
  }
  return false;
}

static bool booked(int card, uint64_t* held, uint64_t* reserved) {
  uint32_t slot = 0;
  kl_slot_state state = {.struct_size = sizeof state};
  if (kl_own_slot(guard.ledger, &slot) != KL_OK || kl_slot_get(guard.ledger, slot, &state) != KL_OK) return false;
  *held = state.devices[card].held_bytes;
  *reserved = state.devices[card].reserved_bytes;
  return true;
}

/* Only while nothing else is under way: with a call of another thread in the driver the two sums cannot be compared. */
bool guard_overhead_settle(CUdevice device) {
  if (guard.ledger == NULL || device < 0 || device >= guard.devices || guard.card[device] < 0) return false;
  int card = guard.card[device];
  bool measured = false;
  pthread_mutex_lock(&overhead_lock);
  for (int attempt = 0; attempt < 4; attempt++) {
    uint64_t held = 0, reserved = 0, again = 0, used = 0;
    if (!booked(card, &held, &reserved) || reserved != 0 || !nvml_used(device, &used)) continue;
    if (!booked(card, &again, &reserved) || reserved != 0 || again != held) continue;
    uint64_t known = held - (overhead[card] < held ? overhead[card] : held);
    uint64_t now = used > known ? used - known : 0;
    if (now > overhead[card]) kl_charge(guard.ledger, (uint32_t)card, now - overhead[card]);
    if (now < overhead[card]) kl_release(guard.ledger, (uint32_t)card, overhead[card] - now);
    overhead[card] = now;
    measured = true;
    break;
  }
  pthread_mutex_unlock(&overhead_lock);
  return measured;
}

void guard_overhead(uint64_t bytes[KL_DEVICES_MAX]) {
  pthread_mutex_lock(&overhead_lock);
  for (int card = 0; card < KL_DEVICES_MAX; card++) bytes[card] += overhead[card];
  pthread_mutex_unlock(&overhead_lock);
}

/* A context is about to be made. In mode open one is never refused: it is charged with what it turns out to cost. */
static CUresult claim_context(struct guard_claim* claim, CUdevice device) {
  *claim = (struct guard_claim){.card = -1};
  if (device < 0 || device >= guard.devices) return CUDA_SUCCESS; /* the driver says what is wrong */
  CUresult result = guard_claim(claim, device, __atomic_load_n(&guard.context_estimate, __ATOMIC_RELAXED));
  if (result != CUDA_ERROR_OUT_OF_MEMORY || guard.strict) return result;
  return guard_claim(claim, device, 0);
}

static CUresult made(CUresult result, const CUcontext* out, CUdevice device, struct guard_claim* claim) {
  if (result != CUDA_SUCCESS) {
    guard_drop(claim);
    return result;
  }
  if (claim->card < 0) return result;
  struct guard_record record = {.bytes = claim->bytes, .card = claim->card, .device = device};
  pthread_mutex_lock(&overhead_lock);
  uint64_t before = overhead[claim->card];
  guard_keep(claim, claim->bytes);
  overhead[claim->card] += claim->bytes;
  pthread_mutex_unlock(&overhead_lock);
  if (guard_overhead_settle(device)) {
    pthread_mutex_lock(&overhead_lock);
    uint64_t after = overhead[claim->card];
    pthread_mutex_unlock(&overhead_lock);
    record.bytes = after > before ? after - before : 0;
    if (!guard.context_given && record.bytes > 0) {
      __atomic_store_n(&guard.context_estimate, record.bytes, __ATOMIC_RELAXED);
    }
  }
  guard_put(GUARD_CONTEXT, (uint64_t)(uintptr_t)*out, &record);
  return result;
}

GUARD_EXPORT CUresult cuDevicePrimaryCtxRetain(CUcontext* out, CUdevice device) {
  if (!guard_load_driver()) return CUDA_ERROR_NOT_INITIALIZED;
  unsigned int flags = 0;
  int active = 1;
  if (!guard_on() || (guard_real.cuDevicePrimaryCtxGetState != NULL &&
                      guard_real.cuDevicePrimaryCtxGetState(device, &flags, &active) == CUDA_SUCCESS && active)) {
    return guard_real.cuDevicePrimaryCtxRetain(out, device);
  }
  struct guard_claim claim;
  CUresult result = claim_context(&claim, device);
  return result != CUDA_SUCCESS ? result : made(guard_real.cuDevicePrimaryCtxRetain(out, device), out, device, &claim);
}

static CUresult create(CUcontext* out, unsigned int flags, CUdevice device, __typeof__(cuCtxCreate_v2)* real) {
  if (!guard_on()) return real(out, flags, device);
  struct guard_claim claim;
  CUresult result = claim_context(&claim, device);
  return result != CUDA_SUCCESS ? result : made(real(out, flags, device), out, device, &claim);
}

GUARD_EXPORT CUresult cuCtxCreate(CUcontext* out, unsigned int flags, CUdevice device) {
  return guard_load_driver() ? create(out, flags, device, guard_real.cuCtxCreate) : CUDA_ERROR_NOT_INITIALIZED;
}

GUARD_EXPORT CUresult cuCtxCreate_v2(CUcontext* out, unsigned int flags, CUdevice device) {
  return guard_load_driver() ? create(out, flags, device, guard_real.cuCtxCreate_v2) : CUDA_ERROR_NOT_INITIALIZED;
}

GUARD_EXPORT CUresult cuCtxCreate_v3(CUcontext* out, CUexecAffinityParam* affinity, int count, unsigned int flags,
                                     CUdevice device) {
  if (!guard_load_driver()) return CUDA_ERROR_NOT_INITIALIZED;
  if (!guard_on()) return guard_real.cuCtxCreate_v3(out, affinity, count, flags, device);
  struct guard_claim claim;
  CUresult result = claim_context(&claim, device);
  return result != CUDA_SUCCESS
             ? result
             : made(guard_real.cuCtxCreate_v3(out, affinity, count, flags, device), out, device, &claim);
}

GUARD_EXPORT CUresult cuCtxCreate_v4(CUcontext* out, CUctxCreateParams* parameters, unsigned int flags,
                                     CUdevice device) {
  if (!guard_load_driver()) return CUDA_ERROR_NOT_INITIALIZED;
  if (!guard_on()) return guard_real.cuCtxCreate_v4(out, parameters, flags, device);
  struct guard_claim claim;
  CUresult result = claim_context(&claim, device);
  return result != CUDA_SUCCESS ? result
                                : made(guard_real.cuCtxCreate_v4(out, parameters, flags, device), out, device, &claim);
}

/* A context is gone, and with it what was allocated in it. Where NVML cannot say what is left, what it was charged with
 * comes back. */
static void ended(CUcontext context, const struct guard_record* record) {
  guard_forget_context(context);
  if (guard_overhead_settle(record->device)) return;
  pthread_mutex_lock(&overhead_lock);
  uint64_t back = record->bytes < overhead[record->card] ? record->bytes : overhead[record->card];
  overhead[record->card] -= back;
  pthread_mutex_unlock(&overhead_lock);
  guard_release(record->card, back);
}

static CUresult destroy(CUcontext context, __typeof__(cuCtxDestroy_v2)* real) {
  struct guard_record record;
  if (!guard_on() || !guard_take(GUARD_CONTEXT, (uint64_t)(uintptr_t)context, &record)) return real(context);
  CUresult result = real(context);
  if (result == CUDA_SUCCESS) {
    ended(context, &record);
  } else {
    guard_put(GUARD_CONTEXT, (uint64_t)(uintptr_t)context, &record);
  }
  return result;
}

GUARD_EXPORT CUresult cuCtxDestroy(CUcontext context) {
  return guard_load_driver() ? destroy(context, guard_real.cuCtxDestroy) : CUDA_ERROR_NOT_INITIALIZED;
}

GUARD_EXPORT CUresult cuCtxDestroy_v2(CUcontext context) {
  return guard_load_driver() ? destroy(context, guard_real.cuCtxDestroy_v2) : CUDA_ERROR_NOT_INITIALIZED;
}

/* The handle of a primary context is learned by holding it for a moment. */
static CUresult leave_primary(CUdevice device, __typeof__(cuDevicePrimaryCtxRelease_v2)* real) {
  unsigned int flags = 0;
  int active = 0;
  CUcontext context = NULL;
  struct guard_record record;
  if (!guard_on() || guard_real.cuDevicePrimaryCtxGetState == NULL ||
      guard_real.cuDevicePrimaryCtxGetState(device, &flags, &active) != CUDA_SUCCESS || !active) {
    return real(device);
  }
  if (guard_real.cuDevicePrimaryCtxRetain(&context, device) != CUDA_SUCCESS) return real(device);
  guard_real.cuDevicePrimaryCtxRelease_v2(device);
  CUresult result = real(device);
  if (result == CUDA_SUCCESS && guard_real.cuDevicePrimaryCtxGetState(device, &flags, &active) == CUDA_SUCCESS &&
      !active && guard_take(GUARD_CONTEXT, (uint64_t)(uintptr_t)context, &record)) {
    ended(context, &record);
  }
  return result;
}

GUARD_EXPORT CUresult cuDevicePrimaryCtxRelease(CUdevice device) {
  return guard_load_driver() ? leave_primary(device, guard_real.cuDevicePrimaryCtxRelease) : CUDA_ERROR_NOT_INITIALIZED;
}

GUARD_EXPORT CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) {
  return guard_load_driver() ? leave_primary(device, guard_real.cuDevicePrimaryCtxRelease_v2)
                             : CUDA_ERROR_NOT_INITIALIZED;
}

GUARD_EXPORT CUresult cuDevicePrimaryCtxReset(CUdevice device) {
  return guard_load_driver() ? leave_primary(device, guard_real.cuDevicePrimaryCtxReset) : CUDA_ERROR_NOT_INITIALIZED;
}

GUARD_EXPORT CUresult cuDevicePrimaryCtxReset_v2(CUdevice device) {
  return guard_load_driver() ? leave_primary(device, guard_real.cuDevicePrimaryCtxReset_v2)
                             : CUDA_ERROR_NOT_INITIALIZED;
}

/* Heaps grow by what is asked for; code by what it is, which NVML tells. */
GUARD_EXPORT CUresult cuCtxSetLimit(CUlimit limit, size_t value) {
  CUdevice device = 0;
  if (!guard_load_driver()) return CUDA_ERROR_NOT_INITIALIZED;
  if (!guard_on() || !guard_device(&device)) return guard_real.cuCtxSetLimit(limit, value);
  struct guard_claim claim;
  bool heap = limit == CU_LIMIT_MALLOC_HEAP_SIZE || limit == CU_LIMIT_PRINTF_FIFO_SIZE;
  CUresult result = guard_claim(&claim, device, heap ? guard_round(value, GUARD_GRANULE) : 0);
  if (result != CUDA_SUCCESS) return result;
  result = guard_real.cuCtxSetLimit(limit, value);
  guard_drop(&claim);
  if (result == CUDA_SUCCESS) guard_overhead_settle(device);
  return result;
}

static CUresult loaded(CUresult result) {
  CUdevice device = 0;
  if (result == CUDA_SUCCESS && guard_on() && guard_device(&device)) guard_overhead_settle(device);
  return result;
}

GUARD_EXPORT CUresult cuModuleLoad(CUmodule* out, const char* path) {
  return guard_load_driver() ? loaded(guard_real.cuModuleLoad(out, path)) : CUDA_ERROR_NOT_INITIALIZED;
}

GUARD_EXPORT CUresult cuModuleLoadData(CUmodule* out, const void* image) {
  return guard_load_driver() ? loaded(guard_real.cuModuleLoadData(out, image)) : CUDA_ERROR_NOT_INITIALIZED;
}

GUARD_EXPORT CUresult cuModuleLoadDataEx(CUmodule* out, const void* image, unsigned int count, CUjit_option* options,
                                         void** values) {
  return guard_load_driver() ? loaded(guard_real.cuModuleLoadDataEx(out, image, count, options, values))
                             : CUDA_ERROR_NOT_INITIALIZED;
}

GUARD_EXPORT CUresult cuModuleLoadFatBinary(CUmodule* out, const void* image) {
  return guard_load_driver() ? loaded(guard_real.cuModuleLoadFatBinary(out, image)) : CUDA_ERROR_NOT_INITIALIZED;
}

GUARD_EXPORT CUresult cuModuleUnload(CUmodule module) {
  return guard_load_driver() ? loaded(guard_real.cuModuleUnload(module)) : CUDA_ERROR_NOT_INITIALIZED;
}
