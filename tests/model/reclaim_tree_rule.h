/* The rule by which a unit u takes from others, in a tree of two levels: leaf queues, each below a top queue. GPUs
 * alone.
 *
 * spin reads this as a part of reclaim_tree.pml, a C++ compiler as a part of test_reclaim_tree.cpp, which asks
 * src/policy/reclaim/reclaim_rules.hpp the same. Who includes it has `choose(condition, a, b)`, `leaf_of(unit)`,
 * `top_of(leaf)`, and of leaf and top queues what they hold, their quotas and fair shares. The letters are rules of
 * docs/rules.md.
 */
#define larger(a, b) choose((a) > (b), a, b)
#define smaller(a, b) choose((a) < (b), a, b)
#define top(u) top_of(leaf_of(u))

/* may_reclaim: the leaf queue stays within its fair share. Nobody asks the top queue. */
#ifdef WITHOUT_F1
#define gate(u) true
#else
#define gate(u) (held[leaf_of(u)] + size[u] <= share[leaf_of(u)])
#endif

/* diverging (F8): leaf queues of one top queue are compared, else the top queues. */
#define is_beside(u, v) (top(u) == top(v))

/* over_allocatable, guarantees_quota: of the two that are compared the one that loses holds more than its entitlement,
 * or more than its quota while the other one stays within its own. What it holds is counted before the unit goes (F7);
 * what the other one holds, before anybody has gone, also of its own leaf queues. */
#define may_lose(u, of_v, quota_v, share_v, of_u, quota_u) \
  ((of_v) > larger(quota_v, share_v) || ((of_u) + size[u] <= (quota_u) && (of_v) > (quota_v)))
#define may_go(u, v)                                                                                               \
  choose(is_beside(u, v),                                                                                          \
         may_lose(u, held[leaf_of(v)], quota[leaf_of(v)], share[leaf_of(v)], held[leaf_of(u)], quota[leaf_of(u)]), \
         may_lose(u, top_held[top(v)], top_quota[top(v)], top_share[top(v)], top_held[top(u)] + gone_beside,       \
                  top_quota[top(u)]))

/* losses_within_shares: what the queues that are compared give up of what they hold within their fair shares; a unit larger
 * than the share never was within it, and counts as gone first, whatever its order. `counted` and `top_counted`: what has
 * gone of each queue in other units. */
#define within(left, units, most) (smaller((left) + (units), most) - smaller(left, most))
#define loss(u, v)                                                                         \
  choose(is_beside(u, v), within(held[leaf_of(v)], counted[leaf_of(v)], share[leaf_of(v)]), \
         within(top_held[top(v)], top_counted[top(v)], top_share[top(v)]))
#define counts(u, v) (size[v] <= choose(is_beside(u, v), share[leaf_of(v)], top_share[top(v)]))
#ifdef WITHOUT_F24
#define made_up(u) true
#else
#define made_up(u) (lost <= size[u])
#endif

/* losses_within_quotas (F26): the same of quotas, or of fair shares that are smaller, against what the queue that is compared
 * gains. One that does not stay within its own takes nothing of that. */
#define quota_loss(u, v)                                                                                                \
  choose(is_beside(u, v),                                                                                               \
         within(held[leaf_of(v)], quota_counted[leaf_of(v)], smaller(quota[leaf_of(v)], share[leaf_of(v)])),              \
         within(top_held[top(v)], top_quota_counted[top(v)], smaller(top_quota[top(v)], top_share[top(v)])))
#define counts_in_quota(u, v)                                                     \
  (size[v] <= choose(is_beside(u, v), smaller(quota[leaf_of(v)], share[leaf_of(v)]), \
                     smaller(top_quota[top(v)], top_share[top(v)])))
#ifdef WITHOUT_F26
#define keeps_quota(u, lost, gained) true
#else
#define keeps_quota(u, lost, gained) ((lost) == 0 || ((gained) == size[u] && (lost) <= (gained)))
#endif
#define keeps_quotas(u)                                                                                                \
  (keeps_quota(u, quota_lost_beside, within(held[leaf_of(u)], size[u], smaller(quota[leaf_of(u)], share[leaf_of(u)]))) && \
   keeps_quota(u, quota_lost_above,                                                                                    \
               within(top_held[top(u)] + gone_beside, size[u], smaller(top_quota[top(u)], top_share[top(u)]))))

/* less_saturated (F9): a top queue that ends above its fair share stays below each one, x, that has lost something. A
 * leaf queue that has passed the gate is not above its own. */
#ifdef WITHOUT_F9
#define stays_below(u, x) true
#else
#define stays_below(u, x)                                                                                    \
  (!top_loses[x] || top(u) == (x) || top_held[top(u)] + size[u] <= top_share[top(u)] || top_share[x] == 0 || \
   (top_share[top(u)] > 0 && (top_held[top(u)] + size[u]) * top_share[x] < top_held[x] * top_share[top(u)]))
#endif
