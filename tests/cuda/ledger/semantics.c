/* What each function promises, one process alone. */
#include <fcntl.h>
#include <limits.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "internal.h"

static const uint64_t SIZE = 1000;

static kl_ledger* open_one(uint64_t memory_bytes, uint32_t core_permille) {
  const kl_device_spec card = card_of("GPU-a", memory_bytes, core_permille);
  kl_ledger* l = NULL;
  IS(kl_create_private(&card, 1, NULL, &l, NULL), KL_OK);
  IS(kl_attach(l), KL_OK);
  return l;
}

static void memory(void) {
  check_context = "memory";
  kl_ledger* l = open_one(SIZE, 1000);
  IS(kl_reserve(l, 0, SIZE + 1), KL_E_LIMIT);
  CHECK(state_of(l, 0).refused == 1);
  IS(kl_reserve(l, 0, SIZE), KL_OK);
  CHECK(state_of(l, 0).reserved_bytes == SIZE && state_of(l, 0).free_bytes == 0);
  IS(kl_reserve(l, 0, 1), KL_E_LIMIT);
  IS(kl_commit(l, 0, SIZE, 800), KL_OK);
  CHECK(state_of(l, 0).held_bytes == 800 && state_of(l, 0).reserved_bytes == 0);
  IS(kl_commit(l, 0, 1, 1), KL_E_ARGUMENT); /* nothing is reserved */
  IS(kl_cancel(l, 0, 1), KL_E_ARGUMENT);
  IS(kl_release(l, 0, 801), KL_E_ARGUMENT);
  IS(kl_settle(l, 0, 800, 1001), KL_E_LIMIT);
  CHECK(state_of(l, 0).held_bytes == 800);
  IS(kl_settle(l, 0, 800, 900), KL_OK);
  IS(kl_reserve(l, 0, 50), KL_OK);
  IS(kl_release(l, 0, 901), KL_E_ARGUMENT); /* what is reserved is not in use */
  IS(kl_commit(l, 0, 50, 101), KL_E_LIMIT);
  CHECK(state_of(l, 0).reserved_bytes == 50); /* as before */
  IS(kl_commit(l, 0, 50, 100), KL_OK);
  IS(kl_charge(l, 0, 500), KL_OK);
  CHECK(state_of(l, 0).overrun_bytes == 500 && state_of(l, 0).free_bytes == 0);
  IS(kl_reserve(l, 0, 1), KL_E_LIMIT);
  IS(kl_release(l, 0, 1500), KL_OK);
  CHECK(state_of(l, 0).held_bytes == 0 && state_of(l, 0).peak_bytes == 1500);
  IS(kl_reserve(l, 0, 0), KL_OK);
  IS(kl_release(l, 0, 0), KL_OK);
  IS(kl_reserve(l, 1, 1), KL_E_ARGUMENT);
  IS(kl_reserve(NULL, 0, 1), KL_E_ARGUMENT);
  IS(kl_reserve(l, 0, KL_BYTES_MAX + 1), KL_E_ARGUMENT);
  IS(kl_import(l, 0, 700), KL_OK); /* costs nothing, and is never given back */
  IS(kl_import(l, 0, 0), KL_OK);
  CHECK(state_of(l, 0).imports == 2 && state_of(l, 0).imported_bytes == 700 && state_of(l, 0).held_bytes == 0);
  IS(kl_import(l, 1, 1), KL_E_ARGUMENT);
  IS(kl_import(l, 0, KL_BYTES_MAX + 1), KL_E_ARGUMENT);
  IS(kl_detach(l), KL_OK);
  CHECK(state_of(l, 0).imports == 2 && state_of(l, 0).imported_bytes == 700);
  IS(kl_import(l, 0, 1), KL_E_DETACHED);
  IS(kl_reserve(l, 0, 1), KL_E_DETACHED);
  IS(kl_release(l, 0, 1), KL_E_DETACHED);
  kl_close(l);

  l = open_one(KL_NO_LIMIT, 1000);
  CHECK(state_of(l, 0).free_bytes == UINT64_C(1) << 34);
  IS(kl_reserve(l, 0, KL_BYTES_MAX), KL_OK);
  IS(kl_reserve(l, 0, 1), KL_E_LIMIT);
  kl_close(l);
  l = open_one(0, 1000);
  IS(kl_reserve(l, 0, 1), KL_E_LIMIT);
  kl_close(l);
}

static void limits_change(void) {
  check_context = "limits";
  kl_ledger* l = open_one(SIZE, 1000);
  IS(kl_reserve(l, 0, 600), KL_OK);
  kl_limits limits = {500, 300, 200, -7, KL_FLAG_OPEN}, seen;
  IS(kl_set_limits(l, 0, &limits), KL_OK);
  IS(kl_get_limits(l, 0, &seen), KL_OK);
  CHECK(memcmp(&seen, &limits, sizeof seen) == 0);
  CHECK(state_of(l, 0).overrun_bytes == 100 && state_of(l, 0).changes == 1);
  IS(kl_reserve(l, 0, 1), KL_E_LIMIT);
  IS(kl_cancel(l, 0, 200), KL_OK);
  IS(kl_reserve(l, 0, 100), KL_OK);
  limits.memory_bytes = 2000;
  IS(kl_set_limits(l, 0, &limits), KL_OK);
  IS(kl_reserve(l, 0, 1500), KL_OK);
  limits.core_permille = 1001;
  IS(kl_set_limits(l, 0, &limits), KL_E_ARGUMENT);
  limits.core_permille = 1;
  limits.core_weight = 1001;
  IS(kl_set_limits(l, 0, &limits), KL_E_ARGUMENT);
  limits.core_weight = 0;
  limits.flags = 2;
  IS(kl_set_limits(l, 0, &limits), KL_E_ARGUMENT);
  limits.flags = 0;
  limits.memory_bytes = KL_BYTES_MAX + 1;
  IS(kl_set_limits(l, 0, &limits), KL_E_ARGUMENT);
  kl_close(l);
}

/* Ten milliseconds of GPU time at a quarter of the card are forty; what waits is what the share has taken before. */
static void compute(void) {
  check_context = "compute";
  const int64_t ms = 1000000;
  int64_t now = 1000 * ms, wait = -1;
  kl_ledger* l = open_one(SIZE, 250);
  IS(kl_core_take(l, 0, 10 * ms, 0, now, &wait), KL_OK);
  CHECK(wait == 0);
  IS(kl_core_take(l, 0, 10 * ms, 0, now, &wait), KL_OK);
  CHECK(wait == 40 * ms);
  now += 60 * ms;
  IS(kl_core_take(l, 0, 10 * ms, 0, now, &wait), KL_OK);
  CHECK(wait == 20 * ms);
  IS(kl_core_settle(l, 0, 10 * ms, 15 * ms), KL_OK); /* it took longer: 20 ms more to wait for the next */
  now += 20 * ms;
  IS(kl_core_take(l, 0, ms, 0, now, &wait), KL_OK);
  CHECK(wait == 60 * ms);
  CHECK(state_of(l, 0).busy_ns == 15 * 1000000 && state_of(l, 0).launches == 4);
  CHECK(state_of(l, 0).waited_ns == 120 * 1000000);
  now += 1000 * ms;
  for (int i = 0; i < 3;
       ++i) { /* idle time counts up to the burst: two launches of 10 ms wall at once, then the debt */
    IS(kl_core_take(l, 0, 5 * ms / 2, 20 * ms, now, &wait), KL_OK);
    CHECK(wait == 0);
  }
  IS(kl_core_take(l, 0, 5 * ms / 2, 20 * ms, now, &wait), KL_OK);
  CHECK(wait == 10 * ms);
  for (int i = 0; i < 40; ++i) IS(kl_core_take(l, 0, 1000 * ms, 0, now, &wait), KL_OK);
  CHECK(wait == KL_CORE_HORIZON_NS);
  atomic_store(&usage_device(l, 0)->next_free, INT64_MAX); /* damaged */
  IS(kl_core_take(l, 0, ms, 0, now, &wait), KL_OK);
  CHECK(wait <= KL_CORE_HORIZON_NS);
  IS(kl_core_settle(l, 0, 0, INT64_MAX), KL_OK);

  kl_limits limits = {SIZE, 0, 0, 0, 0};
  IS(kl_set_limits(l, 0, &limits), KL_OK);
  IS(kl_core_take(l, 0, ms, 0, now, &wait), KL_E_PAUSED);
  limits.flags = KL_FLAG_OPEN;
  IS(kl_set_limits(l, 0, &limits), KL_OK);
  IS(kl_core_take(l, 0, ms, 0, now, &wait), KL_OK);
  CHECK(wait == 0);
  limits.flags = 0;
  limits.core_permille = KL_WHOLE_CARD;
  IS(kl_set_limits(l, 0, &limits), KL_OK);
  IS(kl_core_take(l, 0, 1000 * ms, 0, now, &wait), KL_OK);
  CHECK(wait == 0);
  IS(kl_core_take(l, 0, -1, 0, now, &wait), KL_E_ARGUMENT);
  IS(kl_core_take(l, 0, 1, 0, now, NULL), KL_E_ARGUMENT);
  kl_slot_state slot;
  slot.struct_size = sizeof slot;
  IS(kl_slot_get(l, 0, &slot), KL_OK);
  CHECK(slot.active_ns == now && slot.pid == getpid() && slot.devices[0].busy_ns > 0);
  IS(kl_core_active(l, 77), KL_OK);
  IS(kl_slot_get(l, 0, &slot), KL_OK);
  CHECK(slot.active_ns == 77);
  kl_close(l);
}

static void slots(void) {
  check_context = "slots";
  const kl_device_spec card = card_of("GPU-a", SIZE, 1000);
  kl_create_options options = KL_CREATE_OPTIONS_INIT;
  options.slots = 2;
  kl_ledger *first = NULL, *more[2] = {NULL, NULL};
  kl_slot_state state;
  state.struct_size = sizeof state;
  uint32_t slot = 9;
  IS(kl_create_private(&card, 1, &options, &first, NULL), KL_OK);
  int limits = memfd_create("limits", MFD_CLOEXEC);
  CHECK(write(limits, first->limits, first->limits_bytes) == (ssize_t)first->limits_bytes);
  for (int i = 0; i < 2; ++i) IS(kl_open_fds(limits, first->fd, KL_TENANT, &more[i], NULL), KL_OK);
  close(limits);
  IS(kl_own_slot(first, &slot), KL_E_DETACHED);
  IS(kl_attach(first), KL_OK);
  IS(kl_attach(first), KL_OK);
  IS(kl_own_slot(first, &slot), KL_OK);
  CHECK(slot == 0);
  IS(kl_attach(more[0]), KL_OK);
  IS(kl_attach(more[1]), KL_E_FULL);
  IS(kl_reserve(first, 0, 300), KL_OK);
  IS(kl_detach(first), KL_OK);
  CHECK(state_of(more[0], 0).held_bytes == 0);
  IS(kl_slot_get(more[0], 0, &state), KL_E_NOT_FOUND);
  IS(kl_slot_get(more[0], 2, &state), KL_E_ARGUMENT);
  IS(kl_attach(more[1]), KL_OK);
  IS(kl_slot_get(more[0], 0, &state), KL_OK);
  CHECK(state.devices[0].held_bytes == 0);
  IS(kl_set_limits(more[0], 0, &card.limits), KL_E_READ_ONLY);
  kl_close(more[0]);
  kl_close(more[1]);
  kl_close(first);
  kl_close(NULL);
}

/* Who was taken for dead is told so, and goes on with a slot of its own, while others can have the one it lost. */
static void taken_for_dead(void) {
  check_context = "taken for dead";
  kl_ledger* l = open_one(SIZE, 1000);
  IS(kl_reserve(l, 0, 300), KL_OK);
  IS(kl_bury(l, 0, l->owner), KL_OK);
  CHECK(state_of(l, 0).held_bytes == 0);
  IS(kl_reserve(l, 0, 1), KL_E_DETACHED);
  const pid_t pid = fork_child();
  if (pid == 0) { /* the lock of the lost slot is still held */
    IS(kl_attach(l), KL_OK);
    uint32_t slot = 9;
    IS(kl_own_slot(l, &slot), KL_OK);
    CHECK(slot == 1);
    _Exit(0);
  }
  int status = 0;
  CHECK(waitpid(pid, &status, 0) == pid && status == 0);
  IS(kl_attach(l), KL_OK);
  IS(kl_charge(l, 0, 300), KL_OK);
  CHECK(state_of(l, 0).held_bytes == 300);
  IS(kl_audit(l, false, NULL), KL_OK);
  kl_close(l);
}

static void wrong(const kl_device_spec* cards, uint32_t count, const kl_create_options* options, const char* says) {
  kl_error error;
  kl_ledger* l = NULL;
  IS(kl_create_private(cards, count, options, &l, &error), KL_E_ARGUMENT);
  CHECK(l == NULL && strstr(error.message, says) != NULL);
}

static void bad_arguments(void) {
  check_context = "arguments";
  kl_device_spec cards[2] = {card_of("GPU-a", SIZE, 1000), card_of("GPU-a", SIZE, 1000)};
  kl_create_options options = KL_CREATE_OPTIONS_INIT;
  wrong(NULL, 1, NULL, "cards");
  wrong(cards, 0, NULL, "cards");
  wrong(cards, KL_DEVICES_MAX + 1, NULL, "cards");
  wrong(cards, 2, NULL, "device 1: uuid GPU-a is that of device 0");
  memset(cards[1].uuid, 'x', sizeof cards[1].uuid);
  wrong(cards, 2, NULL, "device 1: uuid");
  cards[0].limits.core_permille = 1001;
  wrong(cards, 1, NULL, "device 0: core_permille 1001");
  cards[0].limits.core_permille = 1;
  options.slots = KL_SLOTS_MAX + 1;
  wrong(cards, 1, &options, "slots");
  options.slots = 0;
  memset(options.name, 'x', sizeof options.name);
  wrong(cards, 1, &options, "name");
  options.struct_size = 4;
  wrong(cards, 1, &options, "struct_size");
}

static void files(const char* work) {
  check_context = "files";
  char folder[512], limits[600], usage[600];
  mkdir(work, 0755);
  snprintf(folder, sizeof folder, "%s/files", work);
  snprintf(limits, sizeof limits, "%s/limits", folder);
  snprintf(usage, sizeof usage, "%s/usage", folder);
  unlink(limits);
  unlink(usage);
  rmdir(folder);
  const kl_device_spec cards[2] = {card_of("GPU-a", SIZE, 500), card_of("GPU-b", KL_NO_LIMIT, 1000)};
  kl_create_options options = KL_CREATE_OPTIONS_INIT;
  kl_ledger *owner = NULL, *tenant = NULL, *reader = NULL;
  kl_error error;
  uint32_t device = 9;
  struct stat about;
  snprintf(options.name, sizeof options.name, "team/train-0");
  IS(kl_open(folder, KL_TENANT, &tenant, &error), KL_E_NOT_FOUND);
  CHECK(strstr(error.message, folder) != NULL);
  IS(kl_create(folder, cards, 2, &options, &error), KL_OK);
  IS(kl_create(folder, cards, 2, &options, &error), KL_E_EXISTS);
  CHECK(stat(limits, &about) == 0 && (about.st_mode & 0777) == 0644);
  CHECK(stat(usage, &about) == 0 && (about.st_mode & 0777) == 0660);
  IS(kl_open(folder, KL_OWNER, &owner, &error), KL_OK);
  IS(kl_open(folder, KL_TENANT, &tenant, &error), KL_OK);
  IS(kl_open(folder, KL_READ, &reader, &error), KL_OK);
  CHECK(strcmp(kl_name(reader), "team/train-0") == 0 && kl_device_count(reader) == 2);
  CHECK(kl_slot_count(reader) == KL_SLOTS_DEFAULT);
  IS(kl_find_device(reader, "GPU-b", &device), KL_OK);
  CHECK(device == 1);
  IS(kl_find_device(reader, "GPU-c", &device), KL_E_NOT_FOUND);
  IS(kl_attach(reader), KL_E_READ_ONLY);
  IS(kl_reap(reader, NULL), KL_E_READ_ONLY);
  IS(kl_attach(tenant), KL_OK);
  IS(kl_reserve(tenant, 1, 123), KL_OK);
  CHECK(state_of(reader, 1).held_bytes == 123);
  CHECK(strcmp(state_of(reader, 1).uuid, "GPU-b") == 0);
  kl_close(tenant);
  CHECK(state_of(reader, 1).held_bytes == 0);

  /* Files that are not what they should be. */
  const int fd = open(usage, O_RDWR | O_CLOEXEC);
  kl_header header, other;
  CHECK(pread(fd, &header, sizeof header, 0) == (ssize_t)sizeof header);
  const struct {
    size_t offset, size;
    kl_status status;
    const char* says;
  } damages[] = {{offsetof(kl_header, magic), 8, KL_E_LAYOUT, "usage: magic"},
                 {offsetof(kl_header, layout), 4, KL_E_LAYOUT, "usage: layout"},
                 {offsetof(kl_header, header_bytes), 4, KL_E_LAYOUT, "usage: header_bytes"},
                 {offsetof(kl_header, devices), 4, KL_E_CORRUPT, "usage: check"},
                 {offsetof(kl_header, name), 4, KL_E_CORRUPT, "usage: check"},
                 {offsetof(kl_header, check), 8, KL_E_CORRUPT, "usage: check"}};
  for (size_t i = 0; i < sizeof damages / sizeof *damages; ++i) {
    other = header;
    memset((char*)&other + damages[i].offset, 0x5a, damages[i].size);
    CHECK(pwrite(fd, &other, sizeof other, 0) == (ssize_t)sizeof other);
    IS(kl_open(folder, KL_TENANT, &tenant, &error), damages[i].status);
    CHECK(tenant == NULL && strstr(error.message, damages[i].says) != NULL);
  }
  CHECK(pwrite(fd, &header, sizeof header, 0) == (ssize_t)sizeof header);
  kl_close(owner);
  kl_close(reader);
  CHECK(ftruncate(fd, 5000) == 0);
  IS(kl_open(folder, KL_TENANT, &tenant, &error), KL_E_CORRUPT);
  CHECK(ftruncate(fd, 5) == 0);
  IS(kl_open(folder, KL_TENANT, &tenant, &error), KL_E_LAYOUT);
  close(fd);
  unlink(usage);
  IS(kl_open(folder, KL_TENANT, &tenant, &error), KL_E_NOT_FOUND);
  CHECK(strstr(error.message, "usage") != NULL);
}

static void texts(void) {
  for (kl_status status = KL_E_EXISTS; status <= KL_OK; ++status) CHECK(strncmp(kl_status_text(status), "KL_", 3) == 0);
  CHECK(strcmp(kl_status_text(1), "unknown status") == 0);
}

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  memory();
  limits_change();
  compute();
  slots();
  taken_for_dead();
  bad_arguments();
  files(argv[1]);
  texts();
  printf("good\n");
  return 0;
}
