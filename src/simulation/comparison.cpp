#include "simulation/comparison.hpp"

#include <algorithm>
#include <map>
#include <string_view>

#include <fmt/format.h>

#include "base/int128.hpp"
#include "model/snapshot_access.hpp"
#include "model/state.hpp"

namespace kaisched::simulation {

namespace {

using base::int128;

/// Sums until `finish`, as sums of times are longer than a time.
struct sums {
  jobs_changed made;
  int128 first = 0;
  int128 second = 0;

  void add(const job_outcome& a, const job_outcome& b, std::int64_t submit) {
    ++made.jobs;
    if (a.end == never || b.end == never) return;
    ++made.ended_in_both;
    made.sooner += b.end < a.end ? 1U : 0U;
    made.later += b.end > a.end ? 1U : 0U;
    first += a.end - submit;
    second += b.end - submit;
  }
  jobs_changed finish() {
    const auto jobs = static_cast<std::int64_t>(std::max<std::uint64_t>(1, made.ended_in_both));
    made.first = static_cast<std::int64_t>(first / jobs);
    made.second = static_cast<std::int64_t>(second / jobs);
    return std::move(made);
  }
};

std::string text_of(const change& of, const workload& jobs, const snapshot& over) {
  const model::cluster_state& s = model::state_of(over);
  const node_row row = (*s.node_row_of_slot)[of.node];
  const std::string& node = (*s.nodes)[row]->name;
  const std::string& name = jobs.jobs[of.job].name;
  if (of.what == 's') return fmt::format("starts {} on {}", name, node);
  if (of.what == 'x') return fmt::format("stops {} on {}", name, node);
  return fmt::format("moves {} to {}", name, node);
}

/// Changes of the moment that begins at a position, sorted, and where the next one begins.
std::vector<change> moment(const std::vector<change>& all, std::size_t& at) {
  std::vector<change> found;
  for (const std::int64_t time = at < all.size() ? all[at].time : 0; at < all.size() && all[at].time == time; ++at) {
    found.push_back(all[at]);
  }
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace

comparison compare_runs(const workload& jobs, const run_result& first, const run_result& second,
                        const std::string& queue, std::size_t parts) {
  comparison made;
  sums all;
  std::map<std::string_view, sums> queues;
  std::vector<sums> by_time(jobs.jobs.empty() ? 0 : parts);
  const std::int64_t from = jobs.jobs.empty() ? 0 : jobs.jobs.front().submit;
  const std::int64_t span = jobs.jobs.empty() ? 0 : jobs.jobs.back().submit - from;
  const auto edge = [&](std::size_t i) {
    return from + static_cast<std::int64_t>(static_cast<int128>(span) * static_cast<std::int64_t>(i) /
                                            static_cast<std::int64_t>(parts));
  };
  for (std::uint32_t j = 0; j < jobs.jobs.size(); ++j) {
    const job& told = jobs.jobs[j];
    const job_outcome& a = first.jobs[j];
    const job_outcome& b = second.jobs[j];
    const auto part = span == 0 ? 0
                                : static_cast<std::size_t>(static_cast<int128>(told.submit - from) *
                                                           static_cast<std::int64_t>(parts) / (int128{span} + 1));
    all.add(a, b, told.submit);
    queues[told.queue.empty() ? std::string_view(queue) : std::string_view(told.queue)].add(a, b, told.submit);
    by_time[part].add(a, b, told.submit);
    made.only_first += a.end != never && b.end == never ? 1U : 0U;
    made.only_second += a.end == never && b.end != never ? 1U : 0U;
    if (a.end == never || b.end == never || a.end == b.end) continue;
    made.jobs.push_back({j, b.end - a.end, b.first_start - a.first_start});
  }
  made.all = all.finish();
  for (auto& [name, of] : queues) {
    made.queues.push_back(of.finish());
    made.queues.back().name = name;
  }
  for (std::size_t i = 0; i < by_time.size(); ++i) {
    made.parts.push_back(by_time[i].finish());
    made.parts.back().from = edge(i);
    made.parts.back().to = edge(i + 1);
  }
  std::sort(made.jobs.begin(), made.jobs.end(),
            [](const job_change& a, const job_change& b) { return a.end != b.end ? a.end < b.end : a.job < b.job; });
  return made;
}

std::optional<parting> part_of_plays(const workload& jobs, const snapshot& over, const run_result& first,
                                     const run_result& second) {
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < first.changes.size() || j < second.changes.size()) {
    std::vector<change> a = moment(first.changes, i);
    std::vector<change> b = moment(second.changes, j);
    if (a == b) continue;  // the order at one moment does not matter
    // Who has something at the earlier moment does it alone.
    if (!a.empty() && !b.empty() && a.front().time != b.front().time) {
      (a.front().time < b.front().time ? b : a).clear();
    }
    parting made;
    made.time = a.empty() ? b.front().time : a.front().time;
    for (const change& one : a) {
      if (!std::binary_search(b.begin(), b.end(), one)) made.first.push_back(text_of(one, jobs, over));
    }
    for (const change& one : b) {
      if (!std::binary_search(a.begin(), a.end(), one)) made.second.push_back(text_of(one, jobs, over));
    }
    return made;
  }
  return std::nullopt;
}

session_watcher answer(std::vector<question>& questions, const workload& jobs,
                       const std::vector<std::int64_t>& sessions) {
  std::map<std::int64_t, std::vector<std::size_t>> due;
  for (std::size_t i = 0; i < questions.size(); ++i) {
    const auto after = std::upper_bound(sessions.begin(), sessions.end(), questions[i].time);
    if (after != sessions.begin()) due[*(after - 1)].push_back(i);
  }
  return [&questions, &jobs, due = std::move(due)](const session& held, std::int64_t now) -> result<void> {
    const auto here = due.find(now);
    if (here == due.end()) return {};
    const model::cluster_state& s = model::state_of(held.base());
    const std::vector<reason> reasons = held.reasons();
    for (const std::size_t i : here->second) {
      questions[i].answer.clear();  // of an earlier session at this moment
      for (const reason& why : reasons) {
        if (s.group_names[why.group] != jobs.jobs[questions[i].job].name) continue;
        questions[i].answer = held.text(why);
        break;
      }
    }
    return {};
  };
}

}  // namespace kaisched::simulation
