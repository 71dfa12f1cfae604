// The plug-in drf.

#include <algorithm>
#include <bit>
#include <cmath>

#include "schedulers/volcano/rules/plugins.hpp"
#include "schedulers/volcano/rules/session.hpp"
#include "schedulers/volcano/rules/share_tree.hpp"

namespace kaisched::volcano {

namespace {

/// Shares nearer to each other than this are equal.
constexpr double share_slack = 0.000001;

class drf final : public plugin {
 public:
  [[nodiscard]] std::string_view name() const override { return "drf"; }
  [[nodiscard]] points orders() const override { return points_at({point::job_order, point::queue_order}); }

  void open(const session& of, const points& on) override {
    const cluster_state& cluster = of.cluster();
    total_ = cluster.total();
    if (on.test(static_cast<std::size_t>(point::hierarchy))) tree_.emplace(total_);
    for (row job = 0; job < cluster.jobs.size(); ++job) {
      const job_state& one = cluster.jobs[job];
      allocated_.push_back(allocated_of(cluster, one));
      shares_.push_back(share(allocated_.back()));
      if (!tree_ || one.queue == no_row) continue;
      tree_->put(job, one.name, cluster.queues[one.queue].hierarchy, requests_of(cluster, one.tasks),
                 allocated_.back());
    }
  }
  void task_allocated(const session& of, row task) override {
    const row job = of.cluster().tasks[task].job;
    allocated_[job].add(of.cluster().tasks[task].request);
    note_change(of, job);
  }
  void task_deallocated(const session& of, row task) override {
    const row job = of.cluster().tasks[task].job;
    allocated_[job].subtract(of.cluster().tasks[task].request);
    note_change(of, job);
  }

  [[nodiscard]] order queue_order(const session& of, row left, row right) const override {
    if (!tree_) return std::nullopt;
    const double found = tree_->compare(of.cluster().queues[left].hierarchy, of.cluster().queues[right].hierarchy);
    return found < 0 ? -1 : found > 0 ? 1 : 0;
  }

  /// Those whose queue would still come behind that of the task, each by itself.
  [[nodiscard]] victims reclaimable(const session& of, row task, const std::vector<row>& candidates) const override {
    if (!tree_) return std::nullopt;
    const cluster_state& cluster = of.cluster();
    const row taker = cluster.tasks[task].job;
    std::vector<row> allowed;
    if (cluster.jobs[taker].queue == no_row) return allowed;
    share_tree after = *tree_;
    policy::resource_list mine = allocated_[taker];
    mine.add(cluster.tasks[task].request);
    after.change(taker, mine);
    for (const row one : candidates) {
      const row job = cluster.tasks[one].job;
      if (cluster.jobs[job].queue == no_row) continue;
      policy::resource_list left = job == taker ? mine : allocated_[job];
      const policy::resource_list before = left;
      left.subtract(cluster.tasks[one].request);
      after.change(job, left);
      const bool stays_behind = after.compare(cluster.queues[cluster.jobs[taker].queue].hierarchy,
                                              cluster.queues[cluster.jobs[job].queue].hierarchy) < 0;
      after.change(job, before);
      if (stays_behind) allowed.push_back(one);
    }
    return allowed;
  }

  [[nodiscard]] bool has_job_keys() const override { return true; }
  /// Shares are not negative: their bits are in their order.
  [[nodiscard]] std::int64_t job_key(const session&, row job) const override {
    return std::bit_cast<std::int64_t>(shares_[job]);
  }

  [[nodiscard]] victims preemptable(const session& of, row task, const std::vector<row>& candidates) const override {
    const cluster_state& cluster = of.cluster();
    policy::resource_list mine = allocated_[cluster.tasks[task].job];
    mine.add(cluster.tasks[task].request);
    const double own = share(mine);
    std::map<row, policy::resource_list> left;
    return those_that(candidates, [&](row one) {
      const row job = cluster.tasks[one].job;
      policy::resource_list& other = left.try_emplace(job, allocated_[job]).first->second;
      other.subtract(cluster.tasks[one].request);
      const double theirs = share(other);
      return own < theirs || std::fabs(own - theirs) <= share_slack;
    });
  }

 private:
  void note_change(const session& of, row job) {
    shares_[job] = share(allocated_[job]);
    if (tree_ && of.cluster().jobs[job].queue != no_row) tree_->change(job, allocated_[job]);
  }
  [[nodiscard]] double share(const policy::resource_list& allocated) const {
    return policy::dominant_share(allocated, total_);
  }

  policy::resource_list total_;
  std::vector<policy::resource_list> allocated_;
  std::vector<double> shares_;
  std::optional<share_tree> tree_;  ///< none: queues are not ordered
};

}  // namespace

std::unique_ptr<plugin> make_drf() { return std::make_unique<drf>(); }

}  // namespace kaisched::volcano
