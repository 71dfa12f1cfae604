/* A process of a tenant may write its ledger, and so may make the file shorter: what others have mapped of it is gone,
 * and the next access a SIGBUS. Who keeps the ledgers of all tenants goes on with an empty page. */
#include <kaisched_ledger/ledger.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "internal.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; /* nothing that is mapped is looked at under it */
static kl_ledger* first;

void kl_remember(kl_ledger* l) {
  pthread_mutex_lock(&mutex);
  l->next = first;
  first = l;
  pthread_mutex_unlock(&mutex);
}

void kl_forget(const kl_ledger* l) {
  pthread_mutex_lock(&mutex);
  for (kl_ledger** at = &first; *at != NULL; at = &(*at)->next) {
    if (*at != l) continue;
    *at = l->next;
    break;
  }
  pthread_mutex_unlock(&mutex);
}

static bool is_within(const char* begin, size_t bytes, size_t page, uintptr_t address) {
  const size_t whole = (bytes + page - 1) / page * page;
  return begin != NULL && address >= (uintptr_t)begin && address - (uintptr_t)begin < whole;
}

static bool replace_page(uintptr_t address) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  bool found = false;
  pthread_mutex_lock(&mutex);
  for (kl_ledger* l = first; l != NULL && !found; l = l->next) {
    found = is_within(l->limits, l->limits_bytes, page, address) || is_within(l->usage, l->usage_bytes, page, address);
    if (found) atomic_store(&l->truncated, true);
  }
  pthread_mutex_unlock(&mutex);
  void* at = (void*)(address - address % page);  // NOLINT(performance-no-int-to-ptr): the kernel says the address
  return found && mmap(at, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == at;
}

static void on_bus_error(int number, siginfo_t* about, void* context) {
  (void)context;
  if (about->si_code > 0 && replace_page((uintptr_t)about->si_addr)) return;
  signal(number, SIG_DFL); /* the access is made again, and ends the process */
  if (about->si_code <= 0) raise(number);
}

kl_status kl_survive_truncation(void) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = on_bus_error;
  action.sa_flags = SA_SIGINFO;
  sigemptyset(&action.sa_mask);
  return sigaction(SIGBUS, &action, NULL) == 0 ? KL_OK : KL_E_SYSTEM;
}

bool kl_is_whole(const kl_ledger* l) {
  struct stat about;
  if (atomic_load(&l->truncated)) return false;
  return fstat(l->fd, &about) != 0 || about.st_size >= (off_t)l->usage_bytes;
}
