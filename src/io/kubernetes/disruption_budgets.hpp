#pragma once
/// @file
/// `PodDisruptionBudget` -> rows, and which pods count in which budget.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "io/kubernetes/object.hpp"
#include "io/kubernetes/records.hpp"
#include "model/selector.hpp"

namespace kaisched::io::kubernetes {

/// Budgets select pods of their namespace. Pods that are not ready count as the API of evictions counts them.
class budget_book {
 public:
  void read(object& of);
  /// Before anybody asks: a pod that budgets may be about.
  void count(const object& pod);
  /// What budgets allow: what their status says, and no more than the pods that are still ready leave of it. Those that
  /// have begun to leave since the status was written are none.
  void finish(std::vector<disruption_budget_record>& to);
  /// Name of the budget that a pod counts in, of several the one that allows the fewest pods, then the first by name;
  /// empty: none.
  [[nodiscard]] std::string of(const object& pod) const;

 private:
  struct budget {
    disruption_budget_record row;
    model::selector pods;
    std::int64_t desired = -1;  ///< pods that have to be ready; -1: the status does not say
    std::int64_t ready = 0;
    bool lets_unready_go = false;  ///< whatever the others are
    /// Pods that are not ready may go.
    [[nodiscard]] bool passes_unready() const { return lets_unready_go || (desired > 0 && ready >= desired); }
  };
  [[nodiscard]] const std::vector<budget>* in_space_of(const object& pod) const;

  std::map<std::string, std::vector<budget>, std::less<>> by_space_;
};

}  // namespace kaisched::io::kubernetes
