#include "policy/placement/fragmentation.hpp"

#include <algorithm>

namespace kaisched::policy {

namespace {

constexpr std::int64_t most_kept = max_devices_per_node * whole_device;  ///< milli-GPU of a node with tracked devices

}  // namespace

void free_gpus::lower(std::int64_t from, std::int64_t to) {
  total -= from - to;
  auto at = std::lower_bound(devices.begin(), devices.end(), from);
  for (; at != devices.begin() && *(at - 1) > to; --at) *at = *(at - 1);
  *at = to;
}

fragmentation::node_type fragmentation::type_for(const std::vector<expected_class>& classes,
                                                 const std::vector<bool>& may_use) {
  node_type type;
  for (std::size_t i = 0; i < classes.size(); ++i) {
    if (classes[i].gpus > 0 && may_use[i]) type.sizes.push_back(classes[i].share);
  }
  std::sort(type.sizes.begin(), type.sizes.end());
  type.sizes.erase(std::unique(type.sizes.begin(), type.sizes.end()), type.sizes.end());
  for (std::size_t i = 0; i < classes.size(); ++i) {
    const expected_class& one = classes[i];
    if (one.gpus == 0) {
      type.cpus.push_back({one.weight, one.cpu});
    } else if (may_use[i]) {
      const auto at = std::lower_bound(type.sizes.begin(), type.sizes.end(), one.share);
      type.gpus.push_back({one.weight, one.cpu, one.gpus, static_cast<std::uint32_t>(at - type.sizes.begin())});
    } else {
      type.others.push_back(one.weight);
    }
  }
  return type;
}

void fragmentation::open(const session_access& a) {
  const std::vector<expected_class> classes = expected_classes(a);
  open(classes, types_of_nodes(a, classes));
}

void fragmentation::open(const std::vector<expected_class>& classes, const node_types& types) {
  for (const std::vector<bool>& may_use : types.may_use) types_.push_back(type_for(classes, may_use));
  type_of_ = types.of_node;
}

double fragmentation::lost_to_others(node_type& type, std::int64_t total) {
  if (type.others.empty()) return 0;
  const auto at = static_cast<std::size_t>(total);
  if (at < type.closed_to.size() && type.closed_to[at] >= 0) return type.closed_to[at];
  double sum = 0;
  for (const double weight : type.others) sum += weight * static_cast<double>(total);
  if (total > most_kept) return sum;
  if (at >= type.closed_to.size()) type.closed_to.resize(at + 1, -1);
  type.closed_to[at] = sum;
  return sum;
}

double fragmentation::amount(node_row row, const free_gpus& state) {
  node_type& type = types_[type_of_[row]];
  const std::size_t sizes = type.sizes.size();
  if (below_.size() < sizes) {
    below_.resize(sizes);
    enough_.resize(sizes);
  }
  std::size_t passed = 0;
  std::int64_t sum = 0;
  const std::size_t devices = state.devices.size();
  for (std::size_t i = 0; i < sizes; ++i) {
    for (; passed < devices && state.devices[passed] < type.sizes[i]; ++passed) sum += state.devices[passed];
    below_[i] = static_cast<double>(sum);
    enough_[i] = static_cast<std::int64_t>(devices - passed);
  }
  // What is lost because both, GPUs or CPU are missing; to pods without GPUs that fit and that do not. Each is added up
  // for itself, as the authors' program does: its decisions depend on how sums round.
  const auto total = static_cast<double>(state.total);
  double both = 0;
  double gpus = 0;
  double cpu = 0;
  for (const gpu_class& one : type.gpus) {
    const bool has_cpu = state.cpu >= one.cpu;
    const bool has_gpus = enough_[one.size] >= one.gpus;
    const double lost = one.weight * (has_cpu && has_gpus ? below_[one.size] : total);
    gpus += has_cpu ? lost : 0.0;
    cpu += !has_cpu && has_gpus ? lost : 0.0;
    both += !has_cpu && !has_gpus ? lost : 0.0;
  }
  double fitting = 0;
  double not_fitting = 0;
  for (const cpu_class& one : type.cpus) {
    const double lost = one.weight * total;
    const bool has_cpu = state.cpu >= one.cpu;
    fitting += has_cpu ? lost : 0.0;
    not_fitting += has_cpu ? 0.0 : lost;
  }
  return both + gpus + cpu + fitting + not_fitting + lost_to_others(type, state.total);
}

}  // namespace kaisched::policy
