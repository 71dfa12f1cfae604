#include "schedulers/hived/rules/layout.hpp"

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>

namespace kaisched::hived {

namespace {

/// A tree whose cells of a level are all equal.
struct even_tree {
  std::string product;
  std::vector<std::pair<std::string, std::uint32_t>> shape;  ///< names and fans above the GPU, upwards
  level node = 0;
  std::vector<gpu_place> gpus;

  [[nodiscard]] bool is_like(const even_tree& other) const {
    return product == other.product && shape == other.shape && node == other.node;
  }
};

using device_key = std::int64_t device_facts::*;

/// Devices by what they have in common, groups in the order of their first device; nothing if that is not known of all,
/// or if the groups are not equal, or are none but one, or of one device each.
std::optional<std::vector<std::vector<device_facts>>> even_groups(const std::vector<device_facts>& devices,
                                                                  device_key key) {
  std::vector<std::vector<device_facts>> groups;
  for (const device_facts& one : devices) {
    if (one.*key < 0) return std::nullopt;
    const auto known = std::ranges::find_if(groups, [&](const auto& group) { return group.front().*key == one.*key; });
    (known == groups.end() ? groups.emplace_back() : *known).push_back(one);
  }
  const bool even =
      std::ranges::all_of(groups, [&](const auto& group) { return group.size() == groups.front().size(); });
  if (!even || groups.size() < 2 || groups.front().size() < 2) return std::nullopt;
  return groups;
}

even_tree tree_of(const node_facts& node) {
  even_tree made;
  made.product = node.product;
  std::vector<device_facts> devices = node.devices;
  std::ranges::sort(devices, {}, &device_facts::device);
  auto sockets = even_groups(devices, &device_facts::socket);
  if (!sockets) sockets.emplace(1, devices);
  std::vector<device_facts> in_order;
  std::uint32_t in_pair = 0;
  bool has_pairs = true;
  for (const auto& socket : *sockets) {
    // A socket of one pair is that pair.
    const auto pairs = even_groups(socket, &device_facts::pair);
    has_pairs = has_pairs && pairs && (in_pair == 0 || in_pair == pairs->front().size());
    if (!has_pairs) break;
    in_pair = static_cast<std::uint32_t>(pairs->front().size());
    for (const auto& pair : *pairs) in_order.insert(in_order.end(), pair.begin(), pair.end());
  }
  if (!has_pairs) {
    in_order.clear();
    for (const auto& socket : *sockets) in_order.insert(in_order.end(), socket.begin(), socket.end());
    in_pair = 1;
  }
  const auto in_socket = static_cast<std::uint32_t>(sockets->front().size());
  if (has_pairs) made.shape.emplace_back(pair_level, in_pair);
  if (sockets->size() > 1) made.shape.emplace_back(socket_level, in_socket / in_pair);
  const auto parts = sockets->size() > 1 ? static_cast<std::uint32_t>(sockets->size()) : in_socket / in_pair;
  made.shape.emplace_back(node_level, parts);
  made.node = static_cast<level>(made.shape.size());
  for (const device_facts& one : in_order) made.gpus.push_back({node.node, one.device});
  return made;
}

/// Larger trees first, then those of more levels.
auto key_of(const even_tree& of) {
  return std::tuple(-static_cast<std::int64_t>(of.gpus.size()), -static_cast<std::int64_t>(of.shape.size()), of.product,
                    of.shape);
}

class maker {
 public:
  maker(std::span<const std::string> levels, std::span<const node_facts> nodes) : levels_(levels), nodes_(nodes) {}

  std::vector<chain> make() {
    std::size_t begin = 0;
    while (begin < nodes_.size()) {
      const std::size_t end = nodes_[begin].domains.empty() ? begin + 1 : end_of(begin, nodes_.size(), 0);
      auto tree = nodes_[begin].domains.empty() ? tree_at(begin) : domain(begin, end, 0);
      if (tree) add_top(std::move(*tree));
      begin = end;
    }
    std::ranges::stable_sort(tops_, [](const auto& a, const auto& b) { return key_of(a.front()) < key_of(b.front()); });
    std::vector<chain> chains;
    for (const auto& equal : tops_) chains.push_back(chain_of(equal));
    return chains;
  }

 private:
  [[nodiscard]] std::size_t end_of(std::size_t begin, std::size_t last, std::size_t depth) const {
    std::size_t end = begin;
    while (end < last && depth < nodes_[end].domains.size() &&
           nodes_[end].domains[depth] == nodes_[begin].domains[depth])
      ++end;
    return end;
  }

  std::optional<even_tree> tree_at(std::size_t at) const {
    if (nodes_[at].devices.empty()) return std::nullopt;
    return tree_of(nodes_[at]);
  }

  /// The domain as one tree; nothing if its parts differ, and then these are trees of their own. Parts without GPUs
  /// are none.
  std::optional<even_tree> domain(std::size_t begin, std::size_t end, std::size_t depth) {
    std::vector<even_tree> parts;
    bool whole = true;
    while (begin < end) {
      const bool is_narrowest = depth + 1 == levels_.size();
      const std::size_t next = is_narrowest ? begin + 1 : end_of(begin, end, depth + 1);
      std::optional<even_tree> part = is_narrowest ? tree_at(begin) : domain(begin, next, depth + 1);
      const bool has_gpus = std::any_of(nodes_.begin() + static_cast<std::ptrdiff_t>(begin),
                                        nodes_.begin() + static_cast<std::ptrdiff_t>(next),
                                        [](const node_facts& node) { return !node.devices.empty(); });
      whole = whole && (part || !has_gpus);
      if (part) parts.push_back(std::move(*part));
      begin = next;
    }
    whole = whole && std::ranges::all_of(parts, [&](const even_tree& one) { return one.is_like(parts.front()); });
    if (parts.empty()) return std::nullopt;
    if (!whole) {
      for (even_tree& part : parts) add_top(std::move(part));
      return std::nullopt;
    }
    even_tree made = std::move(parts.front());
    for (std::size_t i = 1; i < parts.size(); ++i)
      made.gpus.insert(made.gpus.end(), parts[i].gpus.begin(), parts[i].gpus.end());
    made.shape.emplace_back(levels_[depth], static_cast<std::uint32_t>(parts.size()));
    return made;
  }

  void add_top(even_tree tree) {
    const auto known = std::ranges::find_if(tops_, [&](const auto& equal) { return equal.front().is_like(tree); });
    (known == tops_.end() ? tops_.emplace_back() : *known).push_back(std::move(tree));
  }

  static chain chain_of(const std::vector<even_tree>& equal) {
    chain made;
    made.product = equal.front().product;
    made.node = equal.front().node;
    made.levels.emplace_back(gpu_level);
    made.fan.push_back(1);
    made.size.push_back(1);
    for (const auto& [name, fan] : equal.front().shape) {
      made.levels.push_back(name);
      made.fan.push_back(fan);
      made.size.push_back(made.size.back() * fan);
    }
    for (const even_tree& one : equal) made.gpus.insert(made.gpus.end(), one.gpus.begin(), one.gpus.end());
    return made;
  }

  std::span<const std::string> levels_;
  std::span<const node_facts> nodes_;
  std::vector<std::vector<even_tree>> tops_;  ///< equal ones beside each other
};

}  // namespace

level chain::level_named(std::string_view name) const {
  const auto found = std::ranges::find(levels, name);
  return found == levels.end() ? nothing : static_cast<level>(found - levels.begin());
}

level chain::level_for(std::uint32_t count) const {
  const auto found = std::ranges::find_if(size, [&](std::uint32_t one) { return one >= count; });
  return found == size.end() ? nothing : static_cast<level>(found - size.begin());
}

std::vector<chain> make_chains(std::span<const std::string> levels, std::span<const node_facts> nodes) {
  return maker(levels, nodes).make();
}

}  // namespace kaisched::hived
