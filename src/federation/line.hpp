#pragma once
/// @file
/// The line of all groups that wait: queue by queue, by what these hold over all members.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "model/state.hpp"

namespace kaisched::federation_detail {

/// A group as the line sees it.
struct line_entry {
  std::string_view name;
  std::string_view queue;
  std::int64_t priority = 0;
  std::int64_t created = 0;
  std::size_t of = 0;  ///< number for the one who asks
};

/// The tree of queues with what they hold. From a queue the child comes first that holds less than all of its quota,
/// then that of higher priority, then that which holds the smaller part of its quota (of all GPUs, if it has none); of
/// children that hold all of it, the one that holds less beyond it for its weight; then the older one, then by name.
/// Groups of a queue come by priority, age and name.
class line {
 public:
  /// @param total GPUs of all members, in milli-GPU
  line(const model::cluster_state& queues, std::int64_t total);

  /// What a queue holds somewhere, with the queues below: without those above. A queue that is not there is passed
  /// over.
  void add_held(std::string_view name, const model::quota_vector& amounts);
  /// On the whole way up.
  void charge(std::string_view name, const model::quota_vector& amounts, std::int64_t sign);
  /// The first queue on the way up that would pass its limit; empty: none.
  [[nodiscard]] std::string_view blocked_by(std::string_view name, const model::quota_vector& amounts) const;
  /// What a queue holds with those below.
  [[nodiscard]] const model::quota_vector& held(std::string_view name) const { return queues_[find(name)].held; }

  void fill(std::vector<line_entry> waiting);
  /// Takes the next group out; null: none is left.
  [[nodiscard]] const line_entry* next();

 private:
  struct queue {
    const model::queue_info* info = nullptr;  ///< null: the root, and where groups without a queue are
    std::size_t parent = 0;                   ///< 0 is the root
    std::vector<std::size_t> children;
    model::quota_vector held{};
    std::vector<line_entry> waiting;
    std::size_t served = 0;
    std::size_t below = 0;  ///< groups that wait in it and below
  };
  struct place {
    bool holds_all = false;
    std::int64_t priority = 0;
    double part = 0;
  };
  [[nodiscard]] std::size_t find(std::string_view name) const;
  [[nodiscard]] place place_of(const queue& one) const;
  [[nodiscard]] bool is_before(const queue& a, const queue& b) const;

  std::vector<queue> queues_;  ///< the root, those without a queue, then by name
  std::map<std::string_view, std::size_t> by_name_;
  std::int64_t total_;
};

}  // namespace kaisched::federation_detail
