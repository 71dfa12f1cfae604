#include "simulation/job_list.hpp"

#include <algorithm>
#include <cstddef>
#include <set>

#include <fmt/format.h>

#include <kaisched/quantity.hpp>
#include <kaisched/table.hpp>

#include "base/name_map.hpp"
#include "base/text.hpp"
#include "model/selector.hpp"

namespace kaisched::simulation {

std::vector<pod_shape> split_gpus(std::int64_t gpus, std::int64_t per_pod, const pod_shape& each) {
  const std::int64_t most = per_pod * whole_device;
  const auto of = [&](std::int64_t count, std::int64_t amount) {
    pod_shape shape = each;
    shape.count = static_cast<std::uint32_t>(count);
    shape.gpus = amount;
    return shape;
  };
  if (gpus <= most) return {of(1, gpus)};
  std::vector<pod_shape> shapes{of(gpus / most, most)};
  if (gpus % most != 0) shapes.push_back(of(1, gpus % most));
  return shapes;
}

std::int64_t pods_of(const job& one) {
  std::int64_t sum = 0;
  for (const pod_shape& shape : one.pods) sum += shape.count;
  return sum;
}

std::int64_t gpus_of(const job& one) {
  std::int64_t sum = 0;
  for (const pod_shape& shape : one.pods) sum += shape.count * shape.gpus;
  return sum;
}

result<std::vector<model::speed_point>> curve_of(const job& one) {
  return model::parse_speedup(join_list(std::span<const std::string>(one.speedup)));
}

result<void> job_list::check_names() const {
  base::name_map seen;
  seen.reserve(jobs_.size());
  for (std::size_t i = 0; i < jobs_.size(); ++i) {
    if (seen.insert(jobs_[i].name, static_cast<std::uint32_t>(i))) continue;
    return error{status::duplicate,
                 fmt::format("{}:{}: job: \"{}\" stands in line {} already", source_, lines_[i],
                             base::shown(jobs_[i].name), lines_[seen.find(jobs_[i].name)]),
                 {}};
  }
  return {};
}

result<workload> job_list::take() {
  if (auto sound = check_names(); !sound) return sound.take_failure();
  workload read;
  read.left_out = left_out_;
  read.jobs = std::move(jobs_);
  std::stable_sort(read.jobs.begin(), read.jobs.end(), [](const job& a, const job& b) { return a.submit < b.submit; });
  return read;
}

void forget_missing(workload& of) {
  if (std::all_of(of.jobs.begin(), of.jobs.end(), [](const job& one) { return one.after.empty(); })) return;
  std::set<std::string_view> names;
  for (const job& one : of.jobs) names.insert(one.name);
  for (job& one : of.jobs) {
    std::erase_if(one.after, [&](const std::string& entry) {
      const result<model::dependency> read = model::parse_dependency(entry);
      return read && !names.contains(read->group);
    });
  }
}

void begin_at_zero(workload& moved) {
  if (moved.jobs.empty()) return;
  const std::int64_t first = moved.jobs.front().submit;
  for (job& one : moved.jobs) {
    one.submit -= first;
    if (one.deadline != unknown_time) one.deadline -= first;
  }
}

}  // namespace kaisched::simulation
