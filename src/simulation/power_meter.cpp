#include "simulation/power_meter.hpp"

#include <algorithm>
#include <map>
#include <string_view>

namespace kaisched::simulation {

using base::int128;

namespace {

std::int64_t idle_of(const model::power_figures& power) { return std::max<std::int64_t>(0, power.idle); }

}  // namespace

power_meter::power_meter(const model::cluster_state& s) : nodes_(s.node_row_of_slot->size()) {
  std::map<std::string_view, std::int64_t> most;
  for (const auto& told : *s.nodes) {
    for (const model::named_amount& one : told->power_feeds) {
      const auto [known, is_new] = most.try_emplace(one.name, one.amount);
      if (!is_new) known->second = std::min(known->second, one.amount);
    }
  }
  for (const auto& [name, amount] : most) feeds_.push_back({std::string(name), amount, 0});
  drawn_.resize(feeds_.size());
  for (node_row row = 0; row < s.node_count(); ++row) {
    const model::node_info& told = *(*s.nodes)[row];
    node& made = nodes_[told.slot];
    made.power = told.power;
    made.cores = (*s.capacity)[std::size_t{row} * s.dims() + dim_cpu];
    for (const model::device_info& d : told.devices) made.devices.push_back(d.power);
    made.users.resize(made.devices.size());
    for (const model::named_amount& one : told.power_feeds) {
      const auto at = std::lower_bound(feeds_.begin(), feeds_.end(), one.name,
                                       [](const feed_use& f, const std::string& name) { return f.name < name; });
      made.feeds.push_back(static_cast<std::uint32_t>(at - feeds_.begin()));
    }
    made.is_there = told.ready;
    used_ = used_ || made.power.known() ||
            std::any_of(made.devices.begin(), made.devices.end(), [](const auto& power) { return power.known(); });
    draw_anew(made, 0);
  }
}

void power_meter::charge(std::uint32_t slot, std::int64_t cpu, const device_set& devices, int sign, std::int64_t now) {
  if (!used_) return;
  node& of = nodes_[slot];
  of.used_cores += sign * cpu;
  for (std::size_t d = 0; d < of.users.size(); ++d) {
    if ((devices.mask >> d & 1U) != 0) of.users[d] += sign > 0 ? 1U : ~0U;
  }
  draw_anew(of, now);
}

void power_meter::node_is_there(std::uint32_t slot, bool is, std::int64_t now) {
  if (!used_) return;
  nodes_[slot].is_there = is;
  draw_anew(nodes_[slot], now);
}

void power_meter::draw_anew(node& of, std::int64_t now) {
  energy_ += sum_ * (now - since_);
  since_ = now;
  std::int64_t draws = 0;
  if (of.is_there) {
    draws = idle_of(of.power);
    if (of.cores > 0) {
      const int128 part = int128{of.power.added()} * std::clamp<std::int64_t>(of.used_cores, 0, of.cores);
      draws += static_cast<std::int64_t>((part + of.cores - 1) / of.cores);
    }
    for (std::size_t d = 0; d < of.devices.size(); ++d)
      draws += idle_of(of.devices[d]) + (of.users[d] > 0 ? of.devices[d].added() : 0);
  }
  sum_ += draws - of.draws;
  for (const std::uint32_t feed : of.feeds) drawn_[feed] += draws - of.draws;
  of.draws = draws;
}

void power_meter::note_peaks() {
  peak_ = std::max(peak_, sum_);
  for (std::size_t i = 0; i < feeds_.size(); ++i)
    feeds_[i].peak = std::max(feeds_[i].peak, static_cast<double>(drawn_[i]) / 1e3);
}

power_use power_meter::until(std::int64_t now) {
  constexpr double of_kilowatt_hour = 1e6 * 3600e9;  // milliwatt nanoseconds
  energy_ += sum_ * (now - since_);
  since_ = now;
  return {used_, static_cast<double>(energy_) / of_kilowatt_hour, static_cast<double>(peak_) / 1e3, feeds_};
}

}  // namespace kaisched::simulation
