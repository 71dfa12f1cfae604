#pragma once
/// @file
/// Parts of cards as the kubelet counts them: every card has as many identifiers as pods may share it.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace device_plugin {

/// Most slices of a card.
inline constexpr std::uint32_t max_slices = 1000;

/// `<uuid>` where a card has one slice, else `<uuid>::<number>`, numbers from 0.
[[nodiscard]] std::string slice_id(std::string_view uuid, std::uint32_t number, std::uint32_t slices);
/// The card of a slice; the identifier itself if it is that of a card.
[[nodiscard]] std::string_view card_of(std::string_view slice);

/// Of cards that are as good otherwise: the one with the most slices free, or with the fewest.
enum class preference : std::uint8_t { spread, pack };

/// Which slices a container should get: those that it must have, then slices of cards of which it has none yet, since
/// each of them stands for another card; of these cards first the ones with the most slices free, so that load is
/// spread, or with the fewest, so that whole cards stay free. Ties go by UUID and number.
/// @param available what is free, `must` included.
/// @return as many as there should be, or fewer if not so many are there.
[[nodiscard]] std::vector<std::string> preferred_slices(std::span<const std::string> available,
                                                        std::span<const std::string> must, std::size_t size,
                                                        preference how);

}  // namespace device_plugin
