#pragma once
/// @file
/// In which order devices of a node are tried: HAMi's policies of devices and its score of a device.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include <kaisched/result.hpp>

#include "policy/devices/vendor/device.hpp"

namespace kaisched::devices {

/// What the three parts of a score of a device count. Weights of a pod are given for all three.
struct score_weights {
  std::int64_t slot = 1;
  std::int64_t core = 1;
  std::int64_t memory = 1;
};
/// Reads "slot=1,core=2,memory=0".
[[nodiscard]] result<score_weights> parse_score_weights(std::string_view text);

/// A device's use of slots, cores and memory, ten times over, together with what requests for exactly its model ask.
/// In floats and HAMi's order of operations.
[[nodiscard]] float device_score(const device& of, std::span<const request> requests, const score_weights& weights);

/// True if a policy, which may be a list with commas, has the word.
[[nodiscard]] bool policy_names(std::string_view policy, std::string_view word);

/// How devices are sorted; they are tried from the end.
class device_order {
 public:
  /// `binpack`, `spread`, `mutex`, `numa` or a list of these. `bind_numa` keeps NUMA nodes together.
  device_order(std::string_view policy, bool bind_numa);

  /// True if a stands before b, that is, b is tried first.
  [[nodiscard]] bool before(const device& a, float score_of_a, const device& b, float score_of_b) const;

 private:
  enum class field : std::uint8_t { score, numa, used, index };
  struct sort_key {
    field what = field::score;
    bool descending = false;
  };
  void read_list(std::string_view policy, bool bind_numa);

  std::vector<sort_key> keys_;
};

/// Sorts positions of devices. Equal ones stay in the order in which they stand.
void sort_devices(const device_order& order, std::span<const device> devices, std::span<const float> scores,
                  std::vector<std::size_t>& positions);

}  // namespace kaisched::devices
