#include "api_server/clock_text.hpp"

#include <ctime>

#include <fmt/format.h>

namespace shim {

std::string clock_text(std::chrono::system_clock::time_point at, bool micro) {
  const auto since = std::chrono::duration_cast<std::chrono::microseconds>(at.time_since_epoch());
  const std::time_t seconds = since.count() / 1'000'000;
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  const std::string text = fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}", parts.tm_year + 1900, parts.tm_mon + 1,
                                       parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec);
  return micro ? fmt::format("{}.{:06}Z", text, since.count() % 1'000'000) : text + "Z";
}

}  // namespace shim
