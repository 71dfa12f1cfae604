#pragma once
/// @file
/// A cheap reason why no victims so far can help a group that must be in one domain of a topology.

#include <cstdint>
#include <span>
#include <vector>

#include "framework/session_state.hpp"

namespace kaisched::actions {

/// Members with a required level against the domains of that level, by GPUs alone. In `compat` as in KAI: domains are
/// told apart by their own label, pods that run count as if they still had to fit, and pod sets are not looked at.
class domain_filter {
 public:
  /// For the group that waits, cut to a part of it.
  domain_filter(const framework::session_state& c, group_row waiting);
  /// The same with these GPUs free, by node.
  domain_filter(const framework::session_state& c, group_row waiting, std::span<const std::int64_t> free);

  /// GPUs of a victim count as free on its node.
  void free_more(node_row row, std::int64_t gpus);
  [[nodiscard]] bool plausible() const;
  /// Nothing is asked of domains.
  [[nodiscard]] bool is_trivial() const { return levels_.empty(); }

 private:
  void open(const framework::session_state& c, group_row waiting);
  void open_compat(const framework::session_state& c, group_row waiting);
  void open_strict(const framework::session_state& c, group_row waiting);

  struct level_demand {
    std::vector<std::int64_t> requests;    ///< the largest first
    std::vector<std::uint32_t> domain_of;  ///< by node, or no_row
    std::vector<std::int64_t> free;        ///< by domain
    std::int64_t most = 0;                 ///< of these
  };
  std::vector<level_demand> levels_;
};

/// Largest request first into the first holder with room, of requests and holders that descend; a request of 0 ends the
/// test positively.
[[nodiscard]] bool first_fit(const std::vector<std::int64_t>& requests, std::vector<std::int64_t> holders);

}  // namespace kaisched::actions
