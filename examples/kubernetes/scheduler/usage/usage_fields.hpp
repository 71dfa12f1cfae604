#pragma once
/// @file
/// The section `usage` of the configuration: what queues have held in the past.

#include <array>
#include <chrono>
#include <string>

#include "prometheus/prometheus_fields.hpp"
#include "usage/usage_window.hpp"

namespace shim {

struct usage_settings {
  bool enabled = false;
  usage_window window;
  std::chrono::milliseconds half_life{0};                            ///< 0: all of the window counts the same
  std::chrono::milliseconds interval = std::chrono::minutes(1);      ///< between two times that the engine is told
  std::chrono::milliseconds save_period = std::chrono::seconds(30);  ///< between two times that it is written
  std::string name_space;                                            ///< of the ConfigMap; empty: that of the lease
  std::string name;                                                  ///< empty: that of the lease and `-usage`
  prometheus_settings prometheus;                                    ///< without an address the program counts itself
  std::chrono::milliseconds stale_after = std::chrono::minutes(5);   ///< answers of Prometheus that are older
  std::chrono::milliseconds resolution = std::chrono::minutes(1);    ///< steps of its queries
  std::array<std::string, 3> allocated{"kai_queue_allocated_cpu_cores", "kai_queue_allocated_memory_bytes",
                                       "kai_queue_allocated_gpus"};  ///< expressions, by `queue_name`
  std::array<std::string, 3> capacity{R"(sum(kube_node_status_capacity{resource="cpu"}))",
                                      R"(sum(kube_node_status_capacity{resource="memory"}))",
                                      R"(sum(kube_node_status_capacity{resource="nvidia_com_gpu"}))"};
};

}  // namespace shim
