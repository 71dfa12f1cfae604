#pragma once
/// @file
/// GPU groups: KAI's books of the devices that several pods share, for mode `compat`.
///
/// KAI's scheduler knows no devices. A node has a number of idle GPUs; the first pod that wants a part of one opens a
/// group, which takes one GPU from that number, and the last one that leaves gives it back. Which device a group is
/// turns out when its first pod starts. Here a group gets a device of the node when it is opened, if one is free, so
/// that decisions can name it; nothing is decided by that.
///
/// The books are kept as KAI keeps them, rules that are not each other's inverse included (a pod that moves to another
/// group of its node and back is charged twice from then on). Amounts are MiB.

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include <boost/container/small_vector.hpp>

#include <kaisched/ids.hpp>

#include "model/state.hpp"

namespace kaisched::policy {

/// Groups of one pod on its node, in the order in which they were chosen.
using group_ids = boost::container::small_vector<std::uint32_t, 1>;

/// One device that pods share.
struct gpu_group {
  std::uint32_t id = 0;      ///< unique on the node, never used again
  std::uint32_t device = 0;  ///< index on the node, or `gpu_groups::no_device`
  std::int64_t used = 0;
  std::int64_t allocated = 0;
  std::int64_t releasing = 0;  ///< claims taken off
  bool was_allocated = false;  ///< false: only pods with claims have ever been in it
  bool marked = false;         ///< counts as one releasing GPU of its node
};

/// How devices are put in order.
struct group_order {
  bool pack = false;    ///< the fullest first (gpupack)
  bool spread = false;  ///< the emptiest first (gpuspread)
};

class gpu_groups {
 public:
  static constexpr std::uint32_t no_device = max_devices_per_node;

  /// What a pod would share on a node.
  struct choice {
    group_ids groups;
    std::uint64_t devices = 0;  ///< bits; none where one of them could not be told
    bool must_wait = false;
  };

  /// Books all pods of a snapshot; `live` is its live part, where the GPUs of nodes are counted anew. Does nothing, and
  /// costs nothing, if no pod asks for a part of a device.
  void open(const model::cluster_state& s, model::live_state& live);
  [[nodiscard]] bool is_open() const { return !nodes_.empty(); }

  // ---- questions
  /// Memory of each GPU of a node.
  [[nodiscard]] std::int64_t gpu_memory(node_row row) const { return nodes_[row].gpu_mib; }
  [[nodiscard]] std::span<const gpu_group> groups_on(node_row row) const { return nodes_[row].groups; }
  /// A pod may join the group, now or when pods that leave it are gone.
  [[nodiscard]] bool may_join(const gpu_group& group, node_row row, std::int64_t mib) const;
  /// Number of groups of a node that may be joined.
  [[nodiscard]] std::int64_t joinable(node_row row, const model::pod_class& c) const;
  [[nodiscard]] bool any_joinable(node_row row, std::int64_t mib) const;
  /// KAI's test of GPUs: `free` whole ones, in milli-GPU, and groups with room come to enough devices.
  [[nodiscard]] bool fits(node_row row, const model::pod_class& c, std::int64_t free) const;
  /// Groups for a pod, or nothing if there are too few. `starts`: it fits on what is idle.
  [[nodiscard]] std::optional<choice> choose(const model::cluster_state& s, const model::live_state& live, node_row row,
                                             const model::pod_class& c, bool starts, group_order order) const;
  /// Groups of these devices, for a pod that somebody else places.
  [[nodiscard]] choice on_devices(node_row row, const model::pod_class& c, std::uint64_t devices) const;
  /// The pod is booked on the node, where it is now or where it was moved away from; its groups there.
  [[nodiscard]] const group_ids* groups_of(pod_row pod, node_row row) const;
  /// Milli-GPU of shared devices that are not taken, that are coming free beside those that come free as a whole.
  [[nodiscard]] std::int64_t idle_parts(node_row row) const;
  [[nodiscard]] std::int64_t releasing_parts(node_row row) const;
  /// MiB that are free or coming free on shared devices.
  [[nodiscard]] std::int64_t free_memory(node_row row) const;
  /// Room on shared devices as parts of a GPU, as domains of a topology count it.
  [[nodiscard]] double room(node_row row) const;

  // ---- changes; they also change the idle and releasing GPUs of the node
  /// A pod that takes whole devices comes (1) or goes (-1).
  void count_whole(node_row row, const model::pod_class& c, std::int64_t sign);
  void put(const model::cluster_state& s, model::live_state& live, pod_row pod, node_row row, pod_status status,
           const group_ids& groups);
  /// The pod leaves its node.
  void take(const model::cluster_state& s, model::live_state& live, pod_row pod);
  /// The pod stays where it is with another status.
  void restate(const model::cluster_state& s, model::live_state& live, pod_row pod, pod_status status);
  /// The pod gets a place on another node while it is leaving this one.
  void leave_behind(pod_row pod);
  /// The inverse, after the pod has been taken from the other node.
  void come_back(pod_row pod, node_row row);
  /// The pod gets another place on the node that it is leaving: what it holds stays charged and is not its own any
  /// more.
  void forget(pod_row pod);
  /// The eviction of a pod that was forgotten is undone: it is charged once more, as KAI does.
  void recall(const model::cluster_state& s, model::live_state& live, pod_row pod, pod_status status);
  [[nodiscard]] bool is_booked(pod_row pod) const { return here_[pod].row != no_row; }
  /// Takes a pod that comes back as it was.
  void shelve(const model::cluster_state& s, model::live_state& live, pod_row pod);
  void unshelve(const model::cluster_state& s, model::live_state& live, pod_row pod, node_row row, pod_status status);
  /// Drops groups that nobody is in and that nobody will name again.
  void drop_empty(node_row row);

 private:
  struct holding {
    pod_row pod = no_row;
    node_row row = no_row;
    pod_status status = pod_status::pending;
    group_ids groups;
  };
  static constexpr std::int64_t not_counted = std::numeric_limits<std::int64_t>::min();
  struct node_book {
    std::int64_t gpu_mib = 0;
    std::int64_t gpu_count = not_counted;  ///< known when something is shared here: a label says it
    std::int64_t whole_used = 0;           ///< milli-GPU of pods that take whole devices
    std::uint32_t next_id = 0;
    std::vector<gpu_group> groups;  ///< in the order in which they were opened
  };
  struct amounts {
    std::int64_t idle = 0;
    std::int64_t releasing = 0;
  };

  gpu_group& group_of(node_book& node, std::uint32_t id);
  void book(const model::cluster_state& s, model::live_state& live, const holding& one, std::int64_t sign);
  void add(node_book& node, gpu_group& group, pod_status status, std::int64_t mib, amounts& gpus);
  void remove(node_book& node, gpu_group& group, pod_status status, std::int64_t mib, amounts& gpus);
  static std::int64_t in_use(const node_book& node);
  static void take_idle(const node_book& node, amounts& gpus);
  static void give_idle(const node_book& node, amounts& gpus);
  static void mark(gpu_group& group, bool on, amounts& gpus);
  [[nodiscard]] std::uint32_t device_for_group(const model::cluster_state& s, const model::live_state& live,
                                               node_row row, std::uint64_t taken) const;

  std::vector<node_book> nodes_;    ///< by row
  std::vector<holding> here_;       ///< by pod
  std::vector<holding> elsewhere_;  ///< pods on the node that they are leaving for another one
  std::vector<holding> forgotten_;
};

}  // namespace kaisched::policy
