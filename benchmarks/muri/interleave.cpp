#include "benchmarks/muri/interleave.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include <kaisched/quantity.hpp>

namespace kaisched::bench::muri {

namespace {

constexpr std::size_t job_digits = 10;

/// Where a pod goes.
struct seat {
  node_row node = no_row;
  std::uint64_t devices = 0;
};

class interleave final : public policy_part {
 public:
  explicit interleave(const job_book& book) : book_(book) {}
  [[nodiscard]] std::string_view name() const noexcept override { return "interleave"; }
  [[nodiscard]] std::uint32_t capabilities() const noexcept override {
    return part_orders_groups | part_filters_nodes | part_chooses_devices;
  }

  result<void> session_open(const session_view& view) override {
    std::vector<std::uint64_t> idle = idle_devices(view);
    std::int64_t gpus = 0;
    for (const std::uint64_t one : idle) gpus += std::popcount(one);
    std::vector<sharing_group> groups = choose_groups(book_.jobs(), gpus, book_.times());
    std::stable_sort(groups.begin(), groups.end(),
                     [](const sharing_group& a, const sharing_group& b) { return a.gpus > b.gpus; });
    plans_.clear();
    for (const sharing_group& one : groups) {
      const std::optional<std::vector<seat>> seats = take(idle, one.gpus);
      if (!seats) continue;
      const auto place = static_cast<std::int64_t>(plans_.size());
      for (const std::uint32_t job : one.jobs) plans_[job] = {place, *seats};
    }
    return {};
  }

  result<void> order_groups(const session_view& view, std::span<const group_row> groups,
                            std::span<order_key> keys) override {
    for (std::size_t i = 0; i < groups.size(); ++i) {
      const auto found = plans_.find(job_of(view.group_name(groups[i])));
      keys[i] = {found == plans_.end() ? std::numeric_limits<std::int64_t>::max() : found->second.place, 0};
    }
    return {};
  }
  result<void> filter_nodes(const session_view& view, pod_row pod, std::span<const node_row> nodes,
                            std::span<constraint> verdicts) override {
    const seat* const of = seat_of(view, pod);
    for (std::size_t i = 0; i < nodes.size(); ++i)
      verdicts[i] = of != nullptr && of->node == nodes[i] ? constraint::none : constraint::plugin;
    return {};
  }
  std::uint32_t choose_device(const session_view& view, pod_row pod, node_row, std::uint64_t fitting) override {
    const seat* const of = seat_of(view, pod);
    return static_cast<std::uint32_t>(std::countr_zero(of == nullptr ? 0 : fitting & of->devices));
  }

 private:
  struct plan {
    std::int64_t place = 0;   ///< of its group
    std::vector<seat> seats;  ///< by pod
  };

  static std::vector<std::uint64_t> idle_devices(const session_view& view) {
    std::vector<std::uint64_t> made(view.node_count(), 0);
    for (node_row n = 0; n < view.node_count(); ++n) {
      if (!view.node_ready(n) || view.node_unschedulable(n)) continue;
      const std::span<const std::int64_t> all = view.node_devices(n);
      const std::span<const std::int64_t> idle = view.node_devices_idle(n);
      for (std::size_t i = 0; i < all.size(); ++i) made[n] |= idle[i] == all[i] ? std::uint64_t{1} << i : 0;
    }
    return made;
  }
  /// The first nodes with room for all pods.
  std::optional<std::vector<seat>> take(std::vector<std::uint64_t>& idle, std::int64_t gpus) const {
    std::vector<std::uint64_t> left = idle;
    std::vector<seat> made;
    for (const std::int64_t count : pods_of(gpus, book_.gpus_per_node())) {
      const auto node =
          std::find_if(left.begin(), left.end(), [&](std::uint64_t one) { return std::popcount(one) >= count; });
      if (node == left.end()) return std::nullopt;
      seat& one = made.emplace_back(seat{static_cast<node_row>(node - left.begin()), 0});
      for (std::int64_t i = 0; i < count; ++i) {
        one.devices |= *node & -*node;
        *node &= *node - 1;
      }
    }
    idle = std::move(left);
    return made;
  }
  [[nodiscard]] const seat* seat_of(const session_view& view, pod_row pod) const {
    const std::string_view name = view.pod_name(pod);
    const auto found = plans_.find(job_of(name));
    return found == plans_.end() ? nullptr : &found->second.seats[pod_of(name)];
  }

  const job_book& book_;
  std::map<std::uint32_t, plan> plans_;  ///< by job
};

}  // namespace

std::vector<std::int64_t> pods_of(std::int64_t gpus, std::int64_t gpus_per_node) {
  std::vector<std::int64_t> pods(static_cast<std::size_t>(gpus / gpus_per_node), gpus_per_node);
  if (gpus % gpus_per_node > 0) pods.push_back(gpus % gpus_per_node);
  return pods;
}

std::string group_name(std::uint32_t job) { return fmt::format("{:0{}}", job, job_digits); }
std::string pod_name(std::uint32_t job, std::size_t pod) { return fmt::format("{:0{}}-{:03}", job, job_digits, pod); }
std::uint32_t job_of(std::string_view name) {
  std::uint32_t job = 0;
  std::from_chars(name.data(), name.data() + job_digits, job);
  return job;
}
std::size_t pod_of(std::string_view name) {
  std::size_t pod = 0;
  std::from_chars(name.data() + job_digits + 1, name.data() + name.size(), pod);
  return pod;
}

void job_book::come(const sharing_candidate& job) { jobs_.push_back(job); }
void job_book::tell(std::uint32_t job, double remaining) {
  const auto found =
      std::lower_bound(jobs_.begin(), jobs_.end(), job,
                       [](const sharing_candidate& one, std::uint32_t number) { return one.job < number; });
  if (found != jobs_.end() && found->job == job) found->remaining = remaining;
}
void job_book::leave(std::uint32_t job) {
  std::erase_if(jobs_, [&](const sharing_candidate& one) { return one.job == job; });
}

result<void> register_interleave(engine& with, const job_book& book) {
  return with.register_part("interleave", [&book](const auto&) { return std::make_unique<interleave>(book); });
}

}  // namespace kaisched::bench::muri
