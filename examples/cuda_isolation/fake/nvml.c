/* NVML over the same machine: memory, processes and utilisation are what the fake driver has in its books. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../shim/nvml_abi.h"
#include "shared.h"

#define FAKE_EXPORT __attribute__((visibility("default")))

static int users;

static int index_of(nvmlDevice_t device) {
  const struct fake_device* card = (const struct fake_device*)(const void*)device;
  if (users == 0 || card < fake_machine->device || card >= fake_machine->device + fake_machine->devices) return -1;
  return (int)(card - fake_machine->device);
}

#define DEVICE                                       \
  if (users == 0) return NVML_ERROR_UNINITIALIZED;   \
  int index = index_of(device);                      \
  if (index < 0) return NVML_ERROR_INVALID_ARGUMENT; \
  const struct fake_device* card = &fake_machine->device[index]

FAKE_EXPORT nvmlReturn_t nvmlInit_v2(void) {
  if (!fake_open()) return NVML_ERROR_UNKNOWN;
  __atomic_add_fetch(&users, 1, __ATOMIC_RELAXED);
  return NVML_SUCCESS;
}

FAKE_EXPORT nvmlReturn_t nvmlShutdown(void) {
  if (users == 0) return NVML_ERROR_UNINITIALIZED;
  __atomic_sub_fetch(&users, 1, __ATOMIC_RELAXED);
  return NVML_SUCCESS;
}

FAKE_EXPORT nvmlReturn_t nvmlDeviceGetCount_v2(unsigned int* out) {
  if (users == 0) return NVML_ERROR_UNINITIALIZED;
  if (out == NULL) return NVML_ERROR_INVALID_ARGUMENT;
  *out = fake_machine->devices;
  return NVML_SUCCESS;
}

FAKE_EXPORT nvmlReturn_t nvmlDeviceGetHandleByIndex_v2(unsigned int index, nvmlDevice_t* out) {
  if (users == 0) return NVML_ERROR_UNINITIALIZED;
  if (out == NULL || index >= fake_machine->devices) return NVML_ERROR_INVALID_ARGUMENT;
  *out = (nvmlDevice_t)(void*)&fake_machine->device[index];
  return NVML_SUCCESS;
}

FAKE_EXPORT nvmlReturn_t nvmlDeviceGetHandleByUUID(const char* uuid, nvmlDevice_t* out) {
  if (users == 0) return NVML_ERROR_UNINITIALIZED;
  if (uuid == NULL || out == NULL) return NVML_ERROR_INVALID_ARGUMENT;
  for (unsigned int i = 0; i < fake_machine->devices; i++) {
    if (strcmp(fake_machine->device[i].uuid, uuid) == 0) return nvmlDeviceGetHandleByIndex_v2(i, out);
  }
  return NVML_ERROR_NOT_FOUND;
}

static nvmlReturn_t text(char* out, unsigned int size, const char* from) {
  if (out == NULL) return NVML_ERROR_INVALID_ARGUMENT;
  if (strlen(from) >= size) return NVML_ERROR_INSUFFICIENT_SIZE;
  memcpy(out, from, strlen(from) + 1);
  return NVML_SUCCESS;
}

FAKE_EXPORT nvmlReturn_t nvmlDeviceGetUUID(nvmlDevice_t device, char* out, unsigned int size) {
  DEVICE;
  return text(out, size, card->uuid);
}

FAKE_EXPORT nvmlReturn_t nvmlDeviceGetName(nvmlDevice_t device, char* out, unsigned int size) {
  DEVICE;
  (void)card;
  return text(out, size, "Fake GPU");
}

FAKE_EXPORT nvmlReturn_t nvmlDeviceGetIndex(nvmlDevice_t device, unsigned int* out) {
  DEVICE;
  (void)card;
  if (out == NULL) return NVML_ERROR_INVALID_ARGUMENT;
  *out = (unsigned int)index;
  return NVML_SUCCESS;
}

FAKE_EXPORT nvmlReturn_t nvmlSystemGetDriverVersion(char* out, unsigned int size) { return text(out, size, "999.99"); }

FAKE_EXPORT nvmlReturn_t nvmlSystemGetCudaDriverVersion_v2(int* out) {
  const char* version = getenv("KAISCHED_FAKE_CUDA");
  if (out == NULL) return NVML_ERROR_INVALID_ARGUMENT;
  *out = version == NULL ? 13000 : (int)strtol(version, NULL, 10);
  return NVML_SUCCESS;
}

FAKE_EXPORT nvmlReturn_t nvmlDeviceGetMemoryInfo(nvmlDevice_t device, nvmlMemory_t* out) {
  DEVICE;
  if (out == NULL) return NVML_ERROR_INVALID_ARGUMENT;
  fake_lock();
  fake_reap();
  *out = (nvmlMemory_t){card->total, card->total - card->used, card->used};
  fake_unlock();
  return NVML_SUCCESS;
}

FAKE_EXPORT nvmlReturn_t nvmlDeviceGetMemoryInfo_v2(nvmlDevice_t device, nvmlMemory_v2_t* out) {
  DEVICE;
  if (out == NULL) return NVML_ERROR_INVALID_ARGUMENT;
  fake_lock();
  fake_reap();
  *out = (nvmlMemory_v2_t){out->version, card->total, 0, card->total - card->used, card->used};
  fake_unlock();
  return NVML_SUCCESS;
}

/* Processes that hold something on the device; count is the room, and what is needed where that is not enough. */
static nvmlReturn_t list(nvmlDevice_t device, unsigned int* count, void* out, size_t size) {
  DEVICE;
  (void)card;
  if (count == NULL) return NVML_ERROR_INVALID_ARGUMENT;
  unsigned int room = out == NULL ? 0 : *count, found = 0;
  fake_lock();
  fake_reap();
  for (int i = 0; i < FAKE_MAX_PROCESSES; i++) {
    const struct fake_process* process = &fake_machine->process[i];
    if (process->pid == 0 || process->used[index] == 0) continue;
    nvmlProcessInfo_t info = {(unsigned int)process->pid, process->used[index], UINT32_MAX, UINT32_MAX};
    if (found < room) memcpy((char*)out + found * size, &info, size);
    found++;
  }
  fake_unlock();
  *count = found;
  return found > room ? NVML_ERROR_INSUFFICIENT_SIZE : NVML_SUCCESS;
}

FAKE_EXPORT nvmlReturn_t nvmlDeviceGetComputeRunningProcesses(nvmlDevice_t device, unsigned int* count,
                                                              nvmlProcessInfo_v1_t* out) {
  return list(device, count, out, sizeof *out);
}

FAKE_EXPORT nvmlReturn_t nvmlDeviceGetComputeRunningProcesses_v2(nvmlDevice_t device, unsigned int* count,
                                                                 nvmlProcessInfo_v2_t* out) {
  return list(device, count, out, sizeof *out);
}

FAKE_EXPORT nvmlReturn_t nvmlDeviceGetComputeRunningProcesses_v3(nvmlDevice_t device, unsigned int* count,
                                                                 nvmlProcessInfo_t* out) {
  return list(device, count, out, sizeof *out);
}

static nvmlReturn_t nobody(unsigned int* count) {
  if (count == NULL) return NVML_ERROR_INVALID_ARGUMENT;
  *count = 0;
  return NVML_SUCCESS;
}

FAKE_EXPORT nvmlReturn_t nvmlDeviceGetGraphicsRunningProcesses(nvmlDevice_t device, unsigned int* count,
                                                               nvmlProcessInfo_v1_t* out) {
  (void)device, (void)out;
  return nobody(count);
}

FAKE_EXPORT nvmlReturn_t nvmlDeviceGetGraphicsRunningProcesses_v2(nvmlDevice_t device, unsigned int* count,
                                                                  nvmlProcessInfo_v2_t* out) {
  (void)device, (void)out;
  return nobody(count);
}

FAKE_EXPORT nvmlReturn_t nvmlDeviceGetGraphicsRunningProcesses_v3(nvmlDevice_t device, unsigned int* count,
                                                                  nvmlProcessInfo_t* out) {
  (void)device, (void)out;
  return nobody(count);
}

/* The time of the machine: where it is virtual, that of whoever is furthest behind. A look at it takes no part in it.
 */
static uint64_t machine_now(void) {
  if (fake_machine->expected == 0) return fake_now();
  uint64_t now = UINT64_MAX;
  for (int i = 0; i < FAKE_MAX_PARTICIPANTS; i++) {
    const struct fake_participant* one = &fake_machine->participant[i];
    if (one->pid != 0 && one->now < now) now = one->now;
  }
  return now == UINT64_MAX ? 0 : now;
}

FAKE_EXPORT nvmlReturn_t nvmlDeviceGetUtilizationRates(nvmlDevice_t device, nvmlUtilization_t* out) {
  DEVICE;
  (void)card;
  if (out == NULL) return NVML_ERROR_INVALID_ARGUMENT;
  uint64_t sum = 0;
  uint64_t now = machine_now();
  fake_lock();
  for (int i = 0; i < FAKE_MAX_PROCESSES; i++) sum += fake_busy_percent(&fake_machine->process[i], index, now);
  fake_unlock();
  *out = (nvmlUtilization_t){(unsigned int)(sum < 100 ? sum : 100), 0};
  return NVML_SUCCESS;
}

FAKE_EXPORT nvmlReturn_t nvmlDeviceGetProcessUtilization(nvmlDevice_t device, nvmlProcessUtilizationSample_t* out,
                                                         unsigned int* count, unsigned long long since) {
  DEVICE;
  (void)card, (void)since;
  if (count == NULL) return NVML_ERROR_INVALID_ARGUMENT;
  unsigned int room = out == NULL ? 0 : *count, found = 0;
  uint64_t now = machine_now();
  fake_lock();
  for (int i = 0; i < FAKE_MAX_PROCESSES; i++) {
    const struct fake_process* process = &fake_machine->process[i];
    uint64_t percent = process->pid == 0 ? 0 : fake_busy_percent(process, index, now);
    if (percent == 0) continue;
    if (found < room) {
      out[found] =
          (nvmlProcessUtilizationSample_t){(unsigned int)process->pid, now / 1000, (unsigned int)percent, 0, 0, 0};
    }
    found++;
  }
  fake_unlock();
  *count = found;
  if (found == 0) return NVML_ERROR_NOT_FOUND;
  return found > room ? NVML_ERROR_INSUFFICIENT_SIZE : NVML_SUCCESS;
}
