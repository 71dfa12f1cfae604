// Jobs of Volcano. Its scheduler asks for `minAvailable` pods, and for each task's own part of them if all have one.
#include <algorithm>
#include <set>
#include <string>

#include <fmt/format.h>

#include "io/kubernetes/grouping/grouper.hpp"

namespace kaisched::io::kubernetes {

std::string place_volcano_job(const workload& of, placement& to) {
  to.sub_group = of.pod.label(volcano_task_key).value_or(of.pod.annotation(volcano_task_key).value_or(""));
  return {};
}

std::string shape_volcano_job(const workload& of, group_shape& to) {
  object& job = of.top_object();
  const member spec = job.section(job.root(), "spec");
  to.queue = job.text(spec, "queue");
  to.priority_class = job.text(spec, "priorityClassName");
  std::int64_t total = 0;
  std::set<std::string, std::less<>> names;
  std::int64_t index = 0;
  for (const json_value task : job.items(spec, "tasks")) {
    sub_group_record row;
    row.name = job.text(task, "name");
    if (row.name.empty()) row.name = fmt::format("default{}", index);  // as Volcano names them
    ++index;
    const std::int64_t replicas = bounded_integer(job, task, "replicas", 0).value_or(1);
    row.min_member = bounded_integer(job, task, "minAvailable", 0, replicas).value_or(replicas);
    total += row.min_member;
    if (!names.insert(row.name).second) job.fail(task, fmt::format("there are two tasks '{}'", row.name));
    to.sub_groups.push_back(std::move(row));
  }
  to.min_member = bounded_integer(job, spec, "minAvailable", 0).value_or(std::min(total, max_group_size));
  // A smaller sum may be met by any of the pods; a larger one is for the whole job too.
  if (to.min_member != total || to.sub_groups.size() < 2) to.sub_groups.clear();
  std::string obstacle;
  to.levels = network_levels(job, spec, of.chosen.tiers, obstacle);
  return obstacle;
}

}  // namespace kaisched::io::kubernetes
