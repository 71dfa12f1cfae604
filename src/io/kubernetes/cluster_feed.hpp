#pragma once
/// @file
/// Rows that change from one time to the next -> deltas of a cluster. What a cluster makes of rows depends on other
/// rows in a few places; what depends on a row that changed is taken out and put in again with it, so that the cluster
/// is always the one that all rows together make.

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <kaisched/cluster.hpp>
#include <kaisched/result.hpp>
#include <kaisched/snapshot.hpp>

#include "io/kubernetes/records.hpp"

namespace kaisched::io::kubernetes {

/// One thread at a time.
class cluster_feed {
 public:
  /// Takes in the rows as they are now: all of them, but of pods only those that may differ.
  /// @param read_again full names of the pods that may differ; those without a row are gone.
  /// @return the cluster, bad rows in quarantine. Errors: those of a cluster that takes nothing; the next call loads
  /// everything.
  [[nodiscard]] result<snapshot> update(cluster_records now, std::vector<std::string> read_again);

  /// Forgets all rows; the next call has to bring all of them.
  void restart() noexcept;

  [[nodiscard]] std::uint64_t full_loads() const { return full_loads_; }

 private:
  using names = std::set<std::string, std::less<>>;
  using names_by_name = std::map<std::string, names, std::less<>>;

  /// What has to be taken out and put in again.
  struct touched {
    names nodes;
    names groups;
    names pods;
    names used_queues;   ///< whose history is another one
    names loaded_nodes;  ///< of whose GPUs something else was measured
    names budgets;
  };

  void note_nodes(std::vector<node_record> now, touched& to);
  void note_groups(std::vector<pod_group_record> groups, std::vector<sub_group_record> subs, touched& to);
  void note_pods(std::vector<pod_record> now, const std::vector<std::string>& read_again, touched& to);
  void note_budgets(std::vector<disruption_budget_record> now, touched& to);
  void count_in(const pod_record& pod, int sign);
  /// Takes note of a pod that goes in again, with those that share its choice of devices.
  void touch_pod(const std::string& name, touched& to);
  /// What was left out comes again. @return false if the cluster holds what cannot be put right one by one.
  [[nodiscard]] bool touch_left_out(touched& to);
  void touch_dependents(touched& to);
  [[nodiscard]] bool needs_full_load(const touched& what) const;
  [[nodiscard]] std::vector<std::string> dimensions() const;
  /// Names of which the cluster has something, be it in quarantine.
  [[nodiscard]] names known(table_kind kind, entity_kind entity, const names& of);
  [[nodiscard]] bool apply(const touched& what);
  [[nodiscard]] result<snapshot> load();

  cluster cluster_;
  bool is_loaded_ = false;
  std::uint64_t full_loads_ = 0;
  std::vector<std::string> dimensions_;  ///< that the cluster has
  cluster_records rare_;  ///< rows of kinds that change seldom; of the others what has no name of its own
  std::map<std::string, node_record, std::less<>> nodes_;
  std::map<std::string, pod_group_record, std::less<>> groups_;
  std::map<std::string, std::vector<sub_group_record>, std::less<>> subs_;  ///< by group
  std::map<std::string, pod_record, std::less<>> pods_;
  std::map<std::string, disruption_budget_record, std::less<>> budgets_;
  names_by_name pods_by_node_;  ///< that are there or are promised to be
  names_by_name pods_by_group_;
  names_by_name device_users_;  ///< by node: the cluster chooses devices for those that do not say which
  std::map<std::string, std::int64_t, std::less<>> asked_;  ///< number of pods that ask for a resource
};

}  // namespace kaisched::io::kubernetes
