#include "simulation/comparison.hpp"

#include <algorithm>
#include <map>
#include <string_view>

#include <fmt/format.h>

#include "base/int128.hpp"
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

std::string text_of(const decision& d, const session& held) {
  const model::cluster_state& s = held.base().state();
  const std::string_view job = s.group_names[d.group];
  const auto node = [&] { return d.node == no_row ? std::string("its node") : (*s.nodes)[d.node]->name; };
  switch (d.kind) {
    case decision_kind::bind:
      return fmt::format("starts {} on {}", job, node());
    case decision_kind::evict:
      return fmt::format("stops {} on {}", job, node());
    case decision_kind::move:
    case decision_kind::migrate:
      return fmt::format("moves {} to {}", job, node());
    case decision_kind::pipeline:
    case decision_kind::unschedulable:
    case decision_kind::repartition:
      return {};
  }
  return {};
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

session_watcher decision_log::watcher() {
  return [this](const session& held, std::int64_t now) -> result<void> {
    sessions_.push_back(now);
    for (const decision& d : held.decisions()) {
      entry next{now, text_of(d, held)};
      // A line for the pods of a job on one node.
      if (next.text.empty() || (!entries_.empty() && entries_.back() == next)) continue;
      entries_.push_back(std::move(next));
    }
    return {};
  };
}

std::optional<parting> part_of_plays(const decision_log& first, const decision_log& second) {
  const std::vector<decision_log::entry>& a = first.entries();
  const std::vector<decision_log::entry>& b = second.entries();
  std::size_t same = 0;
  while (same < a.size() && same < b.size() && a[same] == b[same]) ++same;
  if (same == a.size() && same == b.size()) return std::nullopt;
  parting made;
  made.time = same == a.size() ? b[same].time : same == b.size() ? a[same].time : std::min(a[same].time, b[same].time);
  const auto at_that_time = [&](const std::vector<decision_log::entry>& of) {
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < of.size() && of[i].time <= made.time; ++i) {
      if (of[i].time == made.time) texts.push_back(of[i].text);
    }
    std::sort(texts.begin(), texts.end());
    return texts;
  };
  const std::vector<std::string> x = at_that_time(a);
  const std::vector<std::string> y = at_that_time(b);
  std::set_difference(x.begin(), x.end(), y.begin(), y.end(), std::back_inserter(made.first));
  std::set_difference(y.begin(), y.end(), x.begin(), x.end(), std::back_inserter(made.second));
  return made;
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
    const model::cluster_state& s = held.base().state();
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
