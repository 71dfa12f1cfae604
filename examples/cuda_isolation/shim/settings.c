#include "settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool guard_parse_bytes(const char* text, uint64_t* out) {
  uint64_t value = 0;
  if (*text < '0' || *text > '9') return false;
  for (; *text >= '0' && *text <= '9'; text++) {
    value = value * 10 + (uint64_t)(*text - '0');
    if (value > KL_BYTES_MAX) value = KL_BYTES_MAX;
  }
  unsigned shift = 0;
  switch (*text) {
    case 'k':
    case 'K':
      shift = 10;
      break;
    case 'm':
    case 'M':
      shift = 20;
      break;
    case 'g':
    case 'G':
      shift = 30;
      break;
    default:
      break;
  }
  if (shift != 0) text++;
  if (*text != '\0') return false;
  *out = value > KL_BYTES_MAX >> shift ? KL_BYTES_MAX : value << shift;
  return true;
}

static const char* variable(const char* name) {
  const char* text = getenv(name);
  return text == NULL || *text == '\0' ? NULL : text;
}

static bool complain(char* message, size_t size, const char* name, const char* text, const char* what) {
  snprintf(message, size, "%s=\"%.64s\": %s", name, text, what);
  return false;
}

/* NAME_<index>, else NAME, else nothing: HAMi's way. 0 is no limit. */
static const char* indexed(char* name, size_t size, const char* base, int index) {
  snprintf(name, size, "%s_%d", base, index);
  const char* text = variable(name);
  if (text != NULL) return text;
  snprintf(name, size, "%s", base);
  return variable(name);
}

static bool read_memory(struct guard_settings* out, char* message, size_t size) {
  char name[64];
  for (int i = 0; i < KL_DEVICES_MAX; i++) {
    uint64_t bytes = 0;
    out->memory[i] = KL_NO_LIMIT;
    const char* text = indexed(name, sizeof name, "CUDA_DEVICE_MEMORY_LIMIT", i);
    if (text == NULL) {
      snprintf(name, sizeof name, "GPU_MEMORY_LIMIT");
      text = variable(name);
    }
    if (text == NULL) continue;
    if (!guard_parse_bytes(text, &bytes))
      return complain(message, size, name, text, "not a number with k, m or g after it");
    if (bytes == 0) continue;
    out->memory[i] = bytes;
    out->limited = true;
  }
  return true;
}

static bool read_compute(struct guard_settings* out, char* message, size_t size) {
  char name[64];
  const char* policy = variable("GPU_CORE_UTILIZATION_POLICY");
  bool off = policy != NULL && (strcmp(policy, "DISABLE") == 0 || strcmp(policy, "disable") == 0);
  for (int i = 0; i < KL_DEVICES_MAX; i++) {
    out->permille[i] = KL_WHOLE_CARD;
    const char* text = indexed(name, sizeof name, "CUDA_DEVICE_SM_LIMIT", i);
    if (text == NULL) continue;
    char* end = NULL;
    long percent = strtol(text, &end, 10);
    if (end == text || *end != '\0' || percent < 0 || percent > 100) {
      return complain(message, size, name, text, "not a percentage of 0 to 100");
    }
    if (off || percent == 0 || percent == 100) continue;
    out->permille[i] = (uint32_t)percent * 10;
    out->limited = true;
  }
  return true;
}

static bool read_folder(char* out, size_t room, const char* name, const char* suffix, char* message, size_t size) {
  const char* text = variable(name);
  out[0] = '\0';
  if (text == NULL) return true;
  size_t length = strlen(text), rest = strlen(suffix) + 1;
  if (length + rest > room) return complain(message, size, name, text, "too long for a path");
  memcpy(out, text, length);
  memcpy(out + length, suffix, rest);
  return true;
}

bool guard_read_settings(struct guard_settings* out, char* message, size_t size) {
  memset(out, 0, sizeof *out);
  out->strict = true;
  const char* mode = variable("KAISCHED_GUARD_MODE");
  if (mode != NULL) {
    out->strict = strcmp(mode, "open") != 0;
    if (out->strict && strcmp(mode, "strict") != 0) {
      return complain(message, size, "KAISCHED_GUARD_MODE", mode, "neither strict nor open");
    }
  }
  const char* context = variable("KAISCHED_GUARD_CONTEXT");
  out->context = GUARD_CONTEXT_DEFAULT;
  out->context_given = context != NULL;
  if (context != NULL && !guard_parse_bytes(context, &out->context)) {
    return complain(message, size, "KAISCHED_GUARD_CONTEXT", context, "not a number with k, m or g after it");
  }
  const char* priority = variable("CUDA_TASK_PRIORITY");
  if (priority != NULL) {
    char* end = NULL;
    long value = strtol(priority, &end, 10);
    if (end == priority || *end != '\0' || value < 0 || value > 1000) {
      return complain(message, size, "CUDA_TASK_PRIORITY", priority, "not a number of 0 to 1000");
    }
    out->priority = (int32_t)-value; /* HAMi's 0 goes first; in the ledger the larger one does */
  }
  return read_folder(out->ledger, sizeof out->ledger, "KAISCHED_LEDGER", "", message, size) &&
         read_folder(out->shared, sizeof out->shared, "CUDA_DEVICE_MEMORY_SHARED_CACHE", ".kaisched", message, size) &&
         read_memory(out, message, size) && read_compute(out, message, size);
}
