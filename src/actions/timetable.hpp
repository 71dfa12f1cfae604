#pragma once
/// @file
/// When groups that wait have a place: the times that backfill promises, and what keeps them.

#include <cstddef>
#include <cstdint>
#include <vector>

#include <kaisched/ids.hpp>
#include <kaisched/result.hpp>

#include "actions/placement.hpp"
#include "framework/session_state.hpp"

namespace kaisched::actions {

/// The group lacks its gang, and room for it that there can be.
[[nodiscard]] bool lacks_room(framework::session_state& c, const framework::failure& of);

/// A group that waits, and from when on it has a place.
struct reservation {
  group_row group = no_row;
  std::int64_t start = unset;  ///< unset: nobody knows, or never
  std::int64_t end = unset;    ///< unset: nobody knows
  std::int64_t devices = 0;    ///< that it has as a whole then
};

/// Reservations in the order of the queue. Each is kept by those that are made later, and by those that start. Where a
/// group stands is decided when it starts, so a reservation is a time and no place: all of them are placed again, in
/// the order of their times, whenever something is to be added. They are made only once somebody could start who might
/// delay them: where nobody fits, no time is looked for.
class timetable {
 public:
  /// @param most reservations; 0: all
  timetable(framework::session_state& c, std::size_t most) : c_(c), most_(most) {}

  /// A group that has found no place is to have a reservation, if it waits for others to end.
  void add(const framework::failure& of) { waiting_.push_back({of, true}); }
  /// One that would delay another where it has a place now.
  void add(group_row group);
  /// Promises the group, which waits for others to end, the earliest time at which it has a place and delays nobody to
  /// whom something has been promised, if it is expected to have ended by the deadline then. What was found, whether it
  /// was promised or not; the statement is empty. It counts for none of the `most` reservations.
  result<reservation> promise(group_row group, std::int64_t deadline);
  /// Some group may have to be given a reservation before anybody else starts.
  [[nodiscard]] bool has_more() const { return next_ < waiting_.size() && !is_full(); }
  /// Makes the first reservation; all others, if it has been made. The statement is empty.
  result<void> make_more();

  /// Whose reservation the group delays that the statement has placed; `no_row` if nobody's.
  /// @param had_started the group held something before
  [[nodiscard]] result<group_row> delayed_by(group_row group, bool had_started);

 private:
  struct candidate {
    framework::failure why;
    bool is_judged;  ///< it has found no place, and may not wait for others
  };
  [[nodiscard]] bool is_full() const { return most_ != 0 && made_.size() - promised_ >= most_; }
  [[nodiscard]] bool is_to_wait(const candidate& one) const;
  [[nodiscard]] bool yields(group_row group, group_row to) const;

  framework::session_state& c_;
  std::size_t most_;
  std::vector<reservation> made_;  ///< those that were promised first
  std::size_t promised_ = 0;       ///< so many of these
  std::vector<candidate> waiting_;
  std::size_t next_ = 0;  ///< of these
};

}  // namespace kaisched::actions
