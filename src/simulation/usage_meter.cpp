#include "simulation/usage_meter.hpp"

#include <algorithm>
#include <map>

namespace kaisched::simulation {

using base::int128;

namespace {

constexpr std::int64_t steps_of_half_life = 64;
/// 2 to the power of -1/64, times 2 to the power of 30: so much is left after a step. Amounts stay below 2^96.
constexpr std::int64_t left_of_a_step = 1'062'175'491;
constexpr unsigned scale = 30;
/// After so many steps nothing is left that a number would show.
constexpr std::int64_t most_steps = steps_of_half_life * 128;

}  // namespace

usage_meter::usage_meter(const model::cluster_state& s, const std::vector<std::string_view>& queues,
                         std::int64_t half_life, std::int64_t gpus_there)
    : step_(std::max<std::int64_t>(1, half_life / steps_of_half_life)) {
  std::map<std::string_view, queue_row> rows;
  for (queue_row q = 0; q < s.queues->size(); ++q) {
    if ((*s.queues)[q].live) rows.emplace((*s.queues)[q].name, q);
  }
  std::map<std::string, std::uint32_t, std::less<>> known;
  for (const std::string_view name : queues) {
    for (queue_row q = rows.at(name); q != no_row; q = (*s.queues)[q].parent) known.emplace((*s.queues)[q].name, 0U);
  }
  for (auto& [name, number] : known) {
    number = static_cast<std::uint32_t>(entries_.size());
    entries_.push_back({name, 0, 0, 0});
  }
  for (const std::string_view name : queues) {
    std::vector<std::uint32_t>& path = paths_.emplace_back();
    for (queue_row q = rows.at(name); q != no_row; q = (*s.queues)[q].parent) {
      path.push_back(known.find((*s.queues)[q].name)->second);
    }
  }
  entries_.push_back({{}, gpus_there, 0, 0});
}

void usage_meter::advance(std::int64_t now) {
  if ((now - now_) / step_ > most_steps) {
    for (entry& one : entries_) one.had = one.since = 0;
    now_ = now - now % step_ - most_steps * step_;
  }
  while (now_ < now) {
    const std::int64_t next = std::min(now, now_ - now_ % step_ + step_);
    for (entry& one : entries_) {
      one.since += static_cast<int128>(one.held) * (next - now_);
      if (next % step_ != 0) continue;
      one.had = (one.had + one.since) * left_of_a_step >> scale;
      one.since = 0;
    }
    now_ = next;
  }
}

void usage_meter::hold(std::uint32_t queue, std::int64_t gpus, std::int64_t now) {
  advance(now);
  for (const std::uint32_t i : paths_[queue]) entries_[i].held += gpus;
}

void usage_meter::capacity(std::int64_t gpus, std::int64_t now) {
  advance(now);
  entries_.back().held = gpus;
}

const std::vector<usage_meter::entry>& usage_meter::until(std::int64_t now) {
  advance(now);
  return entries_;
}

double usage_meter::part_of(const entry& queue) const {
  const entry& all = entries_.back();
  const int128 had = all.had + all.since;
  return had <= 0 ? 0 : static_cast<double>(queue.had + queue.since) / static_cast<double>(had);
}

}  // namespace kaisched::simulation
