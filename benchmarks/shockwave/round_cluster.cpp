#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include <kaisched/cluster.hpp>
#include <kaisched/quantity.hpp>
#include <kaisched/schema.hpp>
#include <kaisched/session.hpp>

#include "benchmarks/adapter.hpp"
#include "benchmarks/shockwave/rounds.hpp"

namespace kaisched::bench::shockwave {

namespace {

constexpr std::string_view queue_name = "trace";
constexpr std::string_view larger_share = "larger_share";
constexpr std::int64_t cores = 1000;
constexpr std::int64_t mebibyte = std::int64_t{1} << 20;

std::string name_of(std::size_t job) { return fmt::format("{:06}", job); }
std::size_t number_of(std::string_view name) {
  std::size_t number = 0;
  std::from_chars(name.data(), name.data() + name.size(), number);
  return number;
}

/// Larger numbers have smaller keys.
std::int64_t descending(double value) {
  const auto bits = std::bit_cast<std::int64_t>(value);
  return bits >= 0 ? -bits : bits - std::numeric_limits<std::int64_t>::min();
}

/// Who has had the smallest part of its share comes first; among equals who is owed most.
order_key least_received(const round_book& book, const book_entry& job) {
  if (!job.has_share || !(job.share > 0)) return {descending(0), descending(job.owed)};
  const double part = book.received > 0 ? job.received / book.received : 0;
  constexpr double nothing_yet = 1e9;  // times the share
  return {descending(part > 0 ? job.share / part : job.share * nothing_yet), descending(job.owed)};
}
order_key largest_share(const round_book&, const book_entry& job) {
  return {descending(job.has_share ? job.share : 0), 0};
}

class book_part final : public policy_part {
 public:
  using key = order_key (*)(const round_book&, const book_entry&);
  book_part(std::string name, const round_book& book, key of) : name_(std::move(name)), book_(&book), key_(of) {}
  [[nodiscard]] std::string_view name() const noexcept override { return name_; }
  [[nodiscard]] std::uint32_t capabilities() const noexcept override { return part_orders_groups; }
  result<void> order_groups(const session_view& view, std::span<const group_row> groups,
                            std::span<order_key> keys) override {
    for (std::size_t i = 0; i < groups.size(); ++i)
      keys[i] = key_(*book_, book_->jobs[number_of(view.group_name(groups[i]))]);
    return {};
  }

 private:
  std::string name_;
  const round_book* book_;
  key key_;
};

result<void> add_part(engine& to, const std::string& name, const round_book& book, book_part::key key) {
  return to.register_part(name, [name, &book, key](const policy_options&) -> std::unique_ptr<policy_part> {
    return std::make_unique<book_part>(name, book, key);
  });
}

result<void> add_nodes(cluster& to, const round_options& options) {
  table queues = rows_of(table_kind::queue);
  queues.add(col::queue_name, column_type::string).push(queue_name);
  table nodes = rows_of(table_kind::node);
  table::column& names = nodes.add(col::node_name, column_type::string);
  table::column& capacities = nodes.add(col::node_capacity, column_type::i64, built_in_dimensions);
  for (std::int64_t first = 0; first < options.gpus; first += options.gpus_per_node) {
    names.push(std::string_view(fmt::format("node-{:06}", first / options.gpus_per_node)));
    const std::int64_t gpus = std::min(options.gpus_per_node, options.gpus - first);
    for (const std::int64_t amount : {gpus * cores, gpus * mebibyte, gpus * whole_device, gpus})
      capacities.push(amount);
  }
  const std::array tables{std::move(queues), std::move(nodes)};
  return to.apply(tables);
}

}  // namespace

result<round_cluster> round_cluster::make(const round_options& options, const std::string& part, bool by_share,
                                          const round_book& book) {
  constexpr std::int64_t most = 1'000'000;
  if (options.gpus < 1 || options.gpus > most)
    return error{status::argument, fmt::format("gpus: {} is not 1 to {}", options.gpus, most), {}};
  if (options.gpus_per_node < 1 || options.gpus_per_node > static_cast<std::int64_t>(max_devices_per_node))
    return error{status::argument,
                 fmt::format("gpus_per_node: {} is not 1 to {}", options.gpus_per_node, max_devices_per_node),
                 {}};
  round_cluster made;
  if (auto done = add_nodes(made.cluster_, options); !done) return done.failure();
  std::string parts = "predicates," + part;
  if (by_share) {
    if (auto done = add_part(made.engine_, part, book, least_received); !done) return done.failure();
    if (auto done = add_part(made.engine_, std::string(larger_share), book, largest_share); !done)
      return done.failure();
    parts.append(",").append(larger_share);
  }
  for (const auto& [name, value] :
       {std::pair<std::string_view, std::string_view>{"preset", "kai"}, {"parts", parts}, {"actions", "allocate"}}) {
    if (auto done = made.engine_.set(name, value); !done) return done.failure();
  }
  return made;
}

result<void> round_cluster::arrive(std::size_t job, std::int64_t gpus) {
  const std::string name = name_of(job);
  table groups = rows_of(table_kind::pod_group);
  groups.add(col::pod_group_name, column_type::string).push(std::string_view(name));
  groups.add(col::pod_group_queue, column_type::string).push(queue_name);
  groups.add(col::pod_group_created, column_type::i64).push(static_cast<std::int64_t>(job));
  groups.add(col::pod_group_min_member, column_type::i64).push(gpus);
  table pods = rows_of(table_kind::pod);
  table::column& names = pods.add(col::pod_name, column_type::string);
  table::column& of = pods.add(col::pod_group_ref, column_type::string);
  table::column& requests = pods.add(col::pod_request, column_type::i64, built_in_dimensions);
  for (std::int64_t i = 0; i < gpus; ++i) {
    names.push(std::string_view(fmt::format("{}-{}", name, i)));
    of.push(std::string_view(name));
    for (const std::int64_t amount : {cores, mebibyte, whole_device, std::int64_t{1}}) requests.push(amount);
  }
  const std::array tables{std::move(groups), std::move(pods)};
  return cluster_.apply(tables);
}

result<void> round_cluster::leave(std::size_t job, std::int64_t gpus) {
  const std::string name = name_of(job);
  table pods = rows_of(table_kind::pod, table_op::remove);
  table::column& names = pods.add(col::pod_name, column_type::string);
  for (std::int64_t i = 0; i < gpus; ++i) names.push(std::string_view(fmt::format("{}-{}", name, i)));
  table groups = rows_of(table_kind::pod_group, table_op::remove);
  groups.add(col::pod_group_name, column_type::string).push(std::string_view(name));
  const std::array tables{std::move(pods), std::move(groups)};
  return cluster_.apply(tables);
}

result<void> round_cluster::serve(std::size_t job, std::int64_t gpus, double seconds) {
  const std::string name = name_of(job);
  table groups = rows_of(table_kind::pod_group, table_op::change);
  groups.add(col::pod_group_name, column_type::string).push(std::string_view(name));
  groups.add(col::pod_group_attained_service, column_type::i64)
      .push(static_cast<std::int64_t>(std::llround(static_cast<double>(gpus * whole_device) * seconds)));
  return cluster_.apply(groups);
}

result<std::vector<std::size_t>> round_cluster::choose(double now) {
  const snapshot base = cluster_.take_snapshot();
  const result<session> run = engine_.run(base, std::llround(now * 1e9));
  if (!run) return run.failure();
  std::vector<std::size_t> chosen;
  for (const decision& d : run->decisions()) {
    if (d.kind == decision_kind::bind) chosen.push_back(number_of(base.pod_name(d.pod)));
  }
  std::sort(chosen.begin(), chosen.end());
  chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
  return chosen;
}

}  // namespace kaisched::bench::shockwave
