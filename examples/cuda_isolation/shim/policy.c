/* Which limits hold: the tenant's ledger ($KAISCHED_LEDGER), else what HAMi's or KAI's variables say. */
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "guard.h"
#include "settings.h"

struct guard_state guard;
static pthread_mutex_t start_lock = PTHREAD_MUTEX_INITIALIZER;
static bool started;

void guard_say(const char* format, ...) {
  const char* quiet = getenv("KAISCHED_GUARD_QUIET");
  if (quiet != NULL && strcmp(quiet, "1") == 0) return;
  va_list arguments;
  va_start(arguments, format);
  fputs("kaisched guard: ", stderr);
  vfprintf(stderr, format, arguments);
  fputc('\n', stderr);
  va_end(arguments);
}

static void write_uuid(char* out, const CUuuid* uuid) {
  static const char digits[] = "0123456789abcdef";
  char* at = out + sprintf(out, "GPU-");
  for (int i = 0; i < 16; i++) {
    if (i == 4 || i == 6 || i == 8 || i == 10) *at++ = '-';
    *at++ = digits[(unsigned char)uuid->bytes[i] >> 4];
    *at++ = digits[uuid->bytes[i] & 15];
  }
  *at = '\0';
}

static void read_devices(void) {
  int count = 0;
  if (guard_real.cuDeviceGetCount == NULL || guard_real.cuDeviceGetCount(&count) != CUDA_SUCCESS) count = 0;
  guard.devices = count < KL_DEVICES_MAX ? count : KL_DEVICES_MAX;
  for (int i = 0; i < guard.devices; i++) {
    CUuuid uuid = {{0}};
    if (guard_real.cuDeviceGetUuid != NULL) guard_real.cuDeviceGetUuid(&uuid, i);
    write_uuid(guard.uuid[i], &uuid);
  }
}

/* A ledger for limits from the environment. With CUDA_DEVICE_MEMORY_SHARED_CACHE, which HAMi sets per container, it has
 * a place that the container's processes share; without, each process and what it forks has limits of its own. */
static kl_status open_from_settings(const struct guard_settings* settings, kl_ledger** ledger, kl_error* error) {
  kl_device_spec specs[KL_DEVICES_MAX];
  memset(specs, 0, sizeof specs);
  for (int i = 0; i < guard.devices; i++) {
    memcpy(specs[i].uuid, guard.uuid[i], sizeof specs[i].uuid);
    size_t total = 0;
    if (guard_real.cuDeviceTotalMem_v2 != NULL && guard_real.cuDeviceTotalMem_v2(&total, i) == CUDA_SUCCESS) {
      specs[i].total_bytes = total;
    }
    specs[i].limits = (kl_limits){settings->memory[i], settings->permille[i], 0, settings->priority, 0};
  }
  if (settings->shared[0] == '\0') return kl_create_private(specs, (uint32_t)guard.devices, NULL, ledger, error);
  kl_status status = kl_create(settings->shared, specs, (uint32_t)guard.devices, NULL, error);
  if (status != KL_OK && status != KL_E_EXISTS) return status;
  return kl_open(settings->shared, KL_TENANT, ledger, error);
}

static CUresult establish(void) {
  struct guard_settings settings;
  char message[256];
  guard.strict = true;
  if (!guard_read_settings(&settings, message, sizeof message)) {
    guard.strict = settings.strict;
    guard_say("%s", message);
    return settings.strict ? CUDA_ERROR_SYSTEM_NOT_READY : CUDA_SUCCESS;
  }
  guard.strict = settings.strict;
  guard.context_estimate = settings.context;
  guard.context_given = settings.context_given;
  if (settings.ledger[0] == '\0' && !settings.limited) return CUDA_SUCCESS;
  kl_ledger* ledger = NULL;
  kl_error error = {0};
  read_devices();
  kl_status status = settings.ledger[0] != '\0' ? kl_open(settings.ledger, KL_TENANT, &ledger, &error)
                                                : open_from_settings(&settings, &ledger, &error);
  if (status == KL_OK) status = kl_attach(ledger);
  if (status != KL_OK) {
    guard_say("no limits can be kept: %s", error.message[0] != '\0' ? error.message : kl_status_text(status));
    kl_close(ledger);
    return guard.strict ? CUDA_ERROR_SYSTEM_NOT_READY : CUDA_SUCCESS;
  }
  for (int i = 0; i < guard.devices; i++) {
    uint32_t card = 0;
    guard.card[i] = kl_find_device(ledger, guard.uuid[i], &card) == KL_OK ? (int)card : -1;
  }
  guard.ledger = ledger;
  return CUDA_SUCCESS;
}

/* The driver shows the cards of the ledger in its order, unless the program or its container has chosen already. */
void guard_mask_devices(void) {
  const char* folder = getenv("KAISCHED_LEDGER");
  kl_ledger* ledger = NULL;
  if (folder == NULL || *folder == '\0' || getenv("CUDA_VISIBLE_DEVICES") != NULL) return;
  if (kl_open(folder, KL_READ, &ledger, NULL) != KL_OK) return;
  char list[KL_DEVICES_MAX * KL_UUID_SIZE] = "";
  size_t length = 0;
  for (uint32_t i = 0; i < kl_device_count(ledger); i++) {
    kl_device_state state = {.struct_size = sizeof state};
    if (kl_device_get(ledger, i, &state) != KL_OK || length + strlen(state.uuid) + 2 > sizeof list) continue;
    length += (size_t)snprintf(list + length, sizeof list - length, "%s%s", length > 0 ? "," : "", state.uuid);
  }
  kl_close(ledger);
  setenv("CUDA_VISIBLE_DEVICES", list, 0);
}

CUresult guard_start(unsigned int flags) {
  pthread_mutex_lock(&start_lock);
  if (!started) guard_mask_devices();
  pthread_mutex_unlock(&start_lock);
  CUresult result = guard_real.cuInit(flags);
  if (result != CUDA_SUCCESS) return result;
  pthread_mutex_lock(&start_lock);
  if (!started) {
    result = establish();
    started = result == CUDA_SUCCESS;
    __atomic_store_n(&guard.active, started ? guard.ledger != NULL : -1, __ATOMIC_RELEASE);
  }
  pthread_mutex_unlock(&start_lock);
  return result;
}

kl_ledger* guard_open_to_look(void) {
  struct guard_settings settings;
  char message[256];
  kl_ledger* ledger = NULL;
  if (!guard_read_settings(&settings, message, sizeof message)) return NULL;
  const char* folder = settings.ledger[0] != '\0' ? settings.ledger : settings.shared;
  if (folder[0] != '\0') kl_open(folder, KL_READ, &ledger, NULL);
  return ledger;
}
