#include "policy/numa/ledger.hpp"

#include <algorithm>

namespace kaisched::policy {

namespace {

constexpr std::string_view huge_pages = "hugepages-";

bool is_guaranteed(const model::pod_class& c) { return c.ask.qos == model::qos_class::guaranteed; }

bool contains(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

void zone_ledger::open(const model::cluster_state& s, const policy_options& options) {
  used_ = std::any_of(s.nodes->begin(), s.nodes->end(),
                      [](const auto& node) { return !node->zones.empty() || node->aligns(); });
  placements_.assign(1, {});
  if (!used_) return;
  compat_ = options.mode == decision_mode::compat;
  dims_ = s.dims();
  for (const model::dimension_info& one : *s.dimensions) {
    names_.push_back(one.name);
    const auto d = static_cast<dimension>(device_.size());
    device_.push_back(d != dim_cpu && d != dim_memory && !one.name.starts_with(huge_pages) ? 1 : 0);
  }
  aware_.assign(static_cast<std::size_t>(s.node_count()) * dims_, 0);
  for (node_row row = 0; row < s.node_count(); ++row) {
    const std::vector<model::numa_zone_info>& zones = (*s.nodes)[row]->zones;
    first_.push_back(static_cast<std::uint32_t>(capacity_.size() / dims_));
    most_zones_ = std::max(most_zones_, static_cast<std::uint32_t>(zones.size()));
    for (const model::numa_zone_info& zone : zones) {
      for (dimension d = 0; d < dims_; ++d) {
        const std::int64_t capacity = d < zone.capacity.size() ? zone.capacity[d] : 0;
        const std::int64_t available = d < zone.available.size() ? zone.available[d] : 0;
        capacity_.push_back(capacity);
        available_.push_back(options.numa_reconstruct && (*s.nodes)[row]->align != model::numa_policy::none &&
                                     (*s.nodes)[row]->align != model::numa_policy::unknown
                                 ? capacity
                                 : available);
        if ((capacity > 0 || available > 0) && !contains(options.numa_ignore, names_[d])) {
          aware_[static_cast<std::size_t>(row) * dims_ + d] = 1;
        }
      }
    }
  }
  first_.push_back(static_cast<std::uint32_t>(capacity_.size() / dims_));
  of_pod_.assign(s.pod_slots, 0);
  idle_ = available_;
  seed(s, options.numa_reconstruct);
}

/// Pods with known zones first; `strict` then guesses where the others are, as their nodes would have chosen.
void zone_ledger::seed(const model::cluster_state& s, bool reconstruct) {
  std::vector<pod_row> unknown;
  for (pod_row p = 0; p < s.pod_slots; ++p) {
    if (!s.pods[p].live || s.live.pod_node[p] == no_row) continue;
    if (!model::is_in(static_cast<pod_status>(s.live.pod_state[p]), model::active_used)) continue;
    if (compat_ && s.pods[p].group == no_row) continue;
    if (s.told_of(p).numa_zones != 0)
      seed_pod(s, p, reconstruct);
    else
      unknown.push_back(p);
  }
  if (compat_) return;
  std::sort(unknown.begin(), unknown.end(), [&](pod_row a, pod_row b) { return s.pod_names[a] < s.pod_names[b]; });
  for (const pod_row p : unknown) {
    const node_row row = (*s.node_row_of_slot)[s.live.pod_node[p]];
    if (!reconstruct || !counts(s, s.class_of(p), row)) continue;
    pod_alignment guess = ask(s, s.class_of(p), row, amount::free_now);
    of_pod_[p] = number(std::move(guess.placement));
    const auto status = static_cast<pod_status>(s.live.pod_state[p]);
    if (status != pod_status::pipelined) occupy(p, row, 1);
    if (status != pod_status::releasing) charge(p, row, 1);
  }
}

void zone_ledger::seed_pod(const model::cluster_state& s, pod_row pod, bool reconstruct) {
  const node_row row = (*s.node_row_of_slot)[s.live.pod_node[pod]];
  const auto status = static_cast<pod_status>(s.live.pod_state[pod]);
  zone_placement placement;
  for (const zone_request& asked : requests_of(s, s.class_of(pod), row).together) {
    for (const zone_share& one :
         draw(amounts_of(s, row), std::span(capacity_).subspan(static_cast<std::size_t>(first_[row]) * dims_),
              list_of(s.told_of(pod).numa_zones), asked)) {
      const auto at = std::find_if(placement.begin(), placement.end(), [&](const zone_share& other) {
        return other.zone == one.zone && other.dim == one.dim;
      });
      if (at == placement.end())
        placement.push_back(one);
      else
        at->amount += one.amount;
    }
  }
  std::sort(placement.begin(), placement.end());
  of_pod_[pod] = number(std::move(placement));
  const model::numa_policy policy = (*s.nodes)[row]->align;
  if (!reconstruct || policy == model::numa_policy::none || policy == model::numa_policy::unknown) return;
  if (status != pod_status::pipelined) occupy(pod, row, 1);
  // KAI takes what terminating pods hold for free, also where they are stuck.
  const bool stays = model::is_in(status, model::active_allocated);
  if (stays || (!compat_ && status == pod_status::stuck_in_releasing)) charge(pod, row, 1);
}

bool zone_ledger::wants_device(const model::pod_class& c, node_row row) const {
  for (dimension d = 0; d < dims_; ++d) {
    if (device_[d] != 0 && aware_[static_cast<std::size_t>(row) * dims_ + d] != 0 && c.requests(d) > 0) return true;
  }
  return false;
}

bool zone_ledger::may_refuse(const model::cluster_state& s, const model::pod_class& c, node_row row) const {
  const model::node_info& node = *(*s.nodes)[row];
  if (!node.aligns() || (!compat_ && node.zones.empty())) return false;
  return is_guaranteed(c) || wants_device(c, row);
}

bool zone_ledger::counts(const model::cluster_state& s, const model::pod_class& c, node_row row) const {
  if (may_refuse(s, c, row)) return true;
  const model::node_info& node = *(*s.nodes)[row];
  return node.align == model::numa_policy::best_effort && (is_guaranteed(c) || wants_device(c, row));
}

bool zone_ledger::counts_anywhere(const model::cluster_state& s, const model::pod_class& c) const {
  for (node_row row = 0; row < s.node_count(); ++row) {
    if (counts(s, c, row)) return true;
  }
  return false;
}

zone_amounts zone_ledger::amounts_of(const model::cluster_state& s, node_row row) const {
  const std::size_t at = static_cast<std::size_t>(first_[row]) * dims_;
  const auto zones = static_cast<std::uint32_t>((*s.nodes)[row]->zones.size());
  const std::size_t size = static_cast<std::size_t>(zones) * dims_;
  return {zones, dims_, std::span(capacity_).subspan(at, size), std::span(available_).subspan(at, size)};
}

std::span<const std::int64_t> zone_ledger::available_of(node_row row) const {
  return std::span(available_)
      .subspan(static_cast<std::size_t>(first_[row]) * dims_,
               static_cast<std::size_t>(first_[row + 1] - first_[row]) * dims_);
}

alignment_rule zone_ledger::rule_of(const model::cluster_state& s, node_row row) const {
  return {(*s.nodes)[row]->align, !compat_};
}

aligned_requests zone_ledger::requests_of(const model::cluster_state& s, const model::pod_class& c,
                                          node_row row) const {
  aligned_resources which;
  which.aware = std::span(aware_).subspan(static_cast<std::size_t>(row) * dims_, dims_);
  which.device = device_;
  which.only_devices = !is_guaranteed(c);
  which.whole_pod = (*s.nodes)[row]->align_scope == model::numa_scope::pod;
  return requests_to_align(c, names_, which);
}

pod_alignment zone_ledger::ask(const model::cluster_state& s, const model::pod_class& c, node_row row,
                               amount which) const {
  zone_amounts node = amounts_of(s, row);
  std::vector<std::int64_t> now;
  if (which == amount::free_now && !compat_) {
    const std::size_t at = static_cast<std::size_t>(first_[row]) * dims_;
    now.assign(node.available.begin(), node.available.end());
    for (std::size_t i = 0; i < now.size(); ++i) now[i] = std::min(now[i], idle_[at + i]);
    node.available = now;
  }
  return align(rule_of(s, row), node, requests_of(s, c, row));
}

zone_ledger::placement_number zone_ledger::place(const model::cluster_state& s, const model::pod_class& c, node_row row,
                                                 amount which) {
  return used_ && counts(s, c, row) ? number(ask(s, c, row, which).placement) : 0;
}

zone_ledger::placement_number zone_ledger::number(zone_placement placement) {
  if (placement.empty()) return 0;
  const auto next = static_cast<placement_number>(placements_.size());
  const auto [at, fresh] = numbers_.try_emplace(std::move(placement), next);
  if (fresh) placements_.push_back(at->first);
  return at->second;
}

void zone_ledger::add_to(std::vector<std::int64_t>& amounts, const zone_placement& placement, node_row row) const {
  for (const zone_share& one : placement) {
    amounts[static_cast<std::size_t>(first_[row] + one.zone) * dims_ + one.dim] += one.amount;
  }
}

void zone_ledger::take_from(std::vector<std::int64_t>& amounts, const zone_placement& placement, node_row row) const {
  for (const zone_share& one : placement) {
    amounts[static_cast<std::size_t>(first_[row] + one.zone) * dims_ + one.dim] -= one.amount;
  }
}

void zone_ledger::charge(pod_row pod, node_row row, std::int64_t sign) {
  if (!used_) return;
  if (sign > 0)
    take_from(available_, placement_at(pod), row);
  else
    add_to(available_, placement_at(pod), row);
}

void zone_ledger::occupy(pod_row pod, node_row row, std::int64_t sign) {
  if (!used_) return;
  if (sign > 0)
    take_from(idle_, placement_at(pod), row);
  else
    add_to(idle_, placement_at(pod), row);
}

bool zone_ledger::has_room(node_row row, placement_number n) const {
  for (const zone_share& one : placements_[n]) {
    if (available_[static_cast<std::size_t>(first_[row] + one.zone) * dims_ + one.dim] < one.amount) return false;
  }
  return true;
}

}  // namespace kaisched::policy
