/* How many operations the ledger does: ledger_bench [SECONDS PER ROW]. One allocation is reserve, commit and release,
   of a card that all share; every process has its slot, threads of one process share theirs. */
#include <kaisched_ledger/ledger.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 64, BATCH = 64 };

typedef enum operation { ALLOCATE, REFUSED, LIMITS, TAKE, OPERATIONS } operation;
static const char* const names[OPERATIONS] = {"reserve, commit, release", "reserve that is refused", "get_limits",
                                              "core_take"};

/* Shared by all processes of a row. */
typedef struct control {
  _Atomic int ready, go, stop;
  _Atomic uint64_t done;
} control;

typedef struct worker {
  kl_ledger* ledger;
  control* shared;
  operation what;
} worker;

static void fail(const char* what) {
  fprintf(stderr, "ledger_bench: %s\n", what);
  exit(1);
}

static void once(kl_ledger* l, operation what, int64_t now) {
  kl_limits limits;
  int64_t wait = 0;
  kl_status status = KL_OK;
  switch (what) {
    case ALLOCATE:
      status = kl_reserve(l, 0, 4096);
      if (status == KL_OK) status = kl_commit(l, 0, 4096, 4096);
      if (status == KL_OK) status = kl_release(l, 0, 4096);
      break;
    case REFUSED:
      status = kl_reserve(l, 0, KL_BYTES_MAX) == KL_E_LIMIT ? KL_OK : KL_E_CORRUPT;
      break;
    case LIMITS:
      status = kl_get_limits(l, 0, &limits);
      break;
    default:
      status = kl_core_take(l, 0, 10, 0, now, &wait);
  }
  if (status != KL_OK) fail(kl_status_text(status));
}

static void* work(void* argument) {
  const worker* w = argument;
  uint64_t done = 0;
  atomic_fetch_add(&w->shared->ready, 1);
  while (atomic_load(&w->shared->go) == 0) usleep(100);
  while (atomic_load_explicit(&w->shared->stop, memory_order_relaxed) == 0) {
    for (int i = 0; i < BATCH; ++i) once(w->ledger, w->what, (int64_t)(done + (uint64_t)i) * 1000);
    done += BATCH;
  }
  atomic_fetch_add(&w->shared->done, done);
  return NULL;
}

static void run_threads(const worker* w, int threads) {
  pthread_t ids[MOST];
  for (int i = 0; i < threads; ++i)
    if (pthread_create(&ids[i], NULL, work, (void*)(uintptr_t)w) != 0) fail("pthread_create");
  for (int i = 0; i < threads; ++i) pthread_join(ids[i], NULL);
}

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static double cpu_seconds_of_children(void) {
  struct rusage used;
  getrusage(RUSAGE_CHILDREN, &used);
  return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
         (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) * 1e-6;
}

/* Operations per second of so many processes with so many threads each, and what one of them takes of a CPU. */
static double measure(operation what, int processes, int threads, double length, double* cpu_ns) {
  kl_device_spec card;
  kl_create_options options = KL_CREATE_OPTIONS_INIT;
  kl_ledger* ledger = NULL;
  pid_t pids[MOST];
  memset(&card, 0, sizeof card);
  strcpy(card.uuid, "GPU-0");
  card.limits = (kl_limits){UINT64_C(1) << 40, 500, 0, 0, 0};
  options.slots = MOST;
  if (kl_create_private(&card, 1, &options, &ledger, NULL) != KL_OK) fail("no ledger");
  control* shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) fail("mmap");
  const worker w = {ledger, shared, what};
  for (int i = 0; i < processes; ++i) {
    pids[i] = fork();
    if (pids[i] != 0) continue;
    if (kl_attach(ledger) != KL_OK) _Exit(1);
    run_threads(&w, threads);
    _Exit(0);
  }
  while (atomic_load(&shared->ready) < processes * threads) usleep(1000);
  const double start = seconds(), cpu_before = cpu_seconds_of_children();
  atomic_store(&shared->go, 1);
  usleep((useconds_t)(length * 1e6));
  atomic_store(&shared->stop, 1);
  const double took = seconds() - start;
  for (int i = 0; i < processes; ++i) {
    int status = 0;
    if (waitpid(pids[i], &status, 0) != pids[i] || status != 0) fail("a process failed");
  }
  const double rate = (double)atomic_load(&shared->done) / took;
  *cpu_ns = (cpu_seconds_of_children() - cpu_before) * 1e9 / (double)atomic_load(&shared->done);
  munmap(shared, sizeof *shared);
  kl_close(ledger);
  return rate;
}

int main(int argc, char** argv) {
  const double length = argc > 1 ? atof(argv[1]) : 1.0;
  if (argc > 2 || length <= 0) {
    fprintf(stderr, "usage: ledger_bench [SECONDS PER ROW]\n");
    return 2;
  }
  printf("%-26s %9s %8s %14s %14s\n", "operation", "processes", "threads", "per second", "CPU ns each");
  for (int what = 0; what < OPERATIONS; ++what)
    for (int mode = 0; mode < 2; ++mode)
      for (int count = mode == 0 ? 1 : 2; count <= MOST; count *= 2) {
        if (what != ALLOCATE && count != 1 && count != MOST) continue;
        const int processes = mode == 0 ? count : 1, threads = mode == 0 ? 1 : count;
        double cpu_ns = 0;
        const double rate = measure((operation)what, processes, threads, length, &cpu_ns);
        printf("%-26s %9d %8d %14.0f %14.1f\n", names[what], processes, threads, rate, cpu_ns);
        fflush(stdout);
      }
  return 0;
}
