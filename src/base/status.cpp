#include <kaisched/result.hpp>

namespace kaisched {

std::string_view status_name(status code) noexcept {
  switch (code) {
#define KAISCHED_X(name, upper, number, text) \
  case status::name:                          \
    return #name;
    KAISCHED_STATUS_MAP(KAISCHED_X)
#undef KAISCHED_X
  }
  return "unknown";
}

}  // namespace kaisched
