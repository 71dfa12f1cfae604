/* Plays small situations in every order of steps: actors are coroutines that stop between any two stores of the ledger,
   and each order of continuing them, and of ending one for ever, is tried from the same start. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "internal.h"

enum { ACTORS = 4, STACK = 1 << 17, CHOICES = 256, LIMIT = 100 };

typedef struct actor {
  void (*play)(struct actor*);
  kl_ledger* ledger;
  struct actor* victim; /* runs only when this one has ended for ever */
  bool mortal;
  int result;
  uint64_t owner; /* of the slot, before it began */
  uint32_t slot;
  /* of the run */
  bool started, finished, killed;
  ucontext_t context;
  char* stack;
} actor;

static actor actors[ACTORS];
static int actor_count;
static actor* running;
static ucontext_t scheduler;
static int choices[CHOICES], widths[CHOICES], chosen, preemptions_left, most_preemptions;
static const char* situation;
static long runs;

static void fail(const char* what) {
  printf("%s: %s; choices", situation, what);
  for (int i = 0; i < chosen; ++i) printf(" %d", choices[i]);
  printf("\n");
  exit(1);
}

static void pause_actor(int step) {
  (void)step;
  if (running != NULL) swapcontext(&running->context, &scheduler);
}

static void enter(void) {
  running->play(running);
  running->finished = true;
  swapcontext(&running->context, &scheduler);
}

static bool ready(const actor* a) {
  return a->play != NULL && !a->finished && !a->killed && (a->victim == NULL || a->victim->killed);
}

/* Continue `last`, which costs nothing, another one, which is a preemption if `last` could go on, or end a mortal one.
 */
static int options(const actor* last, int* which, bool* kills) {
  int count = 0;
  const bool going = last != NULL && ready(last);
  if (going) {
    which[count] = (int)(last - actors);
    kills[count++] = false;
  }
  for (int i = 0; i < actor_count; ++i) {
    if (&actors[i] == last || !ready(&actors[i]) || (going && preemptions_left == 0)) continue;
    which[count] = i;
    kills[count++] = false;
  }
  for (int i = 0; i < actor_count; ++i) {
    if (!actors[i].mortal || !ready(&actors[i]) || !actors[i].started || &actors[i] != last) continue;
    which[count] = i;
    kills[count++] = true;
  }
  return count;
}

static void check_always(const actor* some) {
  for (uint32_t device = 0; device < some->ledger->devices; ++device) {
    uint64_t held = 0;
    if (atomic_load(&usage_device(some->ledger, device)->word.part.total) > LIMIT) fail("more than the limit is held");
    for (uint32_t slot = 0; slot < some->ledger->slots; ++slot)
      if (kl_held(some->ledger, slot, device, &held) != KL_OK || held > LIMIT) fail("a record has no meaning");
  }
}

static void play_once(void) {
  actor* last = NULL;
  chosen = 0;
  preemptions_left = most_preemptions;
  for (;;) {
    int which[2 * ACTORS];
    bool kills[2 * ACTORS];
    const int count = options(last, which, kills);
    if (count == 0) break;
    if (chosen == CHOICES) fail("the situation is too long");
    widths[chosen] = count;
    const int choice = choices[chosen] < count ? choices[chosen] : 0;
    choices[chosen++] = choice;
    actor* next = &actors[which[choice]];
    if (kills[choice]) {
      next->killed = true;
      continue;
    }
    if (last != NULL && next != last && ready(last)) --preemptions_left;
    if (!next->started) {
      getcontext(&next->context);
      next->context.uc_stack.ss_sp = next->stack;
      next->context.uc_stack.ss_size = STACK;
      next->context.uc_link = NULL;
      makecontext(&next->context, enter, 0);
      next->started = true;
    }
    running = last = next;
    swapcontext(&scheduler, &next->context);
    running = NULL;
    check_always(next);
  }
}

/* The next sequence of choices in the order of a tree's leaves; false after the last. */
static bool next_choices(void) {
  while (chosen > 0) {
    if (++choices[chosen - 1] < widths[chosen - 1]) {
      memset(choices + chosen, 0, sizeof choices - (size_t)chosen * sizeof *choices);
      return true;
    }
    --chosen;
  }
  return false;
}

/* `first` and `second` hold 30 each from the start; the third handle has no slot. */
static void play_all(const char* name, int preemptions, void (*set_up)(kl_ledger** ledgers), void (*check)(void)) {
  kl_device_spec card;
  kl_ledger* ledgers[3];
  kl_create_options slots = KL_CREATE_OPTIONS_INIT;
  slots.slots = 3;
  memset(&card, 0, sizeof card);
  strcpy(card.uuid, "GPU-0");
  card.limits.memory_bytes = LIMIT;
  situation = name;
  chosen = 0;
  if (kl_create_private(&card, 1, &slots, &ledgers[0], NULL) != KL_OK) fail("no ledger");
  const int limits = memfd_create("limits", 0);
  if (limits < 0 || write(limits, ledgers[0]->limits, ledgers[0]->limits_bytes) < 0) fail("no copy");
  for (int i = 1; i < 3; ++i)
    if (kl_open_fds(limits, ledgers[0]->fd, KL_OWNER, &ledgers[i], NULL) != KL_OK) fail("no second handle");
  for (uint32_t i = 0; i < 2; ++i)
    if (kl_attach(ledgers[i]) != KL_OK || kl_reserve(ledgers[i], 0, 30) != KL_OK ||
        kl_commit(ledgers[i], 0, 30, 30) != KL_OK)
      fail("no start");
  char* start = malloc(ledgers[0]->usage_bytes);
  memcpy(start, ledgers[0]->usage, ledgers[0]->usage_bytes);
  memset(choices, 0, sizeof choices);
  most_preemptions = preemptions;
  const long before = runs;
  do {
    memcpy(ledgers[0]->usage, start, ledgers[0]->usage_bytes);
    for (int i = 0; i < ACTORS; ++i) {
      char* stack = actors[i].stack;
      memset(&actors[i], 0, sizeof actors[i]);
      actors[i].stack = stack;
    }
    for (uint32_t i = 0; i < 3; ++i) {
      pthread_mutex_init(&ledgers[i]->mutexes[0], NULL);
      atomic_store(ledgers[i]->attached, i < 2 ? i + 1 : 0);
    }
    set_up(ledgers);
    play_once();
    check();
    kl_error error;
    if (kl_audit(ledgers[0], false, &error) != KL_OK) fail(error.message);
    ++runs;
  } while (next_choices());
  printf("%s: %ld orders\n", name, runs - before);
  for (uint32_t i = 0; i < 3; ++i) {
    atomic_store(ledgers[i]->attached, 0); /* its slot may be anybody's by now */
    kl_close(ledgers[i]);
  }
  close(limits);
  free(start);
}

static actor* add(int index, kl_ledger* ledger, void (*play)(actor*)) {
  actor* a = &actors[index];
  a->play = play;
  a->ledger = ledger;
  a->owner = atomic_load(&ledger->owner);
  a->slot = index < 2 ? (uint32_t)index : 0;
  if (index >= actor_count) actor_count = index + 1;
  return a;
}

static uint64_t held(void) { return atomic_load(&usage_device(actors[0].ledger, 0)->word.part.total); }

static void reserve_40(actor* a) { a->result = kl_reserve(a->ledger, 0, 40); }
static void reserve_20(actor* a) { a->result = kl_reserve(a->ledger, 0, 20); }
static void release_30(actor* a) { a->result = kl_release(a->ledger, 0, 30); }
static void shrink(actor* a) { a->result = kl_settle(a->ledger, 0, 30, 10); }
static void in_and_out(actor* a) {
  a->result = kl_reserve(a->ledger, 0, 20);
  if (a->result == KL_OK) a->result = kl_cancel(a->ledger, 0, 20);
}
static void bury_first(actor* a) { a->result = kl_bury(a->ledger, 0, a->owner); }
static void bury_second(actor* a) { a->result = kl_bury(a->ledger, 1, a->owner); }
static void claim_first(actor* a) {
  const kl_process self = kl_self();
  a->result = kl_claim(a->ledger, 0, &self);
  if (a->result == KL_OK) a->result = kl_reserve(a->ledger, 0, 20);
}
/* After a claimant has ended for ever: whoever has the slot now is buried. */
static void bury_claimant(actor* a) {
  const uint64_t owner = atomic_load(&slot_at(a->ledger, 0)->owner);
  a->result = (owner & KL_PID_MASK) == 0 ? KL_OK : kl_bury(a->ledger, 0, owner);
}

// ---- situations ----------------------------------------------------------------------------------------------------

static void two_ask(kl_ledger** l) {
  add(0, l[0], reserve_40);
  add(1, l[1], reserve_40);
}
static void one_gets(void) {
  if ((actors[0].result == KL_OK) + (actors[1].result == KL_OK) != 1) fail("not one of two was admitted");
  if (actors[0].result + actors[1].result != KL_E_LIMIT) fail("the other was not refused");
  if (held() != 100) fail("the sum is wrong");
}

static void two_fit(kl_ledger** l) {
  add(0, l[0], in_and_out);
  add(1, l[1], in_and_out);
}
static void both_get(void) {
  if (actors[0].result != KL_OK || actors[1].result != KL_OK) fail("something that fits was refused");
  if (held() != 60) fail("the sum is wrong");
}

static void dies(kl_ledger** l, void (*of)(actor*), void (*meanwhile)(actor*)) {
  actor* victim = add(0, l[0], of);
  victim->mortal = true;
  add(1, l[1], meanwhile);
  for (int i = 2; i < 4; ++i) {
    actor* burier = add(i, l[i - 1], bury_first);
    burier->owner = atomic_load(&l[0]->owner);
    burier->victim = victim;
  }
}
static void dies_reserving(kl_ledger** l) { dies(l, reserve_20, in_and_out); }
static void dies_releasing(kl_ledger** l) { dies(l, release_30, shrink); }
static void dies_shrinking(kl_ledger** l) { dies(l, shrink, in_and_out); }
static void nothing_lost(void) {
  uint64_t first = 0, second = 0;
  if (kl_held(actors[0].ledger, 0, 0, &first) != KL_OK || kl_held(actors[0].ledger, 1, 0, &second) != KL_OK)
    fail("a record has no meaning");
  if (actors[0].killed && first != 0) fail("the dead still hold something");
  if (actors[1].result != KL_OK) fail("the living was disturbed");
  if (held() != first + second) fail("the sum is wrong");
  if (second != (actors[1].play == shrink ? 10 : 30)) fail("the living holds something else");
}

/* Somebody takes a living process for dead. It is told so, and is not counted. */
static void wrongly_buried(kl_ledger** l) {
  add(0, l[0], reserve_20);
  add(1, l[1], bury_first)->owner = atomic_load(&l[0]->owner);
}
static void was_told(void) {
  if (held() != 30) fail("the sum is wrong");
  if (actors[0].result != KL_OK && actors[0].result != KL_E_DETACHED) fail("it was told something else");
}

/* The same while a third makes changes, so that the burial is not the last change any more. */
static void wrongly_buried_meanwhile(kl_ledger** l) {
  add(0, l[0], reserve_20);
  add(1, l[1], in_and_out);
  add(2, l[2], bury_first)->owner = atomic_load(&l[0]->owner);
}

/* Two die, and each is buried while the other's last change is the last of the card. */
static void two_die(kl_ledger** l) {
  for (int i = 0; i < 2; ++i) {
    add(i, l[i], i == 0 ? reserve_20 : release_30)->mortal = true;
    actor* burier = add(2 + i, l[2], i == 0 ? bury_first : bury_second);
    burier->owner = atomic_load(&l[i]->owner);
    burier->victim = &actors[i];
  }
}
static void all_is_consistent(void) {
  uint64_t first = 0, second = 0;
  if (kl_held(actors[0].ledger, 0, 0, &first) != KL_OK || kl_held(actors[0].ledger, 1, 0, &second) != KL_OK)
    fail("a record has no meaning");
  if ((actors[0].killed && first != 0) || (actors[1].killed && second != 0)) fail("the dead still hold something");
  if (held() != first + second) fail("the sum is wrong");
}

/* The dead are buried by one who is slow, while another has done it and the slot has a new owner, who may die as well.
 */
static void taken_over(kl_ledger** l) {
  actor* victim = add(0, l[0], reserve_20);
  victim->mortal = true;
  actor* burier = add(1, l[1], bury_first);
  burier->owner = atomic_load(&l[0]->owner);
  burier->victim = victim;
  actor* claimant = add(2, l[2], claim_first);
  claimant->victim = victim;
  claimant->mortal = true;
  actor* second = add(3, l[1], bury_claimant);
  second->victim = claimant;
}
static void slot_is_right(void) {
  uint64_t first = 0;
  if (kl_held(actors[0].ledger, 0, 0, &first) != KL_OK) fail("a record has no meaning");
  if (held() != 30 + first) fail("the sum is wrong");
  if (actors[2].finished && actors[2].result == KL_OK && first != 20)
    fail("the new owner does not hold what it asked for");
}

int main(int argc, char** argv) {
  const int preemptions = argc > 1 ? atoi(argv[1]) : 3;
  for (int i = 0; i < ACTORS; ++i) actors[i].stack = malloc(STACK);
  kl_step_hook = pause_actor;
  actor_count = 0;
  play_all("two ask for what one can have", CHOICES, two_ask, one_gets);
  actor_count = 0;
  play_all("two ask for what fits", preemptions + 1, two_fit, both_get);
  actor_count = 0;
  play_all("one dies reserving", preemptions, dies_reserving, nothing_lost);
  actor_count = 0;
  play_all("one dies releasing", preemptions, dies_releasing, nothing_lost);
  actor_count = 0;
  play_all("one dies shrinking", preemptions, dies_shrinking, nothing_lost);
  actor_count = 0;
  play_all("one is taken for dead", CHOICES, wrongly_buried, was_told);
  actor_count = 0;
  play_all("one is taken for dead while another works", preemptions + 1, wrongly_buried_meanwhile, was_told);
  actor_count = 0;
  play_all("two die", preemptions, two_die, all_is_consistent);
  actor_count = 0;
  play_all("a slot is taken over", preemptions, taken_over, slot_is_right);
  for (int i = 0; i < ACTORS; ++i) free(actors[i].stack);
  printf("%ld orders\n", runs);
  return 0;
}
