/* Reclaim comes to rest: with demand that does not change, nobody is reclaimed for for ever.
 *
 * What is modelled is the rule of `strict` for queues side by side, in amounts alone. A unit is what is judged at once: a
 * gang, or a pod beyond one. Nodes, orders and the search for victims are left out; what they could choose is all allowed.
 * Any group may ask, and any running units of other queues may be its victims, in any order, if the verdict accepts them,
 * there is room in the sums, and they are no more than the unit asks for pieces: of a set from which nothing can be left
 * out each one gives a piece. Who fits starts at any time or never; those who only move have lost nothing. Sizes, quotas
 * and fair shares are all of the small ones. Fair shares need not follow from a division: what holds here holds for any
 * that stay as they are.
 *
 * Not modelled: units that leave so that others can move, trees of queues, groups that cannot be preempted, other actions.
 *
 * TWO_RESOURCES: GPUs and cores. What a queue loses of a resource that the reclaimer does not ask for counts as well (F24), unless
 * the queue is over its share of what was asked for: then it cannot take the unit back. COUNTS_ASKED leaves that out, and
 * there is a circle (tests/scenarios/reclaim/circle.ks).
 *
 * Planted mistakes, each of which has to be found: WITHOUT_F1, WITHOUT_F24, WITHOUT_S17, COUNTS_ASKED. The
 * letters are rules of docs/rules.md.
 */
#ifdef TWO_RESOURCES
#define QUEUES 2
#define UNITS 3
#define ROOM 2
#define LARGEST 2
#define MOST_QUOTA 1
#define MOST_SHARE 1
#elif defined(THREE_QUEUES)
#define QUEUES 3
#define UNITS 4
#define ROOM 3
#define LARGEST 2
#define MOST_QUOTA 1
#define MOST_SHARE 2
#else
#define QUEUES 2
#define UNITS 4
#define ROOM 4
#define LARGEST 3
#define MOST_QUOTA 2
#define MOST_SHARE 3
#endif
#define of(u) ((u) % QUEUES)
#define larger(a, b) ((a) > (b) -> (a) : (b))
#define smaller(a, b) ((a) < (b) -> (a) : (b))

/* Of two resources, GPUs first: they are worth more (F24). */
byte gpus[UNITS];
byte gpu_quota[QUEUES];
byte gpu_share[QUEUES];
byte gpu_held[QUEUES];
byte gpu_total;
#ifdef TWO_RESOURCES
byte cores[UNITS];
byte core_quota[QUEUES];
byte core_share[QUEUES];
byte core_held[QUEUES];
byte core_total;
#endif
bool runs[UNITS];
bool reclaims; /* a statement of reclaim has just been committed */

byte u, v, n;
byte gpus_lost, cores_lost;
byte gone;

/* src/policy/reclaim/reclaim_rules.hpp, may_reclaim: the leaf queue stays within its fair share of what the chunk asks for. */
#ifdef WITHOUT_F1
#define gate(u) true
#elif defined(TWO_RESOURCES)
#define gate(u)                                                              \
  ((gpus[u] == 0 || gpu_held[of(u)] + gpus[u] <= gpu_share[of(u)]) &&        \
   (cores[u] == 0 || core_held[of(u)] + cores[u] <= core_share[of(u)]))
#else
#define gate(u) (gpu_held[of(u)] + gpus[u] <= gpu_share[of(u)])
#endif

/* over_allocatable, guarantees_quota: the queue that loses holds more than its entitlement, or more than its quota while the
 * one that gains stays within its own. `held` are amounts before this unit goes (F7). Only
 * what the unit gives and the chunk asks for counts (F25). */
#define entitled_gpus(q) larger(gpu_quota[q], gpu_share[q])
#ifdef TWO_RESOURCES
#define entitled_cores(q) larger(core_quota[q], core_share[q])
#define gives_gpus(u, v) (gpus[u] > 0 && gpus[v] > 0)
#define gives_cores(u, v) (cores[u] > 0 && cores[v] > 0)
#define within_quota(u)                                                      \
  ((gpus[u] == 0 || gpu_held[of(u)] + gpus[u] <= gpu_quota[of(u)]) &&       \
   (cores[u] == 0 || core_held[of(u)] + cores[u] <= core_quota[of(u)]))
#define may_go(u, v)                                                         \
  ((gives_gpus(u, v) && gpu_held[of(v)] > entitled_gpus(of(v))) ||           \
   (gives_cores(u, v) && core_held[of(v)] > entitled_cores(of(v))) ||        \
   (within_quota(u) && ((gives_gpus(u, v) && gpu_held[of(v)] > gpu_quota[of(v)]) || \
                        (gives_cores(u, v) && core_held[of(v)] > core_quota[of(v)]))))
#define has_room(u) (gpu_total + gpus[u] <= ROOM && core_total + cores[u] <= ROOM)
#else
#define may_go(u, v)                                                         \
  (gpu_held[of(v)] > entitled_gpus(of(v)) ||                                 \
   (gpu_held[of(u)] + gpus[u] <= gpu_quota[of(u)] && gpu_held[of(v)] > gpu_quota[of(v)]))
#define has_room(u) (gpu_total + gpus[u] <= ROOM)
#endif

/* losses_within_shares: what the queue gives up of what it holds within its fair share; a unit larger than the share never
 * was within it. The engine counts such units as gone first, and so refuses more. */
#define within(held, unit, share)                                            \
  ((unit) > (share) -> 0 : smaller(held, share) - smaller((held) - (unit), share))
#ifdef COUNTS_ASKED
#define counts(asked, u, v) ((asked) > 0)
#elif defined(TWO_RESOURCES)
#define over_share(u, v)                                                     \
  ((gives_gpus(u, v) && gpu_held[of(v)] > gpu_share[of(v)]) ||               \
   (gives_cores(u, v) && core_held[of(v)] > core_share[of(v)]))
#define counts(asked, u, v) ((asked) > 0 || !over_share(u, v))
#endif
#ifdef WITHOUT_F24
#define made_up(u) true
#elif defined(TWO_RESOURCES)
#define made_up(u) (gpus_lost < gpus[u] || (gpus_lost == gpus[u] && cores_lost <= cores[u]))
#else
#define made_up(u) (gpus_lost <= gpus[u])
#endif

/* src/actions/exact_search.cpp, leave_out: nobody leaves who could stay. */
#ifdef WITHOUT_S17
#define not_too_many(u) true
#elif defined(TWO_RESOURCES)
#define not_too_many(u) (gone < gpus[u] + cores[u])
#else
#define not_too_many(u) (gone < gpus[u])
#endif

/* What happens in a counterexample: spin -t -g reclaim.pml */
inline start(x) {
  printf("unit %d of queue %d starts\n", x, of(x));
  runs[x] = true;
  gpu_held[of(x)] = gpu_held[of(x)] + gpus[x];
  gpu_total = gpu_total + gpus[x];
#ifdef TWO_RESOURCES
  core_held[of(x)] = core_held[of(x)] + cores[x];
  core_total = core_total + cores[x];
#endif
}

inline lose(x, y) { /* y goes for x */
  printf("for unit %d: unit %d of queue %d goes\n", x, y, of(y));
#ifdef TWO_RESOURCES
  if
  :: counts(gpus[x], x, y) && gpus[y] > 0 ->
     gpus_lost = gpus_lost + within(gpu_held[of(y)], gpus[y], gpu_share[of(y)])
  :: else
  fi;
  if
  :: counts(cores[x], x, y) && cores[y] > 0 ->
     cores_lost = cores_lost + within(core_held[of(y)], cores[y], core_share[of(y)])
  :: else
  fi;
  core_held[of(y)] = core_held[of(y)] - cores[y];
  core_total = core_total - cores[y];
#else
  gpus_lost = gpus_lost + within(gpu_held[of(y)], gpus[y], gpu_share[of(y)]);
#endif
  gpu_held[of(y)] = gpu_held[of(y)] - gpus[y];
  gpu_total = gpu_total - gpus[y];
  runs[y] = false;
  gone++
}

active proctype sessions() {
  atomic {
    n = 0;
    do
    :: n < UNITS ->
#ifdef TWO_RESOURCES
       if
       :: gpus[n] = 0; cores[n] = 1
       :: gpus[n] = 1; cores[n] = 0
       :: gpus[n] = 1; cores[n] = 1
       :: gpus[n] = 1; cores[n] = 2
       :: gpus[n] = 2; cores[n] = 1
       fi;
       n < QUEUES || 3 * gpus[n] + cores[n] >= 3 * gpus[n - QUEUES] + cores[n - QUEUES];
#else
       select (v : 1 .. LARGEST);
       gpus[n] = v;
       n < QUEUES || gpus[n] >= gpus[n - QUEUES]; /* units of a queue may be told in any order */
#endif
       n++
    :: n == UNITS -> break
    od;
    n = 0;
    do
    :: n < QUEUES ->
       select (v : 0 .. MOST_QUOTA);
       gpu_quota[n] = v;
       select (v : 0 .. MOST_SHARE);
       gpu_share[n] = v;
#ifdef TWO_RESOURCES
       select (v : 0 .. MOST_QUOTA);
       core_quota[n] = v;
       select (v : 0 .. MOST_SHARE);
       core_share[n] = v;
#endif
       n++
    :: n == QUEUES -> break
    od
  }
  do
  /* src/actions/allocate.cpp: whoever fits may start. */
  :: atomic {
       reclaims = false;
       select (u : 0 .. UNITS - 1);
       !runs[u] && has_room(u);
       start(u);
       u = 0
     }
  /* src/actions/victim_actions.cpp, reclaim: units leave one after the other, each judged before it goes; then the chunk
   * must fit and the losses be made up, else the statement is undone, as if it had not begun. */
  :: atomic {
       reclaims = false;
       select (u : 0 .. UNITS - 1);
       !runs[u] && gate(u);
       do
       :: select (v : 0 .. UNITS - 1);
          runs[v] && of(v) != of(u) && not_too_many(u) && may_go(u, v);
          lose(u, v)
       :: gone > 0 && has_room(u) && made_up(u) -> break
       od;
       start(u);
       reclaims = true;
       u = 0;
       v = 0;
       gone = 0;
       gpus_lost = 0;
       cores_lost = 0
     }
  od
}

ltl rests { <>[] !reclaims }
