#pragma once
/// @file
/// What queues hold, ask for and were promised: the books that the plug-ins proportion and capacity keep alike.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "schedulers/volcano/rules/session.hpp"

namespace kaisched::volcano {

/// Devices that a queue holds by claims, and was promised. A claim counts once, however many tasks share it.
class device_book {
 public:
  devices_by_class most;

  /// What a task would add: claims that no other task holds for the queue.
  [[nodiscard]] devices_by_class missing(const task_state& task) const;
  /// `promised`: beside what was promised as well.
  [[nodiscard]] bool has_room(const devices_by_class& asked, bool promised) const;
  void take(const task_state& task);
  void give_back(const task_state& task);
  void promise(const devices_by_class& devices);

 private:
  devices_by_class allocated_;
  devices_by_class inqueue_;
  std::map<std::string, std::int64_t, std::less<>> holders_;  ///< by claim
};

/// Devices that a job needs at least, by the minimums of its roles; without any those of its first tasks by name.
[[nodiscard]] devices_by_class least_devices(const cluster_state& cluster, const job_state& job);

struct queue_book {
  bool has_jobs = false;  ///< others are not asked about
  policy::resource_list deserved;
  policy::resource_list allocated;
  policy::resource_list request;  ///< held and waited for
  policy::resource_list inqueue;  ///< promised to jobs that were let in
  policy::resource_list elastic;  ///< held beyond the minimums of jobs
  policy::resource_list guarantee;
  policy::resource_list capability;
  policy::resource_list most;  ///< what it may have at all
  double share = 0;
  device_book devices;
  std::vector<row> ancestors;  ///< from the root
  std::vector<row> children;
};

/// By queue.
using queue_books = std::vector<queue_book>;

/// Adds what the job holds, waits for and was promised.
void enter_job(const cluster_state& cluster, const job_state& job, queue_book& book);
/// The limit of a queue: what nobody else is guaranteed, and no more than its capability.
[[nodiscard]] policy::resource_list most_of(const cluster_state& cluster, const queue_state& queue);
/// Whether a queue may hold so much more, by the resources that are asked for.
[[nodiscard]] bool has_room(const queue_book& book, const policy::resource_list& limit,
                            const policy::resource_list& asked);
/// Whether a job may come in beside what is held and promised.
[[nodiscard]] bool has_room_to_enqueue(const queue_book& book, const policy::resource_list& minimum);

}  // namespace kaisched::volcano
