/* Start-up, devices, contexts, and what is asked by name. $KAISCHED_FAKE_CUDA is the version that the driver plays
 * (11080, 12020, ...; the newest of the table without it): names that came later are not found. $KAISCHED_FAKE_FAIL
 * makes calls fail: "NAME:N:CODE" for the n-th call of a name in a process, N 0 for every one, CODE "kill" for SIGKILL;
 * separated by ','. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fake.h"

struct fault {
  char name[48];
  unsigned long at, seen;
  int code; /* < 0: SIGKILL */
};

struct known_symbol {
  const char *symbol, *base;
  int since, variant;
  void* address;
};
extern struct known_symbol fake_symbols[]; /* symbols.c */
extern const size_t fake_symbol_count;
extern const int fake_newest;

static struct fault faults[32];
static size_t fault_count;
static bool initialized, forked;
static int version;
static int visible[FAKE_MAX_DEVICES], visible_count;
static struct CUctx_st* contexts;
static struct CUctx_st* primary[FAKE_MAX_DEVICES];
enum { STACK_DEPTH = 64 };
static __thread struct CUctx_st* stack[STACK_DEPTH];
static __thread int depth;

/* ---- faults ---- */

static void read_faults(void) {
  const char* text = getenv("KAISCHED_FAKE_FAIL");
  while (text != NULL && *text != '\0' && fault_count < sizeof faults / sizeof faults[0]) {
    struct fault* fault = &faults[fault_count];
    char code[16] = "";
    if (sscanf(text, "%47[^:,]:%lu:%15[^,]", fault->name, &fault->at, code) != 3) {
      fprintf(stderr, "fake libcuda: KAISCHED_FAKE_FAIL: bad fault \"%s\"\n", text);
      abort();
    }
    fault->code = strcmp(code, "kill") == 0 ? -1 : (int)strtol(code, NULL, 10);
    fault_count++;
    text = strchr(text, ',');
    if (text != NULL) text++;
  }
}

CUresult fake_enter(const char* name, bool needs_init) {
  if (needs_init && (!initialized || forked)) return CUDA_ERROR_NOT_INITIALIZED;
  for (size_t i = 0; i < fault_count; i++) {
    if (strcmp(faults[i].name, name) != 0) continue;
    unsigned long seen = __atomic_add_fetch(&faults[i].seen, 1, __ATOMIC_RELAXED);
    if (faults[i].at != 0 && faults[i].at != seen) continue;
    if (faults[i].code < 0) raise(SIGKILL);
    return faults[i].code;
  }
  return CUDA_SUCCESS;
}

/* ---- start-up ---- */

int fake_version(void) {
  if (version == 0) {
    const char* text = getenv("KAISCHED_FAKE_CUDA");
    version = text == NULL || *text == '\0' ? fake_newest : (int)strtol(text, NULL, 10);
  }
  return version;
}

static void in_child(void) {
  if (initialized) forked = true;
}

/* $CUDA_VISIBLE_DEVICES as the driver reads it: numbers or beginnings of UUIDs, up to the first that is neither. */
static void read_visible(void) {
  const char* text = getenv("CUDA_VISIBLE_DEVICES");
  visible_count = 0;
  if (text == NULL) {
    while (visible_count < (int)fake_machine->devices) {
      visible[visible_count] = visible_count;
      visible_count++;
    }
    return;
  }
  while (*text != '\0' && visible_count < FAKE_MAX_DEVICES) {
    size_t length = strcspn(text, ",");
    int found = -1;
    char* end = NULL;
    long number = strtol(text, &end, 10);
    if (end == text + length && length > 0) {
      if (number >= 0 && number < (long)fake_machine->devices) found = (int)number;
    } else {
      for (int i = 0; i < (int)fake_machine->devices && length > 4; i++) {
        if (strncmp(fake_machine->device[i].uuid, text, length) == 0) found = i;
      }
    }
    if (found < 0) break;
    visible[visible_count++] = found;
    text += length;
    if (*text == ',') text++;
  }
}

FAKE_EXPORT CUresult cuInit(unsigned int flags) {
  if (forked) return CUDA_ERROR_NOT_INITIALIZED;
  static pthread_mutex_t once = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_lock(&once);
  CUresult result = CUDA_SUCCESS;
  if (!initialized) {
    read_faults();
    result = fake_open() ? fake_enter("cuInit", false) : CUDA_ERROR_UNKNOWN;
    if (result == CUDA_SUCCESS && flags != 0) result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS) {
      read_visible();
      pthread_atfork(NULL, NULL, in_child);
      if (visible_count == 0) result = CUDA_ERROR_NO_DEVICE;
      initialized = result == CUDA_SUCCESS;
    }
  }
  pthread_mutex_unlock(&once);
  return result;
}

FAKE_EXPORT CUresult cuDriverGetVersion(int* out) {
  if (out == NULL) return CUDA_ERROR_INVALID_VALUE;
  *out = fake_version();
  return CUDA_SUCCESS;
}

static const struct {
  CUresult code;
  const char* name;
} errors[] = {{0, "CUDA_SUCCESS"},
              {1, "CUDA_ERROR_INVALID_VALUE"},
              {2, "CUDA_ERROR_OUT_OF_MEMORY"},
              {3, "CUDA_ERROR_NOT_INITIALIZED"},
              {100, "CUDA_ERROR_NO_DEVICE"},
              {101, "CUDA_ERROR_INVALID_DEVICE"},
              {201, "CUDA_ERROR_INVALID_CONTEXT"},
              {400, "CUDA_ERROR_INVALID_HANDLE"},
              {500, "CUDA_ERROR_NOT_FOUND"},
              {600, "CUDA_ERROR_NOT_READY"},
              {801, "CUDA_ERROR_NOT_SUPPORTED"},
              {999, "CUDA_ERROR_UNKNOWN"}};

FAKE_EXPORT CUresult cuGetErrorName(CUresult error, const char** out) {
  if (out == NULL) return CUDA_ERROR_INVALID_VALUE;
  *out = NULL;
  for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++) {
    if (errors[i].code == error) *out = errors[i].name;
  }
  return *out == NULL ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuGetErrorString(CUresult error, const char** out) { return cuGetErrorName(error, out); }

/* ---- devices ---- */

int fake_device_count(void) { return visible_count; }
int fake_physical(CUdevice device) { return device < 0 || device >= visible_count ? -1 : visible[device]; }

FAKE_EXPORT CUresult cuDeviceGetCount(int* out) {
  ENTER(cuDeviceGetCount);
  if (out == NULL) return CUDA_ERROR_INVALID_VALUE;
  *out = visible_count;
  return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuDeviceGet(CUdevice* out, int ordinal) {
  ENTER(cuDeviceGet);
  if (out == NULL) return CUDA_ERROR_INVALID_VALUE;
  if (fake_physical(ordinal) < 0) return CUDA_ERROR_INVALID_DEVICE;
  *out = ordinal;
  return CUDA_SUCCESS;
}

#define DEVICE(name)                                               \
  ENTER(name);                                                     \
  if (out == NULL) return CUDA_ERROR_INVALID_VALUE;                \
  if (fake_physical(device) < 0) return CUDA_ERROR_INVALID_DEVICE; \
  const struct fake_device* card = &fake_machine->device[fake_physical(device)]

FAKE_EXPORT CUresult cuDeviceGetName(char* out, int length, CUdevice device) {
  DEVICE(cuDeviceGetName);
  (void)card;
  if (length <= 0) return CUDA_ERROR_INVALID_VALUE;
  snprintf(out, (size_t)length, "Fake GPU");
  return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuDeviceTotalMem_v2(size_t* out, CUdevice device) {
  DEVICE(cuDeviceTotalMem_v2);
  *out = card->total;
  return CUDA_SUCCESS;
}

static unsigned nibble(char digit) {
  return digit >= '0' && digit <= '9' ? (unsigned)(digit - '0') : ((unsigned)digit | 32u) - 'a' + 10;
}

FAKE_EXPORT CUresult cuDeviceGetUuid_v2(CUuuid* out, CUdevice device) {
  DEVICE(cuDeviceGetUuid_v2);
  unsigned digits[32] = {0};
  size_t count = 0;
  for (const char* at = card->uuid + 4; *at != '\0' && count < 32; at++) {
    if (*at != '-') digits[count++] = nibble(*at) & 15;
  }
  for (size_t i = 0; i < 16; i++) out->bytes[i] = (char)(digits[2 * i] << 4 | digits[2 * i + 1]);
  return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuDeviceGetUuid(CUuuid* out, CUdevice device) { return cuDeviceGetUuid_v2(out, device); }

FAKE_EXPORT CUresult cuDeviceGetPCIBusId(char* out, int length, CUdevice device) {
  DEVICE(cuDeviceGetPCIBusId);
  (void)card;
  if (length < 13) return CUDA_ERROR_INVALID_VALUE;
  snprintf(out, (size_t)length, "0000:%02X:00.0", (unsigned)fake_physical(device) + 1);
  return CUDA_SUCCESS;
}

/* Numbers of a card of compute capability 9.0, by the number of the attribute; others are 0. */
FAKE_EXPORT CUresult cuDeviceGetAttribute(int* out, CUdevice_attribute attribute, CUdevice device) {
  static const struct {
    int attribute, value;
  } values[] = {{1, 1024},  {2, 1024},  {3, 1024},    {4, 64},          {5, 2147483647}, {6, 65535},     {7, 65535},
                {8, 49152}, {9, 65536}, {10, 32},     {11, 2147483647}, {12, 65536},     {13, 1980000},  {14, 512},
                {15, 1},    {19, 1},    {31, 1},      {36, 2619000},    {37, 5120},      {38, 52428800}, {39, 2048},
                {40, 3},    {41, 1},    {75, 9},      {76, 0},          {81, 233472},    {82, 65536},    {83, 1},
                {88, 1},    {89, 1},    {97, 232448}, {102, 1},         {106, 32},       {115, 1},       {119, 1}};
  DEVICE(cuDeviceGetAttribute);
  *out = attribute == CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT ? (int)card->sms : 0;
  if (attribute == 33) *out = fake_physical(device) + 1;
  for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
    if (values[i].attribute == attribute) *out = values[i].value;
  }
  return attribute < 1 ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuDeviceCanAccessPeer(int* out, CUdevice device, CUdevice peer) {
  DEVICE(cuDeviceCanAccessPeer);
  (void)card;
  *out = device != peer;
  return fake_physical(peer) < 0 ? CUDA_ERROR_INVALID_DEVICE : CUDA_SUCCESS;
}

/* ---- contexts ---- */

struct CUctx_st* fake_context(void) { return depth > 0 ? stack[depth - 1] : NULL; }

static CUresult make_context(struct CUctx_st** out, unsigned flags, CUdevice device) {
  if (fake_physical(device) < 0) return CUDA_ERROR_INVALID_DEVICE;
  if (!fake_charge(fake_physical(device), FAKE_CONTEXT_BYTES)) return CUDA_ERROR_OUT_OF_MEMORY;
  struct CUctx_st* context = calloc(1, sizeof *context);
  if (context == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
  context->device = device;
  context->flags = flags;
  context->version = 3020;
  context->bytes = FAKE_CONTEXT_BYTES;
  context->limit[CU_LIMIT_STACK_SIZE] = 1024;
  context->limit[CU_LIMIT_PRINTF_FIFO_SIZE] = 7340032;
  context->limit[CU_LIMIT_MALLOC_HEAP_SIZE] = 8 << 20;
  fake_process_lock();
  context->next = contexts;
  contexts = context;
  fake_process_unlock();
  *out = context;
  return CUDA_SUCCESS;
}

static bool known_context(const struct CUctx_st* context) {
  fake_process_lock();
  const struct CUctx_st* one = contexts;
  while (one != NULL && one != context) one = one->next;
  fake_process_unlock();
  return one != NULL;
}

static void end_context(struct CUctx_st* context) {
  fake_memory_leave_context(context);
  fake_discharge(fake_physical(context->device), context->bytes);
  fake_process_lock();
  struct CUctx_st** place = &contexts;
  while (*place != context) place = &(*place)->next;
  *place = context->next;
  fake_process_unlock();
  if (fake_context() == context) depth--;
  free(context);
}

static CUresult push(struct CUctx_st* context) {
  if (depth == STACK_DEPTH) return CUDA_ERROR_INVALID_CONTEXT;
  stack[depth++] = context;
  return CUDA_SUCCESS;
}

static CUresult create(CUcontext* out, unsigned flags, CUdevice device) {
  if (out == NULL) return CUDA_ERROR_INVALID_VALUE;
  CUresult result = make_context(out, flags, device);
  return result == CUDA_SUCCESS ? push(*out) : result;
}

FAKE_EXPORT CUresult cuCtxCreate_v2(CUcontext* out, unsigned int flags, CUdevice device) {
  ENTER(cuCtxCreate_v2);
  return create(out, flags, device);
}

FAKE_EXPORT CUresult cuCtxCreate_v3(CUcontext* out, CUexecAffinityParam* affinity, int count, unsigned int flags,
                                    CUdevice device) {
  ENTER(cuCtxCreate_v3);
  (void)affinity, (void)count;
  return create(out, flags, device);
}

FAKE_EXPORT CUresult cuCtxCreate_v4(CUcontext* out, CUctxCreateParams* parameters, unsigned int flags,
                                    CUdevice device) {
  ENTER(cuCtxCreate_v4);
  (void)parameters;
  return create(out, flags, device);
}

FAKE_EXPORT CUresult cuCtxDestroy_v2(CUcontext context) {
  ENTER(cuCtxDestroy_v2);
  if (!known_context(context) || context->primary) return CUDA_ERROR_INVALID_CONTEXT;
  end_context(context);
  return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuCtxPushCurrent_v2(CUcontext context) {
  ENTER(cuCtxPushCurrent_v2);
  return known_context(context) ? push(context) : CUDA_ERROR_INVALID_CONTEXT;
}

FAKE_EXPORT CUresult cuCtxPopCurrent_v2(CUcontext* out) {
  ENTER(cuCtxPopCurrent_v2);
  if (depth == 0) return CUDA_ERROR_INVALID_CONTEXT;
  depth--;
  if (out != NULL) *out = stack[depth];
  return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuCtxSetCurrent(CUcontext context) {
  ENTER(cuCtxSetCurrent);
  if (context != NULL && !known_context(context)) return CUDA_ERROR_INVALID_CONTEXT;
  if (depth > 0) depth--;
  return context == NULL ? CUDA_SUCCESS : push(context);
}

FAKE_EXPORT CUresult cuCtxGetCurrent(CUcontext* out) {
  ENTER(cuCtxGetCurrent);
  if (out == NULL) return CUDA_ERROR_INVALID_VALUE;
  *out = fake_context();
  return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuCtxGetDevice(CUdevice* out) {
  ENTER_CONTEXT(cuCtxGetDevice);
  if (out == NULL) return CUDA_ERROR_INVALID_VALUE;
  *out = context->device;
  return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuCtxGetFlags(unsigned int* out) {
  ENTER_CONTEXT(cuCtxGetFlags);
  *out = context->flags;
  return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuCtxGetApiVersion(CUcontext context, unsigned int* out) {
  ENTER(cuCtxGetApiVersion);
  (void)context;
  *out = 3020;
  return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuCtxGetStreamPriorityRange(int* least, int* greatest) {
  ENTER_CONTEXT(cuCtxGetStreamPriorityRange);
  (void)context;
  if (least != NULL) *least = 0;
  if (greatest != NULL) *greatest = -5;
  return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuCtxGetLimit(size_t* out, CUlimit limit) {
  ENTER_CONTEXT(cuCtxGetLimit);
  if (out == NULL || limit < 0 || limit > 10) return CUDA_ERROR_INVALID_VALUE;
  *out = context->limit[limit];
  return CUDA_SUCCESS;
}

/* The heap of kernels and their stacks are memory of the device, and part of the context. */
FAKE_EXPORT CUresult cuCtxSetLimit(CUlimit limit, size_t value) {
  ENTER_CONTEXT(cuCtxSetLimit);
  if (limit < 0 || limit > 10) return CUDA_ERROR_INVALID_VALUE;
  if (limit == CU_LIMIT_MALLOC_HEAP_SIZE || limit == CU_LIMIT_PRINTF_FIFO_SIZE) {
    int card = fake_physical(context->device);
    uint64_t rounded = (value + FAKE_GRANULE - 1) / FAKE_GRANULE * FAKE_GRANULE;
    uint64_t had = (context->limit[limit] + FAKE_GRANULE - 1) / FAKE_GRANULE * FAKE_GRANULE;
    if (rounded > had && !fake_charge(card, rounded - had)) return CUDA_ERROR_OUT_OF_MEMORY;
    if (rounded < had) fake_discharge(card, had - rounded);
    context->bytes += rounded - had;
  }
  context->limit[limit] = value;
  return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuDevicePrimaryCtxRetain(CUcontext* out, CUdevice device) {
  ENTER(cuDevicePrimaryCtxRetain);
  if (out == NULL) return CUDA_ERROR_INVALID_VALUE;
  if (fake_physical(device) < 0) return CUDA_ERROR_INVALID_DEVICE;
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_lock(&lock);
  CUresult result = CUDA_SUCCESS;
  if (primary[device] == NULL && (result = make_context(&primary[device], 0, device)) == CUDA_SUCCESS) {
    primary[device]->primary = true;
  }
  if (result == CUDA_SUCCESS) {
    primary[device]->retained++;
    *out = primary[device];
  }
  pthread_mutex_unlock(&lock);
  return result;
}

static CUresult release_primary(CUdevice device, bool all) {
  if (fake_physical(device) < 0) return CUDA_ERROR_INVALID_DEVICE;
  struct CUctx_st* context = primary[device];
  if (context == NULL) return all ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
  if (--context->retained > 0 && !all) return CUDA_SUCCESS;
  primary[device] = NULL;
  end_context(context);
  return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) {
  ENTER(cuDevicePrimaryCtxRelease_v2);
  return release_primary(device, false);
}

FAKE_EXPORT CUresult cuDevicePrimaryCtxReset_v2(CUdevice device) {
  ENTER(cuDevicePrimaryCtxReset_v2);
  return release_primary(device, true);
}

FAKE_EXPORT CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned int* flags, int* active) {
  ENTER(cuDevicePrimaryCtxGetState);
  if (fake_physical(device) < 0) return CUDA_ERROR_INVALID_DEVICE;
  if (flags != NULL) *flags = primary[device] == NULL ? 0 : primary[device]->flags;
  if (active != NULL) *active = primary[device] != NULL;
  return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuDevicePrimaryCtxSetFlags_v2(CUdevice device, unsigned int flags) {
  ENTER(cuDevicePrimaryCtxSetFlags_v2);
  if (fake_physical(device) < 0) return CUDA_ERROR_INVALID_DEVICE;
  if (primary[device] != NULL) primary[device]->flags = flags;
  return CUDA_SUCCESS;
}

/* ---- by name ---- */

static CUresult by_name(const char* name, void** out, int wanted, cuuint64_t flags,
                        CUdriverProcAddressQueryResult* status) {
  if (name == NULL || out == NULL || flags > 3) return CUDA_ERROR_INVALID_VALUE;
  int per_thread = (flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM) != 0;
  const struct known_symbol* best = NULL;
  bool later = false;
  for (size_t i = 0; i < fake_symbol_count; i++) {
    const struct known_symbol* one = &fake_symbols[i];
    if (strcmp(one->base, name) != 0 || one->since == 0 || one->since > fake_version()) continue;
    if (one->since > wanted) {
      later = true;
    } else if (one->variant <= per_thread && (best == NULL || one->variant > best->variant ||
                                              (one->variant == best->variant && one->since > best->since))) {
      best = one;
    }
  }
  *out = best == NULL ? NULL : best->address;
  if (status != NULL) {
    *status = best != NULL ? CU_GET_PROC_ADDRESS_SUCCESS
              : later      ? CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT
                           : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  }
  return best == NULL && status == NULL ? CUDA_ERROR_NOT_FOUND : CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuGetProcAddress(const char* name, void** out, int wanted, cuuint64_t flags) {
  return by_name(name, out, wanted, flags, NULL);
}

FAKE_EXPORT CUresult cuGetProcAddress_v2(const char* name, void** out, int wanted, cuuint64_t flags,
                                         CUdriverProcAddressQueryResult* status) {
  CUdriverProcAddressQueryResult own;
  return by_name(name, out, wanted, flags, status == NULL ? &own : status);
}

/* What is not implemented answers so. With $KAISCHED_FAKE_TRACE it says what was asked for. */
CUresult fake_unsupported(const char* name) {
  if (getenv("KAISCHED_FAKE_TRACE") != NULL) fprintf(stderr, "fake libcuda: %s is not there\n", name);
  return CUDA_ERROR_NOT_SUPPORTED;
}

/* The clock of the machine, for those who would sleep on it. Not part of CUDA. */
FAKE_EXPORT uint64_t kaischedFakeNow(void);
FAKE_EXPORT void kaischedFakeSleepUntil(uint64_t when);
FAKE_EXPORT uint64_t kaischedFakeNow(void) { return fake_now(); }
FAKE_EXPORT void kaischedFakeSleepUntil(uint64_t when) { fake_sleep_until(when); }
