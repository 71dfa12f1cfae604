/* What monitors see. */
#include <string.h>

#include "internal.h"

#ifdef KAISCHED_LEDGER_STEPS
void (*kl_step_hook)(int step);
#endif

const char* kl_status_text(kl_status status) {
  switch (status) {
    case KL_OK:
      return "KL_OK";
    case KL_E_ARGUMENT:
      return "KL_E_ARGUMENT: an argument is wrong";
    case KL_E_LIMIT:
      return "KL_E_LIMIT: the memory limit would be passed";
    case KL_E_FULL:
      return "KL_E_FULL: every slot belongs to a living process";
    case KL_E_FORKED:
      return "KL_E_FORKED: attached before fork";
    case KL_E_DETACHED:
      return "KL_E_DETACHED: this process has no slot";
    case KL_E_CORRUPT:
      return "KL_E_CORRUPT: the ledger is damaged";
    case KL_E_LAYOUT:
      return "KL_E_LAYOUT: no ledger of this layout";
    case KL_E_STALE:
      return "KL_E_STALE: the ledger is from an earlier start of the machine";
    case KL_E_READ_ONLY:
      return "KL_E_READ_ONLY: the ledger was opened for less";
    case KL_E_NOT_FOUND:
      return "KL_E_NOT_FOUND: not there";
    case KL_E_SYSTEM:
      return "KL_E_SYSTEM: a system call failed";
    case KL_E_PAUSED:
      return "KL_E_PAUSED: the compute share is 0";
    case KL_E_EXISTS:
      return "KL_E_EXISTS: there is one already";
    default:
      return "unknown status";
  }
}

uint32_t kl_device_count(const kl_ledger* l) { return l == NULL ? 0 : l->devices; }
uint32_t kl_slot_count(const kl_ledger* l) { return l == NULL ? 0 : l->slots; }
const char* kl_name(const kl_ledger* l) { return l == NULL ? "" : l->name; }

kl_status kl_find_device(const kl_ledger* l, const char* uuid, uint32_t* device) {
  if (l == NULL || uuid == NULL || device == NULL) return KL_E_ARGUMENT;
  for (uint32_t i = 0; i < l->devices; ++i)
    if (strcmp(l->uuids[i], uuid) == 0) {
      *device = i;
      return KL_OK;
    }
  return KL_E_NOT_FOUND;
}

kl_status kl_get_limits(const kl_ledger* l, uint32_t device, kl_limits* limits) {
  if (l == NULL || limits == NULL || device >= l->devices) return KL_E_ARGUMENT;
  const kl_limits_device* from = limits_device(l, device);
  const uint64_t cores = atomic_load_explicit(&from->cores, memory_order_relaxed);
  const uint64_t priority = atomic_load_explicit(&from->priority, memory_order_relaxed);
  limits->memory_bytes = atomic_load_explicit(&from->memory_bytes, memory_order_relaxed);
  limits->core_permille = (uint32_t)cores;
  limits->core_weight = (uint32_t)(cores >> 32);
  limits->priority = (int32_t)(uint32_t)priority;
  limits->flags = (uint32_t)(priority >> 32);
  const bool good = (limits->memory_bytes <= KL_BYTES_MAX || limits->memory_bytes == KL_NO_LIMIT) &&
                    limits->core_permille <= KL_WHOLE_CARD && limits->core_weight <= KL_WHOLE_CARD &&
                    (limits->flags & ~(uint32_t)KL_FLAG_OPEN) == 0;
  return good ? KL_OK : KL_E_CORRUPT;
}

static uint64_t reserved_of(const kl_ledger* l, uint32_t slot, uint32_t device, uint64_t held) {
  const uint64_t reserved = atomic_load_explicit(&record_at(l, slot, device)->reserved, memory_order_relaxed);
  return reserved < held ? reserved : held;
}

kl_status kl_device_get(const kl_ledger* l, uint32_t device, kl_device_state* state) {
  if (l == NULL || state == NULL || device >= l->devices || state->struct_size < sizeof *state) return KL_E_ARGUMENT;
  const uint32_t size = state->struct_size;
  memset(state, 0, sizeof *state);
  state->struct_size = size;
  const kl_status status = kl_get_limits(l, device, &state->limits);
  if (status != KL_OK) return status;
  const kl_usage_device* usage = usage_device(l, device);
  const uint64_t limit = state->limits.memory_bytes;
  memcpy(state->uuid, l->uuids[device], KL_UUID_SIZE);
  state->total_bytes = limits_device(l, device)->total_bytes;
  state->held_bytes = atomic_load(&usage->word.part.total);
  if (state->held_bytes > KL_BYTES_MAX) return KL_E_CORRUPT;
  const uint64_t room = limit == KL_NO_LIMIT ? state->total_bytes : limit;
  state->free_bytes = room > state->held_bytes ? room - state->held_bytes : 0;
  state->overrun_bytes = limit != KL_NO_LIMIT && state->held_bytes > limit ? state->held_bytes - limit : 0;
  for (uint32_t slot = 0; slot < l->slots; ++slot) {
    uint64_t held = 0;
    if ((atomic_load(&slot_at(l, slot)->owner) & KL_PID_MASK) == 0) continue;
    if (kl_held(l, slot, device, &held) != KL_OK) return KL_E_CORRUPT;
    state->reserved_bytes += reserved_of(l, slot, device, held);
  }
  const uint64_t peak = atomic_load_explicit(&usage->peak, memory_order_relaxed);
  state->peak_bytes = peak > state->held_bytes ? peak : state->held_bytes;
  state->refused = atomic_load_explicit(&usage->refused, memory_order_relaxed);
  state->imports = atomic_load_explicit(&usage->imports, memory_order_relaxed);
  state->imported_bytes = atomic_load_explicit(&usage->imported_bytes, memory_order_relaxed);
  state->busy_ns = atomic_load_explicit(&usage->busy_ns, memory_order_relaxed);
  state->waited_ns = atomic_load_explicit(&usage->waited_ns, memory_order_relaxed);
  state->launches = atomic_load_explicit(&usage->launches, memory_order_relaxed);
  state->changes = atomic_load_explicit(&limits_device(l, device)->changes, memory_order_relaxed);
  return KL_OK;
}

kl_status kl_slot_get(const kl_ledger* l, uint32_t slot, kl_slot_state* state) {
  if (l == NULL || state == NULL || slot >= l->slots || state->struct_size < sizeof *state) return KL_E_ARGUMENT;
  const kl_slot* head = slot_at(l, slot);
  const uint32_t size = state->struct_size;
  const uint64_t owner = atomic_load(&head->owner);
  if ((owner & KL_PID_MASK) == 0) return KL_E_NOT_FOUND;
  memset(state, 0, sizeof *state);
  state->struct_size = size;
  state->pid = (int32_t)(owner & KL_PID_MASK);
  state->start_ticks = owner >> 32;
  state->host_pid = (int32_t)(atomic_load(&head->host) & KL_PID_MASK);
  state->pid_namespace = (uint32_t)atomic_load(&head->namespace);
  state->active_ns = atomic_load(&head->active_ns);
  const uint64_t words[2] = {atomic_load(&head->command[0]), atomic_load(&head->command[1])};
  memcpy(state->command, words, sizeof words);
  state->command[sizeof state->command - 1] = '\0';
  for (uint32_t device = 0; device < l->devices; ++device) {
    uint64_t held = 0;
    if (kl_held(l, slot, device, &held) != KL_OK) return KL_E_CORRUPT;
    state->devices[device].held_bytes = held;
    state->devices[device].reserved_bytes = reserved_of(l, slot, device, held);
    state->devices[device].busy_ns = atomic_load(&record_at(l, slot, device)->busy_ns);
  }
  return atomic_load(&head->owner) == owner ? KL_OK : KL_E_NOT_FOUND;
}

kl_status kl_own_slot(const kl_ledger* l, uint32_t* slot) {
  return l == NULL || slot == NULL ? KL_E_ARGUMENT : kl_own(l, slot);
}

kl_status kl_audit(const kl_ledger* l, bool running, kl_error* error) {
  if (l == NULL) return kl_fail(error, KL_E_ARGUMENT, "ledger is NULL");
  if (!kl_is_whole(l)) return kl_fail(error, KL_E_CORRUPT, "a file is shorter than it was");
  for (uint32_t device = 0; device < l->devices; ++device) {
    kl_limits limits;
    uint64_t sum = 0;
    const kl_usage_device* usage = usage_device(l, device);
    const uint64_t total = atomic_load(&usage->word.part.total), tag = atomic_load(&usage->word.part.tag);
    if (kl_get_limits(l, device, &limits) != KL_OK)
      return kl_fail(error, KL_E_CORRUPT, "limits: device %u: a limit is out of range", device);
    if (total > KL_BYTES_MAX) return kl_fail(error, KL_E_CORRUPT, "usage: device %u: total is out of range", device);
    if (tag >> KL_TAG_SHIFT >= l->slots)
      return kl_fail(error, KL_E_CORRUPT, "usage: device %u: tag names slot %u of %u", device,
                     (unsigned)(tag >> KL_TAG_SHIFT), l->slots);
    for (uint32_t slot = 0; slot < l->slots; ++slot) {
      uint64_t held = 0;
      if (kl_held(l, slot, device, &held) != KL_OK)
        return kl_fail(error, KL_E_CORRUPT, "usage: slot %u: record of device %u is damaged", slot, device);
      sum += held;
    }
    if (!running && sum != total)
      return kl_fail(error, KL_E_CORRUPT, "usage: device %u: total is %llu, the slots hold %llu", device,
                     (unsigned long long)total, (unsigned long long)sum);
  }
  if (error != NULL) memset(error, 0, sizeof *error);
  return KL_OK;
}
