/* Between wrappers and the ledger: reserve before the driver is asked, settle after. */
#include <pthread.h>
#include <sys/types.h>
#include <unistd.h>

#include "guard.h"

uint64_t guard_round(uint64_t bytes, uint64_t granule) {
  if (bytes > UINT64_MAX - granule) return UINT64_MAX;
  return (bytes + granule - 1) / granule * granule;
}

bool guard_device(CUdevice* device) { return guard_real.cuCtxGetDevice(device) == CUDA_SUCCESS; }

static int card_of(CUdevice device) { return device >= 0 && device < guard.devices ? guard.card[device] : -1; }

static pthread_mutex_t attach_lock = PTHREAD_MUTEX_INITIALIZER;

/* After a fork, and after somebody took this process for dead, it has no slot: it takes one and asks again. The latter
 * still holds what was given back for it. */
static kl_status attach_again(kl_status why) {
  uint32_t slot = 0;
  pthread_mutex_lock(&attach_lock);
  bool done = kl_own_slot(guard.ledger, &slot) == KL_OK; /* by another thread */
  kl_status status = done ? KL_OK : kl_attach(guard.ledger);
  if (!done && status == KL_OK && why == KL_E_DETACHED) {
    uint64_t bytes[KL_DEVICES_MAX] = {0};
    guard_held(bytes);
    for (uint32_t card = 0; card < kl_device_count(guard.ledger); card++) kl_charge(guard.ledger, card, bytes[card]);
  }
  pthread_mutex_unlock(&attach_lock);
  return status;
}

static kl_status reserve(int card, uint64_t bytes) {
  kl_status status = kl_reserve(guard.ledger, (uint32_t)card, bytes);
  if (status == KL_E_FORKED || status == KL_E_DETACHED) {
    status = attach_again(status);
    if (status == KL_OK) status = kl_reserve(guard.ledger, (uint32_t)card, bytes);
  }
  return status;
}

static kl_status reserve_or_make_room(int card, CUdevice device, uint64_t bytes) {
  kl_status status = reserve(card, bytes);
  if (status != KL_E_LIMIT) return status;
  /* What pools and graphs keep without using it is ours to give back. */
  return guard_pools_settle(device, true) ? reserve(card, bytes) : status;
}

CUresult guard_claim(struct guard_claim* claim, CUdevice device, uint64_t bytes) {
  *claim = (struct guard_claim){.card = -1, .bytes = bytes};
  if (guard.ledger == NULL) return CUDA_ERROR_SYSTEM_NOT_READY; /* strict, and no limit can be kept */
  if (bytes > KL_BYTES_MAX) return CUDA_SUCCESS;                /* no driver has that: it shall say so itself */
  int card = card_of(device);
  if (card < 0) return guard.strict ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS; /* not one of the tenant's cards */
  kl_status status = reserve_or_make_room(card, device, bytes);
  claim->card = card;
  if (status == KL_OK) return CUDA_SUCCESS;
  kl_limits limits;
  if (status == KL_E_LIMIT && kl_get_limits(guard.ledger, (uint32_t)card, &limits) == KL_OK &&
      (limits.flags & KL_FLAG_OPEN) != 0) {
    claim->refused_open = true;
    return CUDA_SUCCESS;
  }
  claim->card = -1;
  if (status == KL_E_LIMIT) return CUDA_ERROR_OUT_OF_MEMORY;
  guard_say("%s", kl_status_text(status));
  return guard.strict ? CUDA_ERROR_SYSTEM_NOT_READY : CUDA_SUCCESS;
}

void guard_keep(struct guard_claim* claim, uint64_t actual) {
  if (claim->card < 0) return;
  uint32_t card = (uint32_t)claim->card;
  if (claim->refused_open) {
    kl_charge(guard.ledger, card, actual);
  } else if (kl_commit(guard.ledger, card, claim->bytes, actual) != KL_OK) {
    /* More than was asked for, and it is there: it counts, and the next one is refused. */
    kl_commit(guard.ledger, card, claim->bytes, claim->bytes);
    if (actual > claim->bytes) kl_charge(guard.ledger, card, actual - claim->bytes);
  }
}

void guard_drop(struct guard_claim* claim) {
  if (claim->card >= 0 && !claim->refused_open) kl_cancel(guard.ledger, (uint32_t)claim->card, claim->bytes);
  claim->card = -1;
}

void guard_release(int card, uint64_t bytes) {
  if (card >= 0 && bytes > 0) kl_release(guard.ledger, (uint32_t)card, bytes);
}
