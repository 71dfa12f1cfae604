/* A driver for machines without GPUs: what the guard is tested on. It keeps books as the driver does (blocks of 2 MiB,
 * pools that keep what was freed, handles that live as long as their mappings) and runs kernels on a clock; it computes
 * nothing. Memory of devices is memory of the host, so that copies and fills do what they should. */
#ifndef KAISCHED_FAKE_H
#define KAISCHED_FAKE_H

#include "../shim/cuda_abi.h"
#include "shared.h"

#define FAKE_EXPORT __attribute__((visibility("default")))

enum { FAKE_CONTEXT_BYTES = 64 << 20, FAKE_POOL_GROWTH = 32 << 20 };

struct CUctx_st {
  CUdevice device;
  bool primary;
  int retained; /* primary ones */
  unsigned flags;
  unsigned version;
  uint64_t bytes; /* of the device, for the context itself */
  size_t limit[16];
  struct CUctx_st* next;
};

struct CUgraph_st;
struct CUstream_st {
  struct CUctx_st* context;
  uint64_t done; /* when all its work is */
  unsigned flags;
  struct CUgraph_st* capture;
};

/* Every entry point starts with it: has cuInit been called, does the script say that this call fails? */
CUresult fake_enter(const char* name, bool needs_init);
#define ENTER(name)                              \
  do {                                           \
    CUresult entered = fake_enter(#name, true);  \
    if (entered != CUDA_SUCCESS) return entered; \
  } while (0)
/* And those that work in a context, which is then called context. */
#define ENTER_CONTEXT(name)                  \
  ENTER(name);                               \
  struct CUctx_st* context = fake_context(); \
  if (context == NULL) return CUDA_ERROR_INVALID_CONTEXT

int fake_version(void); /* of CUDA, as in cuDriverGetVersion */
int fake_device_count(void);
int fake_physical(CUdevice device); /* index in fake_machine; -1: no such device */
struct CUctx_st* fake_context(void);

void fake_process_lock(void); /* of the tables of this process */
void fake_process_unlock(void);

/* Addresses of devices. Whoever asks pays the device itself: plain says whether fake_arena_take does it. */
enum fake_kind { FAKE_NONE, FAKE_PLAIN, FAKE_MANAGED, FAKE_POOL, FAKE_RESERVED, FAKE_MAPPED, FAKE_IMPORTED };
uint64_t fake_arena_take(uint64_t size, enum fake_kind kind, CUdevice device, const void* owner);
struct fake_range {
  uint64_t start, size, granules;
  enum fake_kind kind;
  CUdevice device;
  const void* owner; /* context or pool */
};
bool fake_arena_find(uint64_t address, struct fake_range* range); /* anywhere within it */
void fake_arena_give(uint64_t start);
CUresult fake_memory_alloc(CUdeviceptr* out, uint64_t size, enum fake_kind kind, struct CUctx_st* context);
void fake_memory_leave_context(const struct CUctx_st* context); /* frees what was allocated in it */

/* Work */
struct CUstream_st* fake_stream(CUstream handle, struct CUctx_st* context);
CUresult fake_launch(CUfunction function, uint64_t blocks, CUstream handle);
uint64_t fake_kernel_ns(CUfunction function, uint64_t blocks);
CUresult fake_capture_kernel(struct CUgraph_st* graph, CUfunction function, uint64_t blocks);
CUresult fake_capture_alloc(struct CUgraph_st* graph, CUdeviceptr* out, uint64_t size);
CUresult fake_capture_free(struct CUgraph_st* graph, CUdeviceptr address);
bool fake_graph_owns(CUdeviceptr address);

#endif
