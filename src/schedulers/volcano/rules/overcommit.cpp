// The plug-in overcommit.

#include "policy/gang/admission.hpp"
#include "schedulers/volcano/rules/plugins.hpp"
#include "schedulers/volcano/rules/session.hpp"

namespace kaisched::volcano {

namespace {

class overcommit final : public plugin {
 public:
  explicit overcommit(double factor) : factor_(factor) {}

  [[nodiscard]] std::string_view name() const override { return "overcommit"; }

  void open(const session& of, const points&) override {
    const cluster_state& cluster = of.cluster();
    policy::resource_list used;
    for (const node_state& node : cluster.nodes) used.add(node.used);
    room_ = policy::promisable(cluster.total(), used, factor_);
    for (const job_state& job : cluster.jobs) {
      if (!job.min_resources) continue;
      if (job.phase == job_phase::inqueue) promised_.add(*job.min_resources);
      // Of a gang that runs, what it needs to start again is promised already.
      if (job.phase == job_phase::running && counts_of(cluster, job).ready >= job.min_available) {
        promised_.add(outstanding_of(job, allocated_of(cluster, job)));
      }
    }
  }

  [[nodiscard]] std::optional<vote> may_enqueue(const session& of, row job) const override {
    const job_state& one = of.cluster().jobs[job];
    if (!one.min_resources) return vote::permit;
    return policy::overcommitted(room_, promised_, *one.min_resources).empty() ? vote::permit : vote::reject;
  }

  void job_enqueued(const session& of, row job) override {
    const job_state& one = of.cluster().jobs[job];
    if (one.min_resources) promised_.add(*one.min_resources);
  }

 private:
  double factor_;
  policy::resource_list room_;
  policy::resource_list promised_;
};

}  // namespace

std::unique_ptr<plugin> make_overcommit(double factor) { return std::make_unique<overcommit>(factor); }

}  // namespace kaisched::volcano
