// Alibaba openb: each pod is a job. How long it ran is from when it was scheduled to when it was deleted.
#include <algorithm>

#include <fmt/format.h>

#include "simulation/traces/trace_rows.hpp"

namespace kaisched::simulation {

namespace {

constexpr std::int64_t bytes_per_mebibyte = std::int64_t{1} << 20;

std::vector<std::string> models_of(std::string_view list) {
  std::vector<std::string> models;
  while (!list.empty()) {
    const std::size_t end = std::min(list.find('|'), list.size());
    if (end > 0) models.emplace_back(list.substr(0, end));
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return models;
}

}  // namespace

result<workload> read_openb_pods(io::named_text pods, const trace_options& options) {
  enum column : unsigned { name, cpu, memory, num_gpu, gpu_milli, gpu_spec, created, deleted, scheduled };
  constexpr std::array<std::string_view, 9> header{"name",          "cpu_milli",     "memory_mib",
                                                   "num_gpu",       "gpu_milli",     "gpu_spec",
                                                   "creation_time", "deletion_time", "scheduled_time"};
  if (auto sound = check_options(options); !sound) return sound.take_failure();
  trace_rows rows(pods, header);
  io::csv_file& csv = rows.file();
  rows.need({name, cpu, memory, num_gpu, gpu_milli, gpu_spec, created, deleted, scheduled});
  while (rows.next()) {
    job one;
    one.name = rows.name(name);
    one.submit = rows.time(created);
    static_cast<void>(rows.text(gpu_spec));
    one.gpu_models = models_of(csv.text(gpu_spec));
    const std::int64_t gpus = csv.integer(num_gpu, 0, max_devices_per_node);
    const std::int64_t share = gpus == 0 ? 0 : csv.integer(gpu_milli, 1, whole_device);
    if (gpus > 1 && share < whole_device) csv.refuse(gpu_milli, "1000, as for every pod of several GPUs");
    pod_shape& pod = one.pods.emplace_back();
    pod.gpus = gpus * share;
    pod.cpu = csv.integer(cpu, 0, max_amount);
    pod.memory = csv.integer(memory, 0, max_amount / bytes_per_mebibyte) * bytes_per_mebibyte;
    const std::int64_t end = rows.time(deleted);
    if (csv.text(scheduled).empty()) {  // it never ran, so nobody knows for how long it would have
      rows.leave_out();
      continue;
    }
    const std::int64_t start = rows.time(scheduled);
    if (end < start) csv.refuse(deleted, fmt::format("a time from scheduled_time ({}) on", csv.text(scheduled)));
    one.run_time = end - start;
    rows.add(std::move(one));
  }
  return rows.take();
}

}  // namespace kaisched::simulation
