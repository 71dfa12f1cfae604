#pragma once
/// @file
/// What happens when: events by time, then by kind, then in the order in which they were added.

#include <algorithm>
#include <cstdint>
#include <vector>

namespace kaisched::simulation {

/// Kinds in the order in which they happen at one moment: places come free before they are asked for.
enum class event_kind : std::uint8_t {
  job_ends,
  pod_has_left,
  node_comes,
  node_is_on,
  node_is_idle,
  node_is_cordoned,
  node_goes
};

struct event {
  std::int64_t time = 0;
  event_kind kind = event_kind::job_ends;
  std::uint32_t subject = 0;  ///< job, pod, outage or pool
  std::uint32_t other = 0;    ///< of a pool: the node
  std::uint64_t stamp = 0;    ///< of the plan that the event belongs to; another one by then: it does not happen
};

class event_queue {
 public:
  void add(std::int64_t time, event_kind kind, std::uint32_t subject, std::uint32_t other, std::uint64_t stamp) {
    heap_.push_back({{time, kind, subject, other, stamp}, next_++});
    std::push_heap(heap_.begin(), heap_.end(), later);
  }
  [[nodiscard]] bool empty() const { return heap_.empty(); }
  [[nodiscard]] const event& next() const { return heap_.front().what; }
  event take() {
    std::pop_heap(heap_.begin(), heap_.end(), later);
    const event taken = heap_.back().what;
    heap_.pop_back();
    return taken;
  }

 private:
  struct entry {
    event what;
    std::uint64_t number;
  };
  static bool later(const entry& a, const entry& b) {
    if (a.what.time != b.what.time) return a.what.time > b.what.time;
    if (a.what.kind != b.what.kind) return a.what.kind > b.what.kind;
    return a.number > b.number;
  }

  std::vector<entry> heap_;
  std::uint64_t next_ = 0;
};

}  // namespace kaisched::simulation
