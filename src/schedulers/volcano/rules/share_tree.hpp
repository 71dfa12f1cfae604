#pragma once
/// @file
/// Dominant shares in a tree: jobs below queues, queues where their paths say.
///
/// Source: volcano-sh/volcano, pkg/scheduler/plugins/drf/drf.go. What a node of the tree holds is what its children
/// would, if those that may still grow held the same share each: a child that has run ahead does not count against
/// the others. One thread at a time; copies are independent.

#include <map>
#include <string>
#include <vector>

#include "policy/resources/resource_list.hpp"
#include "schedulers/volcano/rules/state.hpp"

namespace kaisched::volcano {

class share_tree {
 public:
  explicit share_tree(policy::resource_list total);

  /// Adds a job below a path of steps behind the root, or changes what it holds.
  void put(row job, const std::string& name, const std::vector<queue_step>& path, const policy::resource_list& request,
           const policy::resource_list& allocated);
  /// What a job holds, once it is there.
  void change(row job, const policy::resource_list& allocated);
  /// Below 0: who is on the left path is served first. The first step of both counts where they are not equal there.
  [[nodiscard]] double compare(const std::vector<queue_step>& left, const std::vector<queue_step>& right) const;

 private:
  struct branch {
    row parent = no_row;
    double weight = 1;
    double share = 0;
    bool saturated = false;
    bool is_job = false;
    policy::resource_list allocated;
    policy::resource_list request;  ///< of jobs
    std::map<std::string, row, std::less<>> children;
  };

  [[nodiscard]] bool is_saturated(const branch& job) const;
  void renew(row at);
  /// A job and all above it; everything, if something has become scarce or free.
  void renew_from(row leaf);
  [[nodiscard]] std::vector<bool> wanted() const;

  policy::resource_list total_;
  policy::resource_names names_;  ///< of what there is
  policy::resource_list held_;    ///< by all
  std::vector<bool> demanding_;   ///< by name: some of it is left
  std::vector<branch> branches_;  ///< parents come before their children; the root is the first
  std::map<row, row> leaves_;     ///< by job
};

}  // namespace kaisched::volcano
