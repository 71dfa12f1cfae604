#pragma once
/// @file
/// A part of the library against fragmentation gradient descent, on the same pods: other seeds, other orders of nodes.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "benchmarks/fgd/run.hpp"

namespace kaisched::bench::fgd {

struct own_request {
  std::string data;                  ///< folder
  std::string part = "least_waste";  ///< against `fgd`
  option_values options;             ///< of that part
  std::int64_t seed_from = 47;       ///< the ones before are those that parameters were chosen with
  std::int64_t seed_to = 51;
  std::size_t orders = tie_orders.size();  ///< the first so many
  std::size_t threads = 2;
  std::vector<std::string> workloads;  ///< empty: all
  std::string bounds;                  ///< CSV file with workload, seed, lp_prefix_gpu_pct; empty: none
};

/// Of one part on one workload, as means in percent of all GPUs.
struct own_figures {
  double at_100 = 0;
  double at_130 = 0;
  double first_failed = 0;        ///< what had been asked for when a pod did not fit for the first time
  double first_failed_least = 0;  ///< the same: the worst run
  std::size_t ahead = 0;          ///< runs that had more at 100 than the other part
};

struct own_row {
  std::string workload;
  std::size_t runs = 0;  ///< of each part
  own_figures ours;
  own_figures fgd;
  std::size_t bounded = 0;  ///< runs with a known bound
  double bound = 0;         ///< mean of the loads at which nobody could have placed all; 0: not known
  double below_bound = 0;   ///< percent that the first failure of our part is below it, mean over the runs
};

struct own_result {
  std::string part;
  std::vector<own_row> rows;
  double seconds = 0;

  /// Workloads with more GPUs allocated at a load of 100 %.
  [[nodiscard]] std::size_t ahead() const;
  /// Workloads whose first failure says something: where pods exist that hardly any node can run it does not.
  [[nodiscard]] std::size_t compared_first() const;
  /// Of these, the ones where our first failure does not come before, in the mean.
  [[nodiscard]] std::size_t first_not_before() const;
  /// Of the workloads with scarce models and known bounds, those within 15 % of the bound that lose no more than 0.3
  /// points.
  [[nodiscard]] std::size_t scarce() const;
  [[nodiscard]] std::size_t scarce_met() const;

  /// On 14 of 17 workloads, or on all of fewer.
  [[nodiscard]] bool allocates_more() const;
  [[nodiscard]] bool fails_no_sooner() const { return first_not_before() == compared_first(); }
  [[nodiscard]] bool keeps_scarce() const { return scarce_met() == scarce(); }
  [[nodiscard]] bool holds() const { return allocates_more() && fails_no_sooner() && keeps_scarce(); }
};

[[nodiscard]] result<own_result> reproduce(const own_request& what);
[[nodiscard]] std::string to_text(const own_result& of);
[[nodiscard]] std::string to_json(const own_result& of);

}  // namespace kaisched::bench::fgd
