/* Processes that die or stop at every step of every operation, and what the others see. */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "internal.h"

enum { LIMIT = 1000, OURS = 100 };

static int wanted_step, wanted_count, signal_to_raise;

static void die_at(int step) {
  if (step == wanted_step && --wanted_count == 0) raise(signal_to_raise);
}

static const char* const step_names[] = {
#define NAME(name) #name,
    KL_STEPS(NAME)
#undef NAME
};

// ---- what a process does when it dies
// --------------------------------------------------------------------------------

static void attach(kl_ledger* l) { kl_attach(l); }
static void reserve(kl_ledger* l) { kl_reserve(l, 0, 50); }
static void reserve_too_much(kl_ledger* l) { kl_reserve(l, 0, LIMIT); }
static void commit(kl_ledger* l) { kl_commit(l, 0, 30, 30); }
static void commit_less(kl_ledger* l) { kl_commit(l, 0, 30, 20); }
static void commit_more(kl_ledger* l) { kl_commit(l, 0, 30, 45); }
static void cancel(kl_ledger* l) { kl_cancel(l, 0, 30); }
static void settle_up(kl_ledger* l) { kl_settle(l, 0, 40, 60); }
static void settle_down(kl_ledger* l) { kl_settle(l, 0, 40, 5); }
static void release(kl_ledger* l) { kl_release(l, 1, 40); }
static void charge(kl_ledger* l) { kl_charge(l, 1, 70); }
static void detach(kl_ledger* l) { kl_detach(l); }
static void take(kl_ledger* l) {
  int64_t wait = 0;
  kl_core_take(l, 0, 1000, 0, 1000000, &wait);
  kl_core_settle(l, 0, 1000, 1200);
}
static void limit(kl_ledger* l) {
  const kl_limits other = {LIMIT, 250, 100, -3, 0};
  kl_set_limits(l, 0, &other);
}
static void reap(kl_ledger* l) {
  uint32_t reaped = 0;
  kl_reap(l, &reaped);
}

static const struct {
  const char* name;
  void (*act)(kl_ledger*);
} acts[] = {{"attach", attach},
            {"reserve", reserve},
            {"reserve_too_much", reserve_too_much},
            {"commit", commit},
            {"commit_less", commit_less},
            {"commit_more", commit_more},
            {"cancel", cancel},
            {"settle_up", settle_up},
            {"settle_down", settle_down},
            {"release", release},
            {"charge", charge},
            {"detach", detach},
            {"take", take},
            {"limit", limit}};
enum { ACTS = sizeof acts / sizeof *acts };

/* A child attaches, holds something on both cards, and acts; the signal comes at the step. Returns its pid. */
static pid_t start(kl_ledger* l, void (*act)(kl_ledger*), int step, int count, int number) {
  const pid_t pid = fork_child();
  if (pid != 0) return pid;
  signal_to_raise = number;
  wanted_step = step;
  wanted_count = count;
  if (act != attach && act != reap) {
    IS(kl_attach(l), KL_OK);
    IS(kl_reserve(l, 0, 70), KL_OK);
    IS(kl_commit(l, 0, 40, 40), KL_OK);
    IS(kl_reserve(l, 1, 40), KL_OK);
    IS(kl_commit(l, 1, 40, 40), KL_OK);
  }
  kl_step_hook = die_at;
  act(l);
  kl_step_hook = NULL;
  _Exit(0);
}

/* True if it was killed; anything else but leaving in peace is a failed check. */
static bool was_killed(pid_t pid) {
  int status = 0;
  CHECK(waitpid(pid, &status, 0) == pid);
  if (WIFEXITED(status)) CHECK(WEXITSTATUS(status) == 0);
  return WIFSIGNALED(status);
}

/* Whoever died, the living go on, all comes back, and nobody lost a byte. */
static void check_after(kl_ledger* l) {
  kl_error error;
  CHECK(state_of(l, 0).held_bytes <= LIMIT);
  IS(kl_audit(l, false, &error), KL_OK);
  IS(kl_reserve(l, 0, 7), KL_OK);
  IS(kl_cancel(l, 0, 7), KL_OK);
  IS(kl_reap(l, NULL), KL_OK);
  IS(kl_audit(l, false, &error), KL_OK);
  CHECK(state_of(l, 0).held_bytes == OURS);
  CHECK(state_of(l, 1).held_bytes == OURS);
  uint32_t used = 0;
  for (uint32_t slot = 0; slot < kl_slot_count(l); ++slot) {
    kl_slot_state state;
    state.struct_size = sizeof state;
    used += kl_slot_get(l, slot, &state) == KL_OK;
  }
  CHECK(used == 1);
}

static kl_ledger* open_ledger(void) {
  const kl_device_spec cards[2] = {card_of("GPU-a", LIMIT, 500), card_of("GPU-b", LIMIT, 500)};
  kl_create_options options = KL_CREATE_OPTIONS_INIT;
  kl_ledger* l = NULL;
  options.slots = 4;
  IS(kl_create_private(cards, 2, &options, &l, NULL), KL_OK);
  IS(kl_attach(l), KL_OK);
  for (uint32_t device = 0; device < 2; ++device) {
    IS(kl_reserve(l, device, OURS), KL_OK);
    IS(kl_commit(l, device, OURS, OURS), KL_OK);
  }
  return l;
}

static void each_step_of_each_act(kl_ledger* l) {
  static char text[128];
  int killed = 0;
  bool reached[KL_STEP_COUNT] = {false};
  check_context = text;
  for (int act = 0; act < ACTS; ++act)
    for (int step = 0; step < KL_STEP_COUNT; ++step)
      for (int count = 1; count <= 2; ++count) {
        snprintf(text, sizeof text, "%s dies at %s, time %d", acts[act].name, step_names[step], count);
        if (!was_killed(start(l, acts[act].act, step, count, SIGKILL))) break;
        ++killed;
        reached[step] = true;
        check_after(l);
      }
  check_context = "each step";
  for (int step = 0; step < KL_STEP_COUNT; ++step)
    if (!reached[step]) {
      printf("nobody died at %s\n", step_names[step]);
      CHECK(step >= KL_STEP_BURY_TAG && step <= KL_STEP_BURY_FREED);
    }
  printf("%d deaths in an operation\n", killed);
}

/* The first dies at a step, the second while it gives back what the first held. */
static void each_step_of_reaping(kl_ledger* l) {
  static char text[160];
  static void (*const first[])(kl_ledger*) = {reserve, release, commit_more, settle_down, attach};
  int killed = 0;
  check_context = text;
  for (size_t act = 0; act < sizeof first / sizeof *first; ++act)
    for (int step = 0; step < KL_STEP_BURY_TAG; ++step)
      for (int second = KL_STEP_BURY_TAG; second <= KL_STEP_BURY_FREED; ++second)
        for (int count = 1; count <= 2; ++count) {
          snprintf(text, sizeof text, "act %zu dies at %s, the reaper at %s, time %d", act, step_names[step],
                   step_names[second], count);
          if (!was_killed(start(l, first[act], step, 1, SIGKILL))) break;
          if (!was_killed(start(l, reap, second, count, SIGKILL))) {
            check_after(l);
            break;
          }
          ++killed;
          check_after(l);
        }
  CHECK(killed > 300);
  printf("%d deaths in reaping\n", killed);
}

/* Who is stopped holds nobody up, and goes on as if nothing had been. */
static void each_step_stopped(kl_ledger* l) {
  static char text[128];
  int stopped = 0;
  check_context = text;
  for (int act = 0; act < ACTS; ++act)
    for (int step = 0; step < KL_STEP_COUNT; ++step) {
      int status = 0;
      uint32_t reaped = 9;
      snprintf(text, sizeof text, "%s stops at %s", acts[act].name, step_names[step]);
      const pid_t pid = start(l, acts[act].act, step, 1, SIGSTOP);
      CHECK(waitpid(pid, &status, WUNTRACED) == pid);
      if (!WIFSTOPPED(status)) continue;
      ++stopped;
      struct timespec before, after;
      clock_gettime(CLOCK_MONOTONIC, &before);
      IS(kl_reserve(l, 0, 9), KL_OK);
      IS(kl_commit(l, 0, 9, 4), KL_OK);
      IS(kl_release(l, 0, 4), KL_OK);
      IS(kl_reserve(l, 0, LIMIT), KL_E_LIMIT);
      IS(kl_reap(l, &reaped), KL_OK);
      CHECK(reaped == 0);
      IS(kl_audit(l, false, NULL), KL_OK);
      clock_gettime(CLOCK_MONOTONIC, &after);
      CHECK(after.tv_sec - before.tv_sec < 20); /* a hang would be for ever, a loaded machine is not */
      CHECK(kill(pid, SIGCONT) == 0);
      CHECK(!was_killed(pid));
      check_after(l);
    }
  CHECK(stopped > 60);
  printf("%d stops\n", stopped);
}

// ---- whom the ledger takes for whom
// ----------------------------------------------------------------------------------

static void* hold_still(void* ready) {
  CHECK(write(*(int*)ready, "x", 1) == 1);
  pause();
  return NULL;
}

/* To /proc and kill a process is a zombie when its first thread has ended, though the others work. */
static void first_thread_ends(kl_ledger* l) {
  static int ends[2]; /* the stack of a thread that has ended is nobody's */
  char byte = 0;
  check_context = "first thread ends";
  CHECK(pipe(ends) == 0);
  const pid_t pid = fork_child();
  if (pid == 0) {
    pthread_t thread;
    IS(kl_attach(l), KL_OK);
    IS(kl_reserve(l, 0, 50), KL_OK);
    CHECK(pthread_create(&thread, NULL, hold_still, &ends[1]) == 0);
    pthread_exit(NULL);
  }
  close(ends[1]);
  CHECK(read(ends[0], &byte, 1) == 1);
  usleep(20000);
  uint32_t reaped = 9;
  IS(kl_reap(l, &reaped), KL_OK);
  CHECK(reaped == 0);
  CHECK(state_of(l, 0).held_bytes == OURS + 50);
  CHECK(kill(pid, SIGKILL) == 0);
  CHECK(was_killed(pid));
  close(ends[0]);
  check_after(l);
}

/* Nobody has asked for its exit status yet. */
static void zombie_is_dead(kl_ledger* l) {
  siginfo_t ended;
  check_context = "zombie";
  const pid_t pid = start(l, reserve, KL_STEP_CHANGE_DONE, 1, SIGKILL);
  CHECK(waitid(P_PID, (id_t)pid, &ended, WEXITED | WNOWAIT) == 0);
  uint32_t reaped = 0;
  IS(kl_reap(l, &reaped), KL_OK);
  CHECK(reaped == 1);
  CHECK(was_killed(pid));
  check_after(l);
}

/* The pid of a dead process is that of another one by now, which has the ledger mapped as well. */
static void pid_is_used_again(kl_ledger* l) {
  check_context = "pid used again";
  const pid_t other = fork_child();
  if (other == 0) {
    pause();
    _Exit(0);
  }
  CHECK(was_killed(start(l, reserve, KL_STEP_CHANGE_DONE, 1, SIGKILL)));
  for (uint32_t slot = 1; slot < kl_slot_count(l); ++slot) {
    const uint64_t owner = atomic_load(&slot_at(l, slot)->owner), earlier = (kl_start_ticks(other) - 1) & UINT32_MAX;
    if ((owner & KL_PID_MASK) == 0) continue;
    atomic_store(&slot_at(l, slot)->owner, (uint64_t)other | (owner & (KL_CLAIM_MASK << KL_PID_BITS)) | earlier << 32);
  }
  uint32_t reaped = 0;
  IS(kl_reap(l, &reaped), KL_OK);
  CHECK(reaped == 1);
  CHECK(kill(other, SIGKILL) == 0);
  CHECK(was_killed(other));
  check_after(l);
}

/* Who would be refused takes back what the dead hold first. */
static void refused_reaps(kl_ledger* l) {
  check_context = "refused reaps";
  CHECK(was_killed(start(l, commit_more, KL_STEP_CHANGE_DONE, 1, SIGKILL)));
  CHECK(state_of(l, 0).held_bytes > OURS);
  IS(kl_reserve(l, 0, LIMIT - OURS), KL_OK);
  IS(kl_cancel(l, 0, LIMIT - OURS), KL_OK);
  check_after(l);
}

/* Forked in the middle of a change: the handle's mutex is locked in the child, and nobody there will unlock it. */
static kl_ledger* forked_ledger;
static void fork_here(int step) {
  if (step != KL_STEP_CHANGE_MADE) return;
  kl_step_hook = NULL;
  const pid_t pid = fork_child();
  if (pid == 0) {
    alarm(20);
    IS(kl_attach(forked_ledger), KL_OK);
    IS(kl_reserve(forked_ledger, 0, 20), KL_OK);
    _Exit(0);
  }
  CHECK(!was_killed(pid));
}
static void fork_in_a_change(kl_ledger* l) {
  check_context = "fork in a change";
  forked_ledger = l;
  kl_step_hook = fork_here;
  IS(kl_reserve(l, 0, 10), KL_OK);
  kl_step_hook = NULL;
  IS(kl_cancel(l, 0, 10), KL_OK);
  check_after(l);
}

/* A child of fork holds nothing until it attaches, whatever its parent's threads were doing. */
static void* use(void* ledger) {
  for (int i = 0; i < 3000; ++i)
    if (kl_reserve(ledger, 0, 3) == KL_OK) IS(kl_cancel(ledger, 0, 3), KL_OK);
  return NULL;
}
static void fork_among_threads(kl_ledger* l) {
  pthread_t threads[2];
  check_context = "fork among threads";
  for (int i = 0; i < 2; ++i) CHECK(pthread_create(&threads[i], NULL, use, l) == 0);
  for (int i = 0; i < 30; ++i) {
    const pid_t pid = fork_child();
    if (pid == 0) {
      uint32_t slot = 0;
      IS(kl_own_slot(l, &slot), KL_E_FORKED);
      IS(kl_reserve(l, 0, 1), KL_E_FORKED);
      IS(kl_release(l, 0, 1), KL_E_FORKED);
      IS(kl_attach(l), KL_OK);
      IS(kl_release(l, 0, 1), KL_E_ARGUMENT);
      IS(kl_reserve(l, 0, 20), KL_OK);
      if (i % 2 == 0) kl_close(l);
      _Exit(0);
    }
    CHECK(!was_killed(pid));
  }
  for (int i = 0; i < 2; ++i) pthread_join(threads[i], NULL);
  check_after(l);
}

static const char* program;

/* exec leaves the pid and its start time; what the earlier program held is gone all the same. */
static void exec_is_an_end(const char* folder) {
  check_context = "exec";
  const kl_device_spec card = card_of("GPU-a", LIMIT, KL_WHOLE_CARD);
  kl_ledger* l = NULL;
  IS(kl_create(folder, &card, 1, NULL, NULL), KL_OK);
  IS(kl_open(folder, KL_OWNER, &l, NULL), KL_OK);
  for (int attaches = 0; attaches < 2; ++attaches) {
    int ends[2];
    char byte = 0, number[16];
    CHECK(pipe(ends) == 0);
    const pid_t pid = fork_child();
    if (pid == 0) {
      kl_ledger* own = NULL;
      IS(kl_open(folder, KL_TENANT, &own, NULL), KL_OK);
      IS(kl_attach(own), KL_OK);
      IS(kl_reserve(own, 0, 300), KL_OK);
      snprintf(number, sizeof number, "%d", ends[1]);
      execl(program, program, attaches ? "attaches" : "waits", number, folder, (char*)NULL);
      _Exit(4);
    }
    close(ends[1]);
    CHECK(read(ends[0], &byte, 1) == 1);
    close(ends[0]);
    uint32_t reaped = 9;
    IS(kl_reap(l, &reaped), KL_OK);
    CHECK(reaped == (attaches ? 0 : 1)); /* who attaches has seen to itself */
    CHECK(state_of(l, 0).held_bytes == (attaches ? 5 : 0));
    CHECK(kill(pid, SIGKILL) == 0);
    CHECK(was_killed(pid));
    IS(kl_reap(l, &reaped), KL_OK);
    CHECK(state_of(l, 0).held_bytes == 0);
  }
  kl_close(l);
}

static int after_exec(char** argv) {
  kl_ledger* l = NULL;
  if (strcmp(argv[1], "attaches") == 0) {
    IS(kl_open(argv[3], KL_TENANT, &l, NULL), KL_OK);
    IS(kl_attach(l), KL_OK);
    IS(kl_reserve(l, 0, 5), KL_OK);
  }
  CHECK(write(atoi(argv[2]), "x", 1) == 1);
  pause();
  return 0;
}

/* A process of another pid namespace is known by its lock, and told which pid it has here. */
static void other_namespace(kl_ledger* l) {
  int ends[2];
  char byte = 0;
  check_context = "another pid namespace";
  CHECK(pipe(ends) == 0);
  const pid_t outer = fork_child();
  if (outer == 0) {
    if (unshare(CLONE_NEWPID) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWPID) != 0) _Exit(9);
    const pid_t inner = fork_child();
    if (inner == 0) {
      CHECK(getpid() == 1);
      IS(kl_attach(l), KL_OK);
      IS(kl_reserve(l, 0, 50), KL_OK);
      CHECK(write(ends[1], "x", 1) == 1);
      pause();
    }
    waitpid(inner, NULL, 0);
    _Exit(0);
  }
  close(ends[1]);
  if (read(ends[0], &byte, 1) != 1) {
    printf("another pid namespace: not permitted here\n");
    waitpid(outer, NULL, 0);
    return;
  }
  uint32_t reaped = 9;
  kl_slot_state state;
  state.struct_size = sizeof state;
  IS(kl_reap(l, &reaped), KL_OK);
  CHECK(reaped == 0);
  IS(kl_slot_get(l, 1, &state), KL_OK);
  CHECK(state.host_pid > 0);
  CHECK(state.host_pid != state.pid);
  CHECK(kill(state.host_pid, SIGKILL) == 0);
  waitpid(outer, NULL, 0);
  IS(kl_reap(l, &reaped), KL_OK);
  CHECK(reaped == 1);
  check_after(l);

  /* The slot still says where that one was, while the next owner has only just taken it. */
  int status = 0;
  const pid_t next = start(l, attach, KL_STEP_CLAIM_OWNED, 1, SIGSTOP);
  CHECK(waitpid(next, &status, WUNTRACED) == next && WIFSTOPPED(status));
  IS(kl_reap(l, &reaped), KL_OK);
  CHECK(reaped == 0);
  CHECK(kill(next, SIGCONT) == 0);
  CHECK(!was_killed(next));
  check_after(l);
}

int main(int argc, char** argv) {
  program = argv[0];
  if (argc == 4) return after_exec(argv);
  if (argc != 2) return 2;
  kl_ledger* l = open_ledger();
  each_step_of_each_act(l);
  each_step_of_reaping(l);
  other_namespace(l);
  each_step_stopped(l);
  first_thread_ends(l);
  zombie_is_dead(l);
  pid_is_used_again(l);
  refused_reaps(l);
  fork_in_a_change(l);
  fork_among_threads(l);
  kl_close(l);

  char folder[512], path[600];
  mkdir(argv[1], 0755);
  snprintf(folder, sizeof folder, "%s/exec", argv[1]);
  snprintf(path, sizeof path, "%s/limits", folder);
  unlink(path);
  snprintf(path, sizeof path, "%s/usage", folder);
  unlink(path);
  rmdir(folder);
  exec_is_an_end(folder);
  printf("good\n");
  return 0;
}
