/* What all processes on one fake machine share: devices, who holds how much of them, and time. A file that every
 * process maps ($KAISCHED_FAKE_STATE; without it the machine is private to the process). The first process writes it
 * from $KAISCHED_FAKE_DEVICES: "MEMORY[:SMS[:UUID]]" per device, separated by ';', with k, m or g after MEMORY. */
#ifndef KAISCHED_FAKE_SHARED_H
#define KAISCHED_FAKE_SHARED_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

enum {
  FAKE_MAX_DEVICES = 16,
  FAKE_MAX_PROCESSES = 512,
  FAKE_MAX_TENANTS = 64,
  FAKE_MAX_PARTICIPANTS = 64,
  FAKE_MAX_IPC = 256,
  FAKE_MAX_EVENTS = 64,
  FAKE_WINDOWS = 16
};
#define FAKE_GRANULE ((uint64_t)2 << 20)
#define FAKE_WINDOW_NS ((uint64_t)100000000)

struct fake_device {
  char uuid[48]; /* GPU-xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx */
  uint64_t total, used;
  uint64_t busy_until; /* when its queue of kernels is empty */
  uint32_t sms;
};

struct fake_process {
  int32_t pid; /* 0: free */
  int32_t tenant;
  uint64_t start; /* of the process, so that a pid that came again is another one */
  uint64_t used[FAKE_MAX_DEVICES];
  uint64_t busy[FAKE_MAX_DEVICES]; /* ns of kernels, all of them */
  uint64_t window[FAKE_MAX_DEVICES]
                 [FAKE_WINDOWS]; /* ns of kernels that ran in a window of time; which one: window_of */
  uint64_t window_of[FAKE_MAX_DEVICES][FAKE_WINDOWS];
  uint64_t launches;
};

struct fake_tenant {
  uint64_t used[FAKE_MAX_DEVICES];
  uint64_t peak[FAKE_MAX_DEVICES]; /* the most it ever had: what a limit is held against */
  uint64_t busy[FAKE_MAX_DEVICES];
};

/* A thread in virtual time. It runs while nobody is behind it. */
struct fake_participant {
  int32_t pid; /* 0: free */
  uint64_t now;
};

struct fake_ipc {
  int32_t pid;
  int32_t device;
  uint64_t address, size, key;
};

struct fake_event {
  uint32_t device;
  uint64_t kind, data;
};

struct fake_shared {
  uint64_t magic;
  pthread_mutex_t lock; /* robust: processes are killed while they hold it */
  pthread_cond_t turn;
  uint32_t devices;
  uint32_t expected; /* participants that must be there before time runs; 0: real time */
  uint32_t arrived;
  uint64_t epoch; /* of real time */
  uint64_t next_key;
  struct fake_device device[FAKE_MAX_DEVICES];
  struct fake_process process[FAKE_MAX_PROCESSES];
  struct fake_tenant tenant[FAKE_MAX_TENANTS];
  struct fake_participant participant[FAKE_MAX_PARTICIPANTS];
  struct fake_ipc ipc[FAKE_MAX_IPC];
  uint64_t events; /* how many there have been; the last ones are kept */
  struct fake_event event[FAKE_MAX_EVENTS];
};

extern struct fake_shared* fake_machine; /* after fake_open */

bool fake_open(void); /* maps the machine; false: the file or the list of devices is bad, and stderr says how */
void fake_lock(void);
void fake_unlock(void);
struct fake_process* fake_self(void); /* the slot of this process; with the lock held */
void fake_reap(void);                 /* gives back what dead processes had; with the lock held */

bool fake_charge(int device, uint64_t bytes); /* false: the device is full */
void fake_discharge(int device, uint64_t bytes);
uint64_t fake_busy_percent(const struct fake_process* process, int device, uint64_t now);

/* Time in ns: real, or that of the calling thread. */
uint64_t fake_now(void);
void fake_sleep_until(uint64_t when);
void fake_step(uint64_t host_ns); /* what a call costs the host in virtual time */
/* A kernel of that length on the device, not before: when it ends. */
uint64_t fake_run(int device, uint64_t not_before, uint64_t length);

#endif
