/* Which processes live: pids with start times, and record locks. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "internal.h"

uint64_t kl_start_ticks(pid_t pid) {
  char path[32], text[1024];
  snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  const ssize_t size = read(fd, text, sizeof text - 1);
  close(fd);
  if (size <= 0) return 0;
  text[size] = '\0';
  const char* at = strrchr(text, ')'); /* a command may have spaces and parentheses */
  for (int field = 2; at != NULL && field < 22; ++field) at = strchr(at + 1, ' ');
  return at == NULL ? 0 : strtoull(at + 1, NULL, 10);
}

/* The kernel gives each program that is started 16 random bytes, from which libc makes its canaries: so mix them beyond
 * recovery. */
static uint64_t image(void) {
  uint64_t words[2] = {0, 0};
  const void* random = (const void*)getauxval(AT_RANDOM);
  if (random != NULL) memcpy(words, random, sizeof words);
  uint64_t mixed = (words[0] ^ (words[0] >> 31)) * UINT64_C(0xbf58476d1ce4e5b9);
  mixed ^= (words[1] ^ (words[1] >> 27)) * UINT64_C(0x94d049bb133111eb);
  return (mixed ^ (mixed >> 29)) & UINT32_MAX;
}

kl_process kl_self(void) {
  struct stat about;
  kl_process self = {getpid(), 0, image(), 0};
  self.start = kl_start_ticks(self.pid);
  if (stat("/proc/self/ns/pid", &about) == 0) self.namespace = about.st_ino;
  return self;
}

bool kl_pid_alive(pid_t pid, uint64_t start) {
#ifdef SYS_pidfd_open
  /* A process whose first thread has ended is a zombie to /proc and kill while the others run; a pidfd knows. */
  const int fd = (int)syscall(SYS_pidfd_open, pid, 0);
  if (fd >= 0) {
    struct pollfd ended = {fd, POLLIN, 0};
    const int ready = poll(&ended, 1, 0);
    close(fd);
    if (ready > 0) return false;
  } else if (errno == ESRCH) {
    return false;
  }
#endif
  if (kill(pid, 0) != 0 && errno == ESRCH) return false;
  const uint64_t now = kl_start_ticks(pid);
  return now == 0 || start == 0 || (now & UINT32_MAX) == (start & UINT32_MAX);
}

int kl_maps_file(pid_t pid, dev_t device, ino_t inode) {
  char path[32], *line = NULL;
  size_t room = 0;
  snprintf(path, sizeof path, "/proc/%d/maps", (int)pid);
  FILE* file = fopen(path, "re");
  if (file == NULL) return -1;
  int found = 0, lines = 0;
  while (found == 0 && getline(&line, &room, file) > 0) {
    unsigned int major = 0, minor = 0;
    uintmax_t number = 0;
    ++lines;
    if (sscanf(line, "%*s %*s %*s %x:%x %ju", &major, &minor, &number) == 3)
      found = number == inode && makedev(major, minor) == device;
  }
  free(line);
  fclose(file);
  return found != 0 ? 1 : lines > 0 ? 0 : -1;
}

/* Somebody may have closed our descriptor and opened something else. */
static bool own_descriptor(const kl_ledger* l) {
  struct stat about;
  return fstat(l->fd, &about) == 0 && about.st_dev == l->device && about.st_ino == l->inode;
}

static struct flock byte_of(uint32_t slot, short type) {
  struct flock lock;
  memset(&lock, 0, sizeof lock);
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = (off_t)slot;
  lock.l_len = 1;
  return lock;
}

pid_t kl_locker(const kl_ledger* l, uint32_t slot) {
  struct flock lock = byte_of(slot, F_WRLCK);
  if (!own_descriptor(l) || fcntl(l->fd, F_GETLK, &lock) != 0) return -2;
  return lock.l_type == F_UNLCK ? -1 : lock.l_pid;
}

bool kl_lock_byte(const kl_ledger* l, uint32_t slot, bool lock) {
  struct flock byte = byte_of(slot, lock ? F_WRLCK : F_UNLCK);
  return own_descriptor(l) && fcntl(l->fd, F_SETLK, &byte) == 0;
}
