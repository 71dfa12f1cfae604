#include "cli/figures.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/terminal.hpp"
#include "model/snapshot_access.hpp"
#include "model/state.hpp"

namespace kaisched::cli {

contents contents_of(const snapshot& of) {
  const model::cluster_state& s = model::state_of(of);
  contents found;
  found.nodes = static_cast<std::int64_t>(of.count(entity_kind::node));
  found.queues = static_cast<std::int64_t>(of.count(entity_kind::queue));
  found.jobs = static_cast<std::int64_t>(of.count(entity_kind::pod_group));
  found.pods = static_cast<std::int64_t>(of.count(entity_kind::pod));
  for (node_row row = 0; row < s.node_count(); ++row) {
    const std::size_t first = std::size_t{row} * s.dims();
    for (std::size_t d = 0; d < quota_dimensions; ++d) found.capacity[d] += (*s.capacity)[first + d];
  }
  for (pod_row p = 0; p < s.pod_slots; ++p) {
    if (!s.pods[p].live) continue;
    const auto status = static_cast<pod_status>(s.live.pod_state[p]);
    if (model::is_in(status, model::active_used)) ++found.pods_on_nodes;
    if (status == pod_status::pending || status == pod_status::gated) ++found.pods_waiting;
  }
  return found;
}

std::string sentence_of(const contents& of) {
  return fmt::format("{} with {} {}, {}, {} of {} ({} on nodes, {} waiting)", counted(of.nodes, "node"),
                     gpus(of.capacity[dim_gpu]), of.capacity[dim_gpu] == whole_device ? "GPU" : "GPUs",
                     counted(of.queues, "queue"), counted(of.jobs, "job"), counted(of.pods, "pod"),
                     grouped(of.pods_on_nodes), grouped(of.pods_waiting));
}

json json_of(const contents& of) {
  return {{"nodes", of.nodes},
          {"queues", of.queues},
          {"jobs", of.jobs},
          {"pods", of.pods},
          {"pods_on_nodes", of.pods_on_nodes},
          {"pods_waiting", of.pods_waiting},
          {"capacity",
           {{"cpu", of.capacity[dim_cpu]}, {"memory", of.capacity[dim_memory]}, {"gpu", of.capacity[dim_gpu]}}}};
}

}  // namespace kaisched::cli
