/* Gangs start whole or not at all, whatever fails; what a fault of the host leaves of one becomes whole or goes.
 *
 * Two gangs of two pods and room for three, so that one of them finds a place for its first pod alone. Sessions follow each
 * other: a copy of what the host has told, `allocate` for both gangs in any order on any nodes, then `stalegangeviction`,
 * then the host carries the decisions out. At most FAULTS times anything goes wrong: the action ends with an error at any
 * step, a part refuses the gang, a decision is not carried out, the host dies before the next one, a pod dies.
 *
 * Planted mistakes, each of which has to be found: KEEPS_PART (what could be placed of a gang is committed), FORGETS_ONE (an
 * undo leaves an operation out), ERROR_KEEPS (an error leaves the statement open for who comes next), KEEPS_STALE (nobody
 * evicts what is left of a gang).
 */
#define GANGS 2
#define SIZE 2
#define PODS (GANGS * SIZE)
#define NODES 2
#define FAULTS 3
#define GRACE 1 /* sessions that an incomplete gang may wait */
#define gang_of(p) ((p) / SIZE)
#define NOWHERE NODES

/* What the host has: the snapshot of the next session. */
byte place[PODS];   /* a node, or NOWHERE: waits */
bool leaving[PODS]; /* evicted, still on its node */
byte stale[GANGS];  /* sessions for which it has been incomplete */
byte faults = FAULTS;

/* A session: src/session/core.hpp. */
byte at[PODS];
byte free[NODES];
byte log_pod[PODS]; /* the statement */
byte depth;
byte free_before[NODES];
bool binds[PODS]; /* decisions */
bool evicts[PODS];

byte g, p, n, i, first;
bool failed, error;

#define running(q) (place[(q) * SIZE] != NOWHERE && !leaving[(q) * SIZE]) + \
                   (place[(q) * SIZE + 1] != NOWHERE && !leaving[(q) * SIZE + 1])
#define active(q) ((at[(q) * SIZE] != NOWHERE && !leaving[(q) * SIZE]) + \
                   (at[(q) * SIZE + 1] != NOWHERE && !leaving[(q) * SIZE + 1]))
#define in_part(q) ((running(q)) == 1)

#define is_whole_or_told_nothing(q) \
  (active(q) == SIZE || (!binds[(q) * SIZE] && !binds[(q) * SIZE + 1]))

/* core::allocate */
inline put(x, y) {
  at[x] = y;
  free[y] = free[y] - 1;
  log_pod[depth] = x;
  depth++
}

/* core::rollback(0): the newest operation first. Nothing of the statement is left. */
inline rollback() {
  do
#ifdef FORGETS_ONE
  :: depth > 1 ->
#else
  :: depth > 0 ->
#endif
     depth--;
     free[at[log_pod[depth]]] = free[at[log_pod[depth]]] + 1;
     at[log_pod[depth]] = NOWHERE;
     log_pod[depth] = 0
  :: else -> depth = 0; break
  od;
  assert(free[0] == free_before[0] && free[1] == free_before[1])
}

/* core::commit; has_broken_gang in src/session/check.cpp is the assertion */
inline commit(q) {
  i = 0;
  do
  :: i < depth -> binds[log_pod[i]] = true; log_pod[i] = 0; i++
  :: else -> break
  od;
  depth = 0;
  i = 0;
  assert(is_whole_or_told_nothing(0) && is_whole_or_told_nothing(1))
}

/* src/actions/placement.cpp, place_chunk: the missing pods, one after the other (G2, G17). */
inline place_chunk(q) {
  failed = false;
  free_before[0] = free[0];
  free_before[1] = free[1];
  p = q * SIZE;
  do
  :: p < (q + 1) * SIZE && at[p] != NOWHERE -> p++
  :: p < (q + 1) * SIZE && at[p] == NOWHERE ->
     if
     :: faults > 0 -> faults--; error = true; break /* go_on: cancelled, a plug-in failed, out of steps */
     :: free[0] > 0 -> put(p, 0)
     :: free[1] > 0 -> put(p, 1)
     :: free[0] == 0 && free[1] == 0 -> failed = true; break
     fi;
     p++
  :: p == (q + 1) * SIZE -> break
  od;
  p = 0
}

/* src/actions/allocate.cpp, try_group; src/engine/session.cpp, run_for: what was being tried is undone. */
inline try_gang(q) {
  if
  :: error || active(q) == SIZE || leaving[q * SIZE] || leaving[q * SIZE + 1]
  :: else ->
     place_chunk(q);
     if
#ifdef ERROR_KEEPS
     :: error -> error = false
#else
     :: error -> rollback()
#endif
#ifdef KEEPS_PART
     :: !error && failed -> commit(q)
#else
     :: !error && failed -> rollback()
#endif
     :: !error && !failed && faults > 0 -> faults--; rollback() /* permit_start: a part says no */
     :: !error && !failed -> commit(q)
     fi
  fi
}

/* src/actions/victim_actions.cpp, evict_stale_gangs */
inline evict_stale(q) {
  if
#ifndef KEEPS_STALE
  :: active(q) > 0 && active(q) < SIZE && stale[q] >= GRACE ->
     if
     :: at[q * SIZE] != NOWHERE -> evicts[q * SIZE] = true
     :: else
     fi;
     if
     :: at[q * SIZE + 1] != NOWHERE -> evicts[q * SIZE + 1] = true
     :: else
     fi
#endif
  :: else
  fi
}

active proctype host() {
  atomic {
    p = 0;
    do
    :: p < PODS -> place[p] = NOWHERE; p++
    :: else -> break
    od;
    p = 0
  }
  do
  :: atomic { /* a session */
       free[0] = 2;
       free[1] = 1;
       p = 0;
       do
       :: p < PODS ->
          at[p] = place[p];
          if
          :: at[p] != NOWHERE -> free[at[p]] = free[at[p]] - 1
          :: else
          fi;
          p++
       :: else -> break
       od;
       p = 0;
       error = false;
       if
       :: first = 0
       :: first = 1
       fi;
       try_gang(first);
       try_gang((1 - first));
       evict_stale(0);
       evict_stale(1);
       error = false;
       failed = false;
       first = 0
     };
     atomic { /* those that were leaving have gone; then decisions are carried out in their order */
       p = 0;
       do
       :: p < PODS && leaving[p] -> leaving[p] = false; place[p] = NOWHERE; p++
       :: p < PODS && !leaving[p] && !binds[p] && !evicts[p] -> p++
       :: p < PODS && !leaving[p] && (binds[p] || evicts[p]) ->
          if
          :: binds[p] -> place[p] = at[p]
          :: evicts[p] -> leaving[p] = true
          :: faults > 0 -> faults-- /* it fails: the host sees the pod as it was */
          :: faults > 0 -> faults--; break /* the host dies: the rest is lost */
          fi;
          p++
       :: p == PODS -> break
       od;
       n = 0;
       p = 0;
       free[0] = 2;
       free[1] = 1;
       do
       :: p < PODS ->
          binds[p] = false;
          evicts[p] = false;
          at[p] = 0;
          if
          :: place[p] != NOWHERE -> assert(free[place[p]] > 0); free[place[p]] = free[place[p]] - 1
          :: else
          fi;
          p++
       :: else -> break
       od;
       p = 0;
       free_before[0] = 0;
       free_before[1] = 0;
       g = 0;
       do
       :: g < GANGS ->
          if
          :: in_part(g) && stale[g] < GRACE -> stale[g] = stale[g] + 1
          :: in_part(g) && stale[g] == GRACE
          :: !in_part(g) -> stale[g] = 0
          fi;
          g++
       :: else -> break
       od;
       g = 0
     }
     if
     :: faults > 0 -> /* a pod dies */
        atomic {
          select (p : 0 .. PODS - 1);
          if
          :: place[p] != NOWHERE && !leaving[p] -> faults--; place[p] = NOWHERE
          :: else
          fi;
          p = 0
        }
     :: true
     fi
  od
}

ltl mends { [] (in_part(0) -> <> !in_part(0)) }
