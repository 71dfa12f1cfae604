#ifndef KAISCHED_LEDGER_LEDGER_H
#define KAISCHED_LEDGER_LEDGER_H
/// @file
/// The ledger of one tenant: what the processes of a container hold on each of its cards, and how much they may. C11,
/// no CUDA in it. It lives in memory that those processes, a node agent and monitors share.
///
///     agent:   kl_create, kl_open(KL_OWNER), kl_set_limits, kl_reap, kl_device_state, kl_slot_state
///     process: kl_open(KL_TENANT), kl_attach, kl_reserve -> (driver call) -> kl_commit | kl_cancel, ..., kl_release
///
/// **Files.** A ledger is a folder with two files: `limits`, which only its owner writes and tenants map read-only, and
/// `usage`, which tenants write. Both have a magic, a layout number and sizes; whatever is read from them is checked,
/// so that damaged bytes are KL_E_CORRUPT and never a crash. (Somebody who may write a file can also truncate it under
/// those who have mapped it; that is a SIGBUS, which no library can prevent. Keep the folder to the tenant it belongs
/// to.)
///
/// **Admission is exact.** Memory is reserved before the driver is asked. Per card one word has the sum of all that is
/// reserved and in use; it grows by compare-and-swap if the sum stays within the limit, and not at all otherwise. So
/// with any number of threads and processes the sum never passes the limit, and nothing is refused that would have
/// fitted. Only kl_charge, for memory that is already gone, may pass it, and an owner who lowers the limit.
///
/// **Crashes.** No operation takes a lock that others wait for; SIGKILL or SIGSTOP at any instruction stops nobody.
/// Each change is announced in the process's slot before it is made, and the word names the slot and the number of the
/// change made last, so that whoever comes later knows of every change whether it was made. What a dead process held
/// goes back when somebody reaps: the owner by kl_reap, others when they are refused or find no free slot. A process is
/// known by its pid and start time, its namespace, and a record lock that the kernel takes back when it dies.
///
/// **fork, exec.** A forked child holds nothing: its calls return KL_E_FORKED until it calls kl_attach. What the parent
/// has stays the parent's. A program started by exec is another process to the ledger, though its pid is the same;
/// what the earlier image held goes back. vfork and posix_spawn children must not use the ledger before exec.
///
/// **Threads.** All functions on one handle may run concurrently, but for kl_close, which must be the last. Do not call
/// from signal handlers. A handle has a process-local mutex per card, held for the few stores of a change and never
/// across calls of others. One process should attach once to a ledger.
///
/// **Units.** Bytes; nanoseconds; permille of a card's compute, 1000 is the whole card. Cards are counted from 0 in the
/// order in which the tenant sees them, and known by UUID.
///
/// **Errors.** Functions return KL_OK or a kl_status. A failed call changes nothing, unless its comment says so.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Number of the layout of the files. Another one is refused.
#define KL_LAYOUT 1
#define KL_DEVICES_MAX 16
#define KL_SLOTS_MAX 1024
#define KL_SLOTS_DEFAULT 256
/// Room for a UUID with its final NUL, as the driver's tools print it: "GPU-8-4-4-4-12" or "MIG-...".
#define KL_UUID_SIZE 64
#define KL_NAME_SIZE 64
/// A memory limit that is none.
#define KL_NO_LIMIT UINT64_MAX
/// Most bytes a limit other than KL_NO_LIMIT and an amount may have.
#define KL_BYTES_MAX (UINT64_C(1) << 56)
/// The compute share of somebody who has the card to themselves: no throttling.
#define KL_WHOLE_CARD 1000
/// How far ahead compute time can be taken: no wait of kl_core_take is longer.
#define KL_CORE_HORIZON_NS INT64_C(2000000000)

typedef int32_t kl_status;
enum {
  KL_OK = 0,
  KL_E_ARGUMENT =
      -1,  ///< NULL, a card or slot that is not there, more bytes than KL_BYTES_MAX, release of more than is held
  KL_E_LIMIT = -2,       ///< would pass the memory limit: CUDA_ERROR_OUT_OF_MEMORY
  KL_E_FULL = -3,        ///< every slot belongs to a living process
  KL_E_FORKED = -4,      ///< the handle was attached before fork: call kl_attach
  KL_E_DETACHED = -5,    ///< kl_attach was not called, or somebody took this process for dead and gave its slot back
  KL_E_CORRUPT = -6,     ///< a field has a value that no operation leaves; the ledger must be made anew
  KL_E_LAYOUT = -7,      ///< no ledger, or one of another layout
  KL_E_STALE = -8,       ///< made before the machine started last: nobody in it lives
  KL_E_READ_ONLY = -9,   ///< the handle was opened for less
  KL_E_NOT_FOUND = -10,  ///< no such file, card or process
  KL_E_SYSTEM = -11,     ///< a system call failed; the message has its name and errno
  KL_E_PAUSED = -12,     ///< the compute share is 0: ask again in a while
  KL_E_EXISTS = -13      ///< there is a ledger of that name already
};

/// A text for a status, never NULL: "KL_E_LIMIT: ...".
const char* kl_status_text(kl_status status);

/// Where functions that open or check say what is wrong: the file and the field. May be NULL.
typedef struct kl_error {
  kl_status status;
  char message[252];
} kl_error;

typedef struct kl_ledger kl_ledger;

/// What the owner decides about a card. All of it may change while tenants run; they see it with their next call.
typedef struct kl_limits {
  uint64_t memory_bytes;   ///< most that may be reserved and used, or KL_NO_LIMIT; 0 allows nothing
  uint32_t core_permille;  ///< hard cap of compute; KL_WHOLE_CARD does not throttle, 0 pauses
  uint32_t core_weight;    ///< share under contention relative to others of the card; 0: the same as core_permille
  int32_t priority;        ///< larger goes first; for agents and enforcers, the ledger itself does not use it
  uint32_t flags;          ///< bits of KL_FLAG_
} kl_limits;

enum {
  KL_FLAG_OPEN = 1  ///< enforcers only account and report: nothing is refused or delayed but by the card itself
};

typedef struct kl_device_spec {
  char uuid[KL_UUID_SIZE];
  uint64_t total_bytes;  ///< memory of the card itself, or 0 where it is not known
  kl_limits limits;
} kl_device_spec;

typedef struct kl_create_options {
  uint32_t struct_size;     ///< sizeof(kl_create_options)
  uint32_t slots;           ///< most processes at a time; 0: KL_SLOTS_DEFAULT
  uint32_t usage_mode;      ///< permissions of the file `usage`; 0: 0660. `limits` has 0644
  int64_t group;            ///< group of both files, or -1 to leave it
  char name[KL_NAME_SIZE];  ///< for people: the tenant's name
} kl_create_options;

#define KL_CREATE_OPTIONS_INIT {sizeof(kl_create_options), 0, 0, -1, {0}}

// ---- making and opening ---------------------------------------------------------------------------------------------

/// Makes the folder with both files; it appears complete or not at all. KL_E_EXISTS if it is there. NULL options:
/// defaults.
kl_status kl_create(const char* folder, const kl_device_spec* devices, uint32_t count, const kl_create_options* options,
                    kl_error* error);

/// A ledger without files, open as KL_OWNER, for one process and the children it forks.
kl_status kl_create_private(const kl_device_spec* devices, uint32_t count, const kl_create_options* options,
                            kl_ledger** ledger, kl_error* error);

typedef uint32_t kl_access;
enum {
  KL_READ = 0,    ///< look only; never reaps
  KL_TENANT = 1,  ///< read `limits`, write `usage`
  KL_OWNER = 2    ///< write both
};

/// Opens a ledger and checks it. `*ledger` is NULL after an error.
kl_status kl_open(const char* folder, kl_access access, kl_ledger** ledger, kl_error* error);

/// The same for open files, which the call duplicates; for agents that hand descriptors to their tenants.
kl_status kl_open_fds(int limits_fd, int usage_fd, kl_access access, kl_ledger** ledger, kl_error* error);

/// Detaches, if this process is attached, and frees the handle. NULL is fine. A forked child may close the handle of
/// its parent, which does nothing to the parent.
void kl_close(kl_ledger* ledger);

/// Number of cards and of slots, and the name; they never change.
uint32_t kl_device_count(const kl_ledger* ledger);
uint32_t kl_slot_count(const kl_ledger* ledger);
const char* kl_name(const kl_ledger* ledger);

/// The card with this UUID: KL_E_NOT_FOUND if the ledger has none.
kl_status kl_find_device(const kl_ledger* ledger, const char* uuid, uint32_t* device);

// ---- a process of the tenant ----------------------------------------------------------------------------------------

/// Takes a slot for this process; KL_OK as well if it has one. What an earlier image of the same process held goes
/// back. With no slot free the dead are reaped first; KL_E_FULL if all live. Call it at the first use of CUDA, not
/// before.
kl_status kl_attach(kl_ledger* ledger);

/// Gives everything back that this process holds, and its slot.
kl_status kl_detach(kl_ledger* ledger);

/// Reserves before the driver is asked. If the limit would be passed the dead are reaped and it is tried once more;
/// then KL_E_LIMIT, which `refused` of the card counts. 0 bytes succeed and do nothing, here and below.
kl_status kl_reserve(kl_ledger* ledger, uint32_t device, uint64_t bytes);

/// The driver has given `actual` bytes for what was reserved as `reserved`: reserved becomes used. Less gives the
/// difference back and never fails. More is admitted like a reservation; with KL_E_LIMIT nothing has changed, and the
/// caller gives the memory back and cancels, or calls kl_charge for the difference.
kl_status kl_commit(kl_ledger* ledger, uint32_t device, uint64_t reserved, uint64_t actual);

/// The driver refused: the reservation goes back.
kl_status kl_cancel(kl_ledger* ledger, uint32_t device, uint64_t reserved);

/// Something in use has another size now, such as a pool: `from` becomes `to`. Growth is admitted; shrinking never
/// fails.
kl_status kl_settle(kl_ledger* ledger, uint32_t device, uint64_t from, uint64_t to);

/// Memory in use was freed.
kl_status kl_release(kl_ledger* ledger, uint32_t device, uint64_t bytes);

/// Memory that was taken without asking and cannot be given back, such as what a context needs. Never KL_E_LIMIT; the
/// sum may pass the limit, which `overrun` of the card shows, and nothing is admitted until it is below again.
kl_status kl_charge(kl_ledger* ledger, uint32_t device, uint64_t bytes);

/// Memory that somebody else holds was opened by this process, such as that of an IPC handle. It is counted and never
/// charged: who made it pays for it until it is freed. 0 bytes where the size is not known. The counters only grow, so
/// closing it, or dying, changes nothing.
kl_status kl_import(kl_ledger* ledger, uint32_t device, uint64_t bytes);

// ---- compute
// ---------------------------------------------------------------------------------------------------------

/// Takes `cost_ns` of GPU time from the tenant's share, which all its processes draw from, and says in `*wait_ns` how
/// long to wait before the launch; 0 is at once. Taken is taken: do not ask again after the wait. The share is a rate:
/// a cost c at p permille moves the tenant's next free instant by c * 1000 / p; up to `burst_ns` of it may be unused.
/// `now_ns` is CLOCK_MONOTONIC, or the clock of a test. KL_E_PAUSED takes nothing. Whole cards never wait.
/// Also stamps the slot as active.
kl_status kl_core_take(kl_ledger* ledger, uint32_t device, int64_t cost_ns, int64_t burst_ns, int64_t now_ns,
                       int64_t* wait_ns);

/// The cost turned out as `actual_ns` where `estimated_ns` were taken: corrects the share and adds `actual_ns` to the
/// counters of the process and the card.
kl_status kl_core_settle(kl_ledger* ledger, uint32_t device, int64_t estimated_ns, int64_t actual_ns);

/// Stamps the slot as active without taking anything; for those who are not limited. Cheap: one store.
kl_status kl_core_active(kl_ledger* ledger, int64_t now_ns);

// ---- the owner
// ---------------------------------------------------------------------------------------------------------

/// Sets the limits of a card; needs KL_OWNER. A memory limit below what is held takes nothing away: new requests are
/// refused until enough was freed.
kl_status kl_set_limits(kl_ledger* ledger, uint32_t device, const kl_limits* limits);

/// Gives back what dead processes held, and notes for living ones in other pid namespaces which pid they have here.
/// Needs more than KL_READ. `reaped` (may be NULL) is the number of slots that became free. May run in many processes
/// at once.
kl_status kl_reap(kl_ledger* ledger, uint32_t* reaped);

/// From now on a page of a ledger that is open as KL_OWNER and that its file has lost is replaced with an empty one,
/// and kl_audit says so, instead of SIGBUS: for a process that keeps ledgers which others may truncate. Installs a
/// handler of SIGBUS; others end the process.
kl_status kl_survive_truncation(void);

/// Damaged bytes found by looking at everything, and the sum of each card against the sum over slots. The sums are
/// equal whenever no operation runs, dead processes included; with `running` they are not compared.
kl_status kl_audit(const kl_ledger* ledger, bool running, kl_error* error);

// ---- looking
// -----------------------------------------------------------------------------------------------------------

/// The caller sets struct_size. Counters only grow for the life of the ledger, whoever dies.
typedef struct kl_device_state {
  uint32_t struct_size;
  uint32_t padding;
  char uuid[KL_UUID_SIZE];
  kl_limits limits;
  uint64_t total_bytes;     ///< of the card itself
  uint64_t held_bytes;      ///< reserved and used, of all processes; what the limit is compared with
  uint64_t reserved_bytes;  ///< part of it that is reserved; of living processes, read one after the other
  uint64_t peak_bytes;      ///< most that was held
  uint64_t free_bytes;      ///< limit less held, never below 0; with KL_NO_LIMIT that of total_bytes
  uint64_t refused;         ///< requests that were refused
  uint64_t overrun_bytes;   ///< held above the limit now
  uint64_t busy_ns;         ///< GPU time, as kl_core_settle was told
  uint64_t waited_ns;       ///< waits that kl_core_take asked for
  uint64_t launches;        ///< calls of kl_core_take
  uint64_t changes;         ///< calls of kl_set_limits
  uint64_t imports;         ///< calls of kl_import: no part of held_bytes
  uint64_t imported_bytes;  ///< what they were told, in all
} kl_device_state;

kl_status kl_device_get(const kl_ledger* ledger, uint32_t device, kl_device_state* state);

/// The limits alone: what enforcers ask often.
kl_status kl_get_limits(const kl_ledger* ledger, uint32_t device, kl_limits* limits);

typedef struct kl_slot_state {
  uint32_t struct_size;
  int32_t pid;             ///< in the process's own pid namespace
  int32_t host_pid;        ///< as the agent sees it, or 0
  uint32_t pid_namespace;  ///< inode of that namespace
  uint64_t start_ticks;    ///< start time, clock ticks since boot, modulo 2^32
  int64_t active_ns;       ///< the last stamp of kl_core_take or kl_core_active, or 0
  char command[16];
  struct {
    uint64_t held_bytes;
    uint64_t reserved_bytes;
    uint64_t busy_ns;
  } devices[KL_DEVICES_MAX];
} kl_slot_state;

/// KL_E_NOT_FOUND for a slot that nobody has.
kl_status kl_slot_get(const kl_ledger* ledger, uint32_t slot, kl_slot_state* state);

/// The slot of this process: KL_E_DETACHED or KL_E_FORKED without one.
kl_status kl_own_slot(const kl_ledger* ledger, uint32_t* slot);

#ifdef __cplusplus
}
#endif

#endif
