/* Environment variables of any content: no crash, no answer that is out of range, and numbers that are what they say.
 */
#include "settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t state = 20261;

static uint64_t draw(uint64_t below) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state % below;
}

static int faults;

static void expect(bool ok, const char* what, const char* text) {
  if (ok) return;
  printf("%s: \"%s\"\n", what, text);
  faults++;
}

static void drawn_text(char* out, size_t room) {
  static const char alphabet[] = "0123456789999kKmMgG-+. x:/%\x01\xff";
  size_t length = draw(8) == 0 ? room - 1 : draw(12);
  for (size_t i = 0; i < length; i++) out[i] = alphabet[draw(sizeof alphabet - 1)];
  out[length] = '\0';
}

static void parsing(void) {
  static const struct {
    const char* text;
    bool ok;
    uint64_t bytes;
  } known[] = {{"0", true, 0},
               {"1", true, 1},
               {"1k", true, 1024},
               {"512m", true, UINT64_C(512) << 20},
               {"3G", true, UINT64_C(3) << 30},
               {"99999999999999999999g", true, KL_BYTES_MAX},
               {"", false, 0},
               {"-1", false, 0},
               {"1 m", false, 0},
               {"1mm", false, 0},
               {"m", false, 0},
               {" 1", false, 0},
               {"0x10", false, 0},
               {"1.5g", false, 0}};
  for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
    uint64_t bytes = 0;
    bool ok = guard_parse_bytes(known[i].text, &bytes);
    expect(ok == known[i].ok && (!ok || bytes == known[i].bytes), "bytes", known[i].text);
  }
}

int main(void) {
  static const char* const names[] = {"KAISCHED_LEDGER",
                                      "KAISCHED_GUARD_MODE",
                                      "KAISCHED_GUARD_CONTEXT",
                                      "CUDA_DEVICE_MEMORY_LIMIT",
                                      "CUDA_DEVICE_SM_LIMIT",
                                      "CUDA_DEVICE_MEMORY_LIMIT_3",
                                      "CUDA_DEVICE_SM_LIMIT_15",
                                      "GPU_MEMORY_LIMIT",
                                      "CUDA_TASK_PRIORITY",
                                      "CUDA_DEVICE_MEMORY_SHARED_CACHE",
                                      "GPU_CORE_UTILIZATION_POLICY"};
  enum { NAMES = sizeof names / sizeof names[0] };
  parsing();
  unsigned long good = 0, bad = 0;
  for (int round = 0; round < 20000; round++) {
    static char text[1024];
    for (size_t i = 0; i < NAMES; i++) unsetenv(names[i]);
    for (uint64_t n = draw(4); n > 0; n--) {
      drawn_text(text, sizeof text);
      setenv(names[draw(NAMES)], text, 1);
    }
    struct guard_settings settings;
    char message[256] = "";
    bool ok = guard_read_settings(&settings, message, sizeof message);
    good += ok;
    bad += !ok;
    expect(ok || strlen(message) > 0, "a refusal that says nothing", text);
    bool limited = false;
    for (int i = 0; ok && i < KL_DEVICES_MAX; i++) {
      expect(settings.permille[i] > 0 && settings.permille[i] <= KL_WHOLE_CARD, "permille", text);
      expect(settings.memory[i] == KL_NO_LIMIT || settings.memory[i] <= KL_BYTES_MAX, "memory", text);
      limited = limited || settings.memory[i] != KL_NO_LIMIT || settings.permille[i] != KL_WHOLE_CARD;
    }
    expect(!ok || settings.limited == limited, "limited", text);
  }
  expect(good > 1000 && bad > 1000, "both outcomes are drawn", "");
  return faults > 0;
}
