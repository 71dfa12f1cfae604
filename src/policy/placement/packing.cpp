// Rules of packing that fragmentation gradient descent was compared with (Weng et al., USENIX ATC 2023): the dot
// product of what a pod asks for and what a node has left (Grandl et al., SIGCOMM 2014), best fit, and the two rules by
// which Gandiva and others keep GPUs together: nodes with pods of the same size, and devices that are in use already.
#include <algorithm>
#include <cmath>
#include <compare>
#include <optional>
#include <vector>

#include "base/int128.hpp"
#include "model/account.hpp"
#include "policy/access.hpp"
#include "policy/parts.hpp"

namespace kaisched::policy {

namespace {

constexpr double best_score = 100;

/// The largest node of the cluster, by which amounts are divided.
struct largest_amounts {
  std::int64_t cpu = 0;
  std::int64_t gpu = 0;

  explicit largest_amounts(const session_access& a) {
    const std::vector<std::int64_t>& capacity = *a.state->capacity;
    for (std::size_t at = 0; at < capacity.size(); at += a.state->dims()) {
      cpu = std::max(cpu, capacity[at + dim_cpu]);
      gpu = std::max(gpu, capacity[at + dim_gpu]);
    }
  }
};

std::int64_t left_on(const session_access& a, node_row row, dimension d) {
  const std::size_t at = static_cast<std::size_t>(row) * a.state->dims() + d;
  return (*a.live->idle)[at] + (*a.live->releasing)[at];
}

/// Parts that are asked for by memory count by the memory of the node.
std::int64_t gpus_asked(const session_access& a, const model::pod_class& c, node_row row) {
  return c.requests(dim_gpu) + model::gpus_of_memory(c, model::device_memory(*a.state, row));
}

double ratio(std::int64_t amount, std::int64_t of) {
  return of == 0 ? 0 : static_cast<double>(amount) / static_cast<double>(of);
}

/// A part that gives every node a score of its own.
class packing_part : public policy_part {
 public:
  explicit packing_part(const policy_options& options) : raw_(options.raw_scores) {}
  [[nodiscard]] std::uint32_t capabilities() const noexcept override {
    return part_scores_nodes | part_scores_by_class;
  }

  result<void> score_nodes(const session_view& view, pod_row pod, std::span<const node_row> nodes,
                           std::span<double> scores) final {
    const session_access& a = inside(view);
    const model::pod_class& c = a.state->class_of(pod);
    if (!largest_) largest_.emplace(a);
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const double one = score(a, c, nodes[i]);
      scores[i] += raw_ ? one : std::trunc(one);
    }
    return {};
  }

 protected:
  [[nodiscard]] virtual double score(const session_access& a, const model::pod_class& c, node_row row) = 0;
  [[nodiscard]] const largest_amounts& largest() const { return *largest_; }

 private:
  bool raw_;
  std::optional<largest_amounts> largest_;
};

class dot_product_part final : public packing_part {
 public:
  using packing_part::packing_part;
  [[nodiscard]] std::string_view name() const noexcept override { return "dot_product"; }

 protected:
  [[nodiscard]] double score(const session_access& a, const model::pod_class& c, node_row row) override {
    const double cpu = ratio(left_on(a, row, dim_cpu), largest().cpu) * ratio(c.requests(dim_cpu), largest().cpu);
    const double gpu = ratio(left_on(a, row, dim_gpu), largest().gpu) * ratio(gpus_asked(a, c, row), largest().gpu);
    return best_score * (1 - (cpu + gpu) / 2);
  }
};

class best_fit_part final : public packing_part {
 public:
  using packing_part::packing_part;
  [[nodiscard]] std::string_view name() const noexcept override { return "best_fit"; }

 protected:
  [[nodiscard]] double score(const session_access& a, const model::pod_class& c, node_row row) override {
    const double cpu = ratio(left_on(a, row, dim_cpu) - c.requests(dim_cpu), largest().cpu);
    const double gpu = ratio(left_on(a, row, dim_gpu) - gpus_asked(a, c, row), largest().gpu);
    return best_score * (1 - (0.5 * cpu + 0.5 * gpu));
  }
};

class gpu_packing_part final : public packing_part {
 public:
  using packing_part::packing_part;
  [[nodiscard]] std::string_view name() const noexcept override { return "gpu_packing"; }

 protected:
  /// Devices in use come before idle ones on nodes in use, and these before nodes where nothing is in use.
  [[nodiscard]] double score(const session_access& a, const model::pod_class& c, node_row row) override {
    if (!c.wants_gpu()) return 0;
    const device_row first = (*a.state->first_device)[row];
    const device_row last = (*a.state->first_device)[row + 1];
    left_.clear();
    bool all_idle = true;
    for (device_row d = first; d < last; ++d) {
      const std::int64_t units = (*a.state->device_units)[d];
      const std::int64_t free = std::max<std::int64_t>(0, (*a.live->device_free)[d] + (*a.live->device_releasing)[d]);
      all_idle = all_idle && free >= units;
      if (c.is_shared() && !model::gives_parts_to(*a.state, row, d - first, c)) continue;
      const std::int64_t part = model::part_of_device(c, units);
      if (part >= 0 && free >= part)
        left_.push_back({static_cast<std::int64_t>(base::int128{free} * 100 / units), free >= units});
    }
    const auto devices = static_cast<std::int64_t>(last - first);
    if (all_idle) return static_cast<double>(std::max(33 - devices, devices));
    const auto wanted = static_cast<std::size_t>(c.whole_devices + c.shared_count());
    if (left_.size() < wanted) return 0;
    std::sort(left_.begin(), left_.end());
    std::int64_t idle = 0;
    std::int64_t percent = 0;
    for (std::size_t i = 0; i < wanted; ++i) {
      idle += left_[i].is_idle ? 1 : 0;
      percent += left_[i].percent;
    }
    return static_cast<double>(idle > 0 ? std::max<std::int64_t>(50 - idle, 33)
                                        : std::max<std::int64_t>(100 - percent / 10, 50));
  }

 private:
  struct left {
    std::int64_t percent;
    bool is_idle;
    friend auto operator<=>(const left&, const left&) = default;
  };
  std::vector<left> left_;
};

class gpu_clustering_part final : public packing_part {
 public:
  using packing_part::packing_part;
  [[nodiscard]] std::string_view name() const noexcept override { return "gpu_clustering"; }
  [[nodiscard]] std::uint32_t capabilities() const noexcept override {
    return packing_part::capabilities() | part_hears_changes;
  }

  void changed(const session_view& view, std::span<const session_change> changes) noexcept override {
    if (hosted_.empty()) return;  // nobody has asked yet
    for (const session_change& one : changes) move(inside(view), one.pod, is_there(one.now) ? one.node : no_row);
  }

 protected:
  [[nodiscard]] double score(const session_access& a, const model::pod_class& c, node_row row) override {
    const std::uint32_t size = size_of(c);
    if (size == no_size) return 0;
    if (hosted_.empty()) count(a);
    const std::int64_t busy = std::max<std::int64_t>(0, largest().gpu - left_on(a, row, dim_gpu));
    const std::int64_t base = largest().gpu == 0 ? 0 : 25 * busy / largest().gpu;
    const sizes_of_node& here = hosted_[row];
    const std::uint32_t mine = here.of_size[size];
    const std::int64_t more = here.all == 0 ? 25 : mine == here.all ? 75 : mine > 0 ? 50 : 0;
    return static_cast<double>(base + more);
  }

 private:
  static constexpr std::uint32_t no_size = max_devices_per_node + 1;
  /// How many pods of each size a node hosts: 0 is parts of devices, k is k devices.
  struct sizes_of_node {
    std::uint32_t all = 0;
    std::vector<std::uint32_t> of_size = std::vector<std::uint32_t>(no_size, 0);
  };

  static std::uint32_t size_of(const model::pod_class& c) {
    if (!c.wants_gpu()) return no_size;
    if (c.is_shared()) return 0;
    return static_cast<std::uint32_t>(
        std::clamp<std::int64_t>(c.whole_devices + c.claimed_devices, 1, max_devices_per_node));
  }
  /// Pods that leave do not count: they come and go with what the node holds.
  static bool is_there(pod_status status) { return model::is_in(status, model::active_allocated); }

  void count(const session_access& a) {
    hosted_.resize(a.state->node_count());
    node_of_.assign(a.state->pod_slots, no_row);
    for (pod_row p = 0; p < a.state->pod_slots; ++p) {
      const std::uint32_t slot = a.live->pod_node[p];
      if (!a.state->pods[p].live || slot == no_row || !is_there(static_cast<pod_status>(a.live->pod_state[p])))
        continue;
      move(a, p, (*a.state->node_row_of_slot)[slot]);
    }
  }
  void move(const session_access& a, pod_row pod, node_row to) {
    const std::uint32_t size = size_of(a.state->class_of(pod));
    if (size == no_size || node_of_[pod] == to) return;
    if (node_of_[pod] != no_row) {
      --hosted_[node_of_[pod]].all;
      --hosted_[node_of_[pod]].of_size[size];
    }
    if (to != no_row) {
      ++hosted_[to].all;
      ++hosted_[to].of_size[size];
    }
    node_of_[pod] = to;
  }

  std::vector<sizes_of_node> hosted_;  ///< by row
  std::vector<node_row> node_of_;      ///< by pod: where it counts
};

}  // namespace

std::unique_ptr<policy_part> make_dot_product(const policy_options& options) {
  return std::make_unique<dot_product_part>(options);
}
std::unique_ptr<policy_part> make_best_fit(const policy_options& options) {
  return std::make_unique<best_fit_part>(options);
}
std::unique_ptr<policy_part> make_gpu_packing(const policy_options& options) {
  return std::make_unique<gpu_packing_part>(options);
}
std::unique_ptr<policy_part> make_gpu_clustering(const policy_options& options) {
  return std::make_unique<gpu_clustering_part>(options);
}

}  // namespace kaisched::policy
