#pragma once
/// @file
/// Which nodes of a view pods go to, and which GPUs of a node.

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "schedulers/hived/rules/layout.hpp"

namespace kaisched::hived {

/// A node, or a cell that is less than one, as pods of some priority see it.
struct node_view {
  std::uint32_t free = 0;     ///< GPUs that the pods may have
  std::uint32_t used = 0;     ///< more is better
  std::uint32_t foreign = 0;  ///< of equally used ones the less the better

  [[nodiscard]] bool operator==(const node_view&) const = default;
};

/// Nodes in the order in which a single pod picks one, kept as they change.
class node_order {
 public:
  void set(number node, const node_view& to);
  /// The first one that has room and is admitted, or `nothing`.
  template <class Admits>
  [[nodiscard]] number first(std::uint32_t gpus, const Admits& admits) const {
    for (const auto& [key, by_free] : by_use_) {
      number best = nothing;
      for (auto of = by_free.lower_bound(gpus); of != by_free.end(); ++of) {
        for (auto node = of->second.begin(); node != of->second.end() && *node < best; ++node) {
          if (admits(*node)) best = *node;
        }
      }
      if (best != nothing) return best;
    }
    return nothing;
  }

 private:
  struct use {
    std::uint32_t used;
    std::uint32_t foreign;
    [[nodiscard]] std::strong_ordering operator<=>(const use& other) const {
      return used != other.used ? other.used <=> used : foreign <=> other.foreign;
    }
  };
  std::map<use, std::map<std::uint32_t, std::set<number>>> by_use_;  ///< then by free GPUs
  std::vector<std::optional<node_view>> known_;
};

/// Pods by rising number of GPUs.
[[nodiscard]] std::vector<number> by_size(std::span<const std::uint32_t> pods);
/// For each pod, in the order of `pods`, a node: pods by rising number of GPUs are put on nodes from the most used one
/// on, and a node that is too full for one is not looked at again. Nothing if some pod finds none.
[[nodiscard]] std::optional<std::vector<number>> pick_nodes(std::span<const node_view> nodes,
                                                            std::span<const std::uint32_t> pods);

/// Takes so many GPUs out of a list, those of the smallest cell that has as many; of several such cells the one whose
/// first GPU comes first. There must be as many.
[[nodiscard]] std::vector<number> choose_gpus(const chain& of, std::vector<number>& available, std::uint32_t count);

}  // namespace kaisched::hived
