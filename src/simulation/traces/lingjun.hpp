#pragma once
/// @file
/// Hosts of the Lingjun data set (Alibaba, 2023) as a cluster with three levels of switches.

#include <cstdint>

#include <kaisched/result.hpp>

#include "io/cluster_input.hpp"
#include "io/csv_file.hpp"

namespace kaisched::simulation {

/// The file says which switches a host is at and nothing of what it holds. The hosts of that network have eight GPUs
/// (Qian et al., "Alibaba HPN", SIGCOMM 2024); cores and memory are those of common hosts of that size, not measured.
struct lingjun_options {
  std::int64_t gpus = 8;
  std::int64_t cores = 192;
  std::int64_t memory = std::int64_t{2} << 40;
};

/// Nodes with a topology `clos` of the levels `dsw`, `psw` and `asw`, and one queue `default`.
[[nodiscard]] result<io::cluster_input> read_lingjun_hosts(io::named_text hosts, const lingjun_options& options = {});

}  // namespace kaisched::simulation
