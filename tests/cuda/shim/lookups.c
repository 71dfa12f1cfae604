/* Which function a name, a version and a stream lead to, one line each, by the symbol that lies at the address. With
 * the guard in front it must be the same symbol, of the guard where it wraps it.   lookups [use] */
#include "api.h"

static const char* const names[] = {
#define ENTRY_POINT(symbol, base, since, variant, digest) #base,
#define RENAMED_ENTRY_POINT(symbol, base, since, variant)
#include "../../../examples/cuda_isolation/generate/cuda_entry_points.inc"
#undef ENTRY_POINT
};
static const char* const symbols[] = {
#define ENTRY_POINT(symbol, base, since, variant, digest) #symbol,
#include "../../../examples/cuda_isolation/generate/cuda_entry_points.inc"
};

static void say(const char* how, const char* name, const void* address, int status) {
  Dl_info info = {0};
  const char* symbol = address == NULL                                         ? "-"
                       : dladdr(address, &info) == 0 || info.dli_sname == NULL ? "?"
                                                                               : info.dli_sname;
  printf("%s %s %s %d\n", how, name, symbol, status);
}

/* What is found by name is used: two contexts, 100 MiB, and how much is left then. */
static int use(__typeof__(cuGetProcAddress_v2)* lookup) {
  static const struct {
    const char* name;
    int version;
  } wanted[] = {{"cuInit", 12000}, {"cuCtxCreate", 11040}, {"cuMemAlloc", 12000}, {"cuMemGetInfo", 12000}};
  void* found[4] = {NULL};
  CUdriverProcAddressQueryResult status = 0;
  __typeof__(cuCtxCreate_v3)* create = NULL;
  struct api api = {0};
  for (int i = 0; i < 4; i++) lookup(wanted[i].name, &found[i], wanted[i].version, 0, &status);
  take(&api.cuInit, found[0], wanted[0].name);
  take(&create, found[1], wanted[1].name);
  take(&api.cuMemAlloc_v2, found[2], wanted[2].name);
  take(&api.cuMemGetInfo_v2, found[3], wanted[3].name);
  CUcontext context = NULL;
  CUdeviceptr address = 0;
  size_t available = 0, total = 0;
  int result = api.cuInit(0) + create(&context, NULL, 0, 0, 0) + create(&context, NULL, 0, 0, 0) +
               api.cuMemAlloc_v2(&address, 100 << 20) + api.cuMemGetInfo_v2(&available, &total);
  printf("%d %d\n", result, (int)(available >> 20));
  return 0;
}

int main(int count, char** arguments) {
  static const int versions[] = {2000,  3020,  7000,  10000, 11030, 11080, 12000,
                                 12020, 12050, 12080, 13000, 13050, 99000};
  static const char* const early[] = {"cuInit", "nvmlDeviceGetMemoryInfo"};
  for (size_t i = 0; i < 2; i++) {
    const void* address = dlsym(RTLD_DEFAULT, early[i]);
    say("before", early[i], address, dlerror() == NULL);
  }
  void* handle = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
  __typeof__(cuGetProcAddress_v2)* second = NULL;
  __typeof__(cuGetProcAddress)* first = NULL;
  if (handle == NULL) return 3;
  take(&second, dlsym(handle, "cuGetProcAddress_v2"), "cuGetProcAddress_v2");
  if (count > 1 && strcmp(arguments[1], "use") == 0) return use(second);
  take(&first, dlsym(handle, "cuGetProcAddress"), "cuGetProcAddress");
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    for (size_t v = 0; v < sizeof versions / sizeof versions[0]; v++) {
      for (cuuint64_t flags = 0; flags < 4; flags++) {
        char how[64];
        void* address = NULL;
        CUdriverProcAddressQueryResult status = 0;
        snprintf(how, sizeof how, "%d/%d", versions[v], (int)flags);
        CUresult result = second(names[i], &address, versions[v], flags, &status);
        say(how, names[i], address, result * 10 + status);
        address = NULL;
        result = first(names[i], &address, versions[v], flags);
        say("first", names[i], address, result);
      }
    }
  }
  void* program = dlopen(NULL, RTLD_NOW);
  for (size_t i = 0; i < sizeof symbols / sizeof symbols[0]; i++) {
    say("dlsym", symbols[i], dlsym(handle, symbols[i]), 0);
    say("default", symbols[i], dlsym(RTLD_DEFAULT, symbols[i]), 0);
    say("program", symbols[i], dlsym(program, symbols[i]), 0);
    dlerror();
    bool found = dlsym(RTLD_DEFAULT, symbols[i]) != NULL, said = dlerror() != NULL;
    if (found == said) printf("%s: found %d, error %d\n", symbols[i], found, said);
  }
  return 0;
}
