#pragma once
/// @file
/// What the feeds of nodes (a PDU, a row, a hall) may deliver, and what nodes draw of it: idle power until something
/// is used, then the largest; of the CPU in proportion. The model of `placement/energy.cpp`.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <kaisched/decisions.hpp>
#include <kaisched/ids.hpp>

#include "base/int128.hpp"
#include "model/state.hpp"

namespace kaisched {

class session_access;

namespace policy {

/// Milliwatts of a feed that a pod would need, and that are left of it.
struct power_shortage {
  std::uint32_t feed = 0;
  std::int64_t need = 0;
  std::int64_t have = 0;  ///< below 0: more is drawn than the feed may deliver
};

/// Adds up what nodes draw, as pods come and go. What a node draws follows from what it has free alone, so an undo
/// needs nothing of its own. A copy counts on for itself.
class power_book {
 public:
  /// Nothing is counted where no node names a feed.
  void open(const model::cluster_state& s, const model::live_state& live);
  [[nodiscard]] bool used() const { return !feeds_.empty(); }
  /// Some feed of the node has a most.
  [[nodiscard]] bool concerns(node_row row) const { return first_feed_[row] != first_feed_[row + 1]; }

  /// What the node has free may have changed.
  void node_changed(const model::cluster_state& s, const model::live_state& live, node_row row);

  /// The feed that lacks most of what the pod adds there, with these devices; nothing if all have enough.
  /// @param starts it starts now: what is leaving draws still, and what is promised to others is theirs. Else it takes
  ///   over what is coming free.
  [[nodiscard]] std::optional<power_shortage> missing(const model::cluster_state& s, const model::live_state& live,
                                                      const model::pod_class& c, node_row row,
                                                      const device_set& devices, bool starts) const;

  [[nodiscard]] std::string_view name_of(std::uint32_t row) const { return feeds_[row].name; }
  /// Names the first sum that differs from what nodes draw; empty: none does.
  [[nodiscard]] std::string fault(const model::cluster_state& s, const model::live_state& live) const;

 private:
  /// Milliwatts, of what runs and leaves, and once claims have taken over what is coming free.
  struct draw {
    std::int64_t now = 0;
    std::int64_t later = 0;
  };
  struct feed {
    std::string_view name;
    std::int64_t most = 0;  ///< the smallest that a node names
    base::int128 now = 0;
    base::int128 later = 0;
  };
  /// What a pod adds to a node.
  struct addition {
    std::int64_t cpu = 0;
    std::uint64_t devices = 0;  ///< bits
    std::int64_t claims = 0;    ///< whole devices, whichever come free
  };
  [[nodiscard]] static draw draw_of(const model::cluster_state& s, const model::live_state& live, node_row row,
                                    const addition& more);

  std::vector<feed> feeds_;                ///< by name
  std::vector<std::uint32_t> first_feed_;  ///< by node, plus one past the end, in `feeds_of_`
  std::vector<std::uint32_t> feeds_of_;
  std::vector<draw> draws_;  ///< by node
};

}  // namespace policy
}  // namespace kaisched
