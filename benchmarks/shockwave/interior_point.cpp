#include "benchmarks/shockwave/interior_point.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace kaisched::bench::shockwave {

namespace {

using numbers = std::vector<double>;

double dot(const numbers& a, const numbers& b) { return std::inner_product(a.begin(), a.end(), b.begin(), 0.0); }
double norm(const numbers& a) { return std::sqrt(dot(a, a)); }
/// a + factor x b
numbers sum_of(const numbers& a, double factor, const numbers& b) {
  numbers made(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) made[i] = a[i] + factor * b[i];
  return made;
}

/// The rows G x <= h of a program: blocks with one entry in each row, on the diagonal, and one last row with all.
class row_set {
 public:
  explicit row_set(const share_program& of) : jobs_(of.gpus.size()), coupling_(of.gpus) {
    diagonal_.assign(jobs_, -1.0);
    bound_.assign(jobs_, 0.0);
    diagonal_.insert(diagonal_.end(), jobs_, 1.0);
    bound_.insert(bound_.end(), jobs_, 1.0);
    for (std::size_t i = 0; i < of.least.size(); ++i) {
      diagonal_.push_back(-of.speed[i]);
      bound_.push_back(-of.least[i]);
    }
    bound_.push_back(of.capacity);
  }

  /// Brings all entries near 1. What it divides columns by is multiplied into `scale`.
  void equilibrate(numbers& scale) {
    constexpr int times = 3;
    for (int time = 0; time < times; ++time) {
      numbers columns(jobs_);
      double most = 0;
      for (std::size_t j = 0; j < jobs_; ++j) {
        columns[j] = std::abs(coupling_[j]);
        most = std::max(most, columns[j]);
      }
      for (std::size_t r = 0; r < diagonal_.size(); ++r)
        columns[r % jobs_] = std::max(columns[r % jobs_], std::abs(diagonal_[r]));
      for (double& column : columns) column = std::sqrt(column);
      for (std::size_t r = 0; r < diagonal_.size(); ++r) {
        const double row = std::sqrt(std::abs(diagonal_[r]));
        diagonal_[r] /= row * columns[r % jobs_];
        bound_[r] /= row;
      }
      for (std::size_t j = 0; j < jobs_; ++j) {
        coupling_[j] /= std::sqrt(most) * columns[j];
        scale[j] *= columns[j];
      }
      bound_.back() /= std::sqrt(most);
    }
  }

  [[nodiscard]] const numbers& bound() const { return bound_; }
  [[nodiscard]] numbers times(const numbers& x) const {
    numbers made(bound_.size());
    for (std::size_t r = 0; r < diagonal_.size(); ++r) made[r] = diagonal_[r] * x[r % jobs_];
    made.back() = dot(coupling_, x);
    return made;
  }
  [[nodiscard]] numbers transposed_times(const numbers& z) const {
    numbers made(jobs_);
    for (std::size_t r = 0; r < diagonal_.size(); ++r) made[r % jobs_] += diagonal_[r] * z[r];
    return sum_of(made, z.back(), coupling_);
  }
  /// Solves (G' W^-1 G) x = b for weights W of the rows: a diagonal and one product, by Sherman and Morrison.
  [[nodiscard]] numbers solve(const numbers& weights, const numbers& b) const {
    numbers diagonal(jobs_);
    for (std::size_t r = 0; r < diagonal_.size(); ++r) diagonal[r % jobs_] += diagonal_[r] * diagonal_[r] / weights[r];
    numbers coupled(jobs_);
    numbers made(jobs_);
    for (std::size_t j = 0; j < jobs_; ++j) {
      coupled[j] = coupling_[j] / diagonal[j];
      made[j] = b[j] / diagonal[j];
    }
    const double factor = dot(coupling_, made) / (weights.back() + dot(coupling_, coupled));
    return sum_of(made, -factor, coupled);
  }

 private:
  std::size_t jobs_;
  numbers diagonal_;  ///< of all blocks, one after the other
  numbers coupling_;
  numbers bound_;
};

/// Moved into the positive numbers.
numbers into_cone(numbers of) {
  double away = -0.99;
  for (const double value : of) away = value <= 0 ? std::max(away, -value) : away;
  for (double& value : of) value += away + 1.0;
  return of;
}

class method {
 public:
  explicit method(const share_program& of) : rows_(of), cost_(of.gpus.size()), scale_(of.gpus.size(), 1.0) {
    rows_.equilibrate(scale_);
    for (std::size_t j = 0; j < cost_.size(); ++j) cost_[j] = -of.value[j] / scale_[j];
    const numbers& h = rows_.bound();
    const numbers ones(h.size(), 1.0);
    x_ = rows_.solve(ones, rows_.transposed_times(h));
    slack_ = into_cone(sum_of(h, -1, rows_.times(x_)));
    dual_ = into_cone(rows_.times(rows_.solve(ones, sum_of(numbers(cost_.size()), -1, cost_))));
  }

  numbers run() {
    constexpr int longest = 100;
    for (int i = 0; i < longest && !is_done(); ++i) step();
    numbers made(x_.size());
    for (std::size_t j = 0; j < x_.size(); ++j) made[j] = std::clamp(x_[j] / tau_ / scale_[j], 0.0, 1.0);
    return made;
  }

 private:
  struct direction {
    numbers x, dual, slack;  ///< the last two scaled, so that they compare with `middle_`
    double tau = 0;
    double kappa = 0;
  };

  [[nodiscard]] bool is_done() {
    constexpr double tolerance = 1e-8;
    const numbers& h = rows_.bound();
    dual_residual_ = sum_of(sum_of(numbers(x_.size()), -1, rows_.transposed_times(dual_)), -tau_, cost_);
    primal_residual_ = sum_of(sum_of(slack_, 1, rows_.times(x_)), -tau_, h);
    const double cost = dot(cost_, x_);
    const double bound = dot(h, dual_);
    gap_residual_ = kappa_ + cost + bound;
    gap_ = dot(slack_, dual_);
    const double primal = norm(primal_residual_) / std::max(std::max(1.0, norm(h)) + norm(x_) + norm(slack_), 1.0);
    const double dual = norm(dual_residual_) / std::max(std::max(1.0, norm(cost_)) + norm(dual_), 1.0);
    const bool near = gap_ < tolerance || (cost < 0 && gap_ * tau_ < tolerance * -cost) ||
                      (cost >= 0 && bound < 0 && gap_ * tau_ < tolerance * -bound);
    return (-cost > 0 || -bound >= -tolerance) && primal / tau_ < tolerance && dual / tau_ < tolerance && near;
  }

  /// Solves [0 G'; G -W] [x; z] = [a; b].
  std::pair<numbers, numbers> solve(const numbers& a, const numbers& b) const {
    numbers weighted(b.size());
    for (std::size_t r = 0; r < b.size(); ++r) weighted[r] = b[r] / weights_[r];
    numbers x = rows_.solve(weights_, sum_of(a, 1, rows_.transposed_times(weighted)));
    numbers z = sum_of(rows_.times(x), -1, b);
    for (std::size_t r = 0; r < z.size(); ++r) z[r] /= weights_[r];
    return {std::move(x), std::move(z)};
  }

  /// Towards where the residuals are `left` times what they are; `slack` and `kappa`: what products of pairs lack.
  [[nodiscard]] direction towards(double left, const numbers& slack, double kappa) const {
    const numbers& h = rows_.bound();
    numbers right(slack.size());
    for (std::size_t r = 0; r < right.size(); ++r) right[r] = slack[r] * root_[r] - (1 - left) * primal_residual_[r];
    auto [x, z] = solve(sum_of(numbers(x_.size()), 1 - left, dual_residual_), right);
    direction made;
    made.tau = ((1 - left) * gap_residual_ - kappa / tau_ + dot(cost_, x) + dot(h, z)) /
               (kappa_ / tau_ - dot(cost_, constant_.first) - dot(h, constant_.second));
    made.x = sum_of(x, made.tau, constant_.first);
    made.dual = sum_of(z, made.tau, constant_.second);
    made.slack = slack;
    for (std::size_t r = 0; r < slack.size(); ++r) {
      made.dual[r] *= root_[r];
      made.slack[r] = -(slack[r] + made.dual[r]);
    }
    made.kappa = -(kappa + kappa_ * made.tau) / tau_;
    return made;
  }

  /// How far one may go.
  [[nodiscard]] double length(const direction& of) const {
    double steepest = 0;
    for (std::size_t r = 0; r < middle_.size(); ++r)
      steepest = std::max({steepest, -of.slack[r] / middle_[r], -of.dual[r] / middle_[r]});
    double most = steepest > 0 ? 1 / steepest : 10.0;
    if (of.tau < 0) most = std::min(most, -tau_ / of.tau);
    if (of.kappa < 0) most = std::min(most, -kappa_ / of.kappa);
    return std::clamp(most, 1e-6, 0.999);
  }

  void step() {
    const std::size_t rows = slack_.size();
    const double mean = (gap_ + kappa_ * tau_) / static_cast<double>(rows + 1);
    weights_.resize(rows);
    root_.resize(rows);
    middle_.resize(rows);
    for (std::size_t r = 0; r < rows; ++r) {
      weights_[r] = slack_[r] / dual_[r];
      root_[r] = std::sqrt(weights_[r]);
      middle_[r] = std::sqrt(slack_[r] * dual_[r]);
    }
    constant_ = solve(sum_of(numbers(x_.size()), -1, cost_), rows_.bound());

    const direction straight = towards(0, middle_, kappa_ * tau_);
    const double missed = 1 - length(straight);
    const double centring = std::clamp(missed * missed * missed, 1e-4, 1.0);
    numbers slack(rows);
    for (std::size_t r = 0; r < rows; ++r)
      slack[r] = middle_[r] + (straight.slack[r] * straight.dual[r] - centring * mean) / middle_[r];
    const direction by = towards(centring, slack, kappa_ * tau_ + straight.kappa * straight.tau - centring * mean);

    const double far = length(by) * 0.99;
    x_ = sum_of(x_, far, by.x);
    for (std::size_t r = 0; r < rows; ++r) {
      dual_[r] += far * by.dual[r] / root_[r];
      slack_[r] += far * by.slack[r] * root_[r];
    }
    tau_ += far * by.tau;
    kappa_ += far * by.kappa;
  }

  row_set rows_;
  numbers cost_;
  numbers scale_;
  numbers x_, slack_, dual_;
  double tau_ = 1;
  double kappa_ = 1;
  numbers primal_residual_, dual_residual_;
  double gap_residual_ = 0;
  double gap_ = 0;
  numbers weights_, root_, middle_;
  std::pair<numbers, numbers> constant_;  ///< the direction in which `tau_` pulls
};

}  // namespace

std::vector<double> interior_point(const share_program& of) { return of.gpus.empty() ? numbers{} : method(of).run(); }

std::vector<double> centre_of(std::span<const double> gpus, double capacity, std::span<const double> least,
                              double weight) {
  // Where the derivatives are 0, a price of capacity decides all shares; it is 1 / what is left at that price.
  const auto shares_at = [&](double price) {
    numbers made(least.begin(), least.end());
    for (std::size_t j = 0; j < made.size(); ++j) {
      const double room = 1 - least[j];
      const double a = price * gpus[j];
      const double b = a * room + 1 + weight;
      if (room > 0) made[j] += 2 * weight * room / (b + std::sqrt(b * b - 4 * a * weight * room));
    }
    return made;
  };
  const auto left_of = [&](const numbers& shares) {
    return capacity - std::inner_product(shares.begin(), shares.end(), gpus.begin(), 0.0);
  };
  numbers lowest(least.begin(), least.end());
  if (!(left_of(lowest) > 0)) return lowest;
  double low = 1e-9;
  double high = 1e9;
  constexpr int halvings = 200;
  for (int i = 0; i < halvings; ++i) {
    const double price = std::sqrt(low * high);
    (price * left_of(shares_at(price)) > 1 ? high : low) = price;
  }
  return shares_at(high);
}

}  // namespace kaisched::bench::shockwave
