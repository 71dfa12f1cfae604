#include "benchmarks/pollux/play.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include <fmt/format.h>

#include <kaisched/cluster.hpp>
#include <kaisched/quantity.hpp>
#include <kaisched/schema.hpp>

#include "benchmarks/adapter.hpp"

namespace kaisched::bench::pollux {

namespace {

constexpr std::string_view only_queue = "trace";
// Together they keep sums of GPU seconds far from overflow.
constexpr std::int64_t most_steps = 10'000'000;
constexpr std::int64_t longest_step = 86'400;
constexpr std::int64_t most_nodes = 100'000;
constexpr std::int64_t most_replicas_of_a_job = 4096;
constexpr std::int64_t most_seconds = std::numeric_limits<std::int32_t>::max();

void push_gpus(table::column& to, std::int64_t gpus, std::int64_t pods) {
  for (const std::int64_t amount : {std::int64_t{0}, std::int64_t{0}, gpus * whole_device, pods}) to.push(amount);
}

std::string pod_name(std::size_t job, std::int64_t pod) { return fmt::format("{:07}-{:04}", job, pod); }

/// A cluster of equal nodes in which jobs are groups of pods with a GPU each.
class job_cluster {
 public:
  explicit job_cluster(std::size_t jobs) : pods_(jobs, 0) {}

  result<void> open(const artefact& as) {
    table queues = rows_of(table_kind::queue);
    queues.add(col::queue_name, column_type::string).push(only_queue);
    table nodes = rows_of(table_kind::node);
    table::column& names = nodes.add(col::node_name, column_type::string);
    table::column& capacities = nodes.add(col::node_capacity, column_type::i64, built_in_dimensions);
    for (std::int64_t i = 0; i < as.nodes; ++i) {
      names.push(std::string_view(fmt::format("{:05}", i)));
      push_gpus(capacities, as.gpus_per_node, as.gpus_per_node);
    }
    const std::array both{std::move(queues), std::move(nodes)};
    return cluster_.apply(std::span<const table>(both));
  }

  /// @param least pods without which it does not start
  void add(std::size_t job, std::int64_t pods, std::int64_t least) {
    added_.push_back({job, pods, least});
    pods_[job] = pods;
  }
  void remove(std::size_t job) {
    if (pods_[job] > 0) removed_.push_back({job, std::exchange(pods_[job], 0), 0});
  }

  /// The session over the cluster as it is after all additions and removals.
  result<session> run(const engine& with) {
    if (!removed_.empty()) {
      const std::array gone{pods_of(removed_, table_op::remove), groups_of(removed_, table_op::remove)};
      if (auto done = cluster_.apply(std::span<const table>(gone)); !done) return done.take_failure();
    }
    if (!added_.empty()) {
      const std::array fresh{groups_of(added_, table_op::add), pods_of(added_, table_op::add)};
      if (auto done = cluster_.apply(std::span<const table>(fresh)); !done) return done.take_failure();
    }
    if (!base_ || !removed_.empty() || !added_.empty()) base_ = cluster_.take_snapshot();
    removed_.clear();
    added_.clear();
    return with.run(*base_, 0);
  }

  /// What was decided has happened.
  result<void> carry_out(const session& decided) {
    const result<std::vector<conflict>> refused = cluster_.assume(decided);
    if (!refused) return refused.failure();
    if (!refused->empty()) return error{status::internal, refused->front().text, {}};
    std::vector<entity_id> pods;
    for (const assumption& one : cluster_.assumed()) pods.push_back(one.pod);
    base_.reset();
    return cluster_.confirm(pods);
  }

 private:
  struct change {
    std::size_t job = 0;
    std::int64_t pods = 0;
    std::int64_t least = 0;
  };

  static table groups_of(const std::vector<change>& changes, table_op what) {
    table groups = rows_of(table_kind::pod_group, what);
    table::column& names = groups.add(col::pod_group_name, column_type::string);
    for (const change& one : changes) names.push(std::string_view(group_name(one.job)));
    if (what == table_op::remove) return groups;
    table::column& queues = groups.add(col::pod_group_queue, column_type::string);
    table::column& created = groups.add(col::pod_group_created, column_type::i64);
    table::column& least = groups.add(col::pod_group_min_member, column_type::i64);
    for (const change& one : changes) {
      queues.push(only_queue);
      created.push(static_cast<std::int64_t>(one.job));
      least.push(one.least);
    }
    return groups;
  }

  static table pods_of(const std::vector<change>& changes, table_op what) {
    table pods = rows_of(table_kind::pod, what);
    table::column& names = pods.add(col::pod_name, column_type::string);
    for (const change& one : changes) {
      for (std::int64_t i = 0; i < one.pods; ++i) names.push(std::string_view(pod_name(one.job, i)));
    }
    if (what == table_op::remove) return pods;
    table::column& groups = pods.add(col::pod_group_ref, column_type::string);
    table::column& requests = pods.add(col::pod_request, column_type::i64, built_in_dimensions);
    for (const change& one : changes) {
      const std::string group = group_name(one.job);
      for (std::int64_t i = 0; i < one.pods; ++i) {
        groups.push(std::string_view(group));
        push_gpus(requests, 1, 1);
      }
    }
    return pods;
  }

  cluster cluster_;
  std::optional<snapshot> base_;
  std::vector<std::int64_t> pods_;  ///< by job
  std::vector<change> added_;
  std::vector<change> removed_;
};

result<engine> engine_of(const book& facts, const std::string& parts) {
  engine made;
  if (auto done = register_parts(made, facts); !done) return done.take_failure();
  for (const auto& [name, value] : {std::pair<std::string_view, std::string_view>{"preset", "kai"},
                                    {"parts", parts},
                                    {"actions", "allocate"},
                                    {"placement.gpu", "spread"}}) {
    if (auto done = made.set(name, value); !done) return done.take_failure();
  }
  return made;
}

/// Two questions are asked at every step, each as a session: how many GPUs every job gets if nobody had any, and on
/// which nodes those are put that get another number than they have. Nobody else moves.
class run {
 public:
  run(const measurements& of, const workload& jobs, const policy_name& policy, const artefact& as)
      : of_(of),
        jobs_(jobs.jobs),
        policy_(policy),
        as_(as),
        book_(of, as, jobs),
        counting_(jobs.jobs.size()),
        placing_(jobs.jobs.size()),
        has_come_(jobs.jobs.size(), false) {
    for (const job_spec& one : jobs_) running_.emplace_back(of_, as_, one);
  }

  result<outcome> play() {
    if (auto done = check(); !done) return done.take_failure();
    result<engine> plan = engine_of(book_, policy_.plan);
    if (!plan) return plan.take_failure();
    result<engine> place = engine_of(book_, policy_.place);
    if (!place) return place.take_failure();
    for (job_cluster* one : {&counting_, &placing_}) {
      if (auto done = one->open(as_); !done) return done.take_failure();
    }
    while (ended_ < jobs_.size()) {
      if (++made_.steps > most_steps) return error{status::limit, fmt::format("{} steps and no end", most_steps), {}};
      if (auto done = step(*plan, *place); !done) return done.take_failure();
    }
    for (std::size_t job = 0; job < jobs_.size(); ++job)
      made_.times.push_back(std::llround(running_[job].end() - static_cast<double>(jobs_[job].submit)));
    return std::move(made_);
  }

 private:
  [[nodiscard]] result<void> check() const {
    const auto refuse = [](std::string text) { return error{status::argument, std::move(text), {}}; };
    const auto is_between = [](std::int64_t value, std::int64_t least, std::int64_t most) {
      return value >= least && value <= most;
    };
    if (!is_between(as_.nodes, 1, most_nodes)) return refuse(fmt::format("nodes: {}", as_.nodes));
    if (!is_between(as_.gpus_per_node, 1, 9)) return refuse(fmt::format("gpus_per_node: {}", as_.gpus_per_node));
    if (!is_between(as_.step, 1, longest_step)) return refuse(fmt::format("step: {}", as_.step));
    if (!is_between(as_.restart, 0, most_seconds)) return refuse(fmt::format("restart: {}", as_.restart));
    for (const job_spec& one : jobs_) {
      const std::int64_t most =
          policy_.is_elastic ? most_replicas_of_a_job : std::min(most_replicas_of_a_job, as_.gpus());
      if (one.app >= of_.apps.size()) return refuse(fmt::format("job '{}': there is no such application", one.name));
      if (!is_between(one.replicas, 1, most))
        return refuse(fmt::format("job '{}': {} replicas, of {} at most", one.name, one.replicas, most));
      if (!is_between(one.submit, 0, most_seconds))
        return refuse(fmt::format("job '{}': comes at {}", one.name, one.submit));
      if (!is_between(one.batch, 1, most_seconds))
        return refuse(fmt::format("job '{}': a batch of {}", one.name, one.batch));
    }
    return {};
  }

  result<void> step(const engine& plan, const engine& place) {
    if (auto done = let_run(); !done) return done;
    if (active_ == 0) return {};
    if (auto done = decide(plan, place); !done) return done;
    const bool any =
        std::any_of(book_.facts().begin(), book_.facts().end(), [](const auto& one) { return one.gpus > 0; });
    if (any || arrived_ < jobs_.size()) return {};
    return error{status::state, fmt::format("'{}' gives no job a GPU", policy_.plan), {}};
  }

  /// One step of time.
  result<void> let_run() {
    const std::int64_t from = now_;
    now_ += as_.step;
    // Who ended or came during the step is known at its end.
    for (std::size_t job = 0; job < jobs_.size(); ++job) {
      if (!book_.facts()[job].active) continue;
      if (auto done = running_[job].go_on(from, as_.step); !done) return done;
      if (!running_[job].has_ended()) continue;
      counting_.remove(job);
      placing_.remove(job);
      book_.leave(job);
      ++ended_;
      --active_;
      ++made_.moves;
    }
    book_.serve(as_.step);
    for (std::size_t job = 0; job < jobs_.size(); ++job) {
      if (!has_come_[job] && jobs_[job].submit <= now_) arrive(job);
    }
    if (!policy_.is_elastic) return {};
    for (std::size_t job = 0; job < jobs_.size(); ++job) {
      if (!book_.facts()[job].active) continue;
      if (auto done = book_.expect_iterations(job, running_[job].epoch()); !done) return done;
    }
    return {};
  }

  void arrive(std::size_t job) {
    const job_spec& one = jobs_[job];
    book_.arrive(job);
    has_come_[job] = true;
    ++arrived_;
    ++active_;
    if (policy_.is_elastic) {
      counting_.add(job, std::clamp<std::int64_t>(most_replicas(of_, as_, one), 1, as_.gpus()), 1);
    } else {
      counting_.add(job, one.replicas, one.replicas);
    }
  }

  result<void> decide(const engine& plan, const engine& place) {
    const result<session> counted = counting_.run(plan);
    if (!counted) return counted.failure();
    ++made_.sessions;
    std::vector<std::int64_t> gpus(jobs_.size(), 0);
    for (const decision& d : counted->decisions()) {
      if (d.kind == decision_kind::bind) ++gpus[job_of_group(counted->base().group_name(d.group))];
    }
    std::vector<bool> waits(jobs_.size(), false);
    bool any = false;
    for (std::size_t job = 0; job < jobs_.size(); ++job) {
      const std::int64_t before = book_.facts()[job].gpus;
      if (!book_.facts()[job].active || gpus[job] == before) continue;
      placing_.remove(job);
      if (gpus[job] > 0) placing_.add(job, gpus[job], gpus[job]);
      waits[job] = gpus[job] > 0;
      any = any || gpus[job] > 0;
      book_.set_gpus(job, gpus[job]);
      ++made_.moves;
      if (gpus[job] > 0) continue;
      if (auto done = running_[job].move_to({}); !done) return done;
    }
    return any ? put(place, waits) : result<void>{};
  }

  /// @param waits by job: has been given GPUs and no places
  result<void> put(const engine& place, const std::vector<bool>& waits) {
    const result<session> placed = placing_.run(place);
    if (!placed) return placed.failure();
    ++made_.sessions;
    std::vector<std::vector<std::int64_t>> gpus(jobs_.size());  // by job and node, in the order of taking
    std::vector<std::vector<node_row>> nodes(jobs_.size());
    for (const decision& d : placed->decisions()) {
      if (d.kind != decision_kind::bind) continue;
      const std::size_t job = job_of_group(placed->base().group_name(d.group));
      const auto at =
          static_cast<std::size_t>(std::find(nodes[job].begin(), nodes[job].end(), d.node) - nodes[job].begin());
      if (at == nodes[job].size()) {
        nodes[job].push_back(d.node);
        gpus[job].push_back(0);
      }
      ++gpus[job][at];
    }
    for (std::size_t job = 0; job < jobs_.size(); ++job) {
      const std::int64_t found = std::accumulate(gpus[job].begin(), gpus[job].end(), std::int64_t{0});
      if (waits[job] && found != book_.facts()[job].gpus) {
        return error{status::state,
                     fmt::format("job '{}': '{}' gives it {} GPUs, '{}' finds places for {}", jobs_[job].name,
                                 policy_.plan, book_.facts()[job].gpus, policy_.place, found),
                     {}};
      }
      if (!waits[job]) continue;
      if (auto done = running_[job].move_to(std::move(gpus[job])); !done) return done;
    }
    return placing_.carry_out(*placed);
  }

  const measurements& of_;
  const std::vector<job_spec>& jobs_;
  const policy_name& policy_;
  const artefact& as_;
  book book_;
  job_cluster counting_;
  job_cluster placing_;
  std::vector<running_job> running_;
  std::vector<bool> has_come_;
  std::int64_t now_ = 0;
  std::size_t active_ = 0;
  std::size_t arrived_ = 0;
  std::size_t ended_ = 0;
  outcome made_;
};

}  // namespace

result<outcome> play(const measurements& of, const workload& jobs, const policy_name& policy, const artefact& as) {
  return run(of, jobs, policy, as).play();
}

}  // namespace kaisched::bench::pollux
