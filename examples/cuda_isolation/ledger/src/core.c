/* Compute as a rate: one instant per card up to which the tenant has used its share up. It moves with every take, by
   one compare-and-swap, so a process that dies leaves no debt but what it took, and nothing to clean up. */
#include "internal.h"

static int64_t within(int64_t value, int64_t low, int64_t high) {
  return value < low ? low : value > high ? high : value;
}

/* The share that throttles: KL_WHOLE_CARD for none. */
static uint32_t share(const kl_ledger* l, uint32_t device) {
  kl_limits limits;
  if (kl_get_limits(l, device, &limits) != KL_OK || (limits.flags & KL_FLAG_OPEN) != 0) return KL_WHOLE_CARD;
  return limits.core_permille;
}

static void stamp(kl_ledger* l, uint32_t slot, int64_t now_ns) {
  atomic_store_explicit(&slot_at(l, slot)->active_ns, now_ns, memory_order_relaxed);
}

kl_status kl_core_active(kl_ledger* l, int64_t now_ns) {
  uint32_t slot = 0;
  const kl_status status = l == NULL ? KL_E_ARGUMENT : kl_own(l, &slot);
  if (status == KL_OK) stamp(l, slot, now_ns);
  return status;
}

kl_status kl_core_take(kl_ledger* l, uint32_t device, int64_t cost_ns, int64_t burst_ns, int64_t now_ns,
                       int64_t* wait_ns) {
  if (l == NULL || device >= l->devices || wait_ns == NULL || cost_ns < 0 || burst_ns < 0 || now_ns < 0 ||
      now_ns > INT64_MAX / 4)
    return KL_E_ARGUMENT;
  *wait_ns = 0;
  uint32_t slot = 0;
  const kl_status status = kl_own(l, &slot);
  if (status != KL_OK) return status;
  stamp(l, slot, now_ns);
  const uint32_t permille = share(l, device);
  if (permille == 0) return KL_E_PAUSED;
  kl_usage_device* usage = usage_device(l, device);
  atomic_fetch_add_explicit(&usage->launches, 1, memory_order_relaxed);
  if (permille >= KL_WHOLE_CARD) return KL_OK;
  const int64_t last = now_ns + KL_CORE_HORIZON_NS;
  const int64_t advance = within(cost_ns, 0, KL_CORE_HORIZON_NS) * KL_WHOLE_CARD / permille;
  int64_t stored = atomic_load(&usage->next_free), from = 0;
  do {
    from = within(stored, now_ns - within(burst_ns, 0, KL_CORE_HORIZON_NS), last);
  } while (!atomic_compare_exchange_weak(&usage->next_free, &stored, within(from + advance, 0, last)));
  KL_STEP(CORE_TAKEN);
  *wait_ns = from > now_ns ? from - now_ns : 0;
  if (*wait_ns > 0) atomic_fetch_add_explicit(&usage->waited_ns, (uint64_t)*wait_ns, memory_order_relaxed);
  return KL_OK;
}

kl_status kl_core_settle(kl_ledger* l, uint32_t device, int64_t estimated_ns, int64_t actual_ns) {
  if (l == NULL || device >= l->devices || estimated_ns < 0 || actual_ns < 0) return KL_E_ARGUMENT;
  uint32_t slot = 0;
  const kl_status status = kl_own(l, &slot);
  if (status != KL_OK) return status;
  kl_usage_device* usage = usage_device(l, device);
  atomic_fetch_add_explicit(&record_at(l, slot, device)->busy_ns, (uint64_t)actual_ns, memory_order_relaxed);
  KL_STEP(CORE_COUNTED);
  atomic_fetch_add_explicit(&usage->busy_ns, (uint64_t)actual_ns, memory_order_relaxed);
  const uint32_t permille = share(l, device);
  if (permille == 0 || permille >= KL_WHOLE_CARD) return KL_OK;
  /* What take had counted is at most the horizon, and so is what settling moves. */
  const int64_t more = within(actual_ns, 0, KL_CORE_HORIZON_NS) - within(estimated_ns, 0, KL_CORE_HORIZON_NS);
  int64_t stored = atomic_load(&usage->next_free);
  while (!atomic_compare_exchange_weak(&usage->next_free, &stored,
                                       within(stored, 0, INT64_MAX / 2) + more * KL_WHOLE_CARD / permille)) {
  }
  return KL_OK;
}
