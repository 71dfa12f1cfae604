#ifndef KAISCHED_LEDGER_INTERNAL_H
#define KAISCHED_LEDGER_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>

#include "layout.h"
#include "steps.h"

typedef struct kl_process {
  pid_t pid;
  uint64_t start;     /* clock ticks since boot, 0: not known */
  uint64_t image;     /* of this program */
  uint64_t namespace; /* of pids, 0: not known */
} kl_process;

struct kl_ledger {
  char* limits; /* mapped files */
  char* usage;
  size_t limits_bytes, usage_bytes;
  int fd; /* of `usage`, for record locks; kept open for life */
  dev_t device;
  ino_t inode;
  kl_access access;
  uint32_t devices, slots;
  size_t slot_bytes;
  char name[KL_NAME_SIZE];
  char uuids[KL_DEVICES_MAX][KL_UUID_SIZE];
  /* Slot of this process + 1. A page that the kernel clears in a forked child, whichever way it was forked. */
  _Atomic uint32_t* attached;
  bool cleared_by_kernel;
  _Atomic pid_t attached_by;
  kl_process self;        /* of attached_by; under the lock of attaching */
  _Atomic uint64_t owner; /* the word that this process wrote into its slot */
  pthread_mutex_t mutexes[KL_DEVICES_MAX];
  atomic_bool truncated; /* a page of a file was lost */
  kl_ledger* next;       /* of all that are open */
};

/* Sets status and message of an error that may be NULL; returns the status. */
__attribute__((format(printf, 3, 4))) kl_status kl_fail(kl_error* error, kl_status status, const char* format, ...);

static inline kl_limits_device* limits_device(const kl_ledger* l, uint32_t device) {
  return (kl_limits_device*)(void*)(l->limits + sizeof(kl_header)) + device;
}

static inline kl_usage_device* usage_device(const kl_ledger* l, uint32_t device) {
  return (kl_usage_device*)(void*)(l->usage + sizeof(kl_header)) + device;
}

static inline kl_slot* slot_at(const kl_ledger* l, uint32_t slot) {
  return (kl_slot*)(void*)(l->usage + sizeof(kl_header) + l->devices * sizeof(kl_usage_device) + slot * l->slot_bytes);
}

static inline kl_record* record_at(const kl_ledger* l, uint32_t slot, uint32_t device) {
  return (kl_record*)(void*)(slot_at(l, slot) + 1) + device;
}

/* The slot of this process. */
kl_status kl_own(const kl_ledger* l, uint32_t* slot);

/* account.c. Notes for its owner that the change a tag names was made; call before replacing the tag. */
kl_status kl_note(const kl_ledger* l, uint32_t device, uint64_t tag);
bool kl_swap(kl_word* word, uint64_t total, uint64_t tag, uint64_t new_total, uint64_t new_tag);
/* What a slot holds on a card by its own record: of the dead exact, of the living what they last had. */
kl_status kl_held(const kl_ledger* l, uint32_t slot, uint32_t device, uint64_t* held);

/* process.c */
kl_process kl_self(void);
/* Start time of a process of our namespace, 0 if it is not to be had. */
uint64_t kl_start_ticks(pid_t pid);
/* 1: the process lives, that is one of its threads does; 0: it does not. */
bool kl_pid_alive(pid_t pid, uint64_t start);
/* 1: the process has the file mapped, 0: it has not, -1: nobody tells. */
int kl_maps_file(pid_t pid, dev_t device, ino_t inode);
/* slots.c. Gives back what the slot of a dead or leaving owner holds, and the slot. */
kl_status kl_bury(kl_ledger* l, uint32_t slot, uint64_t owner);
/* Takes the slot for this process and attaches the handle: KL_E_FULL if somebody has it. */
kl_status kl_claim(kl_ledger* l, uint32_t slot, const kl_process* self);

/* The process that locks a byte of the file: its pid here, 0 if it has none here, -1 if nobody else locks it, -2 if not
 * to be had. */
pid_t kl_locker(const kl_ledger* l, uint32_t slot);
bool kl_lock_byte(const kl_ledger* l, uint32_t slot, bool lock);

/* truncation.c. Ledgers of owners, whose pages can be replaced: from before they are mapped until they are not any
 * more. */
void kl_remember(kl_ledger* l);
void kl_forget(const kl_ledger* l);
/* False: a file is shorter than what is mapped of it, or was. */
bool kl_is_whole(const kl_ledger* l);

#endif
