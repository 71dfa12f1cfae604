#include "benchmarks/muri/sharing_groups.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <utility>

namespace kaisched::bench::muri {

namespace {

constexpr int price_steps = 8;
constexpr int rounds_of_changes = 2;
/// Of what a GPU can be worth, as a part of the number of jobs: nothing that four jobs do together is faster.
constexpr double most_speed = 4;
/// Changes that gain less than this part are none: sums round.
constexpr double least_gain = 1e-12;
constexpr std::size_t nowhere = static_cast<std::size_t>(-1);
constexpr std::size_t own_gpus = static_cast<std::size_t>(-2);

struct worker {
  const sharing_candidate* of = nullptr;
  double worth = 0;  ///< a second alone
  double work = 0;   ///< worth of an iteration
};

/// Jobs on the same GPUs. Their kinds are in rising order, each job beside its kind.
struct bundle {
  std::size_t count = 0;
  std::array<std::uint32_t, most_sharers> kinds{};
  std::array<std::size_t, most_sharers> workers{};
  double work = 0;
  double worth = 0;
};

/// Jobs of one size.
class size_class {
 public:
  size_class(std::int64_t gpus, const shared_times& times) : gpus_(gpus), times_(times) {}

  void add(const worker& one) { workers_.push_back(one); }
  [[nodiscard]] std::size_t size() const { return workers_.size(); }
  [[nodiscard]] std::int64_t gpus() const { return gpus_; }
  [[nodiscard]] const std::vector<bundle>& bundles() const { return bundles_; }
  [[nodiscard]] const worker& at(std::size_t i) const { return workers_[i]; }

  /// Finds bundles that are worth more than their GPUs.
  void settle(double price_of_gpu) {
    const double price = price_of_gpu * static_cast<double>(gpus_);
    bundles_.clear();
    place_.assign(workers_.size(), nowhere);
    for (std::size_t i = 0; i < workers_.size(); ++i) put(i, best_place(i, price).where);
    bool changed = true;
    for (int round = 0; round < rounds_of_changes && changed; ++round) {
      changed = false;
      for (std::size_t i = 0; i < workers_.size(); ++i) changed = move(i, price) || changed;
      changed = merge(price) || changed;
    }
    std::erase_if(bundles_, [](const bundle& one) { return one.count == 0; });
  }

 private:
  struct offer {
    std::size_t where = nowhere;
    double gain = 0;
  };

  [[nodiscard]] bundle with(bundle to, std::size_t i) const {
    std::size_t at = to.count++;
    for (; at > 0 && to.kinds[at - 1] > workers_[i].of->kind; --at) {
      to.kinds[at] = to.kinds[at - 1];
      to.workers[at] = to.workers[at - 1];
    }
    to.kinds[at] = workers_[i].of->kind;
    to.workers[at] = i;
    measure(to);
    return to;
  }
  [[nodiscard]] bundle without(const bundle& from, std::size_t i) const {
    bundle made;
    for (std::size_t k = 0; k < from.count; ++k) {
      if (from.workers[k] == i) continue;
      made.kinds[made.count] = from.kinds[k];
      made.workers[made.count++] = from.workers[k];
    }
    measure(made);
    return made;
  }
  void measure(bundle& of) const {
    of.work = 0;
    for (std::size_t k = 0; k < of.count; ++k) of.work += workers_[of.workers[k]].work;
    of.worth = of.count == 0 ? 0 : of.work / times_.iteration(std::span(of.kinds).first(of.count));
  }

  [[nodiscard]] offer best_place(std::size_t i, double price) const {
    offer best;
    if (const double gain = workers_[i].worth - price; gain > best.gain) best = {own_gpus, gain};
    for (std::size_t b = 0; b < bundles_.size(); ++b) {
      if (bundles_[b].count == 0 || bundles_[b].count == most_sharers) continue;
      const double gain = with(bundles_[b], i).worth - bundles_[b].worth;
      if (gain > best.gain) best = {b, gain};
    }
    return best;
  }
  void put(std::size_t i, std::size_t where) {
    if (where == own_gpus) {
      where = static_cast<std::size_t>(
          std::find_if(bundles_.begin(), bundles_.end(), [](const bundle& one) { return one.count == 0; }) -
          bundles_.begin());
      if (where == bundles_.size()) bundles_.emplace_back();
    }
    place_[i] = where;
    if (where != nowhere) bundles_[where] = with(bundles_[where], i);
  }
  /// Takes a job out and puts it where it gains most, if that is more than where it was.
  bool move(std::size_t i, double price) {
    const std::size_t from = place_[i];
    bundle before;
    double gain = 0;
    if (from != nowhere) {
      before = bundles_[from];
      bundles_[from] = without(before, i);
      gain = before.worth - bundles_[from].worth - (before.count == 1 ? price : 0);
    }
    const offer best = best_place(i, price);
    if (best.gain > gain + least_gain * (gain < 0 ? -gain : gain)) {
      put(i, best.where);
      return true;
    }
    if (from != nowhere) bundles_[from] = before;
    return false;
  }
  bool merge(double price) {
    bool changed = false;
    for (std::size_t a = 0; a < bundles_.size(); ++a) {
      for (std::size_t b = a + 1; b < bundles_.size(); ++b) {
        if (bundles_[a].count == 0 || bundles_[b].count == 0) continue;
        if (bundles_[a].count + bundles_[b].count > most_sharers) continue;
        bundle both = bundles_[a];
        for (std::size_t k = 0; k < bundles_[b].count; ++k) both = with(both, bundles_[b].workers[k]);
        if (both.worth + price <= (bundles_[a].worth + bundles_[b].worth) * (1 + least_gain)) continue;
        for (std::size_t k = 0; k < bundles_[b].count; ++k) place_[bundles_[b].workers[k]] = a;
        bundles_[a] = both;
        bundles_[b] = {};
        changed = true;
      }
    }
    return changed;
  }

  std::int64_t gpus_;
  const shared_times& times_;
  std::vector<worker> workers_;  ///< worth most first
  std::vector<bundle> bundles_;
  std::vector<std::size_t> place_;  ///< by worker
};

/// A group of the answer, and what it is worth.
struct priced_group {
  sharing_group group;
  double worth = 0;
};

class group_search {
 public:
  group_search(std::vector<sharing_candidate> jobs, std::int64_t gpus, const shared_times& times)
      : gpus_(gpus), jobs_(std::move(jobs)) {
    const auto gpu_time = [](const sharing_candidate& one) { return one.remaining * static_cast<double>(one.gpus); };
    std::sort(jobs_.begin(), jobs_.end(), [&](const sharing_candidate& a, const sharing_candidate& b) {
      return std::tuple(gpu_time(a), a.job) < std::tuple(gpu_time(b), b.job);
    });
    for (std::size_t i = 0; i < jobs_.size(); ++i) {
      const sharing_candidate& one = jobs_[i];
      if (one.gpus < 1 || one.gpus > gpus) continue;
      size_class& like = sizes_.try_emplace(one.gpus, one.gpus, times).first->second;
      const double worth = static_cast<double>(one.gpus) * static_cast<double>(jobs_.size() - i);
      const worker with{&one, worth, worth * times.kind(one.kind).alone};
      // More than could run at once are not looked at.
      if (like.size() < static_cast<std::size_t>(gpus / one.gpus) * most_sharers) like.add(with);
      waiting_.push_back(with);
    }
  }

  [[nodiscard]] std::vector<sharing_group> best() {
    double low = 0;
    double high = most_speed * static_cast<double>(jobs_.size());
    settle(low);
    if (keep() <= gpus_) return answer();
    for (int step = 0; step < price_steps; ++step) {
      const double price = (low + high) / 2;
      settle(price);
      const std::int64_t used = keep();
      if (used == gpus_) break;
      (used < gpus_ ? high : low) = price;
    }
    return answer();
  }

 private:
  void settle(double price) {
    for (auto& [gpus, one] : sizes_) one.settle(price);
  }
  /// Keeps what was found if nothing better was: of groups that do not fit together those that are worth most for their
  /// GPUs. How many GPUs all would need.
  std::int64_t keep() {
    std::vector<priced_group> all;
    std::int64_t needed = 0;
    for (const auto& [gpus, like] : sizes_) {
      for (const bundle& one : like.bundles()) {
        priced_group& made = all.emplace_back(priced_group{{gpus, {}}, one.worth});
        for (std::size_t k = 0; k < one.count; ++k) made.group.jobs.push_back(like.at(one.workers[k]).of->job);
        needed += gpus;
      }
    }
    std::stable_sort(all.begin(), all.end(), [](const priced_group& a, const priced_group& b) {
      return a.worth * static_cast<double>(b.group.gpus) > b.worth * static_cast<double>(a.group.gpus);
    });
    std::int64_t room = gpus_;
    double worth = 0;
    std::vector<sharing_group> fitting;
    for (priced_group& one : all) {
      if (one.group.gpus > room) continue;
      room -= one.group.gpus;
      worth += one.worth;
      fitting.push_back(std::move(one.group));
    }
    if (worth > worth_ || found_.empty()) {
      worth_ = worth;
      found_ = std::move(fitting);
    }
    return needed;
  }
  /// With jobs alone on GPUs that are left, those first that need least.
  [[nodiscard]] std::vector<sharing_group> answer() {
    std::vector<std::uint32_t> chosen;
    std::int64_t room = gpus_;
    for (const sharing_group& one : found_) {
      room -= one.gpus;
      chosen.insert(chosen.end(), one.jobs.begin(), one.jobs.end());
    }
    std::sort(chosen.begin(), chosen.end());
    for (const worker& one : waiting_) {
      if (one.of->gpus > room || std::binary_search(chosen.begin(), chosen.end(), one.of->job)) continue;
      room -= one.of->gpus;
      found_.push_back({one.of->gpus, {one.of->job}});
    }
    return std::move(found_);
  }

  std::int64_t gpus_;
  std::vector<sharing_candidate> jobs_;
  std::vector<worker> waiting_;  ///< least GPU time first
  std::map<std::int64_t, size_class> sizes_;
  std::vector<sharing_group> found_;
  double worth_ = 0;
};

}  // namespace

std::uint32_t shared_times::add(const job_kind& kind) {
  const auto known = std::find(kinds_.begin(), kinds_.end(), kind);
  if (known != kinds_.end()) return static_cast<std::uint32_t>(known - kinds_.begin());
  kinds_.push_back(kind);
  return static_cast<std::uint32_t>(kinds_.size() - 1);
}

void shared_times::number_sets() const {
  // None counts as the smallest kind: sets of fewer than four are sets of four.
  below_.assign(kinds_.size() + 2, {});
  for (std::size_t kind = 0; kind < below_.size(); ++kind) {
    for (std::size_t k = 0, sets = 1; k < most_sharers; ++k) {
      sets = sets * (kind + k) / (k + 1);
      below_[kind][k] = sets;
    }
  }
  known_.assign(below_.back().back(), 0);
}

double shared_times::iteration(std::span<const std::uint32_t> kinds) const {
  if (kinds.size() == 1) return kinds_[kinds[0]].alone;
  if (known_.empty()) number_sets();
  std::size_t rank = 0;
  const std::size_t none = most_sharers - kinds.size();
  for (std::size_t k = 0; k < kinds.size(); ++k) rank += below_[kinds[k] + 1][none + k];
  double& time = known_[rank];
  if (time == 0) {
    std::array<stage_times, most_sharers> stages{};
    for (std::size_t k = 0; k < kinds.size(); ++k) stages[k] = kinds_[kinds[k]].stages;
    time = shared_iteration(std::span(stages).first(kinds.size()));
  }
  return time;
}

std::vector<sharing_group> choose_groups(std::vector<sharing_candidate> jobs, std::int64_t gpus,
                                         const shared_times& times) {
  return group_search(std::move(jobs), gpus, times).best();
}

}  // namespace kaisched::bench::muri
