/* Random operations of many processes and threads, some of which are killed at random: stress PROCESSES THREADS
   OPERATIONS SEED. Each thread knows what it holds; a watcher reads the sums all the time. */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

enum { CARDS = 2, OBJECTS = 8, MOST = 64, PART = 5 };
#define LIMIT UINT64_C(10000)

typedef struct plan {
  kl_ledger* ledger;
  long operations;
  uint64_t seed;
  _Atomic uint64_t* holds; /* of this thread, per card, at its end */
} plan;

static uint64_t draw(uint64_t* state, uint64_t below) {
  *state += UINT64_C(0x9e3779b97f4a7c15);
  uint64_t z = *state;
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return (z ^ (z >> 31)) % below;
}

static void* work(void* argument) {
  const plan* p = argument;
  uint64_t random = p->seed, objects[CARDS][OBJECTS] = {{0}};
  for (long i = 0; i < p->operations; ++i) {
    const uint32_t card = (uint32_t)draw(&random, CARDS);
    uint64_t* object = &objects[card][draw(&random, OBJECTS)];
    const uint64_t size = 1 + draw(&random, LIMIT / 6), other = draw(&random, LIMIT / 6);
    if (*object == 0) {
      kl_status status = kl_reserve(p->ledger, card, size);
      CHECK(status == KL_OK || status == KL_E_LIMIT);
      if (status != KL_OK) continue;
      if (draw(&random, 8) == 0) {
        IS(kl_cancel(p->ledger, card, size), KL_OK);
        continue;
      }
      status = kl_commit(p->ledger, card, size, other);
      CHECK(status == KL_OK || (status == KL_E_LIMIT && other > size));
      if (status != KL_OK) IS(kl_cancel(p->ledger, card, size), KL_OK);
      *object = status == KL_OK ? other : 0;
    } else if (draw(&random, 3) == 0) {
      const kl_status status = kl_settle(p->ledger, card, *object, other);
      CHECK(status == KL_OK || (status == KL_E_LIMIT && other > *object));
      if (status == KL_OK) *object = other;
    } else {
      IS(kl_release(p->ledger, card, *object), KL_OK);
      *object = 0;
    }
  }
  for (int card = 0; card < CARDS; ++card)
    for (int i = 0; i < OBJECTS; ++i) atomic_fetch_add(&p->holds[card], objects[card][i]);
  return NULL;
}

static void run_process(kl_ledger* l, int threads, const plan* first) {
  pthread_t ids[MOST];
  plan plans[MOST];
  IS(kl_attach(l), KL_OK);
  for (int i = 0; i < threads; ++i) {
    plans[i] = *first;
    plans[i].seed = first->seed * 1000 + (uint64_t)i;
    CHECK(pthread_create(&ids[i], NULL, work, &plans[i]) == 0);
  }
  for (int i = 0; i < threads; ++i) pthread_join(ids[i], NULL);
}

/* Never more than the limit, and no sum that makes no sense, at any instant. */
static void watch(kl_ledger* l) {
  for (;;) {
    for (uint32_t card = 0; card < CARDS; ++card) CHECK(state_of(l, card).held_bytes <= LIMIT);
    IS(kl_audit(l, true, NULL), KL_OK);
  }
}

static kl_ledger* open_ledger(void) {
  const kl_device_spec cards[CARDS] = {card_of("GPU-a", LIMIT, 500), card_of("GPU-b", LIMIT, 500)};
  kl_create_options options = KL_CREATE_OPTIONS_INIT;
  kl_ledger* l = NULL;
  options.slots = 2 * MOST;
  IS(kl_create_private(cards, CARDS, &options, &l, NULL), KL_OK);
  return l;
}

static pid_t start(kl_ledger* l, int threads, const plan* p) {
  const pid_t pid = fork_child();
  if (pid != 0) return pid;
  run_process(l, threads, p);
  pause(); /* what it holds stays held until it is killed */
  _Exit(0);
}

/* All live: at the end the sum is what the threads say they hold. Then all die: it is nothing. */
static void all_live(int processes, int threads, long operations, uint64_t seed, _Atomic uint64_t* holds) {
  kl_ledger* l = open_ledger();
  pid_t pids[MOST], watcher = fork_child();
  check_context = "all live";
  if (watcher == 0) watch(l);
  for (int i = 0; i < processes; ++i) {
    const pid_t pid = fork_child();
    if (pid == 0) {
      const plan p = {l, operations, seed + (uint64_t)i, holds};
      run_process(l, threads, &p);
      atomic_fetch_add(&holds[CARDS], 1);
      pause();
    }
    pids[i] = pid;
  }
  while (atomic_load(&holds[CARDS]) < (uint64_t)processes) {
    int status = 0;
    CHECK(waitpid(-1, &status, WNOHANG) == 0);
    usleep(1000);
  }
  CHECK(kill(watcher, SIGKILL) == 0);
  CHECK(waitpid(watcher, NULL, 0) == watcher);
  IS(kl_audit(l, false, NULL), KL_OK);
  for (uint32_t card = 0; card < CARDS; ++card) CHECK(state_of(l, card).held_bytes == atomic_load(&holds[card]));
  for (int i = 0; i < processes; ++i) {
    kill(pids[i], SIGKILL);
    waitpid(pids[i], NULL, 0);
  }
  IS(kl_reap(l, NULL), KL_OK);
  for (uint32_t card = 0; card < CARDS; ++card) CHECK(state_of(l, card).held_bytes == 0);
  kl_close(l);
}

/* Killed at random and replaced while the others work; a failed check of theirs is an exit, which nobody makes in
 * peace. */
static void some_die(int processes, int threads, int deaths, uint64_t seed, _Atomic uint64_t* holds) {
  kl_ledger* l = open_ledger();
  pid_t pids[MOST], watcher = fork_child();
  uint64_t random = seed;
  check_context = "some die";
  if (watcher == 0) watch(l);
  plan p = {l, 1L << 40, seed, holds};
  for (int i = 0; i < processes; ++i, ++p.seed) pids[i] = start(l, threads, &p);
  for (int i = 0; i < deaths; ++i, ++p.seed) {
    int status = 0;
    const uint64_t who = draw(&random, (uint64_t)processes);
    usleep((useconds_t)draw(&random, 3000));
    kill(pids[who], SIGKILL);
    CHECK(waitpid(pids[who], &status, 0) == pids[who]);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    if (draw(&random, 4) == 0) IS(kl_reap(l, NULL), KL_OK);
    pids[who] = start(l, threads, &p);
  }
  for (int i = 0; i < processes; ++i) {
    int status = 0;
    kill(pids[i], SIGKILL);
    CHECK(waitpid(pids[i], &status, 0) == pids[i] && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
  }
  CHECK(waitpid(watcher, NULL, WNOHANG) == 0);
  kill(watcher, SIGKILL);
  waitpid(watcher, NULL, 0);
  IS(kl_audit(l, false, NULL), KL_OK);
  IS(kl_reap(l, NULL), KL_OK);
  for (uint32_t card = 0; card < CARDS; ++card) CHECK(state_of(l, card).held_bytes == 0);
  kl_close(l);
}

/* Everyone asks for a part that is theirs alone: nobody is ever refused. */
static void* take_part(void* argument) {
  const plan* p = argument;
  for (long i = 0; i < p->operations; ++i) {
    IS(kl_reserve(p->ledger, 0, PART), KL_OK);
    IS(kl_cancel(p->ledger, 0, PART), KL_OK);
  }
  return NULL;
}
static void what_fits_is_admitted(int processes, int threads, long operations) {
  const kl_device_spec card = card_of("GPU-a", (uint64_t)processes * (uint64_t)threads * PART, 500);
  kl_ledger* l = NULL;
  pid_t pids[MOST];
  check_context = "what fits is admitted";
  IS(kl_create_private(&card, 1, NULL, &l, NULL), KL_OK);
  for (int i = 0; i < processes; ++i) {
    pids[i] = fork_child();
    if (pids[i] != 0) continue;
    pthread_t ids[MOST];
    plan p = {l, operations, 0, NULL};
    IS(kl_attach(l), KL_OK);
    for (int k = 0; k < threads; ++k) CHECK(pthread_create(&ids[k], NULL, take_part, &p) == 0);
    for (int k = 0; k < threads; ++k) pthread_join(ids[k], NULL);
    _Exit(0);
  }
  for (int i = 0; i < processes; ++i) {
    int status = 0;
    CHECK(waitpid(pids[i], &status, 0) == pids[i] && WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
  CHECK(state_of(l, 0).refused == 0);
  kl_close(l);
}

int main(int argc, char** argv) {
  if (argc != 5) {
    fprintf(stderr, "usage: stress PROCESSES THREADS OPERATIONS SEED\n");
    return 2;
  }
  const int processes = atoi(argv[1]), threads = atoi(argv[2]);
  const long operations = atol(argv[3]);
  const uint64_t seed = strtoull(argv[4], NULL, 10);
  if (processes < 1 || processes > MOST || threads < 1 || threads > MOST) return 2;
  _Atomic uint64_t* holds = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  CHECK(holds != MAP_FAILED);
  all_live(processes, threads, operations, seed, holds);
  what_fits_is_admitted(processes, threads, operations);
  some_die(processes, threads, (int)(operations / 40), seed, holds);
  printf("good\n");
  return 0;
}
