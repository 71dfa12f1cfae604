#include "schedulers/volcano/rules/queue_books.hpp"

#include <algorithm>
#include <limits>

#include "base/saturating.hpp"

namespace kaisched::volcano {

namespace {

void add_devices(const devices_by_class& devices, std::int64_t times, devices_by_class& to) {
  for (const auto& [of_class, count] : devices) {
    std::int64_t& sum = to[of_class];
    sum = base::saturating_add(sum, base::saturating_multiply(count, times));
  }
}

std::int64_t devices_of(const devices_by_class& devices, const std::string& of_class) {
  const auto found = devices.find(of_class);
  return found == devices.end() ? 0 : found->second;
}

}  // namespace

devices_by_class device_book::missing(const task_state& task) const {
  devices_by_class asked;
  for (const device_claim& claim : task.claims) {
    if (!holders_.contains(claim.name)) add_devices(claim.devices, 1, asked);
  }
  return asked;
}

bool device_book::has_room(const devices_by_class& asked, bool promised) const {
  return std::ranges::all_of(asked, [&](const auto& one) {
    const auto limit = most.find(one.first);
    if (limit == most.end() || limit->second == 0) return true;
    const std::int64_t held = base::saturating_add(devices_of(allocated_, one.first),
                                                   promised ? devices_of(inqueue_, one.first) : std::int64_t{0});
    return base::saturating_add(held, one.second) <= limit->second;
  });
}

void device_book::take(const task_state& task) {
  for (const device_claim& claim : task.claims) {
    if (holders_[claim.name]++ == 0) add_devices(claim.devices, 1, allocated_);
  }
}

void device_book::give_back(const task_state& task) {
  for (const device_claim& claim : task.claims) {
    const auto held = holders_.find(claim.name);
    if (held == holders_.end() || --held->second > 0) continue;
    holders_.erase(held);
    add_devices(claim.devices, -1, allocated_);
  }
}

void device_book::promise(const devices_by_class& devices) { add_devices(devices, 1, inqueue_); }

devices_by_class least_devices(const cluster_state& cluster, const job_state& job) {
  std::vector<row> first;
  for (const row task : job.tasks) {
    if (!cluster.tasks[task].claims.empty()) first.push_back(task);
  }
  std::ranges::sort(first, {}, [&](row task) -> const std::string& { return cluster.tasks[task].name; });
  devices_by_class least;
  const auto add = [&](row task, std::int64_t times) {
    for (const device_claim& claim : cluster.tasks[task].claims) add_devices(claim.devices, times, least);
  };
  if (job.minimums.by_role.empty()) {
    const auto count = static_cast<std::size_t>(std::max<std::int64_t>(job.min_available, 0));
    for (std::size_t i = 0; i < std::min(count, first.size()); ++i) add(first[i], 1);
    return least;
  }
  for (const auto& [role, count] : job.minimums.by_role) {
    const auto of_role = std::ranges::find(first, role, [&](row task) { return cluster.tasks[task].role; });
    if (count > 0 && of_role != first.end()) add(*of_role, count);
  }
  return least;
}

void enter_job(const cluster_state& cluster, const job_state& job, queue_book& book) {
  std::int64_t held = 0;
  for (const row task : job.tasks) {
    const task_state& one = cluster.tasks[task];
    if (is_allocated(one.status)) {
      ++held;
      book.allocated.add(one.request);
    }
    if (is_allocated(one.status) || one.status == task_status::pending) book.request.add(one.request);
  }
  const policy::resource_list allocated = allocated_of(cluster, job);
  if (job.min_resources &&
      (job.phase == job_phase::inqueue || (job.phase == job_phase::running && held >= job.min_available))) {
    book.inqueue.add(outstanding_of(job, allocated));
  }
  // Who holds nothing holds nothing beyond.
  if (held > 0)
    book.elastic.add(policy::beyond_minimum(allocated, job.min_resources.value_or(policy::shared_resources())));
}

policy::resource_list most_of(const cluster_state& cluster, const queue_state& queue) {
  policy::resource_list guarantees;  // also of queues without jobs
  for (const queue_state& one : cluster.queues) {
    if (one.guarantee) guarantees.add(*one.guarantee);
  }
  policy::resource_list most = difference(cluster.total(), guarantees, policy::absent_resource::zero).more;
  if (queue.guarantee) most.add(*queue.guarantee);
  if (queue.capability) {
    policy::resource_list capability = *queue.capability;
    if (capability.cpu <= 0) capability.cpu = std::numeric_limits<double>::max();
    if (capability.memory <= 0) capability.memory = std::numeric_limits<double>::max();
    most.lower_to(capability, policy::absent_resource::infinity);
  }
  return most;
}

bool has_room(const queue_book& book, const policy::resource_list& limit, const policy::resource_list& asked) {
  policy::resource_list future = book.allocated;
  future.add(asked);
  return policy::exceeding_of(future, limit, asked).empty();
}

bool has_room_to_enqueue(const queue_book& book, const policy::resource_list& minimum) {
  policy::resource_list future = minimum;
  future.add(book.allocated);
  future.add(book.inqueue);
  future.subtract(book.elastic);
  return policy::exceeding_of(future, book.most, minimum).empty();
}

}  // namespace kaisched::volcano
