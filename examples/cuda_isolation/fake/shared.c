#include "shared.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define MAGIC UINT64_C(0x6b61695f66616b33)

struct fake_shared* fake_machine;
static struct fake_process* self;
static __thread struct fake_participant* participant;

static uint64_t real_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Start time and state of a process; false when there is none. Its name may hold anything, so the last ')' ends it. */
static bool process_start(int pid, uint64_t* start) {
  char path[64], text[1024], state;
  snprintf(path, sizeof path, "/proc/%d/stat", pid);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  ssize_t length = read(fd, text, sizeof text - 1);
  close(fd);
  if (length <= 0) return false;
  text[length] = '\0';
  const char* after = strrchr(text, ')');
  unsigned long long value = 0;
  if (after == NULL ||
      sscanf(after + 1, " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu", &state,
             &value) != 2) {
    return false;
  }
  *start = value;
  return state != 'Z' && state != 'X';
}

static bool alive(int pid, uint64_t start) {
  uint64_t found = 0;
  return process_start(pid, &found) && (start == 0 || found == start);
}

static bool parse_device(const char* text, size_t length, struct fake_device* device, uint32_t index) {
  char copy[128];
  if (length == 0 || length >= sizeof copy) return false;
  memcpy(copy, text, length);
  copy[length] = '\0';
  char* end = NULL;
  errno = 0;
  uint64_t memory = strtoull(copy, &end, 10);
  if (end == copy || errno != 0 || memory == 0) return false;
  unsigned shift = *end == 'k' ? 10 : *end == 'm' ? 20 : *end == 'g' ? 30 : 0;
  if (shift != 0) end++;
  device->total = memory << shift;
  device->sms = 100;
  snprintf(device->uuid, sizeof device->uuid, "GPU-00000000-0000-0000-0000-%012u", index);
  if (*end == ':') {
    device->sms = (uint32_t)strtoul(end + 1, &end, 10);
    if (device->sms == 0) return false;
    if (*end == ':') {
      if (strlen(end + 1) >= sizeof device->uuid) return false;
      snprintf(device->uuid, sizeof device->uuid, "%s", end + 1);
      end += strlen(end);
    }
  }
  return *end == '\0';
}

static bool set_up(struct fake_shared* machine) {
  const char* text = getenv("KAISCHED_FAKE_DEVICES");
  if (text == NULL || *text == '\0') text = "16g";
  while (*text != '\0') {
    size_t length = strcspn(text, ";");
    if (machine->devices == FAKE_MAX_DEVICES ||
        !parse_device(text, length, &machine->device[machine->devices], machine->devices)) {
      fprintf(stderr, "fake libcuda: KAISCHED_FAKE_DEVICES: bad device \"%.*s\"\n", (int)length, text);
      return false;
    }
    machine->devices++;
    text += length;
    if (*text == ';') text++;
  }
  const char* expected = getenv("KAISCHED_FAKE_PARTICIPANTS");
  machine->expected = expected == NULL ? 0 : (uint32_t)strtoul(expected, NULL, 10);
  machine->epoch = real_now();
  pthread_mutexattr_t mutex;
  pthread_mutexattr_init(&mutex);
  pthread_mutexattr_setpshared(&mutex, PTHREAD_PROCESS_SHARED);
  pthread_mutexattr_setrobust(&mutex, PTHREAD_MUTEX_ROBUST);
  pthread_mutex_init(&machine->lock, &mutex);
  pthread_mutexattr_destroy(&mutex);
  pthread_condattr_t condition;
  pthread_condattr_init(&condition);
  pthread_condattr_setpshared(&condition, PTHREAD_PROCESS_SHARED);
  pthread_condattr_setclock(&condition, CLOCK_MONOTONIC);
  pthread_cond_init(&machine->turn, &condition);
  pthread_condattr_destroy(&condition);
  machine->magic = MAGIC;
  return true;
}

bool fake_open(void) {
  if (fake_machine != NULL) return true;
  const char* path = getenv("KAISCHED_FAKE_STATE");
  int fd = path == NULL || *path == '\0' ? -1 : open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (path != NULL && *path != '\0' && fd < 0) {
    fprintf(stderr, "fake libcuda: KAISCHED_FAKE_STATE: %s: %s\n", path, strerror(errno));
    return false;
  }
  struct stat status = {0};
  if (fd >= 0 && (flock(fd, LOCK_EX) != 0 || fstat(fd, &status) != 0 ||
                  (status.st_size == 0 && ftruncate(fd, (off_t)sizeof(struct fake_shared)) != 0))) {
    close(fd);
    return false;
  }
  struct fake_shared* machine =
      mmap(NULL, sizeof *machine, PROT_READ | PROT_WRITE, fd >= 0 ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS, fd, 0);
  bool ok = machine != MAP_FAILED && (machine->magic == MAGIC || set_up(machine));
  if (fd >= 0) {
    flock(fd, LOCK_UN); /* closing does not: the mapping keeps the file open */
    close(fd);
  }
  if (!ok) return false;
  fake_machine = machine;
  return true;
}

static void after_death(int outcome) {
  if (outcome == EOWNERDEAD) pthread_mutex_consistent(&fake_machine->lock);
}

void fake_lock(void) { after_death(pthread_mutex_lock(&fake_machine->lock)); }
void fake_unlock(void) { pthread_mutex_unlock(&fake_machine->lock); }

static void give_back(struct fake_process* process) {
  for (uint32_t d = 0; d < fake_machine->devices; d++) {
    fake_machine->device[d].used -= process->used[d];
    fake_machine->tenant[process->tenant].used[d] -= process->used[d];
  }
  memset(process, 0, sizeof *process);
}

void fake_reap(void) {
  for (uint32_t i = 0; i < FAKE_MAX_PROCESSES; i++) {
    struct fake_process* process = &fake_machine->process[i];
    if (process->pid != 0 && process != self && !alive(process->pid, process->start)) give_back(process);
  }
}

static void leave_process(void) {
  if (fake_machine == NULL || self == NULL || self->pid != getpid()) return;
  fake_lock();
  give_back(self);
  self = NULL;
  fake_unlock();
}

struct fake_process* fake_self(void) {
  if (self != NULL) return self;
  fake_reap();
  for (uint32_t i = 0; i < FAKE_MAX_PROCESSES; i++) { /* of an earlier image: exec ends what the driver did for it */
    if (fake_machine->process[i].pid == getpid()) give_back(&fake_machine->process[i]);
  }
  for (uint32_t i = 0; i < FAKE_MAX_PROCESSES && self == NULL; i++) {
    if (fake_machine->process[i].pid == 0) self = &fake_machine->process[i];
  }
  if (self == NULL) {
    fprintf(stderr, "fake libcuda: more than %d processes\n", FAKE_MAX_PROCESSES);
    abort();
  }
  const char* tenant = getenv("KAISCHED_FAKE_TENANT");
  self->pid = getpid();
  self->tenant = tenant == NULL ? 0 : (int32_t)(strtoul(tenant, NULL, 10) % FAKE_MAX_TENANTS);
  process_start(self->pid, &self->start);
  atexit(leave_process);
  return self;
}

bool fake_charge(int device, uint64_t bytes) {
  fake_lock();
  struct fake_process* process = fake_self();
  struct fake_device* card = &fake_machine->device[device];
  if (bytes > card->total - card->used) fake_reap();
  bool ok = bytes <= card->total - card->used;
  if (ok) {
    struct fake_tenant* tenant = &fake_machine->tenant[process->tenant];
    card->used += bytes;
    process->used[device] += bytes;
    tenant->used[device] += bytes;
    if (tenant->used[device] > tenant->peak[device]) tenant->peak[device] = tenant->used[device];
  }
  fake_unlock();
  return ok;
}

void fake_discharge(int device, uint64_t bytes) {
  fake_lock();
  struct fake_process* process = fake_self();
  fake_machine->device[device].used -= bytes;
  process->used[device] -= bytes;
  fake_machine->tenant[process->tenant].used[device] -= bytes;
  fake_unlock();
}

/* ---- time ---- */

static pthread_key_t leave_key;
static pthread_once_t leave_once = PTHREAD_ONCE_INIT;

static void leave_time(void* value) {
  struct fake_participant* mine = value;
  fake_lock();
  mine->pid = 0;
  pthread_cond_broadcast(&fake_machine->turn);
  fake_unlock();
}

static void leave_main_thread(void) {
  if (participant != NULL && participant->pid == getpid()) leave_time(participant);
}

static void make_key(void) {
  pthread_key_create(&leave_key, leave_time);
  atexit(leave_main_thread);
}

/* With the lock held: a thread is part of virtual time from its first look at the clock. */
static void join_time(void) {
  if (participant != NULL) return;
  pthread_once(&leave_once, make_key);
  for (uint32_t i = 0; i < FAKE_MAX_PARTICIPANTS && participant == NULL; i++) {
    if (fake_machine->participant[i].pid == 0) participant = &fake_machine->participant[i];
  }
  if (participant == NULL) abort();
  participant->pid = getpid();
  participant->now = 0;
  pthread_setspecific(leave_key, participant);
  fake_machine->arrived++;
  pthread_cond_broadcast(&fake_machine->turn);
}

/* With the lock held: waits until everybody is there and nobody is behind. Ties go to the lower slot. */
static void wait_for_turn(void) {
  for (;;) {
    bool mine = fake_machine->arrived >= fake_machine->expected;
    for (uint32_t i = 0; mine && i < FAKE_MAX_PARTICIPANTS; i++) {
      struct fake_participant* other = &fake_machine->participant[i];
      if (other == participant || other->pid == 0) continue;
      if (other->now < participant->now || (other->now == participant->now && other < participant)) mine = false;
    }
    if (mine) return;
    struct timespec limit;
    clock_gettime(CLOCK_MONOTONIC, &limit);
    limit.tv_sec += 1;
    int outcome = pthread_cond_timedwait(&fake_machine->turn, &fake_machine->lock, &limit);
    after_death(outcome);
    if (outcome != ETIMEDOUT) continue;
    for (uint32_t i = 0; i < FAKE_MAX_PARTICIPANTS; i++) {
      struct fake_participant* other = &fake_machine->participant[i];
      if (other->pid != 0 && !alive(other->pid, 0)) other->pid = 0;
    }
  }
}

static void advance_to(uint64_t when) {
  if (when > participant->now) {
    participant->now = when;
    pthread_cond_broadcast(&fake_machine->turn);
  }
  wait_for_turn();
}

uint64_t fake_now(void) {
  if (fake_machine->expected == 0) return real_now() - fake_machine->epoch;
  fake_lock();
  join_time();
  uint64_t now = participant->now;
  fake_unlock();
  return now;
}

void fake_sleep_until(uint64_t when) {
  if (fake_machine->expected == 0) {
    uint64_t until = when + fake_machine->epoch;
    struct timespec request = {(time_t)(until / 1000000000u), (long)(until % 1000000000u)};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &request, NULL) == EINTR) {
    }
    return;
  }
  fake_lock();
  join_time();
  advance_to(when);
  fake_unlock();
}

void fake_step(uint64_t host_ns) {
  if (fake_machine->expected == 0) return;
  fake_lock();
  join_time();
  advance_to(participant->now + host_ns);
  fake_unlock();
}

static void book(struct fake_process* process, int device, uint64_t from, uint64_t to) {
  process->busy[device] += to - from;
  fake_machine->tenant[process->tenant].busy[device] += to - from;
  while (from < to) {
    uint64_t window = from / FAKE_WINDOW_NS;
    uint64_t end = (window + 1) * FAKE_WINDOW_NS < to ? (window + 1) * FAKE_WINDOW_NS : to;
    uint64_t slot = window % FAKE_WINDOWS;
    if (process->window_of[device][slot] != window) {
      process->window_of[device][slot] = window;
      process->window[device][slot] = 0;
    }
    process->window[device][slot] += end - from;
    from = end;
  }
}

uint64_t fake_run(int device, uint64_t not_before, uint64_t length) {
  fake_lock();
  struct fake_process* process = fake_self();
  struct fake_device* card = &fake_machine->device[device];
  uint64_t start = card->busy_until > not_before ? card->busy_until : not_before;
  card->busy_until = start + length;
  process->launches++;
  book(process, device, start, start + length);
  fake_unlock();
  return start + length;
}

/* Of the last whole second, as far as there was one. */
uint64_t fake_busy_percent(const struct fake_process* process, int device, uint64_t now) {
  uint64_t current = now / FAKE_WINDOW_NS, windows = current < 10 ? current : 10, busy = 0;
  if (windows == 0) return 0;
  for (uint64_t window = current - windows; window < current; window++) {
    if (process->window_of[device][window % FAKE_WINDOWS] == window)
      busy += process->window[device][window % FAKE_WINDOWS];
  }
  return busy * 100 / (windows * FAKE_WINDOW_NS);
}
