/* Memory that others hold, and what the ledger of the process says then: "what result held imports imported", in MiB.
 *   imports LEDGER export          prints "handle HEX", waits for a line, frees, waits for another
 *   imports LEDGER import HEX      opens and closes that, a shared handle, and external memory */
#include <kaisched_ledger/ledger.h>
#include <unistd.h>

#include "api.h"

static const char* folder;
enum { MIB = 1 << 20 };

static void say(const char* what, int result) {
  kl_ledger* ledger = NULL;
  kl_device_state state = {.struct_size = sizeof state};
  if (kl_open(folder, KL_READ, &ledger, NULL) == KL_OK) kl_device_get(ledger, 0, &state);
  kl_close(ledger);
  printf("%s %d %d %d %d\n", what, result, (int)(state.held_bytes / MIB), (int)state.imports,
         (int)(state.imported_bytes / MIB));
  fflush(stdout);
}

static void export_one(const struct api* api) {
  CUdeviceptr address = 0;
  CUipcMemHandle handle;
  say("alloc", api->cuMemAlloc_v2(&address, 100 * MIB));
  int result = cuIpcGetMemHandle(&handle, address);
  printf("handle ");
  for (size_t i = 0; i < sizeof handle; i++) printf("%02x", (unsigned char)handle.reserved[i]);
  printf(" %d\n", result);
  fflush(stdout);
  getchar();
  say("opened", 0);
  say("free", api->cuMemFree_v2(address));
  getchar();
}

static void import_all(const struct api* api, const char* text) {
  CUipcMemHandle handle = {{0}};
  for (size_t i = 0; i < sizeof handle && strlen(text) >= 2 * i + 2; i++) {
    char digits[3] = {text[2 * i], text[2 * i + 1], 0};
    handle.reserved[i] = (char)strtoul(digits, NULL, 16);
  }
  CUdeviceptr address = 0;
  say("open", cuIpcOpenMemHandle_v2(&address, handle, 1));
  say("close", cuIpcCloseMemHandle(address));
  CUmemAllocationProp properties = {.type = 1, .requestedHandleTypes = 1, .location = {1, 0}};
  CUmemGenericAllocationHandle own = 0, other = 0;
  int file = -1;
  say("create", api->cuMemCreate(&own, 64 * MIB, &properties, 0));
  say("export", cuMemExportToShareableHandle(&file, own, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
  say("import",
      cuMemImportFromShareableHandle(&other, (void*)(intptr_t)file, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
  say("release it", api->cuMemRelease(other));
  say("release", api->cuMemRelease(own));
  CUDA_EXTERNAL_MEMORY_HANDLE_DESC description = {.type = CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD, .size = 32 * MIB};
  CUDA_EXTERNAL_MEMORY_BUFFER_DESC buffer = {.size = 32 * MIB};
  CUexternalMemory external = NULL;
  say("external", cuImportExternalMemory(&external, &description));
  say("mapped", cuExternalMemoryGetMappedBuffer(&address, external, &buffer));
  say("destroy", cuDestroyExternalMemory(external));
}

int main(int count, char** arguments) {
  if (count < 3) return 2;
  struct api api = find_api("link", NULL);
  CUcontext context = NULL;
  folder = arguments[1];
  int result = api.cuInit(0);
  if (result == CUDA_SUCCESS) result = api.cuDevicePrimaryCtxRetain(&context, 0);
  if (result == CUDA_SUCCESS) result = api.cuCtxSetCurrent(context);
  say("start", result);
  if (count == 3) {
    export_one(&api);
  } else {
    import_all(&api, arguments[3]);
  }
  return 0;
}
