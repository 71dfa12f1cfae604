#pragma once
/// @file
/// What pods that share devices put on them besides memory: compute, bandwidth, whatever their loads name.

#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <kaisched/ids.hpp>

#include "model/state.hpp"

namespace kaisched {

class session_access;

namespace policy {

/// Sums of loads by device, as pods come and go. A copy counts on for itself.
class load_book {
 public:
  /// Whose loads count.
  enum class amount : std::uint8_t {
    now,    ///< of all that are there or have a claim
    later,  ///< the same without those that leave
  };

  /// Counts what is there. Where no pod that shares devices has a load, nothing is counted.
  void open(const session_access& a, std::int64_t most);
  [[nodiscard]] bool used() const { return !resources_.empty(); }

  /// Where the pod is in the session, or on which devices, may have changed.
  void changed(const session_access& a, pod_row pod);

  /// Pods of the class put something on devices that they share.
  [[nodiscard]] bool concerns(const model::pod_class& c) const { return used() && c.is_shared() && !c.load.empty(); }
  /// Devices of a node, as bits, that take the load of a pod beside what others put on them. All of them where the
  /// class has none.
  [[nodiscard]] std::uint64_t devices_for(const model::cluster_state& s, const model::pod_class& c, node_row row,
                                          amount which) const;
  /// The devices take the load of a pod that is not counted on them as one that stays.
  [[nodiscard]] bool can_take(const model::cluster_state& s, const model::pod_class& c, node_row row,
                              std::uint64_t devices, amount which) const;
  /// How much slower the pod and those that stay on a device are expected to be for each other, in millionths: the sum
  /// over the resources of its load times theirs, which is how often both would want it at once.
  [[nodiscard]] std::int64_t contention(const model::cluster_state& s, const model::pod_class& c, node_row row,
                                        std::uint32_t device) const;

  /// Sums by device and resource: of those that stay and of those that leave. For checks.
  [[nodiscard]] std::span<const std::int64_t> staying() const { return staying_; }
  [[nodiscard]] std::span<const std::int64_t> leaving() const { return leaving_; }

 private:
  struct part {
    std::uint32_t resource;
    std::int64_t load;  ///< thousandths
  };
  /// On devices of a node.
  struct spot {
    node_row row = no_row;
    std::uint64_t devices = 0;
    bool is_leaving = false;
    friend bool operator==(const spot&, const spot&) = default;
  };

  [[nodiscard]] const std::vector<part>& parts_of(pod_row pod) const { return loads_[load_of_pod_[pod]]; }
  [[nodiscard]] std::vector<part> parts_of(const model::pod_class& c) const;
  void count(const model::cluster_state& s, const std::vector<part>& load, const spot& where, std::int64_t sign);
  [[nodiscard]] bool has_room(const std::vector<part>& load, device_row device, amount which) const;

  std::int64_t most_ = 0;
  std::vector<std::string_view> resources_;  ///< by name
  std::vector<std::vector<part>> loads_;     ///< the first is empty
  std::vector<std::uint32_t> load_of_pod_;
  std::vector<spot> spots_;                            ///< by pod
  std::vector<std::pair<pod_row, spot>> left_behind_;  ///< where pods still are that hold a claim elsewhere
  std::vector<std::int64_t> staying_;                  ///< [devices x resources]
  std::vector<std::int64_t> leaving_;
};

}  // namespace policy
}  // namespace kaisched
