#include "benchmarks/shockwave/shares.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

#include "benchmarks/shockwave/interior_point.hpp"

namespace kaisched::bench::shockwave {

namespace {

std::vector<double> gpus_of(std::span<const asking_job> jobs) {
  std::vector<double> made;
  for (const asking_job& one : jobs) made.push_back(one.gpus);
  return made;
}

/// The same share of time for all, however many GPUs a job has (Chaudhary et al., EuroSys 2020, as the benchmark has
/// it).
class equal_time final : public share_rule {
 public:
  std::vector<double> divide(std::span<const asking_job> jobs, double gpus, double) override {
    return std::vector<double>(jobs.size(), std::min(1.0, gpus / static_cast<double>(jobs.size())));
  }
};

/// The least GPU time is as large as can be (Gavel, OSDI 2020). With enough jobs all have the same, which leaves no
/// choice; else what is left is divided at the centre of what is allowed.
class largest_minimum final : public share_rule {
 public:
  std::vector<double> divide(std::span<const asking_job> jobs, double gpus, double) override {
    const auto* const smallest = std::min_element(jobs.data(), jobs.data() + jobs.size(),
                                                  [](const auto& a, const auto& b) { return a.gpus < b.gpus; });
    const double equal = gpus / static_cast<double>(jobs.size());
    std::vector<double> shares;
    for (const asking_job& one : jobs) shares.push_back(std::min(smallest->gpus, equal) / one.gpus);
    return equal <= smallest->gpus ? shares : centre_of(gpus_of(jobs), gpus, shares);
  }
};

/// All jobs end within a time that is as short as can be, to 5 % (OSSP of the paper). Within it many shares will do.
class shortest_time final : public share_rule {
 public:
  std::vector<double> divide(std::span<const asking_job> jobs, double gpus, double) override {
    double shortest = 0;
    double work = 0;
    for (const asking_job& one : jobs) {
      shortest = std::max(shortest, one.time_left());
      work += one.time_left() * one.gpus;
    }
    const double within = search(std::max(shortest, work / gpus));
    share_program program{gpus_of(jobs), gpus, std::vector<double>(jobs.size()), {}, {}};
    for (const asking_job& one : jobs) {
      program.speed.push_back(one.speed);
      program.least.push_back(one.steps_left / within);
    }
    return interior_point(program);
  }

 private:
  /// The last time that halving finds to be enough.
  static double search(double shortest) {
    double top = 1e6;
    double low = 100;
    double found = 0;
    while (found == 0) {
      double high = top;
      while (1.05 * low < high) {
        const double middle = (low + high) / 2;
        if (middle >= shortest) found = middle;
        (middle >= shortest ? high : low) = middle;
      }
      low = top;
      top *= 10;
    }
    return found;
  }
};

/// The most steps in a second, all jobs together. What jobs get that should get nothing is tiny, but it orders them.
class most_steps final : public share_rule {
 public:
  std::vector<double> divide(std::span<const asking_job> jobs, double gpus, double) override {
    share_program program{gpus_of(jobs), gpus, {}, {}, {}};
    for (const asking_job& one : jobs) program.value.push_back(one.speed);
    return interior_point(program);
  }
};

/// Jobs matched with places in the queues of GPUs, so that the sum of completion times is smallest (AlloX, EuroSys
/// 2020). On equal GPUs: the shortest come first, and the last of the n longest, of the n next and so on share a queue.
/// Who has got a GPU for itself keeps it.
class shortest_first final : public share_rule {
 public:
  std::vector<double> divide(std::span<const asking_job> jobs, double gpus, double) override {
    constexpr double looked_at = 0.2;  // of the jobs that wait, the first to arrive
    std::vector<std::size_t> waiting;
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      if (given_[jobs[i].number] != 1.0) waiting.push_back(i);
    }
    const auto held = static_cast<double>(jobs.size() - waiting.size());
    const auto queues = static_cast<std::size_t>(std::max(gpus - held, 0.0));
    const auto few = static_cast<std::size_t>(looked_at * static_cast<double>(waiting.size()));
    waiting.resize(std::min(waiting.size(), std::max(few, queues)));
    std::sort(waiting.begin(), waiting.end(), [&](std::size_t a, std::size_t b) {
      return std::pair(-jobs[a].time_left(), a) < std::pair(-jobs[b].time_left(), b);
    });
    const std::size_t first = waiting.size() - std::min(queues, waiting.size());
    for (std::size_t i = first; i < waiting.size(); ++i) given_[jobs[waiting[i]].number] = 1 / jobs[waiting[i]].gpus;
    std::vector<double> shares;
    for (const asking_job& one : jobs) shares.push_back(given_[one.number]);
    return shares;
  }

 private:
  std::map<std::size_t, double> given_;
};

/// The largest ratio of the time to the end and what it would be in a cluster of one's own is as small as can be
/// (Themis, NSDI 2020). Where one job alone decides it, the others are at the centre of the cone program that the
/// authors' solver gets, in which the distance from the least share counts twice.
class finish_time_fairness final : public share_rule {
 public:
  std::vector<double> divide(std::span<const asking_job> jobs, double gpus, double now) override {
    std::vector<double> alone;  // seconds
    for (const asking_job& one : jobs) {
      past& of = past_[one.number];
      if (of.speed > 0) of.time += (of.steps_left - one.steps_left) / of.speed;
      of.steps_left = one.steps_left;
      of.speed = one.speed * std::min(1.0, gpus / static_cast<double>(jobs.size()) / one.gpus);
      alone.push_back(of.time + one.steps_left / of.speed);
    }
    const auto shares_for = [&](double ratio) {
      std::vector<double> made;
      double used = 0;
      for (std::size_t i = 0; i < jobs.size(); ++i) {
        const double left = ratio * alone[i] - (now - jobs[i].arrival);
        const double needed = jobs[i].time_left();
        made.push_back(needed > 0 ? needed / left : 0.0);
        used += made.back() * jobs[i].gpus;
        if (needed > 0 && (!(left > 0) || needed > left)) return std::vector<double>{};
      }
      return used <= gpus ? made : std::vector<double>{};
    };
    double low = 0;
    double high = 1e9;
    constexpr int halvings = 300;
    for (int i = 0; i < halvings; ++i) {
      const double ratio = (low + high) / 2;
      (shares_for(ratio).empty() ? low : high) = ratio;
    }
    std::vector<double> shares = shares_for(high);
    if (shares.empty()) return std::vector<double>(jobs.size(), std::min(1.0, gpus / static_cast<double>(jobs.size())));
    const std::vector<double> widths = gpus_of(jobs);
    const double used = std::inner_product(shares.begin(), shares.end(), widths.begin(), 0.0);
    return used < gpus * (1 - 1e-9) ? centre_of(widths, gpus, shares, 2) : shares;
  }

 private:
  /// What the rule saw of a job when it was asked last: the time that its steps until then would have taken.
  struct past {
    double time = 0;
    double steps_left = 0;
    double speed = 0;  ///< in a cluster of its own
  };
  std::map<std::size_t, past> past_;
};

template <class Rule>
std::unique_ptr<share_rule> make() {
  return std::make_unique<Rule>();
}

}  // namespace

const std::vector<policy_name>& policies() {
  static const std::vector<policy_name> all{
      {"gandiva_fair", "equal_time", make<equal_time>},
      {"max_min_fairness", "largest_minimum", make<largest_minimum>},
      {"min_total_duration", "shortest_time", make<shortest_time>},
      {"max_sum_throughput_perf", "most_steps", make<most_steps>},
      {"allox", "shortest_first", make<shortest_first>},
      {"finish_time_fairness", "finish_time_fairness", make<finish_time_fairness>},
  };
  return all;
}

}  // namespace kaisched::bench::shockwave
