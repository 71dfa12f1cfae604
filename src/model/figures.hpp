#pragma once
/// @file
/// Lists of figures in columns: amounts with a name, and the speed of a group by its number of pods.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <kaisched/result.hpp>

namespace kaisched::model {

/// An entry `name:amount`.
struct named_amount {
  std::string name;
  std::int64_t amount = 0;
  friend bool operator==(const named_amount&, const named_amount&) = default;
};
/// Errors say which entry. Amounts are from 0 to `most`; no name stands twice.
[[nodiscard]] result<std::vector<named_amount>> parse_amounts(std::string_view list, std::int64_t most);

/// A step of the path to a queue, as `name:weight`.
struct weighted_step {
  std::string name;
  double weight = 1;
  friend bool operator==(const weighted_step&, const weighted_step&) = default;
};
/// Errors say which entry. Weights are from 1 to 1e12.
[[nodiscard]] result<std::vector<weighted_step>> parse_path(std::string_view list);

/// What a queue says of a group of nodes.
enum class node_group_word : std::uint8_t { required, preferred, avoided, rather_avoided };
struct node_group_wish {
  node_group_word affinity = node_group_word::required;
  std::string name;
  friend bool operator==(const node_group_wish&, const node_group_wish&) = default;
};
/// Entries such as `required:NAME`. Errors say which entry.
[[nodiscard]] result<std::vector<node_group_wish>> parse_node_groups(std::string_view list);
/// The word of an entry.
[[nodiscard]] std::string_view word_of(node_group_word of);

/// How fast a group is with so many pods.
struct speed_point {
  std::int64_t pods = 0;
  std::int64_t throughput = 0;  ///< thousandths
  friend bool operator==(const speed_point&, const speed_point&) = default;
};
/// Entries `pods:throughput`, throughput with up to three decimals. Pods grow from entry to entry, and throughput by no
/// more for each pod than before, from none with no pods: what a further pod brings never grows.
[[nodiscard]] result<std::vector<speed_point>> parse_speedup(std::string_view list);
/// On straight lines between the points; below the first one in proportion to its pods, behind the last one as there.
/// Thousandths, rounded down. @pre `curve` is one that `parse_speedup` gives
[[nodiscard]] std::int64_t throughput_of(const std::vector<speed_point>& curve, std::int64_t pods);

}  // namespace kaisched::model
