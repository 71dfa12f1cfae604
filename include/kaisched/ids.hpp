#pragma once
/// @file
/// Identifiers. Two kinds on purpose: an `entity_id` is stable, crosses the C ABI and detects stale use; a row is a
/// dense 32-bit index that is valid inside one snapshot or session only and serves loops.

#include <compare>
#include <cstdint>
#include <functional>

namespace kaisched {

/// What an `entity_id` names. Values are part of the ABI and are never reused.
enum class entity_kind : std::uint8_t {
  none = 0,
  resource = 1,
  topology = 2,
  queue = 3,
  node = 4,
  device = 5,
  pod_group = 6,
  sub_group = 7,
  pod = 8,
  numa_zone = 9,
  resource_claim = 10,
  device_quota = 11,
};

/// Stable identifier of one entity of one cluster: kind (4 bits), generation (28 bits), slot (32 bits).
/// Zero names nothing. A slot that is used again gets a new generation, so a stale id is detected.
struct entity_id {
  std::uint64_t value = 0;

  constexpr entity_id() = default;
  constexpr explicit entity_id(std::uint64_t v) : value(v) {}
  constexpr entity_id(entity_kind kind, std::uint32_t generation, std::uint32_t slot)
      : value((static_cast<std::uint64_t>(kind) << 60U) |
              ((static_cast<std::uint64_t>(generation) & 0x0FFFFFFFU) << 32U) | slot) {}

  [[nodiscard]] constexpr entity_kind kind() const { return static_cast<entity_kind>(value >> 60U); }
  [[nodiscard]] constexpr std::uint32_t generation() const {
    return static_cast<std::uint32_t>(value >> 32U) & 0x0FFFFFFFU;
  }
  [[nodiscard]] constexpr std::uint32_t slot() const { return static_cast<std::uint32_t>(value); }
  [[nodiscard]] constexpr explicit operator bool() const { return value != 0; }
  friend constexpr auto operator<=>(entity_id, entity_id) = default;
};

/// Dense row of a node: its position in the depth-first order of the primary topology, so that every domain of that
/// topology is one contiguous range of rows.
using node_row = std::uint32_t;
/// Dense row of a device; the devices of one node are contiguous, in index order.
using device_row = std::uint32_t;
/// Slot of a queue, pod group, sub-group or pod. Slots of removed entities may be vacant.
using queue_row = std::uint32_t;
using group_row = std::uint32_t;
using sub_group_row = std::uint32_t;
using pod_row = std::uint32_t;
/// Row of a pod class: pods that ask for the same things share one class and so one question to the engine.
using class_row = std::uint32_t;

/// "No row" for every kind of row.
inline constexpr std::uint32_t no_row = 0xFFFFFFFFU;

}  // namespace kaisched

template <>
struct std::hash<kaisched::entity_id> {
  std::size_t operator()(kaisched::entity_id id) const noexcept { return std::hash<std::uint64_t>{}(id.value); }
};
