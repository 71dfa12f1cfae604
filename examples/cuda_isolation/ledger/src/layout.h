#ifndef KAISCHED_LEDGER_LAYOUT_H
#define KAISCHED_LEDGER_LAYOUT_H
/* The bytes of the two files, layout 1; docs/cuda-ledger.md describes them. Little endian, natural alignment, every
   field that more than one process touches is a 64-bit atomic. Offsets and sizes are asserted at the end. */

#include <kaisched_ledger/ledger.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#define KL_MAGIC_LIMITS UINT64_C(0x31544d494c534b4c) /* "LKSLIMT1" */
#define KL_MAGIC_USAGE UINT64_C(0x3147535553534b4c)  /* "LKSSUSG1" */

/* Starts both files. Written once, before the folder has its name; `check` covers all before it. */
typedef struct kl_header {
  uint64_t magic;
  uint32_t layout;
  uint32_t header_bytes;
  uint64_t file_bytes;
  uint32_t devices;
  uint32_t device_bytes;
  uint32_t slots;
  uint32_t slot_bytes;
  uint8_t boot_id[16];
  uint8_t ledger_id[16]; /* the same in both files */
  uint64_t features;     /* none yet: unknown bits are refused */
  char name[KL_NAME_SIZE];
  uint64_t padding[13];
  uint64_t check;
} kl_header;

/* `limits`: the header, then one of these per card. */
typedef struct kl_limits_device {
  char uuid[KL_UUID_SIZE];
  uint64_t total_bytes;
  _Atomic uint64_t memory_bytes;
  _Atomic uint64_t cores;    /* permille | weight << 32 */
  _Atomic uint64_t priority; /* int32 | flags << 32 */
  _Atomic uint64_t changes;
  uint64_t padding[3];
} kl_limits_device;

__extension__ typedef unsigned __int128 kl_u128;

/* The sum of a card and the change that made it: changed together, by a compare-and-swap of 16 bytes.
   tag = slot << 48 | number of the change, which each slot counts for itself. */
typedef union kl_word {
  struct {
    _Atomic uint64_t total;
    _Atomic uint64_t tag;
  } part;
  kl_u128 whole;
} kl_word;

#define KL_TAG_SHIFT 48
#define KL_TAG_SEQUENCE ((UINT64_C(1) << KL_TAG_SHIFT) - 1)

/* `usage`: the header, then one of these per card, then the slots. */
typedef struct kl_usage_device {
  kl_word word;
  uint64_t padding0[6];
  _Atomic uint64_t peak;
  _Atomic uint64_t refused;
  _Atomic uint64_t imports;
  _Atomic uint64_t imported_bytes;
  uint64_t padding1[4];
  _Atomic int64_t next_free; /* the instant at which the tenant has used up what it took of compute time */
  _Atomic uint64_t busy_ns;
  _Atomic uint64_t waited_ns;
  _Atomic uint64_t launches;
  uint64_t padding2[4];
} kl_usage_device;

/* What one process holds on one card. Only the process writes, apart from `noted`.
   A change number n: before, delta, seq = n; the word changes; held, done = n. So a change is under way while seq is
   done + 1, and it was made if the word's tag names it or noted is at least n: whoever replaces a tag notes it first.
 */
typedef struct kl_record {
  _Atomic uint64_t seq;
  _Atomic uint64_t done;
  _Atomic uint64_t before;
  _Atomic uint64_t delta; /* two's complement */
  _Atomic uint64_t held;
  _Atomic uint64_t noted;
  _Atomic uint64_t reserved; /* part of held, for show: dying gives back both alike */
  _Atomic uint64_t busy_ns;
} kl_record;

/* A slot: this, then one kl_record per card. */
typedef struct kl_slot {
  _Atomic uint64_t owner;     /* pid 22 bits | claims 10 bits << 22 | start ticks modulo 2^32 << 32; pid 0: free */
  _Atomic uint64_t image;     /* differs between programs that one process runs one after the other by exec */
  _Atomic uint64_t namespace; /* inode of the owner's pid namespace */
  _Atomic uint64_t host;      /* pid | start << 32, as an agent in another namespace saw it */
  _Atomic uint64_t host_namespace;
  _Atomic int64_t active_ns;
  _Atomic uint64_t command[2];
} kl_slot;

#define KL_PID_BITS 22
#define KL_PID_MASK ((UINT64_C(1) << KL_PID_BITS) - 1)
#define KL_CLAIM_MASK UINT64_C(0x3ff)

_Static_assert(sizeof(kl_header) == 256 && offsetof(kl_header, check) == 248, "layout 1");
_Static_assert(sizeof(kl_limits_device) == 128, "layout 1");
_Static_assert(sizeof(kl_usage_device) == 192 && offsetof(kl_usage_device, next_free) == 128, "layout 1");
_Static_assert(sizeof(kl_word) == 16 && _Alignof(kl_word) == 16, "layout 1");
_Static_assert(sizeof(kl_record) == 64 && sizeof(kl_slot) == 64, "layout 1");
_Static_assert(ATOMIC_LLONG_LOCK_FREE == 2 && ATOMIC_LONG_LOCK_FREE == 2, "atomics that processes can share");
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the files are little endian");

#endif
