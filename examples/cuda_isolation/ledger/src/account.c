/* Changes of what a process holds. See kl_record in layout.h for the protocol and docs/cuda-ledger.md for why it holds.
 */
#include <unistd.h>

#include "internal.h"

/* The thread sanitizer replaces swaps of 16 bytes by a lock of its process, which other processes know nothing of. */
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
__attribute__((disable_sanitizer_instrumentation, noinline))
#endif
#endif
bool kl_swap(kl_word* word, uint64_t total, uint64_t tag, uint64_t new_total, uint64_t new_tag) {
  return __sync_bool_compare_and_swap(&word->whole, (kl_u128)tag << 64 | total, (kl_u128)new_tag << 64 | new_total);
}

kl_status kl_note(const kl_ledger* l, uint32_t device, uint64_t tag) {
  const uint64_t slot = tag >> KL_TAG_SHIFT, sequence = tag & KL_TAG_SEQUENCE;
  if (slot >= l->slots) return KL_E_CORRUPT;
  kl_record* record = record_at(l, (uint32_t)slot, device);
  uint64_t noted = atomic_load(&record->noted);
  while (noted < sequence && !atomic_compare_exchange_weak(&record->noted, &noted, sequence)) {
  }
  return KL_OK;
}

kl_status kl_own(const kl_ledger* l, uint32_t* slot) {
  const uint32_t attached = atomic_load_explicit(l->attached, memory_order_acquire);
  const pid_t by = atomic_load_explicit(&l->attached_by, memory_order_relaxed);
  if (attached == 0) return by != 0 && by != getpid() ? KL_E_FORKED : KL_E_DETACHED;
  if (!l->cleared_by_kernel && by != getpid()) return KL_E_FORKED;
  if (atomic_load(&slot_at(l, attached - 1)->owner) != l->owner) return KL_E_DETACHED;
  *slot = attached - 1;
  return KL_OK;
}

static void raise_peak(kl_usage_device* device, uint64_t total) {
  uint64_t peak = atomic_load_explicit(&device->peak, memory_order_relaxed);
  while (peak < total && !atomic_compare_exchange_weak(&device->peak, &peak, total)) {
  }
}

/* Whether a card may hold `total` and `more` besides. */
static bool fits(const kl_ledger* l, uint32_t device, uint64_t total, uint64_t more) {
  const uint64_t limit = atomic_load(&limits_device(l, device)->memory_bytes);
  return limit == KL_NO_LIMIT || (total <= limit && more <= limit - total);
}

/* The announced change `sequence` goes into the word, if nobody has taken this process for dead meanwhile. */
static kl_status change_word(kl_ledger* l, uint32_t device, uint32_t slot, uint64_t sequence, uint64_t delta,
                             bool admit) {
  kl_usage_device* usage = usage_device(l, device);
  const kl_record* record = record_at(l, slot, device);
  const uint64_t own = (uint64_t)slot << KL_TAG_SHIFT;
  const bool grows = (int64_t)delta > 0;
  for (;;) {
    const uint64_t tag = atomic_load(&usage->word.part.tag);
    KL_STEP(CHANGE_TAG);
    const uint64_t total = atomic_load(&usage->word.part.total);
    KL_STEP(CHANGE_LOADED);
    /* Nobody but a burial can have made a change of this number. */
    if (atomic_load(&slot_at(l, slot)->owner) != l->owner || (tag >= (own | sequence) && tag >> KL_TAG_SHIFT == slot) ||
        atomic_load(&record->noted) >= sequence)
      return KL_E_DETACHED;
    if (tag >> KL_TAG_SHIFT != slot) {
      const kl_status status = kl_note(l, device, tag);
      if (status != KL_OK) return status;
    }
    KL_STEP(CHANGE_NOTED);
    if (total > KL_BYTES_MAX || (!grows && total < -delta)) {
      if (tag != atomic_load(&usage->word.part.tag)) continue; /* halves of two values */
      return KL_E_CORRUPT;
    }
    if (grows && (delta > KL_BYTES_MAX - total || (admit && !fits(l, device, total, delta)))) return KL_E_LIMIT;
    if (kl_swap(&usage->word, total, tag, total + delta, own | sequence)) {
      KL_STEP(CHANGE_MADE);
      if (grows) raise_peak(usage, total + delta);
      return KL_OK;
    }
  }
}

/* Adds `delta` to what this process holds; its mutex of the card is held. */
static kl_status change(kl_ledger* l, uint32_t device, uint32_t slot, uint64_t delta, bool admit) {
  if (delta == 0) return KL_OK;
  kl_record* record = record_at(l, slot, device);
  const uint64_t sequence = atomic_load_explicit(&record->seq, memory_order_relaxed) + 1;
  const uint64_t held = atomic_load_explicit(&record->held, memory_order_relaxed);
  if (atomic_load_explicit(&record->done, memory_order_relaxed) != sequence - 1 || sequence >= KL_TAG_SEQUENCE - 1 ||
      held > KL_BYTES_MAX)
    return KL_E_CORRUPT;
  atomic_store_explicit(&record->before, held, memory_order_relaxed);
  atomic_store_explicit(&record->delta, delta, memory_order_relaxed);
  KL_STEP(CHANGE_DELTA);
  atomic_store(&record->seq, sequence);
  KL_STEP(CHANGE_ANNOUNCED);
  const kl_status status = change_word(l, device, slot, sequence, delta, admit);
  if (status == KL_E_DETACHED) return status; /* the record is another's now, or nobody's */
  if (status == KL_OK) {
    atomic_store(&record->held, held + delta);
    KL_STEP(CHANGE_HELD);
  } else {
    KL_STEP(CHANGE_REFUSED);
  }
  atomic_store(&record->done, sequence);
  KL_STEP(CHANGE_DONE);
  return status;
}

typedef enum request { RESERVE, COMMIT, CANCEL, SETTLE, RELEASE, CHARGE } request;

/* One request under the mutex: `from` bytes of its kind, reserved or used, become `to`. */
static kl_status perform(kl_ledger* l, uint32_t device, uint32_t slot, request what, uint64_t from, uint64_t to) {
  kl_record* record = record_at(l, slot, device);
  const uint64_t held = atomic_load_explicit(&record->held, memory_order_relaxed);
  const uint64_t reserved = atomic_load_explicit(&record->reserved, memory_order_relaxed);
  if (reserved > held) return KL_E_CORRUPT;
  const bool of_reserved = what == COMMIT || what == CANCEL;
  if (from > (of_reserved ? reserved : held - reserved)) return KL_E_ARGUMENT;
  /* `reserved` is never above `held`, so it shrinks first and grows last. */
  if (of_reserved && to <= from) atomic_store_explicit(&record->reserved, reserved - from, memory_order_relaxed);
  const kl_status status = change(l, device, slot, to - from, what != CHARGE);
  if (status != KL_OK) return status;
  if (of_reserved && to > from) {
    KL_STEP(COMMIT_GROWN);
    atomic_store_explicit(&record->reserved, reserved - from, memory_order_relaxed);
  }
  if (what == RESERVE) atomic_store_explicit(&record->reserved, reserved + to, memory_order_relaxed);
  return KL_OK;
}

static kl_status once(kl_ledger* l, uint32_t device, request what, uint64_t from, uint64_t to) {
  uint32_t slot = 0;
  kl_status status = kl_own(l, &slot);
  if (status != KL_OK) return status;
  if (pthread_mutex_lock(&l->mutexes[device]) != 0) return KL_E_SYSTEM;
  status = perform(l, device, slot, what, from, to);
  pthread_mutex_unlock(&l->mutexes[device]);
  return status;
}

static kl_status ask(kl_ledger* l, uint32_t device, request what, uint64_t from, uint64_t to) {
  if (l == NULL || device >= l->devices || from > KL_BYTES_MAX || to > KL_BYTES_MAX) return KL_E_ARGUMENT;
  if (from == 0 && to == 0) return KL_OK;
  kl_status status = once(l, device, what, from, to);
  if (status != KL_E_LIMIT) return status;
  uint32_t reaped = 0;
  if (kl_reap(l, &reaped) == KL_OK && reaped > 0) status = once(l, device, what, from, to);
  if (status == KL_E_LIMIT) atomic_fetch_add_explicit(&usage_device(l, device)->refused, 1, memory_order_relaxed);
  return status;
}

kl_status kl_reserve(kl_ledger* l, uint32_t device, uint64_t bytes) { return ask(l, device, RESERVE, 0, bytes); }

kl_status kl_commit(kl_ledger* l, uint32_t device, uint64_t reserved, uint64_t actual) {
  return ask(l, device, COMMIT, reserved, actual);
}

kl_status kl_cancel(kl_ledger* l, uint32_t device, uint64_t reserved) { return ask(l, device, CANCEL, reserved, 0); }

kl_status kl_settle(kl_ledger* l, uint32_t device, uint64_t from, uint64_t to) {
  return ask(l, device, SETTLE, from, to);
}

kl_status kl_release(kl_ledger* l, uint32_t device, uint64_t bytes) { return ask(l, device, RELEASE, bytes, 0); }

kl_status kl_charge(kl_ledger* l, uint32_t device, uint64_t bytes) { return ask(l, device, CHARGE, 0, bytes); }

/* One reading of a record; false if its owner was writing meanwhile. */
static bool read_record(const kl_ledger* l, uint32_t slot, uint32_t device, uint64_t* held, kl_status* status) {
  const kl_slot* head = slot_at(l, slot);
  const kl_record* record = record_at(l, slot, device);
  const uint64_t owner = atomic_load(&head->owner);
  const uint64_t sequence = atomic_load(&record->seq), done = atomic_load(&record->done);
  const uint64_t at_rest = atomic_load(&record->held), before = atomic_load(&record->before);
  const uint64_t delta = atomic_load(&record->delta);
  const uint64_t tag = atomic_load(&usage_device(l, device)->word.part.tag);
  const uint64_t noted = atomic_load(&record->noted);
  if (owner != atomic_load(&head->owner) || sequence != atomic_load(&record->seq) || done != atomic_load(&record->done))
    return false;
  const uint64_t own = (uint64_t)slot << KL_TAG_SHIFT;
  *status = KL_OK;
  if ((owner & KL_PID_MASK) == 0 || noted > sequence || tag == (own | (sequence + 1)))
    *held = 0; /* nobody's, or given back already */
  else if (sequence == done)
    *held = at_rest;
  else if (sequence == done + 1)
    *held = noted >= sequence || tag == (own | sequence) ? before + delta : before;
  else
    *status = KL_E_CORRUPT;
  if (*status == KL_OK && *held > KL_BYTES_MAX) *status = KL_E_CORRUPT;
  return true;
}

kl_status kl_held(const kl_ledger* l, uint32_t slot, uint32_t device, uint64_t* held) {
  kl_status status = KL_OK;
  for (int attempt = 0; attempt < 16; ++attempt)
    if (read_record(l, slot, device, held, &status)) return status;
  *held = atomic_load(&record_at(l, slot, device)->held); /* somebody busy: what they last had */
  return *held > KL_BYTES_MAX ? KL_E_CORRUPT : KL_OK;
}

kl_status kl_import(kl_ledger* l, uint32_t device, uint64_t bytes) {
  if (l == NULL || device >= l->devices || bytes > KL_BYTES_MAX) return KL_E_ARGUMENT;
  uint32_t slot = 0;
  const kl_status status = kl_own(l, &slot);
  if (status != KL_OK) return status;
  atomic_fetch_add_explicit(&usage_device(l, device)->imports, 1, memory_order_relaxed);
  atomic_fetch_add_explicit(&usage_device(l, device)->imported_bytes, bytes, memory_order_relaxed);
  return KL_OK;
}
