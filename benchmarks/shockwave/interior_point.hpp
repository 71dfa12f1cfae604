#pragma once
/// @file
/// Shares of GPU time by a linear program, and which of its many solutions an interior-point method stops at.

#include <span>
#include <vector>

namespace kaisched::bench::shockwave {

/// The largest sum of value x share, where shares are 0 to 1, gpus x share come to no more than `capacity`, and
/// speed x share is at least `least`.
struct share_program {
  std::vector<double> gpus;
  double capacity = 0;
  std::vector<double> value;  ///< all 0: any shares will do
  std::vector<double> speed;  ///< with `least`; both empty: without
  std::vector<double> least;
};

/// One share for each job: the point at which a primal-dual method stops that follows the central path of the
/// homogeneous self-dual embedding with Mehrotra's corrector, from the start and with the tolerances that are usual
/// for it (Domahidi, Chu and Boyd, "ECOS", ECC 2013; Vandenberghe, "The CVXOPT linear and quadratic cone program
/// solvers", 2010). One row couples the jobs, so a step costs as much as there are jobs.
[[nodiscard]] std::vector<double> interior_point(const share_program& of);

/// The analytic centre of the shares from `least` to 1 with gpus x share within `capacity`: the largest sum of the
/// logarithms of all distances, that from `least` times `weight`. `least` itself where nothing is left to divide.
[[nodiscard]] std::vector<double> centre_of(std::span<const double> gpus, double capacity,
                                            std::span<const double> least, double weight = 1);

}  // namespace kaisched::bench::shockwave
