#include "simulation/distances.hpp"

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace kaisched::simulation {

const model::topology_info* distances::topology_of(const model::cluster_state& s) {
  const model::topology_info* by = nullptr;
  for (const model::topology_info& one : *s.topologies) {
    if (by == nullptr || (one.primary && !by->primary) || (one.primary == by->primary && one.name < by->name))
      by = &one;
  }
  return by;
}

std::vector<level_labels> labels_of_levels(const model::cluster_state& s) {
  std::vector<level_labels> made;
  const model::topology_info* const by = distances::topology_of(s);
  if (by == nullptr) return made;
  for (const std::string& level : by->levels) {
    level_labels& one = made.emplace_back(level_labels{level, std::vector<std::string>(s.node_count())});
    for (node_row row = 0; row < s.node_count(); ++row) {
      for (const auto& [key, text] : (*s.nodes)[row]->labels) {
        if (key == level) one.labels[row] = text;
      }
    }
  }
  return made;
}

distances::distances(const model::cluster_state& s) {
  const model::topology_info* const by = topology_of(s);
  if (by == nullptr) return;
  levels_ = static_cast<std::uint32_t>(by->levels.size());
  domains_.assign(s.node_row_of_slot->size() * levels_, no_row);
  std::map<std::pair<std::uint32_t, std::string_view>, std::uint32_t> known;  // domain above and label: number
  for (const auto& node : *s.nodes) {
    std::uint32_t above = no_row;
    for (std::uint32_t level = 0; level < levels_; ++level) {
      const std::string* value = nullptr;
      for (const auto& [key, text] : node->labels) {
        if (key == by->levels[level]) value = &text;
      }
      if (value == nullptr) break;  // what is below a level without label is in no domain
      const auto next = static_cast<std::uint32_t>(known.size());
      above = known.emplace(std::pair{above, std::string_view(*value)}, next).first->second;
      domains_[std::size_t{node->slot} * levels_ + level] = above;
    }
  }
}

std::string_view distances::lowest_shared(const model::topology_info& by) const {
  for (std::uint32_t level = levels_; level > 0; --level) {
    std::set<std::uint32_t> known;
    for (std::size_t i = level - 1; i < domains_.size(); i += levels_) {
      if (domains_[i] != no_row && !known.insert(domains_[i]).second) return by.levels[level - 1];
    }
  }
  return {};
}

std::uint32_t distances::between(std::span<const std::uint32_t> node_slots) const {
  bool one_node = true;
  for (const std::uint32_t slot : node_slots) one_node = one_node && slot == node_slots.front();
  if (one_node) return 0;
  for (std::uint32_t level = levels_; level > 0; --level) {
    const auto domain = [&](std::uint32_t slot) { return domains_[std::size_t{slot} * levels_ + level - 1]; };
    bool together = domain(node_slots.front()) != no_row;
    for (const std::uint32_t slot : node_slots) together = together && domain(slot) == domain(node_slots.front());
    if (together) return levels_ - level + 1;
  }
  return levels_ + 1;
}

}  // namespace kaisched::simulation
