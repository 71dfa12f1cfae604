#include "policy/placement/expected_waste.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

#include "base/int128.hpp"

namespace kaisched::policy {

namespace {

using base::int128;

constexpr double parts_of_weight = 1e6;
constexpr double part_of_fragmentation = 0.2;
constexpr std::int64_t least_of_price = 2;       ///< CPU counts for one over this of its price in GPUs
constexpr std::size_t most_tables = 32;          ///< types of nodes beyond these have one together
constexpr std::int64_t most_wanted = 1'000'000;  ///< per mille

/// What a pod asks for in units, to the nearest.
std::int64_t nearest(int128 amount, std::int64_t unit) {
  return static_cast<std::int64_t>((2 * amount + unit) / (int128{2} * unit));
}

/// What is left if a pod comes, and how often it does.
using outcome = std::pair<std::int64_t, std::int64_t>;

/// The mean of the smaller one of two that are drawn. Integers, so that no table depends on how sums round.
std::int64_t better_of_two(std::vector<outcome>& all) {
  std::sort(all.begin(), all.end());
  int128 left = 0;
  for (const auto& [value, weight] : all) left += weight;
  const int128 pairs = left * left;
  int128 sum = 0;
  int128 rest = pairs;  // pairs of which both are among those that have not been looked at
  for (const auto& [value, weight] : all) {
    left -= weight;
    sum += (rest - left * left) * value;
    rest = left * left;
  }
  return static_cast<std::int64_t>(sum / pairs);
}

std::vector<table_class> classes_of(const std::vector<expected_class>& classes, const std::vector<bool>* may_use) {
  std::vector<table_class> made;
  for (std::size_t i = 0; i < classes.size(); ++i) {
    const expected_class& one = classes[i];
    if (one.gpus > 0 && may_use != nullptr && !(*may_use)[i]) continue;
    made.push_back(
        {one.cpu, one.gpus, one.share, std::max<std::int64_t>(1, std::llround(one.weight * parts_of_weight))});
  }
  return made;
}

std::int64_t capacity_of(const session_access& a, node_row row, dimension d) {
  const std::int64_t amount = (*a.state->capacity)[static_cast<std::size_t>(row) * a.state->dims() + d];
  return d == dim_gpu ? std::min(amount, most_gpus) : amount;
}

}  // namespace

std::vector<std::int64_t> waste_of_device(const std::vector<table_class>& classes) {
  std::map<std::int64_t, std::int64_t> sizes;
  for (const table_class& one : classes) {
    if (one.gpus > 0) sizes[one.share] += one.weight * one.gpus;
  }
  std::vector<std::int64_t> waste{0};
  std::vector<outcome> next;
  for (std::int64_t free = 1; free <= whole_device; ++free) {
    next.clear();
    for (const auto& [size, weight] : sizes) {
      if (size <= free) next.emplace_back(waste[static_cast<std::size_t>(free - size)], weight);
    }
    waste.push_back(next.empty() ? free * micro_per_milli : better_of_two(next));
  }
  return waste;
}

std::vector<std::int64_t> waste_of_cpu(const std::vector<table_class>& classes, std::int64_t largest_cpu) {
  std::map<std::int64_t, std::int64_t> sizes;  // in parts
  for (const table_class& one : classes) {
    const std::int64_t parts = nearest(int128{one.cpu} * parts_of_cpu, largest_cpu);
    if (one.gpus == 0 && one.cpu > 0) sizes[std::max<std::int64_t>(1, parts)] += one.weight;
  }
  if (sizes.empty()) return {};
  std::vector<std::int64_t> waste{0};
  std::vector<outcome> next;
  for (std::int64_t free = 1; free <= parts_of_cpu; ++free) {
    next.clear();
    for (const auto& [size, weight] : sizes) {
      if (size <= free) next.emplace_back(waste[static_cast<std::size_t>(free - size)], weight);
    }
    waste.push_back(next.empty() ? free * milli_per_part : better_of_two(next));
  }
  return waste;
}

node_waste::units node_waste::units::for_largest(std::int64_t cpu, std::int64_t gpu) {
  constexpr std::int64_t most_rows = 80;
  units made;
  made.largest_cpu = std::max<std::int64_t>(1, cpu);
  // Whole devices are whole rows, or many of them are one.
  for (const std::int64_t unit : {100, 200, 500}) {
    made.gpu = unit;
    made.gpu_rows = gpu / unit + 1;
    if (made.gpu_rows <= most_rows + 1) return made;
  }
  const std::int64_t devices = gpu / whole_device + (gpu % whole_device > 0 ? 1 : 0);
  made.gpu = whole_device * (devices / most_rows + (devices % most_rows > 0 ? 1 : 0));
  made.gpu_rows = gpu / made.gpu + 1;
  return made;
}

node_waste::node_waste(const std::vector<table_class>& classes, const units& of) : units_(of) {
  std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> shapes;  // rows of CPU and of GPUs
  for (const table_class& one : classes) {
    const std::int64_t cpu = nearest(int128{one.cpu} * units::cpu_parts, units_.largest_cpu);
    const std::int64_t gpu = one.gpus == 0 ? 0 : std::max<std::int64_t>(1, nearest(one.gpus * one.share, units_.gpu));
    if (cpu + gpu > 0) shapes[{cpu, gpu}] += one.weight;
  }
  table_.assign(static_cast<std::size_t>((units::cpu_parts + 1) * units_.gpu_rows), 0);
  std::vector<outcome> next;
  for (std::int64_t cpu = 0; cpu <= units::cpu_parts; ++cpu) {
    for (std::int64_t gpu = 1; gpu < units_.gpu_rows; ++gpu) {
      next.clear();
      bool has_gpus = false;
      for (const auto& [shape, weight] : shapes) {
        if (shape.first > cpu || shape.second > gpu) continue;
        has_gpus = has_gpus || shape.second > 0;
        next.emplace_back(table_[static_cast<std::size_t>((cpu - shape.first) * units_.gpu_rows + gpu - shape.second)],
                          weight);
      }
      table_[static_cast<std::size_t>(cpu * units_.gpu_rows + gpu)] =
          has_gpus ? better_of_two(next) : gpu * units_.gpu * micro_per_milli;
    }
  }
}

std::int64_t node_waste::amount(std::int64_t cpu, std::int64_t gpu) const {
  const std::int64_t free = std::clamp<std::int64_t>(cpu, 0, units_.largest_cpu);
  const auto cpu_row = static_cast<std::int64_t>(int128{free} * units::cpu_parts / units_.largest_cpu);
  const std::int64_t gpu_row = std::min(std::max<std::int64_t>(0, gpu) / units_.gpu, units_.gpu_rows - 1);
  return table_[static_cast<std::size_t>(cpu_row * units_.gpu_rows + gpu_row)];
}

void expected_waste::open(const session_access& a) {
  const std::vector<expected_class> classes = expected_classes(a);
  const node_types types = types_of_nodes(a, classes);
  next_.open(classes, types);
  type_of_ = types.of_node;
  std::int64_t cpu = 0;
  std::int64_t gpu = 0;
  for (node_row row = 0; row < a.state->node_count(); ++row) {
    cpu = std::max(cpu, capacity_of(a, row, dim_cpu));
    gpu = std::max(gpu, capacity_of(a, row, dim_gpu));
  }
  const node_waste::units units = node_waste::units::for_largest(cpu, gpu);
  largest_cpu_ = units.largest_cpu;
  cpu_ = waste_of_cpu(classes_of(classes, nullptr), largest_cpu_);
  find_price_of_cpu(a);
  const bool together = types.may_use.size() > most_tables;
  for (const std::vector<bool>& may_use : types.may_use) {
    if (!together || nodes_.empty()) {
      const std::vector<table_class> seen = classes_of(classes, together ? nullptr : &may_use);
      devices_.push_back(waste_of_device(seen));
      nodes_.emplace_back(seen, units);
    }
    table_of_.push_back(static_cast<std::uint32_t>(nodes_.size() - 1));
  }
  find_wanted(a, classes, types);
}

void expected_waste::find_price_of_cpu(const session_access& a) {
  int128 cpu = 0;
  int128 gpu = 0;
  for (node_row row = 0; row < a.state->node_count(); ++row) {
    cpu += capacity_of(a, row, dim_cpu);
    gpu += capacity_of(a, row, dim_gpu);
  }
  const int128 price = cpu > 0 ? gpu * micro_per_milli / least_of_price * largest_cpu_ / cpu : 0;
  price_of_largest_ = static_cast<std::int64_t>(std::min<int128>(price, most_gpus * micro_per_milli));
}

void expected_waste::find_wanted(const session_access& a, const std::vector<expected_class>& classes,
                                 const node_types& types) {
  std::vector<std::int64_t> gpus_of(types.may_use.size(), 0);
  for (node_row row = 0; row < a.state->node_count(); ++row)
    gpus_of[types.of_node[row]] += capacity_of(a, row, dim_gpu);
  const std::int64_t all = std::accumulate(gpus_of.begin(), gpus_of.end(), std::int64_t{0});
  const std::vector<table_class> asked = classes_of(classes, nullptr);
  int128 sum = 0;
  for (const table_class& one : asked) sum += int128{one.weight} * (one.gpus * one.share);
  wanted_.assign(types.may_use.size(), 0);
  for (std::size_t i = 0; i < asked.size(); ++i) {
    std::int64_t open_to_it = 0;
    for (std::size_t type = 0; type < gpus_of.size(); ++type) open_to_it += types.may_use[type][i] ? gpus_of[type] : 0;
    if (asked[i].gpus == 0 || open_to_it == 0 || open_to_it == all) continue;
    // Divided in two steps, as the product of all amounts may be too large.
    const int128 part = int128{asked[i].weight} * (asked[i].gpus * asked[i].share) * most_wanted / sum;
    const int128 more = part * all / open_to_it * whole_device / most_wanted;
    for (std::size_t type = 0; type < gpus_of.size(); ++type) {
      if (!types.may_use[type][i]) continue;
      wanted_[type] = static_cast<std::int64_t>(std::min<int128>(most_wanted, more + wanted_[type]));
    }
  }
}

std::int64_t expected_waste::amount_of_cpu(std::int64_t free) const {
  if (cpu_.empty()) return 0;
  const std::int64_t some = std::clamp<std::int64_t>(free, 0, largest_cpu_);
  const auto parts = static_cast<std::size_t>(int128{some} * parts_of_cpu / largest_cpu_);
  return static_cast<std::int64_t>(int128{cpu_[parts]} * price_of_largest_ / (parts_of_cpu * milli_per_part));
}

std::int64_t expected_waste::amount(node_row row, const free_gpus& state) {
  const std::uint32_t table = table_of_[type_of_[row]];
  const std::vector<std::int64_t>& device = devices_[table];
  std::int64_t sum = nodes_[table].amount(state.cpu, state.total) + amount_of_cpu(state.cpu);
  for (const std::int64_t free : state.devices)
    sum += device[static_cast<std::size_t>(std::clamp<std::int64_t>(free, 0, whole_device))];
  const double lost = next_.amount(row, state) * static_cast<double>(micro_per_milli);
  return sum + static_cast<std::int64_t>(std::floor(part_of_fragmentation * lost));
}

}  // namespace kaisched::policy
