#pragma once
/// @file
/// What has happened since the last session, as the tables of one delta.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <kaisched/decisions.hpp>
#include <kaisched/ids.hpp>
#include <kaisched/schema.hpp>
#include <kaisched/table.hpp>

#include "simulation/workload.hpp"

namespace kaisched::simulation {

/// Gathers rows; the tables come in an order in which all of them can be applied at once.
class delta {
 public:
  delta();
  delta(const delta&) = delete;
  delta& operator=(const delta&) = delete;

  /// Before it is removed: it has done its work.
  void end_pod(std::string_view name);
  void remove_pod(std::string_view name);
  void remove_group(std::string_view name);
  void change_node(std::string_view name, bool ready, bool unschedulable);
  void change_usage(std::string_view queue, double of_gpus);
  void change_capacity(std::string_view node, std::span<const std::int64_t> amounts);
  void change_device(std::string_view node, std::uint32_t index, bool healthy);
  /// Where it was, if it waits again, or where its place is kept since a time.
  void nominate_pod(std::string_view name, entity_id node, std::int64_t since = unset);
  /// @param node none: the pod waits
  void change_pod(std::string_view name, pod_status status, entity_id node, const device_set& devices);
  struct group_times {
    std::int64_t last_start;
    std::int64_t last_eviction;
    std::int64_t attained_service;
    std::int64_t evictions;
    std::int64_t stale_since;
  };
  void change_group(std::string_view name, const group_times& times);
  struct group_row {
    std::string_view name;
    std::string_view queue;
    std::string_view user;
    std::int64_t priority;
    bool preemptible;
    std::int64_t created;
    std::int64_t min_member;
    std::int64_t runtime_estimate;
    std::int64_t deadline;
    std::string_view topology;
    std::string_view preferred_level;
    std::span<const std::string> after;
    std::span<const std::string> speedup;
  };
  void add_group(const group_row& row);
  /// Of a group that is there, or is added.
  void tell_traffic(std::string_view group, std::int64_t traffic);
  void tell_checkpoint(std::string_view group, std::int64_t last_checkpoint, std::int64_t restart_cost);
  void add_pod(std::string_view name, std::string_view group, const pod_shape& shape, std::int64_t created,
               std::string_view affinity);

  [[nodiscard]] bool empty() const { return rows_ == 0; }
  /// Valid until the next row.
  [[nodiscard]] std::vector<table_view> views() const;
  void clear();

 private:
  std::vector<table> tables_;
  std::vector<std::vector<table::column*>> columns_;  ///< by table, in the order of its rows' values
  std::uint64_t rows_ = 0;
};

}  // namespace kaisched::simulation
