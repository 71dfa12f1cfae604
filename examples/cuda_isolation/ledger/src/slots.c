/* Who has which slot, and what becomes of it when they die. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "internal.h"

static pid_t pid_of(uint64_t owner) { return (pid_t)(owner & KL_PID_MASK); }

/* What a dead owner held on a card goes back, once, whoever does it. Its record does not change any more; the change
   that gives back has the number after its last. Everything is read between loading the word and swapping it. */
static kl_status bury_device(kl_ledger* l, uint32_t slot, uint64_t owner, uint32_t device) {
  kl_word* word = &usage_device(l, device)->word;
  const kl_record* record = record_at(l, slot, device);
  const uint64_t own = (uint64_t)slot << KL_TAG_SHIFT;
  for (;;) {
    const uint64_t tag = atomic_load(&word->part.tag);
    KL_STEP(BURY_TAG);
    const uint64_t total = atomic_load(&word->part.total);
    KL_STEP(BURY_LOADED);
    const uint64_t sequence = atomic_load(&record->seq), done = atomic_load(&record->done);
    const uint64_t at_rest = atomic_load(&record->held), before = atomic_load(&record->before);
    const uint64_t made = before + atomic_load(&record->delta), noted = atomic_load(&record->noted);
    if (atomic_load(&slot_at(l, slot)->owner) != owner) return KL_OK;
    if (sequence >= KL_TAG_SEQUENCE - 1 || (sequence != done && sequence != done + 1)) return KL_E_CORRUPT;
    if (noted > sequence || tag == (own | (sequence + 1))) return KL_OK;
    KL_STEP(BURY_READ);
    const uint64_t held = sequence == done ? at_rest : noted >= sequence || tag == (own | sequence) ? made : before;
    const kl_status status = kl_note(l, device, tag);
    if (status != KL_OK) return status;
    KL_STEP(BURY_NOTED);
    if (held > total) {
      if (tag != atomic_load(&word->part.tag)) continue; /* halves of two values */
      return KL_E_CORRUPT;
    }
    if (kl_swap(word, total, tag, total - held, own | (sequence + 1))) return KL_OK;
  }
}

kl_status kl_bury(kl_ledger* l, uint32_t slot, uint64_t owner) {
  for (uint32_t device = 0; device < l->devices; ++device) {
    const kl_status status = bury_device(l, slot, owner, device);
    if (status != KL_OK) return status;
    KL_STEP(BURY_DEVICE);
  }
  uint64_t expected = owner;
  atomic_compare_exchange_strong(&slot_at(l, slot)->owner, &expected, owner & (KL_CLAIM_MASK << KL_PID_BITS));
  KL_STEP(BURY_FREED);
  return KL_OK;
}

/* A pid may say nothing here, because it is of another namespace. So: who locks its byte lives; who does not, and has
   a pid that means something here, is asked for; others are dead. */
static bool lives(const kl_ledger* l, uint32_t slot, uint64_t owner, const kl_process* self) {
  const kl_slot* head = slot_at(l, slot);
  const uint64_t namespace = atomic_load(&head->namespace), host = atomic_load(&head->host);
  const bool here = namespace == self->namespace && namespace != 0;
  const pid_t pid = pid_of(owner);
  const uint64_t start = owner >> 32;
  if (here && pid == self->pid && start == (self->start & UINT32_MAX)) return atomic_load(&head->image) == self->image;
  const pid_t locker = kl_locker(l, slot);
  if (locker >= 0) return true;
  if (here) return kl_pid_alive(pid, start) && kl_maps_file(pid, l->device, l->inode) != 0;
  if (host != 0 && atomic_load(&head->host_namespace) == self->namespace)
    return kl_pid_alive((pid_t)(host & KL_PID_MASK), host >> 32) &&
           kl_maps_file((pid_t)(host & KL_PID_MASK), l->device, l->inode) != 0;
  return locker != -1; /* without our descriptor nobody can be told dead */
}

/* Which pid a process of another namespace has here, for as long as its lock tells. */
static void identify(const kl_ledger* l, uint32_t slot, const kl_process* self) {
  kl_slot* head = slot_at(l, slot);
  if (atomic_load(&head->namespace) == self->namespace || atomic_load(&head->host) != 0) return;
  const pid_t pid = kl_locker(l, slot);
  if (pid <= 0) return;
  atomic_store(&head->host_namespace, self->namespace);
  atomic_store(&head->host, (uint64_t)pid | (kl_start_ticks(pid) & UINT32_MAX) << 32);
}

static pthread_mutex_t attach_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t attach_once = PTHREAD_ONCE_INIT;
static void lock_attach(void) { pthread_mutex_lock(&attach_mutex); }
static void unlock_attach(void) { pthread_mutex_unlock(&attach_mutex); }
static void watch_fork(void) { pthread_atfork(lock_attach, unlock_attach, unlock_attach); }

static kl_status reap(kl_ledger* l, uint32_t* reaped) {
  const kl_process self = atomic_load(&l->attached_by) == getpid() ? l->self : kl_self();
  for (uint32_t slot = 0; slot < l->slots; ++slot) {
    const uint64_t owner = atomic_load(&slot_at(l, slot)->owner);
    if (pid_of(owner) == 0) continue;
    if (lives(l, slot, owner, &self)) {
      identify(l, slot, &self);
      continue;
    }
    const kl_status status = kl_bury(l, slot, owner);
    if (status != KL_OK) return status;
    ++*reaped;
  }
  return KL_OK;
}

kl_status kl_reap(kl_ledger* l, uint32_t* reaped) {
  uint32_t count = 0;
  if (reaped != NULL) *reaped = 0;
  if (l == NULL) return KL_E_ARGUMENT;
  if (l->access < KL_TENANT) return KL_E_READ_ONLY;
  pthread_once(&attach_once, watch_fork);
  lock_attach(); /* or a slot that another thread of ours is taking looks like that of an earlier program */
  const kl_status status = reap(l, &count);
  unlock_attach();
  if (reaped != NULL) *reaped = count;
  return status;
}

/* Makes the records of a slot that this process has just claimed empty. The former owner's burial stays noted
   throughout, so dying in the middle gives back nothing twice. */
static kl_status empty(kl_ledger* l, uint32_t slot) {
  for (uint32_t device = 0; device < l->devices; ++device) {
    kl_record* record = record_at(l, slot, device);
    const uint64_t sequence = atomic_load(&record->seq);
    if (sequence >= KL_TAG_SEQUENCE - 2) return KL_E_CORRUPT;
    atomic_store(&record->done, sequence);
    atomic_store(&record->before, 0);
    atomic_store(&record->delta, 0);
    atomic_store(&record->held, 0);
    atomic_store(&record->reserved, 0);
    atomic_store(&record->busy_ns, 0);
    KL_STEP(CLAIM_EMPTIED);
    atomic_store(&record->seq, sequence + 1);
    KL_STEP(CLAIM_NUMBERED);
    atomic_store(&record->done, sequence + 1);
    KL_STEP(CLAIM_RECORD);
  }
  return KL_OK;
}

static void name(kl_slot* head, const kl_process* self) {
  char command[16] = {0};
  uint64_t words[2];
  FILE* file = fopen("/proc/self/comm", "re");
  if (file != NULL) {
    if (fgets(command, sizeof command, file) == NULL) command[0] = '\0';
    command[strcspn(command, "\n")] = '\0';
    fclose(file);
  }
  memcpy(words, command, sizeof words);
  atomic_store(&head->command[0], words[0]);
  atomic_store(&head->command[1], words[1]);
  atomic_store(&head->active_ns, 0);
  atomic_store(&head->host, 0);
  atomic_store(&head->host_namespace, 0);
  atomic_store(&head->image, self->image);
  atomic_store(&head->namespace, self->namespace);
}

/* One slot, if it is free. The byte is locked first: from the swap on the slot has an owner whom the kernel vouches
 * for. */
kl_status kl_claim(kl_ledger* l, uint32_t slot, const kl_process* self) {
  kl_slot* head = slot_at(l, slot);
  uint64_t owner = atomic_load(&head->owner);
  if (pid_of(owner) != 0 || !kl_lock_byte(l, slot, true)) return KL_E_FULL;
  KL_STEP(CLAIM_LOCKED);
  const uint64_t claims = ((owner >> KL_PID_BITS) + 1) & KL_CLAIM_MASK;
  const uint64_t mine = (uint64_t)self->pid | claims << KL_PID_BITS | (self->start & UINT32_MAX) << 32;
  if (!atomic_compare_exchange_strong(&head->owner, &owner, mine)) {
    if (pid_of(owner) != self->pid) kl_lock_byte(l, slot, false);
    return KL_E_FULL;
  }
  KL_STEP(CLAIM_OWNED);
  const kl_status status = empty(l, slot);
  if (status != KL_OK) return status;
  name(head, self);
  KL_STEP(CLAIM_NAMED);
  l->owner = mine;
  l->self = *self;
  atomic_store(&l->attached_by, self->pid);
  atomic_store_explicit(l->attached, slot + 1, memory_order_release);
  return KL_OK;
}

static kl_status attach(kl_ledger* l) {
  const kl_process self = kl_self();
  uint32_t slot = 0, reaped = 0;
  const kl_status state = kl_own(l, &slot);
  if (state == KL_OK) return KL_OK;
  if (state == KL_E_FORKED) /* the parent's threads may have held them */
    for (uint32_t device = 0; device < l->devices; ++device) pthread_mutex_init(&l->mutexes[device], NULL);
  const uint32_t lost = atomic_load(l->attached); /* somebody took us for dead: then its lock is for the next owner */
  if (lost != 0 && pid_of(atomic_load(&slot_at(l, lost - 1)->owner)) != self.pid) kl_lock_byte(l, lost - 1, false);
  atomic_store(l->attached, 0);
  kl_status status = reap(l, &reaped);
  for (slot = 0; status == KL_OK && slot < l->slots; ++slot) {
    status = kl_claim(l, slot, &self);
    if (status == KL_OK) return KL_OK;
    if (status == KL_E_FULL) status = KL_OK;
  }
  return status == KL_OK ? KL_E_FULL : status;
}

kl_status kl_attach(kl_ledger* l) {
  if (l == NULL) return KL_E_ARGUMENT;
  if (l->access < KL_TENANT) return KL_E_READ_ONLY;
  pthread_once(&attach_once, watch_fork);
  lock_attach();
  const kl_status status = attach(l);
  unlock_attach();
  return status;
}

kl_status kl_detach(kl_ledger* l) {
  if (l == NULL) return KL_E_ARGUMENT;
  uint32_t slot = 0;
  kl_status status = kl_own(l, &slot);
  if (status != KL_OK) return status; /* in a child of fork the mutexes below may be locked for ever */
  for (uint32_t device = 0; device < l->devices; ++device) pthread_mutex_lock(&l->mutexes[device]);
  lock_attach();
  status = kl_own(l, &slot);
  if (status == KL_OK) {
    status = kl_bury(l, slot, l->owner);
    atomic_store(l->attached, 0);
    atomic_store(&l->attached_by, 0);
    kl_lock_byte(l, slot, false);
  }
  unlock_attach();
  for (uint32_t device = 0; device < l->devices; ++device) pthread_mutex_unlock(&l->mutexes[device]);
  return status;
}
