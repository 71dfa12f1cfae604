/* For programs that open the driver and look it up there, as the CUDA run time does: a dlsym that asks the real one,
 * and answers with the wrapper if that found the function that the wrapper stands in front of. It knows names of the
 * driver only, remembers nothing, and hands everything else to the real dlsym by a jump, so that the caller stays the
 * caller: RTLD_NEXT and RTLD_DEFAULT mean what they mean without it. */
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdint.h>
#include <string.h>

#include "guard.h"

typedef void* lookup(void* handle, const char* name);
__attribute__((visibility("hidden"))) lookup* guard_next_dlsym;

/* The first of the objects after this one that has a dlsym of its own: the C library, or somebody else's hook. Found in
 * the tables of the objects, since to look it up one needs it. */
struct search {
  bool passed;
  lookup* found;
};

static const void* at(const struct dl_phdr_info* object, ElfW(Addr) address) {
  /* glibc has relocated the pointers of a dynamic section, other C libraries have not. */
  return (const void*)(address < object->dlpi_addr ? object->dlpi_addr + address : address);
}

static uint32_t symbol_count(const uint32_t* table) {
  uint32_t buckets = table[0], first = table[1], bloom = table[2], last = 0;
  const uint32_t* bucket = (const uint32_t*)(const void*)((const ElfW(Addr)*)(const void*)(table + 4) + bloom);
  for (uint32_t i = 0; i < buckets; i++) last = bucket[i] > last ? bucket[i] : last;
  if (last < first) return first;
  const uint32_t* chain = bucket + buckets;
  while ((chain[last - first] & 1) == 0) last++;
  return last + 1;
}

static lookup* dlsym_of(const struct dl_phdr_info* object) {
  const ElfW(Dyn)* dynamic = NULL;
  for (int i = 0; i < object->dlpi_phnum; i++) {
    if (object->dlpi_phdr[i].p_type == PT_DYNAMIC) {
      dynamic = (const ElfW(Dyn)*)(object->dlpi_addr + object->dlpi_phdr[i].p_vaddr);
    }
  }
  const ElfW(Sym)* symbols = NULL;
  const char* strings = NULL;
  const uint32_t* hash = NULL;
  const ElfW(Half)* versions = NULL;
  for (; dynamic != NULL && dynamic->d_tag != DT_NULL; dynamic++) {
    if (dynamic->d_tag == DT_SYMTAB) symbols = at(object, dynamic->d_un.d_ptr);
    if (dynamic->d_tag == DT_STRTAB) strings = at(object, dynamic->d_un.d_ptr);
    if (dynamic->d_tag == DT_GNU_HASH) hash = at(object, dynamic->d_un.d_ptr);
    if (dynamic->d_tag == DT_VERSYM) versions = at(object, dynamic->d_un.d_ptr);
  }
  if (symbols == NULL || strings == NULL || hash == NULL) return NULL;
  lookup* hidden = NULL;
  for (uint32_t i = hash[1], end = symbol_count(hash); i < end; i++) {
    if (symbols[i].st_shndx == SHN_UNDEF || strcmp(strings + symbols[i].st_name, "dlsym") != 0) continue;
    ElfW(Addr) address = object->dlpi_addr + symbols[i].st_value;
    lookup* found = NULL;
    memcpy(&found, &address, sizeof found);
    if (versions == NULL || (versions[i] & 0x8000) == 0) return found; /* the default version */
    hidden = found;
  }
  return hidden;
}

static int look(struct dl_phdr_info* object, size_t size, void* data) {
  (void)size;
  struct search* search = data;
  if (!search->passed) {
    for (int i = 0; i < object->dlpi_phnum; i++) {
      ElfW(Addr) start = object->dlpi_addr + object->dlpi_phdr[i].p_vaddr, own = (ElfW(Addr))&guard_next_dlsym;
      if (object->dlpi_phdr[i].p_type == PT_LOAD && own >= start && own < start + object->dlpi_phdr[i].p_memsz) {
        search->passed = true;
      }
    }
    return 0;
  }
  search->found = dlsym_of(object);
  return search->found != NULL;
}

static lookup* next_dlsym(void) {
  lookup* next = __atomic_load_n(&guard_next_dlsym, __ATOMIC_ACQUIRE);
  if (next != NULL) return next;
  struct search search = {false, NULL};
  dl_iterate_phdr(look, &search);
  __atomic_store_n(&guard_next_dlsym, search.found, __ATOMIC_RELEASE);
  return search.found;
}

void* guard_own_dlsym(void* handle, const char* name);
void* guard_own_dlsym(void* handle, const char* name) { return next_dlsym()(handle, name); }

/* In two registers. */
struct answer {
  void* address;
  uintptr_t final; /* 0: go on to the real one */
};

/* Whether the library that the name is of is there and has it. */
static bool offered(const char* name) {
  void* handle = dlopen(guard_library_of(name), RTLD_LAZY | RTLD_NOLOAD);
  if (handle == NULL) return false;
  bool found = next_dlsym()(handle, name) != NULL;
  dlclose(handle);
  return found;
}

/* What dlsym shall answer. A look-up of the driver's own loader, made while ours is under way, goes on, too. Where it
 * is our own function that is found, as in the global scope, the answer is what lies behind us, unless the driver has
 * one of that name: a program must not find what it would not find without us. */
__attribute__((visibility("hidden"))) struct answer guard_dlsym(void* handle, const char* name);
struct answer guard_dlsym(void* handle, const char* name) {
  static __thread bool inside;
  struct answer go_on = {NULL, 0};
  if (next_dlsym() == NULL || handle == RTLD_NEXT || name == NULL || inside) return go_on;
  if (strncmp(name, "cu", 2) != 0 && strncmp(name, "nvml", 4) != 0) return go_on;
  void* own = guard_wrapper_named(name);
  if (own == NULL) return go_on;
  inside = true;
  struct answer answer = go_on;
  void* found = next_dlsym()(handle, name);
  if (found == own) {
    if (!offered(name)) answer = (struct answer){next_dlsym()(RTLD_NEXT, name), 1};
  } else if (found != NULL) {
    void* wrapper = guard_wrapper_of(name, found);
    if (wrapper != NULL) answer = (struct answer){wrapper, 1};
  }
  inside = false;
  return answer;
}

#if defined(__x86_64__)
__asm__(
    ".text\n.globl dlsym\n.type dlsym, @function\n"
    "dlsym:\n"
    "  endbr64\n"
    "  push %rdi\n  push %rsi\n  sub $8, %rsp\n"
    "  call guard_dlsym\n"
    "  add $8, %rsp\n  pop %rsi\n  pop %rdi\n"
    "  test %rdx, %rdx\n  jne 1f\n"
    "  mov guard_next_dlsym(%rip), %rax\n  jmp *%rax\n"
    "1: ret\n"
    ".size dlsym, . - dlsym\n");
#elif defined(__aarch64__)
__asm__(
    ".text\n.globl dlsym\n.type dlsym, %function\n"
    "dlsym:\n"
    "  stp x29, x30, [sp, #-32]!\n  stp x0, x1, [sp, #16]\n"
    "  bl guard_dlsym\n"
    "  cbnz x1, 1f\n"
    "  ldp x0, x1, [sp, #16]\n  ldp x29, x30, [sp], #32\n"
    "  adrp x16, guard_next_dlsym\n  ldr x16, [x16, :lo12:guard_next_dlsym]\n  br x16\n"
    "1: ldp x29, x30, [sp], #32\n  ret\n"
    ".size dlsym, . - dlsym\n");
#else
#error "dlsym.c needs a jump for this processor; build the guard without it"
#endif
