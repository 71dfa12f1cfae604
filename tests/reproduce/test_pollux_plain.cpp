// The schedulers of the elastic training benchmark once more, as plain loops over lists, against sessions with parts:
// invented workloads on small clusters.
#include <numeric>
#include <random>

#include "pollux_support.hpp"
#include "support.hpp"

namespace of_test_pollux_plain {

using namespace kaisched;
using namespace kaisched::bench;
using test::must;

namespace {

/// A run without the engine. Of the benchmark it has only how jobs learn.
class plain_run {
 public:
  plain_run(const pollux::measurements& of, const pollux::workload& jobs, const pollux::artefact& as, bool is_elastic)
      : of_(of), jobs_(jobs.jobs), as_(as), is_elastic_(is_elastic), held_(jobs_.size()), served_(jobs_.size(), 0) {
    for (const pollux::job_spec& one : jobs_) running_.emplace_back(of_, as_, one);
  }

  std::vector<std::int64_t> play() {
    for (std::int64_t now = as_.step; ended_.size() < jobs_.size(); now += as_.step) {
      REQUIRE(now < 1'000'000);
      for (pollux::running_job& one : running_) must(one.go_on(now - as_.step, as_.step));
      end_and_arrive(now);
      is_elastic_ ? plan_by_saving() : plan_by_queues();
    }
    std::vector<std::int64_t> times(jobs_.size());
    for (std::size_t job = 0; job < jobs_.size(); ++job)
      times[job] = std::llround(running_[job].end() - static_cast<double>(jobs_[job].submit));
    return times;
  }

 private:
  using list = std::vector<std::size_t>;

  static bool holds(const list& all, std::size_t job) { return std::find(all.begin(), all.end(), job) != all.end(); }

  void end_and_arrive(std::int64_t now) {
    for (std::size_t job = 0; job < jobs_.size(); ++job) {
      if (running_[job].has_ended() && !holds(ended_, job)) {
        ended_.push_back(job);
        held_[job].clear();
        for (list* all : {&active_, &young_, &old_}) std::erase(*all, job);
      }
    }
    for (std::size_t job = 0; job < jobs_.size(); ++job) {
      if (!held_[job].empty()) served_[job] += as_.step;
      if (holds(young_, job) && !held_[job].empty() && served_[job] * jobs_[job].replicas >= as_.demotion) {
        std::erase(young_, job);
        old_.push_back(job);
      }
      if (jobs_[job].submit <= now && jobs_[job].submit > now - as_.step) {
        active_.push_back(job);
        young_.push_back(job);
      }
    }
    std::sort(active_.begin(), active_.end());
  }

  /// Who fits, one queue after the other; who has GPUs keeps them.
  void plan_by_queues() {
    list order = young_;
    order.insert(order.end(), old_.begin(), old_.end());
    std::int64_t left = as_.gpus();
    list starts;
    for (const std::size_t job : order) {
      const bool fits = jobs_[job].replicas <= left;
      if (fits) left -= jobs_[job].replicas;
      if (fits && held_[job].empty()) starts.push_back(job);
      if (!fits && !held_[job].empty()) move(job, {});
    }
    for (const std::size_t job : starts) put(job, jobs_[job].replicas);
  }

  double saving(std::size_t job, std::int64_t gpus) const {
    if (gpus + 1 > pollux::most_replicas(of_, as_, jobs_[job])) return 0;
    const double one_more = must(pollux::expected_time(of_, as_, jobs_[job], gpus + 1));
    const double left = must(pollux::expected_iterations(of_, as_, jobs_[job], running_[job].epoch()));
    return (must(pollux::expected_time(of_, as_, jobs_[job], gpus)) - one_more) * left;
  }

  /// One for everybody, then one by one to whom it saves most, the first of them if they are several.
  void plan_by_saving() {
    std::int64_t left = as_.gpus();
    std::vector<std::int64_t> counts(jobs_.size(), 0);
    for (const std::size_t job : active_) {
      if (left == 0) break;
      counts[job] = 1;
      --left;
    }
    for (; left > 0; --left) {
      std::size_t best = jobs_.size();
      double most = 0;
      for (const std::size_t job : active_) {
        const double saved = saving(job, counts[job]);
        if (saved > most) best = job;
        most = std::max(most, saved);
      }
      if (best == jobs_.size()) break;
      ++counts[best];
    }
    list moves;
    for (const std::size_t job : active_) {
      const std::int64_t now = std::accumulate(held_[job].begin(), held_[job].end(), std::int64_t{0});
      if (now == counts[job]) continue;
      held_[job].clear();
      if (counts[job] > 0) moves.push_back(job);
      if (counts[job] == 0) move(job, {});
    }
    std::stable_sort(moves.begin(), moves.end(), [&](std::size_t a, std::size_t b) { return counts[a] < counts[b]; });
    for (const std::size_t job : moves) put(job, counts[job]);
  }

  /// All of the node with most, then of the next one.
  void put(std::size_t job, std::int64_t gpus) {
    const auto nodes = static_cast<std::size_t>(as_.nodes);
    std::vector<std::int64_t> free(nodes, as_.gpus_per_node);
    for (const auto& held : held_) {
      for (std::size_t i = 0; i < held.size(); ++i) free[i] -= held[i];
    }
    std::vector<std::int64_t> placement;
    std::vector<std::int64_t> taken(nodes, 0);
    for (std::int64_t left = gpus; left > 0; left -= placement.back()) {
      const auto most = static_cast<std::size_t>(std::max_element(free.begin(), free.end()) - free.begin());
      placement.push_back(std::min(free[most], left));
      REQUIRE(placement.back() > 0);
      free[most] -= placement.back();
      taken[most] += placement.back();
    }
    held_[job] = taken;
    must(running_[job].move_to(placement));
  }
  void move(std::size_t job, std::vector<std::int64_t> to) {
    held_[job].clear();
    must(running_[job].move_to(std::move(to)));
  }

  const pollux::measurements& of_;
  const std::vector<pollux::job_spec>& jobs_;
  pollux::artefact as_;
  bool is_elastic_;
  std::vector<pollux::running_job> running_;
  std::vector<std::vector<std::int64_t>> held_;  ///< by job and node
  std::vector<std::int64_t> served_;
  list active_;
  list young_;
  list old_;
  list ended_;
};

/// Rows for every number of GPUs on every node in any order, and for every batch.
pollux::measurements invented(std::mt19937& random, std::int64_t nodes, std::int64_t gpus_per_node) {
  const auto drawn = [&](int least, int most) { return std::uniform_int_distribution<int>(least, most)(random); };
  pollux::measurements made;
  std::vector<std::string> placements{""};
  for (std::size_t i = 0; i < placements.size(); ++i) {
    if (static_cast<std::int64_t>(placements[i].size()) == nodes) continue;
    for (std::int64_t count = 1; count <= gpus_per_node; ++count)
      placements.push_back(placements[i] + static_cast<char>('0' + count));
  }
  for (pollux::app_row app = 0; app < 2; ++app) {
    made.apps.push_back({app == 0 ? "ncf" : "other", drawn(2, 4), 64, drawn(1, 3), drawn(2, 6)});
    for (const std::string& placement : placements) {
      for (std::int64_t local = 1; local <= 8; ++local)
        made.steps[{app, placement, local}] = {drawn(50, 400) / 256.0, drawn(0, 40) / 256.0};
    }
    for (std::int64_t epoch = 0; epoch < 4; ++epoch) {
      made.progress[{app, epoch + 1}] = static_cast<double>(40 * (epoch + 1) + drawn(0, 30));
      for (std::int64_t batch = 1; batch <= 64; ++batch) {
        made.gradients[{app, batch, epoch}] = {drawn(1, 20) / 4.0, drawn(0, 20) / 4.0};
        made.iterations[{app, batch, epoch}] = static_cast<double>(20 * (epoch + 1) + drawn(0, 15));
        made.last_epochs[{app, batch}] = 1 + static_cast<std::int64_t>(app);
      }
    }
  }
  return made;
}

}  // namespace

TEST_CASE("sessions decide as plain loops do") {
  std::mt19937 random(7);
  const auto drawn = [&](std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(random);
  };
  std::int64_t waited = 0;
  std::int64_t moved_again = 0;
  for (int round = 0; round < 60; ++round) {
    CAPTURE(round);
    pollux::artefact as;
    as.nodes = drawn(1, 3);
    as.gpus_per_node = drawn(1, 3);
    as.step = drawn(20, 60);
    as.restart = drawn(0, 40);
    as.demotion = drawn(50, 600);
    as.ends_at_whole_seconds = drawn(0, 3) > 0;
    as.expects_lone_split = drawn(0, 3) > 0;
    as.skips_present_epoch = drawn(0, 3) > 0;
    const pollux::measurements measured = invented(random, as.nodes, as.gpus_per_node);
    pollux::workload jobs{"invented", {}};
    for (int i = 0; i < 12; ++i)
      jobs.jobs.push_back({"job-" + std::to_string(i), static_cast<pollux::app_row>(drawn(0, 1)), drawn(1, 300),
                           drawn(1, as.gpus()), drawn(4, 24)});
    for (const pollux::policy_name& policy : pollux::policies()) {
      CAPTURE(policy.published);
      const pollux::outcome ours = must(pollux::play(measured, jobs, policy, as));
      CHECK(ours.times == plain_run(measured, jobs, as, policy.is_elastic).play());
      for (const std::int64_t time : ours.times) waited += time > 400 ? 1 : 0;
      moved_again += ours.moves > 2 * static_cast<std::int64_t>(jobs.jobs.size()) ? 1 : 0;
    }
  }
  CHECK(waited > 300);      // clusters are short of GPUs
  CHECK(moved_again > 60);  // and jobs lose theirs on the way
}

}  // namespace of_test_pollux_plain
