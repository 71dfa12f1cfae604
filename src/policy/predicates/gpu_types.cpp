// Limits of queues on types of GPUs: nodes of a type of which a queue on the path may hold no more are refused.
#include <string_view>
#include <vector>

#include "model/account.hpp"
#include "policy/access.hpp"
#include "policy/parts.hpp"

namespace kaisched::policy {

namespace {

constexpr std::string_view product_label = "nvidia.com/gpu.product";

class gpu_types_part final : public policy_part {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "gputypes"; }
  [[nodiscard]] std::uint32_t capabilities() const noexcept override { return part_filters_nodes; }

  result<void> session_open(const session_view& view) override {
    const std::vector<model::queue_info>& queues = *inside(view).state->queues;
    for (queue_row q = 0; q < queues.size(); ++q) {
      for (const auto& [product, most] : queues[q].gpu_limits) {
        if (queues[q].live) limits_.push_back({q, product, most, 0});
      }
    }
    return {};
  }

  result<void> filter_nodes(const session_view& view, pod_row pod, std::span<const node_row> nodes,
                            std::span<constraint> verdicts) override {
    const session_access& a = inside(view);
    const model::pod_class& c = a.state->class_of(pod);
    const group_row group = a.state->pods[pod].group;
    if (limits_.empty() || group == no_row || (!c.wants_gpu() && c.mig_slices == 0)) return {};
    count(view);
    for (const limit& one : limits_) {
      if (!is_below(a, a.state->groups[group].queue, one.queue)) continue;
      for (std::size_t i = 0; i < nodes.size(); ++i) {
        const std::int64_t need = model::quota_request_on(*a.state, c, nodes[i])[dim_gpu];
        if (one.held + need > one.most && has_product(view, nodes[i], one.product))
          verdicts[i] = constraint::gpu_type_limit;
      }
    }
    return {};
  }

 private:
  struct limit {
    queue_row queue;
    std::string_view product;
    std::int64_t most;  ///< milli-GPU
    std::int64_t held;  ///< by active pods of the queue and below on nodes with the product
  };

  static bool is_below(const session_access& a, queue_row q, queue_row top) {
    for (; q != no_row; q = (*a.state->queues)[q].parent) {
      if (q == top) return true;
    }
    return false;
  }

  static bool has_product(const session_view& view, node_row node, std::string_view product) {
    bool found = false;
    const std::string_view value = view.node_label(node, product_label, &found);
    return found && value == product;
  }

  /// What is held is counted once for all questions between two changes of pods.
  void count(const session_view& view) {
    const session_access& a = inside(view);
    if (counted_ == a.changes) return;
    counted_ = a.changes;
    for (limit& one : limits_) one.held = 0;
    const model::cluster_state& s = *a.state;
    for (group_row g = 0; g < s.group_slots; ++g) {
      if (s.groups[g].live) count_group(view, g);
    }
  }

  void count_group(const session_view& view, group_row group) {
    const session_access& a = inside(view);
    const model::group_core& g = a.state->groups[group];
    for (limit& one : limits_) {
      if (!is_below(a, g.queue, one.queue)) continue;
      for (sub_group_row sub = g.first_sub; sub < g.first_sub + g.sub_count; ++sub) {
        if (a.live->counts[sub].active_allocated == 0) continue;
        for (pod_row p = a.state->subs[sub].first_pod; p != no_row; p = a.state->pods[p].next) {
          if (!model::is_in(view.status_of(p), model::active_allocated)) continue;
          const node_row node = view.node_of(p);
          if (node != no_row && has_product(view, node, one.product)) {
            one.held += model::quota_request_on(*a.state, a.state->class_of(p), node)[dim_gpu];
          }
        }
      }
    }
  }

  std::vector<limit> limits_;
  std::uint64_t counted_ = ~std::uint64_t{0};
};

}  // namespace

std::unique_ptr<policy_part> make_gpu_types(const policy_options&) { return std::make_unique<gpu_types_part>(); }

}  // namespace kaisched::policy
