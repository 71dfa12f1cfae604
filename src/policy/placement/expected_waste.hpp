#pragma once
/// @file
/// How much of the free GPUs of a node will be left over when nothing more fits: two tables that look as far ahead as
/// the node has room, one for devices and one for what CPU and GPUs leave of each other, and the measure of
/// fragmentation, which looks one pod ahead. And how much of its CPU will be left over by pods without GPUs.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "policy/access.hpp"
#include "policy/placement/expected_pods.hpp"
#include "policy/placement/fragmentation.hpp"

namespace kaisched::policy {

/// Millionths of a GPU.
inline constexpr std::int64_t micro_per_milli = 1000;
/// Milli-GPU of a node or pod: more counts as that much.
inline constexpr std::int64_t most_gpus = std::int64_t{1} << 32U;

/// A class of pods as the tables see it.
struct table_class {
  std::int64_t cpu = 0;  ///< milli-cores
  std::int64_t gpus = 0;
  std::int64_t share = 0;   ///< milli-GPU of each; 0 without GPUs
  std::int64_t weight = 0;  ///< parts of a million
};

/// What is left of one device, by the milli-GPU that it has free: the mean over pods that come, where the device gets
/// the better one of two that fit, and all if none fits.
[[nodiscard]] std::vector<std::int64_t> waste_of_device(const std::vector<table_class>& classes);

/// The same of CPU, for the classes without GPUs: by the parts of `largest_cpu` that are free, in thousandths of a
/// part. What is free is rounded down, what pods ask for to the nearest part. Empty if there are no such classes.
inline constexpr std::int64_t parts_of_cpu = 512;
inline constexpr std::int64_t milli_per_part = 1000;
[[nodiscard]] std::vector<std::int64_t> waste_of_cpu(const std::vector<table_class>& classes, std::int64_t largest_cpu);

/// The same for a node as a whole, by what it has free of CPU and of GPUs, whose devices are taken for one. Amounts are
/// rounded: what is free down, what pods ask for to the nearest.
class node_waste {
 public:
  /// Rows of the table.
  struct units {
    static constexpr std::int64_t cpu_parts = 64;
    std::int64_t largest_cpu = 1;  ///< milli-cores; its 64th part is a row
    std::int64_t gpu = 100;        ///< milli-GPU of a row: a tenth, more where nodes have more than 8 devices
    std::int64_t gpu_rows = 1;

    [[nodiscard]] static units for_largest(std::int64_t cpu, std::int64_t gpu);
  };
  node_waste(const std::vector<table_class>& classes, const units& of);
  [[nodiscard]] std::int64_t amount(std::int64_t cpu, std::int64_t gpu) const;

 private:
  units units_;
  std::vector<std::int64_t> table_;  ///< by CPU, then GPU
};

/// For the nodes of a session.
class expected_waste {
 public:
  void open(const session_access& a);
  [[nodiscard]] bool is_open() const { return !type_of_.empty(); }

  /// Of a node in this state, in millionths of a GPU. CPU counts for half of the GPUs that the cluster has for as much.
  [[nodiscard]] std::int64_t amount(node_row row, const free_gpus& state);
  /// How many of 1000 milli-GPU of this node are wanted by pods that may not use every node with GPUs, if these are
  /// spread evenly over what they may use and as much is asked for as there is.
  [[nodiscard]] std::int64_t wanted(node_row row) const { return wanted_[type_of_[row]]; }

 private:
  [[nodiscard]] std::int64_t amount_of_cpu(std::int64_t free) const;
  void find_price_of_cpu(const session_access& a);
  void find_wanted(const session_access& a, const std::vector<expected_class>& classes, const node_types& types);

  fragmentation next_;
  std::vector<std::uint32_t> type_of_;   ///< by node row
  std::vector<std::uint32_t> table_of_;  ///< by type
  std::vector<std::vector<std::int64_t>> devices_;
  std::vector<node_waste> nodes_;
  std::vector<std::int64_t> cpu_;      ///< empty: no class is without GPUs
  std::int64_t largest_cpu_ = 1;       ///< of a node, milli-cores
  std::int64_t price_of_largest_ = 0;  ///< of that CPU
  std::vector<std::int64_t> wanted_;   ///< by type
};

}  // namespace kaisched::policy
