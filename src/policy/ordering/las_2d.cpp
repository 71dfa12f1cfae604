// Least attained service in steps: queues by the GPU time that groups have had, first come first served inside of one
// (discretised two-dimensional LAS of Tiresias, NSDI 2019).
#include <algorithm>
#include <vector>

#include "policy/access.hpp"
#include "policy/ordering/service.hpp"
#include "policy/parts.hpp"

namespace kaisched::policy {

namespace {

using base::int128;

class las_2d_part final : public policy_part {
 public:
  explicit las_2d_part(const std::vector<std::int64_t>& limits) : limits_(limits) {}
  [[nodiscard]] std::string_view name() const noexcept override { return "las_2d"; }
  [[nodiscard]] std::uint32_t capabilities() const noexcept override { return part_orders_groups; }
  result<void> order_groups(const session_view& view, std::span<const group_row> groups,
                            std::span<order_key> keys) override {
    const session_access& a = inside(view);
    for (std::size_t i = 0; i < groups.size(); ++i) {
      const std::int64_t started = a.state->group_extras[groups[i]].last_start;
      // Who has run before goes on first, in the order of the starts; `unset` is the smallest number.
      keys[i] = {2 * queue_of(service_of(a, groups[i])) + (started == unset ? 1 : 0), started};
    }
    return {};
  }

 private:
  /// How many of the limits a group has reached.
  [[nodiscard]] std::int64_t queue_of(int128 service) const {
    constexpr int128 of_gpu_seconds = int128{whole_device} * 1'000'000'000;
    return std::count_if(limits_.begin(), limits_.end(),
                         [&](std::int64_t limit) { return service >= limit * of_gpu_seconds; });
  }

  std::vector<std::int64_t> limits_;
};

}  // namespace

std::unique_ptr<policy_part> make_las_2d(const policy_options& options) {
  return std::make_unique<las_2d_part>(options.las_limits);
}

}  // namespace kaisched::policy
