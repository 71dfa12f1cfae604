/* Reclaim comes to rest in a tree of queues: with demand that does not change, nobody is reclaimed for for ever.
 *
 * As reclaim.pml, for GPUs alone and queues on two levels. What a unit takes is judged where the paths of the two leaf queues
 * part: between siblings below one top queue, or between top queues, of which the one that gains may end above its fair
 * share, as nobody asks at the gate. All sizes, quotas and fair shares of the small ones are tried, with one condition: fair
 * shares of leaf queues together are no more than that of the queue above them, as the division makes them (D12, D23).
 *
 * UNDIVIDED leaves out that condition, and there is a circle.
 *
 * Planted mistakes, each of which has to be found: WITHOUT_F1, WITHOUT_F9, WITHOUT_F24 with WITHOUT_F26, WITHOUT_S17, FORGETS_TOP
 * (what goes is not taken off the top queue until the next session). In trees of this size F26 alone ends what WITHOUT_F24 begins.
 */
#define choose(condition, a, b) ((condition) -> (a) : (b))

#ifdef FOUR_LEAVES /* two below each of two */
#define TOPS 2
#define LEAVES 4
#define MOST_SHARE 1
#define leaf_of(u) (u)
#define top_of(q) ((q) / 2)
#define stays_below_all(u) (stays_below(u, 0) && stays_below(u, 1))
#elif defined(THREE_TOPS) /* two below the first, one below each of the others */
#define TOPS 3
#define LEAVES 4
#define MOST_SHARE 1
#define leaf_of(u) (u)
#define top_of(q) choose((q) < 2, 0, (q) - 1)
#define stays_below_all(u) (stays_below(u, 0) && stays_below(u, 1) && stays_below(u, 2))
#else /* two below the first, one below the second, which has two units */
#define TOPS 2
#define LEAVES 3
#define MOST_SHARE 2
#define leaf_of(u) choose((u) == 3, 2, u)
#define top_of(q) ((q) / 2)
#define stays_below_all(u) (stays_below(u, 0) && stays_below(u, 1))
#endif
#define UNITS 4
#define ROOM 3
#define LARGEST 2
#define MOST_QUOTA 1

byte size[UNITS];
bool runs[UNITS];
byte quota[LEAVES];
byte share[LEAVES];
byte held[LEAVES];
byte top_quota[TOPS];
byte top_share[TOPS];
byte top_held[TOPS];
byte total;
bool reclaims; /* a statement of reclaim has just been committed */

byte u, v, n;
byte lost; /* within shares */
byte counted[LEAVES], top_counted[TOPS];
byte quota_lost_beside, quota_lost_above;
byte quota_counted[LEAVES], top_quota_counted[TOPS];
byte gone_beside; /* below the top queue of the one that asks */
byte gone;
bool top_loses[TOPS];
#ifdef FORGETS_TOP
byte late[TOPS]; /* what will be taken off them */
#endif

#include "reclaim_tree_rule.h"

#define has_room(u) (total + size[u] <= ROOM)

/* src/actions/exact_search.cpp, leave_out: nobody leaves who could stay. Of a set from which nothing can be left out each one
 * gives a piece. That holds here too: to leave out one of another top queue never makes the verdict worse, so without it
 * there is no room, and the others give fewer pieces than the unit asks for. */
#ifdef WITHOUT_S17
#define not_too_many(u) true
#else
#define not_too_many(u) (gone < size[u])
#endif

/* What happens in a counterexample: spin -t -g reclaim_tree.pml */
inline start(x) {
  printf("unit %d of leaf %d starts\n", x, leaf_of(x));
  runs[x] = true;
  held[leaf_of(x)] = held[leaf_of(x)] + size[x];
  top_held[top(x)] = top_held[top(x)] + size[x];
  total = total + size[x]
}

inline lose(x, y) { /* y goes for x */
  printf("for unit %d: unit %d of leaf %d goes\n", x, y, leaf_of(y));
  lost = lost - loss(x, y);
  if
  :: is_beside(x, y) -> quota_lost_beside = quota_lost_beside - quota_loss(x, y)
  :: else -> quota_lost_above = quota_lost_above - quota_loss(x, y)
  fi;
  if
  :: counts_in_quota(x, y) && is_beside(x, y) -> quota_counted[leaf_of(y)] = quota_counted[leaf_of(y)] + size[y]
  :: counts_in_quota(x, y) && !is_beside(x, y) -> top_quota_counted[top(y)] = top_quota_counted[top(y)] + size[y]
  :: else
  fi;
  if
  :: counts(x, y) && is_beside(x, y) -> counted[leaf_of(y)] = counted[leaf_of(y)] + size[y]
  :: counts(x, y) && !is_beside(x, y) -> top_counted[top(y)] = top_counted[top(y)] + size[y]
  :: else
  fi;
  held[leaf_of(y)] = held[leaf_of(y)] - size[y];
#ifdef FORGETS_TOP
  late[top(y)] = late[top(y)] + size[y];
#else
  gone_beside = gone_beside + choose(is_beside(x, y), size[y], 0);
  top_held[top(y)] = top_held[top(y)] - size[y];
#endif
  lost = lost + loss(x, y);
  if
  :: is_beside(x, y) -> quota_lost_beside = quota_lost_beside + quota_loss(x, y)
  :: else -> quota_lost_above = quota_lost_above + quota_loss(x, y)
  fi;
  top_loses[top(y)] = true;
  total = total - size[y];
  runs[y] = false;
  gone++
}

active proctype sessions() {
  atomic {
    n = 0;
    do
    :: n < UNITS ->
       select (v : 1 .. LARGEST);
       size[n] = v;
       n++
    :: n == UNITS -> break
    od;
    n = 0;
    do
    :: n < TOPS ->
       select (v : 0 .. MOST_QUOTA);
       top_quota[n] = v;
       select (v : 0 .. MOST_SHARE);
       top_share[n] = v;
       n++
    :: n == TOPS -> break
    od;
    n = 0;
    do
    :: n < LEAVES ->
       if
       :: n < 2 || top_of(n) == top_of(n - 1) || (n + 1 < LEAVES && top_of(n) == top_of(n + 1)) ->
          select (v : 0 .. MOST_QUOTA);
          quota[n] = v
       :: else /* without siblings: nobody asks */
       fi;
       select (v : 0 .. MOST_SHARE);
       share[n] = v;
#ifndef UNDIVIDED
       lost = share[n];
       if
       :: n > 0 && top_of(n) == top_of(n - 1) -> lost = lost + share[n - 1]
       :: else
       fi;
       lost <= top_share[top_of(n)];
       lost = 0;
#endif
       n++
    :: n == LEAVES -> break
    od;
    n = 0;
    v = 0
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
  /* src/actions/victim_actions.cpp, reclaim; src/policy/reclaim/reclaim_rules.hpp, may_take: units leave one after the other,
   * each judged before it goes; then the chunk must fit, the losses be made up and the levels above be compared, else the
   * statement is undone, as if it had not begun. */
  :: atomic {
       reclaims = false;
       select (u : 0 .. UNITS - 1);
       !runs[u] && gate(u);
       do
       :: select (v : 0 .. UNITS - 1);
          runs[v] && leaf_of(v) != leaf_of(u) && not_too_many(u) && may_go(u, v);
          lose(u, v)
       :: gone > 0 && has_room(u) && made_up(u) && keeps_quotas(u) && stays_below_all(u) -> break
       od;
       start(u);
       reclaims = true;
       n = 0;
       do
       :: n < TOPS ->
          top_loses[n] = false;
          top_counted[n] = 0;
          top_quota_counted[n] = 0;
#ifdef FORGETS_TOP
          top_held[n] = top_held[n] - late[n];
          late[n] = 0;
#endif
          n++
       :: n == TOPS -> break
       od;
       n = 0;
       do
       :: n < LEAVES -> counted[n] = 0; quota_counted[n] = 0; n++
       :: n == LEAVES -> break
       od;
       n = 0;
       u = 0;
       v = 0;
       gone = 0;
       gone_beside = 0;
       lost = 0;
       quota_lost_beside = 0;
       quota_lost_above = 0
     }
  od
}

ltl rests { <>[] !reclaims }
