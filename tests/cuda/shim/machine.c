/* What a fake machine has in its books: "tenant device used peak busy" for every tenant with a peak.   machine FILE */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/mman.h>

#include "../../../examples/cuda_isolation/fake/shared.h"

int main(int count, char** arguments) {
  int fd = count == 2 ? open(arguments[1], O_RDONLY) : -1;
  const struct fake_shared* machine = fd < 0 ? MAP_FAILED : mmap(NULL, sizeof *machine, PROT_READ, MAP_SHARED, fd, 0);
  if (machine == MAP_FAILED) return 2;
  for (uint32_t device = 0; device < machine->devices; device++) {
    for (int tenant = 0; tenant < FAKE_MAX_TENANTS; tenant++) {
      const struct fake_tenant* one = &machine->tenant[tenant];
      if (one->peak[device] == 0) continue;
      printf("%d %" PRIu32 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", tenant, device, one->used[device],
             one->peak[device], one->busy[device]);
    }
  }
  return 0;
}
