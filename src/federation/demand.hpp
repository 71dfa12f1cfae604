#pragma once
/// @file
/// What a group needs to start, as far as summaries can tell.

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/state.hpp"

namespace kaisched::federation_detail {

/// Classes of pods by number, as long as somebody holds them.
class class_pool {
 public:
  [[nodiscard]] std::uint32_t acquire(const std::shared_ptr<const model::pod_class>& one);
  void release(std::uint32_t number);
  [[nodiscard]] const model::pod_class& operator[](std::uint32_t number) const { return *entries_[number].ask; }
  /// Numbers are below it.
  [[nodiscard]] std::size_t size() const { return entries_.size(); }
  /// Changes whenever a number gets a new meaning.
  [[nodiscard]] std::uint64_t version() const { return version_; }

 private:
  struct entry {
    std::shared_ptr<const model::pod_class> ask;
    std::string key;
    std::uint64_t holders = 0;
  };
  std::vector<entry> entries_;
  std::vector<std::uint32_t> free_;
  std::map<std::string, std::uint32_t, std::less<>> by_key_;
  std::uint64_t version_ = 0;
};

/// A pod set or a set of the tree of a group.
struct set_demand {
  bool is_set = false;
  std::int64_t need = 0;                                     ///< pods, or members: all if `unset`
  std::vector<std::pair<std::uint32_t, std::int64_t>> pods;  ///< class and count, by class; of a pod set
  std::vector<set_demand> members;                           ///< of a set
  std::string topology;                                      ///< with `level`: all have to be in one domain
  std::string level;
};

struct group_demand {
  set_demand root;
  std::vector<std::pair<std::uint32_t, std::int64_t>> pods;  ///< of all, by class
  std::int64_t count = 0;                                    ///< of pods
  model::quota_vector amounts{};                             ///< of all pods
};

/// Of a group of a snapshot; its classes are held until `release`.
[[nodiscard]] group_demand demand_of(const model::cluster_state& s, group_row group, class_pool& pool);
void release(const group_demand& of, class_pool& pool);

/// GPUs that a pod has as a whole, on one node.
[[nodiscard]] inline std::int64_t whole_devices_of(const model::pod_class& ask) {
  return ask.asks_vendors() || ask.claimed_devices > 0 ? 0 : ask.whole_devices;
}

}  // namespace kaisched::federation_detail
