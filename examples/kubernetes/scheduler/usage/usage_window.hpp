#pragma once
/// @file
/// Which part of the past counts: a time of fixed length that moves along, or all since the last of some moments.

#include <bitset>
#include <chrono>
#include <cstdint>
#include <string_view>

namespace shim {

/// Milliseconds since 1970.
using milli_time = std::int64_t;

/// Moments as cron has them, in UTC: minute, hour, day of the month, month, day of the week (0 is Sunday).
class cron_schedule {
 public:
  cron_schedule() = default;
  /// `0 0 * * 1`; each field `*` or numbers and ranges with commas, each with a step (`*/15`). Errors: bad_input, also
  /// for a day that no month has.
  explicit cron_schedule(std::string_view text);

  /// The last moment before `now`.
  [[nodiscard]] milli_time last_before(milli_time now) const;

 private:
  [[nodiscard]] bool has_day(std::chrono::sys_days day) const;

  std::bitset<60> minutes_;
  std::bitset<24> hours_;
  std::bitset<32> days_;
  std::bitset<13> months_;
  std::bitset<7> weekdays_;
  bool any_day_ = true;
  bool any_weekday_ = true;
};

enum class window_type { sliding, tumbling, cron };

struct usage_window {
  window_type type = window_type::sliding;
  std::chrono::milliseconds size = std::chrono::days(7);  ///< not of `cron`
  milli_time start = 0;                                   ///< of `tumbling`: the beginning of one of them
  cron_schedule schedule;                                 ///< of `cron`

  /// When the window that ends now began: boundaries belong to what was before them.
  [[nodiscard]] milli_time begin_at(milli_time now) const;
};

}  // namespace shim
