#include <kaisched/kaisched.h>
#include <kaisched/result.hpp>
#include <kaisched/version.hpp>

std::uint32_t kaisched_abi_version(void) noexcept { return KAISCHED_ABI_VERSION; }

const char* kaisched_version_string(void) noexcept { return KAISCHED_VERSION_STRING; }

const char* kaisched_status_name(kaisched_status status) noexcept {
  switch (status) {
#define KAISCHED_X(name, upper, number, text) \
  case number:                                \
    return #name;
    KAISCHED_STATUS_MAP(KAISCHED_X)
#undef KAISCHED_X
    default:
      return "unknown";
  }
}
