/* The two files: made complete, opened only if they are what they should be. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "internal.h"

#define DEFAULT_MODE 0660

kl_status kl_fail(kl_error* error, kl_status status, const char* format, ...) {
  if (error == NULL) return status;
  va_list arguments;
  va_start(arguments, format);
  error->status = status;
  vsnprintf(error->message, sizeof error->message, format, arguments);
  va_end(arguments);
  return status;
}

static kl_status good(kl_error* error) {
  if (error != NULL) memset(error, 0, sizeof *error);
  return KL_OK;
}

static kl_status system_error(kl_error* error, const char* call, const char* what) {
  const int number = errno;
  const kl_status status = number == ENOENT ? KL_E_NOT_FOUND : number == EEXIST ? KL_E_EXISTS : KL_E_SYSTEM;
  return kl_fail(error, status, "%s: %s: %s", what, call, strerror(number));
}

/* FNV-1a */
static uint64_t check_of(const kl_header* header) {
  uint64_t hash = UINT64_C(0xcbf29ce484222325);
  const unsigned char* bytes = (const void*)header;
  for (size_t i = 0; i < offsetof(kl_header, check); ++i) hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
  return hash;
}

static void read_boot_id(uint8_t id[16]) {
  char text[64] = {0};
  memset(id, 0, 16);
  const int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return;
  const ssize_t size = read(fd, text, sizeof text - 1);
  close(fd);
  unsigned int digit = 0, digits = 0;
  for (ssize_t i = 0; i < size && digits < 32; ++i)
    if (sscanf((const char[]){text[i], '\0'}, "%1x", &digit) == 1) {
      id[digits / 2] = (uint8_t)((unsigned int)id[digits / 2] << 4 | digit);
      ++digits;
    }
}

static size_t limits_size(uint32_t devices) { return sizeof(kl_header) + devices * sizeof(kl_limits_device); }
static size_t slot_size(uint32_t devices) { return sizeof(kl_slot) + devices * sizeof(kl_record); }
static size_t usage_size(uint32_t devices, uint32_t slots) {
  return sizeof(kl_header) + devices * sizeof(kl_usage_device) + slots * slot_size(devices);
}

// ---- making
// -----------------------------------------------------------------------------------------------------------

static kl_status check_limits(const kl_limits* limits, kl_error* error, uint32_t device) {
  if (limits->memory_bytes != KL_NO_LIMIT && limits->memory_bytes > KL_BYTES_MAX)
    return kl_fail(error, KL_E_ARGUMENT, "device %u: memory_bytes is above KL_BYTES_MAX", device);
  if (limits->core_permille > KL_WHOLE_CARD)
    return kl_fail(error, KL_E_ARGUMENT, "device %u: core_permille %u is above 1000", device, limits->core_permille);
  if (limits->core_weight > KL_WHOLE_CARD)
    return kl_fail(error, KL_E_ARGUMENT, "device %u: core_weight %u is above 1000", device, limits->core_weight);
  if ((limits->flags & ~(uint32_t)KL_FLAG_OPEN) != 0)
    return kl_fail(error, KL_E_ARGUMENT, "device %u: flags 0x%x has unknown bits", device, limits->flags);
  return KL_OK;
}

static kl_status check_uuid(const char* uuid) {
  const char* end = memchr(uuid, '\0', KL_UUID_SIZE);
  if (end == NULL || end == uuid) return KL_E_ARGUMENT;
  for (const char* c = uuid; c != end; ++c)
    if (*c <= ' ' || *c > '~') return KL_E_ARGUMENT;
  return KL_OK;
}

static kl_status check_specs(const kl_device_spec* devices, uint32_t count, const kl_create_options* options,
                             kl_error* error) {
  if (devices == NULL || count == 0 || count > KL_DEVICES_MAX)
    return kl_fail(error, KL_E_ARGUMENT, "a ledger has 1 to %d cards, not %u", KL_DEVICES_MAX, count);
  if (options->struct_size < sizeof *options) return kl_fail(error, KL_E_ARGUMENT, "options: struct_size is too small");
  if (options->slots > KL_SLOTS_MAX)
    return kl_fail(error, KL_E_ARGUMENT, "options: %u slots are above %d", options->slots, KL_SLOTS_MAX);
  if (memchr(options->name, '\0', sizeof options->name) == NULL)
    return kl_fail(error, KL_E_ARGUMENT, "options: name has no end");
  for (uint32_t i = 0; i < count; ++i) {
    if (check_uuid(devices[i].uuid) != KL_OK) return kl_fail(error, KL_E_ARGUMENT, "device %u: uuid is not one", i);
    for (uint32_t k = 0; k < i; ++k)
      if (strcmp(devices[i].uuid, devices[k].uuid) == 0)
        return kl_fail(error, KL_E_ARGUMENT, "device %u: uuid %s is that of device %u", i, devices[i].uuid, k);
    const kl_status status = check_limits(&devices[i].limits, error, i);
    if (status != KL_OK) return status;
  }
  return KL_OK;
}

static void store_limits(kl_limits_device* to, const kl_limits* limits) {
  atomic_store(&to->memory_bytes, limits->memory_bytes);
  KL_STEP(LIMITS_MEMORY);
  atomic_store(&to->cores, limits->core_permille | (uint64_t)limits->core_weight << 32);
  KL_STEP(LIMITS_CORES);
  atomic_store(&to->priority, (uint32_t)limits->priority | (uint64_t)limits->flags << 32);
  KL_STEP(LIMITS_ALL);
}

static kl_status write_all(int fd, const void* bytes, size_t size) {
  const char* at = bytes;
  while (size > 0) {
    const ssize_t written = write(fd, at, size);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return KL_E_SYSTEM;
    at += written;
    size -= (size_t)written;
  }
  return KL_OK;
}

/* Both files, into descriptors that are empty. */
static kl_status fill(int limits_fd, int usage_fd, const kl_device_spec* devices, uint32_t count,
                      const kl_create_options* options, kl_error* error) {
  kl_header header;
  memset(&header, 0, sizeof header);
  header.layout = KL_LAYOUT;
  header.header_bytes = sizeof header;
  header.devices = count;
  header.slots = options->slots == 0 ? KL_SLOTS_DEFAULT : options->slots;
  read_boot_id(header.boot_id);
  if (getrandom(header.ledger_id, sizeof header.ledger_id, 0) != sizeof header.ledger_id)
    return system_error(error, "getrandom", "ledger_id");
  memcpy(header.name, options->name, sizeof header.name);

  header.magic = KL_MAGIC_LIMITS;
  header.file_bytes = limits_size(count);
  header.device_bytes = sizeof(kl_limits_device);
  header.check = check_of(&header);
  if (write_all(limits_fd, &header, sizeof header) != KL_OK) return system_error(error, "write", "limits");
  for (uint32_t i = 0; i < count; ++i) {
    kl_limits_device device;
    memset(&device, 0, sizeof device);
    memcpy(device.uuid, devices[i].uuid, strlen(devices[i].uuid));
    device.total_bytes = devices[i].total_bytes;
    store_limits(&device, &devices[i].limits);
    if (write_all(limits_fd, &device, sizeof device) != KL_OK) return system_error(error, "write", "limits");
  }

  header.magic = KL_MAGIC_USAGE;
  header.file_bytes = usage_size(count, header.slots);
  header.device_bytes = sizeof(kl_usage_device);
  header.slot_bytes = (uint32_t)slot_size(count);
  header.check = check_of(&header);
  if (write_all(usage_fd, &header, sizeof header) != KL_OK) return system_error(error, "write", "usage");
  if (ftruncate(usage_fd, (off_t)header.file_bytes) != 0) return system_error(error, "ftruncate", "usage");
  return KL_OK;
}

static kl_status make_file(int folder, const char* name, mode_t mode, int64_t group, int* fd, kl_error* error) {
  *fd = openat(folder, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (*fd < 0) return system_error(error, "open", name);
  if (group >= 0 && fchown(*fd, (uid_t)-1, (gid_t)group) != 0) return system_error(error, "fchown", name);
  if (fchmod(*fd, mode) != 0) return system_error(error, "fchmod", name);
  return KL_OK;
}

static kl_status create_in(const char* folder, const kl_device_spec* devices, uint32_t count,
                           const kl_create_options* options, kl_error* error) {
  int limits = -1, usage = -1;
  const int directory = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  kl_status status = directory < 0 ? system_error(error, "open", folder) : KL_OK;
  if (status == KL_OK) status = make_file(directory, "limits", 0644, options->group, &limits, error);
  if (status == KL_OK)
    status = make_file(directory, "usage", options->usage_mode == 0 ? DEFAULT_MODE : options->usage_mode & 0777,
                       options->group, &usage, error);
  if (status == KL_OK) status = fill(limits, usage, devices, count, options, error);
  if (status != KL_OK && directory >= 0) {
    unlinkat(directory, "limits", 0);
    unlinkat(directory, "usage", 0);
  }
  if (limits >= 0) close(limits);
  if (usage >= 0) close(usage);
  if (directory >= 0) close(directory);
  return status;
}

kl_status kl_create(const char* folder, const kl_device_spec* devices, uint32_t count, const kl_create_options* options,
                    kl_error* error) {
  const kl_create_options defaults = KL_CREATE_OPTIONS_INIT;
  char made[4096];
  if (options == NULL) options = &defaults;
  if (folder == NULL) return kl_fail(error, KL_E_ARGUMENT, "folder is NULL");
  kl_status status = check_specs(devices, count, options, error);
  if (status != KL_OK) return status;
  const int size = snprintf(made, sizeof made, "%s.new-XXXXXX", folder);
  if (size < 0 || (size_t)size >= sizeof made) return kl_fail(error, KL_E_ARGUMENT, "folder: its name is too long");
  if (mkdtemp(made) == NULL) return system_error(error, "mkdtemp", made);
  status =
      chmod(made, 0755) != 0 ? system_error(error, "chmod", made) : create_in(made, devices, count, options, error);
  if (status == KL_OK) {
    if (rename(made, folder) == 0) return good(error);
    if (errno == ENOTEMPTY || errno == ENOTDIR) errno = EEXIST;
    status = system_error(error, "rename", folder);
    char path[4200];
    snprintf(path, sizeof path, "%s/limits", made);
    unlink(path);
    snprintf(path, sizeof path, "%s/usage", made);
    unlink(path);
  }
  rmdir(made);
  return status;
}

kl_status kl_create_private(const kl_device_spec* devices, uint32_t count, const kl_create_options* options,
                            kl_ledger** ledger, kl_error* error) {
  const kl_create_options defaults = KL_CREATE_OPTIONS_INIT;
  if (ledger == NULL) return kl_fail(error, KL_E_ARGUMENT, "ledger is NULL");
  *ledger = NULL;
  if (options == NULL) options = &defaults;
  kl_status status = check_specs(devices, count, options, error);
  if (status != KL_OK) return status;
  const int limits = memfd_create("kaisched-limits", MFD_CLOEXEC), usage = memfd_create("kaisched-usage", MFD_CLOEXEC);
  status = limits < 0 || usage < 0 ? system_error(error, "memfd_create", "private ledger")
                                   : fill(limits, usage, devices, count, options, error);
  if (status == KL_OK) status = kl_open_fds(limits, usage, KL_OWNER, ledger, error);
  if (limits >= 0) close(limits);
  if (usage >= 0) close(usage);
  return status;
}

// ---- opening
// ----------------------------------------------------------------------------------------------------------

/* Whether the first bytes say what the file is, in all of their fields. */
static kl_status check_header(const kl_header* header, uint64_t magic, uint64_t file_bytes, const char* what,
                              kl_error* error) {
  const bool usage = magic == KL_MAGIC_USAGE;
  if (header->magic != magic) return kl_fail(error, KL_E_LAYOUT, "%s: magic is not that of a ledger", what);
  if (header->layout != KL_LAYOUT)
    return kl_fail(error, KL_E_LAYOUT, "%s: layout %u is not %d", what, header->layout, KL_LAYOUT);
  if (header->header_bytes != sizeof *header) return kl_fail(error, KL_E_LAYOUT, "%s: header_bytes is wrong", what);
  if (header->check != check_of(header)) return kl_fail(error, KL_E_CORRUPT, "%s: check does not fit the header", what);
  if (header->features != 0) return kl_fail(error, KL_E_LAYOUT, "%s: features has unknown bits", what);
  if (header->devices == 0 || header->devices > KL_DEVICES_MAX)
    return kl_fail(error, KL_E_CORRUPT, "%s: devices is %u", what, header->devices);
  if (header->slots == 0 || header->slots > KL_SLOTS_MAX)
    return kl_fail(error, KL_E_CORRUPT, "%s: slots is %u", what, header->slots);
  if (header->device_bytes != (usage ? sizeof(kl_usage_device) : sizeof(kl_limits_device)))
    return kl_fail(error, KL_E_CORRUPT, "%s: device_bytes is %u", what, header->device_bytes);
  if (header->slot_bytes != (usage ? slot_size(header->devices) : 0))
    return kl_fail(error, KL_E_CORRUPT, "%s: slot_bytes is %u", what, header->slot_bytes);
  const size_t size = usage ? usage_size(header->devices, header->slots) : limits_size(header->devices);
  if (header->file_bytes != size || file_bytes != size)
    return kl_fail(error, KL_E_CORRUPT, "%s: the file has %llu bytes, not %llu", what, (unsigned long long)file_bytes,
                   (unsigned long long)size);
  if (memchr(header->name, '\0', sizeof header->name) == NULL)
    return kl_fail(error, KL_E_CORRUPT, "%s: name has no end", what);
  return KL_OK;
}

static kl_status map_file(int fd, bool writes, uint64_t magic, const char* what, char** bytes, size_t* size,
                          kl_header* header, kl_error* error) {
  struct stat about;
  if (fstat(fd, &about) != 0) return system_error(error, "fstat", what);
  if (!S_ISREG(about.st_mode) || about.st_size < (off_t)sizeof(kl_header))
    return kl_fail(error, KL_E_LAYOUT, "%s: no ledger: too short", what);
  *size = (size_t)about.st_size;
  if (pread(fd, header, sizeof *header, 0) != (ssize_t)sizeof *header) return system_error(error, "pread", what);
  const kl_status status = check_header(header, magic, *size, what, error);
  if (status != KL_OK) return status;
  void* at = mmap(NULL, *size, writes ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED, fd, 0);
  if (at == MAP_FAILED) return system_error(error, "mmap", what);
  *bytes = at;
  return KL_OK;
}

static kl_status check_pair(const kl_header* limits, const kl_header* usage, kl_error* error) {
  static const uint8_t unknown[16] = {0};
  uint8_t boot[16];
  if (memcmp(limits->ledger_id, usage->ledger_id, sizeof limits->ledger_id) != 0 || limits->devices != usage->devices ||
      limits->slots != usage->slots || memcmp(limits->name, usage->name, sizeof limits->name) != 0)
    return kl_fail(error, KL_E_CORRUPT, "usage: ledger_id or sizes are not those of limits");
  read_boot_id(boot);
  if (memcmp(boot, unknown, 16) != 0 && memcmp(usage->boot_id, unknown, 16) != 0 &&
      memcmp(boot, usage->boot_id, 16) != 0)
    return kl_fail(error, KL_E_STALE, "usage: boot_id is that of an earlier start of the machine");
  return KL_OK;
}

static kl_status check_devices(kl_ledger* l, kl_error* error) {
  for (uint32_t i = 0; i < l->devices; ++i) {
    memcpy(l->uuids[i], limits_device(l, i)->uuid, KL_UUID_SIZE);
    if (check_uuid(l->uuids[i]) != KL_OK) return kl_fail(error, KL_E_CORRUPT, "limits: device %u: uuid is not one", i);
    kl_limits limits;
    const kl_status status = kl_get_limits(l, i, &limits);
    if (status != KL_OK) return kl_fail(error, status, "limits: device %u: a limit is out of range", i);
  }
  return KL_OK;
}

/* A page that a child of fork finds empty; where the kernel cannot do that, pids are compared. */
static kl_status make_attached(kl_ledger* l, kl_error* error) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  void* at = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) return system_error(error, "mmap", "attached");
  l->attached = at;
  l->cleared_by_kernel = madvise(at, page, MADV_WIPEONFORK) == 0;
  return KL_OK;
}

kl_status kl_open_fds(int limits_fd, int usage_fd, kl_access access, kl_ledger** ledger, kl_error* error) {
  if (ledger == NULL) return kl_fail(error, KL_E_ARGUMENT, "ledger is NULL");
  *ledger = NULL;
  if (access > KL_OWNER) return kl_fail(error, KL_E_ARGUMENT, "access %u is none", access);
  kl_header limits, usage;
  struct stat about;
  kl_ledger* l = calloc(1, sizeof *l);
  if (l == NULL) return kl_fail(error, KL_E_SYSTEM, "out of memory");
  l->access = access;
  if (access == KL_OWNER) kl_remember(l); /* others may fork, which leaves locks as they are */
  for (uint32_t i = 0; i < KL_DEVICES_MAX; ++i) pthread_mutex_init(&l->mutexes[i], NULL);
  l->fd = fcntl(usage_fd, F_DUPFD_CLOEXEC, 3);
  kl_status status = l->fd < 0 || fstat(l->fd, &about) != 0 ? system_error(error, "dup", "usage") : KL_OK;
  if (status == KL_OK) {
    l->device = about.st_dev;
    l->inode = about.st_ino;
  }
  if (status == KL_OK)
    status = map_file(limits_fd, access == KL_OWNER, KL_MAGIC_LIMITS, "limits", &l->limits, &l->limits_bytes, &limits,
                      error);
  if (status == KL_OK)
    status =
        map_file(usage_fd, access >= KL_TENANT, KL_MAGIC_USAGE, "usage", &l->usage, &l->usage_bytes, &usage, error);
  if (status == KL_OK) status = check_pair(&limits, &usage, error);
  if (status == KL_OK) status = make_attached(l, error);
  if (status == KL_OK) {
    l->devices = usage.devices;
    l->slots = usage.slots;
    l->slot_bytes = usage.slot_bytes;
    memcpy(l->name, usage.name, sizeof l->name);
    status = check_devices(l, error);
  }
  if (status != KL_OK) {
    kl_close(l);
    return status;
  }
  *ledger = l;
  return good(error);
}

kl_status kl_open(const char* folder, kl_access access, kl_ledger** ledger, kl_error* error) {
  if (ledger == NULL) return kl_fail(error, KL_E_ARGUMENT, "ledger is NULL");
  *ledger = NULL;
  if (folder == NULL) return kl_fail(error, KL_E_ARGUMENT, "folder is NULL");
  const int directory = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0) return system_error(error, "open", folder);
  const int limits = openat(directory, "limits", (access >= KL_OWNER ? O_RDWR : O_RDONLY) | O_CLOEXEC);
  kl_status status = limits < 0 ? system_error(error, "open", "limits") : KL_OK;
  const int usage = limits < 0 ? -1 : openat(directory, "usage", (access >= KL_TENANT ? O_RDWR : O_RDONLY) | O_CLOEXEC);
  if (status == KL_OK && usage < 0) status = system_error(error, "open", "usage");
  if (status == KL_OK) status = kl_open_fds(limits, usage, access, ledger, error);
  if (limits >= 0) close(limits);
  if (usage >= 0) close(usage); /* before anything is locked: closing takes all locks of the process back */
  close(directory);
  return status;
}

void kl_close(kl_ledger* l) {
  if (l == NULL) return;
  if (l->attached != NULL) {
    kl_detach(l);
    munmap((void*)l->attached, (size_t)sysconf(_SC_PAGESIZE));
  }
  if (l->access == KL_OWNER) kl_forget(l);
  if (l->limits != NULL) munmap(l->limits, l->limits_bytes);
  if (l->usage != NULL) munmap(l->usage, l->usage_bytes);
  struct stat about; /* only what is still ours */
  if (l->fd >= 0 && fstat(l->fd, &about) == 0 && about.st_dev == l->device && about.st_ino == l->inode) close(l->fd);
  free(l); /* plain mutexes own nothing, and in a child of fork may look locked */
}

kl_status kl_set_limits(kl_ledger* l, uint32_t device, const kl_limits* limits) {
  if (l == NULL || limits == NULL || device >= l->devices) return KL_E_ARGUMENT;
  if (l->access != KL_OWNER) return KL_E_READ_ONLY;
  const kl_status status = check_limits(limits, NULL, device);
  if (status != KL_OK) return status;
  store_limits(limits_device(l, device), limits);
  atomic_fetch_add(&limits_device(l, device)->changes, 1);
  return KL_OK;
}
