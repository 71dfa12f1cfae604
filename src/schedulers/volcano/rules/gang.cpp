// The plug-in gang.

#include "schedulers/volcano/rules/plugins.hpp"
#include "schedulers/volcano/rules/session.hpp"

namespace kaisched::volcano {

namespace {

/// Those that are not ready come first; between two that are not, others decide.
int unready_first(bool left_ready, bool right_ready) {
  if (left_ready == right_ready) return 0;
  return left_ready ? 1 : -1;
}

class gang final : public sparing_plugin {
 public:
  [[nodiscard]] std::string_view name() const override { return "gang"; }
  [[nodiscard]] points orders() const override { return points_at({point::job_order, point::sub_job_order}); }
  [[nodiscard]] bool judges_victims_by_node() const override { return true; }

  [[nodiscard]] bool has_job_keys() const override { return true; }
  [[nodiscard]] std::int64_t job_key(const session& of, row job) const override {
    return policy::is_gang_ready(counts_of(of.cluster(), of.cluster().jobs[job])) ? 1 : 0;
  }

  [[nodiscard]] order sub_job_order(const session& of, const sub_job_state& left,
                                    const sub_job_state& right) const override {
    return unready_first(policy::is_gang_ready(counts_of(of.cluster(), left)),
                         policy::is_gang_ready(counts_of(of.cluster(), right)));
  }

  [[nodiscard]] answer is_valid(const session& of, row job) const override {
    const cluster_state& cluster = of.cluster();
    const job_state& one = cluster.jobs[job];
    return roles_meet(cluster, one, gang_condition::valid) && sub_jobs_meet(cluster, one, gang_condition::valid) &&
           valid_tasks(cluster, one) >= one.min_available;
  }

  [[nodiscard]] answer is_ready(const session& of, row job) const override {
    const job_state& one = of.cluster().jobs[job];
    return roles_meet(of.cluster(), one, gang_condition::ready) &&
           sub_jobs_meet(of.cluster(), one, gang_condition::ready) &&
           policy::is_gang_ready(counts_of(of.cluster(), one));
  }

  [[nodiscard]] answer is_sub_job_ready(const session& of, const sub_job_state& sub_job) const override {
    return policy::is_gang_ready(counts_of(of.cluster(), sub_job));
  }

  [[nodiscard]] std::optional<vote> is_pipelined(const session& of, row job) const override {
    const job_state& one = of.cluster().jobs[job];
    const bool would_run = roles_meet(of.cluster(), one, gang_condition::pipelined) &&
                           sub_jobs_meet(of.cluster(), one, gang_condition::pipelined) &&
                           policy::is_gang_pipelined(counts_of(of.cluster(), one));
    return would_run ? vote::permit : vote::reject;
  }

  [[nodiscard]] std::optional<vote> is_sub_job_pipelined(const session& of,
                                                         const sub_job_state& sub_job) const override {
    return policy::is_gang_pipelined(counts_of(of.cluster(), sub_job)) ? vote::permit : vote::reject;
  }

  [[nodiscard]] answer is_starving(const session& of, row job) const override {
    return policy::is_gang_starving(counts_of(of.cluster(), of.cluster().jobs[job]));
  }

  [[nodiscard]] victims preemptable(const session& of, row, const std::vector<row>& candidates) const override {
    std::map<row, std::int64_t> left;
    return those_that(candidates, [&](row task) {
      const row job = of.cluster().tasks[task].job;
      const policy::gang_counts counts = counts_of(of.cluster(), of.cluster().jobs[job]);
      std::int64_t& ready = left.try_emplace(job, counts.ready).first->second;
      if (ready <= counts.min_available) return false;
      --ready;
      return true;
    });
  }

  /// Who takes from gangs as a whole knows what they can spare.
  [[nodiscard]] victims evictable(const session&, row, taking, const std::vector<row>& candidates) const override {
    return candidates;
  }
};

}  // namespace

std::unique_ptr<plugin> make_gang() { return std::make_unique<gang>(); }

}  // namespace kaisched::volcano
