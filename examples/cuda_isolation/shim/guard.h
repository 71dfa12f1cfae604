/* The guard: stands between a program and the driver, keeps books in the tenant's ledger, refuses what would pass the
 * limit.
 *
 * Rules of all wrappers. Without a limit they are one branch. The driver is asked with the arguments of the caller, and
 * its answer is the caller's answer, unless the limit refuses: CUDA_ERROR_OUT_OF_MEMORY. No lock is held across a call
 * of the driver. A free of something unknown is the driver's business. Nothing happens before the first cuInit. */
#ifndef KAISCHED_GUARD_H
#define KAISCHED_GUARD_H

#include <kaisched_ledger/ledger.h>
#include <stdbool.h>

#include "cuda_abi.h"
#include "nvml_abi.h"

#define GUARD_EXPORT __attribute__((visibility("default")))
#define GUARD_GRANULE (UINT64_C(2) << 20)
#define GUARD_GROWTH (UINT64_C(32) << 20) /* steps in which pools grow, and the memory of graphs */

/* ---- the driver itself ---- */
union guard_driver {
  struct {
#define WRAP(name) __typeof__(name)* name;
#define USED(name) __typeof__(name)* name;
#include "wrapped.inc"
#undef WRAP
#undef USED
  };
  void* slot[1];
};
extern union guard_driver guard_real;

union guard_management {
  struct {
#define WRAP_NVML(name) __typeof__(name)* name;
#include "wrapped_nvml.inc"
#undef WRAP_NVML
    __typeof__(nvmlInit_v2)* nvmlInit_v2;
    __typeof__(nvmlDeviceGetHandleByUUID)* nvmlDeviceGetHandleByUUID;
    __typeof__(nvmlDeviceGetUUID)* nvmlDeviceGetUUID;
    __typeof__(nvmlDeviceGetProcessUtilization)* nvmlDeviceGetProcessUtilization;
  };
  void* slot[1];
};
extern union guard_management guard_nvml;

bool guard_load_driver(void); /* false: there is none, and dlerror says why */
bool guard_load_management(void);
/* The wrapper of what the driver has under that name at that address; NULL if there is none. */
void* guard_wrapper_of(const char* name, const void* address);
/* The same, whatever its name is; and whatever its address is. */
void* guard_wrapper_at(const void* address);
void* guard_wrapper_named(const char* symbol);
/* The wrapper of a symbol that the driver has answered with, at an address that it may not export. */
void* guard_wrapper_for(const char* symbol, void* address);
const char* guard_library_of(const char* symbol);

/* ---- policy ---- */
struct guard_state {
  int active; /* 0: no limit, nothing is counted; 1: there is a ledger; -1: nothing may run, as no limit can be kept */
  kl_ledger* ledger;
  bool strict;
  uint64_t context_estimate; /* atomic: the first one that is measured replaces a default */
  bool context_given;
  int devices;
  int card[KL_DEVICES_MAX];                /* of the ledger, by ordinal of CUDA; -1: the ledger does not know it */
  char uuid[KL_DEVICES_MAX][KL_UUID_SIZE]; /* by ordinal of CUDA */
};
extern struct guard_state guard;

CUresult guard_start(unsigned int flags); /* cuInit, once */
void guard_mask_devices(void);            /* before the driver starts */
static inline bool guard_on(void) { return __builtin_expect(__atomic_load_n(&guard.active, __ATOMIC_ACQUIRE) != 0, 0); }
kl_ledger* guard_open_to_look(void); /* for processes that never start CUDA; NULL: there is none */
void guard_say(const char* format, ...) __attribute__((format(printf, 1, 2)));

/* ---- admission ---- */
/* What an allocation on a device of CUDA does before and after the driver is asked. */
struct guard_claim {
  int card;          /* -1: nothing is counted */
  bool refused_open; /* the limit would refuse, and the ledger only counts */
  uint64_t bytes;
};
CUresult guard_claim(struct guard_claim* claim, CUdevice device, uint64_t bytes);
void guard_keep(struct guard_claim* claim, uint64_t actual); /* the driver gave it */
void guard_drop(struct guard_claim* claim);                  /* the driver refused */
void guard_release(int card, uint64_t bytes);
bool guard_device(CUdevice* device); /* of the current context; false: there is none, and the driver has the answer */
uint64_t guard_round(uint64_t bytes, uint64_t granule); /* up; UINT64_MAX where that does not fit */

/* ---- what is known of pointers, handles, functions ---- */
enum guard_kind {
  GUARD_POINTER = 1,
  GUARD_REGION, /* 2 MiB that small allocations share; value: how many */
  GUARD_HANDLE,
  GUARD_MAPPING,
  GUARD_ARRAY,
  GUARD_MIPMAP,
  GUARD_POOL, /* references: version; mappings: how often it shrank; other: bytes that threads are about to use */
  GUARD_GRAPH,
  GUARD_FUNCTION,
  GUARD_CONTEXT /* what it is charged with */
};
struct guard_record {
  uint64_t bytes;
  int card;
  CUdevice device;
  uint32_t references, mappings;
  uint64_t other; /* context of a pointer, handle of a mapping */
};
struct guard_shard* guard_lock_shard(enum guard_kind kind, uint64_t key);
void guard_unlock_shard(struct guard_shard* shard);
/* With the shard of the key locked. Pointers to records are good until it is unlocked. */
struct guard_record* guard_find(struct guard_shard* shard, enum guard_kind kind, uint64_t key);
struct guard_record* guard_add(struct guard_shard* shard, enum guard_kind kind,
                               uint64_t key); /* zeroed; NULL: no memory */
void guard_remove(struct guard_shard* shard, enum guard_kind kind, uint64_t key);
/* Without: */
bool guard_take(enum guard_kind kind, uint64_t key, struct guard_record* out); /* found, copied and removed */
bool guard_put(enum guard_kind kind, uint64_t key, const struct guard_record* record);
/* All of a kind, one after the other, without a lock: for what is rare. */
size_t guard_keys(enum guard_kind kind, uint64_t* keys, size_t room);

/* By card, what the books say is held: of records, and of contexts and code. */
void guard_held(uint64_t bytes[KL_DEVICES_MAX]);
void guard_overhead(uint64_t bytes[KL_DEVICES_MAX]); /* added to bytes */

/* ---- classes ---- */
bool guard_pools_settle(CUdevice device, bool trim); /* true: something was given back */
/* Brings the books of a pool to what it says it has reserved; with a claim that growth was admitted with. */
bool guard_settle(uint64_t key, CUdevice device, struct guard_claim* claim);
#define GUARD_GRAPH_POOL 1 /* plus the ordinal of a device: key of the memory of its graphs */
/* Contexts, modules, heaps: what NVML says beyond what is known. False: it could not be measured now. */
bool guard_overhead_settle(CUdevice device);
void guard_forget_context(CUcontext context);                                    /* and what was allocated in it */
void guard_release_pointer(uint64_t address, const struct guard_record* record); /* a record that was taken */

unsigned int guard_pid_for_nvml(void);
bool guard_management_device(CUdevice device, nvmlDevice_t* out); /* false: NVML is not there, or does not know it */

/* ---- compute ---- */
struct guard_launch {
  int card;
  CUdevice device;
  uint64_t key;
  int64_t estimate;
  CUevent before;
  CUstream stream;
  bool per_thread;
};
enum guard_wait {
  GUARD_WAIT,     /* as long as the ledger says */
  GUARD_WAIT_IDLE /* the same, if nothing of the stream is under way */
};
void guard_before_launch(struct guard_launch* launch, uint64_t function, uint64_t blocks, CUstream stream,
                         bool per_thread, enum guard_wait may_wait);
void guard_after_launch(struct guard_launch* launch, CUresult result);
void guard_learn(uint64_t function, int64_t estimate); /* what a graph is expected to take */
int64_t guard_expected(uint64_t function, uint64_t blocks);

#endif
