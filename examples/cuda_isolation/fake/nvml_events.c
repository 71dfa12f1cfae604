/* Events of NVML: sets of devices and kinds, and waiting for what happens on them. Who tests raises an event with
 * kaisched_fake_raise; every process on the machine that has registered for it sees it. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../shim/nvml_abi.h"
#include "shared.h"

#define FAKE_EXPORT __attribute__((visibility("default")))

enum { NVML_ERROR_TIMEOUT = 10 };
#define EVENTS_OF_CARDS UINT64_C(0x1f)

struct nvmlEventSet_st {
  uint64_t seen; /* of all events that there were */
  uint64_t kinds[FAKE_MAX_DEVICES];
};
typedef struct nvmlEventSet_st* nvmlEventSet_t;

typedef struct {
  nvmlDevice_t device;
  unsigned long long eventType;
  unsigned long long eventData;
  unsigned int gpuInstanceId;
  unsigned int computeInstanceId;
} nvmlEventData_t;

static int device_index(nvmlDevice_t device) {
  if (fake_machine == NULL) return -1;
  const struct fake_device* card = (const struct fake_device*)(const void*)device;
  if (card < fake_machine->device || card >= fake_machine->device + fake_machine->devices) return -1;
  return (int)(card - fake_machine->device);
}

FAKE_EXPORT nvmlReturn_t nvmlEventSetCreate(nvmlEventSet_t* out) {
  if (fake_machine == NULL) return NVML_ERROR_UNINITIALIZED;
  if (out == NULL) return NVML_ERROR_INVALID_ARGUMENT;
  *out = calloc(1, sizeof **out);
  if (*out == NULL) return NVML_ERROR_UNKNOWN;
  fake_lock();
  (*out)->seen = fake_machine->events;
  fake_unlock();
  return NVML_SUCCESS;
}

FAKE_EXPORT nvmlReturn_t nvmlEventSetFree(nvmlEventSet_t set) {
  free(set);
  return NVML_SUCCESS;
}

FAKE_EXPORT nvmlReturn_t nvmlDeviceGetSupportedEventTypes(nvmlDevice_t device, unsigned long long* out) {
  if (out == NULL || device_index(device) < 0) return NVML_ERROR_INVALID_ARGUMENT;
  *out = EVENTS_OF_CARDS;
  return NVML_SUCCESS;
}

FAKE_EXPORT nvmlReturn_t nvmlDeviceRegisterEvents(nvmlDevice_t device, unsigned long long kinds, nvmlEventSet_t set) {
  int index = device_index(device);
  if (index < 0 || set == NULL) return NVML_ERROR_INVALID_ARGUMENT;
  fake_lock();
  set->kinds[index] |= kinds;
  fake_unlock();
  return NVML_SUCCESS;
}

/* The next event that the set is for; those that nobody waited for in time are lost, as with the real one. */
static bool next_event(nvmlEventSet_t set, nvmlEventData_t* out) {
  if (fake_machine->events - set->seen > FAKE_MAX_EVENTS) set->seen = fake_machine->events - FAKE_MAX_EVENTS;
  while (set->seen < fake_machine->events) {
    const struct fake_event* event = &fake_machine->event[set->seen++ % FAKE_MAX_EVENTS];
    if ((set->kinds[event->device] & event->kind) == 0) continue;
    *out = (nvmlEventData_t){(nvmlDevice_t)(void*)&fake_machine->device[event->device], event->kind, event->data,
                             UINT32_MAX, UINT32_MAX};
    return true;
  }
  return false;
}

FAKE_EXPORT nvmlReturn_t nvmlEventSetWait_v2(nvmlEventSet_t set, nvmlEventData_t* out, unsigned int milliseconds) {
  if (set == NULL || out == NULL) return NVML_ERROR_INVALID_ARGUMENT;
  for (;; milliseconds--) {
    fake_lock();
    bool found = next_event(set, out);
    fake_unlock();
    if (found) return NVML_SUCCESS;
    if (milliseconds == 0) return NVML_ERROR_TIMEOUT;
    nanosleep(&(struct timespec){0, 1000000}, NULL);
  }
}

FAKE_EXPORT bool kaisched_fake_raise(unsigned int index, unsigned long long kind, unsigned long long data);
bool kaisched_fake_raise(unsigned int index, unsigned long long kind, unsigned long long data) {
  if (!fake_open() || index >= fake_machine->devices) return false;
  fake_lock();
  fake_machine->event[fake_machine->events++ % FAKE_MAX_EVENTS] = (struct fake_event){index, kind, data};
  fake_unlock();
  return true;
}
