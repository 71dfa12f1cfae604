#pragma once
/// @file
/// Answers of searches for devices, kept until a device that could matter is taken or given back.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <kaisched/ids.hpp>

#include "model/state.hpp"
#include "policy/claims/allocator.hpp"

namespace kaisched::policy {

/// Of one ledger. Copies start without answers. Several threads may ask one at the same time.
class known_answers {
 public:
  using answer = std::shared_ptr<const allocation_answer>;
  using devices = std::span<const std::uint32_t>;

  known_answers() = default;
  known_answers(const known_answers& /*other*/) {}
  known_answers& operator=(const known_answers& /*other*/) {
    forget();
    return *this;
  }

  void forget();
  /// The device has been taken or given back. It may have consumed counters of its pool, so that all devices of the
  /// pool may be free or not from now on.
  void note_change(const device_pools& pools, std::uint32_t device);
  /// Devices that can be used from the node, ascending. Valid as long as this.
  [[nodiscard]] devices reachable(const model::cluster_state& s, const device_pools& pools, node_row row);
  /// What a search for claims that ask for the same as those of these `shapes` has answered on the node, or what it
  /// answers now.
  [[nodiscard]] answer find(std::span<const std::uint32_t> shapes, const model::cluster_state& s,
                            const device_pools& pools, node_row row, bool at_once,
                            const std::function<allocation_answer(devices)>& search);

 private:
  struct node_facts {
    bool known = false;
    std::vector<std::uint32_t> devices;
    std::vector<std::uint32_t> pools;  ///< of these, each once
  };
  struct entry {
    std::uint64_t version = 0;  ///< of the pools of the node; 0: not asked
    answer is;
  };

  node_facts& facts_of(const model::cluster_state& s, const device_pools& pools, node_row row);
  [[nodiscard]] std::uint64_t version_of(const node_facts& node) const;
  /// Null: there are too many already.
  entry* entry_of(std::span<const std::uint32_t> shapes, std::size_t nodes, node_row row, bool at_once);

  std::mutex guard_;
  std::vector<node_facts> nodes_;
  std::vector<std::uint64_t> changes_;  ///< by pool
  std::map<std::vector<std::uint32_t>, std::vector<entry>> entries_;
  std::size_t entry_count_ = 0;
};

}  // namespace kaisched::policy
