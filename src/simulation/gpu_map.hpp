#pragma once
/// @file
/// What is free on the devices of every node, and how much of it jobs of the workload could not use.

#include <cstdint>
#include <vector>

#include <kaisched/decisions.hpp>

#include "model/state.hpp"
#include "simulation/workload.hpp"

namespace kaisched::simulation {

/// The fragmentation measure of Weng et al. (USENIX ATC 2023) over the sizes of pods in a workload, GPUs alone: of the
/// free GPUs of a node a pod cannot use those on devices with less than its share, or all if too few are left.
class gpu_map {
 public:
  gpu_map(const model::cluster_state& s, const workload& jobs);

  /// A pod with this request in milli-GPU takes its place, or leaves it (`sign` 1, -1).
  void charge(std::uint32_t node_slot, const device_set& devices, std::int64_t gpus, int sign);
  void node_is_there(std::uint32_t node_slot, bool there);
  void device_is_there(std::uint32_t node_slot, std::uint32_t device, bool there);
  /// Milli-GPU that are free and cannot be used, as the mean over the pods of the workload that want GPUs.
  [[nodiscard]] std::int64_t fragmented();

 private:
  struct node {
    std::vector<std::int64_t> free;  ///< milli-GPU by device
    std::vector<std::uint8_t> lost;  ///< devices that have failed
    std::int64_t amount = 0;         ///< of `fragmented`, times all weights
    bool there = true;
    bool changed = true;
  };
  struct size {
    std::int64_t gpus = 0;  ///< milli-GPU
    std::int64_t weight = 0;
  };
  [[nodiscard]] std::int64_t amount_of(const node& of) const;
  void touch(std::uint32_t slot);

  std::vector<node> nodes_;  ///< by slot
  std::vector<size> sizes_;
  std::int64_t weights_ = 0;
  std::vector<std::uint32_t> changed_;
  std::int64_t sum_ = 0;
};

}  // namespace kaisched::simulation
