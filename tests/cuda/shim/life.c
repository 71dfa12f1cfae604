/* Processes that fork, exec, open the driver in odd ways, or pass by the guard.   life CASE [ARGUMENT]
 * Prints what came of allocations of 300 MiB, one line each. */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "api.h"

static const size_t size = (size_t)300 << 20;

static int start(struct api* api) {
  CUcontext context = NULL;
  CUresult result = api->cuInit(0);
  if (result == CUDA_SUCCESS) result = api->cuDevicePrimaryCtxRetain(&context, 0);
  if (result == CUDA_SUCCESS) result = api->cuCtxSetCurrent(context);
  return result;
}

static void allocate(struct api* api, const char* who) {
  CUdeviceptr address = 0;
  printf("%s %d\n", who, api->cuMemAlloc_v2(&address, size));
  fflush(stdout);
}

static void wait_for(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  printf("child %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : -1);
}

int main(int count, char** arguments) {
  const char* which = count > 1 ? arguments[1] : "";
  const char* argument = count > 2 ? arguments[2] : NULL;
  struct api api;
  if (strcmp(which, "namespace") == 0) { /* a linker namespace of its own has no preloaded library */
    void* handle = dlmopen(LM_ID_NEWLM, "libcuda.so.1", RTLD_NOW);
    if (handle == NULL) return 3;
    memset(&api, 0, sizeof api);
#define X(symbol, name, stream) take(&api.symbol, dlsym(handle, #symbol), #symbol);
    API(X)
#undef X
  } else if (strcmp(which, "path") == 0) { /* a copy of the driver under another name is another driver */
    api = find_api("dlsym", argument);
  } else if (strcmp(which, "direct") == 0) {
    api = find_api("link", NULL);
  } else {
    api = find_api("dlsym", NULL);
  }
  if (strcmp(which, "fork-before") == 0) { /* the driver starts in the child */
    pid_t child = fork();
    if (child == 0) {
      printf("start %d\n", start(&api));
      allocate(&api, "in child");
      return 0;
    }
    wait_for(child);
    printf("start %d\n", start(&api));
    allocate(&api, "in parent");
    return 0;
  }
  printf("start %d\n", start(&api));
  allocate(&api, "first");
  if (strcmp(which, "fork-after") == 0) { /* the driver does not work in a child of a process that uses it */
    pid_t child = fork();
    if (child == 0) {
      CUdeviceptr address = 0;
      return api.cuMemAlloc_v2(&address, size) + api.cuInit(0);
    }
    wait_for(child);
  } else if (strcmp(which, "exec") == 0) { /* the same process with another program: what the first one held is gone */
    execl(arguments[0], arguments[0], "plain", (char*)NULL);
    return 4;
  } else if (strcmp(which, "unset") == 0) {
    unsetenv("LD_PRELOAD");
    execl(arguments[0], arguments[0], "plain", (char*)NULL);
    return 4;
  } else if (strcmp(which, "crowd") == 0) { /* short processes, one after the other */
    for (int i = 0; i < 20; i++) {
      pid_t child = fork();
      if (child == 0) {
        execl(arguments[0], arguments[0], "killed", (char*)NULL);
        _exit(4);
      }
      int status = 0;
      waitpid(child, &status, 0);
    }
  } else if (strcmp(which, "killed") == 0) {
    kill(getpid(), 9);
  }
  allocate(&api, "second");
  return 0;
}
