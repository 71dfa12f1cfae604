// No pod starts where the power of a feed would not suffice: capping by admission, so that nothing has to be slowed
// down later (Wu et al., "Dynamo: Facebook's Data Center-Wide Power Management System", ISCA 2016; Patel et al.,
// "Characterizing Power Management Opportunities for LLMs in the Cloud", ASPLOS 2024).
#include "policy/predicates/power_caps.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <span>

#include "model/account.hpp"
#include "policy/access.hpp"
#include "policy/parts.hpp"

namespace kaisched::policy {

using base::int128;

namespace {

std::int64_t saturated(int128 amount) {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  return static_cast<std::int64_t>(std::clamp<int128>(amount, -int128{most}, most));
}

/// Of a node whose CPU is used so far, rounded up.
std::int64_t cpu_power(const model::node_info& node, std::int64_t cores, std::int64_t used) {
  if (cores <= 0) return 0;
  const int128 part = int128{node.power.added()} * std::clamp<std::int64_t>(used, 0, cores);
  return static_cast<std::int64_t>((part + cores - 1) / cores);
}

/// Who has an instance of it is not told: it may draw all of it at any time.
bool is_divided(const model::device_info& device) {
  return device.sharing == model::sharing_mode::mig || !device.instances.empty();
}

/// Of the devices of a node that sleep, now or once what is leaving has gone, those that add most.
std::uint64_t devices_that_add_most(const model::cluster_state& s, const model::live_state& live, node_row row,
                                    bool now, std::int64_t count) {
  const model::node_info& node = *(*s.nodes)[row];
  const device_row first = (*s.first_device)[row];
  std::vector<std::uint32_t> sleeping;
  for (std::uint32_t d = 0; d < node.devices.size(); ++d) {
    const std::int64_t later = now ? 0 : (*live.device_releasing)[first + d];
    if ((*live.device_free)[first + d] + later >= node.device_offer(d)) sleeping.push_back(d);
  }
  std::stable_sort(sleeping.begin(), sleeping.end(), [&](std::uint32_t a, std::uint32_t b) {
    return node.devices[a].power.added() > node.devices[b].power.added();
  });
  std::uint64_t mask = 0;
  for (std::size_t i = 0; i < std::min(sleeping.size(), static_cast<std::size_t>(std::max<std::int64_t>(0, count)));
       ++i)
    mask |= std::uint64_t{1} << sleeping[i];
  return mask;
}

std::int64_t idle_power(const model::power_figures& power) { return std::max<std::int64_t>(0, power.idle); }

/// With all of it in use.
std::int64_t full_power(const model::node_info& node) {
  const auto most = [](const model::power_figures& of) {
    return idle_power(of) + std::max<std::int64_t>(0, of.added());
  };
  std::int64_t sum = most(node.power);
  for (const model::device_info& device : node.devices) sum += most(device.power);
  return sum;
}

}  // namespace

power_book::draw power_book::draw_of(const model::cluster_state& s, const model::live_state& live, node_row row,
                                     const addition& more) {
  const model::node_info& node = *(*s.nodes)[row];
  const std::size_t at = static_cast<std::size_t>(row) * s.dims() + dim_cpu;
  const std::int64_t cores = (*s.capacity)[at];
  const std::int64_t used = cores - (*live.idle)[at] + more.cpu;
  draw sum{idle_power(node.power), idle_power(node.power)};
  sum.now += cpu_power(node, cores, used);
  sum.later += cpu_power(node, cores, used - (*live.releasing)[at]);
  const device_row first = (*s.first_device)[row];
  const bool has_claims = (*live.device_claims)[row] + more.claims > 0;
  std::vector<std::int64_t> sleeping;  // what devices that sleep later would add, for claims
  for (std::uint32_t d = 0; d < node.devices.size(); ++d) {
    const model::device_info& device = node.devices[d];
    sum.now += idle_power(device.power);
    sum.later += idle_power(device.power);
    const std::int64_t added = device.power.added();
    const std::int64_t free = (*live.device_free)[first + d];
    const std::int64_t offer = node.device_offer(d);
    const bool always = is_divided(device) || (more.devices >> d & 1U) != 0;
    if (always || free < offer) sum.now += added;
    if (always || free + (*live.device_releasing)[first + d] < offer) {
      sum.later += added;
    } else if (has_claims) {
      sleeping.push_back(added);
    }
  }
  if (!has_claims) return sum;
  // Claims on whole devices do not say which.
  const auto claims = static_cast<std::size_t>(
      std::clamp<std::int64_t>((*live.device_claims)[row] + more.claims, 0, std::ssize(sleeping)));
  std::sort(sleeping.begin(), sleeping.end(), std::greater<>());
  for (std::size_t i = 0; i < claims; ++i) sum.later += sleeping[i];
  return sum;
}

void power_book::open(const model::cluster_state& s, const model::live_state& live) {
  *this = {};
  std::map<std::string_view, std::int64_t> most;
  for (const auto& node : *s.nodes) {
    for (const model::named_amount& one : node->power_feeds) {
      const auto [known, is_new] = most.try_emplace(one.name, one.amount);
      if (!is_new) known->second = std::min(known->second, one.amount);
    }
  }
  if (most.empty()) return;
  std::map<std::string_view, std::uint32_t> place;
  for (const auto& [name, amount] : most) {
    place.emplace(name, static_cast<std::uint32_t>(feeds_.size()));
    feeds_.push_back({name, amount, 0, 0});
  }
  first_feed_.push_back(0);
  draws_.resize(s.node_count());
  for (node_row row = 0; row < s.node_count(); ++row) {
    for (const model::named_amount& one : (*s.nodes)[row]->power_feeds)
      feeds_of_.push_back(place.find(one.name)->second);
    first_feed_.push_back(static_cast<std::uint32_t>(feeds_of_.size()));
    node_changed(s, live, row);
  }
}

void power_book::node_changed(const model::cluster_state& s, const model::live_state& live, node_row row) {
  if (!concerns(row)) return;
  const draw is = draw_of(s, live, row, {});
  const draw was = draws_[row];
  draws_[row] = is;
  for (std::uint32_t i = first_feed_[row]; i < first_feed_[row + 1]; ++i) {
    feeds_[feeds_of_[i]].now += is.now - was.now;
    feeds_[feeds_of_[i]].later += is.later - was.later;
  }
}

std::optional<power_shortage> power_book::missing(const model::cluster_state& s, const model::live_state& live,
                                                  const model::pod_class& c, node_row row, const device_set& devices,
                                                  bool starts) const {
  if (!concerns(row)) return std::nullopt;
  const draw is = draws_[row];
  const std::span<const std::uint32_t> of_node(feeds_of_.data() + first_feed_[row],
                                               first_feed_[row + 1] - first_feed_[row]);
  // Most feeds have enough for all of the node: what the pod adds need not be found out.
  const std::int64_t full = full_power(*(*s.nodes)[row]);
  const bool has_plenty = std::all_of(of_node.begin(), of_node.end(), [&](std::uint32_t at) {
    const feed& one = feeds_[at];
    return full - is.now <= one.most - one.now && full - is.later <= one.most - one.later;
  });
  if (has_plenty) return std::nullopt;
  // Of devices that are not named any may be meant. Those that a claim takes as a whole are counted beside.
  const std::int64_t unnamed = c.shared_count() + (starts ? c.whole_devices : 0);
  const std::uint64_t mask = devices.mask != 0 ? devices.mask : devices_that_add_most(s, live, row, starts, unnamed);
  const draw with = draw_of(s, live, row, {c.requests(dim_cpu), mask, starts ? 0 : c.whole_devices});
  std::optional<power_shortage> worst;
  const auto ask = [&](std::uint32_t at, std::int64_t need, int128 have) {
    if (need <= 0 || need <= have) return;
    if (worst && need - have <= int128{worst->need} - worst->have) return;
    worst = {at, need, saturated(have)};
  };
  for (const std::uint32_t at : of_node) {
    const feed& one = feeds_[at];
    if (starts) ask(at, with.now - is.now, one.most - one.now);
    ask(at, with.later - is.later, one.most - one.later);
  }
  return worst;
}

std::string power_book::fault(const model::cluster_state& s, const model::live_state& live) const {
  power_book again;
  again.open(s, live);
  for (std::size_t i = 0; i < feeds_.size(); ++i) {
    if (feeds_[i].now != again.feeds_[i].now || feeds_[i].later != again.feeds_[i].later)
      return "power feed '" + std::string(feeds_[i].name) + "': its sum differs from what its nodes draw";
  }
  return {};
}

std::optional<power_shortage> power_missing(const session_access& a, pod_row pod, node_row row, free_amount which) {
  if (a.power == nullptr || !a.power->concerns(row)) return std::nullopt;
  const model::pod_class& c = a.state->class_of(pod);
  // Most nodes have enough for all of their devices: which ones it would be need not be found out.
  const std::size_t count = (*a.state->nodes)[row]->devices.size();
  const std::uint64_t all = count >= max_devices_per_node ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
  if (all != 0 && !a.power->missing(*a.state, *a.live, c, row, {all}, true)) return std::nullopt;
  bool starts = which == free_amount::idle;
  // Which devices a claim gets is open, so that it may need more than a start.
  if (!starts && fits(a, c, row, free_amount::idle) && !power_missing(a, pod, row, free_amount::idle))
    return std::nullopt;
  device_set devices;
  const auto amount = starts ? model::device_amount::free_now : model::device_amount::free_or_releasing;
  const group_order order{has_part(a, "gpupack"), has_part(a, "gpuspread")};
  if (a.in_groups(c)) {
    const std::optional<gpu_groups::choice> chosen = a.groups->choose(*a.state, *a.live, row, c, starts, order);
    if (!chosen) return std::nullopt;
    starts = starts && !chosen->must_wait;
    devices = model::devices_of(*a.state, c, row, chosen->devices);
  } else if (c.wants_gpu() && !model::choose_devices(*a.state, *a.live, c, row, amount, !a.compat(), devices,
                                                     order.spread && !order.pack ? model::device_order::spread
                                                                                 : model::device_order::pack)) {
    return std::nullopt;
  }
  return a.power->missing(*a.state, *a.live, c, row, devices, starts);
}

namespace {

class power_cap_part final : public policy_part {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "powercap"; }
  [[nodiscard]] std::uint32_t capabilities() const noexcept override { return part_filters_nodes; }
  result<void> filter_nodes(const session_view& view, pod_row pod, std::span<const node_row> nodes,
                            std::span<constraint> verdicts) override {
    const session_access& a = inside(view);
    for (std::size_t i = 0; a.power != nullptr && i < nodes.size(); ++i) {
      if (verdicts[i] == constraint::none && power_missing(a, pod, nodes[i], free_amount::idle_or_releasing))
        verdicts[i] = constraint::power;
    }
    return {};
  }
};

}  // namespace

std::unique_ptr<policy_part> make_power_cap(const policy_options&) { return std::make_unique<power_cap_part>(); }

}  // namespace kaisched::policy
