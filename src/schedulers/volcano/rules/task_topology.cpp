// The plug-in task-topology: tasks of a job whose roles should be together, or apart.
//
// Tasks are put into buckets, one by one, each into the one that it has most affinity to; the tasks of a bucket then
// want the same node. What was placed and is taken back is as if it had never been; Volcano remembers it.

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "policy/devices/vendor/words.hpp"
#include "schedulers/volcano/rules/plugins.hpp"
#include "schedulers/volcano/rules/session.hpp"

namespace kaisched::volcano {

namespace {

using role_names = std::vector<std::string>;

role_names split_list(std::string_view text, char sign) {
  const std::vector<std::string_view> parts = devices::split(text, sign);
  return {parts.begin(), parts.end()};
}

/// A set of roles: all of them are there, and none twice. Those without a name say nothing.
bool makes_sense(const role_names& roles, const std::set<std::string_view>& there) {
  std::set<std::string_view> seen;
  return std::ranges::all_of(roles, [&](const std::string& role) {
    return role.empty() || (there.contains(role) && seen.insert(role).second);
  });
}

/// Which roles should be together or apart; a role alone in a set, with itself.
class role_pairs {
 public:
  void add(const role_names& roles) {
    if (roles.size() == 1) pairs_.emplace(roles.front(), roles.front());
    for (std::size_t i = 0; i < roles.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        pairs_.emplace(roles[i], roles[j]);
        pairs_.emplace(roles[j], roles[i]);
      }
    }
  }
  [[nodiscard]] bool contains(const std::string& one, const std::string& other) const {
    return pairs_.contains({one, other});
  }

 private:
  std::set<std::pair<std::string, std::string>> pairs_;
};

using role_counts = std::map<std::string, std::int64_t, std::less<>>;

/// Tasks that want the same node.
struct bucket {
  std::map<std::string_view, row> waiting;  ///< by uid
  role_counts roles;
  policy::resource_list request;  ///< of those that wait
  double size = 0;                ///< of that: a core, a GPU and a gibibyte are alike
  std::int64_t placed = 0;
  std::map<row, std::int64_t> on_node;

  void change_request(const task_state& task, int sign) {
    constexpr double mebibyte = 1024.0 * 1024.0;
    double sum = task.request->cpu + task.request->memory / mebibyte;
    for (const auto& [name, amount] : task.request->scalars()) sum += amount;
    size += sign * sum;
    if (sign > 0) {
      request.add(task.request);
    } else {
      request.subtract(task.request);
    }
  }
};

/// What is known of one job.
class job_topology {
 public:
  /// nullopt: the job says nothing, or what makes no sense.
  static std::optional<job_topology> of(const cluster_state& cluster, const job_state& job) {
    const role_topology& says = job.roles;
    if (!says.together && !says.apart && !says.order) return std::nullopt;
    std::set<std::string_view> there;
    for (const row task : job.tasks) there.insert(cluster.tasks[task].role);
    job_topology made;
    for (const auto& [text, is_apart] : {std::pair{&says.together, false}, std::pair{&says.apart, true}}) {
      if (!*text) continue;
      for (const std::string& set : split_list(**text, ';')) {
        const role_names roles = split_list(set, ',');
        if (!makes_sense(roles, there)) return std::nullopt;
        made.add(roles, is_apart);
      }
    }
    if (says.order) {
      const role_names roles = split_list(*says.order, ',');
      if (!makes_sense(roles, there)) return std::nullopt;
      for (std::size_t i = 0; i < roles.size(); ++i)
        made.place_in_order_[roles[i]] = static_cast<std::int64_t>(roles.size() - i);
    }
    made.fill(cluster, job);
    return made;
  }

  [[nodiscard]] const bucket* bucket_of(row task) const {
    const auto found = bucket_of_.find(task);
    return found == bucket_of_.end() ? nullptr : &buckets_[found->second];
  }
  [[nodiscard]] std::size_t largest() const { return largest_; }

  /// Below 0: the left one first. Both are in buckets.
  [[nodiscard]] int compare(const cluster_state& cluster, row left, row right) const {
    const std::size_t l = bucket_of_.find(left)->second;
    const std::size_t r = bucket_of_.find(right)->second;
    const std::size_t left_size = buckets_[l].waiting.size();
    const std::size_t right_size = buckets_[r].waiting.size();
    if (left_size != right_size) return left_size > right_size ? -1 : 1;
    if (l != r) return l < r ? -1 : 1;
    const std::int64_t by_rank = compare_roles(cluster.tasks[left].role, cluster.tasks[right].role);
    if (by_rank == 0) return 0;
    return by_rank > 0 ? -1 : 1;
  }

  /// What the node is worth to the task, in tasks.
  [[nodiscard]] std::int64_t points(const cluster_state& cluster, row task, row node) const {
    const bucket* const own = bucket_of(task);
    if (own == nullptr) return 0;
    policy::resource_list most = cluster.nodes[node].idle;
    most.add(cluster.nodes[node].releasing);
    if (policy::less_partly(most, cluster.tasks[task].request, policy::absent_resource::zero)) return 0;
    const auto there = own->on_node.find(node);
    std::int64_t made = there == own->on_node.end() ? 0 : there->second;
    const auto roles = placed_on_.find(node);
    if (roles != placed_on_.end())
      made += std::min<std::int64_t>(affinity(cluster.tasks[task].role, roles->second, true), 0);
    made += static_cast<std::int64_t>(own->waiting.size());
    policy::resource_list rest = own->request;
    for (const auto& [uid, other] : own->waiting) {
      if (policy::less_equal(rest, most, policy::absent_resource::zero)) break;
      if (other == task) continue;
      rest.subtract(cluster.tasks[other].request);
      --made;
    }
    return made;
  }

  /// The task comes to its node, or is taken back.
  void placed(const cluster_state& cluster, row task, bool is_back) {
    const task_state& one = cluster.tasks[task];
    const std::int64_t step = is_back ? -1 : 1;
    if (!one.role.empty()) placed_on_[one.node][one.role] += step;
    const auto found = bucket_of_.find(task);
    if (found == bucket_of_.end()) return;
    bucket& own = buckets_[found->second];
    own.on_node[one.node] += step;
    own.placed += step;
    own.change_request(one, is_back ? 1 : -1);
    if (is_back) {
      own.waiting.emplace(one.uid, task);
    } else {
      own.waiting.erase(one.uid);
    }
  }

 private:
  /// How much a role counts by what it asks for: the more it is bound, the earlier it is placed.
  enum rank : std::int64_t { away_from_others = 1, with_itself = 2, with_others = 3, away_from_itself = 4 };

  void add(const role_names& roles, bool is_apart) {
    (is_apart ? apart_ : together_).add(roles);
    constexpr std::array alone{with_itself, away_from_itself};
    constexpr std::array among_others{with_others, away_from_others};
    const rank of = (roles.size() == 1 ? alone : among_others)[is_apart ? 1 : 0];
    for (const std::string& role : roles) ranks_[role] = std::max<std::int64_t>(ranks_[role], of);
  }

  [[nodiscard]] static std::int64_t value_of(const role_counts& of, const std::string& role) {
    const auto found = of.find(role);
    return found == of.end() ? 0 : found->second;
  }
  /// Above 0: the left one counts for more.
  [[nodiscard]] std::int64_t compare_roles(const std::string& left, const std::string& right) const {
    const std::int64_t by_order = value_of(place_in_order_, left) - value_of(place_in_order_, right);
    return by_order != 0 ? by_order : value_of(ranks_, left) - value_of(ranks_, right);
  }

  [[nodiscard]] std::int64_t affinity(const std::string& role, const role_counts& there, bool only_apart) const {
    std::int64_t sum = 0;
    for (const auto& [other, count] : there) {
      if (!only_apart && together_.contains(role, other)) sum += count;
      if (apart_.contains(role, other)) sum -= count;
    }
    return sum;
  }

  void fill(const cluster_state& cluster, const job_state& job) {
    std::vector<row> tasks = those_that(job.tasks, [&](row task) {
      const std::string& role = cluster.tasks[task].role;
      return !role.empty() && ranks_.contains(role);
    });
    // Those that have nodes, node by node, then those that count for most.
    std::ranges::sort(tasks, [&](row left, row right) {
      const task_state& l = cluster.tasks[left];
      const task_state& r = cluster.tasks[right];
      if ((l.node == no_row) != (r.node == no_row)) return r.node == no_row;
      const std::int64_t by_rank = l.node == no_row ? compare_roles(l.role, r.role) : 0;
      if (by_rank != 0) return by_rank > 0;
      return std::tie(l.node, l.name) < std::tie(r.node, r.name);
    });
    std::map<row, std::size_t> of_node;
    for (const row task : tasks) {
      const task_state& one = cluster.tasks[task];
      const auto known = of_node.find(one.node);
      std::optional<std::size_t> chosen;
      if (one.node == no_row) {
        chosen = best_bucket(one.role);
      } else if (known != of_node.end()) {
        chosen = known->second;
      }
      if (!chosen) {
        chosen = buckets_.size();
        buckets_.emplace_back();
        if (one.node != no_row) of_node.emplace(one.node, *chosen);
      }
      put(cluster, task, *chosen);
    }
  }

  /// The one with most affinity to the role, of equals the smallest; none if all are averse to it.
  [[nodiscard]] std::optional<std::size_t> best_bucket(const std::string& role) const {
    std::optional<std::size_t> best;
    std::int64_t most = std::numeric_limits<std::int64_t>::min();
    for (std::size_t i = 0; i < buckets_.size(); ++i) {
      const std::int64_t found = affinity(role, buckets_[i].roles, false);
      if (found < most || (found == most && buckets_[i].size >= buckets_[*best].size)) continue;
      most = found;
      best = i;
    }
    return most < 0 ? std::nullopt : best;
  }

  void put(const cluster_state& cluster, row task, std::size_t into) {
    const task_state& one = cluster.tasks[task];
    bucket& to = buckets_[into];
    bucket_of_.emplace(task, into);
    ++to.roles[one.role];
    if (one.node != no_row) {
      ++to.on_node[one.node];
      ++to.placed;
    } else {
      to.waiting.emplace(one.uid, task);
      to.change_request(one, 1);
    }
    largest_ = std::max(largest_, to.waiting.size() + static_cast<std::size_t>(to.placed));
  }

  role_pairs together_;
  role_pairs apart_;
  role_counts ranks_;
  role_counts place_in_order_;
  std::vector<bucket> buckets_;
  std::map<row, std::size_t> bucket_of_;
  std::size_t largest_ = 0;
  std::map<row, role_counts> placed_on_;  ///< by node, of this session
};

class task_topology final : public plugin {
 public:
  explicit task_topology(std::int64_t weight) : weight_(weight) {}

  [[nodiscard]] std::string_view name() const override { return "task-topology"; }
  [[nodiscard]] points orders() const override { return points_at({point::task_order}); }
  [[nodiscard]] bool judges_by_kind(const session&) const override { return jobs_.empty(); }
  [[nodiscard]] bool judges_victims_by_node() const override { return jobs_.empty(); }

  void open(const session& of, const points&) override {
    const cluster_state& cluster = of.cluster();
    for (row job = 0; job < cluster.jobs.size(); ++job) {
      const bool waits = std::ranges::any_of(
          cluster.jobs[job].tasks, [&](row task) { return cluster.tasks[task].status == task_status::pending; });
      if (!waits) continue;
      if (auto made = job_topology::of(cluster, cluster.jobs[job])) jobs_.emplace(job, std::move(*made));
    }
  }
  void task_allocated(const session& of, row task) override {
    const task_state& one = of.cluster().tasks[task];
    const auto found = jobs_.find(one.job);
    // Who was evicted and stays after all has been there before.
    const bool is_new = one.status == task_status::allocated || one.status == task_status::pipelined;
    if (found != jobs_.end() && is_new) found->second.placed(of.cluster(), task, false);
  }
  void task_deallocated(const session& of, row task) override {
    const task_state& one = of.cluster().tasks[task];
    const auto found = jobs_.find(one.job);
    if (found != jobs_.end() && one.status == task_status::pending) found->second.placed(of.cluster(), task, true);
  }

  /// Those in buckets first, of a job those of the largest bucket.
  [[nodiscard]] order task_order(const session& of, row left, row right) const override {
    const auto l = jobs_.find(of.cluster().tasks[left].job);
    const auto r = jobs_.find(of.cluster().tasks[right].job);
    if (l == jobs_.end() || r == jobs_.end()) return std::nullopt;
    const bool left_in = l->second.bucket_of(left) != nullptr;
    const bool right_in = r->second.bucket_of(right) != nullptr;
    if (left_in != right_in) return left_in ? -1 : 1;
    if (l != r || !left_in) return 0;
    return l->second.compare(of.cluster(), left, right);
  }

  [[nodiscard]] bool scores_nodes() const override { return true; }
  void score_nodes(const session& of, row task, const std::vector<row>& nodes,
                   std::vector<double>& scores) const override {
    const auto found = jobs_.find(of.cluster().tasks[task].job);
    if (found == jobs_.end()) return;
    const double largest = static_cast<double>(std::max<std::size_t>(found->second.largest(), 1));
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const std::int64_t points = found->second.points(of.cluster(), task, nodes[i]);
      scores[i] += static_cast<double>(points * weight_) * policy::max_node_score / largest;
    }
  }

 private:
  std::int64_t weight_;
  std::map<row, job_topology> jobs_;
};

}  // namespace

std::unique_ptr<plugin> make_task_topology(std::int64_t weight) { return std::make_unique<task_topology>(weight); }

}  // namespace kaisched::volcano
