#pragma once
/// @file
/// Amounts and names in the fields of statements.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "io/scenario/parts.hpp"

namespace kaisched::io::scenario_text {

/// The names in a value as it is written: a text or a list.
[[nodiscard]] std::vector<std::string> names_in(const std::string& written);

/// Whether a field of the row is an amount whose dimension stands for itself: `gpu=4`.
[[nodiscard]] bool is_amount(const row_text& row, std::string_view key);
/// An amount in fixed units; 0 if the field is not there or is none.
[[nodiscard]] std::int64_t amount_of(const part& one, std::string_view key);
/// Sets an amount; nothing is left of one that is not positive.
void set_amount(part& one, std::string_view key, std::int64_t amount);
/// Drops a field if it is there.
void drop_field(part& one, std::string_view key);

/// Takes what the marked pods hold on nodes out of the capacity of nodes and out of quotas, limits and guarantees of
/// their queues and of those above, as far as these are not marked. Other pods on such nodes are no longer said to hold
/// devices of certain numbers. False if the marked pods hold nothing.
bool take_shares(part_list& parts, const std::vector<bool>& marked);

}  // namespace kaisched::io::scenario_text
