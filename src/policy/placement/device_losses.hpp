#pragma once
/// @file
/// Parts that score a node, and choose a device of it, by what the node loses: what they measure of a node in some
/// state is asked for before and after a pod.

#include <cstdint>
#include <limits>
#include <map>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include <kaisched/policy.hpp>

#include "policy/access.hpp"
#include "policy/placement/fragmentation.hpp"

namespace kaisched::policy {

class device_losses : public policy_part {
 public:
  [[nodiscard]] std::uint32_t capabilities() const noexcept override {
    return part_scores_nodes | part_scores_by_class | part_chooses_devices;
  }
  result<void> score_nodes(const session_view& view, pod_row pod, std::span<const node_row> nodes,
                           std::span<double> scores) final;
  std::uint32_t choose_device(const session_view& view, pod_row pod, node_row node, std::uint64_t fitting) final;

 protected:
  /// What a pod does to a node.
  struct step {
    const model::pod_class* of;
    node_row node;
    const free_gpus* now;
    double before;  ///< measured
    double after;
  };
  /// Before anything is measured; more than once for nothing.
  virtual void open(const session_access& a) = 0;
  /// Of a node in some state; less is better.
  [[nodiscard]] virtual double measured(node_row row, const free_gpus& state) = 0;
  [[nodiscard]] virtual double score_of(const session_access& a, const step& one) = 0;
  /// Of a device for a part of the pod; the largest is chosen, the lowest device of equal ones.
  [[nodiscard]] virtual double score_of_device(const session_access& a, const step& one) = 0;

 private:
  struct node_state {
    free_gpus free;
    double measured = 0;
  };
  /// Where the engine says when nodes change, what was found out is kept.
  struct known_state {
    std::uint64_t at = 0;
    node_state state;
  };
  struct known_score {
    std::uint64_t at = 0;
    double score = 0;
  };
  struct device_choice_of_pod {
    std::uint32_t device = max_devices_per_node;
    double score = std::numeric_limits<double>::lowest();
    double after = 0;
    std::int64_t from = 0;
    std::int64_t to = 0;
  };

  void read_state(const session_access& a, node_row row, node_state& to);
  const node_state& state_of(const session_access& a, node_row row);
  const node_state& kept_state(const session_access& a, node_row row, std::uint64_t now);
  std::vector<known_score>& scores_like(const session_access& a, class_row kind);
  device_choice_of_pod best_device(const session_access& a, const model::pod_class& c, node_row row,
                                   const node_state& now, std::uint64_t fitting);
  double score(const session_access& a, const model::pod_class& c, node_row row, const node_state& now);
  double score_of_parts(const session_access& a, const model::pod_class& c, node_row row, const node_state& now);

  using shape =
      std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t>;

  std::vector<known_state> states_;               ///< by node row
  std::map<shape, std::uint32_t> shapes_;         ///< of pods
  std::vector<std::uint32_t> like_;               ///< by class row: number of its shape
  std::vector<std::vector<known_score>> scores_;  ///< by shape and node row
  node_state asked_;
  free_gpus trial_;
  std::vector<std::pair<std::int64_t, std::int64_t>> seen_;  ///< devices that have been tried, by what they have
};

}  // namespace kaisched::policy
