#include "benchmarks/muri/planner.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <string_view>

#include <fmt/format.h>

#include <kaisched/quantity.hpp>
#include <kaisched/schema.hpp>

#include "benchmarks/adapter.hpp"

namespace kaisched::bench::muri {

namespace {

constexpr std::int64_t pods_per_node = 1000;
constexpr std::string_view queue_name = "trace";

constexpr double nanoseconds_of_second = 1e9;

void push_amounts(table::column& to, std::int64_t milli_gpus, std::int64_t pods) {
  for (const std::int64_t amount : {std::int64_t{0}, std::int64_t{0}, milli_gpus, pods}) to.push(amount);
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
    name_.push(std::string_view(group_name(job)));
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

planner::planner(const std::vector<trace_job>& jobs, const loop_rules& rules, std::int64_t gpus_per_node)
    : gpus_per_node_(gpus_per_node), sharers_(rules.sharers) {
  shared_times times;
  for (const trace_job& one : jobs) {
    gpus_.push_back(one.gpus);
    kinds_.push_back(times.add({time_alone(one, rules), one.stages}));
  }
  book_ = std::make_unique<job_book>(gpus_per_node, std::move(times));
}

result<planner> planner::make(const std::string& part, const std::vector<trace_job>& jobs, const loop_rules& rules) {
  if (rules.nodes < 1 || rules.gpus_per_node < 1 || rules.nodes > max_devices_per_node ||
      rules.gpus_per_node > max_devices_per_node)
    return error{status::argument, fmt::format("nodes and GPUs of a node are 1 to {}", max_devices_per_node), {}};
  if (rules.sharers < 1 || rules.sharers > static_cast<std::int64_t>(most_sharers))
    return error{status::argument, fmt::format("1 to {} jobs share GPUs", most_sharers), {}};
  // A pool is one node with all GPUs: nothing but their number decides there.
  const std::int64_t nodes = rules.counts_gpus_only ? 1 : rules.nodes;
  const std::int64_t gpus = rules.nodes * rules.gpus_per_node / nodes;
  if (gpus > max_devices_per_node)
    return error{status::argument, fmt::format("a pool has {} GPUs at most", max_devices_per_node), {}};
  planner made(jobs, rules, gpus);
  table queue_rows = bench::rows_of(table_kind::queue);
  queue_rows.add(col::queue_name, column_type::string).push(queue_name);
  table node_rows = bench::rows_of(table_kind::node);
  table::column& names = node_rows.add(col::node_name, column_type::string);
  table::column& capacities = node_rows.add(col::node_capacity, column_type::i64, built_in_dimensions);
  for (std::int64_t i = 0; i < nodes; ++i) {
    names.push(std::string_view(fmt::format("{:03}", i)));
    push_amounts(capacities, gpus * whole_device, pods_per_node);
  }
  if (auto done = made.cluster_.apply({queue_rows.view(), node_rows.view()}); !done) return done.failure();
  if (auto done = register_interleave(made.engine_, *made.book_); !done) return done.failure();
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

void planner::come(std::uint32_t job, const told_job& told) {
  come_.emplace_back(job, told);
  book_->come({job, gpus_[job], kinds_[job], static_cast<double>(told.remaining) / nanoseconds_of_second});
}
void planner::tell(std::uint32_t job, const told_job& told) {
  changed_.emplace_back(job, told);
  book_->tell(job, static_cast<double>(told.remaining) / nanoseconds_of_second);
}
void planner::leave(std::uint32_t job) {
  gone_.push_back(job);
  book_->leave(job);
}

std::vector<std::int64_t> planner::sizes_of(std::uint32_t job) const { return pods_of(gpus_[job], gpus_per_node_); }

result<void> planner::apply() {
  table gone_pods = bench::rows_of(table_kind::pod, table_op::remove);
  table::column& gone_pod_names = gone_pods.add(col::pod_name, column_type::string);
  table gone_groups = bench::rows_of(table_kind::pod_group, table_op::remove);
  table::column& gone_names = gone_groups.add(col::pod_group_name, column_type::string);
  for (const std::uint32_t job : gone_) {
    for (std::size_t i = 0; i < sizes_of(job).size(); ++i) gone_pod_names.push(std::string_view(pod_name(job, i)));
    gone_names.push(std::string_view(group_name(job)));
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
  table::column& devices = pods.add(col::pod_device_count, column_type::u32);
  for (const auto& [job, told] : come_) {
    const std::vector<std::int64_t> sizes = sizes_of(job);
    groups.add(job, told);
    queues.push(queue_name);
    gangs.push(static_cast<std::int64_t>(sizes.size()));
    for (std::size_t k = 0; k < sizes.size(); ++k) {
      names.push(std::string_view(pod_name(job, k)));
      group_refs.push(std::string_view(group_name(job)));
      push_amounts(requests, sizes[k] * whole_device / sharers_, 1);
      devices.push(static_cast<std::uint32_t>(sharers_ > 1 ? sizes[k] : 0));
    }
  }
  gone_.clear();
  changed_.clear();
  come_.clear();
  std::vector<table_view> all;
  for (table* const one : {&gone_pods, &gone_groups, &changed.rows(), &groups.rows(), &pods}) {
    if (one->rows() > 0) all.push_back(one->view());
  }
  return all.empty() ? result<void>() : cluster_.apply(all);
}

result<std::vector<placed_job>> planner::plan() {
  if (auto done = apply(); !done) return done.failure();
  const snapshot base = cluster_.take_snapshot();
  const result<session> run = engine_.run(base, 0);
  if (!run) return run.failure();
  std::vector<placed_job> placed;
  std::map<std::pair<node_row, int>, std::uint32_t> first_on;  // by device
  for (const decision& d : run->decisions()) {
    if (d.kind != decision_kind::bind) continue;
    const std::uint32_t job = job_of(base.group_name(d.group));
    const bool is_new = placed.empty() || placed.back().job != job;  // pods of a gang follow each other
    if (is_new) placed.push_back({job, job});
    if (sharers_ == 1) continue;
    placed_job& one = placed.back();
    for (std::uint64_t left = d.devices.mask; left != 0; left &= left - 1) {
      const std::uint32_t first = first_on.try_emplace({d.node, std::countr_zero(left)}, job).first->second;
      if (is_new && left == d.devices.mask) one.first = first;
      if (first != one.first || gpus_[first] != gpus_[job])
        return error{status::argument, fmt::format("jobs {} and {} share some of their GPUs only", first, job), {}};
    }
  }
  return placed;
}

}  // namespace kaisched::bench::muri
