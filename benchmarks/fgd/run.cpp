#include "benchmarks/fgd/run.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <map>
#include <numeric>
#include <span>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include <kaisched/cluster.hpp>
#include <kaisched/quantity.hpp>
#include <kaisched/schema.hpp>

#include "benchmarks/adapter.hpp"

namespace kaisched::bench::fgd {

namespace {

constexpr std::int64_t mebibyte = std::int64_t{1} << 20;
constexpr std::int64_t pods_per_node = 1001;
constexpr std::string_view model_label = "gpu.model";
constexpr std::string_view queue_name = "trace";
constexpr std::size_t rank_digits = 4;

/// Four digits, as names that sort like numbers need them.
template <class Number>
std::string digits_of(Number number, std::size_t width) {
  std::string text = std::to_string(number);
  return text.size() < width ? text.insert(0, width - text.size(), '0') : text;
}

void push_amounts(table::column& to, std::int64_t cpu, std::int64_t memory, std::int64_t gpu, std::int64_t pods) {
  for (const std::int64_t amount : {cpu, memory * mebibyte, gpu, pods}) to.push(amount);
}

table nodes_of(const trace& in, const std::vector<std::uint32_t>& ranks, std::size_t order) {
  table nodes = rows_of(table_kind::node);
  table::column& names = nodes.add(col::node_name, column_type::string);
  table::column& capacities = nodes.add(col::node_capacity, column_type::i64, built_in_dimensions);
  table::column& labels = nodes.add(col::node_labels, column_type::string_list);
  for (std::size_t i = 0; i < in.nodes.size(); ++i) {
    const trace_node& node = in.nodes[i];
    const std::size_t rank = std::size_t{ranks[i]} * tie_orders[order] % in.nodes.size();
    names.push(std::string_view(digits_of(rank, rank_digits) + "-" + node.name));
    push_amounts(capacities, node.cpu, node.memory, node.gpus * whole_device, pods_per_node);
    labels.push_list(std::array{model_label, std::string_view(node.model)});
  }
  return nodes;
}

}  // namespace

result<cluster> build_cluster(const trace& in, const workload& of, std::size_t seed, std::size_t order) {
  table queues = rows_of(table_kind::queue);
  queues.add(col::queue_name, column_type::string).push(queue_name);
  table groups = rows_of(table_kind::pod_group);
  table::column& group_names = groups.add(col::pod_group_name, column_type::string);
  table::column& group_queues = groups.add(col::pod_group_queue, column_type::string);
  table::column& created = groups.add(col::pod_group_created, column_type::i64);
  table pods = rows_of(table_kind::pod);
  table::column& names = pods.add(col::pod_name, column_type::string);
  table::column& group_refs = pods.add(col::pod_group_ref, column_type::string);
  table::column& requests = pods.add(col::pod_request, column_type::i64, built_in_dimensions);
  table::column& device_counts = pods.add(col::pod_device_count, column_type::u32);
  table::column& affinities = pods.add(col::pod_node_affinity, column_type::string_list);
  const std::vector<std::uint32_t>& arrivals = of.order[seed];
  for (std::size_t i = 0; i < arrivals.size(); ++i) {
    const trace_pod& pod = of.pods[arrivals[i]];
    const std::string name = digits_of(i, 6);
    group_names.push(std::string_view(name));
    group_queues.push(queue_name);
    created.push(static_cast<std::int64_t>(i));
    names.push(std::string_view(name));
    group_refs.push(std::string_view(name));
    push_amounts(requests, pod.cpu, pod.memory, pod.gpu_milli(), 1);
    device_counts.push(static_cast<std::uint32_t>(pod.share < whole_device ? pod.gpus : 0));
    if (pod.models.empty()) {
      affinities.push_raw({});
    } else {
      std::string term = std::string(model_label) + " in (";
      for (const std::string& model : pod.models) term.append(&model == pod.models.data() ? "" : ",").append(model);
      affinities.push_list(std::array{std::string_view(term += ")")});
    }
  }
  cluster made;
  const std::array tables{std::move(queues), nodes_of(in, of.ranks[seed], order), std::move(groups), std::move(pods)};
  for (const table& one : tables) {
    if (auto done = made.apply(one); !done) return done.failure();
  }
  return made;
}

result<engine> build_engine(const workload& of, const std::string& part, const option_values& more) {
  engine made;
  std::string expected;
  for (const typical_class& one : of.typical) {
    expected += fmt::format("{}cpu={}:gpus={}{}:weight={}", expected.empty() ? "" : ",", one.cpu, one.gpus,
                            one.gpus > 0 ? fmt::format(":share={}", one.share) : "", one.weight);
    if (!one.models.empty()) expected += fmt::format(":where={}={}", model_label, one.models);
  }
  for (const auto& [name, value] : {std::pair<std::string_view, std::string>{"preset", "kai"},
                                    {"parts", "predicates," + part},
                                    {"actions", "allocate"},
                                    {"fgd.pods", expected}}) {
    if (auto done = made.set(name, value); !done) return done.failure();
  }
  for (const auto& [name, value] : more) {
    if (auto done = made.set(name, value); !done) return done.failure();
  }
  return made;
}

result<std::vector<placement>> place_all(const trace& in, const workload& of, std::size_t seed, const std::string& part,
                                         std::size_t order, const option_values& more) {
  result<cluster> pending = build_cluster(in, of, seed, order);
  if (!pending) return pending.take_failure();
  result<engine> with = build_engine(of, part, more);
  if (!with) return with.take_failure();
  const snapshot base = pending->take_snapshot();
  const result<session> run = with->run(base, 0);
  if (!run) return run.failure();
  std::vector<placement> made(of.order[seed].size());
  for (const decision& d : run->decisions()) {
    if (d.kind != decision_kind::bind) continue;
    const std::string_view pod = base.pod_name(d.pod);
    std::size_t arrival = 0;
    std::from_chars(pod.data(), pod.data() + pod.size(), arrival);
    made[arrival] = {std::string(base.node_name(d.node).substr(rank_digits + 1)), d.devices.mask};
  }
  return made;
}

namespace {

/// Rounded to hundredths as numbers are printed: half to even, of the decimal value.
double rounded(double value) { return std::nearbyint(value * 100) / 100; }

/// With four decimals, in ten thousandths: the nearest to the exact value, where a product with 10,000 could round.
std::int64_t printed(double value) {
  std::string digits = fmt::format("{:.4f}", value);
  std::erase(digits, '.');
  std::int64_t number = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return number;
}

/// A sum as NumPy adds up: eight sums side by side, and halves of what is long.
double sum_of(std::span<const double> values) {
  constexpr std::size_t lanes = 8;
  constexpr std::size_t longest = 128;
  if (values.size() > longest) {
    const std::size_t half = values.size() / 2 / lanes * lanes;
    return sum_of(values.first(half)) + sum_of(values.subspan(half));
  }
  if (values.size() < lanes) return std::accumulate(values.begin(), values.end(), 0.0);
  std::array<double, lanes> sums{};
  const std::size_t whole = values.size() / lanes * lanes;
  for (std::size_t i = 0; i < whole; ++i) sums[i % lanes] += values[i];
  double sum = ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
  for (const double value : values.subspan(whole)) sum += value;
  return sum;
}

struct mean {
  std::vector<double> values;

  void add(double value) { values.push_back(value); }
  [[nodiscard]] double value() const {
    return values.empty() ? 0 : sum_of(values) / static_cast<double>(values.size());
  }
};

/// The measure of fragmentation once more, as the paper says it: without what the engine does to be fast.
class node_in_replay {
 public:
  explicit node_in_replay(const trace_node& node)
      : of_(&node), cpu_(node.cpu), gpus_(static_cast<std::size_t>(node.gpus), whole_device) {}

  void take(const trace_pod& pod, std::uint64_t devices) {
    cpu_ -= pod.cpu;
    for (std::uint64_t left = devices; left != 0; left &= left - 1)
      gpus_[static_cast<std::size_t>(std::countr_zero(left))] -= pod.share;
  }

  [[nodiscard]] double lost(const std::vector<typical_class>& typical) const {
    enum kind : unsigned { both, gpu, cpu, fitting, not_fitting, closed };
    std::array<double, 6> sums{};
    const std::int64_t total = std::accumulate(gpus_.begin(), gpus_.end(), std::int64_t{0});
    for (const typical_class& one : typical) {
      const bool has_cpu = cpu_ >= one.cpu;
      if (one.gpus == 0) {
        sums[has_cpu ? fitting : not_fitting] += one.weight * static_cast<double>(total);
        continue;
      }
      if (!may_use(one)) {
        sums[closed] += one.weight * static_cast<double>(total);
        continue;
      }
      std::int64_t enough = 0;
      std::int64_t below = 0;
      for (const std::int64_t free : gpus_) {
        enough += free >= one.share ? 1 : 0;
        below += free >= one.share ? 0 : free;
      }
      const bool has_gpus = enough >= one.gpus;
      const std::int64_t lost = has_cpu && has_gpus ? below : total;
      sums[has_cpu ? gpu : has_gpus ? cpu : both] += one.weight * static_cast<double>(lost);
    }
    return std::accumulate(sums.begin(), sums.end(), 0.0);
  }

 private:
  [[nodiscard]] bool may_use(const typical_class& one) const {
    for (std::string_view rest = one.models; !rest.empty();) {
      const std::string_view model = rest.substr(0, rest.find('|'));
      if (model == of_->model) return true;
      rest.remove_prefix(std::min(rest.size(), model.size() + 1));
    }
    return one.models.empty();
  }

  const trace_node* of_;
  std::int64_t cpu_;
  std::vector<std::int64_t> gpus_;
};

}  // namespace

outcome measure(const trace& in, const workload& of, std::size_t seed, const std::vector<placement>& placements) {
  std::vector<node_in_replay> nodes(in.nodes.begin(), in.nodes.end());
  std::map<std::string_view, std::size_t> node_of;
  std::vector<double> lost;
  std::int64_t capacity = 0;
  double all_lost = 0;
  for (std::size_t i = 0; i < in.nodes.size(); ++i) {
    node_of.emplace(in.nodes[i].name, i);
    capacity += in.nodes[i].gpus * whole_device;
    lost.push_back(nodes[i].lost(of.typical));
    all_lost += lost.back();
  }
  outcome made;
  std::array<mean, loads> allocated;
  std::array<mean, loads> lost_of_all;
  std::array<mean, loads> lost_of_idle;
  const auto all = static_cast<double>(capacity);
  std::int64_t arrived = 0;
  final_state& end = made.at_end;
  for (std::size_t i = 0; i < placements.size(); ++i) {
    const trace_pod& pod = of.pods[of.order[seed][i]];
    arrived += pod.gpu_milli();
    ++end.pods;
    if (placements[i].node.empty()) {
      if (end.failed++ == 0) end.first_failed = static_cast<std::int64_t>(i);
    } else {
      const std::size_t at = node_of.at(placements[i].node);
      nodes[at].take(pod, placements[i].devices);
      end.gpu_milli += pod.gpu_milli();
      end.cpu_milli += pod.cpu;
      const double now = nodes[at].lost(of.typical);
      all_lost += now - lost[at];
      lost[at] = now;
    }
    const auto load = static_cast<std::size_t>(std::nearbyint(100 * static_cast<double>(arrived) / all));
    if (load >= loads) continue;
    allocated[load].add(rounded(100 * static_cast<double>(end.gpu_milli) / all));
    lost_of_all[load].add(100 * all_lost / all);
    lost_of_idle[load].add(rounded(100 * all_lost / static_cast<double>(capacity - end.gpu_milli)));
  }
  for (std::size_t load = 0; load < loads; ++load) {
    made.drawn.allocated[load] = std::llrint(allocated[load].value() * 100);
    made.drawn.lost_of_all[load] = std::llrint(lost_of_all[load].value() * 100);
    made.drawn.lost_of_idle[load] = printed(lost_of_idle[load].value());
  }
  end.lost = std::llrint(std::accumulate(lost.begin(), lost.end(), 0.0));
  return made;
}

}  // namespace kaisched::bench::fgd
