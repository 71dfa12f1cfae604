#include "policy/devices/links/link_choice.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <vector>

#include "policy/devices/links/links.hpp"
#include "policy/numa/ledger.hpp"

namespace kaisched::policy {

namespace {

constexpr std::int64_t largest_link = std::int64_t{1} << 40;  ///< sums of 64 devices stay far below 2^62
constexpr std::size_t most_sets = devices::link_search_limit;

/// What is said of a pair, from both ends together.
devices::link_scores links_of(const model::node_info& node, bool& any) {
  const std::size_t count = node.devices.size();
  devices::link_scores scores(count);
  any = false;
  const auto link = [&](std::size_t from, std::size_t to) {
    const std::vector<std::int64_t>& all = node.devices[from].links;
    return to < all.size() ? std::clamp<std::int64_t>(all[to], 0, largest_link) : 0;
  };
  for (std::size_t a = 0; a < count; ++a) {
    any = any || !node.devices[a].links.empty();
    for (std::size_t b = 0; b < count; ++b) {
      if (a != b) scores.set(a, b, link(a, b) + link(b, a));
    }
  }
  return scores;
}

/// The number at the end of the name of a zone, which devices know it by; without one its position.
std::int64_t number_of_zone(const model::node_info& node, std::uint32_t zone) {
  const std::string& name = node.zones[zone].name;
  std::size_t first = name.size();
  while (first > 0 && name[first - 1] >= '0' && name[first - 1] <= '9') --first;
  std::int64_t number = zone;
  std::from_chars(name.data() + first, name.data() + name.size(), number);
  return number;
}

/// Devices that a pod needs of some that are free.
struct share_of_zone {
  std::vector<std::size_t> free;
  std::size_t count = 0;
};

/// The zones that the pod gets with their free devices; empty: zones do not say.
std::vector<share_of_zone> shares_of(const model::cluster_state& s, const model::pod_class& c, node_row row,
                                     const zone_ledger* zones, const std::vector<std::size_t>& free) {
  std::vector<share_of_zone> shares;
  if (zones == nullptr || !zones->counts(s, c, row)) return shares;
  const model::node_info& node = *(*s.nodes)[row];
  const pod_alignment got = zones->ask(s, c, row, zone_ledger::amount::free_now);
  std::size_t sum = 0;
  for (const zone_share& one : got.placement) {
    if (one.dim != dim_gpu || one.amount <= 0) continue;
    if (one.amount % whole_device != 0 || one.zone >= node.zones.size()) return {};
    share_of_zone share;
    share.count = static_cast<std::size_t>(one.amount / whole_device);
    sum += share.count;
    const std::int64_t number = number_of_zone(node, one.zone);
    std::copy_if(free.begin(), free.end(), std::back_inserter(share.free),
                 [&](std::size_t d) { return node.devices[d].numa == number; });
    if (share.free.size() < share.count) return {};
    shares.push_back(std::move(share));
  }
  if (sum != static_cast<std::size_t>(c.whole_devices)) return {};
  return shares;
}

/// The best set with so many devices of each zone: all sets in the order of their indices, up to a number of them.
class set_of_zones {
 public:
  set_of_zones(const std::vector<share_of_zone>& shares, const devices::link_scores& links)
      : shares_(shares), links_(links) {
    go_on(0, 0, 0, 0);
  }
  [[nodiscard]] std::uint64_t best() const { return best_; }

 private:
  void go_on(std::size_t zone, std::size_t from, std::size_t taken, std::int64_t sum) {
    if (zone == shares_.size()) {
      if (best_ == 0 || sum > best_sum_) {
        best_ = mask_;
        best_sum_ = sum;
      }
      ++sets_;
      return;
    }
    const share_of_zone& share = shares_[zone];
    if (taken == share.count) return go_on(zone + 1, 0, 0, sum);
    for (std::size_t i = from; i + (share.count - taken) <= share.free.size(); ++i) {
      if (sets_ >= most_sets && best_ != 0) return;
      const std::size_t d = share.free[i];
      std::int64_t more = 0;
      for (std::uint64_t left = mask_; left != 0; left &= left - 1)
        more += links_(static_cast<std::size_t>(std::countr_zero(left)), d);
      mask_ |= std::uint64_t{1} << d;
      go_on(zone, i + 1, taken + 1, sum + more);
      mask_ &= ~(std::uint64_t{1} << d);
    }
  }

  const std::vector<share_of_zone>& shares_;
  const devices::link_scores& links_;
  std::uint64_t mask_ = 0;
  std::uint64_t best_ = 0;
  std::int64_t best_sum_ = 0;
  std::size_t sets_ = 0;
};

std::uint64_t best_set(const std::vector<std::size_t>& among, std::size_t count, const devices::link_scores& links) {
  devices::container_grants grants;
  for (const std::size_t d : among) {
    grants.emplace_back();
    grants.back().position = d;
  }
  std::uint64_t mask = 0;
  for (const devices::grant& one : devices::best_linked(grants, count, links)) mask |= std::uint64_t{1} << one.position;
  return mask;
}

/// The one that the others miss least.
std::uint64_t least_linked(const std::vector<std::size_t>& among, const std::vector<std::size_t>& free,
                           const devices::link_scores& links) {
  std::size_t least = among.front();
  std::int64_t least_sum = -1;
  for (const std::size_t d : among) {
    std::int64_t sum = 0;
    for (const std::size_t other : free) sum += other == d ? 0 : links(d, other);
    if (least_sum >= 0 && sum >= least_sum) continue;
    least = d;
    least_sum = sum;
  }
  return std::uint64_t{1} << least;
}

}  // namespace

void choose_linked(const model::cluster_state& s, const model::live_state& live, const model::pod_class& c,
                   node_row row, const zone_ledger* zones, device_set& chosen) {
  const model::node_info& node = *(*s.nodes)[row];
  if (c.whole_devices == 0 || chosen.mask == 0 || node.devices.empty()) return;
  std::vector<std::size_t> free;
  const device_row first = (*s.first_device)[row];
  for (std::size_t d = 0; d < node.devices.size(); ++d) {
    const std::int64_t units = (*s.device_units)[first + d];
    const std::int64_t now = (*live.device_free)[first + d];
    if (now >= units && now + (*live.device_releasing)[first + d] >= units) free.push_back(d);
  }
  bool any_links = false;
  const devices::link_scores links = links_of(node, any_links);
  const std::vector<share_of_zone> shares = shares_of(s, c, row, zones, free);
  if (shares.size() > 1) {
    chosen.mask = set_of_zones(shares, links).best();
  } else if (any_links || !shares.empty()) {
    const std::vector<std::size_t>& among = shares.empty() ? free : shares.front().free;
    chosen.mask = c.whole_devices == 1 ? least_linked(among, free, links)
                                       : best_set(among, static_cast<std::size_t>(c.whole_devices), links);
  }
}

}  // namespace kaisched::policy
