/* Compute: GPU time is drawn from the tenant's rate before a launch. What a launch takes is learned per function: pairs
 * of events around some launches, and, as other tenants make those look longer, NVML's share of the process times the
 * window. Streams that are captured are never held up, and nobody waits in a callback of the driver. */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <time.h>

#include "guard.h"

enum { FIRST_GUESS_NS = 20000, ALWAYS = 4, EVERY = 32, PENDING = 64 };
#define BURST_NS INT64_C(50000000)
#define WINDOW_NS INT64_C(1000000000)

struct pending {
  CUevent before, after;
  uint64_t key;
  int card;
  int64_t estimate;
};

/* By card: what estimates are multiplied with, and what they came to in this window. */
struct scale {
  int64_t permille, charged, since;
  unsigned long long seen; /* the last sample of NVML */
};
#define EIGHT(x) x, x, x, x, x, x, x, x
static struct scale scales[KL_DEVICES_MAX] = {EIGHT({.permille = 1000}), EIGHT({.permille = 1000})};
static pthread_mutex_t true_up_lock = PTHREAD_MUTEX_INITIALIZER;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t collect_lock = PTHREAD_MUTEX_INITIALIZER;
static struct pending queue[PENDING];
static size_t queue_first, queue_count;
static int64_t last_stamp;

/* A driver that brings its own clock (the fake one) is followed: waits on two clocks would never fit. */
static uint64_t (*driver_now)(void);
static void (*driver_sleep_until)(uint64_t);
static pthread_once_t clock_once = PTHREAD_ONCE_INIT;
void* guard_own_dlsym(void* handle, const char* name);

static void find_clock(void) {
  void* handle = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
  if (handle == NULL) return;
  void* now = guard_own_dlsym(handle, "kaischedFakeNow");
  void* sleeper = guard_own_dlsym(handle, "kaischedFakeSleepUntil");
  memcpy(&driver_now, &now, sizeof now);
  memcpy(&driver_sleep_until, &sleeper, sizeof sleeper);
}

static int64_t now_ns(void) {
  pthread_once(&clock_once, find_clock);
  if (driver_now != NULL) return (int64_t)driver_now();
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void sleep_for(int64_t now, int64_t wait) {
  if (driver_sleep_until != NULL) {
    driver_sleep_until((uint64_t)(now + wait));
    return;
  }
  struct timespec rest = {wait / 1000000000, wait % 1000000000};
  while (nanosleep(&rest, &rest) != 0 && errno == EINTR) {
  }
}

/* Functions are known by their handle and the power of two of their blocks. */
static uint64_t key_of(uint64_t function, uint64_t blocks) {
  unsigned bucket = blocks <= 1 ? 0 : 64 - (unsigned)__builtin_clzll(blocks - 1);
  return function ^ (uint64_t)bucket << 57;
}

int64_t guard_expected(uint64_t function, uint64_t blocks) {
  uint64_t key = key_of(function, blocks);
  struct guard_shard* shard = guard_lock_shard(GUARD_FUNCTION, key);
  const struct guard_record* record = guard_find(shard, GUARD_FUNCTION, key);
  int64_t time = record == NULL ? FIRST_GUESS_NS : (int64_t)record->bytes;
  guard_unlock_shard(shard);
  return time;
}

void guard_learn(uint64_t function, int64_t estimate) {
  struct guard_record record = {.bytes = (uint64_t)estimate, .card = -1};
  guard_put(GUARD_FUNCTION, key_of(function, 0), &record);
}

/* The estimate, and whether this launch is one to be timed. */
static int64_t look_up(uint64_t key, bool* timed) {
  struct guard_shard* shard = guard_lock_shard(GUARD_FUNCTION, key);
  struct guard_record* record = guard_find(shard, GUARD_FUNCTION, key);
  if (record == NULL && (record = guard_add(shard, GUARD_FUNCTION, key)) != NULL) record->bytes = FIRST_GUESS_NS;
  int64_t estimate = record == NULL ? FIRST_GUESS_NS : (int64_t)record->bytes;
  uint32_t seen = record == NULL ? 1 : record->references++;
  guard_unlock_shard(shard);
  *timed = seen < ALWAYS || seen % EVERY == 0;
  return estimate;
}

static void learn(uint64_t key, int64_t measured) {
  struct guard_shard* shard = guard_lock_shard(GUARD_FUNCTION, key);
  struct guard_record* record = guard_find(shard, GUARD_FUNCTION, key);
  if (record != NULL) {
    int64_t old = (int64_t)record->bytes;
    /* The first measurement replaces the guess. What others did in between only ever makes a launch look longer, so
     * later ones pull down at once and up slowly. */
    int64_t change = measured - old;
    record->bytes = (uint64_t)(record->mappings++ == 0 ? measured : old + (change < 0 ? change : change / 16));
  }
  guard_unlock_shard(shard);
}

/* What NVML says the process has used of the card in the last second, against what was charged for it: estimates are
 * scaled by the quotient, half of the way each time, so that what is charged becomes what is used. */
static void true_up(const struct guard_launch* launch, int64_t now) {
  enum { ROOM = 256 };
  static nvmlProcessUtilizationSample_t samples[ROOM]; /* under true_up_lock */
  struct scale* scale = &scales[launch->card];
  if (now - __atomic_load_n(&scale->since, __ATOMIC_RELAXED) < WINDOW_NS) return;
  if (pthread_mutex_trylock(&true_up_lock) != 0) return;
  int64_t length = now - scale->since, charged = __atomic_exchange_n(&scale->charged, 0, __ATOMIC_RELAXED);
  bool first = scale->since == 0;
  __atomic_store_n(&scale->since, now, __ATOMIC_RELAXED);
  nvmlDevice_t device = NULL;
  unsigned int count = ROOM, pid = guard_pid_for_nvml(), mine = 0;
  uint64_t sum = 0;
  if (!first && length < 2 * WINDOW_NS && guard_management_device(launch->device, &device) &&
      guard_nvml.nvmlDeviceGetProcessUtilization != NULL &&
      guard_nvml.nvmlDeviceGetProcessUtilization(device, samples, &count, scale->seen) == NVML_SUCCESS) {
    for (unsigned int i = 0; i < count && i < ROOM; i++) {
      if (samples[i].timeStamp > scale->seen) scale->seen = samples[i].timeStamp;
      if (samples[i].pid == pid) sum += samples[i].smUtil;
      mine += samples[i].pid == pid;
    }
    int64_t used = mine == 0 ? 0 : length / 100 * (int64_t)(sum / mine);
    if (used > 0 && charged > 0) {
      int64_t wanted = scale->permille * used / charged, next = (scale->permille + wanted) / 2;
      next = next < 250 ? 250 : next > 4000 ? 4000 : next;
      __atomic_store_n(&scale->permille, next, __ATOMIC_RELAXED);
    }
  }
  pthread_mutex_unlock(&true_up_lock);
}

/* Pairs of events that are over, oldest first; those of the oldest that is not keep the rest waiting. One thread at a
 * time: what another one is asking about must not be destroyed meanwhile. */
static void collect(void) {
  if (pthread_mutex_trylock(&collect_lock) != 0) return;
  for (;;) {
    pthread_mutex_lock(&lock);
    struct pending one = {.before = NULL};
    if (queue_count > 0) one = queue[queue_first];
    pthread_mutex_unlock(&lock);
    CUresult over = one.before == NULL ? CUDA_ERROR_NOT_READY : guard_real.cuEventQuery(one.after);
    if (over == CUDA_ERROR_NOT_READY) break;
    pthread_mutex_lock(&lock);
    queue_first = (queue_first + 1) % PENDING;
    queue_count--;
    pthread_mutex_unlock(&lock);
    if (over != CUDA_SUCCESS) { /* their context is gone, and they with it: what was charged stays */
      kl_core_settle(guard.ledger, (uint32_t)one.card, one.estimate, one.estimate);
      continue;
    }
    float milliseconds = 0;
    if (guard_real.cuEventElapsedTime(&milliseconds, one.before, one.after) == CUDA_SUCCESS && milliseconds >= 0)
      learn(one.key, (int64_t)((double)milliseconds * 1e6));
    kl_core_settle(guard.ledger, (uint32_t)one.card, one.estimate, one.estimate);
    guard_real.cuEventDestroy_v2(one.before);
    guard_real.cuEventDestroy_v2(one.after);
  }
  pthread_mutex_unlock(&collect_lock);
}

static bool captured(CUstream stream, bool per_thread) {
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  __typeof__(cuStreamIsCapturing)* ask =
      per_thread ? guard_real.cuStreamIsCapturing_ptsz : guard_real.cuStreamIsCapturing;
  /* An error says that others which this stream waits for are captured, or that it is no stream. */
  return ask != NULL && (ask(stream, &status) != CUDA_SUCCESS || status != CU_STREAM_CAPTURE_STATUS_NONE);
}

/* Nothing of the stream is under way, so nobody waits for what comes next. */
static bool idle(CUstream stream, bool per_thread) {
  __typeof__(cuStreamQuery)* ask = per_thread ? guard_real.cuStreamQuery_ptsz : guard_real.cuStreamQuery;
  return ask != NULL && ask(stream) == CUDA_SUCCESS;
}

static CUresult record(CUevent event, CUstream stream, bool per_thread) {
  return per_thread && guard_real.cuEventRecord_ptsz != NULL ? guard_real.cuEventRecord_ptsz(event, stream)
                                                             : guard_real.cuEventRecord(event, stream);
}

static void stamp(int64_t now) {
  int64_t last = __atomic_load_n(&last_stamp, __ATOMIC_RELAXED);
  if (now - last < 1000000 && now >= last) return;
  __atomic_store_n(&last_stamp, now, __ATOMIC_RELAXED);
  kl_core_active(guard.ledger, now);
}

/* Takes the time, and waits as long as the ledger says; for as long as it is paused, too. */
static void draw(struct guard_launch* launch, bool may_wait) {
  for (;;) {
    int64_t wait = 0, now = now_ns();
    kl_status status = kl_core_take(guard.ledger, (uint32_t)launch->card, launch->estimate, BURST_NS, now, &wait);
    if (status == KL_E_PAUSED && may_wait) {
      sleep_for(now, 1000000);
      continue;
    }
    if (status == KL_E_FORKED || status == KL_E_DETACHED) kl_attach(guard.ledger);
    if (status == KL_OK && wait > 0 && may_wait) sleep_for(now, wait);
    return;
  }
}

void guard_before_launch(struct guard_launch* launch, uint64_t function, uint64_t blocks, CUstream stream,
                         bool per_thread, enum guard_wait may_wait) {
  *launch = (struct guard_launch){.card = -1, .stream = stream, .per_thread = per_thread};
  kl_limits limits;
  if (guard.ledger == NULL || !guard_device(&launch->device) || launch->device >= guard.devices) return;
  int card = guard.card[launch->device];
  if (card < 0 || kl_get_limits(guard.ledger, (uint32_t)card, &limits) != KL_OK) return;
  if (limits.core_permille >= KL_WHOLE_CARD) {
    stamp(now_ns());
    return;
  }
  if (captured(stream, per_thread)) return;
  bool timed = false;
  launch->card = card;
  launch->key = key_of(function, blocks);
  launch->estimate = look_up(launch->key, &timed);
  launch->estimate = launch->estimate * __atomic_load_n(&scales[card].permille, __ATOMIC_RELAXED) / 1000;
  __atomic_fetch_add(&scales[card].charged, launch->estimate, __ATOMIC_RELAXED);
  bool waits = may_wait == GUARD_WAIT || (may_wait == GUARD_WAIT_IDLE && idle(stream, per_thread));
  draw(launch, waits && (limits.flags & KL_FLAG_OPEN) == 0);
  true_up(launch, now_ns());
  collect();
  pthread_mutex_lock(&lock);
  bool room = queue_count < PENDING;
  pthread_mutex_unlock(&lock);
  if (timed && room && guard_real.cuEventCreate(&launch->before, 0) == CUDA_SUCCESS &&
      record(launch->before, stream, per_thread) != CUDA_SUCCESS) {
    guard_real.cuEventDestroy_v2(launch->before);
    launch->before = NULL;
  }
}

void guard_after_launch(struct guard_launch* launch, CUresult result) {
  if (launch->card < 0) return;
  CUevent after = NULL;
  bool timed = launch->before != NULL && result == CUDA_SUCCESS &&
               guard_real.cuEventCreate(&after, 0) == CUDA_SUCCESS &&
               record(after, launch->stream, launch->per_thread) == CUDA_SUCCESS;
  if (timed) {
    pthread_mutex_lock(&lock);
    timed = queue_count < PENDING;
    if (timed) {
      queue[(queue_first + queue_count++) % PENDING] =
          (struct pending){launch->before, after, launch->key, launch->card, launch->estimate};
    }
    pthread_mutex_unlock(&lock);
  }
  if (timed) return;
  kl_core_settle(guard.ledger, (uint32_t)launch->card, launch->estimate, result == CUDA_SUCCESS ? launch->estimate : 0);
  if (launch->before != NULL) guard_real.cuEventDestroy_v2(launch->before);
  if (after != NULL) guard_real.cuEventDestroy_v2(after);
}

/* ---- entry points ---- */

static uint64_t grid(unsigned int x, unsigned int y, unsigned int z) { return (uint64_t)x * y * z; }

#define LAUNCH(name, per_thread)                                                                            \
  GUARD_EXPORT CUresult name(CUfunction f, unsigned int x, unsigned int y, unsigned int z, unsigned int bx, \
                             unsigned int by, unsigned int bz, unsigned int shared, CUstream stream,        \
                             void** parameters, void** extra) {                                             \
    if (!guard_load_driver()) return CUDA_ERROR_NOT_INITIALIZED;                                            \
    if (!guard_on()) return guard_real.name(f, x, y, z, bx, by, bz, shared, stream, parameters, extra);     \
    struct guard_launch launch;                                                                             \
    guard_before_launch(&launch, (uint64_t)(uintptr_t)f, grid(x, y, z), stream, per_thread, GUARD_WAIT);    \
    CUresult result = guard_real.name(f, x, y, z, bx, by, bz, shared, stream, parameters, extra);           \
    guard_after_launch(&launch, result);                                                                    \
    return result;                                                                                          \
  }
LAUNCH(cuLaunchKernel, false)
LAUNCH(cuLaunchKernel_ptsz, true)

/* Its blocks wait for each other, and work on the stream may wait for it: it pays, and is held up only where nothing is
 * under way. */
#define LAUNCH_COOPERATIVE(name, per_thread)                                                                  \
  GUARD_EXPORT CUresult name(CUfunction f, unsigned int x, unsigned int y, unsigned int z, unsigned int bx,   \
                             unsigned int by, unsigned int bz, unsigned int shared, CUstream stream,          \
                             void** parameters) {                                                             \
    if (!guard_load_driver()) return CUDA_ERROR_NOT_INITIALIZED;                                              \
    if (!guard_on()) return guard_real.name(f, x, y, z, bx, by, bz, shared, stream, parameters);              \
    struct guard_launch launch;                                                                               \
    guard_before_launch(&launch, (uint64_t)(uintptr_t)f, grid(x, y, z), stream, per_thread, GUARD_WAIT_IDLE); \
    CUresult result = guard_real.name(f, x, y, z, bx, by, bz, shared, stream, parameters);                    \
    guard_after_launch(&launch, result);                                                                      \
    return result;                                                                                            \
  }
LAUNCH_COOPERATIVE(cuLaunchCooperativeKernel, false)
LAUNCH_COOPERATIVE(cuLaunchCooperativeKernel_ptsz, true)

#define LAUNCH_EX(name, per_thread)                                                                                  \
  GUARD_EXPORT CUresult name(const CUlaunchConfig* config, CUfunction f, void** parameters, void** extra) {          \
    if (!guard_load_driver()) return CUDA_ERROR_NOT_INITIALIZED;                                                     \
    if (!guard_on() || config == NULL) return guard_real.name(config, f, parameters, extra);                         \
    struct guard_launch launch;                                                                                      \
    guard_before_launch(&launch, (uint64_t)(uintptr_t)f, grid(config->gridDimX, config->gridDimY, config->gridDimZ), \
                        config->hStream, per_thread, GUARD_WAIT);                                                    \
    CUresult result = guard_real.name(config, f, parameters, extra);                                                 \
    guard_after_launch(&launch, result);                                                                             \
    return result;                                                                                                   \
  }
LAUNCH_EX(cuLaunchKernelEx, false)
LAUNCH_EX(cuLaunchKernelEx_ptsz, true)

/* Those of CUDA 2: a block each, or a grid, of a shape that was set before; on the legacy default stream, or on one. */
#define LAUNCH_OLD(name, parameters, arguments, blocks, stream)                              \
  GUARD_EXPORT CUresult name parameters {                                                    \
    if (!guard_load_driver()) return CUDA_ERROR_NOT_INITIALIZED;                             \
    if (!guard_on()) return guard_real.name arguments;                                       \
    struct guard_launch launch;                                                              \
    guard_before_launch(&launch, (uint64_t)(uintptr_t)f, blocks, stream, false, GUARD_WAIT); \
    CUresult result = guard_real.name arguments;                                             \
    guard_after_launch(&launch, result);                                                     \
    return result;                                                                           \
  }
LAUNCH_OLD(cuLaunch, (CUfunction f), (f), 1, NULL)
LAUNCH_OLD(cuLaunchGrid, (CUfunction f, int width, int height), (f, width, height),
           grid((unsigned)width, (unsigned)height, 1), NULL)
LAUNCH_OLD(cuLaunchGridAsync, (CUfunction f, int width, int height, CUstream stream), (f, width, height, stream),
           grid((unsigned)width, (unsigned)height, 1), stream)

/* One launch on each of several cards: each pays where its stream is, and waits before any of them has begun. */
static bool enter(CUstream stream) {
  CUcontext context = NULL;
  return guard_real.cuStreamGetCtx != NULL && guard_real.cuStreamGetCtx(stream, &context) == CUDA_SUCCESS &&
         guard_real.cuCtxPushCurrent_v2(context) == CUDA_SUCCESS;
}

static void leave(void) {
  CUcontext context = NULL;
  guard_real.cuCtxPopCurrent_v2(&context);
}

GUARD_EXPORT CUresult cuLaunchCooperativeKernelMultiDevice(CUDA_LAUNCH_PARAMS* list, unsigned int count,
                                                           unsigned int flags) {
  if (!guard_load_driver()) return CUDA_ERROR_NOT_INITIALIZED;
  if (!guard_on() || list == NULL || count > KL_DEVICES_MAX) {
    return guard_real.cuLaunchCooperativeKernelMultiDevice(list, count, flags);
  }
  struct guard_launch launches[KL_DEVICES_MAX];
  for (unsigned int i = 0; i < count; i++) {
    const CUDA_LAUNCH_PARAMS* one = &list[i];
    launches[i] = (struct guard_launch){.card = -1};
    if (!enter(one->hStream)) continue;
    guard_before_launch(&launches[i], (uint64_t)(uintptr_t)one->function,
                        grid(one->gridDimX, one->gridDimY, one->gridDimZ), one->hStream, false, GUARD_WAIT_IDLE);
    leave();
  }
  CUresult result = guard_real.cuLaunchCooperativeKernelMultiDevice(list, count, flags);
  for (unsigned int i = 0; i < count; i++) {
    if (launches[i].card < 0 || !enter(list[i].hStream)) continue;
    guard_after_launch(&launches[i], result);
    leave();
  }
  return result;
}
