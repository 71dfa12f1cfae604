// Fragmentation gradient descent: the node, and the device of it, where a pod makes least of the free GPUs useless for
// the pods that usually come (Weng et al., USENIX ATC 2023).
#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "policy/parts.hpp"
#include "policy/placement/device_losses.hpp"
#include "policy/placement/fragmentation.hpp"

namespace kaisched::policy {

namespace {

constexpr double scale_of_loss = 1000;  ///< milli-GPU

/// The exponential function from operations that round alike everywhere; those of C libraries differ in the last bit.
/// With Remez' quotient for the reduced argument, off by less than one bit.
double exponential(double x) {
  constexpr double most = 709;
  constexpr double per_power = 1.44269504088896338700;
  constexpr double power_high = 6.93147180369123816490e-01;  // of ln 2: the first bits, so that products are exact
  constexpr double power_low = 1.90821492927058770002e-10;
  constexpr std::array<double, 5> quotient{1.66666666666666657415e-01, -2.77777777770155933842e-03,
                                           6.61375632143793436117e-05, -1.65339022054652515390e-06,
                                           4.13813679705723846039e-08};
  if (x > most) return std::numeric_limits<double>::infinity();
  if (x < -most) return 0;
  constexpr double smallest = 1.0 / (1 << 28);
  if (std::abs(x) < smallest) return 1 + x;
  const auto powers = static_cast<std::int64_t>(x * per_power + (x < 0 ? -0.5 : 0.5));
  const double high = x - static_cast<double>(powers) * power_high;
  const double low = static_cast<double>(powers) * power_low;
  const double rest = high - low;
  const double square = rest * rest;
  const double corrected =
      rest - square * (quotient[0] +
                       square * (quotient[1] + square * (quotient[2] + square * (quotient[3] + square * quotient[4]))));
  const double value = 1 - ((low - (rest * corrected) / (2 - corrected)) - high);
  return value * std::bit_cast<double>(static_cast<std::uint64_t>(powers + 1023) << 52U);
}

class fgd_part final : public device_losses {
 public:
  explicit fgd_part(const policy_options& options) : raw_(options.raw_scores) {}
  [[nodiscard]] std::string_view name() const noexcept override { return "fgd"; }

 private:
  void open(const session_access& a) override {
    if (!measure_.is_open()) measure_.open(a);
  }
  [[nodiscard]] double measured(node_row row, const free_gpus& state) override { return measure_.amount(row, state); }
  /// Of losing so much more than before, or less.
  [[nodiscard]] double score_of(const session_access&, const step& one) override {
    const double score = 100 / (1 + exponential((one.after - one.before) / scale_of_loss));
    return raw_ ? score : std::trunc(score);
  }
  [[nodiscard]] double score_of_device(const session_access& a, const step& one) override { return score_of(a, one); }

  bool raw_;
  fragmentation measure_;
};

}  // namespace

std::unique_ptr<policy_part> make_fgd(const policy_options& options) { return std::make_unique<fgd_part>(options); }

}  // namespace kaisched::policy
