#pragma once
/// @file
/// A plug-in of a tier: each of its functions may be absent (nullopt), and is asked only where its point is on.
///
/// Source: volcano-sh/volcano, pkg/scheduler/framework/session_plugins.go.

#include <algorithm>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "schedulers/volcano/rules/state.hpp"

namespace kaisched::volcano {

class session;

/// Where plug-ins are asked; each is on or off by plug-in.
enum class point : std::uint8_t {
  allocatable,
  domain_gradient,
  domain_order,
  evictable,
  hierarchy,
  job_enqueued,
  job_order,
  job_pipelined,
  job_ready,
  job_starving,
  node_order,
  overused,
  predicate,
  preemptable,
  preemptive,
  queue_order,
  reclaimable,
  sub_job_order,
  sub_job_pipelined,
  sub_job_ready,
  task_order,
};
inline constexpr std::size_t point_count = static_cast<std::size_t>(point::task_order) + 1;
using points = std::bitset<point_count>;
[[nodiscard]] inline points points_at(std::initializer_list<point> all) {
  points made;
  for (const point one : all) made.set(static_cast<std::size_t>(one));
  return made;
}

/// How a job takes from others as a whole: in its queue by priority, or from other queues.
enum class taking : std::uint8_t { preempt, reclaim };

enum class vote : std::uint8_t { reject, abstain, permit };
/// Below 0: the left one first. 0: this plug-in does not say.
using order = std::optional<int>;
using answer = std::optional<bool>;
/// Victims that a plug-in allows; nullopt is an abstention.
using victims = std::optional<std::vector<row>>;

class plugin {
 public:
  plugin() = default;
  plugin(const plugin&) = delete;
  plugin& operator=(const plugin&) = delete;
  virtual ~plugin() = default;

  [[nodiscard]] virtual std::string_view name() const = 0;
  /// Before anything else is asked. `on`: the points at which it is asked.
  virtual void open(const session& /*of*/, const points& /*on*/) {}
  virtual void task_allocated(const session& /*of*/, row /*task*/) {}
  virtual void task_deallocated(const session& /*of*/, row /*task*/) {}

  /// At which of the points of orders it says something; elsewhere it is not asked.
  [[nodiscard]] virtual points orders() const { return {}; }
  [[nodiscard]] virtual order job_order(const session&, row, row) const { return std::nullopt; }
  /// It orders jobs by a number, the lowest first, that changes with `cluster_state::changes_of_job` alone; it is asked
  /// for `job_key` then and not for `job_order`.
  [[nodiscard]] virtual bool has_job_keys() const { return false; }
  [[nodiscard]] virtual std::int64_t job_key(const session&, row /*job*/) const { return 0; }
  [[nodiscard]] virtual order sub_job_order(const session&, const sub_job_state&, const sub_job_state&) const {
    return std::nullopt;
  }
  [[nodiscard]] virtual order task_order(const session&, row, row) const { return std::nullopt; }
  [[nodiscard]] virtual order queue_order(const session&, row, row) const { return std::nullopt; }
  /// Which of two queues loses tasks first to the third.
  [[nodiscard]] virtual order victim_queue_order(const session&, row, row, row) const { return std::nullopt; }

  [[nodiscard]] virtual answer is_valid(const session&, row /*job*/) const { return std::nullopt; }
  [[nodiscard]] virtual answer is_ready(const session&, row /*job*/) const { return std::nullopt; }
  [[nodiscard]] virtual answer is_sub_job_ready(const session&, const sub_job_state&) const { return std::nullopt; }
  [[nodiscard]] virtual answer is_starving(const session&, row /*job*/) const { return std::nullopt; }
  [[nodiscard]] virtual std::optional<vote> is_pipelined(const session&, row /*job*/) const { return std::nullopt; }
  [[nodiscard]] virtual std::optional<vote> is_sub_job_pipelined(const session&, const sub_job_state&) const {
    return std::nullopt;
  }
  [[nodiscard]] virtual std::optional<vote> may_enqueue(const session&, row /*job*/) const { return std::nullopt; }
  virtual void job_enqueued(const session&, row /*job*/) {}

  [[nodiscard]] virtual answer is_overused(const session&, row /*queue*/) const { return std::nullopt; }
  [[nodiscard]] virtual answer is_allocatable(const session&, row /*queue*/, row /*task*/) const {
    return std::nullopt;
  }
  /// It says something there.
  [[nodiscard]] virtual bool limits_queues() const { return false; }
  /// Whether a queue may take from others for some tasks together.
  [[nodiscard]] virtual answer is_preemptive(const session&, row /*queue*/, const std::vector<row>& /*tasks*/) const {
    return std::nullopt;
  }
  [[nodiscard]] virtual victims preemptable(const session&, row /*task*/, const std::vector<row>&) const {
    return std::nullopt;
  }
  /// Whom it allows to be taken from a node for a task of another job, and in which order, follows from the kind and
  /// the queue of the task, the priority of its job, the node, and the jobs of the tasks there.
  [[nodiscard]] virtual bool judges_victims_by_node() const { return false; }
  [[nodiscard]] virtual victims reclaimable(const session&, row /*task*/, const std::vector<row>&) const {
    return std::nullopt;
  }

  /// Of whom a job may take as a whole; candidates come in the order in which they would go.
  [[nodiscard]] virtual victims evictable(const session&, row /*job*/, taking, const std::vector<row>&) const {
    return std::nullopt;
  }

  /// What it says of a node for a task follows from the kind of the task and from the node alone.
  [[nodiscard]] virtual bool judges_by_kind(const session&) const { return true; }
  [[nodiscard]] virtual node_refusal refuses(const session&, row /*task*/, row /*node*/) const {
    return node_refusal::none;
  }
  /// It scores nodes.
  [[nodiscard]] virtual bool scores_nodes() const { return false; }
  /// Adds its scores of nodes for a task; `scores` is by place in `nodes`.
  virtual void score_nodes(const session&, row /*task*/, const std::vector<row>& /*nodes*/,
                           std::vector<double>& /*scores*/) const {}
  /// Adds its scores of domains for a sub-job.
  virtual void score_domains(const session&, const job_state&, const sub_job_state&,
                             std::map<std::string, double, std::less<>>& /*scores*/) const {}
  /// Domains to try for a job (or a sub-job of it), below the root: from the nearest on, or, to evict, from the widest.
  [[nodiscard]] virtual std::optional<std::vector<std::vector<std::string>>> gradients(
      const session&, const job_state&, const sub_job_state* /*of it; null: the job*/, const std::string& /*root*/,
      policy::domain_search /*purpose*/) const {
    return std::nullopt;
  }
};

/// A plug-in that allows the same victims whatever they are taken for.
class sparing_plugin : public plugin {
 public:
  [[nodiscard]] victims reclaimable(const session& of, row task, const std::vector<row>& candidates) const final {
    return preemptable(of, task, candidates);
  }
};

/// Those of some tasks for which something holds, in their order.
template <class Holds>
[[nodiscard]] std::vector<row> those_that(const std::vector<row>& tasks, const Holds& holds) {
  std::vector<row> found;
  std::ranges::copy_if(tasks, std::back_inserter(found), holds);
  return found;
}

/// A plug-in where it stands in the tiers.
struct placed_plugin {
  std::unique_ptr<plugin> does;
  points on;
};
using tier = std::vector<placed_plugin>;

}  // namespace kaisched::volcano
