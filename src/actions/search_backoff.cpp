#include "actions/search_backoff.hpp"

namespace kaisched::actions {

namespace {

constexpr std::int64_t nanoseconds = 1'000'000'000;
constexpr std::int64_t by_default = 600;  ///< seconds
constexpr unsigned first_action = 8;      ///< position of the bit of action 0
constexpr unsigned first_of_time = 16;    ///< likewise of the seconds
constexpr std::int64_t all_actions = 0xFF00;
constexpr std::int64_t rounds = 0xFF;

std::int64_t wait_of(const framework::session_state& c) {
  if (!c.compat() || c.options.search_steps == unlimited || c.now < 0) return 0;
  return c.options.search_backoff_time < 0 ? by_default : c.options.search_backoff_time / nanoseconds;
}

}  // namespace

search_backoff::search_backoff(framework::session_state& c)
    : c_(c),
      wait_(wait_of(c)),
      second_(c.now / nanoseconds),
      bit_(std::int64_t{1} << (first_action + static_cast<unsigned>(c.run.action))) {}

bool search_backoff::backs_off(std::int64_t bits) const {
  const std::int64_t since = second_ - (bits >> first_of_time);
  return (bits & bit_) != 0 && since >= 0 && since < wait_;
}

std::int64_t search_backoff::most_steps(group_row group) const {
  return wait_ > 0 && backs_off(c_.groups.searched(group)) ? c_.options.search_backoff_steps : unlimited;
}

void search_backoff::note(group_row group, bool solved, std::int64_t steps) {
  if (wait_ == 0) return;
  const std::int64_t before = c_.groups.searched(group);
  std::int64_t after = before;
  if (solved) {
    after &= ~bit_;
    if ((after & all_actions) == 0) after &= rounds;
  } else if (steps > c_.options.search_backoff_steps && !backs_off(before)) {
    const std::int64_t since = second_ - (before >> first_of_time);
    const bool is_over = since < 0 || since >= wait_;
    after = (is_over ? before & rounds : before & (rounds | all_actions)) | bit_ | second_ << first_of_time;
  }
  if (after != before) c_.groups.set_searched(group, after);
}

}  // namespace kaisched::actions
