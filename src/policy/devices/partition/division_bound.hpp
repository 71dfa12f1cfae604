#pragma once
/// @file
/// The least that instances can cost, whatever node they are made on: devices are taken one by one, and nodes, what
/// pods ask for beside instances and what others claim are left out of account.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "policy/devices/partition/division_memory.hpp"

namespace kaisched::devices {

class division_bound {
 public:
  /// `kinds`: of the nodes that any pod may go to, as often as there are such nodes. `most`: what is ever asked for, by
  /// position in the dimensions of the memory.
  division_bound(division_memory& memory, std::span<const std::size_t> kinds, const std::vector<std::int64_t>& most);
  /// No plan that gives so much costs less; none: there is no such plan.
  [[nodiscard]] std::optional<division_cost> least(const std::vector<std::int64_t>& asked) const;

 private:
  void choose_dimensions(const std::vector<std::int64_t>& most);
  bool add(const std::vector<device_offer>& offer);

  const division_memory& memory_;
  std::vector<std::size_t> counted_;  ///< positions among the dimensions of the memory
  std::vector<std::int64_t> most_;    ///< of each of them
  std::vector<std::size_t> stride_;
  std::vector<division_cost> least_;  ///< by amounts
  std::vector<std::uint8_t> known_;   ///< by amounts: they can be had
};

}  // namespace kaisched::devices
