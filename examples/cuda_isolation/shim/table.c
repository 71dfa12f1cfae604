/* What the guard knows of pointers and handles: open addressing, in shards with a lock each. Kind and key together are
 * the key, so an address and a handle of the same number are two things. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "guard.h"

enum { SHARDS = 64, SMALLEST = 64 };

struct entry {
  uint64_t key;
  uint32_t kind; /* 0: free */
  struct guard_record record;
};
struct guard_shard {
  pthread_mutex_t lock;
  struct entry* entries;
  size_t room, used; /* room is a power of two, and never more than three quarters of it used */
} __attribute__((aligned(64)));

#define FOUR(x) x, x, x, x
#define SHARD {.lock = PTHREAD_MUTEX_INITIALIZER}
static struct guard_shard shards[] = {FOUR(FOUR(FOUR(SHARD)))};
_Static_assert(sizeof shards / sizeof shards[0] == SHARDS, "as many as keys are spread over");

static uint64_t mix(enum guard_kind kind, uint64_t key) {
  uint64_t x = (key + kind * UINT64_C(0x9e3779b97f4a7c15)) * UINT64_C(0xbf58476d1ce4e5b9);
  x = (x ^ x >> 29) * UINT64_C(0x94d049bb133111eb);
  return x ^ x >> 32;
}

struct guard_shard* guard_lock_shard(enum guard_kind kind, uint64_t key) {
  struct guard_shard* shard = &shards[mix(kind, key) % SHARDS];
  pthread_mutex_lock(&shard->lock);
  return shard;
}

void guard_unlock_shard(struct guard_shard* shard) { pthread_mutex_unlock(&shard->lock); }

static size_t home(const struct guard_shard* shard, enum guard_kind kind, uint64_t key) {
  return (mix(kind, key) / SHARDS) & (shard->room - 1);
}

static struct entry* find(struct guard_shard* shard, enum guard_kind kind, uint64_t key) {
  if (shard->room == 0) return NULL;
  for (size_t at = home(shard, kind, key); shard->entries[at].kind != 0; at = (at + 1) & (shard->room - 1)) {
    if (shard->entries[at].key == key && shard->entries[at].kind == kind) return &shard->entries[at];
  }
  return NULL;
}

struct guard_record* guard_find(struct guard_shard* shard, enum guard_kind kind, uint64_t key) {
  struct entry* entry = find(shard, kind, key);
  return entry == NULL ? NULL : &entry->record;
}

static struct entry* place(struct guard_shard* shard, enum guard_kind kind, uint64_t key) {
  size_t at = home(shard, kind, key);
  while (shard->entries[at].kind != 0) at = (at + 1) & (shard->room - 1);
  return &shard->entries[at];
}

static bool grow(struct guard_shard* shard) {
  size_t old_room = shard->room;
  struct entry* old = shard->entries;
  size_t room = old_room == 0 ? SMALLEST : old_room * 2;
  struct entry* entries = calloc(room, sizeof *entries);
  if (entries == NULL) return false;
  shard->entries = entries;
  shard->room = room;
  for (size_t i = 0; i < old_room; i++) {
    if (old[i].kind != 0) *place(shard, (enum guard_kind)old[i].kind, old[i].key) = old[i];
  }
  free(old);
  return true;
}

struct guard_record* guard_add(struct guard_shard* shard, enum guard_kind kind, uint64_t key) {
  if (shard->used + 1 > shard->room / 4 * 3 && !grow(shard)) return NULL;
  struct entry* entry = place(shard, kind, key);
  *entry = (struct entry){.key = key, .kind = kind};
  shard->used++;
  return &entry->record;
}

/* Closes the gap, so that no search ends early. */
void guard_remove(struct guard_shard* shard, enum guard_kind kind, uint64_t key) {
  struct entry* entry = find(shard, kind, key);
  if (entry == NULL) return;
  size_t mask = shard->room - 1, gap = (size_t)(entry - shard->entries);
  shard->used--;
  for (size_t at = (gap + 1) & mask; shard->entries[at].kind != 0; at = (at + 1) & mask) {
    size_t wish = home(shard, (enum guard_kind)shard->entries[at].kind, shard->entries[at].key);
    if (((at - wish) & mask) < ((at - gap) & mask)) continue;
    shard->entries[gap] = shard->entries[at];
    gap = at;
  }
  shard->entries[gap].kind = 0;
}

bool guard_take(enum guard_kind kind, uint64_t key, struct guard_record* out) {
  struct guard_shard* shard = guard_lock_shard(kind, key);
  struct guard_record* record = guard_find(shard, kind, key);
  bool found = record != NULL;
  if (found) {
    *out = *record;
    guard_remove(shard, kind, key);
  }
  guard_unlock_shard(shard);
  return found;
}

bool guard_put(enum guard_kind kind, uint64_t key, const struct guard_record* record) {
  struct guard_shard* shard = guard_lock_shard(kind, key);
  struct guard_record* added = guard_find(shard, kind, key);
  if (added == NULL) added = guard_add(shard, kind, key);
  if (added != NULL) *added = *record;
  guard_unlock_shard(shard);
  return added != NULL;
}

size_t guard_keys(enum guard_kind kind, uint64_t* keys, size_t room) {
  size_t count = 0;
  for (size_t i = 0; i < SHARDS; i++) {
    pthread_mutex_lock(&shards[i].lock);
    for (size_t at = 0; at < shards[i].room && count < room; at++) {
      if (shards[i].entries[at].kind == kind) keys[count++] = shards[i].entries[at].key;
    }
    pthread_mutex_unlock(&shards[i].lock);
  }
  return count;
}
