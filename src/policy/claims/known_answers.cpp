#include "policy/claims/known_answers.hpp"

#include <algorithm>

namespace kaisched::policy {

namespace {

constexpr std::size_t most_entries = std::size_t{1} << 21U;

}  // namespace

void known_answers::forget() {
  nodes_.clear();
  changes_.clear();
  entries_.clear();
  entry_count_ = 0;
}

void known_answers::note_change(const device_pools& pools, std::uint32_t device) {
  const std::lock_guard lock(guard_);
  if (changes_.empty()) changes_.assign(pools.pools().size(), 0);
  ++changes_[pools.devices()[device].pool];
}

known_answers::node_facts& known_answers::facts_of(const model::cluster_state& s, const device_pools& pools,
                                                   node_row row) {
  if (nodes_.empty()) nodes_.resize(s.node_count());
  node_facts& node = nodes_[row];
  if (node.known) return node;
  node.known = true;
  node.devices = pools.reachable((*s.nodes)[row]->name, (*s.nodes)[row]->labels);
  for (const std::uint32_t d : node.devices) node.pools.push_back(pools.devices()[d].pool);
  std::sort(node.pools.begin(), node.pools.end());
  node.pools.erase(std::unique(node.pools.begin(), node.pools.end()), node.pools.end());
  return node;
}

known_answers::devices known_answers::reachable(const model::cluster_state& s, const device_pools& pools,
                                                node_row row) {
  const std::lock_guard lock(guard_);
  return facts_of(s, pools, row).devices;
}

/// Rises with every change of one of its pools.
std::uint64_t known_answers::version_of(const node_facts& node) const {
  std::uint64_t version = 1;
  for (const std::uint32_t pool : node.pools) version += changes_.empty() ? 0 : changes_[pool];
  return version;
}

known_answers::entry* known_answers::entry_of(std::span<const std::uint32_t> shapes, std::size_t nodes, node_row row,
                                              bool at_once) {
  std::vector<std::uint32_t> key(shapes.begin(), shapes.end());
  auto at = entries_.find(key);
  if (at == entries_.end()) {
    if (entry_count_ + 2 * nodes > most_entries) return nullptr;
    entry_count_ += 2 * nodes;
    at = entries_.emplace(std::move(key), std::vector<entry>(2 * nodes)).first;
  }
  return &at->second[2 * std::size_t{row} + (at_once ? 1 : 0)];
}

known_answers::answer known_answers::find(std::span<const std::uint32_t> shapes, const model::cluster_state& s,
                                          const device_pools& pools, node_row row, bool at_once,
                                          const std::function<allocation_answer(devices)>& search) {
  const std::lock_guard lock(guard_);
  const node_facts& node = facts_of(s, pools, row);
  const std::uint64_t version = version_of(node);
  entry* const known = entry_of(shapes, s.node_count(), row, at_once);
  if (known != nullptr && known->version == version) return known->is;
  auto made = std::make_shared<const allocation_answer>(search(node.devices));
  if (known != nullptr) *known = {version, made};
  return made;
}

}  // namespace kaisched::policy
