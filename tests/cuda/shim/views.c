/* What a tenant is told of its card: "name value" lines, in MiB.   views MIB_TO_ALLOCATE */
#include "api.h"
#include "nvml_abi.h"

static unsigned long long mib(unsigned long long bytes) { return bytes >> 20; }

int main(int count, char** arguments) {
  struct api api = find_api("dlsym", NULL);
  CUcontext context = NULL;
  CUdeviceptr address = 0;
  size_t available = 0, total = 0;
  nvmlDevice_t device = NULL;
  nvmlMemory_t memory = {0, 0, 0};
  nvmlMemory_v2_t second = {.version = 2};
  static nvmlProcessInfo_t processes[64];
  unsigned int listed = 64;
  if (count != 2) return 2;
  int devices = 0;
  int result = api.cuInit(0) + api.cuDevicePrimaryCtxRetain(&context, 0) + api.cuCtxSetCurrent(context) +
               api.cuMemAlloc_v2(&address, (size_t)strtoul(arguments[1], NULL, 10) << 20) +
               api.cuDeviceGetCount(&devices);
  printf("start %d\ndevices %d\n", result, devices);
  result = api.cuMemGetInfo_v2(&available, &total);
  printf("cuda %d %llu %llu\n", result, mib(available), mib(total));
  result = api.cuDeviceTotalMem_v2(&total, 0);
  printf("total %d %llu\n", result, mib(total));
  void* handle = dlopen("libnvidia-ml.so.1", RTLD_NOW);
  __typeof__(nvmlInit_v2)* init = NULL;
  __typeof__(nvmlDeviceGetHandleByIndex_v2)* get = NULL;
  __typeof__(nvmlDeviceGetMemoryInfo)* info = NULL;
  __typeof__(nvmlDeviceGetMemoryInfo_v2)* info_second = NULL;
  __typeof__(nvmlDeviceGetComputeRunningProcesses_v3)* list = NULL;
  take(&init, dlsym(handle, "nvmlInit_v2"), "nvmlInit_v2");
  take(&get, dlsym(handle, "nvmlDeviceGetHandleByIndex_v2"), "nvmlDeviceGetHandleByIndex_v2");
  take(&info, dlsym(handle, "nvmlDeviceGetMemoryInfo"), "nvmlDeviceGetMemoryInfo");
  take(&info_second, dlsym(handle, "nvmlDeviceGetMemoryInfo_v2"), "nvmlDeviceGetMemoryInfo_v2");
  take(&list, dlsym(handle, "nvmlDeviceGetComputeRunningProcesses_v3"), "nvmlDeviceGetComputeRunningProcesses_v3");
  result = init() + get(0, &device) + info(device, &memory);
  printf("nvml %d %llu %llu %llu\n", result, mib(memory.free), mib(memory.used), mib(memory.total));
  result = info_second(device, &second);
  printf("nvml_v2 %d %llu %llu %llu\n", result, mib(second.free), mib(second.used), mib(second.total));
  result = list(device, &listed, processes);
  printf("processes %d %u\n", result, listed);
  fflush(stdout);
  if (getenv("VIEWS_WAIT") != NULL) getchar(); /* until the other one has looked */
  return 0;
}
