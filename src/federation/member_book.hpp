#pragma once
/// @file
/// A summary in the form in which groups are judged by it, less what has been sent to the member since.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <kaisched/cluster_summary.hpp>

#include "federation/demand.hpp"

namespace kaisched::federation_detail {

/// Of what is looked at.
enum class room : std::uint8_t {
  free,   ///< what is free, by the summary: rules out, never wrongly
  left,   ///< the same less what was sent: an estimate
  empty,  ///< what there is: rules out, never wrongly
};

class member_book {
 public:
  member_book() = default;
  /// @param dimensions of the classes of pods
  member_book(cluster_summary of, const std::vector<std::string>& dimensions);
  [[nodiscard]] const cluster_summary& summary() const { return summary_; }

  /// All dimensions that the pods ask for are there.
  [[nodiscard]] bool has_dimensions(const group_demand& one, const class_pool& pool) const;
  [[nodiscard]] const queue_summary* queue(std::string_view name) const;
  /// Nothing that a summary can tell rules out that the group starts there. The rules of the member decide by what.
  [[nodiscard]] bool could_start(const group_demand& one, const class_pool& pool, room in);
  /// Pods of its largest class that have room besides.
  [[nodiscard]] std::int64_t room_besides(const group_demand& one, const class_pool& pool);
  /// The queue would hold no more than its quota with the group.
  [[nodiscard]] bool is_entitled(const queue_summary& queue, const group_demand& one) const;
  /// When ends that are known have freed as many GPUs as wait there and the group asks for; -1: never.
  [[nodiscard]] std::int64_t expected_start(const group_demand& one) const;
  /// The group has been sent there.
  void charge(const group_demand& one, const class_pool& pool, std::string_view queue);

 private:
  struct parsed_kind {
    model::label_list labels;
    std::vector<model::taint> taints;
  };
  /// Kind, GPUs, parts of CPU and memory: a bound on the number of rows.
  using free_key = std::tuple<std::uint32_t, std::int64_t, std::int64_t, std::int64_t>;
  using free_map = std::map<free_key, free_nodes>;
  struct class_slots {
    std::int64_t free = -1;
    std::int64_t left = -1;
    std::int64_t empty = -1;
    std::uint64_t charge = 0;  ///< for which `left` holds
    std::vector<bool> kinds;   ///< that may hold it
  };

  [[nodiscard]] free_key key_of(const free_nodes& one) const;
  void put(free_map& into, const free_nodes& one) const;
  [[nodiscard]] bool may_hold(const model::pod_class& ask, const parsed_kind& kind) const;
  [[nodiscard]] std::int64_t fit_on(const model::pod_class& ask, std::int64_t devices,
                                    const std::vector<std::int64_t>& amounts) const;
  [[nodiscard]] std::int64_t all_devices(room in) const;
  [[nodiscard]] class_slots& slots_of(std::uint32_t number, const class_pool& pool);
  [[nodiscard]] std::int64_t slots(std::uint32_t number, const class_pool& pool, room in);
  [[nodiscard]] bool could_start(const set_demand& one, const class_pool& pool, room in);
  [[nodiscard]] bool has_domain(const set_demand& one, const class_pool& pool, room in) const;
  void charge_class(const model::pod_class& ask, const std::vector<bool>& kinds, std::int64_t count);
  void charge_domain(const set_demand& one, const class_pool& pool);

  cluster_summary summary_;
  std::vector<std::uint32_t> dimension_;  ///< of the member, by dimension of classes; no_row: it has none
  std::vector<bool> is_judged_;           ///< likewise
  std::vector<parsed_kind> kinds_;
  free_map left_;
  std::vector<domain_room> left_in_domains_;
  std::map<std::string, model::quota_vector, std::less<>> charged_queues_;
  std::int64_t charged_gpu_ = 0;
  std::uint64_t charges_ = 1;
  std::vector<class_slots> slots_;
  std::uint64_t pool_version_ = 0;
};

}  // namespace kaisched::federation_detail
