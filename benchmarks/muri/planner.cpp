#include "benchmarks/muri/planner.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

#include <fmt/format.h>

#include <kaisched/quantity.hpp>
#include <kaisched/schema.hpp>

#include "benchmarks/adapter.hpp"

namespace kaisched::bench::muri {

namespace {

constexpr std::int64_t pods_per_node = 1000;
constexpr std::string_view queue_name = "trace";

/// Names that sort like numbers.
std::string name_of(std::uint32_t job) { return fmt::format("{:010}", job); }
std::string name_of(std::uint32_t job, std::size_t pod) { return fmt::format("{:010}-{:03}", job, pod); }

void push_amounts(table::column& to, std::int64_t gpus, std::int64_t pods) {
  for (const std::int64_t amount : {std::int64_t{0}, std::int64_t{0}, gpus * whole_device, pods}) to.push(amount);
}

/// Rows of groups, new or changed.
class group_rows {
 public:
  explicit group_rows(table_op op)
      : rows_(bench::rows_of(table_kind::pod_group, op)),
        name_(rows_.add(col::pod_group_name, column_type::string)),
        remaining_(rows_.add(col::pod_group_runtime_estimate, column_type::i64)),
        attained_(rows_.add(col::pod_group_attained_service, column_type::i64)),
        position_(rows_.add(col::pod_group_created, column_type::i64)) {}
  group_rows(const group_rows&) = delete;
  group_rows& operator=(const group_rows&) = delete;

  void add(std::uint32_t job, const told_job& told) {
    name_.push(std::string_view(name_of(job)));
    remaining_.push(told.remaining);
    attained_.push(told.attained);
    position_.push(told.position);
  }
  [[nodiscard]] table& rows() { return rows_; }

 private:
  table rows_;
  table::column& name_;
  table::column& remaining_;
  table::column& attained_;
  table::column& position_;
};

}  // namespace

result<planner> planner::make(const std::string& part, const loop_rules& rules) {
  if (rules.nodes < 1 || rules.gpus_per_node < 1 || rules.nodes > max_devices_per_node ||
      rules.gpus_per_node > max_devices_per_node)
    return error{status::argument, fmt::format("nodes and GPUs of a node are 1 to {}", max_devices_per_node), {}};
  // A pool is one node with all GPUs: nothing but their number decides there.
  const std::int64_t nodes = rules.counts_gpus_only ? 1 : rules.nodes;
  const std::int64_t gpus = rules.nodes * rules.gpus_per_node / nodes;
  if (gpus > max_devices_per_node)
    return error{status::argument, fmt::format("a pool has {} GPUs at most", max_devices_per_node), {}};
  planner made(gpus);
  table queue_rows = bench::rows_of(table_kind::queue);
  queue_rows.add(col::queue_name, column_type::string).push(queue_name);
  table node_rows = bench::rows_of(table_kind::node);
  table::column& names = node_rows.add(col::node_name, column_type::string);
  table::column& capacities = node_rows.add(col::node_capacity, column_type::i64, built_in_dimensions);
  for (std::int64_t i = 0; i < nodes; ++i) {
    names.push(std::string_view(fmt::format("{:03}", i)));
    push_amounts(capacities, gpus, pods_per_node);
  }
  if (auto done = made.cluster_.apply({queue_rows.view(), node_rows.view()}); !done) return done.failure();
  std::string limits;
  for (const std::int64_t limit : rules.queue_limits) limits += fmt::format("{}{}", limits.empty() ? "" : ",", limit);
  for (const auto& [name, value] : {std::pair<std::string_view, std::string>{"preset", "kai"},
                                    {"parts", "predicates," + part},
                                    {"actions", "allocate"},
                                    {"las_2d.limits", limits}}) {
    if (auto done = made.engine_.set(name, value); !done) return done.failure();
  }
  return made;
}

void planner::come(std::uint32_t job, std::int64_t gpus, const told_job& told) {
  come_.emplace_back(job, gpus);
  told_.push_back(told);
}

std::vector<std::int64_t> planner::pods_of(std::int64_t gpus) const {
  std::vector<std::int64_t> pods(static_cast<std::size_t>(gpus / gpus_per_node_), gpus_per_node_);
  if (gpus % gpus_per_node_ > 0) pods.push_back(gpus % gpus_per_node_);
  return pods;
}

result<void> planner::apply() {
  table gone_pods = bench::rows_of(table_kind::pod, table_op::remove);
  table::column& gone_pod_names = gone_pods.add(col::pod_name, column_type::string);
  table gone_groups = bench::rows_of(table_kind::pod_group, table_op::remove);
  table::column& gone_names = gone_groups.add(col::pod_group_name, column_type::string);
  for (const auto& [job, gpus] : gone_) {
    for (std::size_t i = 0; i < pods_of(gpus).size(); ++i) gone_pod_names.push(std::string_view(name_of(job, i)));
    gone_names.push(std::string_view(name_of(job)));
  }
  group_rows changed(table_op::change);
  for (const auto& [job, told] : changed_) changed.add(job, told);
  group_rows groups(table_op::add);
  table::column& queues = groups.rows().add(col::pod_group_queue, column_type::string);
  table::column& gangs = groups.rows().add(col::pod_group_min_member, column_type::i64);
  table pods = bench::rows_of(table_kind::pod);
  table::column& names = pods.add(col::pod_name, column_type::string);
  table::column& group_refs = pods.add(col::pod_group_ref, column_type::string);
  table::column& requests = pods.add(col::pod_request, column_type::i64, built_in_dimensions);
  for (std::size_t i = 0; i < come_.size(); ++i) {
    const auto& [job, gpus] = come_[i];
    const std::vector<std::int64_t> sizes = pods_of(gpus);
    groups.add(job, told_[i]);
    queues.push(queue_name);
    gangs.push(static_cast<std::int64_t>(sizes.size()));
    for (std::size_t k = 0; k < sizes.size(); ++k) {
      names.push(std::string_view(name_of(job, k)));
      group_refs.push(std::string_view(name_of(job)));
      push_amounts(requests, sizes[k], 1);
    }
  }
  gone_.clear();
  changed_.clear();
  come_.clear();
  told_.clear();
  std::vector<table_view> all;
  for (table* const one : {&gone_pods, &gone_groups, &changed.rows(), &groups.rows(), &pods}) {
    if (one->rows() > 0) all.push_back(one->view());
  }
  return all.empty() ? result<void>() : cluster_.apply(all);
}

result<std::vector<std::uint32_t>> planner::plan() {
  if (auto done = apply(); !done) return done.failure();
  const snapshot base = cluster_.take_snapshot();
  const result<session> run = engine_.run(base, 0);
  if (!run) return run.failure();
  std::vector<std::uint32_t> placed;
  for (const decision& d : run->decisions()) {
    if (d.kind != decision_kind::bind) continue;
    const std::string_view name = base.group_name(d.group);
    std::uint32_t job = 0;
    std::from_chars(name.data(), name.data() + name.size(), job);
    if (placed.empty() || placed.back() != job) placed.push_back(job);  // pods of a gang follow each other
  }
  return placed;
}

}  // namespace kaisched::bench::muri
