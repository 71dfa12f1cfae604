// The plug-in network-topology-aware.

#include <algorithm>
#include <utility>

#include "policy/placement/strategy_fit.hpp"
#include "schedulers/volcano/rules/plugins.hpp"
#include "schedulers/volcano/rules/session.hpp"

namespace kaisched::volcano {

namespace {

class network final : public plugin {
 public:
  explicit network(network_settings settings) : settings_(std::move(settings)) {}

  [[nodiscard]] std::string_view name() const override { return "network-topology-aware"; }

  void open(const session& of, const points&) override {
    const cluster_state& cluster = of.cluster();
    bool first = true;
    for (const auto& [name, domain] : cluster.domains.all()) {
      lowest_ = first ? domain.tier : std::min(lowest_, domain.tier);
      highest_ = first ? domain.tier : std::max(highest_, domain.tier);
      first = false;
      policy::domain_resources& room = room_[name];
      policy::domain_amounts& amounts = amounts_[name];
      for (const node_state& node : cluster.nodes) {
        if (!domain.nodes.contains(node.name)) continue;
        room.allocatable.add(node.allocatable);
        room.idle.add(node.idle);
        room.future_idle.add(node.future_idle());
        amounts.allocatable.add(node.allocatable);
        amounts.used.add(node.used);
      }
    }
  }

  void task_allocated(const session& of, row task) override {
    each_domain_of(of, task, [&](policy::domain_amounts& one) { one.used.add(of.cluster().tasks[task].request); });
  }
  void task_deallocated(const session& of, row task) override {
    each_domain_of(of, task, [&](policy::domain_amounts& one) { one.used.subtract(of.cluster().tasks[task].request); });
  }

  [[nodiscard]] std::optional<std::vector<std::vector<std::string>>> gradients(
      const session& of, const job_state& job, const sub_job_state* sub_job, const std::string& root,
      policy::domain_search purpose) const override {
    const policy::distance_limit& limit = sub_job != nullptr ? sub_job->topology : job.topology;
    if (!limit.is_condition()) return {{{root}}};
    policy::resource_list minimum;
    if (sub_job == nullptr) minimum = job.min_resources.value_or(policy::shared_resources());
    for (const row task : sub_job == nullptr ? std::vector<row>{} : sub_job->tasks) {
      const task_state& one = of.cluster().tasks[task];
      if (one.status == task_status::pending) minimum.add(one.first_request);
    }
    const std::string& allocated = sub_job != nullptr ? sub_job->allocated_domain : job.allocated_domain;
    std::vector<std::vector<std::string>> found = policy::domain_gradients(
        of.cluster().domains, room_, {root, *limit.highest_tier, allocated, &minimum, purpose});
    return purpose == policy::domain_search::allocate
               ? found
               : policy::widest_first(std::move(found), settings_.most_to_evict_from);
  }

  void score_domains(const session& of, const job_state&, const sub_job_state& sub_job,
                     std::map<std::string, double, std::less<>>& scores) const override {
    if (of.cluster().domains.all().empty()) return;  // one place: the whole cluster
    policy::resource_list request;
    for (const row task : sub_job.tasks) request.add(of.cluster().tasks[task].request);
    std::vector<policy::near_candidate> candidates;
    for (const auto& [name, score] : scores) {
      candidates.push_back({policy::domain_packing(request, amounts_.at(name), settings_.weights),
                            tasks_in(of.cluster(), sub_job, name)});
    }
    policy::prefer_where_pods_are(candidates, sub_job.tasks.size());
    std::size_t at = 0;
    for (auto& [name, score] : scores) score += scaled(candidates[at++].score);
  }

  [[nodiscard]] bool judges_by_kind(const session& of) const override { return of.cluster().domains.all().empty(); }

  [[nodiscard]] bool scores_nodes() const override { return true; }
  void score_nodes(const session& of, row task, const std::vector<row>& nodes,
                   std::vector<double>& scores) const override {
    const cluster_state& cluster = of.cluster();
    const task_state& one = cluster.tasks[task];
    const sub_job_state& sub_job = cluster.jobs[one.job].sub_jobs[one.sub_job];
    if (!sub_job.has_topology) return score_packing(cluster, one, nodes, scores);
    if (one.near.empty()) return;
    std::vector<policy::near_candidate> candidates;
    for (const row node : nodes) {
      const std::string domain = lowest_around(cluster, cluster.nodes[node].name);
      candidates.push_back({policy::nearness(cluster.domains, domain, one.near, lowest_, highest_),
                            domain.empty() ? 0 : tasks_in(cluster, sub_job, domain)});
    }
    policy::prefer_where_pods_are(candidates, sub_job.tasks.size());
    for (std::size_t i = 0; i < nodes.size(); ++i) scores[i] += scaled(candidates[i].score);
  }

 private:
  [[nodiscard]] double scaled(double score) const { return policy::max_node_score * settings_.weight * score; }

  template <class Change>
  void each_domain_of(const session& of, row task, const Change& change) {
    const std::string& node = of.cluster().nodes[of.cluster().tasks[task].node].name;
    for (const auto& [name, domain] : of.cluster().domains.all()) {
      if (domain.nodes.contains(node)) change(amounts_[name]);
    }
  }

  [[nodiscard]] static std::size_t tasks_in(const cluster_state& cluster, const sub_job_state& sub_job,
                                            const std::string& domain) {
    std::vector<std::string> nodes;
    for (const row task : sub_job.tasks) {
      const row node = cluster.tasks[task].node;
      nodes.push_back(node == no_row ? std::string{} : cluster.nodes[node].name);
    }
    const policy::network_domains::domain* found = cluster.domains.find(domain);
    return found == nullptr ? 0 : policy::pods_within(found->nodes, nodes);
  }

  [[nodiscard]] std::string lowest_around(const cluster_state& cluster, const std::string& node) const {
    for (const auto& [name, domain] : cluster.domains.all()) {
      if (domain.tier == lowest_ && domain.nodes.contains(node)) return name;
    }
    return {};
  }

  void score_packing(const cluster_state& cluster, const task_state& task, const std::vector<row>& nodes,
                     std::vector<double>& scores) const {
    if (!settings_.packs_other_tasks) return;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      policy::domains_by_tier around;
      for (std::int64_t level = lowest_; level <= highest_; ++level) {
        const auto found = std::ranges::find_if(cluster.domains.all(), [&](const auto& domain) {
          return domain.second.tier == level && domain.second.nodes.contains(cluster.nodes[nodes[i]].name);
        });
        around.push_back(found == cluster.domains.all().end() ? nullptr : &amounts_.at(found->first));
      }
      scores[i] += scaled(policy::packing_around(task.request, around, settings_.weights, lowest_, settings_.fading));
    }
  }

  network_settings settings_;
  std::int64_t lowest_ = 0;
  std::int64_t highest_ = 0;
  std::map<std::string, policy::domain_resources, std::less<>> room_;  ///< as it was when the session was opened
  std::map<std::string, policy::domain_amounts, std::less<>> amounts_;
};

}  // namespace

std::unique_ptr<plugin> make_network(network_settings settings) {
  return std::make_unique<network>(std::move(settings));
}

}  // namespace kaisched::volcano
