// The plug-in drf, without a hierarchy of queues.

#include <algorithm>
#include <bit>
#include <cmath>

#include "policy/tiers/plugins.hpp"
#include "policy/tiers/session.hpp"

namespace kaisched::policy::tiers {

namespace {

/// Shares nearer to each other than this are equal.
constexpr double share_slack = 0.000001;

class drf final : public plugin {
 public:
  [[nodiscard]] std::string_view name() const override { return "drf"; }
  [[nodiscard]] points orders() const override { return points_at({point::job_order}); }

  void open(const session& of, const points&) override {
    total_ = of.cluster().total();
    for (const job_state& job : of.cluster().jobs) {
      allocated_.push_back(allocated_of(of.cluster(), job));
      shares_.push_back(share(allocated_.back()));
    }
  }
  void task_allocated(const session& of, row task) override {
    const row job = of.cluster().tasks[task].job;
    allocated_[job].add(of.cluster().tasks[task].request);
    shares_[job] = share(allocated_[job]);
  }
  void task_deallocated(const session& of, row task) override {
    const row job = of.cluster().tasks[task].job;
    allocated_[job].subtract(of.cluster().tasks[task].request);
    shares_[job] = share(allocated_[job]);
  }

  [[nodiscard]] bool has_job_keys() const override { return true; }
  /// Shares are not negative: their bits are in their order.
  [[nodiscard]] std::int64_t job_key(const session&, row job) const override {
    return std::bit_cast<std::int64_t>(shares_[job]);
  }

  [[nodiscard]] victims preemptable(const session& of, row task, const std::vector<row>& candidates) const override {
    const cluster_state& cluster = of.cluster();
    resource_list mine = allocated_[cluster.tasks[task].job];
    mine.add(cluster.tasks[task].request);
    const double own = share(mine);
    std::map<row, resource_list> left;
    std::vector<row> allowed;
    for (const row one : candidates) {
      const row job = cluster.tasks[one].job;
      resource_list& other = left.try_emplace(job, allocated_[job]).first->second;
      other.subtract(cluster.tasks[one].request);
      const double theirs = share(other);
      if (own < theirs || std::fabs(own - theirs) <= share_slack) allowed.push_back(one);
    }
    return allowed;
  }

 private:
  [[nodiscard]] double share(const resource_list& allocated) const { return dominant_share(allocated, total_); }

  resource_list total_;
  std::vector<resource_list> allocated_;
  std::vector<double> shares_;
};

}  // namespace

std::unique_ptr<plugin> make_drf() { return std::make_unique<drf>(); }

}  // namespace kaisched::policy::tiers
